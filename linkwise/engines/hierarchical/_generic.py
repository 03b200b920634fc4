"""Exact greedy agglomeration on a dense matrix for any linkage and for rules that change as clusters grow.

Every cluster remembers its nearest partner, or a lower bound once that partner is gone. The smallest entry is the next
merge if it is exact; otherwise that one row is looked through again. A merge changes only pairs that involve the new
cluster, so nothing has to be assumed about the linkage (centroid and median bring clusters closer together), nor about
the rules (a pair that was illegal may have become legal). Ties go to the lowest-numbered pair of slots, a cluster's
slot being its lowest-numbered sample.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.borrow import borrowed
from linkwise.engines.hierarchical._codes import CENTROID, lance_williams

__all__ = ["Table", "force_groups", "make_table", "merge_closest"]

Ints = npt.NDArray[np.intp]
Floats = npt.NDArray[np.floating[Any]]

# positions in Table.tally
ALIVE = 0
MERGES = 1
FINISHED = 2


class Table(NamedTuple):
    """State between two calls of `merge_closest`; slots are samples, a cluster lives in its lowest slot."""

    D: Floats
    apart: Floats  # squared distances between centroids, or 1 x 1 when gamma is not asked for
    near: npt.NDArray[np.bool_]  # whether some sample of the one is within epsilon of the other, or 1 x 1
    size: Floats
    node: Ints
    slots: Ints  # the living slots, ascending
    nearest: Ints
    gap: Floats  # distance to it, or a lower bound
    exact: npt.NDArray[np.bool_]
    merges: Ints
    height: npt.NDArray[np.float64]
    tally: Ints


def make_table(D: Floats, apart: Floats | None = None, near: npt.NDArray[np.bool_] | None = None) -> Table:
    """Start with singletons; ``D``, ``apart`` and ``near`` are taken over and will be overwritten."""
    n = len(D)
    slots = np.arange(n, dtype=np.intp)
    count = np.zeros(4, np.intp)
    count[ALIVE] = n
    return Table(
        D=D,
        apart=np.zeros((1, 1), D.dtype) if apart is None else apart,
        near=np.zeros((1, 1), np.bool_) if near is None else near,
        size=np.ones(n, D.dtype),
        node=slots.copy(),
        slots=slots,
        nearest=np.full(n, -1, np.intp),
        gap=np.full(n, -np.inf, D.dtype),
        exact=np.zeros(n, np.bool_),
        merges=np.empty((max(n - 1, 0), 2), np.intp),
        height=np.empty(max(n - 1, 0)),
        tally=count,
    )


@njit(nogil=True)
def _legal_distance(table: Table, i: int, j: int, widest: float) -> Any:
    """Return the distance of two clusters, infinite when a rule forbids to merge them now."""
    d = table.D[i, j]
    if table.near.shape[0] > 1 and not table.near[i, j] and (table.size[i] < 2 or table.size[j] < 2):
        return d * 0 + np.inf if not np.isinf(d) else d
    if table.apart.shape[0] > 1 and table.apart[i, j] > widest:
        return d * 0 + np.inf if not np.isinf(d) else d
    return d


@njit(nogil=True)
def _look_around(table: Table, i: int, widest: float) -> None:
    """Find the exact nearest partner of one cluster."""
    best = -1
    low = table.gap[i]
    for t in range(table.tally[ALIVE]):
        k = table.slots[t]
        if k == i:
            continue
        d = _legal_distance(table, i, k, widest)
        if best < 0 or d < low:
            low = d
            best = k
    table.nearest[i] = best
    table.gap[i] = low
    table.exact[i] = True


@njit(nogil=True)
def _unite(table: Table, method: int, i: int, j: int, height: float) -> None:
    """Merge slot ``j`` into slot ``i < j``: distances, side tables, result."""
    count = table.tally
    t = count[MERGES]
    table.merges[t, 0] = table.node[i]
    table.merges[t, 1] = table.node[j]
    table.height[t] = height
    table.node[i] = table.merges.shape[0] + 1 + t
    count[MERGES] = t + 1
    fresh = 0
    for s in range(count[ALIVE]):
        k = table.slots[s]
        if k != j:
            table.slots[fresh] = k
            fresh += 1
    count[ALIVE] = fresh
    n_i = table.size[i]
    n_j = table.size[j]
    d_ij = table.D[i, j]
    far = table.apart.shape[0] > 1
    for s in range(fresh):
        k = table.slots[s]
        if k == i:
            continue
        d = lance_williams(method, table.D[i, k], table.D[j, k], d_ij, n_i, n_j, table.size[k])
        table.D[i, k] = d
        table.D[k, i] = d
        if far:
            c = lance_williams(CENTROID, table.apart[i, k], table.apart[j, k], table.apart[i, j], n_i, n_j, n_i)
            table.apart[i, k] = c
            table.apart[k, i] = c
        if table.near.shape[0] > 1 and table.near[j, k]:
            table.near[i, k] = True
            table.near[k, i] = True
    table.size[i] = n_i + n_j


@njit(nogil=True)
def force_groups(table: Table, method: int, forced: Ints) -> None:
    """Merge the groups of must-linked samples at height 0, each in index order, before anything is compared."""
    table = borrowed(table)
    first = np.full(forced.shape[0], -1, np.intp)
    for slot in range(forced.shape[0]):
        group = forced[slot]
        if first[group] < 0:
            first[group] = slot
        else:
            _unite(table, method, first[group], slot, 0.0)


@njit(nogil=True)
def merge_closest(table: Table, method: int, widest: float, budget: int) -> None:
    """Merge closest legal pairs until none is left or ``budget`` rows were handled.

    ``widest`` bounds the squared distance of centroids and counts only if the table holds these.
    """
    table = borrowed(table)
    count = table.tally
    nearest = table.nearest
    gap = table.gap
    for _ in range(budget):
        if count[ALIVE] < 2:
            count[FINISHED] = 1
            return
        a = table.slots[0]
        for s in range(1, count[ALIVE]):
            if gap[table.slots[s]] < gap[a]:
                a = table.slots[s]
        if not table.exact[a]:
            _look_around(table, a, widest)
            continue
        if np.isinf(gap[a]):
            count[FINISHED] = 1
            return
        i = min(a, nearest[a])
        j = max(a, nearest[a])
        _unite(table, method, i, j, np.float64(gap[a]))
        for s in range(count[ALIVE]):
            k = table.slots[s]
            if k == i:
                continue
            d = _legal_distance(table, k, i, widest)
            lost = nearest[k] == i or nearest[k] == j
            if d < gap[k] or (d == gap[k] and (lost or i < nearest[k])):
                nearest[k] = i
                gap[k] = d
                table.exact[k] = True
            elif lost:
                # everybody else is at least as far as the lost partner was
                table.exact[k] = False
        _look_around(table, i, widest)
