"""The cheapest choice that hits every contradiction, by implicit hitting sets: linear programmes first, then integers.

Contradictions are not listed in advance. The cheapest way to hit those known so far is computed, contradictions it
misses are looked for, and so on; a choice that misses none is a repair, and no repair is cheaper than what any of the
programmes costs. Fractional choices come first: they are computed faster, and most contradictions that matter show up.
"""

from __future__ import annotations

import time
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, vstack

__all__ = ["Conflicts", "hit_conflicts", "packing_bound"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
_TOLERANCE = 1e-6
_MANY = 200
_ENTRIES = 15_000  # of a linear programme that is solved in a second or less
_LOOK = 0.3  # share of the time left that one look for contradictions may take
_ROUNDS = 5  # rounds over which the bound must close a share of the gap for fractions to go on
_SHARE = 0.02
_PATIENCE = 0.4  # share of the time left that whole numbers may take before fractions come back


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
        self.tight = np.zeros(0, dtype=np.bool_)  # rows the next programme is given

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

    def _fit(self, seconds: float) -> None:
        """Give up the longest rows if a linear programme of all would take too long; it does not look at the clock."""
        length = np.array([len(row) for row in self.rows])
        order = np.lexsort((length, ~self.tight))[: int(self.tight.sum())]
        affordable = np.cumsum(length[order]) <= _ENTRIES * max(seconds, 0.0) ** (2 / 3)
        self.tight[order[1:][~affordable[1:]]] = False

    def _fill(self) -> None:
        """Take the shortest rows back in: integers gain from rows that fractions satisfy anyway, up to a size."""
        length = np.array([len(row) for row in self.rows])
        order = np.lexsort((length, ~self.tight))
        self.tight[order] |= np.cumsum(length[order]) <= _ENTRIES

    def _matrix(self, rows: list[IntArray]) -> csr_array:
        start = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        member = np.concatenate(rows)
        return csr_array((np.ones(len(member)), member, start), shape=(len(rows), len(self.weight)))

    def solve(self, whole: bool, seconds: float) -> tuple[FloatArray | None, bool, float]:
        """A choice if there was time for one, whether it is the cheapest, and what no choice undercuts."""
        if whole:
            self._fill()
        else:
            self._fit(seconds)
        rows = [row for row, tight in zip(self.rows, self.tight, strict=True) if tight]
        used = np.unique(np.concatenate(rows))
        matrix, limit = self._matrix(rows)[:, used], np.ones(len(rows))
        if self.hard is not None:  # no more than n_hard of the hard statements
            matrix = vstack([matrix, csr_array(-self.hard[None, used].astype(float))]).tocsr()
            limit = np.append(limit, -float(self.n_hard))
        answer = (_whole if whole else _fractions)(self.weight[used] / self.scale, matrix, limit, max(0.05, seconds))
        if answer.choice is None:
            return None, False, answer.bound * self.scale
        x = np.zeros(len(self.weight))
        x[used] = answer.choice
        if not whole:
            self.tight = self._matrix(self.rows) @ x < 1.0 + _TOLERANCE
        return x, answer.exact, answer.bound * self.scale

    def round_up(self, value: float) -> float:
        """Account for inexact arithmetic, and for costs that come in multiples of a unit."""
        if self.unit:
            return float(np.ceil(value / self.unit * (1 - 1e-9) - _TOLERANCE)) * self.unit
        return value * (1 - 1e-9)


class _Answer(NamedTuple):
    choice: FloatArray | None
    exact: bool
    bound: float


def _whole(weight: FloatArray, matrix: csr_array, limit: FloatArray, seconds: float) -> _Answer:
    """The integer programme: at least ``limit`` in every row."""
    found = milp(
        weight,
        constraints=LinearConstraint(matrix, limit, np.inf),
        integrality=np.ones(len(weight)),
        bounds=Bounds(0, 1),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    proven = found.mip_dual_bound
    bound = float(proven) if proven is not None and np.isfinite(proven) else 0.0
    return _Answer(None if found.x is None else np.clip(np.round(found.x), 0.0, 1.0), found.status == 0, bound)


def _fractions(weight: FloatArray, matrix: csr_array, limit: FloatArray, seconds: float) -> _Answer:
    """The linear programme. Covering programmes of some size are degenerate, which interior points mind less."""
    method = "highs-ipm" if len(limit) > _MANY else "highs-ds"
    found = linprog(weight, A_ub=-matrix, b_ub=-limit, bounds=(0, 1), method=method, options={"time_limit": seconds})
    if found.status != 0:
        return _Answer(None, False, 0.0)
    return _Answer(np.clip(found.x, 0.0, 1.0), True, float(found.fun))


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
    whole, exact = not conflicts.fractional, True
    x = np.zeros(len(price))
    bound, history = base, [0.0]
    while time.monotonic() < deadline:
        now = time.monotonic()
        found = conflicts.find(x, now + _LOOK * (deadline - now))
        if not found and exact and (whole or not programme.rows):
            off = _cheaper(off, conflicts.complete(np.lexsort((-price, x))), price)
            return off, float(price[off].sum())
        fresh = programme.add(found)
        if whole and exact and not fresh:  # the solver's tolerance let pass what it had been told
            break
        if not mixed and len(history) == 1:
            bound = packing_bound(programme.rows, weight) * (1 - 1e-9)
        if exact:
            slow = len(history) > _ROUNDS and history[-1] - history[-1 - _ROUNDS] < _SHARE * (price[off].sum() - bound)
            whole = whole or not fresh or slow
        else:  # whole numbers took too long: fractions again, with what the unfinished choice has shown
            whole, history = not conflicts.fractional, history[-1:]
        seconds = deadline - time.monotonic()
        if whole and conflicts.fractional:
            seconds = max(1.0, _PATIENCE * seconds)
        solution, exact, proven = programme.solve(whole, seconds)
        bound = max(bound, base + programme.round_up(proven))
        history.append(proven)
        if solution is None:
            if not whole:
                break
            continue
        x = solution
        # A choice completed to a repair may beat the best one known.
        off = _cheaper(off, conflicts.complete(np.lexsort((-price, np.round(x, 6)))), price)
        if float(price[off].sum()) <= bound * (1 + 1e-9):
            return off, float(price[off].sum())
    return off, bound


def _cheaper(off: BoolArray, other: BoolArray, price: FloatArray) -> BoolArray:
    return other if price[other].sum() < price[off].sum() else off
