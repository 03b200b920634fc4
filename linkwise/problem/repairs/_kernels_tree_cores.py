"""Small sets of triplets that no tree displays, found by removing leaves while a contradiction remains.

A set of leaves is stuck when the pairs a-b of the triplets ab|c inside it connect it. A spanning tree of these pairs
then is a contradiction already, of one statement fewer than there are leaves: few leaves mean few statements, and a set
from which no leaf can be taken gives a contradiction from which no statement can. Sparse leaves go first, because small
stuck sets are dense.
"""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import DisjointSet, find, make, union
from linkwise._typing import BoolArray, FloatArray, IntArray


@njit
def _divide(triplets: IntArray, rows: IntArray, sets: DisjointSet, label: IntArray, part: IntArray) -> IntArray:
    """BUILD on some rows. Return the rows inside the first set of leaves that is stuck, in the given order.

    With ``part`` of the length of the triplets, go on and number there the rows of every stuck set; rows outside keep
    what they had. ``sets`` and ``label`` are room to work in, one entry per leaf; ``label`` is -1 before and after.
    """
    count = len(rows)
    left = rows.copy()
    by_block = np.empty(count, np.intp)
    begin = np.empty(count + 1, np.intp)  # stretches of `left` still to be divided
    end = np.empty(count + 1, np.intp)
    place = np.empty(count + 1, np.intp)
    begin[0], end[0] = 0, count
    pending = 1 if count > 0 else 0
    parts = 0
    while pending > 0:
        pending -= 1
        low, high = begin[pending], end[pending]
        for s in range(low, high):
            for column in range(3):
                leaf = triplets[left[s], column]
                sets.parent[leaf] = leaf
                sets.size[leaf] = 1
        for s in range(low, high):
            union(sets, triplets[left[s], 0], triplets[left[s], 1])
        root = find(sets, triplets[left[low], 0])
        stuck = True
        kept = low
        blocks = 0
        for s in range(low, high):
            t = left[s]
            mine = find(sets, triplets[t, 0])
            inside = mine == find(sets, triplets[t, 2])
            stuck &= inside and mine == root
            if inside:
                if label[mine] < 0:
                    label[mine] = blocks
                    place[blocks] = 0
                    blocks += 1
                place[label[mine]] += 1
                left[kept] = t
                kept += 1
        if stuck:
            label[root] = -1
            if len(part) == 0:
                return left[low:high].copy()
            for s in range(low, high):
                part[left[s]] = parts
            parts += 1
            continue
        total = low
        for block in range(blocks):
            size = place[block]
            place[block] = total
            begin[pending + block] = total
            total += size
            end[pending + block] = total
        for s in range(low, kept):
            block = label[find(sets, triplets[left[s], 0])]
            by_block[place[block]] = left[s]
            place[block] += 1
        for s in range(low, kept):
            label[find(sets, triplets[left[s], 0])] = -1
            left[s] = by_block[s]
        pending += blocks
    return left[:0]


@njit
def stuck_parts(n: int, triplets: IntArray) -> IntArray:
    """Number the sets of triplets that can be repaired independently; -1 for triplets in no contradiction at all.

    Every minimal contradiction is connected in the sense above, so building the tree never separates it: it ends up
    inside one of the sets of leaves where building gets stuck, and these are disjoint.
    """
    part = np.full(len(triplets), -1, np.intp)
    sets = make(n)
    _divide(triplets, np.arange(len(triplets)), sets, np.full(n, -1, np.intp), part)
    return part


@njit
def _shrink(
    triplets: IntArray, x: FloatArray, rows: IntArray, sets: DisjointSet, label: IntArray, rng: np.random.Generator
) -> tuple[IntArray, int]:
    """Take leaves away from conflicting rows while they conflict, first those with few statements of small ``x``.

    Several leaves are tried at once, half as many after each failure. A leaf that was needed stays needed in every
    smaller set. Returns a minimal contradiction, earlier rows preferred, nothing if the rows do not conflict; and how
    many rows and leaves were read on the way.
    """
    n = len(label)
    nothing = np.empty(0, np.intp)
    read = 3 * len(rows)
    rows = _divide(triplets, rows, sets, label, nothing)
    needed = np.zeros(n, np.bool_)
    out = np.zeros(n, np.bool_)
    degree = np.empty(n)
    many = n
    while len(rows) > 0:
        for leaf in range(n):
            degree[leaf] = 0.0
        for t in rows:
            for column in range(3):
                degree[triplets[t, column]] += 1.01 - x[t]
        open_ = 0
        for leaf in range(n):
            out[leaf] = False
            if needed[leaf]:
                degree[leaf] = 0.0
            elif degree[leaf] > 0.0:
                degree[leaf] *= 1.0 + 0.3 * rng.random()
                open_ += 1
        if open_ == 0:
            break
        many = max(1, min(many, open_ // 8))
        leaf = -1
        for _ in range(many):
            leaf = -1
            for other in range(n):
                if degree[other] > 0.0 and not out[other] and (leaf < 0 or degree[other] < degree[leaf]):
                    leaf = other
            out[leaf] = True
        read += 4 * len(rows) + (many + 3) * n
        trial = np.empty(len(rows), np.intp)
        size = 0
        for t in rows:
            if not (out[triplets[t, 0]] or out[triplets[t, 1]] or out[triplets[t, 2]]):
                trial[size] = t
                size += 1
        smaller = _divide(triplets, trial[:size], sets, label, nothing)
        if len(smaller) > 0:
            rows = smaller
        elif many == 1:
            needed[leaf] = True
        else:
            many //= 2
    return _spanning(triplets, rows, sets), read


@njit
def _spanning(triplets: IntArray, rows: IntArray, sets: DisjointSet) -> IntArray:
    """The first rows whose pairs connect all leaves of the rows."""
    for t in rows:
        for column in range(3):
            leaf = triplets[t, column]
            sets.parent[leaf] = leaf
            sets.size[leaf] = 1
    core = np.empty(len(rows), np.intp)
    size = 0
    for t in rows:
        if union(sets, triplets[t, 0], triplets[t, 1]):
            core[size] = t
            size += 1
    return core[:size].copy()


@njit
def small_cores(
    n: int, triplets: IntArray, x: FloatArray, rows: IntArray, most: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, int]:
    """Minimal contradictions among ``rows``, which come in rising order of ``x``: at most ``most``, bounds and members.

    Each time one is found a random member of it leaves the rows. What is left holds together if fewer than ``most``
    came back. The last number tells how many rows and leaves were read on the way.
    """
    sets = make(n)
    label = np.full(n, -1, np.intp)
    start = np.zeros(most + 1, np.intp)
    member = np.empty(most * n, np.intp)
    left = rows.copy()
    size = len(left)
    total = 0
    for found in range(most):
        core, read = _shrink(triplets, x, left[:size], sets, label, rng)
        total += read
        if len(core) == 0:
            return start[: found + 1], member[: start[found]], total
        start[found + 1] = start[found] + len(core)
        for i in range(len(core)):
            member[start[found] + i] = core[i]
        gone = core[int(rng.random() * len(core))]
        kept = 0
        for s in range(size):
            if left[s] != gone:
                left[kept] = left[s]
                kept += 1
        size = kept
    return start, member[: start[most]], total


@njit
def implied_rows(n: int, triplets: IntArray, rows: IntArray, asked: IntArray) -> BoolArray:
    """For each of the ``asked`` rows, whether the others of ``rows`` admit neither other answer about its trio."""
    sets = make(n)
    label = np.full(n, -1, np.intp)
    nothing = np.empty(0, np.intp)
    trial = triplets.copy()
    implied = np.ones(len(asked), np.bool_)
    for i in range(len(asked)):
        t = asked[i]
        for odd in range(2):
            trial[t, 2] = triplets[t, odd]
            trial[t, odd] = triplets[t, 2]
            if implied[i] and len(_divide(trial, rows, sets, label, nothing)) == 0:
                implied[i] = False
            trial[t, 2] = triplets[t, 2]
            trial[t, odd] = triplets[t, odd]
    return implied


@njit
def frees(n: int, triplets: IntArray, rows: IntArray, asked: IntArray) -> BoolArray:
    """For each of the ``asked`` rows, whether ``rows``, which conflict, hold together without it.

    They may conflict in one place only: ``rows`` are those of a repair and one more.
    """
    sets = make(n)
    label = np.full(n, -1, np.intp)
    nothing = np.empty(0, np.intp)
    rows = _divide(triplets, rows, sets, label, nothing)  # a row that is to free all must lie in this stuck set
    left = np.empty(len(rows), np.intp)
    free = np.zeros(len(asked), np.bool_)
    for i in range(len(asked)):
        size = 0
        for t in rows:
            if t != asked[i]:
                left[size] = t
                size += 1
        free[i] = len(_divide(triplets, left[:size], sets, label, nothing)) == 0
    return free
