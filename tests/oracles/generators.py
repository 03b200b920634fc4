"""Random trees, the statements they display, and points that agree or quarrel with them; all from one seed."""

from __future__ import annotations

import numpy as np

SHAPES = ("random", "caterpillar", "balanced", "fans")
SOURCES = ("none", "one", "classes", *SHAPES, "complete")


def random_tree(rng, items, shape):
    """A nested list over the items in random order: binary unless ``shape`` is "fans"."""
    items = [int(x) for x in rng.permutation(items)]
    if shape == "caterpillar":
        tree = items[0]
        for x in items[1:]:
            tree = [tree, x]
        return tree
    forest = items
    while len(forest) > 1:
        if shape == "balanced":
            forest = [forest[i : i + 2] if i + 1 < len(forest) else forest[i] for i in range(0, len(forest), 2)]
            continue
        width = 2 if shape == "random" else int(rng.integers(2, min(len(forest), 5) + 1))
        order = rng.permutation(len(forest)).tolist()
        forest = [*(forest[i] for i in order[width:]), [forest[i] for i in order[:width]]]
    return forest[0]


def paths(tree):
    """For each item the nodes from the root down to it, numbered as met."""
    found, todo, met = {}, [(tree, ())], 0
    while todo:
        node, above = todo.pop()
        if isinstance(node, list):
            met += 1
            todo += [(child, (*above, met)) for child in node]
        else:
            found[node] = above
    return found


def shared(p, q):
    """How many nodes two paths share: the depth at which they part."""
    return next((d for d, (x, y) in enumerate(zip(p, q, strict=False)) if x != y), min(len(p), len(q)))


def resolve(path, trio):
    """The statement ab|c a tree makes about three items, or None when they meet in one node."""
    a, b, c = trio
    depth = {
        (a, b, c): shared(path[a], path[b]),
        (a, c, b): shared(path[a], path[c]),
        (b, c, a): shared(path[b], path[c]),
    }
    best = max(depth, key=depth.get)
    return best if depth[best] > min(depth.values()) else None


def tree_triplets(rng, tree, count):
    """Up to ``count`` distinct statements of a tree, close pairs in either order."""
    path = paths(tree)
    items = np.array(sorted(path))
    said = {}
    if len(items) < 3:
        return []
    for _ in range(4 * count):
        statement = resolve(path, rng.choice(items, size=3, replace=False).tolist())
        if statement is not None and len(said) < count:
            said[frozenset(statement[:2]), statement[2]] = statement
    return [(b, a, c) if rng.random() < 0.5 else (a, b, c) for a, b, c in said.values()]


def class_triplets(rng, labels, count):
    """Statements ab|c with a and b of one class and c of another, as in section 5.1 of Liu et al."""
    labels = np.asarray(labels)
    said = []
    for a in rng.integers(len(labels), size=4 * count).tolist():
        mine = np.flatnonzero((labels == labels[a]) & (np.arange(len(labels)) != a))
        others = np.flatnonzero(labels != labels[a])
        if len(mine) and len(others) and len(said) < count:
            said.append((a, int(rng.choice(mine)), int(rng.choice(others))))
    return said


def informative_triplets(labels):
    """GenerateConstraints of section 5.2 of Liu et al., from the second member on (erratum S0.7)."""
    labels = np.asarray(labels)
    members = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    return [(mine[0], x, other[0]) for mine in members for x in mine[1:] for other in members if other is not mine]


def consistent_triplets(rng, n, source=None):
    """Statements some tree displays: none, one, few or nearly all of one tree, sometimes about a part of the items."""
    source = str(rng.choice(SOURCES)) if source is None else source
    if source == "none" or n < 3:
        return []
    if source == "classes":
        return class_triplets(rng, rng.integers(int(rng.integers(2, 5)), size=n), int(rng.integers(1, 3 * n)))
    shape = source if source in SHAPES else str(rng.choice(SHAPES))
    involved = n if source == "complete" or rng.random() < 0.5 else int(rng.integers(3, n + 1))
    tree = random_tree(rng, rng.choice(n, size=involved, replace=False), shape)
    count = {"one": 1, "complete": 20 * n}.get(source, int(rng.integers(1, 3 * n)))
    return tree_triplets(rng, tree, count)


def flip(triplet, rng):
    """The same trio with another odd one out."""
    a, b, c = triplet
    return (a, c, b) if rng.random() < 0.5 else (c, b, a)


def flipped_triplets(rng, n, share=0.2):
    """Consistent statements of which some are turned wrong; and the positions of these. Not always a contradiction."""
    said = consistent_triplets(rng, n, str(rng.choice(SHAPES)))
    wrong = [t for t in range(len(said)) if rng.random() < share]
    return [flip(s, rng) if t in wrong else s for t, s in enumerate(said)], wrong


def noise_triplets(rng, n, count):
    """Statements with no tree behind them."""
    return [tuple(rng.choice(n, size=3, replace=False).tolist()) for _ in range(count if n >= 3 else 0)]


def points(rng, n, kind="distinct"):
    """Vectors without ties ("distinct": noise, blobs, or stretched along a line) or with many ("grid", "copies")."""
    d = int(rng.integers(1, 7))
    if kind == "grid":
        return rng.integers(0, 4, size=(n, d)).astype(float)
    if kind == "copies":
        return rng.normal(size=(max(n // 3, 1), d))[rng.integers(max(n // 3, 1), size=n)]
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4)
    if rng.random() < 0.3:
        X += 5 * np.abs(X).max(initial=1.0) * rng.normal(size=(3, d))[rng.integers(3, size=n)]
    if rng.random() < 0.2:
        X[:, 0] *= 100
    return X


def quarrelling_distances(rng, n, triplets):
    """Distances that want the opposite of each statement: a and b far apart, c close to both."""
    D = rng.random((n, n)) + 1.0
    for a, b, c in triplets:
        D[a, b] = D[b, a] = 5 + rng.random()
        D[a, c], D[b, c] = rng.random(2) / 10
        D[c, a], D[c, b] = D[a, c], D[b, c]
    D = np.triu(D, 1)
    return D + D.T


def relative_instance(seed, low=2, high=16, *, kind="distinct", source=None):
    """Points and consistent statements about them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(low, high + 1))
    X = points(rng, n, kind)
    return X, consistent_triplets(rng, n, source)
