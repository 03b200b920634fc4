"""How many clusters cannot-links ask for: cliques from below, colourings from above, exact search where it is small.

The vertices are groups of samples that share a cluster anyway, an edge is a cannot-link between two groups. A partition
into at most k clusters is a colouring with k colours.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit

__all__ = ["ConflictGraph", "Outcome", "spread"]

IntArray = npt.NDArray[np.intp]
_WORK = 400_000_000
_CELLS = 50_000_000
_STARTS = 64


class Outcome(IntEnum):
    """What the search for a colouring found."""

    IMPOSSIBLE = 0
    FOUND = 1
    UNDECIDED = -1


class ConflictGraph:
    """Groups of samples and the cannot-links between them, without repeats.

    Parameters
    ----------
    n_groups : int
        Number of vertices.
    pairs : ndarray of intp, shape (m, 2)
        Cannot-links written over groups; no pair names one group twice.
    """

    def __init__(self, n_groups: int, pairs: IntArray) -> None:
        low, high = pairs.min(axis=1, initial=n_groups), pairs.max(axis=1, initial=0)
        self._key, self._first = np.unique(low * n_groups + high, return_index=True)
        self.n = n_groups
        ends = np.stack(np.divmod(self._key, max(n_groups, 1)))
        source = np.concatenate([ends[0], ends[1]])
        target = np.concatenate([ends[1], ends[0]])
        order = np.lexsort((target, source))
        self.target = np.ascontiguousarray(target[order])
        self.start = np.zeros(n_groups + 1, dtype=np.intp)
        np.cumsum(np.bincount(source, minlength=n_groups), out=self.start[1:])

    def edge(self, first: IntArray, second: IntArray) -> IntArray:
        """Return the position in ``pairs`` of the first cannot-link between each two groups."""
        wanted = np.minimum(first, second) * self.n + np.maximum(first, second)
        return np.asarray(self._first[np.searchsorted(self._key, wanted)], dtype=np.intp)

    def clique(self) -> IntArray:
        """Return groups that are pairwise apart, as many as a greedy search from busy groups finds."""
        degree = np.diff(self.start)
        if not len(self.target):
            return np.arange(min(self.n, 1))
        best: IntArray = np.sort(_greedy_clique(self.start, self.target, np.argsort(-degree, kind="stable")[:_STARTS]))
        return best

    def enough(self) -> int:
        """Return the least number of colours for which peeling alone finds a colouring (degeneracy + 1)."""
        low, high = 1, int(np.diff(self.start).max(initial=0)) + 1
        while low < high:
            middle = (low + high) // 2
            if _peel(self.start, self.target, middle)[1].any():
                low = middle + 1
            else:
                high = middle
        return low

    def colour(self, n_colours: int) -> tuple[Outcome, IntArray]:
        """Search a colouring with at most ``n_colours`` colours.

        Groups with fewer neighbours than colours can always be coloured last, so they are peeled off first. The rest
        is searched in order of saturation (DSATUR) with backtracking, within a fixed amount of work.
        """
        order, alive = _peel(self.start, self.target, n_colours)
        colour = np.full(self.n, -1, dtype=np.intp)
        rest = np.flatnonzero(alive)
        if len(rest):
            if len(rest) * n_colours > _CELLS:
                return Outcome.UNDECIDED, colour
            outcome = Outcome(_search(self.start, self.target, rest, colour, n_colours, _WORK // len(rest)))
            if outcome is not Outcome.FOUND:
                return outcome, colour
        _colour_in_order(self.start, self.target, order[::-1].copy(), colour)
        return Outcome.FOUND, colour


def spread(colour: IntArray, n_clusters: int) -> IntArray:
    """Turn a colouring into one with exactly ``n_clusters`` non-empty colours: some groups get one of their own."""
    _, first, label = np.unique(colour, return_index=True, return_inverse=True)
    movable = np.ones(len(colour), dtype=np.bool_)
    movable[first] = False
    moved = np.flatnonzero(movable)[: n_clusters - len(first)]
    label = label.astype(np.intp)
    label[moved] = len(first) + np.arange(len(moved))
    return label


@njit
def _greedy_clique(start: IntArray, target: IntArray, seeds: IntArray) -> IntArray:
    """Grow a clique from each seed, taking next the candidate with most neighbours."""
    n = len(start) - 1
    stamp = np.zeros(n, np.intp)
    best = np.empty(0, np.intp)
    for s in range(len(seeds)):
        seed = seeds[s]
        if start[seed + 1] - start[seed] < len(best):
            continue
        found = [seed]
        candidates = target[start[seed] : start[seed + 1]].copy()
        while len(candidates) and len(candidates) + len(found) > len(best):
            pick = candidates[0]
            for c in candidates:
                if start[c + 1] - start[c] > start[pick + 1] - start[pick]:
                    pick = c
            found.append(pick)
            stamp[target[start[pick] : start[pick + 1]]] = pick + 1
            kept = 0
            for c in candidates:
                if stamp[c] == pick + 1:
                    candidates[kept] = c
                    kept += 1
            candidates = candidates[:kept]
            stamp[target[start[pick] : start[pick + 1]]] = 0
        if len(found) > len(best):
            best = np.array(found)
    return best


@njit
def _peel(start: IntArray, target: IntArray, n_colours: int) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Remove vertices with fewer than ``n_colours`` neighbours left; return the order of removal and who stays."""
    n = len(start) - 1
    degree = np.empty(n, np.intp)
    alive = np.ones(n, np.bool_)
    order = np.empty(n, np.intp)
    removed = 0
    for v in range(n):
        degree[v] = start[v + 1] - start[v]
        if degree[v] < n_colours:
            alive[v] = False
            order[removed] = v
            removed += 1
    done = 0
    while done < removed:
        v = order[done]
        done += 1
        for e in range(start[v], start[v + 1]):
            u = target[e]
            if alive[u]:
                degree[u] -= 1
                if degree[u] < n_colours:
                    alive[u] = False
                    order[removed] = u
                    removed += 1
    return order[:removed], alive


@njit
def _colour_in_order(start: IntArray, target: IntArray, order: IntArray, colour: IntArray) -> None:
    """Give each vertex the smallest colour no coloured neighbour has."""
    used = np.full(len(colour) + 1, -1, np.intp)
    for v in order:
        for e in range(start[v], start[v + 1]):
            if colour[target[e]] >= 0:
                used[colour[target[e]]] = v
        c = 0
        while used[c] == v:
            c += 1
        colour[v] = c


@njit
def _search(start: IntArray, target: IntArray, rest: IntArray, colour: IntArray, k: int, steps: int) -> int:
    """Colour ``rest`` with ``k`` colours by backtracking, most constrained vertex first; writes ``colour`` if found."""
    m = len(rest)
    taken = np.zeros((m, k), np.int32)  # how many neighbours of each vertex have each colour
    saturation = np.zeros(m, np.intp)
    place = np.full(len(colour), -1, np.intp)
    for p in range(m):
        place[rest[p]] = p
    chosen = np.empty(m, np.intp)
    given = np.full(m, -1, np.intp)
    highest = np.zeros(m + 1, np.intp)  # colours in use before each step: a new colour is tried once
    depth = 0
    fresh = True
    while True:
        if depth == m:
            for p in range(m):
                colour[rest[p]] = given[p]
            return 1
        steps -= 1
        if steps < 0:
            return -1
        if fresh:
            best = -1
            for p in range(m):
                if given[p] < 0:
                    if best < 0 or saturation[p] > saturation[best]:
                        best = p
                    elif saturation[p] == saturation[best]:
                        v, w = rest[p], rest[best]
                        if start[v + 1] - start[v] > start[w + 1] - start[w]:
                            best = p
            chosen[depth] = best
            c = 0
        else:
            best = chosen[depth]
            c = given[best] + 1
            _recolour(start, target, rest[best], place, taken, saturation, given[best], -1)
            given[best] = -1
        limit = min(k, highest[depth] + 1)
        while c < limit and taken[best, c] > 0:
            c += 1
        if c >= limit:
            if depth == 0:
                return 0
            depth -= 1
            fresh = False
            continue
        given[best] = c
        _recolour(start, target, rest[best], place, taken, saturation, c, 1)
        highest[depth + 1] = max(highest[depth], c + 1)
        depth += 1
        fresh = True


@njit
def _recolour(
    start: IntArray,
    target: IntArray,
    vertex: int,
    place: IntArray,
    taken: npt.NDArray[np.int32],
    saturation: IntArray,
    c: int,
    change: int,
) -> None:
    for e in range(start[vertex], start[vertex + 1]):
        q = place[target[e]]
        if q >= 0:
            before = taken[q, c]
            taken[q, c] = before + change
            if before == 0:
                saturation[q] += 1
            elif before + change == 0:
                saturation[q] -= 1
