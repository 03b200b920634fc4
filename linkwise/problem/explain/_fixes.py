"""Smallest fixes of a conflict: single statements to drop if one repairs everything, else the smallest sets.

A repair takes a member from every conflict. So only what all conflicts met so far have in common can be a single fix;
and when many are dropped at once and a conflict is left, none of them is. Sets are found the same way: the fewest
statements that take one from every conflict known are tried, and fail with a new conflict or are a smallest repair
(implicit hitting sets).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Kind, gather
from linkwise.problem.statements import Budget

_REFERENCE = 256  # samples whose distances tell what is far and what is near
_AT_ONCE = 256
_MEMBERS = 128


@dataclass(frozen=True, eq=False)
class Doubt:
    """Sorts statements, the most suspicious first; without the data ``X`` weight and age decide."""

    constraints: Constraints
    X: Any = None
    metric: str = "euclidean"

    def __call__(self, statements: IntArray) -> IntArray:
        """Sort statements: disagreement with the data falling, weight rising, newest first; no rule's additions."""
        statements = statements[statements < self.constraints.n_statements]
        row, weight = self.constraints.row[statements], self.constraints.weight[statements]
        doubt = -self.score(statements)
        return np.asarray(statements[np.lexsort((-row, weight, doubt))], dtype=np.intp)

    def score(self, statements: IntArray) -> FloatArray:
        """How much the data contradict each statement, 0 to 1; 0 without data.

        Distances count by their rank among those of samples drawn at random, so no unit matters. A must-link is
        doubted for a large distance, a cannot-link for a small one, ab|c when d(a, b) ranks above the smaller of
        d(a, c) and d(b, c); a group by its worst pair, a choice by its best.
        """
        score = np.zeros(len(statements))
        if self.X is None or not len(statements):
            return score
        reference = self.reference()
        kind = self.constraints.kind[statements]
        plain = np.flatnonzero(np.isin(kind, (Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TRIPLET)))
        for start in range(0, len(plain), _AT_ONCE):
            at = plain[start : start + _AT_ONCE]
            score[at] = self._plain(statements[at], reference)
        for g in np.flatnonzero(kind >= Kind.TOGETHER):
            score[g] = self._group(int(statements[g]), Kind(int(kind[g])), reference)
        return score

    def reference(self) -> FloatArray:
        """Distances between samples drawn at random, rising."""
        some = self.distances(np.random.default_rng(0).permutation(self.constraints.n_samples)[:_REFERENCE])
        return np.sort(some[np.triu_indices(len(some), 1)])

    def _plain(self, statements: IntArray, reference: FloatArray) -> FloatArray:
        items, kind = self.constraints.items[statements], self.constraints.kind[statements]
        samples, small = np.unique(items, return_inverse=True)
        padded = int(samples[0] < 0)
        a, b, c = small.reshape(-1, 3).T - padded
        rank = rank_among(self.distances(samples[padded:]), reference)
        close = rank[a, b]
        score = np.where(kind == Kind.MUST_LINK, close, 1 - close)
        triplet = kind == Kind.TRIPLET
        far = np.minimum(rank[a, c], rank[b, c])
        score[triplet] = (1 + close[triplet] - far[triplet]) / 2
        return np.asarray(score, dtype=np.float64)

    def _group(self, statement: int, kind: Kind, reference: FloatArray) -> float:
        groups = self.constraints.groups
        members = groups.of(int(np.searchsorted(groups.statement, statement)))[:_MEMBERS]
        if kind.is_choice:
            one = gather(np.zeros(1, dtype=np.intp), np.array([len(members)]), members)
            _, pair, is_must = one.links(np.array([kind], dtype=np.int8))
            samples, at = np.unique(pair, return_inverse=True)
            first, second = at.reshape(-1, 2).T
            rank = rank_among(self.distances(samples)[first, second], reference)
            return float(np.where(is_must, rank, 1 - rank).min())
        rank = rank_among(self.distances(members), reference)
        if kind is Kind.TOGETHER:
            return float(rank[np.triu_indices(len(members), 1)].max())
        return 1 - float(rank[np.triu_indices(len(members), 1)].min())

    def distances(self, samples: IntArray) -> FloatArray:
        """Distances between some samples."""
        from scipy.spatial.distance import cdist

        X = self.X
        if self.metric == "precomputed":
            return np.asarray(np.asarray(X)[np.ix_(samples, samples)], dtype=np.float64)
        rows = X.tocsr()[samples].toarray() if hasattr(X, "tocsr") else np.asarray(X)[samples]
        rows = np.asarray(rows, dtype=np.float64)
        metric = {"l2": "euclidean", "manhattan": "cityblock", "l1": "cityblock"}.get(self.metric, self.metric)
        return np.asarray(cdist(rows, rows, metric=metric), dtype=np.float64)


def rank_among(distance: FloatArray, reference: FloatArray) -> FloatArray:
    """The share of the reference that is smaller, ties counted half."""
    both = np.searchsorted(reference, distance, "left") + np.searchsorted(reference, distance, "right")
    return np.asarray(both / (2 * max(len(reference), 1)), dtype=np.float64)


WORK = 3.0
_LARGEST = 5  # larger sets are too many to compare by hand; `repair` is for them
_SETS = 8
_FEW = 2
_EACH = 100  # steps of looking at one conflict


class Suspects(NamedTuple):
    """Smallest repairs, the most suspicious first; empty when they have more than five statements."""

    sets: tuple[tuple[int, ...], ...] = ()
    at_least: int = 1  # how many statements any repair has
    complete: bool = True  # False when the budget was too small for finding them all


def find_suspects(
    core: IntArray,
    conflict_without: Callable[[IntArray], IntArray | None],
    rank: Callable[[IntArray], IntArray],
    *,
    candidates: IntArray | None = None,
    largest: int = _LARGEST,
    budget: Budget | None = None,
) -> Suspects:
    """Find the smallest sets of statements without which the rest holds together, given a conflict ``core``.

    ``conflict_without`` returns a conflict among what is left when some statements are dropped, None when that holds
    together, and an empty one when it is not known to; it spends the budget, three units by default. ``rank`` sorts
    statements, the most suspicious first; single fixes are known to be among the ``candidates`` of the core.

    **Cost** O(log m) tests per single fix among m candidates. **Guarantee** every set repairs, and none has a proper
    subset that does, because no smaller set does; up to eight sets are returned where no single statement repairs.
    """
    budget = Budget(WORK) if budget is None else budget
    known = [core]
    found: list[int] = []
    sure = True
    blocks = [rank(core if candidates is None else candidates)]
    while blocks and len(blocks[0]):  # drop many at once: if a conflict is left, none of them is a single fix
        if budget.over:
            return Suspects(_singles(found, rank), 1, False)
        block = blocks.pop()
        other = conflict_without(block)
        if other is None and len(block) == 1:
            found.append(int(block[0]))
            if len(found) <= _FEW and blocks:  # mostly there are no others, and then one test tells
                blocks = [np.concatenate(blocks[::-1])]
        elif other is None or (not len(other) and len(block) > 1):
            blocks += np.array_split(block, 2)[::-1]
        elif not len(other):
            sure = False
        else:
            known.append(other)
            blocks = [left for left in (rest[np.isin(rest, other)] for rest in blocks) if len(left)]
    if found or largest < 2:
        return Suspects(_singles(found, rank), 1 if found or not sure else 2, sure)
    return _sets(known, conflict_without, rank, largest, budget)


def _sets(
    known: list[IntArray],
    conflict_without: Callable[[IntArray], IntArray | None],
    rank: Callable[[IntArray], IntArray],
    largest: int,
    budget: Budget,
) -> Suspects:
    apart = _disjoint(known)
    while True:  # conflicts that share no statement: as many members has every repair
        other = conflict_without(np.concatenate(apart))
        if other is None:
            break
        if not len(other) or budget.over:
            return Suspects((), len(apart), False)
        apart.append(other)
        known.append(other)
        if len(apart) > largest:
            return Suspects((), len(apart))
    found: list[IntArray] = []
    size = max(len(apart), 2)
    while len(found) < _SETS and size <= largest:
        order = rank(np.unique(np.concatenate(known)))
        chosen = _hit(known, found, order, size, budget)
        if budget.over:
            return Suspects(_ranked(found, rank), size, False)
        if chosen is None:
            if found:
                break
            size += 1
            continue
        other = conflict_without(chosen)
        if other is None:
            found.append(chosen)
        elif len(other):
            known.append(other)
        else:
            return Suspects(_ranked(found, rank), size, False)
    return Suspects(_ranked(found, rank), size)


def _singles(found: list[int], rank: Callable[[IntArray], IntArray]) -> tuple[tuple[int, ...], ...]:
    return tuple((int(s),) for s in rank(np.array(found, dtype=np.intp)))


def _ranked(found: list[IntArray], rank: Callable[[IntArray], IntArray]) -> tuple[tuple[int, ...], ...]:
    """Sort sets, those with the most suspicious members first."""
    if not found:
        return ()
    place = {int(s): p for p, s in enumerate(rank(np.unique(np.concatenate(found))))}
    sets = [tuple(sorted((int(s) for s in some), key=lambda s: place[s])) for some in found]
    return tuple(sorted(sets, key=lambda some: [place[s] for s in some]))


def _disjoint(known: list[IntArray]) -> list[IntArray]:
    kept: list[IntArray] = []
    for core in sorted(known, key=len):
        if not any(np.isin(core, other).any() for other in kept):
            kept.append(core)
    return kept


def _hit(known: list[IntArray], found: list[IntArray], order: IntArray, size: int, budget: Budget) -> IntArray | None:
    """Up to ``size`` statements that take a member from every conflict and are not found yet, suspicious ones first."""
    place = {int(s): p for p, s in enumerate(order)}
    cores = [frozenset(place[int(s)] for s in core) for core in known]
    taken = {frozenset(place[int(s)] for s in some) for some in found}

    def search(chosen: frozenset[int], cores: list[frozenset[int]], left: int) -> Iterator[frozenset[int]]:
        if not cores:
            yield chosen
        elif left == 1:
            budget.spend(_EACH * len(cores))
            yield from (chosen | {p} for p in sorted(frozenset.intersection(*cores)))
        elif not budget.over and _fewest(cores, left) <= left:
            budget.spend(_EACH * (len(cores) + 10))
            smallest = int(np.argmin([len(core) for core in cores]))
            for p in sorted(cores[smallest]):
                yield from search(chosen | {p}, [core for core in cores if p not in core], left - 1)

    chosen = next((some for some in search(frozenset(), cores, size) if some not in taken), None)
    return None if chosen is None else order[sorted(chosen)]


def _fewest(cores: list[frozenset[int]], enough: int) -> int:
    """How many statements it takes at least to hit all cores, counted up to one more than ``enough``."""
    met: set[int] = set()
    count = 0
    for core in cores:
        if met.isdisjoint(core):
            count += 1
            if count > enough:
                break
            met |= core
    return count
