"""Centroid linkage within γ, with distances ruled out by pivots."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import BoolArray, FloatArray, IntArray


@njit
def _distance(x: FloatArray, y: FloatArray) -> float:
    total = 0.0
    for f in range(len(x)):
        total += (x[f] - y[f]) * (x[f] - y[f])
    return float(np.sqrt(total))


@njit
def _ruled_out(D: FloatArray, i: int, j: int, n_pivots: int, gamma: float) -> bool:
    """Whether some pivot tells that clusters i and j are further apart than gamma, rounding allowed for."""
    for p in range(n_pivots):
        if p != i and p != j:
            near, far = min(D[p, i], D[p, j]), max(D[p, i], D[p, j])
            if far < np.inf and far - near > gamma + 1e-12 * far:
                return True
    return False


@njit
def _nearest(D: FloatArray, alive: BoolArray, i: int, gamma: float) -> int:
    """The closest cluster within gamma, lowest slot first; -1 when there is none."""
    best = -1
    for j in range(len(alive)):
        if alive[j] and j != i and D[i, j] <= gamma and (best < 0 or D[i, j] < D[i, best]):
            best = j
    return best


@njit
def _merge(X: FloatArray, gamma: float, n_pivots: int) -> tuple[IntArray, FloatArray, int, int]:
    """Merge in slots: a cluster lives in its lowest sample's slot, and slots below ``n_pivots`` are the pivots.

    ``D[0, i]`` is always exact; elsewhere infinity stands for "further than gamma, never computed".
    """
    n = len(X)
    D = np.full((n, n), np.inf)
    alive = np.ones(n, np.bool_)
    size = np.ones(n)
    node = np.arange(n)
    center = X.copy()
    computed = 0
    for i in range(n):
        for j in range(i + 1, n):
            if i == 0 or not _ruled_out(D, i, j, n_pivots, gamma):
                D[i, j] = D[j, i] = _distance(center[i], center[j])
                computed += 1
    unpruned = n * (n - 1) // 2
    nearest = np.empty(n, np.intp)
    for i in range(n):
        nearest[i] = _nearest(D, alive, i, gamma)
    pairs = np.empty((max(n - 1, 0), 2), np.intp)
    height = np.empty(max(n - 1, 0))
    left = n
    for t in range(n - 1):
        i = -1
        for k in range(n):
            if alive[k] and nearest[k] >= 0 and (i < 0 or D[k, nearest[k]] < D[i, nearest[i]]):
                i = k
        if i < 0:
            break
        j = nearest[i]
        i, j = min(i, j), max(i, j)
        pairs[t, 0], pairs[t, 1] = node[i], node[j]
        height[t] = D[i, j]
        for f in range(X.shape[1]):
            center[i, f] = (size[i] * center[i, f] + size[j] * center[j, f]) / (size[i] + size[j])
        size[i] += size[j]
        node[i] = n + t
        alive[j] = False
        left -= 1
        unpruned += left - 1
        for k in range(n):  # the old distances of slots i and j mean nothing any more
            D[i, k] = D[k, i] = np.inf
            D[j, k] = D[k, j] = np.inf
        for k in range(n):  # pivots come first, so their distances serve the later ones
            if alive[k] and k != i and (i == 0 or k == 0 or not _ruled_out(D, i, k, n_pivots, gamma)):
                D[i, k] = D[k, i] = _distance(center[i], center[k])
                computed += 1
        nearest[i] = _nearest(D, alive, i, gamma)
        for k in range(n):
            if alive[k] and k != i:
                if nearest[k] == i or nearest[k] == j:
                    nearest[k] = _nearest(D, alive, k, gamma)
                elif D[k, i] <= gamma and (
                    nearest[k] < 0 or D[k, i] < D[k, nearest[k]] or (D[k, i] == D[k, nearest[k]] and i < nearest[k])
                ):
                    nearest[k] = i
    return pairs[: n - left], height[: n - left], computed, unpruned
