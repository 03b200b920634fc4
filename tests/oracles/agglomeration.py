"""Greedy agglomeration written from the definitions, one pair at a time; and a check of somebody else's merges."""

from __future__ import annotations

from itertools import combinations

import numpy as np


class Clusters:
    """The clusters of one run: their members, points and distances, and which pairs may be merged."""

    def __init__(self, X=None, method="average", *, D=None, forbidden=(), gamma=None, epsilon=None):
        self.X = None if X is None else np.asarray(X, float)
        self.D = np.sqrt(((self.X[:, None] - self.X[None]) ** 2).sum(-1)) if D is None else np.asarray(D, float)
        self.n = len(self.D)
        self.method = method
        self.forbidden = {frozenset((int(a), int(b))) for a, b in forbidden}
        self.gamma = gamma
        self.epsilon = epsilon
        self.members = {i: [i] for i in range(self.n)}
        self.midpoint = {} if self.X is None else {i: self.X[i] for i in range(self.n)}
        self.between = {frozenset(p): self.D[p] for p in combinations(range(self.n), 2)}
        self.next = self.n

    def distance(self, a, b):
        return self.between[frozenset((a, b))]

    def legal(self, a, b):
        A, B = self.members[a], self.members[b]
        if any(frozenset((i, j)) in self.forbidden for i in A for j in B):
            return False
        if self.gamma is not None and np.linalg.norm(self.X[A].mean(0) - self.X[B].mean(0)) > self.gamma:
            return False
        if self.epsilon is not None and min(len(A), len(B)) == 1:
            return bool((self.D[np.ix_(A, B)] <= self.epsilon).any())
        return True

    def merge(self, a, b):
        new, self.next = self.next, self.next + 1
        A, B = self.members.pop(a), self.members.pop(b)
        self.members[new] = A + B
        if self.X is not None:
            self.midpoint[new] = (self.midpoint[a] + self.midpoint[b]) / 2
        for c in self.members:
            if c != new:
                self.between[frozenset((new, c))] = self._define(new, a, b, c)
        return new

    def _define(self, new, a, b, c):
        block = self.D[np.ix_(self.members[new], self.members[c])]
        if self.method == "single":
            return block.min()
        if self.method == "complete":
            return block.max()
        if self.method == "average":
            return block.mean()
        if self.method == "weighted":
            return (self.distance(a, c) + self.distance(b, c)) / 2
        if self.method == "median":
            return np.linalg.norm(self.midpoint[new] - self.midpoint[c])
        gap = np.linalg.norm(self.X[self.members[new]].mean(0) - self.X[self.members[c]].mean(0))
        if self.method == "centroid":
            return gap
        sizes = len(self.members[new]), len(self.members[c])
        return gap * np.sqrt(2 * sizes[0] * sizes[1] / sum(sizes))

    def legal_pairs(self):
        return [(self.distance(a, b), a, b) for a, b in combinations(sorted(self.members), 2) if self.legal(a, b)]


def force(clusters, forced):
    """Merge must-linked groups in index order; return the merges."""
    pairs, at = [], {}
    for i, group in enumerate([] if forced is None else forced):
        if group in at:
            pairs.append((at[group], i))
            at[group] = clusters.merge(at[group], i)
        else:
            at[group] = i
    return pairs


def greedy(X=None, method="average", *, D=None, forced=None, forbidden=(), gamma=None, epsilon=None):
    """Return the merges and heights of the definition: closest legal pair first, forced groups before at height 0."""
    clusters = Clusters(X, method, D=D, forbidden=forbidden, gamma=gamma, epsilon=epsilon)
    pairs = force(clusters, forced)
    heights = [0.0] * len(pairs)
    while legal := clusters.legal_pairs():
        height, a, b = min(legal)
        clusters.merge(a, b)
        pairs.append((a, b))
        heights.append(height)
    return np.array(pairs, int).reshape(-1, 2), np.array(heights)


def faults(pairs, heights, X=None, method="average", *, tolerance=1e-9, forced=None, **rules):
    """Replay merges; a sentence for each that was no closest legal pair, or has a wrong height; or is missing."""
    clusters = Clusters(X, method, **rules)
    # distances are differences of coordinates, so their rounding errors scale with the larger of the two
    scale = max(clusters.D.max(initial=0.0), 0.0 if X is None else np.abs(X).max(initial=0.0))
    found = []
    n_forced = 0 if forced is None else len(forced) - len(set(np.asarray(forced).tolist()))
    for t, ((a, b), height) in enumerate(zip(np.asarray(pairs).tolist(), np.asarray(heights).tolist(), strict=True)):
        if a not in clusters.members or b not in clusters.members:
            return [*found, f"merge {t} joins {a} and {b}, which are not both there"]
        if t < n_forced:
            groups = {forced[i] for node in (a, b) for i in clusters.members[node]}
            if len(groups) > 1 or height != 0:
                found.append(f"merge {t} should be forced, but joins groups {groups} at {height}")
        else:
            if not clusters.legal(a, b):
                found.append(f"merge {t} is not legal")
            true = clusters.distance(a, b)
            best = min(clusters.legal_pairs())[0] if clusters.legal_pairs() else np.inf
            if true > best + tolerance * scale:
                found.append(f"merge {t} at {true}, but {best} was possible")
            if abs(true - height) > tolerance * scale:
                found.append(f"merge {t} has height {height}, its distance is {true}")
        clusters.merge(a, b)
    if clusters.legal_pairs():
        found.append("a legal merge is left")
    return found
