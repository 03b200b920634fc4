"""Sums and sweeps over a Gram matrix, dense or sparse."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray
from linkwise.problem.statements import Apart


@njit
def _dense_sums(table: FloatArray, labels: IntArray, k: int) -> FloatArray:
    out = np.zeros((len(table), k))
    for i in range(len(table)):
        for j in range(len(table)):
            out[i, labels[j]] += table[i, j]
    return out


@njit
def _sparse_sums(data: FloatArray, indices: IntArray, indptr: IntArray, labels: IntArray, k: int) -> FloatArray:
    n = len(indptr) - 1
    out = np.zeros((n, k))
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            out[i, labels[indices[e]]] += data[e]
    return out


@njit
def _better(
    x: int,
    weight: FloatArray,
    diagonal: FloatArray,
    inner: FloatArray,
    mass: FloatArray,
    count: IntArray,
    apart: Apart,
    place: IntArray,
    labels: IntArray,
    sums: FloatArray,
    least: float,
    taken: IntArray,
) -> int:
    """The cluster to which moving ``x`` gains most, or -1; inner sums, masses and counts are brought up to date."""
    home = labels[x]
    if count[home] < 2:
        return -1
    p = place[x]
    if p >= 0:
        for e in range(apart.first[p], apart.first[p + 1]):
            q = apart.clique[e]
            for t in range(apart.start[q], apart.start[q + 1]):
                if apart.member[t] != p:
                    taken[labels[apart.node[apart.member[t]]]] = x
    w = weight[x]
    left = inner[home] - 2.0 * sums[x, home] + diagonal[x]
    lost = inner[home] / mass[home] - left / (mass[home] - w)
    best = -1
    most = least
    for c in range(len(inner)):
        if c == home or taken[c] == x:
            continue
        gain = (inner[c] + 2.0 * sums[x, c] + diagonal[x]) / (mass[c] + w) - inner[c] / mass[c] - lost
        if gain > most:
            most = gain
            best = c
    if best >= 0:
        inner[home] = left
        inner[best] += 2.0 * sums[x, best] + diagonal[x]
        mass[home] -= w
        mass[best] += w
        count[home] -= 1
        count[best] += 1
    return best


@njit
def _sweep_dense(
    table: FloatArray,
    weight: FloatArray,
    diagonal: FloatArray,
    inner: FloatArray,
    mass: FloatArray,
    count: IntArray,
    apart: Apart,
    place: IntArray,
    labels: IntArray,
    sums: FloatArray,
    least: float,
) -> int:
    moves = 0
    taken = np.full(len(inner), -1, np.intp)
    for x in range(len(labels)):
        to = _better(x, weight, diagonal, inner, mass, count, apart, place, labels, sums, least, taken)
        if to >= 0:
            home = labels[x]
            for y in range(len(labels)):
                sums[y, home] -= table[x, y]
                sums[y, to] += table[x, y]
            labels[x] = to
            moves += 1
    return moves


@njit
def _sweep_sparse(
    data: FloatArray,
    indices: IntArray,
    indptr: IntArray,
    weight: FloatArray,
    diagonal: FloatArray,
    inner: FloatArray,
    mass: FloatArray,
    count: IntArray,
    apart: Apart,
    place: IntArray,
    labels: IntArray,
    sums: FloatArray,
    least: float,
) -> int:
    moves = 0
    taken = np.full(len(inner), -1, np.intp)
    for x in range(len(labels)):
        to = _better(x, weight, diagonal, inner, mass, count, apart, place, labels, sums, least, taken)
        if to >= 0:
            home = labels[x]
            for e in range(indptr[x], indptr[x + 1]):
                sums[indices[e], home] -= data[e]
                sums[indices[e], to] += data[e]
            labels[x] = to
            moves += 1
    return moves
