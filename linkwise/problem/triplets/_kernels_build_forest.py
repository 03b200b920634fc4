"""Rooted trees over items that can be cut, turned around and hung together: the spanning forest of `_build_deep`.

One row per item. The items below one form a list linked both ways, so that hanging and cutting take constant time and a
whole tree can be walked without a stack.
"""

from __future__ import annotations

from linkwise._kernels import njit
from linkwise._typing import IntArray

# columns of `item`: the item above or -1, the edge to it, the first item below, neighbors below the same item,
# and the last search that was here
UP, EDGE, DOWN, LEFT, RIGHT, MARK = range(6)


@njit
def hang(item: IntArray, x: int, above: int, edge: int) -> None:
    """Put the root ``x`` below another item."""
    after = item[above, DOWN]
    item[x, UP] = above
    item[x, EDGE] = edge
    item[x, LEFT] = -1
    item[x, RIGHT] = after
    if after >= 0:
        item[after, LEFT] = x
    item[above, DOWN] = x


@njit
def unhang(item: IntArray, x: int) -> None:
    """Make a tree of its own of ``x`` and what is below."""
    before, after = item[x, LEFT], item[x, RIGHT]
    if before >= 0:
        item[before, RIGHT] = after
    else:
        item[item[x, UP], DOWN] = after
    if after >= 0:
        item[after, LEFT] = before
    item[x, UP] = -1
    item[x, EDGE] = -1
    item[x, LEFT] = -1
    item[x, RIGHT] = -1


@njit
def make_root(item: IntArray, x: int) -> None:
    """Turn the way from ``x`` to its root around."""
    above, edge = item[x, UP], item[x, EDGE]
    if above >= 0:
        unhang(item, x)
    while above >= 0:
        below, joined, x = x, edge, above
        above, edge = item[x, UP], item[x, EDGE]
        if above >= 0:
            unhang(item, x)
        hang(item, x, below, joined)


@njit
def following(item: IntArray, x: int) -> int:
    """Return the item after ``x`` in its tree, where each comes before those below it; -1 after the last."""
    after: int = item[x, DOWN]
    while after < 0 and x >= 0:
        after = item[x, RIGHT]
        x = item[x, UP]
    return after


@njit
def smaller_half(item: IntArray, walk: IntArray, x: int, other: int, search: int) -> tuple[int, int]:
    """Walk the tree of the root ``x`` and the tree of ``other``, which may be any item of it, in step until one ends.

    Returns which one it is, 0 or 1, and how many items it has; they stand in that row of ``walk``. Items met in the
    first tree are marked ``search``, those in the second ``search - 1``.
    """
    top, came = other, -1  # the highest item reached in the second tree, and the one below it just done
    count = 0
    while True:
        walk[0, count] = x
        item[x, MARK] = search
        walk[1, count] = other
        item[other, MARK] = search - 1
        count += 1
        x = following(item, x)
        if x < 0:
            return 0, count
        after = item[other, DOWN]
        while True:
            if after >= 0 and after == came:
                after = item[after, RIGHT]
            if after >= 0:
                other = after
                break
            if other == top:
                came, top = top, item[top, UP]
                if top < 0:
                    return 1, count
                other = top
                break
            after = item[other, RIGHT]
            other = item[other, UP]
