"""Metrics near a prior: minimise the LogDet divergence from it plus a convex loss of the distances that were named.

In coordinates where the prior is Euclid's metric: over positive definite A, F(A) = tr A - log det A - d + loss(p),
where p_k = v_k' A v_k are the squared lengths of the differences v_k. With the slopes θ = ∂loss/∂p and
T = I + Σ θ_k v_k v_k', convexity gives F(A') ≥ F(A) - (tr(A T) - log det(A T) - d) for every A': the divergence of A
from the inverse of T proves how near the optimum A is. Directions no difference has anything of keep the prior.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.optimize

from linkwise._compat import StrOptions
from linkwise.engines.metric._matrices import root, shrink, span
from linkwise.exceptions import LinkwiseError

__all__ = ["PRIOR", "Near", "Prior", "certify_near", "components_near", "nearest_to_prior", "read_prior"]

FloatArray = npt.NDArray[np.float64]
Loss = Callable[[FloatArray], tuple[float, FloatArray]]

PRIOR: list[Any] = [StrOptions({"identity", "covariance"}), "array-like"]
ROUND = 25


class Prior(NamedTuple):
    """Root of the prior's matrix; None for Euclid's."""

    root: FloatArray | None

    def towards(self, rows: FloatArray) -> FloatArray:
        """Rows in coordinates where the prior is Euclid's metric."""
        return rows if self.root is None else rows @ self.root


class Near(NamedTuple):
    """The matrix in the span of the differences (columns of ``axes``), its value, relative gap and rounds."""

    matrix: FloatArray
    axes: FloatArray
    value: float
    gap: float
    n_iter: int


def read_prior(prior: Any, X: FloatArray) -> Prior:
    """Read a prior: "identity", "covariance" (the inverse of X's), or a positive definite matrix."""
    d = X.shape[1]
    if isinstance(prior, str):
        if prior == "identity":
            return Prior(None)
        scatter = np.atleast_2d(np.cov(X, rowvar=False, bias=True))
        return Prior(root(shrink(scatter, "auto")[0], -0.5) if scatter.any() else None)
    M = np.asarray(prior, dtype=np.float64)
    if M.shape != (d, d) or not np.isfinite(M).all() or not np.allclose(M, M.T):
        msg = f"prior has shape {M.shape}, expected a symmetric matrix of shape ({d}, {d})."
        raise LinkwiseError(msg)
    values = np.linalg.eigvalsh(M)
    if values[0] <= 1e-12 * values[-1]:
        msg = (
            f"prior has an eigenvalue of {values[0]:.3g}, expected a positive definite matrix.\n"
            "Hint: add a little of the identity, as in prior + 1e-6 * np.eye(len(prior))."
        )
        raise LinkwiseError(msg)
    return Prior(root(M))


def nearest_to_prior(rows: FloatArray, loss: Loss, *, max_iter: int, tol: float) -> Near:
    """Minimise the divergence from the identity plus a convex loss of the rows' squared lengths.

    Quasi-Newton steps on a root of the matrix, in the span of the rows, until the gap is proved to be ``tol``.
    """
    axes = span(rows)
    D = rows @ axes
    d = D.shape[1]

    def value(flat: FloatArray) -> tuple[float, FloatArray]:
        return value_and_slope(flat.reshape(d, d), D, loss)

    at, done, patience = np.eye(d), 0, 1e-2 * tol
    best, gap = certify_near(at.T @ at, D, loss)
    while gap > tol and done < max_iter and patience > 1e-18:
        step = scipy.optimize.minimize(
            value,
            at.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": min(ROUND, max_iter - done), "maxcor": 20, "ftol": patience, "gtol": 0.0},
        )
        done += int(step.nit)
        at = step.x.reshape(d, d)
        best, gap = certify_near(at.T @ at, D, loss)
        if step.nit < ROUND:  # it fell too little to go on, and yet there is less to be had
            patience *= 1e-3
    return Near(at.T @ at, axes, best, gap, max(done, 1))


def value_and_slope(L: FloatArray, D: FloatArray, loss: Loss) -> tuple[float, FloatArray]:
    """F at L'L, and its slope along the entries of L."""
    moved = D @ L.T
    price, theta = loss(np.einsum("ij,ij->i", moved, moved))
    sign, logdet = np.linalg.slogdet(L)
    if sign == 0:
        return np.inf, np.zeros(L.size)
    slope = L + (moved * theta[:, None]).T @ D - np.linalg.inv(L).T
    return float(np.sum(L * L) - 2 * logdet - len(L) + price), 2 * slope.ravel()


def certify_near(A: FloatArray, D: FloatArray, loss: Loss) -> tuple[float, float]:
    """F at A, and the proved gap to its minimum, relative to 1 + |F|; inf where there is no proof."""
    price, theta = loss(np.einsum("ij,ij->i", D @ A, D))
    logdet = np.linalg.slogdet(A)[1]
    F = float(np.trace(A) - logdet - len(A) + price)
    T = np.eye(len(A)) + (D * theta[:, None]).T @ D
    sign, bent = np.linalg.slogdet(T)
    if sign <= 0 or np.linalg.eigvalsh((T + T.T) / 2)[0] <= 0:
        return F, np.inf
    lack = float(np.sum(A * T) - logdet - bent - len(A))
    return F, max(lack, 0.0) / (1.0 + abs(F))


def components_near(found: Near, prior: Prior, d: int) -> FloatArray:
    """Symmetric root of the matrix in all directions and in the coordinates of X."""
    K = np.eye(d) + found.axes @ (found.matrix - np.eye(len(found.matrix))) @ found.axes.T
    return root(K if prior.root is None else prior.root @ K @ prior.root)
