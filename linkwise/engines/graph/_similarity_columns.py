"""`Field`: similarities of samples, column by column: along a graph of near neighbors, in the features, and whitened.

A field is the covariance of a Gaussian field: values that vary slowly along a graph of near neighbors, plus values that
vary slowly in the space of the features, as they are and after whitening. No table of all pairs is made; columns are
computed for the samples that are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import cg, splu
from sklearn.preprocessing import normalize

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.distances import squared

LEAK = 1e-3  # how fast similarity fades along the graph; small, so that it follows the bends of a cluster
REACH = 7  # the neighbor whose distance is the scale around a sample, as in self-tuning affinities
FAINT = 1e-6  # least affinity of neighbors, so that the graph falls apart only where neighbors end
FLAT = 1e-2  # directions with a spread less than this share of the largest are noise, and not whitened
PROBES = 32  # random vectors that estimate the mean of a diagonal
LANDMARKS = 200  # samples whose columns give coordinates of all
SAMPLE = 500  # rows that a typical distance is read off
DIRECT = 20_000  # samples up to which equations are factorized once; beyond, each is solved by iteration
MANY_ROWS = 4  # samples per feature that whitening needs
FEATURES = 200  # more are not whitened: it would cost too much, and gain little
SAME = 1e-6  # a new row as near as this to a sample, in units of the scale there, is that sample


@dataclass(frozen=True, eq=False)
class Reach:
    """Values of a field as a function of new rows: nothing but numbers and arrays, so that models can be saved."""

    rows: Any  # the samples, of length 1 if ``cosine``
    scale: FloatArray  # the distance around each sample that counts as near
    n_neighbors: int  # samples that a new row looks at
    cosine: bool  # whether rows count by direction only
    middle: FloatArray | None  # with ``axes``, how rows are whitened, where they are
    axes: FloatArray | None
    widths: tuple[float, ...]  # squared distance of each space, plain and whitened, at which similarity has faded
    spots: tuple[Any, ...]  # the seeds in each space
    weights: FloatArray  # coefficients of the seeds, of shape (n_seeds, k)
    along: FloatArray  # their sum along the graph, of shape (n_samples, k)

    def claims(self, new: Any) -> FloatArray:
        """Return the values of new rows, an array of shape (n_new, k)."""
        rows = normalize(new) if self.cosine else new
        spaces = [rows]
        if self.axes is not None and self.middle is not None:
            spaces.append((_dense(rows) - self.middle) @ self.axes)
        distance, near = _nearest(self.rows, rows, min(self.n_neighbors, len(self.scale)))
        own = np.maximum(distance[:, [min(REACH, distance.shape[1]) - 1]], self.scale.min())
        weight = np.exp(-(distance**2) / (own * self.scale[near])) + FAINT
        weight = np.where(
            distance[:, :1] <= SAME * self.scale[near[:, :1]], [1.0] + [0.0] * (near.shape[1] - 1), weight
        )
        total = np.einsum("ij,ijk->ik", weight / weight.sum(axis=1, keepdims=True), self.along[near])
        for space, spots, width in zip(spaces, self.spots, self.widths, strict=True):
            total += _fading(_gaps(space, spots), width) @ self.weights
        return np.asarray(total / (1 + len(spaces)))


class Field:
    """Covariances between samples, mean of the parts that apply; each part has 1 as its mean variance.

    ``n_neighbors`` is the number of neighbors of each sample in the graph; ``cosine`` compares directions of rows only.
    """

    def __init__(self, X: Any, n_neighbors: int = 10, *, cosine: bool = False) -> None:
        rows = normalize(X) if cosine else X
        self.n_samples, self.n_neighbors, self._cosine = int(rows.shape[0]), n_neighbors, cosine
        self._spaces = [rows]
        self._whiten: tuple[FloatArray, FloatArray] | None = None
        if rows.shape[1] <= min(FEATURES, self.n_samples / MANY_ROWS):
            plain = _dense(rows)
            middle = plain.mean(axis=0)
            _, spread, axes = np.linalg.svd(plain - middle, full_matrices=False)
            kept = spread > FLAT * spread[0]
            if kept.any():
                self._whiten = middle, axes[kept].T * (np.sqrt(len(plain)) / spread[kept])
                self._spaces.append((plain - middle) @ self._whiten[1])
        self._widths = [_width(space) for space in self._spaces]
        self._graph, self._scale = _graph(rows, n_neighbors)
        self._factor: Any = None
        probe = np.where(np.random.default_rng(0).random((self.n_samples, PROBES)) < 0.5, -1.0, 1.0)
        self._variance = float((probe * self._solve(probe)).sum() / probe.size)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_factor": None}  # a factorization cannot be saved, and is made again when needed

    @property
    def n_parts(self) -> int:
        """The graph and the spaces."""
        return 1 + len(self._spaces)

    def columns(self, samples: IntArray, along: FloatArray | None = None) -> FloatArray:
        """Covariances of all samples with some, an array of shape (n_samples, len(samples)).

        ``along`` is the result of `along_graph`, if it was computed before.
        """
        total = self.along_graph(samples) if along is None else along.copy()
        for space, width in zip(self._spaces, self._widths, strict=True):
            total += _fading(_gaps(space, space[samples]), width)
        return total / self.n_parts

    def along_graph(self, samples: IntArray) -> FloatArray:
        """The part of the covariances that follows the graph, not yet divided by the number of parts."""
        unit = np.zeros((self.n_samples, len(samples)))
        unit[samples, np.arange(len(samples))] = 1.0
        return self._solve(unit) / self._variance

    def coordinates(self, n_axes: int) -> FloatArray:
        """Rows whose products are about the correlations of the field: its leading axes, read off some columns."""
        some = np.unique(np.linspace(0, self.n_samples - 1, min(self.n_samples, LANDMARKS)).astype(np.intp))
        columns = self.columns(some)
        spread, axes = np.linalg.eigh(columns[some])
        kept = spread > FAINT * spread[-1]
        rows = columns @ (axes[:, kept] / np.sqrt(spread[kept]))
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(float).tiny)
        left, spread, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        return np.ascontiguousarray(left[:, :n_axes] * spread[:n_axes])

    def reach(self, samples: IntArray, coefficients: FloatArray, graph_values: FloatArray) -> Reach:
        """Return the function that extends values to new rows; ``graph_values`` sums columns along the graph."""
        middle, axes = (None, None) if self._whiten is None else self._whiten
        return Reach(
            self._spaces[0],
            self._scale,
            self.n_neighbors,
            self._cosine,
            middle,
            axes,
            tuple(self._widths),
            tuple(space[samples] for space in self._spaces),
            coefficients,
            graph_values,
        )

    def _solve(self, right: FloatArray) -> FloatArray:
        if self._factor is None and self.n_samples <= DIRECT:
            self._factor = splu(self._graph, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        if self._factor is not None:
            return np.asarray(self._factor.solve(right))
        return np.column_stack([cg(self._graph, column, rtol=1e-6)[0] for column in right.T])


def _graph(rows: Any, n_neighbors: int) -> tuple[Any, FloatArray]:
    """Normalized Laplacian plus the leak, of affinities scaled by local distances; and the scale of each sample."""
    n = rows.shape[0]
    count = min(n_neighbors, n - 1)
    if count < 1:
        return scipy.sparse.csc_array((1.0 + LEAK) * scipy.sparse.eye_array(n)), np.ones(n)
    distance, near = _nearest(rows, None, count)
    scale = distance[:, min(REACH, count) - 1].copy()
    typical = float(scale.mean()) or 1.0
    scale = np.maximum(scale, 1e-3 * typical)
    weight = np.exp(-(distance**2) / (scale[:, None] * scale[near])) + FAINT
    one_way = scipy.sparse.csr_array((weight.ravel(), near.ravel(), np.arange(0, n * count + 1, count)), shape=(n, n))
    both = scipy.sparse.csr_array(one_way.maximum(one_way.T))
    root = scipy.sparse.diags_array(1.0 / np.sqrt(np.asarray(both.sum(axis=1)).ravel()))
    return scipy.sparse.csc_array((1.0 + LEAK) * scipy.sparse.eye_array(n) - root @ both @ root), scale


def _nearest(rows: Any, new: Any, count: int) -> tuple[FloatArray, IntArray]:
    """Distances to and numbers of the nearest rows; those of the rows themselves, each but itself, without ``new``."""
    from sklearn.neighbors import NearestNeighbors

    distance, near = NearestNeighbors(n_neighbors=count).fit(rows).kneighbors(new)
    return np.asarray(distance), np.asarray(near, dtype=np.intp)


def _width(rows: Any) -> float:
    """The median squared distance, of rows spread evenly over all."""
    n = rows.shape[0]
    some = rows[np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.intp))]
    apart = _gaps(some, some)[np.triu_indices(some.shape[0], 1)]
    apart = apart[apart > 0]
    return float(np.median(apart)) if len(apart) else 1.0


def _fading(gaps: FloatArray, width: float) -> FloatArray:
    """Similarity at squared distances: a rational quadratic, which is a mixture of Gaussians of all widths.

    A Gaussian of one width is blind to everything much nearer or much farther.
    """
    return np.asarray(1.0 / np.sqrt(1.0 + gaps * (2.0 / width)))


def _gaps(rows: Any, others: Any) -> FloatArray:
    """Squared distances between two sets of rows; sparse ones are not made dense."""
    if not scipy.sparse.issparse(rows):
        return squared(rows, _dense(others))
    lengths = [np.asarray(part.multiply(part).sum(axis=1)).ravel() for part in (rows, others)]
    apart = lengths[0][:, None] + lengths[1] - 2.0 * (rows @ others.T).toarray()
    return np.asarray(np.maximum(apart, 0.0, out=apart))


def _dense(rows: Any) -> FloatArray:
    return np.asarray(rows.toarray() if scipy.sparse.issparse(rows) else rows)
