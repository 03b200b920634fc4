"""Constrained complete link by plain loops, from Figures 5 and 6 of Klein, Kamvar and Manning with their errata mended.

Where the text and this file differ: the update of complete link takes the maximum; cannot-links are written over whole
must-linked components, both ways, as twice the largest distance; components come from the given must-links alone.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np


def components(n, must_link):
    """Number the component of each sample, by searching from each in turn."""
    label = [-1] * n
    found = 0
    for start in range(n):
        if label[start] >= 0:
            continue
        waiting = [start]
        while waiting:
            i = waiting.pop()
            label[i] = found
            for a, b in must_link:
                for x, y in ((a, b), (b, a)):
                    if x == i and label[y] < 0:
                        waiting.append(y)
        found += 1
    return label


def impose_must_links(D, must_link):
    """Write 0 between all samples of a component."""
    D = [[float(v) for v in row] for row in D]
    label = components(len(D), must_link)
    for i in range(len(D)):
        for j in range(len(D)):
            if label[i] == label[j]:
                D[i][j] = 0.0
    return D


def shortest_paths(D, intermediates):
    """Floyd and Warshall's three loops, through some samples only."""
    D = [list(row) for row in D]
    n = len(D)
    for k in intermediates:
        for i in range(n):
            for j in range(n):
                D[i][j] = min(D[i][j], D[i][k] + D[k][j])
    return D


def propagate_must_links(D, must_link, *, full):
    """Impose must-links and restore shortest paths, through the linked samples or through all."""
    if not must_link:
        return np.array(D, dtype=float).reshape(len(D), len(D))
    linked = sorted({int(i) for pair in must_link for i in pair})
    through = range(len(D)) if full else linked
    return np.array(shortest_paths(impose_must_links(D, must_link), through))


def cannot_link_mask(n, must_link, cannot_link):
    """Which pairs must not share a cluster: all pairs between components that a cannot-link joins."""
    label = components(n, must_link)
    mask = np.zeros((n, n), dtype=bool)
    for a, b in cannot_link:
        for i in range(n):
            for j in range(n):
                if {label[i], label[j]} == {label[a], label[b]} and label[i] != label[j]:
                    mask[i, j] = True
    return mask


def sentinel(D):
    """A distance above all others, for pairs that must not be merged."""
    largest = max((v for row in D for v in row), default=0.0)
    return 2 * largest if largest > 0 else 1.0


def constrain_proximities(D, must_link, cannot_link, *, full):
    """The matrix the paper hands to complete link."""
    D = propagate_must_links(D, must_link, full=full)
    far = sentinel(D)
    D[cannot_link_mask(len(D), must_link, cannot_link)] = far
    return D


def complete_link(D, must_link=()):
    """Merge components first, at 0, then always the two clusters whose farthest members are closest; all n - 1 merges.

    Returns
    -------
    list of (frozenset, frozenset, float)
        The two clusters and the distance of each merge.
    """
    n = len(D)
    clusters, merges = [], []
    label = components(n, must_link)
    for c in sorted(set(label)):
        members = [i for i in range(n) if label[i] == c]
        merges += [(frozenset(members[:k]), frozenset([members[k]]), 0.0) for k in range(1, len(members))]
        clusters.append(frozenset(members))
    while len(clusters) > 1:
        height, a, b = min(
            (max(D[i][j] for i in clusters[a] for j in clusters[b]), a, b)
            for a, b in combinations(range(len(clusters)), 2)
        )
        merges.append((clusters[a], clusters[b], height))
        clusters = [c for k, c in enumerate(clusters) if k not in (a, b)] + [clusters[a] | clusters[b]]
    return merges


def medoid(D, members):
    """The member with the smallest sum of distances to the others, the first of those equal up to rounding."""
    total = {i: math.fsum(D[i][j] for j in members) for i in sorted(members)}
    return next(i for i in total if total[i] <= min(total.values()) * (1 + 1e-12))


class Active:
    """Section 5.5 by plain loops: ask about medoids above alpha; `answer(i, j)` says True, False or None."""

    def __init__(self, D, budget, answer, *, full, begin=None):
        n = len(D)
        kept_back = budget - budget * 4 // 5 if budget > 1 else 0  # for noes
        left = budget - kept_back if begin is None else begin - 1
        heights = [h for _, _, h in complete_link(D)]
        self.alpha = heights[n - 2 - left] if left < n - 1 else -np.inf
        self.asked, self.must, self.cannot, self.merges = [], [], [], []
        self.below = False  # whether a merge came to lie below alpha again after the first question
        clusters = [frozenset([i]) for i in range(n)]
        gap = {frozenset((a, b)): D[min(a)][min(b)] for a, b in combinations(clusters, 2)}
        apart = set()
        while True:
            legal = [
                (gap[frozenset(p)], *sorted(min(cluster) for cluster in p), p)
                for p in combinations(clusters, 2)
                if frozenset(p) not in apart
            ]
            if not legal:
                break
            height, _, _, (a, b) = min(legal, key=lambda entry: entry[:3])
            self.below |= bool(self.asked) and height <= self.alpha
            reply = None
            if height > self.alpha and len(self.asked) < budget:
                pair = tuple(sorted((medoid(D, a), medoid(D, b))))
                self.asked.append(pair)
                reply = answer(*pair)
                if reply is False:
                    self.cannot.append(pair)
                    apart.add(frozenset((a, b)))
                    continue
            if reply:
                self.must.append(pair)
                gap[frozenset((a, b))] = 0.0
                gap = self._shorten(gap, clusters, clusters if full else (a, b))
                height = 0.0
            self.merges.append((a, b, height))
            others = [c for c in clusters if c not in (a, b)]
            for c in others:
                gap[frozenset((a | b, c))] = max(gap[frozenset((a, c))], gap[frozenset((b, c))])
                if {frozenset((a, c)), frozenset((b, c))} & apart:
                    apart.add(frozenset((a | b, c)))
            clusters = [*others, a | b]

    @staticmethod
    def _shorten(gap, clusters, through):
        def at(x, y):
            return 0.0 if x == y else gap[frozenset((x, y))]

        for k in through:
            gap = gap | {frozenset((x, y)): min(at(x, y), at(x, k) + at(k, y)) for x, y in combinations(clusters, 2)}
        return gap
