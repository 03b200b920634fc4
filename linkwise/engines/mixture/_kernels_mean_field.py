"""Mean-field inference: expected factors of pairs, sweeps over blocks, and labels that no block can better."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.engines.mixture._kernels_elimination import Plan
from linkwise.engines.mixture._kernels_tables import one_best, one_marginal

_SETTLED = 1e-5
Near = tuple[IntArray, IntArray, FloatArray, FloatArray]


@njit
def expected_factors(near: Near, chance: FloatArray) -> float:
    """Expected log-factors of all pairs, each counted once, under independent labels."""
    start, to, same, other = near
    total = 0.0
    for t in range(len(chance)):
        for e in range(start[t], start[t + 1]):
            if to[e] > t:
                together = 0.0
                for x in range(chance.shape[1]):
                    together += chance[t, x] * chance[to[e], x]
                total += other[e] + (same[e] - other[e]) * together
    return total


@njit
def sweep(
    plan: Plan,
    near: Near,
    block: IntArray,
    unary: FloatArray,
    chance: FloatArray,
    inner: FloatArray,
    waiting: BoolArray,
    listen: bool,
) -> None:
    """Give every waiting block in turn its best beliefs under the averages of the others.

    A block whose beliefs change makes its neighbors wait. ``inner`` gets the entropy of each block plus the expected
    log-factors inside it. With ``listen=False`` blocks do not look at others, which makes a beginning.
    """
    k = unary.shape[1]
    start, to, same, other = near
    table, message = np.empty(plan.scratch), np.empty(plan.scratch // k + 1)
    digit, stride = np.empty(plan.widest, np.int64), np.empty(plan.widest, np.int64)
    field, before = np.empty(unary.shape), chance.copy()
    for c in range(len(plan.first) - 1):
        if not waiting[c]:
            continue
        waiting[c] = False
        for t in range(plan.first[c], plan.first[c + 1]):
            for x in range(k):
                field[t, x] = unary[t, x]
                if listen:
                    for e in range(start[t], start[t + 1]):
                        field[t, x] += other[e] + (same[e] - other[e]) * chance[to[e], x]
        inner[c] = one_marginal(plan, c, field, chance, table, message, digit, stride)
        for t in range(plan.first[c], plan.first[c + 1]):
            change = 0.0
            for x in range(k):
                inner[c] -= chance[t, x] * field[t, x]
                change = max(change, abs(chance[t, x] - before[t, x]))
            if change > _SETTLED:
                for e in range(start[t], start[t + 1]):
                    waiting[block[to[e]]] = True


@njit
def settle(plan: Plan, near: Near, unary: FloatArray, chance: FloatArray, label: IntArray, most: int) -> None:
    """Put labels into ``label`` that no change of one block betters, beginning from the beliefs."""
    k = unary.shape[1]
    start, to, same, other = near
    table, message = np.empty(plan.scratch), np.empty(plan.scratch // k + 1)
    digit, stride = np.empty(plan.widest, np.int64), np.empty(plan.widest, np.int64)
    field, before = np.empty(unary.shape), np.empty(len(label), np.int64)
    for turn in range(most):
        for t in range(len(label)):
            before[t] = label[t]
        for c in range(len(plan.first) - 1):
            for t in range(plan.first[c], plan.first[c + 1]):
                for x in range(k):
                    field[t, x] = unary[t, x]
                    for e in range(start[t], start[t + 1]):
                        share = chance[to[e], x] if turn == 0 else (1.0 if label[to[e]] == x else 0.0)
                        field[t, x] += other[e] + (same[e] - other[e]) * share
            one_best(plan, c, field, label, table, message, digit, stride)
        if turn > 0 and (before == label).all():
            break
