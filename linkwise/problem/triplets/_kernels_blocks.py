"""Blocks that must-links and triplets unite: one union, and the conditional rule until it settles."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import DisjointSet, find
from linkwise._typing import BoolArray, IntArray

BY_ITSELF, BY_THIRD, BY_KNOT = 0, 1, 2


@njit
def _join(
    sets: DisjointSet,
    ring: IntArray,
    waiting: BoolArray,
    stack: IntArray,
    top: int,
    x: int,
    y: int,
    log: IntArray,
    count: IntArray,
    reason: int,
    step: int,
) -> int:
    """Unite two blocks; members of the smaller one wait to have their triplets looked at again."""
    first, second = x, y
    x = find(sets, x)
    y = find(sets, y)
    if x == y:
        return top
    place = count[0]
    log[place, 0] = first
    log[place, 1] = second
    log[place, 2] = reason
    log[place, 3] = step
    count[0] = place + 1
    if sets.size[x] < sets.size[y]:
        x, y = y, x
    member = y
    while True:
        if not waiting[member]:
            waiting[member] = True
            stack[top] = member
            top += 1
        member = ring[member]
        if member == y:
            break
    sets.parent[y] = x
    sets.size[x] += sets.size[y]
    ring[x], ring[y] = ring[y], ring[x]  # splices the two circular member lists into one
    return top


@njit
def _settle(
    sets: DisjointSet,
    ring: IntArray,
    pairs: IntArray,
    reasons: IntArray,
    step: int,
    triplets: IntArray,
    offset: int,
    start: IntArray,
    incident: IntArray,
    log: IntArray,
    count: IntArray,
) -> None:
    """Unite the pairs and everything the conditional rule asks for; O((n + m) log n) over all calls."""
    n = len(ring)
    waiting = np.zeros(n, np.bool_)
    stack = np.empty(n, np.intp)
    top = 0
    for t in range(len(pairs)):
        top = _join(sets, ring, waiting, stack, top, pairs[t, 0], pairs[t, 1], log, count, reasons[t], step)
    while top > 0:
        top -= 1
        item = stack[top]
        waiting[item] = False
        for s in range(start[item], start[item + 1]):
            a, b, c = triplets[incident[s], 0], triplets[incident[s], 1], triplets[incident[s], 2]
            third = find(sets, c)
            if third == find(sets, a) or third == find(sets, b):
                why = offset + incident[s]  # c is with one of the two already, so uniting these unites all three
                top = _join(sets, ring, waiting, stack, top, a, b, log, count, why, np.int64(BY_THIRD))
