"""Repairs where only tests of whole sets tell a contradiction: tables with choices, and a number of clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from linkwise._messages import some_of
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints
from linkwise.problem.explain import Expansion, minimal_core
from linkwise.problem.feasibility import Choices, decide_number, make_choices
from linkwise.problem.repairs._hitting_sets import hit_conflicts
from linkwise.problem.statements import STEPS, Budget, Hard
from linkwise.problem.triplets import blocks_or_none

_QUICK = 0.25  # units for one test of feasibility
_BLAME = 0.4  # units for wording why things were dropped


class TestedConflicts(ABC):
    """Things that may contradict each other, found by testing sets of them; `sure`: all tests were decided.

    A set whose test was not decided within its budget counts as contradictory, so that what is kept holds together in
    any case.
    """

    fractional = False

    def __init__(self, n: int) -> None:
        self.n = n
        self.sure = True

    @abstractmethod
    def hold(self, numbers: IntArray, budget: Budget) -> bool | None:
        """Whether some of them can hold together; None if that was not decided."""

    def find(self, x: FloatArray, budget: Budget) -> list[IntArray]:
        """Contradictions without a common member among the statements that are not chosen."""
        left, found = np.flatnonzero(x < 0.5), []
        while len(left) and not budget.over and self.hold(left, budget) is False:
            core, _ = minimal_core(left, lambda some: self.hold(some, budget) is False, budget)
            found.append(core)
            left = np.setdiff1d(left, core)
        return found

    def complete(self, order: IntArray, budget: Budget) -> BoolArray:
        """Insert statements in order, many at once where they hold, and mask those refused."""
        refused = np.ones(self.n, dtype=np.bool_)
        waiting = [order]
        while waiting:
            several = waiting.pop()
            kept = np.flatnonzero(~refused)
            if self.hold(np.append(kept, several), budget):
                refused[several] = False
            elif len(several) > 1:
                first, second = np.array_split(several, 2)
                waiting += [second, first]
        return refused

    def among(self, at: IntArray) -> TestedConflicts:
        """The contradictions among some of these things alone."""
        return _Among(self, at)

    def _test(self, hard: Hard, choices: Choices, k: int | None, budget: Budget) -> bool | None:
        """Whether hard statements and choices can hold, in ``k`` clusters or in any number."""
        block = blocks_or_none(hard)
        if block is None or (k is None and not len(choices)):
            return block is not None
        quick = Budget(_QUICK)  # of its own, as the greedy repair goes on where the budget is used up
        if len(choices):
            status = make_choices(hard, choices, k, quick).status
        else:
            status = decide_number(hard, block, k, reasons=False, budget=quick).status
        budget.spend(quick.spent * STEPS)
        self.sure &= status != "unknown"
        return None if status == "unknown" else status == "feasible"


class _Among(TestedConflicts):
    """Some of the things of others, numbered from 0."""

    def __init__(self, all_: TestedConflicts, at: IntArray) -> None:
        super().__init__(len(at))
        self._all, self._at = all_, at

    def hold(self, numbers: IntArray, budget: Budget) -> bool | None:
        """As the others do, by their numbers there."""
        held = self._all.hold(self._at[numbers], budget)
        self.sure &= held is not None
        return held


class ChoiceConflicts(TestedConflicts):
    """Hard statements, choices among them: each is kept or dropped as a whole."""

    def __init__(self, table: Constraints) -> None:
        super().__init__(table.n_statements)
        self._hard, self._choices = Hard.of(table), Choices.of(table)

    def hold(self, numbers: IntArray, budget: Budget) -> bool | None:
        """Whether some statements can hold together; None if that was not decided."""
        hard, choices = self._hard.only(numbers), self._choices.only(numbers)
        budget.spend(hard.steps)
        return self._test(hard, choices, None, budget)


class NumberConflicts(TestedConflicts):
    """Entries of a table, all hard, that may leave no clustering into ``k`` clusters.

    Virtual samples of an expansion would need clusters of their own once their entries go, so every test looks at the
    statements that the entries left make.
    """

    def __init__(self, expansion: Expansion, k: int) -> None:
        super().__init__(len(expansion.entries))
        self._expansion, self._k = expansion, k

    def hold(self, numbers: IntArray, budget: Budget) -> bool | None:
        """Whether some entries can hold together in that number of clusters; None if that was not decided."""
        gone = np.setdiff1d(np.arange(self.n), numbers)
        table = self._expansion.without(gone)[0].with_weight(np.inf).with_rules()
        hard = Hard.of(table)
        budget.spend(2 * hard.steps)
        return self._test(hard, Choices.of(table), self._k, budget)


def repair_by_tests(
    conflicts: TestedConflicts, price: FloatArray, hard: BoolArray, work: Budget
) -> tuple[BoolArray, float, bool]:
    """The cheapest repair that was found, a lower bound on the cost of any, and whether it is the cheapest of all."""
    off = conflicts.complete(np.argsort(-price, kind="stable"), work)
    bound, n_hard = 0.0, int(off[hard].sum())
    if hard.any() and not hard.all() and n_hard:
        firm = np.flatnonzero(hard)
        alone = conflicts.among(firm)
        fewest, least = hit_conflicts(alone, np.ones(len(firm)), np.zeros(len(firm), np.bool_), 0, off[firm], work)
        n_hard, bound = int(fewest.sum()), float(least) * float(price.max())
        if least < n_hard or not alone.sure:
            work = Budget(0.0)  # how many hard statements have to go is not known, so there is no proof for the rest
    if off.any() and not work.over:
        off, found = hit_conflicts(conflicts, price, hard, n_hard, off, work)
        bound = max(bound, found)
    cost = float(price[off].sum())
    optimal = conflicts.sure and bound >= cost * (1 - 1e-9)
    return off, cost if optimal else min(bound, cost) if conflicts.sure else 0.0, optimal


def blame_by_tests(
    conflicts: TestedConflicts, off: BoolArray, dropped: list[int], describe: Callable[[IntArray], Sequence[str]]
) -> list[str]:
    """Describe which things that are kept each of some dropped ones contradicts."""
    budget, kept, ends = Budget(_BLAME), np.flatnonzero(~off), []
    for one in dropped:

        def against(some: IntArray, dropped: int = one) -> bool:
            return conflicts.hold(np.append(some, dropped), budget) is False

        core = minimal_core(kept, against, budget)[0] if not budget.over and against(kept) else kept[:0]
        others = some_of(describe(core)) if len(core) else "statements that stay"
        ends.append(f": it contradicts {others}.")
    return ends
