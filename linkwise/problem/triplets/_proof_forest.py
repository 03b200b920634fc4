"""Proof forests: one link per statement, and for each link the sample it needs before it can join anything.

Must-links, and triplets ab|c read as links between a and b, join samples into blocks. Keep only those that joined two
blocks: they form a forest. A must-link joins whatever else is said. A triplet joins a and b only together with c, so it
needs all links on the way from itself to c, and what these need in turn. Therefore

- two samples share a block under some of these statements exactly when these hold every link of their path and all it
  needs: that closure is the one minimal proof the forest contains;
- triplets among themselves conflict exactly when they hold a link and all it needs: the minimal conflicts of the forest
  are the strongly connected components of "needs" that need nothing outside.

So minimal proofs are read off in near-linear time, without a single test of a subset.
"""

from __future__ import annotations

import numpy as np

from linkwise._sparse import connected_parts
from linkwise._typing import IntArray
from linkwise.problem.triplets._kernels_proof_forest import Forest, _subtree_xor, grow_forest


def smallest_knot(forest: Forest, need: IntArray) -> IntArray:
    """The links, by their lower ends, of the smallest set of links of one tree that needs nothing outside itself.

    Stretches of 2, 4, 8, ... links upwards are nodes of their own, so a path is written with four numbers at most and
    the graph of what needs what has O(n log depth) edges.
    """
    from scipy.sparse import csr_array

    n = len(forest.above)
    depth = forest.depth
    up = [np.where(forest.above < 0, np.arange(n), forest.above)]
    while 1 << len(up) <= int(depth.max()):
        up.append(up[-1][up[-1]])
    source, target = [], []

    def ask(of: IntArray, which: IntArray, level: int) -> None:
        source.append(of)
        target.append(level * n + which)

    for level in range(1, len(up)):
        whole = np.flatnonzero(depth >= 1 << level)
        ask(level * n + whole, whole, level - 1)
        ask(level * n + whole, up[level - 1][whole], level - 1)
    lower = np.flatnonzero(forest.link >= 0)
    other = need[forest.link[lower]]
    meeting = depth[_meet(up, depth, lower, other)]
    for end in (lower, other):
        length = depth[end] - meeting
        for level in range(len(up)):
            some = np.flatnonzero((length >= 1 << level) & (length < 2 << level))
            ask(lower[some], end[some], level)
            ask(lower[some], _climb(up, end[some], length[some] - (1 << level)), level)
    begin, end_ = np.concatenate(source), np.concatenate(target)
    graph = csr_array((np.ones(len(begin), np.int8), (begin, end_)), shape=(len(up) * n, len(up) * n))
    count, part = connected_parts(graph, directed=True)
    size = np.bincount(part[lower], minlength=count)
    size[size == 0] = n
    size[part[begin[part[begin] != part[end_]]]] = n
    return np.asarray(lower[part[lower] == np.argmin(size)], dtype=np.intp)


def _climb(up: list[IntArray], sample: IntArray, steps: IntArray) -> IntArray:
    for level, jump in enumerate(up):
        sample = np.where(steps >> level & 1 == 1, jump[sample], sample)
    return sample


def _meet(up: list[IntArray], depth: IntArray, x: IntArray, y: IntArray) -> IntArray:
    """Where the ways of x and y to the root meet."""
    x = _climb(up, x, np.maximum(depth[x] - depth[y], 0))
    y = _climb(up, y, np.maximum(depth[y] - depth[x], 0))
    for jump in reversed(up):
        apart = jump[x] != jump[y]
        x, y = np.where(apart, jump[x], x), np.where(apart, jump[y], y)
    return np.where(x == y, x, up[0][x])


def bridges(n: int, links: IntArray) -> IntArray:
    """The links that lie on no cycle: without one of them its two ends are no longer connected.

    Every link outside a spanning forest puts a random 64-bit number on its two ends; exclusive-or over a subtree leaves
    zero where no cycle leaves it. A wrong answer needs two equal sums of random 64-bit numbers.
    """
    forest = grow_forest(n, links, np.empty(0, np.intp))
    lower = np.flatnonzero(forest.link >= 0)
    outside = np.ones(len(links), dtype=np.bool_)
    outside[forest.link[lower]] = False
    tag = np.random.default_rng(0).integers(1, 2**63, int(outside.sum()), dtype=np.uint64)
    value = np.zeros(n, dtype=np.uint64)
    np.bitwise_xor.at(value, links[outside, 0], tag)
    np.bitwise_xor.at(value, links[outside, 1], tag)
    crossed = _subtree_xor(forest, value)
    return np.asarray(forest.link[lower[crossed[lower] == 0]], dtype=np.intp)
