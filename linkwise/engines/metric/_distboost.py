"""DistBoost: a distance boosted from mixtures of Gaussians, each of which says who shares a cluster."""

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
from linkwise._typing import FloatArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints, Kind
from linkwise.engines import Kept, is_table, kept_count, kept_floats
from linkwise.engines.metric._boosting import boost, label_pairs_of
from linkwise.engines.metric._learner_mixins import DistanceLearner, one_thread
from linkwise.engines.metric._pairs_and_comparisons import apart_pairs, distinct_pairs, together_pairs
from linkwise.engines.metric._weak_mixture import WeakMixture, fit_weak_mixture
from linkwise.engines.mixture import (
    COVARIANCE_TYPES,
    Settings,
    covariance_shape,
    random_source,
    require_covariance_memory,
)
from linkwise.exceptions import LinkwiseError

WHO = "DistBoost"
EM_TOL = 1e-3


class BoostedDistance(NamedTuple):
    """A distance between 0 and 1: how far the mixtures, each with its weight, hold two samples to be apart.

    Attributes
    ----------
    mixtures : tuple of WeakMixture
        The hypotheses, each of which says how probable every cluster is for a sample.
    weights : ndarray of shape (n_mixtures,)
        How much each counts; they add up to 1.
    losses : ndarray of shape (n_rounds + 1,)
        Mean exponential loss over the statements, before the first and after every round; never rises. Empty if
        nothing was said.
    n_rejected : int
        Hypotheses that were right no more often than wrong and are not among the mixtures.
    """

    mixtures: tuple[WeakMixture, ...]
    weights: FloatArray
    losses: FloatArray
    n_rejected: int

    def embed(self, X: FloatArray) -> FloatArray:
        """Return vectors, one per row of X, whose city-block distance is the learned one."""
        with one_thread(X.shape[1]):
            parts = [w / 2 * one.memberships(X) for w, one in zip(self.weights, self.mixtures, strict=True)]
        return np.hstack(parts)


def distboost(
    samples: FloatArray,
    constraints: Constraints,
    n_clusters: int = 2,
    *,
    n_rounds: int = 50,
    covariance_type: str = "full",
    reg_covar: float = 1e-2,
    max_iter: int = 20,
    random_state: Any = None,
) -> BoostedDistance:
    """Learn the distance of `DistBoost`."""
    random = random_source(random_state)
    unit = float(samples.var(axis=0).mean()) or 1.0
    settings = Settings(covariance_type, EM_TOL, reg_covar * unit, max_iter, 1, "k-means++", random)
    n = len(samples)
    if n_clusters > n:
        msg = (
            f"{WHO} was asked for n_clusters={n_clusters}, but X has only n_samples={n}.\nHint: n_clusters={n} or less."
        )
        raise LinkwiseError(msg)
    require_covariance_memory(n_clusters, samples.shape[1], covariance_type, WHO)
    apart = distinct_pairs(samples, apart_pairs(constraints), who=WHO)
    if n_clusters == 1 and len(apart.first):
        msg = f"{WHO}: n_clusters=1 keeps nothing apart, but there are cannot-links.\nHint: n_clusters=2 or more."
        raise LinkwiseError(msg)
    pairs = label_pairs_of(together_pairs(constraints), apart)
    fitted: list[WeakMixture] = []

    def learn(sample_weight: FloatArray, pair_weight: FloatArray) -> FloatArray:
        fitted.append(fit_weak_mixture(samples, pairs, pair_weight, sample_weight, n_clusters, settings))
        return fitted[-1].memberships(samples)

    with one_thread(samples.shape[1]):
        if not len(pairs.label):
            for _ in range(n_rounds):
                learn(np.ones(len(samples)), np.empty(0))
            return BoostedDistance(tuple(fitted), np.full(n_rounds, 1.0 / n_rounds), np.empty(0), 0)
        found = boost(len(samples), pairs, learn, n_rounds)
    if not len(found.kept):
        warn_user(
            f"{WHO}: none of {len(fitted)} mixtures agrees with the statements more often than not; all count the "
            "same, as if nothing had been said.\nHint: another n_clusters or covariance_type, or other features."
        )
        return BoostedDistance(tuple(fitted), np.full(len(fitted), 1.0 / len(fitted)), found.losses, len(fitted))
    kept = tuple(fitted[i] for i in found.kept)
    return BoostedDistance(kept, found.step / found.step.sum(), found.losses, len(fitted) - len(kept))


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

    It is no linear map: the distance may be short along a bent class and long across a gap. `transform` gives each
    sample its cluster probabilities under every mixture, scaled so that city-block distances are the learned ones.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of Gaussians of each mixture, about as many as there are classes.
    n_rounds : int, default=50
        Most mixtures to fit; fewer if ten in a row are no better than chance.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        As in scikit-learn's `GaussianMixture`.
    reg_covar : float, default=1e-2
        Share of the mean variance of the features that is added to the variances of each Gaussian.
    max_iter : int, default=20
        Most EM iterations for each mixture.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts of EM and of the statements each mixture hears.

    Attributes
    ----------
    mixtures_ : tuple
        The mixtures that count: mixing ``weights``, ``means`` and ``precisions_cholesky`` of each.
    weights_ : ndarray of shape (n_mixtures,)
        How much each counts; they add up to 1.
    losses_ : ndarray of shape (n_iter_ + 1,)
        Mean exponential loss over the statements, before the first and after every round; empty without statements.
    n_iter_ : int
        How many mixtures were fitted.
    constraints_ : Constraints
        What was said.

    Notes
    -----
    A hypothesis says how alike two samples are, from -1 to 1: one less the summed differences of their cluster
    probabilities, which is 1 where these are the same and -1 where they have nothing in common. Confidence-rated
    boosting [2]_ gives it the weight that lowers the exponential loss over the labeled pairs most, by a line search.
    Weights then move to the pairs it got wrong, while unlabeled pairs fade as if always right; a sample weighs what
    its pairs weigh, and the next mixture is fitted with these weights. The distance is the weighted mean of
    ``(1 - alike) / 2``. Without statements all mixtures count the same.

    **Cost** O(n d² n_clusters) for each of up to ``max_iter`` iterations in each of ``n_rounds``; labeled pairs are
    looked at once a round, unlabeled ones never, as they all weigh the same. **Guarantee** a pseudo-metric with
    values in [0, 1], 0 for samples with the same features; the exponential loss never rises. A mixture hears statements
    drawn by weight that close no cycle, so contradictions harm nobody. **Departure from** [1]_ the paper was not at
    hand; what is known of it here comes from the tutorial [3]_ and from memory. From the tutorial: the rounds, the
    weak learner, weights on pairs and samples, and the weighted sum of weak distances. From memory: a hypothesis of the
    paper is the product of the probabilities of the two most probable clusters, its sign telling whether they are the
    same, which agrees with ours where clusters are certain, but is not 0 for a sample and itself; unlabeled pairs
    fading with exp(-weight); dropping hypotheses no better than chance. Ours: the step is smoothed by half a pair, so
    that a faultless mixture does not silence the others; each mixture hears a forest of the statements rather than all,
    which makes their weights count and inference exact; mixtures start from random samples; weights add up to 1.

    References
    ----------
    .. [1] T. Hertz, A. Bar-Hillel, D. Weinshall, "Boosting margin based distance functions for clustering", ICML 2004.
    .. [2] R. E. Schapire, Y. Singer, "Improved boosting algorithms using confidence-rated predictions", Machine
       Learning 37, 1999.
    .. [3] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, 2006.

    Examples
    --------
    A ring around a heap, which no linear metric can part:

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

    As a matrix for whoever takes one, or as vectors compared city-block wise:

    >>> tree = ConstrainedAgglomerative(2, linkage="average", metric="precomputed").fit(D, constraints=said)
    >>> same = ConstrainedAgglomerative(2, linkage="average", metric="cityblock")
    >>> bool((same.fit(learned.transform(X), constraints=said).labels_ == tree.labels_).all())
    True
    """

    understands = frozenset({Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TOGETHER, Kind.APART})
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
        found = distboost(
            samples,
            constraints,
            self.n_clusters,
            n_rounds=self.n_rounds,
            covariance_type=self.covariance_type,
            reg_covar=self.reg_covar,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        self.mixtures_, self.weights_, self.losses_ = found.mixtures, found.weights, found.losses
        self.n_iter_ = len(found.losses) - 1 if len(found.losses) else len(found.mixtures)

    def _distance(self) -> BoostedDistance:
        check_is_fitted(self, "mixtures_")
        return BoostedDistance(self.mixtures_, self.weights_, self.losses_, self.n_iter_ - len(self.mixtures_))

    def transform(self, X: Any) -> Any:
        """Give each sample its cluster probabilities under every mixture, scaled by the mixture's weight.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            City-block distances between its rows are the learned distances (``metric="cityblock"``); Euclidean ones
            order most pairs alike, which is why K-Means can follow as well.
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
            The n² x 8 bytes of the matrix are more than there is.
        """
        space = self.transform(X)
        space = np.asarray(space.to_numpy() if hasattr(space, "to_numpy") else space)
        n = len(space)
        require_memory(
            8 * n * n,
            f"{WHO}: the distances between {n:,} samples",
            'hand on `transform(X)` to a method with metric="cityblock", or ask for a sample of the rows.',
        )
        D = cdist(space, space, "cityblock")
        return np.asarray(np.minimum(D, 1.0, out=D))

    def get_metric(self) -> Callable[[Any, Any], float]:
        """Return the distance as a function of two vectors, for whoever takes ``metric=`` a callable; it pickles.

        Every call asks every mixture: for all pairs of many samples `distance_matrix` is hundreds of times faster.
        """
        return partial(_distance_of, self._distance())

    @property
    def _n_features_out(self) -> int:
        return sum(len(one.weights) for one in self.mixtures_)


def _distance_of(found: BoostedDistance, x: Any, y: Any) -> float:
    """Distance of two vectors."""
    one, other = found.embed(np.array([x, y], dtype=np.float64))
    return min(float(np.abs(one - other).sum()), 1.0)
