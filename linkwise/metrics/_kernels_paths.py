"""A learned tree that counts, while samples change color, the red-blue pairs that meet below a white sample.

Let r, b and w be the numbers of red, blue and white samples below a node. A red and a blue sample meet at node u, and a
white one is outside u, in sum over u of (r_u b_u - sum over children of r_c b_c) * (W - w_u) ways. Collecting the terms
of every r_u b_u turns this into

    sum over nodes u of r_u b_u (w_parent(u) - w_u),

which asks nothing about the number of children. The tree is cut into heavy paths (each node continues to its largest
child); along a path, r, b and w are sums over what hangs beside the path further down, so the sum over a stretch of
path follows from those of its two halves. Each path is held by a binary tree that is split by weight, so a path node
lies as deep as what hangs there is light, and a change of color passes through O(log n) entries in all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import IntArray

RED, BLUE, WHITE, NONE = 0, 1, 2, -1  # the first three are also the columns of their sums
PRODUCT, RED_BELOW, BLUE_BELOW, TOTAL = 3, 4, 5, 6
GIVEN = 5


class PathTree(NamedTuple):
    """Heavy paths of a tree and the binary trees that hold them; entries below ``n_nodes`` are single path nodes.

    ``sums`` has one row per entry, over its stretch of path: red, blue and white samples beside it; the sum of r_c b_c
    over the nodes c hanging there; white times red, and times blue, further down; and the wanted total. ``beside`` is
    the part of the total that what hangs at a path node brings along, and ``given`` what a path's topmost entry has
    passed on to the node it hangs from.
    """

    place: IntArray  # path node of each tree node
    left: IntArray
    right: IntArray
    up: IntArray  # -1 for the topmost entry of a path
    hangs_from: IntArray  # path node above a path, for its topmost entry; -1 for the root's path
    top: IntArray  # one number: the topmost entry of the root's path
    sums: IntArray
    beside: IntArray
    given: IntArray


@njit
def heavy_children(parent: IntArray, size: IntArray) -> IntArray:
    """Find the largest child of every node, -1 where there is none; the first of equals."""
    heavy = np.full(len(parent), -1, np.intp)
    for v in range(len(parent)):
        p = parent[v]
        if p >= 0 and (heavy[p] < 0 or size[v] > size[heavy[p]]):
            heavy[p] = v
    return heavy


@njit
def lay_paths(parent: IntArray) -> PathTree:
    """Cut a tree, whose root is its last node, into heavy paths; every sample starts without color."""
    m = len(parent)
    size = np.ones(m, np.intp)
    for v in range(m):
        if parent[v] >= 0:
            size[parent[v]] += size[v]
    heavy = heavy_children(parent, size)
    place = np.empty(m, np.intp)
    before = np.zeros(m + 1, np.intp)  # weight of all path nodes laid so far: themselves and what hangs there
    left = np.full(2 * m, -1, np.intp)
    right = np.full(2 * m, -1, np.intp)
    up = np.full(2 * m, -1, np.intp)
    hangs_from = np.full(2 * m, -1, np.intp)
    top = np.full(1, -1, np.intp)
    todo = np.empty((m + 1, 3), np.intp)
    entries = m
    laid = 0
    for v in range(m - 1, -1, -1):  # parents first, so the path above is laid already
        if parent[v] >= 0 and heavy[parent[v]] == v:
            continue
        low = laid
        x = v
        while x >= 0:
            place[x] = laid
            beneath = size[heavy[x]] if heavy[x] >= 0 else 0
            before[laid + 1] = before[laid] + size[x] - beneath
            laid += 1
            x = heavy[x]
        todo[0, 0], todo[0, 1], todo[0, 2] = low, laid, -1
        waiting = 1
        while waiting > 0:
            waiting -= 1
            a, b, above = todo[waiting, 0], todo[waiting, 1], todo[waiting, 2]
            if b - a == 1:
                e = a
            else:
                e = entries
                entries += 1
            up[e] = above
            if above >= 0:
                if left[above] < 0:
                    left[above] = e
                else:
                    right[above] = e
            elif parent[v] >= 0:
                hangs_from[e] = place[parent[v]]
            else:
                top[0] = e
            if b - a > 1:
                middle = (before[a] + before[b]) // 2
                cut, high = a + 1, b - 1  # the first place, before the last node, at which half the weight is reached
                while cut < high:
                    half = (cut + high) // 2
                    if before[half] < middle:
                        cut = half + 1
                    else:
                        high = half
                todo[waiting, 0], todo[waiting, 1], todo[waiting, 2] = cut, b, e
                todo[waiting + 1, 0], todo[waiting + 1, 1], todo[waiting + 1, 2] = a, cut, e  # taken first: the left
                waiting += 2
    sums = np.zeros((entries, 7), np.intp)
    return PathTree(
        place,
        left[:entries],
        right[:entries],
        up[:entries],
        hangs_from[:entries],
        top,
        sums,
        np.zeros(m, np.intp),
        np.zeros((entries, GIVEN), np.intp),
    )


@njit
def _join(sums: IntArray, e: int, a: int, d: int) -> None:
    """Sum up entry ``e`` from the stretch ``a`` and the one further down, ``d``."""
    for column in range(4):
        sums[e, column] = sums[a, column] + sums[d, column]
    red, blue, white = sums[d, RED], sums[d, BLUE], sums[a, WHITE]
    sums[e, RED_BELOW] = sums[a, RED_BELOW] + sums[d, RED_BELOW] + white * red
    sums[e, BLUE_BELOW] = sums[a, BLUE_BELOW] + sums[d, BLUE_BELOW] + white * blue
    sums[e, TOTAL] = (
        sums[a, TOTAL]
        + sums[d, TOTAL]
        + sums[a, PRODUCT] * sums[d, WHITE]
        + sums[a, RED_BELOW] * blue
        + sums[a, BLUE_BELOW] * red
        + white * red * blue
    )


@njit
def recolor(tree: PathTree, sample: int, old: int, new: int) -> None:
    """Change the color of one sample and renew the sums above it."""
    sums, beside, given = tree.sums, tree.beside, tree.given
    e = tree.place[sample]
    if old >= 0:
        sums[e, old] -= 1
    if new >= 0:
        sums[e, new] += 1
    while True:
        while tree.up[e] >= 0:
            e = tree.up[e]
            _join(sums, e, tree.left[e], tree.right[e])
        at = tree.hangs_from[e]
        if at < 0:
            return
        product = sums[e, RED] * sums[e, BLUE]
        rest = sums[e, TOTAL] - product * sums[e, WHITE]
        for color in range(3):
            sums[at, color] += sums[e, color] - given[e, color]
            given[e, color] = sums[e, color]
        sums[at, PRODUCT] += product - given[e, 3]
        beside[at] += rest - given[e, 4]
        given[e, 3], given[e, 4] = product, rest
        sums[at, TOTAL] = beside[at] + sums[at, PRODUCT] * sums[at, WHITE]
        e = at


@njit
def answer(tree: PathTree) -> int:
    """In how many ways a red and a blue sample meet at a node, the root left out, that has a white one outside."""
    return tree.sums[tree.top[0], TOTAL]  # type: ignore[no-any-return]
