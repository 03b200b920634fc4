"""Labels of least energy on a graph whose links charge for the labels at their ends: one by one, and trees at once.

The energy is a sum of own costs and of charges: a link whose ends share label ``a`` charges ``same[q, a]``, one whose
ends have labels ``a`` and ``b`` charges ``left[q, a] + right[q, b] + weight[q] * between[a, b]``. What must never
happen charges inf.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import BoolArray, FloatArray, IntArray

_SWEEPS = 200  # of one-by-one moves; each lowers the energy, so this only stops a crawl
_FORESTS = 16  # forests tried in a part with cycles
_PATIENCE = 4  # of these without a gain before the part is left alone


class Graph(NamedTuple):
    """The links between nodes.

    Link q joins ``ends[q]``. Node u has the links ``link[first[u]:first[u + 1]]`` to the nodes ``other[...]``, and is
    the left end where ``side`` is 0. Part t is made of the nodes ``place[begin[t]:begin[t + 1]]``; ``tree[t]`` says
    that it has no cycle.
    """

    ends: IntArray
    first: IntArray
    other: IntArray
    link: IntArray
    side: IntArray
    begin: IntArray
    place: IntArray
    tree: BoolArray


class Charges(NamedTuple):
    """What links charge, all of shape (n_links, n_clusters) but ``weight``, one per link, and the table ``between``.

    ``between`` has shape (n_clusters, n_clusters), or (0, 0) where nothing depends on both labels.
    """

    left: FloatArray
    right: FloatArray
    same: FloatArray
    weight: FloatArray
    between: FloatArray


@njit(nogil=True)
def cheapest_labels(own: FloatArray) -> IntArray:
    """Return the label of least own cost of each node, the lowest of several."""
    out = np.empty(len(own), np.intp)
    for u in range(len(own)):
        best, least = 0, own[u, 0]
        for a in range(1, own.shape[1]):
            less = own[u, a] < least
            best = a if less else best
            least = own[u, a] if less else least
        out[u] = best
    return out


@njit(nogil=True)
def _part_energy(own: FloatArray, graph: Graph, charges: Charges, labels: IntArray, t: int) -> float:
    total = 0.0
    place, first, other, link, side = graph.place, graph.first, graph.other, graph.link, graph.side
    left, right, same = charges.left, charges.right, charges.same
    for p in range(graph.begin[t], graph.begin[t + 1]):
        u = place[p]
        a = labels[u]
        total += own[u, a]
        for e in range(first[u], first[u + 1]):
            if side[e] == 0:
                q, b = link[e], labels[other[e]]
                if a == b:
                    total += same[q, a]
                else:
                    total += left[q, a] + right[q, b]
                    if len(charges.between):
                        total += charges.weight[q] * charges.between[a, b]
    return total


@njit(nogil=True)
def energies(own: FloatArray, graph: Graph, charges: Charges, labels: IntArray) -> FloatArray:
    """Return the energy of each part."""
    out = np.empty(len(graph.begin) - 1)
    for t in range(len(out)):
        out[t] = _part_energy(own, graph, charges, labels, t)
    return out


@njit(nogil=True)
def _add_charges(cost: FloatArray, u: int, e: int, graph: Graph, charges: Charges, b: int) -> None:
    """Add what entry ``e`` of node ``u`` charges for each of its labels while the other end has label ``b``."""
    q = graph.link[e]
    mine, theirs = (charges.left, charges.right) if graph.side[e] == 0 else (charges.right, charges.left)
    together = cost[u, b] + charges.same[q, b]
    there = theirs[q, b]
    for a in range(cost.shape[1]):
        cost[u, a] += mine[q, a] + there
    if len(charges.between):
        for a in range(cost.shape[1]):
            cost[u, a] += charges.weight[q] * charges.between[a, b]
    cost[u, b] = together


@njit(nogil=True)
def descend(own: FloatArray, graph: Graph, charges: Charges, order: IntArray, labels: IntArray) -> None:
    """Give nodes, one after the other, the label that is best while all others stay, until none moves (ICM).

    A node moves only for a lower energy; a node is looked at again only after a neighbor moved.
    """
    k = own.shape[1]
    cost = np.empty((1, k))
    waiting = np.ones(len(own), np.bool_)
    first, other = graph.first, graph.other
    for _ in range(_SWEEPS):
        moved = False
        for u in order:
            if not waiting[u]:
                continue
            waiting[u] = False
            for a in range(k):
                cost[0, a] = own[u, a]
            for e in range(first[u], first[u + 1]):
                _add_charges(cost, 0, e, graph, charges, labels[other[e]])
            mine = labels[u]
            best = mine
            for a in range(k):
                if cost[0, a] < cost[0, best]:
                    best = a
            # rounding must not send two nodes round in circles
            now = cost[0, mine]
            if best != mine and cost[0, best] < now - 1e-13 * (abs(now) if now < np.inf else 0.0):
                labels[u] = best
                moved = True
                for e in range(first[u], first[u + 1]):
                    waiting[other[e]] = True
        if not moved:
            break


@njit(nogil=True)
def _root(above: IntArray, u: int) -> int:
    while above[u] != u:
        above[u] = above[above[u]]
        u = above[u]
    return u


@njit(nogil=True)
def _pick_forest(graph: Graph, t: int, turn: int, inside: BoolArray, above: IntArray, seen: IntArray) -> None:
    """Choose nodes of part ``t`` among which no cycle runs; which comes first changes with ``turn``."""
    low, size = graph.begin[t], graph.begin[t + 1] - graph.begin[t]
    for p in range(low, low + size):
        inside[graph.place[p]] = False
        above[graph.place[p]] = graph.place[p]
        seen[graph.place[p]] = -1
    shift = (turn // 2) * max(1, (size * 2) // 5)
    for i in range(size):
        p = (i + shift) % size
        u = graph.place[low + (p if turn % 2 == 0 else size - 1 - p)]
        able = True
        for e in range(graph.first[u], graph.first[u + 1]):
            v = graph.other[e]
            if inside[v]:
                root = _root(above, v)
                if seen[root] == u:
                    able = False
                    break
                seen[root] = u
        if not able:
            continue
        inside[u] = True
        for e in range(graph.first[u], graph.first[u + 1]):
            if inside[graph.other[e]]:
                above[_root(above, graph.other[e])] = u


@njit(nogil=True)
def _send(charges: Charges, q: int, side: int, cost: FloatArray, best: IntArray, u: int, above: int) -> None:
    """Add to ``cost[above, b]`` the least cost of node ``u`` given label ``b`` above it.

    The label it has then becomes ``best[u, b]``; ``side`` is where ``u`` stands on link ``q``.
    """
    k = cost.shape[1]
    mine, theirs = (charges.left, charges.right) if side == 0 else (charges.right, charges.left)
    if len(charges.between):
        for b in range(k):
            least, at = cost[u, b] + charges.same[q, b], b
            for a in range(k):
                value = cost[u, a] + mine[q, a] + theirs[q, b] + charges.weight[q] * charges.between[a, b]
                if a != b and value < least:
                    least, at = value, a
            cost[above, b] += least
            best[u, b] = at
        return
    first, second, low, next_low = 0, 0, np.inf, np.inf
    for a in range(k):
        value = cost[u, a] + mine[q, a]
        if value < low:
            second, next_low = first, low
            first, low = a, value
        elif value < next_low:
            second, next_low = a, value
    for b in range(k):
        least, at = low, first
        if first == b:
            least, at = next_low, second
        least += theirs[q, b]
        together = cost[u, b] + charges.same[q, b]
        if together <= least:
            least, at = together, b
        cost[above, b] += least
        best[u, b] = at


@njit(nogil=True)
def _solve_forest(
    own: FloatArray,
    graph: Graph,
    charges: Charges,
    t: int,
    inside: BoolArray,
    labels: IntArray,
    queue: IntArray,
    parent: IntArray,
    cost: FloatArray,
    best: IntArray,
) -> None:
    """Give the nodes inside a forest their best labels at once, while the others of the part stay."""
    k = own.shape[1]
    tail = 0
    for p in range(graph.begin[t], graph.begin[t + 1]):
        parent[graph.place[p]] = -2
    for p in range(graph.begin[t], graph.begin[t + 1]):
        if not inside[graph.place[p]] or parent[graph.place[p]] != -2:
            continue
        head = tail
        queue[tail] = graph.place[p]
        parent[graph.place[p]] = -1
        tail += 1
        while head < tail:
            u = queue[head]
            head += 1
            for a in range(k):
                cost[u, a] = own[u, a]
            for e in range(graph.first[u], graph.first[u + 1]):
                v = graph.other[e]
                if inside[v]:
                    if parent[v] == -2:
                        # the link as the child sees it: same link, other side
                        parent[v] = e
                        queue[tail] = v
                        tail += 1
                else:
                    _add_charges(cost, u, e, graph, charges, labels[v])
    for i in range(tail - 1, -1, -1):
        u = queue[i]
        e = parent[u]
        if e >= 0:
            q = graph.link[e]
            above = graph.ends[q, graph.side[e]]
            _send(charges, q, 1 - graph.side[e], cost, best, u, above)
    for i in range(tail):
        u = queue[i]
        e = parent[u]
        if e >= 0:
            labels[u] = best[u, labels[graph.ends[graph.link[e], graph.side[e]]]]
        else:
            labels[u] = 0
            for a in range(1, k):
                if cost[u, a] < cost[u, labels[u]]:
                    labels[u] = a


@njit(nogil=True)
def _fits(graph: Graph, charges: Charges, cheapest: IntArray, t: int) -> bool:
    """Whether no link of a part charges anything when each node has its cheapest label."""
    first, other, link, side = graph.first, graph.other, graph.link, graph.side
    for p in range(graph.begin[t], graph.begin[t + 1]):
        u = graph.place[p]
        a = cheapest[u]
        for e in range(first[u], first[u + 1]):
            if side[e] == 0:
                q, b = link[e], cheapest[other[e]]
                if a == b:
                    if charges.same[q, a] > 0.0:
                        return False
                elif charges.left[q, a] + charges.right[q, b] > 0.0 or (
                    len(charges.between) and charges.weight[q] > 0.0
                ):
                    return False
    return True


@njit(nogil=True)
def improve_by_trees(own: FloatArray, graph: Graph, charges: Charges, cheapest: IntArray, labels: IntArray) -> float:
    """Lower the energy by moving all nodes of a forest at once, part by part; parts without cycles end at their least.

    Labels change only where that lowers the energy of a part. ``cheapest`` is the label of least own cost of each node:
    where links charge nothing for these, nothing is better. Returns the energy of all parts.
    """
    total = 0.0
    n, k = own.shape
    inside = np.ones(n, np.bool_)
    above, seen = np.empty(n, np.intp), np.empty(n, np.intp)
    queue, parent = np.empty(n, np.intp), np.empty(n, np.intp)
    cost, best = np.empty((n, k)), np.empty((n, k), np.intp)
    kept = labels.copy()
    for t in range(len(graph.begin) - 1):
        if _fits(graph, charges, cheapest, t):
            for p in range(graph.begin[t], graph.begin[t + 1]):
                u = graph.place[p]
                labels[u] = cheapest[u]
                total += own[u, cheapest[u]]
            continue
        value = _part_energy(own, graph, charges, labels, t)
        idle = 0
        for turn in range(1 if graph.tree[t] else _FORESTS):
            if not graph.tree[t]:
                _pick_forest(graph, t, turn, inside, above, seen)
            _solve_forest(own, graph, charges, t, inside, labels, queue, parent, cost, best)
            now = _part_energy(own, graph, charges, labels, t)
            if now < value - 1e-13 * (abs(value) if value < np.inf else 0.0):
                value, idle = now, 0
                for p in range(graph.begin[t], graph.begin[t + 1]):
                    kept[graph.place[p]] = labels[graph.place[p]]
            else:
                idle += 1
                for p in range(graph.begin[t], graph.begin[t + 1]):
                    labels[graph.place[p]] = kept[graph.place[p]]
            if idle == _PATIENCE:
                break
        total += value
    return total
