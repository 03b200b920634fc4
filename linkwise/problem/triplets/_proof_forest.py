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

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from linkwise._kernels import njit
from linkwise._sparse import connected_parts
from linkwise._typing import BoolArray, IntArray


class Forest(NamedTuple):
    """Rooted trees that links span, breadth first.

    Attributes
    ----------
    above : ndarray of intp, shape (n,)
        The sample above each, -1 at roots.
    link : ndarray of intp, shape (n,)
        Which link leads there, -1 at roots.
    depth : ndarray of intp, shape (n,)
        Links to the root.
    order : ndarray of intp, shape (n,)
        All samples, those above first.
    """

    above: IntArray
    link: IntArray
    depth: IntArray
    order: IntArray


@njit
def grow_forest(n: int, links: IntArray, roots: IntArray) -> Forest:
    """Search breadth first from each of ``roots``, then from whatever is left; shortest chains to the first root."""
    m = len(links)
    start = np.zeros(n + 1, np.intp)
    for t in range(m):
        start[links[t, 0] + 1] += 1
        start[links[t, 1] + 1] += 1
    for v in range(n):
        start[v + 1] += start[v]
    place = start[:n].copy()
    incident = np.empty(2 * m, np.intp)
    for t in range(m):
        for end in range(2):
            v = links[t, end]
            incident[place[v]] = t
            place[v] += 1
    above = np.full(n, -1, np.intp)
    link = np.full(n, -1, np.intp)
    depth = np.full(n, -1, np.intp)
    order = np.empty(n, np.intp)
    seen = 0
    for r in range(len(roots) + n):
        root = roots[r] if r < len(roots) else r - len(roots)
        if depth[root] >= 0:
            continue
        depth[root] = 0
        order[seen] = root
        here = seen
        seen += 1
        while here < seen:
            v = order[here]
            here += 1
            for s in range(start[v], start[v + 1]):
                t = incident[s]
                w = links[t, 0] + links[t, 1] - v
                if depth[w] < 0:
                    depth[w] = depth[v] + 1
                    above[w] = v
                    link[w] = t
                    order[seen] = w
                    seen += 1
    return Forest(above, link, depth, order)


@njit
def path(forest: Forest, x: int, y: int) -> IntArray:
    """The samples from ``x`` to ``y``, which one tree holds."""
    depth, above = forest.depth, forest.above
    up = np.empty(depth[x] + depth[y] + 1, np.intp)
    first = 0
    last = len(up)
    while x != y:
        if depth[x] >= depth[y]:
            up[first] = x
            first += 1
            x = above[x]
        else:
            last -= 1
            up[last] = y
            y = above[y]
    up[first] = x
    return np.concatenate((up[: first + 1], up[last:]))


@njit
def _top(skip: IntArray, x: int) -> int:
    while skip[x] != x:
        skip[x] = skip[skip[x]]
        x = skip[x]
    return x


@njit
def _visit(forest: Forest, skip: IntArray, found: BoolArray, stack: IntArray, top: int, x: int, y: int) -> int:
    """Put the links between x and y that were not met yet on the stack, each by its lower end."""
    depth, above = forest.depth, forest.above
    x = _top(skip, x)
    y = _top(skip, y)
    while x != y:
        if depth[x] < depth[y]:
            x, y = y, x
        found[x] = True
        stack[top] = x
        top += 1
        skip[x] = above[x]
        x = _top(skip, x)
    return top


@njit
def needed_links(forest: Forest, need: IntArray, x: int, y: int) -> BoolArray:
    """Mask the samples whose link upwards is on the path from x to y or needed for it.

    ``need`` holds for each link the sample it needs, or -1. Links met are skipped over, so each is looked at once.
    """
    n = len(forest.above)
    skip = np.arange(n)
    found = np.zeros(n, np.bool_)
    stack = np.empty(n, np.intp)
    top = _visit(forest, skip, found, stack, np.int64(0), x, y)
    while top > 0:
        top -= 1
        v = stack[top]
        c = need[forest.link[v]]
        if c >= 0:
            top = _visit(forest, skip, found, stack, top, v, c)
    return found


def smallest_knot(forest: Forest, need: IntArray) -> IntArray:
    """The links, by their lower ends, of the smallest set of links of one tree that needs nothing outside itself.

    Stretches of 2, 4, 8, ... links upwards are nodes of their own, so a path is written with four numbers at most and
    the graph of what needs what has O(n log depth) edges.
    """
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


@njit
def _subtree_xor(forest: Forest, value: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    for t in range(len(forest.order) - 1, 0, -1):
        v = forest.order[t]
        if forest.above[v] >= 0:
            value[forest.above[v]] ^= value[v]
    return value


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
