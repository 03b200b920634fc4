"""Nearest neighbors among weighted points in blocks: distances to a block, bounds that skip blocks, searches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise._kernels import inner, njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import Bits, BoolArray, FloatArray, Floats, IntArray
from linkwise.engines.agglomeration._kernels_linkages import WARD
from linkwise.engines.agglomeration._kernels_rounds import ALIVE, NEW


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


class Scratch(NamedTuple):
    """What a search overwrites; one per thread, made outside the kernel that borrows it."""

    x: Floats  # the point in question
    gaps: Floats  # its squared distances to a block
    bits: Bits  # the same, read as integers
    bound: Floats  # lower bounds on its squared distances to the blocks
    mark: IntArray  # what `mark_banned` marks: empty, where every merge is allowed


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
def bounds_to_blocks(cloud: Cloud, x: Floats, out: Floats) -> None:
    """Write, per block, a lower bound on the squared distance of ``x`` to its points (0 when it may be inside)."""
    gaps_to_block(cloud.center, 0, cloud.center.shape[0], x, out)
    radius = cloud.radius
    # everything in one floating type: a literal would make it double, and slow
    zero = cloud.slack[0] * 0
    less = zero + 1 - cloud.slack[0]
    more = zero + 1 + cloud.slack[0]
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
def make_scratch(cloud: Cloud) -> Scratch:
    """Allocate what searches among these points overwrite."""
    kind = cloud.points.dtype
    blocks, d, lanes = cloud.points.shape
    limited = cloud.ban.shape[0] > 0 or cloud.member.shape[0] > 0
    gaps = np.empty(lanes, kind)
    mark = np.full(cloud.key.shape[0] if limited else 0, -1, np.intp)
    return Scratch(np.empty(d, kind), gaps, gaps.view(cloud.bits.dtype), np.empty(blocks, kind), mark)


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
    best = -1
    for j in range(bits.shape[0]):
        if bits[j] == value and (best < 0 or keys[first + j] < keys[first + best]):
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


@inner
def nearest_point(cloud: Cloud, rows: Floats, method: int, slot: int, scratch: Scratch) -> None:
    """Find the nearest neighbor of one slot; ties go to the lowest key.

    ``rows`` are the points of the cloud with one row per block and feature.
    """
    blocks, d, lanes = cloud.points.shape
    x, gaps, bits, bound, mark = scratch.x, scratch.gaps, scratch.bits, scratch.bound, scratch.mark
    size, smallest, key, after = cloud.size, cloud.smallest, cloud.key, cloud.after
    own = slot // lanes
    for k in range(d):
        x[k] = rows[own * d + k, slot % lanes]
    weight = size[slot]
    bounds_to_blocks(cloud, x, bound)
    if method == WARD:
        for b in range(blocks):
            bound[b] *= 2 * weight * smallest[b] / (weight + smallest[b])
    if mark.shape[0] > 0:
        mark_banned(cloud, mark, slot)
    best = -1
    gaps[0] = np.inf
    low = gaps[0]
    most = bits[0] - 1
    for turn in range(-1, blocks):
        b = own if turn < 0 else turn
        if turn == own or (turn >= 0 and bound[b] > low):
            continue
        first = b * lanes
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
        lane = nearer_lane(key, after, mark, slot, first, gaps, bits, most, best)
        if lane >= 0:
            low = gaps[lane]
            most = bits[lane]
            best = first + lane
    cloud.nearest[slot] = best if best >= 0 else NEW
    cloud.gap[slot] = low


@njit(nogil=True)
def look_around(cloud: Cloud, method: int, slots: IntArray, start: int, stop: int) -> None:
    """Find the nearest neighbors of some slots."""
    _look_around(cloud, method, slots, start, stop, make_scratch(cloud))


@inner
def _look_around(cloud: Cloud, method: int, slots: IntArray, start: int, stop: int, scratch: Scratch) -> None:
    cloud = borrowed(cloud)
    scratch = borrowed(scratch)
    blocks, d, lanes = cloud.points.shape
    rows = cloud.points.reshape(blocks * d, lanes)
    for t in range(start, stop):
        nearest_point(cloud, rows, method, slots[t], scratch)


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
    cloud.key[kept] = min(cloud.key[kept], cloud.key[dropped])
    cloud.after[cloud.tail[kept]] = dropped
    cloud.tail[kept] = cloud.tail[dropped]
