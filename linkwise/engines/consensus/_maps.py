"""Maps of the samples to other coordinates, in which classes that are bent, skewed or stretched can be compact."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse

from linkwise._typing import FloatArray
from linkwise.engines.distances import squared

RAW, RANKS, WHITE, GRAPH, KERNEL, BOTH, NARROW = "raw", "ranks", "white", "graph", "kernel", "both", "narrow"
WORDS = {
    RAW: "the data",
    RANKS: "ranks of each feature",
    WHITE: "whitened data",
    GRAPH: "eigenvectors of the neighbor graph",
    KERNEL: "kernel components",
    BOTH: "data and neighbor graph",
    NARROW: "main components",
}
_FEWEST = 10  # samples below which only the data themselves are used
WIDE = 256  # features from which on sparse data are projected; fewer are made dense
_TEXT_COMPONENTS = 50  # of sparse data, which are projected first
_NEIGHBORS, _SCALE = 10, 6  # of the graph; the neighbor whose distance is the scale of a sample
_KERNEL_COMPONENTS, _KERNEL_NEIGHBOR = 40, 20
_MAIN_COMPONENTS = 8


class Maps:
    """The maps of one set of samples, each computed when it is first asked for.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    n_clusters : int
        Number of clusters, which sets how many eigenvectors of the graph are used.
    """

    def __init__(self, X: FloatArray, n_clusters: int) -> None:
        self.X, self.n_clusters = X, n_clusters

    def of(self, name: str) -> FloatArray | None:
        """Return the samples under a map; None where the map has nothing to tell them apart."""
        if name != RAW and len(self.X) < _FEWEST:
            return None
        found: FloatArray | None = getattr(self, name)
        return found if found is not None and found.shape[1] and np.ptp(found, axis=0).any() else None

    @property
    def raw(self) -> FloatArray:
        """The samples as they are."""
        return self.X

    @cached_property
    def ranks(self) -> FloatArray:
        """Each feature as normal scores of its ranks, which outliers and skewness do not change."""
        from scipy.stats import norm, rankdata

        scores = norm.ppf((rankdata(self.X, axis=0) - 0.5) / len(self.X))
        spread = scores.std(axis=0)
        return np.ascontiguousarray((scores / np.where(spread > 0, spread, 1.0))[:, spread > 0])

    @cached_property
    def _svd(self) -> tuple[FloatArray, FloatArray]:
        U, s, _ = scipy.linalg.svd(self.X - self.X.mean(axis=0), full_matrices=False, check_finite=False)
        return _signed(U), s

    @cached_property
    def white(self) -> FloatArray:
        """Principal components scaled to equal variance, without those that are mostly noise."""
        U, s = self._svd
        keep = s**2 > 1e-3 * s[0] ** 2
        keep[max(2, len(self.X) // 8) :] = False
        return np.asarray(np.ascontiguousarray(U[:, keep]) * np.sqrt(len(self.X)))

    @cached_property
    def narrow(self) -> FloatArray:
        """The leading principal components."""
        U, s = self._svd
        return np.ascontiguousarray((U * s)[:, :_MAIN_COMPONENTS])

    @cached_property
    def graph(self) -> FloatArray:
        """Eigenvectors of a nearest-neighbor graph with local scales, damped by their eigenvalues."""
        n = len(self.X)
        size = min(max(3 * self.n_clusters, 15), n - 2)
        value, vector = _highest(_affinity(self.X), size + 1)
        value, vector = 1.0 - value[::-1], vector[:, ::-1]  # of the Laplacian, from the lowest on
        return unit(vector[:, 1:] / np.sqrt(np.maximum(value[1:], 0.0) + 0.05))

    @cached_property
    def kernel(self) -> FloatArray:
        """Leading components of a Gaussian kernel with local widths."""
        n = len(self.X)
        far = squared(self.X, self.X)
        width = np.sqrt(np.partition(far, min(_KERNEL_NEIGHBOR, n - 1), axis=1)[:, min(_KERNEL_NEIGHBOR, n - 1)])
        far /= -np.maximum(2 * width[:, None] * width[None, :], 1e-9)
        np.exp(far, out=far)
        mean = far.mean(axis=0)
        far += mean.mean() - mean[:, None] - mean[None, :]
        value, vector = _highest(far, min(_KERNEL_COMPONENTS, n))
        return unit(vector * np.sqrt(np.maximum(value, 0.0)))

    @cached_property
    def both(self) -> FloatArray:
        """The data and the eigenvectors of the graph side by side, with equal total variance."""
        return np.hstack([unit(self.X), self.graph])


class Projection(NamedTuple):
    """Leading components of sparse rows, written by the rows themselves: as wide data would make a large matrix."""

    rows: Any
    basis: FloatArray

    def of(self, X: Any) -> FloatArray:
        """Project rows, and scale them to length 1."""
        return lengthen(np.asarray((X @ self.rows.T) @ self.basis))


def project_sparse(rows: Any) -> Projection:
    """Find the leading components of sparse rows."""
    products = (rows @ rows.T).toarray()
    value, vector = _highest(products, min(_TEXT_COMPONENTS, len(products)))
    some = value > 1e-12 * max(float(value[-1]), 1e-300)
    return Projection(rows, np.ascontiguousarray(vector[:, some] / np.sqrt(value[some])))


def lengthen(rows: FloatArray) -> FloatArray:
    """Scale rows to length 1; rows of zeros stay."""
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.ascontiguousarray(rows / np.where(length > 0, length, 1.0)[:, None])


def unit(rows: FloatArray) -> FloatArray:
    """Center rows and scale them to a mean squared length of 1."""
    centered = rows - rows.mean(axis=0)
    total = float(np.sqrt((centered**2).sum() / len(rows)))
    return np.ascontiguousarray(centered / total if total > 0 else centered)


def narrowed(rows: FloatArray, n_clusters: int) -> FloatArray:
    """As many principal components as there are clusters, at least five: a full covariance of them can be learned."""
    U, s, _ = scipy.linalg.svd(rows - rows.mean(axis=0), full_matrices=False, check_finite=False)
    return np.ascontiguousarray((_signed(U) * s)[:, : max(n_clusters, 5)])


def _affinity(X: FloatArray) -> FloatArray:
    """The normalized affinities of the nearest-neighbor graph with local scales."""
    from sklearn.neighbors import NearestNeighbors

    n = len(X)
    near = min(_NEIGHBORS, n - 1)
    far, at = NearestNeighbors(n_neighbors=near).fit(X).kneighbors()
    scale = np.maximum(far[:, min(_SCALE, near - 1)], 1e-9)
    row = np.repeat(np.arange(n), near)
    graph = np.zeros((n, n))
    graph[row, at.ravel()] = np.exp(-(far.ravel() ** 2) / (scale[row] * scale[at.ravel()]))
    np.maximum(graph, graph.T, out=graph)
    root = np.sqrt(graph.sum(axis=0))
    root[root == 0] = 1.0
    graph /= root[:, None] * root[None, :]
    return graph


def _highest(matrix: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    n = len(matrix)
    value, vector = scipy.linalg.eigh(matrix, subset_by_index=[n - size, n - 1], check_finite=False)
    return value, _signed(vector)


def _signed(vectors: FloatArray) -> FloatArray:
    """Turn vectors so that the entry of largest size is positive: solvers may return either sign."""
    top = np.abs(vectors).argmax(axis=0)
    return np.asarray(vectors * np.where(vectors[top, np.arange(vectors.shape[1])] < 0, -1.0, 1.0))
