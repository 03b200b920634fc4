"""Cuts guided by constraints: the order in which nodes are split, down to k clusters.

One loop serves the constraint-aware cut and the cut that sets small branches aside: keep the current clusters in a
heap, always split the most urgent one. The order of splits does not depend on k, so a finer cut refines a coarser one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwise._kernels.lca import query_many, splits_off
from linkwise._typing import IntArray
from linkwise.constraints import Kind, require_understood
from linkwise.result._cuts import read_cluster_count
from linkwise.result._kernels_cuts import APART, CLOSE, KNOWN, ORDINARY, TOGETHER, _lift, _split, promised
from linkwise.trees import by_first_appearance, nearest_flagged

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.trees import Tree


def refuse_choices(constraints: Constraints, who: str) -> None:
    """Refuse statements that leave a choice between pairs; rules are not judged."""
    plain = [kind for kind in Kind if not kind.is_choice]
    hint = "leave the others out with `constraints.select(...)`."
    require_understood(constraints.with_rules(), who, plain, hint=hint)


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
    start, child = tree._children()
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
