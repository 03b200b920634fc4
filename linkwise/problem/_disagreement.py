"""Who is to be doubted first: the statement the data contradict most, then the lighter, then the newer one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from linkwise.constraints import Constraints, Kind

__all__ = ["Doubt", "rank_among"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]
_REFERENCE = 256  # samples whose distances tell what is far and what is near
_AT_ONCE = 256
_MEMBERS = 128


@dataclass(frozen=True, eq=False)
class Doubt:
    """Sorts statements, the most suspicious first.

    Parameters
    ----------
    constraints : Constraints
    X : array-like, optional
        The data; without them weight and age decide.
    metric : str, default="euclidean"
        How distances follow from X; ``"precomputed"`` if X holds them.
    """

    constraints: Constraints
    X: Any = None
    metric: str = "euclidean"

    def __call__(self, statements: IntArray) -> IntArray:
        """Sort statements: disagreement with the data falling, weight rising, newest first; no rule's additions."""
        statements = statements[statements < self.constraints.n_statements]
        row, weight = self.constraints.row[statements], self.constraints.weight[statements]
        doubt = -self.score(statements)
        return np.asarray(statements[np.lexsort((-row, weight, doubt))], dtype=np.intp)

    def score(self, statements: IntArray) -> FloatArray:
        """How much the data contradict each statement, 0 to 1; 0 without data.

        Distances count by their rank among those of samples drawn at random, so no unit matters. A must-link is
        doubted for a large distance, a cannot-link for a small one, ab|c when d(a, b) ranks above the smaller of
        d(a, c) and d(b, c); a group by its worst pair, a choice by its best.
        """
        score = np.zeros(len(statements))
        if self.X is None or not len(statements):
            return score
        reference = self.reference()
        kind = self.constraints.kind[statements]
        plain = np.flatnonzero(np.isin(kind, (Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TRIPLET)))
        for start in range(0, len(plain), _AT_ONCE):
            at = plain[start : start + _AT_ONCE]
            score[at] = self._plain(statements[at], reference)
        grouped = np.isin(kind, (Kind.TOGETHER, Kind.APART, Kind.MUST_LINK_ANY, Kind.CANNOT_LINK_ANY))
        for g in np.flatnonzero(grouped):
            score[g] = self._group(int(statements[g]), Kind(int(kind[g])), reference)
        return score

    def reference(self) -> FloatArray:
        """Distances between samples drawn at random, rising."""
        some = self._distances(np.random.default_rng(0).permutation(self.constraints.n_samples)[:_REFERENCE])
        return np.sort(some[np.triu_indices(len(some), 1)])

    def _plain(self, statements: IntArray, reference: FloatArray) -> FloatArray:
        items, kind = self.constraints.items[statements], self.constraints.kind[statements]
        samples, small = np.unique(items, return_inverse=True)
        padded = int(samples[0] < 0)
        a, b, c = small.reshape(-1, 3).T - padded
        rank = rank_among(self._distances(samples[padded:]), reference)
        close = rank[a, b]
        score = np.where(kind == Kind.MUST_LINK, close, 1 - close)
        triplet = kind == Kind.TRIPLET
        far = np.minimum(rank[a, c], rank[b, c])
        score[triplet] = (1 + close[triplet] - far[triplet]) / 2
        return np.asarray(score, dtype=np.float64)

    def _group(self, statement: int, kind: Kind, reference: FloatArray) -> float:
        groups = self.constraints.groups
        members = groups.of(int(np.searchsorted(groups.statement, statement)))[:_MEMBERS]
        rank = rank_among(self._distances(members), reference)
        if kind is Kind.TOGETHER:
            return float(rank[np.triu_indices(len(members), 1)].max())
        if kind is Kind.APART:
            return 1 - float(rank[np.triu_indices(len(members), 1)].min())
        return float(rank[0, 1:].min()) if kind is Kind.MUST_LINK_ANY else 1 - float(rank[0, 1:].max())

    def _distances(self, samples: IntArray) -> FloatArray:
        X = self.X
        if self.metric == "precomputed":
            return np.asarray(np.asarray(X)[np.ix_(samples, samples)], dtype=np.float64)
        rows = X.tocsr()[samples].toarray() if hasattr(X, "tocsr") else np.asarray(X)[samples]
        rows = np.asarray(rows, dtype=np.float64)
        metric = {"l2": "euclidean", "manhattan": "cityblock", "l1": "cityblock"}.get(self.metric, self.metric)
        return np.asarray(cdist(rows, rows, metric=metric), dtype=np.float64)


def rank_among(distance: FloatArray, reference: FloatArray) -> FloatArray:
    """The share of the reference that is smaller, ties counted half."""
    both = np.searchsorted(reference, distance, "left") + np.searchsorted(reference, distance, "right")
    return np.asarray(both / (2 * max(len(reference), 1)), dtype=np.float64)
