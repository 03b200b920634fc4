"""Strategies that know the number of clusters: Explore and Consolidate, min-max, and uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from linkwise._typing import FloatArray
from linkwise._validation import read_count
from linkwise.active._placing_strategy import Placing
from linkwise.active._strategy import Inquiry, Strategy
from linkwise.active._strategy_view import Scene

N_TREES = 25
MOST = 1000  # samples that the trees are grown on; enough for a similarity, and the next question comes at once


class _KnownNumber(Strategy):
    """A strategy for a given number of clusters; its companion is k-means that weighs pairs, as in the papers."""

    def __init__(self, n_clusters: int) -> None:
        self.n_clusters = read_count(n_clusters, "n_clusters", type(self).__name__, low=1)

    def companion(self) -> Any:
        """Return k-means that weighs pairs."""
        from linkwise.engines import PCKMeans

        return PCKMeans(self.n_clusters, random_state=0)


class ExploreConsolidate(_KnownNumber):
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

    def begin(self, scene: Scene) -> Inquiry:
        """Start to ask about a scene."""
        return _Explore(scene, self.n_clusters)


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


class Uncertainty(_KnownNumber):
    """Place the sample whose neighborhood is most uncertain, per question it is expected to take.

    Parameters
    ----------
    n_clusters : int
        How many clusters the companion makes; neighborhoods may become more.

    Notes
    -----
    Known as normalized point-based uncertainty. Trees that tell the current clusters apart say how similar samples are:
    the share of trees in which two reach the same leaf. The mean similarity to the members of a neighborhood, scaled
    to sum 1 over neighborhoods, is the probability p of belonging there. A sample takes on average sum i p_(i)
    questions if neighborhoods are asked about in falling order of p; the one with the most entropy of p per question
    is placed next.

    **Cost** one fit of the dialogue's estimator and one of 25 trees on at most 1,000 samples per sample placed.
    **Guarantee** none beyond those of every strategy. **Departure from** [1]_ extremely randomized trees take the place
    of a random forest, which grows more slowly, and large data are sampled to grow them.

    References
    ----------
    .. [1] S. Xiong, J. Azimi, X. Z. Fern, "Active Learning of Constraints for Semi-Supervised Clustering", IEEE Trans.
       Knowledge and Data Engineering 26 (2014).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from linkwise.active import Dialogue, LabelAnswerer, Uncertainty
    >>> X, y = load_iris(return_X_y=True)
    >>> talk, says = Dialogue(X, strategy=Uncertainty(3), budget=20), LabelAnswerer(y)
    >>> while (query := talk.ask()) is not None:
    ...     talk.tell(query, says(query))
    >>> talk.n_asked, talk.fit().n_clusters_
    (20, 3)
    """

    def begin(self, scene: Scene) -> Inquiry:
        """Start to ask about a scene."""
        return _Uncertain(scene, self.n_clusters)


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


class _Uncertain(Placing):
    def __init__(self, scene: Scene, n_labels: int) -> None:
        super().__init__(scene)
        self._n_labels = n_labels
        self._held: tuple[int, FloatArray] | None = None

    def pick(self) -> int | None:
        p = -np.sort(-self._belief(), axis=1)
        entropy = -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=1)
        questions = p @ np.minimum(np.arange(p.shape[1]) + 1.0, max(p.shape[1] - 1.0, 1.0))
        score = np.where(self.free, entropy / questions, -1.0)
        if score.max() <= 0.0:  # all are certain, as with one neighborhood: take any that is free
            return int(self.scene.rng(2, len(self.scene.known.answers)).choice(np.flatnonzero(self.free)))
        return int(score.argmax())

    def order(self, sample: int) -> list[int]:
        return [self.skeleton[at] for at in np.argsort(-self._belief()[sample], kind="stable")]

    def _belief(self) -> FloatArray:
        """For every sample, the probability of each neighborhood of the skeleton."""
        at = len(self.scene.known.answers)
        if self._held is None or self._held[0] != at:
            self._held = at, self._compute()
        return self._held[1]

    def _compute(self) -> FloatArray:
        if self.scene.n_samples <= self._n_labels:  # each may be a cluster of its own
            return np.full((self.scene.n_samples, len(self.skeleton)), 1.0 / len(self.skeleton))
        leaf = self._leaves()
        n, trees = leaf.shape
        start = np.concatenate([[0], np.cumsum(leaf.max(axis=0) + 1)])
        leaf = leaf + start[:-1]
        same = scipy.sparse.csr_array(
            (np.ones(n * trees), leaf.ravel(), np.arange(0, n * trees + 1, trees)), shape=(n, int(start[-1]))
        )
        means = np.stack(
            [same[self.scene.known.members(group)].mean(axis=0) for group in self.skeleton]  # share of members per leaf
        )
        similarity = same @ means.T + 1e-9
        return np.asarray(similarity / similarity.sum(axis=1, keepdims=True))

    def _leaves(self) -> npt.NDArray[np.int64]:
        """The leaf each sample reaches in each tree."""
        from sklearn.ensemble import ExtraTreesClassifier

        labels, X = self.scene.labels(), self.scene.X
        rng = self.scene.rng(3, len(self.scene.known.answers))
        rows = rng.choice(len(labels), MOST, replace=False) if len(labels) > MOST else np.arange(len(labels))
        forest = ExtraTreesClassifier(N_TREES, random_state=int(rng.integers(2**31)))
        forest.fit(X[rows], labels[rows])
        return np.asarray(forest.apply(X), dtype=np.int64)
