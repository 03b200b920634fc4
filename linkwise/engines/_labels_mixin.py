"""`PartitionMixin`, shared by all estimators that return labels without a tree: k-means, mixtures, graphs."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from linkwise._compat import Interval, InvalidParameterError
from linkwise._typing import IntArray
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem


class PartitionMixin:
    """A fixed number of clusters, and labels that are certified before they are stored.

    A subclass overrides `_keep` to store its other results, and calls `_keep_labels`.

    Parameters
    ----------
    n_clusters : int
        Number of clusters; none of them is empty.
    random_state : int, RandomState instance or None
        Seed for initialization and tie-breaking.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters found: always ``n_clusters``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
    }

    n_clusters: int

    def _read(self, X: Any) -> Any:
        """Validate X, and refuse more clusters than samples before any work is done."""
        name = type(self).__name__
        if isinstance(self.n_clusters, (bool, np.bool_)):
            msg = f"The 'n_clusters' parameter of {name} must be an int. Got {self.n_clusters!r} instead."
            raise InvalidParameterError(msg)
        samples = super()._read(X)  # type: ignore[misc]
        if self.n_clusters > samples.shape[0]:
            msg = (
                f"{name} got n_clusters={self.n_clusters}, but X has only n_samples={samples.shape[0]}.\n"
                f"Hint: n_clusters={samples.shape[0]} or less."
            )
            raise LinkwiseError(msg)
        return samples

    def _keep_labels(self, labels: IntArray, problem: Problem) -> None:
        self.certificate_ = self._certify(labels, problem)  # type: ignore[attr-defined]
        self.labels_ = labels
        self.n_clusters_ = len(np.unique(labels))
