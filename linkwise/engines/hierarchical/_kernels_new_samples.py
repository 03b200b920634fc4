"""Places of new samples in a tree: labels of its nodes, centers of its clusters, the node a sample joins first."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.agglomeration import AVERAGE, COMPLETE, SINGLE

_MIXED = -3
_UNSEEN = -4


@njit
def _label_of_nodes(parent: IntArray, labels: IntArray) -> IntArray:
    """The label all samples below a node have in common, or `_MIXED`; -1 is a label like any other."""
    label = np.full(len(parent), _UNSEEN, np.intp)
    for i in range(len(labels)):
        label[i] = labels[i]
    for node in range(len(parent)):  # children come before parents
        above = parent[node]
        if above >= 0:
            label[above] = label[node] if label[above] in (_UNSEEN, label[node]) else _MIXED
    return label


@njit(nogil=True)
def _settle(
    gaps: FloatArray,
    parent: IntArray,
    born: FloatArray,
    dies: FloatArray,
    method: int,
    of_nodes: bool,
    node: IntArray,
    height: FloatArray,
) -> None:
    """Find the node each row joins first, and when."""
    n = gaps.shape[1]
    nodes = len(parent)
    far = np.empty(nodes)
    parts = np.zeros(nodes)
    if not of_nodes:
        # how many parts a cluster's distance is the mean of: its samples, or its children
        for v in range(nodes):
            if v < n:
                parts[v] = 1
            if parent[v] >= 0:
                parts[parent[v]] += parts[v] if method == AVERAGE else 1
    for i in range(gaps.shape[0]):
        for v in range(n):
            far[v] = gaps[i, v]
        if not of_nodes:
            far[n:] = np.inf if method == SINGLE else 0.0
            for v in range(nodes):
                above = parent[v]
                if v >= n and method not in (SINGLE, COMPLETE):
                    far[v] /= parts[v]
                if above < 0:
                    continue
                if method == SINGLE:
                    far[above] = min(far[above], far[v])
                elif method == COMPLETE:
                    far[above] = max(far[above], far[v])
                elif method == AVERAGE:
                    far[above] += far[v] * parts[v]
                else:
                    far[above] += far[v]
        best = -1
        least = np.inf
        for v in range(nodes):
            if far[v] <= dies[v] and (best < 0 or max(far[v], born[v]) < least):
                best = v
                least = max(far[v], born[v])
        node[i] = best
        height[i] = least


@njit
def _gather(parent: IntArray, weight: FloatArray, n: int, center: FloatArray) -> None:
    total = np.zeros(len(parent))
    for v in range(len(parent)):
        if v >= n:
            for f in range(center.shape[1]):
                center[v, f] /= total[v]
        above = parent[v]
        if above >= 0:
            for f in range(center.shape[1]):
                center[above, f] += weight[v] * center[v, f]
            total[above] += weight[v]
