"""Merging of a part of the samples along its neighbors, and of the clusters that all parts leave."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints
from linkwise.engines.agglomeration import join_edges, merge_all
from linkwise.engines.hierarchical.sparse._cell_search import find_distinct
from linkwise.engines.hierarchical.sparse._graph_merging import link_items, make_items, merge_along
from linkwise.problem import Problem


class Part(NamedTuple):
    """Merges of a part of the samples, and the clusters that they leave.

    Merge t joins two nodes, samples of the part or earlier merges, into node n + t; no merge is lower than one it
    builds on. `node` is the node of each cluster.
    """

    pairs: IntArray
    height: FloatArray
    size: FloatArray
    mean: FloatArray
    node: IntArray


def merge_part(X: FloatArray, group: IntArray, target: int, n_neighbors: int, seed: int) -> Part:
    """Merge samples along neighbors, those of a group first at height 0, until about ``target`` clusters are left."""
    n = len(X)
    problem = Problem(X, Constraints.from_groups(group, say="together"), who="merge_part")
    items = make_items(problem)
    index, _ = find_distinct(X, max(1, min(n_neighbors, n - 1)), seed)
    edges = link_items(index, items.of_sample)
    del index
    merged = merge_along(edges, items, problem, min(target, len(items.first)), lambda _: None)
    joins = np.ascontiguousarray(items.first[merged.pairs]).reshape(-1, 2)
    pairs, height = join_edges(n, joins, merged.height, items.of_sample)
    above = np.full(n + len(pairs), -1, dtype=np.intp)
    above[pairs.ravel()] = n + np.repeat(np.arange(len(pairs)), 2)
    node = _tops(above)[items.first[np.unique(merged.cluster, return_index=True)[1]]]
    return Part(pairs, not_below(pairs, height, np.zeros(n)), merged.size, merged.mean, node)


def _tops(above: IntArray) -> IntArray:
    top = np.where(above >= 0, above, np.arange(len(above)))
    while True:
        further = top[top]
        if np.array_equal(further, top):
            return top
        top = further


def not_below(pairs: IntArray, height: FloatArray, leaf: FloatArray) -> FloatArray:
    """Raise merges that are lower than one they build on to its height; ``leaf`` has the heights to begin with."""
    n = len(leaf)
    held = np.concatenate([leaf, height])
    while True:  # few rounds: merges along neighbors are nearly in order
        low = held[pairs].max(axis=1, initial=0.0)
        if (low <= held[n:]).all():
            return held[n:]
        held[n:] = np.maximum(held[n:], low)


def merge_clusters(
    mean: FloatArray, size: FloatArray, floor: FloatArray, apart: IntArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Join clusters with Ward linkage, all compared, but none of the pairs in ``apart``; merges and their heights."""
    if len(mean) < 2:
        return np.empty((0, 2), dtype=np.intp), np.empty(0)
    made = merge_all(mean, method="ward", weight=size, forbidden=apart if apart is not None and len(apart) else None)
    return made.pairs, not_below(made.pairs, made.height, floor)
