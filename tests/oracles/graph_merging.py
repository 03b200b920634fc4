"""Merging along the edges of a graph, word for word: all edges are evaluated again after every merge."""

from __future__ import annotations

from typing import Any

import numpy as np


def ward(X: Any, a: Any, b: Any) -> float:
    """Ward's distance of two sets of samples."""
    a, b = sorted(a), sorted(b)
    gap = X[a].mean(axis=0) - X[b].mean(axis=0)
    return float(np.sqrt(2 * len(a) * len(b) / (len(a) + len(b)) * (gap @ gap)))


def merge(X: Any, items: Any, classes: Any, anchors: Any, edges: Any, known: Any, target: int) -> Any:
    """Merges as pairs of sets with their heights, until ``target`` clusters or no edge is left, and those refused.

    ``items`` are sets of samples, ``classes`` the class of each, ``anchors`` the samples that triplets name, ``edges``
    pairs of items, ``known`` pairs and groups of samples that are apart.
    """
    clusters = {i: frozenset(item) for i, item in enumerate(items)}
    of = {i: frozenset([c]) for i, c in enumerate(classes)}  # classes that were united with that of the cluster
    samples_of = {
        c: frozenset(s for i, item in enumerate(items) if classes[i] == c for s in item) for c in set(classes)
    }
    joined = {frozenset(edge) for edge in edges}
    merges, refused = [], 0
    while len(clusters) > target and joined:
        edge = min(joined, key=lambda pair: ward(X, *(clusters[i] for i in pair)))
        a, b = sorted(edge)
        if _forbidden(clusters[a], clusters[b], of[a], of[b], samples_of, anchors, known):
            joined.remove(edge)
            refused += 1
            continue
        merges.append((clusters[a], clusters[b], ward(X, clusters[a], clusters[b])))
        clusters[a] |= clusters.pop(b)
        union = of[a] | of.pop(b)
        of[a] = union
        of = {i: own | union if own & union else own for i, own in of.items()}  # a shared class shares the union
        joined = {frozenset(a if i == b else i for i in pair) for pair in joined}
        joined = {pair for pair in joined if len(pair) == 2}
    return merges, set(clusters.values()), refused


def _forbidden(a: Any, b: Any, one: Any, two: Any, samples_of: Any, anchors: Any, known: Any) -> bool:
    if a & anchors and b & anchors:
        return True
    if one & two:
        return False
    left = frozenset().union(*(samples_of[c] for c in one))
    right = frozenset().union(*(samples_of[c] for c in two))
    if left & anchors and right & anchors:
        return True
    return any(set(group) & left and set(group) & right for group in known)
