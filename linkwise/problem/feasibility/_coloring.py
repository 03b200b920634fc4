"""The number of clusters that cannot-links need: bounds by cliques and colorings, exact search on small graphs.

The vertices are blocks of samples that share a cluster anyway. What is to be apart is a list of cliques: a cannot-link
is one of two vertices, a group apart one of as many as it touches; a group is never written out as pairs. A partition
into at most k clusters is a coloring with k colors.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import numpy as np

from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Groups, run_starts
from linkwise.problem.feasibility._coloring_solver import Sizes, color_by_solver
from linkwise.problem.feasibility._kernels_coloring import _Cliques, _color_in_order, _greedy_clique, _peel, _search
from linkwise.problem.statements import STEPS, Budget

_SEARCH, _SOLVE = 4.0, 10.0  # units of work for the built-in search and for a solver
_CELLS = 50_000_000
_VISITS = 2_000_000_000
_STARTS = 64
_MOST_TRIED, _PARTITION = 16, 2_000  # blocks up to which all partitions are tried, and steps for one label of one
_VERTEX = 1  # steps of looking at one vertex in the search


class Outcome(IntEnum):
    """Result of the search for a coloring."""

    IMPOSSIBLE = 0
    FOUND = 1
    UNDECIDED = -1


class ConflictGraph:
    """Blocks of samples and the cliques that keep them apart, without repeats.

    ``block`` is the vertex of each sample; no cannot-link of ``pairs`` and no two samples of one of ``groups``, which
    are apart, lie inside one block.
    """

    def __init__(self, block: IntArray, pairs: IntArray, groups: Groups) -> None:
        n = self.n = int(block.max(initial=-1)) + 1
        ends = block[pairs]
        low, high = ends.min(axis=1, initial=n), ends.max(axis=1, initial=0)
        self._key, self._first = np.unique(low * n + high, return_index=True)
        self.n_pairs = len(self._key)
        self._group_start, self._group_vertex = groups.start, block[groups.member]
        two = np.stack(np.divmod(self._key, max(n, 1)), axis=1).ravel()
        vertex = np.concatenate([two, self._group_vertex]).astype(np.intp)
        start = np.concatenate([np.arange(0, 2 * self.n_pairs, 2), 2 * self.n_pairs + groups.start]).astype(np.intp)
        size = np.diff(start)
        order = np.argsort(vertex, kind="stable")
        first = run_starts(vertex, n)
        clique = np.repeat(np.arange(len(size)), size)[order]
        degree = np.bincount(vertex, weights=np.repeat(size - 1, size), minlength=n).astype(np.intp)
        self._cliques = _Cliques(start, vertex, first, clique, degree)
        self._light = float((size.astype(np.float64) ** 2).sum()) <= _VISITS

    def clique(self) -> IntArray:
        """Return blocks that are pairwise apart: the largest group, or those of a greedy search from busy blocks."""
        if not len(self._cliques.vertex):
            return np.arange(min(self.n, 1))
        sizes = np.diff(self._group_start)
        best = np.empty(0, dtype=np.intp)
        if len(sizes):
            g = int(np.argmax(sizes))
            best = self._group_vertex[self._group_start[g] : self._group_start[g + 1]]
        if self._light:
            busy = np.argsort(-self._cliques.degree, kind="stable")[:_STARTS]
            found = _greedy_clique(self._cliques, busy.astype(np.intp), len(best))
            best = found if len(found) > len(best) else best
        return np.sort(best)

    def covering(self, vertices: IntArray) -> list[tuple[int, IntArray]]:
        """Return all that keeps two or more of these blocks apart, each with the blocks it concerns.

        A number below ``n_pairs`` stands for a cannot-link (see `link`), the others for the groups.
        """
        chosen = np.zeros(self.n, dtype=np.bool_)
        chosen[vertices] = True
        hit = np.flatnonzero(chosen[self._cliques.vertex])
        owner = np.searchsorted(self._cliques.start, hit, side="right") - 1
        cliques, begin, count = np.unique(owner, return_index=True, return_counts=True)
        return [
            (int(q), self._cliques.vertex[hit[b : b + c]])
            for q, b, c in zip(cliques, begin, count, strict=True)
            if c >= 2
        ]

    def link(self, number: int) -> int:
        """Position in ``pairs`` of the first cannot-link with this number."""
        return int(self._first[number])

    def _solve(self, rest: IntArray, color: IntArray, n_colors: int, budget: Budget) -> Outcome:
        """Ask a solver about the vertices that were not peeled off; writes ``color`` if there is one."""
        place = np.full(self.n, -1, dtype=np.intp)
        place[rest] = np.arange(len(rest))
        cliques = self._cliques
        size = np.diff(cliques.start)
        here = place[cliques.vertex]
        left = np.bincount(np.repeat(np.arange(len(size)), size)[here >= 0], minlength=len(size))
        start = np.concatenate([[0], np.cumsum(left)]).astype(np.intp)
        fixed = place[self.clique()]
        answer, found = color_by_solver(start, here[here >= 0], len(rest), n_colors, fixed[fixed >= 0], budget)
        if answer:
            color[rest] = found
        return Outcome.UNDECIDED if answer is None else Outcome(int(answer))

    def divide(self, k: int, sizes: Sizes, budget: Budget) -> tuple[Outcome, IntArray]:
        """Search a coloring with exactly ``k`` colors, each with a number of samples within bounds."""
        cliques = self._cliques
        answer, found = color_by_solver(cliques.start, cliques.vertex, self.n, k, self.clique()[:k], budget, sizes)
        return (Outcome.UNDECIDED if answer is None else Outcome(int(answer))), found

    def matrix(self) -> BoolArray:
        """Return the conflicts between blocks as a dense matrix, for small graphs."""
        apart = np.zeros((self.n, self.n), dtype=np.bool_)
        cliques = self._cliques
        for q in range(len(cliques.start) - 1):
            members = cliques.vertex[cliques.start[q] : cliques.start[q + 1]]
            apart[np.ix_(members, members)] = True
        np.fill_diagonal(apart, False)
        return apart

    @property
    def max_degree(self) -> int:
        """The largest number of neighbors of a block; those of several cliques are counted once for each."""
        return int(self._cliques.degree.max(initial=0))

    def peels(self, n_colors: int) -> bool:
        """Whether blocks with fewer neighbors left than colors can be removed until none is left."""
        return self._light and not _peel(self._cliques, n_colors)[1].any()

    def enough(self) -> int:
        """Return the least number of colors for which peeling alone finds a coloring (degeneracy + 1)."""
        low, high = 1, self.max_degree + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.peels(middle) else (middle + 1, high)
        return low

    def color(self, n_colors: int, budget: Budget | None = None) -> tuple[Outcome, IntArray]:
        """Search a coloring with at most ``n_colors`` colors.

        Blocks with fewer neighbors than colors can always be colored last, so they are peeled off first. The rest
        is searched in order of saturation (DSATUR) with backtracking, within 4 units of counted work, then by a solver
        within 10, or what the budget has left.
        """
        budget = Budget(_SEARCH + _SOLVE) if budget is None else budget
        color = np.full(self.n, -1, dtype=np.intp)
        if not self._light:
            return Outcome.UNDECIDED, color
        order, alive = _peel(self._cliques, n_colors)
        rest = np.flatnonzero(alive)
        if len(rest):
            if len(rest) * n_colors > _CELLS:
                return Outcome.UNDECIDED, color
            most = int(max(0.0, min(_SEARCH, budget.left)) * STEPS) // (_VERTEX * len(rest))
            answer, steps = _search(self._cliques, rest, color, n_colors, most)
            budget.spend(_VERTEX * len(rest) * steps)
            outcome = Outcome(answer)
            if outcome is Outcome.UNDECIDED and not budget.over:
                outcome = self._solve(rest, color, n_colors, budget.share(_SOLVE))
            if outcome is not Outcome.FOUND:
                return outcome, color
        _color_in_order(self._cliques, order[::-1].copy(), color)
        return Outcome.FOUND, color


def spread(color: IntArray, n_clusters: int) -> IntArray:
    """Turn a coloring into one with exactly ``n_clusters`` non-empty colors: some groups get a new color."""
    _, first, label = np.unique(color, return_index=True, return_inverse=True)
    movable = np.ones(len(color), dtype=np.bool_)
    movable[first] = False
    moved = np.flatnonzero(movable)[: n_clusters - len(first)]
    label = label.astype(np.intp)
    label[moved] = len(first) + np.arange(len(moved))
    return label


def search_partitions(
    graph: ConflictGraph, accepted: Callable[[IntArray], bool], k: int | None, budget: Budget
) -> tuple[Outcome, IntArray]:
    """Try all partitions of a few blocks into ``k`` parts, or any number, that keep apart what the graph does.

    Labels are restricted growth strings: a block joins an earlier part or opens the next one. **Cost** the number of
    partitions, so that large graphs are left undecided. **Guarantee** exact unless the budget is used up.
    """
    n, most = graph.n, graph.n if k is None else k
    if n > _MOST_TRIED:
        return Outcome.UNDECIDED, np.full(n, -1, dtype=np.intp)
    before = [np.flatnonzero(row[:v]).tolist() for v, row in enumerate(graph.matrix())]  # earlier blocks that are apart
    label, parts = [-1] * n, [0] * (n + 1)  # lists: a partition takes a moment; parts are those opened before a block
    outcome, v = Outcome.IMPOSSIBLE, 0
    while v >= 0:
        if budget.over:
            outcome = Outcome.UNDECIDED
            break
        budget.spend(_PARTITION)
        taken = {label[u] for u in before[v]}
        following = label[v] + 1
        while following in taken:
            following += 1
        if following >= min(parts[v] + 1, most):
            label[v] = -1
            v -= 1
            continue
        label[v] = following
        parts[v + 1] = max(parts[v], following + 1)
        if k is not None and parts[v + 1] + n - 1 - v < k:
            continue
        if v < n - 1:
            v += 1
        elif accepted(np.array(label, dtype=np.intp)):
            outcome = Outcome.FOUND
            break
    return outcome, np.array(label, dtype=np.intp)
