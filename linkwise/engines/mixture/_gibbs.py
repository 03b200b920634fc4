"""Gibbs sampling of labels: single chunklets by their conditionals, and swaps of two labels along hard cannot-links."""

from __future__ import annotations

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.mixture._factors import Chunklets
from linkwise.engines.mixture._kernels_gibbs import sample_labels
from linkwise.engines.mixture._mean_field import neighbors


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
