"""The SVM metric of Schultz and Joachims: weights of features that keep comparisons with a margin."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from linkwise._compat import Interval
from linkwise.constraints import Constraints, Kind
from linkwise.engines._reading import warn_user
from linkwise.engines.metric._interior import largest_margin
from linkwise.engines.metric._learner import LearnedMetric, MetricLearner, identity_metric
from linkwise.engines.metric._statements import comparisons
from linkwise.exceptions import LinkwiseError

__all__ = ["SVMMetric", "svm_metric"]

OUT_OF_RANGE = 1e35  # the prices of the solver are fourth powers of the data


def svm_metric(
    X: Any,
    constraints: Constraints,
    *,
    C: float = 1.0,
    basis: Any = None,
    max_iter: int = 200,
    tol: float = 1e-6,
) -> LearnedMetric:
    """Weigh features so that in each triplet ab|c the outgroup is farther away, by a margin.

    Minimises ½ ‖A W A'‖² + C Σ ξ over diagonal W ≥ 0 and ξ ≥ 0, such that for each triplet
    d²(a, c) - d²(a, b) ≥ 1 - ξ and d²(b, c) - d²(a, b) ≥ 1 - ξ, where d² is taken under A W A'.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Finite vectors; sparse only without ``basis``. Not modified.
    constraints : Constraints
        Triplets; other kinds are not looked at. A triplet's weight multiplies its ``C``.
    C : float, default=1.0
        Price of a comparison that misses the margin.
    basis : array-like of shape (n_features, n_directions), optional
        The matrix A, whose columns are weighed in place of the features; the identity by default.
    max_iter : int, default=200
        Most rounds of the solver.
    tol : float, default=1e-6
        Relative gap between primal and dual at which it stops.

    Returns
    -------
    LearnedMetric
        ``components`` is W^½ A'; ``objective`` the minimum.

    Notes
    -----
    **Cost** a few dozen rounds of O(m d²), or O(m² d) if features outnumber the 2 m comparisons. **Guarantee** the gap
    is that between a primal and a dual solution, so no weights are better by more. **Departure from** [1]_ none; the
    program is solved by interior points rather than by SVM-light, and as in [2]_ each triplet gives two comparisons.
    Distances enter with their units, so scale the features first or choose ``C`` for them. If
    every feature speaks against the triplets the best weights are all 0; the metric stays Euclidean then, with a
    warning.

    References
    ----------
    .. [1] M. Schultz, T. Joachims, "Learning a distance metric from relative comparisons", NIPS 16, 2004.
    .. [2] E. Y. Liu, Z. Zhang, W. Wang, "Clustering with relative constraints", KDD 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import svm_metric
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> found = svm_metric(X, Constraints.build(3, triplets=[(0, 1, 2)]))
    >>> (found.components**2).round(6).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    X = X if scipy.sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    said = comparisons(constraints)
    if not len(said.items):
        return identity_metric(X)
    A = None if basis is None else _read_basis(basis, X.shape[1])
    Z = X if A is None else X @ A
    largest = float(abs(Z).max())
    if largest and not 1 / OUT_OF_RANGE < largest < OUT_OF_RANGE:
        msg = (
            f"SVM metric: X holds values up to {largest:.0e}, whose squares are out of all proportion to the margin, "
            "which is 1.\nHint: scale the features first, as with sklearn.preprocessing.StandardScaler."
        )
        raise LinkwiseError(msg)
    a, b, c = said.items.T
    D = _squared(Z[a] - Z[c]) - _squared(Z[a] - Z[b])
    used = np.flatnonzero(abs(D).sum(axis=0))  # a feature in which no comparison differs gets no weight
    if not len(used):
        warn_user("SVM metric: no feature tells any triplet's samples apart; the metric stays Euclidean.")
        return identity_metric(X)
    H = None
    if A is not None:
        angle = A.T @ A
        H = (angle * angle)[np.ix_(used, used)]
    found = largest_margin(D[:, used], C * said.weight, H, max_iter=max_iter, tol=tol)
    weights = np.zeros(Z.shape[1])
    weights[used] = np.maximum(found.weights, 0.0)
    if not weights.any():
        warn_user(
            "SVM metric: the best weights are all 0, as every feature speaks against the triplets; the metric stays "
            "Euclidean.\nHint: `basis` offers other directions to weigh; `LSML` learns a full matrix."
        )
        return identity_metric(X)._replace(objective=found.objective, n_iter=found.n_iter, gap=found.gap)
    if scipy.sparse.issparse(X):
        components: Any = scipy.sparse.csr_array(scipy.sparse.diags(np.sqrt(weights)))
    else:
        components = np.diag(np.sqrt(weights)) if A is None else np.sqrt(weights)[:, None] * A.T
    return LearnedMetric(components, found.objective, found.n_iter, found.gap)


def _squared(rows: Any) -> Any:
    return rows.multiply(rows) if scipy.sparse.issparse(rows) else rows * rows


def _read_basis(basis: Any, d: int) -> npt.NDArray[np.float64]:
    A = np.asarray(basis, dtype=np.float64)
    if A.ndim != 2 or A.shape[0] != d or not A.shape[1] or not np.isfinite(A).all():
        msg = f"basis has shape {A.shape}, expected finite numbers of shape (n_features={d}, n_directions)."
        raise LinkwiseError(msg)
    return A


class SVMMetric(MetricLearner):
    """Weigh features so that in each triplet ab|c the outgroup is farther away, by a margin.

    Parameters
    ----------
    C : float, default=1.0
        Price of a comparison that misses the margin.
    basis : array-like of shape (n_features, n_directions), optional
        Directions to weigh in place of the features.
    max_iter : int, default=200
        Most rounds of the solver.
    tol : float, default=1e-6
        Relative gap to the optimum that is good enough.

    Attributes
    ----------
    components_ : ndarray or sparse array of shape (n_directions, n_features)
        Roots of the weights on the diagonal, or times the basis.
    objective_, gap_ : float
        The minimum, and how far from the true one it is at most, relative to it.
    n_iter_ : int
        Rounds of the solver.

    See Also
    --------
    svm_metric : the function behind it, with cost, guarantee and reference.

    Examples
    --------
    The two combinations that Liu, Zhang and Wang compare, on Iris and 30 triplets:

    >>> from linkwise import ReCon, SVMMetric
    >>> from linkwise.sources import label_triplets_sample
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_iris(return_X_y=True)
    >>> said = label_triplets_sample(y, 30, random_state=0)

    K-Means + SVM metric:

    >>> pipe = make_pipeline(SVMMetric(), KMeans(3, n_init=10, random_state=0))
    >>> labels = pipe.fit_predict(X, svmmetric__constraints=said)

    ReCon + SVM metric, which both hear the same statements:

    >>> pipe = make_pipeline(SVMMetric(), ReCon(3))
    >>> labels = pipe.fit_predict(X, svmmetric__constraints=said, recon__constraints=said)

    >>> pipe["recon"].certificate_.ok
    True
    """

    understands = frozenset({Kind.TRIPLET})
    _dense_only = "leave out basis; features are then weighed as they are, which takes sparse X."
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "basis": ["array-like", None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, C: float = 1.0, *, basis: Any = None, max_iter: int = 200, tol: float = 1e-6) -> None:
        self.C = C
        self.basis = basis
        self.max_iter = max_iter
        self.tol = tol

    def _takes_sparse(self) -> bool:
        return self.basis is None

    def _keeps_features(self) -> bool:
        return self.basis is None

    def _metric_from(self, samples: Any, constraints: Constraints) -> LearnedMetric:
        return svm_metric(samples, constraints, C=self.C, basis=self.basis, max_iter=self.max_iter, tol=self.tol)
