"""Complete link in a space bent by must-links: constrained complete-link clustering."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise._compat import StrOptions
from linkwise.constraints import Constraints, Kind
from linkwise.engines import ConstrainedClusterer, current_progress
from linkwise.engines.agglomeration import LINKAGES, merge_all, read_either, require_fitting
from linkwise.engines.distances import adjust, as_dense, metric_name, obeys_triangle, read_links
from linkwise.engines.hierarchical._dead_ends import LeavesDeadEnds
from linkwise.engines.hierarchical._hierarchy_mixin import HierarchyMixin, mark
from linkwise.problem import Problem
from linkwise.result import Dendrogram


def propagated_linkage(
    X: Any,
    constraints: Constraints,
    *,
    method: str = "complete",
    metric: Any = "euclidean",
    metric_input: bool | None = None,
    dtype: npt.DTypeLike = np.float64,
) -> Dendrogram:
    """Build the forest that merges closest clusters first where must-links have brought their surroundings together.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite vectors, or square dissimilarities with ``metric="precomputed"``. Not modified.
    constraints : Constraints
        Must-links and cannot-links, groups together and groups apart; all are taken as hard.
    method : {"complete", "single", "average", "weighted", "ward", "centroid", "median"}, default="complete"
        How the distance of two clusters follows from their members.
    metric : str or callable, default="euclidean"
        How vectors are compared.
    metric_input : bool, optional
        Whether the dissimilarities obey the triangle inequality; see `propagate`.
    dtype : {float64, float32}, default=float64
        Type to compute in.

    Returns
    -------
    Dendrogram
        One tree, or a forest when no legal merge is left; its number of roots is the k_min that was reached.

    Raises
    ------
    InfeasibleConstraintsError
        The statements contradict each other.

    Notes
    -----
    **Cost** that of `propagate` and then of `agglomerate`, with one and a half n x n matrices; without must-links that
    of `constrained_linkage`. **Guarantee** must-linked samples are merged first, at height 0; no merge joins a
    cannot-link; merging stops only when no pair of clusters can be merged. **Departure from** [1]_ the paper goes on,
    merging across cannot-links above all other distances. Here the roots are what is left at the first such merge.

    References
    ----------
    .. [1] D. Klein, S. D. Kamvar, C. D. Manning, "From Instance-level Constraints to Space-Level Constraints: Making
       the Most of Prior Knowledge in Data Clustering", ICML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import constrained_linkage, propagated_linkage
    >>> X = np.array([[0.0], [1.0], [4.0], [9.0], [10.0]])
    >>> known = Constraints.build(5, must_link=[(0, 4)])
    >>> propagated_linkage(X, known).cut(n_clusters=2).tolist()  # 1 and 3 are near what is linked
    [0, 0, 1, 0, 0]
    >>> constrained_linkage(X, known, method="complete").cut(n_clusters=2).tolist()
    [0, 1, 1, 1, 0]
    """
    who = "propagated_linkage"
    require_fitting(method, metric_name(metric, who=who), who=who)
    X = read_either(X, metric_name(metric, who=who), who=who)
    links = read_links(constraints, who=who, write_out=False)
    apart = constraints.groups_of(Kind.APART)
    source, n = X, constraints.n_samples
    forced = None
    if len(links.size) < n:
        from scipy.spatial.distance import squareform

        forced = links.group
        near = adjust(X, links, metric, dtype, triangle=obeys_triangle(metric, metric_input), far=False)
        source = squareform(near, checks=False)  # half the memory while merging, and no doubt about its symmetry
        del near
        metric = "precomputed"
    first = np.full(len(links.size), -1, dtype=np.intp)
    first[links.group[::-1]] = np.arange(n)[::-1]  # a sample that speaks for its component
    merges = merge_all(
        source,
        method=method,
        metric=metric,
        forced=forced,
        forbidden=np.ascontiguousarray(first[links.apart]) if len(links.apart) else None,
        apart=apart if len(apart.statement) else None,
        dtype=dtype,
        progress=current_progress(),
    )
    return Dendrogram.from_merges(n, merges.pairs, merges.height, ids=constraints.ids)


class ConstrainedCompleteLink(LeavesDeadEnds, HierarchyMixin, ConstrainedClusterer):
    """Let must-links pull their surroundings together, then merge closest clusters first, never across a cannot-link.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters of the cut. None with no ``distance_threshold``: as few as the statements allow.
    linkage : {"complete", "single", "average", "weighted", "ward", "centroid", "median"}, default="complete"
        How the distance of two clusters follows from their members.
    metric : str or callable, default="euclidean"
        How samples are compared, or ``"precomputed"``.
    metric_input : bool or None, default=None
        Whether the dissimilarities obey the triangle inequality, which makes propagation quicker. None: known metrics
        do, everything else does not.
    distance_threshold : float or None, default=None
        Cut at this height, in propagated distances, instead of at a number of clusters; needs ``n_clusters=None``.
    dtype : {"float64", "float32"}, default="float64"
        Type to compute in; single precision halves the memory and may swap near-ties.
    dead_end : {"regroup", "raise"}, default="regroup"
        What to do when no legal merge is left above ``n_clusters``: divide the samples anew, so that all statements
        hold in ``n_clusters`` clusters, and give each its own tree, with a warning; or raise `DeadEndError`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, numbered by first appearance.
    dendrogram_ : Dendrogram
        The tree, or forest, with the clusters of ``labels_`` marked; heights are propagated distances.
    certificate_ : Certificate
        What the independent check found to hold.
    k_min_ : int
        Fewest clusters this run could reach: the number of roots. Any further merge would join a cannot-link.
    dead_end_ : int or None
        Number of clusters at which greedy merging met a dead end, if the samples were divided anew because of it.
    n_clusters_, n_leaves_, n_connected_components_, children_, distances_
        As in scikit-learn's `AgglomerativeClustering`.
    constraints_ : Constraints
        The statements in force, numbered like the rows of X.
    dropped_ : Constraints
        The soft statements that were left out.

    See Also
    --------
    propagate : the dissimilarities this method clusters.
    ConstrainedAgglomerative : the same merging where links say nothing about the surroundings.

    Notes
    -----
    Statements are taken as typical: that two samples belong together suggests that their neighbors do. Where they are
    meant to correct single outliers, `ConstrainedAgglomerative` is the better choice. Under complete link a cannot-link
    spreads by merging: who joins one side can no longer join the other.

    **Cost** O(n^2 p) time at worst for p must-linked components, one and a half n x n matrices; without must-links as
    `ConstrainedAgglomerative`. **Guarantee** every hard statement holds in ``labels_`` and in every coarser legal cut,
    re-checked after each fit. **Departure from** [1]_ must-linked samples are merged before all others rather than
    trusted to be closest; merging stops where it would cross a cannot-link, and dead ends are left as in
    `ConstrainedAgglomerative`, by propagated distances; see also `propagate`.

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

    understands: ClassVar[frozenset[Kind]] = frozenset({Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TOGETHER, Kind.APART})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HierarchyMixin._parameter_constraints,
        "linkage": [StrOptions(set(LINKAGES))],
        "metric": [str, callable],
        "metric_input": ["boolean", None],
        "dtype": [StrOptions({"float32", "float64"})],
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
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.metric = metric
        self.metric_input = metric_input
        self.distance_threshold = distance_threshold
        self.dtype = dtype
        self.dead_end = dead_end

    def _solve(self, problem: Problem) -> Dendrogram:
        triangle = obeys_triangle(problem.metric, self.metric_input)
        X, metric = as_dense(problem.X, problem.metric)
        known = problem.constraints
        tree = propagated_linkage(X, known, method=self.linkage, metric=metric, metric_input=triangle, dtype=self.dtype)
        links = read_links(known, who="ConstrainedCompleteLink", write_out=False)

        def source() -> tuple[Any, Any]:
            if len(links.size) == known.n_samples:
                return X, metric
            return adjust(X, links, metric, self.dtype, triangle=triangle, far=False), "precomputed"

        return self._leave_dead_end(tree, links.group, known, source)

    def _keep(self, outcome: Dendrogram, problem: Problem) -> None:
        labels = self._cut(outcome, problem.constraints)
        tree = mark(outcome, labels)
        self._keep_tree(tree, labels, self._certify(tree, problem), problem.X)
