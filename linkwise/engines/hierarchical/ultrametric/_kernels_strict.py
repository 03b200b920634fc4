"""Division of a minimum spanning tree from the top, in which wished pairs are the shortest edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import make, union
from linkwise._typing import BoolArray, FloatArray, IntArray

WISHED = -1.0  # the length of a pair whose triplet is not settled yet: below all distances


class Graph(NamedTuple):
    """The edges, who is in the spanning tree, and the sets it falls apart into."""

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
