"""Single linkage on vectors: Prim's minimum spanning tree in O(n d) memory, then its edges from short to long."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise._typing import FloatArray, Floats, IntArray
from linkwise.engines.agglomeration._kernels_spanning_tree import Front, _grow, _join, _rough_limit

# Samples in a block: wider than in a cloud, since every block is visited at every step.
BLOCK = 128

# Bytes of coordinates from which a rough first look pays: about what the second-level cache holds.
LARGE = 1_500_000

# Coordinates one kernel call may touch.
BUDGET = 400_000_000


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
    """Arrange the samples that are still outside again, without gaps."""
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


def join_edges(n: int, edges: IntArray, length: FloatArray, forced: IntArray | None) -> tuple[IntArray, FloatArray]:
    """Turn edges sorted by length into merges, must-linked groups first; edges inside a cluster are skipped."""
    pairs = np.empty((max(n - 1, 0), 2), np.intp)
    height = np.empty(max(n - 1, 0))
    done = _join(n, edges, length, np.empty(0, np.intp) if forced is None else forced, pairs, height)
    return np.sort(pairs[:done], axis=1), height[:done]
