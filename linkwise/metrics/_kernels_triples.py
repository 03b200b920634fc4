"""Count, for every node of a gold tree, how many of its triples a learned tree displays."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import IntArray
from linkwise.metrics._kernels_paths import BLUE, NONE, RED, WHITE, answer, heavy_children, lay_paths, recolor


@njit
def item_stretches(n_items: int, parent: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Put the items in an order in which those below any node are neighbors.

    Returns the order, where each node's stretch begins, and how many items it has. Nodes may have no or one child.
    """
    m = len(parent)
    size = np.zeros(m, np.intp)
    size[:n_items] = 1
    for v in range(m):
        if parent[v] >= 0:
            size[parent[v]] += size[v]
    begin = np.empty(m, np.intp)
    free = np.empty(m, np.intp)  # end of the stretch still to be handed to a node's children
    order = np.empty(n_items, np.intp)
    top = n_items
    for v in range(m - 1, -1, -1):
        p = parent[v]
        if p < 0:
            top -= size[v]
            begin[v] = top
        else:
            free[p] -= size[v]
            begin[v] = free[p]
        free[v] = begin[v] + size[v]
        if v < n_items:
            order[begin[v]] = v
    return order, begin, size


@njit
def _paint(tree: tuple, leaf: IntArray, begin: int, count: int, old: int, new: int) -> None:  # type: ignore[type-arg]
    for e in range(begin, begin + count):
        recolor(tree, leaf[e], old, new)


@njit
def count_found(
    n_items: int,
    parent: IntArray,
    start: IntArray,
    child: IntArray,
    begin: IntArray,
    size: IntArray,
    leaf: IntArray,
    learned: IntArray,
) -> IntArray:
    """Count for every gold node v the {x, y}, z with lca(x, y) = v, z not below v, that the learned tree displays.

    ``parent``, ``start`` and ``child``, ``begin`` and ``size`` describe the gold tree, its items first; ``leaf`` is the
    sample of each item, in the order of the gold stretches; ``learned`` is the learned tree with one root on top.

    Going up a heavy path of the gold tree, everything met so far is blue, the branch that joins it turns red, later
    branches of the same node have no color, and all the rest is white. A sample is painted a few times for each path
    above it, of which there are at most log2 n.
    """
    # as variables, since for constants the painting would compile once for each pair of colors
    red, blue, white, none = np.intp(RED), np.intp(BLUE), np.intp(WHITE), np.intp(NONE)
    found = np.zeros(len(parent), np.intp)
    heavy = heavy_children(parent, size)
    tree = lay_paths(learned)
    _paint(tree, leaf, np.intp(0), n_items, none, white)
    path = np.empty(len(parent), np.intp)
    for top in range(len(parent) - 1, -1, -1):
        if size[top] < 2 or (parent[top] >= 0 and heavy[parent[top]] == top):
            continue
        length = 0
        v = top
        while v >= 0 and size[v] > 0:
            path[length] = v
            length += 1
            v = heavy[v]
        done = path[length - 1]
        _paint(tree, leaf, begin[done], size[done], white, blue)
        for at in range(length - 2, -1, -1):
            v = path[at]
            if size[v] == n_items:  # nothing is outside, here or further up
                break
            branches = 0
            for e in range(start[v], start[v + 1]):
                c = child[e]
                if c != path[at + 1] and size[c] > 0:
                    branches += 1
            first = white
            if branches > 1:
                first = none
                for e in range(start[v], start[v + 1]):
                    c = child[e]
                    if c != path[at + 1]:
                        _paint(tree, leaf, begin[c], size[c], white, none)
            for e in range(start[v], start[v + 1]):
                c = child[e]
                if c != path[at + 1] and size[c] > 0:
                    _paint(tree, leaf, begin[c], size[c], first, red)
                    found[v] += answer(tree)
                    _paint(tree, leaf, begin[c], size[c], red, blue)
            done = v
        _paint(tree, leaf, begin[done], size[done], blue, white)
    return found
