"""Contradictions of a table with choices, for repairs by hitting sets: a statement is kept or dropped as a whole."""

from __future__ import annotations

import numpy as np

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints
from linkwise.problem.explain import minimal_core
from linkwise.problem.feasibility import Choices, make_choices
from linkwise.problem.statements import STEPS, Budget, Hard
from linkwise.problem.triplets import blocks_or_none

_QUICK = 0.25  # units for one test of feasibility


class ChoiceConflicts:
    """Hard statements, choices among them, that may contradict each other; `sure` tells whether all tests were decided.

    A set of statements whose test was not decided within its budget counts as contradictory, so that what is kept holds
    together in any case.
    """

    fractional = False

    def __init__(self, table: Constraints) -> None:
        self.n = table.n_statements
        self._hard, self._choices = Hard.of(table), Choices.of(table)
        self.sure = True

    def hold(self, numbers: IntArray, budget: Budget) -> bool | None:
        """Whether some statements can hold together; None if that was not decided."""
        hard, choices = self._hard.only(numbers), self._choices.only(numbers)
        budget.spend(hard.steps)
        if blocks_or_none(hard) is None:
            return False
        if not len(choices):
            return True
        quick = Budget(_QUICK)  # of its own, as the greedy repair goes on where the budget is used up
        status = make_choices(hard, choices, None, quick).status
        budget.spend(quick.spent * STEPS)
        self.sure &= status != "unknown"
        return None if status == "unknown" else status == "feasible"

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
