"""Centroid and median linkage of few vectors: greedy merging with all distances between clusters stored.

Neither linkage is reducible, so the closest two clusters must be known at every step. A cluster's row of distances is
computed from the points when the cluster is made; other rows take over what has changed when they are read next, which
is the entry the younger row holds. Nothing is derived from older distances, so no rounding error grows, and the result
is that of the same merges without a matrix. Infinity means "never".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import Bits, BoolArray, FloatArray, Floats, IntArray
from linkwise.engines.agglomeration._kernels_blocked_points import gaps_to_block
from linkwise.engines.agglomeration._kernels_linkages import MEDIAN
from linkwise.engines.agglomeration._kernels_rounds import ALIVE, LOST, NEW, WIDTH, living, note_merge
from linkwise.engines.agglomeration._kernels_rounds_dense import row_minimum

BLOCK = 64


class Few(NamedTuple):
    """State of a run; slots are in the order of the lowest-numbered samples, a cluster keeps its lower slot."""

    points: Floats  # (features, slots); dropped slots have an infinite coordinate
    D: Floats  # squared distances; row s is up to date as of merge seen[s]
    bits: Bits  # the same memory read as integers
    seen: IntArray
    made: IntArray  # number of the merge that made the cluster, counted from 1; 0 before
    log: IntArray  # (merges, 2): kept slot, dropped slot
    size: Floats
    node: IntArray
    alive: BoolArray
    nearest: IntArray
    gap: Floats  # squared distance to it, or a lower bound
    gap_bits: Bits
    floor: FloatArray
    merges: IntArray
    height: FloatArray
    tally: IntArray


@njit(nogil=True)
def _catch_up(few: Few, slot: int, logged: int) -> None:
    """Bring the row of a slot up to date."""
    D, log, made = few.D, few.log, few.made
    row = D[slot]
    for t in range(few.seen[slot], logged):
        if made[log[t, 0]] == t + 1:  # neither merged again nor dropped since
            row[log[t, 0]] = D[log[t, 0], slot]
        row[log[t, 1]] = np.inf
    few.seen[slot] = logged


@njit(nogil=True)
def _look(few: Few, slot: int, width: int) -> None:
    """Read the nearest neighbor off a row that is up to date; ties go to the lowest slot."""
    at = row_minimum(few.bits[slot], width)
    few.gap[slot] = few.D[slot, at]
    few.nearest[slot] = NEW if np.isinf(few.D[slot, at]) else at


@njit(nogil=True)
def _close_ranks(few: Few) -> int:
    """Move the living slots to the front, in their order; return how many they are."""
    D, made, seen = few.D, few.made, few.seen
    keep = living(few.alive, few.tally[WIDTH])
    new = np.full(few.tally[WIDTH], -1, np.intp)
    fresh = 0
    for t in range(keep.shape[0]):
        new[keep[t]] = t
        if made[keep[t]] > 0:
            few.log[fresh, 0] = keep[t]
            fresh += 1
    for t in range(fresh):
        slot = few.log[t, 0]
        row = D[slot]
        for k in range(keep.shape[0]):
            if seen[keep[k]] < made[slot]:
                D[keep[k], slot] = row[keep[k]]
    for t in range(keep.shape[0]):
        slot = keep[t]
        row = D[slot]
        target = D[t]
        for k in range(keep.shape[0]):
            target[k] = row[keep[k]]
        few.size[t] = few.size[slot]
        few.node[t] = few.node[slot]
        few.gap[t] = few.gap[slot]
        few.nearest[t] = new[few.nearest[slot]] if few.nearest[slot] >= 0 else few.nearest[slot]
        seen[t] = 0
        made[t] = 0
        few.alive[t] = True
        for f in range(few.points.shape[0]):
            few.points[f, t] = few.points[f, slot]
    few.tally[WIDTH] = keep.shape[0]
    return len(keep)


@njit(nogil=True)
def _unite(few: Few, kept: int, dropped: int, share: float, x: Floats, out: Floats, banned: bool) -> None:
    """Put ``share * kept + (1 - share) * dropped`` into slot ``kept``, and its distances into that row and ``out``."""
    points = few.points
    rest = 1 - share
    for f in range(x.shape[0]):
        y = points[f, kept]
        y += rest * (points[f, dropped] - y)  # this way copies merge into an exact copy
        points[f, kept] = y
        x[f] = y
    points[0, dropped] = np.inf
    gaps_to_block(points, 0, x.shape[0], x, out)
    out[kept] = np.inf
    row = few.D[kept]
    other = few.D[dropped]
    if banned:
        for k in range(out.shape[0]):
            out[k] = np.inf if max(row[k], other[k]) == np.inf else out[k]
    for k in range(out.shape[0]):
        row[k] = out[k]


@njit(nogil=True)
def _tell_others(few: Few, kept: int, dropped: int, out: Floats) -> None:
    """Let the others know that one neighbor is gone and another has come, at the distances ``out``."""
    nearest, gap = few.nearest[: out.shape[0]], few.gap[: out.shape[0]]
    # no branches, so that several slots are served at once; where both are infinite, whoever is named is never asked
    for k in range(out.shape[0]):
        new, old, at = out[k], gap[k], nearest[k]
        at = LOST if (at == kept) | (at == dropped) else at
        closer = (new < old) | ((new == old) & ((at < 0) | (at > kept)))
        nearest[k] = kept if closer else at
        gap[k] = new if closer else old


@njit(nogil=True)
def merge_few(few: Few, method: int, banned: bool) -> None:
    """Merge the closest two clusters until no pair is left that may be merged."""
    few = borrowed(few)
    width: Any = few.tally[WIDTH]
    for slot in range(width):
        if few.nearest[slot] == NEW:
            _look(few, slot, width)
    x = np.empty(few.points.shape[0], few.points.dtype)
    buffer = np.empty(width, few.points.dtype)
    logged = 0
    while True:
        a = row_minimum(few.gap_bits, width)
        if np.isinf(few.gap[a]):
            return
        if few.nearest[a] == LOST:
            _catch_up(few, a, logged)
            _look(few, a, width)
            continue
        kept = min(a, few.nearest[a])
        dropped = max(a, few.nearest[a])
        share = few.size[kept] / (few.size[kept] + few.size[dropped])
        if method == MEDIAN:
            share = share * 0 + 0.5
        if banned:
            _catch_up(few, kept, logged)
            _catch_up(few, dropped, logged)
        out = buffer[:width]
        _unite(few, kept, dropped, share, x, out, banned)
        note_merge(few, kept, dropped, np.float64(few.gap[a]))
        few.floor[kept] = 0
        few.gap[dropped] = np.inf
        few.log[logged, 0] = kept
        few.log[logged, 1] = dropped
        logged += 1
        few.seen[kept] = logged
        few.made[kept] = logged
        few.made[dropped] = 0
        _tell_others(few, kept, dropped, out)
        _look(few, kept, width)
        if width > BLOCK and 2 * few.tally[ALIVE] < width:
            width = _close_ranks(few)
            logged = 0
