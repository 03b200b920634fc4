"""The span of two items by dividing sets of items again and again; needs no memory beyond the items (compiled).

`linkwise.problem._span` says what a span is and when it is found this way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import DisjointSet, find, make, union
from linkwise._kernels.lca import LcaIndex, query

__all__ = ["Clades", "clades_of", "has_pair", "probe_by_division", "span_by_division"]

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]


class Clades(NamedTuple):
    """A tree laid out so that the items and the triplets inside a clade are one stretch each; made by `clades_of`."""

    lca: LcaIndex
    leaf_place: IntArray  # preorder places of the items, in order
    leaf: IntArray  # the items in that order
    place: IntArray  # preorder places of the nodes at which the triplets' three items meet, in order
    order: IntArray  # the triplets in that order, by number
    triplets: IntArray  # and themselves


@njit
def clades_of(index: LcaIndex, n: int, triplets: IntArray) -> Clades:
    """Lay out the triplets of ``n`` items along a tree that displays them all."""
    place = np.empty(len(triplets), np.intp)
    for t in range(len(triplets)):
        place[t] = index.first[query(index, query(index, triplets[t, 0], triplets[t, 1]), triplets[t, 2])]
    order = np.argsort(place, kind="mergesort")
    leaf = np.argsort(index.first[:n], kind="mergesort")
    return Clades(index, index.first[:n][leaf], leaf, place[order], order, triplets[order])


@njit
def span_by_division(
    clades: Clades, alive: BoolArray, x: int, y: int, sets: DisjointSet, items: IntArray, rows: IntArray
) -> int:
    """Write the span of x and y under the triplets alive to ``items`` and return its size.

    ``alive`` follows the order of ``clades.triplets``; ``sets``, ``items`` and ``rows`` are scratch space for all items
    and all triplets.
    """
    triplets = clades.triplets
    node = query(clades.lca, x, y)
    first, last = clades.lca.first[node], clades.lca.last[node]
    size = 0
    for s in range(np.searchsorted(clades.leaf_place, first), len(clades.leaf)):
        if clades.leaf_place[s] > last:
            break
        items[size] = clades.leaf[s]
        size += 1
    kept = 0
    for t in range(np.searchsorted(clades.place, first), len(triplets)):
        if clades.place[t] > last:
            break
        if alive[t]:
            rows[kept] = t
            kept += 1
    while size > 2:
        for s in range(size):
            sets.parent[items[s]] = items[s]
            sets.size[items[s]] = 1
        parts = size
        for s in range(kept):
            if union(sets, triplets[rows[s], 0], triplets[rows[s], 1]):
                parts -= 1
        with_x = find(sets, x)
        with_y = find(sets, y)
        if parts == 2 and with_x != with_y:
            break
        left = 0
        for s in range(kept):
            a = find(sets, triplets[rows[s], 0])
            c = find(sets, triplets[rows[s], 2])
            if a in (with_x, with_y) and c in (with_x, with_y):
                rows[left] = rows[s]
                left += 1
        kept = left
        left = 0
        for s in range(size):
            part = find(sets, items[s])
            if part in (with_x, with_y):
                items[left] = items[s]
                left += 1
        size = left
    return size


@njit
def probe_by_division(
    clades: Clades, x: IntArray, y: IntArray, z: IntArray, start: IntArray, other: IntArray, answer: BoolArray
) -> None:
    """Answer for pairs sorted by x and y: is z in the span, or (z = -1) are both ends of a pair of the CSR."""
    n = len(clades.leaf)
    items = np.empty(n, np.intp)
    rows = np.empty(len(clades.triplets), np.intp)
    alive = np.ones(len(clades.triplets), np.bool_)
    sets = make(n)
    mark = np.full(n, -1, np.intp)
    size = 0
    stamp = 0
    for t in range(len(x)):
        if t == 0 or x[t] != x[t - 1] or y[t] != y[t - 1]:
            size = span_by_division(clades, alive, x[t], y[t], sets, items, rows)
            for s in range(size):
                mark[items[s]] = t
            stamp = t
        answer[t] = mark[z[t]] == stamp if z[t] >= 0 else has_pair(items, size, start, other, mark, stamp)


@njit
def has_pair(out: npt.NDArray[Any], size: int, start: IntArray, other: IntArray, mark: IntArray, stamp: int) -> bool:
    """Whether a pair of the CSR has both ends among the items of ``out``, which bear the stamp."""
    for s in range(size):
        for e in range(start[out[s]], start[out[s] + 1]):
            if mark[other[e]] == stamp:
                return True
    return False
