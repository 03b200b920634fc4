"""Counted work: what a search may spend, so that it ends at the same place on every machine.

A search counts its steps (edges followed, positions read, branches opened), weighted so that `STEPS` of them take
about one second on one core of a common machine. A slow or busy machine takes longer and finds the same. Only where a
caller asks for a time limit does a clock have a say, and then the budget remembers that the clock ended the search.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from linkwise.exceptions import LinkwiseError

STEPS = 100_000_000  # in one unit of work


class _Clock:
    """The time limit a caller asked for, and whether it ended a search that had work left."""

    def __init__(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds
        self.cut = False

    def rang(self) -> bool:
        """Whether the time is over; remembered as the reason why a search ended."""
        self.cut |= time.monotonic() >= self.deadline
        return self.cut


class Budget:
    """Work that a search may spend, in units of about a second; ``inf`` for a search that ends by itself.

    After ``time_limit`` seconds the search ends even if work is left; by default no clock is read. **Guarantee**
    without a time limit `over` depends on what was spent and on nothing else. The search that spends the last of it may
    overdraw: work is looked at between steps, and some steps are large.
    """

    def __init__(self, units: float, time_limit: float | None = None) -> None:
        self._steps = units * STEPS
        self._spent = 0.0
        self._clock = None if time_limit is None else _Clock(time_limit)
        self._above: Budget | None = None

    def spend(self, steps: float) -> None:
        """Count steps, here and in the budgets this one is a share of."""
        budget: Budget | None = self
        while budget is not None:
            budget._steps -= steps
            budget._spent += steps
            budget = budget._above

    def share(self, units: float) -> Budget:
        """A budget of at most ``units``, spent out of this one."""
        part = Budget(max(0.0, min(units, self.left)))
        part._clock, part._above = self._clock, self
        return part

    @property
    def left(self) -> float:
        """Units not spent yet; negative when overdrawn."""
        return self._steps / STEPS

    @property
    def spent(self) -> float:
        """Units spent so far."""
        return self._spent / STEPS

    @property
    def over(self) -> bool:
        """Whether to stop: nothing is left, or the time limit has passed."""
        return self._steps <= 0 or (self._clock is not None and self._clock.rang())

    @property
    def cut(self) -> bool:
        """Whether the time limit ended a search that had work left."""
        return self._clock is not None and self._clock.cut

    @property
    def seconds(self) -> float | None:
        """Seconds until the time limit, to hand to a solver; None without one."""
        return None if self._clock is None else max(0.05, self._clock.deadline - time.monotonic())


def read_limits(budget: Any, time_limit: Any, who: str) -> Budget:
    """Make a budget of what a caller asked for; refuse values that are not numbers from 0 on."""
    for name, value in (("budget", budget), ("time_limit", time_limit)):
        if value is None and name == "time_limit":
            continue
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)) or not value >= 0:
            what = "units of counted work" if name == "budget" else "seconds, or None for counted work alone"
            msg = f"{who}: {name} is {value!r}, expected a number >= 0: {what}."
            raise LinkwiseError(msg)
    return Budget(float(budget), None if time_limit is None else float(time_limit))
