"""Spans of many pairs of items, by dividing sets of items again and again as BUILD does (compiled).

`_spans` says what a span is and why this finds it. Pairs whose sets were divided alike so far go on together, so that a
set is divided once for all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import DisjointSet, find, make, union
from linkwise._kernels.lca import LcaIndex
from linkwise._typing import BoolArray, IntArray

# What is asked about the span of x and y: is z in it, has it both ends of a linked pair, or which items are in it?
# Spans that hold nothing but the pair answer no, and nothing is written.
HOLDS, ENCLOSES, WRITE = 0, 1, 2


class Layout(NamedTuple):
    """Items and triplets along a tree, so that those inside a clade are one stretch each."""

    lca: LcaIndex
    leaf_place: IntArray  # preorder places of the items, in order
    leaf: IntArray  # the items in that order
    place: IntArray  # preorder places of the nodes at which the three items of the triplets meet, in order
    row: IntArray  # the triplets in that order
    across: IntArray  # numbers of the two children of that node, in order
    across_row: IntArray  # the triplets in that order


class Desk(NamedTuple):
    """Room to work in, one place per item, made by `make_desk`; and where answers are written."""

    sets: DisjointSet
    part: IntArray  # the part of each item in the current set
    stamp: IntArray  # number of the last set each item was seen in; the last place counts the sets
    link_start: IntArray  # CSR of the linked pairs
    link_end: IntArray
    answer: BoolArray  # one per question
    inside: BoolArray  # [n, n, n] for WRITE


@njit
def make_desk(n: int, link_start: IntArray, link_end: IntArray, answer: BoolArray, inside: BoolArray) -> Desk:
    """Make room for ``n`` items."""
    return Desk(make(n), np.empty(n, np.intp), np.zeros(n + 1, np.intp), link_start, link_end, answer, inside)


@njit
def _by_key(key: IntArray, k: int) -> tuple[IntArray, IntArray]:
    """CSR of positions by key: where each key starts, and the positions in order; keys of ``k`` and above come last."""
    start = np.zeros(k + 2, np.intp)
    for t in range(len(key)):
        start[min(key[t], k) + 1] += 1
    for i in range(k + 1):
        start[i + 1] += start[i]
    place = start.copy()
    order = np.empty(len(key), np.intp)
    for t in range(len(key)):
        p = min(key[t], k)
        order[place[p]] = t
        place[p] += 1
    return start, order


@njit
def _divide(desk: Desk, triplets: IntArray, items: IntArray, rows: IntArray) -> int:
    """Give every item the number of its part: items joined by the close pairs of triplets inside the set."""
    for s in range(len(items)):
        desk.sets.parent[items[s]] = items[s]
        desk.sets.size[items[s]] = 1
    for t in range(len(rows)):
        union(desk.sets, triplets[rows[t], 0], triplets[rows[t], 1])
    k = 0
    for s in range(len(items)):
        if desk.sets.parent[items[s]] == items[s]:
            desk.part[items[s]] = k
            k += 1
    for s in range(len(items)):
        desk.part[items[s]] = desk.part[find(desk.sets, items[s])]
    return k


@njit
def _answer(desk: Desk, items: IntArray, asked: IntArray, x: IntArray, y: IntArray, z: IntArray, what: int) -> None:
    """The current set is the span of x and y of these questions."""
    desk.stamp[-1] += 1
    now = desk.stamp[-1]
    for s in range(len(items)):
        desk.stamp[items[s]] = now
    encloses = False
    if what == ENCLOSES:
        for s in range(len(items)):
            for e in range(desk.link_start[items[s]], desk.link_start[items[s] + 1]):
                encloses |= desk.stamp[desk.link_end[e]] == now
    for q in asked:
        if what == HOLDS:
            desk.answer[q] = desk.stamp[z[q]] == now
        elif what == ENCLOSES:
            desk.answer[q] = encloses
        else:
            for s in range(len(items)):
                desk.inside[x[q], y[q], items[s]] = True
                desk.inside[y[q], x[q], items[s]] = True


@njit
def trace(
    desk: Desk,
    triplets: IntArray,
    items: IntArray,
    rows: IntArray,
    asked: IntArray,
    x: IntArray,
    y: IntArray,
    z: IntArray,
    what: int,
) -> None:
    """Answer the questions ``asked``, whose x and y are in the set ``items``; ``rows`` are the triplets inside it.

    The set must be a clade of some tree that displays the triplets.
    """
    todo = [(items, rows, asked)]
    while len(todo) > 0:
        items, rows, asked = todo.pop()
        if len(items) < 3 or len(rows) == 0:
            continue  # without triplets inside, no pair has company
        k = _divide(desk, triplets, items, rows)
        code = np.empty(len(asked), np.intp)  # the part both are in, or k + a number for the two parts
        across = 0
        for q in range(len(asked)):
            p, r = desk.part[x[asked[q]]], desk.part[y[asked[q]]]
            code[q] = p if p == r else k + min(p, r) * k + max(p, r)
            across += p != r
        query_start, query_order = _by_key(code, k)
        if k == 2 and across > 0:
            _answer(desk, items, asked[query_order[query_start[2] :]], x, y, z, what)
            across = 0
            if query_start[2] == 0:
                continue
        key = np.empty(len(rows), np.intp)
        for t in range(len(rows)):
            p, r = desk.part[triplets[rows[t], 0]], desk.part[triplets[rows[t], 2]]
            key[t] = p if p == r else k + min(p, r) * k + max(p, r)
        row_start, row_order = _by_key(key, k)
        part = np.empty(len(items), np.intp)
        for s in range(len(items)):
            part[s] = desk.part[items[s]]
        item_start, item_order = _by_key(part, k)
        for p in range(k):
            if query_start[p + 1] > query_start[p] and row_start[p + 1] > row_start[p]:
                todo.append(
                    (
                        items[item_order[item_start[p] : item_start[p + 1]]],
                        rows[row_order[row_start[p] : row_start[p + 1]]],
                        asked[query_order[query_start[p] : query_start[p + 1]]],
                    )
                )
        if across == 0:
            continue
        crossers = row_order[row_start[k] :]
        crossers = crossers[np.argsort(key[crossers], kind="mergesort")]
        crossed = key[crossers]
        askers = query_order[query_start[k] :]
        askers = askers[np.argsort(code[askers], kind="mergesort")]
        first = 0
        while first < len(askers):
            both = code[askers[first]]
            last = first
            while last < len(askers) and code[askers[last]] == both:
                last += 1
            low = np.searchsorted(crossed, both)
            high = np.searchsorted(crossed, both, side="right")
            if high > low:  # without triplets across the two parts, their pairs have no company
                p, r = (both - k) // k, (both - k) % k
                mine = item_order[item_start[p] : item_start[p + 1]]
                theirs = item_order[item_start[r] : item_start[r + 1]]
                inner = row_order[row_start[p] : row_start[p + 1]]
                outer = row_order[row_start[r] : row_start[r + 1]]
                todo.append(
                    (
                        np.concatenate((items[mine], items[theirs])),
                        np.concatenate((rows[inner], rows[outer], rows[crossers[low:high]])),
                        asked[askers[first:last]],
                    )
                )
            first = last


@njit
def _spread_up(parent: IntArray, marked: BoolArray) -> None:
    """Mark everything above a marked node."""
    for v in range(len(parent)):
        if marked[v] and parent[v] >= 0:
            marked[parent[v]] = True


@njit
def join_clades(layout: Layout, n_nodes: int, pair: int, alive: BoolArray) -> tuple[IntArray, IntArray]:
    """The items below two children of one node, given by their number, and the triplets alive among these items.

    No triplets are returned if none lies across the two.
    """
    low = np.searchsorted(layout.across, pair)
    high = np.searchsorted(layout.across, pair, side="right")
    if high == low:
        return layout.row[:0], layout.row[:0]
    item_low, item_high, row_low, row_high = (
        np.empty(2, np.intp),
        np.empty(2, np.intp),
        np.empty(2, np.intp),
        np.empty(2, np.intp),
    )
    for side, child in enumerate((pair // n_nodes, pair % n_nodes)):
        first, last = layout.lca.first[child], layout.lca.last[child]
        item_low[side] = np.searchsorted(layout.leaf_place, first)
        item_high[side] = np.searchsorted(layout.leaf_place, last, side="right")
        row_low[side] = np.searchsorted(layout.place, first)
        row_high[side] = np.searchsorted(layout.place, last, side="right")
    items = np.concatenate((layout.leaf[item_low[0] : item_high[0]], layout.leaf[item_low[1] : item_high[1]]))
    rows = np.concatenate(
        (layout.row[row_low[0] : row_high[0]], layout.row[row_low[1] : row_high[1]], layout.across_row[low:high])
    )
    return items, rows[alive[rows]]


@njit
def _trace_groups(
    desk: Desk,
    layout: Layout,
    triplets: IntArray,
    alive: BoolArray,
    n_nodes: int,
    pair: IntArray,
    order: IntArray,
    x: IntArray,
    y: IntArray,
    z: IntArray,
    what: int,
) -> None:
    """Trace the questions in order of the two children below which they begin, all of one such pair together."""
    first = 0
    while first < len(order):
        last = first
        while last < len(order) and pair[order[last]] == pair[order[first]]:
            last += 1
        items, rows = join_clades(layout, n_nodes, pair[order[first]], alive)
        trace(desk, triplets, items, rows, order[first:last], x, y, z, what)
        first = last
