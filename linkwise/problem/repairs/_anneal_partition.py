"""The partition that breaks the least weight of contradicting pairs: annealing that moves samples and branches.

A step takes one sample, or the branch of its cluster that hangs on it when one of its must-links is cut, and looks at
all clusters it has statements about, and at a cluster of its own. Branches matter because answers are few: clusters are
chains of must-links more than dense heaps, and a chain does not move sample by sample.
"""

from __future__ import annotations

import numpy as np

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.problem.repairs._cooling import cooling
from linkwise.problem.repairs._kernels_anneal_partition import _anneal
from linkwise.problem.statements import Budget


def broken_in(label: IntArray, pairs: IntArray, is_must: BoolArray) -> BoolArray:
    """Mask the must-links across clusters and the cannot-links inside them."""
    broken: BoolArray = (label[pairs[:, 0]] == label[pairs[:, 1]]) != is_must
    return broken


def best_partition(
    pairs: IntArray,
    is_must: BoolArray,
    weight: FloatArray,
    label: IntArray,
    budget: Budget,
    rng: np.random.Generator,
) -> IntArray:
    """Search for the partition that breaks the least weight; labels no worse than those given.

    Parameters
    ----------
    pairs : ndarray of intp, shape (m, 2)
        Statements about samples ``0 .. n - 1``.
    is_must : ndarray of bool, shape (m,)
        Which are must-links; the others are cannot-links.
    weight : ndarray of float64, shape (m,)
        Cost of breaking each.
    label : ndarray of intp, shape (n,)
        The clusters to start from, numbered below n.
    budget : Budget
        Counted work after which to stop. Before that the search stops by itself once two coolings in a row, each twice
        as slow as the one before, have found nothing better.
    rng : Generator

    Notes
    -----
    **Cost** one step is linear in the statements of what moves; a cooling is 30 steps per sample, and doubles.
    **Guarantee** none beyond the start; the same generator and budget give the same labels.
    """
    n = len(label)
    ends = np.concatenate([pairs[:, 0], pairs[:, 1]])
    signed = np.tile(np.where(is_must, weight, -weight), 2)
    order = np.lexsort((signed < 0, ends))
    start = np.zeros(n + 1, dtype=np.intp)
    np.cumsum(np.bincount(ends, minlength=n), out=start[1:])
    links = np.bincount(ends[signed > 0], minlength=n).astype(np.intp)
    other = np.concatenate([pairs[:, 1], pairs[:, 0]])[order]
    value = signed[order]
    now, best = label.copy(), label.copy()
    inside = label[pairs[:, 0]] == label[pairs[:, 1]]
    held = float(np.where(is_must, weight, -weight)[inside].sum())
    state = np.array([held, held, 0.0])

    def run(hot: float, cold: float, steps: int, begin: int, stop: int) -> tuple[float, float]:
        state[2] = 0.0
        _anneal(now, best, start, links, other, value, hot, cold, steps, begin, stop, state, rng)
        return float(state[1]), float(state[2])

    cooling(run, weight, n, 50_000, budget)
    return best
