"""Scores of a clustering by the held-out statements it keeps, in which trivial clusterings do not win."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.result import Dendrogram, verify

# The rows of a tally: statements that put together, that keep apart, and triplets.
KINDS = ("must", "cannot", "triplets")
_SIDES = (
    (Kind.MUST_LINK, Kind.TOGETHER, Kind.MUST_LINK_ANY),
    (Kind.CANNOT_LINK, Kind.APART, Kind.CANNOT_LINK_ANY),
    (Kind.TRIPLET,),
)


def tally(labels: IntArray, tree: Dendrogram | None, test: Constraints) -> FloatArray:
    """Count the statements kept and all statements, ``float64[3, 2]``, a row for each of `KINDS`.

    Triplets are looked up in the tree if there is one, all others in the labels.
    """
    kept = verify(labels, test.with_rules()).held
    triplets = test.kind == Kind.TRIPLET
    if tree is not None and triplets.any():
        kept = kept.copy()
        kept[triplets] = tree.satisfies(test.select(triplets))
    counts = np.zeros((3, 2))
    for side, kinds in enumerate(_SIDES):
        mine = np.isin(test.kind, kinds)
        counts[side] = kept[mine].sum(), mine.sum()
    return counts


def _cells(counts: FloatArray) -> tuple[float, float, float, float]:
    """Pairs together and kept, together and broken, apart and broken, apart and kept."""
    (must, all_must), (cannot, all_cannot) = counts[:2].tolist()
    return must, all_must - must, all_cannot - cannot, cannot


def _balanced(counts: FloatArray) -> float:
    asked = counts[:2, 1] > 0
    return float((counts[:2, 0][asked] / counts[:2, 1][asked]).mean())


def _matthews(counts: FloatArray) -> float:
    a, b, c, d = _cells(counts)
    scale = np.sqrt((a + b) * (c + d) * (a + c) * (b + d))
    return float((a * d - b * c) / scale) if scale else 0.0


def _kappa(counts: FloatArray) -> float:
    a, b, c, d = _cells(counts)
    chance = (a + b) * (b + d) + (c + d) * (a + c)
    return float(2 * (a * d - b * c) / chance) if chance else 0.0


def _f(counts: FloatArray) -> float:
    a, b, c, _ = _cells(counts)
    return 2 * a / (2 * a + b + c) if a + b + c else 0.0


def _accuracy(counts: FloatArray) -> float:
    return float(counts[:2, 0].sum() / counts[:2, 1].sum())


SCORES: dict[str, Callable[[FloatArray], float]] = {
    "accuracy": _accuracy,
    "balanced": _balanced,
    "f": _f,
    "kappa": _kappa,
    "mcc": _matthews,
}


def score_of(scoring: str, counts: FloatArray) -> float:
    """Score counts; with links and triplets the mean of both scores, with neither nan."""
    parts = []
    if counts[:2, 1].any():
        parts.append(SCORES[scoring](counts))
    if counts[2, 1]:
        parts.append(float(counts[2, 0] / counts[2, 1]))
    return float(np.mean(parts)) if parts else float("nan")
