"""The span of two items: everything that lies below their meeting point in every tree that displays the triplets.

Let X be a set that is a clade of some tree with all triplets and holds x and y. Divide X as BUILD does. If x and y fall
into one part, look at that part; if there are three parts or more, look at the union of their two parts, which another
tree has as a clade; if there are two, X is the span: it falls apart between x and y or not at all. Where no triplet
lies across two parts, the pairs across them have no company.

z is in the span of x and y exactly when the triplet xy|z contradicts the others. Hence ab|c is implied if and only if b
is in the span of a and c, and a in that of b and c.
"""

from __future__ import annotations

import numpy as np

from linkwise._kernels.lca import LcaIndex, below_many, prepare, query_many
from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import run_starts
from linkwise.problem.triplets._kernels_spans import (
    ENCLOSES,
    HOLDS,
    WRITE,
    Layout,
    _spread_up,
    _trace_groups,
    make_desk,
    trace,
)
from linkwise.problem.triplets._onetree import onetree

_NOTHING = np.zeros(0, np.intp)
_NOTHING_INSIDE = np.zeros((0, 0, 0), np.bool_)


class Spans:
    """Spans of pairs of items under triplets that some tree displays together.

    **Cost** one tree building; then O(1) per pair that meets in a node of two children or that no triplet lies across.
    The others are traced down from the two children below which they are, in O(items + triplets there) per division,
    pairs below the same two children together.
    """

    def __init__(self, n_items: int, triplets: IntArray) -> None:
        names, small = np.unique(triplets, return_inverse=True)
        self.names = names.astype(np.intp)
        self.position = np.full(n_items, -1, dtype=np.intp)  # of each item among those in triplets
        self.position[names] = np.arange(len(names))
        self.triplets: IntArray = np.ascontiguousarray(small.reshape(-1, 3).astype(np.intp))
        parent = onetree(len(names), self.triplets).parent
        if parent is None:  # callers have checked
            msg = "Spans needs triplets that some tree displays"
            raise AssertionError(msg)
        self.parent = parent
        self.lca: LcaIndex = prepare(parent)
        self.degree = np.bincount(parent[parent >= 0], minlength=len(parent))
        n = len(parent) + 1
        key = np.where(parent < 0, n, parent) * n + self.lca.first[:-1]
        self._child = np.argsort(key)
        self._child_key = key[self._child]
        self.layout = self._lay_out()

    @property
    def n_items(self) -> int:
        """How many items are in some triplet; spans of others hold only the pair itself."""
        return len(self.names)

    def displayed(self, a: IntArray, b: IntArray, c: IntArray) -> BoolArray:
        """Whether the BUILD tree displays ab|c; necessary for being implied, not sufficient."""
        a, b, c = self.position[a], self.position[b], self.position[c]
        answer = (a >= 0) & (b >= 0) & (c >= 0)
        answer[answer] = ~below_many(self.lca, c[answer], query_many(self.lca, a[answer], b[answer]))
        return np.asarray(answer)

    def holds(self, x: IntArray, y: IntArray, z: IntArray) -> BoolArray:
        """Whether z is in the span of x and y."""
        answer = (z == x) | (z == y)
        x, y, z = self.position[x], self.position[y], self.position[z]
        rows = np.flatnonzero(~answer & (x >= 0) & (y >= 0) & (z >= 0) & (x != y))
        node = query_many(self.lca, x[rows], y[rows])
        inside = below_many(self.lca, z[rows], node)
        answer[rows] = inside & (self.degree[node] == 2)
        rows = rows[inside & (self.degree[node] > 2)]
        answer[rows] = self._trace(x[rows], y[rows], z[rows], np.zeros(1, np.intp), _NOTHING, HOLDS)
        return np.asarray(answer)

    def encloses(self, x: IntArray, y: IntArray, pairs: IntArray) -> BoolArray:
        """Whether the span of x and y has both ends of one of the pairs, other than x and y themselves."""
        pairs = self.position[pairs]
        pairs = pairs[(pairs >= 0).all(axis=1)]
        x, y = self.position[x], self.position[y]
        answer = np.zeros(len(x), dtype=np.bool_)
        rows = np.flatnonzero((x >= 0) & (y >= 0) & (x != y))
        if not len(pairs) or not len(rows):
            return answer
        meets = np.zeros(len(self.parent), dtype=np.bool_)
        meets[query_many(self.lca, pairs[:, 0].copy(), pairs[:, 1].copy())] = True
        _spread_up(self.parent, meets)
        node = query_many(self.lca, x[rows], y[rows])
        answer[rows] = meets[node] & (self.degree[node] == 2)
        rows = rows[meets[node] & (self.degree[node] > 2)]
        both = np.concatenate([pairs, pairs[:, ::-1]])
        start = run_starts(both[:, 0], self.n_items)
        end = np.ascontiguousarray(both[np.argsort(both[:, 0], kind="stable"), 1])
        answer[rows] = self._trace(x[rows], y[rows], x[rows], start, end, ENCLOSES)
        return answer

    def table(self) -> BoolArray:
        """Whether each z is in the span of each x and y, over the items in triplets: O(items**3) bytes.

        Spans of no more than the pair itself are left empty.
        """
        k = self.n_items
        inside = np.zeros((k, k, k), dtype=np.bool_)
        x, y = (side.astype(np.intp) for side in np.triu_indices(k, 1))
        desk = make_desk(k, np.zeros(1, np.intp), _NOTHING, np.zeros(0, np.bool_), inside)
        trace(desk, self.triplets, np.arange(k), np.arange(len(self.triplets)), np.arange(len(x)), x, y, x, WRITE)
        return inside

    def toward(self, node: IntArray, x: IntArray) -> IntArray:
        """The child of each node below which x is."""
        key = node * (len(self.parent) + 1) + self.lca.first[x]
        return np.asarray(self._child[np.searchsorted(self._child_key, key, side="right") - 1])

    def children(self, x: IntArray, y: IntArray) -> IntArray:
        """A number for the two children, below the node where x and y meet, that x and y are under."""
        node = query_many(self.lca, x, y)
        p, q = self.toward(node, x), self.toward(node, y)
        return np.asarray(np.minimum(p, q) * len(self.parent) + np.maximum(p, q))

    def _lay_out(self) -> Layout:
        a, c = np.ascontiguousarray(self.triplets[:, 0]), np.ascontiguousarray(self.triplets[:, 2])
        place = self.lca.first[query_many(self.lca, a, c)]  # a and b are below the same child
        row = np.argsort(place, kind="stable")
        across = self.children(a, c)
        across_row = np.argsort(across, kind="stable")
        leaf_place = self.lca.first[: self.n_items]
        leaf = np.argsort(leaf_place)
        return Layout(self.lca, leaf_place[leaf], leaf, place[row], row, across[across_row], across_row)

    def _trace(self, x: IntArray, y: IntArray, z: IntArray, start: IntArray, end: IntArray, what: int) -> BoolArray:
        answer = np.zeros(len(x), dtype=np.bool_)
        if len(x):
            pair = self.children(x, y)
            order = np.argsort(pair, kind="stable")
            desk = make_desk(self.n_items, start, end, answer, _NOTHING_INSIDE)
            alive = np.ones(len(self.triplets), dtype=np.bool_)
            _trace_groups(desk, self.layout, self.triplets, alive, len(self.parent), pair, order, x, y, z, what)
        return answer
