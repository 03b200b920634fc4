"""DistBoost by definition: the whole square of pair weights, kept pair by pair. Small inputs only."""

from __future__ import annotations

import numpy as np
import scipy.optimize
from scipy.stats import multivariate_normal

from tests.oracles.mixture import densities, gaussians


def alike(p, q):
    """From -1 to 1: the probability two distributions share, stretched."""
    return 2 * sum(min(a, b) for a, b in zip(p, q, strict=True)) - 1


def memberships(X, weights, means, covariances):
    """Probability of each cluster for each row, by SciPy."""
    joint = np.array(
        [[w * multivariate_normal(m, c).pdf(x) for w, m, c in zip(weights, means, covariances, strict=True)] for x in X]
    )
    return joint / joint.sum(axis=1)[:, None]


def boost_with_matrices(n, said, weak, n_rounds, patience=10):
    """Boost hypotheses on the square of all pairs.

    ``said`` holds (i, j, label, weight); ``weak(sample_weight, pair_weight)`` gives memberships. Returns for every
    round the step (0 for a hypothesis that was dropped), and the weights of samples and statements it was told; then
    the loss after every round and the matrix of distances.
    """
    unlabeled = np.array([[float(i != j) for j in range(n)] for i in range(n)])
    for i, j, _, _ in said:
        unlabeled[i, j] = unlabeled[j, i] = 0.0
    labeled = np.array([weight for *_, weight in said], dtype=float)
    first = labeled / labeled.sum()
    smoothing = sum(w**2 for w in first) / 2
    history, losses, hypotheses, in_vain = [], [1.0], [], 0
    while len(history) < n_rounds and in_vain < patience:
        square = unlabeled.copy()
        for (i, j, _, _), w in zip(said, labeled, strict=True):
            square[i, j] += w
            square[j, i] += w
        square /= square.sum()
        sample_weight, pair_weight = square.sum(axis=1) * n, labeled / labeled.sum()
        P = weak(sample_weight, pair_weight)
        margin = np.array([label * alike(P[i], P[j]) for i, j, label, _ in said])

        def loss(step, pair_weight=pair_weight, margin=margin):
            return pair_weight @ np.exp(-step * margin) + 2 * smoothing * np.cosh(step)

        step = 0.0
        if pair_weight @ margin > 0:
            step = scipy.optimize.minimize_scalar(loss, bounds=(0, 30), method="bounded", options={"xatol": 1e-10}).x
            labeled = labeled * np.exp(-step * margin)
            unlabeled = unlabeled * np.exp(-step)
            hypotheses.append((step, P))
        in_vain = 0 if step else in_vain + 1
        history.append((step, sample_weight, pair_weight))
        score = [sum(a * label * alike(Q[i], Q[j]) for a, Q in hypotheses) for i, j, label, _ in said]
        losses.append(float(first @ np.exp(-np.array(score))))
    total = sum(a for a, _ in hypotheses)
    distance = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            distance[i, j] = sum(a * (1 - alike(Q[i], Q[j])) / 2 for a, Q in hypotheses) / total if total else np.nan
    return history, np.array(losses), distance


def weighted_em(X, model, responsibilities, sample_weight, added, n_iter):
    """EM in which samples count with their weights, by enumeration; weights, means and full covariances.

    ``added`` is added to every variance.
    """
    weights = model.counts(responsibilities) / model.counts(responsibilities).sum()
    means, full = gaussians(X, responsibilities, "full", added)
    for _ in range(n_iter):
        _, responsibilities = model.expect(densities(X, means, full), weights)
        share = responsibilities * sample_weight[:, None]
        weights = share.sum(axis=0) / share.sum()
        means, full = gaussians(X, share, "full", added)
    return weights, means, full
