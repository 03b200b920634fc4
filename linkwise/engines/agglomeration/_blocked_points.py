"""Clusters as weighted points: nearest neighbors in O(n d) memory, for ward, centroid and median linkage.

Points lie in blocks of 64, each stored feature by feature so that one instruction serves several points. Blocks hold
points that are near each other; with its center and radius a block tells in one step that none of its points can be the
nearest, and is then skipped. The bound is widened by more than its rounding error: skipping never changes a result.

Cannot-links are lists per slot of the slots it had links to when the blocks were last arranged; what was merged since
is chained. Before a scan these are marked, and looked at only for a point that would improve the result. A group apart
is the list of its slots; whoever holds one of them marks the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwise._typing import Floats, IntArray
from linkwise.engines.agglomeration._kernels_arrangement import (
    _assign,
    _lay_out,
    _list_bans,
    _new_slots,
    _renew_bans,
    _smallest_sizes,
    _tour,
    _turn_round,
)
from linkwise.engines.agglomeration._kernels_blocked_points import Cloud
from linkwise.engines.agglomeration._kernels_rounds import ALIVE, MERGES, NEW, PENDING, WIDTH

if TYPE_CHECKING:
    from linkwise.engines.agglomeration._contracted_points import Points

BLOCK = 64


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
