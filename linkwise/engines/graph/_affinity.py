"""Affinities between all samples, between near neighbors, or as given; dense or sparse."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from scipy.spatial.distance import pdist, squareform

from linkwise._compat import Interval
from linkwise._memory import require_memory
from linkwise._typing import FloatArray
from linkwise.constraints import LINKS, Kind
from linkwise.engines import PartitionMixin
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem

AFFINITIES: tuple[str, ...] = ("rbf", "nearest_neighbors", "precomputed")
KERNELS: tuple[str, ...] = ("linear", *AFFINITIES)
_NEAR = 7
_SYMMETRIC = 1e-9  # relative difference of two entries that rounding explains


class AffinityMixin(PartitionMixin):
    """Estimators of affinities or kernels, which weigh soft statements and take sparse X.

    Parameters
    ----------
    gamma : float
        Width for "rbf"; None for the width that reaches to the 7th neighbor of a typical sample.
    n_neighbors : int
        Neighbors of each sample, itself counted, for "nearest_neighbors".
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    weighs: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def _judge(self, problem: Problem) -> None:
        problem.require_feasible()  # whether a number within the bounds is possible is decided where assigning is stuck

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = "precomputed" in (getattr(self, "affinity", None), getattr(self, "kernel", None))
        return tags


def read_affinity(
    X: Any, kind: str, *, gamma: float | None, n_neighbors: int, who: str, signed: bool = False
) -> tuple[Any, float]:
    """Return symmetric affinities of all samples, dense or sparse, and the largest value an affinity can take.

    ``kind`` is "linear" for inner products; "rbf" for exp(-gamma d^2), where None stands for `default_gamma`;
    "nearest_neighbors" for 1 between mutual near neighbors, the sample itself counted, and 1/2 between neighbors one
    way; or "precomputed" for X as given, with negative values only if ``signed``.
    """
    n = X.shape[0]
    if kind == "precomputed":
        return _given(X, who, signed)
    if kind == "nearest_neighbors":
        return _neighbors(X, min(n_neighbors, n)), 1.0
    hint = '"nearest_neighbors" keeps a few affinities of each sample only.'
    require_memory(3 * 8 * n * n, f"{who} keeps affinities of all pairs of {n:,} samples, which", hint)
    if kind == "linear":
        table = np.asarray((X @ X.T).toarray()) if scipy.sparse.issparse(X) else X @ X.T
        return (table + table.T) / 2, float(table.max(initial=0.0))
    square = _squared(X)
    square *= -(default_gamma(square) if gamma is None else float(gamma))
    return np.exp(square, out=square), 1.0


def default_gamma(square: FloatArray) -> float:
    """Return the width of an affinity that reaches as far as the 7th neighbor of a typical sample.

    Affinities are exp(-1/2) there. Wider ones see only the rough shape of the data and cut like k-means, narrower ones
    leave stray samples alone. Where most samples are equal the mean distance takes the place of that neighbor.
    """
    n = len(square)
    if n < 2:
        return 1.0
    near = min(_NEAR, n - 1)
    middle = float(np.median(np.partition(square, near, axis=1)[:, near]))
    if middle <= 0:
        middle = float(square.mean())
    return 0.5 / middle if middle > 0 else 1.0


def without_diagonal(table: Any) -> Any:
    """Return a copy whose diagonal is zero."""
    if scipy.sparse.issparse(table):
        table = table.tocoo()
        off = table.row != table.col
        return scipy.sparse.csr_array((table.data[off], (table.row[off], table.col[off])), shape=table.shape)
    out = np.array(table)
    np.fill_diagonal(out, 0.0)
    return out


def _squared(X: Any) -> FloatArray:
    if scipy.sparse.issparse(X):
        from sklearn.metrics.pairwise import euclidean_distances

        square = np.asarray(euclidean_distances(X, squared=True))
        return np.asarray((square + square.T) / 2)
    return np.asarray(squareform(pdist(X, "sqeuclidean"), checks=False)).reshape(len(X), len(X))


def _neighbors(X: Any, count: int) -> Any:
    from sklearn.neighbors import kneighbors_graph

    near = scipy.sparse.csr_array(kneighbors_graph(X, count, include_self=True), dtype=np.float64)
    return scipy.sparse.csr_array((near + near.T) * 0.5)


def _given(X: Any, who: str, signed: bool) -> tuple[Any, float]:
    """Check affinities that a user gives, and make them exactly symmetric."""
    if X.shape[0] != X.shape[1]:
        msg = (
            f"{who}: precomputed affinities have shape {X.shape}, expected one row and one column for each sample.\n"
            'Hint: pass samples with affinity="rbf", or a square matrix.'
        )
        raise LinkwiseError(msg)
    values = X.data if scipy.sparse.issparse(X) else X
    if not signed and values.size and values.min() < 0:
        msg = (
            f"{who}: precomputed affinities hold negative values, the lowest {float(values.min()):g}; expected >= 0.\n"
            "Hint: np.exp(-gamma * distances ** 2) turns distances into affinities."
        )
        raise LinkwiseError(msg)
    flipped = X.T
    most = float(np.abs(values).max()) if values.size else 0.0
    apart = abs(X - flipped).max() if X.shape[0] else 0.0
    if apart > _SYMMETRIC * most:
        msg = (
            f"{who}: precomputed affinities are not symmetric; two entries that mirror each other differ by "
            f"{float(apart):g}.\nHint: (A + A.T) / 2."
        )
        raise LinkwiseError(msg)
    table = (X + flipped) * 0.5
    top = float(values.max()) if values.size else 0.0
    return scipy.sparse.csr_array(table) if scipy.sparse.issparse(X) else np.ascontiguousarray(table), top
