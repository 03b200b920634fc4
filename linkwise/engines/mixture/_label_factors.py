"""Factors of labeled samples, whose classes are clusters, and the weights of labels, statements and other samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints
from linkwise.engines.mixture._factors import Chunklets, read_chunklets
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem


class Anchors(NamedTuple):
    """Classes as clusters: class j of the labels, in the order of their names as text, is cluster j.

    ``factor`` is the log-factor of each chunklet for each cluster, 0 without a label; ``weight`` is the weight in the
    likelihood of each chunklet; ``sample`` and ``cluster`` are the labeled samples and their clusters.
    """

    factor: FloatArray
    weight: FloatArray
    sample: IntArray
    cluster: IntArray


def read_anchored(problem: Problem, max_states: int, alpha: float, beta: float) -> tuple[Chunklets, Anchors]:
    """Turn labels into factors of single chunklets and all other statements into factors of pairs of them.

    A chunklet with a factor of a pair has the weight 1 - alpha - beta, any other one with a label beta, the rest alpha.
    """
    sample, cluster, price, from_labels = _read_labels(problem)
    pairs = problem.constraints.select(~from_labels | problem.constraints.is_hard)
    reduced = Problem(problem.X, pairs, n_clusters=problem.n_clusters, who=problem.who)
    graph = read_chunklets(reduced, max_states)
    factor = np.zeros((graph.n, problem.k))
    labeled = np.zeros(graph.n, dtype=np.bool_)
    labeled[graph.of[sample]] = True
    other = np.arange(problem.k) != cluster[:, None]
    np.add.at(factor, graph.of[sample], np.where(other, -price[:, None], 0.0))
    fixed: BoolArray = np.asarray(np.isinf(factor).any(axis=1))
    needed = ~fixed[graph.pairs].all(axis=1) | (graph.same != -np.inf)  # hard labels of two classes are apart anyway
    graph = graph._replace(pairs=graph.pairs[needed], same=graph.same[needed], other=graph.other[needed])
    weight = np.where(labeled, beta, alpha)
    weight[np.unique(graph.pairs)] = 1.0 - alpha - beta
    if not (weight > 0).any():
        msg = (
            f"{problem.who}: alpha={alpha:g} and beta={beta:g} leave no sample with a weight above 0.\n"
            "Hint: give a weight to a kind of samples that there are; alpha is that of samples without statements."
        )
        raise LinkwiseError(msg)
    return graph, Anchors(factor, weight, sample, cluster)


def _read_labels(problem: Problem) -> tuple[IntArray, IntArray, FloatArray, BoolArray]:
    """Return labeled samples, their clusters and the weights of their labels, and mark the statements from labels."""
    constraints: Constraints = problem.constraints
    labels, nothing = constraints.labels, np.empty(0, dtype=np.intp)
    sources = np.flatnonzero(labels.apart) if labels else nothing
    if not len(sources):
        return nothing, nothing, np.empty(0), np.zeros(constraints.n_statements, dtype=np.bool_)
    if len(sources) > 1:
        msg = (
            f"{problem.who}: the constraints hold {len(sources)} labelings, expected one with alpha and beta.\n"
            "Hint: put all labels into one `Constraints.from_labels`."
        )
        raise LinkwiseError(msg)
    mine = labels.source[labels.label] == sources[0]
    sample = labels.sample[mine]
    cluster = np.unique(labels.name[labels.label[mine]], return_inverse=True)[1].astype(np.intp)
    n_classes = int(cluster.max()) + 1
    if n_classes > problem.k:
        msg = (
            f"{problem.who}: the labels have {n_classes} classes, expected at most n_clusters={problem.k}, as each "
            f"class is a cluster.\nHint: n_clusters={n_classes}."
        )
        raise LinkwiseError(msg)
    owned = labels.owner == sources[0]
    price = np.full(len(sample), constraints.weight[owned].max())
    return sample, cluster, price, owned


def start_of(X: FloatArray, anchors: Anchors, k: int) -> FloatArray:
    """Return means to start from: those of the classes, then samples far from all means before them."""
    means = [X[anchors.sample[anchors.cluster == j]].mean(axis=0) for j in range(int(anchors.cluster.max()) + 1)]
    away = np.min([((X - mean) ** 2).sum(axis=1) for mean in means], axis=0)
    while len(means) < k:
        means.append(X[int(away.argmax())])
        away = np.minimum(away, ((X - means[-1]) ** 2).sum(axis=1))
    return np.array(means)
