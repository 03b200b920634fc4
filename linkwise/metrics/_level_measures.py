"""Measures of the levels of a dendrogram, averaged: purity and distortion of the clusters after each merge."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from linkwise._kernels.lca import LcaIndex, prepare
from linkwise._typing import FloatArray, IntArray
from linkwise.exceptions import LinkwiseError
from linkwise.metrics._kernels_triples import item_stretches
from linkwise.metrics._read_labels import read_classes, same_leaves
from linkwise.metrics._tree_measures import lifetimes, meetings
from linkwise.result import require_dendrogram

_BLOCK = 1 << 22  # numbers in memory at a time


def level_purity(y_true: Any, dendrogram: Any, *, unlabeled: Any = -1) -> float:
    """Mean purity of the clusters over all levels of a tree: before the first merge, and after each.

    Parameters as in `hierarchy_fscore`.

    Returns
    -------
    float
        Above 0, up to 1. The lowest levels have purity 1 in any tree: compare trees of the same samples.

    Notes
    -----
    The purity of a level is that of `purity`: the share of samples that belong to the commonest class of their
    cluster. **Cost** O(n log n). **Departure from** [1]_ the table says "average percentage cluster purity over entire
    dendrogram" and not how; here each level counts once, and each cluster of a level by its size.

    References
    ----------
    .. [1] I. Davidson, S. S. Ravi, "Agglomerative Hierarchical Clustering with Constraints", PKDD 2005, table 2.

    Examples
    --------
    >>> from linkwise import Dendrogram
    >>> from linkwise.metrics import level_purity
    >>> level_purity([0, 0, 1, 1], Dendrogram.from_newick("((0,1),(2,3));"))
    0.875
    """
    n, samples, classes, k = read_classes("level_purity", y_true, unlabeled)
    tree = same_leaves("level_purity", n, dendrogram)
    index = prepare(np.array(tree.parent))
    met = meetings(index, samples, classes, k)
    value = np.zeros(len(index.first) + 1, dtype=np.intp)
    np.maximum.at(value, index.first[met.node], met.members)
    alive, n_levels = lifetimes(tree)
    return float((alive * _most_below(index, value)[: len(alive)]).sum()) / (n_levels * len(samples))


def _most_below(index: LcaIndex, value: IntArray) -> IntArray:
    """Return the largest value at each node or below it; ``value`` is in preorder."""
    length = index.last - index.first + 1
    step = np.frexp(length)[1] - 1  # the largest power of two that fits
    out = np.empty(len(length), dtype=np.intp)
    for j in range(int(step.max()) + 1):
        here = step == j  # two stretches of 2**j cover the nodes below
        out[here] = np.maximum(value[index.first[here]], value[index.last[here] - 2**j + 1])
        value = value.copy()
        value[: -(2**j)] = np.maximum(value[: -(2**j)], value[2**j :])
    return out


def level_distortion(X: Any, dendrogram: Any) -> float:
    """Mean squared distance of samples from the centers of their clusters, over all levels of a tree.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples. No truth is needed.
    dendrogram : Dendrogram
        The tree; forests and many-way nodes are ordinary.

    Returns
    -------
    float
        At least 0; lower is better. The level before the first merge has 0.

    Notes
    -----
    The distortion of a level is that of k-means, divided by the number of samples. **Cost** O(n d). **Departure from**
    [1]_ as in `level_purity`: each level counts once.

    References
    ----------
    .. [1] I. Davidson, S. S. Ravi, "Agglomerative Hierarchical Clustering with Constraints", PKDD 2005, table 2.

    Examples
    --------
    >>> from linkwise import Dendrogram
    >>> from linkwise.metrics import level_distortion
    >>> level_distortion([[-2.0], [2.0], [6.0], [10.0]], Dendrogram.from_newick("((0,1),(2,3));"))
    6.5
    """
    tree = require_dendrogram(dendrogram, "level_distortion")
    data: Any = X.tocsc() if issparse(X) else np.asarray(X, dtype=np.float64)
    if data.ndim != 2 or data.shape[0] != tree.n_samples:
        msg = f"level_distortion: X has shape {data.shape}, but the dendrogram has {tree.n_samples:,} leaves."
        raise LinkwiseError(msg)
    order, begin, count = item_stretches(tree.n_samples, np.array(tree.parent))
    spread = np.zeros(tree.n_nodes)
    wide = max(1, _BLOCK // max(tree.n_nodes, 1))
    for at in range(0, data.shape[1], wide):
        part = data[:, at : at + wide]
        spread += _squares(
            np.asarray(part.toarray() if issparse(part) else part, dtype=np.float64), order, begin, count
        )
    if not np.isfinite(spread).all():
        msg = "level_distortion: X holds NaN or infinite values, expected finite numbers."
        raise LinkwiseError(msg)
    alive, n_levels = lifetimes(tree)
    return float((alive * spread).sum()) / (n_levels * tree.n_samples)


def _squares(part: FloatArray, order: IntArray, begin: IntArray, count: IntArray) -> FloatArray:
    """Return the sum of squared distances from the mean of the samples below each node."""
    rows = (part - part.mean(axis=0))[order]
    total = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
    square = np.concatenate([[0.0], np.cumsum((rows**2).sum(axis=1))])
    end = begin + count
    sums = total[end] - total[begin]
    return np.asarray(np.maximum(square[end] - square[begin] - (sums**2).sum(axis=1) / count, 0.0))
