"""`ConstrainedCompleteLink`: greedy merging in distances that must-links have bent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise._compat import StrOptions
from linkwise._typing import IntArray
from linkwise.constraints import LINKS, Constraints, Kind, NeighborWithin, Rule
from linkwise.engines import ConstrainedClusterer, current_progress
from linkwise.engines.agglomeration import EUCLIDEAN_ONLY, LINKAGES, merge_all, merge_groups
from linkwise.engines.distances import adjust, adjust_groups, as_dense, obeys_triangle
from linkwise.engines.hierarchical._agglomerative import strictest, with_neighbors
from linkwise.engines.hierarchical._dead_ends import LeavesDeadEnds
from linkwise.engines.hierarchical._hierarchy_mixin import HierarchyMixin
from linkwise.problem import Problem, neighbors_within
from linkwise.result import Dendrogram


def propagated_linkage(
    problem: Problem,
    X: Any,
    metric: Any,
    *,
    triangle: bool,
    method: str = "complete",
    dtype: npt.DTypeLike = np.float64,
    across: bool = False,
) -> Dendrogram:
    """Build the forest of dense samples ``X`` by propagated distances.

    With ``across`` cannot-linked samples are only farther apart than all others, so that there is one tree.
    """
    hard, n, group = problem.hard, problem.n_samples, problem.group
    forbidden = np.ascontiguousarray(hard.cannot) if len(hard.cannot) and not across else None
    apart = hard.apart if len(hard.apart.statement) and not across else None
    epsilon = strictest(problem.constraints.rules).get(NeighborWithin)
    grouped = int(group.max(initial=-1)) + 1 < n
    if grouped and not across and epsilon is None and LINKAGES[method] not in EUCLIDEAN_ONLY:
        bent = adjust_groups(X, group, metric, dtype, triangle=triangle)
        merges = merge_groups(bent, group, method=method, forbidden=forbidden, apart=apart, progress=current_progress())
        return Dendrogram.from_merges(n, merges.pairs, merges.height, ids=problem.constraints.ids)
    forced = group if grouped else None
    if grouped or across:
        from scipy.spatial.distance import squareform

        far = problem.apart.pairs() if across else None
        square = adjust(X, group, metric, dtype, triangle=triangle, far=far)
        X, metric = squareform(square, checks=False), "precomputed"  # half the memory while merging, surely symmetric
        del square
    near = None
    if isinstance(epsilon, NeighborWithin):  # in the distances given
        near = neighbors_within(problem.X, epsilon.epsilon, metric=problem.metric)
        if forced is not None:
            forced = with_neighbors(forced, near, epsilon.epsilon, hard)
    merges = merge_all(
        X,
        method=method,
        metric=metric,
        forced=forced,
        forbidden=forbidden,
        apart=apart,
        near=near,
        dtype=dtype,
        progress=current_progress(),
    )
    return Dendrogram.from_merges(n, merges.pairs, merges.height, ids=problem.constraints.ids)


class ConstrainedCompleteLink(LeavesDeadEnds, HierarchyMixin, ConstrainedClusterer):
    """Let must-links pull their surroundings together, then merge closest clusters first, never across a cannot-link.

    Parameters
    ----------
    metric_input : bool or None, default=None
        Whether the dissimilarities obey the triangle inequality, which makes propagation quicker. None: known metrics
        do, everything else does not.
    distance_threshold : float or None, default=None
        Cut at this height, in propagated distances, instead of at a number of clusters; needs ``n_clusters=None``.
    dead_end : {"regroup", "raise", "merge_on"}, default="regroup"
        What to do when no legal merge is left above ``n_clusters``: join trees and move samples so that all statements
        hold in ``n_clusters`` clusters, with a warning; raise `DeadEndError`; or, as printed in [1]_, merge on across
        cannot-links up to one tree, with a warning that lists what its ``n_clusters`` clusters break.

    Attributes
    ----------
    dendrogram_ : Dendrogram
        The tree, or forest, with the clusters of ``labels_`` marked; heights are propagated distances. Merges across
        cannot-links are twice as high as the largest of these.
    k_min_ : int
        Fewest clusters this run could reach: the number of roots. Any further merge would join a cannot-link.
    dead_end_ : int or None
        Number of clusters at which greedy merging met a dead end, if samples were regrouped because of it; with
        "merge_on" that of the first merge across a cannot-link, whatever the cut.
    n_regrouped_ : int or None
        Number of samples that left the cluster of their tree because of it.

    See Also
    --------
    propagate : the dissimilarities this method clusters.
    ConstrainedAgglomerative : the same merging, where links do not change the surroundings.

    Notes
    -----
    Statements are taken as typical: that two samples belong together suggests that their neighbors do. Where they are
    meant to correct single outliers, `ConstrainedAgglomerative` is the better choice. Under complete link a cannot-link
    spreads by merging: a sample that joins one side can no longer join the other.

    **Cost** O(n^2 p) time at worst for p must-linked components, one n x n matrix; without must-links as
    `ConstrainedAgglomerative`. **Guarantee** must-linked samples are merged first, at height 0; no merge joins a
    cannot-link, and merging stops only when no two clusters can be merged. Every hard statement holds in ``labels_``
    and in every coarser legal cut, re-checked after each fit. **Departure from** [1]_ must-linked samples are merged
    before all others rather than trusted to be closest. The paper merges on across cannot-links, above all other
    distances; here the roots are the clusters at the first such merge, and dead ends are left as in
    `ConstrainedAgglomerative`, by propagated distances. ``dead_end="merge_on"`` is the paper's rule and promises
    nothing about cannot-links below the level ``dead_end_``; all merges across them have the same height, so that ties
    decide among them. See `propagate` for the distances. ε (`NeighborWithin`), which is not in the paper, is about
    the distances given, and kept as in `ConstrainedAgglomerative`.

    References
    ----------
    .. [1] D. Klein, S. D. Kamvar, C. D. Manning, "From Instance-level Constraints to Space-Level Constraints: Making
       the Most of Prior Knowledge in Data Clustering", ICML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import ConstrainedCompleteLink, Constraints
    >>> X = np.array([[0.0], [1.0], [4.0], [9.0], [10.0]])
    >>> model = ConstrainedCompleteLink(n_clusters=2).fit(X, constraints=Constraints.build(5, must_link=[(0, 4)]))
    >>> model.labels_.tolist()
    [0, 0, 1, 0, 0]
    >>> print(model.certificate_)
    The 1 hard statement holds: 1 must-link.
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    understands_rules: ClassVar[frozenset[type[Rule]]] = frozenset({NeighborWithin})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "metric_input": ["boolean", None],
        "dead_end": [StrOptions({"regroup", "raise", "merge_on"})],
    }
    _keeps_instead: ClassVar[str] = 'dead_end="regroup" keeps all statements.'

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "complete",
        metric: Any = "euclidean",
        metric_input: bool | None = None,
        distance_threshold: float | None = None,
        dtype: str = "float64",
        dead_end: str = "regroup",
    ) -> None:
        super().__init__(n_clusters, linkage=linkage, metric=metric, distance_threshold=distance_threshold)
        self.metric_input = metric_input
        self.dtype = dtype
        self.dead_end = dead_end

    def _solve(self, problem: Problem) -> Dendrogram:
        triangle = obeys_triangle(problem.metric, self.metric_input)
        X, metric = as_dense(problem.X, problem.metric)
        across = self.dead_end == "merge_on"
        tree = propagated_linkage(
            problem, X, metric, triangle=triangle, method=self.linkage, dtype=self.dtype, across=across
        )
        if across:
            self._note_crossing(tree, problem)
            return tree

        def source() -> tuple[Any, Any]:
            if problem.n_groups == problem.n_samples:
                return X, metric
            return adjust(X, problem.group, metric, self.dtype, triangle=triangle), "precomputed"

        return self._leave_dead_end(tree, problem, source)

    def _note_crossing(self, tree: Dendrogram, problem: Problem) -> None:
        """Keep the number of clusters at the first merge across a cannot-link."""
        self.dead_end_ = self.n_regrouped_ = None
        first = np.unique(problem.group, return_index=True)[1]
        joins = tree.lca(*first[problem.apart.pairs()].T)
        joins = joins[joins >= 0]  # ε may leave several trees
        if len(joins):
            self.dead_end_ = 2 * tree.n_samples - int(joins.min())

    def _cut(self, tree: Dendrogram, constraints: Constraints) -> IntArray:
        if self._may_break and self.n_clusters is None and self.distance_threshold is None and self.dead_end_:
            return tree.cut(n_clusters=self.dead_end_)
        return super()._cut(tree, constraints)

    @property
    def _may_break(self) -> bool:
        return self.dead_end == "merge_on"

    @property
    def _breaker(self) -> str:
        return 'ConstrainedCompleteLink with dead_end="merge_on"' if self._may_break else super()._breaker
