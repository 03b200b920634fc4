"""Mixtures under statements by their definition: every labeling is written down, judged and weighed.

Imports nothing of linkwise. Statements are plain lists: ``must`` and ``cannot`` are hard pairs, ``prices`` are
``(i, j, together, weight)``: breaking the wish of i and j to be together (or apart) costs ``weight``.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import multivariate_normal


def log(weights):
    """Logarithms that stay finite: a weight may be as good as zero."""
    return np.log(np.maximum(weights, 1e-200))


def labelings(n, k, must=(), cannot=()):
    """All labelings of n samples in which the hard pairs hold, one per row."""
    rows = np.array(list(itertools.product(range(k), repeat=n)), dtype=int).reshape(-1, n)
    for i, j in must:
        rows = rows[rows[:, i] == rows[:, j]]
    for i, j in cannot:
        rows = rows[rows[:, i] != rows[:, j]]
    return rows


def chunklets(n, must):
    """The chunklet of each sample, numbered by first appearance."""
    of = list(range(n))
    for _ in range(n):
        for i, j in must:
            of[i] = of[j] = min(of[i], of[j])
    names = sorted(set(of))
    return np.array([names.index(v) for v in of])


def draws(rows, of, k, sampling):
    """How often the weight of each cluster counts in each labeling, shape (labelings, clusters)."""
    counted = rows if sampling == "points" else rows[:, [list(of).index(c) for c in range(of.max() + 1)]]
    return np.stack([(counted == j).sum(axis=1) for j in range(k)], axis=1).astype(float)


def price(rows, prices):
    """What each labeling pays."""
    paid = np.zeros(len(rows))
    for i, j, together, weight in prices:
        same = rows[:, i] == rows[:, j]
        paid += weight * (~same if together else same)
    return paid


class Enumeration:
    """The model itself: log-weights of all labelings."""

    def __init__(self, n, k, must=(), cannot=(), prices=(), sampling="chunklets", normalized=True):
        self.n, self.k, self.normalized = n, k, normalized
        self.rows = labelings(n, k, must, cannot)
        self.of = chunklets(n, must)
        self.draws = draws(self.rows, self.of, k, sampling)
        self.paid = price(self.rows, prices)

    def log_weights(self, log_density, weights):
        """Log of prior, price and density of each labeling."""
        value = self.draws @ log(weights) - self.paid
        return value + np.array([log_density[np.arange(self.n), row].sum() for row in self.rows])

    def log_z(self, weights):
        """Log of the prior's sum."""
        return logsumexp(self.draws @ log(weights) - self.paid) if self.normalized else 0.0

    def expect(self, log_density, weights):
        """The objective, and the responsibilities of the samples."""
        value = self.log_weights(log_density, weights)
        total = logsumexp(value)
        chance = np.exp(value - total)
        out = np.stack([chance @ (self.rows == j) for j in range(self.k)], axis=1)
        return total - self.log_z(weights), out

    def counts(self, responsibilities):
        """Expected draws of each cluster, from responsibilities that are equal within chunklets."""
        if self.draws[0].sum() == self.n:
            return responsibilities.sum(axis=0)
        first = [list(self.of).index(c) for c in range(self.of.max() + 1)]
        return responsibilities[first].sum(axis=0)

    def prior_counts(self, weights):
        """Draws of each cluster that the prior expects."""
        value = self.draws @ log(weights) - self.paid
        return np.exp(value - logsumexp(value)) @ self.draws

    def best_weights(self, counts):
        """Mixing weights under which the counts are most likely."""
        if not self.normalized:
            return counts / counts.sum()

        def loss(theta):
            weights = np.exp(theta - logsumexp(theta))
            return self.log_z(weights) - counts @ log(weights), self.prior_counts(weights) - counts

        found = minimize(loss, np.log(counts / counts.sum()), jac=True, method="BFGS", options={"gtol": 1e-10})
        return np.exp(found.x - logsumexp(found.x))


def densities(X, means, covariances):
    """Log-densities by SciPy, full covariances."""
    return np.stack(
        [multivariate_normal(m, c).logpdf(X).reshape(len(X)) for m, c in zip(means, covariances, strict=True)], axis=1
    )


def gaussians(X, responsibilities, covariance_type, added):
    """Means and full covariances from responsibilities, sample by sample; ``added`` to the variance of each feature."""
    k, d = responsibilities.shape[1], X.shape[1]
    weight = responsibilities.sum(axis=0) + 10 * np.finfo(float).eps
    means = np.array([sum(r * x for r, x in zip(responsibilities[:, j], X, strict=True)) for j in range(k)])
    means /= weight[:, None]
    full = np.zeros((k, d, d))
    for j in range(k):
        for r, x in zip(responsibilities[:, j], X, strict=True):
            full[j] += r * np.outer(x - means[j], x - means[j])
    if covariance_type == "tied":
        full[:] = full.sum(axis=0) / weight.sum()
    else:
        full /= weight[:, None, None]
    if covariance_type in ("diag", "spherical"):
        full = np.stack([np.diag(np.diag(one)) for one in full])
    if covariance_type == "spherical":
        full = np.stack([np.eye(d) * np.diag(one).mean() for one in full])
    added = np.broadcast_to(added, d)
    return means, full + np.diag(np.full(d, added.mean()) if covariance_type == "spherical" else added)


def em(X, model, responsibilities, covariance_type, reg_covar, n_iter):
    """EM from given responsibilities; returns weights, means, full covariances, responsibilities and the objectives."""
    weights = model.counts(responsibilities) / model.counts(responsibilities).sum()
    added = reg_covar * X.var(axis=0)  # a share of each feature's variance
    means, full = gaussians(X, responsibilities, covariance_type, added)
    values = []
    for _ in range(n_iter):
        value, responsibilities = model.expect(densities(X, means, full), weights)
        values.append(value / len(X))
        weights = model.best_weights(model.counts(responsibilities))
        means, full = gaussians(X, responsibilities, covariance_type, added)
    return weights, means, full, model.expect(densities(X, means, full), weights)[1], np.array(values)


def bound_of_independent_labels(model, log_density, weights, responsibilities):
    """What independent labels with these probabilities prove about the log-sum; every sample its own chunklet."""
    log_q = np.log(np.maximum(responsibilities, 1e-300))
    each = np.array([log_q[np.arange(model.n), row].sum() for row in model.rows])
    return float(np.exp(each) @ (model.log_weights(log_density, weights) - each))


class WeighedLikelihoods:
    """Maximum entropy EM: labels are clusters, and three likelihoods have their weights.

    ``labels`` has ``(class, weight)`` for labeled samples. Samples that pairs connect are enumerated together.
    """

    def __init__(self, n, k, labels, cannot, prices, alpha, beta):
        self.n, self.k, self.labels, self.cannot, self.prices = n, k, labels, cannot, prices
        part = chunklets(n, [(i, j) for i, j, *_ in [*prices, *cannot]])
        self.parts = [np.flatnonzero(part == c) for c in range(part.max() + 1)]
        linked = {i for i, j, *_ in [*prices, *cannot]} | {j for i, j, *_ in [*prices, *cannot]}
        self.weight = np.array(
            [1 - alpha - beta if i in linked else beta if i in labels else alpha for i in range(n)], dtype=float
        )

    def expect(self, log_density, weights):
        value, out = 0.0, np.zeros((self.n, self.k))
        for part in self.parts:
            rows = np.array(list(itertools.product(range(self.k), repeat=len(part))))
            full = np.full((len(rows), self.n), -1)
            full[:, part] = rows
            inside = [p for p in self.prices if p[0] in part]
            each = (log_density + log(weights))[part[None, :], rows].sum(axis=1) - price(full, inside)
            for i, j in self.cannot:
                if i in part:
                    each[full[:, i] == full[:, j]] = -np.inf
            for i in part:
                if i in self.labels:
                    each[full[:, i] != self.labels[i][0]] -= self.labels[i][1]
            total = logsumexp(each)
            value += self.weight[part[0]] * total
            for row, chance in zip(rows, np.exp(each - total), strict=True):
                out[part, row] += chance
        return value, out

    def em(self, X, begin, reg_covar, n_iter):
        """Objectives per sample and the last responsibilities, from the responsibilities ``begin``."""
        added = reg_covar * X.var(axis=0)
        weights = self.weight @ begin / self.weight.sum()
        means, full = gaussians(X, begin, "full", added)
        values = []
        for _ in range(n_iter):
            value, chance = self.expect(densities(X, means, full), weights)
            values.append(value / self.n)
            share = chance * self.weight[:, None]
            weights = share.sum(axis=0) / share.sum()
            means, full = gaussians(X, share, "full", added)
        return np.array(values), self.expect(densities(X, means, full), weights)[1]
