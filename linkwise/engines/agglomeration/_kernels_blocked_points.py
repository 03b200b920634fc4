"""Nearest neighbors among weighted points in blocks: distances to a block, bounds that skip blocks, searches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise._kernels import inner, njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import Bits, BoolArray, FloatArray, Floats, IntArray
from linkwise.engines.agglomeration._kernels_linkages import WARD
from linkwise.engines.agglomeration._kernels_rounds import ALIVE, NEW
from linkwise.engines.agglomeration._kernels_sketch import (
    AXES,
    DOUBT,
    NORM,
    SCALE,
    UNIT,
    Singles,
    at_most,
    draw,
    erase,
    screen,
)

# Searches that take turns at every block, while it is in the fastest cache, and the lanes a screen may leave for which
# computing one distance after the other is faster than computing all of a block.
TURNS = 16
LEFT = 8


class Cloud(NamedTuple):
    """State of a run; slot s is lane ``s % BLOCK`` of block ``s // BLOCK``. Dead lanes have an infinite coordinate."""

    points: Floats  # (blocks, features, BLOCK)
    size: Floats
    key: IntArray  # lowest-numbered sample of the cluster: decides ties
    node: IntArray
    alive: BoolArray
    nearest: IntArray
    gap: Floats  # squared distance to it, or a lower bound
    floor: FloatArray
    center: Floats  # (features, blocks)
    radius: Floats
    smallest: Floats  # a lower bound on the sizes in a block
    after: IntArray  # next slot merged into the same cluster, or -1
    tail: IntArray  # last slot of that list
    ban_start: IntArray  # cannot-links of slot s: ban[ban_start[s]:ban_start[s + 1]], slots of the last arrangement
    ban: IntArray
    held_start: IntArray  # groups apart that hold slot s: held[held_start[s]:held_start[s + 1]]
    held: IntArray
    group_start: IntArray  # slots in group g: member[group_start[g]:group_start[g + 1]]
    member: IntArray
    pending: IntArray
    pair: IntArray
    merges: IntArray
    height: FloatArray
    tally: IntArray
    slack: Floats  # one number: the rounding error of a distance, generously
    bits: Bits  # one number: infinity read as an integer
    rough: Singles  # (blocks, AXES + features, BLOCK) sketches, or nothing; OWN is 1 / size, or the gap
    middle: FloatArray  # (features) the point that sketches start from
    fit: FloatArray  # SCALE, UNIT and DOUBT of sketches


class Scratch(NamedTuple):
    """What searches overwrite; one per thread, made outside the kernel that borrows it."""

    x: Floats  # (searches, features) the points in question
    gaps: Floats  # squared distances of one of them to a block
    bits: Bits  # the same, read as integers
    bound: Floats  # (searches, blocks) lower bounds on their squared distances to the blocks
    mark: IntArray  # what `mark_banned` marks: empty, where every merge is allowed
    best: IntArray  # (searches) nearest slot so far
    least: Floats  # (searches) squared distance to it
    least_bits: Bits  # the same, read as integers
    rough_x: Singles  # (searches, 1 + features) what `screen` takes
    limit: Singles  # (searches)
    norm: FloatArray  # (searches) squared norms of their sketches
    rough_gaps: Singles  # what `screen` writes
    rough_bits: Bits  # the same, read as integers


@njit(nogil=True, fastmath={"nsz"})
def _add_features(rows: Floats, top: int, k: int, stop: int, x: Floats, out: Floats) -> None:
    """Add the squared differences in features ``k`` to ``stop``, which are rows from ``top + k`` on."""
    lanes = out.shape[0]
    while k + 8 <= stop:
        # eight features at a time, so that the running sums are loaded and stored only once in eight
        r = top + k
        x0, x1, x2, x3, x4, x5, x6, x7 = x[k], x[k + 1], x[k + 2], x[k + 3], x[k + 4], x[k + 5], x[k + 6], x[k + 7]
        for j in range(lanes):
            g0, g1, g2, g3 = rows[r, j] - x0, rows[r + 1, j] - x1, rows[r + 2, j] - x2, rows[r + 3, j] - x3
            g4, g5, g6, g7 = rows[r + 4, j] - x4, rows[r + 5, j] - x5, rows[r + 6, j] - x6, rows[r + 7, j] - x7
            out[j] += (g0 * g0 + g1 * g1 + g2 * g2 + g3 * g3) + (g4 * g4 + g5 * g5 + g6 * g6 + g7 * g7)
        k += 8
    while k < stop:
        y = x[k]
        for j in range(lanes):
            gap = rows[top + k, j] - y
            out[j] += gap * gap
        k += 1


@njit(nogil=True)
def gaps_to_block(rows: Floats, top: int, d: int, x: Floats, out: Floats) -> None:
    """Write the squared distances of ``x`` to the points of a block, whose features are rows ``top`` to ``top + d``."""
    for j in range(out.shape[0]):
        out[j] = 0
    _add_features(rows, top, 0, d, x, out)


@njit(nogil=True)
def gaps_within(rows: Floats, top: int, d: int, x: Floats, out: Floats, limit: float) -> Any:
    """Write what `gaps_to_block` writes, unless all gaps exceed ``limit``; return how many do not.

    Most blocks show after a few features that all their points are too far: sums of squares only grow.
    """
    for j in range(out.shape[0]):
        out[j] = 0
    k = 0
    while True:
        stop = 2 * k if k > 0 else 8
        if d < 2 * stop:
            stop = d
        _add_features(rows, top, k, stop, x, out)
        near = 0
        for j in range(out.shape[0]):
            near += out[j] <= limit
        if near == 0 or stop == d:
            return near
        k = stop


@njit(nogil=True, fastmath={"nsz"})
def bounds_to_blocks(center: Floats, radius: Floats, slack: Floats, x: Floats, out: Floats) -> None:
    """Write, per block, a lower bound on the squared distance of ``x`` to its points (0 when it may be inside)."""
    gaps_to_block(center, 0, center.shape[0], x, out)
    # everything in one floating type: a literal would make it double, and slow
    zero = slack[0] * 0
    less = zero + 1 - slack[0]
    more = zero + 1 + slack[0]
    for b in range(out.shape[0]):
        low = np.sqrt(out[b]) * less - radius[b] * more
        low = max(low, zero)
        out[b] = low * low


@inner
def mark_banned(cloud: Cloud, mark: IntArray, slot: int) -> None:
    """Mark, with the number of a slot, the slots of the last arrangement its cluster must never be merged with.

    Marks of earlier calls stay true, since clusters only grow.
    """
    ban, start, after = cloud.ban, cloud.ban_start, cloud.after
    held, held_start = cloud.held, cloud.held_start
    at = slot
    while at >= 0:
        for t in range(start[at], start[at + 1]):
            mark[ban[t]] = slot
        for t in range(held_start[at], held_start[at + 1]):
            for e in range(cloud.group_start[held[t]], cloud.group_start[held[t] + 1]):
                mark[cloud.member[e]] = slot
        at = after[at]


@njit(nogil=True)
def make_scratch(cloud: Cloud, searches: int) -> Scratch:
    """Allocate what searches among these points overwrite, if that many take turns; one, where merges are forbidden."""
    kind = cloud.points.dtype
    blocks, d, lanes = cloud.points.shape
    limited = cloud.ban.shape[0] > 0 or cloud.member.shape[0] > 0
    if limited:  # marks serve one search
        searches = 1
    gaps = np.empty(lanes, kind)
    least = np.empty(searches, kind)
    rough_gaps = np.empty(lanes, np.float32)
    features = max(cloud.rough.shape[1] - AXES, 0)
    return Scratch(
        np.empty((searches, d), kind),
        gaps,
        gaps.view(cloud.bits.dtype),
        np.empty((searches, blocks), kind),
        np.full(cloud.key.shape[0] if limited else 0, -1, np.intp),
        np.empty(searches, np.intp),
        least,
        least.view(cloud.bits.dtype),
        np.zeros((searches, 1 + features), np.float32),
        np.empty(searches, np.float32),
        np.empty(searches),
        rough_gaps,
        rough_gaps.view(np.int32),
    )


@njit(nogil=True)
def is_banned(after: IntArray, mark: IntArray, slot: int, other: int) -> bool:
    """Tell whether something merged into the cluster of slot ``other`` was marked for ``slot``."""
    at = other
    while at >= 0:
        if mark[at] == slot:
            return True
        at = after[at]
    return False


@njit(nogil=True)
def smallest_bits(bits: Bits) -> Any:
    """Return the smallest of some gaps read as integers.

    Integers order non-negative floats just as well, and the compiler turns the minimum of integers, but not that of
    floats, into vector instructions.
    """
    low = bits[0]
    for j in range(bits.shape[0]):
        low = min(low, bits[j])
    return low


@njit(nogil=True)
def lane_of(bits: Bits, value: int, keys: IntArray, first: int) -> int:
    """Return the lane that holds ``value``; among several the one with the lowest key."""
    several = 0
    for j in range(bits.shape[0]):
        several += bits[j] == value
    best = 0
    while bits[best] != value:
        best += 1
    if several > 1:
        for j in range(best + 1, bits.shape[0]):
            if bits[j] == value and keys[first + j] < keys[first + best]:
                best = j
    return best


@njit(nogil=True)
def nearer_lane(
    key: IntArray,
    after: IntArray,
    mark: IntArray,
    slot: int,
    first: int,
    gaps: Floats,
    bits: Bits,
    most: int,
    best: int,
) -> Any:
    """Return the lane of a block that is nearer than the ``best`` slot so far, whose gap is ``most``; -1 if none is.

    Of several the nearest, of those the one with the lowest key; lanes ``slot`` must not be merged with do not count.
    """
    # called for every block: two arrays of the cloud instead of the whole tuple make this a cheap call
    value = smallest_bits(bits)
    if value > most:
        return -1
    lane = lane_of(bits, value, key, first)
    if mark.shape[0] > 0 and is_banned(after, mark, slot, first + lane):
        for j in range(bits.shape[0]):
            if bits[j] <= most and is_banned(after, mark, slot, first + j):
                gaps[j] = np.inf
        value = smallest_bits(bits)
        lane = lane_of(bits, value, key, first)
    if value < most or (value == most and (best < 0 or key[first + lane] < key[best])):
        return lane
    return -1


@njit(nogil=True, fastmath={"nsz"})
def gap_to_lane(rows: Floats, top: int, d: int, x: Floats, out: Floats, j: int) -> None:
    """Write one of the squared distances that `gaps_to_block` writes, to the last bit."""
    out[j] = 0
    k = 0
    while k + 8 <= d:
        r = top + k
        g0, g1 = rows[r, j] - x[k], rows[r + 1, j] - x[k + 1]
        g2, g3 = rows[r + 2, j] - x[k + 2], rows[r + 3, j] - x[k + 3]
        g4, g5 = rows[r + 4, j] - x[k + 4], rows[r + 5, j] - x[k + 5]
        g6, g7 = rows[r + 6, j] - x[k + 6], rows[r + 7, j] - x[k + 7]
        out[j] += (g0 * g0 + g1 * g1 + g2 * g2 + g3 * g3) + (g4 * g4 + g5 * g5 + g6 * g6 + g7 * g7)
        k += 8
    while k < d:
        gap = rows[top + k, j] - x[k]
        out[j] += gap * gap
        k += 1


@njit(nogil=True)
def count_left(rough_gaps: Singles) -> int:
    """Return how many points a screen has left."""
    left = 0
    for j in range(rough_gaps.shape[0]):
        left += rough_gaps[j] < 0
    return left


@njit(nogil=True)
def aim(rough: Singles, b: int, j: int, rough_x: Singles) -> None:
    """Set up what `screen` takes to look from the point in lane ``j`` of block ``b``."""
    rough_x[0] = 0
    for k in range(1, rough_x.shape[0]):
        rough_x[k] = -2 * rough[b, AXES - 1 + k, j]


@njit(nogil=True)
def limit_of(fit: FloatArray, norm: float, weight: float, least: float, rough_x: Singles) -> Any:
    """Return the limit of a screen for points that may be as near as ``least``, which is finite.

    With a ``weight``, ``least`` is a distance of Ward, ``2 / (1 / w + 1 / s)`` times the squared one; the limit of the
    latter is ``least / 2 * (1 / w + 1 / s)``, and the part that depends on the other's size s comes from its sketch.
    """
    reach = least * fit[UNIT]
    if weight > 0:
        rough_x[0] = -at_most(reach / 2)
        reach = reach / 2 / weight
    return at_most(reach - norm + fit[DOUBT])


@inner
def nearest_points(cloud: Cloud, rows: Floats, method: int, slots: IntArray, scratch: Scratch) -> None:
    """Find the nearest neighbors of some slots, at most as many as the scratch serves; ties go to the lowest key.

    ``rows`` are the points of the cloud with one row per block and feature.
    """
    blocks, d, lanes = cloud.points.shape
    gaps, bits, bound, mark = scratch.gaps, scratch.bits, scratch.bound, scratch.mark
    best, least, rough_x = scratch.best, scratch.least, scratch.rough_x
    rough_gaps, rough_bits = scratch.rough_gaps, scratch.rough_bits
    limit, norm, fit = scratch.limit, scratch.norm, cloud.fit
    ward = np.float64(method == WARD)
    size, smallest, key, after, never = cloud.size, cloud.smallest, cloud.key, cloud.after, cloud.bits[0]
    tall = cloud.rough.shape[1] * lanes
    rough = cloud.rough.reshape(cloud.rough.size)
    screened = rough.shape[0] > 0
    for q in range(slots.shape[0]):
        slot = slots[q]
        own = slot // lanes
        for k in range(d):
            scratch.x[q, k] = rows[own * d + k, slot % lanes]
        bounds_to_blocks(cloud.center, cloud.radius, cloud.slack, scratch.x[q], bound[q])
        if method == WARD:
            for b in range(blocks):
                bound[q, b] *= 2 * size[slot] * smallest[b] / (size[slot] + smallest[b])
        if mark.shape[0] > 0:
            mark_banned(cloud, mark, slot)
        if screened:
            aim(cloud.rough, own, slot % lanes, rough_x[q])
            norm[q] = cloud.rough[own, NORM, slot % lanes]
        best[q] = -1
        least[q] = np.inf
    for turn in range(-1, blocks):
        for q in range(slots.shape[0]):
            slot = slots[q]
            own = slot // lanes
            low = least[q]
            b = own if turn < 0 else turn
            if turn == own or (turn >= 0 and bound[q, b] > low):
                continue
            first = b * lanes
            weight = size[slot]
            x = scratch.x[q]
            if screened and best[q] >= 0:
                screen(rough[b * tall : (b + 1) * tall], rough_x[q], rough_gaps, limit[q])
                if smallest_bits(rough_bits) >= 0:
                    continue
                if count_left(rough_gaps) <= LEFT:
                    for j in range(lanes):
                        if rough_gaps[j] >= 0:
                            continue
                        gap_to_lane(rows, b * d, d, x, gaps, j)
                        if method == WARD:
                            gaps[j] *= 2 * weight * size[first + j] / (weight + size[first + j])
                        if gaps[j] > least[q] or (gaps[j] == least[q] and key[first + j] > key[best[q]]):
                            continue
                        if mark.shape[0] == 0 or not is_banned(after, mark, slot, first + j):
                            least[q] = gaps[j]
                            best[q] = first + j
                    if least[q] < low:
                        limit[q] = limit_of(fit, norm[q], ward * weight, np.float64(least[q]), rough_x[q])
                    continue
            factor = weight * 0 + 1
            if method == WARD:
                # the factor grows with the size, so most blocks are refuted by their smallest before any division
                factor = 2 * weight * smallest[b] / (weight + smallest[b]) * (1 - cloud.slack[0])
            if gaps_within(rows, b * d, d, x, gaps, low / factor) == 0:
                continue
            if b == own:
                gaps[slot - first] = np.inf
            if method == WARD:
                for j in range(lanes):
                    gaps[j] *= 2 * weight * size[first + j] / (weight + size[first + j])
            lane = nearer_lane(
                key, after, mark, slot, first, gaps, bits, min(scratch.least_bits[q], never - 1), best[q]
            )
            if lane >= 0:
                least[q] = gaps[lane]
                best[q] = first + lane
                if screened:
                    limit[q] = limit_of(fit, norm[q], ward * weight, np.float64(least[q]), rough_x[q])
    for q in range(slots.shape[0]):
        cloud.nearest[slots[q]] = best[q] if best[q] >= 0 else NEW
        cloud.gap[slots[q]] = least[q]


@njit(nogil=True)
def look_around(cloud: Cloud, method: int, slots: IntArray, start: int, stop: int) -> None:
    """Find the nearest neighbors of some slots."""
    _look_around(cloud, method, slots, start, stop, make_scratch(cloud, TURNS))


@inner
def _look_around(cloud: Cloud, method: int, slots: IntArray, start: int, stop: int, scratch: Scratch) -> None:
    cloud = borrowed(cloud)
    scratch = borrowed(scratch)
    blocks, d, lanes = cloud.points.shape
    rows = cloud.points.reshape(blocks * d, lanes)
    turns = scratch.best.shape[0]
    for t in range(start, stop, turns):
        nearest_points(cloud, rows, method, slots[t : min(stop, t + turns)], scratch)


@inner
def worth_arranging(cloud: Cloud) -> bool:
    """Tell whether two blocks in five would be saved."""
    blocks, _, lanes = cloud.points.shape
    return bool(5 * ((cloud.tally[ALIVE] + lanes - 1) // lanes) <= 3 * blocks)


@inner
def move_into(cloud: Cloud, kept: int, dropped: int, share: float) -> None:
    """Put the point ``share * kept + (1 - share) * dropped`` into slot ``kept`` and clear slot ``dropped``."""
    lanes = cloud.points.shape[2]
    b = kept // lanes
    j = kept % lanes
    c = dropped // lanes
    i = dropped % lanes
    reach = cloud.radius[b] * 0
    rest = 1 - share
    for k in range(cloud.points.shape[1]):
        y = cloud.points[b, k, j]
        y += rest * (cloud.points[c, k, i] - y)  # this way copies merge into an exact copy
        cloud.points[b, k, j] = y
        gap = y - cloud.center[k, b]
        reach += gap * gap
    cloud.radius[b] = max(cloud.radius[b], np.sqrt(reach))
    cloud.points[c, 0, i] = np.inf
    if cloud.rough.shape[0] > 0:
        draw(cloud.points, b, j, cloud.middle, cloud.fit[SCALE], cloud.rough)
        erase(cloud.rough, c, i)
    cloud.key[kept] = min(cloud.key[kept], cloud.key[dropped])
    cloud.after[cloud.tail[kept]] = dropped
    cloud.tail[kept] = cloud.tail[dropped]
