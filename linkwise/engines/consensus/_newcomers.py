"""Clusters of samples that no view was fitted to, by their nearest compared samples in the learned metric."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.assignment import assign
from linkwise.engines.distances import squared
from linkwise.engines.hierarchical import CHUNK
from linkwise.problem import Problem

NEIGHBORS = 10
_LEAVING = 10.0  # cost, in votes of one sample, of taking a compared sample out of its cluster


class Ballots(NamedTuple):
    """For each newcomer the share of its nearest compared samples in each cluster, and its nearest one in each."""

    share: FloatArray
    nearest: IntArray

    def nearest_in(self, labels: IntArray) -> IntArray:
        """The nearest compared sample of each newcomer in the cluster that it joins."""
        return self.nearest[np.arange(len(labels)), labels]


def ask_neighbors(rows: FloatArray, compared: FloatArray, labels: IntArray, k: int) -> Ballots:
    """Let the nearest compared samples of each row vote; a copy of a compared sample follows it alone."""
    near = min(NEIGHBORS, len(compared))
    share, nearest = np.zeros((len(rows), k)), np.zeros((len(rows), k), dtype=np.intp)
    members = [np.flatnonzero(labels == c) for c in range(k)]
    step = max(1, CHUNK // (8 * len(compared)))
    for low in range(0, len(rows), step):
        far = squared(np.ascontiguousarray(rows[low : low + step]), compared)
        first = far.argmin(axis=1)
        for c, own in enumerate(members):
            nearest[low : low + step, c] = own[far[:, own].argmin(axis=1)]
        at = np.argpartition(far, near - 1, axis=1)[:, :near]
        votes = share[low : low + step]
        line = np.arange(len(far))
        for j in range(near):
            np.add.at(votes, (line, labels[at[:, j]]), 1.0 / near)
        votes[line, labels[first]] += 1.0 / (2 * near)  # ties go to the nearest
        copy = far[line, first] == 0.0
        votes[copy] = 0.0
        votes[copy, labels[first[copy]]] = 1.0
    return Ballots(share, nearest)


def place_rest(share: FloatArray, labels: IntArray, problem: Problem) -> IntArray:
    """Assign samples to the clusters with most votes so that all pairs hold.

    Parameters
    ----------
    share : ndarray of shape (n, k)
        Votes of each sample.
    labels : ndarray of intp, shape (n,)
        Clusters of the compared samples, -1 for others.
    problem : Problem
        The statements about all samples.
    """
    cost = -share
    known = np.flatnonzero(labels >= 0)
    cost[known] = _LEAVING
    cost[known, labels[known]] = 0.0
    columns = [np.bincount(problem.group, weights=column, minlength=problem.n_groups) for column in cost.T]
    total: FloatArray = np.stack(columns, axis=1).astype(np.float64)
    found = total.argmin(axis=1)
    apart = problem.apart
    placed = assign(total[apart.node], apart)
    if not placed.solved:
        shown = problem.reduce(problem.witness())
        placed = assign(total[apart.node], apart, shown[apart.node])
    found[apart.node] = placed.labels
    return problem.expand(found)
