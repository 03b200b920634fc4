"""Slow twins of what k-means methods do, from the definitions: loops, enumerations, slots."""

from __future__ import annotations

from itertools import product

import numpy as np

from tests.oracles.knowledge import partitions


def squared_distances(X, centers):
    """Squared distances, one pair at a time."""
    return np.array([[sum((a - b) ** 2 for a, b in zip(x, c, strict=True)) for c in centers] for x in np.asarray(X)])


def keeps(labels, cannot_link=(), must_link=(), low=1, high=None):
    """Whether labels keep pairs together and apart, and sizes within bounds."""
    sizes = [list(labels).count(c) for c in set(labels)]
    return (
        all(labels[a] != labels[b] for a, b in cannot_link)
        and all(labels[a] == labels[b] for a, b in must_link)
        and all(low <= size <= (len(labels) if high is None else high) for size in sizes)
    )


def cheapest_assignment(costs, cliques):
    """Least cost of giving rows columns so that no clique has two rows in one column; inf when there is no way."""
    best = np.inf
    for labels in product(range(costs.shape[1]), repeat=len(costs)):
        if all(len({labels[v] for v in clique}) == len(clique) for clique in cliques):
            best = min(best, sum(costs[i, c] for i, c in enumerate(labels)))
    return best


def cheapest_sized(costs, low, high, weight=None, cliques=()):
    """The same with a number of samples per column within bounds."""
    m, k = costs.shape
    weight = [1] * m if weight is None else weight
    best = np.inf
    for labels in product(range(k), repeat=m):
        sizes = [sum(w for w, c in zip(weight, labels, strict=True) if c == column) for column in range(k)]
        fits = all(low <= size <= high for size in sizes)
        if fits and all(len({labels[v] for v in clique}) == len(clique) for clique in cliques):
            best = min(best, sum(costs[i, c] for i, c in enumerate(labels)))
    return best


def inertia(X, labels):
    """Sum of squared distances to the means of the clusters."""
    X, labels = np.asarray(X), np.asarray(labels)
    return float(sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in np.unique(labels)))


def least_inertia(X, k, **kept):
    """The best of all partitions into k clusters that keep what was said; inf when there is none."""
    best = np.inf
    for blocks in partitions(tuple(range(len(X)))):
        if len(blocks) != k:
            continue
        labels = np.empty(len(X), dtype=int)
        for c, block in enumerate(blocks):
            labels[list(block)] = c
        if keeps(labels.tolist(), **kept):
            best = min(best, inertia(X, labels))
    return best


def feasible(n, k, cannot_link=(), must_link=()):
    """Whether k clusters exist that keep all pairs, by backtracking over samples in their order."""
    together = [{i} for i in range(n)]
    for a, b in must_link:
        joined = together[a] | together[b]
        for i in joined:
            together[i] = joined
    head = [min(group) for group in together]
    heads = sorted(set(head))
    rivals = {h: set() for h in heads}
    for a, b in cannot_link:
        if head[a] == head[b]:
            return False
        rivals[head[a]].add(head[b])
        rivals[head[b]].add(head[a])
    if len(heads) < k:
        return False
    heads.sort(key=lambda h: -len(rivals[h]))
    color = {}
    tried = [0]
    while True:
        h = heads[len(tried) - 1]
        limit = min(k, max(color.values(), default=-1) + 2)
        c = tried[-1]
        while c < limit and any(color.get(r) == c for r in rivals[h]):
            c += 1
        if c < limit:
            color[h] = c
            if len(color) == len(heads):
                return True
            tried[-1] = c + 1
            tried.append(0)
            continue
        tried.pop()
        if not tried:
            return False
        color.pop(heads[len(tried) - 1])


def spread_by_definition(X, weight, chosen, k, luck):
    """k-means++ one draw at a time: ``luck`` holds, for each missing center, numbers below 1 that choose candidates."""
    X, weight = np.asarray(X, dtype=float), np.asarray(weight, dtype=float)
    centers = [X[row] for row in list(chosen)[:k]]
    for drawn in luck:
        near = squared_distances(X, centers).min(axis=1) if centers else np.ones(len(X))
        mass = weight * near
        best, least = None, np.inf
        for row in sorted(_row_at(mass, u) for u in (drawn if centers else drawn[:1])):
            after = squared_distances(X, [*centers, X[row]]).min(axis=1)
            left = float(sum(w * d for w, d in zip(weight, after, strict=True)))
            if best is None or left < least * (1 - 1e-12):
                best, least = row, left
        centers.append(X[best])
    return np.array(centers)


def _row_at(mass, share):
    """The row at which running totals pass this share of all; any row when all are zero."""
    if sum(mass) <= 0:
        return int(share * len(mass))
    total = 0.0
    for row, own in enumerate(mass):
        total += own
        if total > share * sum(mass):
            return row
    return len(mass) - 1


def race_by_definition(X, weight, starts, steps):
    """Let each start make its steps of plain weighted k-means; return where they are, the cheapest first."""
    runners = []
    for start in starts:
        centers = np.array(start, dtype=float)
        for _ in range(steps):
            away = squared_distances(X, centers)
            labels = away.argmin(axis=1)
            cost = float(sum(w * row.min() for w, row in zip(weight, away, strict=True)))
            for c in range(len(centers)):
                mine = labels == c
                if mine.any():
                    centers[c] = (weight[mine, None] * X[mine]).sum(axis=0) / weight[mine].sum()
        runners.append((cost, len(runners), centers))
    return [(cost, centers) for cost, _, centers in sorted(runners, key=lambda runner: runner[:2])]


def cop_kmeans_by_definition(X, k, must_link, cannot_link, start, steps=60):
    """COP-KMeans as in Wagstaff et al. (2001): rows in the order given, one try.

    Return the labels, ``"stuck"`` where a row finds no cluster, ``"empty"`` where a cluster is left without rows, about
    which the paper says nothing, or ``"endless"`` where labels never repeat, as the paper's may.
    """
    X, n = np.asarray(X, float), len(X)
    together = {i: {i} for i in range(n)}
    for a, b in must_link:  # the closure: whoever is with a is with whoever is with b
        both = together[a] | together[b]
        for i in both:
            together[i] = both
    apart = {(i, j) for a, b in cannot_link for i in together[a] for j in together[b]}
    apart |= {(j, i) for i, j in apart}

    def violates(i, cluster, labels):
        for j, c in enumerate(labels):
            if c is not None and (j in together[i] and c != cluster):
                return True
            if c is not None and ((i, j) in apart and c == cluster):
                return True
        return False

    centers, before = np.asarray(start, float), None
    for _ in range(steps):
        labels = [None] * n
        for i in range(n):
            closest = sorted(range(k), key=lambda c: float(((X[i] - centers[c]) ** 2).sum()))
            labels[i] = next((c for c in closest if not violates(i, c, labels)), None)
            if labels[i] is None:
                return "stuck"
        if len(set(labels)) < k:
            return "empty"
        if labels == before:
            return labels
        before = labels
        centers = np.array([X[[i for i in range(n) if labels[i] == c]].mean(axis=0) for c in range(k)])
    return "endless"


def compete_by_definition(X, k, must, cannot, centers, passes):
    """Frequency-sensitive k-means: each pass enumerates all labelings that keep the statements.

    Return labels, centers and frequencies of each pass; None where a cluster is empty or two labelings are equal.
    """
    n = len(X)
    legal = [
        labels
        for labels in product(range(k), repeat=n)
        if all(labels[i] == labels[j] for i, j in must) and all(labels[i] != labels[j] for i, j in cannot)
    ]
    wins, frequency, seen = [0] * k, [1.0] * k, []
    for _ in range(passes):
        cost = [
            [frequency[h] * sum((x - c) ** 2 for x, c in zip(X[i], centers[h], strict=True)) for h in range(k)]
            for i in range(n)
        ]
        value = sorted((sum(cost[i][h] for i, h in enumerate(labels)), labels) for labels in legal)
        labels = value[0][1]
        if len(set(labels)) < k or (len(value) > 1 and value[1][0] - value[0][0] < 1e-9):
            return None
        seen.append((list(labels), centers, frequency))
        inside = [[i for i in range(n) if labels[i] == h] for h in range(k)]
        centers = [[sum(X[i][d] for i in rows) / len(rows) for d in range(len(X[0]))] for rows in inside]
        wins = [w + len(rows) for w, rows in zip(wins, inside, strict=True)]
        frequency = [k * w / sum(wins) for w in wins]
    return seen


def differ_by_definition(X, k, given, must, cannot, centers, passes):
    """k-means besides a given clustering: each pass enumerates all legal labelings, then fits both effects at once.

    Return the objective of each pass; None where a cluster is empty or two labelings are equal.
    """
    n = len(X)
    legal = [
        np.array(labels)
        for labels in product(range(k), repeat=n)
        if all(labels[i] == labels[j] for i, j in must) and all(labels[i] != labels[j] for i, j in cannot)
    ]
    m = max(given) + 1
    shift = np.array([X[np.array(given) == z].mean(axis=0) for z in given]) - X.mean(axis=0)
    values = []
    for _ in range(passes):
        away = ((X[:, None] - shift[:, None] - centers[None]) ** 2).sum(axis=2)
        value = sorted((away[np.arange(n), labels].sum(), labels.tolist()) for labels in legal)
        labels = np.array(value[0][1])
        if len(set(labels.tolist())) < k or (len(value) > 1 and value[1][0] - value[0][0] < 1e-9):
            return None
        design = np.hstack([np.eye(k)[labels], np.eye(m)[given]])
        effect = np.linalg.lstsq(design, X, rcond=None)[0]
        fitted = design @ effect
        values.append(((X - fitted) ** 2).sum())
        shift = np.eye(m)[given] @ effect[k:]
        centers, shift = effect[:k] + shift.mean(axis=0), shift - shift.mean(axis=0)
    return values
