"""What the methods of this folder share: triplets as wishes, the distances they speak about, and a fit that tells."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._memory import require_memory
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.engines import REPORTED, ConstrainedClusterer, Kept
from linkwise.engines.distances import metric_name, read_dissimilarities, read_vectors, scaled, square_distances
from linkwise.engines.hierarchical import HierarchyMixin, mark
from linkwise.exceptions import ConstraintError
from linkwise.problem import check
from linkwise.result import Dendrogram

_CHUNK = 1 << 16


class Wishes(NamedTuple):
    """The triplets ab|c, one array per place."""

    a: IntArray
    b: IntArray
    c: IntArray


def read_wishes(constraints: Constraints, n_samples: int, *, who: str) -> Wishes:
    """Return the triplets; raise when they contradict each other or speak about other samples."""
    if constraints.n_samples != n_samples:
        msg = (
            f"{who}: constraints speak about {constraints.n_samples} samples, but X has {n_samples} rows.\n"
            "Hint: constraints hold row positions in X; take the same rows of both, as in X[rows], constraints[rows]."
        )
        raise ConstraintError(msg)
    check(constraints).raise_if_infeasible()
    a, b, c = (np.ascontiguousarray(column, dtype=np.intp) for column in constraints.of(Kind.TRIPLET).T)
    return Wishes(a, b, c)


class Distances(NamedTuple):
    """Vectors with Euclidean distances, or a square of dissimilarities."""

    source: npt.NDArray[Any]
    metric: str  # "euclidean" or "precomputed"
    n_samples: int

    def between(self, i: IntArray, j: IntArray) -> FloatArray:
        """Distances of the pairs ``i[t], j[t]``; the two differ."""
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
        """A fresh square matrix of the distances; given ones are looked at first."""
        n = self.n_samples
        require_memory(n * n * 8, f"a dense {n} x {n} distance matrix", "cluster a sample of the rows.")
        if self.metric == "euclidean":
            vectors, factor = scaled(self.source, np.float64)
            D = square_distances(vectors)
            return np.asarray(D if factor == 1.0 else D * factor, dtype=np.float64)
        return np.asarray(read_dissimilarities(self.source), dtype=np.float64)


def read_distances(X: Any, metric: Any, *, who: str) -> Distances:
    """Read vectors or dissimilarities; metrics other than Euclidean are computed at once into a matrix."""
    name = metric_name(metric, who=who)
    if name == "precomputed":
        source = np.asarray(X)
        if source.ndim != 2 or source.shape[0] != source.shape[1]:
            source = read_dissimilarities(source, who=who)  # condensed, or an error
        return Distances(source, name, len(source))
    vectors = read_vectors(X, who=who)
    n = len(vectors)
    if name == "euclidean":
        return Distances(vectors, name, n)
    require_memory(n * n * 8, f"a dense {n} x {n} distance matrix", "cluster a sample of the rows.")
    return Distances(square_distances(vectors, metric), "precomputed", n)


class _TripletWishes(HierarchyMixin, ConstrainedClusterer):
    """Base of estimators that take triplets as wishes: contradictions are errors, broken wishes are told."""

    understands: ClassVar[frozenset[Kind]] = frozenset({Kind.TRIPLET})
    best_effort: ClassVar[bool] = True
    _explains_itself: ClassVar[bool] = True

    _saved: ClassVar[dict[str, Kept]] = {"satisfied_": REPORTED}

    satisfied_: float

    def _keep(self, outcome: Dendrogram, samples: Any, constraints: Constraints) -> None:
        labels = self._cut(outcome, constraints)
        tree = mark(outcome, labels)
        self._keep_tree(tree, labels, self._certify(tree, constraints, samples), samples)
        held = self.certificate_.held
        self.satisfied_ = float(held.mean()) if len(held) else 1.0
