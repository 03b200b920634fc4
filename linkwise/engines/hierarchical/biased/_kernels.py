"""Merging by similarity under triplets, and the weight updates that follow from a run; compiled.

Both linkages of the family are sums: with ``total[a, b]`` the sum over members of what two samples have in common, the
similarity of clusters is ``total[a, b] * inverse[a] * inverse[b]``. For average linkage samples have their cosine in
common and ``inverse`` is one over the size; for centroid linkage they have their weighted product in common and
``inverse`` is one over the weighted norm of the summed vectors. So a merge adds two rows, and nothing is lost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import BoolArray, FloatArray
from linkwise.engines.hierarchical.biased._kernels_broken_triplets import Live, Triples, join

AVERAGE, CENTROID = 0, 1
FREE, LEGAL = 0, 1  # merge whatever is most similar, or what breaks no triplet as long as there is such a pair
BROKEN = 4.0  # similarities lie in [-1, 1]: below this much less, pairs that break a triplet come after all others

IntArray = npt.NDArray[np.int64]


class Vectors(NamedTuple):
    """Samples as rows, dense or compressed; the other form is empty."""

    dense: FloatArray
    start: IntArray
    column: IntArray
    value: FloatArray


class Merging(NamedTuple):
    """A run of merging. Clusters live in the slot of their first sample; ``alive`` lists the slots in order."""

    total: FloatArray
    inverse: FloatArray
    size: IntArray
    node: IntArray  # number in the tree of the cluster in each slot
    item: IntArray  # number among the clusters of constrained samples, or -1
    spoiled: BoolArray  # a merge inside the cluster broke a triplet
    alive: IntArray
    best: FloatArray  # the largest key in the row of each slot, or a bound on it from above
    partner: IntArray  # the slot it belongs to; -1 when only the bound is known
    pairs: IntArray
    similarity: FloatArray
    broken: IntArray  # triplets broken by each merge
    events: IntArray  # nodes c1, c2 that met too early, and what each should have met instead (-1: nothing)
    n_events: IntArray  # how many there are, alone in its array


@njit
def products(start: IntArray, column: IntArray, value: FloatArray, weights: FloatArray, out: FloatArray) -> None:
    """Fill ``out`` with the weighted product of every two rows; the rows are compressed and sorted by column number."""
    n, d = len(start) - 1, len(weights)
    first = np.zeros(d + 1, np.int64)
    for p in range(len(column)):
        first[column[p] + 1] += 1
    for t in range(d):
        first[t + 1] += first[t]
    # Columns are filled row by row: while row i is worked on they hold the rows up to i, so each pair is met once.
    stop = first[:-1].copy()
    holder = np.empty(len(column), np.int64)
    held = np.empty(len(column))
    out[:, :] = 0.0
    for i in range(n):
        for p in range(start[i], start[i + 1]):
            t = column[p]
            holder[stop[t]] = i
            held[stop[t]] = value[p]
            stop[t] += 1
            scaled = value[p] * weights[t]
            if scaled != 0.0:
                for q in range(first[t], stop[t]):
                    out[i, holder[q]] += scaled * held[q]
    for i in range(n):
        for j in range(i):
            out[j, i] = out[i, j]


@njit
def cosines(total: FloatArray) -> None:
    """Turn products into cosines; a sample of weighted norm 0 has nothing in common with any."""
    n = len(total)
    inverse = np.zeros(n)
    for i in range(n):
        if total[i, i] > 0.0:
            inverse[i] = 1.0 / np.sqrt(total[i, i])
    for i in range(n):
        for j in range(n):
            total[i, j] *= inverse[i] * inverse[j]


@njit
def _search(run: Merging, live: Live, mode: int, n_alive: int, i: int) -> None:
    """Find the best partner of a slot; ties go to the lowest-numbered."""
    row, inverse, alive, item = run.total[i], run.inverse, run.alive, run.item
    counts = live.conflict[max(item[i], 0)]
    spoken = mode == LEGAL and item[i] >= 0
    best, partner = -np.inf, -1
    for at in range(n_alive):
        j = alive[at]
        if j == i:
            continue
        key = row[j] * (inverse[i] * inverse[j])
        if spoken and item[j] >= 0 and counts[item[j]] > 0:
            key -= BROKEN
        if key > best:
            best, partner = key, j
    run.best[i] = best
    run.partner[i] = partner


@njit
def _instead(run: Merging, live: Live, n_alive: int, i: int, but: int) -> int:
    """The node most similar to the cluster in slot ``i`` that it may join, the one in slot ``but`` excepted; or -1."""
    row, inverse, alive, item = run.total[i], run.inverse, run.alive, run.item
    counts = live.conflict[item[i]]
    best, partner = -np.inf, -1
    for at in range(n_alive):
        j = alive[at]
        if j in (i, but) or (item[j] >= 0 and counts[item[j]] > 0):
            continue
        key = row[j] * (inverse[i] * inverse[j])
        if key > best:
            best, partner = key, j
    return run.node[partner] if partner >= 0 else -1


@njit
def _remember(run: Merging, live: Live, n_alive: int, a: int, b: int, broken: int) -> None:
    """Note a merge that breaks triplets for the first time in both clusters."""
    if broken > 0 and not run.spoiled[a] and not run.spoiled[b]:
        event = run.events[run.n_events[0]]
        event[0], event[1] = run.node[a], run.node[b]
        event[2] = _instead(run, live, n_alive, a, b)
        event[3] = _instead(run, live, n_alive, b, a)
        run.n_events[0] += 1


@njit
def _merge(run: Merging, triples: Triples, live: Live, method: int, mode: int, t: int, a: int, b: int) -> None:
    """Let the cluster in slot ``b`` join that in slot ``a`` < ``b``, as merge number ``t``."""
    n = len(run.size)
    n_alive = n - t
    run.pairs[t, 0], run.pairs[t, 1] = run.node[a], run.node[b]
    run.similarity[t] = run.total[a, b] * (run.inverse[a] * run.inverse[b])
    if run.item[a] >= 0 and run.item[b] >= 0:
        run.broken[t] = live.conflict[run.item[a], run.item[b]]
        _remember(run, live, n_alive, a, b, run.broken[t])
        run.item[a] = join(triples, live, run.item[a], run.item[b])
    elif run.item[b] >= 0:
        run.item[a] = run.item[b]
    run.spoiled[a] = run.spoiled[a] or run.spoiled[b] or run.broken[t] > 0
    run.node[a] = n + t
    run.size[a] += run.size[b]
    if method == AVERAGE:
        run.inverse[a] = 1.0 / run.size[a]
    else:
        run.total[a, a] += run.total[b, b] + 2.0 * run.total[a, b]
        run.inverse[a] = 1.0 / np.sqrt(run.total[a, a]) if run.total[a, a] > 0.0 else 0.0
    best, partner, kept = -np.inf, -1, 0
    total, mine, theirs, inverse, item = run.total, run.total[a], run.total[b], run.inverse, run.item
    bound, partners, alive = run.best, run.partner, run.alive
    counts = live.conflict[max(item[a], 0)]
    spoken = mode == LEGAL and item[a] >= 0
    for at in range(n_alive):
        i = alive[at]
        if i == b:
            continue
        alive[kept] = i
        kept += 1
        if i == a:
            continue
        mine[i] += theirs[i]
        total[i, a] = mine[i]
        key = mine[i] * (inverse[a] * inverse[i])
        if spoken and item[i] >= 0 and counts[item[i]] > 0:
            key -= BROKEN
        if key > best:
            best, partner = key, i
        old = partners[i]
        if old in (a, b):
            # Pairs of other clusters did not change, so the old value still bounds the row from above.
            partners[i] = a if key >= bound[i] else -1
            bound[i] = max(key, bound[i])
        elif key > bound[i] or (key == bound[i] and a < old):
            bound[i] = key
            partners[i] = a
    run.best[a] = best
    run.partner[a] = partner


@njit
def advance(run: Merging, triples: Triples, live: Live, method: int, mode: int, begin: int, end: int) -> None:
    """Do the merges ``begin`` to ``end``: each the most similar pair, or the most similar one that breaks no triplet.

    Rows are searched again only when the bound on their best pair is the largest of all.
    """
    run, triples, live = borrowed(run), borrowed(triples), borrowed(live)
    n, alive, best = len(run.size), run.alive, run.best
    if begin == 0:
        for i in range(n):
            _search(run, live, mode, n, i)
    for t in range(begin, end):
        while True:
            top = alive[0]
            for at in range(1, n - t):
                if best[alive[at]] > best[top]:
                    top = alive[at]
            if run.partner[top] >= 0:
                break
            _search(run, live, mode, n - t, top)
        _merge(run, triples, live, method, mode, t, min(top, run.partner[top]), max(top, run.partner[top]))


@njit
def _sum_below(rows: Vectors, pairs: IntArray, node: int, out: FloatArray, stack: IntArray) -> None:
    """Add up the vectors of the samples below a node."""
    n = len(pairs) + 1
    out[:] = 0.0
    stack[0] = node
    height = 1
    while height > 0:
        height -= 1
        v = stack[height]
        if v >= n:
            stack[height] = pairs[v - n, 0]
            stack[height + 1] = pairs[v - n, 1]
            height += 2
        elif len(rows.dense) > 0:
            out += rows.dense[v]
        else:
            for p in range(rows.start[v], rows.start[v + 1]):
                out[rows.column[p]] += rows.value[p]


@njit
def update(x: FloatArray, y: FloatArray, z: FloatArray, weights: FloatArray, rate: float, out: FloatArray) -> bool:
    """Take one step that makes x more similar to y than to z, equations (5) to (7); say whether there was one.

    ``out`` receives the change of each weight before the conditions (3) are restored. There is no step when a vector
    has weighted norm 0, or when it would leave no weight above 0.
    """
    xx = yy = zz = xy = xz = 0.0
    for i in range(len(weights)):
        xx += weights[i] * x[i] * x[i]
        yy += weights[i] * y[i] * y[i]
        zz += weights[i] * z[i] * z[i]
        xy += weights[i] * x[i] * y[i]
        xz += weights[i] * x[i] * z[i]
    out[:] = 0.0
    if xx <= 0.0 or yy <= 0.0 or zz <= 0.0:
        return False
    nx, ny, nz = np.sqrt(xx), np.sqrt(yy), np.sqrt(zz)
    near, far = xy / (nx * ny), xz / (nx * nz)
    mass = 0.0
    for i in range(len(weights)):
        u, v, s = x[i] / nx, y[i] / ny, z[i] / nz
        out[i] = u * (v - s) - 0.5 * near * (u * u + v * v) + 0.5 * far * (u * u + s * s)
        mass += max(weights[i] + rate * out[i], 0.0)
    if not 0.0 < mass < np.inf:
        return False
    for i in range(len(weights)):
        weights[i] = max(weights[i] + rate * out[i], 0.0) * (len(weights) / mass)
    return True


@njit
def adapt(rows: Vectors, pairs: IntArray, events: IntArray, weights: FloatArray, rate: float) -> int:
    """Change the weights for every noted merge, in turn; return how many steps were taken."""
    d = len(weights)
    first, second, wanted, change = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    stack = np.empty(len(pairs) + 2, np.int64)
    steps = 0
    for e in range(len(events)):
        _sum_below(rows, pairs, events[e, 0], first, stack)
        _sum_below(rows, pairs, events[e, 1], second, stack)
        if events[e, 2] >= 0:
            _sum_below(rows, pairs, events[e, 2], wanted, stack)
            steps += update(first, wanted, second, weights, rate, change)
        if events[e, 3] >= 0:
            _sum_below(rows, pairs, events[e, 3], wanted, stack)
            steps += update(second, wanted, first, weights, rate, change)
    return steps
