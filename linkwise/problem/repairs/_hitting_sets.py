"""Implicit hitting sets: the cheapest choice that hits every contradiction, by linear and integer programmes.

Contradictions are not listed in advance. The cheapest way to hit those known so far is computed, contradictions it
misses are looked for, and so on; a choice that misses none is a repair, and no repair is cheaper than what any of the
programmes costs. Fractional choices come first: they are computed faster, and most contradictions that matter show up.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array, vstack

from linkwise._sparse import fractional_programme, integer_programme, narrow
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.problem.statements import STEPS, Budget

_TOLERANCE = 1e-6
_MANY = 200
_ENTRIES = 15_000  # of a linear programme that is solved with a unit of work or less
_LOOK = 0.3  # share of the budget left that one look for contradictions may take
_ROUNDS = 5  # rounds over which the bound must close a share of the gap for fractions to go on
_SHARE = 0.02
_PATIENCE = 0.4  # share of the budget left that whole numbers may take before fractions come back
_CALL, _SIMPLEX, _INTERIOR = 500_000, 4, 70  # steps of a call, and for each entry in each iteration of a method
_ROOT, _OPEN, _WIDE = 8.0, 150, 10_000  # units of work at the root, with that many undecided statements and entries
_SOLVED = 0.8  # share of these where the root is all it takes


class Conflicts(Protocol):
    """Statements that contradict each other, numbered from 0."""

    fractional: bool
    """Whether `find` uses fractions; otherwise a statement counts as chosen from one half on."""

    def find(self, x: FloatArray, budget: Budget) -> list[IntArray]:
        """Contradictions whose members sum to less than 1 in ``x``; none only if there is none, for whole numbers."""

    def complete(self, order: IntArray, budget: Budget) -> BoolArray:
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

    def _fit(self, units: float) -> None:
        """Give up the longest rows if a programme of all would take too much; its solver does not stop by itself."""
        length = np.array([len(row) for row in self.rows])
        order = np.lexsort((length, ~self.tight))[: int(self.tight.sum())]
        affordable = np.cumsum(length[order]) <= _ENTRIES * max(units, 0.0) ** (2 / 3)
        self.tight[order[1:][~affordable[1:]]] = False

    def _fill(self) -> None:
        """Take the shortest rows back in: integers gain from rows that fractions satisfy anyway, up to a size."""
        length = np.array([len(row) for row in self.rows])
        order = np.lexsort((length, ~self.tight))
        self.tight[order] |= np.cumsum(length[order]) <= _ENTRIES

    def _matrix(self, rows: list[IntArray]) -> csr_array:
        start = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        member = np.concatenate(rows)
        return narrow(csr_array((np.ones(len(member)), member, start), shape=(len(rows), len(self.weight))))

    def solve(self, whole: bool, budget: Budget) -> tuple[FloatArray | None, bool, float]:
        """A choice if the budget was enough for one, whether it is the cheapest, and a lower bound on its cost."""
        if whole:
            self._fill()
        else:
            self._fit(budget.left)
        rows = [row for row, tight in zip(self.rows, self.tight, strict=True) if tight]
        used = np.unique(np.concatenate(rows))
        matrix, limit = self._matrix(rows)[:, used], np.ones(len(rows))
        if self.hard is not None:  # no more than n_hard of the hard statements
            matrix = vstack([matrix, csr_array(-self.hard[None, used].astype(float))]).tocsr()
            limit = np.append(limit, -float(self.n_hard))
        weight = self.weight[used] / self.scale
        answer = _fractions(weight, matrix, limit, budget)
        if whole and answer.choice is not None:
            answer = _whole(weight, matrix, limit, answer, budget)
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


def _whole(weight: FloatArray, matrix: csr_array, limit: FloatArray, relaxed: _Answer, budget: Budget) -> _Answer:
    """The integer programme, given its answer in fractions, which comes back where whole numbers would take too much.

    The solver counts branches but works off the root whatever it takes: next to nothing where fractions decided most
    statements, minutes where they did not. So the work at the root is guessed from the undecided ones (fitted to
    programmes of 1,000 to 15,000 entries), and it is not begun where the budget is smaller.
    """
    choice = np.zeros(0) if relaxed.choice is None else relaxed.choice
    undecided = int(((choice > _TOLERANCE) & (choice < 1 - _TOLERANCE)).sum())
    if not undecided:
        return relaxed._replace(choice=np.round(choice))
    root = _ROOT * (undecided / _OPEN) ** 2 * (0.5 + matrix.nnz / _WIDE)
    if root > budget.left:
        return relaxed._replace(exact=False)
    branch = root / 6 * min(1.0, matrix.nnz / 2_000) + _CALL / STEPS
    nodes = 1 + int(np.clip((budget.left - root) / branch, 0, 1e8))
    clock = {} if budget.seconds is None else {"time_limit": budget.seconds}
    found = integer_programme(weight, matrix, limit, np.inf, node_limit=nodes, mip_rel_gap=0.0, **clock)
    further = max(0, (found.mip_node_count or 0) - 1)
    budget.spend(_CALL + STEPS * (root * (_SOLVED if found.status == 0 and not further else 1.0) + further * branch))
    proven = found.mip_dual_bound
    bound = float(proven) if proven is not None and np.isfinite(proven) else 0.0
    choice = choice if found.x is None else np.clip(np.round(found.x), 0.0, 1.0)
    return _Answer(choice, found.status == 0, max(bound, relaxed.bound))


def _fractions(weight: FloatArray, matrix: csr_array, limit: FloatArray, budget: Budget) -> _Answer:
    """The linear programme. Covering programmes of some size are degenerate, which interior points mind less."""
    method = "highs-ipm" if len(limit) > _MANY else "highs-ds"
    clock = {} if budget.seconds is None else {"time_limit": budget.seconds}
    found = fractional_programme(weight, matrix, limit, method=method, **clock)
    budget.spend(_CALL + (_INTERIOR if method == "highs-ipm" else _SIMPLEX) * (found.nit or 0) * matrix.nnz)
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
    """Return a lower bound by disjoint contradictions: each takes what its members have left, short ones first."""
    left = weight.copy()
    total = 0.0
    for conflict in sorted(conflicts, key=len):
        share = float(left[conflict].min())
        if share > 0:
            left[conflict] -= share
            total += share
    return total


def hit_conflicts(
    conflicts: Conflicts, price: FloatArray, hard: BoolArray, n_hard: int, off: BoolArray, budget: Budget
) -> tuple[BoolArray, float]:
    """Improve the repair ``off`` to the cheapest with ``n_hard`` hard statements dropped; return it and a lower bound.

    Mixed prices are met in two steps, the number of hard statements first, so that the programmes never see numbers of
    very different size.
    """
    mixed = bool(hard.any() and not hard.all())
    weight = np.where(hard, 0.0, price) if mixed else price
    base = n_hard * float(price.max()) if mixed else 0.0
    programme = _Programme(weight, hard if mixed else None, n_hard)
    whole, exact, settled = not conflicts.fractional, True, False
    x = np.zeros(len(price))
    bound, history = base, [0.0]
    while not budget.over:
        found = conflicts.find(x, budget.share(_LOOK * budget.left))
        if not found and exact and (whole or not programme.rows):
            off = _cheaper(off, conflicts.complete(np.lexsort((-price, x)), budget), price)
            return off, float(price[off].sum())
        fresh = programme.add(found)
        if whole and exact and not fresh:  # the solver's tolerance let pass what it had been told
            break
        if not mixed and len(history) == 1:
            bound = packing_bound(programme.rows, weight) * (1 - 1e-9)
        if exact:
            slow = len(history) > _ROUNDS and history[-1] - history[-1 - _ROUNDS] < _SHARE * (price[off].sum() - bound)
            settled = not fresh
            whole = whole or settled or slow
        elif settled and not fresh:  # neither fractions nor whole numbers have anything to add
            break
        else:  # whole numbers took too much: fractions again, with what the unfinished choice has shown
            whole, history = not conflicts.fractional, history[-1:]
        patient = whole and conflicts.fractional and not settled
        most = max(1.0, _PATIENCE * budget.left) if patient else budget.left
        solution, exact, proven = programme.solve(whole, budget.share(most))
        bound = max(bound, base + programme.round_up(proven))
        history.append(proven)
        if solution is None:
            break
        x = solution
        # A choice completed to a repair may beat the best one known.
        off = _cheaper(off, conflicts.complete(np.lexsort((-price, np.round(x, 6))), budget), price)
        if float(price[off].sum()) <= bound * (1 + 1e-9):
            return off, float(price[off].sum())
    return off, bound


def _cheaper(off: BoolArray, other: BoolArray, price: FloatArray) -> BoolArray:
    return other if price[other].sum() < price[off].sum() else off
