"""Which samples are close to each other: the one search behind every statement made from distances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.exceptions import LinkwiseError

__all__ = ["TREE_NORMS", "close_pairs", "read_data"]

IntArray = npt.NDArray[np.intp]
_CELLS = 1 << 22
TREE_NORMS = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "chebyshev": np.inf}
_TREE_FEATURES = 20


def read_data(X: Any, metric: str) -> npt.NDArray[np.float64]:
    """Read samples, or a square matrix of distances, as a dense table of numbers."""
    data = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if data.ndim != 2 or (metric == "precomputed" and data.shape[0] != data.shape[1]):
        msg = (
            f"X has shape {data.shape}, expected {'a square matrix' if metric == 'precomputed' else 'two dimensions'}."
        )
        raise LinkwiseError(msg)
    return data


def close_pairs(
    data: npt.NDArray[np.float64], radius: float, metric: str
) -> Iterator[tuple[IntArray, npt.NDArray[np.float64]]]:
    """Yield pairs (i < j) with their distances; all pairs up to ``radius`` are among them."""
    from scipy.spatial import cKDTree
    from scipy.spatial.distance import cdist

    n = len(data)
    norm = TREE_NORMS.get(metric)
    if norm is not None and data.shape[1] <= _TREE_FEATURES:
        # The tree decides with its own rounding, so it is asked for a little more and the distance decides.
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
