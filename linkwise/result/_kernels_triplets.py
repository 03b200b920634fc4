"""Triplets of a tree, one per node or all of them, and the nodes beside each node."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import IntArray


@njit
def _siblings(parent: IntArray, start: IntArray, child: IntArray, roots: IntArray, v: int) -> IntArray:
    """The nodes beside ``v``, itself included; roots are beside each other."""
    return roots if parent[v] < 0 else child[start[parent[v]] : start[parent[v] + 1]]


@njit
def _minimal(
    n: int, parent: IntArray, start: IntArray, child: IntArray, roots: IntArray, leaf: IntArray, m: int
) -> IntArray:
    rows = np.empty((m, 3), np.intp)
    t = 0
    for v in range(n, len(parent)):
        for w in _siblings(parent, start, child, roots, v):
            if w == v:
                continue
            for e in range(start[v] + 1, start[v + 1]):
                rows[t, 0] = leaf[child[start[v]]]
                rows[t, 1] = leaf[child[e]]
                rows[t, 2] = leaf[w]
                t += 1
    return rows


@njit
def _all(
    n: int, start: IntArray, child: IntArray, order: IntArray, begin: IntArray, count: IntArray, m: int
) -> IntArray:
    """Write ab|c for every a, b that meet at a node and every c beside that node's stretch of ``order``."""
    rows = np.empty((m, 3), np.intp)
    t = 0
    for v in range(n, len(count)):
        low, high = begin[v], begin[v] + count[v]
        for e in range(start[v], start[v + 1]):
            x = child[e]
            for i in range(begin[x], begin[x] + count[x]):
                for j in range(begin[x] + count[x], high):
                    for o in range(len(order)):
                        if o < low or o >= high:
                            rows[t, 0] = order[i]
                            rows[t, 1] = order[j]
                            rows[t, 2] = order[o]
                            t += 1
    return rows


@njit
def _earliest(parent: IntArray, begin: IntArray) -> IntArray:
    for v in range(len(parent)):
        if parent[v] >= 0 and begin[v] < begin[parent[v]]:
            begin[parent[v]] = begin[v]
    return begin
