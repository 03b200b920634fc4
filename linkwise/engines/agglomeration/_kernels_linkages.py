"""Codes of the linkages inside kernels, and their Lance-Williams rules."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit

SINGLE = 0
COMPLETE = 1
AVERAGE = 2
WEIGHTED = 3
WARD = 4
CENTROID = 5
MEDIAN = 6


@njit
def lance_williams(method: int, d_ik: float, d_jk: float, d_ij: float, n_i: float, n_j: float, n_k: float) -> float:
    """Return the distance of the union of clusters i and j to cluster k; infinite stays infinite.

    Ward, centroid and median expect squared distances. Sizes and distances are of one floating type.
    """
    if np.isinf(d_ik) or np.isinf(d_jk):
        return d_ik + d_jk
    if method == SINGLE:
        return min(d_ik, d_jk)
    if method == COMPLETE:
        return max(d_ik, d_jk)
    if method == AVERAGE:
        return (n_i * d_ik + n_j * d_jk) / (n_i + n_j)
    if method == WEIGHTED:
        return (d_ik + d_jk) / 2
    if method == WARD:
        return ((n_i + n_k) * d_ik + (n_j + n_k) * d_jk - n_k * d_ij) / (n_i + n_j + n_k)
    if method == CENTROID:
        n = n_i + n_j
        return (n_i * d_ik + n_j * d_jk) / n - n_i * n_j * d_ij / (n * n)
    return (d_ik + d_jk) / 2 - d_ij / 4
