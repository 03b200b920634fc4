"""What every estimator that weighs soft statements around centres shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise._compat import StrOptions
from linkwise.constraints import Constraints, Kind
from linkwise.engines.partitional._centroids import LINKS, CentroidMixin
from linkwise.engines.partitional._field import INFERENCES
from linkwise.engines.partitional._learned import Learned, ridge_of
from linkwise.engines.partitional._measures import Measure, State, make_measure
from linkwise.engines.partitional._soft import SoftRun, Spread
from linkwise.problem import Problem

__all__ = ["SoftMixin"]

FloatArray = npt.NDArray[np.float64]


class SoftMixin(CentroidMixin):
    """Hard statements hold, soft ones are weighed; new rows go to the centre that costs them least.

    A subclass names its function, whose arguments are its parameters, and says in ``_spread`` if it has a distortion or
    a metric.
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    weighs: ClassVar[bool] = True
    _explains_itself: ClassVar[bool] = True
    _dense_only: ClassVar[str] = (
        "a metric is learned from dense rows only: reduce the features first, as with "
        "sklearn.decomposition.TruncatedSVD; PCKMeans learns none and takes sparse X."
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CentroidMixin._parameter_constraints,
        "inference": [StrOptions(set(INFERENCES))],
    }

    _function: ClassVar[Callable[..., SoftRun]]

    objective_: float
    objectives_: FloatArray
    best_assignment_: bool

    def _solve(self, problem: Problem) -> SoftRun:
        return type(self)._function(problem.X, problem.constraints, **self.get_params(deep=False))

    def _spread(self) -> Spread:
        return Spread()

    def _metric(self) -> str:
        return "euclidean"  # of rules, which no method here knows; what is learned is not meant

    def _keep(self, outcome: SoftRun, samples: Any, constraints: Constraints) -> None:  # type: ignore[override]
        self._keep_labels(outcome.labels, samples, constraints)
        self.cluster_centers_ = outcome.centers
        self.inertia_ = outcome.inertia
        self.objective_ = outcome.objective
        self.objectives_ = np.array(outcome.objectives)
        self.n_iter_ = outcome.n_iter
        self.best_assignment_ = outcome.best_assignment
        self.__dict__.pop("metric_", None)
        if self._spread().metric != "none":
            self.metric_ = outcome.metric
            self._ridge = ridge_of(
                samples, full=self._spread().metric == "full"
            )  # what the cost of a new row needs besides centre and metric

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the centre that costs each row of X least.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data. Nothing is known about them: statements bind the samples of `fit` only.

        Returns
        -------
        ndarray of intp, shape (n_samples,)
        """
        measure, state = self._measure_of(self._read_new(X))
        return measure.nearest(state, measure.rows)[0]

    def transform(self, X: Any) -> FloatArray:
        """Return the distance of each row of X to each centre.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Euclidean distances, under the learned metric of the centre if there is one; another distortion itself.
        """
        measure, state = self._measure_of(self._read_new(X))
        return measure.distances(state, measure.rows)

    def _measure_of(self, rows: Any) -> tuple[Measure, State]:
        """Return what measures new rows, and the fitted state."""
        spread, k, who = self._spread(), len(self.cluster_centers_), type(self).__name__
        if spread.metric != "none":
            learned = Learned(rows, k, full=spread.metric == "full", per_cluster=spread.per_cluster, far=False)
            learned.ridge = self._ridge
            matrix = np.asarray(self.metric_)
            return learned, State(self.cluster_centers_, learned.make(matrix if spread.per_cluster else matrix[None]))
        return make_measure(spread.distortion, rows, k, who), State(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._spread().metric == "none"
        return tags
