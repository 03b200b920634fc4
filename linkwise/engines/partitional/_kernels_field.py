"""Labels of least energy on a graph whose links charge for the labels at their ends: one by one, and trees at once.

The energy is a sum of own costs and of charges: a link whose ends share label ``a`` charges ``same[q, a]``, one whose
ends have labels ``a`` and ``b`` charges ``left[q, a] + right[q, b] + weight[q] * between[a, b]``. What must never
happen charges inf.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit

__all__ = ["Charges", "Graph", "descend", "energies", "improve_by_trees"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]
_SWEEPS = 200  # of one-by-one moves; each lowers the energy, so this only stops a crawl
_FORESTS = 16  # forests tried in a part with cycles
_PATIENCE = 4  # of these without a gain before the part is left alone


class Graph(NamedTuple):
    """Who is linked with whom.

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
    tree: npt.NDArray[np.bool_]


class Charges(NamedTuple):
    """What links charge, all of shape (n_links, n_clusters) but ``weight``, one per link, and the table ``between``.

    ``between`` has shape (n_clusters, n_clusters), or (0, 0) where nothing depends on both labels.
    """

    left: FloatArray
    right: FloatArray
    same: FloatArray
    weight: FloatArray
    between: FloatArray


@njit
def _charge(charges: Charges, q: int, side: int, a: int, b: int) -> float:
    """Charge of link ``q`` when the node on ``side`` has label ``a`` and its other end has ``b``."""
    if a == b:
        return charges.same[q, a]  # type: ignore[no-any-return]
    value = charges.left[q, a] + charges.right[q, b] if side == 0 else charges.right[q, a] + charges.left[q, b]
    if len(charges.between):
        value += charges.weight[q] * charges.between[a, b]
    return value  # type: ignore[no-any-return]


@njit
def _part_energy(own: FloatArray, graph: Graph, charges: Charges, labels: IntArray, t: int) -> float:
    total = 0.0
    for p in range(graph.begin[t], graph.begin[t + 1]):
        u = graph.place[p]
        total += own[u, labels[u]]
        for e in range(graph.first[u], graph.first[u + 1]):
            if graph.side[e] == 0:
                total += _charge(charges, graph.link[e], 0, labels[u], labels[graph.other[e]])
    return total


@njit
def energies(own: FloatArray, graph: Graph, charges: Charges, labels: IntArray) -> FloatArray:
    """Return the energy of each part."""
    out = np.empty(len(graph.begin) - 1)
    for t in range(len(out)):
        out[t] = _part_energy(own, graph, charges, labels, t)
    return out


@njit
def descend(own: FloatArray, graph: Graph, charges: Charges, order: IntArray, labels: IntArray) -> None:
    """Give nodes, one after the other, the label that is best while all others stay, until none moves (ICM).

    A node moves only for a lower energy; a node is looked at again only after a neighbour moved.
    """
    k = own.shape[1]
    cost = np.empty(k)
    waiting = np.ones(len(own), np.bool_)
    for _ in range(_SWEEPS):
        moved = False
        for u in order:
            if not waiting[u]:
                continue
            waiting[u] = False
            for a in range(k):
                cost[a] = own[u, a]
            for e in range(graph.first[u], graph.first[u + 1]):
                b = labels[graph.other[e]]
                for a in range(k):
                    cost[a] += _charge(charges, graph.link[e], graph.side[e], a, b)
            best, mine = labels[u], labels[u]
            for a in range(k):
                if cost[a] < cost[best]:
                    best = a
            # rounding must not send two nodes round in circles
            if best != mine and cost[best] < cost[mine] - 1e-13 * (abs(cost[mine]) if cost[mine] < np.inf else 0.0):
                labels[u] = best
                moved = True
                for e in range(graph.first[u], graph.first[u + 1]):
                    waiting[graph.other[e]] = True
        if not moved:
            break


@njit
def _root(above: IntArray, u: int) -> int:
    while above[u] != u:
        above[u] = above[above[u]]
        u = above[u]
    return u


@njit
def _pick_forest(
    graph: Graph, t: int, turn: int, inside: npt.NDArray[np.bool_], above: IntArray, seen: IntArray
) -> None:
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


@njit
def _send(charges: Charges, q: int, side: int, cost: FloatArray, best: IntArray, out: FloatArray) -> None:
    """Add to ``out[b]`` the least cost of a node given that its parent has label ``b``; ``best[b]`` is its label then.

    ``side`` is where the node stands on link ``q``.
    """
    k = len(cost)
    if len(charges.between):
        for b in range(k):
            least, at = np.inf, 0
            for a in range(k):
                value = cost[a] + _charge(charges, q, side, a, b)
                if value < least:
                    least, at = value, a
            out[b] += least
            best[b] = at
        return
    mine, theirs = (charges.left, charges.right) if side == 0 else (charges.right, charges.left)
    first, second, low, next_low = 0, 0, np.inf, np.inf
    for a in range(k):
        value = cost[a] + mine[q, a]
        if value < low:
            second, next_low = first, low
            first, low = a, value
        elif value < next_low:
            second, next_low = a, value
    for b in range(k):
        at, least = (first, low) if first != b else (second, next_low)
        least += theirs[q, b]
        together = cost[b] + charges.same[q, b]
        if together <= least:
            at, least = b, together
        out[b] += least
        best[b] = at


@njit
def _solve_forest(
    own: FloatArray,
    graph: Graph,
    charges: Charges,
    t: int,
    inside: npt.NDArray[np.bool_],
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
                    for a in range(k):
                        cost[u, a] += _charge(charges, graph.link[e], graph.side[e], a, labels[v])
    for i in range(tail - 1, -1, -1):
        u = queue[i]
        e = parent[u]
        if e >= 0:
            q = graph.link[e]
            above = graph.ends[q, graph.side[e]]
            _send(charges, q, 1 - graph.side[e], cost[u], best[u], cost[above])
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


@njit
def improve_by_trees(own: FloatArray, graph: Graph, charges: Charges, labels: IntArray) -> None:
    """Lower the energy by moving all nodes of a forest at once, part by part; parts without cycles end at their least.

    Labels change only where that lowers the energy of a part.
    """
    n, k = own.shape
    inside = np.ones(n, np.bool_)
    above, seen = np.empty(n, np.intp), np.empty(n, np.intp)
    queue, parent = np.empty(n, np.intp), np.empty(n, np.intp)
    cost, best = np.empty((n, k)), np.empty((n, k), np.intp)
    kept = labels.copy()
    for t in range(len(graph.begin) - 1):
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
