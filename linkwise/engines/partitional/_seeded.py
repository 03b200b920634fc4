"""`SeededKMeans` and `ConstrainedKMeans`: k-means from seeds, which may move later or stay in their clusters."""

from __future__ import annotations

from typing import ClassVar

from linkwise._random import make_generator
from linkwise.constraints import LINKS, Constraints, Kind, NeighborWithin, Rule, SizeBetween
from linkwise.engines import ConstrainedClusterer
from linkwise.engines.assignment import (
    FixedPlaces,
    FixedSizedPlaces,
    FreePlaces,
    NearPlaces,
    Neighborhoods,
    Place,
    SizedPlaces,
    size_bounds,
)
from linkwise.engines.partitional._centroid_mixin import CentroidMixin
from linkwise.engines.partitional._init import Start
from linkwise.engines.partitional._loop import KMeansRun, Loop, expand, run_from_starts
from linkwise.problem import Problem


class SeededKMeans(CentroidMixin, ConstrainedClusterer):
    """Start k-means from the means of must-linked samples; statements are not enforced afterwards.

    See Also
    --------
    ConstrainedKMeans : keeps the seeds in the clusters they started.
    COPKMeans : keeps all statements; samples may change clusters.

    Notes
    -----
    With more groups of must-linked samples than clusters, large groups far from each other start the clusters; with
    fewer, k-means++ adds the missing centers. **Cost** O(n d k) per iteration, as k-means. **Guarantee** none about the
    statements: broken ones cause a warning and are listed in ``certificate_``; bounds on sizes hold, with each
    assignment at minimum cost; the inertia never rises, and all clusters have samples. **Departure from** [1]_ seeds
    are given as statements, so clusters have no names; missing seeds are chosen far from those given, where the paper
    draws them near the mean of all samples.

    References
    ----------
    .. [1] S. Basu, A. Banerjee, R. J. Mooney, "Semi-supervised Clustering by Seeding", ICML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import SeededKMeans
    >>> X = np.array([[0.0], [1.0], [4.0], [8.0], [9.0]])
    >>> seeds = Constraints.from_labels([0, 0, -1, 1, 1])
    >>> SeededKMeans(2).fit(X, constraints=seeds).labels_.tolist()
    [0, 0, 0, 1, 1]
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    understands_rules: ClassVar[frozenset[type[Rule]]] = frozenset({SizeBetween, NeighborWithin})
    best_effort: ClassVar[bool] = True
    _keeps_instead: ClassVar[str] = "ConstrainedKMeans starts from the same seeds and keeps them."

    def _judge(self, problem: Problem) -> None:
        problem.verdict.raise_if_infeasible()  # seeds are not enforced, so the assignment would not detect a conflict

    def _solve(self, problem: Problem) -> KMeansRun:
        start = Start("neighborhoods", problem.contract(), self.n_clusters, make_generator(self.random_state))
        rules = problem.constraints.rules
        free = Problem(problem.X, Constraints.build(problem.n_samples, rules=rules), n_clusters=problem.n_clusters)
        cloud, bounds = free.contract(), size_bounds(free.constraints)

        near = Neighborhoods.of(free, cloud)

        def place() -> Place:
            wish = FreePlaces(cloud) if bounds is None else SizedPlaces(cloud, bounds, free.witness)
            return wish if near is None else NearPlaces(wish, near)

        return expand(run_from_starts(cloud, start, place, Loop.of(self), problem.X), free)


class ConstrainedKMeans(CentroidMixin, ConstrainedClusterer):
    """Start k-means from the means of must-linked samples, and keep these samples in their first clusters.

    See Also
    --------
    SeededKMeans : the seeds may change clusters after the start.
    COPKMeans : assigns the seeds again in every iteration, which fits the data better.

    Notes
    -----
    With more groups of must-linked samples than clusters, large groups far from each other start the clusters; with
    fewer, k-means++ adds the missing centers. **Cost** O(n d k) per iteration, as k-means, and one assignment of the
    seeds as in `COPKMeans`. **Guarantee** every hard statement and bound on sizes holds, re-checked after each fit; the
    inertia never rises; all clusters have samples. **Departure from** [1]_ seeds are given as statements: all groups
    are assigned to the first centers at minimum cost, so groups without a cannot-link between them may share a cluster;
    missing seeds are chosen far from those given.

    References
    ----------
    .. [1] S. Basu, A. Banerjee, R. J. Mooney, "Semi-supervised Clustering by Seeding", ICML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import ConstrainedKMeans
    >>> X = np.array([[0.0], [5.0], [5.5], [8.0], [9.0]])
    >>> seeds = Constraints.from_labels([0, 0, -1, 1, 1])
    >>> ConstrainedKMeans(2).fit(X, constraints=seeds).labels_.tolist()
    [0, 0, 0, 1, 1]
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    understands_rules: ClassVar[frozenset[type[Rule]]] = frozenset({SizeBetween, NeighborWithin})

    def _solve(self, problem: Problem) -> KMeansRun:
        cloud = problem.contract()
        start = Start("neighborhoods", cloud, self.n_clusters, make_generator(self.random_state))
        bounds = size_bounds(problem.constraints)

        near = Neighborhoods.of(problem, cloud)

        def place() -> Place:
            fixed: Place = FixedPlaces(cloud, problem.witness)
            if bounds is not None:
                fixed = FixedSizedPlaces(cloud, bounds, problem.witness)
            return fixed if near is None else NearPlaces(fixed, near)

        return expand(run_from_starts(cloud, start, place, Loop.of(self), problem.X), problem)
