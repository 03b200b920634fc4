"""`XingMetric`: a convex program that keeps must-links short and makes cannot-links long."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse

from linkwise._compat import StrOptions
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise._validation import warn_user
from linkwise.constraints import LINKS, Constraints
from linkwise.engines.distances import in_unit, unit_of
from linkwise.engines.metric._learner_mixins import LearnedMetric, MetricLearner, identity_metric
from linkwise.engines.metric._matrices import SHRINKAGE, root, shrink_values, span, whiten
from linkwise.engines.metric._pairs_and_comparisons import apart_pairs, together_scatter, without_coincident

TINY = 1e-150
# features up to which the diagonal form is solved by Newton's method, with a matrix of second derivatives
NEWTON = 600
ROUND = 25
FIRST = 30


class Spread(NamedTuple):
    """A root M of the best matrix (B = M'M), or of the best diagonal, its value and the proved gap."""

    root: FloatArray
    value: float
    gap: float
    n_iter: int


def spread_full(U: FloatArray, weight: FloatArray, *, max_iter: int, tol: float) -> Spread:
    """Maximize Σ w ‖M u‖ over ‖M‖ = 1 by quasi-Newton steps, until the bound proves a relative gap of ``tol``.

    Over square M of full rank, as the start is, every local maximum is global.
    """
    d = U.shape[1]

    def judge(flat: FloatArray) -> tuple[float, float]:
        M = flat.reshape(d, d)
        total, _, gap = _value_of(M.T @ M, U, weight)
        return total, gap

    return _climb(partial(full_value, U=U, weight=weight), judge, np.eye(d).ravel() / np.sqrt(d), (d, d), max_iter, tol)


def full_value(flat: FloatArray, U: FloatArray, weight: FloatArray) -> tuple[float, FloatArray]:
    """Return log ‖M‖ - log Σ w ‖M u‖, which does not depend on the scale of M, and its slope."""
    M = flat.reshape(-1, U.shape[1])
    moved = U @ M.T
    length = np.maximum(np.sqrt(np.einsum("ij,ij->i", moved, moved)), TINY)
    total, size = float(weight @ length), float(flat @ flat)
    slope = (moved * (weight / length)[:, None]).T @ U
    return 0.5 * np.log(size) - np.log(total), (M / size - slope / total).ravel()


def diagonal_value(z: FloatArray, V: Any, weight: FloatArray) -> tuple[float, FloatArray]:
    """Return log ‖z‖ - log Σ w √(v·z²), and its slope."""
    length = np.maximum(np.sqrt(V @ (z * z)), TINY)
    total, size = float(weight @ length), float(z @ z)
    return 0.5 * np.log(size) - np.log(total), z / size - z * (V.T @ (weight / length)) / total


def _climb(
    value: Callable[[FloatArray], tuple[float, FloatArray]],
    judge: Callable[[FloatArray], tuple[float, float]],
    start: FloatArray,
    shape: tuple[int, ...],
    max_iter: int,
    tol: float,
) -> Spread:
    """Maximize by rounds of quasi-Newton steps; after each, `judge` returns the value and the proved gap."""
    at, done, patience = start, 0, 1e-2 * tol
    total, gap = judge(at)
    while gap > tol and done < max_iter and patience > 1e-18:
        step = scipy.optimize.minimize(
            value,
            at,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": min(ROUND, max_iter - done), "maxcor": 20, "ftol": patience, "gtol": 0.0},
        )
        done += int(step.nit)
        at = step.x / np.linalg.norm(step.x)
        total, gap = judge(at)
        if step.nit < ROUND:  # it stopped early, but a higher value may exist
            patience *= 1e-3
    return Spread(at.reshape(shape), total, gap, max(done, 1))


def spread_full_by_projection(U: FloatArray, weight: FloatArray, *, max_iter: int, tol: float) -> Spread:
    """Maximize by gradient steps, each projected onto the matrices of trace 1, as in the paper."""
    d = U.shape[1]
    B = np.eye(d) / d
    total, G, gap = _value_of(B, U, weight)
    step, done = 1.0 / float(np.linalg.norm(G)), 0
    while gap > tol and done < max_iter:
        done += 1
        for _ in range(60):
            new = _nearest_of_trace_one(B + step * G)
            found, slope, left = _value_of(new, U, weight)
            if found >= total + 0.25 * float(np.sum(G * (new - B))):
                break
            step /= 2
        else:
            break
        moved, turned = new - B, G - slope
        bent = float(np.sum(moved * turned))  # Barzilai and Borwein's guess of the next step
        step = float(np.sum(moved * moved)) / bent if bent > 0 else 2 * step
        B, total, G, gap = new, found, slope, left
    values, axes = np.linalg.eigh(B)
    return Spread((axes * np.sqrt(np.maximum(values, 0))) @ axes.T, total, gap, max(done, 1))


def _value_of(B: FloatArray, U: FloatArray, weight: FloatArray) -> tuple[float, FloatArray, float]:
    length = np.sqrt(np.maximum(np.einsum("ij,ij->i", U @ B, U), TINY**2))
    total = float(weight @ length)
    G = (U * (0.5 * weight / length)[:, None]).T @ U
    return total, G, float(np.sqrt(max(2 * np.linalg.eigvalsh(G)[-1] / total, 1.0)) - 1.0)


def _nearest_of_trace_one(M: FloatArray) -> FloatArray:
    """Project onto positive semi-definite matrices of trace 1: eigenvalues onto the simplex."""
    values, axes = np.linalg.eigh((M + M.T) / 2)
    descending = values[::-1]
    excess = (np.cumsum(descending) - 1) / np.arange(1, len(values) + 1)
    level = excess[np.flatnonzero(descending > excess)[-1]]
    return np.asarray((axes * np.maximum(values - level, 0)) @ axes.T)


def spread_diagonal(V: Any, weight: FloatArray, *, max_iter: int, tol: float) -> Spread:
    """Maximize Σ w √(v·b) over b ≥ 0, Σ b = 1; by Newton's method, or quasi-Newton steps for many features."""
    d = V.shape[1]
    if scipy.sparse.issparse(V) or d > NEWTON:

        def judge(z: FloatArray) -> tuple[float, float]:
            length = np.maximum(np.sqrt(V @ (z * z) / float(z @ z)), TINY)
            return _bound(V, weight, length)

        value = partial(diagonal_value, V=V, weight=weight)
        return _climb(value, judge, np.full(d, 1 / np.sqrt(d)), (d,), max_iter, tol)
    return _newton(np.asarray(V), weight, max_iter, tol)


def _bound(V: Any, weight: FloatArray, length: FloatArray) -> tuple[float, float]:
    total = float(weight @ length)
    largest = float((V.T @ (0.5 * weight / length)).max())
    return total, float(np.sqrt(max(2 * largest / total, 1.0)) - 1.0)


def _newton(V: FloatArray, weight: FloatArray, max_iter: int, tol: float) -> Spread:
    """Minimize Xing's convex form Σ b - log g(b), b ≥ 0, by Newton's method.

    A few steps b_j G_j², which never raise the value, first find the useful features. Features near 0 that the slope
    keeps there are left out of a step and set to 0. Where Newton's step does not descend, b_j G_j² replaces it.
    """
    b = np.full(V.shape[1], 1.0 / V.shape[1])
    for _ in range(FIRST):
        b = _growth(b, V.T @ (weight / np.sqrt(V @ b)))
    done = 0
    while True:
        length = np.maximum(np.sqrt(V @ b), TINY)
        total, gap = _bound(V, weight, length / np.sqrt(b.sum()))
        if gap <= tol or done >= max_iter:
            return Spread(np.sqrt(b / b.sum()), total, gap, max(done, 1))
        done += 1
        slope = V.T @ (0.5 * weight / length) / float(weight @ length)
        left = float(np.linalg.norm(b - np.maximum(b - (1.0 - slope) * b.max(), 0.0)))
        held = (b <= min(0.01 * b.max(), left)) & (slope < 1.0)
        new = _newton_step(b, V, weight, held)
        if new is None:
            new = _growth(b, slope)
            if np.allclose(new / new.sum(), b / b.sum(), rtol=1e-14, atol=0):  # rounding errors prevent progress
                return Spread(np.sqrt(b / b.sum()), total, gap, done)
        b = new


def _growth(b: FloatArray, slope: FloatArray) -> FloatArray:
    """Multiply weights by their squared slopes, and scale their sum to that of the optimum."""
    grown = b * slope**2
    return np.asarray(grown * (0.5 / grown.sum()))


def _newton_step(b: FloatArray, V: FloatArray, weight: FloatArray, held: BoolArray) -> FloatArray | None:
    """Return the point after Newton's step, halved until it descends enough; None if it never does."""
    free = np.flatnonzero(~held)
    level, gradient, bend = newton_terms(b, V, weight, free)
    bend[np.diag_indices_from(bend)] += 1e-12 * np.trace(bend)
    step = np.where(held, -b, 0.0)
    step[free] = -np.linalg.solve(bend, gradient[free])
    for halved in range(30):
        new = np.maximum(b + step / 2.0**halved, 0.0)
        reach = V @ new
        if reach.min() > 1e-12 * reach.max():
            lower = float(new.sum()) - np.log(float(weight @ np.sqrt(reach)))
            if lower < level - 1e-4 * float(gradient @ (b - new)):
                return new
    return None


def newton_terms(
    b: FloatArray, V: FloatArray, weight: FloatArray, free: IntArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return Σ b - log Σ w √(v·b), its gradient, and its second derivatives along ``free`` features."""
    length = np.maximum(np.sqrt(V @ b), TINY)
    total = float(weight @ length)
    slope = V.T @ (0.5 * weight / length) / total
    W = V[:, free]
    bend = (W * (0.25 * weight / (length**3 * total))[:, None]).T @ W + np.outer(slope[free], slope[free])
    return float(b.sum()) - np.log(total), 1.0 - slope, bend


def _second_moments(rows: Any, weight: Any, form: str) -> Any:
    """Return Σ w r r', or its diagonal."""
    if form == "full":
        return (rows * weight[:, None]).T @ rows
    return (rows.multiply(rows) if scipy.sparse.issparse(rows) else rows * rows).T @ weight


class XingMetric(MetricLearner):
    """Learn a metric in which cannot-linked samples are far apart and must-linked ones are near.

    Maximizes the sum of distances over cannot-links, such that the sum of *squared* distances over must-links is 1.

    Parameters
    ----------
    form : {"full", "diagonal"}, default="full"
        A full matrix, or only a weight for each feature.
    solver : {"lbfgs", "projection"}, default="lbfgs"
        Solver of the full form: quasi-Newton steps on a root of the matrix, or projected gradient steps.
    shrinkage : "auto" or float between 0 and 1, default="auto"
        Share of the scatter of the must-links that is replaced by a round one of the same trace. If the scatter is
        singular, the problem is unbounded; "auto" is 0.1 in this case and 0 otherwise.
    tol : float, default=1e-6
        The solver stops when the proved relative gap to the optimum is at most this.

    Attributes
    ----------
    components_ : ndarray or sparse array of shape (n_features, n_features)
        The symmetric root of the learned matrix, scaled so that the squared distances of must-links sum to 1.
    objective_, gap_ : float
        The sum of distances over cannot-links, and a proved bound on how much larger, relative to it, it could be.

    Notes
    -----
    **Cost** per round O(m d²) for m cannot-links in the full form, and one eigendecomposition, O(d³), every 25; in the
    diagonal form Newton's method, O(m d²), up to 600 features, then O(m d). **Guarantee** no metric of this form is
    better by more than ``gap_``; the full form does not depend on a rotation of X. **Departure from** [1]_ the matrix
    is measured in units of the scatter of the must-links, where the two constraint sets of the paper become one with an
    exact projection; pairs that coincide are dropped with a warning, since their slope is 0/0; a group together of n
    samples weighs as much as n - 1 must-links, spread evenly over its pairs. Without a must-link or without a
    cannot-link there is no trade-off, and the metric stays Euclidean with a warning.

    References
    ----------
    .. [1] E. P. Xing, A. Y. Ng, M. I. Jordan, S. Russell, "Distance metric learning, with application to clustering
       with side-information", NIPS 15, 2003.

    Examples
    --------
    Two features, of which the second has large values but no information:

    >>> import numpy as np
    >>> from linkwise import Constraints, ConstrainedAgglomerative
    >>> from linkwise.engines import XingMetric
    >>> from sklearn.pipeline import make_pipeline
    >>> X = np.array([[0.0, 0.0], [0.1, 2.0], [1.0, 0.1], [1.1, 2.1], [0.1, 1.9], [1.0, 2.2]])
    >>> said = Constraints.build(6, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (1, 3)])
    >>> ConstrainedAgglomerative(2).fit_predict(X).tolist()
    [0, 1, 0, 1, 1, 1]
    >>> both = make_pipeline(XingMetric(), ConstrainedAgglomerative(2))
    >>> both.fit_predict(X, xingmetric__constraints=said).tolist()
    [0, 0, 1, 1, 0, 1]
    """

    understands = LINKS
    _dense_only = 'use form="diagonal", which learns feature weights and takes sparse X.'
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "form": [StrOptions({"full", "diagonal"})],
        "solver": [StrOptions({"lbfgs", "projection"})],
        "shrinkage": SHRINKAGE,
    }

    def __init__(
        self,
        *,
        form: str = "full",
        solver: str = "lbfgs",
        shrinkage: float | str = "auto",
        max_iter: int = 2000,
        tol: float = 1e-6,
    ) -> None:
        self.form = form
        self.solver = solver
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tol = tol

    def _takes_sparse(self) -> bool:
        return self.form == "diagonal"

    def _keeps_features(self) -> bool:
        return self.form == "diagonal"

    def _metric_from(self, X: Any, constraints: Constraints) -> LearnedMetric:
        if not constraints.n_statements:
            return identity_metric(X)
        unit = unit_of(X)
        X = in_unit(X, unit)
        near = _second_moments(*together_scatter(X, constraints), self.form)
        far, spread = without_coincident(X, apart_pairs(constraints), who="XingMetric")
        if not far.shape[0] or not near.any():
            missing = "cannot-links" if not far.shape[0] else "must-links"
            warn_user(
                f"XingMetric weighs must-links against cannot-links, but there are no {missing} between samples that "
                "differ; the metric stays Euclidean.\n"
                "Hint: `RCA` learns from must-links alone, `SVMMetric` and `LSML` from triplets."
            )
            return identity_metric(X)
        total = float(spread.sum())
        if self.form == "diagonal":
            near, share = shrink_values(near, self.shrinkage)
            V = far.multiply(far) @ scipy.sparse.diags(1 / near) if scipy.sparse.issparse(far) else far * far / near
            found = spread_diagonal(V, spread / total, max_iter=self.max_iter, tol=self.tol)
            weights = found.root / np.sqrt(near)
            sparse = scipy.sparse.issparse(X)
            components = scipy.sparse.csr_array(scipy.sparse.diags(weights)) if sparse else np.diag(weights)
        else:
            white, _, share = whiten(near, self.shrinkage)
            U = far @ white
            axes = span(U) if len(U) < U.shape[1] else np.eye(U.shape[1])
            solve = spread_full if self.solver == "lbfgs" else spread_full_by_projection
            found = solve(U @ axes, spread / total, max_iter=self.max_iter, tol=self.tol)
            M = found.root @ axes.T @ white
            components = root(M.T @ M)
        return LearnedMetric(components, found.value * total, found.n_iter, found.gap, share).of_unit(unit)
