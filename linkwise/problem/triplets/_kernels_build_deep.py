"""BUILD for deep trees: when a set of items is divided, only what its smaller parts have to do with is looked at again.

The graph of BUILD joins a and b for every triplet ab|c whose three items lie inside the current set. Going down the
tree it only ever loses edges: those whose c has gone to another part. So one graph is kept from the root to the
leaves, with a spanning forest that tells its components. An edge outside the forest goes for nothing. Cutting an edge
of the forest walks both halves in step until the smaller one is complete, then looks among the edges of the smaller
half for one that leads out of it; without one, the smaller half has become a part of its own.

Where to look for the edges that a division costs: every such triplet has an item in one of the parts other than the
largest. An item is therefore looked at only when its set has at least halved, O((n + m) log n) in all. What has no such
bound is finding an edge to mend the forest with; where mending after one division would cost more than growing the
forest of that set again, it is grown again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import IntArray
from linkwise.problem.triplets._kernels_build_forest import (
    DOWN,
    EDGE,
    LEFT,
    MARK,
    RIGHT,
    UP,
    following,
    hang,
    make_root,
    smaller_half,
    unhang,
)

# columns of `triplet`; C is -1 once the edge between A and B is gone, NEXT links forest edges that wait to be cut
A, B, C, NEXT = range(4)
# further columns of `item`: its part, and where in `lists` its triplets are, as one of the close pair and as odd one
PART, NEAR, NEAR_END, ODD, ODD_END, ITEM_COLUMNS = range(6, 12)
# columns of `part`: how many items and edges it has, one of its items, the edges waiting to be cut, its node
SIZE, EDGES, SOME, WAITING, NODE = range(5)


class Graph(NamedTuple):
    """The edges that are left, a spanning forest of them, and the parts that the items are in."""

    triplet: IntArray
    item: IntArray
    part: IntArray
    lists: IntArray
    walk: IntArray


@njit
def build_deep(
    items: IntArray, triplets: IntArray, sets: IntArray, parent: IntArray, nodes: int
) -> tuple[int, IntArray]:
    """Divide sets of items down to the leaves.

    Rows of ``sets`` name a range of ``items``, the range of ``triplets`` about them, and the node to hang their tree
    from. Fills ``parent``, inner nodes after their parents, and returns the number of nodes and the stuck set, which is
    empty when there is none.
    """
    place = np.empty(len(items), np.intp)
    for k in range(len(sets)):
        some = items[sets[k, 0] : sets[k, 1]]
        for p in range(len(some)):
            place[some[p]] = p
        graph = _make_graph(len(some), triplets[sets[k, 2] : sets[k, 3]], place)
        nodes, stuck = _divide(graph, some, sets[k, 4], parent, nodes)
        if len(stuck):
            return nodes, stuck
    return nodes, items[:0].copy()


@njit
def _make_graph(n: int, triplets: IntArray, place: IntArray) -> Graph:
    m = len(triplets)
    triplet = np.empty((m, 4), np.intp)
    item = np.empty((n, ITEM_COLUMNS), np.intp)
    item[:] = -1
    item[:, MARK] = 0
    item[:, NEAR_END] = 0
    item[:, ODD_END] = 0
    for t in range(m):
        for column in range(3):
            triplet[t, column] = place[triplets[t, column]]
        triplet[t, NEXT] = -1
        item[triplet[t, A], NEAR_END] += 1
        item[triplet[t, B], NEAR_END] += 1
        item[triplet[t, C], ODD_END] += 1
    total = 0
    for x in range(n):
        near, odd = item[x, NEAR_END], item[x, ODD_END]
        item[x, NEAR] = item[x, NEAR_END] = total
        item[x, ODD] = item[x, ODD_END] = total + near
        total += near + odd
    lists = np.empty(total, np.intp)
    for t in range(m):
        for column in range(3):
            x = triplet[t, column]
            end = ODD_END if column == C else NEAR_END
            lists[item[x, end]] = t
            item[x, end] += 1
    part = np.empty((n, 5), np.intp)
    part[:] = -1
    return Graph(triplet, item, part, lists, np.empty((2, n), np.intp))


@njit
def _divide(graph: Graph, names: IntArray, above: int, parent: IntArray, nodes: int) -> tuple[int, IntArray]:
    """Divide the set of all items, then every part that comes out of a division."""
    graph = borrowed(graph)
    item, part = graph.item, graph.part
    n = len(item)
    todo = np.empty(n, np.intp)
    # a plain 0 or 1 has a type of its own, for which everything that is called here would be compiled once more
    zero, one = np.int64(0), np.int64(1)
    parts = zero
    for x in range(n):
        if item[x, MARK] == 0:
            _grow_tree(graph, x, parts, one)
            parts += 1
    whole, before, pending, searches = zero, one, zero, one
    node = nodes
    nodes += 1
    parent[node] = above
    while parts > before:
        nodes, pending = _part_ways(graph, whole, before, parts, names, node, parent, nodes, todo, pending)
        if pending == 0:
            return nodes, todo[:0]
        pending -= 1
        whole = todo[pending]
        node = part[whole, NODE]
        before = parts
        parts, searches = _cut_waiting(graph, whole, parts, searches)
    stuck = todo[: part[whole, SIZE]]
    x = _root(graph, whole)
    for i in range(len(stuck)):
        stuck[i] = names[x]
        x = following(item, x)
    return nodes, stuck


@njit
def _part_ways(
    graph: Graph,
    whole: int,
    first: int,
    last: int,
    names: IntArray,
    node: int,
    parent: IntArray,
    nodes: int,
    todo: IntArray,
    pending: int,
) -> tuple[int, int]:
    """Hang the parts of a division below ``node``, take out the edges that it costs, and note what to divide next.

    The parts are ``whole``, which goes on under the number of the set that was divided, and ``first`` to ``last``.
    """
    part = graph.part
    largest = whole
    for p in range(first, last):
        if part[p, SIZE] + part[p, EDGES] > part[largest, SIZE] + part[largest, EDGES]:
            largest = p
    for i in range(first - 1, last):
        p = i if i >= first else whole
        if p != largest:
            _lose_edges(graph, p)
    for i in range(first - 1, last):
        p = i if i >= first else whole
        if part[p, SIZE] == 1:
            parent[names[part[p, SOME]]] = node
            continue
        parent[nodes] = node
        if part[p, EDGES] > 0:
            part[p, NODE] = nodes
            todo[pending] = p
            pending += 1
        else:  # nothing is said about its items: they are all children
            x = _root(graph, p)
            while x >= 0:
                parent[names[x]] = nodes
                x = following(graph.item, x)
        nodes += 1
    return nodes, pending


@njit
def _root(graph: Graph, p: int) -> int:
    x: int = graph.part[p, SOME]
    while graph.item[x, UP] >= 0:
        x = graph.item[x, UP]
    return x


@njit
def _lose_edges(graph: Graph, p: int) -> None:
    """Take out the edges of triplets with items in part ``p`` and elsewhere; lists forget what is gone."""
    triplet, item, lists = graph.triplet, graph.item, graph.lists
    x = _root(graph, p)
    while x >= 0:
        i = item[x, NEAR]
        while i < item[x, NEAR_END]:
            t = lists[i]
            c = triplet[t, C]
            if c >= 0 and item[c, PART] == p:
                i += 1
                continue
            if c >= 0:
                _lose(graph, t, p)
            item[x, NEAR_END] -= 1
            lists[i] = lists[item[x, NEAR_END]]
        i = item[x, ODD]
        while i < item[x, ODD_END]:
            t = lists[i]
            elsewhere = item[triplet[t, A], PART]
            if triplet[t, C] >= 0 and elsewhere == p:
                i += 1
                continue
            if triplet[t, C] >= 0:
                _lose(graph, t, elsewhere)
            item[x, ODD_END] -= 1
            lists[i] = lists[item[x, ODD_END]]
        x = following(item, x)


@njit
def _lose(graph: Graph, t: int, p: int) -> None:
    """Take one edge of part ``p`` out; if the forest holds it, it waits to be cut when that part is divided."""
    triplet, item, part = graph.triplet, graph.item, graph.part
    triplet[t, C] = -1
    part[p, EDGES] -= 1
    if item[triplet[t, A], EDGE] == t or item[triplet[t, B], EDGE] == t:
        triplet[t, NEXT] = part[p, WAITING]
        part[p, WAITING] = t


@njit
def _cut_waiting(graph: Graph, whole: int, parts: int, searches: int) -> tuple[int, int]:
    """Cut what waits to be cut in the forest of a part; new parts take the next numbers."""
    triplet, item, part, walk = graph.triplet, graph.item, graph.part, graph.walk
    t = part[whole, WAITING]
    part[whole, WAITING] = -1
    allowance = part[whole, SIZE] + part[whole, EDGES]
    while t >= 0:
        if allowance < 0:
            searches += 1
            return _grow_anew(graph, t, parts, searches), searches
        x = triplet[t, A] if item[triplet[t, A], EDGE] == t else triplet[t, B]
        above = item[x, UP]
        unhang(item, x)
        searches += 2
        side, count = smaller_half(item, walk, x, above, searches)
        end, edge, seen = _way_out(graph, side, count, searches - side)
        allowance -= 2 * count + seen
        if edge >= 0:
            make_root(item, end)
            hang(item, end, triplet[edge, A] + triplet[edge, B] - end, edge)
        else:
            old = item[x, PART]
            for i in range(count):
                item[walk[side, i], PART] = parts
            part[parts, SIZE] = count
            part[old, SIZE] -= count
            part[parts, EDGES] = seen // 2  # every edge was met at both of its ends
            part[old, EDGES] -= seen // 2
            part[parts, SOME] = x if side == 0 else above
            part[old, SOME] = above if side == 0 else x
            parts += 1
        t = triplet[t, NEXT]
    return parts, searches


@njit
def _way_out(graph: Graph, side: int, count: int, search: int) -> tuple[int, int, int]:
    """Find an edge that leaves the items marked ``search``: the end inside, the edge or -1, and edge ends looked at."""
    triplet, item, lists = graph.triplet, graph.item, graph.lists
    seen = 0
    for k in range(count):
        x = graph.walk[side, k]
        i = item[x, NEAR]
        while i < item[x, NEAR_END]:
            t = lists[i]
            if triplet[t, C] < 0:
                item[x, NEAR_END] -= 1
                lists[i] = lists[item[x, NEAR_END]]
                continue
            i += 1
            seen += 1
            if item[triplet[t, A] + triplet[t, B] - x, MARK] != search:
                return x, t, seen
    return -1, -1, seen


@njit
def _grow_anew(graph: Graph, t: int, parts: int, search: int) -> int:
    """Grow the forest again in every part in which an edge still waits to be cut: ``t`` and those it links to."""
    triplet, item, part = graph.triplet, graph.item, graph.part
    while t >= 0:
        for column in range(2):
            x = triplet[t, column]
            if item[x, MARK] != search:
                p = item[x, PART]
                if item[part[p, SOME], MARK] == search:  # an earlier tree has kept the number
                    p = parts
                    parts += 1
                _grow_tree(graph, x, p, search)
        t = triplet[t, NEXT]
    return parts


@njit
def _grow_tree(graph: Graph, x: int, p: int, search: int) -> None:
    """Grow a tree of the forest from ``x`` breadth first, so that it is shallow; what it reaches is part ``p``."""
    triplet, item, lists = graph.triplet, graph.item, graph.lists
    walk = graph.walk[0]
    item[x, UP] = item[x, EDGE] = item[x, DOWN] = item[x, LEFT] = item[x, RIGHT] = -1
    item[x, MARK] = search
    graph.part[p, SOME] = x
    walk[0] = x
    count = 1
    done = 0
    seen = 0
    while done < count:
        x = walk[done]
        done += 1
        item[x, PART] = p
        i = item[x, NEAR]
        while i < item[x, NEAR_END]:
            t = lists[i]
            if triplet[t, C] < 0:
                item[x, NEAR_END] -= 1
                lists[i] = lists[item[x, NEAR_END]]
                continue
            i += 1
            seen += 1
            y = triplet[t, A] + triplet[t, B] - x
            if item[y, MARK] != search:
                item[y, MARK] = search
                item[y, DOWN] = -1
                hang(item, y, x, t)
                walk[count] = y
                count += 1
    graph.part[p, SIZE] = count
    graph.part[p, EDGES] = seen // 2
