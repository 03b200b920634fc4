"""`fit_heights` and `fit_ultrametric`: the ultrametric on a given tree that is closest to the distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.agglomeration import agglomerate
from linkwise.engines.hierarchical.ultrametric._base import read_distances
from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram


def fit_ultrametric(X: Any, *, method: str = "average", metric: Any = "euclidean") -> Dendrogram:
    """Build a tree by linkage and give it the heights that fit the distances best in the least-squares sense.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Vectors; or with ``metric="precomputed"`` dissimilarities, square or condensed. Not modified.
    method : {"average", "single", "complete", "weighted", "centroid", "median", "ward"}, default="average"
        The linkage that decides the shape of the tree.
    metric : str or callable, default="euclidean"
        How vectors are compared.

    Returns
    -------
    Dendrogram

    See Also
    --------
    fit_heights : the same for a tree from anywhere, a constrained one among others.

    Notes
    -----
    **Cost** one matrix of distances, O(n^2) time beside the linkage. **Guarantee** no other heights on *this tree* are
    closer to the distances; the best tree is not looked for, which is NP-hard. With average linkage the heights are its
    own: means between clusters, which never decrease.

    Examples
    --------
    >>> from linkwise.engines import fit_ultrametric
    >>> fit_ultrametric([[0.0], [1.0], [5.0]], method="single").height.tolist()
    [0.0, 0.0, 0.0, 1.0, 4.5]
    """
    return fit_heights(agglomerate(X, method=method, metric=metric), X, metric=metric)


def fit_heights(tree: Dendrogram, X: Any, *, metric: Any = "euclidean") -> Dendrogram:
    """Keep a tree and give it the heights whose ultrametric is closest to the distances in the least-squares sense.

    Parameters
    ----------
    tree : Dendrogram
        One tree over the rows of X, binary or not.
    X : array-like of shape (n_samples, n_features)
        Vectors; or with ``metric="precomputed"`` dissimilarities, square or condensed. Not modified.
    metric : str or callable, default="euclidean"
        How vectors are compared.

    Returns
    -------
    Dendrogram
        The same nodes, marks and ids, so it displays the same triplets; heights never decrease upwards, and may tie.

    Raises
    ------
    LinkwiseError
        The tree is a forest, whose trees are infinitely far apart, or has another number of samples.

    Notes
    -----
    The target of a node is the mean distance of the pairs that meet there, weighted by their number; heights that rise
    from child to parent are the isotonic regression of the targets on the tree, found by pooling a node with its
    highest child while that one is higher.

    **Cost** one matrix of distances, O(n^2) time. **Guarantee** the heights are the exact minimum for this tree.

    Examples
    --------
    >>> from linkwise import Constraints, ReCon
    >>> from linkwise.engines import fit_heights
    >>> X = [[0.0], [1.0], [5.0], [6.5]]
    >>> model = ReCon().fit(X, constraints=Constraints.build(4, triplets=[(0, 2, 1)]))
    >>> fit_heights(model.dendrogram_, X).height[4:].tolist()
    [1.5, 4.4, 4.4]
    """
    distances = read_distances(X, metric, who="fit_heights")
    if tree.n_samples != distances.n_samples:
        msg = f"fit_heights: the tree has {tree.n_samples} samples, but X has {distances.n_samples} rows."
        raise LinkwiseError(msg)
    if not tree.is_tree:
        msg = (
            f"fit_heights: the dendrogram is a forest of {tree.n_roots} trees, expected one tree.\n"
            "Hint: distances between two trees of a forest are infinite, so no heights fit them."
        )
        raise LinkwiseError(msg)
    total, count = _sums_at_nodes(tree.parent, tree.leaf_order, distances.square())
    mean = np.divide(total, count, out=np.zeros(len(total)), where=count > 0)
    return Dendrogram(
        tree.n_samples,
        tree.parent,
        _pool_upwards(tree.parent, mean, count),
        marked=tree.marked,
        ids=tree.ids,
        joins=tree.joins,
    )


@njit
def _sums_at_nodes(parent: IntArray, leaf_order: IntArray, D: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sum and number of the distances whose two samples meet at each node."""
    n = len(leaf_order)
    first = np.full(len(parent), n, np.intp)  # where the samples below a node stand in leaf order
    after = np.zeros(len(parent), np.intp)
    for k in range(n):
        first[leaf_order[k]] = k
        after[leaf_order[k]] = k + 1
    for node in range(len(parent)):
        above = parent[node]
        if above >= 0:
            first[above] = min(first[above], first[node])
            after[above] = max(after[above], after[node])
    total = np.zeros(len(parent))
    count = np.zeros(len(parent))
    for i in range(n):
        row = D[i]
        node = i
        above = parent[i]
        while above >= 0:
            part = 0.0
            for k in range(first[above], first[node]):
                part += row[leaf_order[k]]
            for k in range(after[node], after[above]):
                part += row[leaf_order[k]]
            total[above] += part / 2  # every pair is met from both sides
            count[above] += (after[above] - first[above] - after[node] + first[node]) / 2
            node = above
            above = parent[node]
    return total, count


@njit
def _meld(key: FloatArray, down: IntArray, side: IntArray, x: int, y: int) -> int:
    """Join two pairing heaps, the largest key on top; -1 is the empty one."""
    if x < 0:
        return y
    if y < 0:
        return x
    if key[x] < key[y]:
        x, y = y, x
    side[y] = down[x]
    down[x] = y
    return x


@njit
def _without_top(key: FloatArray, down: IntArray, side: IntArray, top: int) -> int:
    """Remove the top of a pairing heap: meld its children in pairs, then the pairs from last to first."""
    done = -1  # melded pairs, chained backwards by `side`
    x = down[top]
    while x >= 0:
        y = side[x]
        rest = side[y] if y >= 0 else -1
        side[x] = -1
        if y >= 0:
            side[y] = -1
        x = _meld(key, down, side, x, y)
        side[x] = done
        done = x
        x = rest
    heap = -1
    while done >= 0:
        rest = side[done]
        side[done] = -1
        heap = _meld(key, down, side, heap, done)
        done = rest
    return heap


@njit
def _pool_upwards(parent: IntArray, wish: FloatArray, count: FloatArray) -> FloatArray:
    """Isotonic regression on a tree: the values closest to the wishes that never fall from a node to its parent.

    Children come before parents. What is below a node is solved already, in blocks of equal value; as long as the
    highest block right below is above the node's own, the two become one. The blocks below a block wait in a heap.
    """
    value = wish.copy()
    mass = count.copy()
    heap = np.full(len(parent), -1, np.intp)
    down = np.full(len(parent), -1, np.intp)
    side = np.full(len(parent), -1, np.intp)
    pooled = np.full(len(parent), -1, np.intp)  # the node whose block this one went into
    for node in range(len(parent)):
        if count[node] == 0:
            continue  # a sample
        while heap[node] >= 0 and value[heap[node]] > value[node]:
            top = heap[node]
            value[node] = (mass[node] * value[node] + mass[top] * value[top]) / (mass[node] + mass[top])
            mass[node] += mass[top]
            rest = _without_top(value, down, side, top)
            heap[node] = _meld(value, down, side, rest, heap[top])
            pooled[top] = node
        if parent[node] >= 0:
            heap[parent[node]] = _meld(value, down, side, heap[parent[node]], node)
    for node in range(len(parent) - 1, -1, -1):
        if pooled[node] >= 0:
            value[node] = value[pooled[node]]
    return value
