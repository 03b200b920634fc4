"""Minimal cores of contradictions that no number of clusters resolves, read off proof forests.

Each forest yields a core that is minimal for certain; different forests yield different cores. So a few are grown, each
inside the samples of the smallest core so far, and the smallest is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import IntArray
from linkwise.constraints import Kind
from linkwise.problem.explain._explanation import minimal_core
from linkwise.problem.statements import Budget, Hard, renumber
from linkwise.problem.triplets import (
    blocks_or_none,
    finest_blocks,
    grow_forest,
    needed_links,
    onetree,
    path,
    smallest_knot,
    unite_blocks,
)

CHAIN, KNOT, UNION = range(3)
_PAIRS_TRIED = 16
_PATIENCE = 12  # forests grown in vain before the smallest core is taken
_WORK = 0.3
_FOREST, _ROW = 100_000, 60  # steps of growing a forest, and those for each of its rows


class Core(NamedTuple):
    """Statements that conflict although no proper subset does.

    The sort is a chain of must-links, triplets among themselves, or must-links and triplets together. Only statements
    that are ``shared`` by every other core met on the way, if any was, can be single fixes.
    """

    numbers: IntArray  # rising, with what a rule added
    sort: int  # CHAIN, KNOT or UNION
    pair: tuple[int, int] | None = None  # samples that are forced into one cluster and are to be apart
    by: int = -1  # the statement that keeps them apart
    complete: bool = True  # False when the budget was too small to make it minimal
    shared: IntArray | None = None


def find_core(
    hard: Hard, *, rng: np.random.Generator | None = None, budget: Budget | None = None, sort: int = CHAIN
) -> Core | None:
    """Find a minimal core, or None when the statements can hold together.

    With ``rng`` one core is taken at random, without the work of finding a small one. The first core is found whatever
    it takes, the rest of the budget, 0.3 units by default, goes into a small one. ``sort`` says where to begin, if it
    is known that there is no conflict of the sorts before. **Cost** one test of feasibility plus near-linear time per
    forest. **Guarantee** minimal; not the smallest there is.
    """
    budget = Budget(_WORK) if budget is None else budget
    budget.spend(hard.steps)
    if sort == CHAIN:
        block = components(hard.n, hard.must)
        pairs, at = hard.broken(block)
        if len(pairs):
            return _chain(hard, block, pairs, at, rng, budget)
    if not len(hard.triplets):
        return None
    stuck = onetree(hard.n, hard.triplets).stuck if sort <= KNOT else None
    if stuck is not None:
        return _knot(hard, stuck, rng, budget)
    if not len(hard.must) or not hard.separates:
        return None
    return _union(hard, rng, budget)


# -- chains of must-links ------------------------------------------------------------------------------------------


def _chain(
    hard: Hard, block: IntArray, pairs: IntArray, at: IntArray, rng: np.random.Generator | None, budget: Budget
) -> Core:
    """A chain with the fewest statements between two samples that are to be apart: fewer cannot connect them."""
    tried = np.arange(min(len(pairs), _PAIRS_TRIED)) if rng is None else rng.integers(len(pairs), size=1)
    bad = np.zeros(hard.n, dtype=np.bool_)
    bad[block[pairs[tried, 0]]] = True
    here = np.flatnonzero(bad[block[hard.must[:, 0]]])
    n, node, links, number = _graph(hard, here)
    best: tuple[int, int] | None = None
    chain = links[:0, 0]
    for q in tried:
        budget.spend(_FOREST + _ROW * len(links))
        a, b = pairs[q]
        forest = grow_forest(n, links, node[[a]])
        if best is None or forest.depth[node[b]] < best[0]:
            steps = path(forest, node[a], node[b])
            lower = np.where(forest.depth[steps[:-1]] > forest.depth[steps[1:]], steps[:-1], steps[1:])
            best, chain = (int(forest.depth[node[b]]), int(q)), number[forest.link[lower]]
    q = best[1] if best is not None else 0
    a, b, by = int(pairs[q, 0]), int(pairs[q, 1]), int(at[q])
    numbers = np.append(_with_rules(hard, here, chain, a, b), by)
    left = hard.only(numbers)
    broken = left.broken(components(hard.n, left.must))[0]
    if len(broken) == 1:
        return Core(np.unique(numbers), CHAIN, (a, b), by)
    core, complete = _tighten(hard, np.unique(numbers))  # a group apart: some other two may be closer
    left = hard.only(core)
    a, b = (int(v) for v in left.broken(components(hard.n, left.must))[0][0])
    return Core(core, CHAIN, (a, b), by, complete)


def _with_rules(hard: Hard, rows: IntArray, chain: IntArray, a: int, b: int) -> IntArray:
    """Add to the statements of a chain the links of a rule that it passes."""
    m = hard.constraints.n_statements
    rows = rows[hard.must_at[rows] >= m]
    if not len(rows):
        return chain
    rows = np.append(rows, np.flatnonzero(np.isin(hard.must_at, chain)))
    forest = grow_forest(hard.n, np.ascontiguousarray(hard.must[rows]), np.array([a]))
    steps = path(forest, a, b)
    return np.unique(hard.must_at[rows[forest.link[steps[1:]]]])


def _graph(hard: Hard, rows: IntArray) -> tuple[int, IntArray, IntArray, IntArray]:
    """Must-links as a graph: number of nodes, node of each sample, links, and the statement of each link.

    What a rule joins is one node. A group is a node of its own that its members are linked to, so that the shortest
    chain passes through it once.
    """
    must, number = hard.must[rows], hard.must_at[rows]
    said = number < hard.constraints.n_statements
    node = np.arange(hard.n) if said.all() else components(hard.n, np.ascontiguousarray(must[~said]))
    must, number = node[must[said]], number[said]
    n = int(node.max(initial=-1)) + 1
    group = hard.constraints.kind[number] == Kind.TOGETHER
    if not group.any():
        return n, node, np.ascontiguousarray(must), number
    groups, which = np.unique(number[group], return_inverse=True)
    hub = n + which
    links = np.concatenate([must[~group], *(np.column_stack([hub, must[group, end]]) for end in (0, 1))])
    return n + len(groups), node, links, np.concatenate([number[~group], number[group], number[group]])


def _tighten(hard: Hard, numbers: IntArray) -> tuple[IntArray, bool]:
    """Drop statements without which a few others still conflict; links of a rule count as given and go last."""
    local = hard.only(numbers).squeeze()[0]
    said = numbers < hard.constraints.n_statements

    def conflicts(some: IntArray) -> bool:
        return blocks_or_none(local.only(some)) is None

    free = numbers[~said]
    core, complete = minimal_core(numbers[said], lambda some: conflicts(np.append(some, free)))
    used, thin = minimal_core(free, lambda some: conflicts(np.append(some, core)))
    return np.sort(np.append(core, used)), complete and thin


# -- triplets among themselves -------------------------------------------------------------------------------------


def _knot(hard: Hard, stuck: IntArray, rng: np.random.Generator | None, budget: Budget) -> Core:
    """Return triplets inside a set of samples that tie it together: one fewer than there are samples."""
    if rng is None:
        pair = _one_trio_two_ways(hard.n, hard.triplets)
        if pair is not None:
            return Core(np.sort(hard.triplets_at[pair]), KNOT)
    chosen = np.zeros(hard.n, dtype=np.bool_)
    chosen[stuck] = True
    rows = np.flatnonzero(chosen[hard.triplets].all(axis=1))

    def attempt(rows: IntArray, rng: np.random.Generator) -> IntArray:
        budget.spend(_FOREST + _ROW * len(rows))
        order = rng.permutation(len(rows))
        small = hard.triplets[rows[order]]
        samples, place = renumber(hard.n, small)
        small = place[small]
        root = rng.integers(len(samples), size=1)
        forest = grow_forest(len(samples), np.ascontiguousarray(small[:, :2]), root)
        return np.asarray(rows[order[forest.link[smallest_knot(forest, small[:, 2])]]], dtype=np.intp)

    def inside(core: IntArray, rows: IntArray) -> IntArray:
        chosen[:] = False
        chosen[hard.triplets[core]] = True
        return rows[chosen[hard.triplets[rows]].all(axis=1)]

    best, shared = _smallest(rows, attempt, inside, rng, budget)
    return Core(np.sort(hard.triplets_at[best]), KNOT, shared=hard.triplets_at[shared])


def _smallest(
    rows: IntArray,
    attempt: Callable[[IntArray, np.random.Generator], IntArray],
    inside: Callable[[IntArray, IntArray], IntArray],
    rng: np.random.Generator | None,
    budget: Budget,
) -> tuple[IntArray, IntArray]:
    """Repeat an attempt inside the best result so far until it no longer helps; return the best and the common part."""
    if rng is not None:
        only = attempt(rows, rng)
        return only, only
    rng = np.random.default_rng(0)
    best = shared = attempt(rows, rng)
    vain = 0
    while vain < _PATIENCE and len(best) > 2 and not budget.over:
        rows = inside(best, rows)
        again = attempt(rows, rng)
        shared = shared[np.isin(shared, again)]
        vain = 0 if len(again) < len(best) else vain + 1
        best = again if len(again) <= len(best) else best
    return best, shared


def _one_trio_two_ways(n: int, triplets: IntArray) -> IntArray | None:
    """Two rows about the same three samples with different odd ones out."""
    low, high = triplets.min(axis=1), triplets.max(axis=1)
    middle = triplets.sum(axis=1) - low - high
    first = low * n + middle
    order = np.argsort(first * n + high) if n < 1 << 20 else np.lexsort((high, first))  # beyond, the key overflows
    same = (first[order[1:]] == first[order[:-1]]) & (high[order[1:]] == high[order[:-1]])
    odd = triplets[order, 2]
    clash = np.flatnonzero(same & (odd[1:] != odd[:-1]))
    return order[clash[0] : clash[0] + 2] if len(clash) else None


# -- must-links and triplets together ------------------------------------------------------------------------------


def _union(hard: Hard, rng: np.random.Generator | None, budget: Budget) -> Core | None:
    """Return the statements that force two samples that must be apart into one cluster."""
    first = _proof(hard, np.random.default_rng(0) if rng is None else rng, budget)
    if first is None:
        return None
    best, shared = first, first.numbers
    if rng is None:
        rng = np.random.default_rng(0)
        local, vain = hard, 0
        while vain < _PATIENCE and not budget.over:
            local = _about(local, best.numbers)
            again = _proof(local, rng, budget)
            if again is None:
                break
            shared = shared[np.isin(shared, again.numbers)]
            vain = 0 if len(again.numbers) < len(best.numbers) else vain + 1
            best = again if len(again.numbers) <= len(best.numbers) else best
    m = hard.constraints.n_statements
    said = best.numbers[best.numbers < m]
    complete, pair = best.complete, best.pair
    in_group = hard.constraints.kind[said] == Kind.TOGETHER
    if in_group.any() or np.isin(best.numbers, hard.apart.statement).any():
        numbers, complete = _tighten(hard, best.numbers)
        left = hard.only(numbers)
        x, y = (int(v) for v in left.broken(finest_blocks(hard.n, left.must, left.triplets))[0][0])
        best, pair = best._replace(numbers=numbers), (x, y)
    return best._replace(pair=pair, complete=complete, shared=shared)


def _about(hard: Hard, numbers: IntArray) -> Hard:
    """Return all statements about the samples of some statements, these included."""
    core = hard.only(numbers)
    chosen = np.zeros(hard.n, dtype=np.bool_)
    for part in (core.must, core.triplets, core.cannot, core.apart.member):
        chosen[part] = True
    return hard.where(
        np.asarray(chosen[hard.must].all(axis=1)) | np.isin(hard.must_at, numbers),
        np.asarray(chosen[hard.cannot].all(axis=1)),
        np.asarray(chosen[hard.triplets].all(axis=1)),
        np.isin(hard.apart.statement, numbers),
    )


def _proof(hard: Hard, rng: np.random.Generator, budget: Budget) -> Core | None:
    """Grow one forest, and return the statements that the cheapest of some broken pairs needs."""
    budget.spend(_FOREST + _ROW * hard.n_rows)
    local, samples = hard.squeeze()
    must, number = local.must, local.must_at
    order = _short_chains(local, rng)
    must, number = np.ascontiguousarray(must[order]), number[order]
    triplets = local.triplets
    shuffled = rng.permutation(len(triplets))
    triplets, triplets_at = triplets[shuffled], local.triplets_at[shuffled]
    made = unite_blocks(local.n, must, triplets)
    pairs, at = local.broken(made.block)
    if not len(pairs):
        return None
    forest = grow_forest(local.n, np.ascontiguousarray(made.link), np.empty(0, np.intp))
    statement = np.concatenate([number, triplets_at])[made.reason]
    need = np.concatenate([np.full(len(must), -1, dtype=np.intp), triplets[:, 2]])[made.reason]
    best: Core | None = None
    for q in rng.permutation(len(pairs))[:_PAIRS_TRIED]:
        x, y = pairs[q]
        lower = np.flatnonzero(needed_links(forest, need, x, y))
        if best is None or len(lower) + 1 < len(best.numbers):
            numbers = np.unique(np.append(statement[forest.link[lower]], at[q]))
            best = Core(numbers, UNION, (int(samples[x]), int(samples[y])), int(at[q]))
    return best


def _short_chains(hard: Hard, rng: np.random.Generator) -> IntArray:
    """Return must-links that connect as all do, by short chains; those of a rule first: they need no statement."""
    order = rng.permutation(len(hard.must))
    free = hard.must_at[order] >= hard.constraints.n_statements
    if free.any():
        return order[np.argsort(~free, kind="stable")]
    forest = grow_forest(hard.n, np.ascontiguousarray(hard.must[order]), rng.integers(hard.n, size=8))
    return np.asarray(order[forest.link[forest.link >= 0]], dtype=np.intp)
