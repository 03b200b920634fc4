"""Compiled walks over a taxonomy, whose nodes are numbered in any order, and over pairs counted off in a row."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.condensed import condensed_pair
from linkwise._kernels.disjoint_set import DisjointSet, union
from linkwise._typing import BoolArray, FloatArray, IntArray


@njit
def depths(parent: IntArray, order: IntArray) -> IntArray:
    """Count the edges from every node up to its root."""
    depth = np.zeros(len(parent), np.intp)
    for v in order:
        if parent[v] >= 0:
            depth[v] = depth[parent[v]] + 1
    return depth


@njit
def cover(parent: IntArray, order: IntArray, flagged: BoolArray) -> tuple[IntArray, int]:
    """Find the highest flagged node at or above every node (-1: none), and a flagged node below another (-1: none)."""
    answer = np.full(len(parent), -1, np.intp)
    nested = -1
    for v in order:
        if parent[v] >= 0:
            answer[v] = answer[parent[v]]
        if flagged[v]:
            if answer[v] >= 0:
                nested = v
            else:
                answer[v] = v
    return answer, nested


@njit
def skeleton(parent: IntArray, order: IntArray, node: IntArray) -> tuple[IntArray, IntArray]:
    """Build the tree whose leaves are the items: an item is a child of the node it sits on.

    Nodes that do not divide items (nothing below, or everything below one branch) are left out. Returns the parent
    of every item and remaining node, items first and children before parents, and the number each node received (-1:
    left out).
    """
    m, n = len(parent), len(node)
    branches = np.zeros(m, np.intp)
    for i in range(n):
        branches[node[i]] += 1
    for t in range(m - 1, -1, -1):
        v = order[t]
        if branches[v] > 0 and parent[v] >= 0:
            branches[parent[v]] += 1
    number = np.full(m, -1, np.intp)
    total = n
    for t in range(m - 1, -1, -1):
        if branches[order[t]] > 1:
            number[order[t]] = total
            total += 1
    holder = number.copy()  # the remaining node at or above each node
    for v in order:
        if holder[v] < 0 and parent[v] >= 0:
            holder[v] = holder[parent[v]]
    up = np.full(total, -1, np.intp)
    for i in range(n):
        up[i] = holder[node[i]]
    for v in order:
        if number[v] >= 0 and parent[v] >= 0:
            up[number[v]] = holder[parent[v]]
    return up, number


@njit
def pairs_in_runs(start: IntArray, count: IntArray, before: IntArray, rank: IntArray) -> IntArray:
    """Find the pairs of places that stand at the given ranks when the pairs inside run after run are counted off.

    Run r holds the places ``start[r]`` to ``start[r] + count[r] - 1``, and ``before[r]`` pairs come before its own.
    """
    pairs = np.empty((len(rank), 2), np.intp)
    for t in range(len(rank)):
        r = np.searchsorted(before, rank[t], side="right") - 1
        i, j = condensed_pair(count[r], rank[t] - before[r])
        pairs[t, 0] = start[r] + i
        pairs[t, 1] = start[r] + j
    return pairs


@njit
def span(sets: DisjointSet, pairs: IntArray) -> BoolArray:
    """Unite along the pairs and mark those that joined two sets: together they are a spanning forest."""
    joined = np.empty(len(pairs), np.bool_)
    for t in range(len(pairs)):
        joined[t] = union(sets, pairs[t, 0], pairs[t, 1])
    return joined


@njit
def count_separated(across: FloatArray, along: FloatArray, limit: float, window: float) -> int:
    """Count the pairs at most ``window`` apart along and more than ``limit`` across; ``along`` is sorted."""
    total = 0
    for i in range(len(across)):
        j = i + 1
        while j < len(across) and along[j] - along[i] <= window:
            if abs(across[j] - across[i]) > limit:
                total += 1
            j += 1
    return total


@njit
def list_separated(across: FloatArray, along: FloatArray, limit: float, window: float, total: int) -> IntArray:
    """List the pairs `count_separated` counts."""
    pairs = np.empty((total, 2), np.intp)
    t = 0
    for i in range(len(across)):
        j = i + 1
        while j < len(across) and along[j] - along[i] <= window:
            if abs(across[j] - across[i]) > limit:
                pairs[t, 0] = i
                pairs[t, 1] = j
                t += 1
            j += 1
    return pairs
