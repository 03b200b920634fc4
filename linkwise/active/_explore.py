"""Explore and Consolidate: find one neighborhood of every cluster by farthest-first search, then grow them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from linkwise.active._placing_strategy import Placing
from linkwise.active._strategy import Inquiry, Strategy
from linkwise.active._strategy_view import Scene
from linkwise.exceptions import LinkwiseError


def require_clusters(n_clusters: object, who: str) -> int:
    """Read a number of clusters."""
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, int) or n_clusters < 1:
        msg = f"{who}: n_clusters is {n_clusters!r}, expected a whole number, 1 or more."
        raise LinkwiseError(msg)
    return n_clusters


class ExploreConsolidate(Strategy):
    """Explore the data until a neighborhood of each cluster is found, then place further samples by chance.

    Parameters
    ----------
    n_clusters : int
        How many clusters there are.

    Notes
    -----
    Explore goes from sample to sample, each time to the one farthest from all placed so far, and asks about it until it
    belongs to a neighborhood or starts a new one. Once there are ``n_clusters``, Consolidate picks samples by chance
    and asks about the neighborhoods whose means are nearest first.

    **Cost** O(n d) per sample placed. **Guarantee** neighborhoods are pairwise cannot-linked and at most
    ``n_clusters``; exploring ends when samples run out; once all are found, a sample takes at most ``n_clusters - 1``
    questions. **Departure from** [2]_, which says *decreasing* distance and would ask about the least likely
    neighborhood first.

    References
    ----------
    .. [1] S. Basu, A. Banerjee, R. Mooney, "Active Semi-Supervision for Pairwise Constrained Clustering", SDM 2004.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    Examples
    --------
    >>> from linkwise.active import Dialogue, ExploreConsolidate, LabelAnswerer
    >>> X, y = [[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]], [0, 0, 1, 1, 2, 2]
    >>> talk, says = Dialogue(X, strategy=ExploreConsolidate(3), budget=3), LabelAnswerer(y)
    >>> while (query := talk.ask()) is not None:
    ...     talk.tell(query, says(query))
    >>> talk.constraints  # three samples, one of each cluster
    Constraints(6 samples: 3 cannot-links; all hard)
    """

    def __init__(self, n_clusters: int) -> None:
        self.n_clusters = require_clusters(n_clusters, type(self).__name__)

    def begin(self, scene: Scene) -> Inquiry:
        """Start to ask about a scene."""
        return _Explore(scene, self.n_clusters)

    def companion(self) -> Any:
        """Return k-means that weighs pairs, as in the paper."""
        from linkwise.engines import PCKMeans

        return PCKMeans(self.n_clusters, random_state=0)


class MinMax(ExploreConsolidate):
    """Explore as `ExploreConsolidate` does, then always place the sample least like any that was placed.

    Parameters
    ----------
    n_clusters : int
        How many clusters there are.

    Notes
    -----
    The most uncertain sample is the one whose largest similarity to the placed samples is smallest. With any similarity
    that falls with distance, this is the sample farthest from all placed ones.

    **Cost** O(n d) per sample placed. **Guarantee** as `ExploreConsolidate`. **Departure from** [1]_ neighborhoods are
    asked about in the order of their nearest members, so that no width of a kernel has to be chosen.

    References
    ----------
    .. [1] P. K. Mallapragada, R. Jin, A. K. Jain, "Active Query Selection for Semi-supervised Clustering", ICPR 2008.

    Examples
    --------
    >>> from linkwise.active import Dialogue, MinMax
    >>> Dialogue([[0.0], [5.0], [9.0]], strategy=MinMax(2)).ask().text()
    'Do 0 and 2 belong together?'
    """

    def begin(self, scene: Scene) -> Inquiry:
        """Start to ask about a scene."""
        return _MinMax(scene, self.n_clusters)


class _Explore(Placing):
    def pick(self) -> int | None:
        if len(self.skeleton) < (self.n_clusters or 0):
            return self._farthest()
        free = np.flatnonzero(self.free)
        return int(self.scene.rng(1, len(self.scene.known.answers)).choice(free))

    def _farthest(self) -> int:
        return int(np.where(self.free, self.nearness(), -1.0).argmax())

    def order(self, sample: int) -> list[int]:
        X = self.scene.X
        centers = [np.asarray(X[self.scene.known.members(group)].mean(axis=0)).ravel() for group in self.skeleton]
        row = X[[sample]].toarray().ravel() if scipy.sparse.issparse(X) else X[sample]
        if self.scene.metric == "cosine":
            gap = [-float(row @ c) / max(float(np.linalg.norm(c)), 1e-300) for c in centers]
        else:
            gap = [float(((row - c) ** 2).sum()) for c in centers]
        return [self.skeleton[at] for at in np.argsort(gap, kind="stable")]


class _MinMax(_Explore):
    def pick(self) -> int | None:
        return self._farthest()

    def order(self, sample: int) -> list[int]:
        far = self.scene.distances_from(sample)
        gap = [far[self.scene.known.members(group)].min() for group in self.skeleton]
        return [self.skeleton[at] for at in np.argsort(gap, kind="stable")]
