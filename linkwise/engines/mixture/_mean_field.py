"""Mean field inference for wide components: blocks are exact inside and depend on the averages of other blocks."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.engines.mixture._elimination import Plan
from linkwise.engines.mixture._exact import divide
from linkwise.engines.mixture._factors import Chunklets
from linkwise.engines.mixture._kernels_tables import one_best, one_marginal

_SETTLED = 1e-5


class MeanField:
    """Beliefs about chunklets in wide components that factor over blocks: chunklets that hard cannot-links connect.

    Soft statements inside a block are exact, those between blocks are met on average. Beliefs are kept from one E-step
    to the next, so that the objective cannot fall.
    """

    def __init__(self, graph: Chunklets, nodes: IntArray, k: int, max_states: int, n_sweeps: int, who: str) -> None:
        inner = np.isin(graph.pairs[:, 0], nodes)
        ends = np.searchsorted(nodes, graph.pairs)
        ends[~inner] = 0
        forbids = inner & (graph.same == -np.inf)
        block = components(len(nodes), np.ascontiguousarray(ends[forbids]))
        within = inner & (block[ends[:, 0]] == block[ends[:, 1]])
        exact, wide = divide(graph, nodes, within, k, max_states, tables_only=True)
        if len(wide.node):
            what = "one connected set of hard cannot-links (and the soft statements inside it)"
            wide.refuse(what, k, max_states, who)
        self.node, self.plan, self.block, self.n_sweeps = exact.node, exact.plan, exact.component, n_sweeps
        row = np.empty(graph.n, dtype=np.intp)
        row[exact.node] = np.arange(len(exact.node))
        between = inner & ~within
        self.near = neighbors(row[graph.pairs[between]], graph.same[between], graph.other[between], len(exact.node))
        self.chance: FloatArray | None = None

    def forget(self) -> None:
        """Start again."""
        self.chance = None

    def expect(self, unary: FloatArray) -> tuple[float, FloatArray]:
        """Improve the beliefs block by block; return the bound they give and the label probabilities of each row."""
        self.chance, inner = self._improve(unary, self.chance)
        value = float((self.chance * unary).sum() + inner.sum()) + expected_factors(self.near, self.chance)
        return value, self.chance

    def _improve(self, unary: FloatArray, chance: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        inner = np.zeros(len(self.plan.first) - 1)
        waiting = np.ones(len(inner), dtype=np.bool_)
        if chance is None:
            chance = np.zeros_like(unary)
            sweep(self.plan, self.near, self.block, unary, chance, inner, waiting, False)
            waiting[:] = True
        else:
            chance = chance.copy()
        for _ in range(self.n_sweeps):
            if not waiting.any():
                break
            sweep(self.plan, self.near, self.block, unary, chance, inner, waiting, True)
        return chance, inner

    def decide(self, unary: FloatArray) -> IntArray:
        """Return labels that no change within one block betters; every hard statement holds."""
        chance = self.chance if self.chance is not None else self._improve(unary, None)[0]
        label = np.zeros(len(unary), dtype=np.intp)
        settle(self.plan, self.near, unary, chance, label, 100)
        return label


Near = tuple[IntArray, IntArray, FloatArray, FloatArray]


def neighbors(pairs: IntArray, same: FloatArray, other: FloatArray, n: int) -> Near:
    """List the neighbors of each row with their log-factors: starts, neighbors, for equal and different labels."""
    both = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.lexsort((both[:, 1], both[:, 0]))
    start = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=n))]).astype(np.intp)
    to = np.ascontiguousarray(both[order, 1])
    return start, to, np.concatenate([same, same])[order], np.concatenate([other, other])[order]


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
