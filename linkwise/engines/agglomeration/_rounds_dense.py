"""Reducible linkages on a dense matrix, by rounds of reciprocal nearest neighbors.

Rows are independent of each other, which makes every step parallel over rows and free of scattered writes: a merge is
written to a log, and a row replays the log when it is read next (it holds all it needs, the distances to both parts).
An infinite distance means "never": it survives every rule, and a cluster with nothing but infinities is a finished
root. Ties go to the lowest slot, a cluster's slot being its lowest-numbered sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from linkwise._threads import Workers
from linkwise._typing import Floats
from linkwise.engines.agglomeration._kernels_rounds import (
    ALIVE,
    COMPACT,
    DONE,
    JOIN,
    MERGES,
    PAIR,
    PAIRS,
    PENDING,
    PHASE,
    SCAN,
    SETTLE,
    WIDTH,
)
from linkwise.engines.agglomeration._kernels_rounds_dense import (
    Rows,
    advance,
    compact_rows,
    join_pairs,
    renumber,
    scan_pending,
)
from linkwise.engines.distances import Neighbors

if TYPE_CHECKING:
    from linkwise.engines.agglomeration._contracted_points import Points

# Elements a step must touch to be worth the hand-over to threads, and those one kernel call may touch altogether.
WIDE = 2_000_000
BUDGET = 100_000_000


def make_rows(D: Floats, n: int, start: Points | None = None, near: Neighbors | None = None) -> Rows:
    """Start with ``n`` clusters, the upper left square of ``D`` (taken over, not copied; infinite diagonal).

    They are singletons, unless points tell their sizes and what was merged already. Nearest neighbors that are known
    need not be looked up.
    """
    kind = D.dtype
    count = np.zeros(8, np.intp)
    count[WIDTH] = count[ALIVE] = count[PENDING] = n
    slots = np.arange(n, dtype=np.intp)
    merges, height = np.empty((max(n - 1, 0), 2), np.intp), np.empty(max(n - 1, 0))
    if start is not None:
        merges, height, count[MERGES] = start.merges, start.height, start.done
    if near is not None and near.found:
        count[PHASE] = PAIR
    else:
        near = Neighbors.of(n, kind)
    return Rows(
        D=D,
        bits=D.view(np.int64 if kind == np.float64 else np.int32),
        row_of=slots.copy(),
        replayed=np.zeros(n, np.intp),
        size=np.ones(n, kind) if start is None else start.size.copy(),
        node=slots.copy() if start is None else start.node.copy(),
        alive=np.ones(n, np.bool_),
        nearest=near.nearest,
        gap=near.gap,
        floor=np.zeros(n),
        log=np.empty((n, 2), np.intp),
        share=np.empty((n, 3), kind),
        pending=slots.copy(),
        pair=np.empty((n // 2 + 1, 2), np.intp),
        merges=merges,
        height=height,
        tally=count,
    )


def run_rounds(rows: Rows, method: int, workers: Workers, report: Callable[[int], object]) -> None:
    """Do all rounds; large steps are shared out among threads, small ones stay inside one kernel call."""
    count = rows.tally
    while count[PHASE] != DONE:
        advance(rows, method, WIDE, BUDGET)
        report(int(count[MERGES]))
        phase, width = int(count[PHASE]), int(count[WIDTH])
        if phase == SCAN and count[PENDING] * width > WIDE:
            workers.over(scan_pending, int(count[PENDING]), width, rows, method)
            count[PHASE] = PAIR
        elif phase == JOIN and count[PAIRS] * width > WIDE:
            workers.over(join_pairs, int(count[PAIRS]), 2 * width, rows, method)
            count[PHASE] = SETTLE
        elif phase == COMPACT and count[ALIVE] * width > WIDE:
            keep = np.flatnonzero(rows.alive[:width])
            workers.over(compact_rows, len(keep), 2 * width, rows, method, keep)
            renumber(rows, keep)
            count[PHASE] = SCAN
