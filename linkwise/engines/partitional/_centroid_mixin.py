"""`CentroidMixin`, shared by all k-means estimators: parameters, fitted attributes, `predict` and `transform`."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from linkwise._compat import Interval, StrOptions, validate_data
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import require_finite
from linkwise.engines import FEATURES, REPORTED, Kept, PartitionMixin, kept_floats, kept_labels
from linkwise.engines.distances import nearest, squared
from linkwise.engines.partitional._init import INITS
from linkwise.engines.partitional._loop import KMeansRun
from linkwise.engines.partitional._race import RACE
from linkwise.problem import Problem


class CentroidMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PartitionMixin):  # type: ignore[misc]
    """Cluster centers: `predict` returns the nearest one for each new row, `transform` the distances to all.

    A subclass implements ``_solve``, which returns a `KMeansRun`.

    Parameters
    ----------
    init : {"k-means++", "neighborhoods"} or array-like of shape (n_clusters, n_features)
        Initial centers: drawn far from each other, the means of must-linked groups, or given.
    n_init : int or "race"
        "race": run six k-means steps from each of eight initializations and continue with the best. A number: run from
        that many initializations and keep the best. If nothing is random, as when seeds start all clusters, there is
        only one run.
    max_iter : int
        Maximum number of iterations of one run.
    tol : float
        Stop when the squared shift of the centers falls below ``tol`` times the mean feature variance.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample: a row of ``cluster_centers_``.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centers of the clusters.
    inertia_ : float
        Sum of squared Euclidean distances of the samples to the centers of their clusters.
    n_iter_ : int
        Iterations of the run that was kept.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "init": [StrOptions(set(INITS)), "array-like"],
        "n_init": [StrOptions({RACE}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    # called after each half-step of the loop, for tests and studies of it
    _watch: ClassVar[Any] = None
    _saved: ClassVar[dict[str, Kept]] = {
        "cluster_centers_": kept_floats(None, FEATURES),
        "labels_": kept_labels("cluster_centers_"),
        "inertia_": REPORTED,
        "n_iter_": REPORTED,
    }

    cluster_centers_: FloatArray
    inertia_: float
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_init: int | str = "race",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _judge(self, problem: Problem) -> None:
        problem.require_feasible()  # whether the sizes are possible is decided when the assignment fails

    def _keep(self, outcome: KMeansRun, problem: Problem) -> None:
        self._keep_labels(outcome.labels, problem)
        self.cluster_centers_ = outcome.centers
        self.inertia_ = outcome.inertia
        self.n_iter_ = outcome.n_iter

    def predict(self, X: Any) -> IntArray:
        """Return the nearest center of each row of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data. Statements apply to the samples of `fit` only, so the prediction for a sample of a cannot-link
            may differ from its label.

        Returns
        -------
        ndarray of intp, shape (n_samples,)
        """
        return nearest(self._read_new(X), self.cluster_centers_)[0]

    def transform(self, X: Any) -> FloatArray:
        """Return the distance of each row of X to each center.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        return np.asarray(np.sqrt(squared(self._read_new(X), self.cluster_centers_)))

    def _read_new(self, X: Any) -> Any:
        check_is_fitted(self)
        samples = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite=False, reset=False
        )
        require_finite(samples, X, who=type(self).__name__)
        return samples

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags
