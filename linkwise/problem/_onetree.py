"""OneTree (BUILD): a tree that displays all triplets, or the set of items that cannot be divided.

Two forms of one idea: `onetree` builds the tree of a given set at once, `LiveTriplets` keeps a set that grows
statement by statement and refuses the first that contradicts it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.borrow import borrowed
from linkwise._kernels.disjoint_set import find, make, union
from linkwise.problem import _layers
from linkwise.problem._layers import CONFLICT, OK, ROOM

__all__ = ["BuildResult", "LiveTriplets", "onetree"]

IntArray = npt.NDArray[np.intp]


class BuildResult(NamedTuple):
    """Outcome of `onetree`: a parent array, or the items whose triplets leave no way to split them."""

    parent: IntArray | None
    stuck: IntArray | None


def onetree(n_items: int, triplets: npt.ArrayLike) -> BuildResult:
    """Build the least resolved tree BUILD finds for the triplets, or name the set where it gets stuck.

    Parameters
    ----------
    n_items : int
        Number of leaves, 0 to ``n_items - 1``.
    triplets : array-like of shape (m, 3)
        A row ``a, b, c`` reads ab|c; the three differ.

    Returns
    -------
    BuildResult
        ``parent``: for leaves first, then inner nodes with children before parents, the node above (-1 at the root);
        or ``stuck``: items that cannot be divided, the conflict lies among the triplets inside this set.

    Notes
    -----
    **Cost** O((n + m) depth) time for a tree of that depth, O(n + m) memory; never recursive.
    **Guarantee** the tree displays every triplet; a triplet the tree displays is not thereby implied by the rest.
    **Departure from** [1]_ works on index ranges instead of calling itself; the tree is the same.

    References
    ----------
    .. [1] A. V. Aho, Y. Sagiv, T. G. Szymanski, J. D. Ullman, "Inferring a tree from lowest common ancestors with an
       application to the optimization of relational expressions", SIAM J. Comput. 10 (1981).

    Examples
    --------
    >>> from linkwise.problem import onetree
    >>> onetree(4, [(0, 1, 2), (2, 3, 0)]).parent.tolist()
    [4, 4, 5, 5, 6, 6, -1]
    >>> onetree(3, [(0, 1, 2), (1, 2, 0)]).stuck.tolist()
    [0, 1, 2]
    """
    table = np.array(triplets, dtype=np.intp).reshape(-1, 3)
    if n_items == 0:
        return BuildResult(np.empty(0, np.intp), None)
    parent, stuck = _build(n_items, table)
    if len(stuck):
        return BuildResult(None, np.sort(stuck))
    return BuildResult(_children_first(n_items, parent), None)


def _children_first(n_items: int, parent: IntArray) -> IntArray:
    """Reverse the numbers of the inner nodes: the work list makes parents first."""
    inner = len(parent) - n_items
    number = np.arange(len(parent) + 1)
    number[n_items : len(parent)] = n_items + inner - 1 - np.arange(inner)
    number[-1] = -1
    result = np.empty_like(parent)
    result[number[:-1]] = number[parent]
    return result


@njit
def _build(n: int, triplets: IntArray) -> tuple[IntArray, IntArray]:
    """Parent array with parents before children among inner nodes, and the stuck set (empty when there is none)."""
    parent = np.full(2 * n, -1, np.intp)
    nodes = n
    items = np.arange(n)
    scratch = np.empty(n, np.intp)
    m = len(triplets)
    # segments of `items` and `triplets` still to be divided: item range, triplet range, node above
    todo = np.empty((n + 1, 5), np.intp)
    todo[0] = (0, n, 0, m, -1)
    pending = 1
    sets = make(n)
    label = np.full(n, -1, np.intp)
    start = np.empty(n + 1, np.intp)
    while pending > 0:
        pending -= 1
        low, high, first, last, above = todo[pending]
        if high - low == 1:
            parent[items[low]] = above
            continue
        node = nodes
        nodes += 1
        parent[node] = above
        for p in range(low, high):
            sets.parent[items[p]] = items[p]
            sets.size[items[p]] = 1
        for t in range(first, last):
            union(sets, triplets[t, 0], triplets[t, 1])
        blocks = 0
        for p in range(low, high):
            root = find(sets, items[p])
            if root == items[p]:
                label[root] = blocks
                start[blocks] = sets.size[root]
                blocks += 1
        if blocks == 1:
            return parent[:0], items[low:high].copy()
        total = low
        for b in range(blocks):
            size = start[b]
            start[b] = total
            total += size
        for p in range(low, high):
            b = label[find(sets, items[p])]
            scratch[start[b]] = items[p]
            start[b] += 1
        for p in range(low, high):
            items[p] = scratch[p]
        # triplets inside one block move to the front, block by block, in place
        kept = first
        for t in range(first, last):
            a = find(sets, triplets[t, 0])
            if a == find(sets, triplets[t, 2]):
                for column in range(3):
                    triplets[kept, column] = triplets[t, column]
                kept += 1
        _sort_by_block(triplets, first, kept, label, sets, np.int64(blocks))
        t = first
        p = low
        for b in range(blocks):
            begin = t
            while t < kept and label[find(sets, triplets[t, 0])] == b:
                t += 1
            if start[b] - p == 1:
                parent[items[p]] = node
            else:
                todo[pending] = (p, start[b], begin, t, node)
                pending += 1
            p = start[b]
    return parent[:nodes].copy(), items[:0].copy()


@njit
def _sort_by_block(
    triplets: IntArray, first: int, last: int, label: IntArray, sets: tuple[IntArray, IntArray], k: int
) -> None:
    """Counting sort of ``triplets[first:last]`` by the block of their first item."""
    if last - first < 2:
        return
    place = np.zeros(k + 1, np.intp)
    block = np.empty(last - first, np.intp)
    for t in range(first, last):
        block[t - first] = label[find(sets, triplets[t, 0])]
        place[block[t - first] + 1] += 1
    for b in range(k):
        place[b + 1] += place[b]
    copy = triplets[first:last].copy()
    for t in range(last - first):
        to = first + place[block[t]]
        place[block[t]] += 1
        for column in range(3):
            triplets[to, column] = copy[t, column]


@njit
def _add_many(layers: _layers.Layers, triplets: npt.NDArray[np.int32], begin: int) -> tuple[int, int]:
    layers = borrowed(layers)
    for t in range(begin, len(triplets)):
        answer = _layers.try_add(layers, np.int64(triplets[t, 0]), np.int64(triplets[t, 1]), np.int64(triplets[t, 2]))
        if answer != OK:
            return t, answer
    return len(triplets), OK


class LiveTriplets:
    """A consistent set of triplets that grows one statement at a time and notices a contradiction at once.

    Parameters
    ----------
    n_items : int
        Number of items the triplets speak about.
    capacity : int, default=64
        Triplets to reserve room for; it grows by itself.

    Notes
    -----
    **Cost** about a microsecond per statement amortised inside `add_many`, plus the Python call for `add`. Memory is
    the sum over items of their depth in the BUILD tree, so long chains of nested groups are its worst case.
    **Guarantee** `add` returns False exactly when no tree displays the statement together with those already in; the
    set is then unchanged.

    Examples
    --------
    >>> from linkwise.problem import LiveTriplets
    >>> live = LiveTriplets(4)
    >>> live.add(0, 1, 2), live.add(2, 3, 0), live.add(1, 3, 2)
    (True, True, False)
    >>> len(live)
    2
    """

    def __init__(self, n_items: int, capacity: int = 64) -> None:
        self.n_items = n_items
        self.layers = _layers.make_layers(n_items, capacity)

    def __len__(self) -> int:
        return int(self.layers.count[_layers.N_TRIPLET])

    def add(self, a: int, b: int, c: int) -> bool:
        """Add ab|c unless it contradicts the set; return whether it was added."""
        while True:
            answer = _layers.try_add(self.layers, a, b, c)
            if answer != ROOM:
                return bool(answer == OK)
            self.layers = _layers.grow(self.layers)

    def add_many(self, triplets: npt.ArrayLike) -> int:
        """Add rows until one contradicts the set; return its index, or -1 when all were added."""
        table = np.ascontiguousarray(triplets, dtype=np.int32).reshape(-1, 3)
        done = 0
        while True:
            done, answer = _add_many(self.layers, table, done)
            if answer == OK:
                return -1
            if answer == CONFLICT:
                return int(done)
            self.layers = _layers.grow(self.layers)
