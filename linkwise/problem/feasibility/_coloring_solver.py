"""Coloring by a solver, for graphs the built-in search does not settle: CP-SAT if installed, else HiGHS from SciPy."""

from __future__ import annotations

import importlib.util
from typing import Any, NamedTuple

import numpy as np

from linkwise._sparse import integer_programme
from linkwise._typing import IntArray
from linkwise.problem.statements import STEPS, Budget

_MOST_CELLS = 200_000
_MOST_APART, _ROOT = 8_000, 6.0  # entries of HiGHS that keep apart, and units of work its root takes with as many
_CELL, _BRANCH = 500, 200_000  # steps of writing down a cell, and of a branch for each 1,000 entries


class Sizes(NamedTuple):
    """Samples per vertex, and the fewest and most samples of one color."""

    size: IntArray
    low: int
    high: int


def color_by_solver(
    start: IntArray,
    vertex: IntArray,
    n: int,
    k: int,
    fixed: IntArray,
    budget: Budget,
    sizes: Sizes | None = None,
) -> tuple[bool | None, IntArray]:
    """Color ``n`` vertices with ``k`` colors, all different within each clique ``vertex[start[q]:start[q + 1]]``.

    The vertices ``fixed``, of one clique, get colors 0, 1, ... so that renamed solutions are not searched again. The
    budget counts branches of HiGHS, or the deterministic time of CP-SAT. Return whether that is possible, None when the
    budget was used up or the graph is too large to be written down, and the colors, if it is.

    **Cost** n k binary variables; exponential at worst. HiGHS counts branches, not the work at the root, so it is not
    asked about graphs with many edges.
    """
    none = np.empty(0, dtype=np.intp)
    if n * k > _MOST_CELLS:
        return None, none
    solve = _with_cp_sat if importlib.util.find_spec("ortools") is not None else _with_highs
    budget.spend(_CELL * n * k)
    return solve(start, vertex, n, k, fixed, budget, sizes)


def _with_highs(
    start: IntArray, vertex: IntArray, n: int, k: int, fixed: IntArray, budget: Budget, sizes: Sizes | None = None
) -> tuple[bool | None, IntArray]:
    from scipy.sparse import coo_array, vstack

    size = np.diff(start)
    owner = np.repeat(np.arange(len(size)), size)
    # one row per clique and color: at most one vertex; one row per vertex: exactly one color
    rows = (owner[:, None] * k + np.arange(k)).ravel()
    columns = (vertex[:, None] * k + np.arange(k)).ravel()
    apart = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(size) * k, n * k))
    each = coo_array((np.ones(n * k), (np.repeat(np.arange(n), k), np.arange(n * k))), shape=(n, n * k))
    low, high = np.concatenate([np.zeros(len(size) * k), np.ones(n)]), np.ones(len(size) * k + n)
    rows_of = [apart, each]
    if sizes is not None:
        rows_of.append(
            coo_array((np.repeat(sizes.size, k), (np.tile(np.arange(k), n), np.arange(n * k))), shape=(k, n * k))
        )
        low, high = np.append(low, np.full(k, sizes.low)), np.append(high, np.full(k, sizes.high))
    least = np.zeros(n * k)
    least[fixed * k + np.arange(len(fixed))] = 1
    matrix = vstack(rows_of)
    if len(rows) > _MOST_APART:  # the root alone, whose work is not counted by branches, would take minutes
        return None, np.empty(0, dtype=np.intp)
    root = _ROOT * STEPS * (len(rows) / _MOST_APART) ** 2
    branch = _BRANCH * (1 + matrix.nnz / 1_000)
    nodes = 1 + int(np.clip((budget.left * STEPS - root) / branch, 0, 1e8))
    clock = {} if budget.seconds is None else {"time_limit": budget.seconds}
    answer = integer_programme(np.zeros(n * k), matrix, low, high, least=least, node_limit=nodes, **clock)
    settled = answer.status in (0, 2)
    budget.spend((0.1 if settled else 1.0) * root + branch * max(1, answer.mip_node_count or 0))
    if answer.status == 2:
        return False, np.empty(0, dtype=np.intp)
    if answer.x is None:
        return None, np.empty(0, dtype=np.intp)
    return True, np.argmax(answer.x.reshape(n, k), axis=1).astype(np.intp)


def _with_cp_sat(
    start: IntArray, vertex: IntArray, n: int, k: int, fixed: IntArray, budget: Budget, sizes: Sizes | None = None
) -> tuple[bool | None, IntArray]:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    color = [model.new_int_var(0, k - 1, f"v{v}") for v in range(n)]
    if sizes is not None:
        _bound_sizes(model, color, k, sizes)
    for q in range(len(start) - 1):
        members = [color[v] for v in vertex[start[q] : start[q + 1]].tolist()]
        model.add_all_different(members)
    for c, v in enumerate(fixed.tolist()):
        model.add(color[v] == c)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = max(budget.left, 0.01)
    if budget.seconds is not None:
        solver.parameters.max_time_in_seconds = budget.seconds
    status = solver.solve(model)
    budget.spend(solver.response_proto.deterministic_time * STEPS)
    if status == cp_model.INFEASIBLE:
        return False, np.empty(0, dtype=np.intp)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, np.empty(0, dtype=np.intp)
    return True, np.array([solver.value(variable) for variable in color], dtype=np.intp)


def _bound_sizes(model: Any, color: list[Any], k: int, sizes: Sizes) -> None:
    for c in range(k):
        has = [model.new_bool_var(f"v{v}c{c}") for v in range(len(color))]
        for variable, mine in zip(color, has, strict=True):
            model.add(variable == c).only_enforce_if(mine)
            model.add(variable != c).only_enforce_if(mine.negated())
        total = sum(int(size) * mine for size, mine in zip(sizes.size, has, strict=True))
        model.add(total >= sizes.low)
        model.add(total <= sizes.high)
