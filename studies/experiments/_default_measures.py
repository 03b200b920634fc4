"""How good a result is: the one place where a study's default measures are named."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from linkwise import metrics
from linkwise.constraints import Constraints, Kind
from linkwise.datasets import Data
from linkwise.exceptions import LinkwiseWarning
from linkwise.result import Dendrogram

# data, labels, dendrogram (None where the engine gives none), constraints
Measure = Callable[[Data, Any, Dendrogram | None, Constraints], float]
NOTHING_TO_JUDGE = float("nan")


def default_measures() -> Mapping[str, Measure]:
    """The measures of a study that is given none."""
    return {
        "pairwise_f": _pairwise_f,
        "rand": _rand,
        "adjusted_rand": _adjusted_rand,
        "nmi": _nmi,
        "constrained_rand": _constrained_rand,
        "hierarchy_fscore": _hierarchy_fscore,
        "h_correlation": _h_correlation,
        "satisfaction": _satisfaction,
    }


def _pairwise_f(data: Data, labels: Any, _tree: Dendrogram | None, _said: Constraints) -> float:
    return metrics.pairwise_f(data.y, labels)


def _rand(data: Data, labels: Any, _tree: Dendrogram | None, _said: Constraints) -> float:
    return metrics.rand(data.y, labels)


def _adjusted_rand(data: Data, labels: Any, _tree: Dendrogram | None, _said: Constraints) -> float:
    return metrics.adjusted_rand(data.y, labels)


def _nmi(data: Data, labels: Any, _tree: Dendrogram | None, _said: Constraints) -> float:
    return metrics.nmi(data.y, labels)


def _constrained_rand(data: Data, labels: Any, _tree: Dendrogram | None, said: Constraints) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)  # no pair is left to judge: the record says so by having none
        return metrics.constrained_rand(data.y, labels, said)


def _hierarchy_fscore(data: Data, _labels: Any, tree: Dendrogram | None, _said: Constraints) -> float:
    return NOTHING_TO_JUDGE if tree is None else metrics.hierarchy_fscore(data.y, tree)


def _h_correlation(data: Data, _labels: Any, tree: Dendrogram | None, _said: Constraints) -> float:
    """Against the taxonomy of the data; without one there is no hierarchy to find."""
    if tree is None or data.taxonomy is None or not len(data.taxonomy.items):
        return NOTHING_TO_JUDGE
    return metrics.h_correlation(data.taxonomy, tree)


def _satisfaction(_data: Data, labels: Any, tree: Dendrogram | None, said: Constraints) -> float:
    """Share of the statements that hold: triplets in the tree, if there is one, all others in the labels."""
    triplet = said.kind == Kind.TRIPLET
    judged = [(said.select(~triplet), labels)]
    if tree is not None:
        judged.append((said.select(triplet), tree))
    judged = [(part, result) for part, result in judged if part.n_statements]
    n = sum(part.n_statements for part, _ in judged)
    held = sum(metrics.satisfaction(part, result)["all"] * part.n_statements for part, result in judged)
    return held / n if n else NOTHING_TO_JUDGE
