"""Compiled loops of the metric learners: chunklets and forests that grow link by link, and Bregman's projections."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import find, make, union
from linkwise._typing import BoolArray, FloatArray, IntArray


@njit
def join_means(X: FloatArray, pairs: IntArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Join chunklets along ``pairs``, heaviest first, and return how far apart the means were each time.

    Row r and mass w of a join stand for w r r', what the join adds to the scatter within chunklets, times its weight.
    """
    n, d = X.shape
    sets = make(n)
    mean = X.copy()
    most = max(n - 1, 0)
    step = np.empty((most, d))
    mass = np.empty(most)
    k = 0
    for t in range(len(pairs)):
        a = find(sets, pairs[t, 0])
        b = find(sets, pairs[t, 1])
        if a == b:
            continue
        na, nb = sets.size[a], sets.size[b]
        union(sets, a, b)
        above = find(sets, a)
        for j in range(d):
            ma, mb = mean[a, j], mean[b, j]
            step[k, j] = ma - mb
            mean[above, j] = (na * ma + nb * mb) / (na + nb)
        mass[k] = weight[t] * na * nb / (na + nb)
        k += 1
    return step[:k], mass[:k]


@njit
def project_onto_bounds(
    A: FloatArray,
    D: FloatArray,
    near: BoolArray,
    bound: FloatArray,
    gamma: FloatArray,
    multiplier: FloatArray,
    sweeps: int,
) -> None:
    """Bregman's projections of the matrix A onto one bound after another, ``sweeps`` times over; all in place.

    A near row of D is to have a squared length of at most its bound, any other at least. A bound gives way: the larger
    its gamma, the less.
    """
    m, d = D.shape
    Av = np.empty(d)
    for _ in range(sweeps):
        for k in range(m):
            length = 0.0
            for i in range(d):
                total = 0.0
                for j in range(d):
                    total += A[i, j] * D[k, j]
                Av[i] = total
                length += total * D[k, i]
            if length <= 0.0:
                continue
            sign = 1.0 if near[k] else -1.0
            share = gamma[k] / (gamma[k] + 1.0)
            # the multiplier of a bound never turns negative: what was given is taken back at most
            alpha = min(multiplier[k], sign * share * (1.0 / length - 1.0 / bound[k]))
            if alpha == 0.0:
                continue
            multiplier[k] -= alpha
            beta = sign * alpha / (1.0 - sign * alpha * length)
            bound[k] = 1.0 / (1.0 / bound[k] + sign * alpha / gamma[k])
            for i in range(d):
                scaled = beta * Av[i]
                for j in range(d):
                    A[i, j] += scaled * Av[j]


@njit
def grow_forest(n: int, pairs: IntArray) -> BoolArray:
    """Tell which pairs join two trees of the forest that those before them made."""
    sets = make(n)
    out = np.zeros(len(pairs), np.bool_)
    for t in range(len(pairs)):
        out[t] = union(sets, pairs[t, 0], pairs[t, 1])
    return out
