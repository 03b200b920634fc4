"""iHAC, biHAC and biiHAC as the papers print them, with the errata repaired: sets of samples and plain loops.

Clusters are frozensets, ordered by their smallest sample; the first of equally similar pairs is taken. Every choice
also tells by how much it was made, so that a comparison can leave out cases that hang on the last digit.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np


def cosine(u, v, w):
    """Equation (2) with diagonal weights; 0 for a vector of weighted norm 0."""
    norm_u, norm_v = math.sqrt(float((w * u * u).sum())), math.sqrt(float((w * v * v).sum()))
    return float((w * u * v).sum()) / (norm_u * norm_v) if norm_u > 0 and norm_v > 0 else 0.0


def centroid(X, cluster):
    return X[sorted(cluster)].mean(axis=0)


def similarity(X, a, b, w, method):
    """Average linkage (section 3), or the similarity of centroids."""
    if method == "centroid":
        return cosine(centroid(X, a), centroid(X, b), w)
    return float(np.mean([cosine(X[i], X[j], w) for i in sorted(a) for j in sorted(b)]))


def breaks(triplet, a, b):
    """Whether joining a and b joins z with exactly one of x and y."""
    x, y, z = triplet
    for one, other in ((a, b), (b, a)):
        if z in one and (x in other) != (y in other):
            remaining = y if x in other else x
            if remaining not in one:
                return True
    return False


def n_broken(triplets, a, b):
    return sum(breaks(t, a, b) for t in triplets)


def choose(options):
    """The first of the largest (key, option) and its lead over the second."""
    ranked = sorted(options, key=lambda pair: -pair[0])
    lead = ranked[0][0] - ranked[1][0] if len(ranked) > 1 else math.inf
    best = ranked[0][0]
    return next(option for key, option in options if key == best), lead


def cluster(X, triplets, w, method, legal):
    """One run. Returns merges (a, b, similarity, broken), the cases for adaptation, and the smallest lead."""
    clusters = [frozenset([i]) for i in range(len(X))]
    merges, cases, least, spoiled = [], [], math.inf, set()
    while len(clusters) > 1:
        pairs = [(similarity(X, a, b, w, method), (a, b)) for a, b in combinations(clusters, 2)]
        allowed = [pair for pair in pairs if not n_broken(triplets, *pair[1])] if legal else pairs
        (a, b), lead = choose(allowed or pairs)
        least = min(least, lead)
        broken = n_broken(triplets, a, b)
        if broken and a not in spoiled and b not in spoiled:
            wanted = []
            for one, partner in ((a, b), (b, a)):
                may = [
                    (similarity(X, one, c, w, method), c)
                    for c in clusters
                    if c not in (one, partner) and not n_broken(triplets, one, c)
                ]
                found, lead = choose(may) if may else (None, math.inf)
                wanted.append(found)
                least = min(least, lead)
            cases.append((a, b, *wanted))
        if broken or a in spoiled or b in spoiled:
            spoiled.add(a | b)
        merges.append((a, b, similarity(X, a, b, w, method), broken))
        clusters = sorted([c for c in clusters if c not in (a, b)] + [a | b], key=min)
    return merges, cases, least


def gradient(cx, cy, cz, w):
    """Equation (7); None where a centroid has weighted norm 0."""
    norms = [math.sqrt(float((w * c * c).sum())) for c in (cx, cy, cz)]
    if min(norms) <= 0:
        return None
    x, y, z = cx / norms[0], cy / norms[1], cz / norms[2]
    near, far = cosine(cx, cy, w), cosine(cx, cz, w)
    return x * (y - z) - 0.5 * near * (x**2 + y**2) + 0.5 * far * (x**2 + z**2)


def step(X, x, y, z, w, rate):
    """Equations (6) and (3) for the triple of clusters (x, y, z)."""
    change = gradient(centroid(X, x), centroid(X, y), centroid(X, z), w)
    if change is None:
        return w
    moved = np.maximum(w + rate * change, 0.0)
    return w if moved.sum() <= 0 else moved * (len(w) / moved.sum())


def adapt(X, cases, w, rate):
    for a, b, a_wanted, b_wanted in cases:
        if a_wanted is not None:
            w = step(X, a, a_wanted, b, w, rate)
        if b_wanted is not None:
            w = step(X, b, b_wanted, a, w, rate)
    return w


def build_clusters(items, triplets):
    """The clusters of the tree that BUILD makes of consistent triplets."""
    found, waiting = set(), [frozenset(items)]
    while waiting:
        group = waiting.pop()
        if len(group) < 2:
            continue
        found.add(group)
        parts = [{i} for i in group]
        for x, y, z in triplets:
            if {x, y, z} <= group:
                joined = [p for p in parts if x in p or y in p]
                parts = [p for p in parts if p not in joined] + [set().union(*joined)]
        if len(parts) == 1:
            raise ValueError("inconsistent")
        waiting += [frozenset(p) for p in parts]
    return found


def error(merges, triplets, score):
    """One minus the H-correlation on the given triplets; a triplet belongs to the BUILD node where x and y meet."""
    said = {(min(x, y), max(x, y), z) for x, y, z in triplets}
    if not said:
        return 0.0
    joined = [a | b for a, b, _, _ in merges]
    held = {t: any({t[0], t[1]} <= c and t[2] not in c for c in joined) for t in said}
    if score == "uniform":
        return 1.0 - sum(held.values()) / len(held)
    nodes = build_clusters({i for t in said for i in t}, said)
    of_node = {}
    for t in said:
        node = min((c for c in nodes if {t[0], t[1]} <= c), key=len)
        of_node.setdefault(node, []).append(held[t])
    return 1.0 - sum(sum(h) / len(h) for h in of_node.values()) / len(of_node)


def bihac(X, triplets, *, method="average", rate=5.0, r_max=50, r_ni=None, tol=1e-6, score="node", judged=None):
    """Figure 5. Returns the best merges, their weights, all errors, and the smallest lead of any choice.

    With ``judged`` the error is that on these triplets, which nothing is learned from.
    """
    w = np.ones(X.shape[1])
    best, best_w, best_error, errors, since, least = None, None, math.inf, [], 0, math.inf
    while True:
        current = w
        merges, cases, lead = cluster(X, triplets, current, method, legal=False)
        least = min(least, lead)
        w = adapt(X, cases, current, rate)
        errors.append(error(merges, triplets if judged is None else judged, score))
        since += 1
        if errors[-1] < best_error:
            best, best_w, best_error, since = merges, current, errors[-1], 0
        if np.abs(w - current).max() <= tol or len(errors) == r_max or (r_ni is not None and since >= r_ni):
            return best, best_w, errors, least


def failing(X, triplets, w):
    """The ordered comparisons (x, y, z) that do not hold: x should be more similar to y than to z."""
    both = [order for x, y, z in triplets for order in ((x, y, z), (y, x, z))]
    return [(x, y, z) for x, y, z in both if cosine(X[x], X[y], w) <= cosine(X[x], X[z], w)]


def before(X, triplets, *, rate, passes, judged=None, tol=1e-6):
    """Weights from comparisons of samples: one step along the mean gradient of those that fail, in every pass.

    Returns the weights with the fewest failing comparisons and the share that fails before every step.
    """
    w = np.ones(X.shape[1])
    best, least, shares = w, math.inf, []
    while True:
        asked = triplets if judged is None else judged
        shares.append(len(failing(X, asked, w)) / max(2 * len(asked), 1))
        if shares[-1] < least:
            best, least = w, shares[-1]
        wrong = failing(X, triplets, w)
        moved = w
        changes = [gradient(X[x], X[y], X[z], w) for x, y, z in wrong]
        changes = [change for change in changes if change is not None]
        if changes:
            change = np.mean(changes, axis=0)
            moved = np.maximum(w + rate * change, 0.0)
            moved = moved * (len(w) / moved.sum()) if moved.sum() > 0 else w
        if np.abs(moved - w).max() <= tol or len(shares) == passes:
            return best, shares
        w = moved
