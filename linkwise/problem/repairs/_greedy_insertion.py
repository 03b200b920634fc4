"""Greedy insertion: take statements in a given order and refuse each that contradicts those already taken."""

from __future__ import annotations

import numpy as np

from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.problem.repairs._kernels_insertion import _insert_pairs
from linkwise.problem.statements import Budget, Hard
from linkwise.problem.triplets import LiveTriplets, blocks_or_none

_CALL, _PAIR, _TRIPLET = 30_000, 8, 400  # steps of a call, and for each sample and statement


def insert_in_order(table: Constraints, order: IntArray, budget: Budget | None = None) -> BoolArray:
    """Mask the statements refused when all are inserted in ``order``, whatever their weight.

    What that takes is spent from the budget, which does not end it.

    Notes
    -----
    **Cost** near-linear for pairs or for triplets alone; for a mix, a logarithmic number of feasibility tests per
    refused statement. **Guarantee** the rest holds together, and no refused statement could be added to it.
    """
    refused = np.zeros(table.n_statements, dtype=np.bool_)
    budget = Budget(np.inf) if budget is None else budget
    size = table.n_samples + table.n_statements
    if np.isin(table.kind, (Kind.MUST_LINK, Kind.CANNOT_LINK)).all():
        taken = _insert_pairs(table.n_samples, table.items[order], table.kind[order] == Kind.MUST_LINK)
        refused[order] = ~taken
        budget.spend(_CALL + _PAIR * size)
    elif (table.kind == Kind.TRIPLET).all():
        _insert_triplets(table, order, refused)
        budget.spend(_CALL + _TRIPLET * size)
    else:
        _insert_mixed(table, order, refused, budget)
    return refused


def _insert_triplets(table: Constraints, order: IntArray, refused: BoolArray) -> None:
    live = LiveTriplets(table.n_samples)
    rows = table.items[order]
    start = 0
    while start < len(order):
        stop = live.add_many(rows[start:])
        if stop < 0:
            return
        refused[order[start + stop]] = True
        start += stop + 1


def _insert_mixed(table: Constraints, order: IntArray, refused: BoolArray, budget: Budget) -> None:
    """Insert whole runs and halve those that contradict: the outcome of one-by-one insertion with fewer tests."""
    taken = order[:0]
    runs = [order]
    while runs:
        run = runs.pop()
        trial = np.concatenate([taken, run])
        hard = Hard.of(table.select(trial))
        budget.spend(_CALL + hard.steps)
        if blocks_or_none(hard) is not None:
            taken = trial
        elif len(run) == 1:
            refused[run] = True
        else:
            first, second = np.array_split(run, 2)
            runs += [second, first]
