"""Mixing weights under cannot-links: the prior sums over allowed labelings, and its sum depends on the weights."""

from __future__ import annotations

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.mixture._exact import Exact, divide
from linkwise.engines.mixture._factors import Chunklets
from linkwise.engines.mixture._kernels_gaussian import normalize_rows

_STEPS = 60
_FEW_STEPS = 4  # where each is as dear as an E-step: EM comes back to the weights anyway
_CHEAP = 10_000
_LEAST = 600.0  # weights further apart than this (in logarithms) would no longer be positive numbers


class Normalizer:
    """The prior's normalizer Z: the chance that chunklets drawn independently by the weights obey all cannot-links.

    Components that look alike have the same chance, so each shape is computed once and counted. ``power`` is how often
    the weight of its cluster counts for a chunklet: once, or once per sample.
    """

    def __init__(self, graph: Chunklets, exact: Exact, power: FloatArray, k: int, max_states: int) -> None:
        self.power = power
        self.free_power, self.free_count = _free(graph, power)
        node, self.count = _representatives(graph, exact, power)
        chosen = np.zeros(graph.n, dtype=np.bool_)
        chosen[node] = True
        pairs = chosen[graph.pairs[:, 0]] if len(graph.pairs) else np.zeros(0, dtype=np.bool_)
        self.shapes, _ = divide(graph, np.flatnonzero(chosen), pairs, k, max_states)
        count = np.zeros(graph.n)
        count[node] = self.count
        self.row_count = count[self.shapes.node]
        self.row_power = power[self.shapes.node]
        # the E-step asks where the M-step ended, and the M-step begins where the E-step asked
        self._last: tuple[FloatArray, float, FloatArray] = (np.empty(0), 0.0, np.empty(0))
        first = np.unique(self.shapes.component, return_index=True)[1]
        self.shape_count = self.row_count[first]

    @property
    def is_one(self) -> bool:
        """Whether Z is 1 whatever the weights are, so that they have a closed form."""
        return not len(self.shapes.node) and bool((self.free_power == 1).all())

    def log_z(self, log_weight: FloatArray) -> tuple[float, FloatArray]:
        """Return log Z and its gradient, the number of draws each cluster is expected to get."""
        if np.array_equal(log_weight, self._last[0]):
            return self._last[1], self._last[2]
        free = self.free_power[:, None] * log_weight
        each, chance = np.empty(len(free)), np.empty_like(free)
        normalize_rows(free, chance, each)
        total = float(self.free_count @ each)
        counts = (self.free_count * self.free_power) @ chance
        if len(self.shapes.node):
            sums, chance = self.shapes.marginals(self.row_power[:, None] * log_weight)
            total += float(self.shape_count @ sums)
            counts = counts + (self.row_count * self.row_power) @ chance
        self._last = (log_weight, total, counts)
        return total, counts

    def best_weights(self, counts: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weights under which ``counts`` draws per cluster are most likely, given that all is obeyed.

        The logarithm of that likelihood is concave in the log-weights; where the search ends early the weights are no
        worse than those given, which is all that the likelihood needs in order not to fall.
        """
        if self.is_one:
            return np.asarray(counts / counts.sum())
        best = self._climb(counts, np.log(weights))
        chance = np.exp(best - best.max())
        return np.asarray(chance / chance.sum())

    def _climb(self, counts: FloatArray, log_weight: FloatArray) -> FloatArray:
        """Maximize counts @ log_weight - log Z by quasi-Newton steps, none of which is taken unless it helps.

        The first guess at the curvature is that without cannot-links, which is nearly right when these are few.
        """
        total, expected = self.log_z(log_weight)
        value, gradient = float(counts @ log_weight) - total, counts - expected
        inverse = np.diag(1.0 / counts)
        for _ in range(_STEPS if self.shapes.plan.n_states.sum() < _CHEAP else _FEW_STEPS):
            step = inverse @ gradient
            gain = float(gradient @ step)
            if np.abs(gradient).max() <= 1e-9 * counts.sum() or gain <= 0 or np.ptp(log_weight) > _LEAST:
                break
            step *= min(1.0, 5.0 / np.abs(step).max())
            gain, shorter = float(gradient @ step), 1.0
            while True:
                tried = log_weight + shorter * step
                total, expected = self.log_z(tried)
                better = float(counts @ tried) - total
                if better >= value + 1e-4 * shorter * gain:
                    break
                shorter /= 2
                if shorter < 1e-6:
                    return log_weight
            moved, bent = tried - log_weight, gradient - (counts - expected)
            log_weight, value, gradient = tried, better, counts - expected
            curvature = float(moved @ bent)
            if curvature > 0:
                turn = np.eye(len(counts)) - np.outer(moved, bent) / curvature
                inverse = turn @ inverse @ turn.T + np.outer(moved, moved) / curvature
        return log_weight


def _free(graph: Chunklets, power: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The powers of chunklets no cannot-link touches, and how many there are of each."""
    touched = np.zeros(graph.n, dtype=np.bool_)
    touched[graph.pairs.ravel()] = True
    values, count = np.unique(power[~touched], return_counts=True)
    return values, count.astype(np.float64)


def _representatives(graph: Chunklets, exact: Exact, power: FloatArray) -> tuple[IntArray, FloatArray]:
    """Nodes of one component of each shape, and for each of these nodes how many components have the shape.

    Two components have one shape if they are equal after sorting their nodes by power and degree; more may be alike,
    which only costs time.
    """
    degree = np.bincount(graph.pairs.ravel(), minlength=graph.n)
    order = np.lexsort((exact.node, degree[exact.node], power[exact.node], exact.component))
    node, component = exact.node[order], exact.component[order]
    size = np.bincount(component, minlength=0)
    begin = np.cumsum(size) - size
    of, rank = np.zeros(graph.n, dtype=np.intp), np.zeros(graph.n, dtype=np.intp)
    of[node] = component
    rank[node] = np.arange(len(node)) - begin[component]
    pair_of = of[graph.pairs[:, 0]]
    ends = np.sort(rank[graph.pairs], axis=1)
    edge = np.lexsort((ends[:, 1], ends[:, 0], pair_of))
    n_edges = np.bincount(pair_of, minlength=len(size))
    edge_begin = np.cumsum(n_edges) - n_edges
    chosen, counts = [], []
    for n, m in np.unique(np.column_stack([size, n_edges]), axis=0):  # few: sizes, not components
        alike = np.flatnonzero((size == n) & (n_edges == m))
        rows = node[begin[alike][:, None] + np.arange(n)]
        pairs = ends[edge[edge_begin[alike][:, None] + np.arange(m)]]
        shape = np.concatenate([power[rows].astype(np.intp), (pairs[..., 0] * n + pairs[..., 1])], axis=1)
        _, at, count = np.unique(shape, axis=0, return_index=True, return_counts=True)
        chosen.append(rows[at].ravel())
        counts.append(np.repeat(count, n).astype(np.float64))
    if not chosen:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    return np.concatenate(chosen), np.concatenate(counts)
