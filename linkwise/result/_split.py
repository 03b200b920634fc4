"""Cuts guided by constraints: the order in which nodes are split, down to k clusters.

One loop serves the constraint-aware cut and the cut that sets small branches aside: keep the current clusters in a
heap, always split the most urgent one. The order of splits does not depend on k, so a finer cut refines a coarser one.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.lca import query_many, splits_off
from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Kind, require_understood
from linkwise.result._cuts import read_cluster_count
from linkwise.trees import by_first_appearance, nearest_flagged

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.trees import Tree


APART, KNOWN, ORDINARY, CLOSE, TOGETHER = 0, 1, 2, 3, 4
_HINT = "leave the others out with `constraints.select(...)`."


class Split(NamedTuple):
    """A split of a tree: cluster nodes in order of their first sample, outlier branches, the node of each sample."""

    clusters: IntArray
    outliers: IntArray
    holder: IntArray


def urgency(tree: Tree, constraints: Constraints | None) -> IntArray:
    """Rank every node by how urgently constraints require a split, most urgent 0.

    0: a cannot-link, or two of a group apart, meet at or below it, and are broken while it is whole; 1: it separates c
    from a, b of a triplet ab|c; 2: no constraints apply; 3: it separates a from b of a triplet; 4: it separates a
    must-link or a group together. Triplets that the tree does not display are ignored.
    """
    urgent = np.full(tree.n_nodes, ORDINARY, dtype=np.intp)
    if constraints is None or constraints.n_statements == 0:
        return urgent
    plain = [kind for kind in Kind if not kind.is_choice]
    require_understood(constraints.with_rules(), "the constrained cut", plain, hint=_HINT)
    index = tree._lca
    a, b, c = (np.ascontiguousarray(column) for column in constraints.of(Kind.TRIPLET).T)
    shown = splits_off(index, a, b, c)
    a, b, c = a[shown], b[shown], c[shown]
    _put(urgent, query_many(index, a, b), CLOSE)
    _put(urgent, query_many(index, a, c), KNOWN)
    i, j = (np.ascontiguousarray(column) for column in constraints.must_links()[0].T)
    _put(urgent, query_many(index, i, j), TOGETHER)
    i, j = (np.ascontiguousarray(column) for column in constraints.of(Kind.CANNOT_LINK).T)
    _put(urgent, query_many(index, i, j), APART)
    i, j = constraints.groups_of(Kind.APART).neighbors(tree.leaf_order)
    _put(urgent, query_many(index, i, j), APART)
    _lift(tree.parent, urgent)
    return urgent


def _put(urgent: IntArray, nodes: IntArray, tier: int) -> None:
    urgent[nodes[nodes >= 0]] = tier  # samples of two trees meet nowhere


@njit
def _lift(parent: IntArray, urgent: IntArray) -> None:
    """A cannot-link is met only once everything above its meeting point is split too."""
    for v in range(len(parent)):
        if urgent[v] == APART and parent[v] >= 0:
            urgent[parent[v]] = APART


@njit
def promised(parent: IntArray, size: IntArray, min_size: int) -> IntArray:
    """Count the disjoint branches of at least ``min_size`` samples that each node can be split into."""
    promise = np.zeros(len(parent), np.intp)
    for v in range(len(parent)):
        if size[v] >= min_size and promise[v] == 0:
            promise[v] = 1
        if parent[v] >= 0:
            promise[parent[v]] += promise[v]
    return promise


@njit
def _split(
    roots: IntArray,
    start: IntArray,
    child: IntArray,
    size: IntArray,
    promise: IntArray,
    urgent: IntArray,
    min_size: int,
    k: int,
) -> tuple[BoolArray, BoolArray]:
    """Split from the roots until k clusters stand; flag the cluster nodes and the small branches set aside.

    A node with several children gives them up one at a time, last first; what is left stays the node's own cluster.
    """
    m = len(size)
    cluster = np.zeros(m, np.bool_)
    outlier = np.zeros(m, np.bool_)
    heap = [0]
    heap.pop()
    count = 0
    for r in roots:
        if size[r] < min_size:
            outlier[r] = True
            continue
        cluster[r] = True
        count += 1
        if promise[r] > 1:
            heapq.heappush(heap, urgent[r] * (m + 1) + m - r)
    while count < k and len(heap) > 0:
        v = m - heapq.heappop(heap) % (m + 1)
        n_big = 0
        for e in range(start[v], start[v + 1]):
            if size[child[e]] >= min_size:
                n_big += 1
        whole = n_big - 1 <= k - count  # all big children become clusters
        spare = n_big if whole else k - count
        cluster[v] = not whole
        count += n_big - 1 if whole else k - count
        for e in range(start[v + 1] - 1, start[v] - 1, -1):
            w = child[e]
            if size[w] < min_size:
                outlier[w] = True
            elif spare > 0:
                spare -= 1
                cluster[w] = True
                if promise[w] > 1:
                    heapq.heappush(heap, urgent[w] * (m + 1) + m - w)
    return cluster, outlier


def split_tree(tree: Tree, k: int, min_size: int, urgent: IntArray) -> Split:
    """Split ``tree`` into k clusters, most urgent and latest merges first, setting smaller branches aside."""
    promise = promised(tree.parent, tree.leaf_count, min_size)
    start, child = tree._children()
    cluster, outlier = _split(tree.roots, start, child, tree.leaf_count, promise, urgent, min_size, k)
    nearest, _ = nearest_flagged(tree.parent, cluster | outlier)
    holder = nearest[: tree.n_samples]
    found, first = np.unique(holder, return_index=True)
    found = found[np.argsort(first)]
    return Split(found[cluster[found]], np.flatnonzero(outlier), holder)


def labels_by_knowledge(tree: Tree, constraints: Constraints, n_clusters: Any) -> IntArray:
    """Cut into k clusters, splitting first the nodes that constraints require to be split."""
    k = read_cluster_count(n_clusters, tree.n_roots, tree.n_samples)
    split = split_tree(tree, k, 1, urgency(tree, constraints))
    labels, _ = by_first_appearance(split.holder, tree.n_nodes)
    return labels  # type: ignore[no-any-return]
