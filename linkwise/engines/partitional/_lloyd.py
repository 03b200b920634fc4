"""Lloyd's loop: assign, take means, again, until nothing moves. How rows are assigned is the method's own business."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.engines.partitional._cloud import Cloud
from linkwise.engines.partitional._places import Place, Placement
from linkwise.engines.partitional._rows import means, one_row, squared_to

__all__ = ["KMeansRun", "fill_empty", "run_lloyd"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KMeansRun:
    """What a k-means function found.

    Attributes
    ----------
    labels : ndarray of intp, shape (n_samples,)
        Cluster of each sample: a row of ``centers``.
    centers : ndarray of shape (n_clusters, n_features)
        Centre of each cluster.
    inertia : float
        Sum of squared distances of the samples to the centres of their clusters.
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
        Stop when the squared movement of all centres together is at most this; in units of squared distance.
    watch : callable, optional
        Called with labels and centres after each half-step.

    Notes
    -----
    The order of steps, and so the answer, is that of scikit-learn's Lloyd: the loop ends when labels repeat, or when
    centres move no more than the tolerance, after which rows are assigned to the last centres once more. A cluster
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
    for _ in range(k + 1):  # a cluster filled now has a new centre, which may be nearer to others: look once more
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
    """Give every empty cluster a row and its place as centre; the arguments are not modified.

    A row alone in a cluster is apart from all others, so no statement can break, and the objective cannot rise. When
    nothing is empty the centres come back as the same array.
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
