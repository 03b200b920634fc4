"""Compiled: how many samples would be settled if a candidate were placed, over all outcomes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise._kernels import inner, njit

__all__ = ["settle"]

FloatArray = npt.NDArray[np.float64]


@njit
def settle(claims: FloatArray, step: FloatArray, own: FloatArray, chance: FloatArray, rare: float) -> FloatArray:
    """Return the expected increase of the sum of strongest claims for each candidate.

    Parameters
    ----------
    claims : ndarray of shape (n, k)
        Claims of k neighbourhoods on n samples.
    step : ndarray of shape (m, n)
        How far the claim on each sample moves when that on a candidate moves by 1.
    own : ndarray of shape (m, k)
        Claims on the m candidates.
    chance : ndarray of shape (m, k + 1)
        Probability that a candidate belongs to each neighbourhood, or, last, to a new one.
    rare : float
        Outcomes less likely than this are left out.
    """
    n, k = claims.shape
    base = 0.0
    for u in range(n):
        base += _strongest(claims, u, 0.0, claims, 0, -1)
    gain = np.zeros(len(step))
    for x in range(len(step)):
        for c in range(k + 1):
            if chance[x, c] < rare:
                continue
            total = 0.0
            for u in range(n):
                total += _strongest(claims, u, step[x, u], own, x, c)
            gain[x] += chance[x, c] * (total - base)
    return gain


@inner
def _strongest(claims: FloatArray, u: int, step: float, own: FloatArray, x: int, outcome: int) -> float:
    """The strongest claim on sample u, as a share where claims add up to more than 1, after candidate x was placed."""
    best = total = max(step, 0.0) if outcome == claims.shape[1] else 0.0
    for e in range(claims.shape[1]):
        value = claims[u, e] - step * own[x, e]
        if e == outcome:
            value += step
        if value > 0.0:
            total += value
            best = max(best, value)
    return best / total if total > 1.0 else best
