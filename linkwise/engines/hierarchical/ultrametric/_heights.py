"""`fit_heights` and `fit_ultrametric`: the ultrametric on a given tree that is closest to the distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.engines.agglomeration import agglomerate
from linkwise.engines.hierarchical.ultrametric._base import read_distances, read_pair_weights, weigh_square
from linkwise.engines.hierarchical.ultrametric._kernels_heights import _pool_upwards, _sums_at_nodes
from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram


def fit_ultrametric(
    X: Any, *, method: str = "average", metric: Any = "euclidean", pair_weight: Any = None
) -> Dendrogram:
    """Build a tree by linkage and give it the heights that fit the distances best in the least-squares sense.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Vectors; or with ``metric="precomputed"`` dissimilarities, square or condensed. Not modified.
    method : {"average", "single", "complete", "weighted", "centroid", "median", "ward"}, default="average"
        The linkage that decides the shape of the tree.
    metric : str or callable, default="euclidean"
        How vectors are compared.
    pair_weight : None, {"inverse", "inverse_square"} or array-like, default=None
        The weight of each pair in the sum of squares, above 0: a square matrix or its upper triangle; or 1 / d and
        1 / d**2 of the given distances; None weighs all alike.

    Returns
    -------
    Dendrogram

    See Also
    --------
    fit_heights : the same for a tree from anywhere, a constrained one among others.
    LeastSquaresUltrametric : searches for the best tree as well.

    Notes
    -----
    **Cost** one matrix of distances, O(n^2) time beside the linkage. **Guarantee** no other heights on *this tree* are
    closer to the distances; the best tree is not looked for, which is NP-hard. With average linkage and equal weights
    the heights are its own: means between clusters, which never decrease.

    Examples
    --------
    >>> from linkwise.engines import fit_ultrametric
    >>> fit_ultrametric([[0.0], [1.0], [5.0]], method="single").height.tolist()
    [0.0, 0.0, 0.0, 1.0, 4.5]
    """
    return fit_heights(agglomerate(X, method=method, metric=metric), X, metric=metric, pair_weight=pair_weight)


def fit_heights(tree: Dendrogram, X: Any, *, metric: Any = "euclidean", pair_weight: Any = None) -> Dendrogram:
    """Keep a tree and give it the heights whose ultrametric is closest to the distances in the least-squares sense.

    Parameters
    ----------
    tree : Dendrogram
        One tree over the rows of X, binary or not.
    X : array-like of shape (n_samples, n_features)
        Vectors; or with ``metric="precomputed"`` dissimilarities, square or condensed. Not modified.
    metric : str or callable, default="euclidean"
        How vectors are compared.
    pair_weight : None, {"inverse", "inverse_square"} or array-like, default=None
        The weight of each pair in the sum of squares, above 0: a square matrix or its upper triangle; or 1 / d and
        1 / d**2 of the given distances; None weighs all alike.

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
    The target of a node is the mean distance of the pairs that meet there, weighted by their weights; heights that rise
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
    D = distances.square()
    weight = read_pair_weights(pair_weight, distances.n_samples, who="fit_heights")
    if weight is None:
        total, count = _sums_at_nodes(tree.parent, tree.leaf_order, D)
    else:
        W = weigh_square(weight, D, who="fit_heights")
        total, count = (_sums_at_nodes(tree.parent, tree.leaf_order, values)[0] for values in (W * D, W))
    mean = np.divide(total, count, out=np.zeros(len(total)), where=count > 0)
    return Dendrogram(
        tree.n_samples,
        tree.parent,
        _pool_upwards(tree.parent, mean, count),
        marked=tree.marked,
        ids=tree.ids,
        joins=tree.joins,
    )
