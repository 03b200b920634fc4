"""Constrained k-means beside a greedy tree: clusters that overlap are divided better by their means than by merging."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._typing import IntArray
from linkwise.engines.assignment import ExactPlaces
from linkwise.engines.distances import means, squared_to
from linkwise.engines.partitional import cop_kmeans, run_lloyd
from linkwise.exceptions import GaveUpError
from linkwise.problem import Problem

STEPS = 10
WORTH = 0.01  # the share by which the cost has to fall, so that clusters need not be those of the first tree
WORTH_AT_DEAD_END = 0.001  # where samples were moved already


class Refined(NamedTuple):
    """Clusters by k-means, and the share by which their squared distances to the means are lower."""

    labels: IntArray
    gain: float


def refine(labels: IntArray, problem: Problem, seed: int, worth: float = WORTH) -> Refined | None:
    """Take steps of constrained k-means from some clusters and from a start of its own; None if neither is worth it.

    Every step keeps all statements. ``worth`` is the share by which the sum of squared distances has to fall.
    """
    k, best, found = problem.k, None, _cost(labels, problem)
    least = (1.0 - worth) * found
    for run in (_from_clusters, _from_its_own_start):
        try:
            made = run(labels, problem, seed)
        except GaveUpError:
            continue
        now = _cost(made, problem)
        if now < least and np.bincount(made, minlength=k).all():
            least, best = now, made
    return None if best is None else Refined(best, 1.0 - least / found)


def _from_clusters(labels: IntArray, problem: Problem, seed: int) -> IntArray:  # noqa: ARG001
    cloud = problem.contract()
    centers = means(cloud.X, cloud.weight, problem.reduce(labels), problem.k)
    place = ExactPlaces(cloud, problem.witness)
    return problem.expand(run_lloyd(cloud, centers, place, max_iter=STEPS, tolerance=0.0).labels)


def _from_its_own_start(labels: IntArray, problem: Problem, seed: int) -> IntArray:  # noqa: ARG001
    return cop_kmeans(problem, random_state=seed).labels


def _cost(labels: IntArray, problem: Problem) -> float:
    centers = means(problem.X, np.ones(problem.n_samples), labels, problem.k)
    return float(squared_to(problem.X, centers, labels).sum())
