"""Metrics close to a prior: minimize the LogDet divergence from it plus a convex loss of some distances.

In coordinates where the prior is the Euclidean metric: over positive definite A, F(A) = tr A - log det A - d + loss(p),
where p_k = v_k' A v_k are the squared lengths of the differences v_k. With the slopes θ = ∂loss/∂p and
T = I + Σ θ_k v_k v_k', convexity gives F(A') ≥ F(A) - (tr(A T) - log det(A T) - d) for every A': the divergence of A
from the inverse of T bounds the gap of A to the optimum. Directions orthogonal to all differences keep the prior.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.optimize

from linkwise._compat import StrOptions
from linkwise._typing import FloatArray
from linkwise.engines.metric._matrices import root, shrink, span
from linkwise.engines.metric._pairs_and_comparisons import squared_lengths
from linkwise.exceptions import LinkwiseError

Loss = Callable[[FloatArray], tuple[float, FloatArray]]

PRIOR: list[Any] = [StrOptions({"identity", "covariance"}), "array-like"]
ROUND = 25
# share of a row's squared length outside of the current directions that counts as zero
INSIDE = 1e-12


class Prior(NamedTuple):
    """Root of the prior's matrix; None for the Euclidean metric."""

    root: FloatArray | None

    def towards(self, rows: FloatArray) -> FloatArray:
        """Return rows in coordinates where the prior is the Euclidean metric."""
        return rows if self.root is None else rows @ self.root


class Near(NamedTuple):
    """The matrix in the span of the differences (columns of ``axes``), the objective, relative gap and rounds."""

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
        msg = f"prior has shape {M.shape}, expected a symmetric matrix of shape ({d}, {d}).\nHint: prior=np.eye({d})."
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
    """Minimize the divergence from the identity plus a convex loss of the rows' squared lengths.

    Takes quasi-Newton steps on a root of the matrix until the gap is proved to be at most ``tol``. Only the directions
    of rows on which the loss has a slope are considered; others are added when their slopes become nonzero.
    """
    square = squared_lengths(rows)
    axes, D = np.empty((rows.shape[1], 0)), np.empty((len(rows), 0))
    at, done, patience = np.empty((0, 0)), 0, 1e-2 * tol
    while True:
        rest = np.maximum(square - squared_lengths(D), 0.0)
        best, theta = _value(at.T @ at, D, rest, loss)
        new = (theta != 0) & (rest > INSIDE * square)
        if new.any() and axes.shape[1] < rows.shape[1]:
            axes = _extended(axes, rows[new])
            fresh = not len(at)
            D = rows @ axes
            at = scipy.linalg.block_diag(at, np.eye(D.shape[1] - len(at)))
            if fresh:
                at *= _first_scale(D, np.maximum(square - squared_lengths(D), 0.0), loss)
            patience = 1e-2 * tol
            continue
        gap = certify_near(at.T @ at, D, loss, rest)[1]
        if gap <= tol or done >= max_iter or patience <= 1e-18:
            return Near(at.T @ at, axes, best, gap, max(done, 1))
        step = scipy.optimize.minimize(
            partial(_flat_value, D=D, loss=loss, rest=rest),
            at.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": min(ROUND, max_iter - done), "maxcor": 20, "ftol": patience, "gtol": 0.0},
        )
        done += int(step.nit)
        at = step.x.reshape(at.shape)
        if step.nit < ROUND:  # it stopped early, but a lower value may exist
            patience *= 1e-3


def _first_scale(D: FloatArray, rest: FloatArray, loss: Loss) -> float:
    """Return the factor of the identity to start from: 1, unless the slope is so steep that steps would fail."""
    square, d = squared_lengths(D), D.shape[1]
    if abs(float(loss(rest + square)[1] @ square)) <= 100.0 * d:
        return 1.0

    def value(log: float) -> float:
        t = float(np.exp(log))
        return float(d * (t - log) + loss(rest + t * square)[0])

    grid = np.linspace(-40.0, 40.0, 81)
    best = float(grid[int(np.argmin([value(log) for log in grid]))])
    found = scipy.optimize.minimize_scalar(value, bounds=(best - 1.0, best + 1.0), method="bounded")
    return float(np.exp(0.5 * found.x))


def _extended(axes: FloatArray, rows: FloatArray) -> FloatArray:
    """Return an orthonormal basis, as columns, of ``axes`` and rows; it begins with the old columns."""
    d, r = axes.shape
    if r == 0 and len(rows) >= d:
        return np.eye(d)
    beyond = rows - (rows @ axes) @ axes.T
    beyond -= (beyond @ axes) @ axes.T  # twice, as once leaves rounding errors
    return np.ascontiguousarray(np.column_stack([axes, span(beyond)[:, : d - r]]))


def _flat_value(flat: FloatArray, D: FloatArray, loss: Loss, rest: FloatArray) -> tuple[float, FloatArray]:
    return value_and_slope(flat.reshape(D.shape[1], D.shape[1]), D, loss, rest)


def value_and_slope(
    L: FloatArray, D: FloatArray, loss: Loss, rest: FloatArray | float = 0.0
) -> tuple[float, FloatArray]:
    """Return F at L'L and its gradient in L; ``rest`` are the squared lengths in other directions."""
    moved = D @ L.T
    cost, theta = loss(rest + np.einsum("ij,ij->i", moved, moved))
    factor, pivot, singular = scipy.linalg.lapack.dgetrf(L)
    if singular:
        return np.inf, np.zeros(L.size)
    logdet = float(np.log(np.abs(np.diagonal(factor))).sum())
    inverse = scipy.linalg.lapack.dgetri(factor, pivot)[0]
    slope = L + (moved * theta[:, None]).T @ D - inverse.T
    return float(np.sum(L * L) - 2 * logdet - len(L) + cost), 2 * slope.ravel()


def _value(A: FloatArray, D: FloatArray, rest: FloatArray | float, loss: Loss) -> tuple[float, FloatArray]:
    """Return F at A, and the slopes of the loss."""
    cost, theta = loss(rest + np.einsum("ij,ij->i", D @ A, D))
    return float(np.trace(A) - np.linalg.slogdet(A)[1] - len(A) + cost), theta


def certify_near(A: FloatArray, D: FloatArray, loss: Loss, rest: FloatArray | float = 0.0) -> tuple[float, float]:
    """Return F at A, and the proved gap to its minimum, relative to 1 + |F|; inf without a proof.

    All rows with a nonzero slope must lie in the span of the current directions.
    """
    F, theta = _value(A, D, rest, loss)
    pulling = theta != 0
    T = np.eye(len(A)) + (D[pulling] * theta[pulling, None]).T @ D[pulling]
    values = np.linalg.eigvalsh((T + T.T) / 2)
    if values.min(initial=1.0) <= 0:
        return F, np.inf
    lack = float(np.sum(A * T) - np.linalg.slogdet(A)[1] - np.log(values).sum() - len(A))
    return F, max(lack, 0.0) / (1.0 + abs(F))


def components_near(found: Near, prior: Prior, d: int) -> FloatArray:
    """Return the symmetric root of the matrix in all directions and in the coordinates of X."""
    K = np.eye(d) + found.axes @ (found.matrix - np.eye(len(found.matrix))) @ found.axes.T
    return root(K if prior.root is None else prior.root @ K @ prior.root)
