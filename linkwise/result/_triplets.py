"""Triplets that a tree displays: all of them, or a minimal set that entails the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwise._typing import IntArray
from linkwise.constraints import Constraints
from linkwise.exceptions import LinkwiseError
from linkwise.result._kernels_triplets import _all, _earliest, _minimal

if TYPE_CHECKING:
    from linkwise.trees import Tree


MOST_TRIPLETS = 5_000_000


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


def _refuse_many(who: str, total: float, hint: str) -> None:
    if total > MOST_TRIPLETS:
        msg = f"{who} would list {total:,.0f} triplets, expected at most {MOST_TRIPLETS:,}.\nHint: {hint}"
        raise LinkwiseError(msg)
