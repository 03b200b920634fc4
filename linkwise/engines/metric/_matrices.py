"""Symmetric matrices: roots, spans, shrinkage of singular scatters, generalized eigenvectors."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.linalg

from linkwise._compat import Interval, StrOptions
from linkwise._typing import FloatArray
from linkwise.exceptions import LinkwiseError

SHRINKAGE: list[Any] = [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")]

# eigenvalues below this share of the largest count as rounding errors
REGULAR = 1e-10
ROUND = 0.1


def shrink_values(values: FloatArray, shrinkage: float | str) -> tuple[FloatArray, float]:
    """Mix the eigenvalues of a scatter with their mean; return them and the share of the mean.

    ``"auto"`` does not change a scatter of full rank, and uses a share of 0.1 for any other.
    """
    share = 0.0 if shrinkage == "auto" else float(shrinkage)
    if share == 0.0:
        if values.min() > REGULAR * values.max():
            return values, share
        if shrinkage != "auto":
            msg = (
                "the must-links do not vary along some direction, so the metric has no bound there, and shrinkage=0 "
                'does not allow one.\nHint: use shrinkage="auto", or fewer features, as from sklearn.decomposition.PCA.'
            )
            raise LinkwiseError(msg)
        share = ROUND
    return (1 - share) * np.maximum(values, 0.0) + share * values.mean(), share


def shrink(scatter: FloatArray, shrinkage: float | str) -> tuple[FloatArray, float]:
    """Mix a scatter with a round one of the same trace; return it and the share of the round one."""
    values = np.linalg.eigvalsh(scatter)
    share = shrink_values(values.astype(np.float64), shrinkage)[1]
    return (1 - share) * scatter + share * values.mean() * np.eye(len(scatter)), share


def whiten(scatter: FloatArray, shrinkage: float | str) -> tuple[FloatArray, FloatArray, float]:
    """Return the inverse root of a shrunk scatter, its eigenvalues, and the share of the round one."""
    values, axes = np.linalg.eigh(scatter)
    values, share = shrink_values(values, shrinkage)
    return np.asarray((axes / np.sqrt(values)) @ axes.T), values, share


def root(M: FloatArray, power: float = 0.5) -> FloatArray:
    """Symmetric power of a positive semi-definite matrix; negative powers need a regular one."""
    values, axes = np.linalg.eigh((M + M.T) / 2)
    values = np.maximum(values, 0.0)
    return np.asarray((axes * values**power) @ axes.T)


def span(rows: FloatArray) -> FloatArray:
    """Return an orthonormal basis, as columns, of the span of the rows."""
    _, size, axes = np.linalg.svd(rows, full_matrices=False)
    return np.ascontiguousarray(axes[size > 1e-12 * size.max(initial=0.0)].T)


def upright(axes: FloatArray) -> FloatArray:
    """Flip rows so that their largest entries are positive: the sign of an eigenvector is arbitrary."""
    at = np.argmax(np.abs(axes) > (1 - 1e-9) * np.abs(axes).max(axis=1, keepdims=True), axis=1)
    return axes * np.where(axes[np.arange(len(axes)), at] < 0, -1.0, 1.0)[:, None]


def generalized_axes(numerator: FloatArray, denominator: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Directions v, as rows, along which v'Nv is largest where v'Dv = 1, best first, and the ratios."""
    ratio, axes = scipy.linalg.eigh(numerator, denominator)
    return upright(axes.T[::-1]), ratio[::-1]
