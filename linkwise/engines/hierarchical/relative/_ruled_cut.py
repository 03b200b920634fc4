"""The lowest cut of a tree into k clusters in which links and rules about clusters hold, by dynamic programming."""

from __future__ import annotations

import numpy as np

from linkwise._messages import many
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import NeighborWithin, SizeBetween
from linkwise.exceptions import DeadEndError
from linkwise.problem import Problem, neighbors_within
from linkwise.result import Dendrogram


def ruled_cut(tree: Dendrogram, problem: Problem, k: int | None) -> IntArray:
    """Return the labels of the cut into k clusters, or as few as possible, in which all links and rules hold.

    Of several cuts that of the lowest clusters is taken: the sum of their heights, times their samples, is least. All
    cuts are considered, so if there is none `InfeasibleConstraintsError` is raised where no clustering is possible at
    all, else `DeadEndError`, with the numbers of clusters that cuts can have.

    **Cost** O(n k) and one pass over the pairs within ε.
    """
    fit = allowed_nodes(tree, problem)
    fewest, most = _extremes(tree, fit)
    roots = np.flatnonzero(tree.parent < 0)
    low, high = float(fewest[roots].sum()), float(most[roots].sum())
    k = int(low) if k is None and np.isfinite(low) else k
    chosen = None if k is None or not low <= k <= high else _lowest(tree, fit, k)
    if chosen is not None:
        labels = np.full(tree.n_nodes, -1, dtype=np.intp)
        labels[chosen] = chosen
        for node in range(tree.n_nodes - 1, -1, -1):
            if labels[node] < 0 and tree.parent[node] >= 0:
                labels[node] = labels[tree.parent[node]]
        own = labels[: tree.n_samples]
        _, first, inverse = np.unique(own, return_index=True, return_inverse=True)
        return np.asarray(np.argsort(np.argsort(first))[inverse], dtype=np.intp)
    problem.verdict.raise_if_infeasible()
    rules = " and ".join(str(rule) for rule in problem.constraints.rules)
    if not np.isfinite(low):
        there, reached = "no cut of it is, whatever the number of clusters", tree.n_samples
    else:
        there, reached = f"cuts that are have {int(low):,} to {int(high):,} clusters", int(low)
    goal = "any number of clusters" if k is None else many(k, "cluster")
    msg = (
        f"{problem.who} made a tree in which all triplets hold, but no cut of it into {goal} keeps {rules}: every cut "
        f"was considered, and {there}.\n"
        "Hint: another n_clusters or linkage, or a looser rule; COPKMeans keeps both rules without a tree."
    )
    raise DeadEndError(msg, tree, max(reached, 1))


def allowed_nodes(tree: Dendrogram, problem: Problem) -> BoolArray:
    """Whether the samples of each node can be one cluster."""
    n, nodes, parent = tree.n_samples, tree.n_nodes, tree.parent
    hard = problem.hard
    size = _summed(tree, np.append(np.ones(n), np.zeros(nodes - n)))
    fit = np.ones(nodes, dtype=np.bool_)
    for rule in problem.constraints.rules:
        if isinstance(rule, SizeBetween):
            fit &= (size >= rule.low) & (size <= (n if rule.high is None else rule.high))
        elif isinstance(rule, NeighborWithin):
            near = neighbors_within(problem.X, rule.epsilon, metric=problem.metric)
            meet = np.full(nodes, -1, dtype=np.intp)
            meet[:n] = nodes  # the lowest node at which a sample has a neighbor
            source = np.repeat(np.arange(n), np.diff(near.indptr))
            joins = np.asarray(tree.lca(source, near.indices), dtype=np.intp).reshape(-1)
            np.minimum.at(meet, source, np.where(joins < 0, nodes, joins))
            for node in range(nodes):
                if parent[node] >= 0:
                    meet[parent[node]] = max(meet[parent[node]], meet[node])
            fit &= (meet <= np.arange(nodes)) | (size == 1)
    apart = np.concatenate([hard.cannot, _pairs_of(problem)])
    for pairs, inside in ((apart, False), (hard.must, True)):
        held = np.zeros(nodes)
        if not len(pairs):
            continue
        joins = np.asarray(tree.lca(pairs[:, 0], pairs[:, 1]), dtype=np.intp).reshape(-1)
        np.add.at(held, joins[joins >= 0], 1.0)
        held = _summed(tree, held)
        if inside:
            ends = np.bincount(pairs.ravel(), minlength=nodes).astype(np.float64)
            fit &= _summed(tree, ends) == 2 * held
        else:
            fit &= held == 0
    return fit


def _pairs_of(problem: Problem) -> IntArray:
    """Pairs of samples that stand for groups apart: one for each pair of must-linked groups that cannot be linked."""
    first = np.unique(problem.group, return_index=True)[1]
    pairs: IntArray = first[problem.apart.pairs()].reshape(-1, 2)
    return pairs


def _summed(tree: Dendrogram, value: FloatArray) -> FloatArray:
    """Sum values over the nodes at and below each node."""
    out = value.copy()
    for node, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            out[above] += out[node]
    return out


def _extremes(tree: Dendrogram, fit: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return the fewest and the most clusters that each node can be cut into; infinite where no cut is possible."""
    nodes, n = tree.n_nodes, tree.n_samples
    few, many_ = np.zeros(nodes), np.zeros(nodes)
    for node, above in enumerate(tree.parent.tolist()):
        if node < n:
            few[node], many_[node] = (1.0, 1.0) if fit[node] else (np.inf, -np.inf)
        elif fit[node]:
            few[node], many_[node] = 1.0, max(many_[node], 1.0)
        if above >= 0:
            few[above] += few[node]
            many_[above] += many_[node]
    return few, many_


def _lowest(tree: Dendrogram, fit: BoolArray, k: int) -> IntArray | None:
    """Return the nodes of the lowest cut into k allowed nodes; None if there is none."""
    n, nodes = tree.n_samples, tree.n_nodes
    size = _summed(tree, np.append(np.ones(n), np.zeros(nodes - n)))
    parts: list[list[int]] = [[] for _ in range(nodes + 1)]
    cost: list[FloatArray] = [np.empty(0)] * (nodes + 1)
    split: list[list[IntArray]] = [[] for _ in range(nodes + 1)]
    for node, above in enumerate(tree.parent.tolist()):
        parts[above if above >= 0 else nodes].append(node)
    for node in range(nodes + 1):
        if parts[node]:
            total, split[node] = _joined([cost[part] for part in parts[node]], k)
        else:
            total = np.full(2, np.inf)
        if node < nodes and fit[node]:
            total[1] = float(tree.height[node]) * size[node]  # children are at least two clusters
        cost[node] = total
    if len(cost[nodes]) <= k or not np.isfinite(cost[nodes][k]):
        return None
    found: list[int] = []
    waiting = [(nodes, k)]
    while waiting:
        node, count = waiting.pop()
        if count == 1 and node < nodes and fit[node]:
            found.append(node)
            continue
        for part, share in zip(parts[node][::-1], split[node][::-1], strict=True):
            own_share = int(share[count])
            waiting.append((part, own_share))
            count -= own_share
    return np.array(sorted(found), dtype=np.intp)


def _joined(costs: list[FloatArray], k: int) -> tuple[FloatArray, list[IntArray]]:
    """Join the cost of each number of clusters of several parts; with the share of each part in the best of them."""
    total, shares = np.array([0.0]), []
    for cost in costs:
        width = min(k, len(total) - 1 + len(cost) - 1) + 1
        best, share = np.full(width, np.inf), np.zeros(width, dtype=np.intp)
        for count in range(1, min(len(cost), width)):
            reach = total[: width - count] + cost[count]
            better = reach < best[count : count + len(reach)]
            best[count : count + len(reach)][better] = reach[better]
            share[count : count + len(reach)][better] = count
        total = best
        shares.append(share)
    if len(total) == 1:
        total = np.append(total, np.inf)
    return total, shares
