"""Moves of groups between clusters that raise the adjusted Rand index expected under probabilities of pairs."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import inner, njit
from linkwise._typing import FloatArray, IntArray


@inner
def _expected(inside: float, within: float, mass: float, total: float) -> float:
    """The index for ``inside`` probability and ``within`` pairs inside clusters, of ``mass`` and ``total`` in all."""
    chance = within * mass / total
    spread = 0.5 * (within + mass) - chance
    return (inside - chance) / spread if spread > 0.0 else 0.0


@njit
def climb(
    P: FloatArray, weight: FloatArray, first: IntArray, rival: IntArray, labels: IntArray, k: int, sweeps: int
) -> None:
    """Move groups, one at a time, to the clusters in which the expected index is largest, until none moves.

    Parameters
    ----------
    P : ndarray of shape (g, g)
        Sum of the probabilities over the pairs of samples of two groups; on the diagonal, over the pairs inside.
    weight : ndarray of shape (g,)
        Samples in each group.
    first, rival : ndarray of intp
        Group q may not share a cluster with groups ``rival[first[q]:first[q + 1]]``.
    labels : ndarray of intp, shape (g,)
        Cluster of each group; changed in place. None of the clusters becomes empty.
    sweeps : int
        Rounds over all groups, at most.
    """
    g = len(labels)
    size, links = np.zeros(k), np.zeros((g, k))
    n, mass, inside, within = 0.0, 0.0, 0.0, 0.0
    for q in range(g):
        size[labels[q]] += weight[q]
        n += weight[q]
        mass += P[q, q]
        for h in range(g):
            if h != q:
                links[q, labels[h]] += P[q, h]
                mass += 0.5 * P[q, h]
    for q in range(g):
        inside += P[q, q] + 0.5 * links[q, labels[q]]
    for c in range(k):
        within += 0.5 * size[c] * (size[c] - 1.0)
    total = 0.5 * n * (n - 1.0)
    free = np.ones(k, dtype=np.bool_)
    for _ in range(sweeps):
        moved = False
        for q in range(g):
            old, u = labels[q], weight[q]
            if size[old] == u:
                continue
            for e in range(first[q], first[q + 1]):
                free[labels[rival[e]]] = False
            best, at = _expected(inside, within, mass, total) + 1e-9, -1
            for c in range(k):
                if c == old or not free[c]:
                    continue
                gain, pairs = links[q, c] - links[q, old], u * (size[c] - (size[old] - u))
                value = _expected(inside + gain, within + pairs, mass, total)
                if value > best:
                    best, at = value, c
            for e in range(first[q], first[q + 1]):
                free[labels[rival[e]]] = True
            if at < 0:
                continue
            inside += links[q, at] - links[q, old]
            within += u * (size[at] - (size[old] - u))
            size[old] -= u
            size[at] += u
            labels[q] = at
            moved = True
            for h in range(g):
                if h != q:
                    links[h, old] -= P[h, q]
                    links[h, at] += P[h, q]
        if not moved:
            break
