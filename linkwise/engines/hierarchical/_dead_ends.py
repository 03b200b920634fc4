"""Dead ends of greedy merging, left by joining trees and moving samples so that all statements hold.

Greedy merging can make clusters of which no two may be joined, where other merges would have led to fewer clusters.
Trees that are close and have few cannot-links between them are joined regardless of these. Two ways lead on from there.
If the trees are nearly right, it is enough to move samples that have cannot-links, at a price for leaving their
cluster. If not, all samples are assigned to the nearest clusters, and these updated, until nothing moves, as in
k-means. Statements decide: must-linked samples should have neighbors in the same clusters, cannot-linked ones not. Then
each cluster gets its tree.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from linkwise._compat import StrOptions
from linkwise._memory import require_memory
from linkwise._messages import many
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise._validation import warn_user
from linkwise.constraints import MaxCentroidDistance, NeighborWithin
from linkwise.engines import REPORTED, Kept
from linkwise.engines.agglomeration import EUCLIDEAN_ONLY, linkage_code, merge_all
from linkwise.engines.assignment import FixedPrice, Neighborhoods, assign
from linkwise.engines.distances import means, squared
from linkwise.engines.hierarchical._new_samples import CHUNK
from linkwise.exceptions import GaveUpError
from linkwise.problem import Problem
from linkwise.result import Dendrogram

_PRICE = 1.0  # for leaving the own cluster, in mean distances
_ROUNDS = 20  # of assigning samples and updating clusters
_NEIGHBORS = 10  # of a sample, whose clusters predict its own
_STATED = 250  # pairs of either kind, at most, on which neighbors are asked
_MEMBERS = 200  # of a cluster, at most, to which distances are averaged
_MOST_BYTES = 2**29  # of distances that are computed once for all rounds
_STAND_INS = 500  # samples, and one of each tree, by which the trees of a dead end are compared


class LeavesDeadEnds:
    """Hierarchies under cannot-links whose merging can end above the number of clusters asked for."""

    _dead_end_constraints: ClassVar[dict[str, list[Any]]] = {"dead_end": [StrOptions({"regroup", "raise"})]}
    _saved: ClassVar[dict[str, Kept]] = {"dead_end_": REPORTED, "n_regrouped_": REPORTED}
    _added_parameters: ClassVar[dict[str, Any]] = {"dead_end": "raise"}
    n_clusters: int | None
    linkage: str
    dtype: str
    dead_end: str
    dead_end_: int | None = None
    n_regrouped_: int | None = None

    def _judge(self, problem: Problem) -> None:
        if self.n_clusters is None and not problem.constraints.rules:
            problem.require_consistent()
        else:
            super()._judge(problem)  # type: ignore[misc]

    def _leave_dead_end(self, tree: Dendrogram, problem: Problem, source: Callable[[], tuple[Any, Any]]) -> Dendrogram:
        """Return the tree, or if it has too many roots and a way out is found, a forest in which all statements hold.

        ``source`` gives samples and metric, or dissimilarities.
        """
        self.dead_end_ = self.n_regrouped_ = None
        k = self.n_clusters
        if self.dead_end == "raise" or k is None or k >= tree.n_roots:
            return tree
        if any(isinstance(rule, MaxCentroidDistance) for rule in problem.constraints.rules):
            return tree  # whether a merge keeps it depends on all merges before
        X, metric = _measured(*source(), self.linkage, k)
        home = join_trees(X, metric, tree.cut(n_clusters=tree.n_roots), k, problem)
        labels = regroup(X, metric, self.linkage, home, k, problem)
        if any(isinstance(rule, NeighborWithin) for rule in problem.constraints.rules):
            labels = _with_company(X, metric, self.linkage, labels, k, problem)
        if labels is None:
            return tree
        self.dead_end_, self.n_regrouped_ = tree.n_roots, int((labels != home).sum())
        warn_user(detour_words(tree.n_roots, self.n_regrouped_, len(labels), k))
        return grow_within(X, metric, labels, problem.group, self.linkage, self.dtype, problem.constraints.ids)


def _measured(X: Any, metric: Any, method: str, k: int) -> tuple[Any, Any]:
    """Return all distances where every round would compute as many, and they take no more memory than its chunks."""
    if _is_matrix(metric) or _has_centers(metric, method):
        return X, metric
    if len(X) > _MEMBERS * k or 8 * len(X) ** 2 > _MOST_BYTES:
        return X, metric
    return cdist(X, X, metric=metric), "precomputed"


def detours(model: Any) -> tuple[str, ...]:
    """Word that a fitted model left a dead end, if it did, as a reason for its result."""
    if getattr(model, "dead_end_", None) is None or model.n_regrouped_ is None:
        return ()
    return (detour_words(model.dead_end_, model.n_regrouped_, len(model.labels_), model.n_clusters),)


def detour_words(end: int, moved: int, n: int, k: int) -> str:
    """Word that merging met a dead end and how many samples were moved."""
    return (
        f"greedy merging met a dead end at {end} clusters; {moved:,} of {many(n, 'sample')} "
        f"{'was' if moved == 1 else 'were'} moved so that all statements hold in {many(k, 'cluster')}."
    )


def join_trees(X: Any, metric: Any, trees: IntArray, k: int, problem: Problem) -> IntArray:
    """Join trees until k clusters are left, regardless of cannot-links.

    Two trees are as far apart as their mean distance, times the cannot-links between them; joined ones as far as the
    farthest two. Of many samples some stand for all.
    """
    order = np.argsort(trees, kind="stable")
    r, step = int(trees.max()) + 1, -(-len(trees) // _STAND_INS)
    begin = np.searchsorted(trees[order], np.arange(r + 1))
    rows = np.concatenate([order[low:high:step] for low, high in itertools.pairwise(begin)])
    first = np.searchsorted(trees[rows], np.arange(r))
    far = _part(X, metric, rows)
    if not _is_matrix(metric):
        far = cdist(far, far, metric=metric)
    total = np.add.reduceat(np.add.reduceat(far, first, axis=0), first, axis=1)
    count = np.bincount(trees[rows]).astype(np.float64)
    apart = total / np.outer(count, count) * _links_between(trees, problem)
    np.fill_diagonal(apart, 0.0)
    merges = merge_all((apart + apart.T) / 2, method="complete", metric="precomputed")
    return Dendrogram.from_merges(r, merges.pairs, merges.height).cut(n_clusters=k)[trees]


def _links_between(trees: IntArray, problem: Problem) -> FloatArray:
    """Count the cannot-links between trees; a group apart has at most one must-linked group in each."""
    cliques, group = problem.apart, problem.group
    of_group = np.empty(problem.n_groups, dtype=np.intp)
    of_group[group] = trees
    r = int(trees.max()) + 1
    require_memory(8 * r * r, f"the {r} x {r} cannot-links between trees", "ask for more clusters.")
    found = of_group[cliques.node[cliques.member]]
    held = csr_array((np.ones(len(found)), found, cliques.start), shape=(len(cliques.start) - 1, r))
    return np.asarray((held.T @ held).toarray())


def regroup(
    X: Any,
    metric: Any,
    method: str,
    home: IntArray,
    k: int,
    problem: Problem,
    near: IntArray | None = None,
) -> IntArray | None:
    """Assign the samples to k clusters so that all must-links and cannot-links hold.

    Parameters
    ----------
    X, metric, method
        Vectors and how they are compared, or square dissimilarities and ``"precomputed"``; the linkage.
    home : ndarray of intp, shape (n,)
        Labels below k, of clusters in which must-links hold.
    k : int
        Number of clusters.
    problem : Problem
        The statements; its witness is asked for only where no assignment is found.
    near : ndarray of int, shape (n_rows, any), optional
        The nearest samples of each of the rows that `stated` names, -1 for none, where they are known.

    Returns
    -------
    ndarray of intp, shape (n,), or None
        Labels below k, or None if neither the assignment nor the verdict finds any.

    Notes
    -----
    **Cost** at most 21 rounds of 200 k distances for each sample, of k for linkages that work on centers; without
    ``near`` n distances for each of at most 1,000 samples. **Guarantee** must-linked groups stay together, and each
    round is an assignment at minimum total distance wherever `assign` finds that.
    """
    far = np.zeros((len(home), k))
    _update(far, X, metric, method, home)
    kept = _assigned(far, home, problem, None, _PRICE)
    if kept is None:
        return None
    free = np.isin(problem.group, problem.apart.node, invert=True)
    kept[free] = home[free]
    divided = kept
    for _ in range(_ROUNDS):
        _update(far, X, metric, method, divided)
        found = _assigned(far, divided, problem, divided, 0.0)
        if found is None or np.array_equal(found, divided):
            break
        divided = found
    return kept if _prefers(X, metric, problem, kept, divided, near) else divided


def _with_company(
    X: Any, metric: Any, method: str, labels: IntArray | None, k: int, problem: Problem
) -> IntArray | None:
    """Move samples so that the rule about neighbors holds as well; None if no clustering was found in which it does."""
    rules = Neighborhoods.of(problem, problem.contract())
    if rules is None:
        return labels
    try:
        before = problem.reduce(problem.witness()) if labels is None else None
        at = problem.witness() if labels is None else labels
        far = np.zeros((len(at), k))
        _update(far, X, metric, method, at)
        cost = np.zeros((problem.n_groups, k))
        np.add.at(cost, problem.group, far)
        return problem.expand(rules.settle(FixedPrice(cost), problem.reduce(at), before, k))
    except GaveUpError:
        return None


def _update(far: FloatArray, X: Any, metric: Any, method: str, labels: IntArray) -> None:
    """Write the distances of all samples to clusters; one that lost all its samples stays where it was."""
    if _has_centers(metric, method):  # all at once: samples are read once
        rows = np.ascontiguousarray(X, dtype=np.float64)
        left, place = np.unique(labels, return_inverse=True)
        far[:, left] = squared(rows, means(rows, np.ones(len(rows)), place.reshape(-1), len(left)))
        return
    for c in range(far.shape[1]):
        members = np.flatnonzero(labels == c)
        if len(members):
            far[:, c] = _distances(X, metric, members)


def _assigned(
    far: FloatArray, labels: IntArray, problem: Problem, start: IntArray | None, price: float
) -> IntArray | None:
    """Assign samples at minimum distance, in units of the mean; leaving the cluster in ``labels`` has a price."""
    group, apart = problem.group, problem.apart
    each = far / (far.mean() or 1.0) + price
    each[np.arange(len(labels)), labels] -= price
    cost = np.zeros((problem.n_groups, far.shape[1]))
    for c in range(far.shape[1]):
        cost[:, c] = np.bincount(group, weights=each[:, c], minlength=len(cost))
    found = assign(cost[apart.node], apart, None if start is None else _of_groups(start, problem)[apart.node])
    if not found.solved:
        known = problem.verdict.witness
        if not isinstance(known, np.ndarray):
            return None
        found = assign(cost[apart.node], apart, _of_groups(known, problem)[apart.node])
    best: IntArray = cost.argmin(axis=1)
    best[apart.node] = found.labels
    return best[group]


def _of_groups(labels: IntArray, problem: Problem) -> IntArray:
    out = np.empty(problem.n_groups, dtype=np.intp)
    out[problem.group] = labels
    return out


def _prefers(
    X: Any,
    metric: Any,
    problem: Problem,
    one: IntArray,
    other: IntArray,
    near: IntArray | None = None,
) -> bool:
    """Return whether the clusters of neighbors tell must-links from cannot-links at least as well by ``one``."""
    rows, must, cannot = stated(problem)
    if near is None:
        near, known = _neighbors(X, metric, rows, problem.group)
    else:
        known = (near >= 0) & (problem.group[near] != problem.group[rows][:, None])
    return _told_apart(one, near, known, must, cannot) >= _told_apart(other, near, known, must, cannot)


def stated(problem: Problem) -> tuple[IntArray, IntArray, IntArray]:
    """Samples of some must-links and cannot-links, and these links as pairs of places among the samples."""
    hard = problem.hard
    chain = np.flatnonzero(hard.apart.owner[1:] == hard.apart.owner[:-1])
    member = hard.apart.member
    cannot = np.concatenate([hard.cannot, np.column_stack([member[chain], member[chain + 1]])])
    pairs = [some[:: -(-len(some) // _STATED) or 1] for some in (hard.must, cannot)]
    rows, at = np.unique(np.concatenate(pairs), return_inverse=True)
    must, not_must = np.split(at.reshape(-1, 2), [len(pairs[0])])
    return rows, must, not_must


def _told_apart(labels: IntArray, near: IntArray, known: BoolArray, must: IntArray, cannot: IntArray) -> float:
    """Return by how much likelier neighbors of must-linked samples share a cluster than those of cannot-linked ones."""
    size = np.bincount(labels)
    share = np.zeros((len(near), len(size)))
    row, column = np.nonzero(known)
    np.add.at(share, (row, labels[near[row, column]]), 1.0)
    share /= np.maximum(known.sum(axis=1), 1)[:, None]
    chance = float(((size / len(labels)) ** 2).sum())
    same = [
        float((share[pairs[:, 0]] * share[pairs[:, 1]]).sum(axis=1).mean()) if len(pairs) else chance
        for pairs in (must, cannot)
    ]
    return same[0] - same[1]


def _neighbors(X: Any, metric: Any, rows: IntArray, group: IntArray) -> tuple[IntArray, BoolArray]:
    """Find the nearest samples of some, and a mask of those that are not must-linked to them."""
    n = len(group)
    count = min(_NEIGHBORS, n - 1)
    near, known = np.empty((len(rows), count), dtype=np.intp), np.empty((len(rows), count), dtype=np.bool_)
    step = max(1, CHUNK // (8 * n))
    for start in range(0, len(rows), step):
        here = rows[start : start + step]
        far = np.array(X[here]) if _is_matrix(metric) else cdist(X[here], X, metric=metric)
        far[group[here][:, None] == group] = np.inf
        found = np.argpartition(far, count - 1, axis=1)[:, :count]
        near[start : start + step] = found
        known[start : start + step] = np.isfinite(np.take_along_axis(far, found, axis=1))
    return near, known


def _part(X: Any, metric: Any, rows: IntArray) -> Any:
    if not _is_matrix(metric):
        return X[rows]
    m = len(rows)
    require_memory(m * m * X.itemsize, f"the {m} x {m} distances within one cluster", "cluster a sample of the rows.")
    return X[np.ix_(rows, rows)]


def _has_centers(metric: Any, method: str) -> bool:
    """Whether samples are compared with the centers of clusters, by squared distances."""
    return linkage_code(method) in EUCLIDEAN_ONLY and not _is_matrix(metric)


def _distances(X: Any, metric: Any, members: IntArray) -> FloatArray:
    """Return the mean distances of samples to some samples of a cluster."""
    some = members[:: -(-len(members) // _MEMBERS)]
    if _is_matrix(metric):
        return np.asarray(X[some].mean(axis=0, dtype=np.float64))  # symmetric, and rows are quicker to read
    out = np.empty(len(X))
    step = max(1, CHUNK // (8 * len(some)))
    for start in range(0, len(X), step):
        out[start : start + step] = cdist(X[start : start + step], X[some], metric=metric).mean(axis=1)
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
