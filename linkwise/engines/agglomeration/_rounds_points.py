"""Ward, centroid and median linkage on vectors: the clusters are points, no matrix is needed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise._threads import Workers
from linkwise._typing import IntArray
from linkwise.engines.agglomeration._blocked_points import arrange, make_cloud
from linkwise.engines.agglomeration._contracted_points import Points
from linkwise.engines.agglomeration._kernels_blocked_points import (
    Cloud,
    look_around,
    make_scratch,
)
from linkwise.engines.agglomeration._kernels_linkages import WARD
from linkwise.engines.agglomeration._kernels_rounds import (
    COMPACT,
    DONE,
    MERGES,
    PAIR,
    PENDING,
    PHASE,
    SCAN,
    WIDTH,
)
from linkwise.engines.agglomeration._kernels_rounds_points import Summary, _closest_steps, _sum_up_all, _ward_rounds

# Coordinates a step must touch to be worth the hand-over to threads, and those one kernel call may touch.
WIDE = 20_000_000
BUDGET = 400_000_000


def merge_points(start: Points, method: int, workers: Workers, report: Callable[[int], object]) -> int:
    """Fill in merges and squared heights, of Ward in no particular order (children first); return how many."""
    cloud = make_cloud(start)
    if method == WARD:
        return _ward(cloud, workers, report)
    return _step_by_step(cloud, method, workers, report)


# ------------------------------------------------------------------------------------------------------------- Ward


def _ward(cloud: Cloud, workers: Workers, report: Callable[[int], object]) -> int:
    """Merge by rounds of reciprocal nearest neighbors; return the number of merges."""
    while True:
        count = cloud.tally
        _ward_rounds(cloud, WIDE, BUDGET)
        report(int(count[MERGES]))
        if count[PHASE] == DONE:
            return int(count[MERGES])
        if count[PHASE] == COMPACT:
            cloud = arrange(cloud)
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
        scratch = make_scratch(cloud)
        _sum_up_all(cloud, summary)
        cloud.tally[PHASE] = SCAN
        while cloud.tally[PHASE] == SCAN:
            budget = BUDGET // (len(cloud.key) * cloud.points.shape[1])
            _closest_steps(cloud, method, summary, scratch, max(1, budget))
            report(int(cloud.tally[MERGES]))
        if cloud.tally[PHASE] == COMPACT:
            cloud = arrange(cloud)
    return int(cloud.tally[MERGES])
