"""Spanning forests of links, and exclusive-or over their subtrees."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import make, union
from linkwise._typing import BoolArray, IntArray


@njit
def spanning_links(n: int, pairs: IntArray) -> BoolArray:
    """Mask the pairs that join two groups when taken in order: a spanning forest."""
    sets = make(n)
    used = np.zeros(len(pairs), np.bool_)
    for t in range(len(pairs)):
        used[t] = union(sets, pairs[t, 0], pairs[t, 1])
    return used


@njit
def _subtree_xor(order: IntArray, above: IntArray, value: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    for t in range(len(order) - 1, 0, -1):
        value[above[order[t]]] ^= value[order[t]]
    return value
