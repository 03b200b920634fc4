"""Cuts of a tree: merges undone from the top, the top of each cluster, and splits that statements ask for."""

from __future__ import annotations

import heapq

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import BoolArray, IntArray

APART, KNOWN, ORDINARY, CLOSE, TOGETHER = 0, 1, 2, 3, 4


@njit
def _undo_merges(n_samples: int, parent: IntArray, splits: int) -> IntArray:
    """Undo the latest ``splits`` two-way merges and name for every sample the node that then holds it.

    A node with c children counts as c - 1 two-way merges, undone last child first.
    """
    m = len(parent)
    n_children = np.zeros(m, np.intp)
    for v in range(m):
        if parent[v] >= 0:
            n_children[parent[v]] += 1
    split_from = m  # nodes from here on are split entirely
    while splits > 0 and n_children[split_from - 1] - 1 <= splits:
        split_from -= 1
        splits -= n_children[split_from] - 1
    half = split_from - 1 if splits > 0 else -1  # this one only loses its last children
    holder = np.empty(m, np.intp)
    for v in range(m - 1, -1, -1):
        p = parent[v]
        if p < 0 or p >= split_from:
            holder[v] = v
        elif p == half and splits > 0:
            holder[v] = v
            splits -= 1
        else:
            holder[v] = holder[p]
    return holder[:n_samples]


@njit
def cluster_tops(parent: IntArray, labels: IntArray) -> BoolArray:
    """Mask of the highest nodes all of whose samples have one label."""
    mixed = -1
    unseen = -2
    label = np.empty(len(parent), np.intp)
    for node in range(len(parent)):  # assigning a slice would compile ten times as long
        label[node] = labels[node] if node < len(labels) else unseen
    for node in range(len(parent)):  # children come before parents
        above = parent[node]
        if above >= 0:
            agrees = label[above] == unseen or label[above] == label[node]
            label[above] = label[node] if agrees else mixed
    top = np.zeros(len(parent), np.bool_)
    for node in range(len(parent)):
        top[node] = label[node] >= 0 and (parent[node] < 0 or label[parent[node]] == mixed)
    return top


@njit
def _lift(parent: IntArray, urgent: IntArray) -> None:
    """A cannot-link is met only once everything above its meeting point is split too."""
    for v in range(len(parent)):
        if urgent[v] == APART and parent[v] >= 0:
            urgent[parent[v]] = APART


@njit
def promised(parent: IntArray, size: IntArray, min_size: int) -> IntArray:
    """Count the disjoint branches of at least ``min_size`` samples that each node can be split into."""
    promise = np.zeros(len(parent), np.intp)
    for v in range(len(parent)):
        if size[v] >= min_size and promise[v] == 0:
            promise[v] = 1
        if parent[v] >= 0:
            promise[parent[v]] += promise[v]
    return promise


@njit
def _split(
    roots: IntArray,
    start: IntArray,
    child: IntArray,
    size: IntArray,
    promise: IntArray,
    urgent: IntArray,
    min_size: int,
    k: int,
) -> tuple[BoolArray, BoolArray]:
    """Split from the roots until k clusters stand; flag the cluster nodes and the small branches set aside.

    A node with several children gives them up one at a time, last first; what is left stays the node's own cluster.
    """
    m = len(size)
    cluster = np.zeros(m, np.bool_)
    outlier = np.zeros(m, np.bool_)
    heap = [0]
    heap.pop()
    count = 0
    for r in roots:
        if size[r] < min_size:
            outlier[r] = True
            continue
        cluster[r] = True
        count += 1
        if promise[r] > 1:
            heapq.heappush(heap, urgent[r] * (m + 1) + m - r)
    while count < k and len(heap) > 0:
        v = m - heapq.heappop(heap) % (m + 1)
        n_big = 0
        for e in range(start[v], start[v + 1]):
            if size[child[e]] >= min_size:
                n_big += 1
        whole = n_big - 1 <= k - count  # all big children become clusters
        spare = n_big if whole else k - count
        cluster[v] = not whole
        count += n_big - 1 if whole else k - count
        for e in range(start[v + 1] - 1, start[v] - 1, -1):
            w = child[e]
            if size[w] < min_size:
                outlier[w] = True
            elif spare > 0:
                spare -= 1
                cluster[w] = True
                if promise[w] > 1:
                    heapq.heappush(heap, urgent[w] * (m + 1) + m - w)
    return cluster, outlier
