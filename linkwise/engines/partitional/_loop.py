"""Lloyd's loop, and everything around it that k-means methods share: reading, judging, starts, expanding the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Kind, Rule, SizeBetween, require_understood
from linkwise.engines.assignment import Cloud, Place, Placement
from linkwise.engines.distances import means, one_row, read_rows, squared_to, typical_variance
from linkwise.engines.partitional._init import Start
from linkwise.engines.partitional._race import RACE, race
from linkwise.exceptions import ConstraintError, GaveUpError, LinkwiseError
from linkwise.problem import check


@dataclass(frozen=True, eq=False)
class KMeansRun:
    """What a k-means function found.

    Attributes
    ----------
    labels : ndarray of intp, shape (n_samples,)
        Cluster of each sample: a row of ``centers``.
    centers : ndarray of shape (n_clusters, n_features)
        Center of each cluster.
    inertia : float
        Sum of squared distances of the samples to the centers of their clusters.
    n_iter : int
        Iterations of the run that was kept.
    best_assignment : bool
        Whether each step of that run was shown to assign at least cost; where it is False, swaps along chains were the
        best that was found for some part of the cannot-links.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import cop_kmeans
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> run = cop_kmeans(X, Constraints.build(4, cannot_link=[(0, 1)]), 2, random_state=0)
    >>> run.inertia, run.best_assignment
    (38.0, True)
    """

    labels: IntArray
    centers: FloatArray
    inertia: float
    n_iter: int
    best_assignment: bool = True


Watch = Callable[[IntArray, FloatArray], None]


@dataclass(frozen=True, eq=False)
class Settled:
    """Where a loop ended, in terms of the rows of a cloud."""

    labels: IntArray
    centers: FloatArray
    cost: float
    n_iter: int
    best: bool


def run_lloyd(
    cloud: Cloud,
    centers: FloatArray,
    place: Place,
    *,
    max_iter: int,
    tolerance: float,
    watch: Watch | None = None,
) -> Settled:
    """Alternate between assigning rows and taking weighted means.

    Parameters
    ----------
    cloud : Cloud
        The rows.
    centers : ndarray of shape (n_clusters, n_features)
        Where to start.
    place : callable
        Called as ``place(centers, labels before or None)``, returns a `Placement`.
    max_iter : int
        Most iterations.
    tolerance : float
        Stop when the squared movement of all centers together is at most this; in units of squared distance.
    watch : callable, optional
        Called with labels and centers after each half-step.

    Notes
    -----
    The order of steps, and so the answer, is that of scikit-learn's Lloyd: the loop ends when labels repeat, or when
    centers move no more than the tolerance, after which rows are assigned to the last centers once more. A cluster
    that is left empty takes the row that contributes most to the inertia, out of a cluster that has another one.
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
    for _ in range(k + 1):  # a cluster filled now has a new center, which may be nearer to others: look once more
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


def fill_empty(cloud: Cloud, placed: Placement, centers: FloatArray) -> tuple[IntArray, FloatArray]:
    """Give every empty cluster a row and its place as center; the arguments are not modified.

    A row alone in a cluster is apart from all others, so no statement can break, and the objective cannot rise. When
    nothing is empty the centers come back as the same array.
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


TRIES = 10  # a start from which the assignment gave up is replaced by another: up to so many for each run asked for


class Loop:
    """The parameters of Lloyd's loop, checked.

    ``race`` says that starts race and the best goes on, where otherwise ``n_init`` of them run to their ends.
    ``watch``, if given, is called with the labels and centers of the contracted rows after each half-step.
    """

    def __init__(self, who: str, n_init: int | str, max_iter: int, tol: float, watch: Watch | None = None) -> None:
        self.race = isinstance(n_init, str) and n_init == RACE
        runs = 1 if self.race else n_init
        require_count(who, "n_init", runs, f' or "{RACE}"')
        require_count(who, "max_iter", max_iter)
        if not tol >= 0:
            msg = f"{who}: tol is {tol!r}, expected a number >= 0."
            raise LinkwiseError(msg)
        self.n_init, self.max_iter, self.tol, self.watch = int(runs), int(max_iter), float(tol), watch


def require_count(who: str, name: str, value: Any, other: str = "") -> None:
    """Refuse what is not a whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        msg = f"{who}: {name} is {value!r}, expected a whole number >= 1{other}."
        raise LinkwiseError(msg)


def read_problem(
    X: Any,
    constraints: Constraints,
    n_clusters: Any,
    kinds: frozenset[Kind],
    rules: frozenset[type[Rule]],
    who: str,
) -> tuple[Any, int]:
    """Return X as rows and the number of clusters; refuse what the function does not understand."""
    rows = read_rows(X, who)
    n = rows.shape[0]
    if constraints.n_samples != n:
        msg = f"{who}: constraints speak about {constraints.n_samples} samples, but X has {n} rows."
        raise ConstraintError(msg)
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral) or not 1 <= int(n_clusters) <= n:
        msg = f"{who}: n_clusters is {n_clusters!r}, expected a whole number from 1 to {n}, the number of samples."
        raise LinkwiseError(msg)
    require_understood(constraints, who, kinds, rules)
    return rows, int(n_clusters)


def judge(constraints: Constraints, k: int, who: str) -> Callable[[], IntArray]:
    """Raise if the statements contradict each other or bounds rule ``k`` clusters out; return what decides the rest.

    Whether cannot-links leave ``k`` clusters, and of which sizes, can take long to decide, so that is asked only when a
    method finds no labels itself. What is returned then shows some, raises the explanation why there are none, or
    raises `GaveUpError` when the question is left open.
    """
    verdict = check(constraints.with_rules())
    verdict.raise_if_infeasible()
    n = constraints.n_samples
    ruled_out = any(
        isinstance(rule, SizeBetween) and not k * rule.low <= n <= k * (n if rule.high is None else rule.high)
        for rule in constraints.rules
    )
    if ruled_out or not (verdict.k_min or 1) <= k <= (verdict.k_max or n):
        check(constraints, n_clusters=k).raise_if_infeasible()

    def witness() -> IntArray:
        final = check(constraints, n_clusters=k)
        final.raise_if_infeasible()
        if isinstance(final.witness, np.ndarray):
            return final.witness
        msg = (
            f"{who} gave up: it found no {k} clusters in which all statements hold, nor a proof that there are none.\n"
            f"{final.because}\n"
            "Hint: a larger n_clusters makes it easier; `repair(constraints)` finds statements to drop."
        )
        raise GaveUpError(msg)

    return witness


def run_from_starts(
    cloud: Cloud, start: Start, place: Callable[[], Place], loop: Loop, X: Any, tries: int = TRIES
) -> Settled:
    """Run the loop from the winner of a race, or from several starts, and return where the best one ended.

    ``place`` makes what assigns rows in one run. Where neither start nor assignment leaves anything to chance one run
    is enough. A run in which the assignment gives up does not count, and the next in the race or another start takes
    its place, up to ``tries`` for each run asked for; if all do, the last error is raised. Of equals the first is kept.
    """
    tolerance = loop.tol * typical_variance(X)
    best: Settled | None = None
    error: GaveUpError | None = None
    done = 0
    waiting = race(start) if loop.race and start.varies else []
    for _ in range(tries * loop.n_init):
        assigned = place()
        centers = waiting.pop(0) if waiting else start.centers()
        try:
            ended = run_lloyd(cloud, centers, assigned, max_iter=loop.max_iter, tolerance=tolerance, watch=loop.watch)
        except GaveUpError as gave_up:
            error = gave_up
        else:
            done += 1
            best = ended if best is None or ended.cost < best.cost else best
        if done == loop.n_init or not (start.varies or getattr(assigned, "random", False)):
            break
    if best is None:
        raise error if error is not None else AssertionError
    return best


def expand(ended: Settled, cloud: Cloud, X: Any) -> KMeansRun:
    """Carry a result back to the samples."""
    labels = ended.labels[cloud.group]
    inertia = float(squared_to(X, ended.centers, labels).sum())
    return KMeansRun(labels, ended.centers, inertia, ended.n_iter, ended.best)
