"""`COPKMeans`: k-means in which every must-link and cannot-link holds."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from linkwise._compat import Interval, StrOptions
from linkwise._random import make_generator
from linkwise._typing import IntArray
from linkwise.constraints import LINKS, Kind, NeighborWithin, Rule, SizeBetween
from linkwise.engines import REPORTED, ConstrainedClusterer, Kept
from linkwise.engines.assignment import (
    ExactPlaces,
    GreedyPlaces,
    NearPlaces,
    Neighborhoods,
    Place,
    SizedPlaces,
    size_bounds,
)
from linkwise.engines.partitional._centroid_mixin import CentroidMixin
from linkwise.engines.partitional._init import INITS, Start, read_init
from linkwise.engines.partitional._loop import TRIES, USUAL, KMeansRun, Loop, expand, run_from_starts
from linkwise.exceptions import GaveUpError, UnsupportedConstraintError
from linkwise.problem import Problem
from linkwise.problem.statements import mean_rows


def cop_kmeans(
    problem: Problem,
    *,
    assignment: str = "exact",
    order: str = "random",
    max_tries: int = TRIES,
    init: Any = "k-means++",
    loop: Loop = USUAL,
    random_state: Any = None,
    near_in: Problem | None = None,
) -> KMeansRun:
    """Run `COPKMeans` on a problem whose statements are all hard.

    ``near_in`` is the problem whose samples ε is about, where those of ``problem`` are their images.
    """
    k, cloud, rng = problem.k, problem.contract(), make_generator(random_state)
    bounds = size_bounds(problem.constraints)
    near = Neighborhoods.of(problem if near_in is None else near_in, cloud)
    if assignment == "greedy" and (bounds is not None or near is not None):
        word = "NeighborWithin" if bounds is None else "SizeBetween"
        msg = f'{problem.who} does not support {word} with assignment="greedy".\nHint: use assignment="exact".'
        raise UnsupportedConstraintError(msg, (word,))

    def place() -> Place:
        if near is not None:
            return NearPlaces(wish(), near)
        return wish()

    def wish() -> Place:
        if bounds is not None:
            return SizedPlaces(cloud, bounds, problem.witness)
        if assignment == "greedy":
            given = rng if order == "random" else np.arange(problem.n_samples)
            return GreedyPlaces(cloud, problem.X, problem.constraints, given)
        return ExactPlaces(cloud, problem.witness)

    if isinstance(init, str) and init == "feasible":
        init = _means_of(problem.witness(), problem.X)
    start = Start(read_init(init, k, problem.X.shape[1], problem.who), cloud, k, rng)
    try:
        ended = run_from_starts(cloud, start, place, loop, problem.X, max_tries if assignment == "greedy" else TRIES)
    except GaveUpError as stuck:
        if stuck.statements:  # perhaps there is no solution
            problem.verdict.raise_if_infeasible()
        raise
    return expand(ended, problem)


def _means_of(labels: IntArray, X: Any) -> Any:
    """Centers of the clusters of some labels."""
    return mean_rows(X, labels, np.bincount(labels).astype(np.float64))


class COPKMeans(CentroidMixin, ConstrainedClusterer):
    """k-means in which every must-link and cannot-link holds.

    Parameters
    ----------
    assignment : {"exact", "greedy"}, default="exact"
        "exact" assigns all samples together at minimum cost; "greedy" one after the other as in [1]_, which can fail
        although a clustering exists.
    order : {"random", "given"}, default="random"
        Order of the samples in "greedy": drawn for each run, or that of the rows of X.
    max_tries : int, default=10
        Maximum number of starts of "greedy" per run, each with its own order; a start that fails is replaced by the
        next. With ``order="given"`` and given centers there is only one try.
    init : {"k-means++", "neighborhoods", "feasible"} or array-like of shape (n_clusters, n_features)
        Initial centers: drawn far from each other, the means of must-linked groups, those of some clustering in which
        all statements hold (the witness of `check`, found without regard to the data), or given.

    Attributes
    ----------
    best_assignment_ : bool
        Whether each step of that run was shown to assign at minimum cost.

    See Also
    --------
    ConstrainedKMeans : keeps the seeds in the clusters they started.
    SeededKMeans : uses the statements for the start only.

    Notes
    -----
    **Cost** O(n d k) per iteration, as k-means, plus the assignment of the samples in cannot-links: O(k) to O(k^2)
    each where these form pairs, cliques or trees, a bounded search elsewhere. Sizes: O(n k log n + n k^2) per
    iteration. ε: the pairs within it are stored; a repair is a loop in Python over the samples that need one.
    **Guarantee** every hard statement holds in ``labels_``, re-checked after each fit; all ``n_clusters`` clusters
    have samples: an empty one takes the sample farthest from its center; the inertia never rises from one half-step to
    the next ("exact"). Given the centers, "exact" assigns at minimum cost wherever cannot-links form cliques, trees or
    small components, as ``best_assignment_`` reports; in larger ones no swap of two clusters along a chain is better.
    With sizes the same holds without other statements. With ε (`NeighborWithin`) labels are repaired after each
    assignment until every sample has a neighbor in its cluster; then no sample can move at lower cost alone. If there
    is no solution, an error explains why; `GaveUpError` means that the search found neither a clustering nor a proof
    that there is none: often with "greedy", with "exact" only when coloring the cannot-links with ``n_clusters`` colors
    is too hard, or under ε.
    **Departure from** [1]_ "exact" moves must-linked samples as one, weighted by their number; [2]_ does so without
    weights. A failed assignment does not count as a proof of infeasibility. An empty cluster takes the sample farthest
    from its center. ``assignment="greedy", order="given", max_tries=1, n_init=1, tol=0.0`` is the algorithm of [1]_:
    rows in the order of the file, the first of must-linked samples chooses for all, one try, and an error if it fails.
    It need not converge: labels can cycle until ``max_iter`` iterations are done.

    References
    ----------
    .. [1] K. Wagstaff, C. Cardie, S. Rogers, S. Schroedl, "Constrained K-means Clustering with Background Knowledge",
       ICML 2001.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

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
    understands_rules: ClassVar[frozenset[type[Rule]]] = frozenset({SizeBetween, NeighborWithin})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "init": [StrOptions({*INITS, "feasible"}), "array-like"],
        "assignment": [StrOptions({"exact", "greedy"})],
        "order": [StrOptions({"random", "given"})],
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
        super().__init__(n_clusters, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.assignment = assignment
        self.order = order
        self.max_tries = max_tries
        self.init = init

    def _solve(self, problem: Problem) -> KMeansRun:
        return cop_kmeans(
            problem,
            assignment=self.assignment,
            order=self.order,
            max_tries=self.max_tries,
            init=self.init,
            loop=Loop.of(self),
            random_state=self.random_state,
        )

    def _keep(self, outcome: KMeansRun, problem: Problem) -> None:
        super()._keep(outcome, problem)
        self.best_assignment_ = outcome.best_assignment
