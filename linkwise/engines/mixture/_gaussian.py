"""Gaussians with four kinds of covariance: fitted from responsibilities, asked for log-densities."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from linkwise._typing import FloatArray
from linkwise.engines.mixture._kernels_gaussian import invert_lower, square_distances, sum_squares
from linkwise.exceptions import LinkwiseError

COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")
_SMALL = 64


class Gaussians(NamedTuple):
    """One Gaussian per cluster, in arrays shaped as in scikit-learn; ``cholesky`` is of the precisions."""

    means: FloatArray
    covariances: FloatArray
    cholesky: FloatArray


def fit_gaussians(
    X: FloatArray, responsibility: FloatArray, covariance_type: str, reg_covar: float | FloatArray
) -> Gaussians:
    """Estimate means and covariances from responsibilities: the M-step.

    ``reg_covar`` is added to the variances: one number, or one for each feature, of which a sphere gets the mean.
    """
    weight = responsibility.sum(axis=0) + 10 * np.finfo(np.float64).eps
    means = (responsibility.T @ X) / weight[:, None]
    d = X.shape[1]
    scatter = _scatter(X, responsibility, means, full=covariance_type in ("full", "tied"))
    if covariance_type == "tied":
        covariances: FloatArray = scatter.sum(axis=0) / weight.sum()
    else:
        covariances = scatter / weight.reshape(-1, *[1] * (scatter.ndim - 1))
    if covariance_type == "spherical":
        covariances = covariances.mean(axis=1)
    if covariance_type in ("full", "tied"):
        covariances[..., np.arange(d), np.arange(d)] += reg_covar
    else:
        covariances += reg_covar if covariance_type == "diag" else np.mean(reg_covar)
    return Gaussians(means, covariances, _cholesky_of_precision(covariances, covariance_type))


def _scatter(X: FloatArray, responsibility: FloatArray, means: FloatArray, *, full: bool) -> FloatArray:
    """Sums of squared differences from the means, never differences of squares, so that no digits are lost."""
    k, d = means.shape
    if not full:
        out = np.zeros((k, d))
        sum_squares(X, responsibility, means, out)
        return out
    difference, weighted = np.empty_like(X), np.empty_like(X)
    out = np.empty((k, d, d))
    for j in range(k):
        np.subtract(X, means[j], out=difference)
        np.multiply(difference, responsibility[:, j, None], out=weighted)
        np.matmul(weighted.T, difference, out=out[j])
    return out


def _cholesky_of_precision(covariances: FloatArray, covariance_type: str) -> FloatArray:
    if covariance_type in ("diag", "spherical"):
        if not (covariances > 0).all():
            raise LinkwiseError(_COLLAPSED)
        return np.asarray(1.0 / np.sqrt(covariances))
    try:
        lower: FloatArray = np.linalg.cholesky(covariances).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        raise LinkwiseError(_COLLAPSED) from None
    if covariance_type == "tied":
        return _inverse(lower).T.copy()
    return np.stack([_inverse(one).T for one in lower])


def _inverse(lower: FloatArray) -> FloatArray:
    """Invert a lower triangle; small ones here, because LAPACK would wake its threads for every one of them."""
    if len(lower) > _SMALL:
        return np.asarray(solve_triangular(lower, np.eye(len(lower)), lower=True))
    out = np.zeros_like(lower)
    invert_lower(lower, out)
    return out


_COLLAPSED = (
    "the covariance of a cluster collapsed: too few different samples belong to it.\n"
    'Hint: a larger reg_covar, fewer clusters, or covariance_type="diag" or "tied".'
)


def log_density(X: FloatArray, gaussians: Gaussians, covariance_type: str) -> FloatArray:
    """Return the log-density of every row of X under every Gaussian, shape (n_samples, n_clusters)."""
    means, _, cholesky = gaussians
    k, d = means.shape
    out = np.empty((len(X), k))
    if covariance_type in ("full", "tied"):
        scaled = np.empty_like(X)
        for j in range(k):
            one = cholesky[j] if covariance_type == "full" else cholesky
            np.matmul(X, one, out=scaled)
            scaled -= means[j] @ one
            np.einsum("ij,ij->i", scaled, scaled, out=out[:, j])
    else:
        square_distances(X, means, np.ascontiguousarray(np.broadcast_to(cholesky.reshape(k, -1), (k, d))), out)
    if covariance_type == "full":
        log_det = np.log(np.diagonal(cholesky, axis1=1, axis2=2)).sum(axis=1)
    elif covariance_type == "tied":
        log_det = np.log(np.diagonal(cholesky)).sum()
    elif covariance_type == "diag":
        log_det = np.log(cholesky).sum(axis=1)
    else:
        log_det = d * np.log(cholesky)
    out *= -0.5
    out += log_det - 0.5 * d * math.log(2 * math.pi)
    return out


def count_parameters(k: int, d: int, covariance_type: str) -> int:
    """Number of free parameters of a mixture."""
    covariance = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d, "spherical": k}
    return covariance[covariance_type] + k * d + k - 1
