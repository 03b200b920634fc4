"""Sparse arrays: SciPy's graph algorithms and its linear solver, given the 32-bit indices they are written for.

SciPy makes 64-bit indices from positions of type ``intp``. Up to 1.11.2 its graph algorithms swallow the error this
raises in compiled code and return nonsense, up to 1.14 its solver refuses such arrays. So this is the only module that
calls either.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MOST = int(np.iinfo(np.int32).max)


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse array or matrix; without loading SciPy, as there is none before it is loaded."""
    return "scipy.sparse" in sys.modules and bool(sys.modules["scipy.sparse"].issparse(value))


def narrow(array: Any) -> csr_array:
    """Return a sparse array in rows with 32-bit indices, each entry once; refuse one that is too large for these.

    SciPy 1.13.0 keeps repeated entries of a new array, and its search for strongly connected parts never ends on them.
    """
    from scipy.sparse import csr_array

    rows = csr_array(array)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if max(*rows.shape, rows.nnz) > _MOST:
        msg = (
            f"sparse array: {rows.shape[0]:,} x {rows.shape[1]:,} with {rows.nnz:,} entries, expected at most "
            f"{_MOST:,} rows, columns and entries, as many as SciPy's solvers can number.\n"
            "Hint: work on a part of the samples, `constraints[samples]`."
        )
        raise LinkwiseError(msg)
    if rows.indices.dtype == np.int32 and rows.indptr.dtype == np.int32:
        return rows
    made = csr_array(rows.shape, dtype=rows.dtype)
    made.data, made.indices, made.indptr = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return made


def connected_parts(graph: Any, *, directed: bool = False) -> tuple[int, IntArray]:
    """Number the connected components, the strongly connected ones of a directed graph: how many, and of each node."""
    from scipy.sparse.csgraph import connected_components

    count, part = connected_components(narrow(graph), directed=directed, connection="strong")
    return int(count), np.asarray(part, dtype=np.intp)


def breadth_first(graph: Any, source: int) -> tuple[IntArray, IntArray]:
    """The nodes reached from ``source`` in the order they are met, and the node before each (-9999: none)."""
    from scipy.sparse.csgraph import breadth_first_order

    order, before = breadth_first_order(narrow(graph), source, directed=True, return_predecessors=True)
    return np.asarray(order, dtype=np.intp), np.asarray(before, dtype=np.intp)


def integer_programme(cost: FloatArray, matrix: Any, low: Any, high: Any, *, least: Any = 0, **options: Any) -> Any:
    """Minimize ``cost`` over zeros and ones with ``low <= matrix @ x <= high``; the answer of `scipy.optimize.milp`."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    return milp(
        cost,
        constraints=LinearConstraint(narrow(matrix), low, high),
        integrality=np.ones(len(cost)),
        bounds=Bounds(least, 1),
        options=options,
    )


def fractional_programme(cost: FloatArray, matrix: Any, low: FloatArray, *, method: str, **options: Any) -> Any:
    """Minimize ``cost`` over fractions from 0 to 1 with ``matrix @ x >= low``; the answer of `linprog`."""
    from scipy.optimize import linprog

    return linprog(cost, A_ub=narrow(-matrix), b_ub=-low, bounds=(0, 1), method=method, options=options)
