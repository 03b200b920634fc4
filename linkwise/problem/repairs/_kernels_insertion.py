"""Pairs inserted one by one as long as they agree, and pairs that agree with all others."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import find, make, union
from linkwise._typing import BoolArray, IntArray


@njit
def _separates(n: int, links: IntArray, bans: IntArray, pairs: IntArray, is_must: BoolArray) -> BoolArray:
    """For each of the given pairs, whether the others hold together without it; equal pairs count as one."""
    free = np.ones(len(pairs), np.bool_)
    for i in range(len(pairs)):
        a, b = pairs[i, 0], pairs[i, 1]
        sets = make(n)
        for t in range(len(links)):
            if not (is_must[i] and links[t, 0] == a and links[t, 1] == b):
                union(sets, links[t, 0], links[t, 1])
        for t in range(len(bans)):
            if (is_must[i] or bans[t, 0] != a or bans[t, 1] != b) and find(sets, bans[t, 0]) == find(sets, bans[t, 1]):
                free[i] = False
                break
    return free


@njit
def _insert_pairs(n: int, items: IntArray, is_must: BoolArray) -> BoolArray:
    """Each group keeps a linked list of the ends of its cannot-links; a union looks at the shorter list only."""
    m = len(items)
    sets = make(n)
    head = np.full(n, -1, np.intp)
    tail = np.full(n, -1, np.intp)
    length = np.zeros(n, np.intp)
    after = np.full(2 * m, -1, np.intp)  # entry 2t is the first end of statement t, 2t + 1 its second
    taken = np.zeros(m, np.bool_)
    for t in range(m):
        x = find(sets, items[t, 0])
        y = find(sets, items[t, 1])
        if not is_must[t]:
            if x != y:
                taken[t] = True
                for end in range(2):
                    group = x if end == 0 else y
                    entry = 2 * t + end
                    if head[group] < 0:
                        head[group] = entry
                    else:
                        after[tail[group]] = entry
                    tail[group] = entry
                    length[group] += 1
            continue
        if x == y:
            taken[t] = True
            continue
        short, other = (x, y) if length[x] <= length[y] else (y, x)
        apart = False
        entry = head[short]
        while entry >= 0:
            if find(sets, items[entry // 2, 1 - entry % 2]) == other:
                apart = True
                break
            entry = after[entry]
        if apart:
            continue
        taken[t] = True
        union(sets, x, y)
        group = find(sets, x)
        gone = y if group == x else x
        if head[gone] >= 0:
            if head[group] < 0:
                head[group] = head[gone]
            else:
                after[tail[group]] = head[gone]
            tail[group] = tail[gone]
            length[group] += length[gone]
    return taken
