"""The cooling schedule of both annealing searches: each cooling is slower, until that brings no gain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise._typing import FloatArray
from linkwise.problem.statements import STEPS, Budget

_SWEEPS = 30
_PATIENCE = 2


def cooling(
    run: Callable[[float, float, int, int, int], tuple[float, float]],
    weight: FloatArray,
    moving: int,
    slice_of: int,
    budget: Budget,
) -> None:
    """Call ``run(hot, cold, steps, begin, stop)`` for slices of coolings.

    It returns the best value so far and the work of the slice, which is spent from the budget. The first cooling takes
    30 steps per moving part for weights of one size, more in proportion to the logarithm of their range; each further
    one takes twice as many. The search ends when two in a row found nothing better, or with the budget, which is looked
    at between slices. A first sweep in the cold shows what steps take; when the budget is small the first cooling is
    made to fit it, since a quick one that ends is worth more than a slow one that does not.
    """
    light = float(np.quantile(weight, 0.1))
    hot, cold = 0.8 * float(weight.max()), 0.12 * light
    steps = int(_SWEEPS * moving * np.log(hot / cold) / np.log(0.8 / 0.12))
    if budget.over:
        return
    probe = min(slice_of, moving)
    work = max(1.0, run(cold, cold, probe, 0, probe)[1])
    budget.spend(work)
    steps = min(steps, max(1, int(min(1e15, 0.9 * budget.left * STEPS / (work / probe)))))
    best, idle = -np.inf, 0
    while idle < _PATIENCE:
        before = best
        for begin in range(0, steps, slice_of):
            if budget.over:
                return
            best, work = run(hot, cold, steps, begin, min(begin + slice_of, steps))
            budget.spend(work)
        idle = 0 if best > before else idle + 1
        steps *= 2
