"""Initial centers: k-means++, neighborhoods of must-linked samples, or given by the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.engines.distances import one_row, squared
from linkwise.engines.partitional._kernels_sweep import _spread
from linkwise.exceptions import LinkwiseError
from linkwise.problem.statements import Contracted

INITS = ("k-means++", "neighborhoods")
_NONE = np.empty(0, dtype=np.intp)


def read_init(init: Any, n_clusters: int, n_features: int, who: str) -> Any:
    """Return the name of an initialization, or given centers as a float64 copy."""
    if isinstance(init, str):
        return init
    if scipy.sparse.issparse(init):
        init = init.toarray()
    centers = np.array(init, dtype=np.float64, order="C")
    if centers.shape != (n_clusters, n_features) or not np.isfinite(centers).all():
        what = "values that are not finite" if centers.shape == (n_clusters, n_features) else f"shape {centers.shape}"
        msg = (
            f"{who}: the array given as init has {what}, expected finite centers of shape "
            f"({n_clusters}, {n_features}), one row for each of n_clusters."
        )
        raise LinkwiseError(msg)
    return centers


class Start:
    """Draws initial centers; ``init`` is a name, or centers from `read_init`."""

    def __init__(self, init: Any, cloud: Contracted, k: int, rng: np.random.Generator) -> None:
        self.cloud, self.k, self.rng = cloud, k, rng
        self._given = init if isinstance(init, np.ndarray) else None
        self._chosen = neighborhoods(cloud, k) if isinstance(init, str) and init == "neighborhoods" else _NONE
        # whether the next call returns other centers
        self.varies = self._given is None and len(self._chosen) < k

    def centers(self) -> FloatArray:
        """Return initial centers."""
        if self._given is not None:
            return np.array(self._given)
        return spread_centers(self.cloud, self._chosen, self.k, self.rng)


def neighborhoods(cloud: Contracted, k: int, gap: Callable[[IntArray, int], FloatArray] | None = None) -> IntArray:
    """Choose up to ``k`` rows to start from: must-linked groups, then samples apart from all rows chosen so far.

    Of more than ``k`` groups, large ones far from each other are chosen: first the largest, then repeatedly the one
    with the largest product of size and distance to the nearest chosen group. ``gap(rows, row)`` returns the distances
    of some rows to one; by default they are Euclidean.
    """
    groups = np.flatnonzero(cloud.weight > 1)
    if len(groups) > k:
        return _farthest_first(cloud, groups, k, gap or _euclidean(cloud))
    chosen = groups.tolist()
    apart = cloud.apart
    # number of chosen rows that each row is cannot-linked to; a row cannot-linked to all may start a cluster
    rivals = np.zeros(apart.n_places, dtype=np.intp)
    taken = np.zeros(apart.n_places, dtype=np.bool_)
    spot = np.searchsorted(apart.node, groups)
    here = spot < apart.n_places
    here[here] = apart.node[spot[here]] == groups[here]
    if not here.all():
        return np.array(chosen, dtype=np.intp)  # a group without cannot-links has no row apart from it
    for place in spot.tolist():
        _mark(apart, place, rivals, taken)
    while len(chosen) < k and apart.n_places:
        able = np.flatnonzero((rivals == len(chosen)) & ~taken)
        if not len(able):
            break
        chosen.append(int(apart.node[able[0]]))
        _mark(apart, int(able[0]), rivals, taken)
    return np.array(chosen, dtype=np.intp)


def _mark(apart: Any, place: int, rivals: IntArray, taken: BoolArray) -> None:
    cliques = apart.clique[apart.first[place] : apart.first[place + 1]]
    spans = [apart.member[apart.start[q] : apart.start[q + 1]] for q in cliques.tolist()]
    around = np.unique(np.concatenate(spans)) if spans else np.empty(0, dtype=np.intp)
    rivals[around] += 1
    taken[place] = True


def _euclidean(cloud: Contracted) -> Callable[[IntArray, int], FloatArray]:
    def gap(rows: IntArray, row: int) -> FloatArray:
        return np.asarray(np.sqrt(squared(cloud.X[rows], one_row(cloud.X, row)[None])[:, 0]))

    return gap


def _farthest_first(
    cloud: Contracted, groups: IntArray, k: int, gap: Callable[[IntArray, int], FloatArray]
) -> IntArray:
    weight = cloud.weight[groups]
    chosen = [int(np.argmax(weight))]
    near = np.full(len(groups), np.inf)
    while len(chosen) < k:
        near = np.minimum(near, gap(groups, int(groups[chosen[-1]])))
        score = weight * near
        score[chosen] = -1.0
        chosen.append(int(np.argmax(score)))
    return np.asarray(groups[np.array(chosen)], dtype=np.intp)


def spread_centers(cloud: Contracted, chosen: IntArray, k: int, rng: np.random.Generator) -> FloatArray:
    """Take the chosen rows as centers and add others by k-means++: far from all so far, best of a few draws.

    Notes
    -----
    Rows count by their weights. As in scikit-learn each step draws 2 + log k candidates with probability proportional
    to weight times squared distance, and keeps the one that lowers the total most, the lowest-numbered of equals.
    """
    centers = np.empty((k, cloud.X.shape[1]))
    for i, row in enumerate(chosen[:k].tolist()):
        centers[i] = one_row(cloud.X, row)
    have = min(len(chosen), k)
    if have == k:
        return centers
    # before the first center all rows are equally far
    near = squared(cloud.X, centers[:have]).min(axis=1) if have else np.ones(cloud.n_nodes)
    luck = rng.random((k - have, 2 + int(np.log(k))))
    if not scipy.sparse.issparse(cloud.X):
        _spread(cloud.X, cloud.weight, near, centers, luck)
        return centers
    for i in range(have, k):
        rows = np.unique(_rows_at(np.cumsum(cloud.weight * near), luck[i - have, : None if i else 1]))
        candidates = np.stack([one_row(cloud.X, int(row)) for row in rows])
        away = squared(cloud.X, candidates)
        closer = np.minimum(away, near[:, None]) if i else away
        best = int(np.argmin(cloud.weight @ closer))
        near = np.ascontiguousarray(closer[:, best])
        centers[i] = candidates[best]
    return centers


def draw_rows(mass: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Draw positions with probability proportional to ``mass``; when all of it is zero, any."""
    return _rows_at(np.cumsum(mass), rng.random(size))


def _rows_at(total: FloatArray, luck: FloatArray) -> IntArray:
    """Return the positions at which running totals exceed these shares of the last one; any if that is zero."""
    if total[-1] <= 0:
        return np.asarray(luck * len(total), dtype=np.intp)
    found = np.searchsorted(total, luck * total[-1], side="right")
    return np.asarray(np.minimum(found, len(total) - 1), dtype=np.intp)
