"""The largest ultrametric below given distances in which a and b of every triplet meet lower than c joins them.

Ultrametrics u with u(a, b) <= (1 - margin) min(u(a, c), u(b, c)) are closed under pointwise maxima, so there is a
largest one below any distances. Lowering every broken pair to its bound and closing again comes down to it from above,
but can creep by one margin a round. Dividing from the top takes as many steps as there are merges:

Look at a set of samples and the triplets inside it. Whatever the ultrametric, a and b of each of them part below the
top of the set, so the top is no higher than the longest edge that is needed to connect the groups such pairs form; and
it can be that high. So keep a minimum spanning tree in which a wished pair counts as shorter than everything as long as
its triplet lies inside one set. Its longest edge is the top: take it out. Triplets whose c is now on the other side
have got their wish; their pair becomes an ordinary edge, of (1 - margin) times that height, and if it was in the tree,
the shortest edge across the gap takes its place. Repeat until every sample is alone.
"""

from __future__ import annotations

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.hierarchical.ultrametric._kernels_strict import WISHED, Graph, _divide
from linkwise.exceptions import LinkwiseError


def divide(
    n: int, edges: IntArray, length: FloatArray, a: IntArray, b: IntArray, c: IntArray, margin: float
) -> tuple[IntArray, FloatArray]:
    """Return n - 1 edges, lowest first, whose minimax closure is the largest ultrametric that keeps the triplets.

    ``edges`` connect all samples, sorted by ``length``; the triplets are consistent. Where distances of zero leave no
    room below them, the order of the edges still lets a and b meet before c.
    """
    end = np.concatenate([np.column_stack([a, b]), edges])
    lengths = np.concatenate([np.full(len(a), WISHED), length])
    start, around = _incidence(n, end)
    triplets = np.column_stack([a, b, c])
    at, of = _incidence(n, triplets)
    # a tree edge is pushed when it enters and when its length changes: at most once per edge, and once per triplet
    room = len(end) + len(a) + 1
    graph = Graph(
        end=end,
        length=lengths,
        in_tree=np.zeros(len(end), np.bool_),
        start=start,
        around=around,
        home=np.zeros(n, np.intp),
        queue=np.empty((2, n), np.intp),
        seen=np.full(n, -1, np.intp),
        stamp=np.zeros(1, np.intp),
        heap_key=np.empty(room),
        heap_edge=np.empty(room, np.intp),
        heap_size=np.zeros(1, np.intp),
    )
    cut, height = _divide(graph, triplets, at, of, 1.0 - margin)
    if len(cut) < n - 1:
        msg = "the strict ultrametric met triplets that contradict each other; please report the input."
        raise LinkwiseError(msg)
    return end[cut[::-1]], height[::-1]


def _incidence(n: int, rows: IntArray) -> tuple[IntArray, IntArray]:
    """For each sample, the rows that name it: those of x are ``found[start[x]:start[x + 1]]``."""
    row = np.repeat(np.arange(len(rows)), rows.shape[1])
    order = np.argsort(rows.ravel(), kind="stable")
    start = np.searchsorted(rows.ravel()[order], np.arange(n + 1))
    return start.astype(np.intp), row[order]
