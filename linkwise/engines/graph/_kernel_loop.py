"""Starts and steps of weighted kernel k-means on the nodes of a `Gram`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.assignment import FreePlaces, Neighborhoods, assign
from linkwise.engines.graph._embedding import start_vector
from linkwise.engines.graph._gram import Gram
from linkwise.engines.graph._kernels_gram import _sweep_dense, _sweep_sparse
from linkwise.engines.partitional import draw_rows, neighborhoods, run_lloyd, spread_centers
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem
from linkwise.problem.statements import Apart, Contracted

STARTS: tuple[str, ...] = ("auto", "neighborhoods", "k-means++", "spectral")
_FEW = 400  # nodes up to which the whole table is decomposed
_SMALL = 1e-11  # relative gain that rounding could have made
_NONE = np.empty(0, dtype=np.intp)


def read_start(init: Any, objective: str, n: int, k: int, who: str) -> Any:
    """Return the name of a way to start, "auto" resolved, or labels."""
    if isinstance(init, str):
        return ("neighborhoods" if objective == "hmrf" else "spectral") if init == "auto" else init
    labels = np.asarray(init)
    if labels.shape != (n,) or labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= k:
        msg = (
            f"{who}: the labels given as init have shape {labels.shape} and type {labels.dtype}, expected {n} whole "
            f"numbers from 0 to {k - 1}."
        )
        raise LinkwiseError(msg)
    return labels.astype(np.intp)


class KernelStart:
    """Draws labels to start from; ``start`` was read by `read_start`."""

    def __init__(self, start: Any, gram: Gram, problem: Problem, rng: np.random.Generator) -> None:
        self.gram, self.apart, self.k, self.rng = gram, problem.apart, problem.k, rng
        self._labels: IntArray | None = None
        self._rows: Any = None
        self._chosen = _NONE
        if not isinstance(start, str):
            self._labels = problem.reduce(start)
        elif start == "spectral":
            self._rows = _leading(gram, self.k)
        elif start == "neighborhoods":
            self._chosen = neighborhoods(problem.contract(np.zeros((problem.n_samples, 0))), self.k, self._gap)
        # whether the next labels would be others
        self.varies = self._labels is None and len(self._chosen) < self.k

    def labels(self) -> IntArray:
        """Return labels of the nodes."""
        if self._labels is not None:
            return self._labels
        if self._rows is None:
            return np.asarray(np.argmin(self.gram.squared(self._spread()), axis=1), dtype=np.intp)
        points = Contracted(self._rows, self.gram.mass, np.arange(self.gram.n), self.apart)
        centers = spread_centers(points, _NONE, self.k, self.rng)
        return run_lloyd(points, centers, FreePlaces(points), max_iter=100, tolerance=0.0).labels

    def _gap(self, nodes: IntArray, node: int) -> FloatArray:
        return np.asarray(np.sqrt(self.gram.squared(np.array([node]))[nodes, 0]))

    def _spread(self) -> IntArray:
        """Add nodes to the chosen ones by k-means++: far from all so far, best of a few draws."""
        chosen = self._chosen[: self.k].tolist()
        mass = self.gram.mass
        if not chosen:
            chosen.append(int(draw_rows(mass, 1, self.rng)[0]))
        near = self.gram.squared(np.array(chosen)).min(axis=1)
        while len(chosen) < self.k:
            tried = np.unique(draw_rows(mass * near, 2 + int(np.log(self.k)), self.rng))
            closer = np.minimum(self.gram.squared(tried), near[:, None])
            best = int(np.argmin(mass @ closer))
            near = closer[:, best]
            chosen.append(int(tried[best]))
        return np.array(chosen, dtype=np.intp)


def _leading(gram: Gram, k: int) -> FloatArray:
    """The relaxed criterion's best labeling: leading eigenvectors of the scaled table, over roots of the masses."""
    n = gram.n
    if n <= _FEW or k >= n // 3:
        vector = scipy.linalg.eigh(gram.scaled_dense(), subset_by_index=[max(0, n - k), n - 1])[1]
    else:
        try:
            # only a start: a few digits are enough, and the eigenvectors that have converged are used
            width = min(n - 1, max(4 * k, 40))
            vector = eigsh(gram.scaled(), k, which="LA", v0=start_vector(n), tol=1e-4, ncv=width)[1]
        except ArpackNoConvergence as part:
            vector = part.eigenvectors if part.eigenvectors.size else start_vector(n)[:, None]
    return np.ascontiguousarray(vector / np.sqrt(gram.mass)[:, None])


@dataclass(frozen=True, eq=False)
class Loop:
    """The part of a run that every start shares."""

    gram: Gram
    problem: Problem
    shift: float
    max_iter: int
    near: Neighborhoods | None = None  # where ε has to hold


@dataclass(frozen=True, eq=False)
class Ended:
    """Labels of the nodes at the end of a run, the criterion after every step, and the number of steps."""

    labels: IntArray
    history: FloatArray
    n_iter: int


def criterion(gram: Gram, labels: IntArray, sums: FloatArray) -> float:
    """The value of a labeling: the constant minus the sums inside clusters, each per mass."""
    inner, mass = _inside(gram, labels, sums)
    return gram.constant - float((inner[mass > 0] / mass[mass > 0]).sum())


def run_kernel_kmeans(loop: Loop, start: IntArray) -> Ended:
    """Improve a labeling until neither a step of all nodes nor the move of one makes it better.

    The start only gives the centers: it may leave clusters empty or break cannot-links.
    """
    if loop.near is not None:
        return _run_repaired(loop, start, loop.near)
    gram, k, apart = loop.gram, loop.problem.k, loop.problem.apart
    labels = _place(loop, start, _costs(loop, start, gram.sums(start, k)), legal=False)
    sums = gram.sums(labels, k)
    value = criterion(gram, labels, sums)
    history = [value]
    size = max(abs(gram.constant), float(np.abs(gram.diagonal / gram.mass).sum()), 1e-300)
    alone = _places_of(apart, gram.n)
    n_iter = 0
    while n_iter < loop.max_iter:
        n_iter += 1
        placed = _place(loop, labels, _costs(loop, labels, sums), legal=True)
        after = gram.sums(placed, k)
        lower = criterion(gram, placed, after)
        if lower < value - _SMALL * size:
            labels, sums, value = placed, after, lower
            history.append(value)
            continue
        labels = labels.copy()
        if not _sweep(gram, apart, alone, labels, sums, _SMALL * size):
            break
        sums = gram.sums(labels, k)  # again, so that rounding does not add up
        value = criterion(gram, labels, sums)
        history.append(value)
    return Ended(labels, np.array(history), n_iter)


class KernelPrice:
    """What labels of the nodes cost; the sums of a labeling are kept, and follow the nodes that move."""

    def __init__(self, gram: Gram, labels: IntArray, k: int) -> None:
        self.gram, self.k = gram, k
        self._labels, self._sums = labels.copy(), gram.sums(labels, k)

    def of(self, row: int, labels: IntArray) -> FloatArray:
        """Return the criterion with a node in each cluster while all others stay, up to a constant."""
        self._follow(labels)
        gram, at = self.gram, labels[row]
        inner, mass = _inside(gram, labels, self._sums)
        others = self._sums[row].copy()
        others[at] -= gram.diagonal[row]
        inner[at] -= 2.0 * others[at] + gram.diagonal[row]
        mass[at] -= gram.mass[row]
        full = np.bincount(labels, minlength=self.k) > (np.arange(self.k) == at)
        without = np.divide(inner, mass, out=np.zeros(self.k), where=full)
        joined = np.where(full, inner, 0.0) + 2.0 * others + gram.diagonal[row]
        return np.asarray(without - joined / (np.where(full, mass, 0.0) + gram.mass[row]))

    def total(self, labels: IntArray) -> float:
        """Return the criterion."""
        self._follow(labels)
        return criterion(self.gram, labels, self._sums)

    def _follow(self, labels: IntArray) -> None:
        moved = np.flatnonzero(labels != self._labels)
        if len(moved) > self.k:
            self._sums = self.gram.sums(labels, self.k)
        elif len(moved):
            columns = self.gram.columns(moved)
            for i, row in enumerate(moved.tolist()):
                self._sums[:, self._labels[row]] -= columns[:, i]
                self._sums[:, labels[row]] += columns[:, i]
        self._labels[moved] = labels[moved]


def _run_repaired(loop: Loop, start: IntArray, near: Neighborhoods) -> Ended:
    """The same where labels are repaired after each step until ε holds, so that no legal move of one node is better."""
    gram, k = loop.gram, loop.problem.k
    price = KernelPrice(gram, start, k)
    wish = _place(loop, start, _costs(loop, start, gram.sums(start, k)), legal=False)
    labels = near.settle(price, wish, None, k)
    sums = gram.sums(labels, k)
    history = [criterion(gram, labels, sums)]
    size = max(abs(gram.constant), float(np.abs(gram.diagonal / gram.mass).sum()), 1e-300)
    n_iter = 0
    while n_iter < loop.max_iter:
        n_iter += 1
        wish = _place(loop, labels, _costs(loop, labels, sums), legal=True)
        placed = near.settle(price, wish, labels, k)
        after = gram.sums(placed, k)
        value = criterion(gram, placed, after)
        if not value < history[-1] - _SMALL * size:
            break
        labels, sums = placed, after
        history.append(value)
    return Ended(labels, np.array(history), n_iter)


def _inside(gram: Gram, labels: IntArray, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    k = sums.shape[1]
    inner = np.bincount(labels, weights=sums[np.arange(len(labels)), labels], minlength=k)
    mass = np.bincount(labels, weights=gram.mass, minlength=k)
    return inner.astype(np.float64), mass.astype(np.float64)


def _costs(loop: Loop, labels: IntArray, sums: FloatArray) -> FloatArray:
    """Mass times squared distance of each node to each center, shifted kernel, less the part common to all centers.

    A cluster without nodes has no center, and costs inf.
    """
    gram, shift = loop.gram, loop.shift
    inner, mass = _inside(gram, labels, sums)
    full = mass > 0
    over = np.divide(1.0, mass, out=np.zeros_like(mass), where=full)
    costs = -2.0 * sums * over + gram.mass[:, None] * ((inner * over + shift) * over)
    rows = np.arange(gram.n)
    costs[rows, labels] -= 2.0 * shift * gram.mass * over[labels]
    costs[:, ~full] = np.inf
    return np.asarray(costs)


def _place(loop: Loop, before: IntArray, costs: FloatArray, *, legal: bool) -> IntArray:
    """Assign all nodes at minimum cost so that cannot-links hold and no cluster is empty."""
    labels: IntArray = np.argmin(costs, axis=1)
    problem, node = loop.problem, loop.problem.apart.node
    if len(node):
        some = np.where(np.isinf(costs[node]), 1e3 * (1.0 + np.abs(costs[np.isfinite(costs)]).max()), costs[node])
        found = assign(some, problem.apart, before[node] if legal else None)
        if not found.solved:
            found = assign(some, problem.apart, problem.reduce(problem.witness())[node])
        labels[node] = found.labels
    return _fill(loop, labels, costs)


def _fill(loop: Loop, labels: IntArray, costs: FloatArray) -> IntArray:
    """Give every empty cluster the node that lies worst in its own; alone it is apart from all."""
    gram = loop.gram
    count = np.bincount(labels, minlength=loop.problem.k)
    if count.all():
        return labels
    own = (gram.diagonal + loop.shift * gram.mass) / gram.mass
    finite = costs[np.arange(gram.n), labels]
    worst = own + np.where(np.isfinite(finite), finite, 0.0)
    for c in np.flatnonzero(count == 0).tolist():
        row = int(np.argmax(np.where(count[labels] > 1, worst, -np.inf)))
        count[labels[row]] -= 1
        labels[row] = c
        count[c] = 1
    return labels


def _places_of(apart: Apart, n: int) -> IntArray:
    """The place of each node among those with cannot-links, or -1."""
    place = np.full(n, -1, dtype=np.intp)
    place[apart.node] = np.arange(apart.n_places)
    return place


def _sweep(gram: Gram, apart: Apart, place: IntArray, labels: IntArray, sums: FloatArray, least: float) -> int:
    """Move nodes one after the other wherever the criterion falls; labels and sums change in place."""
    inner, mass = _inside(gram, labels, sums)
    count = np.bincount(labels, minlength=sums.shape[1])
    state = (gram.mass, gram.diagonal, inner, mass, count, apart, place, labels, sums, least)
    table: Any = gram.table
    if scipy.sparse.issparse(table):
        return int(_sweep_sparse(table.data, table.indices, table.indptr, *state))
    return int(_sweep_dense(table, *state))
