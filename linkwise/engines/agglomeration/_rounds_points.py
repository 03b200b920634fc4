"""Ward, centroid and median linkage on vectors: clusters are weighted points, and no matrix is needed.

Points lie in blocks of 64, each stored feature by feature so that one instruction serves several points. Blocks hold
points that are near each other; with its center and radius a block tells in one step that none of its points can be the
nearest, and is then skipped. The bound is widened by more than its rounding error: skipping never changes a result.
Where classes overlap in many dimensions few blocks are, and sketches of the points (`_kernels_sketch`) take over.

Cannot-links are lists per slot of the slots it had links to when the blocks were last arranged; clusters merged since
are chained. Before a scan these are marked, and looked at only for a point that would improve the result. A group apart
is the list of its slots; a cluster that holds one of them marks the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._threads import Workers
from linkwise._typing import FloatArray, Floats, IntArray
from linkwise.engines.agglomeration._contracted_points import Points
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
from linkwise.engines.agglomeration._kernels_blocked_points import (
    Cloud,
    look_around,
    make_scratch,
)
from linkwise.engines.agglomeration._kernels_linkages import WARD
from linkwise.engines.agglomeration._kernels_rounds import (
    ALIVE,
    COMPACT,
    DONE,
    MERGES,
    NEW,
    PAIR,
    PENDING,
    PHASE,
    SCAN,
    WIDTH,
)
from linkwise.engines.agglomeration._kernels_rounds_points import Summary, _closest_steps, _sum_up_all, _ward_rounds
from linkwise.engines.agglomeration._kernels_sketch import AXES, BEYOND, BLOCK, NORM, OWN, SCALE, UNIT

# Coordinates a step must touch to be worth the hand-over to threads, and those one kernel call may touch.
WIDE = 20_000_000
BUDGET = 400_000_000

# Features from which sketches pay: with fewer, blocks are refuted as wholes and distances are cheap.
SKETCHED = 6


class View(NamedTuple):
    """How points are sketched."""

    middle: FloatArray
    fit: FloatArray
    width: int  # numbers in a sketch; 0 where points are not sketched


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


def view_of(P: Floats, slack: float) -> View:
    """Choose how to sketch the rows of P and all their means; ``slack`` bounds the relative error of a distance."""
    n, d = P.shape
    middle = P.mean(axis=0, dtype=np.float64)
    blank = View(middle, np.zeros(3), 0)
    if d < SKETCHED or n < 2:
        return blank
    longest = float(np.sqrt(np.square(P - middle).sum(axis=1).max()))
    if not 1e-150 < longest < 1e150:
        return blank
    scale = float(np.ldexp(1.0, -int(np.frexp(longest)[1])))
    width = -(-d // 8) * 8
    # Norms are below 1 now. Sums of a few products per feature, coordinates and limits are off by less than this.
    doubt = 4 * (width + 32) * float(np.finfo(np.float32).eps)
    return View(middle, np.array([scale, scale * scale * (1 + 2 * slack), doubt]), width)


def _sketches(P: Floats, order: IntArray, blocks: int, view: View) -> npt.NDArray[np.float32]:
    """Sketch the rows of P in the given order, as `draw` does."""
    if view.width == 0:
        return np.empty((0, 0, BLOCK), np.float32)
    n, d = P.shape
    rows = np.zeros((blocks * BLOCK, AXES + view.width), np.float32)
    rows[:n, AXES : AXES + d] = (P[order] - view.middle) * view.fit[SCALE]
    rows[:n, NORM] = np.square(rows[:n, AXES:], dtype=np.float64).sum(axis=1)
    rows[n:, NORM] = np.inf
    # at the start of a line of the cache, so that no vector lies across two
    memory = np.empty(rows.size + 16, np.float32)
    first = -memory.ctypes.data % 64 // 4
    rough = memory[first : first + rows.size].reshape(blocks, -1, BLOCK)
    rough[:] = rows.reshape(blocks, BLOCK, -1).transpose(0, 2, 1)
    return rough


def _note_own(cloud: Cloud, method: int) -> None:
    """Let sketches hold the sizes that Ward's distances depend on, or the gaps of the others."""
    if len(cloud.rough):
        own = 1 / cloud.size.astype(np.float64) if method == WARD else cloud.gap.astype(np.float64) * cloud.fit[UNIT]
        own = np.where(cloud.alive, np.minimum(own * (1 + 2e-7), BEYOND), 0)
        cloud.rough[:, OWN] = own.reshape(-1, BLOCK)


def _blank(P: Floats, order: IntArray, n_samples: int, view: View) -> Cloud:
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
        slack=np.full(1, _slack(d, kind), kind),
        bits=np.full(1, np.inf, kind).view(np.int64 if kind == np.float64 else np.int32),
        rough=_sketches(P, order, blocks, view),
        middle=view.middle,
        fit=view.fit,
    )


def _slack(d: int, kind: np.dtype[Any]) -> float:
    return float(4 * (d + 8) * np.finfo(kind).eps)


def make_cloud(start: Points) -> Cloud:
    """Start from weighted points."""
    order = neighborly_order(start.P)
    n = len(start.P)
    view = view_of(start.P, _slack(start.P.shape[1], start.P.dtype))
    cloud = _blank(start.P, order, len(start.merges) + 1, view)
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
    view = View(old.middle, old.fit, max(0, old.rough.shape[1] - AXES))
    new = _blank(P, order, len(old.merges) + 1, view)
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


def merge_points(start: Points, method: int, workers: Workers, report: Callable[[int], object]) -> int:
    """Fill in merges and squared heights, of Ward in no particular order (children first); return how many."""
    cloud = make_cloud(start)
    if method == WARD:
        return _ward(cloud, workers, report)
    return _step_by_step(cloud, method, workers, report)


# ------------------------------------------------------------------------------------------------------------- Ward


def _ward(cloud: Cloud, workers: Workers, report: Callable[[int], object]) -> int:
    """Merge by rounds of reciprocal nearest neighbors; return the number of merges."""
    _note_own(cloud, WARD)
    while True:
        count = cloud.tally
        _ward_rounds(cloud, WIDE, BUDGET)
        report(int(count[MERGES]))
        if count[PHASE] == DONE:
            return int(count[MERGES])
        if count[PHASE] == COMPACT:
            cloud = arrange(cloud)
            _note_own(cloud, WARD)
            cloud.tally[PHASE] = SCAN
        elif count[PHASE] == SCAN:
            # neighbors look at the same blocks: in order of slots these stay in cache
            pending = np.sort(cloud.pending[: count[PENDING]])
            _look_in_parallel(cloud, WARD, pending, workers)
            count[PHASE] = PAIR


def _look_in_parallel(cloud: Cloud, method: int, slots: IntArray, workers: Workers) -> None:
    cost = int(cloud.tally[WIDTH]) * (cloud.points.shape[1] + 4) // 8
    if len(slots) * cost < WIDE // 8:
        look_around(cloud, method, slots, 0, len(slots))
    else:
        workers.over(look_around, len(slots), cost, cloud, method, slots)


# ------------------------------------------------------------------------------------------------- centroid, median


def _step_by_step(cloud: Cloud, method: int, workers: Workers, report: Callable[[int], object]) -> int:
    """Merge in greedy order, which linkages that are not reducible insist on; return the number of merges."""
    _look_in_parallel(cloud, method, cloud.pending[: cloud.tally[PENDING]].copy(), workers)
    cloud.tally[PENDING] = 0
    while cloud.tally[PHASE] != DONE:
        blocks = len(cloud.points)
        kind = cloud.gap.dtype
        summary = Summary(np.empty(blocks, kind), np.empty(blocks, kind), np.empty(blocks, np.intp))
        scratch = make_scratch(cloud, 1)
        _note_own(cloud, method)
        _sum_up_all(cloud, summary)
        cloud.tally[PHASE] = SCAN
        while cloud.tally[PHASE] == SCAN:
            budget = BUDGET // (len(cloud.key) * cloud.points.shape[1])
            _closest_steps(cloud, method, summary, scratch, max(1, budget))
            report(int(cloud.tally[MERGES]))
        if cloud.tally[PHASE] == COMPACT:
            cloud = arrange(cloud)
    return int(cloud.tally[MERGES])
