"""Blame a conflict with a wanted number of clusters on entries: members of groups and labeled samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwise._typing import IntArray
from linkwise.constraints import Constraints, Kind, has_parts
from linkwise.problem.explain import (
    Doubt,
    EntryDoubt,
    Explanation,
    Suspects,
    blame_words,
    expand,
    find_suspects,
    minimal_core,
)
from linkwise.problem.feasibility._n_clusters import decide_number
from linkwise.problem.statements import Budget, Hard
from linkwise.problem.triplets import blocks_or_none

_WORK = 5.0  # units of counted work to find the entries at fault for a number of clusters


_EACH = 1.0  # of it for one test


_NOT_KNOWN = np.empty(0, dtype=np.intp)


def blame_number(given: Hard, k: int, why: Explanation, rank: Doubt | None, budget: Budget) -> Explanation:
    """Add to a conflict with a wanted number of clusters which entries are at fault.

    Virtual samples would need clusters of their own once their entries go, so every test looks at the statements that
    the entries left make.
    """
    said, core = given.constraints, np.array(why.core, dtype=np.intp)
    if not len(core) or not has_parts(said):
        return why
    whole = expand(said)
    numbers = whole.of_statements(core)
    if not (whole.entries.sample[numbers] >= 0).any():
        return why
    work = budget.share(_WORK)
    near, rule = given.must[given.must_at >= said.n_statements], given.rule

    def status(table: Constraints) -> str:
        hard = Hard.of(table, near, rule)
        block = blocks_or_none(hard)
        if block is None:
            return "infeasible"
        return decide_number(hard, block, k, reasons=False, budget=work.share(_EACH)).status

    small = expand(whole.without(np.setdiff1d(np.arange(len(whole.entries)), numbers))[0])

    def conflicts(some: IntArray) -> bool:
        left_out = np.setdiff1d(np.arange(len(small.entries)), some)
        return status(small.without(left_out)[0]) == "infeasible"

    if len(core) == 1 and said.kind[core[0]] == Kind.APART and not said.labels:
        found, complete = np.arange(k + 1), True  # any k + 1 samples that are pairwise apart, and no fewer
    else:
        found, complete = minimal_core(np.arange(len(small.entries)), conflicts, work)
    entries = numbers[found]

    def conflict_without(some: IntArray) -> IntArray | None:
        answer = status(whole.without(some)[0])
        if answer == "feasible":
            return None
        left = np.setdiff1d(np.arange(len(whole.entries)), some)
        return left if answer == "infeasible" else _NOT_KNOWN

    suspects = Suspects(complete=False)
    if rank is not None and why.complete:
        suspects = find_suspects(entries, conflict_without, EntryDoubt.of(whole, rank), largest=1, budget=work)
    written = whole.written(entries, suspects.sets, suspects.at_least, complete and suspects.complete)
    return blame_words(replace(why, written=written), said)
