"""`CVQE` and `LCVQE`: k-means in which broken statements cost squared distances to centers."""

from __future__ import annotations

from typing import Any, ClassVar

from linkwise._compat import StrOptions
from linkwise.engines import ConstrainedClusterer
from linkwise.engines.partitional._distortions import Measure
from linkwise.engines.partitional._penalties import BetweenCenters, SoftMethod, ToCenters
from linkwise.engines.partitional._soft_mixin import SoftMixin
from linkwise.problem.statements import SoftPairs


class CVQE(SoftMixin, ConstrainedClusterer):
    """k-means in which a broken soft statement costs the squared distance between two centers.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters; none of them is empty.
    update : {"symmetric", "printed"}, default="symmetric"
        Update of the centers for broken statements. "symmetric" moves all centers concerned, together. "printed" moves
        only the center of the first sample of each pair (the one with the lower number), as printed in [1]_; the result
        then depends on the order of samples, and the objective can rise.
    inference : {"trees", "icm"}, default="trees"
        Assignment of the samples that statements name. "icm" moves one sample at a time until no move helps, in an
        order drawn from ``random_state``; "trees" then also moves whole trees of linked samples, which is never worse.
    init : {"k-means++", "neighborhoods"} or array-like of shape (n_clusters, n_features), default="k-means++"
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
    LCVQE : penalties are distances between samples and centers, which pulls centers together less.
    PCKMeans : a broken statement costs its weight, whatever the distance.

    Notes
    -----
    The objective is half the sum of squared distances to the centers, plus for each broken soft statement half its
    weight times the squared distance between the two centers (must-link) or from the shared center to the nearest
    other center (cannot-link).
    **Cost** O(n d k + k^3) per iteration, and O(k^2) for each link and sweep over the samples in statements. Dense
    rows are copied once, in single precision.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; with "symmetric" the objective
    never rises from one half-step to the next; all ``n_clusters`` clusters have samples: an empty one takes the
    sample that gains most by moving.
    **Departure from** [1]_ "symmetric" moves all centers together to the minimum of the objective, by one linear
    system; the printed update ignores statements in which a cluster is that of the second sample.

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
        "update": [StrOptions({"symmetric", "printed"})],
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
    """k-means in which a broken soft statement costs the squared distances of its samples to other centers.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters; none of them is empty.
    inference : {"trees", "icm"}, default="trees"
        Assignment of the samples that statements name. "icm" moves one sample at a time until no move helps, in an
        order drawn from ``random_state``; "trees" then also moves whole trees of linked samples, which is never worse.
    init : {"k-means++", "neighborhoods"} or array-like of shape (n_clusters, n_features), default="k-means++"
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
    CVQE : penalties are distances between centers.
    PCKMeans : a broken statement costs its weight, whatever the distance.

    Notes
    -----
    The objective is half the sum of squared distances to the centers plus, for each broken soft statement, its
    weight times a quarter of the squared distances of each sample to the center of the other (must-link), or times
    half the squared distance of the sample farther from the shared center to its nearest other center (cannot-link).
    **Cost** O(n d k) per iteration, as k-means, and O(k) for each link and sweep over the samples in statements.
    Dense rows are copied once, in single precision.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; the objective never rises from one
    half-step to the next; all ``n_clusters`` clusters have samples: an empty one takes the sample that gains
    most by moving.
    **Departure from** [1]_ the text of the paper was not available: objective and centers follow from memory, and no
    figure of the paper was reproduced. All clusters are considered for each sample and not three pairs of them; the
    sample whose distance counts for a cannot-link can change as centers move, and a step of the centers that would
    raise the objective is shortened.

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
