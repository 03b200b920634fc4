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

from typing import NamedTuple

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import make, union
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.exceptions import LinkwiseError

WISHED = -1.0  # the length of a pair whose triplet is not settled yet: below all distances


class Graph(NamedTuple):
    """The edges, those of them in the spanning tree, and the sets it falls apart into."""

    end: IntArray  # (edges, 2)
    length: FloatArray
    in_tree: BoolArray
    start: IntArray  # edges at node x: around[start[x]:start[x + 1]]
    around: IntArray
    home: IntArray  # the set of each sample
    queue: IntArray  # (2, n): the two sides of a gap, as far as explored
    seen: IntArray  # stamp of the exploration that saw a sample last
    stamp: IntArray  # one number
    heap_key: FloatArray  # tree edges that may be cut, longest on top; outdated entries are passed over
    heap_edge: IntArray
    heap_size: IntArray  # one number


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


@njit
def _push(g: Graph, edge: int) -> None:
    key, item = g.heap_key, g.heap_edge
    k = g.heap_size[0]
    g.heap_size[0] = k + 1
    while k > 0:
        above = (k - 1) // 2
        if key[above] >= g.length[edge]:
            break
        key[k], item[k] = key[above], item[above]
        k = above
    key[k], item[k] = g.length[edge], edge


@njit
def _pop(g: Graph) -> tuple[float, int]:
    key, item = g.heap_key, g.heap_edge
    top, edge = key[0], item[0]
    size = g.heap_size[0] - 1
    g.heap_size[0] = size
    last, moved = key[size], item[size]
    k = 0
    while 2 * k + 1 < size:
        below = 2 * k + 1
        if below + 1 < size and key[below + 1] > key[below]:
            below += 1
        if key[below] <= last:
            break
        key[k], item[k] = key[below], item[below]
        k = below
    key[k], item[k] = last, moved
    return top, edge


@njit
def _smaller_side(g: Graph, edge: int) -> tuple[int, int]:
    """Explore the tree from both ends of a missing edge in turn; return the side that ends first and its size."""
    g.stamp[0] += 2
    head = np.zeros(2, np.intp)
    tail = np.ones(2, np.intp)
    at = np.empty(2, np.intp)
    for s in range(2):
        g.queue[s, 0] = g.end[edge, s]
        g.seen[g.end[edge, s]] = g.stamp[0] + s
        at[s] = g.start[g.end[edge, s]]
    s = 1
    while True:
        s = 1 - s
        x = g.queue[s, head[s]]
        if at[s] == g.start[x + 1]:
            head[s] += 1
            if head[s] == tail[s]:
                return s, tail[s]
            at[s] = g.start[g.queue[s, head[s]]]
            continue
        e = g.around[at[s]]
        at[s] += 1
        if g.in_tree[e]:
            y = g.end[e, 0] if g.end[e, 1] == x else g.end[e, 1]
            if g.seen[y] != g.stamp[0] + s:
                g.seen[y] = g.stamp[0] + s
                g.queue[s, tail[s]] = y
                tail[s] += 1


@njit
def _replace(g: Graph, edge: int) -> None:
    """Take an edge out of the tree and put the shortest one across the gap in its place, maybe itself."""
    g.in_tree[edge] = False
    s, size = _smaller_side(g, edge)
    mine = g.stamp[0] + s
    home = g.home[g.end[edge, 0]]
    best = edge
    for k in range(size):
        x = g.queue[s, k]
        for t in range(g.start[x], g.start[x + 1]):
            e = g.around[t]
            y = g.end[e, 0] if g.end[e, 1] == x else g.end[e, 1]
            if g.home[y] != home or g.seen[y] == mine:
                continue
            if g.length[e] < g.length[best] or (g.length[e] == g.length[best] and e < best):
                best = e
        if g.length[best] == WISHED:
            break
    g.in_tree[best] = True
    if g.length[best] != WISHED:
        _push(g, best)


@njit
def _divide(g: Graph, triplets: IntArray, at: IntArray, of: IntArray, share: float) -> tuple[IntArray, FloatArray]:
    """Cut the longest edge until none is left; return the edges cut and their lengths."""
    n = len(g.home)
    sets = make(n)
    for e in range(len(g.end)):  # the wished ones first, then by length: a minimum spanning tree
        if union(sets, g.end[e, 0], g.end[e, 1]):
            g.in_tree[e] = True
            if g.length[e] != WISHED:
                _push(g, e)
    open_ = np.ones(len(triplets), np.bool_)
    small = np.empty(n, np.intp)
    cut = np.empty(n - 1, np.intp)
    height = np.empty(n - 1)
    done = 0
    while g.heap_size[0] > 0:
        length, edge = _pop(g)
        if not g.in_tree[edge] or g.length[edge] != length:
            continue
        g.in_tree[edge] = False
        cut[done] = edge
        height[done] = length
        done += 1
        s, size = _smaller_side(g, edge)
        for k in range(size):
            small[k] = g.queue[s, k]
            g.home[small[k]] = done
        for k in range(size):
            for t in range(at[small[k]], at[small[k] + 1]):
                triplet = of[t]
                if open_[triplet] and g.home[triplets[triplet, 0]] != g.home[triplets[triplet, 2]]:
                    open_[triplet] = False
                    g.length[triplet] = share * length  # the pair of triplet t is edge t
                    if g.in_tree[triplet]:
                        _replace(g, triplet)
    return cut[:done], height[:done]
