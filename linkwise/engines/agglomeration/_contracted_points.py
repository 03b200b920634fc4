"""The start of linkages that work on centroids: must-linked groups as weighted points, cannot-links between points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._typing import FloatArray, Floats, IntArray
from linkwise.constraints import Groups
from linkwise.engines.agglomeration._kernels_arrangement import _gather_groups
from linkwise.engines.agglomeration._kernels_linkages import MEDIAN
from linkwise.engines.agglomeration._kernels_rounds import ALIVE, MERGES, WIDTH
from linkwise.engines.agglomeration._kernels_small_points import Few
from linkwise.engines.distances import Neighbors


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


def make_few(start: Points, D: Floats, near: Neighbors | None = None) -> Few:
    """Start from weighted points and their squared distances (taken over; infinite where a merge is forbidden).

    Nearest neighbors that are known need not be looked up.
    """
    n, kind = start.P.shape[0], start.P.dtype
    count = np.zeros(8, np.intp)
    count[WIDTH] = count[ALIVE] = n
    count[MERGES] = start.done
    if near is None:
        near = Neighbors.of(n, kind)
    return Few(
        points=np.array(start.P.T, order="C"),
        D=D,
        bits=D.view(near.bits.dtype),
        seen=np.zeros(n, np.intp),
        made=np.zeros(n, np.intp),
        log=np.empty((n, 2), np.intp),
        size=start.size.copy(),
        node=start.node.copy(),
        alive=np.ones(n, np.bool_),
        nearest=near.nearest,
        gap=near.gap,
        gap_bits=near.bits,
        floor=np.zeros(n),
        merges=start.merges,
        height=start.height,
        tally=count,
    )
