"""k-means as inference in a hidden Markov random field: any of three distortions, statements charged by distance."""

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
    """Cluster around centers under a hidden Markov random field of soft statements, with a choice of distortions.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters; each gets a sample.
    distortion : {"squared_euclidean", "cosine", "kl"}, default="squared_euclidean"
        How far a sample is from a center: the squared distance; 1 less the cosine, for directions such as texts; or the
        relative entropy, for rows read as distributions.
    form : {"diagonal", "full", "none"}, default="none"
        Form of the learned metric: a weight for each feature, a matrix, or none.
    per_cluster : bool, default=False
        Whether each cluster has a metric of its own.
    inference : {"trees", "icm"}, default="trees"
        How samples named by statements are assigned: one after the other until none moves ("icm", in an order drawn
        from ``random_state``), or that and then whole trees of statements at once, which is never worse.
    init : {"k-means++", "neighborhoods"} or array-like of shape (n_clusters, n_features), default="neighborhoods"
        Centers to start from: drawn far from each other, the means of must-linked samples (soft or hard), or given.
    n_init : int or "race", default="race"
        "race": run six k-means steps from each of eight "k-means++" initializations and continue with the best. A
        number: run from that many initializations. With "neighborhoods" a first run starts from these. The run with the
        least objective is kept; where broken statements still cost a hundredth of it, a last run starts from labels in
        which all statements hold, if there are any. There is one run where nothing is random.
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
        with another distortion the sum of that.
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
        What the independent check found to hold, soft statements among them.
    constraints_ : Constraints
        The statements in force, numbered like the rows of X.
    dropped_ : Constraints
        Empty: soft statements are weighed, not left out.

    See Also
    --------
    MPCKMeans : the same with a learned metric, by its own name.
    PCKMeans : a broken statement costs its weight alone.

    Notes
    -----
    The objective is the sum of the distortions of samples and their centers and, for each broken soft statement,
    its weight times the distortion of its samples (must-link) or what is missing to the largest distortion
    (cannot-link). With "cosine" the largest is 1 if no number is negative, else 2; with "kl" two samples are as far
    apart as both are from their mean, at most 2 log 2.
    **Cost** O(n d k) per iteration, O(n d^2 k) with "full", and with cannot-links the search for the two samples
    farthest apart, O(n^2 d) at worst. Sparse rows cost their non-zeros times k.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; the objective never rises from one
    half-step to the next; all ``n_clusters`` clusters have samples: one left empty takes the sample that gains
    most.
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
