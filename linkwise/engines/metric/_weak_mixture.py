"""The weak learner of DistBoost: a mixture of Gaussians fitted under a random subset of the statements."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints
from linkwise.engines.metric._boosting import Labeled
from linkwise.engines.metric._kernels import grow_forest
from linkwise.engines.mixture import (
    Gaussians,
    Given,
    Settings,
    climb_weighted,
    log_density,
    normalize_rows,
    read_chunklets,
)
from linkwise.problem import Problem

WHO = "DistBoost"


class WeakMixture(NamedTuple):
    """A mixture of Gaussians, which gives cluster probabilities for any sample.

    Attributes
    ----------
    weights : ndarray of shape (n_clusters,)
        Mixing weights.
    means : ndarray of shape (n_clusters, n_features)
    precisions_cholesky : ndarray
        Shaped as in scikit-learn's `GaussianMixture` for the covariance type.
    covariance_type : str
    """

    weights: FloatArray
    means: FloatArray
    precisions_cholesky: FloatArray
    covariance_type: str

    def memberships(self, X: FloatArray) -> FloatArray:
        """Return the probability of every cluster for every row of X."""
        center = self.means.mean(axis=0)  # so that an offset of the data loses no digits
        gaussians = Gaussians(self.means - center, np.empty(0), self.precisions_cholesky)
        joint = log_density(X - center, gaussians, self.covariance_type) + np.log(self.weights)
        chance = np.empty_like(joint)
        normalize_rows(joint, chance, np.empty(len(joint)))
        return chance


def fit_weak_mixture(
    X: FloatArray, pairs: Labeled, pair_weight: FloatArray, sample_weight: FloatArray, k: int, settings: Settings
) -> WeakMixture:
    """Fit a mixture to weighted samples and to statements drawn by weight; advances the random source."""
    n, random = len(X), settings.random_state
    chosen = draw_forest(n, pairs, pair_weight, random)
    ends = np.column_stack([pairs.first, pairs.second])
    near, far = chosen[pairs.label[chosen] > 0], chosen[pairs.label[chosen] < 0]
    chosen_only = Constraints.build(n, must_link=ends[near], cannot_link=ends[far])
    # a chain of two chunklets needs k x k states, whatever its length
    graph = read_chunklets(Problem(X, chosen_only, n_clusters=k, who=WHO), k * k)
    k = min(k, graph.n)
    weights, gaussians = climb_weighted(X, Given(graph, k, "chunklets", k * k, WHO), k, settings, sample_weight)
    # a copy in C order, as a pickled one will be: the last digits of products depend on it
    return WeakMixture(weights, gaussians.means, np.ascontiguousarray(gaussians.cholesky), settings.covariance_type)


def draw_forest(n: int, pairs: Labeled, weight: FloatArray, random: np.random.RandomState) -> IntArray:
    """Draw pairs by weight with replacement, as many as there are, and return those that close no cycle.

    Statements without a cycle never contradict each other, two clusters are enough for them, and exact inference
    processes one link at a time. Heavy pairs tend to come first.
    """
    times = random.multinomial(len(weight), weight / weight.sum())
    drawn = np.flatnonzero(times)
    order = drawn[np.argsort(random.exponential(size=len(drawn)) / times[drawn], kind="stable")]
    ends = np.column_stack([pairs.first[order], pairs.second[order]]).astype(np.int64)
    return np.sort(order[grow_forest(n, np.ascontiguousarray(ends))])
