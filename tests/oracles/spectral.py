"""Spectral and kernel criteria, literally from their definitions, for few samples."""

from __future__ import annotations

import functools

import numpy as np


def neighbor_graph(X, count):
    """1 between mutual near neighbors, the sample itself counted, and 1/2 between those that are so one way."""
    away = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(away, -1.0)
    near = np.zeros_like(away)
    for i, row in enumerate(away):
        near[i, np.argsort(row, kind="stable")[:count]] = 1.0
    return (near + near.T) / 2


def bent(A, must, cannot, top=1.0):
    """Affinities after certain pairs were set; the pairs are everything that follows."""
    A = np.array(A)
    for i, j in must:
        A[i, j] = A[j, i] = top
    for i, j in cannot:
        A[i, j] = A[j, i] = 0.0
    return A


def embedding(A, k):
    """Rows of the leading eigenvectors of (A + d_max I - D) / d_max, each of length 1."""
    degree = A.sum(axis=1)
    most = degree.max()
    N = (A + most * np.eye(len(A)) - np.diag(degree)) / most
    _, vectors = np.linalg.eigh(N)
    rows = vectors[:, ::-1][:, :k]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def statements_term(labels, size, must, cannot):
    """What soft statements add: (i, j, w) inside a cluster, over its size."""
    total = 0.0
    for i, j, w in must:
        if labels[i] == labels[j]:
            total -= w / size[labels[i]]
    for i, j, w in cannot:
        if labels[i] == labels[j]:
            total += w / size[labels[i]]
    return total


def hmrf(X, labels, must, cannot):
    """Squared distances to means, and statements."""
    labels, size, total = np.asarray(labels), {}, 0.0
    for c in np.unique(labels):
        rows = X[labels == c]
        size[c] = len(rows)
        total += ((rows - rows.mean(axis=0)) ** 2).sum()
    return total + statements_term(labels, size, must, cannot)


def cut(A, labels, must, cannot, objective):
    """Association, cut or normalized cut, and statements."""
    labels, size, total = np.asarray(labels), {}, 0.0
    for c in np.unique(labels):
        inside = labels == c
        size[c] = A[inside].sum() if objective == "normalized_cut" else inside.sum()
        if objective == "ratio_association":
            total -= A[np.ix_(inside, inside)].sum() / size[c]
        else:
            total += A[np.ix_(inside, ~inside)].sum() / size[c]
    return total + statements_term(labels, size, must, cannot)


def kernel_objective(K, weight, labels):
    """Weighted kernel k-means: weighted squared distances to weighted means in feature space."""
    labels, total = np.asarray(labels), 0.0
    for c in np.unique(labels):
        inside = np.flatnonzero(labels == c)
        w = weight[inside]
        part = K[np.ix_(inside, inside)]
        middle = w @ part @ w / w.sum() ** 2
        for at in range(len(inside)):
            total += w[at] * (part[at, at] - 2.0 * (w @ part[:, at]) / w.sum() + middle)
    return total


def weights_matrix(n, must, cannot):
    """Half the weight of every unordered pair in both of its entries."""
    W = np.zeros((n, n))
    for sign, pairs in ((1, must), (-1, cannot)):
        for i, j, w in pairs:
            W[i, j] += sign * w / 2
            W[j, i] += sign * w / 2
    return W


@functools.cache
def _partitions(n):
    rows = [()]
    for _ in range(n):
        rows = [(*row, c) for row in rows for c in range(max(row, default=-1) + 2)]
    return rows


def labelings(n, k=None):
    """Every partition of n samples once, as labels in order of appearance; with k clusters only if that is given."""
    return (np.array(row) for row in _partitions(n) if k is None or max(row) + 1 == k)


def correlation_cost(labels, must, cannot):
    """Weight of the broken pairs (i, j, w)."""
    broken = sum(w for i, j, w in must if labels[i] != labels[j])
    return broken + sum(w for i, j, w in cannot if labels[i] == labels[j])
