"""Colouring by a solver, for graphs the built-in search does not settle: CP-SAT if installed, else HiGHS from SciPy."""

from __future__ import annotations

import importlib.util

import numpy as np
import numpy.typing as npt

__all__ = ["colour_by_solver"]

IntArray = npt.NDArray[np.intp]
_MOST_CELLS = 200_000


def colour_by_solver(
    start: IntArray, vertex: IntArray, n: int, k: int, fixed: IntArray, seconds: float
) -> tuple[bool | None, IntArray]:
    """Colour ``n`` vertices with ``k`` colours, all different within each clique.

    Parameters
    ----------
    start, vertex : ndarray of intp
        Clique q holds ``vertex[start[q]:start[q + 1]]``.
    fixed : ndarray of intp
        Vertices of one clique, which get the colours 0, 1, ... so that renamed solutions are not searched again.
    seconds : float
        Time limit.

    Returns
    -------
    possible : bool or None
        None when the limit was hit or the graph is too large to be written down.
    colour : ndarray of intp
        Empty unless possible.

    Notes
    -----
    **Cost** n k binary variables; exponential at worst.
    """
    none = np.empty(0, dtype=np.intp)
    if n * k > _MOST_CELLS:
        return None, none
    solve = _with_cp_sat if importlib.util.find_spec("ortools") is not None else _with_highs
    return solve(start, vertex, n, k, fixed, seconds)


def _with_highs(
    start: IntArray, vertex: IntArray, n: int, k: int, fixed: IntArray, seconds: float
) -> tuple[bool | None, IntArray]:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array, vstack

    size = np.diff(start)
    owner = np.repeat(np.arange(len(size)), size)
    # one row per clique and colour: at most one vertex; one row per vertex: exactly one colour
    rows = (owner[:, None] * k + np.arange(k)).ravel()
    columns = (vertex[:, None] * k + np.arange(k)).ravel()
    apart = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(size) * k, n * k))
    each = coo_array((np.ones(n * k), (np.repeat(np.arange(n), k), np.arange(n * k))), shape=(n, n * k))
    low = np.concatenate([np.zeros(len(size) * k), np.ones(n)])
    least = np.zeros(n * k)
    least[fixed * k + np.arange(len(fixed))] = 1
    answer = milp(
        np.zeros(n * k),
        constraints=LinearConstraint(vstack([apart, each]).tocsr(), low, np.ones(len(low))),
        integrality=np.ones(n * k),
        bounds=Bounds(least, 1),
        options={"time_limit": seconds},
    )
    if answer.status == 2:
        return False, np.empty(0, dtype=np.intp)
    if answer.x is None:
        return None, np.empty(0, dtype=np.intp)
    return True, np.argmax(answer.x.reshape(n, k), axis=1).astype(np.intp)


def _with_cp_sat(
    start: IntArray, vertex: IntArray, n: int, k: int, fixed: IntArray, seconds: float
) -> tuple[bool | None, IntArray]:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    colour = [model.new_int_var(0, k - 1, f"v{v}") for v in range(n)]
    for q in range(len(start) - 1):
        members = [colour[v] for v in vertex[start[q] : start[q + 1]].tolist()]
        model.add_all_different(members)
    for c, v in enumerate(fixed.tolist()):
        model.add(colour[v] == c)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return False, np.empty(0, dtype=np.intp)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, np.empty(0, dtype=np.intp)
    return True, np.array([solver.value(variable) for variable in colour], dtype=np.intp)
