"""Weighted kernel k-means on the nodes of a `Gram`: steps of all nodes while these help, then of single nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.assignment import assign
from linkwise.engines.graph._gram import Gram
from linkwise.engines.graph._kernels_gram import _sweep_dense, _sweep_sparse
from linkwise.problem import Problem
from linkwise.problem.statements import Apart

_SMALL = 1e-11  # relative gain that rounding could have made


@dataclass(frozen=True, eq=False)
class Loop:
    """The part of a run that every start shares."""

    gram: Gram
    problem: Problem
    shift: float
    max_iter: int


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
