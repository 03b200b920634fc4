"""Flat clusters from a tree: by their number, at a height, by the marked cut, or guided by constraints.

One loop serves the constraint-aware cut and the cut that sets small branches aside: keep the current clusters in a
heap, always split the most urgent one. The order of splits does not depend on k, so a finer cut refines a coarser one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwise._kernels.lca import query_many, splits_off
from linkwise._messages import hint
from linkwise._typing import IntArray
from linkwise._validation import is_whole, read_count
from linkwise.constraints import Constraints, Kind, require_understood
from linkwise.exceptions import LinkwiseError
from linkwise.result._kernels_cuts import (
    APART,
    CLOSE,
    KNOWN,
    ORDINARY,
    TOGETHER,
    _lift,
    _split,
    _undo_merges,
    promised,
)
from linkwise.trees import by_first_appearance, nearest_flagged

if TYPE_CHECKING:
    from linkwise.trees import Tree


def refuse_choices(constraints: Constraints, who: str) -> None:
    """Refuse statements that leave a choice between pairs; rules are not judged."""
    plain = [kind for kind in Kind if not kind.is_choice]
    hint = "leave the others out with `constraints.select(...)`."
    require_understood(constraints.with_rules(), who, plain, hint=hint)


def read_cluster_count(n_clusters: Any, n_roots: int, n_samples: int) -> int:
    """Read a number of clusters that cuts of a forest can have: ``n_roots`` to ``n_samples``."""
    if is_whole(n_clusters) and 1 <= n_clusters < n_roots:
        msg = (
            f"n_clusters is {n_clusters}, but the forest has {n_roots} roots, which no cut can join.\n"
            f"Hint: ask for {hint(command=f'-k {n_roots}', python=f'n_clusters={n_roots}')} or more."
        )
        raise LinkwiseError(msg)
    return read_count(n_clusters, "n_clusters", low=n_roots, high=n_samples, note=" (samples)")


def labels_at_number(tree: Tree, n_clusters: Any) -> IntArray:
    """Cut into exactly ``n_clusters`` clusters by undoing the latest merges."""
    k = read_cluster_count(n_clusters, tree.n_roots, tree.n_samples)
    holder = _undo_merges(tree.n_samples, tree.parent, k - tree.n_roots)
    labels, _ = by_first_appearance(holder, tree.n_nodes)
    return labels  # type: ignore[no-any-return]


def labels_at_height(tree: Tree, height: Any) -> IntArray:
    """Cut at a height: the clusters are the highest nodes whose monotone height is at most ``height``."""
    try:
        level = float(height)
    except (TypeError, ValueError) as bad:
        msg = f"height is {height!r}, expected a number."
        raise LinkwiseError(msg) from bad
    if np.isnan(level):
        msg = "height is NaN, expected a number."
        raise LinkwiseError(msg)
    if level < 0:
        msg = f"height is {level:g}, expected a number >= 0; at height 0 every sample is a cluster."
        raise LinkwiseError(msg)
    low = tree.height <= level
    top = low & ((tree.parent < 0) | ~low[tree.parent])
    holder, _ = nearest_flagged(tree.parent, top)
    labels, _ = by_first_appearance(holder[: tree.n_samples], tree.n_nodes)
    return labels  # type: ignore[no-any-return]


def labels_of_marks(tree: Tree) -> IntArray:
    """Label the samples by the marked node above them."""
    if tree.marked is None:
        msg = (
            "cut_marked: this tree has no marked cut; only trees built under must-links or cannot-links have one.\n"
            "Hint: use `cut(n_clusters=...)` or `cut(height=...)`."
        )
        raise LinkwiseError(msg)
    labels, _ = by_first_appearance(tree._mark_above[: tree.n_samples].copy(), tree.n_nodes)
    return labels  # type: ignore[no-any-return]


# -- guided by constraints -----------------------------------------------------------------------------------------


class Split(NamedTuple):
    """A split of a tree: cluster nodes in order of their first sample, outlier branches, the node of each sample."""

    clusters: IntArray
    outliers: IntArray
    holder: IntArray


def urgency(tree: Tree, constraints: Constraints | None) -> IntArray:
    """Rank every node by how urgently constraints require a split, most urgent 0.

    0: a cannot-link, or two of a group apart, meet at or below it, and are broken while it is whole; 1: it separates c
    from a, b of a triplet ab|c; 2: no constraints apply; 3: it separates a from b of a triplet; 4: it separates a
    must-link or a group together. Triplets that the tree does not display are ignored.
    """
    urgent = np.full(tree.n_nodes, ORDINARY, dtype=np.intp)
    if constraints is None or constraints.n_statements == 0:
        return urgent
    refuse_choices(constraints, "the constrained cut")
    index = tree._lca
    a, b, c = (np.ascontiguousarray(column) for column in constraints.of(Kind.TRIPLET).T)
    shown = splits_off(index, a, b, c)
    a, b, c = a[shown], b[shown], c[shown]
    _put(urgent, query_many(index, a, b), CLOSE)
    _put(urgent, query_many(index, a, c), KNOWN)
    i, j = (np.ascontiguousarray(column) for column in constraints.must_links()[0].T)
    _put(urgent, query_many(index, i, j), TOGETHER)
    i, j = (np.ascontiguousarray(column) for column in constraints.of(Kind.CANNOT_LINK).T)
    _put(urgent, query_many(index, i, j), APART)
    i, j = constraints.groups_of(Kind.APART).neighbors(tree.leaf_order)
    _put(urgent, query_many(index, i, j), APART)
    _lift(tree.parent, urgent)
    return urgent


def _put(urgent: IntArray, nodes: IntArray, tier: int) -> None:
    urgent[nodes[nodes >= 0]] = tier  # samples of two trees meet nowhere


def split_tree(tree: Tree, k: int, min_size: int, urgent: IntArray) -> Split:
    """Split ``tree`` into k clusters, most urgent and latest merges first, setting smaller branches aside."""
    promise = promised(tree.parent, tree.leaf_count, min_size)
    start, child = tree._children
    cluster, outlier = _split(tree.roots, start, child, tree.leaf_count, promise, urgent, min_size, k)
    nearest, _ = nearest_flagged(tree.parent, cluster | outlier)
    holder = nearest[: tree.n_samples]
    found, first = np.unique(holder, return_index=True)
    found = found[np.argsort(first)]
    return Split(found[cluster[found]], np.flatnonzero(outlier), holder)


def labels_by_knowledge(tree: Tree, constraints: Constraints, n_clusters: Any) -> IntArray:
    """Cut into k clusters, splitting first the nodes that constraints require to be split."""
    k = read_cluster_count(n_clusters, tree.n_roots, tree.n_samples)
    split = split_tree(tree, k, 1, urgency(tree, constraints))
    labels, _ = by_first_appearance(split.holder, tree.n_nodes)
    return labels  # type: ignore[no-any-return]
