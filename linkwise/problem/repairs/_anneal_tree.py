"""The rooted binary tree that breaks the least weight of contradicting triplets: annealing by pruning and regrafting.

One step takes a subtree out and looks at *every* edge it could be put back on. Nodes are kept in preorder, so that a
subtree is a stretch of positions and what a triplet says about the place of the subtree is an addition over a stretch:
for a triplet with exactly one member x in the subtree, xb|c holds on the edges at and below the child of lca(b, c) that
leads to b, and ab|x fails on the edges strictly below lca(a, b). Triplets with more members in the subtree do not
care where it goes. All places together cost one pass over the positions.
"""

from __future__ import annotations

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.problem.repairs._cooling import cooling
from linkwise.problem.repairs._kernels_anneal_tree import Tree, _anneal, _lay_out, broken_by
from linkwise.problem.statements import Budget


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
    """Search for the binary tree that breaks the least weight; a parent array no worse than the one given.

    Parameters
    ----------
    n : int
        Number of leaves, at least 2.
    triplets : ndarray of intp, shape (m, 3)
        A row ``a, b, c`` reads ab|c.
    weight : ndarray of float64, shape (m,)
        Cost of breaking each.
    parent : ndarray of intp
        The binary tree to start from, leaves first.
    budget : Budget
        Counted work after which to stop. Before that the search stops by itself once two coolings in a row, each twice
        as slow as the one before, have found nothing better.
    rng : Generator

    Notes
    -----
    **Cost** one step is O(n + d log n) for d triplets touching the pruned subtree in a tree of logarithmic depth; a
    cooling is 30 steps per node, and doubles. **Guarantee** none beyond the start; the same generator and budget
    give the same tree.
    """
    item = triplets.ravel()
    order = np.argsort(item, kind="stable")
    start = np.zeros(n + 1, dtype=np.intp)
    np.cumsum(np.bincount(item, minlength=n), out=start[1:])
    incident = order // 3
    best = parent.copy()
    tree = tree_of(parent)
    held = float(weight[~broken_by(tree, triplets)].sum())
    state = np.array([held, held, 0.0])

    def run(hot: float, cold: float, steps: int, begin: int, stop: int) -> tuple[float, float]:
        state[2] = 0.0
        _anneal(tree, best, triplets, weight, start, incident, hot, cold, steps, begin, stop, state, rng)
        return float(state[1]), float(state[2])

    slice_of = max(100, 4_000_000 // (2 * n + 30 * len(triplets) // n))
    cooling(run, weight, 2 * n - 1, slice_of, budget)
    return best
