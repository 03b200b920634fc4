"""Passes over a parent array that find cuts, and clusters taken out under the neighbor rule."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import BoolArray, FloatArray, IntArray


@njit
def _highest_whole(split: BoolArray, parent: IntArray) -> IntArray:
    """For each node that is not split the highest such node above it."""
    top = np.arange(len(parent))
    for node in range(len(parent) - 1, -1, -1):
        above = parent[node]
        if above >= 0 and not split[node] and not split[above]:
            top[node] = top[above]
    return top


@njit
def _spread_up(flag: BoolArray, parent: IntArray) -> BoolArray:
    for node in range(len(parent)):
        if flag[node] and parent[node] >= 0:
            flag[parent[node]] = True
    return flag


@njit
def levels(parent: IntArray) -> FloatArray:
    """Height of a node = the longest way down; the witness has no distances of its own."""
    height = np.zeros(len(parent))
    for node in range(len(parent)):
        if parent[node] >= 0:
            height[parent[node]] = max(height[parent[node]], height[node] + 1)
    return height


@njit
def _some_leaf(low: IntArray, parent: IntArray) -> IntArray:
    for node in range(len(parent)):
        if parent[node] >= 0:
            low[parent[node]] = low[node]
    return low


@njit
def _take_out(
    start: IntArray,
    neighbor: IntArray,
    group: IntArray,
    begin: IntArray,
    member: IntArray,
    legal_alone: BoolArray,
    present: BoolArray,
    wanted: int,
) -> BoolArray:
    """Take up to ``wanted`` groups out of the big cluster so that every group left keeps a neighbor."""
    n_groups = len(begin) - 1
    out = np.zeros(n_groups, np.bool_)
    left = 0
    support = np.zeros(len(group), np.intp)  # neighbors in the big cluster
    for v in range(len(group)):
        support[v] = start[v + 1] - start[v]
    todo = np.empty(n_groups, np.intp)
    waiting = np.zeros(n_groups, np.bool_)
    top = 0
    for g in range(n_groups - 1, -1, -1):
        if present[g]:
            left += 1
            if legal_alone[g]:
                todo[top] = g
                waiting[g] = True
                top += 1
    while top > 0 and wanted > 0 and left > 1:
        top -= 1
        g = todo[top]
        waiting[g] = False
        change = 1
        fine = True
        for step in range(2):  # try; take back if a group loses its last neighbor
            for p in range(begin[g], begin[g + 1]):
                u = member[p]
                for e in range(start[u], start[u + 1]):
                    v = neighbor[e]
                    if group[v] != g and not out[group[v]]:
                        support[v] -= change
                        if step == 0 and support[v] == 0:
                            fine = False
            if fine:
                break
            change = -1
        if not fine:
            continue
        out[g] = True
        left -= 1
        wanted -= 1
        # Who kept a member of this group company may now be free to go.
        for p in range(begin[g], begin[g + 1]):
            u = member[p]
            for e in range(start[u], start[u + 1]):
                h = group[neighbor[e]]
                if not out[h] and present[h] and legal_alone[h] and not waiting[h]:
                    waiting[h] = True
                    todo[top] = h
                    top += 1
    return out
