"""Compiled: how many samples would be settled if a candidate were placed, over all outcomes."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import FloatArray

_TILE = 128  # samples looked at together


@njit(nogil=True)
def settle(
    claims: FloatArray,
    step: FloatArray,
    own: FloatArray,
    chance: FloatArray,
    rare: float,
    gain: FloatArray,
    start: int,
    stop: int,
) -> None:
    """Write the expected increase of the sum of strongest claims for the candidates from ``start`` to ``stop``.

    Parameters
    ----------
    claims : ndarray of shape (n, k)
        Claims of k neighborhoods on n samples.
    step : ndarray of shape (m, n)
        How far the claim on each sample moves when that on a candidate moves by 1.
    own : ndarray of shape (m, k)
        Claims on the m candidates.
    chance : ndarray of shape (m, k + 1)
        Probability that a candidate belongs to each neighborhood, or, last, to a new one.
    rare : float
        Outcomes less likely than this are left out.
    gain : ndarray of shape (m,)
        Where to write.
    """
    n, k = claims.shape
    base = 0.0
    for u in range(n):
        mass = most = 0.0
        for e in range(k):
            mass += max(claims[u, e], 0.0)
            most = max(most, claims[u, e])
        base += most / max(mass, 1.0)
    gain[start:stop] = 0.0
    across = np.ascontiguousarray(claims.T)
    left, settled = np.empty((k, _TILE)), np.empty(_TILE)
    total, first, second = np.empty(_TILE), np.empty(_TILE), np.empty(_TILE)
    for low in range(0, n, _TILE):
        size = min(_TILE, n - low)
        for x in range(start, stop):
            by = step[x, low : low + size]
            _leave(across[:, low : low + size], by, own[x], left, total, first, second)
            settled[:size] = 0.0
            for c in range(k):
                if chance[x, c] >= rare:
                    for i in range(size):
                        there = max(left[c, i], 0.0)
                        more = max(left[c, i] + by[i], 0.0)
                        rest = second[i] if there == first[i] else first[i]
                        settled[i] += chance[x, c] * max(rest, more) / max(total[i] - there + more, 1.0)
            if chance[x, k] >= rare:
                for i in range(size):
                    more = max(by[i], 0.0)
                    settled[i] += chance[x, k] * max(first[i], more) / max(total[i] + more, 1.0)
            for i in range(size):
                gain[x] += settled[i]
    for x in range(start, stop):
        for c in range(k + 1):
            if chance[x, c] >= rare:
                gain[x] -= chance[x, c] * base


@njit(nogil=True)
def _leave(
    claims: FloatArray,
    by: FloatArray,
    own: FloatArray,
    left: FloatArray,
    total: FloatArray,
    first: FloatArray,
    second: FloatArray,
) -> None:
    """Write what a candidate leaves of the claims on some samples: the sum of what is above 0, and the largest two.

    Whatever the outcome is, it changes but one of these claims.
    """
    size = len(by)
    for i in range(size):
        total[i] = first[i] = second[i] = 0.0
    for e in range(len(claims)):
        for i in range(size):
            value = claims[e, i] - by[i] * own[e]
            left[e, i] = value
            value = max(value, 0.0)
            total[i] += value
            second[i] = max(second[i], min(first[i], value))
            first[i] = max(first[i], value)
