"""A plain judge: it knows what statements mean and shares no code with linkwise."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import scipy.sparse as sp

__all__ = ["alike", "build_conflict", "dense", "holds", "pairs_conflict", "snapshot"]


def holds(kind, row, labels, parent):
    """Whether a statement holds in labels or, for a triplet, in a tree given by the parent of each node."""
    if kind in ("must_link", "together"):
        return len({labels[i] for i in row}) == 1
    if kind in ("cannot_link", "apart"):
        return len({labels[i] for i in row}) == len(set(row))
    a, b, c = row
    if parent is None:
        return labels[a] == labels[b] or labels[a] != labels[c] != labels[b]
    ab, ac, bc = (_shared(parent, *pair) for pair in ((a, b), (a, c), (b, c)))
    return ab > ac and ab > bc


def _shared(parent, a, b):
    """How many nodes two leaves have in common on their ways to the root."""
    above = set()
    while a >= 0:
        above.add(a)
        a = parent[a]
    count = 0
    while b >= 0:
        count += b in above
        b = parent[b]
    return count


def _find(root, v):
    while root[v] != v:
        v = root[v]
    return v


def pairs_conflict(rows, n, k=None):
    """Whether pairs and groups contradict each other or, if given, leave no way to form ``k`` clusters."""
    root = list(range(n))
    for kind, row in rows:
        if kind in ("must_link", "together"):
            for v in row[1:]:
                root[_find(root, v)] = _find(root, row[0])
    apart = [[_find(root, v) for v in set(row)] for kind, row in rows if kind in ("cannot_link", "apart")]
    if any(len(set(row)) < len(row) for row in apart):
        return True
    if k is None:
        return False
    return len({_find(root, v) for v in range(n)}) < k or not _colorable(apart, k)


def _colorable(groups, k):
    """Whether k colors are enough for the members of each group to differ, by trying."""
    beside = defaultdict(set)
    for group in groups:
        for v in group:
            beside[v] |= set(group) - {v}
    order = sorted(beside, key=lambda v: -len(beside[v]))
    color = {}

    def place(at):
        if at == len(order):
            return True
        v = order[at]
        taken = {color[u] for u in beside[v] if u in color}
        for c in range(min(k, len(set(color.values())) + 1)):  # an unused color is as good as another
            if c not in taken:
                color[v] = c
                if place(at + 1):
                    return True
                del color[v]
        return False

    return place(0)


def build_conflict(triplets, items):
    """Whether no tree shows all triplets: Aho's BUILD on sets."""
    items = set(items)
    if len(items) <= 2 or not triplets:
        return False
    root = {v: v for v in items}
    for a, b, _ in triplets:
        root[_find(root, a)] = _find(root, b)
    parts = defaultdict(set)
    for v in items:
        parts[_find(root, v)].add(v)
    if len(parts) == 1:
        return True
    return any(build_conflict([row for row in triplets if set(row) <= part], part) for part in parts.values())


def dense(X):
    """The numbers of any container as one array."""
    if sp.issparse(X):
        return X.toarray()
    return np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X)


def snapshot(X):
    """A copy of what a container holds, to be compared with `alike` later."""
    if sp.issparse(X):
        return [X.data.copy(), X.indices.copy(), X.indptr.copy()]
    return [np.array(dense(X), copy=True)]


def alike(before, after):
    """Whether two snapshots hold the same."""
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(before, after, strict=True))
