"""How good a result is, beside how fast it came: labels against classes, statements kept."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise import Constraints, Dendrogram, metrics

Ints = npt.NDArray[np.intp]


def adjusted_rand(tree: Dendrogram, y: Ints) -> float:
    """Cut the tree into as many clusters as there are classes, or as few as it can, and compare: 1 is perfect."""
    return metrics.adjusted_rand(y, tree.cut(n_clusters=max(tree.n_roots, len(np.unique(y)))))


def share_held(tree: Dendrogram, constraints: Constraints) -> float:
    """Share of the statements that the tree keeps; 1 when nothing was said."""
    return metrics.satisfaction(constraints, tree)["all"] if constraints.n_statements else 1.0
