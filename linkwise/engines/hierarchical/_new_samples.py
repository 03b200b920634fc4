"""Places of new samples in a fitted tree, whose merges stay as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.agglomeration import EUCLIDEAN_ONLY, MEDIAN, WARD
from linkwise.engines.distances import sparse_distances
from linkwise.engines.hierarchical._kernels_new_samples import _MIXED, _gather, _label_of_nodes, _settle
from linkwise.result import Dendrogram

# Bytes of distances between new and old samples that are in memory at a time.
CHUNK = 2**26


class Places(NamedTuple):
    """Where new samples join a tree: above which node each, at which height, and in which cluster that is."""

    node: IntArray
    height: FloatArray
    label: IntArray


def find_places(
    tree: Dendrogram, labels: IntArray, gaps: Iterator[FloatArray], method: int, *, of_nodes: bool
) -> Places:
    """Find for each new sample the merge it would have made, had it come last and changed nothing.

    ``gaps`` gives distances of new samples from the old ones, or, if ``of_nodes``, from all clusters of the tree, a few
    rows at a time; ``method`` is the linkage, by which the latter follow from the former.

    Rising from height 0, a new sample joins the first cluster that is no farther from it than that height, while the
    cluster lives: node v from its own height to that of its parent. Only nodes inside one cluster of ``labels`` count,
    the highest of which live forever, so that a cluster is always found. Ties go to the lowest node.
    """
    label = _label_of_nodes(tree.parent, labels)
    inside = label != _MIXED
    above = np.where(tree.parent >= 0, tree.parent, 0)
    dies = np.where((tree.parent >= 0) & inside[above], tree.height[above], np.inf)
    dies[~inside] = -np.inf
    found: list[IntArray] = []
    heights: list[FloatArray] = []
    for chunk in gaps:
        node, height = np.empty(len(chunk), dtype=np.intp), np.empty(len(chunk))
        _settle(np.ascontiguousarray(chunk), tree.parent, tree.height, dies, method, of_nodes, node, height)
        found.append(node)
        heights.append(height)
    node = np.concatenate(found) if found else np.empty(0, dtype=np.intp)
    return Places(node, np.concatenate(heights) if heights else np.empty(0), label[node])


def new_distances(new: Any, old: Any, metric: Any, tree: Dendrogram, method: int) -> Iterator[FloatArray]:
    """Yield the distances of new samples, some at a time: from the samples of a tree, or from its clusters' centers.

    The second for linkages that are about centers; see `find_places`.
    """
    many = tree.n_nodes if method in EUCLIDEAN_ONLY else old.shape[0]
    step = max(1, CHUNK // (8 * max(1, many)))
    if method in EUCLIDEAN_ONLY:
        old = _centers(tree, np.asarray(old, dtype=np.float64), method)
        size = tree.leaf_count.astype(np.float64)
        factor = np.sqrt(2 * size / (1 + size)) if method == WARD else np.ones(len(size))
    for start in range(0, new.shape[0], step):
        rows = new[start : start + step]
        if scipy.sparse.issparse(new) or scipy.sparse.issparse(old):
            yield sparse_distances(rows, old, metric)
        else:
            from scipy.spatial.distance import cdist

            far = cdist(rows, old, metric="euclidean" if method in EUCLIDEAN_ONLY else metric)
            yield far * factor if method in EUCLIDEAN_ONLY else far


def _centers(tree: Dendrogram, X: FloatArray, method: int) -> FloatArray:
    """The center of every cluster of the tree: the mean of its samples, for median linkage that of its parts."""
    center = np.zeros((tree.n_nodes, X.shape[1]))
    center[: len(X)] = X
    weight = np.ones(tree.n_nodes) if method == MEDIAN else tree.leaf_count.astype(np.float64)
    _gather(tree.parent, weight, len(X), center)
    return center


def insert(tree: Dendrogram, places: Places) -> Dendrogram:
    """Return the tree with new samples in their places, numbered after the old ones.

    Each becomes a leaf on the edge above its node, at its height or, if that is above the next merge, at that of the
    next merge; several on one edge follow each other by height. Without them the tree is what it was. The marked
    clusters take in what joined inside them or at their top.
    """
    n, m, nodes = tree.n_samples, len(places.node), tree.n_nodes
    above = np.where(tree.parent >= 0, tree.parent, 0)
    ceiling = np.where(tree.parent >= 0, tree.height[above], np.inf)
    height = np.minimum(places.height, ceiling[places.node])
    order = np.lexsort((np.arange(m), height, places.node))  # along each edge, upwards
    node = places.node[order]
    # The inner nodes, old and new, by height; equal heights by the old node they are or are above, then upwards.
    old = np.arange(n, nodes)
    key = (
        np.concatenate([np.zeros(len(old)), 1 + np.arange(m)]),
        np.concatenate([old, node]),
        np.concatenate([tree.height[n:], height[order]]),
    )
    rank = np.empty(len(old) + m, dtype=np.intp)
    rank[np.lexsort(key)] = np.arange(len(old) + m)
    renamed = np.concatenate([np.arange(n), n + m + rank[: len(old)]])  # old nodes
    made = n + m + rank[len(old) :]  # new inner nodes, in the order of `order`
    parent = np.full(n + m + len(old) + m, -1, dtype=np.intp)
    raw = np.zeros(len(parent))
    raw[renamed] = tree.raw_height
    raw[made] = height[order]
    parent[renamed] = np.where(tree.parent >= 0, renamed[above], -1)
    top = renamed.copy()  # of each old node: the last on the edge above it
    first = np.flatnonzero(np.diff(node, prepend=-1)) if m else np.empty(0, dtype=np.intp)
    last = np.append(first[1:] - 1, m - 1)[: len(first)]
    top[node[first]] = made[last]
    parent[n + order] = made
    parent[made[:-1]] = np.where(node[1:] == node[:-1], made[1:], -1)
    parent[made[last]] = parent[renamed[node[last]]]
    parent[renamed[node[first]]] = made[first]
    return Dendrogram(n + m, parent, raw, marked=None if tree.marked is None else top[tree.marked])
