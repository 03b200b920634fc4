"""The triplets of a tree counted off in a row: how many there are, and which stands at a given place, none listed.

Take a node p, a child x of it, a leaf a below x, a leaf b below a later child of p, and a leaf c not below p: the tree
displays ab|c, and every displayed triplet arises once. The triplets of one (p, x) fill a box of leaves below x by
leaves below later children by leaves outside p, so the one at a given rank is found by one search and two divisions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.result import Dendrogram
from linkwise.result._triplets import stretches

__all__ = ["count_displayed", "triplets_at"]

IntArray = npt.NDArray[np.intp]
_SAFE = 2_000_000  # n**3 / 2 triplets at most, so that many leaves never overflow 64 bits


def _boxes(tree: Dendrogram) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """The children, where their leaves end, and the sizes of their boxes' second and third side."""
    child = np.flatnonzero(tree.parent >= 0)
    above = tree.parent[child]
    begin = stretches(tree)
    end = begin + tree.leaf_count
    return child, end[child], end[above] - end[child], tree.n_samples - tree.leaf_count[above]


def count_displayed(tree: Dendrogram) -> int:
    """Count the triplets ab|c a tree displays (ab|c and ba|c are one), exactly whatever their number."""
    child, _, later, outside = _boxes(tree)
    size = tree.leaf_count[child]
    if tree.n_samples <= _SAFE:
        return int((size * later * outside).sum())
    return sum(x * y * z for x, y, z in zip(size.tolist(), later.tolist(), outside.tolist(), strict=True))


def triplets_at(tree: Dendrogram, rank: IntArray) -> IntArray:
    """List the triplets that stand at the given ranks, ``intp[len(rank), 3]``; there are fewer than 2**63 of them."""
    child, end, later, outside = _boxes(tree)
    volume = np.cumsum(tree.leaf_count[child] * later * outside)
    box = np.searchsorted(volume, rank, side="right")
    size = tree.leaf_count[child[box]]
    offset = rank - np.where(box > 0, volume[box - 1], 0)
    first, third = np.divmod(offset, outside[box])
    first, second = np.divmod(first, later[box])
    above = tree.parent[child[box]]
    inside = tree.leaf_count[above]
    third += np.where(third >= end[box] + later[box] - inside, inside, 0)  # step over the leaves below the node
    order = tree.leaf_order
    return np.column_stack([order[end[box] - size + first], order[end[box] + second], order[third]])
