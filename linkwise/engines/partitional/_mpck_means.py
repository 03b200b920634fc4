"""`MKMeans`, `MPCKMeans` and `HMRFKMeans`: k-means with penalties by distance, in a metric that may be learned."""

from __future__ import annotations

from typing import Any, ClassVar

from linkwise._compat import StrOptions
from linkwise.engines import ConstrainedClusterer
from linkwise.engines.partitional._distortions import DISTORTIONS, Measure
from linkwise.engines.partitional._learned_metric import METRICS
from linkwise.engines.partitional._penalties import ByDistance, MetricOnly, SoftMethod
from linkwise.engines.partitional._soft_mixin import SoftMixin, Spread
from linkwise.problem.statements import SoftPairs


class _LearnsMetric(SoftMixin, ConstrainedClusterer):
    """Base of k-means under a metric, learned for all clusters or for each.

    Parameters
    ----------
    form : {"diagonal", "full", "none"}
        Form of the learned metric: a weight for each feature, a matrix, or none.
    per_cluster : bool
        Whether each cluster has its own metric.

    Attributes
    ----------
    metric_ : ndarray
        The learned metric: one weight per feature or a matrix, one more axis in front with ``per_cluster``; not set
        with ``form="none"``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "form": [StrOptions(set(METRICS))],
        "per_cluster": ["boolean"],
    }

    distortion: str = "squared_euclidean"
    form: str
    per_cluster: bool

    def _spread(self) -> Spread:
        return Spread(self.distortion, self.form, self.per_cluster)


class MKMeans(_LearnsMetric):
    """k-means in a metric learned from soft statements, which do not otherwise affect the assignment.

    Parameters
    ----------
    n_init : int or "race", default="race"
        "race": run six k-means steps from each of eight "k-means++" initializations and continue with the best. A
        number: run from that many initializations. With "neighborhoods" a first run starts from these. The run with the
        lowest objective is kept. If nothing is random, there is only one run.

    Attributes
    ----------
    objectives_ : ndarray
        The objective after each assignment of the run that was kept; it may rise, and ``objective_`` is the lowest.

    See Also
    --------
    MPCKMeans : the assignment penalizes broken statements as well.

    Notes
    -----
    The objective is that of `MPCKMeans`: the sum of squared distances to the centers under a metric A, minus log
    det A for each sample, plus penalties of broken soft statements by distance. Samples still go to the nearest
    center, so an assignment that breaks more statements can raise the objective. The run continues, as in [1]_; it
    ends when labels repeat or centers stop moving, when it reaches the same labels for the third time (a cycle),
    or after ``max_iter`` iterations. The assignment with the lowest objective of the whole run is returned.
    **Cost** O(n d k) per iteration, O(n d^2 k) with "full", and with cannot-links the search for the two samples
    farthest apart, O(n^2 d) in the worst case.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; means and metric never raise the
    objective, and no assignment of the run is better than the one returned; all ``n_clusters`` clusters have
    samples: an empty one takes the sample that gains most by moving.
    **Departure from** [1]_ the best assignment of a run is returned, not the last; hard statements hold and do not
    affect the metric; a thousandth of the covariance keeps the metric finite.

    References
    ----------
    .. [1] M. Bilenko, S. Basu, R. J. Mooney, "Integrating Constraints and Metric Learning in Semi-Supervised
       Clustering", ICML 2004.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import MKMeans
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], weight=1.0)
    >>> model = MKMeans(2, init=[[0.0], [9.0]]).fit(X, constraints=known)
    >>> model.labels_.tolist(), model.metric_.shape
    ([0, 0, 1, 1], (1,))
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        form: str = "diagonal",
        per_cluster: bool = False,
        inference: str = "trees",
        init: Any = "k-means++",
        n_init: int | str = "race",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.form = form
        self.per_cluster = per_cluster
        self.inference = inference
        self.init = init

    def _method(self, measure: Measure, pairs: SoftPairs) -> SoftMethod:
        return MetricOnly(measure, pairs)


class MPCKMeans(_LearnsMetric):
    """k-means that learns a metric and penalizes broken soft statements.

    See Also
    --------
    PCKMeans : does not learn a metric.
    MKMeans : soft statements affect the metric only.
    HMRFKMeans : other distortions.

    Notes
    -----
    The objective is the sum of squared distances to the centers under a metric A, minus log det A for each sample,
    plus a penalty for each broken soft statement. For a must-link it is the weight times the squared distance of the
    two samples (averaged over both metrics if these differ), for a cannot-link the weight times the largest squared
    distance of any two samples minus that of the pair.
    **Cost** O(n d k) per iteration, O(n d^2 k) with "full", and with cannot-links the search for the two samples
    farthest apart, O(n^2 d) in the worst case.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; the objective never rises from one
    half-step to the next; all ``n_clusters`` clusters have samples: an empty one takes the sample that gains
    most by moving.
    **Departure from** [1]_ the largest distance is taken under the current metric, so that no penalty is negative; as
    it changes with the metric, a metric step that would raise the objective is shortened; a small multiple of the
    trace keeps the metric finite.

    References
    ----------
    .. [1] M. Bilenko, S. Basu, R. J. Mooney, "Integrating Constraints and Metric Learning in Semi-Supervised
       Clustering", ICML 2004.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, MPCKMeans
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], weight=1.0)
    >>> model = MPCKMeans(2, init=[[0.0], [9.0]]).fit(X, constraints=known)
    >>> model.labels_.tolist(), model.metric_.shape
    ([0, 0, 0, 1], (1,))
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        form: str = "diagonal",
        per_cluster: bool = False,
        inference: str = "trees",
        init: Any = "neighborhoods",
        n_init: int | str = "race",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.form = form
        self.per_cluster = per_cluster
        self.inference = inference
        self.init = init

    def _method(self, measure: Measure, pairs: SoftPairs) -> SoftMethod:
        return ByDistance(measure, pairs)


class HMRFKMeans(_LearnsMetric):
    """k-means as a hidden Markov random field of soft statements, with a choice of distortions.

    Parameters
    ----------
    distortion : {"squared_euclidean", "cosine", "pearson", "kl"}, default="squared_euclidean"
        Distance of a sample from a center: the squared Euclidean distance; 1 minus the cosine, for directions such as
        texts; 1 minus Pearson's correlation, for profiles such as those of genes; or the relative entropy, for rows
        read as distributions. All but the first learn one weight for each feature with ``form="diagonal"``.

    Attributes
    ----------
    inertia_ : float
        Sum of squared Euclidean distances of the samples to the centers of their clusters;
        with another distortion the sum of its values.

    See Also
    --------
    MPCKMeans : squared Euclidean distances with a learned metric.
    PCKMeans : a broken statement costs its weight, whatever the distance.

    Notes
    -----
    The objective is the sum of the distortions between samples and their centers, plus a penalty for each broken soft
    statement: its weight times the distortion between its samples (must-link), or times the largest distortion minus
    that (cannot-link). With "cosine" and "pearson" the largest is 1 if no number is negative, else 2; with "kl" the
    distortion of two samples is the sum of their divergences from their mean, at most 2 log 2 times the largest
    weighted sum of a row. Learned weights a of features multiply the products of a cosine or the terms of a
    divergence, x log(x / c) - x + c; the objective adds s times the sum of a^2 / 2 - log a - 1 / 2, a Rayleigh prior,
    where s times the number of features is three tenths of the distortion of all samples from one center.
    **Cost** O(n d k) per iteration, O(n d^2 k) with "full", and with cannot-links the search for the two samples
    farthest apart, O(n^2 d) in the worst case. Sparse rows cost their non-zeros times k.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; the objective never rises from one
    half-step to the next; all ``n_clusters`` clusters have samples: an empty one takes the sample that gains
    most by moving.
    **Departure from** [1]_ the metric is learned in closed form, with a log-determinant for squared distances and the
    prior for "kl", or by a bounded number of descent steps for "cosine" and "pearson", and not by one gradient step of
    a chosen rate; the strength of the prior is ours; for Pearson's distance rows are centered before they are weighted;
    with "kl" centers are means with a hundredth of a sample of the overall mean added, whose divergence is in the
    objective. Belief propagation and the linear program are those that [3]_ compares with "icm".

    References
    ----------
    .. [1] S. Basu, M. Bilenko, R. J. Mooney, "A Probabilistic Framework for Semi-Supervised Clustering", KDD 2004.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.
    .. [3] M. Bilenko, S. Basu, "A Comparison of Inference Techniques for Semi-supervised Clustering with Hidden Markov
       Random Fields", SRL 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import HMRFKMeans
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], weight=1.0)
    >>> model = HMRFKMeans(2, init=[[0.0], [9.0]]).fit(X, constraints=known)
    >>> model.labels_.tolist(), model.objective_
    ([0, 0, 0, 1], 38.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"distortion": [StrOptions(set(DISTORTIONS))]}

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        distortion: str = "squared_euclidean",
        form: str = "none",
        per_cluster: bool = False,
        inference: str = "trees",
        init: Any = "neighborhoods",
        n_init: int | str = "race",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.distortion = distortion
        self.form = form
        self.per_cluster = per_cluster
        self.inference = inference
        self.init = init

    def _method(self, measure: Measure, pairs: SoftPairs) -> SoftMethod:
        return ByDistance(measure, pairs)
