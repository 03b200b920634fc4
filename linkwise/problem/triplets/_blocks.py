"""The finest clusters that must-links and triplets leave possible, and the hierarchy that shows them.

Two rules are applied until nothing changes. *Conditional*: for ab|c, if c's block is a's or b's, the three blocks are
one. *Contraction*: if the triplets written over blocks have no common tree, the blocks on which building it gets stuck
are one. Every feasible cut is a coarsening of what results.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._kernels.disjoint_set import DisjointSet, components, labels
from linkwise._typing import IntArray
from linkwise.constraints import run_starts
from linkwise.problem.statements import Hard
from linkwise.problem.triplets._kernels_blocks import BY_ITSELF, BY_THIRD, _settle
from linkwise.problem.triplets._kernels_proof_forest import grow_forest
from linkwise.problem.triplets._onetree import onetree


class Union(NamedTuple):
    """The finest blocks and the links that made them: a forest, in the order in which they joined two blocks.

    ``step`` is ``BY_ITSELF`` for a must-link, ``BY_THIRD`` for the conditional rule; from ``BY_KNOT`` on, links with
    the same number belong to one contraction.
    """

    block: IntArray
    link: IntArray  # two samples each: those of a must-link, or a and b of a triplet ab|c
    reason: IntArray  # which must-link, or after these which triplet, joined them
    step: IntArray


def finest_blocks(n: int, must_link: IntArray, triplets: IntArray) -> IntArray:
    """Number the finest clusters possible, by first member; ``triplets`` must be consistent among themselves.

    **Cost** one tree building per contraction, at most n of them; the conditional rule O((n + m) log n) in all.
    **Guarantee** exact: every hierarchy and cut that satisfies the input puts each block into one cluster, and one
    exists whose clusters are the blocks.
    """
    if not len(triplets) or not len(must_link):
        block: IntArray = components(n, must_link)
        return block
    return unite_blocks(n, must_link, triplets).block


def unite_blocks(n: int, must_link: IntArray, triplets: IntArray) -> Union:
    """Compute the finest blocks and the statements that made them, one link for each."""
    start, incident = incidence(n, triplets)
    sets = DisjointSet(np.arange(n), np.ones(n, np.intp))
    ring = np.arange(n)
    log, count = np.empty((n, 4), dtype=np.intp), np.zeros(1, dtype=np.intp)
    pairs, reasons, step, offset = np.ascontiguousarray(must_link), np.arange(len(must_link)), BY_ITSELF, len(must_link)
    while True:
        _settle(sets, ring, pairs, reasons, step, triplets, offset, start, incident, log, count)
        block = labels(sets)
        rows, over = _over(block, triplets)
        stuck = onetree(int(block.max(initial=-1)) + 1, over).stuck
        if stuck is None:
            made = log[: count[0]]
            return Union(block, made[:, :2], made[:, 2], made[:, 3])
        tying = _tying(int(block.max()) + 1, over, stuck)
        step = max(step, BY_THIRD) + 1
        pairs, reasons = np.ascontiguousarray(triplets[rows[tying], :2]), offset + rows[tying]


def _tying(n: int, triplets: IntArray, stuck: IntArray) -> IntArray:
    """Triplets inside a stuck set whose close pairs tie it together, one fewer than it has members."""
    inside = np.zeros(n, dtype=np.bool_)
    inside[stuck] = True
    rows = np.flatnonzero(inside[triplets].all(axis=1))
    forest = grow_forest(n, np.ascontiguousarray(triplets[rows, :2]), stuck[:1])
    return np.asarray(rows[forest.link[forest.link >= 0]], dtype=np.intp)


def incidence(n: int, triplets: IntArray) -> tuple[IntArray, IntArray]:
    """CSR of the triplets each item is in."""
    item = triplets.ravel()
    order = np.argsort(item, kind="stable")
    start = run_starts(item, n)
    return start, order // 3


def _over(block: IntArray, triplets: IntArray) -> tuple[IntArray, IntArray]:
    """Write triplets over blocks: which of them are about three different blocks, and these."""
    over = block[triplets]
    a, b, c = over.T
    rows = np.flatnonzero((a != b) & (a != c) & (b != c))
    return rows, over[rows]


def blocks_or_none(hard: Hard) -> IntArray | None:
    """The finest clusters possible, or None when the statements contradict each other."""
    if len(hard.broken(hard.group)[0]):
        return None
    if not len(hard.triplets):
        return hard.group
    if onetree(hard.n, hard.triplets).parent is None:
        return None
    block = finest_blocks(hard.n, hard.must, hard.triplets)
    return None if len(hard.broken(block)[0]) else block
