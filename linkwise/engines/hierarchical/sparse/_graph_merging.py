"""Merging along a neighbor graph: items of samples, edges between them, and the merges that no statement forbids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.engines.hierarchical.sparse._kernels_graph_merging import (
    HEAP_FULL,
    N_HEAP,
    N_MERGED,
    N_POPS,
    N_REFUSED,
    PAUSED,
    TABLE_FULL,
    LongArray,
    Merging,
    SlotArray,
    advance,
    prepare,
    refill,
    tidy,
)
from linkwise.problem import Problem
from linkwise.problem.statements import mean_rows

MOST_CLUSTERS = 20_000  # clusters that are compared with each other at the end
_BUDGET = 200_000  # edges looked at between two reports
_HEAP, _TABLE = 1.25, 4  # room for entries, in edges, and for keys, in statements; both grow


class Items(NamedTuple):
    """The clusters that merging starts from.

    Attributes
    ----------
    of_sample : ndarray of intp, shape (n_samples,)
        The item of each sample: its must-linked group, but each sample that a triplet names begins an item, the first
        of a group with all samples of the group that none names.
    first : ndarray of intp, shape (n_items,)
        A sample of each item.
    class_of : ndarray of intp, shape (n_items,)
        Items of the same class end up in the same cluster.
    anchor : ndarray of bool, shape (n_items,)
        Whether a triplet names a sample of the item.
    """

    of_sample: IntArray
    first: IntArray
    class_of: IntArray
    anchor: BoolArray


def make_items(problem: Problem) -> Items:
    """Divide the samples into items."""
    item = problem.group
    named = np.unique(problem.hard.triplets) if len(problem.hard.triplets) else np.empty(0, dtype=np.intp)
    if not len(named):
        first = np.unique(item, return_index=True)[1]
        return Items(item, first, np.arange(len(first)), np.zeros(len(first), dtype=np.bool_))
    item = item.copy()
    _, at = np.unique(item[named], return_index=True)
    further = np.delete(named, at)
    item[further] = item.max() + 1 + np.arange(len(further))
    first = np.unique(item, return_index=True)[1]
    anchor = np.zeros(len(first), dtype=np.bool_)
    anchor[item[named]] = True
    return Items(item, first, problem.blocks[first], anchor)


def link_items(index: Any, item: IntArray) -> SlotArray:
    """Edges between the items of neighbors, each once; ``index`` has the neighbors of each sample, -1 for none."""
    n_items, k = int(item.max()) + 1, index.shape[1]
    codes = []
    for column in range(k):
        known = index[:, column] >= 0
        one, two = item[known], item[index[known, column]]
        other = one != two
        one, two = one[other], two[other]
        codes.append(_codes(one, two, n_items))
    return _decode(_distinct(np.concatenate(codes)), n_items)


def _codes(one: IntArray, two: IntArray, n_items: int) -> LongArray:
    """A number for each pair of items, whichever comes first; each number once."""
    return _distinct(np.minimum(one, two).astype(np.int64) * n_items + np.maximum(one, two))


def _decode(code: LongArray, n_items: int) -> SlotArray:
    return np.column_stack([(code // n_items).astype(np.int32), (code % n_items).astype(np.int32)])


def _distinct(code: LongArray) -> LongArray:
    """Different numbers in order; sorting in place takes less time and memory than hashing."""
    code.sort()
    first = np.ones(len(code), dtype=np.bool_)
    np.not_equal(code[1:], code[:-1], out=first[1:])
    return code[first]


class Merged(NamedTuple):
    """Merges along a graph.

    Attributes
    ----------
    cluster : ndarray of intp, shape (n_items,)
        The cluster of each item.
    pairs : ndarray of intp, shape (n_merges, 2)
        Items that stand for the two clusters of each merge.
    height : ndarray of float64, shape (n_merges,)
        Ward's distance of the two.
    adjacent : ndarray of intp, shape (m, 2)
        Clusters that are still joined by an edge.
    size, mean : ndarray of float64
        Size and mean of each cluster.
    refused, looked_at : int
        Merges that statements forbade, and edges looked at.
    """

    cluster: IntArray
    pairs: IntArray
    height: FloatArray
    adjacent: IntArray
    size: FloatArray
    mean: FloatArray
    refused: int
    looked_at: int


def merge_along(
    edges: SlotArray, items: Items, problem: Problem, target: int, report: Callable[[int], object]
) -> Merged:
    """Merge items along edges, the closest first, until ``target`` clusters are left or no edge is.

    A merge is refused for good if a cannot-link or a group apart keeps the classes of the two clusters apart, if both
    clusters hold a sample that a triplet names, or if both classes do and differ. Then all statements that could hold
    together before can hold together with each cluster as a group.
    """
    state = _make_state(edges, items, problem)
    prepare(state)
    wanted = len(items.first) - target
    full = -1  # merges when the heap was last full
    while True:
        code = advance(state, wanted, _BUDGET)
        report(int(state.tally[N_MERGED]))
        if code == TABLE_FULL:
            table = np.full(_prime(2 * len(state.table)), -1, dtype=np.int64)
            refill(state.table, table, state.tally)
            state = state._replace(table=table)
        elif code == HEAP_FULL:
            tidy(state)
            if 2 * state.tally[N_HEAP] > len(state.heap_key) or full == state.tally[N_MERGED]:
                more = np.empty(len(state.heap_key)), np.empty(len(state.heap_key), dtype=np.int32)
                state = state._replace(
                    heap_key=np.concatenate([state.heap_key, more[0]]),
                    heap_edge=np.concatenate([state.heap_edge, more[1]]),
                )
            full = int(state.tally[N_MERGED])
        elif code != PAUSED:
            break
    return _outcome(state, len(items.first))


def _make_state(edges: SlotArray, items: Items, problem: Problem) -> Merging:
    m, n = len(edges), len(items.first)
    size = np.bincount(items.of_sample).astype(np.float64)
    mean = mean_rows(problem.X, items.of_sample, size) if n < problem.n_samples else problem.X[items.first]
    class_of = np.unique(items.class_of, return_inverse=True)[1].reshape(-1)
    classes = int(class_of.max()) + 1
    anchored = np.zeros(classes, dtype=np.bool_)
    anchored[class_of[items.anchor]] = True
    of_sample = class_of[items.of_sample]
    hard = problem.hard
    pairs = np.unique(np.sort(of_sample[hard.cannot].reshape(-1, 2), axis=1), axis=0)
    first, last, length = (np.full((2, classes), blank, dtype=np.int32) for blank in (-1, -1, 0))
    owner = np.concatenate([pairs[:, 0], pairs[:, 1]])
    rival, next_rival = _lists(owner, np.concatenate([pairs[:, 1], pairs[:, 0]]), first[0], last[0], length[0])
    member = np.unique(np.column_stack([of_sample[hard.apart.member], hard.apart.owner]), axis=0)
    group, next_group = _lists(member[:, 0], member[:, 1], first[1], last[1], length[1])
    return Merging(
        ends=edges.copy(),
        key=np.empty(m),
        alive=np.ones(m, dtype=np.bool_),
        head=np.full(n, -1, dtype=np.int32),
        tail=np.full(n, -1, dtype=np.int32),
        after=np.full(2 * m, -1, dtype=np.int32),
        heap_key=np.empty(int(m * _HEAP) + 8),
        heap_edge=np.empty(int(m * _HEAP) + 8, dtype=np.int32),
        size=size,
        mean=np.array(mean, dtype=np.float64, order="C"),
        anchor=items.anchor.copy(),
        class_of=class_of.astype(np.int32),
        above=np.arange(classes, dtype=np.int32),
        anchored=anchored,
        rival=rival,
        group=group,
        first=first,
        last=last,
        length=length,
        next_rival=next_rival,
        next_group=next_group,
        table=np.full(_prime(_TABLE * (len(pairs) + len(member)) + 8), -1, dtype=np.int64),
        stamp=np.zeros(n, dtype=np.int32),
        merged=np.empty((n, 2), dtype=np.int32),
        height=np.empty(n),
        tally=np.zeros(6, dtype=np.int64),
    )


def _lists(
    owner: IntArray, entry: IntArray, first: SlotArray, last: SlotArray, length: SlotArray
) -> tuple[SlotArray, SlotArray]:
    """Entries by owner, and for each the next entry of the same owner; fill the ends and lengths of the lists."""
    order = np.argsort(owner, kind="stable")
    sorted_ = owner[order]
    following = np.full(len(order), -1, dtype=np.int32)
    same = np.flatnonzero(sorted_[1:] == sorted_[:-1])
    following[same] = same + 1
    first[sorted_[::-1]] = np.arange(len(order), dtype=np.int32)[::-1]
    last[sorted_] = np.arange(len(order), dtype=np.int32)
    length += np.bincount(owner, minlength=len(length)).astype(np.int32)
    return entry[order].astype(np.int32), following


def _prime(least: int) -> int:
    """The first prime from a number on."""
    found = least | 1
    while any(found % p == 0 for p in range(3, int(found**0.5) + 1, 2)):
        found += 2
    return found


def _outcome(state: Merging, n: int) -> Merged:
    done = int(state.tally[N_MERGED])
    pairs = state.merged[:done].astype(np.intp)
    slots, cluster = _clusters(pairs, n)
    place = np.full(n, -1, dtype=np.intp)
    place[slots] = np.arange(len(slots))
    adjacent = place[state.ends[state.alive]].reshape(-1, 2)
    height = np.sqrt(np.maximum(state.height[:done], 0.0))
    counts: LongArray = state.tally
    return Merged(
        cluster,
        pairs,
        height,
        adjacent,
        state.size[slots],
        state.mean[slots],
        int(counts[N_REFUSED]),
        int(counts[N_POPS]),
    )


def _clusters(pairs: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """The slots that are left after merges, and the number among them of the one that each slot has become."""
    into = np.arange(n)
    into[pairs[:, 1]] = pairs[:, 0]
    while True:  # a slot that joined another one points there
        further = into[into]
        if np.array_equal(further, into):
            break
        into = further
    slots, cluster = np.unique(into, return_inverse=True)
    return slots, cluster.reshape(-1)


def clusters_as_items(merged: Merged, items: Items) -> Items:
    """The clusters that merging made, as items to go on with."""
    return Items(
        merged.cluster[items.of_sample],
        items.first[np.unique(merged.cluster, return_index=True)[1]],
        _classes_of(merged, items),
        np.bincount(merged.cluster, weights=items.anchor) > 0,
    )


def _classes_of(merged: Merged, items: Items) -> IntArray:
    """A class for each cluster: clusters that share a class of items are of one class."""
    clusters = len(merged.size)
    classes = np.unique(items.class_of, return_inverse=True)[1].reshape(-1)
    found: IntArray = components(
        clusters + int(classes.max()) + 1, np.column_stack([merged.cluster, clusters + classes])
    )
    return found[:clusters]


def chain(before: Merged, after: Merged, items: Items, grown: Items) -> Merged:
    """Merges of items, then of the clusters these made, as merges of items."""
    stand_in = items.of_sample[grown.first]
    return after._replace(
        cluster=after.cluster[before.cluster],
        pairs=np.concatenate([before.pairs, stand_in[after.pairs]]),
        height=np.concatenate([before.height, after.height]),
        refused=before.refused + after.refused,
        looked_at=before.looked_at + after.looked_at,
    )


def merge_within(
    merged: Merged, edges: SlotArray, items: Items, part: IntArray, problem: Problem, target: int
) -> Merged:
    """Merge items of the same part only: keep the merges that do, and go on along the edges inside of parts.

    ``merged`` are merges of the items along the edges, ``part`` has the part of each item.
    """
    kept = ~_mixed(merged.pairs, part)
    pairs = merged.pairs[kept]
    slots, cluster = _clusters(pairs, len(items.first))
    nothing = np.empty((0, 2), dtype=np.intp)
    begun = merged._replace(
        cluster=cluster,
        pairs=pairs,
        height=merged.height[kept],
        adjacent=nothing,
        size=np.bincount(cluster).astype(np.float64),
        mean=np.empty((len(slots), 0)),
    )
    grown = clusters_as_items(begun, items)
    inside = edges[(part[edges[:, 0]] == part[edges[:, 1]]) & (cluster[edges[:, 0]] != cluster[edges[:, 1]])]
    between = _decode(_codes(cluster[inside[:, 0]], cluster[inside[:, 1]], len(slots)), len(slots))
    more = merge_along(between, grown, problem, min(target, len(slots)), lambda _: None)
    return chain(begun, more, items, grown)


def _mixed(pairs: IntArray, part: IntArray) -> BoolArray:
    """Whether each merge has items of several parts below it."""
    slot, time = pairs.T.ravel(), np.tile(np.arange(len(pairs)), 2)
    order = np.lexsort((time, slot))
    slot, time = slot[order], time[order]
    again = np.flatnonzero(slot[1:] == slot[:-1])
    above = np.full(len(pairs), -1, dtype=np.intp)
    above[time[again]] = time[again + 1]  # the next merge of the same slot
    mixed: BoolArray = part[pairs[:, 0]] != part[pairs[:, 1]]
    at = np.flatnonzero(mixed)
    while len(at):  # all above them
        up = above[at]
        up = np.unique(up[up >= 0])
        at = up[~mixed[up]]
        mixed[at] = True
    return mixed
