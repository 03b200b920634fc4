"""An estimate of the share of wrong statements, and the kept statements that contradict a dropped one."""

from __future__ import annotations

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.problem.explain import contradiction
from linkwise.problem.repairs._components import Incidence
from linkwise.problem.repairs._kernels_insertion import _separates
from linkwise.problem.repairs._kernels_link_cycles import blocks
from linkwise.problem.repairs._kernels_tree_cores import frees, implied_rows, small_cores
from linkwise.problem.statements import Budget, Hard
from linkwise.problem.triplets import blocks_or_none

_TESTS = 100_000  # statements looked at per question, so that large tables are judged by a sample
_SAMPLE = (8, 300)
_DROPS = (4, 60)
_FEW = 10  # so few checked answers of a kind do not make a rate of their own
_PAIRS = (Kind.MUST_LINK, Kind.CANNOT_LINK)
_CALL, _SMALL = 50_000, 0.3  # steps of a question; units of work for making one contradiction small


def contradicted_by(table: Constraints, kept: IntArray, statement: int, budget: Budget | None = None) -> IntArray:
    """Kept statements that contradict a dropped one, no fewer than needed; all are taken as hard.

    What that takes is spent from the budget.
    """
    budget = Budget(np.inf) if budget is None else budget
    at = np.append(kept, statement)
    budget.spend(_CALL + 10 * (table.n_samples + len(at)))
    if (table.kind[at] == Kind.TRIPLET).all():
        rng = np.random.default_rng(0)
        cores = []
        for _ in range(5 if len(at) < 5000 else 1):
            _, one, read = small_cores(table.n_samples, np.array(table.items), np.zeros(table.n_statements), at, 1, rng)
            budget.spend(read)
            cores.append(one)
        core = min(cores, key=len)
    else:
        why = contradiction(Hard.of(table.select(at)), fixes=False, budget=budget.share(_SMALL))
        core = at[np.array(why.core, dtype=np.intp)]
    return np.sort(core[core != statement])


def share_of_wrong(table: Constraints, off: BoolArray, judged: int | None = None) -> float:
    """Estimate the share of wrong answers from the dropped statements of a repair; see `Repair.noise` for the model.

    Only the first ``judged`` statements are answers; what comes after them is background.
    """
    if not off.any():
        return 0.0
    kept, dropped = np.flatnonzero(~off), np.flatnonzero(off)
    looked, implied = _implied(table, kept)
    some = dropped[_spread(len(dropped), table.n_statements, _DROPS)]
    stands_for = len(dropped) / len(some)
    blame = np.zeros(table.n_statements)
    for statement in some:
        equal = np.append(_exchangeable(table, kept, int(statement)), statement)
        blame[equal] += stands_for / len(equal)
    said, wrong, checked = [], [], []
    answers = np.arange(table.n_statements) < (table.n_statements if judged is None else judged)
    for kind in np.unique(table.kind[answers]):
        mine = (table.kind == kind) & answers
        share = float(implied[mine[looked]].mean()) if mine[looked].any() else 0.0
        said.append(int(mine.sum()))
        wrong.append(float(blame[mine].sum()))
        swapped = stands_for * int((blame[kept[mine[kept]]] > 0).sum())
        checked.append(int(mine[dropped].sum()) + share * int(mine[kept].sum()) + swapped)
    pooled = sum(wrong) / sum(checked)
    rates = [w / c if c >= _FEW else pooled for w, c in zip(wrong, checked, strict=True)]
    return float(min(1.0, np.dot(said, rates) / sum(said)))


def _spread(count: int, m: int, limits: tuple[int, int]) -> IntArray:
    """Positions spread evenly over ``count``: all of them, or as many as the size of the table allows."""
    size = min(count, int(np.clip(_TESTS // m, *limits)))
    return np.linspace(0, count - 1, size).astype(np.intp)


def _implied(table: Constraints, kept: IntArray) -> tuple[IntArray, BoolArray]:
    """Which kept statements follow from the other kept ones, for all of them or for a sample spread evenly."""
    kind = table.kind[kept]
    if np.isin(kind, _PAIRS).all():
        return kept, _implied_pairs(table.n_samples, table.items[kept, :2], kind == Kind.MUST_LINK)
    some = _spread(len(kept), table.n_statements, _SAMPLE)
    if (kind == Kind.TRIPLET).all():
        return kept[some], implied_rows(table.n_samples, np.array(table.items), kept, kept[some])
    known = some[np.isin(kind[some], (*_PAIRS, Kind.TRIPLET))]
    return kept[known], np.array([_follows(table.select(kept), int(s)) for s in known], dtype=np.bool_)


def _implied_pairs(n: int, pairs: IntArray, is_must: BoolArray) -> BoolArray:
    """A must-link follows when it lies on a cycle of must-links, a cannot-link when its clusters have another."""
    implied = np.zeros(len(pairs), dtype=np.bool_)
    must = pairs[is_must]
    graph = Incidence(n, must)
    block = blocks(graph.start, graph.other, graph.link)
    implied[is_must] = np.bincount(block, minlength=1)[block] > 1
    ends = np.sort(components(n, must)[pairs[~is_must]], axis=1)
    _, same, count = np.unique(ends[:, 0] * n + ends[:, 1], return_inverse=True, return_counts=True)
    implied[~is_must] = count[same] > 1
    return implied


def _follows(table: Constraints, statement: int) -> bool:
    """Whether every other answer to the question of one statement contradicts the rest."""
    a, b, c = (int(v) for v in table.items[statement])
    kind = int(table.kind[statement])
    if kind == Kind.TRIPLET:
        others = [(kind, (min(a, c), max(a, c), b)), (kind, (min(b, c), max(b, c), a))]
    else:
        others = [(Kind.CANNOT_LINK if kind == Kind.MUST_LINK else Kind.MUST_LINK, (a, b, c))]
    for other, items in others:
        kinds, rows = table.kind.copy(), table.items.copy()
        kinds[statement], rows[statement] = other, items
        if blocks_or_none(Hard.of(Constraints(table.n_samples, kinds, rows, table.weight, table.row))) is not None:
            return False
    return True


def _exchangeable(table: Constraints, kept: IntArray, statement: int) -> IntArray:
    """Kept statements that could go instead of a dropped one: they are in each of its contradictions."""
    core = contradicted_by(table, kept, statement)
    if (table.kind == Kind.TRIPLET).all():
        free: BoolArray = frees(table.n_samples, np.array(table.items), np.append(kept, statement), core)
        return core[free]
    at = np.append(kept, statement)
    if np.isin(table.kind, _PAIRS).all():
        is_must = table.kind == Kind.MUST_LINK
        links, bans = (table.items[at[is_must[at] == side], :2] for side in (True, False))
        free = _separates(table.n_samples, links, bans, table.items[core, :2], is_must[core])
        return core[free]
    return np.array([s for s in core if blocks_or_none(Hard.of(table.select(at[at != s]))) is not None], dtype=np.intp)
