"""Squared distances between rows and centers, nearest centers and weighted means, for dense or sparse rows.

Dense distances are sums of squared differences, so nothing cancels: data far from the origin lose no digits. Where the
table of rows and centers is wide, a matrix product does most of the work, and every row whose nearest center the
product leaves in doubt is computed again; both ways give the same labels. Sparse rows are never made dense.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import scipy.sparse
from threadpoolctl import ThreadpoolController

from linkwise._threads import Workers
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.distances._kernels_rows import (
    settle_products,
    squared_to_own,
    sum_rows,
    write_nearest,
    write_squared,
)

_CHUNK = 2048  # rows whose distances to all centers are in memory at a time
_WIDE = 2_000  # features times centers from which the matrix product is quicker
_LARGE = 4_000_000  # features times centers times rows from which threads are


def is_wide(centers: FloatArray) -> bool:
    """Whether a matrix product is quicker than going through the rows."""
    return centers.size >= _WIDE


def nearest(X: Any, centers: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the nearest center of each row, the lowest-numbered of several, and the squared distance to it."""
    m = X.shape[0]
    labels, cost = np.empty(m, dtype=np.intp), np.empty(m)
    if scipy.sparse.issparse(X):
        for at in range(0, m, _CHUNK):
            block = _sparse_squared(X[at : at + _CHUNK], centers)
            labels[at : at + _CHUNK] = block.argmin(axis=1)
            cost[at : at + _CHUNK] = block.min(axis=1)
        return labels, cost
    centers = np.ascontiguousarray(centers)
    if is_wide(centers):
        across, norm = np.ascontiguousarray(centers.T), (centers**2).sum(axis=1)
        # products of a chunk are small: BLAS threads would spend more time waiting than computing
        with _blas().limit(limits=1, user_api="blas"), Workers() as workers:
            workers.over(_by_product, m, centers.size, X, across, norm, labels, cost)
    elif m * centers.size >= _LARGE:
        with Workers() as workers:
            workers.over(write_nearest, m, centers.size, X, centers, labels, cost)
    else:
        write_nearest(X, centers, labels, cost, 0, m)
    return labels, cost


def is_small(X: Any, centers: FloatArray) -> bool:
    """Whether neither a matrix product nor threads help `nearest` with these dense rows."""
    return centers.size < _WIDE and X.shape[0] * centers.size < _LARGE


def squared(X: Any, centers: FloatArray) -> FloatArray:
    """Return the squared distances of all rows to all centers."""
    if scipy.sparse.issparse(X):
        return _sparse_squared(X, centers)
    out = np.empty((X.shape[0], len(centers)))
    write_squared(X, np.ascontiguousarray(centers), out)
    return out


def squared_to(X: Any, centers: FloatArray, labels: IntArray) -> FloatArray:
    """Return the squared distance of each row to the center of its label."""
    if not scipy.sparse.issparse(X):
        return squared_to_own(X, centers, labels)  # type: ignore[no-any-return]
    out = np.empty(X.shape[0])
    for at in range(0, len(out), _CHUNK):
        part = labels[at : at + _CHUNK]
        out[at : at + _CHUNK] = _sparse_squared(X[at : at + _CHUNK], centers)[np.arange(len(part)), part]
    return out


def means(X: Any, weight: FloatArray, labels: IntArray, k: int, *, otherwise: FloatArray | None = None) -> FloatArray:
    """Return the weighted mean of the rows of each label; a label without rows has the row of ``otherwise``.

    Without ``otherwise`` every label has a row.
    """
    if scipy.sparse.issparse(X):
        total, mass = _join_rows(X, weight, labels, k).toarray(), np.bincount(labels, weights=weight, minlength=k)
    else:
        total, mass = sum_rows(X, weight, labels, k)
    if otherwise is None or mass.all():
        return np.asarray(total / mass[:, None])
    return np.where(mass[:, None] > 0, total / np.where(mass > 0, mass, 1.0)[:, None], otherwise)


def _join_rows(X: Any, weight: FloatArray, group: IntArray, n_groups: int) -> Any:
    """Return the weighted sum of the sparse rows of each group, sparse."""
    pick = scipy.sparse.csr_array((weight, (group, np.arange(len(group)))), shape=(n_groups, len(group)))
    return scipy.sparse.csr_array(pick @ X)


def one_row(X: Any, row: int) -> FloatArray:
    """Return one row, dense."""
    if scipy.sparse.issparse(X):
        return np.asarray(X[[row]].toarray()[0])
    return np.array(X[row])


def typical_variance(X: Any) -> float:
    """Return the mean variance of the features, the scale of tolerances, as in scikit-learn."""
    if not scipy.sparse.issparse(X):
        return float(np.mean(np.var(X, axis=0)))
    from sklearn.utils.sparsefuncs import mean_variance_axis

    return float(np.mean(mean_variance_axis(X, axis=0)[1]))


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def _by_product(
    X: FloatArray, across: FloatArray, norm: FloatArray, labels: IntArray, cost: FloatArray, start: int, stop: int
) -> None:
    for at in range(start, stop, _CHUNK):
        end = min(stop, at + _CHUNK)
        settle_products(X[at:end], across, norm, X[at:end] @ across, labels[at:end], cost[at:end])


def _sparse_squared(X: Any, centers: FloatArray) -> FloatArray:
    norm = np.asarray(X.multiply(X).sum(axis=1)).reshape(-1, 1)
    out = (centers**2).sum(axis=1) - 2.0 * np.asarray(X @ centers.T) + norm
    return np.asarray(np.maximum(out, 0.0, out=out))
