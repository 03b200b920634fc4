"""Flat clusters of a tree that agree best with statements: the branches chosen one by one, not at one height.

A cut is the set of nodes that it splits, each with all nodes above it. A must-link is cut when the node at which its
samples meet is split, a cannot-link is joined when it is not: every part of the objective is a sum over split nodes,
so one pass from the samples to the roots finds the best set. All sums are of integers, so that ties are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._kernels.lca import LcaIndex, prepare, query_many, splits_off
from linkwise._memory import require_memory
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Kind
from linkwise.result._cuts import read_cluster_count, refuse_choices
from linkwise.result._kernels_agreement import choice_lists, in_pairs, split_freely, split_number
from linkwise.trees import by_first_appearance, nearest_flagged

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.trees import Tree

_HARD, _TRIPLETS, _SOFT, _SHAPE = range(4)  # columns of gains, the most important first


def labels_in_agreement(tree: Tree, constraints: Constraints, n_clusters: Any) -> IntArray:
    """Label the samples by the branches that agree best with the constraints."""
    refuse_choices(constraints, "the agreeing cut")
    n = tree.n_samples
    parent = in_pairs(n, tree.roots, *tree._children)
    joins = slice(len(parent) - tree.n_roots + 1, None)
    index = prepare(parent)
    gain = np.zeros((len(parent), 4), dtype=np.int64)
    weight = _integers(constraints.weight, constraints.n_statements + len(constraints.groups.member))
    _add_links(gain, tree, constraints, weight, index)
    _add_triplets(gain, tree, constraints, weight, index)
    gain[joins, _HARD] = np.abs(gain[:, _HARD]).sum() + 1  # no cluster holds samples of two trees
    if n_clusters is None:
        gain[:, _SHAPE] = -1  # as few clusters as agree
        split = split_freely(n, parent, gain)
    else:
        k = read_cluster_count(n_clusters, tree.n_roots, n)
        begin = choice_lists(n, parent, k - 1)
        table = f"a table of {k - 1} splits of a tree of {n} samples"
        require_memory(4 * int(begin[-1]), table, "ask for fewer clusters.")
        gain[:, _SHAPE] = np.arange(len(parent))  # the latest merges are undone, as in `cut`
        order = np.argsort(-index.first[:-1]).astype(np.intp, copy=False)
        split = split_number(n, parent, order, gain, begin, k - 1)
    top = ~split & ((parent < 0) | split[parent])
    holder, _ = nearest_flagged(parent, top)
    labels, _ = by_first_appearance(holder[:n], len(parent))
    return labels  # type: ignore[no-any-return]


def _add_links(gain: IntArray, tree: Tree, constraints: Constraints, weight: IntArray, index: LcaIndex) -> None:
    """Add for each node the cannot-links that splitting it meets, less the must-links that it cuts.

    Samples of a group count as neighbors from left to right: the number of those in different clusters is that of the
    clusters that hold the group, less one.
    """
    hard = constraints.is_hard
    for pair, group, sign in ((Kind.MUST_LINK, Kind.TOGETHER, -1), (Kind.CANNOT_LINK, Kind.APART, 1)):
        groups = constraints.groups_of(group)
        links, neighbors = constraints.of(pair), np.column_stack(groups.neighbors(tree.leaf_order))
        i, j = (np.ascontiguousarray(column) for column in np.concatenate([links, neighbors]).T)
        of = np.concatenate([np.flatnonzero(constraints.kind == pair), np.repeat(groups.statement, groups.sizes - 1)])
        node = query_many(index, i, j)
        np.add.at(gain[:, _HARD], node[hard[of]], sign)
        np.add.at(gain[:, _SOFT], node[~hard[of]], sign * weight[of[~hard[of]]])


def _add_triplets(gain: IntArray, tree: Tree, constraints: Constraints, weight: IntArray, index: LcaIndex) -> None:
    """Add for each node the triplets ab|c whose c it separates, less those whose a and b."""
    of = np.flatnonzero(constraints.kind == Kind.TRIPLET)
    a, b, c = (np.ascontiguousarray(column) for column in constraints.items[of].T)
    shown = splits_off(tree._lca, a, b, c)
    of, a, b, c = of[shown], a[shown], b[shown], c[shown]
    hard, weight = constraints.is_hard[of], weight[of]
    for node, sign in ((query_many(index, a, c), 1), (query_many(index, a, b), -1)):
        np.add.at(gain[:, _TRIPLETS], node[hard], sign)
        np.add.at(gain[:, _SOFT], node[~hard], sign * weight[~hard])


def _integers(weight: FloatArray, times: int) -> IntArray:
    """Scale weights by a power of ten and round them, so that ``times`` of them have an exact sum; inf becomes 0."""
    finite = np.where(np.isinf(weight), 0.0, weight)
    highest = float(finite.max(initial=0.0))
    if highest == 0.0:
        return np.zeros(len(weight), dtype=np.int64)
    digits = np.floor(np.log10(min(2.0**52, 2.0**61 / times)) - np.log10(highest))
    scaled: FloatArray = finite * 10.0 ** min(digits, 300.0) * 10.0 ** max(digits - 300.0, 0.0)  # 10**309 is infinite
    return np.rint(scaled).astype(np.int64)
