"""Inference in wide components, whose exact tables would be too large: mean field and Gibbs sampling."""

from __future__ import annotations

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.mixture._exact import divide
from linkwise.engines.mixture._factors import Chunklets
from linkwise.engines.mixture._kernels_gibbs import sample_labels
from linkwise.engines.mixture._kernels_mean_field import Near, expected_factors, settle, sweep


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


def neighbors(pairs: IntArray, same: FloatArray, other: FloatArray, n: int) -> Near:
    """List the neighbors of each row with their log-factors: starts, neighbors, for equal and different labels."""
    both = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.lexsort((both[:, 1], both[:, 0]))
    start = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=n))]).astype(np.intp)
    to = np.ascontiguousarray(both[order, 1])
    return start, to, np.concatenate([same, same])[order], np.concatenate([other, other])[order]


class Gibbs:
    """Sampled beliefs about chunklets in wide components.

    Every E-step begins at the best labeling known and draws the same random numbers, so that EM can come to rest.
    ``label`` is a labeling in which all hard statements hold.
    """

    def __init__(self, graph: Chunklets, nodes: IntArray, label: IntArray, n_sweeps: int, seed: int) -> None:
        self.node, self.n_sweeps, self.seed = nodes, n_sweeps, seed
        inner = np.isin(graph.pairs[:, 0], nodes)
        ends = np.searchsorted(nodes, graph.pairs[inner])
        self.near = neighbors(ends, graph.same[inner], graph.other[inner], len(nodes))
        self.allowed = label.astype(np.intp)
        self.forget()

    def forget(self) -> None:
        """Start again."""
        self.label = self.allowed.copy()

    def expect(self, unary: FloatArray) -> tuple[float, FloatArray]:
        """Return the log-weight of the best labeling seen, a lower bound of the log-sum, and sampled probabilities."""
        chance = np.zeros_like(unary)
        value = sample_labels(np.random.default_rng(self.seed), self.near, unary, self.label, chance, self.n_sweeps)
        return value, chance

    def decide(self, unary: FloatArray) -> IntArray:
        """Return the best labeling seen; no change of one label betters it."""
        label = self.label.copy()
        sample_labels(np.random.default_rng(self.seed), self.near, unary, label, np.zeros_like(unary), self.n_sweeps)
        return label
