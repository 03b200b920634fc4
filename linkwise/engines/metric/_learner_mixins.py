"""Base classes of learned distances: any distance, and linear maps after which distances are Euclidean."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from linkwise._typing import FloatArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints
from linkwise.engines import FEATURES, REPORTED, ConstrainedEstimator, Kept, kept_floats
from linkwise.engines.distances import in_unit, unit_of
from linkwise.engines.metric._pairs_and_comparisons import warn_of_contradictions
from linkwise.exceptions import LinkwiseError

FEW_FEATURES = 300


class DistanceLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ConstrainedEstimator):  # type: ignore[misc]
    """Base of all that learn a distance from statements: owns `fit`; a subclass writes ``_learn_distance``.

    A distance learner is a transformer: it moves the samples so that plain distances, Euclidean or city-block, say what
    the statements say, and any clusterer can follow it in a Pipeline. The same constraints may go to both.

    Notes
    -----
    All statements are wishes here, for a distance cannot promise clusters: each counts with its weight, and a hard one
    (weight inf) counts as much as the heaviest soft one, at least 1. Statements that contradict each other all count;
    a warning tells of them.

    Examples
    --------
    >>> from linkwise.engines import DistanceLearner, DistBoost, RCA
    >>> issubclass(RCA, DistanceLearner), issubclass(DistBoost, DistanceLearner)
    (True, True)
    """

    constraints_: Constraints
    n_features_in_: int

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Learn the distance from what was said about the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data. Not modified.
        y : None
            Constraints passed here are used as ``constraints``; anything else is ignored (for labels see
            `Constraints.from_labels`).
        constraints : Constraints, optional
            What is known; every statement is a wish with its weight, and a hard one weighs as much as the heaviest
            soft one, at least 1.

        Returns
        -------
        self

        Raises
        ------
        UnsupportedConstraintError
            The method does not know a kind of statement, or there are rules.
        """
        return self._fit(X, y, constraints)

    def _learn(self, samples: Any, constraints: Constraints) -> None:
        warn_of_contradictions(constraints, who=type(self).__name__)
        self._learn_distance(samples, constraints)
        self.constraints_ = constraints

    def _learn_distance(self, samples: Any, constraints: Constraints) -> None:
        """Set the fitted attributes from validated samples; nothing may have been said."""
        raise NotImplementedError

    def _takes_sparse(self) -> bool:
        return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        return tags

    # -- the distance -------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Move samples into the learned space."""
        raise NotImplementedError

    def pair_distance(self, pairs: Any) -> FloatArray:
        """Return the learned distance of each pair of vectors, an array of shape (n_pairs, 2, n_features)."""
        raise NotImplementedError

    def score_pairs(self, pairs: Any) -> FloatArray:
        """Return how alike the two of each pair are: the negative learned distance, so larger means more alike.

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
    """Keep small matrices to one thread: on a busy machine, threads that wait for each other cost up to 20 times more.

    It also makes results the same whatever number of threads there is.
    """
    return _linear_algebra().limit(limits=1) if n_features <= FEW_FEATURES else nullcontext()


class LearnedMetric(NamedTuple):
    """A linear map after which Euclidean distance is the learned one, and how well it was found.

    Attributes
    ----------
    components : ndarray or sparse array of shape (n_components, n_features)
        The map L: ``X @ L.T`` is the new space, and d(x, y) = ‖L(x - y)‖.
    objective : float
        What the method optimizes, at this metric.
    n_iter : int
        Rounds of the solver.
    gap : float
        How far the objective can be from the best one at most, relative to it: a proof of optimality found beside the
        solution. 0 for closed forms.
    shrinkage : float
        How much of the scatter of the must-links was replaced by a round one because it said nothing about some
        directions.
    """

    components: Any
    objective: float = 0.0
    n_iter: int = 1
    gap: float = 0.0
    shrinkage: float = 0.0

    def of_unit(self, unit: float) -> LearnedMetric:
        """The same metric for data in their own units, if this one was learned from data measured in ``unit``."""
        return self if unit == 1.0 else self._replace(components=self.components / unit)


def identity_metric(X: Any) -> LearnedMetric:
    """Return Euclid's metric, which is learned from no statements."""
    d = X.shape[1]
    return LearnedMetric(scipy.sparse.csr_array(scipy.sparse.identity(d)) if scipy.sparse.issparse(X) else np.eye(d))


class MetricLearner(DistanceLearner):
    """Base of the linear metric learners: a subclass writes ``_metric_from`` and says what it understands.

    A linear metric learner moves the samples so that plain Euclidean distances say what the statements say, and any
    clusterer can follow it in a Pipeline.

    Notes
    -----
    Without statements the metric stays Euclidean (``components_`` is the identity), without a warning, as a clusterer
    without statements is the plain clusterer.

    Examples
    --------
    >>> from linkwise.engines import MetricLearner, RCA
    >>> issubclass(RCA, MetricLearner), sorted(kind.word for kind in RCA.understands)
    (True, ['must_link', 'together'])
    """

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
                f"the optimum, where tol={getattr(self, 'tol', 0):g} was asked for.\n"
                "Hint: raise max_iter, scale the features (sklearn.preprocessing.StandardScaler), or accept a larger "
                "tol."
            )
        self.components_ = found.components
        self.objective_ = float(found.objective)
        self.n_iter_ = int(found.n_iter)
        self.gap_ = float(found.gap)
        self.shrinkage_ = float(found.shrinkage)

    def _metric_from(self, samples: Any, constraints: Constraints) -> LearnedMetric:
        """Learn from validated samples; nothing may have been said."""
        raise NotImplementedError

    # -- the metric ---------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Move samples into the learned space, where Euclidean distance is the learned one.

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
        """Return the metric as a function of two vectors, for whoever takes ``metric=`` a callable; it pickles."""
        check_is_fitted(self, "components_")
        return partial(_distance, self.components_)

    # -- names of the new features ------------------------------------------------------------------------------

    def _keeps_features(self) -> bool:
        """Whether each new feature is an old one, only stretched."""
        return False

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the new features: the old ones if the metric only weighs features.

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
    """Length of the difference of two vectors after the map."""
    return float(np.linalg.norm(components @ (np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64))))
