"""Squared distances under a learned metric: feature weights or a matrix, shared or one for each cluster.

A metric A makes the cost of sample x in cluster h ``(x - c)' A (x - c) - log det A + trace(A ridge)``. Without the
log-determinant A = 0 would be best; the ridge, small beside the covariance, keeps A finite where a cluster is flat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.distances import nearest, squared, squared_to
from linkwise.engines.partitional._distortions import Assigned, Measure, SquaredEuclidean, State
from linkwise.engines.partitional._farthest_pair import farthest_pair

METRICS = ("none", "diagonal", "full")
_RIDGE = 1e-3  # relative to the variance of the features
_ROUNDING = float(np.finfo(np.float64).eps)  # eigenvalues are not known better, relative to the largest
_FLAT = 1e-14  # variance that is rounding only, relative to the largest


@dataclass(frozen=True, eq=False)
class Metric:
    """One matrix, or one for each cluster; diagonal ones are rows of weights."""

    matrix: FloatArray  # of shape (1 or k, d) if diagonal, else (1 or k, d, d)
    root: FloatArray  # of the same shape: Euclidean distances of rows times root are the distances of the metric
    offset: FloatArray  # of shape (1 or k,): cost of each sample besides its distance
    far: list[tuple[int, int, float]]  # the samples farthest apart, and their squared distance; empty if not needed
    rows: FloatArray | None  # the samples times root, if there is one matrix


@dataclass(frozen=True, eq=False)
class Pull:
    """Pairs of samples that a metric should bring together (positive weight) or set apart (negative).

    ``weight`` has shape (n_pairs, 1 or k). ``far`` weighs, for each matrix, the pair of samples farthest apart.
    """

    first: IntArray
    second: IntArray
    weight: FloatArray
    far: FloatArray


def ridge_of(rows: FloatArray, *, full: bool) -> FloatArray:
    """Return a thousandth of the variances or of the covariance (``full``); of the mean variance if data are flat.

    It is equivariant: a change of units of the features, or a rotation if ``full``, changes the ridge alike.
    """
    variance = np.var(rows, axis=0)
    typical = float(variance.mean()) if variance.any() else 1.0
    if not full:
        return np.asarray(_RIDGE * np.where(variance > _FLAT * variance.max(), variance, typical))
    gap = rows - rows.mean(axis=0)
    value, vector = np.linalg.eigh(gap.T @ gap / len(rows))
    value = np.where(value > _FLAT * value.max(), value, typical)
    return np.asarray((vector * (_RIDGE * value)) @ vector.T)


class Learned(SquaredEuclidean):
    """Squared distances under a learned metric; centers are means whatever the metric."""

    def __init__(self, rows: FloatArray, k: int, *, full: bool, per_cluster: bool, far: bool) -> None:
        super().__init__(rows, k)
        self.full, self.n_metrics, self.wants_far = full, k if per_cluster else 1, far
        self.ridge = ridge_of(rows, full=full)

    def start(self, centers: FloatArray) -> State:
        """Start from Euclidean distances."""
        d = self.rows.shape[1]
        one = np.eye(d) if self.full else np.ones(d)
        return State(centers, self.make(np.repeat(one[None], self.n_metrics, axis=0)))

    def make(self, matrix: FloatArray, before: Metric | None = None) -> Metric:
        """Prepare a metric; ``before`` is the one before, whose farthest samples start the search for new ones."""
        if self.full:
            value, vector = np.linalg.eigh(matrix)
            value = np.maximum(value, _ROUNDING * value.max(axis=1, keepdims=True))  # of a regular matrix
            root = vector * np.sqrt(value)[:, None, :]
            log_det, extra = np.log(value).sum(axis=1), np.einsum("hij,ij->h", matrix, self.ridge)
        else:
            root = np.sqrt(matrix)
            log_det, extra = np.log(matrix).sum(axis=1), matrix @ self.ridge
        rows = self._turn(self.rows, root[0]) if self.n_metrics == 1 else None
        far = []
        for h in range(self.n_metrics if self.wants_far else 0):
            guess = before.far[h][:2] if before is not None else None
            far.append(farthest_pair(rows if rows is not None else self._turn(self.rows, root[h]), guess))
        return Metric(matrix, root, -log_det + extra, far, rows)

    def _turn(self, rows: FloatArray, root: FloatArray) -> FloatArray:
        return np.ascontiguousarray(rows @ root if self.full else rows * root)

    def nearest(self, state: State, rows: Any = None) -> tuple[IntArray, FloatArray]:
        """Return the best center of each row and its cost."""
        metric: Metric = state.metric
        if self.n_metrics > 1:
            table = self.table(state, self.rows if rows is None else rows)
            return table.argmin(axis=1), table.min(axis=1)
        turned = metric.rows if rows is None else self._turn(rows, metric.root[0])
        labels, cost = nearest(turned, self._turn(state.centers, metric.root[0]))
        return labels, cost + metric.offset[0]

    def sweep(self, state: State, some: IntArray) -> tuple[FloatArray, Assigned]:
        """Return the costs of some rows for each center, and a function that assigns all: call it, once."""
        return Measure.sweep(self, state, some)

    def table(self, state: State, rows: Any) -> FloatArray:
        """Return the cost of each row for each center."""
        return np.asarray(self._squared(state, rows) + state.metric.offset)

    def _squared(self, state: State, rows: FloatArray) -> FloatArray:
        root = state.metric.root
        if self.n_metrics == 1:
            return squared(self._turn(rows, root[0]), self._turn(state.centers, root[0]))
        out = np.empty((len(rows), self.k))
        for h, center in enumerate(state.centers):
            out[:, h] = (self._turn(rows - center, root[h]) ** 2).sum(axis=1)
        return out

    def costs_to(self, state: State, labels: IntArray) -> FloatArray:
        """Return the cost of each row for the center of its label."""
        metric: Metric = state.metric
        if metric.rows is not None:
            centers = self._turn(state.centers, metric.root[0])
            return np.asarray(squared_to(metric.rows, centers, labels) + metric.offset[0])
        out = np.empty(len(labels))
        for h, center in enumerate(state.centers):
            mine = labels == h
            out[mine] = (self._turn(self.rows[mine] - center, metric.root[h]) ** 2).sum(axis=1) + metric.offset[h]
        return out

    def between(self, state: State, first: IntArray, second: IntArray) -> FloatArray:
        """Return the squared distances of pairs of rows under each metric."""
        gap = self.rows[first] - self.rows[second]
        return np.stack([(self._turn(gap, root) ** 2).sum(axis=1) for root in state.metric.root], axis=1)

    def largest(self, state: State) -> FloatArray:
        """Return the largest squared distance of two rows under each metric."""
        return np.array([away for _, _, away in state.metric.far])

    def distances(self, state: State, rows: Any) -> FloatArray:
        """Return the distances of rows to centers, under the metric of each center."""
        return np.asarray(np.sqrt(self._squared(state, rows)))

    def best_matrix(self, state: State, labels: IntArray, pull: Pull) -> FloatArray:
        """Return the metric that is best for these labels and centers while the farthest samples stay the farthest."""
        parts = []
        for h in range(self.n_metrics):
            mine = slice(None) if self.n_metrics == 1 else labels == h
            count = len(self.rows[mine])
            gaps = [self.rows[mine] - state.centers[labels[mine]], self.rows[pull.first] - self.rows[pull.second]]
            weights = [np.ones(count), pull.weight[:, h]]
            if self.wants_far:
                a, b, _ = state.metric.far[h]
                gaps.append((self.rows[a] - self.rows[b])[None])
                weights.append(pull.far[h : h + 1])
            parts.append(self._invert(np.concatenate(gaps), np.concatenate(weights), count))
        return np.stack(parts)

    def _invert(self, gap: FloatArray, weight: FloatArray, count: int) -> FloatArray:
        """Return ``count`` times the inverse of the weighted scatter, with negative eigenvalues set to 0."""
        if not self.full:
            return np.asarray(count / (np.maximum(weight @ gap**2, 0.0) + count * self.ridge))
        size, axes = np.linalg.eigh(self.ridge)
        white = (axes / np.sqrt(size)) @ axes.T
        value, vector = np.linalg.eigh(white @ ((gap * weight[:, None]).T @ gap) @ white)
        turned = white @ vector
        return np.asarray((turned * (count / (np.maximum(value, 0.0) + count))) @ turned.T)
