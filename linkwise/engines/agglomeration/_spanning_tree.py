"""Single linkage on vectors: Prim's minimum spanning tree in O(n d) memory, then its edges from short to long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.borrow import borrowed
from linkwise._kernels.disjoint_set import find, make, union
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.agglomeration._blocked_points import gaps_to_block, lane_of, smallest_bits

Floats = npt.NDArray[np.floating[Any]]

# Samples in a block: wider than in a cloud, since every block is visited at every step.
BLOCK = 128

# Bytes of coordinates from which a rough first look pays: about what the second-level cache holds.
LARGE = 1_500_000

# Coordinates one kernel call may touch.
BUDGET = 400_000_000


class Front(NamedTuple):
    """The samples outside the tree, in blocks as in a cloud, each with the nearest sample inside."""

    points: Floats  # (blocks, features, BLOCK); samples that have joined have an infinite coordinate
    rough: npt.NDArray[np.float32]  # the same in single precision, or nothing: refutes most blocks at half the traffic
    limit: npt.NDArray[np.float32]  # a rough distance above this cannot be below the gap; negative once inside
    doubt: FloatArray  # one number: how far a rough distance can be off
    gap: Floats  # squared distance to the tree
    bits: npt.NDArray[np.signedinteger[Any]]  # the same memory read as integers
    origin: IntArray
    sample: IntArray
    slot: IntArray  # of every sample; -1 once inside
    group_start: IntArray  # must-linked samples: group_member[group_start[g]:group_start[g + 1]]
    group_member: IntArray
    group: IntArray
    edges: IntArray
    length: FloatArray
    tally: IntArray  # edges so far; last sample that joined


def _make_front(X: Floats, forced: IntArray | None) -> Front:
    n, d = X.shape
    group = np.empty(0, np.intp) if forced is None else np.ascontiguousarray(forced, dtype=np.intp)
    member = np.argsort(group, kind="stable")
    start = np.searchsorted(group[member], np.arange(n + 1)) if len(group) else np.empty(0, np.intp)
    blank = Front(
        points=np.empty((0, d, BLOCK), X.dtype),
        rough=np.empty((0, d, BLOCK), np.float32),
        limit=np.empty(0, np.float32),
        doubt=np.full(1, 4 * np.sqrt(d) * np.finfo(np.float32).eps * np.abs(X).max(initial=0.0), np.float64),
        gap=np.empty(0, X.dtype),
        bits=np.empty(0, np.int64 if X.dtype == np.float64 else np.int32),
        origin=np.empty(0, np.intp),
        sample=np.empty(0, np.intp),
        slot=np.full(n, -1, np.intp),
        group_start=np.ascontiguousarray(start, dtype=np.intp),
        group_member=member,
        group=group,
        edges=np.empty((max(n - 1, 0), 2), np.intp),
        length=np.empty(max(n - 1, 0)),
        tally=np.zeros(2, np.intp),
    )
    outside = np.arange(1, n, dtype=np.intp)
    return _refill(blank, X, outside, np.full(n - 1, np.inf, X.dtype), np.zeros(n - 1, np.intp))


def _refill(front: Front, X: Floats, outside: IntArray, gap: Floats, origin: IntArray) -> Front:
    """Lay the samples that are still outside out anew, without holes."""
    m, d = len(outside), X.shape[1]
    blocks = max(1, -(-m // BLOCK))
    rows = np.zeros((blocks * BLOCK, d), X.dtype)
    rows[:m] = X[outside]
    points = np.ascontiguousarray(rows.reshape(blocks, BLOCK, d).transpose(0, 2, 1))
    points[-1, 0, m - (blocks - 1) * BLOCK :] = np.inf
    gaps = np.full(blocks * BLOCK, np.inf, X.dtype)
    gaps[:m] = gap
    origins = np.zeros(blocks * BLOCK, np.intp)
    origins[:m] = origin
    samples = np.full(blocks * BLOCK, len(X), np.intp)
    samples[:m] = outside
    front.slot[:] = -1
    front.slot[outside] = np.arange(m)
    front = front._replace(points=points, gap=gaps, bits=gaps.view(front.bits.dtype), origin=origins, sample=samples)
    # squares must neither overflow nor vanish in single precision for the rough look to mean anything
    if X.dtype == np.float64 and X.nbytes > LARGE and 1e-15 < np.abs(X).max() < 1e15:
        limit = np.full(blocks * BLOCK, -1, np.float32)
        limit[:m] = _rough_limit(gap, front.doubt[0], d)
        return front._replace(rough=points.astype(np.float32), limit=limit)
    return front


@njit(nogil=True)
def _rough_limit(gap: Any, doubt: float, d: int) -> Any:
    """The largest a squared distance below ``gap`` can look when computed from coordinates in single precision."""
    return (np.sqrt(gap) + doubt) ** 2 * (1 + 4 * (d + 8) * np.float64(1.2e-7))


@njit(nogil=True)
def _nearest_of(front: Front, b: int) -> Any:
    """Return the slot of a block that is nearest to the tree; of several the lowest-numbered sample."""
    lanes = front.points.shape[2]
    mine = front.bits[b * lanes : (b + 1) * lanes]
    return b * lanes + lane_of(mine, smallest_bits(mine), front.sample, b * lanes)


@njit(nogil=True)
def _grow(front: Front, X: Floats, steps: int) -> None:
    """Add the nearest outside sample to the tree ``steps`` times; ties go to the lowest-numbered sample."""
    front = borrowed(front)
    blocks, d, lanes = front.points.shape
    rows = front.points.reshape(blocks * d, lanes)
    gap, bits, origin, sample = front.gap, front.bits, front.origin, front.sample
    gaps = np.empty(lanes, front.points.dtype)
    screened = front.rough.shape[0] > 0
    rough_rows = front.rough.reshape(front.rough.shape[0] * d, lanes)
    rough_x = np.empty(d, np.float32)
    rough_gaps = np.empty(lanes, np.float32)
    limit = front.limit
    nearest = np.empty(blocks, np.intp)  # of each block; renewed only when a gap of the block has changed
    for b in range(blocks):
        nearest[b] = _nearest_of(front, b)
    for _ in range(steps):
        last = front.tally[1]
        x = X[last]
        if screened:
            for k in range(d):
                rough_x[k] = x[k]
        for b in range(blocks):
            first = b * lanes
            if screened:
                gaps_to_block(rough_rows, b * d, d, rough_x, rough_gaps)
                closer = 0
                for j in range(lanes):
                    closer += rough_gaps[j] <= limit[first + j]
                if closer == 0:
                    continue
            gaps_to_block(rows, b * d, d, x, gaps)
            closer = 0
            for j in range(lanes):
                closer += gaps[j] < gap[first + j]
            if closer > 0:
                for j in range(lanes):
                    if gaps[j] < gap[first + j]:
                        gap[first + j] = gaps[j]
                        origin[first + j] = last
                        if screened:
                            limit[first + j] = _rough_limit(gaps[j], front.doubt[0], d)
                nearest[b] = _nearest_of(front, b)
        home = nearest[0]
        for b in range(1, blocks):
            s = nearest[b]
            if bits[s] < bits[home] or (bits[s] == bits[home] and sample[s] < sample[home]):
                home = s
        if front.group.shape[0] > 0:
            # must-linked samples follow at once, at a length below all others
            g = front.group[last]
            for t in range(front.group_start[g], front.group_start[g + 1]):
                s = front.slot[front.group_member[t]]
                if s >= 0:
                    gap[s] = -1
                    origin[s] = last
                    nearest[s // lanes] = s
                    home = s
        t = front.tally[0]
        front.edges[t, 0] = origin[home]
        front.edges[t, 1] = sample[home]
        front.length[t] = gap[home]
        gap[home] = np.inf
        if screened:
            limit[home] = -1
        front.points[home // lanes, 0, home % lanes] = np.inf
        front.slot[sample[home]] = -1
        nearest[home // lanes] = _nearest_of(front, home // lanes)
        front.tally[0] = t + 1
        front.tally[1] = sample[home]


def spanning_tree(X: Floats, forced: IntArray | None, report: Callable[[int], object]) -> tuple[IntArray, FloatArray]:
    """Return the edges of a minimum spanning tree and their squared lengths, -1 inside must-linked groups."""
    n, d = X.shape
    if n < 2:
        return np.empty((0, 2), np.intp), np.empty(0)
    front = _make_front(X, forced)
    while front.tally[0] < n - 1:
        outside = n - 1 - int(front.tally[0])
        # two fifths of the samples join, or as many as the budget allows, before the holes are closed
        enough = outside - 6 * outside // 10 if outside > BLOCK else outside
        steps = min(enough, max(1, BUDGET // (len(front.gap) * max(1, d))))
        _grow(front, X, steps)
        report(int(front.tally[0]))
        if steps == enough and front.tally[0] < n - 1:
            slots = np.sort(front.slot[front.slot >= 0])
            front = _refill(front, X, front.sample[slots], front.gap[slots], front.origin[slots])
    return front.edges, front.length


@njit(nogil=True)
def _join(n: int, edges: IntArray, length: Floats, group: IntArray, pairs: IntArray, height: Floats) -> int:
    sets = make(n)
    node = np.arange(n)
    done = 0
    first = np.full(group.shape[0], -1, np.intp)
    for i in range(group.shape[0]):
        g = group[i]
        if first[g] < 0:
            first[g] = i
        else:
            top = node[find(sets, first[g])]
            union(sets, first[g], i)
            pairs[done, 0] = i
            pairs[done, 1] = top
            height[done] = 0
            node[find(sets, i)] = n + done
            done += 1
    for t in range(edges.shape[0]):
        a = find(sets, edges[t, 0])
        b = find(sets, edges[t, 1])
        if a == b:
            continue
        pairs[done, 0] = min(node[a], node[b])
        pairs[done, 1] = max(node[a], node[b])
        height[done] = length[t]
        union(sets, a, b)
        node[find(sets, a)] = n + done
        done += 1
    return done


def join_edges(n: int, edges: IntArray, length: FloatArray, forced: IntArray | None) -> tuple[IntArray, FloatArray]:
    """Turn edges sorted by length into merges, must-linked groups first; edges inside a cluster are skipped."""
    pairs = np.empty((max(n - 1, 0), 2), np.intp)
    height = np.empty(max(n - 1, 0))
    done = _join(n, edges, length, np.empty(0, np.intp) if forced is None else forced, pairs, height)
    return np.sort(pairs[:done], axis=1), height[:done]
