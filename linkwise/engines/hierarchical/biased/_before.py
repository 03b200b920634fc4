"""Feature weights from triplets alone, before anything is merged: each triplet is two comparisons of cosines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from linkwise._typing import FloatArray, IntArray


class LearnedBefore(NamedTuple):
    """The weights of the pass with the fewest comparisons that fail, and how all passes went."""

    weights: FloatArray
    failing: FloatArray  # share of the comparisons that fail at the beginning of each pass
    steps: IntArray  # 1 for a pass that changed the weights


class Comparisons:
    """Triplets xy|z about rows as comparisons: x is more similar to y than to z, and y more similar to x than to z."""

    def __init__(self, rows: Any, triplets: IntArray) -> None:
        """``rows`` are the samples that triplets name, dense or compressed; ``triplets`` number them."""
        self.rows = rows
        x, y, z = triplets.T
        self.first, self.near, self.far = np.append(x, y), np.append(y, x), np.append(z, z)

    def cosines(self, weights: FloatArray) -> tuple[Any, FloatArray]:
        """The rows at weighted length 1 (one of weighted norm 0 becomes zeros), and their weighted cosines."""
        square = self.rows.multiply(self.rows) if scipy.sparse.issparse(self.rows) else self.rows * self.rows
        norm = np.sqrt(np.asarray(square @ weights).ravel())
        scale = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
        if scipy.sparse.issparse(self.rows):
            unit: Any = scipy.sparse.diags_array(scale) @ self.rows
            table = np.asarray((unit @ scipy.sparse.diags_array(weights) @ unit.T).todense())
        else:
            unit = self.rows * scale[:, None]
            table = (unit * weights) @ unit.T
        return unit, np.asarray(table, dtype=np.float64)

    def failing(self, cosine: FloatArray) -> IntArray:
        """The comparisons that do not hold."""
        return np.flatnonzero(cosine[self.first, self.near] <= cosine[self.first, self.far])

    def movable(self, failing: IntArray, cosine: FloatArray) -> IntArray:
        """The comparisons of which no row has weighted norm 0, which no change of weights would move."""
        alive = np.diag(cosine) > 0.0
        return np.asarray(failing[alive[self.first[failing]] & alive[self.near[failing]] & alive[self.far[failing]]])

    def gradient(self, failing: IntArray, unit: Any, cosine: FloatArray) -> FloatArray:
        """The mean of equation (7) over the comparisons that fail."""
        k = len(cosine)
        first, near, far = self.first[failing], self.near[failing], self.far[failing]
        count = np.zeros((k, k))
        np.add.at(count, (first, near), 1.0)
        np.add.at(count, (first, far), -1.0)
        weighed = count * cosine
        own = weighed.sum(axis=0) + weighed.sum(axis=1)
        if scipy.sparse.issparse(unit):
            both = np.asarray(unit.multiply(scipy.sparse.csr_array(count) @ unit).sum(axis=0)).ravel()
            square = np.asarray(unit.multiply(unit).T @ own).ravel()
        else:
            both, square = (unit * (count @ unit)).sum(axis=0), (unit * unit).T @ own
        return np.asarray((both - 0.5 * square) / len(failing), dtype=np.float64)


def learn_before(
    rows: Any,
    triplets: IntArray,
    judged: IntArray | None = None,
    *,
    learning_rate: float,
    max_iter: int,
    n_iter_no_change: int | None,
    tol: float,
) -> LearnedBefore:
    """Raise the similarity of what triplets join over that of what they part, by gradient steps over all of them.

    Each pass takes one step along the mean gradient of the comparisons that fail. Conditions (3) on the weights hold
    after each step. The best weights are those with the fewest comparisons that fail, of ``judged`` triplets if given.
    """
    d = rows.shape[1]
    weights = np.ones(d)
    compared = Comparisons(rows, triplets)
    judge = compared if judged is None else Comparisons(rows, judged)
    best, best_share, since = weights, np.inf, 0
    shares: list[float] = []
    steps: list[int] = []
    while True:
        unit, cosine = compared.cosines(weights)
        failing = compared.failing(cosine)
        shares.append(len(judge.failing(cosine)) / max(len(judge.first), 1))
        since += 1
        if shares[-1] < best_share:
            best, best_share, since = weights, shares[-1], 0
        changed = weights
        movable = compared.movable(failing, cosine)
        if len(movable):
            moved = np.maximum(weights + learning_rate * compared.gradient(movable, unit, cosine), 0.0)
            mass = float(moved.sum())
            changed = moved * (d / mass) if 0.0 < mass < np.inf else weights
        still = float(np.abs(changed - weights).max(initial=0.0)) <= tol
        steps.append(0 if still else 1)
        tired = n_iter_no_change is not None and since >= n_iter_no_change
        if still or len(shares) == max_iter or tired:
            return LearnedBefore(best, np.array(shares), np.array(steps, dtype=np.intp))
        weights = changed
