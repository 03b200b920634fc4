"""Rounds of reciprocal nearest neighbors, and single closest steps, on weighted points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._kernels import inner, njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import Bits, FloatArray, Floats, IntArray
from linkwise.engines.agglomeration._kernels_blocked_points import (
    LEFT,
    Cloud,
    Scratch,
    aim,
    bounds_to_blocks,
    count_left,
    gap_to_lane,
    gaps_within,
    is_banned,
    lane_of,
    look_around,
    mark_banned,
    move_into,
    nearer_lane,
    nearest_points,
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
from linkwise.engines.agglomeration._kernels_sketch import (
    BLOCK,
    DOUBT,
    NORM,
    OWN,
    UNIT,
    Singles,
    at_most,
    screen,
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
    d, lanes = cloud.points.shape[1:]
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
                share = cloud.size[kept] / (cloud.size[kept] + cloud.size[dropped])
                move_into(cloud, kept, dropped, share)
                note_merge(cloud, kept, dropped, np.float64(cloud.gap[kept]))
                if cloud.rough.shape[0] > 0:
                    cloud.rough[kept // lanes, OWN, kept % lanes] = at_most(1 / np.float64(cloud.size[kept]))
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


@njit(nogil=True)
def _sum_up(gap_bits: Bits, key: IntArray, never: int, lanes: int, b: int, low: Bits, high: Bits, at: IntArray) -> None:
    """Renew the summary of the gaps of a block."""
    first = b * lanes
    mine = gap_bits[first : first + lanes]
    # dead lanes and hermits have infinite gaps
    least = mine[0]
    most = mine[0] * 0
    for j in range(lanes):
        least = min(least, mine[j])
        most = max(most, mine[j] if mine[j] < never else 0)
    low[b] = least
    high[b] = most
    at[b] = -1 if least == never else first + lane_of(mine, least, key, first)


@njit(nogil=True)
def _note_gap(rough: Singles, gap: Floats, fit: FloatArray, slot: int) -> None:
    """Let the sketch of a slot that lives hold its gap."""
    if rough.shape[0] > 0:
        rough[slot // BLOCK, OWN, slot % BLOCK] = at_most(np.float64(gap[slot]) * fit[UNIT])


@njit(nogil=True)
def _screen_both(part: Singles, x: Singles, out: Singles, base: float, reach: float) -> None:
    """Leave a negative number for each point of a block whose distance may be within ``reach``, or within its gap."""
    screen(part, x, out, base)
    for j in range(BLOCK):
        own = part[OWN * BLOCK + j]
        out[j] -= own if own > reach else reach  # noqa: FURB136


@njit(nogil=True)
def _gaps_left(rows: Floats, top: int, d: int, x: Floats, out: Floats, rough_gaps: Singles) -> None:
    """Write what `gaps_to_block` writes for the points that a screen has left, and infinity for the others."""
    for j in range(BLOCK):
        out[j] = np.inf
    for j in range(BLOCK):
        if rough_gaps[j] < 0:
            gap_to_lane(rows, top, d, x, out, j)


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
    x, gaps, bits, bound, mark = scratch.x[0], scratch.gaps, scratch.bits, scratch.bound[0], scratch.mark
    high = summary.high
    low_bits, high_bits = summary.low.view(gap_bits.dtype), high.view(gap_bits.dtype)
    rough_gaps, rough_x = scratch.rough_gaps, scratch.rough_x[0]
    tall = cloud.rough.shape[1] * lanes
    rough = cloud.rough.reshape(cloud.rough.size)
    screened = rough.shape[0] > 0
    banned = mark.shape[0] > 0
    key, gap, nearest, after = cloud.key, cloud.gap, cloud.nearest, cloud.after
    never = cloud.bits[0]
    own = kept // lanes
    for k in range(d):
        x[k] = rows[own * d + k, kept % lanes]
    bounds_to_blocks(cloud.center, cloud.radius, cloud.slack, x, bound)
    if banned:
        mark_banned(cloud, mark, kept)
    base = np.float32(0)
    reach = base
    if screened:
        aim(cloud.rough, own, kept % lanes, rough_x)
        base = np.float32(cloud.fit[DOUBT] - np.float64(cloud.rough[own, NORM, kept % lanes]))
    best = -1
    gaps[0] = np.inf
    least = gaps[0]
    most = bits[0] - 1
    for turn in range(-1, blocks):
        b = own if turn < 0 else turn
        if turn == own:
            continue
        # no row beyond this distance is the nearest of this one, or has it as the nearest
        limit = max(least, high[b])
        if turn >= 0 and bound[b] > limit:
            continue
        few = False
        if screened and best >= 0:
            _screen_both(rough[b * tall : (b + 1) * tall], rough_x, rough_gaps, base, reach)
            if smallest_bits(scratch.rough_bits) >= 0:
                continue
            few = count_left(rough_gaps) <= LEFT
        if few:
            _gaps_left(rows, b * d, d, x, gaps, rough_gaps)
        elif gaps_within(rows, b * d, d, x, gaps, limit) == 0:
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
                if screened:
                    reach = at_most(np.float64(least) * cloud.fit[UNIT])
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
                _note_gap(cloud.rough, gap, cloud.fit, s)
                changed = True
        if changed:
            _sum_up(gap_bits, cloud.key, cloud.bits[0], lanes, b, low_bits, high_bits, summary.at)
    cloud.nearest[kept] = best if best >= 0 else NEW
    cloud.gap[kept] = least
    _note_gap(cloud.rough, gap, cloud.fit, kept)
    _sum_up(gap_bits, cloud.key, cloud.bits[0], lanes, own, low_bits, high_bits, summary.at)


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
    low_bits, high_bits = low.view(gap_bits.dtype), summary.high.view(gap_bits.dtype)
    lost = np.empty(1, np.intp)
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
            lost[0] = a
            nearest_points(cloud, rows, method, lost, scratch)
            _note_gap(cloud.rough, cloud.gap, cloud.fit, a)
            _sum_up(gap_bits, cloud.key, cloud.bits[0], lanes, best, low_bits, high_bits, summary.at)
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
        _sum_up(gap_bits, cloud.key, cloud.bits[0], lanes, dropped // lanes, low_bits, high_bits, summary.at)
        _welcome(cloud, rows, kept, gap_bits, summary, scratch)
        if worth_arranging(cloud):
            count[PHASE] = COMPACT
            return


@njit(nogil=True)
def _sum_up_all(cloud: Cloud, summary: Summary) -> None:
    cloud = borrowed(cloud)
    gap_bits = cloud.gap.view(cloud.bits.dtype)
    low_bits, high_bits = summary.low.view(gap_bits.dtype), summary.high.view(gap_bits.dtype)
    lanes = cloud.points.shape[2]
    for b in range(summary.low.shape[0]):
        _sum_up(gap_bits, cloud.key, cloud.bits[0], lanes, b, low_bits, high_bits, summary.at)
