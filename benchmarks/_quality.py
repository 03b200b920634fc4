"""How good a result is, beside how fast it came: labels against classes, a tree against classes, statements kept."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise import Constraints, Dendrogram

Ints = npt.NDArray[np.intp]


def adjusted_rand(tree: Dendrogram, y: Ints) -> float:
    """Cut the tree into as many clusters as there are classes, or as few as it can, and compare: 1 is perfect."""
    from sklearn.metrics import adjusted_rand_score

    labels = tree.cut(n_clusters=max(tree.n_roots, len(np.unique(y))))
    return float(adjusted_rand_score(y, labels))


def share_held(tree: Dendrogram, constraints: Constraints) -> float:
    """Share of the statements that the tree keeps; 1 when nothing was said."""
    held = tree.satisfies(constraints)
    return float(held.mean()) if len(held) else 1.0


def tree_fscore(tree: Dendrogram, y: Ints) -> float:
    """Best F-measure of any subtree for each class, averaged over classes by size: needs no cut, 1 is perfect."""
    labels, codes = np.unique(y, return_inverse=True)
    inside = np.zeros((tree.n_nodes, len(labels)))
    inside[np.arange(tree.n_samples), codes] = 1
    for node, above in enumerate(tree.parent.tolist()):  # children come before parents
        if above >= 0:
            inside[above] += inside[node]
    size = np.bincount(codes)
    best = (2 * inside / (tree.leaf_count[:, None] + size)).max(axis=0)
    return float(best @ size / size.sum())
