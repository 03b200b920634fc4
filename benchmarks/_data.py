"""Data and statements that the benchmarks share; every generator is seeded, so two runs see the same numbers."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from linkwise import Constraints, Dendrogram

Ints = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]

SETS = ["iris", "wine", "ionosphere", "glass", "breast", "vote"]
SETS += ["pima", "zoo", "soybean", "crabs", "digits_389", "letters_ijlt"]
NOMINAL = {"soybean"}  # numbers in the file, but codes for words
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def blobs(n: int, *, d: int = 16, classes: int = 20, spread: float = 3.0, seed: int = 0) -> tuple[Floats, Ints]:
    """Draw Gaussian classes of unit width.

    Class centers are Gaussian with standard deviation ``spread``: 3 keeps the classes apart, 1 lets them overlap,
    0.5 mixes them.
    """
    rng = np.random.default_rng(seed)
    centers = rng.normal(scale=spread, size=(classes, d))
    y = rng.integers(classes, size=n)
    X = rng.standard_normal((n, d))
    X += centers[y]
    return X, y


def overlapping(n: int, *, classes: int = 20, seed: int = 0) -> tuple[Floats, Ints]:
    """Draw Gaussian classes of standard deviation 8 in 16 dimensions, with centers in a box of side 20.

    A sample's neighbors are of any class, so that no part of the space can be left out of a search.
    """
    from sklearn.datasets import make_blobs

    X, y = make_blobs(n, 16, centers=classes, cluster_std=8.0, random_state=seed)
    return np.ascontiguousarray(X, dtype=np.float64), np.asarray(y, dtype=np.intp)


def digits(n: int | None = None) -> tuple[Floats, Ints]:
    """Load scikit-learn's handwritten digits (1797 x 64, 10 classes), or the first ``n`` of them."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return np.ascontiguousarray(X[:n], dtype=np.float64), np.asarray(y[:n], dtype=np.intp)


def distances(n: int, **options: float) -> tuple[Floats, Ints]:
    """Compute the matrix of distances between the samples of `blobs`."""
    from scipy.spatial.distance import cdist

    X, y = blobs(n, **options)  # type: ignore[arg-type]
    D = cdist(X, X)
    return (D + D.T) / 2, y


def catalogued(name: str, n: int | None = None) -> tuple[Floats, Ints]:
    """Load a data set of `linkwise.datasets` that lies in the folder LINKWISE_DATA names."""
    from linkwise.datasets import load

    data = load(name)
    return np.ascontiguousarray(data.X[:n], dtype=np.float64), np.asarray(data.y[:n], dtype=np.intp)


def prepare(name: str) -> tuple[Floats, Ints]:
    """Samples as every contender gets them, numbers without gaps on one scale, and their classes."""
    from linkwise.datasets import load

    data = load(name)
    words = np.zeros(data.X.shape[1], bool) if data.categorical is None else data.categorical
    columns = []
    for at, column in enumerate(np.asarray(data.X, dtype=float).T):
        there = column[~np.isnan(column)]
        levels = np.unique(there)
        if (words[at] or name in NOMINAL) and len(levels) > 2:
            columns += [np.where(column == level, 1.0, 0.0) for level in levels]
        elif len(levels) > 1:
            columns.append((np.where(np.isnan(column), there.mean(), column) - there.mean()) / there.std())
    return np.ascontiguousarray(np.column_stack(columns)), data.y


def _classmates(y: Ints, m: int, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """Draw m samples, for each another one of its class and one of any other class."""
    order = np.argsort(y, kind="stable")
    _, start, label, size = np.unique(y[order], return_index=True, return_inverse=True, return_counts=True)
    place = rng.choice(np.flatnonzero(size[label] > 1), size=m)  # positions in `order`
    first, count = start[label[place]], size[label[place]]
    mate = first + (place - first + 1 + rng.integers(count - 1)) % count
    stranger = rng.integers(len(y) - count)
    stranger += np.where(stranger >= first, count, 0)  # step over the class itself
    return order[place], order[mate], order[stranger]


def triplets_of_classes(y: Ints, m: int, *, seed: int = 1) -> Constraints:
    """State m triplets ab|c with a and b of one class and c of another; classes as subtrees display them all."""
    a, b, c = _classmates(y, m, np.random.default_rng(seed))
    return Constraints.build(len(y), triplets=np.column_stack([a, b, c]))


def links_of_classes(y: Ints, m: int, *, seed: int = 1) -> Constraints:
    """State m links that the classes obey, half of them must-links, half cannot-links."""
    a, b, c = _classmates(y, m, np.random.default_rng(seed))
    half = m // 2
    return Constraints.build(
        len(y),
        must_link=np.column_stack([a[:half], b[:half]]),
        cannot_link=np.column_stack([a[half:], c[half:]]),
    )


def cannot_links_of_classes(y: Ints, m: int, *, seed: int = 1) -> Constraints:
    """State m cannot-links between classes and nothing else: the harder case, as must-links leave less to merge."""
    a, _, c = _classmates(y, m, np.random.default_rng(seed))
    return Constraints.build(len(y), cannot_link=np.column_stack([a, c]))


def must_links_of_classes(y: Ints, m: int, *, seed: int = 1) -> Constraints:
    """State m must-links within classes, no two of them about the same sample, or as many as there can be."""
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    first = np.flatnonzero(np.diff(y[order], prepend=-1))
    place = np.arange(len(y)) - np.repeat(first, np.diff(first, append=len(y)))
    at = np.flatnonzero((place[:-1] % 2 == 0) & (np.diff(place) == 1))
    at = np.sort(np.random.default_rng(seed + 1).permutation(at)[:m])
    return Constraints.build(len(y), must_link=np.column_stack([order[at], order[at + 1]]))


def random_tree(n: int, *, seed: int = 2) -> Dendrogram:
    """Draw a binary tree by merging two random roots until one is left; it knows nothing of any data."""
    rng = np.random.default_rng(seed)
    draws = rng.random((n - 1, 2))
    roots = list(range(n))
    merges = []
    for t in range(n - 1):
        pair = []
        for draw in draws[t]:
            at = int(draw * len(roots))
            roots[at], roots[-1] = roots[-1], roots[at]
            pair.append(roots.pop())
        merges.append(pair)
        roots.append(n + t)
    return Dendrogram.from_merges(n, merges, np.arange(1.0, n))


def tree_of(n: int, parent: Ints) -> Dendrogram:
    """Give the nodes of a tree heights in the order of their numbers."""
    return Dendrogram(n, parent, np.maximum(np.arange(1.0 - n, len(parent) + 1 - n), 0))


SHAPES = ("random", "balanced", "caterpillar", "fans")


def tree_of_shape(n: int, shape: str, *, seed: int = 2) -> Dendrogram:
    """Make a tree over samples in random order: one of `SHAPES`, where fans have ten children each."""
    if shape == "random":
        return random_tree(n, seed=seed)
    roots = deque(np.random.default_rng(seed).permutation(n).tolist())
    parent = [-1] * n
    width = 10 if shape == "fans" else 2
    while len(roots) > 1:
        for _ in range(min(width, len(roots))):
            parent[roots.popleft()] = len(parent)
        # a caterpillar goes on with what it has just made, the others come back to it when all are through
        (roots.appendleft if shape == "caterpillar" else roots.append)(len(parent))
        parent.append(-1)
    return tree_of(n, np.array(parent))


def triplets_of_tree(tree: Dendrogram, m: int, *, seed: int = 3) -> Constraints:
    """State m triplets that a tree displays, about samples drawn evenly among those it tells apart."""
    rng = np.random.default_rng(seed)
    rows = [_said_by(tree, m, rng)]
    while (missing := m - sum(map(len, rows))) > 0:
        rows.append(_said_by(tree, 2 * missing, rng)[:missing])
    return Constraints.build(tree.n_samples, triplets=np.concatenate(rows))


def _said_by(tree: Dendrogram, draws: int, rng: np.random.Generator) -> Ints:
    """Draw trios and turn each as the tree displays it; those that meet in one node are left out."""
    n = tree.n_samples
    a = rng.integers(n, size=draws)
    b = (a + 1 + rng.integers(n - 1, size=draws)) % n
    c = rng.integers(n - 2, size=draws)
    for taken in (np.minimum(a, b), np.maximum(a, b)):
        c += c >= taken
    items = np.column_stack([a, b, c])
    # Nodes are numbered children first, so the lowest of the three meeting points has the smallest number.
    meetings = np.column_stack([tree.lca(b, c), tree.lca(a, c), tree.lca(a, b)])
    odd = meetings.argmin(axis=1)
    turned = (odd[:, None] + np.array([1, 2, 0])) % 3  # the odd one goes last
    resolved = meetings.min(axis=1) < meetings.max(axis=1)
    return np.take_along_axis(items, turned, axis=1)[resolved]


def chain(n: int, *, seed: int = 4) -> Ints:
    """State n - 2 triplets, in any order, that define a caterpillar: the longest tree from the fewest statements."""
    rng = np.random.default_rng(seed)
    i = np.arange(n - 2)
    partner = (rng.random(n - 2) * (i + 1)).astype(np.intp)  # any sample that is further down
    rows = np.column_stack([i + 1, partner, i + 2])
    return rng.permutation(n)[rows[rng.permutation(n - 2)]]


def statements(y: Ints, kind: str, m: int) -> Constraints:
    """State m ``"links"``, ``"must-links"``, ``"cannot-links"`` or ``"triplets"`` of classes, or of a random tree."""
    if m == 0:
        return Constraints.build(len(y))
    if kind == "links":
        return links_of_classes(y, m)
    if kind == "cannot-links":
        return cannot_links_of_classes(y, m)
    if kind == "must-links":
        return must_links_of_classes(y, m)
    if kind == "triplets":
        return triplets_of_classes(y, m)
    if kind == "tree":
        return triplets_of_tree(random_tree(len(y)), m)
    msg = f"statements are 'links', 'must-links', 'cannot-links', 'triplets' or of a 'tree', not {kind!r}."
    raise ValueError(msg)
