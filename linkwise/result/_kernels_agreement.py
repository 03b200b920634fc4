"""Optimal sets of nodes to split: trees in two-way nodes, and the best set that holds every node above its nodes."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import BoolArray, IntArray


@njit
def in_pairs(n_samples: int, roots: IntArray, start: IntArray, child: IntArray) -> IntArray:
    """Return the parents of a forest written as one tree of two-way nodes; those that join the roots come last.

    A node of several children becomes a chain, so that it gives up its children last first. So do the roots.
    """
    m = len(start) - 1
    parent = np.full(2 * n_samples - 1, -1, np.intp)
    number = np.arange(m)
    new = n_samples
    for v in range(n_samples, m):
        held = number[child[start[v]]]
        for e in range(start[v] + 1, start[v + 1]):
            parent[held] = parent[number[child[e]]] = new
            held = new
            new += 1
        number[v] = held
    held = number[roots[0]]
    for r in range(1, len(roots)):
        parent[held] = parent[number[roots[r]]] = new
        held = new
        new += 1
    return parent


@njit
def split_freely(n_samples: int, parent: IntArray, gain: IntArray) -> BoolArray:
    """Split the nodes of greatest total gain, gains compared column by column; of equals, the fewest."""
    best = gain.copy()
    split = np.zeros(len(parent), np.bool_)
    for v in range(n_samples, len(parent)):
        for c in range(gain.shape[1]):
            if best[v, c] != 0:
                split[v] = best[v, c] > 0
                break
        if split[v] and parent[v] >= 0:
            for c in range(gain.shape[1]):
                best[parent[v], c] += best[v, c]
    for v in range(len(parent) - 1, -1, -1):
        split[v] &= parent[v] < 0 or split[parent[v]]
    return split


@njit
def choice_lists(n_samples: int, parent: IntArray, n_splits: int) -> IntArray:
    """Return where the choices of each node begin, one for each number of splits if both children can be split."""
    m = len(parent)
    inner = np.zeros(m, np.intp)
    open_children = np.zeros(m, np.intp)
    begin = np.zeros(m + 1, np.intp)
    for v in range(m):
        begin[v + 1] = begin[v]
        if v >= n_samples:
            inner[v] += 1
            if open_children[v] == 2:
                begin[v + 1] += min(inner[v], n_splits) + 1
            if parent[v] >= 0:
                inner[parent[v]] += inner[v]
                open_children[parent[v]] += 1
    return begin


@njit
def split_number(
    n_samples: int, parent: IntArray, order: IntArray, gain: IntArray, begin: IntArray, n_splits: int
) -> BoolArray:
    """Split exactly ``n_splits`` nodes, of greatest total gain; ``order`` is a preorder backwards.

    The table of a node holds the best gain of each number of splits below it. Tables wait on a stack for those of
    their siblings, and together never hold more entries than there are samples.
    """
    m, width = gain.shape
    inner = np.zeros(m, np.intp)
    first = np.full(m, -1, np.intp)  # the child whose table is last on the stack
    second = np.full(m, -1, np.intp)
    for v in order:
        if v >= n_samples:
            inner[v] += 1
        p = parent[v]
        if p >= 0:
            inner[p] += inner[v]
            second[p] = first[p]
            first[p] = v
    choice = np.zeros(begin[m], np.int32)
    stack = np.zeros((n_samples, width), np.int64)
    table = np.zeros((n_splits + 1, width), np.int64)
    top = 0
    for v in order:
        if v < n_samples:
            for c in range(width):
                stack[top, c] = 0
            top += 1
            continue
        most_one, most_two = min(inner[first[v]], n_splits), min(inner[second[v]], n_splits)
        one = top - most_one - 1
        two = one - most_two - 1
        for j in range(1, min(inner[v], n_splits) + 1):
            found = -1
            for i in range(max(0, j - 1 - most_two), min(j - 1, most_one) + 1):
                more = 0
                for c in range(width):
                    more = stack[one + i, c] + stack[two + j - 1 - i, c] - table[j, c]
                    if more != 0:
                        break
                if found < 0 or more > 0:
                    found = i
                    for c in range(width):
                        table[j, c] = stack[one + i, c] + stack[two + j - 1 - i, c]
            if begin[v + 1] > begin[v]:
                choice[begin[v] + j] = found
        top = two + 1
        for j in range(1, min(inner[v], n_splits) + 1):
            for c in range(width):
                stack[top, c] = table[j, c] + gain[v, c]
            top += 1
        for c in range(width):
            stack[two, c] = 0
    share = np.zeros(m, np.intp)
    share[m - 1] = n_splits
    for v in range(m - 1, n_samples - 1, -1):
        if share[v] > 0:
            left = share[v] - 1
            some = choice[begin[v] + share[v]] if begin[v + 1] > begin[v] else min(left, inner[first[v]])
            share[first[v]] = some
            share[second[v]] = left - some
    return share > 0
