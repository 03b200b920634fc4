"""Classes against the clusters of a tree: where their members meet, and which cluster fits each best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels.lca import LcaIndex
from linkwise.metrics._kernels_classes import class_meetings

__all__ = ["Meetings", "best_f", "judged_below", "meetings"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]


class Meetings(NamedTuple):
    """Where members of a class meet in a tree: node, class, members below, pairs meeting there."""

    node: IntArray
    of_class: IntArray
    members: IntArray
    pairs: IntArray


def meetings(index: LcaIndex, sample: IntArray, of_class: IntArray, k: int) -> Meetings:
    order = np.lexsort((index.first[sample], of_class))
    start = np.zeros(k + 1, dtype=np.intp)
    np.cumsum(np.bincount(of_class, minlength=k), out=start[1:])
    rows, used = class_meetings(index, sample[order], start)
    return Meetings(*rows[:used].T)


def judged_below(index: LcaIndex, samples: IntArray) -> IntArray:
    """How many of the given samples lie below each node; the last entry is the node above all roots."""
    met = np.zeros(len(index.first) + 1, dtype=np.intp)
    met[index.first[samples]] = 1
    met = np.cumsum(met)
    return np.asarray(met[index.last] - met[index.first - 1])


def best_f(index: LcaIndex, below: IntArray, sample: IntArray, of_class: IntArray, k: int) -> FloatArray:
    """Best F-measure of any cluster of the tree, for each class."""
    met = meetings(index, sample, of_class, k)
    size = np.bincount(of_class, minlength=k)
    real = met.node < len(index.first) - 1  # the node above all roots of a forest is no cluster
    node, group = met.node[real], met.of_class[real]
    best = np.zeros(k)
    np.maximum.at(best, group, 2.0 * met.members[real] / (below[node] + size[group]))
    return best
