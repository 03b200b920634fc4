"""Distortions with a learned weight for each feature: cosine and Pearson's distance, and relative entropy.

The weights a have a Rayleigh prior with its mode at 1, which the objective counts as ``strength`` times the sum of
``a**2 / 2 - log(a) - 1 / 2``. Without it the weights of all features but one could fall to 0. The strength, times the
number of features, is three tenths of the distortion of all samples from one center.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.distances import means
from linkwise.engines.partitional._distortions import Cosine, Divergence, Measure, State, directions, is_nothing
from linkwise.engines.partitional._learned_metric import Pull

_PRIOR = 0.3  # of the distortion of all samples from one center
_FLAT = 1e-12  # distortion per sample that is rounding only
_HALVINGS = 6  # of a step that would raise the objective, before it is not taken
_STEPS = 20  # of the descent of the weights in one iteration
_LEAST, _MOST = 1e-6, 1e6  # bounds of a weight: a weight at one of them has the same effect as beyond it


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of features, as the only row of a matrix."""

    matrix: FloatArray


class Weighted(Measure):
    """A measure whose weights of features adapt to labels and broken statements."""

    rows: FloatArray
    _strength: float | None = None

    def start(self, centers: FloatArray) -> State:
        """Start with equal weights."""
        return State(super().start(centers).centers, Weights(np.ones((1, self.rows.shape[1]))))

    @property
    def strength(self) -> float:
        """Weight of the prior for each feature."""
        if self._strength is None:
            n, d = self.rows.shape
            one = State(self.centers_of(self.rows)[None], Weights(np.ones((1, d))))
            total = float(self.table(one, self.rows).sum())
            self._strength = _PRIOR * (total if total > _FLAT * n else n) / d
        return self._strength

    def constant(self, state: State) -> float:
        """Return the prior of the weights, and the constant of the measure."""
        return super().constant(state) + self._prior(state.metric.matrix[0])

    def _prior(self, a: FloatArray) -> float:
        return self.strength * float((a**2 / 2 - np.log(a) - 0.5).sum())

    def reweigh(self, state: State, labels: IntArray, pull: Pull, objective: Callable[[State], float]) -> State:
        """Return a state with better weights for these labels and centers, or the same state."""
        raise NotImplementedError


class WeightedCosine(Weighted, Cosine):
    """One minus the cosine of row and center, both with each feature multiplied by the root of its weight."""

    def table(self, state: State, rows: Any) -> FloatArray:
        """Return 1 - cosine."""
        a = state.metric.matrix[0]
        product = (rows * a) @ state.centers.T
        size = np.sqrt((rows**2 @ a)[:, None] * (state.centers**2 @ a))
        return np.asarray(np.maximum(1.0 - product / size, 0.0))

    def between(self, state: State, first: IntArray, second: IntArray) -> FloatArray:
        """Return 1 - cosine of pairs of rows."""
        a, one, two = state.metric.matrix[0], self.rows[first], self.rows[second]
        size = np.sqrt((one**2 @ a) * (two**2 @ a))
        return np.asarray(np.maximum(1.0 - (one * two) @ a / size, 0.0)).reshape(-1, 1)

    def best_centers(self, labels: IntArray, state: State) -> FloatArray:
        """Return the directions of the sums of the rows of each label, scaled to length 1 under the weights."""
        size = np.sqrt(self.rows**2 @ state.metric.matrix[0])
        sums = means(self.rows / size[:, None], np.ones(len(labels)), labels, self.k)
        for c in np.flatnonzero(is_nothing(sums)).tolist():
            sums[c] = self.rows[int(np.argmax(labels == c))]  # all directions are equally good
        return directions(sums)

    def reweigh(self, state: State, labels: IntArray, pull: Pull, objective: Callable[[State], float]) -> State:
        """Descend along the gradient of the objective by the logarithms of the weights."""
        from scipy.optimize import minimize

        one = np.concatenate([self.rows, self.rows[pull.first]])
        two = np.concatenate([state.centers[labels], self.rows[pull.second]])
        weight = np.concatenate([np.ones(len(labels)), pull.weight[:, 0]])
        share = self.strength

        def value(theta: FloatArray) -> tuple[float, FloatArray]:
            a = np.exp(theta)
            left, right = one**2 @ a, two**2 @ a
            cosine = (one * two) @ a / np.sqrt(left * right)
            # the derivative of each cosine by each weight, summed over the pairs
            slope = (weight / np.sqrt(left * right)) @ (one * two)
            slope -= 0.5 * ((weight * cosine / left) @ one**2 + (weight * cosine / right) @ two**2)
            return float(-(weight @ cosine)) + self._prior(a), a * (share * (a - 1.0 / a) - slope)

        start = np.log(state.metric.matrix[0])
        bounds = [(np.log(_LEAST), np.log(_MOST))] * len(start)
        found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": _STEPS})
        trial = State(state.centers, Weights(np.exp(found.x)[None]))
        return trial if objective(trial) <= objective(state) else state


class WeightedDivergence(Weighted, Divergence):
    """Relative entropy (I-divergence) in which each feature counts with its weight; centers do not depend on these."""

    def table(self, state: State, rows: Any) -> FloatArray:
        """Return the sum of a (x log(x / c) - x + c) for each row and center."""
        a, centers = state.metric.matrix[0], state.centers
        own = self._terms(rows) @ a - rows @ a
        return np.asarray(np.maximum(own[:, None] - (rows * a) @ self._log(centers).T + centers @ a, 0.0))

    @staticmethod
    def _terms(rows: FloatArray) -> FloatArray:
        seen = rows > 0
        return np.asarray(np.where(seen, rows * np.log(np.where(seen, rows, 1.0)), 0.0))

    def _apart(self, first: IntArray, second: IntArray) -> FloatArray:
        """Return the divergence of pairs of rows to their mean for each feature."""
        one, two = self.rows[first], self.rows[second]
        return self._terms(one) + self._terms(two) - 2.0 * self._terms((one + two) / 2.0)

    def between(self, state: State, first: IntArray, second: IntArray) -> FloatArray:
        """Return the sum of the divergences of two rows to their mean."""
        return np.asarray(np.maximum(self._apart(first, second) @ state.metric.matrix[0], 0.0)).reshape(-1, 1)

    def largest(self, state: State) -> FloatArray:
        """Return a bound on the distance of two rows: 2 log 2 times the largest weighted sum of a row."""
        return np.array([2.0 * np.log(2.0) * float((self.rows @ state.metric.matrix[0]).max())])

    def _pulled(self, centers: FloatArray) -> FloatArray:
        """Return the divergence of the overall mean from all centers, for each feature, times ``pull``."""
        g = self.overall
        return np.asarray(
            self.pull * (len(centers) * (self._terms(g) - g) + (centers - g * self._log(centers)).sum(axis=0))
        )

    def constant(self, state: State) -> float:
        """Return the prior of the weights, and the weighted divergence of the overall mean from the centers."""
        a = state.metric.matrix[0]
        return self._prior(a) + float(self._pulled(state.centers) @ a)

    def reweigh(self, state: State, labels: IntArray, pull: Pull, objective: Callable[[State], float]) -> State:
        """Step to the best weights while the same row has the largest sum; shorten a step that raises the objective."""
        centers = state.centers[labels]
        slope = (self._terms(self.rows) - self.rows * self._log(centers) - self.rows + centers).sum(axis=0)
        slope += pull.weight[:, 0] @ self._apart(pull.first, pull.second) + self._pulled(state.centers)
        a = state.metric.matrix[0]
        slope += 2.0 * np.log(2.0) * pull.far[0] * self.rows[int(np.argmax(self.rows @ a))]
        share = self.strength
        # the root of share * (a - 1 / a) + slope = 0, written so that nothing cancels
        root = np.sqrt(slope**2 + 4.0 * share**2)
        wanted = np.where(slope > 0, 2.0 * share / (root + np.abs(slope)), (root + np.abs(slope)) / (2.0 * share))
        wanted, value = np.clip(wanted, _LEAST, _MOST), objective(state)
        for i in range(_HALVINGS):
            trial = State(state.centers, Weights((a + (wanted - a) * 0.5**i)[None]))
            if objective(trial) <= value:
                return trial
        return state
