"""How good a result is: the one place where a study's default measures are named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from linkwise.constraints import Constraints, Kind
from linkwise.result import Dendrogram, verify

__all__ = ["Measure", "default_measures"]

# y_true, labels, dendrogram (None where the engine gives none), constraints
Measure = Callable[[Any, Any, Dendrogram | None, Constraints], float]


def default_measures() -> Mapping[str, Measure]:
    """The measures of a study that is given none."""
    return {
        "adjusted_rand": _adjusted_rand,
        "mutual_information": _mutual_information,
        "pairwise_f": _pairwise_f,
        "kept": _kept,
    }


def _adjusted_rand(y_true: Any, labels: Any, _tree: Dendrogram | None, _constraints: Constraints) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(y_true, labels))


def _mutual_information(y_true: Any, labels: Any, _tree: Dendrogram | None, _constraints: Constraints) -> float:
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(y_true, labels))


def _pairwise_f(y_true: Any, labels: Any, _tree: Dendrogram | None, _constraints: Constraints) -> float:
    """Harmonic mean of precision and recall over pairs that share a cluster; 1 when neither side joins any pair."""
    from sklearn.metrics.cluster import pair_confusion_matrix

    (_, joined), (split, both) = pair_confusion_matrix(y_true, labels)
    total = 2 * both + joined + split
    return float(2 * both / total) if total else 1.0


def _kept(_y: Any, labels: Any, tree: Dendrogram | None, constraints: Constraints) -> float:
    """Share of the pairs that hold in the labels and of the triplets that hold in the tree; NaN without either."""
    pairs = constraints.select((constraints.kind == Kind.MUST_LINK) | (constraints.kind == Kind.CANNOT_LINK))
    held = verify(labels, pairs.with_rules()).held
    if tree is not None:
        triplets = constraints.select(constraints.kind == Kind.TRIPLET)
        held = np.concatenate([held, verify(tree, triplets.with_rules()).held])
    return float(held.mean()) if len(held) else float("nan")
