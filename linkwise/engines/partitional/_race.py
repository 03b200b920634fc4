"""A race of starts: several run a few steps of plain k-means, and where the best one got a method goes on.

Which of two starts leads to the better end shows early, long before either is there. So many starts cost little more
than one, where running each to its end and keeping the best would cost as many runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from linkwise._typing import FloatArray
from linkwise.engines.distances import is_small, means, nearest
from linkwise.engines.partitional._init import Start
from linkwise.engines.partitional._kernels_sweep import _advance

RACE = "race"  # the word for it in place of a number of runs
RUNNERS = 8  # starts that take part
STEPS = 6  # assignments each of them makes
_ROWS = 20_000  # rows on which they are judged, drawn by chance where there are more


def race(start: Start) -> list[FloatArray]:
    """Return where several starts are after a few steps, the one that fits best first; of equals the first drawn.

    Notes
    -----
    **Cost** that of `RUNNERS` draws of centers, and of ``RUNNERS * STEPS`` assignments of at most 20,000 rows to their
    nearest centers. **Guarantee** the same generator, the same order. What is to be apart is not looked at: this finds
    where to begin.
    """
    X, weight, rng = start.cloud.X, start.cloud.weight, start.rng
    if len(weight) > _ROWS:
        rows = np.sort(rng.choice(len(weight), _ROWS, replace=False))
        X, weight = X[rows], weight[rows]
    runners = [advance(X, weight, start.centers(), STEPS) for _ in range(RUNNERS)]
    order = np.argsort([cost for cost, _ in runners], kind="stable")
    return [runners[i][1] for i in order.tolist()]


def advance(X: Any, weight: FloatArray, centers: FloatArray, steps: int) -> tuple[float, FloatArray]:
    """Make a few steps of plain weighted k-means; return the cost of the last assignment, and the centers after it.

    A center to which no row is nearest stays where it is.
    """
    if not scipy.sparse.issparse(X) and is_small(X, centers):
        moved = np.array(centers)
        return _advance(X, weight, moved, steps), moved
    cost = np.zeros(len(weight))
    for _ in range(steps):
        labels, cost = nearest(X, centers)
        centers = means(X, weight, labels, len(centers), otherwise=centers)
    return float(weight @ cost), centers
