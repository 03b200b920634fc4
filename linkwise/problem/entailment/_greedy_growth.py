"""Greedy growth of a set of statements by the number of triplets or pairs it implies."""

from __future__ import annotations

from math import comb

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import FloatArray, IntArray
from linkwise.problem.entailment._kernels_implied import _grown, _union_gains, count_implied
from linkwise.problem.triplets import Spans

_FEWEST_TRIED, _MOST_TRIED = 24, 512  # candidates counted in one round
_CELLS = 40_000_000  # about a tenth of a second of counting
_MOST_COUNTED = 128  # samples of a connected part whose implied triplets are counted; beyond, trios are drawn
_TRIOS = 4096
_DIVISIONS = 5


# -- triplets ------------------------------------------------------------------------------------------------------


def grow_triplets(
    n: int, triplets: IntArray, weight: FloatArray, m: int, seed: int
) -> tuple[IntArray, FloatArray, bool]:
    """Choose up to m triplets, each time one that implies most more: choice, gains, and whether these are exact.

    Samples are 0 to ``n - 1``. A connected part is kept by the number of one of its samples.
    """
    seen = np.bincount(triplets.ravel(), minlength=n)[triplets].sum(axis=1)
    # among equals: heavier, more often talked about, earlier
    rank = np.empty(len(triplets), dtype=np.intp)
    rank[np.lexsort((np.arange(len(triplets)), -seen, -weight))] = np.arange(len(triplets))
    part = np.full(n, -1, dtype=np.intp)
    says: dict[int, float] = {}
    members: dict[int, list[int]] = {}
    worth = np.ones(len(triplets))  # gain when last counted
    fresh = np.ones(len(triplets), dtype=np.bool_)  # whether that still holds
    free = np.ones(len(triplets), dtype=np.bool_)
    chosen: list[int] = []
    gain: list[float] = []
    exact = True
    while len(chosen) < m and free.any():
        stale = np.flatnonzero(free & ~fresh)
        size = max((len(rows) + 2 for rows in members.values()), default=1)
        tried = _FEWEST_TRIED if size > _MOST_COUNTED else min(max(_CELLS // size**3, _FEWEST_TRIED), _MOST_TRIED)
        for t in stale[np.lexsort((rank[stale], -worth[stale]))[:tried]]:
            touched = sorted(set(part[triplets[t]].tolist()) - {-1})
            rows = [row for p in touched for row in members[p]]
            now, counted = _says(triplets[[*rows, t]], seed)
            exact &= counted
            worth[t] = max(now - sum(says[p] for p in touched), 0.0)
            fresh[t] = True
            free[t] = worth[t] > 0 or not counted
        open_ = np.flatnonzero(free & fresh)
        if not len(open_):
            continue
        best = int(open_[np.lexsort((rank[open_], -worth[open_]))[0]])
        if worth[best] <= 0:
            break
        chosen.append(best)
        gain.append(float(worth[best]))
        free[best] = False
        _join(best, triplets, part, says, members, worth[best])
        # whoever has two samples in the part that changed may now add more, or nothing
        inside = part == part[triplets[best, 0]]
        fresh &= inside[triplets].sum(axis=1) < 2
    return np.array(chosen, dtype=np.intp), np.array(gain, dtype=np.float64), exact


def _join(
    t: int, triplets: IntArray, part: IntArray, says: dict[int, float], members: dict[int, list[int]], gain: float
) -> None:
    """Make one part of the parts a triplet touches."""
    name = int(triplets[t, 0])
    touched = sorted(set(part[triplets[t]].tolist()) - {-1})
    rows = [row for p in touched for row in members.pop(p)] + [t]
    total = sum(says.pop(p) for p in touched) + gain
    part[triplets[rows].ravel()] = name
    members[name], says[name] = rows, total


def _says(triplets: IntArray, seed: int) -> tuple[float, bool]:
    """How many triplets these imply, and whether that is a count."""
    names, small = np.unique(triplets, return_inverse=True)
    k = len(names)
    small = np.ascontiguousarray(small.reshape(-1, 3).astype(np.intp))
    if k <= _MOST_COUNTED:
        return float(count_implied(small, k)), True
    rng = np.random.default_rng(seed)
    trio = np.sort(rng.integers(0, k, (_TRIOS, 3)), axis=1)
    trio = trio[(trio[:, 0] < trio[:, 1]) & (trio[:, 1] < trio[:, 2])]
    spans = Spans(k, small)
    hits = 0
    for a, b, c in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        x, y, z = (np.ascontiguousarray(trio[:, column]) for column in (a, b, c))
        shown = spans.displayed(x, y, z)
        x, y, z = x[shown], y[shown], z[shown]
        hits += int((spans.holds(x, z, y) & spans.holds(y, z, x)).sum())
    return max(hits / len(trio) * comb(k, 3), float(len(triplets))), False


# -- pairs ---------------------------------------------------------------------------------------------------------


def grow_links(
    n: int, must: IntArray, cannot: IntArray, weight: FloatArray, must_at: IntArray, cannot_at: IntArray, m: int
) -> tuple[IntArray, FloatArray]:
    """Choose up to m links that decide many pairs: statement positions and gains, must-links first.

    ``must_at`` and ``cannot_at`` say where the links stand among all statements, whose weights are given.
    """
    heavy = np.argsort(-weight[must_at], kind="stable")
    joined = heavy[_growing(n, must[heavy])]
    order = np.argsort(-weight[cannot_at], kind="stable")
    cannot, cannot_at = cannot[order], cannot_at[order]
    most = min(m, len(joined))
    best: tuple[float, int, IntArray, IntArray] | None = None
    for taken in np.unique(np.linspace(0, most, _DIVISIONS).round().astype(np.intp))[::-1]:
        group: IntArray = components(n, must[joined[:taken]])
        size = np.bincount(group, minlength=1)
        apart, worth = _largest(group, size, cannot, m - int(taken))
        total = float((size * (size - 1) // 2).sum() + worth.sum())
        if best is None or total > best[0]:
            best = total, int(taken), apart, worth
    if best is None:  # linspace is never empty
        return np.empty(0, np.intp), np.empty(0)
    _, taken, apart, worth = best
    links = joined[:taken]
    gain = np.concatenate([_union_gains(n, must[links]), worth]).astype(np.float64)
    return np.concatenate([must_at[links], cannot_at[apart]]), gain


def _growing(n: int, pairs: IntArray) -> IntArray:
    """A spanning forest in which each group is grown link by link before the next, the largest group first."""
    group: IntArray = components(n, pairs)
    size = np.bincount(group, minlength=1)
    start = np.zeros(n + 1, dtype=np.intp)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    np.cumsum(np.bincount(both[:, 0], minlength=n), out=start[1:])
    order = np.argsort(both[:, 0], kind="stable")
    seeds = np.argsort(-size[group], kind="stable")  # stable: a group's first member comes first
    return np.asarray(_grown(start, both[order, 1].copy(), order % max(len(pairs), 1), seeds))


def _largest(group: IntArray, size: IntArray, cannot: IntArray, m: int) -> tuple[IntArray, IntArray]:
    """Return the m cannot-links between different pairs of groups that decide most, earlier first, and their gains."""
    ends = group[cannot]
    n = len(size)
    _, one = np.unique(ends.min(axis=1, initial=n) * n + ends.max(axis=1, initial=0), return_index=True)
    one = np.sort(one)
    worth = size[ends[one, 0]] * size[ends[one, 1]]
    best = np.argsort(-worth, kind="stable")[:m]
    return one[best], worth[best]
