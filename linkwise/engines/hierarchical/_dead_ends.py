"""The way out of a dead end: divide the samples so that all statements hold, then give each part a tree of its own.

Greedy merging can make so many clusters that no two of them may be joined, where other merges would have led to fewer.
The clusters of the dead end are joined all the same, or the largest of them taken, and samples assigned anew to what
that gives, all at once and so that what is to be apart is, and again to the clusters that this makes: as in k-means for
linkages that speak about centers, else by mean distances, which every metric has. Of the two the one that ends at less
is kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise._compat import StrOptions
from linkwise._memory import require_memory
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints, Groups, Kind, MinSeparation
from linkwise.engines import REPORTED, Kept
from linkwise.engines.agglomeration import EUCLIDEAN_ONLY, linkage_code, merge_all
from linkwise.engines.assignment import assign
from linkwise.engines.distances import squared
from linkwise.engines.hierarchical._new_samples import CHUNK
from linkwise.problem import check
from linkwise.problem.statements import Apart, keep_apart
from linkwise.result import Dendrogram

_ROUNDS = 10  # of assigning and looking again where clusters are
_MEMBERS = 200  # of a cluster, at most, that tell how far it is
_STAND_INS = 2_000  # samples, and one of each cluster, by which the clusters of a dead end are compared


class LeavesDeadEnds:
    """What a hierarchy under cannot-links does when merging ends above the number of clusters asked for."""

    _dead_end_constraints: ClassVar[dict[str, list[Any]]] = {"dead_end": [StrOptions({"regroup", "raise"})]}
    _saved: ClassVar[dict[str, Kept]] = {"dead_end_": REPORTED}
    _added_parameters: ClassVar[dict[str, Any]] = {"dead_end": "raise"}
    n_clusters: int | None
    linkage: str
    dtype: str
    dead_end: str
    dead_end_: int | None = None

    def _leave_dead_end(
        self,
        tree: Dendrogram,
        group: IntArray,
        constraints: Constraints,
        source: Callable[[], tuple[Any, Any]],
    ) -> Dendrogram:
        """Return the tree, or if it has too many roots, and a way is known, a forest in which all statements hold.

        ``group`` numbers the must-linked groups; ``source`` gives samples and metric, or dissimilarities.
        """
        self.dead_end_ = None
        k = self.n_clusters
        if self.dead_end == "raise" or k is None or k >= tree.n_roots:
            return tree
        if any(not isinstance(rule, MinSeparation) for rule in constraints.rules):
            return tree  # whether a merge keeps these hangs on all merges before

        X, metric = source()

        def witness() -> IntArray | None:
            known = check(constraints, n_clusters=k, X=X if constraints.rules else None, metric=metric).witness
            return known if isinstance(known, np.ndarray) else None

        stuck = tree.cut(n_clusters=tree.n_roots)
        apart = constraints.of(Kind.CANNOT_LINK), constraints.groups_of(Kind.APART)
        labels = divide(X, metric, self.linkage, stuck, k, group, *apart, witness)
        if labels is None:
            return tree
        warn_user(
            f"greedy merging met a dead end at {tree.n_roots} clusters; the samples were divided anew so that "
            f"all statements hold in {k}."
        )
        self.dead_end_ = tree.n_roots
        return grow_within(X, metric, labels, group, self.linkage, self.dtype, constraints.ids)


def detours(model: Any) -> tuple[str, ...]:
    """Say that a fitted model left a dead end, if it did, as a reason for what it found."""
    end = getattr(model, "dead_end_", None)
    return () if end is None else (f"greedy merging met a dead end at {end} clusters; all samples were divided anew.",)


def divide(
    X: Any,
    metric: Any,
    method: str,
    clusters: IntArray,
    k: int,
    group: IntArray,
    forbidden: IntArray,
    apart: Groups,
    witness: Callable[[], IntArray | None],
) -> IntArray | None:
    """Turn more than k clusters into k in which nothing that is to be apart is together.

    Parameters
    ----------
    X, metric, method
        Vectors and how they are compared, or square dissimilarities and ``"precomputed"``; the linkage.
    clusters : ndarray of intp, shape (n,)
        Labels of the clusters there are.
    k : int
        How many there are to be.
    group : ndarray of intp, shape (n,)
        Number of the must-linked group of each sample.
    forbidden, apart
        Pairs, and groups, of samples that are to be apart.
    witness : callable
        Returns some labels in which all is apart, or None; asked only when no assignment is found.

    Returns
    -------
    ndarray of intp, shape (n,), or None
        Labels below k, or None if neither the assignment nor the witness knows any.

    Notes
    -----
    **Cost** at most twenty rounds of 200 k distances for each sample, of k for linkages that speak about centers.
    **Guarantee** must-linked groups stay together, and each round is an assignment at least total distance wherever
    `assign` finds that.
    """
    rivals = keep_apart(
        int(group.max()) + 1, group[forbidden].reshape(-1, 2), apart._replace(member=group[apart.member])
    )
    best: tuple[float, IntArray | None] = np.inf, None
    for labels in (_join(X, metric, method, clusters, k), _largest(clusters, k)):
        ended = _alternate(X, metric, method, labels, k, group, rivals, witness)
        if ended is None:
            return None
        best = min(best, ended, key=lambda one: one[0])
    return best[1]


def _alternate(
    X: Any,
    metric: Any,
    method: str,
    labels: IntArray,
    k: int,
    group: IntArray,
    rivals: Apart,
    witness: Callable[[], IntArray | None],
) -> tuple[float, IntArray] | None:
    """Assign samples to clusters and look again where these are, until nothing moves; return what it costs as well."""
    n_nodes = int(group.max()) + 1
    cost, before = np.zeros((n_nodes, k)), None
    for _ in range(_ROUNDS):
        for c in range(k):
            members = np.flatnonzero(labels == c)
            if len(members):  # a cluster that lost all its samples stays where it was
                far = _distances(X, metric, method, members)
                cost[:, c] = np.bincount(group, weights=far, minlength=n_nodes)
        found = assign(cost[rivals.node], rivals, before)
        if not found.solved:
            known = witness()
            if known is None:
                return None
            shown = np.empty(n_nodes, dtype=np.intp)
            shown[group] = known
            found = assign(cost[rivals.node], rivals, shown[rivals.node])
        best = cost.argmin(axis=1)
        best[rivals.node] = found.labels
        total = float(cost[np.arange(n_nodes), best].sum())
        if np.array_equal(labels, best[group]):
            break
        labels, before = best[group], found.labels
    return total, labels


def _largest(clusters: IntArray, k: int) -> IntArray:
    """Number the k largest clusters; the samples of all others have -1."""
    number = np.full(int(clusters.max()) + 1, -1, dtype=np.intp)
    number[np.argsort(-np.bincount(clusters), kind="stable")[:k]] = np.arange(k)
    return number[clusters]


def _join(X: Any, metric: Any, method: str, clusters: IntArray, k: int) -> IntArray:
    """Join clusters until k are left, whoever is to be apart; where there are many samples, some stand for all."""
    order = np.argsort(clusters, kind="stable")
    begin = np.searchsorted(clusters[order], np.arange(int(clusters.max()) + 2))
    step = -(-len(clusters) // _STAND_INS)
    rows = np.concatenate([order[low:high:step] for low, high in itertools.pairwise(begin)])
    merges = merge_all(_part(X, metric, rows), method=method, metric=metric, forced=clusters[rows])
    found = Dendrogram.from_merges(len(rows), merges.pairs, merges.height).cut(n_clusters=k)
    joined = np.empty(len(begin) - 1, dtype=np.intp)
    joined[clusters[rows]] = found
    return joined[clusters]


def _part(X: Any, metric: Any, rows: IntArray) -> Any:
    if not _is_matrix(metric):
        return X[rows]
    m = len(rows)
    require_memory(m * m * X.itemsize, f"the {m} x {m} distances within one cluster", "cluster a sample of the rows.")
    return X[np.ix_(rows, rows)]


def _distances(X: Any, metric: Any, method: str, members: IntArray) -> FloatArray:
    """Return how far samples are from a cluster: squared from its center, or on average from some of its samples."""
    if linkage_code(method) in EUCLIDEAN_ONLY and not _is_matrix(metric):
        return squared(np.ascontiguousarray(X, dtype=np.float64), X[members].mean(axis=0, dtype=np.float64)[None])[:, 0]
    from scipy.spatial.distance import cdist

    some = members[:: -(-len(members) // _MEMBERS)]
    out = np.empty(len(X))
    step = max(1, CHUNK // (8 * len(some)))
    for start in range(0, len(X), step):
        rows = X[start : start + step]
        far = rows[:, some] if _is_matrix(metric) else cdist(rows, X[some], metric=metric)
        out[start : start + step] = far.mean(axis=1)
    return out


def _is_matrix(metric: Any) -> bool:
    return isinstance(metric, str) and metric == "precomputed"


def grow_within(
    X: Any, metric: Any, labels: IntArray, group: IntArray, method: str, dtype: npt.DTypeLike, ids: Any
) -> Dendrogram:
    """Build a tree of each cluster, beginning with its must-linked groups; there is nothing to be apart in any."""
    n = len(labels)
    pairs: list[IntArray] = [np.empty((0, 2), dtype=np.intp)]
    height: list[FloatArray] = [np.empty(0)]
    done = 0
    for c in np.unique(labels).tolist():
        rows = np.flatnonzero(labels == c)
        forced = np.unique(group[rows], return_inverse=True)[1].astype(np.intp)
        together = forced if len(np.unique(forced)) < len(rows) else None
        merges = merge_all(_part(X, metric, rows), method=method, metric=metric, forced=together, dtype=dtype)
        node = np.concatenate([rows, n + done + np.arange(len(merges.pairs))])
        pairs.append(node[merges.pairs])
        height.append(merges.height)
        done += len(merges.pairs)
    return Dendrogram.from_merges(n, np.concatenate(pairs), np.concatenate(height), sort=True, ids=ids)
