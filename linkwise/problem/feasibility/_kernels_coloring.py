"""Coloring of a cannot-link graph held as cliques: peeling, greedy cliques and colors, search, recoloring."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._typing import BoolArray, IntArray


class _Cliques(NamedTuple):
    """Clique q holds ``vertex[start[q]:start[q + 1]]``; vertex v is in ``clique[first[v]:first[v + 1]]``."""

    start: IntArray
    vertex: IntArray
    first: IntArray
    clique: IntArray
    degree: IntArray  # neighbors of each vertex, counted once per clique they share


@njit
def _mark_around(cliques: _Cliques, v: int, stamp: IntArray, value: int) -> None:
    """Write ``value`` at every neighbor of ``v``."""
    for e in range(cliques.first[v], cliques.first[v + 1]):
        q = cliques.clique[e]
        for p in range(cliques.start[q], cliques.start[q + 1]):
            stamp[cliques.vertex[p]] = value
    stamp[v] = 0


@njit
def _greedy_clique(cliques: _Cliques, seeds: IntArray, least: int) -> IntArray:
    """Grow a clique of more than ``least`` vertices from each seed, taking next the candidate with most neighbors."""
    stamp = np.zeros(len(cliques.degree), np.intp)
    candidates = np.empty(len(stamp), np.intp)
    found = np.empty(len(stamp), np.intp)
    best = np.empty(0, np.intp)
    for s in range(len(seeds)):
        seed = seeds[s]
        if cliques.degree[seed] < max(len(best), least):
            continue
        stamp[:] = 0
        _mark_around(cliques, seed, stamp, 1)
        left = 0
        for v in range(len(stamp)):
            if stamp[v] == 1:
                candidates[left] = v
                left += 1
        found[0] = seed
        size = 1
        while left > 0 and left + size > max(len(best), least):
            pick = candidates[0]
            for t in range(left):
                if cliques.degree[candidates[t]] > cliques.degree[pick]:
                    pick = candidates[t]
            found[size] = pick
            size += 1
            _mark_around(cliques, pick, stamp, size)
            kept = 0
            for t in range(left):
                if stamp[candidates[t]] == size:
                    candidates[kept] = candidates[t]
                    kept += 1
            left = kept
        if size > max(len(best), least):
            best = found[:size].copy()
    return best


@njit
def _peel(cliques: _Cliques, n_colors: int) -> tuple[IntArray, BoolArray]:
    """Remove vertices with fewer than ``n_colors`` neighbors left; return the order of removal and who stays."""
    n = len(cliques.degree)
    degree = cliques.degree.copy()
    alive = np.ones(n, np.bool_)
    order = np.empty(n, np.intp)
    removed = 0
    for v in range(n):
        if degree[v] < n_colors:
            alive[v] = False
            order[removed] = v
            removed += 1
    done = 0
    while done < removed < n:
        v = order[done]
        done += 1
        for e in range(cliques.first[v], cliques.first[v + 1]):
            q = cliques.clique[e]
            for p in range(cliques.start[q], cliques.start[q + 1]):
                u = cliques.vertex[p]
                if alive[u]:
                    degree[u] -= 1
                    if degree[u] < n_colors:
                        alive[u] = False
                        order[removed] = u
                        removed += 1
    return order[:removed], alive


@njit
def _color_in_order(cliques: _Cliques, order: IntArray, color: IntArray) -> None:
    """Give each vertex the smallest color no colored neighbor has."""
    used = np.full(len(color) + 1, -1, np.intp)
    for v in order:
        for e in range(cliques.first[v], cliques.first[v + 1]):
            q = cliques.clique[e]
            for p in range(cliques.start[q], cliques.start[q + 1]):
                c = color[cliques.vertex[p]]
                if c >= 0:
                    used[c] = v
        c = 0
        while used[c] == v:
            c += 1
        color[v] = c


@njit
def _search(cliques: _Cliques, rest: IntArray, color: IntArray, k: int, most: int) -> tuple[int, int]:
    """Color ``rest`` with ``k`` colors by backtracking, most constrained vertex first; writes ``color`` if found.

    Returns the outcome and the steps it took, ``most`` at most.
    """
    m = len(rest)
    taken = np.zeros((m, k), np.int32)  # how many neighbors of each vertex have each color
    saturation = np.zeros(m, np.intp)
    place = np.full(len(color), -1, np.intp)
    for p in range(m):
        place[rest[p]] = p
    chosen = np.empty(m, np.intp)
    given = np.full(m, -1, np.intp)
    highest = np.zeros(m + 1, np.intp)  # colors in use before each step: a new color is tried once
    depth = 0
    fresh = True
    steps = 0
    while True:
        if depth == m:
            for p in range(m):
                color[rest[p]] = given[p]
            return 1, steps
        if steps >= most:
            return -1, steps
        steps += 1
        if fresh:
            best = -1
            for p in range(m):
                if given[p] < 0 and (
                    best < 0
                    or saturation[p] > saturation[best]
                    or (saturation[p] == saturation[best] and cliques.degree[rest[p]] > cliques.degree[rest[best]])
                ):
                    best = p
            chosen[depth] = best
            c = 0
        else:
            best = chosen[depth]
            c = given[best] + 1
            _recolor(cliques, rest[best], place, taken, saturation, given[best], -1)
            given[best] = -1
        limit = min(k, highest[depth] + 1)
        while c < limit and taken[best, c] > 0:
            c += 1
        if c >= limit:
            if depth == 0:
                return 0, steps
            depth -= 1
            fresh = False
            continue
        given[best] = c
        _recolor(cliques, rest[best], place, taken, saturation, c, 1)
        highest[depth + 1] = max(highest[depth], c + 1)
        depth += 1
        fresh = True


@njit
def _recolor(
    cliques: _Cliques,
    vertex: int,
    place: IntArray,
    taken: npt.NDArray[np.int32],
    saturation: IntArray,
    c: int,
    change: int,
) -> None:
    for e in range(cliques.first[vertex], cliques.first[vertex + 1]):
        clique = cliques.clique[e]
        for p in range(cliques.start[clique], cliques.start[clique + 1]):
            q = place[cliques.vertex[p]]
            if q >= 0 and cliques.vertex[p] != vertex:
                before = taken[q, c]
                taken[q, c] = before + change
                if before == 0:
                    saturation[q] += 1
                elif before + change == 0:
                    saturation[q] -= 1
