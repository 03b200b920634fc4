"""Dead ends of greedy merging, left by dividing the samples so that all statements hold and growing a tree per part.

Greedy merging can make clusters of which no two may be joined, where other merges would have led to fewer clusters.
Two divisions are tried: the clusters of the dead end joined regardless of cannot-links, and the largest of them. From
each, samples are assigned to the clusters, all at once and under the cannot-links, until nothing moves: by centers, as
in k-means, for linkages that work on centers, else by mean distances, which every metric has. The division with the
lower cost is kept.
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
from linkwise.constraints import MinSeparation
from linkwise.engines import REPORTED, Kept
from linkwise.engines.agglomeration import EUCLIDEAN_ONLY, linkage_code, merge_all
from linkwise.engines.assignment import assign
from linkwise.engines.distances import squared
from linkwise.engines.hierarchical._new_samples import CHUNK
from linkwise.problem import Problem
from linkwise.result import Dendrogram

_ROUNDS = 10  # of assigning samples and updating clusters
_MEMBERS = 200  # of a cluster, at most, to which distances are averaged
_STAND_INS = 2_000  # samples, and one of each cluster, by which the clusters of a dead end are compared


class LeavesDeadEnds:
    """Hierarchies under cannot-links whose merging can end above the number of clusters asked for."""

    _dead_end_constraints: ClassVar[dict[str, list[Any]]] = {"dead_end": [StrOptions({"regroup", "raise"})]}
    _saved: ClassVar[dict[str, Kept]] = {"dead_end_": REPORTED}
    _added_parameters: ClassVar[dict[str, Any]] = {"dead_end": "raise"}
    n_clusters: int | None
    linkage: str
    dtype: str
    dead_end: str
    dead_end_: int | None = None

    def _judge(self, problem: Problem) -> None:
        if self.n_clusters is None and not problem.constraints.rules:
            problem.require_consistent()
        else:
            super()._judge(problem)  # type: ignore[misc]

    def _leave_dead_end(self, tree: Dendrogram, problem: Problem, source: Callable[[], tuple[Any, Any]]) -> Dendrogram:
        """Return the tree, or if it has too many roots and a division is found, a forest in which all statements hold.

        ``source`` gives samples and metric, or dissimilarities.
        """
        self.dead_end_ = None
        k = self.n_clusters
        if self.dead_end == "raise" or k is None or k >= tree.n_roots:
            return tree
        if any(not isinstance(rule, MinSeparation) for rule in problem.constraints.rules):
            return tree  # whether a merge keeps these depends on all merges before
        X, metric = source()
        labels = divide(X, metric, self.linkage, tree.cut(n_clusters=tree.n_roots), k, problem)
        if labels is None:
            return tree
        warn_user(
            f"greedy merging met a dead end at {tree.n_roots} clusters; the samples were divided again so that "
            f"all statements hold in {k}."
        )
        self.dead_end_ = tree.n_roots
        return grow_within(X, metric, labels, problem.group, self.linkage, self.dtype, problem.constraints.ids)


def detours(model: Any) -> tuple[str, ...]:
    """Word that a fitted model left a dead end, if it did, as a reason for its result."""
    end = getattr(model, "dead_end_", None)
    return () if end is None else (f"greedy merging met a dead end at {end} clusters; all samples were divided again.",)


def divide(X: Any, metric: Any, method: str, clusters: IntArray, k: int, problem: Problem) -> IntArray | None:
    """Turn more than k clusters into k in which all must-links and cannot-links hold.

    Parameters
    ----------
    X, metric, method
        Vectors and how they are compared, or square dissimilarities and ``"precomputed"``; the linkage.
    clusters : ndarray of intp, shape (n,)
        Labels of the clusters of the dead end.
    k : int
        Number of clusters wanted.
    problem : Problem
        The statements; its witness is asked for only where no assignment is found.

    Returns
    -------
    ndarray of intp, shape (n,), or None
        Labels below k, or None if neither the assignment nor the verdict finds any.

    Notes
    -----
    **Cost** at most twenty rounds of 200 k distances for each sample, of k for linkages that work on centers.
    **Guarantee** must-linked groups stay together, and each round is an assignment at minimum total distance wherever
    `assign` finds that.
    """
    best: tuple[float, IntArray | None] = np.inf, None
    for labels in (_join(X, metric, method, clusters, k), _largest(clusters, k)):
        ended = _alternate(X, metric, method, labels, k, problem)
        if ended is None:
            return None
        best = min(best, ended, key=lambda one: one[0])
    return best[1]


def _alternate(
    X: Any, metric: Any, method: str, labels: IntArray, k: int, problem: Problem
) -> tuple[float, IntArray] | None:
    """Assign samples to clusters and update these until nothing moves; return the cost and the labels."""
    group, apart, n_nodes = problem.group, problem.apart, problem.n_groups
    cost, before = np.zeros((n_nodes, k)), None
    for _ in range(_ROUNDS):
        for c in range(k):
            members = np.flatnonzero(labels == c)
            if len(members):  # a cluster that lost all its samples stays where it was
                far = _distances(X, metric, method, members)
                cost[:, c] = np.bincount(group, weights=far, minlength=n_nodes)
        found = assign(cost[apart.node], apart, before)
        if not found.solved:
            known = problem.verdict.witness
            if not isinstance(known, np.ndarray):
                return None
            shown = np.empty(n_nodes, dtype=np.intp)
            shown[group] = known
            found = assign(cost[apart.node], apart, shown[apart.node])
        best = cost.argmin(axis=1)
        best[apart.node] = found.labels
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
    """Join clusters until k are left, regardless of cannot-links; of many samples some stand for all."""
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
    """Return distances of samples to a cluster: squared to its center, or the mean to some of its samples."""
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
    """Build a tree of each cluster, beginning with its must-linked groups; no cluster holds a cannot-link."""
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
