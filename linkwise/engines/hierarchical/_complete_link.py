"""`ConstrainedCompleteLink`: greedy merging in distances that must-links have bent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise.constraints import LINKS, Kind
from linkwise.engines import ConstrainedClusterer, current_progress
from linkwise.engines.agglomeration import EUCLIDEAN_ONLY, LINKAGES, merge_all, merge_groups
from linkwise.engines.distances import adjust, adjust_groups, as_dense, obeys_triangle
from linkwise.engines.hierarchical._dead_ends import LeavesDeadEnds
from linkwise.engines.hierarchical._hierarchy_mixin import HierarchyMixin
from linkwise.problem import Problem
from linkwise.result import Dendrogram


def propagated_linkage(
    problem: Problem,
    X: Any,
    metric: Any,
    *,
    triangle: bool,
    method: str = "complete",
    dtype: npt.DTypeLike = np.float64,
) -> Dendrogram:
    """Build the forest of dense samples ``X`` by propagated distances."""
    hard, n, group = problem.hard, problem.n_samples, problem.group
    linked = problem.n_groups < n
    forbidden = np.ascontiguousarray(hard.cannot) if len(hard.cannot) else None
    apart = hard.apart if len(hard.apart.statement) else None
    if linked and LINKAGES[method] not in EUCLIDEAN_ONLY:
        near = adjust_groups(X, group, metric, dtype, triangle=triangle)
        merges = merge_groups(near, group, method=method, forbidden=forbidden, apart=apart, progress=current_progress())
    else:
        if linked:
            X, metric = adjust(X, group, metric, dtype, triangle=triangle), "precomputed"
        merges = merge_all(
            X,
            method=method,
            metric=metric,
            forced=group if linked else None,
            forbidden=forbidden,
            apart=apart,
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
    dead_end : {"regroup", "raise"}, default="regroup"
        What to do when no legal merge is left above ``n_clusters``: join trees and move samples so that all statements
        hold in ``n_clusters`` clusters, with a warning; or raise `DeadEndError`.

    Attributes
    ----------
    dendrogram_ : Dendrogram
        The tree, or forest, with the clusters of ``labels_`` marked; heights are propagated distances.
    k_min_ : int
        Fewest clusters this run could reach: the number of roots. Any further merge would join a cannot-link.
    dead_end_ : int or None
        Number of clusters at which greedy merging met a dead end, if samples were regrouped because of it.
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
    `ConstrainedAgglomerative`, by propagated distances. See `propagate` for the distances.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "metric_input": ["boolean", None],
        **LeavesDeadEnds._dead_end_constraints,
    }

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
        tree = propagated_linkage(problem, X, metric, triangle=triangle, method=self.linkage, dtype=self.dtype)

        def source() -> tuple[Any, Any]:
            if problem.n_groups == problem.n_samples:
                return X, metric
            return adjust(X, problem.group, metric, self.dtype, triangle=triangle), "precomputed"

        return self._leave_dead_end(tree, problem, source)
