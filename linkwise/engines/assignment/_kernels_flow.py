"""Assignments under bounds on the number of samples per cluster: by flow where that is exact, by moves and swaps."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.problem.statements import Apart


@njit
def _cheapest(costs: FloatArray, head: IntArray, after: IntArray, a: int, b: int) -> int:
    """The row of cluster a that loses least by going to cluster b, or -1."""
    best = -1
    i = head[a]
    while i >= 0:
        if best < 0 or costs[i, b] - costs[i, a] < costs[best, b] - costs[best, a]:
            best = i
        i = after[i]
    return best


@njit
def _shortest(costs: FloatArray, leaver: IntArray, source: int, begin: BoolArray, way: IntArray) -> FloatArray:
    """Cheapest chain of moves to each cluster: from ``source``, or from any of ``begin`` when it is -1."""
    k = len(way)
    length = np.full(k, np.inf)
    for c in range(k):
        way[c] = -1
        if c == source or (source < 0 and begin[c]):
            length[c] = 0.0
    for _ in range(k):  # no cycle is shorter than nothing, so k rounds are enough
        changed = False
        for a in range(k):
            if length[a] == np.inf:
                continue
            for b in range(k):
                i = leaver[a, b]
                if i >= 0:
                    far = length[a] + (costs[i, b] - costs[i, a])
                    if far < length[b] - 1e-14 * abs(far):
                        c = a  # with ties, rounding can make a cycle shorter than nothing: it is not taken
                        while c >= 0 and c != b:
                            c = way[c]
                        if c == b:
                            continue
                        length[b] = far
                        way[b] = a
                        changed = True
        if not changed:
            break
    return length


@njit
def flow_within(costs: FloatArray, low: int, high: int, labels: IntArray) -> None:
    """Assign rows at minimum cost so that every cluster has ``low`` to ``high`` of them; ``labels`` gets the answer.

    Starts from the cheapest cluster of each row, which is best without bounds, and tightens the bounds of one cluster
    by one at a time: one shortest chain of moves makes the answer best again. There must be enough rows, not too many.
    """
    m, k = costs.shape
    size = np.zeros(k, np.intp)
    head = np.full(k, -1, np.intp)
    after = np.empty(m, np.intp)
    ahead = np.empty(m, np.intp)  # the row before a row in its cluster's list, or -1
    for i in range(m):
        c = 0
        for b in range(1, k):
            if costs[i, b] < costs[i, c]:
                c = b
        labels[i] = c
        size[c] += 1
        after[i] = head[c]
        ahead[i] = -1
        if head[c] >= 0:
            ahead[head[c]] = i
        head[c] = i
    leaver = np.full((k, k), -1, np.intp)
    for a in range(k):
        for b in range(k):
            if a != b:
                leaver[a, b] = _cheapest(costs, head, after, a, b)
    way = np.empty(k, np.intp)
    able = np.empty(k, np.bool_)
    while True:
        over, under = -1, -1
        for c in range(k):
            if size[c] > high:
                over = c
            elif size[c] < low:
                under = c
        if over < 0 and under < 0:
            return
        for c in range(k):
            able[c] = size[c] < high if over >= 0 else size[c] > low
        length = _shortest(costs, leaver, over, able, way)
        end = under
        if over >= 0:
            for c in range(k):
                if able[c] and (end < 0 or not able[end] or length[c] < length[end]):
                    end = c
        while way[end] >= 0:
            a, b = way[end], end
            i = leaver[a, b]
            if ahead[i] >= 0:
                after[ahead[i]] = after[i]
            else:
                head[a] = after[i]
            if after[i] >= 0:
                ahead[after[i]] = ahead[i]
            after[i] = head[b]
            ahead[i] = -1
            if head[b] >= 0:
                ahead[head[b]] = i
            head[b] = i
            labels[i] = b
            size[a] -= 1
            size[b] += 1
            for c in range(k):
                if c != a and leaver[a, c] == i:
                    leaver[a, c] = _cheapest(costs, head, after, a, c)
                j = leaver[b, c]
                if c != b and (j < 0 or costs[i, c] - costs[i, b] < costs[j, c] - costs[j, b]):
                    leaver[b, c] = i
            end = a


@njit
def _free(apart: Apart, place: int, labels: IntArray, b: int, leaving: int) -> bool:
    """Whether cluster b holds no row that a place must be apart from, except one row that is leaving it."""
    if place < 0:
        return True
    for e in range(apart.first[place], apart.first[place + 1]):
        q = apart.clique[e]
        for t in range(apart.start[q], apart.start[q + 1]):
            other = apart.node[apart.member[t]]
            if apart.member[t] != place and other != leaving and labels[other] == b:
                return False
    return True


@njit
def fill_within(
    costs: FloatArray, weight: IntArray, apart: Apart, place: IntArray, low: int, high: int, labels: IntArray
) -> bool:
    """Search labels within the bounds, heavy rows first, each to the cheapest cluster that has room; False if stuck."""
    m, k = costs.shape
    size = np.zeros(k, np.intp)
    labels[:] = -1
    for i in np.argsort(-weight, kind="mergesort"):
        best = -1
        for c in range(k):
            if (
                size[c] + weight[i] <= high
                and (best < 0 or costs[i, c] < costs[i, best])
                and _free(apart, place[i], labels, c, -1)
            ):
                best = c
        if best < 0:
            return False
        labels[i] = best
        size[best] += weight[i]
    for b in range(k):
        while size[b] < low:
            best = -1
            for i in range(m):
                a = labels[i]
                if (
                    a != b
                    and size[a] - weight[i] >= low
                    and size[b] + weight[i] <= high
                    and (best < 0 or costs[i, b] - costs[i, a] < costs[best, b] - costs[best, labels[best]])
                    and _free(apart, place[i], labels, b, -1)
                ):
                    best = i
            if best < 0:
                return False
            size[labels[best]] -= weight[best]
            size[b] += weight[best]
            labels[best] = b
    return True


@njit
def improve_within(
    costs: FloatArray,
    weight: IntArray,
    apart: Apart,
    place: IntArray,
    low: int,
    high: int,
    labels: IntArray,
    visits: int,
) -> None:
    """Move single rows and swap two while that lowers the cost and keeps bounds and what is apart."""
    m, k = costs.shape
    size = np.zeros(k, np.intp)
    scale = 0.0
    for i in range(m):
        size[labels[i]] += weight[i]
        scale += abs(costs[i, labels[i]])
    tiny = 1e-12 * scale
    improved = True
    while improved and visits > 0:
        improved = False
        for i in range(m):
            for b in range(k):
                a = labels[i]
                gain = costs[i, a] - costs[i, b]
                if not gain > tiny:
                    continue
                visits -= 1
                if size[a] - weight[i] >= low and size[b] + weight[i] <= high and _free(apart, place[i], labels, b, -1):
                    labels[i] = b
                    size[a] -= weight[i]
                    size[b] += weight[i]
                    improved = True
                    continue
                if visits < 0:
                    return
                for j in range(m):
                    change = weight[i] - weight[j] if labels[j] == b else 0
                    if (
                        labels[j] == b
                        and costs[j, a] - costs[j, b] < gain - tiny
                        and low <= size[a] - change <= high
                        and low <= size[b] + change <= high
                        and _free(apart, place[i], labels, b, j)
                        and _free(apart, place[j], labels, a, i)
                    ):
                        labels[i], labels[j] = b, a
                        size[a] -= change
                        size[b] += change
                        improved = True
                        break
                visits -= m
