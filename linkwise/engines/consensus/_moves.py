"""Clusters from probabilities of pairs: constrained average linkage, then moves that raise the expected agreement."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.engines.consensus._kernels_moves import climb
from linkwise.engines.hierarchical import ConstrainedAgglomerative, ReCon
from linkwise.exceptions import LinkwiseWarning
from linkwise.problem import Problem
from linkwise.result import Dendrogram

_SWEEPS = 6
_ROUNDS = 10  # of mending triplets


def link(share: FloatArray, hard: Constraints, n_clusters: int | None) -> Any:
    """Fit average linkage to the share of views that keep samples apart, so that hard statements hold."""
    far = 1.0 - share
    np.fill_diagonal(far, 0.0)
    kind: Any = ReCon if (hard.kind == Kind.TRIPLET).any() else ConstrainedAgglomerative
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        model = kind(n_clusters, linkage="average", metric="precomputed")
        if kind is ReCon:
            model.set_params(min_cluster_size=None)  # every cluster is a branch
        return model.fit(far, constraints=hard)


def _between_groups(P: FloatArray, problem: Problem) -> FloatArray:
    """The sum of P over the samples of each two must-linked groups."""
    order = np.argsort(problem.group, kind="stable")
    start = np.concatenate([[0], np.cumsum(problem.weight[:-1])]).astype(np.intp)
    rows = np.add.reduceat(P[np.ix_(order, order)], start, axis=0)
    return np.asarray(np.add.reduceat(rows, start, axis=1))


def settle(P: FloatArray, labels: IntArray, problem: Problem) -> IntArray:
    """Move must-linked groups so that the adjusted Rand index expected under P rises; cannot-links hold throughout.

    Parameters
    ----------
    P : ndarray of shape (n, n)
        Probability that two samples belong together.
    labels : ndarray of intp, shape (n,)
        Clusters in which all pairs hold.
    problem : Problem
        The statements, and the number of clusters.
    """
    between = _between_groups(P, problem)
    own = np.bincount(problem.group, weights=np.diagonal(P), minlength=problem.n_groups)
    at = np.arange(problem.n_groups)
    between[at, at] = (between[at, at] - own) / 2
    pairs = problem.apart.pairs()
    both = np.concatenate([pairs, pairs[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    first = np.searchsorted(both[:, 0], np.arange(problem.n_groups + 1)).astype(np.intp)
    found = problem.reduce(labels).astype(np.intp)
    climb(between, problem.weight, first, np.ascontiguousarray(both[:, 1]), found, problem.k, _SWEEPS)
    return problem.expand(found)


def obey_triplets(P: FloatArray, labels: IntArray, problem: Problem) -> IntArray:
    """Move samples so that clusters can be branches of a tree in which triplets hold.

    A triplet ab|c rules out that c shares a cluster with one of a and b only. Of the moves that mend a triplet, each of
    a must-linked group that keeps the cannot-links, the one that breaks fewest others is made, then the one that P
    likes best. After a number of rounds some triplets may be left; the tree is built under all of them.
    """
    trio = problem.constraints.select(problem.constraints.is_hard).of(Kind.TRIPLET)
    trio = problem.group[trio]
    found = problem.reduce(labels).astype(np.intp)
    rivals: list[set[int]] = [set() for _ in range(problem.n_groups)]
    for a, b in problem.apart.pairs().tolist():
        rivals[a].add(b)
        rivals[b].add(a)
    between = _between_groups(P, problem)
    naming: list[list[int]] = [[] for _ in range(problem.n_groups)]
    for t, row in enumerate(trio.tolist()):
        for q in row:
            naming[q].append(t)

    def broken(which: Any) -> Any:
        a, b, c = found[trio[which]].T
        return (a != b) & ((c == a) | (c == b))

    for _ in range(_ROUNDS):
        wrong = np.flatnonzero(broken(slice(None)))
        if not len(wrong):
            break
        for t in wrong.tolist():
            if not broken([t])[0]:
                continue
            a, b, c = trio[t].tolist()
            size = np.bincount(found, weights=problem.weight, minlength=problem.k)
            moves = [(a, int(found[b])), (b, int(found[a]))] + [(c, to) for to in range(problem.k)]
            best: tuple[float, float, int, int] | None = None
            for q, to in moves:
                old = int(found[q])
                if to == old or size[old] == problem.weight[q] or any(found[r] == to for r in rivals[q]):
                    continue
                found[q] = to
                if not broken([t])[0]:
                    near = between[q][found == to].mean() - between[q][(found == old)].mean()
                    one = (float(broken(naming[q]).sum()), -float(near), q, to)
                    best = one if best is None else min(best, one)
                found[q] = old
            if best is not None:
                found[best[2]] = best[3]
    return problem.expand(found)


def grow(share: FloatArray, labels: IntArray, hard: Constraints) -> Dendrogram:
    """Build the tree whose cut into as many clusters is ``labels``.

    Heights below 1 are shares of the views that keep samples apart; between clusters 1 is added, so that each cluster
    is complete before any two are joined.
    """
    apart = labels[:, None] != labels[None, :]
    tree: Dendrogram = link(share - apart, hard, None).dendrogram_
    return tree
