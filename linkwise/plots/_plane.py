"""Projection of samples to the plane: two features, principal components, or singular vectors of sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise._typing import FloatArray
from linkwise.exceptions import LinkwiseError

_FEW_FEATURES = 400


def to_plane(X: Any) -> tuple[FloatArray, tuple[str, str]]:
    """Return two coordinates per sample and the names of the axes.

    Notes
    -----
    One or two features are taken as they are, more through the first two principal components. Sparse rows are not
    centered, which would fill them, but projected on their first two right singular vectors. The sign of a direction is
    chosen so that its largest entry is positive; the same data give the same picture.
    """
    if hasattr(X, "tocsr"):
        return _sparse(X.tocsr().astype(np.float64))
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] == 0 or not np.isfinite(table).all():
        msg = f"X has shape {table.shape}, expected finite numbers of shape (n_samples, n_features)."
        raise LinkwiseError(msg)
    if table.shape[1] == 1:
        return np.column_stack([table[:, 0], np.zeros(len(table))]), ("feature 0", "")
    if table.shape[1] == 2 or len(table) < 2:
        return table[:, :2], ("feature 0", "feature 1")
    centered = table - table.mean(axis=0)
    total = max(float((centered**2).sum()), np.finfo(float).tiny)
    if table.shape[1] <= _FEW_FEATURES:
        power, directions = np.linalg.eigh(centered.T @ centered)
        power, directions = power[::-1][:2], directions[:, ::-1][:, :2].T
    else:
        power, directions = _strongest(centered)
    share = np.maximum(power, 0.0) / total
    names = (f"component 1 ({share[0]:.0%} of the variance)", f"component 2 ({share[1]:.0%})")
    return centered @ _signed(directions).T, names


def _sparse(X: Any) -> tuple[FloatArray, tuple[str, str]]:
    if not np.isfinite(X.data).all():
        msg = f"X has shape {X.shape} and holds infinite or missing numbers, expected finite numbers."
        raise LinkwiseError(msg)
    if min(X.shape) <= 3:
        return to_plane(X.toarray())
    directions = _strongest(X)[1]
    return np.asarray(X @ _signed(directions).T), ("direction 1 (data not centered)", "direction 2")


def _strongest(X: Any) -> tuple[FloatArray, FloatArray]:
    """Return the two largest squared singular values and their right singular vectors, without a full decomposition."""
    from scipy.sparse.linalg import svds

    start = np.ones(min(X.shape)) + np.arange(min(X.shape)) * 1e-3
    _, spread, directions = svds(X, k=2, v0=start)
    order = np.argsort(-spread)
    return spread[order] ** 2, directions[order]


def _signed(directions: FloatArray) -> FloatArray:
    strongest = np.abs(directions).argmax(axis=1)
    sign = np.sign(directions[np.arange(len(directions)), strongest])
    return directions * np.where(sign == 0, 1.0, sign)[:, None]
