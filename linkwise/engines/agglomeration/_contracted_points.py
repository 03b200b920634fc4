"""The start of linkages that work on centroids: must-linked groups as weighted points, cannot-links between points."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Groups
from linkwise.engines.agglomeration._linkages import MEDIAN

Floats = npt.NDArray[np.floating[Any]]


class Points(NamedTuple):
    """The start of a run: one weighted point per must-linked group, with the merges inside groups listed."""

    P: Floats
    size: Floats
    key: IntArray  # lowest-numbered sample of each, ascending
    node: IntArray
    forbidden: IntArray | None  # pairs of rows of P
    apart: Groups | None  # of rows of P
    merges: IntArray
    height: FloatArray
    done: int


def gather(X: Floats, method: int, forced: IntArray | None, forbidden: IntArray | None, apart: Groups | None) -> Points:
    """Replace every must-linked group by one weighted point."""
    n = len(X)
    merges = np.empty((max(n - 1, 0), 2), np.intp)
    height = np.zeros(max(n - 1, 0))
    if forced is None:
        samples = np.arange(n, dtype=np.intp)
        return Points(X, np.ones(n, X.dtype), samples, samples, forbidden, apart, merges, height, 0)
    P, size, key, node, done = _gather_groups(X, method == MEDIAN, forced, merges)
    row_of = np.empty(n, np.intp)
    row_of[forced[key]] = np.arange(len(key))
    if forbidden is not None:
        forbidden = row_of[forced[forbidden]]
    if apart is not None:
        apart = apart._replace(member=row_of[forced[apart.member]])
    return Points(P, size, key, node, forbidden, apart, merges, height, done)


@njit(nogil=True)
def _gather_groups(
    X: Floats, midpoints: bool, forced: IntArray, merges: IntArray
) -> tuple[Floats, Floats, IntArray, IntArray, int]:
    """Replace every must-linked group by one weighted point, noting the merges at height 0 in index order."""
    n, d = X.shape
    first = np.full(n, -1, np.intp)
    P = np.empty((n, d), X.dtype)
    size = np.zeros(n, X.dtype)
    key = np.empty(n, np.intp)
    node = np.empty(n, np.intp)
    groups = 0
    done = 0
    for i in range(n):
        g = first[forced[i]]
        if g < 0:
            g = groups
            groups += 1
            first[forced[i]] = g
            P[g] = X[i]
            key[g] = i
            node[g] = i
        else:
            share = size[g] / (size[g] + 1)
            if midpoints:
                share = share * 0 + 0.5
            for k in range(d):
                P[g, k] = share * P[g, k] + (1 - share) * X[i, k]
            merges[done, 0] = node[g]
            merges[done, 1] = i
            node[g] = n + done
            done += 1
        size[g] += 1
    return P[:groups].copy(), size[:groups].copy(), key[:groups].copy(), node[:groups].copy(), done
