"""Which few statements to drop: single ones if any of them repairs everything, else the smallest sets.

A repair takes a member from every conflict. So only what all conflicts met so far have in common can be a single fix,
and each candidate that fails yields a conflict without it, which rules out others as well. Sets are found the same
way: the cheapest choice that takes a member from every conflict known is tried, and fails with a new conflict or is a
smallest repair (implicit hitting sets).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

__all__ = ["Suspects", "find_suspects"]

IntArray = npt.NDArray[np.intp]
_SECONDS = 3.0
_LARGEST = 5  # nobody weighs sets of more statements against each other; `repair` is for them
_SETS = 8


class Suspects(NamedTuple):
    """Smallest repairs, the most suspicious first; empty when they have more than five statements.

    ``at_least`` is how many statements any repair has, ``complete`` is False when time was too short to find them all.
    """

    sets: tuple[tuple[int, ...], ...] = ()
    at_least: int = 1
    complete: bool = True


def find_suspects(
    core: IntArray,
    conflict_without: Callable[[IntArray], IntArray | None],
    rank: Callable[[IntArray], IntArray],
    *,
    candidates: IntArray | None = None,
    largest: int = _LARGEST,
    seconds: float = _SECONDS,
) -> Suspects:
    """Find the smallest sets of statements without which the rest holds together.

    Parameters
    ----------
    core : ndarray of intp
        Statements that conflict.
    conflict_without : callable
        A conflict among what is left when some statements are dropped, None when that holds together; empty when it is
        not known to.
    rank : callable
        Sorts statements, the most suspicious first.
    candidates : ndarray of intp, optional
        Members of the core that single fixes are known to be among.
    largest : int, default=5
        Look for no sets with more statements.

    Notes
    -----
    **Cost** one test per single fix and a few that fail. **Guarantee** every set repairs, and none has a proper subset
    that does, because no smaller set does; up to eight sets are returned where no single statement repairs.
    """
    deadline = time.monotonic() + seconds
    known = [core]
    left = core if candidates is None else candidates
    if len(left) > 2:
        other = conflict_without(core)
        if other is not None:
            left = left[:0]
            known += [other] if len(other) else []
    found: list[int] = []
    waiting = rank(left)
    while len(waiting):
        if time.monotonic() > deadline:
            return Suspects(tuple((int(s),) for s in rank(np.array(found, dtype=np.intp))), 1, False)
        first, waiting = waiting[:1], waiting[1:]
        other = conflict_without(first)
        if other is None:
            found.append(int(first[0]))
        elif len(other):
            known.append(other)
            waiting = waiting[np.isin(waiting, other)]
    if found or largest < 2:
        return Suspects(tuple((int(s),) for s in rank(np.array(found, dtype=np.intp))))
    return _sets(known, conflict_without, rank, largest, deadline)


def _sets(
    known: list[IntArray],
    conflict_without: Callable[[IntArray], IntArray | None],
    rank: Callable[[IntArray], IntArray],
    largest: int,
    deadline: float,
) -> Suspects:
    apart = _disjoint(known)
    while True:  # conflicts that share no statement: as many members has every repair
        other = conflict_without(np.concatenate(apart))
        if other is None:
            break
        if not len(other) or time.monotonic() > deadline:
            return Suspects((), len(apart), False)
        apart.append(other)
        known.append(other)
        if len(apart) > largest:
            return Suspects((), len(apart))
    found: list[IntArray] = []
    size = max(len(apart), 2)
    while len(found) < _SETS:
        if time.monotonic() > deadline:
            return Suspects(_tuples(found), size, False)
        chosen = _hit(known, found, rank, deadline)
        if chosen is None or (found and len(chosen) > len(found[0])):
            break
        size = max(size, len(chosen))
        if size > largest:
            return Suspects((), size)
        other = conflict_without(chosen)
        if other is None:
            found.append(chosen)
        elif len(other):
            known.append(other)
        else:
            return Suspects(_tuples(found), size, False)
    return Suspects(_tuples(found), size)


def _tuples(found: list[IntArray]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(s) for s in some) for some in found)


def _disjoint(known: list[IntArray]) -> list[IntArray]:
    kept: list[IntArray] = []
    for core in sorted(known, key=len):
        if not any(np.isin(core, other).any() for other in kept):
            kept.append(core)
    return kept


def _hit(
    known: list[IntArray], found: list[IntArray], rank: Callable[[IntArray], IntArray], deadline: float
) -> IntArray | None:
    """The fewest statements that take a member from every conflict and are not found yet, suspicious ones first."""
    statements = rank(np.unique(np.concatenate(known)))
    place = {int(s): p for p, s in enumerate(statements)}
    rows = [*known, *found]
    column = np.array([place[int(s)] for row in rows for s in row])
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    matrix = csr_array((np.ones(len(column)), column, start), shape=(len(rows), len(statements)))
    low = np.where(np.arange(len(rows)) < len(known), 1.0, -np.inf)
    high = np.array([np.inf] * len(known) + [len(row) - 1.0 for row in found])
    # a preference decides between sets of one size and never makes a larger one cheaper
    price = 1.0 + np.arange(len(statements)) / (2.0 * _LARGEST * len(statements))
    answer = milp(
        price,
        constraints=LinearConstraint(matrix, low, high),
        integrality=np.ones(len(statements)),
        bounds=Bounds(0, 1),
        options={"time_limit": max(deadline - time.monotonic(), 0.01), "mip_rel_gap": 0.0},
    )
    if answer.x is None or answer.status != 0:
        return None
    return np.asarray(statements[answer.x > 0.5], dtype=np.intp)
