"""Search for pairs of samples within a distance, for all statements that are made from distances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.constraints._groups import run_starts
from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_CELLS = 1 << 22
TREE_NORMS = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "chebyshev": np.inf}
_TREE_FEATURES = 20


def read_data(X: Any, metric: str) -> FloatArray:
    """Read samples, or a square matrix of distances, as a dense table of numbers."""
    data = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if data.ndim != 2 or (metric == "precomputed" and data.shape[0] != data.shape[1]):
        msg = (
            f"X has shape {data.shape}, expected {'a square matrix' if metric == 'precomputed' else 'two dimensions'}."
        )
        raise LinkwiseError(msg)
    return data


def close_pairs(data: FloatArray, radius: float, metric: str) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield pairs (i < j) with their distances; all pairs up to ``radius`` are among them."""
    from scipy.spatial import cKDTree
    from scipy.spatial.distance import cdist

    n = len(data)
    norm = TREE_NORMS.get(metric)
    if norm is not None and data.shape[1] <= _TREE_FEATURES:
        # The tree rounds differently, so it returns a little more, and the distance decides.
        pairs = cKDTree(data).query_pairs(radius * (1 + 1e-9), p=norm, output_type="ndarray").astype(np.intp)
        for start in range(0, len(pairs), _CELLS):
            part = pairs[start : start + _CELLS]
            yield part, np.linalg.norm(data[part[:, 0]] - data[part[:, 1]], ord=norm, axis=1)
        return
    scipy_metric = {"l2": "euclidean", "manhattan": "cityblock", "l1": "cityblock"}.get(metric, metric)
    step = max(1, _CELLS // max(1, n))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        D = data[rows] if metric == "precomputed" else cdist(data[rows], data, metric=scipy_metric)
        i, j = np.nonzero(radius >= D)
        after = start + i < j
        i, j = i[after], j[after]
        yield np.column_stack([start + i, j]).astype(np.intp), np.asarray(D[i, j])


def must_links_within(X: Any, delta: float, *, metric: str = "euclidean") -> IntArray:
    """Return the pairs of samples closer than ``delta``, which `MinSeparation` must-links.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        Samples, or with ``metric="precomputed"`` their distances.
    delta : float
        Pairs at exactly this distance are not returned.
    metric : str, default="euclidean"
        Any metric SciPy's ``cdist`` knows, or ``"precomputed"``.

    Returns
    -------
    ndarray of intp, shape (m, 2)
        Smaller sample first, sorted.

    Notes
    -----
    **Cost** memory for the pairs found; a search tree for up to 20 features, else all distances in slices.

    Examples
    --------
    >>> from linkwise.problem import must_links_within
    >>> must_links_within([[0.0], [1.0], [1.5]], 1.0).tolist()
    [[1, 2]]
    """
    data = read_data(X, metric)
    found = [pairs[distance < delta] for pairs, distance in close_pairs(data, delta, metric)]
    pairs = np.concatenate(found) if found else np.empty((0, 2), dtype=np.intp)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def neighbors_within(X: Any, epsilon: float, *, metric: str = "euclidean") -> csr_array:
    """Return the pairs of samples within ``epsilon``, as a symmetric matrix of distances without the diagonal.

    Parameters
    ----------
    X, metric
        As in `must_links_within`.
    epsilon : float
        Pairs at exactly this distance count as neighbors.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        An entry per ordered pair of neighbors; duplicates of a sample are stored with an explicit zero.

    Examples
    --------
    >>> from linkwise.problem import neighbors_within
    >>> neighbors_within([[0.0], [1.0], [1.5]], 1.0).indices.tolist()
    [1, 0, 2, 1]
    """
    from scipy.sparse import csr_array

    data = read_data(X, metric)
    ends, lengths = [np.empty((0, 2), dtype=np.intp)], [np.empty(0)]
    for pairs, distance in close_pairs(data, epsilon, metric):
        near = distance <= epsilon
        ends.append(pairs[near])
        lengths.append(distance[near])
    pairs, length = np.concatenate(ends), np.concatenate(lengths)
    source = np.concatenate([pairs[:, 0], pairs[:, 1]])
    target = np.concatenate([pairs[:, 1], pairs[:, 0]])
    order = np.lexsort((target, source))
    start = run_starts(source, len(data))
    return csr_array((np.concatenate([length, length])[order], target[order], start), shape=(len(data), len(data)))
