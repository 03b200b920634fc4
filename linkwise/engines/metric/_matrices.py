"""Symmetric matrices: roots, spans, and what to do with directions nothing was said about."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.linalg

from linkwise._compat import Interval, StrOptions
from linkwise._typing import FloatArray
from linkwise.exceptions import LinkwiseError

SHRINKAGE: list[Any] = [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")]

# eigenvalues below this share of the largest are taken for rounding errors
REGULAR = 1e-10
ROUND = 0.1


def shrink_values(values: FloatArray, shrinkage: float | str) -> tuple[FloatArray, float]:
    """Mix the eigenvalues of a scatter with their mean; return them and the share of the mean.

    ``"auto"`` leaves a scatter of full rank alone and mixes 0.1 into any other.
    """
    share = 0.0 if shrinkage == "auto" else float(shrinkage)
    if share == 0.0:
        if values.min() > REGULAR * values.max():
            return values, share
        if shrinkage != "auto":
            msg = (
                "must-links say nothing about some direction, so the metric could stretch it without end, and "
                'shrinkage=0 forbids to guess.\nHint: shrinkage="auto", or fewer features, as from '
                "sklearn.decomposition.PCA."
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
    """Inverse root of a scatter, shrunk; its eigenvalues and the share of the round one."""
    values, axes = np.linalg.eigh(scatter)
    values, share = shrink_values(values, shrinkage)
    return np.asarray((axes / np.sqrt(values)) @ axes.T), values, share


def root(M: FloatArray, power: float = 0.5) -> FloatArray:
    """Symmetric power of a positive semi-definite matrix; negative powers need a regular one."""
    values, axes = np.linalg.eigh((M + M.T) / 2)
    values = np.maximum(values, 0.0)
    return np.asarray((axes * values**power) @ axes.T)


def span(rows: FloatArray) -> FloatArray:
    """Orthonormal basis, as columns, of the space rows span."""
    _, size, axes = np.linalg.svd(rows, full_matrices=False)
    return np.ascontiguousarray(axes[size > 1e-12 * size.max(initial=0.0)].T)


def upright(axes: FloatArray) -> FloatArray:
    """Turn each row so that its largest entry is positive: eigenvectors know no sign, results should have one."""
    at = np.argmax(np.abs(axes) > (1 - 1e-9) * np.abs(axes).max(axis=1, keepdims=True), axis=1)
    return axes * np.where(axes[np.arange(len(axes)), at] < 0, -1.0, 1.0)[:, None]


def generalized_axes(numerator: FloatArray, denominator: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Directions v, as rows, along which v'Nv is largest where v'Dv = 1, best first, and the ratios."""
    ratio, axes = scipy.linalg.eigh(numerator, denominator)
    return upright(axes.T[::-1]), ratio[::-1]
