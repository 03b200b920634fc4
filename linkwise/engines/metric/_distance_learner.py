"""What every learned distance is: a transformer that was told which samples belong together."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from threadpoolctl import ThreadpoolController

from linkwise.constraints import Constraints
from linkwise.engines._base import ConstrainedEstimator
from linkwise.engines.metric._statements import warn_of_contradictions
from linkwise.exceptions import LinkwiseError

__all__ = ["DistanceLearner", "one_thread"]

FloatArray = npt.NDArray[np.float64]

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
