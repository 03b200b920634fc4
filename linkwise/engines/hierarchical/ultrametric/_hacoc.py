"""`HACoc`: greedy merging of pairs that break no triplet while there are any, then of those that break fewest."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._compat import StrOptions
from linkwise._kernels import njit
from linkwise._memory import require_memory
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.engines import current_progress
from linkwise.engines.agglomeration import EUCLIDEAN_ONLY, LINKAGES, lance_williams
from linkwise.engines.hierarchical import HierarchyMixin
from linkwise.engines.hierarchical.ultrametric._base import Triplets, _BestEffortTriplets, distances_of
from linkwise.problem import Problem
from linkwise.result import Dendrogram


class State(NamedTuple):
    """Clusters in slots; those that triplets speak about also have an item, under which merges are judged."""

    D: FloatArray
    size: FloatArray
    node: IntArray  # of each slot; -1 once merged away
    near: IntArray  # nearest slot above with which a merge breaks nothing; -1 if there is none
    gap: FloatArray  # its distance
    item: IntArray  # of each slot; -1 if no triplet speaks about it
    breaks: npt.NDArray[np.int32]  # (items, items): triplets that a merge would break
    trio: IntArray  # (triplets, 3): items
    live: BoolArray
    first: IntArray  # triplets of an item, as chains of places (3 t + column) in `after`
    last: IntArray
    length: IntArray
    after: IntArray
    pairs: IntArray
    height: FloatArray
    done: IntArray  # one number


def _make_state(D: FloatArray, triplets: Triplets) -> State:
    n, m = len(D), len(triplets.a)
    involved, trio = np.unique(np.column_stack(triplets), return_inverse=True)
    trio = np.ascontiguousarray(trio.reshape(m, 3), dtype=np.intp)
    q = len(involved)
    require_memory(q * q * 4, f"a table of {q} x {q} pairs that triplets speak about", "ReCon needs no such table.")
    breaks = np.zeros((q, q), np.int32)
    for column in (0, 1):
        np.add.at(breaks, (trio[:, column], trio[:, 2]), 1)
        np.add.at(breaks, (trio[:, 2], trio[:, column]), 1)
    item = np.full(n, -1, np.intp)
    item[involved] = np.arange(q)
    order = np.argsort(trio.ravel(), kind="stable")  # places by item
    edge = np.searchsorted(trio.ravel()[order], np.arange(q + 1))
    after = np.full(3 * m, -1, np.intp)
    after[order[:-1]] = order[1:]
    after[order[edge[1:] - 1]] = -1
    return State(
        D=D,
        size=np.ones(n),
        node=np.arange(n),
        near=np.full(n, -1, np.intp),
        gap=np.full(n, np.inf),
        item=item,
        breaks=breaks,
        trio=trio,
        live=np.ones(m, np.bool_),
        first=order[edge[:-1]].astype(np.intp),
        last=order[edge[1:] - 1].astype(np.intp),
        length=np.diff(edge).astype(np.intp),
        after=after,
        pairs=np.empty((n - 1, 2), np.intp),
        height=np.empty(n - 1),
        done=np.zeros(1, np.intp),
    )


@njit
def _look(s: State, i: int) -> None:
    """Find the nearest slot above ``i`` that it may join."""
    best = np.inf
    near = -1
    mine = s.item[i]
    for j in range(i + 1, len(s.node)):
        if s.node[j] >= 0 and s.D[i, j] < best:
            if mine >= 0 and s.item[j] >= 0 and s.breaks[mine, s.item[j]] > 0:
                continue
            best = s.D[i, j]
            near = j
    s.near[i] = near
    s.gap[i] = best


@njit
def _least_harm(s: State) -> tuple[int, int]:
    """The pair that breaks the fewest triplets, and among those the closest."""
    best_i = -1
    best_j = -1
    for i in range(len(s.node)):
        if s.node[i] < 0:
            continue
        for j in range(i + 1, len(s.node)):
            if s.node[j] < 0:
                continue
            # every pair breaks something now, so both have items
            harm = s.breaks[s.item[i], s.item[j]]
            if best_i >= 0:
                least = s.breaks[s.item[best_i], s.item[best_j]]
                if harm > least or (harm == least and s.D[i, j] >= s.D[best_i, best_j]):
                    continue
            best_i = i
            best_j = j
    return best_i, best_j


@njit
def _unite_items(s: State, p: int, q: int) -> int:
    """Settle the triplets that speak about both items, rename one to the other in the rest; return what is left."""
    if s.length[p] < s.length[q]:
        p, q = q, p
    place = s.first[q]
    while place >= 0:
        t = place // 3
        if s.live[t]:
            a, b, c = s.trio[t]
            if p in (a, b, c):  # kept when p and q are a and b, broken when one of them is c
                s.live[t] = False
                s.breaks[a, c] -= 1
                s.breaks[c, a] -= 1
                s.breaks[b, c] -= 1
                s.breaks[c, b] -= 1
        place = s.after[place]
    place = s.first[q]
    while place >= 0:
        s.trio[place // 3, place % 3] = p
        place = s.after[place]
    for x in range(len(s.length)):
        s.breaks[p, x] += s.breaks[q, x]
        s.breaks[q, x] = 0
    for x in range(len(s.length)):
        s.breaks[x, p] += s.breaks[x, q]
        s.breaks[x, q] = 0
    s.after[s.last[p]] = s.first[q]
    s.last[p] = s.last[q]
    s.length[p] += s.length[q]
    return p


@njit
def _merge(s: State, method: int, i: int, j: int) -> None:
    """Join slot ``i`` into the higher slot ``j``."""
    n = len(s.node)
    t = s.done[0]
    s.pairs[t, 0] = min(s.node[i], s.node[j])
    s.pairs[t, 1] = max(s.node[i], s.node[j])
    s.height[t] = s.D[i, j]
    s.done[0] = t + 1
    apart = s.D[i, j]
    s.node[i] = -1
    for k in range(n):
        if s.node[k] >= 0 and k != j:
            d = lance_williams(method, s.D[i, k], s.D[j, k], apart, s.size[i], s.size[j], s.size[k])
            s.D[j, k] = d
            s.D[k, j] = d
    s.size[j] += s.size[i]
    s.node[j] = n + t
    if s.item[i] >= 0:
        s.item[j] = s.item[i] if s.item[j] < 0 else _unite_items(s, s.item[i], s.item[j])
    # Which merges are harmless changes for the new cluster only, so all other rows keep their nearest.
    _look(s, j)
    for k in range(j):
        if s.node[k] < 0:
            continue
        if s.near[k] == i or s.near[k] == j:
            _look(s, k)
        elif s.D[k, j] < s.gap[k] and (s.item[k] < 0 or s.item[j] < 0 or s.breaks[s.item[k], s.item[j]] == 0):
            s.near[k] = j
            s.gap[k] = s.D[k, j]


@njit
def _advance(s: State, method: int, steps: int) -> None:
    n = len(s.node)
    if s.done[0] == 0:
        for i in range(n):
            _look(s, i)
    for _ in range(steps):
        if s.done[0] == n - 1:
            return
        i = -1
        for k in range(n):
            if s.node[k] >= 0 and s.near[k] >= 0 and (i < 0 or s.gap[k] < s.gap[i]):
                i = k
        if i >= 0:
            _merge(s, method, i, s.near[i])
        else:
            i, j = _least_harm(s)
            _merge(s, method, i, j)


def hacoc(problem: Problem, *, method: str = "average") -> Dendrogram:
    """Build the tree of `HACoc`."""
    code, n = LINKAGES[method], problem.n_samples
    D = distances_of(problem).square()
    if code in EUCLIDEAN_ONLY:
        np.square(D, out=D)
    state = _make_state(D, Triplets.of(problem))
    progress = current_progress()
    while state.done[0] < n - 1:
        _advance(state, code, max(1, 50_000_000 // n))
        if progress is not None:
            progress(int(state.done[0]), n - 1)
    height = np.sqrt(np.maximum(state.height, 0.0)) if code in EUCLIDEAN_ONLY else state.height
    return Dendrogram.from_merges(n, state.pairs, height, ids=problem.constraints.ids)


class HACoc(_BestEffortTriplets):
    """Merge closest clusters first among those whose merge breaks no triplet right away; a baseline.

    No triplet is guaranteed: a tree that breaks some is returned, with a warning. ``satisfied_`` is the share kept.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters of the cut; None with no ``distance_threshold`` gives one cluster.
    linkage : {"average", "single", "complete", "weighted", "ward", "centroid", "median"}, default="average"
        How the distance of two clusters follows from their members.
    metric : str or callable, default="euclidean"
        How samples are compared, or ``"precomputed"``.
    distance_threshold : float or None, default=None
        Cut at this height instead of at a number of clusters; needs ``n_clusters=None``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, numbered by first appearance.
    dendrogram_ : Dendrogram
        The tree, with the clusters of ``labels_`` marked. ``raw_height`` holds the distances at which clusters merged,
        which need not rise; ``height`` does.
    satisfied_ : float
        Share of the statements in force that the tree keeps, by the independent check; 1.0 when there are none.
    certificate_ : Certificate
        What the independent check found, with every broken statement.
    n_clusters_, n_leaves_, n_connected_components_, children_, distances_, k_min_
        As in `ConstrainedAgglomerative`.
    constraints_ : Constraints
        The statements in force, numbered like the rows of X.
    dropped_ : Constraints
        The soft statements that were left out.

    See Also
    --------
    ReCon : looks far enough ahead that every triplet holds.

    Notes
    -----
    A merge breaks ab|c when it puts c with a or with b while those two are apart. When every merge left breaks a
    triplet, the one that breaks the fewest is made, the closest among equals.

    **Cost** one matrix of distances and one of the samples that triplets name; O(n^2) time mostly, O(n^3) at worst.
    **Guarantee** none about triplets: it looks one merge ahead, and of random consistent triplets about a quarter of
    small inputs end where `ReCon` would not. Triplets that contradict each other are an error when hard; soft ones are
    repaired, with a warning.
    **Departure from** [1]_ unknown: we had no access to it, and [2]_, which uses it as a baseline, names it and gives
    no rule. The rule here may be another one.

    References
    ----------
    .. [1] H. Zhao, Z. Qi, "Hierarchical Agglomerative Clustering with Ordering Constraints", WKDD 2010.
    .. [2] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, HACoc
    >>> X = np.array([[0.0], [1.0], [5.0], [6.5]])
    >>> model = HACoc().fit(X, constraints=Constraints.build(4, triplets=[(0, 2, 1)]))
    >>> model.satisfied_
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HierarchyMixin._parameter_constraints,
        "linkage": [StrOptions(set(LINKAGES))],
        "metric": [str, callable],
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "average",
        metric: Any = "euclidean",
        distance_threshold: float | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.metric = metric
        self.distance_threshold = distance_threshold

    def _solve(self, problem: Problem) -> Dendrogram:
        return hacoc(problem, method=self.linkage)
