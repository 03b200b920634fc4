"""Exhaustive search for a hierarchy with exactly k clusters, which joins or separates two blocks at a time.

For any two blocks, either some solution joins them or every solution parts them. Joining runs the exact rules for
must-links and triplets again, parting adds a cannot-link; bounds on the number of clusters close most branches.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from linkwise._typing import IntArray
from linkwise.problem.feasibility._coloring import ConflictGraph
from linkwise.problem.feasibility._cuts_of_size import hierarchy_of_blocks
from linkwise.problem.statements import Budget, Hard
from linkwise.problem.triplets import blocks_or_none
from linkwise.result import Dendrogram

_ASSUMED = -1  # number of an assumption that stands for no statement
_NODE, _CELL = 60_000, 1  # steps of a branch, and those for each pair of blocks


def search_cut(
    hard: Hard, k: int, budget: Budget
) -> tuple[Literal["feasible", "infeasible", "unknown"], Dendrogram | None]:
    """Search a hierarchy with a marked cut of ``k`` clusters in which all hard statements hold.

    Notes
    -----
    **Cost** exponential at worst (the question is NP-complete). **Guarantee** exact unless the budget is used up.
    """
    stack = [hard]
    while stack:
        if budget.over:
            return "unknown", None
        here = stack.pop()
        budget.spend(_NODE + 3 * here.steps)
        block = blocks_or_none(here)
        if block is None or int(block.max(initial=-1)) + 1 < k:
            continue
        graph = ConflictGraph(block, here.cannot, here.apart)
        budget.spend(_CELL * graph.n**2)
        if len(graph.clique()) > k:
            continue
        tree = hierarchy_of_blocks(here.n, block, here.triplets, here.cannot, here.apart, k)
        if tree is not None:
            return "feasible", tree
        pair = _undecided_pair(graph, block)
        if pair is not None:
            stack += [here.with_cannot(*pair, _ASSUMED), here.with_must(*pair, _ASSUMED)]
    return "infeasible", None


def _undecided_pair(graph: ConflictGraph, block: IntArray) -> tuple[int, int] | None:
    """Return samples of two blocks that may be joined, busy ones first; None if all are apart."""
    apart = graph.matrix()
    np.fill_diagonal(apart, True)
    busy = apart.sum(axis=1)
    score = np.where(apart, -1, busy[:, None] + busy[None, :])
    best = int(np.argmax(score))
    if score.flat[best] < 0:
        return None
    first = np.unique(block, return_index=True)[1]
    u, v = divmod(best, graph.n)
    return int(first[u]), int(first[v])
