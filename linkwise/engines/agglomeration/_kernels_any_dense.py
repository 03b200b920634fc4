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

from linkwise._kernels import njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import BoolArray, FloatArray, Floats, IntArray
from linkwise.engines.agglomeration._kernels_linkages import CENTROID, lance_williams

# positions in Table.tally
ALIVE = 0
MERGES = 1
FINISHED = 2


class Table(NamedTuple):
    """State between two calls of `merge_closest`; slots are samples, a cluster lives in its lowest slot."""

    D: Floats
    apart: Floats  # squared distances between centroids, or 1 x 1 when gamma is not asked for
    near: BoolArray  # whether some sample of the one is within epsilon of the other, or 1 x 1
    size: Floats
    node: IntArray
    slots: IntArray  # the living slots, ascending
    nearest: IntArray
    gap: Floats  # distance to it, or a lower bound
    exact: BoolArray
    merges: IntArray
    height: FloatArray
    tally: IntArray


# Loops take the arrays they need out of the table first: each look into the tuple would count a reference.


@njit(nogil=True)
def _legal_distance(D: Floats, apart: Floats, near: BoolArray, size: Floats, i: int, j: int, widest: float) -> Any:
    """Return the distance of two clusters, infinite when a rule forbids to merge them now."""
    d = D[i, j]
    if near.shape[0] > 1 and not near[i, j] and (size[i] < 2 or size[j] < 2):
        return d * 0 + np.inf if not np.isinf(d) else d
    if apart.shape[0] > 1 and apart[i, j] > widest:
        return d * 0 + np.inf if not np.isinf(d) else d
    return d


@njit(nogil=True)
def _look_around(table: Table, i: int, widest: float) -> None:
    """Find the exact nearest partner of one cluster."""
    D, apart, near, size, slots = table.D, table.apart, table.near, table.size, table.slots
    best = -1
    low = table.gap[i]
    for t in range(table.tally[ALIVE]):
        k = slots[t]
        if k == i:
            continue
        d = _legal_distance(D, apart, near, size, i, k, widest)
        if best < 0 or d < low:
            low = d
            best = k
    table.nearest[i] = best
    table.gap[i] = low
    table.exact[i] = True


@njit(nogil=True)
def _unite(table: Table, method: int, i: int, j: int, height: float) -> None:
    """Merge slot ``j`` into slot ``i < j``: distances, side tables, result."""
    D, apart, near, size, slots, count = table.D, table.apart, table.near, table.size, table.slots, table.tally
    t = count[MERGES]
    table.merges[t, 0] = table.node[i]
    table.merges[t, 1] = table.node[j]
    table.height[t] = height
    table.node[i] = table.merges.shape[0] + 1 + t
    count[MERGES] = t + 1
    fresh = 0
    for s in range(count[ALIVE]):
        k = slots[s]
        if k != j:
            slots[fresh] = k
            fresh += 1
    count[ALIVE] = fresh
    n_i = size[i]
    n_j = size[j]
    d_ij = D[i, j]
    far = apart.shape[0] > 1
    for s in range(fresh):
        k = slots[s]
        if k == i:
            continue
        d = lance_williams(method, D[i, k], D[j, k], d_ij, n_i, n_j, size[k])
        D[i, k] = d
        D[k, i] = d
        if far:
            c = lance_williams(CENTROID, apart[i, k], apart[j, k], apart[i, j], n_i, n_j, n_i)
            apart[i, k] = c
            apart[k, i] = c
        if near.shape[0] > 1 and near[j, k]:
            near[i, k] = True
            near[k, i] = True
    size[i] = n_i + n_j


@njit(nogil=True)
def force_groups(table: Table, method: int, forced: IntArray) -> None:
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
    D, apart, near, size, slots = table.D, table.apart, table.near, table.size, table.slots
    nearest, gap, exact = table.nearest, table.gap, table.exact
    for _ in range(budget):
        if count[ALIVE] < 2:
            count[FINISHED] = 1
            return
        a = slots[0]
        for s in range(1, count[ALIVE]):
            if gap[slots[s]] < gap[a]:
                a = slots[s]
        if not exact[a]:
            _look_around(table, a, widest)
            continue
        if np.isinf(gap[a]):
            count[FINISHED] = 1
            return
        i = min(a, nearest[a])
        j = max(a, nearest[a])
        _unite(table, method, i, j, np.float64(gap[a]))
        for s in range(count[ALIVE]):
            k = slots[s]
            if k == i:
                continue
            d = _legal_distance(D, apart, near, size, k, i, widest)
            lost = nearest[k] == i or nearest[k] == j
            if d < gap[k] or (d == gap[k] and (lost or i < nearest[k])):
                nearest[k] = i
                gap[k] = d
                exact[k] = True
            elif lost:
                # every other row is at least as far as the lost partner was
                exact[k] = False
        _look_around(table, i, widest)


@njit(nogil=True)
def _part(D: Floats, start: IntArray, member: IntArray) -> None:
    """Make the distances within groups infinite; the diagonal is left as it is."""
    for g in range(start.shape[0] - 1):
        for s in range(start[g], start[g + 1]):
            row = D[member[s]]
            for t in range(start[g], start[g + 1]):
                if s != t:
                    row[member[t]] = np.inf
