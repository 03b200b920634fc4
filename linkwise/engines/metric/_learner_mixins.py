"""Base classes of the distance learners: any distance, and linear metrics."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from linkwise._compat import Interval, fit_context
from linkwise._typing import FloatArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints
from linkwise.engines import FEATURES, REPORTED, ConstrainedEstimator, Kept, kept_floats
from linkwise.engines.distances import in_unit, unit_of
from linkwise.engines.metric._pairs_and_comparisons import warn_of_contradictions
from linkwise.exceptions import LinkwiseError

FEW_FEATURES = 300


class DistanceLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ConstrainedEstimator):  # type: ignore[misc]
    """Base of all distance learners: defines `fit`; a subclass implements ``_learn_distance``.

    A distance learner is a transformer: it maps the samples to a space in which Euclidean or city-block distances agree
    with the statements, so any clusterer can follow it in a Pipeline. Both can receive the same constraints.

    Notes
    -----
    Statements are not guaranteed here, as a distance does not determine clusters: each counts with its weight, and a
    hard one (infinite weight) counts as much as the heaviest soft one, at least 1. Statements that contradict each
    other all count, with a warning.

    Examples
    --------
    >>> from linkwise.engines import DistanceLearner, DistBoost, RCA
    >>> issubclass(RCA, DistanceLearner), issubclass(DistBoost, DistanceLearner)
    (True, True)
    """

    constraints_: Constraints
    n_features_in_: int

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Learn the distance from statements about the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, one per row. Not modified.
        y : None
            Ignored, unless it is a `Constraints`: then it is used as ``constraints``. To use class labels, pass
            ``constraints=Constraints.from_labels(labels)``.
        constraints : Constraints, optional
            Statements about the rows of X; none by default. Each counts with its weight, and a hard one (infinite
            weight) counts as much as the heaviest soft one, at least 1. No statement is guaranteed to hold.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        UnsupportedConstraintError
            The method does not understand a kind of statement, or there are rules.
        """
        return self._fit(X, y, constraints)

    def _learn(self, samples: Any, constraints: Constraints) -> None:
        warn_of_contradictions(constraints, who=type(self).__name__)
        self._learn_distance(samples, constraints)
        self.constraints_ = constraints

    def _learn_distance(self, samples: Any, constraints: Constraints) -> None:
        """Set the fitted attributes from validated samples and constraints, which may be empty."""
        raise NotImplementedError

    def _takes_sparse(self) -> bool:
        return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        return tags

    # -- the distance -------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Map samples to the learned space."""
        raise NotImplementedError

    def pair_distance(self, pairs: Any) -> FloatArray:
        """Return the learned distance of each pair of vectors, an array of shape (n_pairs, 2, n_features)."""
        raise NotImplementedError

    def score_pairs(self, pairs: Any) -> FloatArray:
        """Return the similarity of each pair of vectors: the negative learned distance.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features)

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        return -self.pair_distance(pairs)

    def get_metric(self) -> Callable[[Any, Any], float]:
        """Return the distance as a function of two vectors."""
        raise NotImplementedError

    def _read_pairs(self, pairs: Any) -> FloatArray:
        both = np.asarray(pairs, dtype=np.float64)
        d = self.n_features_in_
        if both.ndim != 3 or both.shape[1:] != (2, d):
            msg = (
                f"pairs has shape {both.shape}, expected (n_pairs, 2, {d}).\n"
                "Hint: X[[(0, 1), (2, 5)]] makes pairs of the rows of an array X."
            )
            raise LinkwiseError(msg)
        return both


@cache
def _linear_algebra() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def one_thread(n_features: int) -> AbstractContextManager[Any]:
    """Limit linear algebra on small matrices to one thread: on a busy machine more threads can be 20 times slower.

    This also makes results independent of the number of threads.
    """
    return _linear_algebra().limit(limits=1) if n_features <= FEW_FEATURES else nullcontext()


class LearnedMetric(NamedTuple):
    """A linear map L with the learned distance d(x, y) = ‖L(x - y)‖, and a proof of its quality."""

    components: Any  # the map, dense or sparse, of shape (n_components, n_features): ``X @ L.T`` is the new space
    objective: float = 0.0
    n_iter: int = 1  # rounds of the solver
    gap: float = 0.0  # proved bound on the distance of the objective from the optimum, relative to it
    shrinkage: float = 0.0  # share of the scatter of the must-links that was replaced by a round one

    def of_unit(self, unit: float) -> LearnedMetric:
        """Convert a metric learned from data measured in ``unit`` to the units of the data."""
        return self if unit == 1.0 else self._replace(components=self.components / unit)


def identity_metric(X: Any) -> LearnedMetric:
    """Return the Euclidean metric, the result without statements."""
    d = X.shape[1]
    return LearnedMetric(scipy.sparse.csr_array(scipy.sparse.identity(d)) if scipy.sparse.issparse(X) else np.eye(d))


class MetricLearner(DistanceLearner):
    """Base of the linear metric learners: a subclass implements ``_metric_from`` and sets ``understands``.

    A linear metric learner maps the samples to a space in which Euclidean distances agree with the statements, so any
    clusterer can follow it in a Pipeline.

    Parameters
    ----------
    prior : {"identity", "covariance"} or array-like
        The metric to stay close to, as a positive definite matrix; "covariance" is the inverse covariance of X.
    max_iter : int
        Maximum number of rounds of the solver.
    tol : float
        The solver stops when the proved gap to the optimum, relative to 1 + objective, is at most this.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The symmetric root of the learned matrix.
    objective_ : float
        The objective.
    gap_ : float
        Proved bound on the distance of the objective from the optimum, relative to 1 + objective; 0 in closed form.
    n_iter_ : int
        Number of rounds of the solver.
    shrinkage_ : float
        The share of the scatter of the must-links that was replaced by a round one.

    Notes
    -----
    Without statements the metric stays Euclidean (``components_`` is the identity), without a warning.

    Examples
    --------
    >>> from linkwise.engines import MetricLearner, RCA
    >>> issubclass(RCA, MetricLearner), sorted(kind.word for kind in RCA.understands)
    (True, ['must_link', 'together'])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }
    _saved: ClassVar[dict[str, Kept]] = {
        "components_": kept_floats(None, FEATURES),
        "objective_": REPORTED,
        "n_iter_": REPORTED,
        "gap_": REPORTED,
        "shrinkage_": REPORTED,
    }

    components_: Any
    objective_: float
    n_iter_: int
    gap_: float
    shrinkage_: float

    def _learn_distance(self, samples: Any, constraints: Constraints) -> None:
        with one_thread(samples.shape[1]):
            found = self._metric_from(samples, constraints)
        if found.gap > getattr(self, "tol", np.inf):
            warn_user(
                f"{type(self).__name__} stopped after {found.n_iter:,} rounds, at most {found.gap:.1e} (relative) from "
                f"the optimum, which is more than tol={getattr(self, 'tol', 0):g}.\n"
                "Hint: raise max_iter or tol, or scale the features with sklearn.preprocessing.StandardScaler."
            )
        self.components_ = found.components
        self.objective_ = float(found.objective)
        self.n_iter_ = int(found.n_iter)
        self.gap_ = float(found.gap)
        self.shrinkage_ = float(found.shrinkage)

    def _metric_from(self, samples: Any, constraints: Constraints) -> LearnedMetric:
        """Learn the metric from validated samples and constraints, which may be empty."""
        raise NotImplementedError

    # -- the metric ---------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Map samples to the learned space, where Euclidean distance is the learned distance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            ``X @ components_.T``; sparse if X and the components are.
        """
        check_is_fitted(self, "components_")
        return self._validate(X, reset=False) @ self.components_.T

    def get_mahalanobis_matrix(self) -> Any:
        """Return the matrix M of the metric, d(x, y)² = (x - y)' M (x - y); symmetric and positive semi-definite."""
        check_is_fitted(self, "components_")
        M = self.components_.T @ self.components_
        return M if scipy.sparse.issparse(M) else (M + M.T) / 2

    def pair_distance(self, pairs: Any) -> FloatArray:
        """Return the learned distance of each pair of vectors.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features)

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        check_is_fitted(self, "components_")
        both = self._read_pairs(pairs)
        moved = (both[:, 0] - both[:, 1]) @ self.components_.T
        unit = unit_of(moved)
        moved = in_unit(moved, unit)
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", moved, moved)) * unit)

    def get_metric(self) -> Callable[[Any, Any], float]:
        """Return the metric as a function of two vectors, for methods with a callable ``metric=``; can be pickled."""
        check_is_fitted(self, "components_")
        return partial(_distance, self.components_)

    # -- names of the new features ------------------------------------------------------------------------------

    def _keeps_features(self) -> bool:
        """Whether each new feature is an old one times a factor."""
        return False

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the new features: the old names if the metric only scales features.

        Parameters
        ----------
        input_features : array-like of str, optional

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self, "components_")
        source = OneToOneFeatureMixin if self._keeps_features() else ClassNamePrefixFeaturesOutMixin
        return source.get_feature_names_out(self, input_features)  # type: ignore[no-any-return]


def _distance(components: Any, x: Any, y: Any) -> float:
    """Return the distance of two vectors after the map."""
    return float(np.linalg.norm(components @ (np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64))))
