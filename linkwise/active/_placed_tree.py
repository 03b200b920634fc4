"""The tree over the samples placed so far, immutable: adding or removing a sample makes a new tree."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt

from linkwise.active._kernels_placing import walk

IntArray = npt.NDArray[np.int64]


class Skeleton:
    """A rooted tree of any fan-out, its nodes in the order in which a walk from the root meets them.

    Parameters
    ----------
    parent : ndarray of int64
        Parent of every node, smaller than the node itself; -1 for the root, node 0.
    item : ndarray of int64
        The sample at every leaf, -1 for inner nodes.

    Examples
    --------
    >>> from linkwise.active._placed_tree import Skeleton
    >>> tree = Skeleton.of_two(4, 7).on_edge(1, 9)
    >>> tree.item.tolist(), tree.parent.tolist()
    ([-1, -1, 4, 9, 7], [-1, 0, 1, 1, 0])
    >>> tree.without(7).item.tolist()
    [-1, 4, 9]
    """

    __slots__ = ("begin", "end", "item", "last", "leaf", "node_of", "parent", "samples")

    def __init__(self, parent: IntArray, item: IntArray) -> None:
        self.parent, self.item = parent, item
        self.last, self.begin, self.end = walk(parent, item >= 0)
        self.leaf = np.flatnonzero(item >= 0)
        self.samples = item[self.leaf]
        self.node_of = dict(zip(self.samples.tolist(), self.leaf.tolist(), strict=True))

    @classmethod
    def of_two(cls, a: int, b: int) -> Self:
        """Join two samples."""
        return cls(np.array([-1, 0, 0]), np.array([-1, a, b]))

    def below(self, v: int, sample: int) -> Self:
        """Hang a sample below an inner node."""
        return self._insert(self.parent, self.item, int(self.last[v]), v, sample)

    def on_edge(self, v: int, sample: int) -> Self:
        """Hang a sample on the edge above a node."""
        shifted = self.parent + (self.parent >= v)
        parent = np.insert(shifted, v, self.parent[v])
        parent[v + 1] = v
        return self._insert(parent, np.insert(self.item, v, -1), int(self.last[v]) + 1, v, sample)

    @classmethod
    def _insert(cls, parent: IntArray, item: IntArray, at: int, above: int, sample: int) -> Self:
        return cls(np.insert(parent + (parent >= at), at, above), np.insert(item, at, sample))

    def without(self, sample: int) -> Self:
        """Take a sample off; a node left with one branch goes, too."""
        v = self.node_of[sample]
        gone, parent = [v], self.parent.copy()
        up = int(parent[v])
        (kids,) = np.nonzero(parent == up)
        if len(kids) == 2:
            gone.append(up)
            parent[kids] = parent[up]
        kept = np.ones(len(parent), dtype=np.bool_)
        kept[gone] = False
        number = np.cumsum(kept) - 1
        parent = parent[kept]
        return type(self)(np.where(parent >= 0, number[parent], -1), self.item[kept])

    def believed(self) -> IntArray:
        """Triplets that this tree displays and that imply all others, by one sample for each branch."""
        first = self.samples[self.begin]
        inner = np.flatnonzero(self.item < 0)
        rows = []
        for v in inner[1:].tolist():
            branch, beside = (np.flatnonzero(self.parent == u) for u in (v, self.parent[v]))
            beside = beside[beside != v]
            others = np.repeat(first[branch[1:]], len(beside))
            rows.append(
                np.column_stack([np.full(len(others), first[v]), others, np.tile(first[beside], len(branch) - 1)])
            )
        return np.concatenate(rows) if rows else np.empty((0, 3), np.int64)
