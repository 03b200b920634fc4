"""Elimination of variables one by one, least fill first, and the plan of tables that it leaves."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import BoolArray, FloatArray, IntArray


class Plan(NamedTuple):
    """One table per variable, over the variable itself and those that outlive it, grouped by connected component.

    Table t belongs to ``node[t]``. Its separator, ``member[start[t]:start[t + 1]]``, lists the tables of the nodes it
    shares factors with when it is summed out; all come later, the first is its ``parent``. ``place`` says where a
    member of the separator stands in the parent's table (0 is the parent itself). ``same`` and ``other`` are the
    log-factors of the node and the member for equal and for different labels. Tables of component c are
    ``first[c]`` to ``first[c + 1]``; ``offset`` is where a table starts in the scratch space of its component.
    """

    node: IntArray
    start: IntArray
    member: IntArray
    place: IntArray
    same: FloatArray
    other: FloatArray
    parent: IntArray
    first: IntArray
    offset: IntArray
    n_states: IntArray  # of each table
    scratch: int  # states of the largest component
    widest: int  # variables in the largest table


@njit
def _alive(v: int, head: IntArray, follow: IntArray, to: IntArray, gone: BoolArray, found: IntArray) -> int:
    """Put the neighbors of v that are left into ``found``; forget those that are gone."""
    count, before, e = 0, -1, head[v]
    while e >= 0:
        if gone[to[e]]:
            if before < 0:
                head[v] = follow[e]
            else:
                follow[before] = follow[e]
        else:
            found[count] = to[e]
            count += 1
            before = e
        e = follow[e]
    return count


@njit
def _missing(found: IntArray, count: int, n: int, edges: set[int]) -> int:
    """How many of the pairs among ``found`` are not joined."""
    missing = 0
    for i in range(count):
        for j in range(i):
            a, b = min(found[i], found[j]), max(found[i], found[j])
            if a * n + b not in edges:
                missing += 1
    return missing


@njit
def eliminate(n: int, pairs: IntArray, most: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Sum out nodes one by one, least fill first, as long as one has at most ``most`` neighbors.

    Returns the order, the neighbors each node had when its turn came (as starts and members), and the number of
    neighbors every node that is left still has (0 for those that are gone).
    """
    head = np.full(n, -1, np.int64)
    room = 2 * len(pairs) + 16
    follow, to = np.empty(room, np.int64), np.empty(room, np.int64)
    used = 0
    degree = np.zeros(n, np.int64)
    edges = {np.int64(-1)}
    for t in range(len(pairs)):
        for a, b in ((pairs[t, 0], pairs[t, 1]), (pairs[t, 1], pairs[t, 0])):
            to[used], follow[used], head[a] = b, head[a], used
            used += 1
            degree[a] += 1
        edges.add(min(pairs[t, 0], pairs[t, 1]) * n + max(pairs[t, 0], pairs[t, 1]))
    gone = np.zeros(n, np.bool_)
    found = np.empty(max(most, 1) + 1, np.int64)
    mine = np.empty(max(most, 1) + 1, np.int64)
    key = np.full(n, -1, np.int64)
    heap = [(np.int64(0), np.int64(0))]
    heap.pop()
    for u in range(n):
        if degree[u] <= most:
            key[u] = _missing(found, _alive(u, head, follow, to, gone, found), n, edges)
            heap.append((key[u], np.int64(u)))
    heapq.heapify(heap)
    order, start, member = np.empty(n, np.int64), np.zeros(n + 1, np.int64), np.empty(room, np.int64)
    done = filled = 0
    while len(heap) > 0:
        waiting, v = heapq.heappop(heap)
        if gone[v] or waiting != key[v]:
            continue
        count = _alive(v, head, follow, to, gone, mine)
        gone[v] = True
        order[done] = v
        if filled + count > len(member):
            member = np.concatenate((member, np.empty(len(member) + count, np.int64)))
        for k in range(count):
            member[filled + k] = mine[k]
        filled += count
        done += 1
        start[done] = filled
        if used + count * count > len(to):
            to = np.concatenate((to, np.empty(len(to) + count * count, np.int64)))
            follow = np.concatenate((follow, np.empty(len(follow) + count * count, np.int64)))
        for i in range(count):
            degree[mine[i]] -= 1
            for j in range(i):
                a, b = min(mine[i], mine[j]), max(mine[i], mine[j])
                if a * n + b not in edges:
                    edges.add(a * n + b)
                    to[used], follow[used], head[a] = b, head[a], used
                    to[used + 1], follow[used + 1], head[b] = a, head[b], used + 1
                    used += 2
                    degree[a] += 1
                    degree[b] += 1
        for u in mine[:count]:
            key[u] = -1  # whatever waits for it in the heap is out of date
            if degree[u] <= most:
                key[u] = _missing(found, _alive(u, head, follow, to, gone, found), n, edges)
                heapq.heappush(heap, (key[u], u))
    left = np.where(gone, 0, degree)
    return order[:done], start[: done + 1], member[:filled], left
