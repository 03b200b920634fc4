"""A race of initializations: each runs a few steps of plain k-means, and a method continues from the best.

A good start can be recognized early, long before its run converges. Many starts therefore cost little more than one,
where running each of them to the end would cost as many runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from linkwise._typing import FloatArray
from linkwise.engines.distances import is_small, means, nearest
from linkwise.engines.partitional._init import Start
from linkwise.engines.partitional._kernels_sweep import _advance

RACE = "race"  # value of n_init in place of a number of runs
RUNNERS = 8  # starts that take part
STEPS = 6  # assignments each of them makes
_ROWS = 20_000  # rows on which they are compared, drawn at random if there are more


def race(start: Start) -> list[FloatArray]:
    """Return the centers of several starts after a few steps, best fit first; equals in the order drawn.

    Notes
    -----
    **Cost** that of `RUNNERS` draws of centers, and of ``RUNNERS * STEPS`` assignments of at most 20,000 rows to their
    nearest centers. **Guarantee** the same generator gives the same order. Cannot-links are ignored, as the result is
    only a start.
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
