"""Starts of kernel k-means: must-linked neighborhoods, nodes far from each other, eigenvectors, or given labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.assignment import FreePlaces
from linkwise.engines.graph._embedding import start_vector
from linkwise.engines.graph._gram import Gram
from linkwise.engines.partitional import draw_rows, neighborhoods, run_lloyd, spread_centers
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem
from linkwise.problem.statements import Contracted

STARTS: tuple[str, ...] = ("auto", "neighborhoods", "k-means++", "spectral")
_FEW = 400
_NONE = np.empty(0, dtype=np.intp)


def read_start(start: Any, objective: str, n: int, k: int, who: str) -> Any:
    """Return the name of a way to start, "auto" resolved, or labels."""
    if isinstance(start, str):
        return ("neighborhoods" if objective == "hmrf" else "spectral") if start == "auto" else start
    labels = np.asarray(start)
    if labels.shape != (n,) or labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= k:
        msg = (
            f"{who}: the labels given as start have shape {labels.shape} and type {labels.dtype}, expected {n} whole "
            f"numbers from 0 to {k - 1}."
        )
        raise LinkwiseError(msg)
    return labels.astype(np.intp)


class KernelStart:
    """Draws labels to start from; ``start`` was read by `read_start`."""

    def __init__(self, start: Any, gram: Gram, problem: Problem, rng: np.random.Generator) -> None:
        self.gram, self.apart, self.k, self.rng = gram, problem.apart, problem.k, rng
        self._labels: IntArray | None = None
        self._rows: Any = None
        self._chosen = _NONE
        if not isinstance(start, str):
            self._labels = problem.reduce(start)
        elif start == "spectral":
            self._rows = _leading(gram, self.k)
        elif start == "neighborhoods":
            self._chosen = neighborhoods(problem.contract(np.zeros((problem.n_samples, 0))), self.k, self._gap)
        # whether the next labels would be others
        self.varies = self._labels is None and len(self._chosen) < self.k

    def labels(self) -> IntArray:
        """Return labels of the nodes."""
        if self._labels is not None:
            return self._labels
        if self._rows is None:
            return np.asarray(np.argmin(self.gram.squared(self._spread()), axis=1), dtype=np.intp)
        points = Contracted(self._rows, self.gram.mass, np.arange(self.gram.n), self.apart)
        centers = spread_centers(points, _NONE, self.k, self.rng)
        return run_lloyd(points, centers, FreePlaces(points), max_iter=100, tolerance=0.0).labels

    def _gap(self, nodes: IntArray, node: int) -> FloatArray:
        return np.asarray(np.sqrt(self.gram.squared(np.array([node]))[nodes, 0]))

    def _spread(self) -> IntArray:
        """Add nodes to the chosen ones by k-means++: far from all so far, best of a few draws."""
        chosen = self._chosen[: self.k].tolist()
        mass = self.gram.mass
        if not chosen:
            chosen.append(int(draw_rows(mass, 1, self.rng)[0]))
        near = self.gram.squared(np.array(chosen)).min(axis=1)
        while len(chosen) < self.k:
            tried = np.unique(draw_rows(mass * near, 2 + int(np.log(self.k)), self.rng))
            closer = np.minimum(self.gram.squared(tried), near[:, None])
            best = int(np.argmin(mass @ closer))
            near = closer[:, best]
            chosen.append(int(tried[best]))
        return np.array(chosen, dtype=np.intp)


def _leading(gram: Gram, k: int) -> FloatArray:
    """The relaxed criterion's best labeling: leading eigenvectors of the scaled table, over roots of the masses."""
    n = gram.n
    if n <= _FEW or k >= n // 3:
        vector = scipy.linalg.eigh(gram.scaled_dense(), subset_by_index=[max(0, n - k), n - 1])[1]
    else:
        try:
            # only a start: a few digits are enough, and the eigenvectors that have converged are used
            width = min(n - 1, max(4 * k, 40))
            vector = eigsh(gram.scaled(), k, which="LA", v0=start_vector(n), tol=1e-4, ncv=width)[1]
        except ArpackNoConvergence as part:
            vector = part.eigenvectors if part.eigenvectors.size else start_vector(n)[:, None]
    return np.ascontiguousarray(vector / np.sqrt(gram.mass)[:, None])
