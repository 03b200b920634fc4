"""The span of two items: everything that lies below their meeting point in every tree that displays the triplets.

Let X be a set that is a clade of some tree with all triplets and holds x and y. Divide X as BUILD does. If x and y fall
into one part, look at that part; if there are three parts or more, look at the union of their two parts, which another
tree has as a clade; if there are two, X is the span: it falls apart between x and y or not at all. Starting from the
clade of a BUILD tree at which x and y meet, a node with two children answers at once.

z is in the span of x and y exactly when the triplet xy|z contradicts the others. Hence ab|c is implied if and only if b
is in the span of a and c, and a in that of b and c.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.borrow import borrowed
from linkwise._kernels.lca import LcaIndex, below_many, prepare, query_many
from linkwise.problem import _layers
from linkwise.problem._allspans import fill_spans
from linkwise.problem._division import Clades, clades_of, has_pair, probe_by_division
from linkwise.problem._onetree import LiveTriplets, onetree

__all__ = ["Spans"]

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
# rows the live structure may need: the sum over items of their depth, at 36 bytes each
_MOST_LEVELS = 1 << 23
# items for which a table of all spans is made when many are asked for: 16 MB
_MOST_TABLED = 256


class Spans:
    """Spans of pairs of items under consistent triplets.

    Parameters
    ----------
    n_items : int
        Number of items.
    triplets : ndarray of intp, shape (m, 3)
        Triplets that some tree displays together.

    Notes
    -----
    **Cost** one tree building; then O(1) per pair that meets in a node of two children, and about a microsecond per
    change for the others: the live structure tries to merge the two, and takes it back. Trees so deep that the live
    structure would not fit are divided anew for each such pair, in O(triplets inside the clade) per level.
    """

    def __init__(self, n_items: int, triplets: IntArray) -> None:
        names, small = np.unique(triplets, return_inverse=True)
        self.position = np.full(n_items, -1, dtype=np.intp)  # of each item among those in triplets
        self.position[names] = np.arange(len(names))
        self.names = names.astype(np.intp)
        self.triplets: IntArray = np.ascontiguousarray(small.reshape(-1, 3).astype(np.intp))
        parent = onetree(len(names), self.triplets).parent
        if parent is None:  # callers have checked
            msg = "Spans needs triplets that some tree displays"
            raise AssertionError(msg)
        self.parent = parent
        self.index: LcaIndex = prepare(parent)
        self.degree = np.bincount(parent[parent >= 0], minlength=len(parent))
        self._live: LiveTriplets | None = None
        self._clades: Clades | None = None
        self._crossing: IntArray | None = None
        self._children: tuple[IntArray, IntArray] | None = None

    @property
    def n_items(self) -> int:
        """How many items are in some triplet; spans of others hold only the pair itself."""
        return len(self.names)

    def displayed(self, a: IntArray, b: IntArray, c: IntArray) -> BoolArray:
        """Whether the BUILD tree displays ab|c; necessary for being implied, not sufficient."""
        a, b, c = self.position[a], self.position[b], self.position[c]
        known = (a >= 0) & (b >= 0) & (c >= 0)
        node = np.where(known, query_many(self.index, np.where(known, a, 0), np.where(known, b, 0)), -1)
        return np.asarray(known & ~below_many(self.index, np.where(known, c, 0), node))

    def holds(self, x: IntArray, y: IntArray, z: IntArray) -> BoolArray:
        """Whether z is in the span of x and y."""
        answer = (z == x) | (z == y)
        x, y, z = self.position[x], self.position[y], self.position[z]
        rows = np.flatnonzero(~answer & (x >= 0) & (y >= 0) & (z >= 0) & (x != y))
        if not len(rows):
            return np.asarray(answer)
        low, high = np.minimum(x[rows], y[rows]), np.maximum(x[rows], y[rows])
        node = query_many(self.index, low, high)
        inside = below_many(self.index, z[rows], node)
        answer[rows] = inside & (self.degree[node] == 2)
        left = inside & (self.degree[node] > 2) & self._crossed(node, low, high)
        rows, low, high = rows[left], low[left], high[left]
        if self.n_items <= _MOST_TABLED and 20 * len(rows) > self.n_items**2:
            answer[rows] = self.table()[low, high, z[rows]]
        elif len(rows):
            order = np.lexsort((high, low))
            nothing = np.zeros(1, np.intp), np.zeros(0, np.intp)
            answer[rows[order]] = self._probe(low[order], high[order], z[rows][order], *nothing)
        return np.asarray(answer)

    def _crossed(self, node: IntArray, x: IntArray, y: IntArray) -> BoolArray:
        """Whether a triplet lies across the two children of ``node`` with x and y below; else their span is trivial."""
        n = len(self.parent)
        if self._crossing is None:
            a, b, c = (np.ascontiguousarray(column) for column in self.triplets.T)
            meet = query_many(self.index, query_many(self.index, a, b), c)
            pair = np.sort(np.column_stack([self._toward(meet, a), self._toward(meet, c)]), axis=1)
            self._crossing = np.unique(pair[:, 0] * n + pair[:, 1])
        pair = np.sort(np.column_stack([self._toward(node, x), self._toward(node, y)]), axis=1)
        key = pair[:, 0] * n + pair[:, 1]
        place = np.minimum(np.searchsorted(self._crossing, key), len(self._crossing) - 1)
        return np.asarray(self._crossing[place] == key)

    def _toward(self, node: IntArray, x: IntArray) -> IntArray:
        """The child of each node below which x is."""
        n = len(self.parent) + 1
        if self._children is None:
            key = np.where(self.parent < 0, n, self.parent) * n + self.index.first[:-1]
            order = np.argsort(key)
            self._children = key[order], order
        key, child = self._children
        return np.asarray(child[np.searchsorted(key, node * n + self.index.first[x], side="right") - 1])

    def encloses(self, x: IntArray, y: IntArray, pairs: IntArray) -> BoolArray:
        """Whether the span of x and y has both ends of one of the pairs; pairs other than x, y itself."""
        pairs = self.position[pairs]
        pairs = pairs[(pairs >= 0).all(axis=1)]
        x, y = self.position[x], self.position[y]
        answer = np.zeros(len(x), dtype=np.bool_)
        rows = np.flatnonzero((x >= 0) & (y >= 0) & (x != y))
        if not len(pairs) or not len(rows):
            return answer
        meets = np.zeros(len(self.parent), dtype=np.bool_)
        meets[query_many(self.index, pairs[:, 0].copy(), pairs[:, 1].copy())] = True
        _spread_up(self.parent, meets)
        node = query_many(self.index, x[rows], y[rows])
        answer[rows] = meets[node] & (self.degree[node] == 2)
        rows = rows[meets[node] & (self.degree[node] > 2)]
        if len(rows):
            both = np.concatenate([pairs, pairs[:, ::-1]])
            start = np.zeros(self.n_items + 1, dtype=np.intp)
            np.cumsum(np.bincount(both[:, 0], minlength=self.n_items), out=start[1:])
            other = both[np.argsort(both[:, 0], kind="stable"), 1]
            low, high = np.minimum(x[rows], y[rows]), np.maximum(x[rows], y[rows])
            unique, back = np.unique(low * self.n_items + high, return_inverse=True)
            low, high = np.divmod(unique, self.n_items)
            answer[rows] = self._probe(low, high, np.full(len(low), -1, dtype=np.intp), start, other)[back]
        return answer

    def table(self) -> BoolArray:
        """Whether each z is in the span of each x and y, over the items in triplets: O(items**3) bytes.

        Spans of no more than the pair itself are left empty.
        """
        inside = np.zeros((self.n_items,) * 3, dtype=np.bool_)
        fill_spans(self.triplets, inside)
        return inside

    def _probe(self, x: IntArray, y: IntArray, z: IntArray, start: IntArray, other: IntArray) -> BoolArray:
        """Answer for pairs sorted by x and y: is z in the span, or (z = -1) are both ends of a pair of the CSR."""
        answer = np.zeros(len(x), dtype=np.bool_)
        if _sum_of_depths(self.parent, self.n_items) > _MOST_LEVELS:
            if self._clades is None:
                self._clades = clades_of(self.index, self.n_items, self.triplets)
            probe_by_division(self._clades, x, y, z, start, other, answer)
            return answer
        live = self._levels()
        begin = np.int64(0)
        while True:
            begin = _probe_live(live.layers, x, y, z, start, other, begin, answer)
            if begin < 0:
                return answer
            live.layers = _layers.grow(live.layers)

    def _levels(self) -> LiveTriplets:
        if self._live is None:
            self._live = LiveTriplets(self.n_items, len(self.triplets))
            self._live.add_many(self.triplets)
        return self._live


@njit
def _sum_of_depths(parent: IntArray, n: int) -> int:
    depth = np.zeros(len(parent), np.intp)
    for v in range(len(parent) - 2, -1, -1):
        depth[v] = depth[parent[v]] + 1
    return depth[:n].sum()  # type: ignore[no-any-return]


@njit
def _spread_up(parent: IntArray, marked: BoolArray) -> None:
    """Mark everything above a marked node."""
    for v in range(len(parent)):
        if marked[v] and parent[v] >= 0:
            marked[parent[v]] = True


# -- with the live structure ---------------------------------------------------------------------------------------


@njit
def _span(layers: _layers.Layers, x: int, y: int, out: npt.NDArray[np.int32]) -> int:
    """Write the span of x and y to ``out`` and return its size; -1 for lack of room."""
    answer = _layers.try_merge(layers, x, y)
    if answer == _layers.ROOM:
        return -1
    if answer == _layers.CONFLICT:
        level = layers.count[_layers.SPLIT_LEVEL]
        size = _layers.ring(layers, level, x, out)
        size += _layers.ring(layers, level, y, out[size:])
    else:
        out[0] = x
        out[1] = y
        size = 2
    _layers.undo(layers, np.int64(0))
    return size  # type: ignore[no-any-return]


@njit
def _probe_live(
    layers: _layers.Layers,
    x: IntArray,
    y: IntArray,
    z: IntArray,
    start: IntArray,
    other: IntArray,
    begin: int,
    answer: BoolArray,
) -> int:
    layers = borrowed(layers)
    n = len(layers.item)
    out = np.empty(n + 1, np.int32)
    mark = np.full(n, -1, np.intp)
    size = 0
    for t in range(begin, len(x)):
        if t == begin or x[t] != x[t - 1] or y[t] != y[t - 1]:
            size = _span(layers, x[t], y[t], out)
            if size < 0:
                return t
            for s in range(size):
                mark[out[s]] = t
            stamp = t
        answer[t] = mark[z[t]] == stamp if z[t] >= 0 else has_pair(out, size, start, other, mark, stamp)
    return -1
