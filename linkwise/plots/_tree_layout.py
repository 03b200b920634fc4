"""Layout of a drawn tree: leaf order, node positions and visible lines, as plain arrays.

Shared by the matplotlib picture and the report's SVG. Nothing recurses, so a chain of 100,000 merges is drawn like a
balanced tree; forests and many-way nodes need no special case.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise._typing import FloatArray, IntArray
from linkwise.result import are_home

if TYPE_CHECKING:
    from linkwise.result import Dendrogram


@dataclass(frozen=True, eq=False)
class Sketch:
    """A tree with a position for every drawn node; leaves come first, children before parents.

    A drawn leaf is a sample, or a whole branch when the tree was folded to few leaves.
    """

    n_leaves: int
    parent: IntArray
    height: FloatArray
    size: IntArray  # samples below
    cluster: IntArray  # the one label found below, or -1
    start: IntArray  # first slot of the leaves below, counted from the left
    width: IntArray  # how many slots
    x: FloatArray  # where the stem stands, in slots
    slot: IntArray  # slot of every *sample*, so that statements can be drawn under the leaves
    node: IntArray  # number of the drawn node in the dendrogram

    @cached_property
    def top(self) -> float:
        """The largest height, or 1 for a flat tree."""
        return float(self.height.max(initial=0.0)) or 1.0

    @cached_property
    def roots(self) -> IntArray:
        """The drawn nodes without a parent."""
        return np.flatnonzero(self.parent < 0)

    @cached_property
    def cluster_tops(self) -> IntArray:
        """The highest nodes with a single label below them."""
        above = np.where(self.parent >= 0, self.cluster[self.parent], -1)
        return np.flatnonzero((self.cluster >= 0) & (above < 0))

    @cached_property
    def home_tops(self) -> IntArray:
        """Of the `cluster_tops` the largest of every cluster; the others lie outside the branch of theirs."""
        tops = self.cluster_tops
        return tops[are_home(self.parent[tops], self.size[tops], self.cluster[tops])]

    @cached_property
    def n_outside(self) -> int:
        """Number of samples outside the branch of their cluster."""
        return int(self.size[self.cluster_tops].sum() - self.size[self.home_tops].sum())

    def ground(self, pixels: int) -> list[tuple[float, float, int, bool]]:
        """Return runs of neighboring leaves, as (left, right, label, in the branch of the cluster), by pixels."""
        label = np.empty(self.n_leaves, dtype=np.intp)
        label[self.start[: self.n_leaves]] = self.cluster[: self.n_leaves]
        edge = np.zeros(self.n_leaves + 1, dtype=np.intp)
        home = self.home_tops
        np.add.at(edge, self.start[home], 1)
        np.add.at(edge, self.start[home] + self.width[home], -1)
        label = 2 * label + np.cumsum(edge)[:-1]  # a run ends also where the branch of a cluster does
        columns = min(self.n_leaves, pixels)
        edges = np.linspace(0, self.n_leaves, columns + 1)
        seen = label[((edges[:-1] + edges[1:]) / 2).astype(np.intp)]
        first = np.flatnonzero(np.r_[True, seen[1:] != seen[:-1]])
        left, right = edges[first], edges[np.r_[first[1:], columns]]
        runs = zip(left.tolist(), right.tolist(), seen[first].tolist(), strict=True)
        return [(start, stop, code // 2, bool(code % 2)) for start, stop, code in runs if code >= 0]

    @cached_property
    def cut_height(self) -> float | None:
        """A height at which one straight line separates exactly the clusters, or None when there is none."""
        tops = self.cluster_tops
        above = self.parent[tops]
        if len(np.unique(self.cluster[tops])) < len(tops) or not (above >= 0).any():
            return None
        low, high = float(self.height[tops].max()), float(self.height[above[above >= 0]].min())
        return (low + high) / 2 if low < high else None


@dataclass(frozen=True, slots=True)
class Lines:
    """Straight pieces to draw, each with the cluster that gives its color."""

    ends: FloatArray  # (pieces, 2 ends, x and height)
    cluster: IntArray


def lay_out(
    dendrogram: Dendrogram, labels: Any = None, *, max_leaves: int | None = None, like: IntArray | None = None
) -> Sketch:
    """Compute the position of every node of a tree or forest; of two siblings the smaller branch stands left.

    A node below which only one of ``labels`` is found carries it. With ``max_leaves`` branches are folded, those inside
    clusters and the lowest first, until at most this many leaves are drawn (never fewer than there are roots). With
    ``like``, the ``slot`` of an earlier sketch of the same samples, siblings stand in the order in which their samples
    stood there on average, so that a picture does not flip when the tree changes in one place.
    """
    n = int(dendrogram.n_samples)
    parent = np.asarray(dendrogram.parent, dtype=np.intp)
    height = _finite(np.asarray(dendrogram.height, dtype=np.float64))
    size = np.asarray(dendrogram.leaf_count, dtype=np.intp)
    start = _starts(parent, size, size)
    if like is not None:
        place = np.empty(n, dtype=np.int64)
        place[start[:n]] = like
        total = np.concatenate([[0], np.cumsum(place)])
        start = _starts(parent, size, (total[start + size] - total[start]) / size)
    slot = start[:n].copy()
    cluster = _single_labels(start, size, labels, slot)
    node = np.arange(len(parent))
    width = size
    n_leaves = n
    if max_leaves is not None and max_leaves < n:
        node, n_leaves = _fold(parent, height, cluster, n, max_leaves)
        place = np.full(len(parent) + 1, -1, dtype=np.intp)  # the last entry serves the roots' parent -1
        place[node] = np.arange(len(node))
        by_position = np.argsort(start[node[:n_leaves]], kind="stable")
        rank = np.empty(n_leaves, dtype=np.intp)
        rank[by_position] = np.arange(n_leaves)
        slot = np.repeat(np.arange(n_leaves), size[node[:n_leaves]][by_position])[slot]
        parent, height, size, cluster = place[parent[node]], height[node], size[node], cluster[node]
        start, width = _spans(parent, rank, n_leaves)
    return Sketch(n_leaves, parent, height, size, cluster, start, width, _stems(parent, start, n_leaves), slot, node)


def draw_lines(sketch: Sketch, *, pixels: tuple[int, int] = (1600, 900), stem: float = 0.03) -> Lines:
    """Return the pieces of the tree that are visible at a given number of pixels.

    A branch narrower than a pixel is drawn as one upright line; pieces that fall on the same pixels are drawn once. The
    stem of a root sticks out by ``stem`` of the height of the tree.
    """
    slots_per_pixel = sketch.n_leaves / pixels[0]
    seen = sketch.width > slots_per_pixel  # wide enough to show its inside
    seen[: sketch.n_leaves] = False
    inner = np.flatnonzero(seen)
    bars = np.empty((len(inner), 2, 2))
    first, last = _outer(sketch.parent, sketch.start)
    bars[:, 0, 0], bars[:, 1, 0] = sketch.x[first[inner]], sketch.x[last[inner]]
    bars[:, :, 1] = sketch.height[inner, None]

    hangs = np.flatnonzero((sketch.parent >= 0) & seen[sketch.parent])
    bottom = np.where(seen[hangs] | (hangs < sketch.n_leaves), sketch.height[hangs], 0.0)
    roots = sketch.roots
    root_bottom = np.where(seen[roots] | (roots < sketch.n_leaves), sketch.height[roots], 0.0)
    legs = np.empty((len(hangs) + len(roots), 2, 2))
    legs[:, :, 0] = np.concatenate([sketch.x[hangs], sketch.x[roots]])[:, None]
    legs[:, 0, 1] = np.concatenate([bottom, root_bottom])
    legs[:, 1, 1] = np.concatenate([sketch.height[sketch.parent[hangs]], sketch.height[roots] + stem * sketch.top])

    ends = np.concatenate([legs, bars])
    cluster = np.concatenate([sketch.cluster[hangs], sketch.cluster[roots], sketch.cluster[inner]])
    grid = np.rint(ends / [slots_per_pixel, sketch.top / pixels[1]]).astype(np.int64).reshape(-1, 4)
    if len(grid) > 4 * pixels[0]:
        _, once = np.unique(np.column_stack([cluster, grid]), axis=0, return_index=True)
        ends, cluster = ends[once], cluster[once]
    return Lines(ends, cluster)


def _finite(height: FloatArray) -> FloatArray:
    """Replace infinite heights by one just above the finite ones."""
    bad = ~np.isfinite(height)
    if not bad.any():
        return height
    return np.where(bad, 1.1 * float(height[~bad].max(initial=0.0)) or 1.0, height)


def _starts(parent: IntArray, size: IntArray, key: npt.NDArray[Any]) -> IntArray:
    """Return the first slot below every node, siblings in order of ``key``: offsets among them, summed up to the root.

    The sum is taken by pointer doubling, so the number of rounds is the logarithm of the depth.
    """
    order = np.lexsort((np.arange(len(parent)), key, parent))
    before = np.cumsum(size[order]) - size[order]
    new_family = np.r_[True, np.diff(parent[order]) != 0]
    before -= np.repeat(before[new_family], np.diff(np.r_[np.flatnonzero(new_family), len(order)]))
    offset = np.empty(len(parent), dtype=np.intp)
    offset[order] = before
    above = parent.copy()
    while (climbing := np.flatnonzero(above >= 0)).size:
        target = above[climbing]
        offset[climbing] += offset[target]  # right-hand side is read before anything is written
        above[climbing] = above[target]
    return offset


def _single_labels(start: IntArray, size: IntArray, labels: Any, slot: IntArray) -> IntArray:
    """Return the label of every node with only one below it; its leaves are neighbors, so runs of labels decide."""
    if labels is None:
        return np.full(len(start), -1, dtype=np.intp)
    given = np.asarray(labels)
    if given.shape != slot.shape:
        msg = f"labels has shape {given.shape}, expected one label for each of the {len(slot)} samples."
        raise ValueError(msg)
    in_order = np.empty(len(slot), dtype=np.intp)
    in_order[slot] = given
    if not len(slot):
        return np.empty(0, dtype=np.intp)
    run = np.r_[0, np.cumsum(in_order[1:] != in_order[:-1])]
    single = run[start] == run[start + size - 1]
    return np.where(single, in_order[start], -1)


def _fold(parent: IntArray, height: FloatArray, cluster: IntArray, n: int, max_leaves: int) -> tuple[IntArray, int]:
    """Choose the nodes of the folded tree, leaves first: open merges while the leaves fit.

    Merges of clusters are opened first, then the highest merges inside each cluster, in proportion to its merges;
    without labels simply the highest merges. Heights are monotone, so parents come before children.
    """
    fan = np.bincount(parent[parent >= 0], minlength=len(parent))
    inner = np.arange(n, len(parent))
    down = inner[np.lexsort((-inner, -height[inner]))]
    label = cluster[down]
    by_label = np.argsort(label, kind="stable")
    _, first, count = np.unique(label[by_label], return_index=True, return_counts=True)
    turn = np.empty(len(down))  # when a merge's turn comes, as a share of those of its cluster
    turn[by_label] = (np.arange(len(down)) - np.repeat(first, count) + 0.5) / np.repeat(np.maximum(count, 1), count)
    down = down[np.argsort(np.where(label < 0, turn - 1, turn), kind="stable")]
    leaves = int((parent < 0).sum()) + np.cumsum(fan[down] - 1)
    opened = np.zeros(len(parent) + 1, dtype=bool)
    opened[down[: int(np.searchsorted(leaves, max_leaves, side="right"))]] = True
    opened[-1] = True  # above a root
    shown = np.flatnonzero(opened[parent])
    is_leaf = ~opened[shown]
    return np.concatenate([shown[is_leaf], shown[~is_leaf]]), int(is_leaf.sum())


def _spans(parent: IntArray, rank: IntArray, n_leaves: int) -> tuple[IntArray, IntArray]:
    """Return the first slot and the number of slots below every node, for leaves at given ranks."""
    low = rank.tolist() + [n_leaves] * (len(parent) - n_leaves)
    count = [1] * n_leaves + [0] * (len(parent) - n_leaves)
    for node, above in enumerate(parent.tolist()):
        if above >= 0:
            low[above] = min(low[above], low[node])
            count[above] += count[node]
    return np.array(low, dtype=np.intp), np.array(count, dtype=np.intp)


def _outer(parent: IntArray, start: IntArray) -> tuple[IntArray, IntArray]:
    """Return the leftmost and rightmost child of every node (for a leaf, itself)."""
    first = np.arange(len(parent))
    last = first.copy()
    children = np.flatnonzero(parent >= 0)
    by_place = children[np.argsort(start[children], kind="stable")]
    last[parent[by_place]] = by_place  # of repeated targets the last one wins
    first[parent[by_place[::-1]]] = by_place[::-1]
    return first, last


def _stems(parent: IntArray, start: IntArray, n_leaves: int) -> FloatArray:
    """Put each stem midway between its outermost children; children come first, so one pass suffices."""
    first, last = _outer(parent, start)
    x: list[float] = (start[:n_leaves] + 0.5).tolist()
    for left, right in zip(first[n_leaves:].tolist(), last[n_leaves:].tolist(), strict=True):
        x.append((x[left] + x[right]) / 2)
    return np.array(x, dtype=np.float64)
