"""Annealing searches for the partition, and for the binary tree, that break the least weight of statements.

Partitions: a step takes one sample, or the branch of its cluster that hangs on it when one of its must-links is cut,
and looks at all clusters it has statements about, and at a cluster of its own. Branches matter because answers are few:
clusters are chains of must-links more than dense heaps, and a chain does not move sample by sample.

Trees: a step takes a subtree out and looks at *every* edge it could be put back on. Nodes are kept in preorder, so that
a subtree is a stretch of positions and what a triplet says about its place is an addition over a stretch: for a triplet
with exactly one member x in the subtree, xb|c holds on the edges at and below the child of lca(b, c) that leads to b,
and ab|x fails on the edges strictly below lca(a, b). Triplets with more members in the subtree do not care where it
goes. All places together cost one pass over the positions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import run_starts
from linkwise.problem.repairs._kernels_anneal_partition import _anneal as anneal_partition
from linkwise.problem.repairs._kernels_anneal_tree import Tree, _anneal as anneal_tree, _lay_out, broken_by
from linkwise.problem.statements import STEPS, Budget
from linkwise.problem.triplets import incidence

_SWEEPS = 30
_PATIENCE = 2


def _cool(
    run: Callable[[float, float, int, int, int], tuple[float, float]],
    weight: FloatArray,
    moving: int,
    slice_of: int,
    budget: Budget,
) -> None:
    """Call ``run(hot, cold, steps, begin, stop)`` for slices of coolings, each slower, until that brings no gain.

    It returns the best value so far and the work of the slice, which is spent from the budget. The first cooling takes
    30 steps per moving part for weights of one size, more in proportion to the logarithm of their range; each further
    one takes twice as many. The search ends when two in a row found nothing better, or with the budget, which is looked
    at between slices. A first sweep in the cold shows what steps take; when the budget is small the first cooling is
    made to fit it, since a quick one that ends is worth more than a slow one that does not.
    """
    light = float(np.quantile(weight, 0.1))
    hot, cold = 0.8 * float(weight.max()), 0.12 * light
    steps = int(_SWEEPS * moving * np.log(hot / cold) / np.log(0.8 / 0.12))
    if budget.over:
        return
    probe = min(slice_of, moving)
    work = max(1.0, run(cold, cold, probe, 0, probe)[1])
    budget.spend(work)
    steps = min(steps, max(1, int(min(1e15, 0.9 * budget.left * STEPS / (work / probe)))))
    best, idle = -np.inf, 0
    while idle < _PATIENCE:
        before = best
        for begin in range(0, steps, slice_of):
            if budget.over:
                return
            best, work = run(hot, cold, steps, begin, min(begin + slice_of, steps))
            budget.spend(work)
        idle = 0 if best > before else idle + 1
        steps *= 2


def broken_in(label: IntArray, pairs: IntArray, is_must: BoolArray) -> BoolArray:
    """Mask the must-links across clusters and the cannot-links inside them."""
    broken: BoolArray = (label[pairs[:, 0]] == label[pairs[:, 1]]) != is_must
    return broken


def best_partition(
    pairs: IntArray,
    is_must: BoolArray,
    weight: FloatArray,
    label: IntArray,
    budget: Budget,
    rng: np.random.Generator,
) -> IntArray:
    """Search for the partition that breaks the least weight of ``pairs``; labels no worse than those given.

    Labels are numbered below the number of samples. The search stops with the budget, or by itself once two coolings in
    a row have found nothing better. **Cost** one step is linear in the statements of what moves; a cooling is 30 steps
    per sample, and doubles. **Guarantee** none beyond the start; the same generator and budget give the same labels.
    """
    n = len(label)
    ends = np.concatenate([pairs[:, 0], pairs[:, 1]])
    signed = np.tile(np.where(is_must, weight, -weight), 2)
    order = np.lexsort((signed < 0, ends))
    start = run_starts(ends, n)
    links = np.bincount(ends[signed > 0], minlength=n).astype(np.intp)
    other = np.concatenate([pairs[:, 1], pairs[:, 0]])[order]
    value = signed[order]
    now, best = label.copy(), label.copy()
    inside = label[pairs[:, 0]] == label[pairs[:, 1]]
    held = float(np.where(is_must, weight, -weight)[inside].sum())
    state = np.array([held, held, 0.0])

    def run(hot: float, cold: float, steps: int, begin: int, stop: int) -> tuple[float, float]:
        state[2] = 0.0
        anneal_partition(now, best, start, links, other, value, hot, cold, steps, begin, stop, state, rng)
        return float(state[1]), float(state[2])

    _cool(run, weight, n, 50_000, budget)
    return best


def tree_of(parent: IntArray) -> Tree:
    """A binary tree from its parent array."""
    nodes = len(parent)
    child = np.full((nodes, 2), -1, np.intp)
    inner = np.argsort(parent, kind="stable")[1:].reshape(-1, 2)  # the root's -1 comes first, then pairs of siblings
    child[parent[inner[:, 0]]] = inner
    root = int(np.flatnonzero(parent < 0)[0])
    tree = Tree(parent.copy(), child, np.full(nodes, root, np.intp), np.empty(nodes, np.intp), np.empty(nodes, np.intp))
    _lay_out(tree)
    return tree


def best_tree(
    n: int, triplets: IntArray, weight: FloatArray, parent: IntArray, budget: Budget, rng: np.random.Generator
) -> IntArray:
    """Search for the binary tree over n >= 2 leaves that breaks the least weight; one no worse than ``parent``.

    The search stops as that for partitions does. **Cost** one step is O(n + d log n) for d triplets touching the pruned
    subtree in a tree of logarithmic depth; a cooling is 30 steps per node, and doubles. **Guarantee** none beyond the
    start; the same generator and budget give the same tree.
    """
    start, incident = incidence(n, triplets)
    best = parent.copy()
    tree = tree_of(parent)
    held = float(weight[~broken_by(tree, triplets)].sum())
    state = np.array([held, held, 0.0])

    def run(hot: float, cold: float, steps: int, begin: int, stop: int) -> tuple[float, float]:
        state[2] = 0.0
        anneal_tree(tree, best, triplets, weight, start, incident, hot, cold, steps, begin, stop, state, rng)
        return float(state[1]), float(state[2])

    slice_of = max(100, 4_000_000 // (2 * n + 30 * len(triplets) // n))
    _cool(run, weight, 2 * n - 1, slice_of, budget)
    return best
