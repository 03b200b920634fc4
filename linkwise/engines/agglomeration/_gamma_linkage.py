"""Centroid linkage under γ that skips the distances the triangle inequality rules out.

The distances of all clusters to a *pivot* cluster are always known. Two clusters whose distances to it differ by more
than γ are further apart than γ, so they may not be merged and their own distance is never asked for. Further pivots
help where their distances happen to be known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import MaxCentroidDistance
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


@njit
def _distance(x: FloatArray, y: FloatArray) -> float:
    total = 0.0
    for f in range(len(x)):
        total += (x[f] - y[f]) * (x[f] - y[f])
    return float(np.sqrt(total))


@njit
def _ruled_out(D: FloatArray, i: int, j: int, n_pivots: int, gamma: float) -> bool:
    """Whether some pivot tells that clusters i and j are further apart than gamma, rounding allowed for."""
    for p in range(n_pivots):
        if p != i and p != j:
            near, far = min(D[p, i], D[p, j]), max(D[p, i], D[p, j])
            if far < np.inf and far - near > gamma + 1e-12 * far:
                return True
    return False


@njit
def _nearest(D: FloatArray, alive: BoolArray, i: int, gamma: float) -> int:
    """The closest cluster within gamma, lowest slot first; -1 when there is none."""
    best = -1
    for j in range(len(alive)):
        if alive[j] and j != i and D[i, j] <= gamma and (best < 0 or D[i, j] < D[i, best]):
            best = j
    return best


@njit
def _merge(X: FloatArray, gamma: float, n_pivots: int) -> tuple[IntArray, FloatArray, int, int]:
    """Merge in slots: a cluster lives in its lowest sample's slot, and slots below ``n_pivots`` are the pivots.

    ``D[0, i]`` is always exact; elsewhere infinity stands for "further than gamma, never computed".
    """
    n = len(X)
    D = np.full((n, n), np.inf)
    alive = np.ones(n, np.bool_)
    size = np.ones(n)
    node = np.arange(n)
    center = X.copy()
    computed = 0
    for i in range(n):
        for j in range(i + 1, n):
            if i == 0 or not _ruled_out(D, i, j, n_pivots, gamma):
                D[i, j] = D[j, i] = _distance(center[i], center[j])
                computed += 1
    unpruned = n * (n - 1) // 2
    nearest = np.empty(n, np.intp)
    for i in range(n):
        nearest[i] = _nearest(D, alive, i, gamma)
    pairs = np.empty((max(n - 1, 0), 2), np.intp)
    height = np.empty(max(n - 1, 0))
    left = n
    for t in range(n - 1):
        i = -1
        for k in range(n):
            if alive[k] and nearest[k] >= 0 and (i < 0 or D[k, nearest[k]] < D[i, nearest[i]]):
                i = k
        if i < 0:
            break
        j = nearest[i]
        i, j = min(i, j), max(i, j)
        pairs[t, 0], pairs[t, 1] = node[i], node[j]
        height[t] = D[i, j]
        for f in range(X.shape[1]):
            center[i, f] = (size[i] * center[i, f] + size[j] * center[j, f]) / (size[i] + size[j])
        size[i] += size[j]
        node[i] = n + t
        alive[j] = False
        left -= 1
        unpruned += left - 1
        for k in range(n):  # the old distances of slots i and j mean nothing any more
            D[i, k] = D[k, i] = np.inf
            D[j, k] = D[k, j] = np.inf
        for k in range(n):  # pivots come first, so their distances serve the later ones
            if alive[k] and k != i and (i == 0 or k == 0 or not _ruled_out(D, i, k, n_pivots, gamma)):
                D[i, k] = D[k, i] = _distance(center[i], center[k])
                computed += 1
        nearest[i] = _nearest(D, alive, i, gamma)
        for k in range(n):
            if alive[k] and k != i:
                if nearest[k] == i or nearest[k] == j:
                    nearest[k] = _nearest(D, alive, k, gamma)
                elif D[k, i] <= gamma and (
                    nearest[k] < 0 or D[k, i] < D[k, nearest[k]] or (D[k, i] == D[k, nearest[k]] and i < nearest[k])
                ):
                    nearest[k] = i
    return pairs[: n - left], height[: n - left], computed, unpruned
