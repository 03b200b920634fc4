"""The assignment step of constrained k-means: clusters of minimum total cost under cannot-links."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.assignment._kernels_cycles import assign_others
from linkwise.engines.assignment._kernels_trees import BEST, UNSOLVED, assign_easy
from linkwise.problem.statements import OTHER, Apart


class Assignment(NamedTuple):
    """Labels of the places of an `Apart`, whether their cost is minimal, and whether all places have one.

    A component for which no labels were found has -1 throughout; that does not prove that there are none.
    """

    labels: IntArray
    best: bool
    solved: bool


def assign(costs: FloatArray, apart: Apart, labels: IntArray | None = None) -> Assignment:
    """Assign each place to a cluster at minimum total cost so that no cannot-link breaks.

    Parameters
    ----------
    costs : ndarray of shape (n_places, n_clusters)
        Cost of each cluster for each place of ``apart``; inf forbids a cluster. Not modified.
    apart : Apart
        The cannot-links between places.
    labels : ndarray of intp, shape (n_places,), optional
        Labels of finite cost that break no cannot-link: the start of the search. The result never costs more. Without
        them components with cycles are first filled greedily.

    Notes
    -----
    **Cost** O(s k^2) for a clique of s places, O(s k) for a component without cycles, a bounded number of steps for
    any other; all compiled. **Guarantee** no cannot-link is broken. Cliques, components without cycles and nearly
    always components of up to 12 places are assigned at minimum cost; larger ones so that no swap of two clusters
    along a chain lowers the cost, and better where branch and bound ends in time.
    """
    answer = np.full(apart.n_places, -1, dtype=np.intp) if labels is None else np.array(labels, dtype=np.intp)
    costs = np.ascontiguousarray(costs, dtype=np.float64)
    outcome = np.empty(len(apart.shape), dtype=np.intp)
    assign_easy(costs, apart, answer, outcome)
    if (apart.shape == OTHER).any():  # a separate kernel, compiled only when needed
        assign_others(costs, apart, answer, outcome)
    return Assignment(answer, bool((outcome == BEST).all()), not (outcome == UNSOLVED).any())
