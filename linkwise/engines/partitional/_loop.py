"""Lloyd's loop over contracted rows: parameters, starts and outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.assignment import Place, Placement
from linkwise.engines.distances import means, one_row, squared_to, typical_variance
from linkwise.engines.partitional._init import Start
from linkwise.engines.partitional._race import RACE, race
from linkwise.exceptions import GaveUpError
from linkwise.problem import Problem
from linkwise.problem.statements import Contracted


@dataclass(frozen=True, eq=False)
class KMeansRun:
    """Outcome of a k-means run: labels of the samples, centers, the sum of squared distances, and iterations."""

    labels: IntArray
    centers: FloatArray
    inertia: float
    n_iter: int
    # whether each step was shown to assign at minimum cost; else some were improved by swaps along chains only
    best_assignment: bool = True


Watch = Callable[[IntArray, FloatArray], None]


@dataclass(frozen=True, eq=False)
class Settled:
    """The final state of a loop, for the rows of a cloud."""

    labels: IntArray
    centers: FloatArray
    cost: float
    n_iter: int
    best: bool


def run_lloyd(
    cloud: Contracted,
    centers: FloatArray,
    place: Place,
    *,
    max_iter: int,
    tolerance: float,
    watch: Watch | None = None,
) -> Settled:
    """Alternate between assigning rows and taking weighted means.

    ``place(centers, labels before or None)`` returns a `Placement`; ``tolerance`` is the sum of squared shifts of the
    centers at which the loop stops; ``watch`` is called with labels and centers after each half-step.

    The order of steps, and so the result, is that of scikit-learn's Lloyd: the loop ends when labels repeat, or when
    centers move no more than the tolerance, after which rows are assigned to the last centers once more. A cluster
    that is left empty takes the row that contributes most to the inertia, from a cluster that has more than one.
    """
    k = len(centers)
    before: IntArray | None = None
    best = True
    for n_iter in range(1, max_iter + 1):
        placed = place(centers, before)
        labels, centers = fill_empty(cloud, placed, centers)
        best &= placed.best
        if watch is not None:
            watch(labels, centers)
        moved = means(cloud.X, cloud.weight, labels, k)
        shift = float(((moved - centers) ** 2).sum())
        centers = moved
        if watch is not None:
            watch(labels, centers)
        if before is not None and np.array_equal(labels, before):
            cost = float(cloud.weight @ squared_to(cloud.X, centers, labels))
            return Settled(labels, centers, cost, n_iter, best)
        before = labels
        if shift <= tolerance:
            break
    for _ in range(k + 1):  # a cluster filled now has a new center, which may be nearest to other rows: assign again
        placed = place(centers, before)
        before, kept = placed.labels, centers
        labels, centers = fill_empty(cloud, placed, centers)
        if centers is kept:
            break
        before = labels
    if watch is not None:
        watch(labels, centers)
    cost = float(cloud.weight @ squared_to(cloud.X, centers, labels))
    return Settled(labels, centers, cost, n_iter, best and placed.best)


def fill_empty(cloud: Contracted, placed: Placement, centers: FloatArray) -> tuple[IntArray, FloatArray]:
    """Give every empty cluster a row and make that its center; the arguments are not modified.

    A row alone in a cluster breaks no statement, and the objective cannot rise. If no cluster is empty, the same array
    of centers is returned.
    """
    k = len(centers)
    count = np.bincount(placed.labels, minlength=k)
    empty = np.flatnonzero(count == 0)
    if not len(empty):
        return placed.labels, centers
    labels, centers = placed.labels.copy(), centers.copy()
    cost = cloud.weight * placed.distance
    if placed.movable is not None:
        cost = np.where(placed.movable, cost, -np.inf)
    for c in empty.tolist():
        able = np.where(count[labels] > 1, cost, -np.inf)
        row = int(np.argmax(able))
        count[labels[row]] -= 1
        labels[row] = c
        count[c] = 1
        cost[row] = 0.0
        centers[c] = one_row(cloud.X, row)
    return labels, centers


TRIES = 10  # maximum number of starts per run; a start from which the assignment fails is replaced


@dataclass(frozen=True)
class Loop:
    """The parameters of Lloyd's loop.

    With ``n_init="race"`` several starts compete and the best continues; otherwise that number of starts are run.
    ``watch``, if given, is called after each half-step.
    """

    n_init: int | str = RACE
    max_iter: int = 300
    tol: float = 1e-4
    watch: Callable[..., None] | None = None

    @classmethod
    def of(cls, model: Any) -> Loop:
        """Read the parameters of an estimator, which scikit-learn has validated."""
        return cls(model.n_init, model.max_iter, model.tol, model._watch)

    @property
    def race(self) -> bool:
        """Whether starts compete in a race."""
        return self.n_init == RACE

    @property
    def n_runs(self) -> int:
        """Number of complete runs."""
        return 1 if isinstance(self.n_init, str) else int(self.n_init)


USUAL = Loop()


def run_from_starts(
    cloud: Contracted, start: Start, place: Callable[[], Place], loop: Loop, X: Any, tries: int = TRIES
) -> Settled:
    """Run the loop from the winner of a race, or from several starts, and return the best final state.

    ``place`` returns the assignment policy of one run. If neither start nor assignment is random, one run is enough. A
    run in which the assignment fails is replaced by the next in the race or by another start, up to ``tries`` per run;
    if all fail, the last error is raised. The first of equals is kept.
    """
    tolerance = loop.tol * typical_variance(X)
    best: Settled | None = None
    error: GaveUpError | None = None
    done = 0
    waiting = race(start) if loop.race and start.varies else []
    for _ in range(tries * loop.n_runs):
        assigned = place()
        centers = waiting.pop(0) if waiting else start.centers()
        try:
            ended = run_lloyd(cloud, centers, assigned, max_iter=loop.max_iter, tolerance=tolerance, watch=loop.watch)
        except GaveUpError as gave_up:
            error = gave_up
        else:
            done += 1
            best = ended if best is None or ended.cost < best.cost else best
        if done == loop.n_runs or not (start.varies or getattr(assigned, "random", False)):
            break
    if best is None:
        raise error if error is not None else AssertionError
    return best


def expand(ended: Settled, problem: Problem) -> KMeansRun:
    """Map a result for the rows of a cloud back to the samples."""
    labels = problem.expand(ended.labels)
    inertia = float(squared_to(problem.X, ended.centers, labels).sum())
    return KMeansRun(labels, ended.centers, inertia, ended.n_iter, ended.best)
