"""`Runner`: one clustering run under given weights, from rows and triplets to a tree, its error and new weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse

from linkwise._memory import require_memory
from linkwise._typing import FloatArray
from linkwise.engines import current_progress
from linkwise.engines.hierarchical.biased import _kernels as kernels
from linkwise.engines.hierarchical.biased._broken_triplets import open_triples, read_triples
from linkwise.problem import Problem
from linkwise.result import Dendrogram

IntArray = npt.NDArray[np.int64]

METHODS = {"average": kernels.AVERAGE, "centroid": kernels.CENTROID}
_WORK = 200_000_000  # entries looked at between two looks at the keyboard


class Tree(NamedTuple):
    """Merges of one run."""

    pairs: IntArray
    similarity: FloatArray
    broken: IntArray
    events: IntArray
    error: float


class Runner:
    """Rows and triplets made ready for any number of runs."""

    def __init__(self, problem: Problem, *, method: str, error_weights: str) -> None:
        self._ids = problem.constraints.ids
        self.n, self.d = problem.X.shape
        self._method = METHODS[method]
        self._rows = _vectors(problem.X)
        self._triples = read_triples(problem.constraints, nodes=error_weights == "node")
        k = len(self._triples.sample)
        require_memory(
            8 * self.n * self.n + 20 * k * k,
            f"{problem.who} with a dense {self.n} x {self.n} matrix of similarities",
            "cluster a sample of the rows.",
        )
        self._total = np.empty((self.n, self.n))

    def start_weights(self, weights: FloatArray | None) -> FloatArray:
        """Return ones, or a copy of the weights given, scaled to meet conditions (3)."""
        if weights is None:
            return np.ones(self.d)
        given = np.array(weights, dtype=np.float64)
        total = float(given.sum())
        return given if np.isclose(total, self.d, rtol=1e-9) else given * (self.d / total)

    def run(self, weights: FloatArray, mode: int, before: int = 0, at_most: int = 1) -> Tree:
        """Merge everything; progress is reported as that of run number ``before`` of ``at_most``."""
        n, live, callback = self.n, open_triples(self._triples), current_progress()
        merging = self._begin(weights)
        chunk = max(100, _WORK // (3 * n))
        for begin in range(0, n - 1, chunk):
            end = min(begin + chunk, n - 1)
            kernels.advance(merging, self._triples, live, self._method, mode, begin, end)
            if callback is not None:
                callback(before * (n - 1) + end, at_most * (n - 1))
        share = live.found / self._triples.total
        return Tree(
            merging.pairs,
            merging.similarity,
            merging.broken,
            merging.events[: merging.n_events[0]],
            1.0 - float(share.mean()) if len(share) else 0.0,
        )

    def adapt(self, tree: Tree, weights: FloatArray, rate: float) -> tuple[FloatArray, int]:
        """The weights after a run that was made with ``weights``, and how many steps led there."""
        changed = weights.copy()
        return changed, int(kernels.adapt(self._rows, tree.pairs, tree.events, changed, rate))

    def dendrogram(self, tree: Tree) -> Dendrogram:
        """The tree, with one minus the similarity as height."""
        height = np.maximum(1.0 - tree.similarity, 0.0)
        return Dendrogram.from_merges(self.n, tree.pairs, height, ids=self._ids)

    def _begin(self, weights: FloatArray) -> kernels.Merging:
        n, rows, total = self.n, self._rows, self._total
        if len(rows.dense):
            scaled = rows.dense * np.sqrt(weights)
            np.matmul(scaled, scaled.T, out=total)
        else:
            kernels.products(rows.start, rows.column, rows.value, weights, total)
        inverse = np.ones(n)
        if self._method == kernels.AVERAGE:
            kernels.cosines(total)
        else:
            norm = np.sqrt(np.maximum(np.diag(total), 0.0))
            inverse = np.divide(1.0, norm, out=np.zeros(n), where=norm > 0)
        item = np.full(n, -1, dtype=np.int64)
        item[self._triples.sample] = np.arange(len(self._triples.sample))
        return kernels.Merging(
            total=total,
            inverse=inverse,
            size=np.ones(n, dtype=np.int64),
            node=np.arange(n, dtype=np.int64),
            item=item,
            spoiled=np.zeros(n, dtype=np.bool_),
            alive=np.arange(n, dtype=np.int64),
            best=np.zeros(n),
            partner=np.full(n, -1, dtype=np.int64),
            pairs=np.zeros((n - 1, 2), dtype=np.int64),
            similarity=np.zeros(n - 1),
            broken=np.zeros(n - 1, dtype=np.int64),
            events=np.zeros((n - 1, 4), dtype=np.int64),
            n_events=np.zeros(1, dtype=np.int64),
        )


def _vectors(X: Any) -> kernels.Vectors:
    """Copy the rows, scaled by a power of two so that no square of a common size is lost; cosines do not change."""
    compressed = scipy.sparse.issparse(X)
    given: Any = scipy.sparse.csr_array(X, copy=True) if compressed else np.asarray(X)
    if compressed:
        given.sum_duplicates()
    values = np.array(given.data if compressed else given, dtype=np.float64, order="C")
    largest = float(np.abs(values).max(initial=0.0))
    values = np.ldexp(values, -int(np.frexp(largest)[1]))
    none, no_index = np.zeros(0), np.zeros(0, dtype=np.int64)
    if not compressed:
        return kernels.Vectors(values, no_index, no_index, none)
    start, column = given.indptr.astype(np.int64), given.indices.astype(np.int64)
    return kernels.Vectors(np.zeros((0, 0)), start, column, values)
