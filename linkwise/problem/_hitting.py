"""The cheapest choice that hits every contradiction, by implicit hitting sets: linear programmes first, then integers.

Contradictions are not listed in advance. The cheapest way to hit those known so far is computed, contradictions it
misses are looked for, and so on; a choice that misses none is a repair, and no repair is cheaper than what any of the
programmes costs. Fractional choices come first: they are computed faster, and most contradictions that matter show up.
"""

from __future__ import annotations

import time
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

__all__ = ["Conflicts", "hit_conflicts", "packing_bound"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
_TOLERANCE = 1e-6
_ROUNDS = 3  # rounds over which the bound must close a share of the gap for fractions to go on
_SHARE = 0.03


class Conflicts(Protocol):
    """Statements that contradict each other, numbered from 0."""

    fractional: bool
    """Whether `find` uses fractions; otherwise a statement counts as chosen from one half on."""

    def find(self, x: FloatArray, deadline: float) -> list[IntArray]:
        """Contradictions whose members sum to less than 1 in ``x``; none only if there is none, for whole numbers."""

    def complete(self, order: IntArray) -> BoolArray:
        """Insert statements in order and mask those refused."""


class _Programme:
    """The covering programme of the contradictions known so far."""

    def __init__(self, weight: FloatArray, hard: BoolArray | None, n_hard: int) -> None:
        self.weight, self.hard, self.n_hard = weight, hard, n_hard
        self.scale = float(weight.max()) or 1.0
        self.unit = _unit(weight)
        self.known: dict[bytes, int] = {}
        self.rows: list[IntArray] = []
        self.tight = np.zeros(0, dtype=np.bool_)  # rows worth giving to the next linear programme

    def add(self, conflicts: list[IntArray]) -> int:
        """Take in contradictions; return how many the last linear programme did not have."""
        before = len(self.rows)
        again = 0
        for conflict in conflicts:
            key = np.sort(conflict).tobytes()
            row = self.known.setdefault(key, len(self.rows))
            if row == len(self.rows):
                self.rows.append(conflict)
            elif row < before and not self.tight[row]:
                self.tight[row] = True
                again += 1
        self.tight = np.append(self.tight, np.ones(len(self.rows) - before, dtype=np.bool_))
        return len(self.rows) - before + again

    def _matrix(self, rows: list[IntArray]) -> csr_array:
        start = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        member = np.concatenate(rows)
        return csr_array((np.ones(len(member)), member, start), shape=(len(rows), len(self.weight)))

    def solve(self, whole: bool, seconds: float) -> tuple[FloatArray | None, float]:
        """The cheapest choice, or None when time was short, and what no choice undercuts."""
        rows = self.rows if whole else [row for row, tight in zip(self.rows, self.tight, strict=True) if tight]
        used = np.unique(np.concatenate(rows))
        matrix = self._matrix(rows)[:, used]
        low, high = np.ones(len(rows)), np.full(len(rows), np.inf)
        if self.hard is not None:
            matrix = vstack([matrix, csr_array(self.hard[None, used].astype(float))]).tocsr()
            low, high = np.append(low, 0.0), np.append(high, float(self.n_hard))
        answer = milp(
            self.weight[used] / self.scale,
            constraints=LinearConstraint(matrix, low, high),
            integrality=np.full(len(used), int(whole)),
            bounds=Bounds(0, 1),
            options={"time_limit": max(0.05, seconds), "mip_rel_gap": 0.0},
        )
        proven = answer.mip_dual_bound if whole else (answer.fun if answer.status == 0 else None)
        bound = 0.0
        if proven is not None and np.isfinite(proven):
            bound = self.round_up(float(proven) * self.scale)
        if answer.x is None or answer.status != 0:
            return None, bound
        x = np.zeros(len(self.weight))
        x[used] = np.clip(answer.x, 0.0, 1.0)
        if not whole:
            self.tight = self._matrix(self.rows) @ x < 1.2
        return x, bound

    def round_up(self, value: float) -> float:
        """Account for inexact arithmetic, and for costs that come in multiples of a unit."""
        if self.unit:
            return float(np.ceil(value / self.unit * (1 - 1e-9) - _TOLERANCE)) * self.unit
        return value * (1 - 1e-9)


def _unit(weight: FloatArray) -> float:
    """The least positive weight if all others are multiples of it, else 0."""
    positive = weight[weight > 0]
    if not len(positive):
        return 0.0
    unit = float(positive.min())
    ratio = positive / unit
    return unit if ratio.sum() < 2**40 and (ratio == np.round(ratio)).all() else 0.0


def packing_bound(conflicts: list[IntArray], weight: FloatArray) -> float:
    """What disjoint contradictions cost at least: each takes as much as its members still have, short ones first."""
    left = weight.copy()
    total = 0.0
    for conflict in sorted(conflicts, key=len):
        share = float(left[conflict].min())
        if share > 0:
            left[conflict] -= share
            total += share
    return total


def hit_conflicts(
    conflicts: Conflicts, price: FloatArray, hard: BoolArray, n_hard: int, off: BoolArray, deadline: float
) -> tuple[BoolArray, float]:
    """Improve the repair ``off`` to the cheapest with ``n_hard`` hard statements dropped; return it and a lower bound.

    Mixed prices are met in two steps, the number of hard statements first, so that the programmes never see numbers of
    very different size.
    """
    mixed = bool(hard.any() and not hard.all())
    weight = np.where(hard, 0.0, price) if mixed else price
    base = n_hard * float(price.max()) if mixed else 0.0
    programme = _Programme(weight, hard if mixed else None, n_hard)
    whole = not conflicts.fractional
    x = np.zeros(len(price))
    bound, history = base, [base]
    while time.monotonic() < deadline:
        found = conflicts.find(x, deadline)
        if not found and (whole or not programme.rows):
            off = _cheaper(off, conflicts.complete(np.lexsort((-price, x))), price)
            return off, float(price[off].sum())
        fresh = programme.add(found)
        if whole and not fresh:  # the solver's tolerance let pass what it had been told
            break
        if not mixed and len(history) == 1:
            bound = max(bound, packing_bound(programme.rows, weight) * (1 - 1e-9))
        gap = float(price[off].sum()) - bound
        slow = len(history) > _ROUNDS and bound - history[-1 - _ROUNDS] < _SHARE * gap
        whole = whole or not fresh or slow
        solution, proven = programme.solve(whole, deadline - time.monotonic())
        bound = max(bound, base + proven)
        history.append(bound)
        if solution is None:
            break
        x = np.round(solution) if whole else solution
        # A choice completed to a repair may beat the best one known.
        off = _cheaper(off, conflicts.complete(np.lexsort((-price, np.round(x, 6)))), price)
        if float(price[off].sum()) <= bound * (1 + 1e-9):
            return off, float(price[off].sum())
    return off, bound


def _cheaper(off: BoolArray, other: BoolArray, price: FloatArray) -> BoolArray:
    return other if price[other].sum() < price[off].sum() else off
