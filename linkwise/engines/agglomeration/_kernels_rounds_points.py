"""Rounds of reciprocal nearest neighbors, and single closest steps, on weighted points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._kernels import inner, njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import Bits, Floats, IntArray
from linkwise.engines.agglomeration._kernels_blocked_points import (
    Cloud,
    Scratch,
    bounds_to_blocks,
    gaps_within,
    is_banned,
    lane_of,
    look_around,
    mark_banned,
    move_into,
    nearer_lane,
    nearest_point,
    smallest_bits,
    worth_arranging,
)
from linkwise.engines.agglomeration._kernels_linkages import MEDIAN, WARD
from linkwise.engines.agglomeration._kernels_rounds import (
    COMPACT,
    DONE,
    LAST,
    LOST,
    NEW,
    PAIR,
    PAIRS,
    PENDING,
    PHASE,
    SCAN,
    SETTLE,
    WIDTH,
    closest_pair,
    list_pending,
    note_merge,
    pair_up,
)


class Summary(NamedTuple):
    """What is known about the gaps of each block."""

    low: Floats  # the smallest
    high: Floats  # the largest finite one
    at: IntArray  # the slot of the smallest, -1 where all are infinite


@njit(nogil=True)
def _ward_rounds(cloud: Cloud, wide: int, budget: int) -> None:
    """Do rounds until a step is too wide for one thread, the blocks need rearranging, or none is left."""
    cloud = borrowed(cloud)
    count = cloud.tally
    d = cloud.points.shape[1]
    spent = 0
    while count[PHASE] != DONE and spent < budget:
        if count[PHASE] == SCAN:
            cost = count[PENDING] * count[WIDTH] * d
            spent += cost
            if cost > wide:
                return
            look_around(cloud, WARD, cloud.pending, 0, count[PENDING])
            count[PHASE] = PAIR
        elif count[PHASE] == PAIR:
            pair_up(cloud)
            count[PHASE] = SETTLE
        elif count[PHASE] == SETTLE:
            for t in range(count[PAIRS]):
                kept = cloud.pair[t, 0]
                dropped = cloud.pair[t, 1]
                move_into(cloud, kept, dropped, cloud.size[kept] / (cloud.size[kept] + cloud.size[dropped]))
                note_merge(cloud, kept, dropped, np.float64(cloud.gap[kept]))
            list_pending(cloud)
            if count[PENDING] == 0:
                count[PHASE] = LAST
            else:
                count[PHASE] = COMPACT if worth_arranging(cloud) else SCAN
        elif count[PHASE] == LAST:
            closest_pair(cloud)
            count[PHASE] = SETTLE if count[PAIRS] > 0 else DONE
        else:
            return


@inner
def _sum_up(cloud: Cloud, gap_bits: Bits, b: int, summary: Summary) -> None:
    """Renew what is known about the gaps of a block."""
    lanes = cloud.points.shape[2]
    low, high, at = summary.low, summary.high, summary.at
    first = b * lanes
    mine = gap_bits[first : first + lanes]
    lane = lane_of(mine, smallest_bits(mine), cloud.key, first)
    low[b] = cloud.gap[first + lane]
    at[b] = -1 if np.isinf(low[b]) else first + lane
    # integers again, for the sake of vector instructions; dead lanes and hermits have infinite gaps
    never = cloud.bits[0]
    most = never * 0
    for j in range(lanes):
        most = max(most, mine[j] if mine[j] < never else 0)
    high[b] = 0
    for j in range(lanes):
        if mine[j] == most:
            high[b] = cloud.gap[first + j]


@inner
def _welcome(
    cloud: Cloud,
    rows: Floats,
    kept: int,
    gap_bits: Bits,
    summary: Summary,
    scratch: Scratch,
) -> None:
    """Compare a new cluster with all others: find its nearest, and tell those it is nearest to."""
    blocks, d, lanes = cloud.points.shape
    x, gaps, bits, bound, mark = scratch.x, scratch.gaps, scratch.bits, scratch.bound, scratch.mark
    high = summary.high
    banned = mark.shape[0] > 0
    key, gap, nearest, after = cloud.key, cloud.gap, cloud.nearest, cloud.after
    never = cloud.bits[0]
    own = kept // lanes
    for k in range(d):
        x[k] = rows[own * d + k, kept % lanes]
    bounds_to_blocks(cloud, x, bound)
    if banned:
        mark_banned(cloud, mark, kept)
    best = -1
    gaps[0] = np.inf
    least = gaps[0]
    most = bits[0] - 1
    for turn in range(-1, blocks):
        b = own if turn < 0 else turn
        if turn == own:
            continue
        # nobody beyond this distance is our nearest, or has us as the nearest
        limit = max(least, high[b])
        if turn >= 0 and bound[b] > limit:
            continue
        if gaps_within(rows, b * d, d, x, gaps, limit) == 0:
            continue
        first = b * lanes
        if b == own:
            gaps[kept - first] = np.inf
        # one pass for both questions: is anyone here nearer than the best so far, and is anyone here nearer to us?
        value = never
        closer = 0
        for j in range(lanes):
            value = min(value, bits[j])
            closer += (bits[j] <= gap_bits[first + j]) & (bits[j] < never)
        if value <= most:
            lane = nearer_lane(key, after, mark, kept, first, gaps, bits, most, best)
            if lane >= 0:
                least = gaps[lane]
                most = bits[lane]
                best = first + lane
        if closer == 0:
            continue
        changed = False
        for j in range(lanes):
            s = first + j
            if bits[j] > gap_bits[s] or bits[j] >= never or (banned and is_banned(after, mark, kept, s)):
                continue
            if bits[j] < gap_bits[s] or nearest[s] < 0 or key[kept] < key[nearest[s]]:
                nearest[s] = kept
                gap[s] = gaps[j]
                changed = True
        if changed:
            _sum_up(cloud, gap_bits, b, summary)
    cloud.nearest[kept] = best if best >= 0 else NEW
    cloud.gap[kept] = least
    _sum_up(cloud, gap_bits, own, summary)


@njit(nogil=True)
def _closest_steps(cloud: Cloud, method: int, summary: Summary, scratch: Scratch, budget: int) -> None:
    """Merge the closest two clusters again and again, until done, out of budget, or half the slots are empty.

    A gap is exact while the neighbor lives; afterwards it is a lower bound, since whoever else is near was not nearer.
    """
    cloud = borrowed(cloud)
    summary = borrowed(summary)
    scratch = borrowed(scratch)
    blocks, d, lanes = cloud.points.shape
    count = cloud.tally
    nearest = cloud.nearest
    rows = cloud.points.reshape(blocks * d, lanes)
    gap_bits = cloud.gap.view(cloud.bits.dtype)
    low, at = summary.low, summary.at
    for _ in range(budget):
        best = -1
        for b in range(blocks):
            if at[b] < 0:
                continue
            lower = best < 0 or low[b] < low[best]
            if lower or (low[b] == low[best] and cloud.key[at[b]] < cloud.key[at[best]]):
                best = b
        if best < 0:
            count[PHASE] = DONE
            return
        a = at[best]
        if nearest[a] == LOST:
            nearest_point(cloud, rows, method, a, scratch)
            _sum_up(cloud, gap_bits, best, summary)
            continue
        kept = min(a, nearest[a])
        dropped = max(a, nearest[a])
        share = cloud.size[kept] / (cloud.size[kept] + cloud.size[dropped])
        if method == MEDIAN:
            share = share * 0 + 0.5
        move_into(cloud, kept, dropped, share)
        note_merge(cloud, kept, dropped, np.float64(cloud.gap[a]))
        cloud.floor[kept] = 0
        cloud.gap[dropped] = np.inf
        for s in range(nearest.shape[0]):
            nearest[s] = LOST if nearest[s] == kept or nearest[s] == dropped else nearest[s]
        _sum_up(cloud, gap_bits, dropped // lanes, summary)
        _welcome(cloud, rows, kept, gap_bits, summary, scratch)
        if worth_arranging(cloud):
            count[PHASE] = COMPACT
            return


@njit(nogil=True)
def _sum_up_all(cloud: Cloud, summary: Summary) -> None:
    cloud = borrowed(cloud)
    gap_bits = cloud.gap.view(cloud.bits.dtype)
    for b in range(summary.low.shape[0]):
        _sum_up(cloud, gap_bits, b, summary)
