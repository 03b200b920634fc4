"""`ConstrainedAgglomerative`: greedy merging under must-links, cannot-links and the rules δ, ε and γ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise._messages import hint
from linkwise._typing import IntArray
from linkwise.constraints import LINKS, Kind, MaxCentroidDistance, MinSeparation, NeighborWithin, Rule
from linkwise.engines import ConstrainedClusterer, current_progress
from linkwise.engines.agglomeration import merge_all
from linkwise.engines.distances import as_dense, metric_name
from linkwise.engines.hierarchical._dead_ends import LeavesDeadEnds
from linkwise.engines.hierarchical._hierarchy_mixin import HierarchyMixin
from linkwise.exceptions import DeadEndError, UnsupportedConstraintError
from linkwise.problem import Problem, neighbors_within
from linkwise.problem.statements import Hard
from linkwise.result import Dendrogram

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def constrained_linkage(
    problem: Problem, X: Any, metric: Any, *, method: str = "average", dtype: npt.DTypeLike = np.float64
) -> tuple[Dendrogram, int]:
    """Build the forest of dense samples ``X``; return it with the number of clusters merging started from."""
    rules = strictest(problem.constraints.rules)
    epsilon, gamma = rules.get(NeighborWithin), rules.get(MaxCentroidDistance)
    if gamma is not None and metric_name(metric) != "euclidean":
        msg = (
            f"{gamma!r} is about centroids of Euclidean vectors, but the metric is {metric_name(metric)!r}.\n"
            'Hint: pass dense vectors and metric="euclidean", or leave the rule out.'
        )
        raise UnsupportedConstraintError(msg, (type(gamma).__name__,))
    hard = problem.hard
    group = problem.group if len(hard.must) else None
    if isinstance(epsilon, NeighborWithin) and group is not None:
        group = with_neighbors(group, neighbors_within(X, epsilon.epsilon, metric=metric), epsilon.epsilon, hard)
    merges = merge_all(
        X,
        method=method,
        metric=metric,
        forced=group,
        forbidden=np.ascontiguousarray(hard.cannot) if len(hard.cannot) else None,
        apart=hard.apart if len(hard.apart.statement) else None,
        gamma=gamma.gamma if isinstance(gamma, MaxCentroidDistance) else None,
        epsilon=epsilon.epsilon if isinstance(epsilon, NeighborWithin) else None,
        dtype=dtype,
        progress=current_progress(),
    )
    tree = Dendrogram.from_merges(problem.n_samples, merges.pairs, merges.height, ids=problem.constraints.ids)
    return tree, problem.n_samples if group is None else int(group.max(initial=-1)) + 1


def strictest(rules: Iterable[Rule]) -> dict[type[Rule], Rule]:
    """Return one rule of each type: of several, the strictest holds all."""
    found: dict[type[Rule], Rule] = {}
    for rule in rules:
        found[type(rule)] = _stricter(found.get(type(rule)), rule)
    return found


def _stricter(one: Rule | None, other: Rule) -> Rule:
    if isinstance(one, MinSeparation) and isinstance(other, MinSeparation):
        return max(one, other, key=lambda rule: rule.delta)
    if isinstance(one, NeighborWithin) and isinstance(other, NeighborWithin):
        return min(one, other, key=lambda rule: rule.epsilon)
    if isinstance(one, MaxCentroidDistance) and isinstance(other, MaxCentroidDistance):
        return min(one, other, key=lambda rule: rule.gamma)
    return other


def with_neighbors(group: IntArray, near: csr_array, epsilon: float, hard: Hard) -> IntArray:
    """Enlarge must-link groups until each member of a group has an ε-neighbor in it."""
    group = group.copy()
    while True:
        sizes = np.bincount(group, minlength=group.max() + 1)
        rows = np.repeat(np.arange(len(group)), np.diff(near.indptr))
        settled = np.zeros(len(group), dtype=bool)
        settled[rows[group[rows] == group[near.indices]]] = True
        lonely = np.flatnonzero((sizes[group] > 1) & ~settled)
        if not len(lonely):
            return np.unique(group, return_inverse=True)[1].astype(np.intp)
        x = int(lonely[0])
        span = slice(near.indptr[x], near.indptr[x + 1])
        candidates = near.indices[span][np.argsort(near.data[span], kind="stable")]
        rivals = _apart_from(group, int(group[x]), hard)
        legal = [int(y) for y in candidates if group[y] != group[x] and group[y] not in rivals]
        if not legal:
            msg = (
                f"sample {x} is must-linked, but every sample within epsilon={epsilon:g} of it is in a cluster it "
                "cannot join.\n"
                "Hint: must-links, cannot-links and epsilon together are NP-complete; relax epsilon or drop a link."
            )
            raise DeadEndError(msg)
        group[group == group[legal[0]]] = group[x]


def _apart_from(group: IntArray, mine: int, hard: Hard) -> set[int]:
    """Return the groups that a cannot-link or a group apart keeps away from group ``mine``."""
    ends = group[hard.cannot]
    rivals = set(ends[ends[:, 0] == mine, 1].tolist()) | set(ends[ends[:, 1] == mine, 0].tolist())
    owner, members = hard.apart.owner, group[hard.apart.member]
    return rivals | set(members[np.isin(owner, owner[members == mine])].tolist())


class ConstrainedAgglomerative(LeavesDeadEnds, HierarchyMixin, ConstrainedClusterer):
    """Merge closest clusters first, start from the must-links, never join a cannot-link.

    Parameters
    ----------
    dead_end : {"regroup", "raise"}, default="regroup"
        What to do when no legal merge is left above ``n_clusters``: join trees and move samples so that all statements
        hold in ``n_clusters`` clusters, with a warning; or raise `DeadEndError`.

    Attributes
    ----------
    dead_end_ : int or None
        Number of clusters at which greedy merging met a dead end, if samples were regrouped because of it.
    n_regrouped_ : int or None
        Number of samples that left the cluster of their tree because of it.

    See Also
    --------
    ConstrainedCompleteLink : must-links also pull their surroundings together.
    ReCon : hierarchies under relative statements ab|c.

    Notes
    -----
    **Cost** O(n^2) time; O(n d) memory for ward, centroid and median on Euclidean vectors and for single without
    cannot-links, one n x n matrix otherwise. Groups apart are not written out as pairs, except into that matrix. Under
    the rules γ and ε an illegal merge can become legal later: an n x n matrix and up to O(n^3) time.
    **Guarantee** every hard statement holds in ``labels_`` and in every coarser legal cut, re-checked after each fit;
    merging stops only when no two clusters can be merged. A dead end may lie above the smallest feasible number of
    clusters, which is NP-hard to find. Above ``n_clusters`` it is left by joining close trees with few cannot-links
    between them and assigning samples at once under the statements: few of them, or all where neighbors agree better
    with the statements then; samples without an ε-neighbor are then moved until ε holds. Each cluster is merged again,
    by the linkage alone. A dead end is final only where the search for an assignment gives up, or under γ. Must-links,
    cannot-links and ε together are an NP-complete question: `DeadEndError` is raised where the greedy start cannot meet
    them. Statements hold whatever ``metric="precomputed"`` is given; ward, centroid and median then give the tree of
    the vectors if it holds their Euclidean distances, and on other dissimilarities follow the same formula, as SciPy
    does, without that meaning.
    **Departure from** [1]_ cannot-links are tested against the closure of the must-links; ties go to the
    lowest-numbered samples; samples that must-links put into a cluster without an ε-neighbor are first joined to the
    cluster of their nearest one; in the paper a dead end is final.

    References
    ----------
    .. [1] I. Davidson, S. S. Ravi, "Agglomerative hierarchical clustering with constraints: theoretical and empirical
       results", PKDD 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import ConstrainedAgglomerative, Constraints
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 3)], cannot_link=[(0, 1)])
    >>> model = ConstrainedAgglomerative(n_clusters=2).fit(X, constraints=known)
    >>> model.labels_.tolist()
    [0, 1, 1, 0]
    >>> print(model.certificate_)
    All 2 hard statements hold: 1 must-link, 1 cannot-link.
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    understands_rules: ClassVar[frozenset[type[Rule]]] = frozenset({MinSeparation, NeighborWithin, MaxCentroidDistance})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LeavesDeadEnds._dead_end_constraints,
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "average",
        metric: Any = "euclidean",
        distance_threshold: float | None = None,
        dtype: str = "float64",
        dead_end: str = "regroup",
    ) -> None:
        super().__init__(n_clusters, linkage=linkage, metric=metric, distance_threshold=distance_threshold)
        self.dtype = dtype
        self.dead_end = dead_end

    def _solve(self, problem: Problem) -> Dendrogram:
        X, metric = as_dense(problem.X, problem.metric)
        tree, most = constrained_linkage(problem, X, metric, method=self.linkage, dtype=self.dtype)
        if self.n_clusters is not None and self.n_clusters > most:
            msg = (
                f"must-links and the rule about neighbors were met by joining samples into {most} clusters, but "
                f"{self.n_clusters} were asked for.\n"
                f"Hint: {hint(command='-k', python='n_clusters')} up to {most}, a larger epsilon, or fewer must-links."
            )
            raise DeadEndError(msg, tree, tree.n_roots)
        return self._leave_dead_end(tree, problem, lambda: (X, metric))
