"""Cycles with exactly one cannot-link, the contradictions among pairs: the parts they lie in, and the lightest ones."""

from __future__ import annotations

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, IntArray
from linkwise.problem.repairs._kernels_link_cycles import blocks


class Incidence:
    """The links at every sample as CSR: ``other`` ends and numbers of ``link``."""

    def __init__(self, n: int, pairs: IntArray) -> None:
        ends = np.concatenate([pairs[:, 0], pairs[:, 1]])
        order = np.argsort(ends, kind="stable")
        self.start = np.zeros(n + 1, dtype=np.intp)
        np.cumsum(np.bincount(ends, minlength=n), out=self.start[1:])
        self.other = np.concatenate([pairs[:, 1], pairs[:, 0]])[order]
        self.link = order % max(len(pairs), 1)


def cycle_parts(n: int, pairs: IntArray, is_must: BoolArray) -> IntArray:
    """Number the sets of pairs that can be repaired independently; -1 for pairs in no contradiction at all.

    A cannot-link between samples that no chain of must-links joins closes no cycle. Of the rest, a cycle lies inside
    one block (biconnected component), and a block without cannot-link has nothing to contradict.
    """
    group = components(n, pairs[is_must])
    used = np.flatnonzero(is_must | (group[pairs[:, 0]] == group[pairs[:, 1]]))
    graph = Incidence(n, pairs[used])
    block = blocks(graph.start, graph.other, graph.link)
    guilty = np.unique(block[~is_must[used]])
    number = np.full(len(used), -1, dtype=np.intp)
    number[guilty] = np.arange(len(guilty))
    part = np.full(len(pairs), -1, dtype=np.intp)
    part[used] = number[block]
    return part
