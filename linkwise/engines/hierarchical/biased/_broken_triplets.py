"""Triplets that merges break, counted while clusters grow.

A merge breaks xy|z if it joins z with exactly one of x and y. So a triplet can be broken only while its three samples
lie in three clusters, and the first merge of two of these settles it: x with y holds it, z with either breaks it. Until
then it is one count against each of the pairs (z, x) and (z, y) of clusters.

Two samples meet once in a run. Triplets are therefore listed under each of their three pairs, and a merge looks at the
lists of the pairs that meet in it: every list is read once per run, front to back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.lca import prepare, query_many
from linkwise.constraints import Constraints, Kind
from linkwise.problem import onetree

IntArray = npt.NDArray[np.int64]
ShortArray = npt.NDArray[np.int32]

# A list entry is 2 * item + role; the role says what the meeting of the pair means for the triplet with that item.
BREAKS, HOLDS = 0, 1


class Triples(NamedTuple):
    """Triplets, each once; items are the places in ``sample`` of the samples they name."""

    sample: IntArray
    start: ShortArray  # (k, k): where the list of the pair begins in `entry`
    stop: ShortArray  # (k, k): where it ends
    group: ShortArray  # (k, k): the node of the known hierarchy at which the pair meets
    entry: ShortArray
    total: IntArray  # how many triplets each node has
    conflict: ShortArray  # how many triplets speak against joining two items


class Live(NamedTuple):
    """The state of the triplets during one run of merging; a cluster goes by the number of one of its items."""

    conflict: ShortArray  # how many open triplets speak against joining two clusters
    label: IntArray  # cluster of each item
    last: IntArray  # the items of a cluster form a list that begins with the item it goes by
    after: IntArray
    size: IntArray
    settled: IntArray  # scratch: counts against each cluster that a merge takes back
    found: IntArray  # triplets of each node that hold


def read_triples(constraints: Constraints, *, nodes: bool) -> Triples:
    """Number the samples named and list each triplet once; with ``nodes`` find the node each belongs to.

    With ``nodes`` the triplets must not contradict each other.
    """
    given = constraints.of(Kind.TRIPLET)
    given = given[given[:, 0] != given[:, 1]]
    named = np.zeros(constraints.n_samples, dtype=np.bool_)
    named[given] = True
    sample = np.flatnonzero(named)
    k = len(sample)
    items = (np.cumsum(named) - 1)[given]
    low, high = np.minimum(items[:, 0], items[:, 1]), np.maximum(items[:, 0], items[:, 1])
    # not np.unique, whose hashing takes ten times as long on keys as regular as these
    key = np.sort((low * k + high) * k + items[:, 2])
    key = key[np.append(True, key[1:] != key[:-1])] if k else key
    row = np.stack(np.unravel_index(key, (k, k, k)), axis=1) if k else np.zeros((0, 3), dtype=np.intp)
    node = np.zeros(len(row), dtype=np.intp)
    if nodes and k:
        parent = onetree(k, row).parent
        if parent is None:
            msg = "read_triples: the triplets contradict each other, which `fit` refuses; please report the input."
            raise AssertionError(msg)
        node = query_many(prepare(parent), row[:, 0].copy(), row[:, 1].copy())
    asked = np.bincount(node)
    group = (np.cumsum(asked > 0) - 1)[node]
    start, stop, of_pair, entry, conflict = _list_pairs(row.astype(np.int64), group.astype(np.int64), k)
    total = asked[asked > 0].astype(np.int64)
    return Triples(sample.astype(np.int64), start, stop, of_pair, entry, total, conflict)


@njit
def _list_pairs(
    row: IntArray, group: IntArray, k: int
) -> tuple[ShortArray, ShortArray, ShortArray, ShortArray, ShortArray]:
    """Make the lists of the pairs, and count what speaks against each."""
    start = np.zeros((k, k), np.int32)
    of_pair = np.zeros((k, k), np.int32)
    conflict = np.zeros((k, k), np.int32)
    for t in range(len(row)):
        x, y, z = row[t]
        of_pair[x, y] = of_pair[y, x] = group[t]
        for p, q in ((x, y), (x, z), (y, z)):
            start[min(p, q), max(p, q)] += 1
        for p in (x, y):
            conflict[p, z] += 1
            conflict[z, p] += 1
    begin = 0
    for p in range(k):
        for q in range(p, k):
            length = start[p, q]
            start[p, q] = start[q, p] = begin
            begin += length
    stop = start.copy()
    entry = np.empty(begin, np.int32)
    for t in range(len(row)):
        x, y, z = row[t]
        for p, q, other, role in ((x, y, z, HOLDS), (x, z, y, BREAKS), (y, z, x, BREAKS)):
            low, high = min(p, q), max(p, q)
            entry[stop[low, high]] = 2 * other + role
            stop[low, high] += 1
            stop[high, low] = stop[low, high]
    return start, stop, of_pair, entry, conflict


def open_triples(triples: Triples) -> Live:
    """Begin a run: every item a cluster of its own, every triplet open."""
    k = len(triples.sample)
    return Live(
        conflict=triples.conflict.copy() if k else np.zeros((1, 1), dtype=np.int32),
        label=np.arange(k, dtype=np.int64),
        last=np.arange(k, dtype=np.int64),
        after=np.full(k, -1, dtype=np.int64),
        size=np.ones(k, dtype=np.int64),
        settled=np.zeros(k, dtype=np.int64),
        found=np.zeros(len(triples.total), dtype=np.int64),
    )


@njit
def join(triples: Triples, live: Live, a: int, b: int) -> int:
    """Join two clusters of items, settle the triplets this decides, and return the number the union goes by."""
    label, after, settled, found, conflict = live.label, live.after, live.settled, live.found, live.conflict
    start, stop, entry, group = triples.start, triples.stop, triples.entry, triples.group
    small, big = (a, b) if live.size[a] <= live.size[b] else (b, a)
    settled[:] = 0
    p = small
    while p >= 0:
        q = big
        while q >= 0:
            held = 0
            for at in range(start[p, q], stop[p, q]):
                other = label[entry[at] >> 1]
                if other != a and other != b:  # else an earlier merge has settled it
                    role = entry[at] & 1
                    # One that breaks is taken back from the pair (z, third), one that holds from (z, x) and (z, y).
                    settled[other] += 1 + role
                    held += role
            found[group[p, q]] += held
            q = after[q]
        p = after[p]
    p = small
    while p >= 0:
        label[p] = big
        p = after[p]
    after[live.last[big]] = small
    live.last[big] = live.last[small]
    live.size[big] += live.size[small]
    for c in range(len(label)):
        conflict[big, c] += conflict[small, c] - settled[c]
        conflict[c, big] = conflict[big, c]
    return big
