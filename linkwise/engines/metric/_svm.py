"""`SVMMetric`: feature weights that satisfy comparisons with a margin, after Schultz and Joachims."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse

from linkwise._compat import Interval
from linkwise._typing import FloatArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints, Kind
from linkwise.engines.metric._learner_mixins import LearnedMetric, MetricLearner, identity_metric
from linkwise.engines.metric._pairs_and_comparisons import comparisons
from linkwise.exceptions import LinkwiseError

# rounds without a smaller gap after which rounding errors are assumed to prevent one
STALLED = 15


class Margin(NamedTuple):
    """Weights, their objective, the relative gap to the dual, and the number of rounds."""

    weights: FloatArray
    objective: float
    gap: float
    n_iter: int


class Inside(NamedTuple):
    """A strictly feasible point: weights, slacks ξ, D w + ξ - 1, and the multipliers of their being ≥ 0."""

    w: FloatArray
    slack: FloatArray
    ahead: FloatArray
    alpha: FloatArray
    rest: FloatArray
    hold: FloatArray


def largest_margin(D: Any, cost: FloatArray, H: FloatArray | None = None, *, max_iter: int, tol: float) -> Margin:
    """Minimize ½ w'Hw + Σ cost ξ over w ≥ 0, ξ ≥ 0, such that D w ≥ 1 - ξ.

    ``H`` is the identity if not given; then the dual is Σ α - ½ ‖max(D'α, 0)‖² over 0 ≤ α ≤ cost.

    Notes
    -----
    Mehrotra's predictor and corrector: the steps are those of Newton's method on the optimality conditions with
    complementarity relaxed and driven to 0. Each round solves one system of the size of the weights or, if there are
    more weights than rows and H is the identity, of the rows.
    """
    m, d = D.shape
    # scaling the largest entry of D to 1 keeps all numbers of similar size
    unit = float(abs(D).max()) or 1.0
    D, c = D / unit, cost * unit**2
    # a start with complementarity products of similar size, whatever the costs
    w, slack = np.ones(d), np.ones(m)
    ahead = np.maximum(np.asarray(D @ w) + slack - 1.0, 1.0)
    at: Inside | None = Inside(w, slack, ahead, c / 2, c / 2, np.full(d, max(1.0, float(c.mean()) / 2)))
    best = Margin(w, np.inf, np.inf, 0)
    for round_ in range(1, max_iter + 1):
        if at is None:
            break
        found = _judge(D, c, H, at, unit, round_, tol)
        if found.gap < best.gap:
            best = found
        if best.gap <= tol or round_ > best.n_iter + STALLED:
            break
        at = _step(D, c, H, at)
    return best


def _step(D: Any, c: FloatArray, H: FloatArray | None, at: Inside) -> Inside | None:
    """Take one step: predictor and corrector; return None if the linear system cannot be solved."""
    w, slack, ahead, alpha, rest, hold = at
    r_dual = (w if H is None else H @ w) - D.T @ alpha - hold
    r_cost = c - alpha - rest
    r_ahead = D @ w + slack - 1.0 - ahead
    width = ahead + alpha * slack / rest
    scale = alpha / width
    solve = _factor(D, H, scale, hold / w)
    if solve is None:
        return None

    def newton(t_ahead: FloatArray, t_slack: FloatArray, t_w: FloatArray) -> Inside:
        """Return the step that brings the three products to their targets, to first order."""
        e = (t_ahead - alpha * r_ahead - alpha * (t_slack - slack * r_cost) / rest) / width
        dw = solve(-r_dual + D.T @ e + t_w / w)
        dalpha = e - scale * (D @ dw)
        drest = r_cost - dalpha
        dslack = (t_slack - slack * drest) / rest
        return Inside(dw, dslack, D @ dw + dslack + r_ahead, dalpha, drest, (t_w - hold * dw) / w)

    n = 2 * len(alpha) + len(w)
    mean = (ahead @ alpha + slack @ rest + w @ hold) / n
    first = newton(-ahead * alpha, -slack * rest, -w * hold)
    p, q = _reach(at[:3], first[:3]), _reach(at[3:], first[3:])
    after = (
        (ahead + p * first.ahead) @ (alpha + q * first.alpha)
        + (slack + p * first.slack) @ (rest + q * first.rest)
        + (w + p * first.w) @ (hold + q * first.hold)
    ) / n
    target = mean * (after / mean) ** 3
    step = newton(
        target - ahead * alpha - first.ahead * first.alpha,
        target - slack * rest - first.slack * first.rest,
        target - w * hold - first.w * first.hold,
    )
    size = 0.995 * _reach(at, step)
    return Inside(*(value + size * change for value, change in zip(at, step, strict=True)))


def _reach(at: Sequence[FloatArray], step: Sequence[FloatArray]) -> float:
    """Return the longest step, at most 1, that keeps all numbers nonnegative."""
    longest = 1.0
    for value, change in zip(at, step, strict=True):
        down = change < 0
        if down.any():
            longest = min(longest, float((-value[down] / change[down]).min()))
    return longest


def _factor(D: Any, H: FloatArray | None, scale: FloatArray, extra: FloatArray) -> Any:
    """Return a solver of (H + D' diag(scale) D + diag(extra)) x = b; None if rounding errors prevent it."""
    m, d = D.shape
    sparse = scipy.sparse.issparse(D)
    try:
        if H is None and d > m:
            weight = 1.0 / (1.0 + extra)
            inner = D @ (scipy.sparse.diags(weight) @ D.T) if sparse else (D * weight) @ D.T
            inner = np.asarray(inner.toarray() if sparse else inner)
            inner[np.diag_indices(m)] += 1.0 / np.maximum(scale, 1e-300)
            factor = scipy.linalg.cho_factor(inner)

            def solve(b: FloatArray) -> Any:
                return weight * (b - D.T @ scipy.linalg.cho_solve(factor, D @ (weight * b)))

            def refined(b: FloatArray) -> Any:  # solving over the rows loses digits; one refinement restores them
                x = solve(b)
                return x + solve(b - x / weight - D.T @ (scale * (D @ x)))

            return refined
        K = (D.T @ (scipy.sparse.diags(scale) @ D)).toarray() if sparse else (D * scale[:, None]).T @ D
        K = K + (np.eye(d) if H is None else H)
        K[np.diag_indices(d)] += extra
        unit = 1.0 / np.sqrt(np.diagonal(K))
        factor = scipy.linalg.cho_factor(K * unit * unit[:, None])
    except (np.linalg.LinAlgError, ValueError):
        return None
    return lambda b: unit * scipy.linalg.cho_solve(factor, unit * b)


def _judge(D: Any, c: FloatArray, H: FloatArray | None, at: Inside, unit: float, round_: int, tol: float) -> Margin:
    """Compare the objective at feasible weights with that of a feasible dual: they bound the optimum."""
    multiplier = np.clip(at.alpha, 0.0, c)
    force = np.asarray(D.T @ multiplier)
    candidates = [np.maximum(at.w, 0.0)]
    if H is None:
        best = np.maximum(force, 0.0)  # the best weights for this dual, exactly 0 for unused features
        dual = float(multiplier.sum() - 0.5 * best @ best)
        candidates.append(best)
    else:
        z = np.linalg.lstsq(H, force + np.maximum(at.hold, 0.0), rcond=None)[0]
        dual = float(multiplier.sum() - 0.5 * z @ H @ z)
    found = []
    for v in candidates:
        short = np.maximum(1.0 - np.asarray(D @ v), 0.0)
        found.append(0.5 * float(v @ (v if H is None else H @ v)) + float(c @ short))
    k = int(np.argmin(found))
    if found[-1] <= found[k] + tol * abs(found[k]):
        k = len(found) - 1
    gap = (found[k] - dual) / found[k] if found[k] > 0 else 0.0
    return Margin(candidates[k] / unit, found[k] / unit**2, max(gap, 0.0), round_)


OUT_OF_RANGE = 1e35  # the multipliers of the solver are fourth powers of the data


def _squared(rows: Any) -> Any:
    return rows.multiply(rows) if scipy.sparse.issparse(rows) else rows * rows


def _read_basis(basis: Any, d: int) -> FloatArray:
    A = np.asarray(basis, dtype=np.float64)
    if A.ndim != 2 or A.shape[0] != d or not A.shape[1] or not np.isfinite(A).all():
        msg = f"basis has shape {A.shape}, expected finite numbers of shape (n_features={d}, n_directions)."
        raise LinkwiseError(msg)
    return A


class SVMMetric(MetricLearner):
    """Learn feature weights so that in each triplet ab|c sample c is farther away, by a margin.

    Minimizes ½ ‖A W A'‖² + C Σ ξ over diagonal W ≥ 0 and ξ ≥ 0, such that for each triplet
    d²(a, c) - d²(a, b) ≥ 1 - ξ and d²(b, c) - d²(a, b) ≥ 1 - ξ, where d² is taken under A W A'.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a comparison that misses the margin.
    basis : array-like of shape (n_features, n_directions), optional
        The matrix A, whose columns are weighted instead of the features; the identity by default.
    tol : float, default=1e-6
        The solver stops when the relative gap between primal and dual is at most this.

    Attributes
    ----------
    components_ : ndarray or sparse array of shape (n_directions, n_features)
        Diagonal matrix of the roots of the weights, times the transposed basis if given.
    objective_, gap_ : float
        The objective, and a proved bound on its distance from the optimum, relative to it.

    Notes
    -----
    **Cost** a few dozen rounds of O(m d²), or O(m² d) if features outnumber the 2 m comparisons. **Guarantee** the gap
    is that between a primal and a dual solution, so no weights are better by more. **Departure from** [1]_ none; the
    program is solved by interior points rather than by SVM-light, and as in [2]_ each triplet gives two comparisons.
    The result depends on the units of the features, so scale them first or choose ``C`` accordingly. If every feature
    contradicts the triplets, the best weights are all 0; the metric then stays Euclidean, with a warning.

    References
    ----------
    .. [1] M. Schultz, T. Joachims, "Learning a distance metric from relative comparisons", NIPS 16, 2004.
    .. [2] E. Y. Liu, Z. Zhang, W. Wang, "Clustering with relative constraints", KDD 2011.

    Examples
    --------
    The two combinations that Liu, Zhang and Wang compare, on Iris and 30 triplets:

    >>> from linkwise import ReCon
    >>> from linkwise.engines import SVMMetric
    >>> from linkwise.sources import label_triplets_sample
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_iris(return_X_y=True)
    >>> said = label_triplets_sample(y, 30, random_state=0)

    K-Means + SVM metric:

    >>> pipe = make_pipeline(SVMMetric(), KMeans(3, n_init=10, random_state=0))
    >>> labels = pipe.fit_predict(X, svmmetric__constraints=said)

    ReCon + SVM metric, which both receive the same statements:

    >>> pipe = make_pipeline(SVMMetric(), ReCon(3))
    >>> labels = pipe.fit_predict(X, svmmetric__constraints=said, recon__constraints=said)

    >>> pipe["recon"].certificate_.ok
    True
    """

    understands = frozenset({Kind.TRIPLET})
    _dense_only = "use basis=None, which weights the features themselves and takes sparse X."
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "basis": ["array-like", None],
    }

    def __init__(self, *, C: float = 1.0, basis: Any = None, max_iter: int = 200, tol: float = 1e-6) -> None:
        self.C = C
        self.basis = basis
        self.max_iter = max_iter
        self.tol = tol

    def _takes_sparse(self) -> bool:
        return self.basis is None

    def _keeps_features(self) -> bool:
        return self.basis is None

    def _metric_from(self, X: Any, constraints: Constraints) -> LearnedMetric:
        items, weight = comparisons(constraints)
        if not len(items):
            return identity_metric(X)
        A = None if self.basis is None else _read_basis(self.basis, X.shape[1])
        Z = X if A is None else X @ A
        largest = float(abs(Z).max())
        if largest and not 1 / OUT_OF_RANGE < largest < OUT_OF_RANGE:
            msg = (
                f"SVMMetric: X holds values up to {largest:.0e}, whose squares are too far from the margin, which is 1."
                "\nHint: scale the features first, as with sklearn.preprocessing.StandardScaler."
            )
            raise LinkwiseError(msg)
        a, b, c = items.T
        D = _squared(Z[a] - Z[c]) - _squared(Z[a] - Z[b])
        used = np.flatnonzero(abs(D).sum(axis=0))  # a feature in which no comparison differs gets no weight
        if not len(used):
            warn_user("SVMMetric: no feature differs between the samples of any triplet; the metric stays Euclidean.")
            return identity_metric(X)
        H = None
        if A is not None:
            angle = A.T @ A
            H = (angle * angle)[np.ix_(used, used)]
        found = largest_margin(D[:, used], self.C * weight, H, max_iter=self.max_iter, tol=self.tol)
        weights = np.zeros(Z.shape[1])
        weights[used] = np.maximum(found.weights, 0.0)
        if not weights.any():
            warn_user(
                "SVMMetric: the best weights are all 0, as every feature contradicts the triplets; the metric stays "
                "Euclidean.\nHint: pass other directions as `basis`, or use `LSML`, which learns a full matrix."
            )
            return identity_metric(X)._replace(objective=found.objective, n_iter=found.n_iter, gap=found.gap)
        if scipy.sparse.issparse(X):
            components: Any = scipy.sparse.csr_array(scipy.sparse.diags(np.sqrt(weights)))
        else:
            components = np.diag(np.sqrt(weights)) if A is None else np.sqrt(weights)[:, None] * A.T
        return LearnedMetric(components, found.objective, found.n_iter, found.gap)
