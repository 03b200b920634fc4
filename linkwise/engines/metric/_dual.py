"""ITML's problem from its other side: Newton's method on one multiplier per pair, for when pairs are few.

With multipliers θ, positive for near pairs and negative for far ones, the metric is the inverse of
T = I + Σ θ_k v_k v_k' and the dual objective log det T + Σ γ_k log(1 - θ_k b_k / γ_k), which is concave; both
logarithms keep θ where it belongs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

__all__ = ["dual_terms", "matrix_by_dual_newton"]

FloatArray = npt.NDArray[np.float64]


class Terms(NamedTuple):
    """Value of the dual, its gradient, minus its second derivatives, and the metric."""

    value: float
    gradient: FloatArray
    bend: FloatArray
    matrix: FloatArray


def matrix_by_dual_newton(
    D: FloatArray, near: npt.NDArray[np.bool_], bound: FloatArray, gamma: FloatArray, *, max_iter: int, tol: float
) -> tuple[FloatArray, int]:
    """Return the metric in the coordinates of D, and the number of steps it took.

    Multipliers at 0 that the slope keeps there are left out of a step. It ends when a step promises less than ``tol``,
    relative to 1 + value.
    """
    sign = np.where(near, 1.0, -1.0)
    theta = np.zeros(len(D))
    at = dual_terms(theta, D, bound, gamma)
    if at is None:  # never: θ = 0 is inside
        return np.eye(D.shape[1]), 1
    for done in range(1, max_iter + 1):
        free = np.flatnonzero((theta != 0) | (sign * at.gradient > 0))
        if not len(free):
            return at.matrix, done
        step = np.zeros(len(D))
        bend = at.bend[np.ix_(free, free)]
        unit = 1.0 / np.sqrt(np.diagonal(bend))
        factor, failed = scipy.linalg.lapack.dpotrf(bend * unit * unit[:, None], lower=1)
        if failed:  # rounding errors have made pairs indistinguishable
            return at.matrix, done
        step[free] = unit * scipy.linalg.lapack.dpotrs(factor, unit * at.gradient[free], lower=1)[0].ravel()
        promised = float(at.gradient @ step)
        if promised <= tol * (1.0 + abs(at.value)):
            return at.matrix, done
        blur = 1e-14 * (1.0 + abs(at.value))  # differences of values are not known better
        for halved in range(40):
            new = sign * np.maximum(sign * (theta + step / 2.0**halved), 0.0)
            found = dual_terms(new, D, bound, gamma)
            if found is not None and found.value >= at.value + 1e-4 * float(at.gradient @ (new - theta)) - blur:
                break
        else:
            return at.matrix, done
        theta, at = new, found
    return at.matrix, max_iter


def dual_terms(theta: FloatArray, D: FloatArray, bound: FloatArray, gamma: FloatArray) -> Terms | None:
    """The dual and its derivatives at multipliers; None outside of where it is defined."""
    give = 1.0 - theta * bound / gamma
    if give.min() <= 0:
        return None
    T = np.eye(D.shape[1]) + (D * theta[:, None]).T @ D
    factor, failed = scipy.linalg.lapack.dpotrf(T, lower=1)
    if failed:
        return None
    W = scipy.linalg.solve_triangular(factor, D.T, lower=True)
    inner = W.T @ W
    inverse = scipy.linalg.lapack.dpotri(factor, lower=1)[0]
    matrix = np.tril(inverse) + np.tril(inverse, -1).T
    length = bound / give  # what the bound gives way to
    bend = inner * inner
    bend[np.diag_indices_from(bend)] += length**2 / gamma
    value = 2 * float(np.log(np.diagonal(factor)).sum()) + float(gamma @ np.log(give))
    return Terms(value, np.diagonal(inner) - length, bend, matrix)
