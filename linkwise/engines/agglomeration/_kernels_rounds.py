"""The rounds of reciprocal nearest neighbors, whatever the clusters are stored in.

When a linkage is reducible, two clusters that are each other's nearest neighbor will be merged sooner or later,
whatever happens elsewhere. So a round merges *all* such pairs, then looks up the nearest neighbor of the clusters that
need one. Sorting the merges by height gives the greedy order.

The functions take any named tuple with the fields ``nearest``, ``gap``, ``floor``, ``alive``, ``node``, ``size``,
``pending``, ``pair``, ``merges``, ``height`` and ``tally``, all indexed by slot or as said below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise._kernels import inner
from linkwise._typing import BoolArray, IntArray

# positions in tally
WIDTH = 0  # slots in use, dead ones included
ALIVE = 1
LOGGED = 2  # merges in the log
PENDING = 3  # slots whose nearest neighbor is to be looked up
PAIRS = 4
MERGES = 5
PHASE = 6

# what has to happen next: tally[PHASE]
SCAN = 0
PAIR = 1
JOIN = 2
SETTLE = 3
COMPACT = 4
LAST = 5
DONE = 6

# values of nearest other than a slot
NEW = -1  # to be looked up, or looked up and nothing within reach
PAIRED = -2
DROPPED = -3
LOST = -4  # its neighbor was merged; looked up again only when it is the nearest of another row
UNSURE = -5  # it cannot be told from what is stored


@inner
def pair_up(rows: Any) -> None:
    """List the reciprocal pairs. Only a slot just scanned can have become part of one."""
    nearest = rows.nearest
    found = 0
    for t in range(rows.tally[PENDING]):
        slot = rows.pending[t]
        other = nearest[slot]
        if other == NEW:
            # Infinities are symmetric and stay: no cluster will ever reach this one.
            rows.alive[slot] = False
            rows.tally[ALIVE] -= 1
        elif other >= 0 and nearest[other] == slot:
            rows.pair[found, 0] = min(slot, other)
            rows.pair[found, 1] = max(slot, other)
            found += 1
            nearest[slot] = PAIRED
            nearest[other] = PAIRED
    rows.tally[PAIRS] = found


@inner
def closest_pair(rows: Any) -> None:
    """List the pair with the smallest gap when no pair is reciprocal.

    The two rows of a pair round differently, so among ties each row may prefer another one, round in a circle.
    The smallest gap of all is then a smallest distance up to rounding.
    """
    best = -1
    for slot in range(rows.tally[WIDTH]):
        if rows.alive[slot] and rows.nearest[slot] >= 0 and (best < 0 or rows.gap[slot] < rows.gap[best]):
            best = slot
    rows.tally[PAIRS] = 0
    if best >= 0:
        other = rows.nearest[best]
        rows.pair[0, 0] = min(best, other)
        rows.pair[0, 1] = max(best, other)
        # the kept slot is the one whose gap becomes the height
        rows.gap[min(best, other)] = rows.gap[best]
        rows.tally[PAIRS] = 1


@inner
def note_merge(rows: Any, kept: int, dropped: int, height: float) -> None:
    """Record that the cluster in slot ``kept`` has taken in the one in slot ``dropped``."""
    count = rows.tally
    t = count[MERGES]
    rows.merges[t, 0] = rows.node[kept]
    rows.merges[t, 1] = rows.node[dropped]
    # Reducible heights never decrease; a last digit lost to rounding must not put a parent below its child.
    height = max(height, rows.floor[kept], rows.floor[dropped])
    rows.height[t] = height
    rows.floor[kept] = height
    rows.node[kept] = rows.merges.shape[0] + 1 + t
    rows.size[kept] += rows.size[dropped]
    rows.alive[dropped] = False
    rows.nearest[kept] = NEW
    rows.nearest[dropped] = DROPPED
    count[MERGES] = t + 1
    count[ALIVE] -= 1


@inner
def list_pending(rows: Any) -> None:
    """List the slots that must look around now, after the merged ones were set to NEW and DROPPED."""
    count = rows.tally
    nearest = rows.nearest
    fresh = 0
    lost = 0
    for slot in range(count[WIDTH]):
        if rows.alive[slot]:
            other = nearest[slot]
            if other == NEW:
                rows.pending[fresh] = slot
                fresh += 1
            elif other == LOST:
                lost += 1
            elif other >= 0 and (nearest[other] == NEW or nearest[other] == DROPPED):
                nearest[slot] = LOST
                lost += 1
    # Somebody who lost a neighbor can be part of a pair only if wanted. This saves most of the second looks.
    wanted = 0
    if lost > 0:
        for slot in range(count[WIDTH]):
            if rows.alive[slot] and nearest[slot] >= 0 and nearest[nearest[slot]] == LOST:
                rows.pending[fresh + wanted] = nearest[slot]
                nearest[nearest[slot]] = PAIRED
                wanted += 1
    if fresh + wanted == 0 and lost > 0:
        for slot in range(count[WIDTH]):
            if rows.alive[slot] and nearest[slot] == LOST:
                rows.pending[wanted] = slot
                wanted += 1
    for t in range(fresh, fresh + wanted):
        nearest[rows.pending[t]] = NEW
    count[PENDING] = fresh + wanted


@inner
def living(alive: BoolArray, width: int) -> IntArray:
    """The slots of living clusters in their order, as ``np.flatnonzero`` gives them, which takes longer to compile."""
    count = 0
    for slot in range(width):
        if alive[slot]:
            count += 1
    found = np.empty(count, np.intp)
    count = 0
    for slot in range(width):
        if alive[slot]:
            found[count] = slot
            count += 1
    return found
