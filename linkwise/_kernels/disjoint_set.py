"""Union-find as two arrays: the parent of each item, and the size of each set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._kernels._jit import njit
from linkwise._typing import IntArray


class DisjointSet(NamedTuple):
    """State of a union-find; pass it to `find` and `union`."""

    parent: IntArray
    size: IntArray


@njit
def make(n: int) -> DisjointSet:
    """Make ``n`` singletons."""
    return DisjointSet(np.arange(n), np.ones(n, np.intp))


@njit
def find(sets: DisjointSet, x: int) -> int:
    """Return the representative of ``x``, halving the path on the way."""
    parent = sets.parent
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@njit
def union(sets: DisjointSet, x: int, y: int) -> bool:
    """Unite the sets of ``x`` and ``y`` by size; return False when they were one already."""
    x = find(sets, x)
    y = find(sets, y)
    if x == y:
        return False
    if sets.size[x] < sets.size[y]:
        x, y = y, x
    sets.parent[y] = x
    sets.size[x] += sets.size[y]
    return True


@njit
def labels(sets: DisjointSet) -> IntArray:
    """Number the sets in order of their first member, and return the number of every item's set."""
    n = len(sets.parent)
    label = np.full(n, -1, np.intp)
    seen = 0
    for x in range(n):
        root = find(sets, x)
        if label[root] < 0:
            label[root] = seen
            seen += 1
        label[x] = label[root]
    return label


@njit
def components(n: int, pairs: IntArray) -> IntArray:
    """Number the connected components of ``n`` items under ``pairs``, in order of their first member."""
    sets = make(n)
    for t in range(len(pairs)):
        union(sets, pairs[t, 0], pairs[t, 1])
    return labels(sets)
