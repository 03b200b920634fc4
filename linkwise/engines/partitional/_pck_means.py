"""k-means that weighs soft must-links and cannot-links against the fit to the data."""

from __future__ import annotations

from typing import Any, ClassVar

from linkwise.constraints import Constraints
from linkwise.engines import ConstrainedClusterer
from linkwise.engines.partitional._loop import Loop
from linkwise.engines.partitional._penalties import Flat
from linkwise.engines.partitional._soft_loop import SoftWatch
from linkwise.engines.partitional._soft_mixin import SoftMixin, SoftRun, Spread, solve


def pck_means(
    X: Any,
    constraints: Constraints,
    n_clusters: int,
    *,
    inference: str = "trees",
    init: Any = "neighborhoods",
    n_init: int | str = "race",
    max_iter: int = 300,
    tol: float = 1e-4,
    random_state: Any = None,
    watch: SoftWatch | None = None,
) -> SoftRun:
    """Move centers to the means of their samples, and samples where misfit and broken statements together cost least.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Finite vectors. Not modified; sparse ones are not made dense.
    constraints : Constraints
        Must-links, cannot-links, groups together or apart. Hard ones hold; soft ones are weighed, a group as all pairs
        of its samples.
    n_clusters : int
        Number of clusters; each gets a sample.
    inference : {"trees", "icm"}, default="trees"
        How samples named by statements are assigned: one after the other until none moves ("icm", in an order drawn
        from ``random_state``), or that and then whole trees of statements at once, which is never worse.
    init : {"k-means++", "neighborhoods"} or array-like of shape (n_clusters, n_features), default="neighborhoods"
        Centers to start from: spread out by chance, the means of must-linked samples, soft or hard, or given.
    n_init : int or "race", default="race"
        "race": of eight starts as with "k-means++", the one that fits best after six steps of plain k-means goes on. A
        number: so many starts run to their ends. A first run is from the "neighborhoods" if these are asked for; the
        run with the least objective is kept. Where what is broken still costs a hundredth of it, a last run begins with
        all statements held, if that can be. Where nothing is left to chance there is one run.
    max_iter : int, default=300
        Most iterations of one run.
    tol : float, default=1e-4
        A run ends when the centers together move less than this, squared, relative to the variance of the features.
    random_state : None, int, RandomState or Generator
        Seed of all that is left to chance.
    watch : callable, optional
        Called as ``watch(step, labels, centers, metric, objective)`` after each half-step.

    Returns
    -------
    SoftRun
        Labels, centers and the objective, iteration by iteration.

    Raises
    ------
    InfeasibleConstraintsError
        Hard statements cannot hold together in so many clusters; the error explains why.
    GaveUpError
        No clustering under the hard statements was found, and no proof that there is none.
    UnsupportedConstraintError
        There are statements of another kind, such as triplets, or rules.

    Notes
    -----
    The objective is the sum of squared distances to the centers and the weights of the statements that are broken: a
    weight is what breaking may save in squared distance.
    **Cost** O(n d k) per iteration, as k-means, and O(k) for each link and sweep over the samples that are named.
    Samples that no statement names are assigned as in k-means. Dense rows are copied once, in single precision.
    **Guarantee** the objective never rises from one half-step to the next; all ``n_clusters`` clusters have samples:
    one left empty takes the sample that gains most.
    **Departure from** [1]_ neighborhoods of must-links, hard or soft, only start the clusters; the assignment may move
    whole trees of statements.

    References
    ----------
    .. [1] S. Basu, A. Banerjee, R. J. Mooney, "Active Semi-Supervision for Pairwise Constrained Clustering", SDM 2004.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import pck_means
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], weight=100.0)
    >>> run = pck_means(X, known, 2, init=[[0.0], [9.0]])
    >>> run.labels.tolist(), run.objective
    ([0, 0, 0, 1], 38.0)
    """
    return solve(
        X,
        constraints,
        n_clusters,
        Flat,
        who="pck_means",
        spread=Spread(),
        inference=inference,
        init=init,
        loop=Loop("pck_means", n_init, max_iter, tol),
        random_state=random_state,
        watch=watch,
    )


class PCKMeans(SoftMixin, ConstrainedClusterer):
    """Cluster around centers; a broken soft statement costs its weight.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters; each gets a sample.
    inference : {"trees", "icm"}, default="trees"
        How samples named by statements are assigned: one after the other until none moves ("icm", in an order drawn
        from ``random_state``), or that and then whole trees of statements at once, which is never worse.
    init : {"k-means++", "neighborhoods"} or array-like of shape (n_clusters, n_features), default="neighborhoods"
        Centers to start from: spread out by chance, the means of must-linked samples, soft or hard, or given.
    n_init : int or "race", default="race"
        "race": of eight starts as with "k-means++", the one that fits best after six steps of plain k-means goes on. A
        number: so many starts run to their ends. A first run is from the "neighborhoods" if these are asked for; the
        run with the least objective is kept. Where what is broken still costs a hundredth of it, a last run begins with
        all statements held, if that can be. Where nothing is left to chance there is one run.
    max_iter : int, default=300
        Most iterations of one run.
    tol : float, default=1e-4
        A run ends when the centers together move less than this, squared, relative to the variance of the features.
    random_state : int, RandomState instance or None, default=None
        Seed of all that is left to chance.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample: a row of ``cluster_centers_``.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centers of the clusters.
    objective_ : float
        What was made small: misfit and what broken statements charge.
    objectives_ : ndarray
        The objective after each assignment of the run that was kept; never rises.
    inertia_ : float
        Sum of squared Euclidean distances of the samples to the centers of their clusters.
    n_iter_ : int
        Iterations of the run that was kept.
    best_assignment_ : bool
        Whether each step of that run assigned at least cost: "trees", and no statements run in a circle.
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
    MPCKMeans : learns a metric as well.
    COPKMeans : keeps all statements.

    Notes
    -----
    **Cost** O(n d k) per iteration, as k-means, and O(k) for each link and sweep over the samples that are named.
    Samples that no statement names are assigned as in k-means. Dense rows are copied once, in single precision.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; the objective never rises from one
    half-step to the next; all ``n_clusters`` clusters have samples: one left empty takes the sample that gains most.
    **Departure from** [1]_ see `pck_means`.

    References
    ----------
    .. [1] S. Basu, A. Banerjee, R. J. Mooney, "Active Semi-Supervision for Pairwise Constrained Clustering", SDM 2004.

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

    _function: ClassVar[Any] = staticmethod(pck_means)
