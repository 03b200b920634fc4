"""Proof forests: growth breadth first, paths, the links that a link needs, and exclusive-or over subtrees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
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


@njit
def _subtree_xor(forest: Forest, value: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    for t in range(len(forest.order) - 1, 0, -1):
        v = forest.order[t]
        if forest.above[v] >= 0:
            value[forest.above[v]] ^= value[v]
    return value
