"""Rounds of reciprocal nearest neighbors on the rows of a dense matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise._kernels import inner, njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import Bits, BoolArray, FloatArray, Floats, IntArray
from linkwise.engines.agglomeration._kernels_linkages import AVERAGE, COMPLETE, SINGLE, WARD
from linkwise.engines.agglomeration._kernels_rounds import (
    ALIVE,
    COMPACT,
    DONE,
    JOIN,
    LAST,
    LOGGED,
    NEW,
    PAIR,
    PAIRS,
    PENDING,
    PHASE,
    SCAN,
    SETTLE,
    WIDTH,
    closest_pair,
    list_pending,
    living,
    note_merge,
    pair_up,
)


class Rows(NamedTuple):
    """State between two steps. A slot is a column number; a slot's cluster keeps the lower slot when it grows."""

    D: Floats  # row_of[s] is the row of slot s; only the first WIDTH columns mean anything
    bits: Bits  # the same memory read as integers
    row_of: IntArray
    replayed: IntArray  # how much of the log the slot's row has seen
    size: Floats
    node: IntArray
    alive: BoolArray
    nearest: IntArray  # a slot, or one of NEW, PAIRED, DROPPED, LOST
    gap: Floats  # distance to it
    floor: FloatArray  # height at which the slot's cluster was made
    log: IntArray  # (merges, 2): kept slot, dropped slot
    share: Floats  # (merges, 3): their weights in a mean; for ward their sizes and distance
    pending: IntArray
    pair: IntArray  # (pairs, 2)
    merges: IntArray  # (n - 1, 2): node numbers
    height: FloatArray
    tally: IntArray


@njit(nogil=True)
def row_minimum(bits: Bits, width: int) -> int:
    """Return the first position of the smallest of the first ``width`` entries.

    The entries are distances read as integers, which order non-negative floats just as well; the compiler turns the
    minimum of integers, but not that of floats, into vector instructions.
    """
    block = 512
    best = bits[0]
    home = 0
    for start in range(0, width, block):
        stop = min(width, start + block)
        piece = bits[start:stop]
        low = piece[0]
        for k in range(stop - start):
            low = min(low, piece[k])
        if low < best:
            best = low
            home = start
    for k in range(home, width):
        if bits[k] == best:
            return k
    return 0


@njit(nogil=True)
def _ward_rule(d_ik: float, d_jk: float, d_ij: float, n_i: float, n_j: float, n_k: float) -> Any:
    """Return the squared Ward distance of i + j to k; reciprocal neighbors have no distance below ``d_ij``.

    Hence no term is negative: nothing cancels, and what is infinite stays infinite.
    """
    return (n_i * d_ik + n_j * d_jk + n_k * (d_jk + (d_ik - d_ij))) / (n_i + n_j + n_k)


@inner
def _replay(rows: Rows, method: int, slot: int) -> None:
    """Bring the row of a slot up to date with the log."""
    row = rows.D[rows.row_of[slot]]
    log = rows.log
    share = rows.share
    first = rows.replayed[slot]
    last = rows.tally[LOGGED]
    if method == SINGLE:
        for t in range(first, last):
            i = log[t, 0]
            j = log[t, 1]
            low = min(row[i], row[j])
            high = max(row[i], row[j])
            row[i] = high if np.isinf(high) else low
            row[j] = np.inf
    elif method == COMPLETE:
        for t in range(first, last):
            i = log[t, 0]
            j = log[t, 1]
            row[i] = max(row[i], row[j])
            row[j] = np.inf
    elif method == WARD:
        # a cluster that grows brings its row up to date first, so its size now is its size at these merges
        own = rows.size[slot]
        for t in range(first, last):
            i = log[t, 0]
            j = log[t, 1]
            row[i] = _ward_rule(row[i], row[j], share[t, 2], share[t, 0], share[t, 1], own)
            row[j] = np.inf
    else:
        for t in range(first, last):
            i = log[t, 0]
            j = log[t, 1]
            row[i] = share[t, 0] * row[i] + share[t, 1] * row[j]
            row[j] = np.inf
    rows.replayed[slot] = last


@njit(nogil=True)
def scan_pending(rows: Rows, method: int, start: int, stop: int) -> None:
    """Find the nearest neighbor of some pending slots; ties go to the lowest slot."""
    rows = borrowed(rows)
    for t in range(start, stop):
        slot = rows.pending[t]
        _replay(rows, method, slot)
        at = row_minimum(rows.bits[rows.row_of[slot]], rows.tally[WIDTH])
        low = rows.D[rows.row_of[slot], at]
        rows.gap[slot] = low
        rows.nearest[slot] = NEW if np.isinf(low) else at


@inner
def _combine(rows: Rows, method: int, kept: int, dropped: int) -> None:
    """Turn the row of ``kept`` into that of the union; columns are left as they are."""
    width = rows.tally[WIDTH]
    a = rows.D[rows.row_of[kept]]
    b = rows.D[rows.row_of[dropped]]
    if method == SINGLE:
        for k in range(width):
            low = min(a[k], b[k])
            high = max(a[k], b[k])
            a[k] = high if np.isinf(high) else low
    elif method == COMPLETE:
        for k in range(width):
            a[k] = max(a[k], b[k])
    elif method == WARD:
        n_a = rows.size[kept]
        n_b = rows.size[dropped]
        apart = rows.gap[kept]
        size = rows.size
        for k in range(width):
            a[k] = _ward_rule(a[k], b[k], apart, n_a, n_b, size[k])
    else:
        n_a = rows.size[kept]
        n_b = rows.size[dropped]
        if method != AVERAGE:
            n_b = n_a
        f_a = n_a / (n_a + n_b)
        f_b = n_b / (n_a + n_b)
        for k in range(width):
            a[k] = f_a * a[k] + f_b * b[k]
    a[kept] = np.inf
    a[dropped] = np.inf


@njit(nogil=True)
def join_pairs(rows: Rows, method: int, start: int, stop: int) -> None:
    """Unite the rows of some reciprocal pairs."""
    rows = borrowed(rows)
    for t in range(start, stop):
        kept = rows.pair[t, 0]
        dropped = rows.pair[t, 1]
        _replay(rows, method, kept)
        _replay(rows, method, dropped)
        _combine(rows, method, kept, dropped)


@inner
def _record(rows: Rows, method: int, kept: int, dropped: int, height: float) -> None:
    """Note one merge in the result and in the log."""
    n_a = rows.size[kept]
    n_b = rows.size[dropped]
    entry = rows.tally[LOGGED]
    rows.log[entry, 0] = kept
    rows.log[entry, 1] = dropped
    if method == AVERAGE:
        rows.share[entry, 0] = n_a / (n_a + n_b)
        rows.share[entry, 1] = n_b / (n_a + n_b)
    elif method == WARD:
        rows.share[entry, 0] = n_a
        rows.share[entry, 1] = n_b
        rows.share[entry, 2] = height
    else:
        rows.share[entry, 0] = 0.5
        rows.share[entry, 1] = 0.5
    rows.tally[LOGGED] = entry + 1
    note_merge(rows, kept, dropped, height)


@njit(nogil=True)
def force(rows: Rows, method: int, forced: IntArray) -> None:
    """Merge the groups of must-linked samples at height 0, each in index order, before anything is compared."""
    rows = borrowed(rows)
    first = np.full(forced.shape[0], -1, np.intp)
    for slot in range(forced.shape[0]):
        group = forced[slot]
        if first[group] < 0:
            first[group] = slot
        else:
            _combine(rows, method, first[group], slot)
            _record(rows, method, first[group], slot, 0.0)
    fresh = 0
    for slot in range(forced.shape[0]):
        if rows.alive[slot]:
            rows.pending[fresh] = slot
            fresh += 1
    rows.tally[PENDING] = fresh


@njit(nogil=True)
def compact_rows(rows: Rows, method: int, keep: IntArray, start: int, stop: int) -> None:
    """Move the living columns of some living rows to the front."""
    rows = borrowed(rows)
    for t in range(start, stop):
        _replay(rows, method, keep[t])
        row = rows.D[rows.row_of[keep[t]]]
        for k in range(keep.shape[0]):
            row[k] = row[keep[k]]


@njit(nogil=True)
def renumber(rows: Rows, keep: IntArray) -> None:
    """Give the living slots the numbers 0, 1, ... in the same order, and forget the log."""
    new = np.full(rows.tally[WIDTH], -1, np.intp)
    for t in range(keep.shape[0]):
        new[keep[t]] = t
    for t in range(keep.shape[0]):
        slot = keep[t]
        rows.row_of[t] = rows.row_of[slot]
        rows.size[t] = rows.size[slot]
        rows.node[t] = rows.node[slot]
        rows.gap[t] = rows.gap[slot]
        rows.floor[t] = rows.floor[slot]
        rows.nearest[t] = new[rows.nearest[slot]] if rows.nearest[slot] >= 0 else rows.nearest[slot]
        rows.replayed[t] = 0
        rows.alive[t] = True
    for t in range(rows.tally[PENDING]):
        rows.pending[t] = new[rows.pending[t]]
    rows.tally[WIDTH] = keep.shape[0]
    rows.tally[LOGGED] = 0


@njit(nogil=True)
def advance(rows: Rows, method: int, wide: int, budget: int) -> None:
    """Do rounds until none is left, ``budget`` elements are handled, or a step touches more than ``wide`` elements.

    The step that comes next is in ``tally[PHASE]``; a wide one is for the caller to share out among threads.
    """
    rows = borrowed(rows)
    count = rows.tally
    spent = 0
    while count[PHASE] != DONE and spent < budget:
        width = count[WIDTH]
        if count[PHASE] == SCAN:
            spent += count[PENDING] * width
            if count[PENDING] * width > wide:
                return
            scan_pending(rows, method, 0, count[PENDING])
            count[PHASE] = PAIR
        elif count[PHASE] == PAIR:
            pair_up(rows)
            count[PHASE] = JOIN if count[PAIRS] > 0 else SETTLE
        elif count[PHASE] == JOIN:
            spent += count[PAIRS] * width
            if count[PAIRS] * width > wide:
                return
            join_pairs(rows, method, 0, count[PAIRS])
            count[PHASE] = SETTLE
        elif count[PHASE] == SETTLE:
            for t in range(count[PAIRS]):
                kept = rows.pair[t, 0]
                _record(rows, method, kept, rows.pair[t, 1], np.float64(rows.gap[kept]))
            list_pending(rows)
            if count[PENDING] == 0:
                count[PHASE] = LAST
            else:
                count[PHASE] = COMPACT if width > 64 and 2 * count[ALIVE] < width else SCAN
        elif count[PHASE] == LAST:
            closest_pair(rows)
            count[PHASE] = JOIN if count[PAIRS] > 0 else DONE
        else:
            if count[ALIVE] * width > wide:
                return
            keep = living(rows.alive, width)
            compact_rows(rows, method, keep, 0, keep.shape[0])
            renumber(rows, keep)
            count[PHASE] = SCAN
