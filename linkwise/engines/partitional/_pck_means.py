"""`PCKMeans`: k-means that penalizes broken soft must-links and cannot-links by their weights."""

from __future__ import annotations

from typing import Any

from linkwise.engines import ConstrainedClusterer
from linkwise.engines.partitional._distortions import Measure
from linkwise.engines.partitional._penalties import Flat, SoftMethod
from linkwise.engines.partitional._soft_mixin import SoftMixin
from linkwise.problem.statements import SoftPairs


class PCKMeans(SoftMixin, ConstrainedClusterer):
    """k-means in which a broken soft statement costs its weight.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters; none of them is empty.
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
        Sum of squared Euclidean distances of the samples to the centers of their clusters.
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
    MPCKMeans : learns a metric as well.
    COPKMeans : keeps all statements.

    Notes
    -----
    The objective is the sum of squared distances to the centers plus the weights of the broken statements: a statement
    is broken only if that saves more squared distance than its weight.
    **Cost** O(n d k) per iteration, as k-means, and O(k) for each link and sweep over the samples in statements.
    Samples that no statement names are assigned as in k-means. Dense rows are copied once, in single precision.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; the objective never rises from one
    half-step to the next; all ``n_clusters`` clusters have samples: an empty one takes the sample that gains
    most by moving.
    **Departure from** [1]_ neighborhoods of must-links, hard or soft, only initialize the clusters; the assignment can
    move whole trees of linked samples.

    References
    ----------
    .. [1] S. Basu, A. Banerjee, R. J. Mooney, "Active Semi-Supervision for Pairwise Constrained Clustering", SDM 2004.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, PCKMeans
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], weight=100.0)
    >>> model = PCKMeans(2, init=[[0.0], [9.0]]).fit(X, constraints=known)
    >>> model.labels_.tolist(), model.objective_
    ([0, 0, 0, 1], 38.0)
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        inference: str = "trees",
        init: Any = "neighborhoods",
        n_init: int | str = "race",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.inference = inference
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _method(self, measure: Measure, pairs: SoftPairs) -> SoftMethod:
        return Flat(measure, pairs)
