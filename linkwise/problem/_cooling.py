"""The schedule both annealing searches follow: from hot to cold, slower and slower, until that no longer pays."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["cooling"]

_SWEEPS = 30
_PATIENCE = 2


def cooling(
    run: Callable[[float, float, int, int, int], float],
    weight: npt.NDArray[np.float64],
    moving: int,
    slice_of: int,
    deadline: float,
) -> None:
    """Call ``run(hot, cold, steps, begin, stop)`` for slices of coolings; it returns the best value so far.

    The first cooling takes 30 steps per moving part for weights of one size, more in proportion to the logarithm of
    their range; each further one takes twice as many. The search ends when two in a row found nothing better, or at the
    deadline, which is looked at between slices. A first sweep in the cold shows how long steps take; when time is short
    the first cooling is made to fit it, since a quick one that ends is worth more than a slow one that does not.
    """
    light = float(np.quantile(weight, 0.1))
    hot, cold = 0.8 * float(weight.max()), 0.12 * light
    steps = int(_SWEEPS * moving * np.log(hot / cold) / np.log(0.8 / 0.12))
    began = time.monotonic()
    if began > deadline:
        return
    probe = min(slice_of, moving)
    run(cold, cold, probe, 0, probe)
    rate = probe / max(time.monotonic() - began, 1e-9)
    steps = min(steps, max(1, int(min(1e15, 0.9 * rate * (deadline - time.monotonic())))))
    best, idle = -np.inf, 0
    while idle < _PATIENCE:
        before = best
        for begin in range(0, steps, slice_of):
            if time.monotonic() > deadline:
                return
            best = run(hot, cold, steps, begin, min(begin + slice_of, steps))
        idle = 0 if best > before else idle + 1
        steps *= 2
