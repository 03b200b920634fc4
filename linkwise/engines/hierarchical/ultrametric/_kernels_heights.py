"""Heights on a given tree: sums of distances at nodes, isotonic regression with pairing heaps, samples that merge."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray


@njit
def _sums_at_nodes(parent: IntArray, leaf_order: IntArray, D: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sum and number of the distances whose two samples meet at each node."""
    n = len(leaf_order)
    first = np.full(len(parent), n, np.intp)  # where the samples below a node stand in leaf order
    after = np.zeros(len(parent), np.intp)
    for k in range(n):
        first[leaf_order[k]] = k
        after[leaf_order[k]] = k + 1
    for node in range(len(parent)):
        above = parent[node]
        if above >= 0:
            first[above] = min(first[above], first[node])
            after[above] = max(after[above], after[node])
    total = np.zeros(len(parent))
    count = np.zeros(len(parent))
    for i in range(n):
        row = D[i]
        node = i
        above = parent[i]
        while above >= 0:
            part = 0.0
            for k in range(first[above], first[node]):
                part += row[leaf_order[k]]
            for k in range(after[node], after[above]):
                part += row[leaf_order[k]]
            total[above] += part / 2  # every pair is met from both sides
            count[above] += (after[above] - first[above] - after[node] + first[node]) / 2
            node = above
            above = parent[node]
    return total, count


@njit
def _meld(key: FloatArray, down: IntArray, side: IntArray, x: int, y: int) -> int:
    """Join two pairing heaps, the largest key on top; -1 is the empty one."""
    if x < 0:
        return y
    if y < 0:
        return x
    if key[x] < key[y]:
        x, y = y, x
    side[y] = down[x]
    down[x] = y
    return x


@njit
def _without_top(key: FloatArray, down: IntArray, side: IntArray, top: int) -> int:
    """Remove the top of a pairing heap: meld its children in pairs, then the pairs from last to first."""
    done = -1  # melded pairs, chained backwards by `side`
    x = down[top]
    while x >= 0:
        y = side[x]
        rest = side[y] if y >= 0 else -1
        side[x] = -1
        if y >= 0:
            side[y] = -1
        x = _meld(key, down, side, x, y)
        side[x] = done
        done = x
        x = rest
    heap = -1
    while done >= 0:
        rest = side[done]
        side[done] = -1
        heap = _meld(key, down, side, heap, done)
        done = rest
    return heap


@njit
def _pool_upwards(parent: IntArray, wish: FloatArray, count: FloatArray) -> FloatArray:
    """Isotonic regression on a tree: the values closest to the wishes that never fall from a node to its parent.

    Children come before parents. What is below a node is solved already, in blocks of equal value; as long as the
    highest block right below is above the node's own, the two become one. The blocks below a block wait in a heap.
    """
    value = wish.copy()
    mass = count.copy()
    heap = np.full(len(parent), -1, np.intp)
    down = np.full(len(parent), -1, np.intp)
    side = np.full(len(parent), -1, np.intp)
    pooled = np.full(len(parent), -1, np.intp)  # the node whose block this one went into
    for node in range(len(parent)):
        if count[node] == 0:
            continue  # a sample
        while heap[node] >= 0 and value[heap[node]] > value[node]:
            top = heap[node]
            value[node] = (mass[node] * value[node] + mass[top] * value[top]) / (mass[node] + mass[top])
            mass[node] += mass[top]
            rest = _without_top(value, down, side, top)
            heap[node] = _meld(value, down, side, rest, heap[top])
            pooled[top] = node
        if parent[node] >= 0:
            heap[parent[node]] = _meld(value, down, side, heap[parent[node]], node)
    for node in range(len(parent) - 1, -1, -1):
        if pooled[node] >= 0:
            value[node] = value[pooled[node]]
    return value


@njit
def _between_samples(n: int, pairs: IntArray) -> IntArray:
    """Replace the nodes that merge by one sample of each."""
    sample = np.arange(n + len(pairs))
    edges = np.empty((len(pairs), 2), np.intp)
    for t in range(len(pairs)):
        edges[t, 0] = sample[pairs[t, 0]]
        edges[t, 1] = sample[pairs[t, 1]]
        sample[n + t] = edges[t, 0]
    return edges
