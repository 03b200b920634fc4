"""Learned metrics by definition: sums written out, general-purpose solvers from many starts. Small inputs only."""

from __future__ import annotations

import numpy as np
import scipy.optimize

# -- Xing -------------------------------------------------------------------------------------------------------------


def xing_sums(A, X, must, cannot):
    """f, the sum of squared distances over must-links, and g, that of distances over cannot-links: (pair, weight)."""
    f = sum(w * (X[i] - X[j]) @ A @ (X[i] - X[j]) for (i, j), w in must)
    g = sum(w * np.sqrt(max((X[i] - X[j]) @ A @ (X[i] - X[j]), 0.0)) for (i, j), w in cannot)
    return f, g


def best_xing(X, must, cannot, *, diagonal, starts=12, seed=0):
    """The largest g where f = 1, which is the largest g / √f, over A = L'L or a diagonal of squares."""
    d = X.shape[1]
    rng = np.random.default_rng(seed)

    def matrix(z):
        return np.diag(z**2) if diagonal else z.reshape(d, d).T @ z.reshape(d, d)

    def worse(z):
        f, g = xing_sums(matrix(z), X, must, cannot)
        return -g / np.sqrt(max(f, 1e-300))

    best = -np.inf
    for _ in range(starts):
        z = rng.normal(size=d if diagonal else d * d)
        found = scipy.optimize.minimize(worse, z, method="BFGS")
        best = max(best, -found.fun)
    return best


# -- chunklets --------------------------------------------------------------------------------------------------------


def groups_of_links(n, links):
    """Connected components by repeated merging."""
    group = list(range(n))
    changed = True
    while changed:
        changed = False
        for i, j in links:
            if group[i] != group[j]:
                old, new = max(group[i], group[j]), min(group[i], group[j])
                group = [new if g == old else g for g in group]
                changed = True
    return [[i for i in range(n) if group[i] == g] for g in sorted(set(group))]


def within_chunklets(X, links):
    """RCA's covariance, level by level: links are (pair, weight)."""
    total, count, below = np.zeros((X.shape[1],) * 2), 0.0, 0.0
    for level in sorted({w for _, w in links}):
        height = level - below
        for chunk in groups_of_links(len(X), [pair for pair, w in links if w >= level]):
            if len(chunk) > 1:
                centered = X[chunk] - X[chunk].mean(axis=0)
                total += height * sum(np.outer(row, row) for row in centered)
                count += height * len(chunk)
        below = level
    return total / count


def between_chunklets(X, links, cannot):
    """DCA's scatter between chunklets kept apart, level by level."""
    total, count, below = np.zeros((X.shape[1],) * 2), 0.0, 0.0
    for level in sorted({w for _, w in [*links, *cannot]}):
        height = level - below
        chunks = groups_of_links(len(X), [pair for pair, w in links if w >= level])
        home = {i: k for k, chunk in enumerate(chunks) for i in chunk}
        apart = {tuple(sorted((home[i], home[j]))) for (i, j), w in cannot if w >= level}
        for a, b in apart:
            if a != b:
                gap = X[chunks[a]].mean(axis=0) - X[chunks[b]].mean(axis=0)
                total += height * np.outer(gap, gap)
                count += height
        below = level
    return total / count


# -- SVM metric -------------------------------------------------------------------------------------------------------


def best_margin(D, cost, H):
    """Minimum of ½ w'Hw + Σ cost ξ over w, ξ ≥ 0 with D w ≥ 1 - ξ, and the weights."""
    m, d = D.shape
    start = np.concatenate([np.ones(d), np.maximum(1 - D.sum(axis=1), 0)])
    found = scipy.optimize.minimize(
        lambda z: 0.5 * z[:d] @ H @ z[:d] + cost @ z[d:],
        start,
        jac=lambda z: np.concatenate([H @ z[:d], cost]),
        bounds=[(0, None)] * (d + m),
        constraints={
            "type": "ineq",
            "fun": lambda z: D @ z[:d] - 1 + z[d:],
            "jac": lambda z: np.hstack([D, np.eye(m)]),
        },
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    return found.fun, found.x[:d]


# -- ITML and LSML ----------------------------------------------------------------------------------------------------


def logdet_divergence(A, B):
    """tr(A B⁻¹) - log det(A B⁻¹) - d."""
    M = A @ np.linalg.inv(B)
    return np.trace(M) - np.log(np.linalg.det(M)) - len(A)


def best_itml(D, near, bound, gamma):
    """Minimum of D(A, I) + Σ γ D(ξ, bound) with lengths kept to ξ, over A and ξ at once; and the matrix A."""
    d = D.shape[1]

    def parts(z):
        L = z[: d * d].reshape(d, d)
        return L.T @ L, np.exp(z[d * d :])

    def value(z):
        A, xi = parts(z)
        ratio = xi / bound
        return logdet_divergence(A, np.eye(d)) + gamma @ (ratio - np.log(ratio) - 1)

    def room(z):
        A, xi = parts(z)
        length = np.array([v @ A @ v for v in D])
        return np.where(near, xi - length, length - xi)

    start = np.concatenate([np.eye(d).ravel(), np.log((D**2).sum(axis=1))])
    found = scipy.optimize.minimize(
        value,
        start,
        constraints={"type": "ineq", "fun": room},
        method="SLSQP",
        options={"maxiter": 3000, "ftol": 1e-13},
    )
    return found.fun, parts(found.x)[0]


def bregman_sweep(A, D, near, bound, gamma, multiplier):
    """One cycle of exact Bregman projections; returns new copies of A, the bounds and the multipliers."""
    A, bound, multiplier = A.copy(), bound.copy(), multiplier.copy()
    for k, v in enumerate(D):
        length = v @ A @ v
        if length <= 0:
            continue
        sign = 1.0 if near[k] else -1.0
        wanted = sign * gamma[k] / (gamma[k] + 1) * (1 / length - 1 / bound[k])
        alpha = min(multiplier[k], wanted)
        multiplier[k] -= alpha
        A = np.linalg.inv(np.linalg.inv(A) - sign * alpha * np.outer(v, v))
        bound[k] = 1 / (1 / bound[k] + sign * alpha / gamma[k])
    return A, bound, multiplier


def lsml_value(A, X, triplets, must, cannot, *, C, margin):
    """LogDet divergence from the identity plus C times the mean loss; all statements are (items, weight)."""

    def squared(i, j):
        return (X[i] - X[j]) @ A @ (X[i] - X[j])

    compared = [((a, b), (a, c), w) for (a, b, c), w in triplets]
    compared += [((a, b), (b, c), w) for (a, b, c), w in triplets]
    compared += [(near, far, w * v) for near, w in must for far, v in cannot]
    total = 0.0
    for near, far, w in compared:
        p, q = squared(*near), squared(*far)
        if margin:
            total += w * max(1 + p - q, 0) ** 2
        elif p > q:
            total += w * (np.sqrt(p) - np.sqrt(q)) ** 2
    return logdet_divergence(A, np.eye(len(A))) + C * total / sum(w for _, _, w in compared)


def best_lsml(X, triplets, must, cannot, *, C, margin):
    """Minimum of `lsml_value` by quasi-Newton steps on a root, from the identity."""
    d = X.shape[1]

    def value(z):
        L = z.reshape(d, d)
        return lsml_value(L.T @ L, X, triplets, must, cannot, C=C, margin=margin)

    found = scipy.optimize.minimize(value, np.eye(d).ravel(), method="BFGS", options={"gtol": 1e-7})
    return found.fun, found.x.reshape(d, d).T @ found.x.reshape(d, d)


# -- slopes -----------------------------------------------------------------------------------------------------------


def central_differences(function, z, step=1e-5):
    """Slope of a function of a vector, one entry at a time."""
    slope = np.empty(len(z))
    for k in range(len(z)):
        up, down = z.copy(), z.copy()
        up[k] += step
        down[k] -= step
        slope[k] = (function(up) - function(down)) / (2 * step)
    return slope
