"""Triplets as arrays, the distances between the samples they name, and the base of estimators without a guarantee."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from linkwise._memory import require_memory
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Kind
from linkwise.engines import REPORTED, ConstrainedClusterer, Kept
from linkwise.engines.distances import (
    as_dense,
    metric_name,
    read_dissimilarities,
    read_vectors,
    scaled,
    square_distances,
)
from linkwise.engines.hierarchical import HierarchyMixin
from linkwise.problem import Problem
from linkwise.result import Dendrogram

_CHUNK = 1 << 16


class Triplets(NamedTuple):
    """The triplets ab|c, one array per place."""

    a: IntArray
    b: IntArray
    c: IntArray

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """Read the triplets of a problem."""
        columns = problem.constraints.of(Kind.TRIPLET).T
        return cls(*(np.ascontiguousarray(column, dtype=np.intp) for column in columns))


class Distances(NamedTuple):
    """Vectors with Euclidean distances, or a square of dissimilarities."""

    source: npt.NDArray[Any]
    metric: str  # "euclidean" or "precomputed"
    n_samples: int

    def between(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return distances of the pairs ``i[t], j[t]``; the two differ."""
        if self.metric == "euclidean":
            out = np.empty(len(i))
            vectors, factor = scaled(self.source, np.float64)
            for start in range(0, len(i), _CHUNK):
                part = slice(start, start + _CHUNK)
                gap = vectors[i[part]] - vectors[j[part]]
                out[part] = np.sqrt(np.einsum("ij,ij->i", gap, gap)) * factor
            return out
        found = self.source[i, j]
        found = np.asarray(found, dtype=np.float64)
        if not (np.isfinite(found).all() and (found >= 0).all()):
            read_dissimilarities(self.source)  # says which entry, and why
        return found

    def square(self) -> FloatArray:
        """Return a fresh square matrix of the distances; given ones are validated first."""
        n = self.n_samples
        require_memory(n * n * 8, f"a dense {n} x {n} distance matrix", "cluster a sample of the rows.")
        if self.metric == "euclidean":
            vectors, factor = scaled(self.source, np.float64)
            D = square_distances(vectors)
            return np.asarray(D if factor == 1.0 else D * factor, dtype=np.float64)
        return np.asarray(read_dissimilarities(self.source), dtype=np.float64)


def distances_of(problem: Problem) -> Distances:
    """Return the distances of a problem; metrics other than Euclidean are computed at once into a matrix."""
    return _compare(*as_dense(problem.X, problem.metric))


def read_distances(X: Any, metric: Any, *, who: str) -> Distances:
    """Read vectors or dissimilarities that were not validated yet, as `distances_of` does for others."""
    if metric_name(metric, who=who) != "precomputed":
        return _compare(read_vectors(X, who=who), metric)
    source = np.asarray(X)
    if source.ndim != 2 or source.shape[0] != source.shape[1]:
        source = read_dissimilarities(source, who=who)  # condensed, or an error
    return _compare(source, "precomputed")


def _compare(source: npt.NDArray[Any], metric: Any) -> Distances:
    name, n = metric_name(metric), len(source)
    if name in ("euclidean", "precomputed"):
        return Distances(source, name, n)
    require_memory(n * n * 8, f"a dense {n} x {n} distance matrix", "cluster a sample of the rows.")
    return Distances(square_distances(source, metric), "precomputed", n)


class _BestEffortTriplets(HierarchyMixin, ConstrainedClusterer):
    """Base of estimators that follow triplets without a guarantee: only contradictions are errors.

    Attributes
    ----------
    satisfied_ : float
        Share of the statements in force that the tree keeps, by the independent check; 1.0 when there are none.
    """

    understands: ClassVar[frozenset[Kind]] = frozenset({Kind.TRIPLET})
    best_effort: ClassVar[bool] = True

    _saved: ClassVar[dict[str, Kept]] = {"satisfied_": REPORTED}

    satisfied_: float

    def _judge(self, problem: Problem) -> None:
        problem.require_consistent()  # triplets alone leave every number of clusters possible

    def _keep(self, outcome: Dendrogram, problem: Problem) -> None:
        super()._keep(outcome, problem)
        held = self.certificate_.held
        self.satisfied_ = float(held.mean()) if len(held) else 1.0
