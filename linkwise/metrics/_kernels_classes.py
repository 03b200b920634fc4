"""Compiled walks that set classes against the clusters of a tree, without a table of nodes times classes."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.lca import LcaIndex, meet
from linkwise._typing import FloatArray, IntArray
from linkwise.metrics._kernels_paths import heavy_children


@njit
def class_meetings(index: LcaIndex, sample: IntArray, start: IntArray) -> tuple[IntArray, int]:
    """List the nodes at which members of one class meet, and the members themselves.

    Class g is ``sample[start[g]:start[g + 1]]``, in the order of the leaves. A row holds a node, the class, how many
    members lie below the node, and how many pairs of members meet there. Between two such nodes on a way up the
    members below do not change, so no node in between can be a better cluster for the class.
    """
    rows = np.empty((2 * len(sample), 4), np.intp)
    t = 0
    stack = np.empty((64, 3), np.intp)  # the nodes above the last member, lowest last: node, members, pairs
    for g in range(len(start) - 1):
        depth = 0
        for e in range(start[g], start[g + 1] + 1):
            level = 0  # preorder number of the meeting point; after the last member everything is closed
            node = -1
            if e < start[g + 1]:
                if depth > 0:
                    node = meet(index, stack[depth - 1, 0], sample[e])
                    level = index.first[node]
                else:
                    level = index.first[sample[e]]
            members = 0
            while depth > 0 and index.first[stack[depth - 1, 0]] > level:
                depth -= 1
                stack[depth, 2] += stack[depth, 1] * members
                members += stack[depth, 1]
                rows[t, 0], rows[t, 1], rows[t, 2], rows[t, 3] = stack[depth, 0], g, members, stack[depth, 2]
                t += 1
            if e == start[g + 1]:
                break
            if depth + 2 > len(stack):
                longer = np.empty((2 * len(stack), 3), np.intp)
                for i in range(depth):  # assigning the slice would compile for seconds
                    longer[i, 0], longer[i, 1], longer[i, 2] = stack[i, 0], stack[i, 1], stack[i, 2]
                stack = longer
            if node >= 0:
                if depth > 0 and stack[depth - 1, 0] == node:
                    stack[depth - 1, 2] += stack[depth - 1, 1] * members
                    stack[depth - 1, 1] += members
                else:
                    stack[depth, 0], stack[depth, 1], stack[depth, 2] = node, members, 0
                    depth += 1
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = sample[e], 1, 0
            depth += 1
    return rows, t


@njit
def best_class_f(
    parent: IntArray,
    start: IntArray,
    child: IntArray,
    order: IntArray,
    begin: IntArray,
    count: IntArray,
    label: IntArray,
    class_size: IntArray,
) -> FloatArray:
    """Return for every node of a tree the F-measure of the class that it matches best.

    ``order``, ``begin`` and ``count`` say which samples lie below a node; ``label`` is -1 for samples of no class.
    Going up a heavy path, the members of each class met so far are kept, so a sample is counted once for each path
    above it.
    """
    m = len(parent)
    best = np.zeros(m)
    heavy = heavy_children(parent, count)
    members = np.zeros(len(class_size), np.intp)
    met = np.empty(len(class_size), np.intp)
    path = np.empty(m, np.intp)
    for top in range(m - 1, -1, -1):
        if parent[top] >= 0 and heavy[parent[top]] == top:
            continue
        length = 0
        v = top
        while v >= 0:
            path[length] = v
            length += 1
            v = heavy[v]
        n_met = 0
        known = 0
        for at in range(length - 1, -1, -1):
            v = path[at]
            for e in range(start[v], start[v + 1] + 1):
                if e == start[v + 1]:
                    if at < length - 1:
                        break
                    c = v  # the sample at the bottom of the path
                else:
                    c = child[e]
                    if at < length - 1 and c == path[at + 1]:
                        continue
                for o in range(begin[c], begin[c] + count[c]):
                    g = label[order[o]]
                    if g >= 0:
                        known += 1
                        if members[g] == 0:
                            met[n_met] = g
                            n_met += 1
                        members[g] += 1
            for i in range(n_met):
                g = met[i]
                best[v] = max(best[v], 2.0 * members[g] / (known + class_size[g]))
        for i in range(n_met):
            members[met[i]] = 0
    return best


@njit
def cost_of_pairs(index: LcaIndex, size: IntArray, i: IntArray, j: IntArray, weight: FloatArray) -> float:
    """Add up weight times the number of samples below the meeting point."""
    total = 0.0
    for e in range(len(i)):
        total += weight[e] * size[meet(index, i[e], j[e])]
    return total


@njit
def cost_dense(index: LcaIndex, size: IntArray, weight: FloatArray) -> float:
    """`cost_of_pairs` for every pair i < j of a square matrix, row by row."""
    total = 0.0
    for i in range(len(weight)):
        row = 0.0
        for j in range(i + 1, len(weight)):
            row += weight[i, j] * size[meet(index, i, j)]
        total += row
    return total
