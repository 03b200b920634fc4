"""The spans of all pairs of items at once, dividing each set of items only once (compiled).

`linkwise.problem._span` defines the span of two items. Pairs whose sets were divided alike so far share the work: of a
set in three parts or more, the pairs between two parts go on together in the union of the two.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import find, make, union

__all__ = ["fill_spans"]

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

# which pairs of a set are asked for: all, or those with one end on either side
ALL, LEFT, RIGHT, NEITHER = -1, 0, 1, 2


@njit
def _starts(key: IntArray, k: int) -> tuple[IntArray, IntArray]:
    """CSR of positions by key: start of each key, and the positions in order."""
    start = np.zeros(k + 1, np.intp)
    for t in range(len(key)):
        start[key[t] + 1] += 1
    for i in range(k):
        start[i + 1] += start[i]
    place = start[:k].copy()
    order = np.empty(len(key), np.intp)
    for t in range(len(key)):
        order[place[key[t]]] = t
        place[key[t]] += 1
    return start, order


@njit
def _has_both(side: IntArray) -> bool:
    """Whether a pair is asked for."""
    if side[0] == ALL:
        return len(side) > 1
    left = False
    right = False
    for s in range(len(side)):
        left |= side[s] == LEFT
        right |= side[s] == RIGHT
    return left and right


@njit
def _write(items: IntArray, side: IntArray, part: IntArray, inside: BoolArray) -> None:
    """The set falls into two parts: it is the span of every pair across them that is asked for."""
    for s in range(len(items)):
        for t in range(len(items)):
            x = items[s]
            y = items[t]
            if part[s] == part[t] or (side[s] != ALL and not (side[s] == LEFT and side[t] == RIGHT)):
                continue
            for u in range(len(items)):
                inside[x, y, items[u]] = True
                inside[y, x, items[u]] = True


@njit
def fill_spans(triplets: IntArray, inside: BoolArray) -> None:
    """Set ``inside[x, y, z]`` where z is in the span of x and y, for spans of more than the pair itself."""
    n = len(inside)
    sets = make(n)
    number = np.full(n, -1, np.intp)
    todo = [(np.arange(n), np.arange(len(triplets)), np.full(n, ALL, np.intp))]
    while len(todo) > 0:
        items, rows, side = todo.pop()
        if len(items) < 3 or len(rows) == 0 or not _has_both(side):
            continue  # without triplets inside, no pair has company
        for s in range(len(items)):
            sets.parent[items[s]] = items[s]
            sets.size[items[s]] = 1
        for t in range(len(rows)):
            union(sets, triplets[rows[t], 0], triplets[rows[t], 1])
        k = 0
        part = np.empty(len(items), np.intp)
        for s in range(len(items)):
            if find(sets, items[s]) == items[s]:
                number[items[s]] = k
                k += 1
        for s in range(len(items)):
            part[s] = number[find(sets, items[s])]
        if k == 2:
            _write(items, side, part, inside)
        # triplets by the part of a and b, then by that of c: those inside a part, and those across two
        near = np.empty(len(rows), np.intp)
        across = np.empty(len(rows), np.intp)
        crossing = 0
        for t in range(len(rows)):
            near[t] = number[find(sets, triplets[rows[t], 0])]
            far = number[find(sets, triplets[rows[t], 2])]
            if far != near[t]:
                across[crossing] = min(near[t], far) * k + max(near[t], far)
                crossing += 1
                near[t] = k
        item_start, item_order = _starts(part, k)
        row_start, row_order = _starts(near, k + 1)
        for p in range(k):
            mine = item_order[item_start[p] : item_start[p + 1]]
            if row_start[p + 1] > row_start[p]:
                todo.append((items[mine], rows[row_order[row_start[p] : row_start[p + 1]]], side[mine]))
        if k == 2:
            continue
        crossers = rows[row_order[row_start[k] :]]
        by_pair = np.argsort(across[:crossing], kind="mergesort")
        first = 0
        while first < crossing:
            code = across[by_pair[first]]
            last = first
            while last < crossing and across[by_pair[last]] == code:
                last += 1
            p = code // k
            q = code % k
            mine = item_order[item_start[p] : item_start[p + 1]]
            theirs = item_order[item_start[q] : item_start[q + 1]]
            below = np.concatenate((items[mine], items[theirs]))
            kept = np.concatenate(
                (
                    rows[row_order[row_start[p] : row_start[p + 1]]],
                    rows[row_order[row_start[q] : row_start[q + 1]]],
                    crossers[by_pair[first:last]],
                )
            )
            for turn in range(2):
                asked = np.full(len(below), NEITHER, np.intp)
                for s in range(len(mine)):
                    if side[mine[s]] == ALL or side[mine[s]] == turn:
                        asked[s] = LEFT
                for s in range(len(theirs)):
                    if side[theirs[s]] == ALL or side[theirs[s]] == 1 - turn:
                        asked[len(mine) + s] = RIGHT
                if turn == 0 or side[0] != ALL:
                    todo.append((below, kept, asked))
            first = last
