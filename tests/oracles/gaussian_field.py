"""Gaussian fields from the definition: one dense table, one system of equations, nothing shared with the package."""

from __future__ import annotations

import numpy as np


def affinities(X, n_neighbors=10, reach=7, faint=1e-6):
    """Affinities of near neighbors, either way, whose scale is the distance to the 7th neighbor."""
    n = len(X)
    distance = np.array([[np.sqrt(((a - b) ** 2).sum()) for b in X] for a in X])
    count = min(n_neighbors, n - 1)
    near = [[j for j in np.argsort(distance[i], kind="stable") if j != i][:count] for i in range(n)]
    scale = np.array([distance[i, near[i][min(reach, count) - 1]] for i in range(n)])
    scale = np.maximum(scale, 1e-3 * (scale.mean() or 1.0))
    table = np.zeros((n, n))
    for i in range(n):
        for j in near[i]:
            table[i, j] = np.exp(-(distance[i, j] ** 2) / (scale[i] * scale[j])) + faint
    return np.maximum(table, table.T)


def laplacian(table):
    """I - D^(-1/2) A D^(-1/2)."""
    root = 1.0 / np.sqrt(table.sum(axis=1))
    return np.eye(len(table)) - root[:, None] * table * root


def harmonic(table, labeled, values):
    """The function that equals ``values`` where it is given and the weighted mean of its neighbors elsewhere."""
    n = len(table)
    rest = np.setdiff1d(np.arange(n), labeled)
    full = np.diag(table.sum(axis=1)) - table
    found = np.zeros((n, values.shape[1]))
    found[labeled] = values
    found[rest] = np.linalg.solve(full[np.ix_(rest, rest)], -full[np.ix_(rest, labeled)] @ values)
    return found


def posterior(covariance, seeds, values, noise):
    """Mean and covariance of a Gaussian field of mean 0 after noisy values were seen at seeds."""
    cross = covariance[:, seeds]
    inside = np.linalg.inv(covariance[np.ix_(seeds, seeds)] + noise * np.eye(len(seeds)))
    return cross @ inside @ values, covariance - cross @ inside @ cross.T


def strongest(claims):
    """Sum over samples of the strongest claim; claims below 0 count as 0, and as shares if they exceed 1 in sum."""
    total = 0.0
    for row in np.maximum(claims, 0.0):
        total += row.max(initial=0.0) / max(row.sum(), 1.0)
    return total


def expected_gain(covariance, seeds, owner, k, candidate, noise, rare):
    """What placing a candidate is expected to add to the sum of strongest claims, by trying every outcome."""
    values = np.eye(k + 1)[owner]
    claims, _ = posterior(covariance, seeds, values, noise)
    p = np.maximum(claims[candidate, :k], 0.0)
    p = p / max(p.sum(), 1.0)
    chance = np.append(p, max(1.0 - p.sum(), 0.0))
    gain = 0.0
    for outcome in range(k + 1):
        if chance[outcome] >= rare:
            after, _ = posterior(covariance, [*seeds, candidate], np.vstack([values, np.eye(k + 1)[outcome]]), noise)
            gain += chance[outcome] * (strongest(after) - strongest(claims))
    return gain
