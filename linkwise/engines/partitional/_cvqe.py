"""CVQE and LCVQE: broken statements cost distances, in the units of the fit."""

from __future__ import annotations

from typing import Any, ClassVar

from linkwise._compat import StrOptions
from linkwise.engines import ConstrainedClusterer
from linkwise.engines.partitional._distortions import Measure
from linkwise.engines.partitional._penalties import BetweenCenters, SoftMethod, ToCenters
from linkwise.engines.partitional._soft_mixin import SoftMixin
from linkwise.problem.statements import SoftPairs

UPDATES = ("symmetric", "printed")


class CVQE(SoftMixin, ConstrainedClusterer):
    """Cluster around centers; a broken soft statement costs what centers are apart.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters; each gets a sample.
    update : {"symmetric", "printed"}, default="symmetric"
        How centers answer to broken statements: all those concerned, at once, or as printed in [1]_ that of the first
        sample of each pair alone, the one with the lower number, whereby the order of samples matters and the objective
        can rise.
    inference : {"trees", "icm"}, default="trees"
        How samples named by statements are assigned: one after the other until none moves ("icm", in an order drawn
        from ``random_state``), or that and then whole trees of statements at once, which is never worse.
    init : {"k-means++", "neighborhoods"} or array-like of shape (n_clusters, n_features), default="k-means++"
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
        Sum of squared Euclidean distances of the samples to the centers of their clusters.
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
    LCVQE : charges distances between samples and centers, and is less drawn together.
    PCKMeans : a broken statement costs its weight alone.

    Notes
    -----
    The objective is half the sum of squared distances to the centers, and for each broken soft statement half its
    weight times the squared distance between the two centers (must-link) or from the center to the nearest other
    (cannot-link).
    **Cost** O(n d k + k^3) per iteration, and O(k^2) for each link and sweep over the samples that are named. Dense
    rows are copied once, in single precision.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; with "symmetric" the objective
    never rises from one half-step to the next; all ``n_clusters`` clusters have samples: one left empty takes the
    sample that gains most.
    **Departure from** [1]_ "symmetric" moves all centers together to where the objective is least, by one linear
    system; the printed update ignores statements in which a cluster comes second.

    References
    ----------
    .. [1] I. Davidson, S. S. Ravi, "Clustering with Constraints: Feasibility Issues and the k-Means Algorithm",
       SDM 2005.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import CVQE
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], weight=10.0)
    >>> model = CVQE(2, init=[[0.0], [9.0]]).fit(X, constraints=known)
    >>> model.labels_.tolist(), model.objective_
    ([0, 0, 0, 1], 19.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SoftMixin._parameter_constraints,
        "update": [StrOptions(set(UPDATES))],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        update: str = "symmetric",
        inference: str = "trees",
        init: Any = "k-means++",
        n_init: int | str = "race",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.update = update
        self.inference = inference
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _method(self, measure: Measure, pairs: SoftPairs) -> SoftMethod:
        return BetweenCenters(measure, pairs, printed=self.update == "printed")


class LCVQE(SoftMixin, ConstrainedClusterer):
    """Cluster around centers; a broken soft statement costs the distance of its samples to where they should be.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters; each gets a sample.
    inference : {"trees", "icm"}, default="trees"
        How samples named by statements are assigned: one after the other until none moves ("icm", in an order drawn
        from ``random_state``), or that and then whole trees of statements at once, which is never worse.
    init : {"k-means++", "neighborhoods"} or array-like of shape (n_clusters, n_features), default="k-means++"
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
        Sum of squared Euclidean distances of the samples to the centers of their clusters.
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
    CVQE : charges distances between centers.
    PCKMeans : a broken statement costs its weight alone.

    Notes
    -----
    The objective is half the sum of squared distances to the centers and, for each broken soft statement, its
    weight times a quarter of the squared distances of each sample to the center of the other (must-link), or half
    the squared distance from the sample that is farther from the shared center to its next one (cannot-link).
    **Cost** O(n d k) per iteration, as k-means, and O(k) for each link and sweep over the samples that are named.
    Dense rows are copied once, in single precision.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; the objective never rises from one
    half-step to the next; all ``n_clusters`` clusters have samples: one left empty takes the sample that gains
    most.
    **Departure from** [1]_ the objective and the centers are written from memory of the paper, not with its text at
    hand, and no figure of it was reproduced. All clusters are considered for each sample and not three pairs of
    them; who pays for a cannot-link can change as centers move, and a step of the centers that would raise the
    objective is shortened.

    References
    ----------
    .. [1] D. Pelleg, D. Baras, "K-Means with Large and Noisy Constraint Sets", ECML 2007.
    .. [2] I. Davidson, S. S. Ravi, "Clustering with Constraints: Feasibility Issues and the k-Means Algorithm",
       SDM 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import LCVQE
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], weight=10.0)
    >>> model = LCVQE(2, init=[[0.0], [9.0]]).fit(X, constraints=known)
    >>> model.labels_.tolist(), model.objective_
    ([0, 0, 0, 1], 19.0)
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        inference: str = "trees",
        init: Any = "k-means++",
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
        return ToCenters(measure, pairs)
