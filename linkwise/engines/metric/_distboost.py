"""`DistBoost`: a distance boosted from mixtures of Gaussians."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from linkwise._compat import Interval, StrOptions
from linkwise._memory import require_memory
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import warn_user
from linkwise.constraints import LINKS, Constraints
from linkwise.engines import Kept, is_table, kept_count, kept_floats
from linkwise.engines.metric._boosting import Labeled, boost, label_pairs_of
from linkwise.engines.metric._kernels import grow_forest
from linkwise.engines.metric._learner_mixins import DistanceLearner, one_thread
from linkwise.engines.metric._pairs_and_comparisons import apart_pairs, distinct_pairs, together_pairs
from linkwise.engines.mixture import (
    COVARIANCE_TYPES,
    Gaussians,
    Given,
    Settings,
    climb_weighted,
    covariance_shape,
    log_density,
    normalize_rows,
    random_source,
    read_chunklets,
    require_covariance_memory,
)
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem

WHO = "DistBoost"
EM_TOL = 1e-3


class WeakMixture(NamedTuple):
    """A mixture of Gaussians, which gives cluster probabilities for any sample; shapes are those of scikit-learn."""

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


class BoostedDistance(NamedTuple):
    """A distance between 0 and 1: the weighted mean of the distances of cluster probabilities under the mixtures."""

    mixtures: tuple[WeakMixture, ...]
    weights: FloatArray

    def embed(self, X: FloatArray) -> FloatArray:
        """Return vectors, one per row of X, whose city-block distance is the learned one."""
        with one_thread(X.shape[1]):
            parts = [w / 2 * one.memberships(X) for w, one in zip(self.weights, self.mixtures, strict=True)]
        return np.hstack(parts)


def _fault_of_mixtures(mixtures: Any, model: Any) -> str:
    """Say what is wrong with mixtures from a file."""
    if not isinstance(mixtures, tuple) or not mixtures:
        return "is empty"
    for weights, means, cholesky, covariance_type in mixtures:
        if covariance_type not in COVARIANCE_TYPES or not is_table(means, None, model.n_features_in_):
            return "has means of other features, or unknown covariances"
        k, d = means.shape
        fits = is_table(weights, k) and is_table(cholesky, *covariance_shape(covariance_type, k, d))
        if not fits or (weights < 0).any():
            return "has weights or precisions that do not fit the means"
    return ""


class DistBoost(DistanceLearner):
    """Learn a distance by boosting mixtures of Gaussians on pairs of samples.

    The distance is not linear: it can be short along a curved class and long across a gap. `transform` gives each
    sample its cluster probabilities under every mixture, scaled so that city-block distances are the learned ones.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of Gaussians of each mixture, about the number of classes.
    n_rounds : int, default=50
        Maximum number of mixtures; fitting stops after ten in a row that are no better than chance.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        As in scikit-learn's `GaussianMixture`.
    reg_covar : float, default=1e-2
        Added to the variances of each Gaussian, relative to the mean variance of the features.
    max_iter : int, default=20
        Maximum number of EM iterations for each mixture.
    random_state : int, RandomState instance or None, default=None
        Seed for the starts of EM and the draws of statements for each mixture.

    Attributes
    ----------
    mixtures_ : tuple
        The mixtures kept, each with mixing ``weights``, ``means`` and ``precisions_cholesky``.
    weights_ : ndarray of shape (n_mixtures,)
        Weights of the mixtures; they add up to 1.
    losses_ : ndarray of shape (n_iterations + 1,)
        Mean exponential loss over the statements, before the first and after every round; empty without statements.
    n_iter_ : int
        Number of mixtures fitted.

    Notes
    -----
    A hypothesis is a similarity of two samples, from -1 to 1: one minus the summed differences of their cluster
    probabilities, which is 1 if these are equal and -1 if they do not overlap. Confidence-rated boosting [2]_ gives it
    the weight that lowers the exponential loss over the labeled pairs most, by a line search. The weights of the pairs
    it got wrong then rise, while those of unlabeled pairs fall as if always right; the weight of a sample is the sum
    over its pairs, and the next mixture is fitted with these weights. The distance is the weighted mean of
    ``(1 - similarity) / 2``. Without statements all mixtures have equal weights.

    **Cost** O(n d² n_clusters) for each of up to ``max_iter`` iterations in each of ``n_rounds``; labeled pairs are
    processed once a round, unlabeled ones never, as they all have the same weight. **Guarantee** a pseudo-metric with
    values in [0, 1], 0 for samples with the same features; the exponential loss never rises. A mixture receives
    statements drawn by weight that close no cycle, so contradictions cause no errors. **Departure from** [1]_ the paper
    was not available; its description here comes from the tutorial [3]_ and from memory. From the tutorial: the rounds,
    the weak learner, weights on pairs and samples, and the weighted sum of weak distances. From memory: a hypothesis of
    the paper is the product of the probabilities of the two most probable clusters, positive if they are the same,
    which equals ours where clusters are certain, but is not 0 for a sample and itself; weights of unlabeled pairs fall
    with exp(-weight); hypotheses no better than chance are dropped. Added here: the step is smoothed by half a pair, so
    that a mixture without error does not dominate; each mixture receives a forest of the statements rather than all,
    so that their weights matter and inference is exact; mixtures start from random samples; weights add up to 1.

    References
    ----------
    .. [1] T. Hertz, A. Bar-Hillel, D. Weinshall, "Boosting margin based distance functions for clustering", ICML 2004.
    .. [2] R. E. Schapire, Y. Singer, "Improved boosting algorithms using confidence-rated predictions", Machine
       Learning 37, 1999.
    .. [3] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, 2006.

    Examples
    --------
    A ring around a cluster, which no linear metric can separate:

    >>> import numpy as np
    >>> from linkwise import ConstrainedAgglomerative
    >>> from linkwise.engines import DistBoost
    >>> from linkwise.sources import label_pairs
    >>> rng = np.random.default_rng(0)
    >>> y, angle = np.repeat([0, 1], 60), rng.uniform(0, 2 * np.pi, 120)
    >>> radius = np.where(y, 4.0, 0.0) + 0.5 * rng.normal(size=120)
    >>> X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    >>> said = label_pairs(y, 60, random_state=0)
    >>> learned = DistBoost(random_state=0).fit(X, constraints=said)
    >>> D = learned.distance_matrix(X)
    >>> bool(D[y == 0][:, y == 0].max() < D[y == 0][:, y == 1].min())
    True

    The distances as a precomputed matrix, or as city-block distances of vectors:

    >>> tree = ConstrainedAgglomerative(2, linkage="average", metric="precomputed").fit(D, constraints=said)
    >>> same = ConstrainedAgglomerative(2, linkage="average", metric="cityblock")
    >>> bool((same.fit(learned.transform(X), constraints=said).labels_ == tree.labels_).all())
    True
    """

    understands = LINKS
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "reg_covar": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _saved: ClassVar[dict[str, Kept]] = {
        "mixtures_": Kept(_fault_of_mixtures, required=True, records=(WeakMixture,)),
        "weights_": kept_floats(lambda model: (len(model.mixtures_),), least=0, total=1),
        "losses_": kept_floats(None),
        "n_iter_": kept_count(1),
    }

    mixtures_: tuple[WeakMixture, ...]
    weights_: FloatArray
    losses_: FloatArray
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_rounds: int = 50,
        covariance_type: str = "full",
        reg_covar: float = 1e-2,
        max_iter: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_rounds = n_rounds
        self.covariance_type = covariance_type
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.random_state = random_state

    def _learn_distance(self, samples: Any, constraints: Constraints) -> None:
        n, k = len(samples), self.n_clusters
        if k > n:
            msg = f"{WHO} got n_clusters={k}, but X has only n_samples={n}.\nHint: n_clusters={n} or less."
            raise LinkwiseError(msg)
        require_covariance_memory(k, samples.shape[1], self.covariance_type, WHO)
        apart = distinct_pairs(samples, apart_pairs(constraints), who=WHO)
        if k == 1 and len(apart.first):
            msg = f"{WHO} got n_clusters=1, but there are cannot-links.\nHint: n_clusters=2 or more."
            raise LinkwiseError(msg)
        pairs = label_pairs_of(together_pairs(constraints), apart)
        unit = float(samples.var(axis=0).mean()) or 1.0
        random = random_source(self.random_state)
        settings = Settings(self.covariance_type, EM_TOL, self.reg_covar * unit, self.max_iter, 1, "k-means++", random)
        fitted: list[WeakMixture] = []

        def learn(sample_weight: FloatArray, pair_weight: FloatArray) -> FloatArray:
            fitted.append(fit_weak_mixture(samples, pairs, pair_weight, sample_weight, k, settings))
            return fitted[-1].memberships(samples)

        with one_thread(samples.shape[1]):
            if len(pairs.label):
                kept, step, losses = boost(n, pairs, learn, self.n_rounds)
            else:
                for _ in range(self.n_rounds):
                    learn(np.ones(n), np.empty(0))
                kept, step, losses = np.arange(self.n_rounds), np.ones(self.n_rounds), np.empty(0)
        if not len(kept):
            warn_user(
                f"{WHO}: none of {len(fitted)} mixtures agrees with the statements more often than not; all get equal "
                "weights, as without statements.\nHint: try another n_clusters or covariance_type, or other features."
            )
            kept, step = np.arange(len(fitted)), np.ones(len(fitted))
        self.mixtures_ = tuple(fitted[i] for i in kept)
        self.weights_, self.losses_, self.n_iter_ = step / step.sum(), losses, len(fitted)

    def _distance(self) -> BoostedDistance:
        check_is_fitted(self, "mixtures_")
        return BoostedDistance(self.mixtures_, self.weights_)

    def transform(self, X: Any) -> Any:
        """Give each sample its cluster probabilities under every mixture, scaled by the mixture's weight.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            City-block distances between its rows are the learned distances (``metric="cityblock"``); Euclidean ones
            order most pairs in the same way, so K-Means can follow as well.
        """
        found = self._distance()
        return found.embed(self._validate(X, reset=False))

    def pair_distance(self, pairs: Any) -> FloatArray:
        """Return the learned distance of each pair of vectors, between 0 and 1.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features)

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        found = self._distance()
        both = self._read_pairs(pairs)
        apart = np.abs(found.embed(both[:, 0]) - found.embed(both[:, 1])).sum(axis=1)
        return np.asarray(np.minimum(apart, 1.0))

    def distance_matrix(self, X: Any) -> FloatArray:
        """Return the learned distances between all rows of X, for methods that take ``metric="precomputed"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_samples)
            Symmetric, between 0 and 1, with zeros on the diagonal.

        Raises
        ------
        MemoryLimitError
            The matrix needs more than the available memory, at 8 bytes per pair.
        """
        space = self.transform(X)
        space = np.asarray(space.to_numpy() if hasattr(space, "to_numpy") else space)
        n = len(space)
        require_memory(
            8 * n * n,
            f"{WHO}: the distances between {n:,} samples",
            'pass `transform(X)` to a method with metric="cityblock", or pass fewer rows.',
        )
        D = cdist(space, space, "cityblock")
        return np.asarray(np.minimum(D, 1.0, out=D))

    def get_metric(self) -> Callable[[Any, Any], float]:
        """Return the distance as a function of two vectors, for methods with a callable ``metric=``; it can be pickled.

        Every call evaluates every mixture: for all pairs of many samples `distance_matrix` is hundreds of times faster.
        """
        return partial(_distance_of, self._distance())

    @property
    def _n_features_out(self) -> int:
        return sum(len(one.weights) for one in self.mixtures_)


def _distance_of(found: BoostedDistance, x: Any, y: Any) -> float:
    """Return the distance of two vectors."""
    one, other = found.embed(np.array([x, y], dtype=np.float64))
    return min(float(np.abs(one - other).sum()), 1.0)
