"""Centroid linkage under γ that skips the distances the triangle inequality rules out.

The distances of all clusters to a *pivot* cluster are always known. Two clusters whose distances to it differ by more
than γ are further apart than γ, so they may not be merged and their own distance is never asked for. Further pivots
help where their distances happen to be known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.constraints import MaxCentroidDistance
from linkwise.engines.agglomeration._kernels_gamma_linkage import _merge
from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram


@dataclass(frozen=True, eq=False)
class GammaRun:
    """Tree of `gamma_linkage` and the number of distances it took.

    Attributes
    ----------
    dendrogram : Dendrogram
        The tree, or the forest where no two clusters within γ are left.
    n_distances : int
        Distances computed.
    n_unpruned : int
        Distances the same merges take when every one is computed.

    Examples
    --------
    >>> from linkwise.engines import gamma_linkage
    >>> run = gamma_linkage([[0.0], [1.0], [10.0], [11.0]], gamma=2.0)
    >>> run.n_distances, run.n_unpruned
    (7, 9)
    """

    dendrogram: Dendrogram
    n_distances: int
    n_unpruned: int


def gamma_linkage(X: Any, gamma: float, *, n_pivots: int = 1) -> GammaRun:
    """Merge the clusters with the closest centroids until none are within ``gamma``, computing few distances.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite vectors.
    gamma : float
        Clusters whose centroids are further apart are never merged.
    n_pivots : int, default=1
        How many clusters serve as pivots; more rule out more, and cost comparisons instead of distances.

    Returns
    -------
    GammaRun

    Raises
    ------
    LinkwiseError
        X is not a table of finite numbers, or ``n_pivots`` is below 1.

    See Also
    --------
    ConstrainedAgglomerative : any linkage, with must-links, cannot-links and other rules besides γ.

    Notes
    -----
    **Cost** O(n²) memory; O(n²) to O(n³) comparisons. **Guarantee** the same merges as without pruning, and never more
    distances: those to a pivot are needed anyway. **Departure from** [1]_ all clusters are looped over, distances are
    between centroids throughout, and the exact distance is tested after the bound; several pivots are possible.

    References
    ----------
    .. [1] I. Davidson, S. S. Ravi, "Agglomerative hierarchical clustering with constraints: theoretical and empirical
       results", PKDD 2005 (function IntelligentDistance).

    Examples
    --------
    >>> from linkwise.engines import gamma_linkage
    >>> gamma_linkage([[0.0], [1.0], [10.0]], gamma=2.0).dendrogram.n_roots
    2
    """
    vectors = np.array(X, dtype=np.float64)
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        msg = f"gamma_linkage: X has shape {vectors.shape} or holds NaN or inf, expected rows of finite numbers."
        raise LinkwiseError(msg)
    if isinstance(n_pivots, bool) or not isinstance(n_pivots, (int, np.integer)) or n_pivots < 1:
        msg = f"gamma_linkage: n_pivots is {n_pivots!r}, expected a whole number >= 1."
        raise LinkwiseError(msg)
    limit = MaxCentroidDistance(gamma).gamma
    n = len(vectors)
    pairs, height, computed, unpruned = _merge(vectors, limit, min(int(n_pivots), max(n, 1)))
    tree = Dendrogram.from_merges(n, pairs, height)
    return GammaRun(tree, int(computed), int(unpruned))
