"""k-means that starts from what is known: seeds that only start the clusters, or stay in them."""

from __future__ import annotations

from typing import Any, ClassVar

from linkwise._random import make_generator
from linkwise.constraints import Constraints, Kind
from linkwise.engines import ConstrainedClusterer
from linkwise.engines.assignment import FixedPlaces, FreePlaces, contract
from linkwise.engines.partitional._centroid_mixin import LINKS, CentroidMixin
from linkwise.engines.partitional._init import Start
from linkwise.engines.partitional._loop import KMeansRun, Loop, Watch, expand, judge, read_problem, run_from_starts
from linkwise.problem import Problem, check


def seeded_kmeans(
    X: Any,
    constraints: Constraints,
    n_clusters: int,
    *,
    n_init: int | str = "race",
    max_iter: int = 300,
    tol: float = 1e-4,
    random_state: Any = None,
    watch: Watch | None = None,
) -> KMeansRun:
    """Start k-means from the means of what is known to be together, then let every sample go where it is nearest.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Finite vectors. Not modified; sparse ones are not made dense.
    constraints : Constraints
        The seeds: groups of must-linked samples, and samples that are apart from all of these. Labels become such
        statements by `Constraints.from_labels`. Nothing of it is enforced.
    n_clusters : int
        Number of clusters; each gets a sample. With more groups, the large ones far from each other are taken; with
        fewer, k-means++ adds the centers that are missing.
    n_init : int or "race", default="race"
        "race": of eight starts, the one that fits best after six steps of plain k-means goes on. A number: so many
        starts run to their ends and the best is kept. There is one start where there are ``n_clusters`` groups.
    max_iter : int, default=300
        Most iterations of one run.
    tol : float, default=1e-4
        A run ends when the centers together move less than this, squared, relative to the variance of the features.
    random_state : None, int, RandomState or Generator
        Seed of all that is left to chance.
    watch : callable, optional
        Called as ``watch(labels, centers)`` after each half-step.

    Returns
    -------
    KMeansRun
        Labels, centers and inertia.

    Raises
    ------
    InfeasibleConstraintsError
        The statements cannot hold together in so many clusters; the error explains why.

    Notes
    -----
    **Cost** O(n d k) per iteration, as k-means. **Guarantee** none about the statements; the inertia never rises.
    **Departure from** [1]_ seeds come as statements, so that clusters are not named; missing seeds are chosen far from
    those given, where the paper draws them near the mean of all samples.

    References
    ----------
    .. [1] S. Basu, A. Banerjee, R. J. Mooney, "Semi-supervised Clustering by Seeding", ICML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import seeded_kmeans
    >>> X = np.array([[0.0], [1.0], [4.0], [8.0], [9.0]])
    >>> seeds = Constraints.from_labels(["left", "left", None, "right", "right"], unlabeled=None)
    >>> seeded_kmeans(X, seeds, 2).labels.tolist()
    [0, 0, 0, 1, 1]
    """
    who = "seeded_kmeans"
    rows, k = read_problem(X, constraints, n_clusters, LINKS, frozenset(), who)
    loop = Loop(who, n_init, max_iter, tol, watch)
    if not constraints.is_hard.all():
        constraints = constraints.with_weight(float("inf"))
    check(constraints, n_clusters=k).raise_if_infeasible()
    start = Start("neighborhoods", contract(rows, constraints), k, make_generator(random_state))
    cloud = contract(rows, Constraints.build(len(constraints)))
    return expand(run_from_starts(cloud, start, lambda: FreePlaces(cloud), loop, rows), cloud, rows)


def constrained_kmeans(
    X: Any,
    constraints: Constraints,
    n_clusters: int,
    *,
    n_init: int | str = "race",
    max_iter: int = 300,
    tol: float = 1e-4,
    random_state: Any = None,
    watch: Watch | None = None,
) -> KMeansRun:
    """Start k-means from the means of what is known to be together, and keep what is known where it started.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Finite vectors. Not modified; sparse ones are not made dense.
    constraints : Constraints
        The seeds: groups of must-linked samples, and samples that are to be apart. Labels become such statements by
        `Constraints.from_labels`. All are taken as hard.
    n_clusters : int
        Number of clusters; each gets a sample. With more groups, the large ones far from each other start the
        clusters; with fewer, k-means++ adds the centers that are missing.
    n_init : int or "race", default="race"
        "race": of eight starts, the one that fits best after six steps of plain k-means goes on. A number: so many
        starts run to their ends and the best is kept. There is one start where there are ``n_clusters`` groups.
    max_iter : int, default=300
        Most iterations of one run.
    tol : float, default=1e-4
        A run ends when the centers together move less than this, squared, relative to the variance of the features.
    random_state : None, int, RandomState or Generator
        Seed of all that is left to chance.
    watch : callable, optional
        Called as ``watch(labels, centers)`` after each half-step, about samples joined by must-links.

    Returns
    -------
    KMeansRun
        Labels, centers and inertia.

    Raises
    ------
    InfeasibleConstraintsError
        The statements cannot hold together in so many clusters; the error explains why.
    GaveUpError
        No clusters were found for what is known, and no proof that there are none.

    Notes
    -----
    **Cost** O(n d k) per iteration, as k-means, and one assignment of what is known as in `cop_kmeans`. **Guarantee**
    every statement holds; the inertia never rises; all clusters have samples. **Departure from** [1]_ seeds come as
    statements: which cluster a group starts is found by assigning all groups to the first centers at least cost, so
    groups that nothing keeps apart may share a cluster; missing seeds are chosen far from those given.

    References
    ----------
    .. [1] S. Basu, A. Banerjee, R. J. Mooney, "Semi-supervised Clustering by Seeding", ICML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import constrained_kmeans
    >>> X = np.array([[0.0], [5.0], [5.5], [8.0], [9.0]])
    >>> seeds = Constraints.from_labels(["left", "left", None, "right", "right"], unlabeled=None)
    >>> constrained_kmeans(X, seeds, 2).labels.tolist()
    [0, 0, 0, 1, 1]
    """
    who = "constrained_kmeans"
    rows, k = read_problem(X, constraints, n_clusters, LINKS, frozenset(), who)
    loop = Loop(who, n_init, max_iter, tol, watch)
    if not constraints.is_hard.all():
        constraints = constraints.with_weight(float("inf"))
    witness = judge(constraints, k, who)
    cloud = contract(rows, constraints)
    start = Start("neighborhoods", cloud, k, make_generator(random_state))
    return expand(run_from_starts(cloud, start, lambda: FixedPlaces(cloud, witness), loop, rows), cloud, rows)


class _FromSeeds(CentroidMixin, ConstrainedClusterer):
    """What the two estimators share: their parameters."""

    understands: ClassVar[frozenset[Kind]] = LINKS
    _explains_itself: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: allowed for name, allowed in CentroidMixin._parameter_constraints.items() if name != "init"
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_init: int | str = "race",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state


class SeededKMeans(_FromSeeds):
    """Start k-means from the means of what is known to be together; nothing is enforced after that.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters; each gets a sample.
    n_init : int or "race", default="race"
        "race": of eight starts, the one that fits best after six steps of plain k-means goes on. A number: so many
        starts run to their ends and the best is kept. There is one start where the seeds start all clusters.
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
    inertia_ : float
        Sum of squared distances of the samples to the centers of their clusters.
    n_iter_ : int
        Iterations of the run that was kept.
    n_clusters_ : int
        Number of clusters found: always ``n_clusters``.
    certificate_ : Certificate
        What the independent check found to hold, and what not.
    constraints_ : Constraints
        The statements in force, numbered like the rows of X.
    dropped_ : Constraints
        The soft statements that were left out.

    See Also
    --------
    ConstrainedKMeans : keeps the seeds where they started.
    COPKMeans : keeps all statements, wherever that puts them.

    Notes
    -----
    **Cost** O(n d k) per iteration, as k-means. **Guarantee** none about the statements: what was broken is warned
    about and listed in ``certificate_``; the inertia never rises, and all clusters have samples. **Departure from**
    [1]_ see `seeded_kmeans`.

    References
    ----------
    .. [1] S. Basu, A. Banerjee, R. J. Mooney, "Semi-supervised Clustering by Seeding", ICML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, SeededKMeans
    >>> X = np.array([[0.0], [1.0], [4.0], [8.0], [9.0]])
    >>> seeds = Constraints.from_labels([0, 0, -1, 1, 1])
    >>> SeededKMeans(2).fit(X, constraints=seeds).labels_.tolist()
    [0, 0, 0, 1, 1]
    """

    best_effort: ClassVar[bool] = True
    _keeps_instead: ClassVar[str] = "ConstrainedKMeans starts from the same seeds and keeps them."

    def _solve(self, problem: Problem) -> KMeansRun:
        return seeded_kmeans(
            problem.X,
            problem.constraints,
            self.n_clusters,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
        )


class ConstrainedKMeans(_FromSeeds):
    """Start k-means from the means of what is known to be together, and keep what is known where it started.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters; each gets a sample.
    n_init : int or "race", default="race"
        "race": of eight starts, the one that fits best after six steps of plain k-means goes on. A number: so many
        starts run to their ends and the best is kept. There is one start where the seeds start all clusters.
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
    inertia_ : float
        Sum of squared distances of the samples to the centers of their clusters.
    n_iter_ : int
        Iterations of the run that was kept.
    n_clusters_ : int
        Number of clusters found: always ``n_clusters``.
    certificate_ : Certificate
        What the independent check found to hold.
    constraints_ : Constraints
        The statements in force, numbered like the rows of X.
    dropped_ : Constraints
        The soft statements that were left out.

    See Also
    --------
    SeededKMeans : lets the seeds go once the clusters have started.
    COPKMeans : assigns what is known anew in every iteration, which fits the data better.

    Notes
    -----
    **Cost** O(n d k) per iteration, as k-means. **Guarantee** every hard statement holds in ``labels_``, re-checked
    after each fit; all clusters have samples. **Departure from** [1]_ see `constrained_kmeans`.

    References
    ----------
    .. [1] S. Basu, A. Banerjee, R. J. Mooney, "Semi-supervised Clustering by Seeding", ICML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import ConstrainedKMeans, Constraints
    >>> X = np.array([[0.0], [5.0], [5.5], [8.0], [9.0]])
    >>> seeds = Constraints.from_labels([0, 0, -1, 1, 1])
    >>> ConstrainedKMeans(2).fit(X, constraints=seeds).labels_.tolist()
    [0, 0, 0, 1, 1]
    """

    def _solve(self, problem: Problem) -> KMeansRun:
        return constrained_kmeans(
            problem.X,
            problem.constraints,
            self.n_clusters,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
        )
