"""Distortions of k-means: costs of samples for centers, and the best centers of labeled samples.

Every measure has the same methods, so that the methods with penalties work with any of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from linkwise._threads import Workers
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.engines.distances import is_wide, means, nearest, one_row, squared, squared_to, sum_rows
from linkwise.engines.partitional._farthest_pair import farthest_pair
from linkwise.engines.partitional._sweeps import Sweep, Sweeper
from linkwise.exceptions import LinkwiseError

DISTORTIONS = ("squared_euclidean", "cosine", "pearson", "kl")
_NOTHING = 1e-28  # squared length of a mean of rows of length 1 that is rounding only
_SAME = 1e-15  # difference from the mean of a row that is rounding only, relative to the largest value
_CHUNK = 4096  # rows whose costs for all centers are in memory at a time


Assigned = Callable[[], tuple[IntArray, float]]


@dataclass(frozen=True, eq=False)
class State:
    """Current centers, and the metric if one is learned."""

    centers: FloatArray
    metric: Any = None


class Measure:
    """Rows and their costs for centers; ``workers`` are threads to compute these, if any."""

    workers: Workers | None = None

    def __init__(self, rows: Any, k: int) -> None:
        self.rows, self.k = rows, k
        self._picked: tuple[IntArray, Any] | None = None

    def start(self, centers: FloatArray) -> State:
        """Return the first state."""
        return State(centers)

    def nearest(self, state: State, rows: Any = None) -> tuple[IntArray, FloatArray]:
        """Return the best center of each row and its cost."""
        rows = self.rows if rows is None else rows
        labels, cost = np.empty(rows.shape[0], dtype=np.intp), np.empty(rows.shape[0])
        for at in range(0, len(labels), _CHUNK):
            table = self.table(state, rows[at : at + _CHUNK])
            labels[at : at + _CHUNK] = table.argmin(axis=1)
            cost[at : at + _CHUNK] = table.min(axis=1)
        return labels, cost

    def sweep(self, state: State, some: IntArray) -> tuple[FloatArray, Assigned]:
        """Return the costs of some rows for each center, and a function that assigns all rows: call it once.

        It returns the best center of each row, and the total cost of all other rows. Threads may already be computing.
        """
        return self.table(state, self.pick(some)), lambda: self._assign(state, some)

    def _assign(self, state: State, some: IntArray) -> tuple[IntArray, float]:
        labels, cost = self.nearest(state)
        cost[some] = 0.0
        return labels, float(cost.sum())

    def pick(self, some: IntArray) -> Any:
        """Return some of the rows; those picked last are remembered."""
        if self._picked is None or self._picked[0] is not some:
            self._picked = some, self.rows[some]
        return self._picked[1]

    def count(self, labels: IntArray) -> FloatArray:
        """Return the number of rows of each label."""
        return np.bincount(labels, minlength=self.k).astype(np.float64)

    def table(self, state: State, rows: Any) -> FloatArray:
        """Return the cost of each row for each center."""
        raise NotImplementedError

    def costs_to(self, state: State, labels: IntArray) -> FloatArray:
        """Return the cost of each row for the center of its label."""
        out = np.empty(len(labels))
        for at in range(0, len(out), _CHUNK):
            part = labels[at : at + _CHUNK]
            out[at : at + _CHUNK] = self.table(state, self.rows[at : at + _CHUNK])[np.arange(len(part)), part]
        return out

    def between(self, state: State, first: IntArray, second: IntArray) -> FloatArray:
        """Return the distances of pairs of rows; shape (n_pairs, 1), or (n_pairs, n_clusters) if clusters differ."""
        raise NotImplementedError

    def largest(self, state: State) -> FloatArray:
        """Return the largest distance of two rows; shape (1,), or (n_clusters,)."""
        raise NotImplementedError

    def centers(self, labels: IntArray, weight: FloatArray | None = None) -> FloatArray:
        """Return the centers that cost least for these labels; every label has a row."""
        raise NotImplementedError

    def best_centers(self, labels: IntArray, state: State) -> FloatArray:  # noqa: ARG002
        """Return the centers that cost least for these labels under the metric of a state."""
        return self.centers(labels)

    def centers_of(self, rows: Any) -> FloatArray:
        """Return the center of all these rows."""
        return np.asarray(means(rows, np.ones(rows.shape[0]), np.zeros(rows.shape[0], dtype=np.intp), 1)[0])

    def constant(self, state: State) -> float:  # noqa: ARG002
        """Return the part of the objective besides the costs of samples."""
        return 0.0

    def distances(self, state: State, rows: Any) -> FloatArray:
        """Return the distances that `transform` returns."""
        return self.table(state, rows)


class SquaredEuclidean(Measure):
    """Squared distances; centers are means.

    One sweep over the rows also sums them. The sums are kept for the array of labels the sweep returned: bound rows may
    get other labels in place and are summed again, all others must not change.
    """

    _largest: FloatArray | None = None
    _sweeper: Sweeper | None = None
    _swept: Sweep | None = None

    def sweep(self, state: State, some: IntArray) -> tuple[FloatArray, Assigned]:
        """Return the costs of some rows for each center, and a function that assigns all rows: call it once."""
        if scipy.sparse.issparse(self.rows) or is_wide(state.centers):
            return super().sweep(state, some)
        if self._sweeper is None or self._sweeper.some is not some:
            self._sweeper = Sweeper(self.rows, some, self.workers)
        finish = self._sweeper.sweep(state.centers, self.workers)

        def assigned() -> tuple[IntArray, float]:
            self._swept = finish()
            return self._swept.labels, self._swept.cost

        return self.table(state, self._sweeper.picked), assigned

    def _added_up(self, labels: IntArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the sums and numbers of rows of each label, if a sweep gave these labels."""
        found, sweeper = self._swept, self._sweeper
        if found is None or sweeper is None or found.labels is not labels:
            return None
        total, count = sum_rows(sweeper.picked, np.ones(len(sweeper.some)), labels[sweeper.some], self.k)
        return found.total + total, found.size + count

    def count(self, labels: IntArray) -> FloatArray:
        """Return the number of rows of each label."""
        found, sweeper = self._swept, self._sweeper
        if found is None or sweeper is None or found.labels is not labels:
            return super().count(labels)
        return np.asarray(found.size + np.bincount(labels[sweeper.some], minlength=self.k))

    def nearest(self, state: State, rows: Any = None) -> tuple[IntArray, FloatArray]:
        """Return the best center of each row and its cost."""
        return nearest(self.rows if rows is None else rows, state.centers)

    def table(self, state: State, rows: Any) -> FloatArray:
        """Return the cost of each row for each center."""
        return squared(rows, state.centers)

    def costs_to(self, state: State, labels: IntArray) -> FloatArray:
        """Return the cost of each row for the center of its label."""
        return squared_to(self.rows, state.centers, labels)

    def between(self, state: State, first: IntArray, second: IntArray) -> FloatArray:  # noqa: ARG002
        """Return the squared distances of pairs of rows."""
        gap = self.rows[first] - self.rows[second]
        if scipy.sparse.issparse(gap):
            return np.asarray(gap.multiply(gap).sum(axis=1)).reshape(-1, 1)
        return np.asarray((gap**2).sum(axis=1, keepdims=True))

    def largest(self, state: State) -> FloatArray:  # noqa: ARG002
        """Return the largest squared distance of two rows."""
        if self._largest is None:
            self._largest = np.array([farthest_pair(self.rows)[2]])
        return self._largest

    def centers(self, labels: IntArray, weight: FloatArray | None = None) -> FloatArray:
        """Return the means of each label."""
        if weight is None and (sums := self._added_up(labels)) is not None:
            return np.asarray(sums[0] / sums[1][:, None])
        return means(self.rows, np.ones(len(labels)) if weight is None else weight, labels, self.k)

    def distances(self, state: State, rows: Any) -> FloatArray:
        """Return the distances of rows to centers."""
        return np.asarray(np.sqrt(squared(rows, state.centers)))


class Cosine(Measure):
    """One minus the cosine of the angle between row and center; rows and centers have length 1.

    With ``centered`` the values of each row and center sum to 0, and the cosine is Pearson's correlation.
    """

    def __init__(self, rows: Any, k: int, *, centered: bool = False) -> None:
        super().__init__(rows, k)
        self.centered = centered
        values = rows.data if scipy.sparse.issparse(rows) else rows
        self._top = 1.0 if values.size == 0 or float(values.min()) >= 0 else 2.0

    def start(self, centers: FloatArray) -> State:
        """Scale centers to length 1; one of length 0 becomes the first axis."""
        if self.centered:
            centers = centers - centers.mean(axis=1, keepdims=True)
        return State(directions(centers))

    def table(self, state: State, rows: Any) -> FloatArray:
        """Return 1 - cosine."""
        return np.asarray(np.maximum(1.0 - np.asarray(rows @ state.centers.T), 0.0))

    def between(self, state: State, first: IntArray, second: IntArray) -> FloatArray:  # noqa: ARG002
        """Return 1 - cosine of pairs of rows."""
        a, b = self.rows[first], self.rows[second]
        product = a.multiply(b).sum(axis=1) if scipy.sparse.issparse(a) else (a * b).sum(axis=1)
        return np.asarray(np.maximum(1.0 - np.asarray(product), 0.0)).reshape(-1, 1)

    def largest(self, state: State) -> FloatArray:  # noqa: ARG002
        """Return the largest possible distance of two rows: 1 if no number is negative, else 2."""
        return np.array([self._top])

    def centers(self, labels: IntArray, weight: FloatArray | None = None) -> FloatArray:
        """Return the directions of the sums of each label."""
        sums = means(self.rows, np.ones(len(labels)) if weight is None else weight, labels, self.k)
        for c in np.flatnonzero(is_nothing(sums)).tolist():
            sums[c] = one_row(self.rows, int(np.argmax(labels == c)))  # all directions are equally good
        return directions(sums)

    def centers_of(self, rows: Any) -> FloatArray:
        """Return the direction of the sum of all these rows."""
        middle = super().centers_of(rows)
        return np.asarray(directions((middle if (middle**2).sum() > _NOTHING else one_row(rows, 0))[None])[0])


class Divergence(Measure):
    """Relative entropy (Kullback-Leibler) of rows, read as distributions, to centers, which are smoothed means.

    Notes
    -----
    The objective holds ``pull`` times the divergence of the overall mean to each center, which makes centers means with
    ``pull`` further rows equal to the overall mean: none is zero where a row is not, and no cost is infinite.
    """

    def __init__(self, rows: Any, k: int, pull: float = 0.01) -> None:
        super().__init__(rows, k)
        self.overall = np.asarray(rows.mean(axis=0)).ravel()
        self.pull = pull

    def start(self, centers: FloatArray) -> State:
        """Scale centers to sum 1 and smooth them."""
        total = centers.sum(axis=1, keepdims=True)
        if (centers < 0).any() or (total <= 0).any():
            msg = "init holds centers that are not distributions.\nHint: use no negative values and no row of zeros."
            raise LinkwiseError(msg)
        return State((centers / total + self.pull * self.overall) / (1.0 + self.pull))

    def table(self, state: State, rows: Any) -> FloatArray:
        """Return the divergence of each row to each center."""
        entropy = _plogp(rows)
        return np.asarray(np.maximum(entropy[:, None] - np.asarray(rows @ self._log(state.centers).T), 0.0))

    def _log(self, centers: FloatArray) -> FloatArray:
        seen = centers > 0
        return np.where(seen, np.log(np.where(seen, centers, 1.0)), 0.0)

    def between(self, state: State, first: IntArray, second: IntArray) -> FloatArray:  # noqa: ARG002
        """Return the sum of the divergences of two rows to their mean."""
        a, b = self.rows[first], self.rows[second]
        away = _plogp(a) + _plogp(b) - 2.0 * _plogp((a + b) / 2.0)
        return np.asarray(np.maximum(away, 0.0)).reshape(-1, 1)

    def largest(self, state: State) -> FloatArray:  # noqa: ARG002
        """Return the largest possible distance of two distributions: 2 log 2."""
        return np.array([2.0 * np.log(2.0)])

    def centers(self, labels: IntArray, weight: FloatArray | None = None) -> FloatArray:
        """Return the smoothed means of each label."""
        weight = np.ones(len(labels)) if weight is None else weight
        mass = np.bincount(labels, weights=weight, minlength=self.k)[:, None]
        sums = means(self.rows, weight, labels, self.k) * mass
        return np.asarray((sums + self.pull * self.overall) / (mass + self.pull))

    def centers_of(self, rows: Any) -> FloatArray:
        """Return the smoothed mean of all these rows."""
        m = rows.shape[0]
        return np.asarray((super().centers_of(rows) * m + self.pull * self.overall) / (m + self.pull))

    def constant(self, state: State) -> float:
        """Return the divergence of the overall mean from the centers, times ``pull``."""
        g = self.overall
        entropy = float(_plogp(g[None])[0])
        return self.pull * float((entropy - self._log(state.centers) @ g).sum())


def make_measure(distortion: str, rows: Any, k: int, who: str) -> Measure:
    """Prepare rows for a distortion: as they are, scaled to length 1, or to sum 1."""
    if distortion == "squared_euclidean":
        return SquaredEuclidean(rows, k)
    rows = prepare_rows(distortion, rows, who)
    return Divergence(rows, k) if distortion == "kl" else Cosine(rows, k, centered=distortion == "pearson")


def prepare_rows(distortion: str, rows: Any, who: str) -> Any:
    """Scale rows to sum 1 for "kl", to length 1 for "cosine" and "pearson", for which their means are subtracted."""
    if distortion == "kl":
        values = rows.data if scipy.sparse.issparse(rows) else rows
        if values.size and float(values.min()) < 0:
            msg = (
                f'{who}: X holds numbers below 0, but distortion="kl" reads rows as distributions.\n'
                'Hint: use distortion="squared_euclidean".'
            )
            raise LinkwiseError(msg)
        return _scale(rows, np.asarray(rows.sum(axis=1)).ravel(), "sums to zero", who)
    if distortion == "pearson":
        rows, largest = rows - rows.mean(axis=1, keepdims=True), np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
        rows = np.where(np.abs(rows) > _SAME * largest, rows, 0.0)
        size = np.sqrt((rows**2).sum(axis=1))
        return _scale(rows, size, "has no correlation: all its values are the same", who)
    squares = rows.multiply(rows) if scipy.sparse.issparse(rows) else rows**2
    size = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    return _scale(rows, size, "has no direction: all its values are zero", who)


def _scale(rows: Any, size: FloatArray, fault: str, who: str) -> Any:
    """Divide rows by their sizes; raise if one is zero."""
    if not (size > 0).all():
        bad = np.flatnonzero(~(size > 0))
        msg = (
            f"{who}: row {int(bad[0])} of X {fault}, so its distortion is undefined; {len(bad)} row(s) are affected.\n"
            "Hint: drop these rows of X and of the constraints, as in X[rows], constraints[rows]."
        )
        raise LinkwiseError(msg)
    if scipy.sparse.issparse(rows):
        return scipy.sparse.csr_array(scipy.sparse.diags_array(1.0 / size) @ rows)
    return rows / size[:, None]


def is_nothing(sums: FloatArray) -> BoolArray:
    """Mark the sums of rows of length 1 that are rounding only."""
    return np.asarray((sums**2).sum(axis=1) <= _NOTHING)


def directions(sums: FloatArray) -> FloatArray:
    """Scale rows to length 1; one of length 0 becomes the first axis."""
    size = (sums**2).sum(axis=1, keepdims=True)
    sums = np.where(size > _NOTHING, sums, np.eye(1, sums.shape[1]))
    return np.asarray(sums / np.sqrt((sums**2).sum(axis=1, keepdims=True)))


def _plogp(rows: Any) -> FloatArray:
    """Return the sum of p log p of each row."""
    if scipy.sparse.issparse(rows):
        rows = rows.copy()
        rows.data = np.where(rows.data > 0, rows.data * np.log(np.where(rows.data > 0, rows.data, 1.0)), 0.0)
        return np.asarray(rows.sum(axis=1)).ravel()
    seen = rows > 0
    return np.asarray(np.where(seen, rows * np.log(np.where(seen, rows, 1.0)), 0.0).sum(axis=1))
