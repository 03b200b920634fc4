"""Implied statements: reach in an order, counts of implied triplets and pairs, and statements that others imply."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._typing import BoolArray, IntArray
from linkwise.problem.triplets import HOLDS, WRITE, Layout, join_clades, make_desk, trace


@njit
def _spread(start: IntArray, above: IntArray, reach: npt.NDArray[np.uint64]) -> None:
    """Collect as bits what lies above each node: nodes without anything below first, then read backwards."""
    n = len(reach)
    waiting = np.zeros(n, np.intp)
    for e in range(len(above)):
        waiting[above[e]] += 1
    order = np.empty(n, np.intp)
    last = 0
    for node in range(n):
        if waiting[node] == 0:
            order[last] = node
            last += 1
    for place in range(n):  # there is no circle, so the queue never runs dry
        for e in range(start[order[place]], start[order[place] + 1]):
            waiting[above[e]] -= 1
            if waiting[above[e]] == 0:
                order[last] = above[e]
                last += 1
    for place in range(n - 1, -1, -1):
        node = order[place]
        for e in range(start[node], start[node + 1]):
            up = above[e]
            reach[node, up >> 6] |= np.uint64(1) << np.uint64(up & 63)
            for w in range(reach.shape[1]):
                reach[node, w] |= reach[up, w]


@njit
def count_implied(triplets: IntArray, k: int) -> int:
    """How many triplets about k samples are implied."""
    inside = np.zeros((k, k, k), np.bool_)
    x = np.empty(k * (k - 1) // 2, np.intp)
    y = np.empty(k * (k - 1) // 2, np.intp)
    pairs = 0
    for a in range(k):
        for b in range(a + 1, k):
            x[pairs] = a
            y[pairs] = b
            pairs += 1
    nothing = np.zeros(1, np.intp)
    desk = make_desk(k, nothing, nothing, np.zeros(1, np.bool_), inside)
    trace(desk, triplets, np.arange(k), np.arange(len(triplets)), np.arange(pairs), x, y, x, np.int64(WRITE))
    count = 0
    for a in range(k):
        for b in range(a + 1, k):
            for c in range(k):
                count += inside[a, c, b] and inside[b, c, a]
    return count


@njit
def _grown(start: IntArray, end: IntArray, link: IntArray, seeds: IntArray) -> IntArray:
    n = len(start) - 1
    reached = np.zeros(n, np.bool_)
    queue = np.empty(n, np.intp)
    taken = np.empty(n, np.intp)
    count = 0
    for seed in seeds:
        if reached[seed]:
            continue
        reached[seed] = True
        queue[0] = seed
        head, tail = 0, 1
        while head < tail:
            node = queue[head]
            head += 1
            for e in range(start[node], start[node + 1]):
                if not reached[end[e]]:
                    reached[end[e]] = True
                    queue[tail] = end[e]
                    tail += 1
                    taken[count] = link[e]
                    count += 1
    return taken[:count].copy()


@njit
def _union_gains(n: int, pairs: IntArray) -> IntArray:
    """The pairs of samples each link puts together that were not together before."""
    parent = np.arange(n)
    size = np.ones(n, np.intp)
    gain = np.zeros(len(pairs), np.intp)
    for t in range(len(pairs)):
        x, y = pairs[t]
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        while parent[y] != y:
            parent[y] = parent[parent[y]]
            y = parent[y]
        if x != y:
            gain[t] = size[x] * size[y]
            parent[y] = x
            size[x] += size[y]
    return gain


@njit
def _needed(layout: Layout, triplets: IntArray, n_nodes: int, pair: IntArray) -> BoolArray:
    """Which triplets remain when, from the last given to the first, those go that the others imply.

    The tree stays one that displays them all, and ab|c is implied if b is in the span of a and c, a in that of b and c.
    """
    m = len(triplets)
    alive = np.ones(m, np.bool_)
    answer = np.zeros(2, np.bool_)
    nothing = np.zeros(0, np.intp)
    desk = make_desk(len(layout.leaf), nothing, nothing, answer, np.zeros((0, 0, 0), np.bool_))
    asked = np.arange(2)
    for t in range(m - 1, -1, -1):
        alive[t] = False
        items, rows = join_clades(layout, n_nodes, pair[t], alive)
        a, b, c = triplets[t]
        answer[:] = False
        trace(desk, triplets, items, rows, asked, np.array([a, b]), np.array([c, c]), np.array([b, a]), HOLDS)
        alive[t] = not (answer[0] and answer[1])
    return alive
