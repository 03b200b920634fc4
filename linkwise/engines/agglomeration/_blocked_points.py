"""Clusters as weighted points: nearest neighbors in O(n d) memory, for ward, centroid and median linkage.

Points lie in blocks of 64, each stored feature by feature so that one instruction serves several points. Blocks hold
points that are near each other; with its center and radius a block tells in one step that none of its points can be the
nearest, and is then skipped. The bound is widened by more than its rounding error: skipping never changes a result.

Cannot-links are lists per slot of the slots it had links to when the blocks were last arranged; what was merged since
is chained. Before a scan these are marked, and looked at only for a point that would improve the result. A group apart
is the list of its slots; whoever holds one of them marks the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwise._kernels import inner, njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import Bits, BoolArray, FloatArray, Floats, IntArray
from linkwise.engines.agglomeration._linkages import WARD
from linkwise.engines.agglomeration._rounds import ALIVE, MERGES, NEW, PENDING, WIDTH

if TYPE_CHECKING:
    from linkwise.engines.agglomeration._contracted_points import Points

BLOCK = 64


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


@njit(nogil=True, fastmath={"nsz"})
def _add_features(rows: Floats, top: int, k: int, stop: int, x: Floats, out: Floats) -> None:
    """Add the squared differences in features ``k`` to ``stop``, which are rows from ``top + k`` on."""
    lanes = out.shape[0]
    while k + 8 <= stop:
        # eight features at a time, so that the running sums are loaded and stored only once in eight
        r = top + k
        x0, x1, x2, x3, x4, x5, x6, x7 = x[k], x[k + 1], x[k + 2], x[k + 3], x[k + 4], x[k + 5], x[k + 6], x[k + 7]
        for j in range(lanes):
            out[j] += (
                (rows[r, j] - x0) ** 2
                + (rows[r + 1, j] - x1) ** 2
                + (rows[r + 2, j] - x2) ** 2
                + (rows[r + 3, j] - x3) ** 2
            ) + (
                (rows[r + 4, j] - x4) ** 2
                + (rows[r + 5, j] - x5) ** 2
                + (rows[r + 6, j] - x6) ** 2
                + (rows[r + 7, j] - x7) ** 2
            )
        k += 8
    while k < stop:
        y = x[k]
        for j in range(lanes):
            out[j] += (rows[top + k, j] - y) ** 2
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


class Scratch(NamedTuple):
    """What a search overwrites; one per thread, made outside the kernel that borrows it."""

    x: Floats  # the point in question
    gaps: Floats  # its squared distances to a block
    bits: Bits  # the same, read as integers
    bound: Floats  # lower bounds on its squared distances to the blocks
    mark: IntArray  # what `mark_banned` marks: empty, where every merge is allowed


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
        reach += (y - cloud.center[k, b]) ** 2
    cloud.radius[b] = max(cloud.radius[b], np.sqrt(reach))
    cloud.points[c, 0, i] = np.inf
    cloud.key[kept] = min(cloud.key[kept], cloud.key[dropped])
    cloud.after[cloud.tail[kept]] = dropped
    cloud.tail[kept] = cloud.tail[dropped]


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


def neighborly_order(P: Floats) -> IntArray:
    """Return an order of the rows of P in which neighbors in space tend to be neighbors in the list."""
    m = min(512, int(np.sqrt(len(P))))
    if m < 4:
        return np.arange(len(P), dtype=np.intp)
    label = np.empty(len(P), np.intp)
    pivots = np.ascontiguousarray(P[:: len(P) // m][:m].T)
    _assign(P, pivots, label)
    order: IntArray = np.argsort(_tour(pivots)[label], kind="stable")
    return order


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
                reach += (points[b, k, j] - center[k, b]) ** 2
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


def _with_groups(cloud: Cloud, start: IntArray, member: IntArray) -> Cloud:
    """Add groups apart, given by slots; entries of -1 are left out."""
    there = member >= 0
    if not there.all():
        start = np.concatenate([[0], np.cumsum(there)]).astype(np.intp)[start]
        member = member[there]
    held = np.empty(len(member), np.intp)
    _turn_round(start, member, cloud.held_start, held)
    return cloud._replace(held=held, group_start=start, member=member)


def _blank(P: Floats, order: IntArray, n_samples: int) -> Cloud:
    """Return a cloud of the rows of P with everything but the geometry unset."""
    n, d = P.shape
    blocks = max(1, -(-n // BLOCK))
    slots = blocks * BLOCK
    kind = P.dtype
    points = np.empty((blocks, d, BLOCK), kind)
    center = np.empty((d, blocks), kind)
    radius = np.empty(blocks, kind)
    _lay_out(P, order, points, center, radius)
    alive = np.zeros(slots, np.bool_)
    alive[:n] = True
    count = np.zeros(8, np.intp)
    count[WIDTH] = slots
    count[ALIVE] = n
    return Cloud(
        points=points,
        size=np.ones(slots, kind),
        key=np.full(slots, n_samples, np.intp),
        node=np.full(slots, -1, np.intp),
        alive=alive,
        nearest=np.full(slots, NEW, np.intp),
        gap=np.full(slots, np.inf, kind),
        floor=np.zeros(slots),
        center=center,
        radius=radius,
        smallest=np.ones(blocks, kind),
        after=np.full(slots, -1, np.intp),
        tail=np.arange(slots, dtype=np.intp),
        ban_start=np.zeros(slots + 1, np.intp),
        ban=np.empty(0, np.intp),
        held_start=np.zeros(slots + 1, np.intp),
        held=np.empty(0, np.intp),
        group_start=np.zeros(1, np.intp),
        member=np.empty(0, np.intp),
        pending=np.empty(slots, np.intp),
        pair=np.empty((slots // 2, 2), np.intp),
        merges=np.empty((0, 2), np.intp),
        height=np.empty(0),
        tally=count,
        slack=np.full(1, 4 * (d + 8) * np.finfo(kind).eps, kind),
        bits=np.full(1, np.inf, kind).view(np.int64 if kind == np.float64 else np.int32),
    )


def make_cloud(start: Points) -> Cloud:
    """Start from weighted points."""
    order = neighborly_order(start.P)
    n = len(start.P)
    cloud = _blank(start.P, order, len(start.merges) + 1)
    cloud.size[:n] = start.size[order]
    cloud.key[:n] = start.key[order]
    cloud.node[:n] = start.node[order]
    _smallest_sizes(cloud.size, cloud.alive, cloud.smallest)
    cloud.pending[:n] = np.arange(n)
    cloud.tally[PENDING] = n
    cloud.tally[MERGES] = start.done
    cloud = cloud._replace(merges=start.merges, height=start.height)
    if start.forbidden is None and start.apart is None:
        return cloud
    slot_of = np.empty(n, np.intp)
    slot_of[order] = np.arange(n)
    if start.apart is not None:
        cloud = _with_groups(cloud, start.apart.start, slot_of[start.apart.member])
    if start.forbidden is not None and len(start.forbidden):
        ban = np.empty(2 * len(start.forbidden), np.intp)
        _list_bans(np.ascontiguousarray(start.forbidden, dtype=np.intp), slot_of, cloud.ban_start, ban)
        cloud = cloud._replace(ban=ban)
    return cloud


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


def arrange(old: Cloud) -> Cloud:
    """Return the living points in fresh, tight blocks; half the work of every scan may be gone then."""
    lanes = np.flatnonzero(old.alive)
    P = np.ascontiguousarray(old.points[lanes // BLOCK, :, lanes % BLOCK])
    order = neighborly_order(P)
    keep = lanes[order]
    n = len(keep)
    new = _blank(P, order, len(old.merges) + 1)
    slot_of = np.full(len(old.key), -1, np.intp)
    slot_of[keep] = np.arange(n)
    for name in ("size", "key", "node", "gap", "floor"):
        getattr(new, name)[:n] = getattr(old, name)[keep]
    nearest = old.nearest[keep]
    new.nearest[:n] = np.where(nearest >= 0, slot_of[nearest], nearest)
    _smallest_sizes(new.size, new.alive, new.smallest)
    pending = int(old.tally[PENDING])
    new.pending[:pending] = slot_of[old.pending[:pending]]
    new.tally[PENDING] = pending
    new.tally[MERGES] = old.tally[MERGES]
    new = new._replace(merges=old.merges, height=old.height)
    if len(old.ban) or len(old.member):
        slot_of = _new_slots(old, keep)
    if len(old.member):
        new = _with_groups(new, old.group_start, slot_of[old.member])
    if len(old.ban):
        ban = np.empty(len(old.ban), np.intp)
        total = _renew_bans(old, keep, slot_of, new.ban_start, ban)
        new = new._replace(ban=ban[: max(total, 1)].copy())
    return new
