"""k-means in which every must-link and cannot-link holds, with an assignment step that does not give up."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from linkwise._compat import Interval, StrOptions
from linkwise._random import make_generator
from linkwise.constraints import Constraints, Kind, Rule, SizeBetween
from linkwise.engines import REPORTED, ConstrainedClusterer, Kept
from linkwise.engines.assignment import ExactPlaces, GreedyPlaces, Place, SizedPlaces, contract, size_bounds
from linkwise.engines.partitional._centroid_mixin import LINKS, CentroidMixin
from linkwise.engines.partitional._init import Start, read_init
from linkwise.engines.partitional._loop import (
    TRIES,
    KMeansRun,
    Loop,
    Watch,
    expand,
    judge,
    read_problem,
    require_count,
    run_from_starts,
)
from linkwise.exceptions import GaveUpError, LinkwiseError, UnsupportedConstraintError
from linkwise.problem import Problem, check

_RULES: frozenset[type[Rule]] = frozenset({SizeBetween})
_ASSIGNMENTS = ("exact", "greedy")
_ORDERS = ("random", "given")


def cop_kmeans(
    X: Any,
    constraints: Constraints,
    n_clusters: int,
    *,
    assignment: str = "exact",
    order: str = "random",
    max_tries: int = TRIES,
    init: Any = "k-means++",
    n_init: int | str = "race",
    max_iter: int = 300,
    tol: float = 1e-4,
    random_state: Any = None,
    watch: Watch | None = None,
) -> KMeansRun:
    """Move centers to the means of their samples, and samples to the nearest centers that the statements allow.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Finite vectors. Not modified; sparse ones are not made dense.
    constraints : Constraints
        Must-links, cannot-links, groups together or apart, and `SizeBetween`; all are taken as hard.
    n_clusters : int
        Number of clusters; each gets a sample.
    assignment : {"exact", "greedy"}, default="exact"
        "exact" assigns all samples at once at least cost. "greedy" takes them one after the other as in [1]_; a run
        in which a sample finds no cluster is stuck.
    order : {"random", "given"}, default="random"
        The order in which "greedy" takes samples: drawn for each run, or that of the rows of X.
    max_tries : int, default=10
        How many starts "greedy" tries, each in an order of its own, for each run asked for; one that gets stuck is
        replaced by the next. With ``order="given"`` and given centers there is nothing to try again.
    init : {"k-means++", "neighborhoods"} or array-like of shape (n_clusters, n_features), default="k-means++"
        Centers to start from: spread out by chance, the means of must-linked groups, or given.
    n_init : int or "race", default="race"
        "race": of eight starts, the one that fits best after six steps of plain k-means goes on. A number: so many
        starts run to their ends and the best is kept. Where a start leaves nothing to chance there is one run.
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
        No clustering was found, and no proof that there is none: with "greedy" often, with "exact" only when coloring
        the cannot-links with ``n_clusters`` colors is too hard for the search.
    UnsupportedConstraintError
        There are statements of another kind, such as triplets, or sizes together with "greedy".

    Notes
    -----
    **Cost** O(n d k) per iteration, as k-means, plus the assignment of the samples in cannot-links: O(k) to O(k^2)
    each where these form pairs, cliques or trees, a bounded search elsewhere. Sizes: O(n k log n + n k^2) per
    iteration.
    **Guarantee** every statement holds; exactly ``n_clusters`` clusters have samples; the inertia never rises from one
    half-step to the next ("exact"). Given the centers, "exact" assigns at least cost wherever cannot-links form
    cliques, trees or small parts, which ``best_assignment`` tells; in larger parts no swap of two clusters along a
    chain is better. With sizes the same holds without other statements.
    **Departure from** [1]_ "exact" moves must-linked samples as one that carries their number as weight, as [2]_ does
    but for the weight; an assignment that is stuck is not taken for a proof; an empty cluster takes the sample that
    fits its own worst. ``assignment="greedy", order="given", max_tries=1, n_init=1, tol=0.0`` is the algorithm of [1]_:
    rows in the order of the file, the first of must-linked samples chooses for all, one try, stuck is an error. It need
    not converge: labels can run in a circle, which ends after ``max_iter`` iterations.

    References
    ----------
    .. [1] K. Wagstaff, C. Cardie, S. Rogers, S. Schroedl, "Constrained K-means Clustering with Background Knowledge",
       ICML 2001.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import cop_kmeans
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], cannot_link=[(0, 1)])
    >>> cop_kmeans(X, known, 2, random_state=0).labels.tolist()
    [0, 1, 0, 0]
    """
    who = "cop_kmeans"
    for name, word, words in (("assignment", assignment, _ASSIGNMENTS), ("order", order, _ORDERS)):
        if word not in words:
            msg = f"{who}: {name} is {word!r}, expected one of {', '.join(map(repr, words))}."
            raise LinkwiseError(msg)
    require_count(who, "max_tries", max_tries)
    rows, k = read_problem(X, constraints, n_clusters, LINKS, _RULES, who)
    loop = Loop(who, n_init, max_iter, tol, watch)
    given = read_init(init, k, rows.shape[1], who)
    rng = make_generator(random_state)
    if not constraints.is_hard.all():
        constraints = constraints.with_weight(float("inf"))
    bounds = size_bounds(constraints)
    witness = judge(constraints, k, who)
    cloud = contract(rows, constraints)
    if bounds is not None and assignment == "greedy":
        msg = 'cop_kmeans does not keep SizeBetween with assignment="greedy".\nHint: assignment="exact" does.'
        raise UnsupportedConstraintError(msg, ("SizeBetween",))

    def place() -> Place:
        if bounds is not None:
            return SizedPlaces(cloud, bounds, witness)
        if assignment == "greedy":
            return GreedyPlaces(cloud, rows, constraints, rng if order == "random" else np.arange(rows.shape[0]))
        return ExactPlaces(cloud, witness)

    try:
        tries = max_tries if assignment == "greedy" else TRIES
        ended = run_from_starts(cloud, Start(given, cloud, k, rng), place, loop, rows, tries)
    except GaveUpError as stuck:
        if stuck.statements:  # perhaps nobody could have done better
            check(constraints, n_clusters=k).raise_if_infeasible()
        raise
    return expand(ended, cloud, rows)


class COPKMeans(CentroidMixin, ConstrainedClusterer):
    """Cluster around centers so that every must-link and cannot-link holds.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters; each gets a sample.
    assignment : {"exact", "greedy"}, default="exact"
        "exact" assigns all samples at once at least cost; "greedy" one after the other as [1]_ does, which can get
        stuck.
    order : {"random", "given"}, default="random"
        The order in which "greedy" takes samples: drawn for each run, or that of the rows of X.
    max_tries : int, default=10
        How many starts "greedy" tries, each in an order of its own, for each run asked for; one that gets stuck is
        replaced by the next. With ``order="given"`` and given centers there is nothing to try again.
    init : {"k-means++", "neighborhoods"} or array-like of shape (n_clusters, n_features), default="k-means++"
        Centers to start from: spread out by chance, the means of must-linked groups, or given.
    n_init : int or "race", default="race"
        "race": of eight starts, the one that fits best after six steps of plain k-means goes on. A number: so many
        starts run to their ends and the best is kept. Where a start leaves nothing to chance there is one run.
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
    best_assignment_ : bool
        Whether each step of that run was shown to assign at least cost.
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
    ConstrainedKMeans : keeps what starts the clusters where it is.
    SeededKMeans : uses what is known for the start only.

    Notes
    -----
    **Cost** O(n d k) per iteration, as k-means; see `cop_kmeans`. **Guarantee** every hard statement holds in
    ``labels_``, re-checked after each fit; all ``n_clusters`` clusters have samples: one that is left empty takes the
    sample that fits its own worst. A problem that cannot be solved is explained, one that could not be decided raises
    `GaveUpError`. **Departure from** [1]_ see `cop_kmeans`.

    References
    ----------
    .. [1] K. Wagstaff, C. Cardie, S. Rogers, S. Schroedl, "Constrained K-means Clustering with Background Knowledge",
       ICML 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import COPKMeans, Constraints
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], cannot_link=[(0, 1)])
    >>> model = COPKMeans(2, random_state=0).fit(X, constraints=known)
    >>> model.labels_.tolist(), model.predict([[0.0]]).tolist()
    ([0, 1, 0, 0], [1])
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    understands_rules: ClassVar[frozenset[type[Rule]]] = _RULES
    _explains_itself: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CentroidMixin._parameter_constraints,
        "assignment": [StrOptions(set(_ASSIGNMENTS))],
        "order": [StrOptions(set(_ORDERS))],
        "max_tries": [Interval(Integral, 1, None, closed="left")],
    }

    _saved: ClassVar[dict[str, Kept]] = {"best_assignment_": REPORTED}
    _added_parameters: ClassVar[dict[str, Any]] = {"order": "random", "max_tries": 10}

    best_assignment_: bool

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        assignment: str = "exact",
        order: str = "random",
        max_tries: int = TRIES,
        init: Any = "k-means++",
        n_init: int | str = "race",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.assignment = assignment
        self.order = order
        self.max_tries = max_tries
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _solve(self, problem: Problem) -> KMeansRun:
        return cop_kmeans(
            problem.X,
            problem.constraints,
            self.n_clusters,
            assignment=self.assignment,
            order=self.order,
            max_tries=self.max_tries,
            init=self.init,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
        )

    def _keep(self, outcome: KMeansRun, samples: Any, constraints: Constraints) -> None:
        super()._keep(outcome, samples, constraints)
        self.best_assignment_ = outcome.best_assignment
