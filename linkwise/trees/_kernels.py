"""Compiled walks over parent arrays. Children come before parents, so one pass up or down is a whole traversal."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import BoolArray, FloatArray, IntArray

FINE, OUTSIDE, BELOW_SAMPLE, BACKWARD, CHILDLESS, UNARY = 0, 1, 2, 3, 4, 5


@njit
def first_fault(n_samples: int, parent: IntArray) -> tuple[int, int]:
    """Return a code and the first node at which a parent array is not a tree in merge order; code 0 when it is one."""
    m = len(parent)
    count = np.zeros(m, np.intp)
    for v in range(m):
        p = parent[v]
        if p < -1 or p >= m:
            return OUTSIDE, v
        if p == -1:
            continue
        if p < n_samples:
            return BELOW_SAMPLE, v
        if p <= v:
            return BACKWARD, v
        count[p] += 1
    for v in range(n_samples, m):
        if count[v] == 0:
            return CHILDLESS, v
        if count[v] == 1:
            return UNARY, v
    return FINE, -1


@njit
def parents_of_merges(n_samples: int, merges: IntArray) -> tuple[int, int, IntArray]:
    """Turn merges into a parent array; return a code (0 = fine) and the merge at fault.

    Codes: 1 names a node that does not exist yet, 2 merges a node with itself, 3 uses a node a second time.
    """
    parent = np.full(n_samples + len(merges), -1, np.intp)
    for t in range(len(merges)):
        for s in range(2):
            v = merges[t, s]
            if v < 0 or v >= n_samples + t:
                return 1, t, parent
            if s == 1 and v == merges[t, 0]:
                return 2, t, parent
            if parent[v] >= 0:
                return 3, t, parent
            parent[v] = n_samples + t
    return 0, -1, parent


@njit
def monotone(parent: IntArray, raw: FloatArray) -> FloatArray:
    """Lift every node to the height of its highest child, so heights never fall on the way up."""
    height = raw.copy()
    for v in range(len(parent)):
        p = parent[v]
        if p >= 0 and height[p] < height[v]:
            height[p] = height[v]
    return height


@njit
def levels(parent: IntArray) -> FloatArray:
    """Longest way down to a leaf, counted in edges: heights for a tree that came without any."""
    level = np.zeros(len(parent))
    for v in range(len(parent)):
        p = parent[v]
        if p >= 0 and level[p] < level[v] + 1:
            level[p] = level[v] + 1
    return level


@njit
def leaf_counts(n_samples: int, parent: IntArray) -> IntArray:
    """Count the samples below every node."""
    count = np.zeros(len(parent), np.intp)
    count[:n_samples] = 1
    for v in range(len(parent)):
        if parent[v] >= 0:
            count[parent[v]] += count[v]
    return count


@njit
def depths(parent: IntArray) -> IntArray:
    """Count the edges from every node up to its root."""
    depth = np.zeros(len(parent), np.intp)
    for v in range(len(parent) - 1, -1, -1):
        if parent[v] >= 0:
            depth[v] = depth[parent[v]] + 1
    return depth


@njit
def child_lists(parent: IntArray) -> tuple[IntArray, IntArray]:
    """List children by parent: those of ``v`` are ``child[start[v]:start[v + 1]]``, in increasing order."""
    m = len(parent)
    start = np.zeros(m + 1, np.intp)
    for v in range(m):
        if parent[v] >= 0:
            start[parent[v] + 1] += 1
    for v in range(m):
        start[v + 1] += start[v]
    child = np.empty(start[m], np.intp)
    free = start[:m].copy()
    for v in range(m):
        p = parent[v]
        if p >= 0:
            child[free[p]] = v
            free[p] += 1
    return start, child


@njit
def leaf_preorder(n_samples: int, parent: IntArray, count: IntArray) -> IntArray:
    """List the samples from left to right as a drawing without crossings shows them."""
    m = len(parent)
    order = np.empty(n_samples, np.intp)
    free = np.empty(m, np.intp)  # end of the stretch of leaf places a node's remaining children may take
    top = n_samples
    for v in range(m - 1, -1, -1):
        if parent[v] < 0:
            free[v] = top
            top -= count[v]
        else:
            p = parent[v]
            free[v] = free[p]
            free[p] -= count[v]
        if v < n_samples:
            order[free[v] - 1] = v
    return order


@njit
def nearest_flagged(parent: IntArray, flagged: BoolArray) -> tuple[IntArray, int]:
    """Find for every node the flagged node at or above it (-1: none), and the first flagged node below another."""
    answer = np.full(len(parent), -1, np.intp)
    nested = -1
    for v in range(len(parent) - 1, -1, -1):
        p = parent[v]
        if p >= 0:
            answer[v] = answer[p]
        if flagged[v]:
            if answer[v] >= 0:
                nested = v
            answer[v] = v
    return answer, nested


@njit
def by_first_appearance(group: IntArray, n_groups: int) -> tuple[IntArray, int]:
    """Renumber groups 0, 1, ... in the order in which they first appear; also return how many there are."""
    new = np.full(n_groups, -1, np.intp)
    labels = np.empty(len(group), np.intp)
    k = 0
    for i in range(len(group)):
        if new[group[i]] < 0:
            new[group[i]] = k
            k += 1
        labels[i] = new[group[i]]
    return labels, k


@njit
def top_down(parent: IntArray) -> IntArray:
    """List the nodes with every parent before its children; nodes on or below a cycle are left out."""
    m = len(parent)
    start, child = child_lists(parent)
    order = np.empty(m, np.intp)
    end = 0
    for v in range(m):
        if parent[v] < 0:
            order[end] = v
            end += 1
    done = 0
    while done < end:
        v = order[done]
        done += 1
        for e in range(start[v], start[v + 1]):
            order[end] = child[e]
            end += 1
    return order[:end]


@njit
def _without_unary(above: IntArray, is_leaf: BoolArray) -> tuple[IntArray, BoolArray]:
    """Connect every node to the nearest node above it that has two children or more; parents come before children."""
    m = len(above)
    n_children = np.zeros(m, np.intp)
    for v in range(m):
        if above[v] >= 0:
            n_children[above[v]] += 1
    keep = is_leaf | (n_children > 1)
    up = above.copy()
    for v in range(m):
        if up[v] >= 0 and not keep[up[v]]:
            up[v] = up[up[v]]
    return up, keep


@njit
def _pass_down(keep: BoolArray, number: IntArray) -> None:
    """Let a dropped node go by the number of its only child, which is the next one in preorder."""
    for v in range(len(keep) - 1, -1, -1):
        if not keep[v]:
            number[v] = number[v + 1]


@njit
def _order_keys(above: IntArray, height: FloatArray) -> tuple[IntArray, FloatArray]:
    """Postorder places and monotone heights of nodes listed in preorder."""
    m = len(above)
    size = np.ones(m, np.intp)
    depth = np.zeros(m, np.intp)
    for v in range(m - 1, -1, -1):
        p = above[v]
        if p >= 0:
            size[p] += size[v]
            height[p] = max(height[p], height[v])
    for v in range(m):
        if above[v] >= 0:
            depth[v] = depth[above[v]] + 1
    return np.arange(m) + size - depth, height


@njit
def _sum_lengths(above: IntArray, length: FloatArray) -> tuple[FloatArray, float]:
    """Height of every node over its deepest leaf, and by how much the leaves below one node differ at most."""
    height = np.zeros(len(above))
    lowest = np.full(len(above), np.inf)
    spread = 0.0
    for v in range(len(above) - 1, -1, -1):
        if np.isinf(lowest[v]):
            lowest[v] = 0.0
        spread = max(spread, height[v] - lowest[v])
        p = above[v]
        if p >= 0:
            height[p] = max(height[p], height[v] + length[v])
            lowest[p] = min(lowest[p], lowest[v] + length[v])
    return height, spread


@njit
def _linkage_rows(
    n: int, order: IntArray, start: IntArray, child: IntArray, height: FloatArray, count: IntArray
) -> FloatArray:
    Z = np.empty((n - 1, 4))
    number = np.arange(len(count))
    row = 0
    for v in order:  # a node with c children becomes c - 1 rows at one height
        e = start[v]
        held = number[child[e]]
        total = count[child[e]]
        for f in range(e + 1, start[v + 1]):
            other = number[child[f]]
            total += count[child[f]]
            Z[row, 0] = min(held, other)
            Z[row, 1] = max(held, other)
            Z[row, 2] = height[v]
            Z[row, 3] = total
            held = n + row
            row += 1
        number[v] = held
    return Z
