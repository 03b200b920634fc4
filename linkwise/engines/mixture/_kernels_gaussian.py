"""Gaussian components: sums of squares, squared distances, inverses of triangles, and rows normalized or summed."""

from __future__ import annotations

import math

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray


@njit
def sum_squares(X: FloatArray, responsibility: FloatArray, means: FloatArray, out: FloatArray) -> None:
    """Add up weighted squared differences from the means, feature by feature."""
    for i in range(len(X)):
        for j in range(len(means)):
            share = responsibility[i, j]
            for f in range(X.shape[1]):
                difference = X[i, f] - means[j, f]
                out[j, f] += share * difference * difference


@njit
def square_distances(X: FloatArray, means: FloatArray, scale: FloatArray, out: FloatArray) -> None:
    """Squared distances from the means, with the features of each scaled."""
    for i in range(len(X)):
        for j in range(len(means)):
            total = 0.0
            for f in range(X.shape[1]):
                difference = (X[i, f] - means[j, f]) * scale[j, f]
                total += difference * difference
            out[i, j] = total


@njit
def invert_lower(lower: FloatArray, out: FloatArray) -> None:
    """Put the inverse of a lower triangle into ``out``, which is zero, by forward substitution."""
    n = len(lower)
    for j in range(n):
        out[j, j] = 1.0 / lower[j, j]
        for i in range(j + 1, n):
            total = 0.0
            for m in range(j, i):
                total += lower[i, m] * out[m, j]
            out[i, j] = -total / lower[i, i]


@njit
def normalize_rows(log_weight: FloatArray, out: FloatArray, total: FloatArray) -> None:
    """Turn rows of logarithms into probabilities in ``out``, and put the logarithm of each row's sum into ``total``."""
    n, k = log_weight.shape
    for i in range(n):
        top = log_weight[i, 0]
        for j in range(1, k):
            top = max(top, log_weight[i, j])
        s = 0.0
        for j in range(k):
            out[i, j] = math.exp(log_weight[i, j] - top)
            s += out[i, j]
        for j in range(k):
            out[i, j] /= s
        total[i] = top + math.log(s)


@njit
def sum_rows(to: IntArray, rows: FloatArray, out: FloatArray) -> None:
    """Add row i of ``rows`` to row ``to[i]`` of ``out``."""
    for i in range(len(to)):
        for j in range(rows.shape[1]):
            out[to[i], j] += rows[i, j]
