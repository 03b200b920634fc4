"""`HMRFKMeans`: k-means as inference in a hidden Markov random field, with three distortions."""

from __future__ import annotations

from typing import Any, ClassVar

from linkwise._compat import StrOptions
from linkwise.engines import ConstrainedClusterer
from linkwise.engines.partitional._distortions import DISTORTIONS, Measure
from linkwise.engines.partitional._learned_metric import METRICS
from linkwise.engines.partitional._penalties import ByDistance, SoftMethod
from linkwise.engines.partitional._soft_mixin import SoftMixin, Spread
from linkwise.problem.statements import SoftPairs


class HMRFKMeans(SoftMixin, ConstrainedClusterer):
    """k-means as a hidden Markov random field of soft statements, with a choice of distortions.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters; none of them is empty.
    distortion : {"squared_euclidean", "cosine", "kl"}, default="squared_euclidean"
        Distance of a sample from a center: the squared Euclidean distance; 1 minus the cosine, for directions such as
        texts; or the relative entropy, for rows read as distributions.
    form : {"diagonal", "full", "none"}, default="none"
        Form of the learned metric: a weight for each feature, a matrix, or none.
    per_cluster : bool, default=False
        Whether each cluster has its own metric.
    inference : {"trees", "icm"}, default="trees"
        Assignment of the samples that statements name. "icm" moves one sample at a time until no move helps, in an
        order drawn from ``random_state``; "trees" then also moves whole trees of linked samples, which is never worse.
    init : {"k-means++", "neighborhoods"} or array-like of shape (n_clusters, n_features), default="neighborhoods"
        Initial centers: drawn far from each other, the means of must-linked samples (soft or hard), or given.
    n_init : int or "race", default="race"
        "race": run six k-means steps from each of eight "k-means++" initializations and continue with the best. A
        number: run from that many initializations. With "neighborhoods" a first run starts from these. The run with the
        lowest objective is kept; if penalties are more than 1 % of it, one more run starts from labels in which all
        statements hold, if there are any. If nothing is random, there is only one run.
    max_iter : int, default=300
        Maximum number of iterations of one run.
    tol : float, default=1e-4
        Stop when the squared shift of the centers falls below ``tol`` times the mean feature variance.
    random_state : int, RandomState instance or None, default=None
        Seed for initialization and tie-breaking.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample: a row of ``cluster_centers_``.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centers of the clusters.
    objective_ : float
        Final objective: distortion plus penalties of broken statements.
    objectives_ : ndarray
        The objective after each assignment of the run that was kept; never rises.
    inertia_ : float
        Sum of squared Euclidean distances of the samples to the centers of their clusters;
        with another distortion the sum of its values.
    metric_ : ndarray
        The learned metric: one weight per feature or a matrix, one more axis in front with ``per_cluster``; not set
        with ``form="none"``.
    n_iter_ : int
        Iterations of the run that was kept.
    best_assignment_ : bool
        Whether each step of that run assigned at minimum cost: "trees", and the graph of statements has no cycle.
    n_clusters_ : int
        Number of clusters found: always ``n_clusters``.
    certificate_ : Certificate
        Result of the independent check of ``labels_``, soft statements included.
    constraints_ : Constraints
        The statements in force, numbered like the rows of X.
    dropped_ : Constraints
        Empty: soft statements are weighed, not left out.

    See Also
    --------
    MPCKMeans : squared Euclidean distances with a learned metric.
    PCKMeans : a broken statement costs its weight, whatever the distance.

    Notes
    -----
    The objective is the sum of the distortions between samples and their centers, plus a penalty for each broken soft
    statement: its weight times the distortion between its samples (must-link), or times the largest distortion minus
    that (cannot-link). With "cosine" the largest is 1 if no number is negative, else 2; with "kl" the distortion of
    two samples is the sum of their divergences from their mean, at most 2 log 2.
    **Cost** O(n d k) per iteration, O(n d^2 k) with "full", and with cannot-links the search for the two samples
    farthest apart, O(n^2 d) in the worst case. Sparse rows cost their non-zeros times k.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; the objective never rises from one
    half-step to the next; all ``n_clusters`` clusters have samples: an empty one takes the sample that gains
    most by moving.
    **Departure from** [1]_ the metric is learned in closed form with a log-determinant, and for squared distances
    only; with "kl" centers are means with a hundredth of a sample of the overall mean added, whose divergence is in
    the objective.

    References
    ----------
    .. [1] S. Basu, M. Bilenko, R. J. Mooney, "A Probabilistic Framework for Semi-Supervised Clustering", KDD 2004.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SoftMixin._parameter_constraints,
        "distortion": [StrOptions(set(DISTORTIONS))],
        "form": [StrOptions(set(METRICS))],
        "per_cluster": ["boolean"],
    }

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
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.form = form
        self.per_cluster = per_cluster
        self.inference = inference
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _spread(self) -> Spread:
        return Spread(self.distortion, self.form, self.per_cluster)

    def _method(self, measure: Measure, pairs: SoftPairs) -> SoftMethod:
        return ByDistance(measure, pairs)
