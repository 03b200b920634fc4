"""Blocks of a graph of links, and light cycles with one cannot-link."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray


@njit
def blocks(start: IntArray, other: IntArray, link: IntArray) -> IntArray:
    """Number the block of every link, by depth-first search after Hopcroft and Tarjan, without recursion.

    Parallel links differ by their numbers, so two links between the same samples are a block.
    """
    n = len(start) - 1
    found = np.full(n, -1, np.intp)  # order of discovery
    low = np.empty(n, np.intp)  # earliest sample reached from below by one link outside the search tree
    entered = np.full(n, -1, np.intp)  # link by which a sample was found
    turn = start[:-1].copy()
    path = np.empty(n, np.intp)
    waiting = np.empty(len(link), np.intp)  # links not yet in a block
    block = np.full(len(link) // 2, -1, np.intp)
    met = 0
    top = 0
    blocks = 0
    for root in range(n):
        if found[root] >= 0:
            continue
        found[root] = low[root] = met
        met += 1
        path[0] = root
        depth = 1
        while depth > 0:
            x = path[depth - 1]
            if turn[x] < start[x + 1]:
                s = turn[x]
                turn[x] += 1
                y = other[s]
                if link[s] == entered[x]:
                    continue
                if found[y] < 0:
                    entered[y] = link[s]
                    found[y] = low[y] = met
                    met += 1
                    waiting[top] = link[s]
                    top += 1
                    path[depth] = y
                    depth += 1
                elif found[y] < found[x]:
                    waiting[top] = link[s]
                    top += 1
                    low[x] = min(low[x], found[y])
                continue
            depth -= 1
            if depth == 0:
                break
            above = path[depth - 1]
            low[above] = min(low[above], low[x])
            if low[x] >= found[above]:
                while True:
                    top -= 1
                    block[waiting[top]] = blocks
                    if waiting[top] == entered[x]:
                        break
                blocks += 1
    return block


@njit
def _push(key: FloatArray, node: IntArray, size: int, k: float, x: int) -> None:
    """Put ``x`` with key ``k`` into a binary heap that holds ``size`` entries."""
    at = size
    while at > 0 and key[(at - 1) // 2] > k:
        key[at] = key[(at - 1) // 2]
        node[at] = node[(at - 1) // 2]
        at = (at - 1) // 2
    key[at] = k
    node[at] = x


@njit
def _pop(key: FloatArray, node: IntArray, size: int) -> None:
    """Remove the first of ``size`` entries."""
    k, x = key[size - 1], node[size - 1]
    at = 0
    while True:
        below = 2 * at + 1
        if below + 1 < size - 1 and key[below + 1] < key[below]:
            below += 1
        if below >= size - 1 or key[below] >= k:
            break
        key[at] = key[below]
        node[at] = node[below]
        at = below
    key[at] = k
    node[at] = x


@njit
def light_cycles(
    start: IntArray, other: IntArray, link: IntArray, length: FloatArray, ends: IntArray, limit: FloatArray
) -> tuple[IntArray, IntArray, IntArray, int]:
    """A shortest chain between each pair of ``ends`` (sorted by their first) if it is shorter than ``limit``.

    Returns which pairs have one, the links of the chains as bounds and members, and the links followed on the way. One
    search from each first end, after Dijkstra, no farther than its widest limit.
    """
    n = len(start) - 1
    far = np.full(n, np.inf)
    entered = np.empty(n, np.intp)
    before = np.empty(n, np.intp)
    settled = np.zeros(n, np.bool_)
    touched = np.empty(n, np.intp)
    key = np.empty(len(other) + 1)
    node = np.empty(len(other) + 1, np.intp)
    which = np.empty(len(ends), np.intp)
    bound = np.zeros(len(ends) + 1, np.intp)
    member = np.empty(8 * len(ends) + n, np.intp)
    found = 0
    first = 0
    followed = 0
    while first < len(ends):
        source = ends[first, 0]
        stop = first
        widest = 0.0
        while stop < len(ends) and ends[stop, 0] == source:
            widest = max(widest, limit[stop])
            stop += 1
        far[source] = 0.0
        touched[0] = source
        met = 1
        key[0], node[0] = 0.0, source
        size = 1
        while size > 0:
            x, d = node[0], key[0]
            _pop(key, node, size)
            size -= 1
            if settled[x]:
                continue
            settled[x] = True
            followed += 1 + start[x + 1] - start[x]
            for s in range(start[x], start[x + 1]):
                y = other[s]
                through = d + length[link[s]]
                if through < far[y] and through < widest:
                    if far[y] == np.inf:
                        touched[met] = y
                        met += 1
                    far[y] = through
                    entered[y] = link[s]
                    before[y] = x
                    _push(key, node, size, through, y)
                    size += 1
        for r in range(first, stop):
            y = ends[r, 1]
            if far[y] < limit[r]:
                at = bound[found]
                if at + n > len(member):
                    wider = np.empty(2 * len(member) + n, np.intp)
                    for i in range(at):
                        wider[i] = member[i]
                    member = wider
                while y != source:
                    member[at] = entered[y]
                    at += 1
                    y = before[y]
                which[found] = r
                found += 1
                bound[found] = at
        for i in range(met):
            far[touched[i]] = np.inf
            settled[touched[i]] = False
        first = stop
    return which[:found], bound[: found + 1], member[: bound[found]], followed
