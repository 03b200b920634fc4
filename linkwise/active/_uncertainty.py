"""The uncertainty strategy: place the most informative sample, per question that this takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from linkwise._typing import FloatArray
from linkwise.active._explore import require_clusters
from linkwise.active._placing_strategy import Placing
from linkwise.active._strategy import Inquiry, Strategy
from linkwise.active._strategy_view import Scene

N_TREES = 25
MOST = 1000  # samples that the trees are grown on; enough for a similarity, and the next question comes at once


class Uncertainty(Strategy):
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

    def __init__(self, n_clusters: int) -> None:
        self.n_clusters = require_clusters(n_clusters, type(self).__name__)

    def begin(self, scene: Scene) -> Inquiry:
        """Start to ask about a scene."""
        return _Uncertain(scene, self.n_clusters)

    def companion(self) -> Any:
        """Return k-means that weighs pairs."""
        from linkwise.engines import PCKMeans

        return PCKMeans(self.n_clusters, random_state=0)


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
