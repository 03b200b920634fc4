"""Where a sample may hang in a rooted tree, and which question about it says most: one pass over the nodes each.

Nodes are numbered as a walk from the root meets them, so a subtree is the run ``v:last[v]`` and its leaves the run
``begin[v]:end[v]`` of all leaves. A new sample hangs either on the edge above a node, or directly below an inner node.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwise._kernels import njit

# The answers about a sample and two leaves: it is the odd one, it belongs with one of them, or none is odd.
SAMPLE_ODD, WITH_FIRST, WITH_SECOND, NONE_ODD = 0, 1, 2, 3

DOUBT = 0.02  # share of the chances that distances have no say in


@njit
def walk(parent: Any, is_leaf: Any) -> Any:
    """Ends of the subtrees, and the runs of leaves below the nodes."""
    m = len(parent)
    last = np.arange(1, m + 1)
    for v in range(m - 1, 0, -1):
        last[parent[v]] = max(last[parent[v]], last[v])
    count = np.zeros(m + 1, np.int64)
    for v in range(m):
        count[v + 1] = count[v] + is_leaf[v]
    return last, count[:m].copy(), count[last]


@njit
def _sum(chances: Any) -> Any:
    """The sum from first to last: NumPy's own adds in another order than Numba's, which changes last bits."""
    total = 0.0
    for chance in chances:
        total += chance
    return total


@njit
def guess(alike: Any, parent: Any, leaf: Any, begin: Any, end: Any, own: Any, blend: Any, rates: Any) -> Any:
    """Chances of every edge and every node, from how alike the sample is to the leaves.

    A leaf counts for as much as ``exp`` of a mean over the clades around it, ``blend`` being the share of the larger
    ones. From a leaf the sample wanders up and stays at the edge above it, at a node or at an edge above a node, each
    with its rate. The leaf ``own`` (a node, or -1) is looked through.
    """
    m = len(parent)
    total = np.zeros(len(alike) + 1)
    for i in range(len(alike)):
        total[i + 1] = total[i] + (0.0 if leaf[i] == own else alike[i])
    score = np.empty(m)
    for v in range(m):
        size = end[v] - begin[v]
        if own >= v and begin[v] <= begin[own] < end[v]:
            size -= 1
        mean = (total[end[v]] - total[begin[v]]) / max(size, 1)
        score[v] = mean if v == 0 else blend * score[parent[v]] + (1.0 - blend) * mean
    top = -np.inf
    for v in leaf:
        if v != own:
            top = max(top, score[v])
    edge, node, comes = np.zeros(m), np.zeros(m), np.zeros(m)
    for v in leaf:
        comes[v] = 0.0 if v == own else math.exp(score[v] - top)
    whole = _sum(comes)
    for v in range(m - 1, -1, -1):
        if end[v] - begin[v] == 1 and leaf[begin[v]] == v:
            comes[v] = (1.0 - DOUBT) * comes[v] / whole + (0.0 if v == own else DOUBT / len(leaf))
            edge[v] = comes[v] * rates[0]
        else:
            node[v] = comes[v] * rates[1]
            edge[v] = (comes[v] - node[v]) * rates[2]
        goes = comes[v] - node[v] - edge[v]
        if v:
            comes[parent[v]] += goes
        else:
            edge[0] += goes  # above the root there is but one place
    return edge, node


@njit
def hear(edge: Any, node: Any, parent: Any, last: Any, first: Any, second: Any, said: Any, slip: Any) -> Any:
    """Scale down by ``slip`` the places that an answer about the sample and two leaves speaks against.

    Returns how likely the answer was.
    """
    one, two, v = first, second, first
    while not v <= second < last[v]:
        one, v = v, parent[v]
    while parent[two] != v:
        two = parent[two]
    for u in range(len(parent)):
        below_one, below_two, below = one <= u < last[one], two <= u < last[two], v <= u < last[v]
        if said == WITH_FIRST:
            at_edge = at_node = below_one
        elif said == WITH_SECOND:
            at_edge = at_node = below_two
        elif said == SAMPLE_ODD:
            at_node = not below
            at_edge = at_node or u == v
        else:
            at_node = below and not below_one and not below_two
            at_edge = at_node and u != v
        if not at_edge:
            edge[u] *= slip
        if not at_node:
            node[u] *= slip
    whole = _sum(edge) + _sum(node)
    if whole > 0.0:
        edge /= whole
        node /= whole
    return whole


@njit
def best_question(edge: Any, node: Any, parent: Any, begin: Any, end: Any, own: Any) -> Any:
    """Find the two subtrees to ask about; return the risk, by how much an answer lowers it, and the subtrees.

    The risk is the expected loss between two places drawn by their chances, where places that meet at a node lose the
    square of its share of the leaves: the share of the sample's triplets that change when it moves from one to the
    other. For every node the two subtrees below it are tried where the sample most likely is.
    """
    m = len(parent)
    whole, loss = np.empty(m), np.empty(m)  # of a subtree and the edge above it: its chance, and the loss inside
    inside, square = node.copy(), node * node
    lost, rim = np.zeros(m), np.empty(m)
    one, two = np.full(m, -1), np.full(m, -1)
    n_leaves = end[0]
    for v in range(m - 1, -1, -1):
        share = (end[v] - begin[v]) / n_leaves
        share *= share
        lost[v] += share * (inside[v] * inside[v] - square[v])
        rim[v] = share
        whole[v] = inside[v] + edge[v]
        loss[v] = lost[v] + 2.0 * share * edge[v] * inside[v]
        if v:
            up = parent[v]
            inside[up] += whole[v]
            square[up] += whole[v] * whole[v]
            lost[up] += loss[v]
            if v != own:
                if one[up] < 0 or whole[v] >= whole[one[up]]:
                    two[up], one[up] = one[up], v
                elif two[up] < 0 or whole[v] >= whole[two[up]]:
                    two[up] = v
    best, first, second = 0.0, -1, -1
    beyond = np.zeros(m)  # what a unit of chance below v loses against all places not below v
    for v in range(m):
        if v:
            up = parent[v]
            beyond[v] = beyond[up] + rim[up] * (inside[up] - whole[v])
        beyond[v] += rim[v] * edge[v]
        if two[v] < 0:
            continue
        a, b, here = one[v], two[v], inside[v]
        p, q = whole[a], whole[b]
        neither = lost[v] - loss[a] - loss[b] - 2.0 * rim[v] * (p * (here - p) + q * (here - q) - p * q)
        outside = loss[0] - lost[v] - 2.0 * here * beyond[v]
        left = _per(loss[a], p) + _per(loss[b], q) + _per(neither, here - p - q) + _per(outside, 1.0 - here)
        if loss[0] - left > best:
            best, first, second = loss[0] - left, a, b
    return loss[0], best, first, second


@njit
def _per(loss: Any, chance: Any) -> Any:
    return max(loss, 0.0) / chance if chance > 1e-9 else 0.0
