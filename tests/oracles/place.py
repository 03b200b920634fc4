"""Where a new sample belongs, from the definition: try every cluster at every height."""

from __future__ import annotations

import numpy as np


def members(tree):
    below = [{v} if v < tree.n_samples else set() for v in range(tree.n_nodes)]
    for v, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            below[above] |= below[v]
    return [sorted(s) for s in below]


def middle(tree, X, v):
    """Center of a cluster in median linkage."""
    parts = [u for u in range(tree.n_nodes) if tree.parent[u] == v]
    return X[v] if not parts else np.mean([middle(tree, X, u) for u in parts], axis=0)


def weighted(tree, far, v):
    parts = [u for u in range(tree.n_nodes) if tree.parent[u] == v]
    return far[v] if not parts else np.mean([weighted(tree, far, u) for u in parts])


def distance(tree, X, x, v, inside, linkage):
    far = np.sqrt(((X - x) ** 2).sum(axis=1))
    if linkage in ("ward", "centroid"):
        gap = np.sqrt(((X[inside].mean(axis=0) - x) ** 2).sum())
        return gap * np.sqrt(2 * len(inside) / (1 + len(inside))) if linkage == "ward" else gap
    if linkage == "median":
        return np.sqrt(((middle(tree, X, v) - x) ** 2).sum())
    if linkage == "weighted":
        return weighted(tree, far, v)
    return {"single": np.min, "complete": np.max, "average": np.mean}[linkage](far[inside])


def place_by_definition(tree, labels, X, new, linkage):
    below = members(tree)
    pure = [len(set(labels[b].tolist())) == 1 for b in below]
    nodes, heights, found = [], [], []
    for x in new:
        joined = []
        for v in range(tree.n_nodes):
            if not pure[v]:
                continue
            above = tree.parent[v]
            end = tree.height[above] if above >= 0 and pure[above] else np.inf
            gap = distance(tree, X, x, v, below[v], linkage)
            if gap <= end:
                joined.append((max(gap, tree.height[v]), v))
        height, v = min(joined)
        nodes.append(v)
        heights.append(height)
        found.append(labels[below[v][0]])
    return np.array(nodes), np.array(heights), np.array(found)
