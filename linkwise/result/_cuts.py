"""Flat clusters from a tree: by their number, at a height, or by the marked cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._messages import hint
from linkwise._typing import IntArray
from linkwise._validation import is_whole, read_count
from linkwise.exceptions import LinkwiseError
from linkwise.result._kernels_cuts import _undo_merges
from linkwise.trees import by_first_appearance, nearest_flagged

if TYPE_CHECKING:
    from linkwise.trees import Tree


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
