"""Joins: nodes above the roots of a forest that make it one tree, for programs that read one tree only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from linkwise.trees._parent_array import Tree


_ABOVE = 1.1  # height of a join, as a multiple of the highest merge


class Arrays(NamedTuple):
    """Arguments of the `Dendrogram` constructor."""

    parent: IntArray
    raw_height: FloatArray
    marked: IntArray | None
    joins: IntArray


def join_roots(tree: Tree) -> Arrays:
    """Put one node above all roots, higher than everything below it."""
    top = tree.n_nodes
    parent = np.append(np.where(tree.parent < 0, top, tree.parent), -1)
    return Arrays(
        parent, np.append(tree.raw_height, _height_above(tree.height)), tree.marked, np.append(tree.joins, top)
    )


def _height_above(height: FloatArray) -> float:
    """Return a finite height, a tenth above the highest; 1 if all heights are 0."""
    highest = float(height.max())
    if highest == 0.0:
        return 1.0
    largest = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        return float(min(max(_ABOVE * highest, np.nextafter(highest, np.inf)), largest))


def part_joins(tree: Tree) -> Arrays:
    """Take all joins away; the nodes below them become roots again, in the same order."""
    if tree.marked is not None and np.isin(tree.marked, tree.joins).any():
        node = int(np.intersect1d(tree.marked, tree.joins)[0])
        msg = (
            f"parted: node {node} is a join and is marked as a cluster, expected marks inside the joined trees.\n"
            "Hint: mark clusters inside the trees, or leave the marks out."
        )
        raise LinkwiseError(msg)
    keep = np.ones(tree.n_nodes, dtype=np.bool_)
    keep[tree.joins] = False
    number = np.append(np.where(keep, np.cumsum(keep) - 1, -1), -1)  # the last entry serves a root's parent, -1
    marked = None if tree.marked is None else number[tree.marked]
    return Arrays(number[tree.parent[keep]], tree.raw_height[keep], marked, np.empty(0, dtype=np.intp))


def at_the_top(parent: IntArray, joins: list[int]) -> IntArray:
    """Return the joins of a file that have only joins above them, since another program may have moved the root."""
    called = np.zeros(len(parent) + 1, dtype=np.bool_)
    called[joins] = True
    called[-1] = True  # above a root
    found = [v for v in sorted(set(joins), reverse=True) if called[v]]
    for v in found:  # parents come after children, so each is settled before the nodes below it
        called[v] = called[parent[v]]
    return np.array([v for v in reversed(found) if called[v]], dtype=np.intp)
