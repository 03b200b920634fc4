"""Leading eigenvectors of a bent graph, one row per sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from linkwise._typing import FloatArray
from linkwise.engines.graph._bent_graph import Graph
from linkwise.exceptions import GaveUpError

_FEW = 400  # samples up to which the whole matrix is decomposed


def embed(graph: Graph, k: int, who: str) -> tuple[Any, FloatArray]:
    """Return the leading ``k`` eigenvectors of (A + d_max I - D) / d_max as columns, and their eigenvalues.

    Notes
    -----
    That matrix is I - L / d_max with the Laplacian L, so a graph in c unconnected parts has the eigenvalue 1 exactly c
    times, with the parts themselves as eigenvectors. These are written down and not computed: a single Krylov sequence
    could miss some. With more than ``k`` parts no ``k`` of them are more leading than others, and all are returned, as
    a sparse matrix.
    """
    n, part = graph.n, graph.parts()
    count = np.bincount(part)
    flat = scipy.sparse.csr_array(
        (1.0 / np.sqrt(count[part].astype(np.float64)), (np.arange(n), part)), shape=(n, len(count))
    )
    if len(count) >= k:
        return (flat.toarray() if len(count) == k else flat), np.ones(len(count))
    degree = graph.degree()
    most = float(degree.max())
    known, wanted = flat.toarray(), k - len(count)
    if n <= _FEW or k >= n // 3:
        value, vector = scipy.linalg.eigh(np.diag(degree) - graph.dense(), subset_by_index=[0, k - 1])
        return vector, 1.0 - value / most

    def times(x: FloatArray) -> FloatArray:
        x = x.reshape(-1)
        return np.asarray(x - (degree * x - graph.times(x)) / most - known @ (known.T @ x))

    start = start_vector(n)
    operator = LinearOperator((n, n), matvec=times, dtype=np.float64)
    try:
        v0 = start - known @ (known.T @ start)
        value, vector = eigsh(operator, wanted, which="LA", v0=v0, ncv=min(n - 1, max(4 * wanted, 40)), tol=1e-10)
    except ArpackNoConvergence as no:
        msg = (
            f"{who} gave up: after {n * 10:,} steps only {len(no.eigenvalues)} of {wanted} eigenvectors were found.\n"
            "Hint: a graph with more neighbors, or a smaller gamma, has eigenvalues further apart."
        )
        raise GaveUpError(msg) from no
    order = np.argsort(-value, kind="stable")
    return np.hstack([known, vector[:, order]]), np.concatenate([np.ones(len(count)), value[order]])


def start_vector(n: int) -> FloatArray:
    """The vector a Krylov sequence starts from: always the same, and along no structure of the data."""
    return np.random.default_rng(0).standard_normal(n)


def normalize_rows(rows: Any) -> Any:
    """Scale every row to length 1; a row of zeros stays."""
    if scipy.sparse.issparse(rows):  # one entry in each row
        return scipy.sparse.csr_array((np.ones(len(rows.data)), rows.indices, rows.indptr), shape=rows.shape)
    length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return np.ascontiguousarray(np.divide(rows, length, out=np.zeros_like(rows), where=length > 0))
