"""Least squares under x[left] + gap <= x[right]: an active-set solver that is exact after finitely many steps.

Constraints that hold with equality tie variables into *blocks*: in a block all variables move together, at distances
the gaps fix, so its best position is a weighted mean. While a constraint is broken, the two blocks it speaks about
become one; if it lies within one block, that block is first opened at the tie between the two that pulls least. When
nothing is broken, a tie whose multiplier is negative only hinders and is opened. No broken constraint and no negative
multiplier are the Kuhn-Tucker conditions, so the end is the optimum.

References
----------
.. [1] T. Dwyer, K. Marriott, P. J. Stuckey, "Fast Node Overlap Removal", Graph Drawing 2005.
"""

from __future__ import annotations

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.hierarchical.ultrametric._kernels_active_set import Ties, _solve_all


def least_squares(
    wish: FloatArray, weight: FloatArray, left: IntArray, right: IntArray, gap: FloatArray, part: IntArray
) -> tuple[FloatArray, FloatArray, int]:
    """Minimize sum(weight * (x - wish)^2) under ``x[left] + gap <= x[right]``.

    Parameters
    ----------
    wish, weight : ndarray of shape (k,)
        What each variable would like to be, and how much.
    left, right, gap : ndarray of shape (m,)
        The constraints.
    part : ndarray of shape (k,)
        Numbers of parts no constraint connects, 0 upwards; each is solved on its own.

    Returns
    -------
    x : ndarray of shape (k,)
    multiplier : ndarray of shape (m,)
        Of the constraints, 0 or more.
    stuck : int
        -1, or a part that could not be solved: its constraints form a cycle.
    """
    k = len(wish)
    ends = np.column_stack([left, right]).ravel()
    order = np.argsort(ends, kind="stable")
    start = np.searchsorted(ends[order], np.arange(k + 1)).astype(np.intp)
    problem = Ties(
        wish=wish,
        weight=weight,
        left=left,
        right=right,
        gap=gap,
        start=start,
        around=order // 2,
        tied=np.zeros(len(left), np.bool_),
        x=wish.copy(),
        pull=np.zeros(len(left)),
        noise=np.zeros(len(left)),
        order=np.empty(k, np.intp),
        via=np.empty(k, np.intp),
        offset=np.empty(k),
        force=np.empty(k),
        error=np.empty(k),
        seen=np.zeros(k, np.intp),
        stamp=np.zeros(1, np.intp),
    )
    parts = np.arange(int(part.max(initial=-1)) + 2)
    v_list = np.argsort(part, kind="stable")
    c_list = np.argsort(part[left], kind="stable")
    v_start = np.searchsorted(part[v_list], parts).astype(np.intp)
    c_start = np.searchsorted(part[left][c_list], parts).astype(np.intp)
    scale = max(float(np.abs(wish).max(initial=0.0)), float(np.abs(gap).max(initial=0.0)))
    stuck = int(_solve_all(problem, v_start, v_list, c_start, c_list, 1e-13 * max(scale, 1e-300)))
    return problem.x, np.where(problem.tied, np.maximum(2.0 * problem.pull, 0.0), 0.0), stuck
