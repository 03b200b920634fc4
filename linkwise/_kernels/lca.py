"""Lowest common ancestors in constant time after one linear pass (Schieber and Vishkin's inlabel numbers).

Works on any parent array in which children come before their parents; a root has parent -1. A virtual node above all
roots turns a forest into one tree, so a query across two trees answers -1.

References
----------
.. [1] B. Schieber, U. Vishkin, "On Finding Lowest Common Ancestors: Simplification and Parallelization",
   SIAM Journal on Computing 17(6), 1988.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._kernels._jit import njit
from linkwise._typing import BoolArray, IntArray


class LcaIndex(NamedTuple):
    """What `prepare` found out about a tree; pass it to the queries.

    The nodes are laid out in preorder and ``first[v]`` to ``last[v]`` is the stretch below ``v`` (itself included).
    ``inlabel`` cuts the tree into downward paths, numbered so that a path's ancestors in a complete binary tree are
    read off its bits; ``ascendant`` collects the levels of the paths met on the way up; ``above`` is the parent of a
    path's top node. The virtual root is the last node.
    """

    first: IntArray
    last: IntArray
    inlabel: IntArray
    ascendant: IntArray
    above: IntArray


@njit
def highest_bit(x: int) -> int:
    """Keep only the highest set bit of ``x`` (0 stays 0)."""
    x |= x >> 1
    x |= x >> 2
    x |= x >> 4
    x |= x >> 8
    x |= x >> 16
    x |= x >> 32
    return x ^ (x >> 1)


@njit
def prepare(parent: IntArray) -> LcaIndex:
    """Number the paths of a tree or forest: O(nodes) time and memory, no recursion."""
    m = len(parent)
    size = np.ones(m + 1, np.intp)
    for v in range(m):
        p = parent[v] if parent[v] >= 0 else m
        size[p] += size[v]
    first = np.empty(m + 1, np.intp)
    last = np.empty(m + 1, np.intp)
    free = np.empty(m + 1, np.intp)  # where the stretch still to be handed to a node's children ends
    inlabel = np.empty(m + 1, np.intp)
    ascendant = np.empty(m + 1, np.intp)
    above = np.full(m + 2, -1, np.intp)
    for v in range(m, -1, -1):  # parents first; the last child takes the end of the stretch, so children stay in order
        p = m
        if v == m:
            first[v] = 1
        else:
            p = parent[v] if parent[v] >= 0 else m
            free[p] -= size[v]
            first[v] = free[p] + 1
        last[v] = first[v] + size[v] - 1
        free[v] = last[v]
        inlabel[v] = last[v] & -highest_bit((first[v] - 1) ^ last[v])
        bit = inlabel[v] & -inlabel[v]
        if v == m:
            ascendant[v] = bit
        elif inlabel[v] == inlabel[p]:
            ascendant[v] = ascendant[p]
        else:
            ascendant[v] = ascendant[p] | bit
            above[inlabel[v]] = p
    return LcaIndex(first, last, inlabel, ascendant, above)


@njit
def _climb(index: LcaIndex, x: int, path: int, bit: int) -> int:
    """Return the lowest ancestor of ``x`` on the path ``path``, whose level is ``bit``."""
    label = index.inlabel[x]
    if label == path:
        return x
    step = highest_bit(index.ascendant[x] & (bit - 1))
    return index.above[(label & -(2 * step)) | step]  # type: ignore[no-any-return]


@njit
def meet(index: LcaIndex, x: int, y: int) -> int:
    """Lowest common ancestor, where the virtual root is an ordinary answer."""
    a = index.inlabel[x]
    b = index.inlabel[y]
    if a != b:
        # Levels below a node's own path are never in its ascendant, so only the lowest shared one is to be found.
        common = index.ascendant[x] & index.ascendant[y] & -highest_bit(a ^ b)
        bit = common & -common
        path = (a & -(2 * bit)) | bit
        x = _climb(index, x, path, bit)
        y = _climb(index, y, path, bit)
    return x if index.first[x] <= index.first[y] else y


@njit
def query(index: LcaIndex, x: int, y: int) -> int:
    """Lowest common ancestor of two nodes in O(1), or -1 when they are in different trees."""
    z = meet(index, x, y)
    return z if z < len(index.first) - 1 else -1


@njit
def query_many(index: LcaIndex, x: IntArray, y: IntArray) -> IntArray:
    """`query` for every pair ``x[i], y[i]``."""
    answer = np.empty(len(x), np.intp)
    for i in range(len(x)):
        answer[i] = query(index, x[i], y[i])
    return answer


@njit
def below(index: LcaIndex, x: int, y: int) -> bool:
    """Whether ``x`` lies in the subtree of ``y`` (a node lies in its own subtree)."""
    return index.first[y] <= index.first[x] <= index.last[y]  # type: ignore[no-any-return]


@njit
def below_many(index: LcaIndex, x: IntArray, y: IntArray) -> BoolArray:
    """`below` for every pair ``x[i], y[i]``."""
    answer = np.empty(len(x), np.bool_)
    for i in range(len(x)):
        answer[i] = below(index, x[i], y[i])
    return answer


@njit
def splits_off(index: LcaIndex, a: IntArray, b: IntArray, c: IntArray) -> BoolArray:
    """Whether a and b meet in one tree, at a node that does not have c below it: the tree displays ab|c.

    If c is not below z = lca(a, b), both lca(a, c) and lca(b, c) are the first node above z that has c below it (or c
    is in another tree), so one meeting point decides the statement.
    """
    virtual = len(index.first) - 1
    answer = np.empty(len(a), np.bool_)
    for i in range(len(a)):
        z = meet(index, a[i], b[i])
        answer[i] = z != virtual and not below(index, c[i], z)
    return answer
