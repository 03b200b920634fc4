"""The merge steps of HACoc: the closest pair that breaks the fewest comparisons, and the state after its merge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.engines.agglomeration import lance_williams


class State(NamedTuple):
    """Clusters in slots; those that comparisons are about also have an item, under which merges are judged."""

    D: FloatArray
    size: FloatArray
    node: IntArray  # of each slot; -1 once merged away
    near: IntArray  # nearest slot above with which a merge breaks nothing; -1 if there is none
    gap: FloatArray  # its distance
    item: IntArray  # of each slot; -1 if no comparison is about it
    breaks: npt.NDArray[np.int32]  # (items, items): comparisons that a merge would break
    trio: IntArray  # (comparisons, 3): items a, b, c of d(a, b) < d(a, c)
    live: BoolArray
    first: IntArray  # comparisons of an item, as chains of places (3 t + column) in `after`
    last: IntArray
    length: IntArray
    after: IntArray
    pairs: IntArray
    height: FloatArray
    done: IntArray  # one number


@njit
def _look(s: State, i: int) -> None:
    """Find the nearest slot above ``i`` that it may join."""
    best = np.inf
    near = -1
    mine = s.item[i]
    for j in range(i + 1, len(s.node)):
        if s.node[j] >= 0 and s.D[i, j] < best:
            if mine >= 0 and s.item[j] >= 0 and s.breaks[mine, s.item[j]] > 0:
                continue
            best = s.D[i, j]
            near = j
    s.near[i] = near
    s.gap[i] = best


@njit
def _least_harm(s: State) -> tuple[int, int]:
    """The pair that breaks the fewest comparisons, and among those the closest."""
    best_i = -1
    best_j = -1
    for i in range(len(s.node)):
        if s.node[i] < 0:
            continue
        for j in range(i + 1, len(s.node)):
            if s.node[j] < 0:
                continue
            # every pair breaks something now, so both have items
            harm = s.breaks[s.item[i], s.item[j]]
            if best_i >= 0:
                least = s.breaks[s.item[best_i], s.item[best_j]]
                if harm > least or (harm == least and s.D[i, j] >= s.D[best_i, best_j]):
                    continue
            best_i = i
            best_j = j
    return best_i, best_j


@njit
def _unite_items(s: State, p: int, q: int) -> int:
    """Settle the comparisons that are about both items, rename one to the other in the rest; return what is left."""
    if s.length[p] < s.length[q]:
        p, q = q, p
    place = s.first[q]
    while place >= 0:
        t = place // 3
        if s.live[t]:
            a, b, c = s.trio[t]
            if p in (a, b, c):  # kept when p and q are a and b, broken when they are a and c, void when b and c
                s.live[t] = False
                s.breaks[a, c] -= 1
                s.breaks[c, a] -= 1
        place = s.after[place]
    place = s.first[q]
    while place >= 0:
        s.trio[place // 3, place % 3] = p
        place = s.after[place]
    for x in range(len(s.length)):
        s.breaks[p, x] += s.breaks[q, x]
        s.breaks[q, x] = 0
    for x in range(len(s.length)):
        s.breaks[x, p] += s.breaks[x, q]
        s.breaks[x, q] = 0
    s.after[s.last[p]] = s.first[q]
    s.last[p] = s.last[q]
    s.length[p] += s.length[q]
    return p


@njit
def _merge(s: State, method: int, i: int, j: int) -> None:
    """Join slot ``i`` into the higher slot ``j``."""
    n = len(s.node)
    t = s.done[0]
    s.pairs[t, 0] = min(s.node[i], s.node[j])
    s.pairs[t, 1] = max(s.node[i], s.node[j])
    s.height[t] = s.D[i, j]
    s.done[0] = t + 1
    apart = s.D[i, j]
    s.node[i] = -1
    for k in range(n):
        if s.node[k] >= 0 and k != j:
            d = lance_williams(method, s.D[i, k], s.D[j, k], apart, s.size[i], s.size[j], s.size[k])
            s.D[j, k] = d
            s.D[k, j] = d
    s.size[j] += s.size[i]
    s.node[j] = n + t
    if s.item[i] >= 0:
        s.item[j] = s.item[i] if s.item[j] < 0 else _unite_items(s, s.item[i], s.item[j])
    # Which merges are harmless changes for the new cluster only, so all other rows keep their nearest.
    _look(s, j)
    for k in range(j):
        if s.node[k] < 0:
            continue
        if s.near[k] == i or s.near[k] == j:
            _look(s, k)
        elif s.D[k, j] < s.gap[k] and (s.item[k] < 0 or s.item[j] < 0 or s.breaks[s.item[k], s.item[j]] == 0):
            s.near[k] = j
            s.gap[k] = s.D[k, j]


@njit
def _advance(s: State, method: int, steps: int) -> None:
    n = len(s.node)
    if s.done[0] == 0:
        for i in range(n):
            _look(s, i)
    for _ in range(steps):
        if s.done[0] == n - 1:
            return
        i = -1
        for k in range(n):
            if s.node[k] >= 0 and s.near[k] >= 0 and (i < 0 or s.gap[k] < s.gap[i]):
                i = k
        if i >= 0:
            _merge(s, method, i, s.near[i])
        else:
            i, j = _least_harm(s)
            _merge(s, method, i, j)
