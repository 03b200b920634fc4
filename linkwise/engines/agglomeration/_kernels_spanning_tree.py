"""A minimum spanning tree that grows sample by sample, and merges from sorted edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.borrow import borrowed
from linkwise._kernels.disjoint_set import find, make, union
from linkwise._typing import FloatArray, Floats, IntArray
from linkwise.engines.agglomeration._kernels_blocked_points import gaps_to_block, lane_of, smallest_bits


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


@njit(nogil=True)
def _rough_limit(gap: Any, doubt: float, d: int) -> Any:
    """The largest a squared distance below ``gap`` can look when computed from coordinates in single precision."""
    longest = np.sqrt(gap) + doubt
    return longest * longest * (1 + 4 * (d + 8) * np.float64(1.2e-7))


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
