"""The largest ultrametric below given distances, and the edges it is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.agglomeration import agglomerate, join_edges, merge_all
from linkwise.engines.hierarchical.ultrametric._base import Distances
from linkwise.engines.hierarchical.ultrametric._kernels_heights import _between_samples
from linkwise.result import Dendrogram


def subdominant_ultrametric(X: Any, *, metric: Any = "euclidean") -> Dendrogram:
    """Build the tree of the largest ultrametric that is nowhere above the distances.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Vectors; or with ``metric="precomputed"`` dissimilarities, square or condensed. Not modified.
    metric : str or callable, default="euclidean"
        How vectors are compared.

    Returns
    -------
    Dendrogram
        ``tree.cophenetic(i, j)`` is the ultrametric: the least, over all paths from i to j, of the longest step.

    Notes
    -----
    **Cost** O(n^2 d) time, O(n d) memory on Euclidean vectors. **Guarantee** every ultrametric below the distances is
    below this one. It is single linkage, whose merge heights are the edges of a minimum spanning tree; it is called the
    minimal transitive dissimilarity in [1]_. **Departure from** [1]_ which computes it in O(n^3) and says it lies above
    the distances, where it lies below.

    References
    ----------
    .. [1] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    Examples
    --------
    >>> from linkwise.engines import subdominant_ultrametric
    >>> tree = subdominant_ultrametric([[0.0], [1.0], [3.0], [6.0]])
    >>> tree.cophenetic(0, [1, 2, 3]).tolist()
    [1.0, 2.0, 3.0]
    """
    return agglomerate(X, method="single", metric=metric)


def spanning_edges(distances: Distances, progress: Any = None) -> tuple[IntArray, FloatArray]:
    """Edges between samples, shortest first, whose longest step on a path is the subdominant ultrametric.

    Single linkage as it is computed elsewhere joins clusters; any sample of each stands for it here, which changes the
    tree that spans the samples but not the longest step between two of them.
    """
    merges = merge_all(distances.source, method="single", metric=distances.metric, progress=progress)
    return _between_samples(distances.n_samples, merges.pairs), merges.height


def join_sorted(n: int, edges: IntArray, length: FloatArray) -> tuple[IntArray, FloatArray]:
    """Merge along edges from short to long, the earlier of equals first; return merges and heights."""
    order = np.argsort(length, kind="stable")
    return join_edges(n, edges[order], length[order], None)
