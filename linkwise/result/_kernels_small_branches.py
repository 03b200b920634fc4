"""Assignment of small branches to other clusters: distances, and the clusters that statements bar."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.lca import LcaIndex, query
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Kind

MUST, CANNOT, TRIPLET = int(Kind.MUST_LINK), int(Kind.CANNOT_LINK), int(Kind.TRIPLET)


class _Where(NamedTuple):
    """Where clusters and outlier branches are: as nodes of the tree, or as means of X when ``by_tree`` is False."""

    by_tree: bool
    meets: LcaIndex
    height: FloatArray
    nodes: IntArray
    means: FloatArray


@njit
def _distance(where: _Where, x: int, y: int) -> float:
    """Distance of two units: the height at which the tree joins them, or the squared distance of their means."""
    if where.by_tree:
        node = query(where.meets, where.nodes[x], where.nodes[y])
        return where.height[node] if node >= 0 else np.inf
    total = 0.0
    for f in range(where.means.shape[1]):
        step = where.means[x, f] - where.means[y, f]
        total += step * step
    return total


@njit
def _barred(
    barred: IntArray,
    turn: int,
    me: int,
    now: IntArray,
    unit: IntArray,
    statements: IntArray,
    kind: npt.NDArray[np.int8],
    items: IntArray,
    k: int,
) -> int:
    """Write ``turn`` at every unit ``me`` may not join; return the cluster must-links ask for (-1 any, -2 none)."""
    wanted = -1
    for s in statements:
        a = now[unit[items[s, 0]]]
        b = now[unit[items[s, 1]]]
        if kind[s] == MUST:
            other = b if a == me else a
            if other < k and wanted != other:
                wanted = other if wanted == -1 else -2
        elif kind[s] == CANNOT:
            if a != b:
                barred[b if a == me else a] = turn
        else:
            c = now[unit[items[s, 2]]]
            if (c == a) != (c == b):
                continue  # broken before; nothing to protect
            for target in (a, b, c):
                x = target if a == me else a
                y = target if b == me else b
                z = target if c == me else c
                if (z == x) != (z == y):
                    barred[target] = turn
    return wanted


@njit
def _assign(
    where: _Where,
    unit: IntArray,
    start: IntArray,
    statement: IntArray,
    kind: npt.NDArray[np.int8],
    items: IntArray,
    k: int,
) -> IntArray:
    """Give each outlier branch the nearest cluster that breaks nothing; return each unit's cluster.

    Units 0 to k - 1 are the clusters, the others the branches, and ``unit`` names the unit of each sample. The
    statements that touch branch o are ``statement[start[o]:start[o + 1]]``. Branches that found no place are tried
    again as long as others move, because a move can complete a trio.
    """
    now = np.arange(k + len(start) - 1)
    barred = np.full(len(now), -1, np.intp)  # the turn in which a cluster was last found incompatible
    turn = 0
    moved = True
    while moved:
        moved = False
        for o in range(len(start) - 1):
            me = k + o
            if now[me] != me:
                continue
            turn += 1
            wanted = _barred(barred, turn, me, now, unit, statement[start[o] : start[o + 1]], kind, items, k)
            best = -1
            nearest = np.inf
            for j in range(k):
                if barred[j] != turn and (wanted == -1 or wanted == j):
                    distance = _distance(where, me, j)
                    if distance < nearest:
                        best, nearest = j, distance
            if best >= 0:
                now[me] = best
                moved = True
    return now
