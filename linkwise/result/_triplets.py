"""Triplets that a tree displays: all of them, or a minimal set that entails the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import IntArray
from linkwise.constraints import Constraints
from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from linkwise.trees import Tree


MOST_TRIPLETS = 5_000_000


@njit
def _siblings(parent: IntArray, start: IntArray, child: IntArray, roots: IntArray, v: int) -> IntArray:
    """The nodes beside ``v``, itself included; roots are beside each other."""
    return roots if parent[v] < 0 else child[start[parent[v]] : start[parent[v] + 1]]


@njit
def _minimal(
    n: int, parent: IntArray, start: IntArray, child: IntArray, roots: IntArray, leaf: IntArray, m: int
) -> IntArray:
    rows = np.empty((m, 3), np.intp)
    t = 0
    for v in range(n, len(parent)):
        for w in _siblings(parent, start, child, roots, v):
            if w == v:
                continue
            for e in range(start[v] + 1, start[v + 1]):
                rows[t, 0] = leaf[child[start[v]]]
                rows[t, 1] = leaf[child[e]]
                rows[t, 2] = leaf[w]
                t += 1
    return rows


@njit
def _all(
    n: int, start: IntArray, child: IntArray, order: IntArray, begin: IntArray, count: IntArray, m: int
) -> IntArray:
    """Write ab|c for every a, b that meet at a node and every c beside that node's stretch of ``order``."""
    rows = np.empty((m, 3), np.intp)
    t = 0
    for v in range(n, len(count)):
        low, high = begin[v], begin[v] + count[v]
        for e in range(start[v], start[v + 1]):
            x = child[e]
            for i in range(begin[x], begin[x] + count[x]):
                for j in range(begin[x] + count[x], high):
                    for o in range(len(order)):
                        if o < low or o >= high:
                            rows[t, 0] = order[i]
                            rows[t, 1] = order[j]
                            rows[t, 2] = order[o]
                            t += 1
    return rows


def triplets_of(tree: Tree, minimal: bool) -> Constraints:
    """Collect the triplets ``tree`` displays; with ``minimal`` only one family per inner edge."""
    n, start, child, count = tree.n_samples, tree.child_start, tree.child, tree.leaf_count
    begin = stretches(tree)
    if minimal:
        n_children = np.diff(start)
        beside = np.where(tree.parent >= 0, n_children[tree.parent], tree.n_roots) - 1
        total = float(((n_children[n:] - 1).astype(np.float64) * beside[n:]).sum())
        _refuse_many("triplets(minimal=True)", total, "cut the tree into smaller ones, or read `parent` itself.")
        rows = _minimal(n, tree.parent, start, child, tree.roots, tree.leaf_order[begin], int(total))
    else:
        size = count.astype(np.float64)
        squares = np.bincount(
            tree.parent[tree.parent >= 0], weights=size[tree.parent >= 0] ** 2, minlength=tree.n_nodes
        )
        total = float(((size[n:] ** 2 - squares[n:]) / 2 * (n - size[n:])).sum())
        _refuse_many("triplets()", total, "`triplets(minimal=True)` is equivalent, with about one triplet per merge.")
        rows = _all(n, start, child, tree.leaf_order, begin, count, round(total))
    made = Constraints.build(n, triplets=rows)
    return made.with_ids(tree.ids)


def stretches(tree: Tree) -> IntArray:
    """Return the first position of the samples below each node in ``tree.leaf_order``."""
    begin = np.full(tree.n_nodes, tree.n_samples, dtype=np.intp)
    begin[tree.leaf_order] = np.arange(tree.n_samples)
    return _earliest(tree.parent, begin)  # type: ignore[no-any-return]


@njit
def _earliest(parent: IntArray, begin: IntArray) -> IntArray:
    for v in range(len(parent)):
        if parent[v] >= 0 and begin[v] < begin[parent[v]]:
            begin[parent[v]] = begin[v]
    return begin


def _refuse_many(who: str, total: float, hint: str) -> None:
    if total > MOST_TRIPLETS:
        msg = f"{who} would list {total:,.0f} triplets, expected at most {MOST_TRIPLETS:,}.\nHint: {hint}"
        raise LinkwiseError(msg)
