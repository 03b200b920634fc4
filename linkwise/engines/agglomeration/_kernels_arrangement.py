"""The arrangement of weighted points in blocks: an order of near points, the blocks, and cannot-links by slot."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import BoolArray, Floats, IntArray
from linkwise.engines.agglomeration._kernels_blocked_points import Cloud, gaps_to_block


@njit(nogil=True)
def _assign(P: Floats, pivots: Floats, label: IntArray) -> None:
    """Label every row of P with its nearest pivot (features, pivots)."""
    gaps = np.empty(pivots.shape[1], P.dtype)
    for i in range(P.shape[0]):
        gaps_to_block(pivots, 0, pivots.shape[0], P[i], gaps)
        best = 0
        for p in range(1, gaps.shape[0]):
            if gaps[p] < gaps[best]:
                best = p
        label[i] = best


@njit(nogil=True)
def _tour(pivots: Floats) -> IntArray:
    """Rank the pivots along a path that always goes on to the nearest one not yet visited."""
    d, m = pivots.shape
    gaps = np.empty(m, pivots.dtype)
    x = np.empty(d, pivots.dtype)
    rank = np.full(m, -1, np.intp)
    at = 0
    for step in range(m):
        rank[at] = step
        for k in range(d):
            x[k] = pivots[k, at]
        gaps_to_block(pivots, 0, d, x, gaps)
        at = -1
        for p in range(m):
            if rank[p] < 0 and (at < 0 or gaps[p] < gaps[at]):
                at = p
    return rank


@njit(nogil=True)
def _lay_out(P: Floats, order: IntArray, points: Floats, center: Floats, radius: Floats) -> None:
    """Write the rows of P into blocks in the given order, and each block's center and radius."""
    lanes = points.shape[2]
    n, d = P.shape
    for b in range(points.shape[0]):
        first = b * lanes
        filled = min(lanes, n - first)
        for j in range(lanes):
            for k in range(d):
                points[b, k, j] = P[order[first + j], k] if j < filled else 0
        for j in range(filled, lanes):
            points[b, 0, j] = np.inf
        for k in range(d):
            total = P[0, 0] * 0
            for j in range(filled):
                total += points[b, k, j]
            center[k, b] = total / filled
        far = P[0, 0] * 0
        for j in range(filled):
            reach = P[0, 0] * 0
            for k in range(d):
                gap = points[b, k, j] - center[k, b]
                reach += gap * gap
            far = max(far, reach)
        radius[b] = np.sqrt(far)


@njit(nogil=True)
def _smallest_sizes(size: Floats, alive: BoolArray, smallest: Floats) -> None:
    lanes = size.shape[0] // smallest.shape[0]
    for b in range(smallest.shape[0]):
        low = size[b * lanes]
        for s in range(b * lanes, (b + 1) * lanes):
            if alive[s]:
                low = min(low, size[s])
        smallest[b] = low


@njit(nogil=True)
def _new_slots(cloud: Cloud, keep: IntArray) -> IntArray:
    """Return the new slot of every old one, given the old slots in their new order; -1 for finished roots."""
    new = np.full(cloud.key.shape[0], -1, np.intp)
    for t in range(keep.shape[0]):
        at = keep[t]
        while at >= 0:
            new[at] = t
            at = cloud.after[at]
    return new


@njit(nogil=True)
def _renew_bans(cloud: Cloud, keep: IntArray, new: IntArray, start: IntArray, ban: IntArray) -> int:
    """Translate the cannot-links to new slots, each listed once; return how many there are."""
    mark = np.full(keep.shape[0], -1, np.intp)
    old, old_start = cloud.ban, cloud.ban_start
    total = 0
    for t in range(keep.shape[0]):
        start[t] = total
        at = keep[t]
        while at >= 0:
            for e in range(old_start[at], old_start[at + 1]):
                other = new[old[e]]
                if other >= 0 and mark[other] != t:
                    mark[other] = t
                    ban[total] = other
                    total += 1
            at = cloud.after[at]
    start[keep.shape[0] :] = total
    return total


@njit(nogil=True)
def _turn_round(start: IntArray, member: IntArray, held_start: IntArray, held: IntArray) -> None:
    """From the members of each group to the groups of each member, by counting."""
    for e in range(member.shape[0]):
        held_start[member[e] + 1] += 1
    for s in range(1, held_start.shape[0]):
        held_start[s] += held_start[s - 1]
    place = held_start.copy()
    for g in range(start.shape[0] - 1):
        for e in range(start[g], start[g + 1]):
            held[place[member[e]]] = g
            place[member[e]] += 1


@njit(nogil=True)
def _list_bans(forbidden: IntArray, slot_of: IntArray, start: IntArray, ban: IntArray) -> None:
    """List the cannot-links by slot, both ways round, by counting."""
    for t in range(forbidden.shape[0]):
        start[slot_of[forbidden[t, 0]] + 1] += 1
        start[slot_of[forbidden[t, 1]] + 1] += 1
    for s in range(1, start.shape[0]):
        start[s] += start[s - 1]
    place = start.copy()
    for t in range(forbidden.shape[0]):
        i = slot_of[forbidden[t, 0]]
        j = slot_of[forbidden[t, 1]]
        ban[place[i]] = j
        place[i] += 1
        ban[place[j]] = i
        place[j] += 1


@njit(nogil=True)
def _gather_groups(
    X: Floats, midpoints: bool, forced: IntArray, merges: IntArray
) -> tuple[Floats, Floats, IntArray, IntArray, int]:
    """Replace every must-linked group by one weighted point, noting the merges at height 0 in index order."""
    n, d = X.shape
    first = np.full(n, -1, np.intp)
    P = np.empty((n, d), X.dtype)
    size = np.zeros(n, X.dtype)
    key = np.empty(n, np.intp)
    node = np.empty(n, np.intp)
    groups = 0
    done = 0
    for i in range(n):
        g = first[forced[i]]
        if g < 0:
            g = groups
            groups += 1
            first[forced[i]] = g
            for k in range(d):
                P[g, k] = X[i, k]
            key[g] = i
            node[g] = i
        else:
            share = size[g] / (size[g] + 1)
            if midpoints:
                share = share * 0 + 0.5
            for k in range(d):
                P[g, k] = share * P[g, k] + (1 - share) * X[i, k]
            merges[done, 0] = node[g]
            merges[done, 1] = i
            node[g] = n + done
            done += 1
        size[g] += 1
    return P[:groups].copy(), size[:groups].copy(), key[:groups].copy(), node[:groups].copy(), done
