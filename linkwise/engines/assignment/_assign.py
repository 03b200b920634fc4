"""The assignment step every hard or half-hard k-means shares: costs and what is to be apart in, labels out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.assignment._kernels_cycles import assign_others
from linkwise.engines.assignment._kernels_trees import BEST, UNSOLVED, assign_easy
from linkwise.problem.statements import OTHER, Apart


class Assignment(NamedTuple):
    """Labels of the places of an `Apart`, whether none can cost less, and whether all places have one.

    A part for which no labels were found has -1 throughout; that proves nothing.
    """

    labels: IntArray
    best: bool
    solved: bool


def assign(costs: FloatArray, apart: Apart, labels: IntArray | None = None) -> Assignment:
    """Give each place a cluster at least total cost so that what is to be apart is.

    Parameters
    ----------
    costs : ndarray of shape (n_places, n_clusters)
        Cost of each cluster for each place of ``apart``; inf forbids a cluster. Not modified.
    apart : Apart
        What is to be apart.
    labels : ndarray of intp, shape (n_places,), optional
        Labels in which all is apart already, at finite cost: where the search starts from. The answer never costs
        more than these. Without them parts with cycles are first filled in greedily.

    Notes
    -----
    **Cost** O(s k^2) for a clique of s places, O(s k) for a part without cycles, a fixed number of steps at most for
    any other; all compiled. **Guarantee** nothing that is to be apart is together. Cliques, parts without cycles and
    nearly always parts of up to 12 places are assigned at least cost; larger ones so that no swap of two clusters
    along a chain lowers it, better where branch and bound ends in time.
    """
    answer = np.full(apart.n_places, -1, dtype=np.intp) if labels is None else np.array(labels, dtype=np.intp)
    costs = np.ascontiguousarray(costs, dtype=np.float64)
    outcome = np.empty(len(apart.shape), dtype=np.intp)
    assign_easy(costs, apart, answer, outcome)
    if (apart.shape == OTHER).any():  # apart, so that nobody waits for a compiler without need
        assign_others(costs, apart, answer, outcome)
    return Assignment(answer, bool((outcome == BEST).all()), not (outcome == UNSOLVED).any())
