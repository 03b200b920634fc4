"""Gibbs sampling of labels: conditionals of a row, swaps of two labels, and averages over sweeps."""

from __future__ import annotations

import math

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.mixture._kernels_mean_field import Near


@njit
def _conditional(near: Near, unary: FloatArray, label: IntArray, t: int, out: FloatArray) -> None:
    """Log-weights of the labels of row t, given all other labels."""
    start, to, same, other = near
    for x in range(len(out)):
        out[x] = unary[t, x]
    for e in range(start[t], start[t + 1]):
        for x in range(len(out)):
            out[x] += same[e] if label[to[e]] == x else other[e]


@njit
def _log_weight(near: Near, unary: FloatArray, label: IntArray) -> float:
    start, to, same, other = near
    total = 0.0
    for t in range(len(label)):
        total += unary[t, label[t]]
        for e in range(start[t], start[t + 1]):
            if to[e] > t:
                total += same[e] if label[to[e]] == label[t] else other[e]
    return total


@njit
def _swap(
    rng: np.random.Generator,
    near: Near,
    unary: FloatArray,
    label: IntArray,
    t: int,
    b: int,
    stamp: IntArray,
    now: int,
    queue: IntArray,
) -> None:
    """Swap labels a and b on the rows that hard cannot-links connect to row t through these labels, if chance has it.

    Single steps cannot leave a labeling in which every row is hemmed in by its neighbors; this can.
    """
    start, to, same, other = near
    a = label[t]
    queue[0], stamp[t], done, count = t, now, 0, 1
    while done < count:
        u = queue[done]
        done += 1
        for e in range(start[u], start[u + 1]):
            v = to[e]
            if same[e] == -np.inf and stamp[v] != now and (label[v] == a or label[v] == b):
                stamp[v] = now
                queue[count] = v
                count += 1
    gain = 0.0
    for i in range(count):
        u = queue[i]
        new = b if label[u] == a else a
        gain += unary[u, new] - unary[u, label[u]]
        for e in range(start[u], start[u + 1]):
            if stamp[to[e]] != now:  # inside, equal labels stay equal and different ones different
                gain += same[e] if label[to[e]] == new else other[e]
                gain -= same[e] if label[to[e]] == label[u] else other[e]
    if gain >= 0 or rng.random() < math.exp(gain):
        for i in range(count):
            label[queue[i]] = b if label[queue[i]] == a else a


@njit
def sample_labels(
    rng: np.random.Generator, near: Near, unary: FloatArray, label: IntArray, chance: FloatArray, n_sweeps: int
) -> float:
    """Average conditionals of the later half of the sweeps into ``chance``; leave the best labeling in ``label``."""
    n, k = unary.shape
    best, top = label.copy(), _log_weight(near, unary, label)
    weight = np.empty(k)
    stamp, queue = np.full(n, -1, np.int64), np.empty(n, np.int64)
    now = 0
    forbids = (near[2] == -np.inf).any()
    kept = n_sweeps - n_sweeps // 2
    for s in range(n_sweeps):
        for t in range(n):
            _conditional(near, unary, label, t, weight)
            most = weight.max()
            total = 0.0
            for x in range(k):
                weight[x] = math.exp(weight[x] - most)
                total += weight[x]
            at, x = rng.random() * total, 0
            while x < k - 1 and (at >= weight[x] or weight[x] == 0.0):
                at -= weight[x]
                x += 1
            if weight[x] > 0:
                label[t] = x
            if s >= n_sweeps - kept:
                for y in range(k):
                    chance[t, y] += weight[y] / (total * kept)
            if forbids and k > 1 and t % 4 == s % 4:
                now += 1
                b = (label[t] + 1 + int(rng.random() * (k - 1))) % k
                _swap(rng, near, unary, label, t, b, stamp, now, queue)
        value = _log_weight(near, unary, label)
        if value > top:
            top = value
            for t in range(n):
                best[t] = label[t]
    for t in range(n):
        label[t] = best[t]
    for _ in range(100):  # downhill the rest of the way
        moved = False
        for t in range(n):
            _conditional(near, unary, label, t, weight)
            x = int(np.argmax(weight))
            if weight[x] > weight[label[t]]:
                label[t] = x
                moved = True
        if not moved:
            break
    reached: float = _log_weight(near, unary, label)
    return reached
