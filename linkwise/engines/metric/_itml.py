"""`ITML`, information-theoretic metric learning: close to a prior, with must-links short and cannot-links long."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg
from scipy.spatial.distance import pdist

from linkwise._compat import Interval, StrOptions
from linkwise._typing import BoolArray, FloatArray
from linkwise._validation import warn_user
from linkwise.constraints import LINKS, Constraints
from linkwise.engines.distances import in_unit, unit_of
from linkwise.engines.metric._kernels import project_onto_bounds
from linkwise.engines.metric._learner_mixins import LearnedMetric, MetricLearner, identity_metric
from linkwise.engines.metric._logdet import (
    PRIOR,
    Near,
    certify_near,
    components_near,
    nearest_to_prior,
    read_prior,
)
from linkwise.engines.metric._matrices import span
from linkwise.engines.metric._pairs_and_comparisons import apart_pairs, differences, together_pairs, without_coincident
from linkwise.exceptions import LinkwiseError

MOST_SAMPLES = 1000
SWEEPS = 10
FEW_PAIRS = 300
FEW_STEPS = 100
FAR_OUT = 1e-60  # smallest bound relative to the data; its inverse is the largest


class Bounds(NamedTuple):
    """A bound on the squared length of each difference, from above if it is ``near``, and the cost of relaxing it."""

    near: BoolArray
    bound: FloatArray
    gamma: FloatArray

    def loss(self, p: FloatArray) -> tuple[float, FloatArray]:
        """Return the cost of bounds relaxed to p, γ (p/b - log(p/b) - 1) where p is beyond b, else 0; and its slope."""
        over = p / self.bound - 1.0  # not p/b itself, whose distance to 1 would be lost in rounding
        over = np.where(self.near, np.maximum(over, 0.0), np.clip(over, 1e-15 - 1.0, 0.0))
        return float(self.gamma @ (over - np.log1p(over))), self.gamma * over / ((1.0 + over) * self.bound)


class Terms(NamedTuple):
    """Value of the dual, its gradient, its negative Hessian, and the metric."""

    value: float
    gradient: FloatArray
    bend: FloatArray
    matrix: FloatArray


def matrix_by_dual_newton(
    D: FloatArray, near: BoolArray, bound: FloatArray, gamma: FloatArray, *, max_iter: int, tol: float
) -> tuple[FloatArray, int]:
    """Return the metric in the coordinates of D, and the number of steps it took.

    Multipliers that the gradient keeps at 0 are left out of a step. It stops when the expected gain of a step is at
    most ``tol``, relative to 1 + value.
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
        blur = 1e-14 * (1.0 + abs(at.value))  # precision of differences of values
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
    """Return the dual and its derivatives at multipliers; None outside of its domain."""
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
    length = bound / give  # the relaxed bound
    bend = inner * inner
    bend[np.diag_indices_from(bend)] += length**2 / gamma
    value = 2 * float(np.log(np.diagonal(factor)).sum()) + float(gamma @ np.log(give))
    return Terms(value, np.diagonal(inner) - length, bend, matrix)


def _by_multipliers(D: FloatArray, bounds: Bounds, *, max_iter: int, tol: float) -> Near:
    """Solve by Newton's method on the dual."""
    axes = np.eye(D.shape[1]) if len(D) >= D.shape[1] else span(D)
    rows = D @ axes
    # the metric follows the multipliers with the root of their error, and Newton's method squares it with each step
    A, done = matrix_by_dual_newton(rows, *bounds, max_iter=max_iter, tol=1e-6 * tol)
    return Near(A, axes, *certify_near(A, rows, bounds.loss), done)


def _by_projections(D: FloatArray, bounds: Bounds, *, max_iter: int, tol: float) -> Near:
    """Solve by cyclic projections; the gap is checked every few sweeps."""
    axes = span(D)
    rows = np.ascontiguousarray(D @ axes)
    A = np.eye(rows.shape[1])
    giving, multiplier, done = bounds.bound.copy(), np.zeros(len(rows)), 0
    value, gap = certify_near(A, rows, bounds.loss)
    while gap > tol and done < max_iter:
        sweeps = min(SWEEPS, max_iter - done)
        project_onto_bounds(A, rows, bounds.near, giving, bounds.gamma, multiplier, sweeps)
        A = (A + A.T) / 2
        done += sweeps
        value, gap = certify_near(A, rows, bounds.loss)
    return Near(A, axes, value, gap, max(done, 1))


def _bounds(X: FloatArray, bounds: Any, size: float) -> tuple[float, float] | None:
    """Return the given bounds, or percentiles of the squared distances between samples; None if all samples coincide.

    X and the result are measured in ``size``, the given bounds in the units of the data.
    """
    if bounds is not None:
        given = np.asarray(bounds, dtype=np.float64)
        if given.shape != (2,) or not np.isfinite(given).all() or (given <= 0).any():
            msg = f"ITML: bounds is {bounds!r}, expected two positive numbers.\nHint: as in bounds=(1.0, 9.0)."
            raise LinkwiseError(msg)
        low, high = (float(bound) / size / size for bound in given)
        if size != 1.0 and not all(FAR_OUT < bound < 1 / FAR_OUT for bound in (low, high)):
            msg = (
                f"ITML: bounds={bounds!r} are too far from the scale of X, whose values reach about {size:.0e}.\n"
                "Hint: bounds=None takes them from the data; or scale X, as with sklearn.preprocessing.StandardScaler."
            )
            raise LinkwiseError(msg)
        return low, high
    few = X if len(X) <= MOST_SAMPLES else X[np.linspace(0, len(X) - 1, MOST_SAMPLES).astype(np.intp)]
    apart = pdist(few, "sqeuclidean")
    apart = apart[apart > 0]
    if not len(apart):
        return None
    low, high = np.percentile(apart, (5, 95))
    return float(low), float(high)


class ITML(MetricLearner):
    """Change a prior metric as little as possible so that must-links become short and cannot-links long.

    Minimizes the LogDet divergence of the matrix from the prior, plus γ times that of relaxed bounds from the bounds u
    (must-links) and l (cannot-links), such that squared distances keep the relaxed bounds.

    Parameters
    ----------
    slack : float, default=1.0
        Cost γ of relaxing a bound; multiplied by the weight of the statement.
    bounds : pair of float, optional
        The bounds u and l on squared distances. By default the 5th and 95th percentile of the positive squared
        distances under the prior, between at most 1,000 evenly spaced samples.
    solver : {"auto", "lbfgs", "bregman"}, default="auto"
        "lbfgs" takes quasi-Newton steps on an equivalent problem without bounds; "bregman" projects onto the bounds in
        turn, as in the paper; "auto" first tries Newton's method on the dual if there are at most 300 pairs, then
        "lbfgs".

    Notes
    -----
    **Cost** per round O(m r²) + O(r³), r ≤ min(m, d) being the rank of the differences, and O(m³) for Newton's method;
    outside their span the prior stays. **Guarantee** no metric is better by more than ``gap_``; the result does not
    depend on the order of the statements nor, with a prior that rotates along, on a rotation of X.
    **Departure from** [1]_ the best relaxation of a bound has a closed form, and the remaining problem is smooth and
    convex, so it is solved directly; the step of the projections is exact, where the printed algorithm has the factor
    γ in another place. Cannot-links between samples that coincide are dropped with a warning.

    References
    ----------
    .. [1] J. V. Davis, B. Kulis, P. Jain, S. Sra, I. S. Dhillon, "Information-theoretic metric learning", ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import ITML
    >>> X = np.array([[0.0, 0.0], [0.0, 2.0], [1.0, 0.0], [1.0, 2.0]])
    >>> said = Constraints.build(4, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2)])
    >>> model = ITML(bounds=(1.0, 4.0)).fit(X, constraints=said)
    >>> (model.pair_distance(X[[(0, 1), (0, 2)]]) ** 2).round(2).tolist()
    [1.33, 1.6]
    """

    understands = LINKS
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "slack": [Interval(Real, 0, None, closed="neither")],
        "bounds": ["array-like", None],
        "prior": PRIOR,
        "solver": [StrOptions({"auto", "lbfgs", "bregman"})],
    }

    def __init__(
        self,
        *,
        slack: float = 1.0,
        bounds: Any = None,
        prior: Any = "identity",
        solver: str = "auto",
        max_iter: int = 2000,
        tol: float = 1e-6,
    ) -> None:
        self.slack = slack
        self.bounds = bounds
        self.prior = prior
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol

    def _metric_from(self, X: Any, constraints: Constraints) -> LearnedMetric:
        if not constraints.n_statements:
            return identity_metric(X)
        size = unit_of(X)
        X = in_unit(X, size)
        before = read_prior(self.prior, X)
        # under the covariance prior distances have no unit, and the metric has that of the data
        own = isinstance(self.prior, str) and self.prior == "covariance" and before.root is not None
        short = together_pairs(constraints)
        long_, long_weight = without_coincident(X, apart_pairs(constraints), who="ITML")
        D = before.towards(np.concatenate([differences(X, short), long_]))
        near = np.arange(len(D)) < len(short.first)
        limit = _bounds(before.towards(X), self.bounds, 1.0 if own else size)
        if limit is None or not D.any():
            warn_user("ITML: the samples of every pair coincide, so nothing can be learned; the metric is the prior.")
            unchanged = LearnedMetric(np.eye(X.shape[1]) if before.root is None else before.root)
            return unchanged.of_unit(size if own else 1.0)
        bounds = Bounds(near, np.where(near, *limit), self.slack * np.concatenate([short.weight, long_weight]))
        found = None
        if self.solver == "bregman":
            found = _by_projections(D, bounds, max_iter=self.max_iter, tol=self.tol)
        elif self.solver == "auto" and len(D) <= FEW_PAIRS:
            found = _by_multipliers(D, bounds, max_iter=min(self.max_iter, FEW_STEPS), tol=self.tol)
        if found is None or (self.solver == "auto" and found.gap > self.tol):  # as with very uneven weights
            other = nearest_to_prior(D, bounds.loss, max_iter=self.max_iter, tol=self.tol)
            found = other if found is None or other.gap < found.gap else found
        components = components_near(found, before, X.shape[1])
        return LearnedMetric(components, found.value, found.n_iter, found.gap).of_unit(size if own else 1.0)
