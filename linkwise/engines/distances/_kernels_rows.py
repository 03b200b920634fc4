"""Compiled: rows and centers. Squared distances, nearest centers, sums of rows.

A few rows at a time are turned on their side, so that one center meets them all at once; sums over features keep their
order, so this changes no digit.
"""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray

_TILE = 128  # rows that meet a center at once


@njit(nogil=True)
def _turn(X: FloatArray, low: int, size: int, tile: FloatArray) -> None:
    """Write ``size`` rows from ``low`` on into the columns of ``tile``."""
    for i in range(size):
        for j in range(X.shape[1]):
            tile[j, i] = X[low + i, j]


@njit(nogil=True)
def _away(tile: FloatArray, size: int, center: FloatArray, out: FloatArray) -> None:
    """Write the squared distances of the first columns of ``tile`` to a center."""
    for i in range(size):
        out[i] = 0.0
    whole = len(center) - len(center) % 4
    for j in range(0, whole, 4):  # four at a time, added one after the other: fewer trips to memory, the same digits
        first, second, third, fourth = center[j], center[j + 1], center[j + 2], center[j + 3]
        for i in range(size):
            a, b, c, d = tile[j, i] - first, tile[j + 1, i] - second, tile[j + 2, i] - third, tile[j + 3, i] - fourth
            out[i] = out[i] + a * a + b * b + c * c + d * d
    for j in range(whole, len(center)):
        value = center[j]
        for i in range(size):
            gap = tile[j, i] - value
            out[i] += gap * gap


@njit(nogil=True)
def _keep_less(away: FloatArray, c: int, size: int, least: FloatArray, best: FloatArray) -> None:
    """Where center ``c`` is nearer than the nearest so far, it is the nearest.

    ``best`` holds numbers of centers in as many bytes as distances have, so that both are compared and kept at once.
    """
    for i in range(size):
        less = away[i] < least[i]
        best[i] = c if less else best[i]
        least[i] = away[i] if less else least[i]


@njit(nogil=True)
def write_nearest(
    X: FloatArray, centers: FloatArray, labels: IntArray, cost: FloatArray, start: int, stop: int
) -> None:
    """Write the nearest center of each dense row from ``start`` to ``stop``, and the squared distance to it."""
    tile, away = np.empty((X.shape[1], _TILE)), np.empty(_TILE)
    least, best = np.empty(_TILE), np.empty(_TILE)
    for low in range(start, stop, _TILE):
        size = min(_TILE, stop - low)
        _turn(X, low, size, tile)
        _away(tile, size, centers[0], least)
        best[:] = 0.0
        for c in range(1, len(centers)):
            _away(tile, size, centers[c], away)
            _keep_less(away, c, size, least, best)
        for i in range(size):
            labels[low + i] = np.intp(best[i])
            cost[low + i] = least[i]


@njit(nogil=True)
def write_squared(X: FloatArray, centers: FloatArray, out: FloatArray) -> None:
    """Write the squared distances of all dense rows to all centers."""
    tile, away = np.empty((X.shape[1], _TILE)), np.empty(_TILE)
    for low in range(0, len(X), _TILE):
        size = min(_TILE, len(X) - low)
        _turn(X, low, size, tile)
        for c in range(len(centers)):
            _away(tile, size, centers[c], away)
            for i in range(size):
                out[low + i, c] = away[i]


@njit(nogil=True)
def settle_products(
    X: FloatArray, across: FloatArray, norm: FloatArray, product: FloatArray, labels: IntArray, cost: FloatArray
) -> None:
    """Read nearest centers off a matrix product; where rounding could have changed the answer, compute it again."""
    m, d = X.shape
    k = len(norm)
    longest = np.sqrt(norm.max())
    for i in range(m):
        size = 0.0
        for j in range(d):
            size += X[i, j] * X[i, j]
        best, first, second = 0, norm[0] - 2.0 * product[i, 0], np.inf
        for c in range(1, k):
            value = norm[c] - 2.0 * product[i, c]
            if value < first:
                best, first, second = c, value, first
            elif value < second:
                second = value
        doubt = 4e-16 * (d + 4) * (longest * longest + 2.0 * longest * np.sqrt(size))
        if second - first <= 2.0 * doubt:
            best, least = 0, np.inf
            for c in range(k):
                exact = 0.0
                for j in range(d):
                    gap = X[i, j] - across[j, c]
                    exact += gap * gap
                if exact < least:
                    best, least = c, exact
        exact = 0.0
        for j in range(d):
            gap = X[i, j] - across[j, best]
            exact += gap * gap
        labels[i] = best
        cost[i] = exact


@njit
def squared_to_own(X: FloatArray, centers: FloatArray, labels: IntArray) -> FloatArray:
    """Return the squared distance of each dense row to the center of its label."""
    out = np.empty(len(X))
    for i in range(len(X)):
        total = 0.0
        for j in range(X.shape[1]):
            gap = X[i, j] - centers[labels[i], j]
            total += gap * gap
        out[i] = total
    return out


@njit
def sum_rows(X: FloatArray, weight: FloatArray, labels: IntArray, k: int) -> tuple[FloatArray, FloatArray]:
    """Return the weighted sum of the dense rows of each label, and the sum of the weights."""
    total = np.zeros((k, X.shape[1]))
    mass = np.zeros(k)
    for i in range(len(X)):
        c = labels[i]
        w = weight[i]
        mass[c] += w
        for j in range(X.shape[1]):
            total[c, j] += w * X[i, j]
    return total, mass
