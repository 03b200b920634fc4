"""The tree and the map on screen: places, colors and the cut, which change no more than the clustering does.

Everything is a function of the items and of the statements that stand, not of what was on screen before: an undo brings
the former picture back bit for bit. The tree of the items without any statement is the anchor: siblings stand in the
order of its leaves, and clusters are named after those of its cut into as many.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.app._arrays import pack
from linkwise.constraints import Constraints, Kind
from linkwise.plots import Sketch, lay_out, match_labels
from linkwise.result import Dendrogram, verify

MOST_MATCHED = 400  # clusters; matching them costs the third power
MOST_GROUPS = 20  # that the data alone propose
NAMES_FOLLOW = 0.5  # share of items that a branch and its name have in common, of those that either has


class Anchor:
    """The tree of the items alone: the order of leaves, names of clusters, and a number of groups to begin with."""

    def __init__(self, tree: Dendrogram) -> None:
        self.tree = tree
        self.n = tree.n_samples
        self._sketch = lay_out(tree)
        self.slot = self._sketch.slot
        self.k = self._groups_of_data()

    def _groups_of_data(self) -> int:
        """Return the number of groups, 2 to 20, whose last merge is largest against the next one below it.

        The ratio needs no scale and no parameter. It is taken of the items alone, so that the number of groups does not
        change under the hands of a person who answers; statements that ask for more groups get more.
        """
        high = np.sort(self.tree.height[self.n :])[::-1]
        high = high[: MOST_GROUPS + 1]
        high = high[: int((high > 0).sum())]
        if len(high) < 2:
            return min(2, self.n)
        ratio = high[:-1] / high[1:]  # entry i: what is left when i + 2 groups are merged once more, against the next
        return int(ratio.argmax()) + 2

    def names(self, k: int) -> IntArray:
        """Return labels of the cut into k clusters; of the two that a cluster falls into, the larger keeps its name."""
        parent, n = self.tree.parent, self.n
        start, width = self._sketch.start, self._sketch.width
        by_slot = np.zeros(n, dtype=np.intp)
        name = np.full(len(parent), -1, dtype=np.intp)
        roots = np.flatnonzero(parent < 0)
        count = 0
        for root in roots[np.argsort(-width[roots], kind="stable")]:
            name[root] = count
            by_slot[start[root] : start[root] + width[root]] = count
            count += 1
        children = _children(parent, n)
        for node in range(len(parent) - 1, n - 1, -1):
            if count >= k:
                break
            family = sorted(children[node - n], key=lambda child: (-width[child], child))
            name[family[0]] = name[node]
            for child in family[1:]:
                name[child] = count
                by_slot[start[child] : start[child] + width[child]] = count
                count += 1
        return by_slot[self.slot]

    def rename(self, labels: IntArray) -> IntArray:
        """Name clusters after those of the items alone, so that colors stay where the clustering does."""
        kinds, first, plain = np.unique(labels, return_index=True, return_inverse=True)
        if len(kinds) <= MOST_MATCHED:
            found = match_labels(plain, like=self.names(len(kinds)))
            if int(found.max()) < len(kinds):
                return found
        rank = np.empty(len(kinds), dtype=np.intp)
        rank[np.argsort(self.slot[first], kind="stable")] = np.arange(len(kinds))
        return np.asarray(rank[plain])


def _children(parent: IntArray, n: int) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(len(parent) - n)]
    for node, above in enumerate(parent.tolist()):
        if above >= 0:
            found[above - n].append(node)
    return found


@dataclass(frozen=True, eq=False)
class Picture:
    """A tree as it goes to the page; ``labels`` are the names of clusters on screen."""

    sketch: Sketch
    tree: Dendrogram
    labels: IntArray
    k: int

    @classmethod
    def of(cls, tree: Dendrogram, labels: IntArray, anchor: Anchor) -> Picture:
        """Lay a tree out and name its clusters."""
        named = anchor.rename(labels)
        return cls(lay_out(tree, named, like=anchor.slot), tree, named, int(named.max(initial=-1)) + 1)

    @cached_property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what the page draws; heights are square roots, as otherwise the last merges hide all others."""
        s = self.sketch
        return {
            "parent": s.parent.astype(np.int32),
            "height": np.sqrt(s.height / s.top).astype(np.float32),
            "start": s.start.astype(np.int32),
            "size": s.width.astype(np.int32),
            "y": s.x.astype(np.float32),
            "cluster": s.cluster.astype(np.int16 if self.k < 2**15 else np.int32),
        }

    def cut(self) -> float | None:
        """Return where one straight line separates the clusters, as a height on screen; None where there is none."""
        if self.k < 2:
            return 1.0
        height = self.sketch.cut_height
        return None if height is None else float(np.sqrt(height / self.sketch.top))

    def pack(self, v: int) -> bytes:
        """Return the message for the page."""
        return pack(self.arrays, n_leaves=int(self.sketch.n_leaves), v=v, k=self.k, cut=self.cut())

    def shows(self, constraints: Constraints) -> BoolArray:
        """Return for each statement whether it holds on screen: links in the clusters, triplets in the tree.

        Judged by `verify`, which shares no code with the engines, from the arrays that go to the page and nothing else.
        """
        n, arrays = int(self.sketch.n_leaves), self.arrays
        bare = SimpleNamespace(n_samples=n, parent=arrays["parent"], marked=None)
        in_tree = verify(bare, constraints)
        if in_tree.faults:
            return np.zeros(constraints.n_statements, dtype=np.bool_)
        in_clusters = verify(arrays["cluster"][:n], constraints).held
        return np.where(constraints.kind == Kind.TRIPLET, in_tree.held, in_clusters)

    def below(self, node: int) -> IntArray:
        """Return the rows below a node, in the order on screen."""
        s = self.sketch
        order = np.empty(s.n_leaves, dtype=np.intp)
        order[s.slot] = np.arange(s.n_leaves)
        return order[s.start[node] : s.start[node] + s.width[node]]

    def cluster_of(self, rows: list[int]) -> int:
        """Return the cluster that has at least half in common with a set of items, -1 if none does."""
        inside = np.bincount(self.labels[rows], minlength=self.k)
        share = inside / (np.bincount(self.labels, minlength=self.k) + len(rows) - inside)
        best = int(share.argmax())
        return best if share[best] >= NAMES_FOLLOW else -1


def rotate_onto(points: FloatArray, before: FloatArray) -> FloatArray:
    """Turn and mirror a map, without stretching it, to lie on an earlier one of the same items as well as it can."""
    middle, old = points.mean(axis=0), before.mean(axis=0)
    left, _, right = np.linalg.svd((points - middle).T @ (before - old))
    return np.asarray((points - middle) @ (left @ right) + old)
