"""Answers in doubt: the chance that one is wrong, the samples it would mislead, and the question that checks it."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.active._answered import Known
from linkwise.active._query import Answer, Told

EXPECTED_ERRORS = (0.5, 9.5)  # wrong and right answers imagined before the first: one in twenty errs
TINY = 0.05  # share of the samples that a cluster counts for at least, if it may not be there
NOISE = 0.01  # as NeighborhoodPropagation has it


class Doubt(NamedTuple):
    """Answers that may be wrong, the question that checks them, and the samples expected to depend on it."""

    pair: tuple[int, int]
    numbers: tuple[int, ...]
    worth: float


class Evidence:
    """The placed samples in the field, and its values without some of them.

    Parameters
    ----------
    placed : list of int
        The samples placed.
    owner : ndarray of shape (n_placed,)
        The neighborhood of each.
    columns : ndarray of shape (n_placed, n_samples)
        Covariances of the samples placed with all.
    claims : ndarray of shape (n_samples, k)
        Claims of all neighborhoods on all samples.
    """

    def __init__(self, placed: list[int], owner: IntArray, columns: FloatArray, claims: FloatArray) -> None:
        self._row = {sample: row for row, sample in enumerate(placed)}
        self._columns, self._claims = columns, claims
        self._goal = np.eye(claims.shape[1])[owner]
        self._inverse = np.linalg.inv(columns[:, placed] + NOISE * np.eye(len(owner)))
        self._weights = self._inverse @ self._goal
        self._labels = claims.argmax(axis=1)
        self.won = np.bincount(self._labels, minlength=claims.shape[1])
        alone = self._goal - self._weights / np.diag(self._inverse)[:, None]
        shared = self._goal.sum(axis=0)[owner] > 1
        missed = int((alone.argmax(axis=1) != owner)[shared].sum())
        self._mistaken = (missed + 1.0) / (int(shared.sum()) + 2.0)

    def chance(self, samples: list[int], group: int) -> float:
        """Return the chance that samples belong to a neighborhood, by the answers about other samples alone.

        Where such claims are often mistaken, they count less: the chance is mixed with the share of placed samples that
        would have been put elsewhere.
        """
        rows, gone = self._without(samples)
        p = np.maximum(self._goal[rows] - gone, 0.0)
        share = (p[:, group] / np.maximum(p.sum(axis=1), 1.0)).mean()
        return float((1.0 - self._mistaken) * share + self._mistaken / (p.shape[1] + 1))

    def misled(self, samples: list[int]) -> int:
        """Return the number of samples that would go elsewhere if some were not placed."""
        rows, gone = self._without(samples)
        left = self._claims - self._columns.T @ (self._inverse[:, rows] @ gone)
        return int((left.argmax(axis=1) != self._labels).sum())

    def _without(self, samples: list[int]) -> tuple[list[int], FloatArray]:
        rows = [self._row[sample] for sample in samples]
        return rows, np.linalg.solve(self._inverse[np.ix_(rows, rows)], self._weights[rows])


class Doubts:
    """The answers of a dialogue that are worth checking.

    Two groups that only "no" keeps apart may be one, and a "yes" that alone ties samples to their group may be wrong.
    The answers about other samples give the chance p that the samples belong there. A share e of answers is wrong,
    judged by those that were checked. So r times "no" is wrong with odds (p : 1 - p) (e : 1 - e)^r, and a "yes" with
    odds (1 - p : p) (e : 1 - e); an answer to the contrary that is not trusted takes one factor (e : 1 - e) away. The
    chance, times the samples that would go elsewhere, is the worth of a check; a cluster that may not be there counts
    for some samples even if it has one, so that a lone "no" does not open it unnoticed.

    Parameters
    ----------
    known : Known
        The answers.
    evidence : Evidence
        The placed samples in the field.
    place : dict of int to int
        The neighborhood of each group that is placed.
    least : float
        Answers that are less probably wrong are not looked at.
    """

    def __init__(self, known: Known, evidence: Evidence, place: dict[int, int], least: float) -> None:
        self._known, self._evidence, self._place, self._least = known, evidence, place, least
        checked = {number for told in known.answers for number in told.checks}
        error = (EXPECTED_ERRORS[0] + len(known.suspects)) / (sum(EXPECTED_ERRORS) + len(checked))
        self._slip = error / (1.0 - error)

    def best(self, gain: float) -> Doubt | None:
        """Return the doubt whose check is worth most, if that is more than ``gain`` samples."""
        found = max([*self._splits(), *self._ties()], key=lambda doubt: doubt.worth, default=None)
        return None if found is None or found.worth <= gain else found

    def _splits(self) -> list[Doubt]:
        """Doubts about groups that few answers keep apart."""
        known, place, evidence = self._known, self._place, self._evidence
        between: defaultdict[tuple[int, ...], list[Told]] = defaultdict(list)
        for told in known.trusted:
            if told.answer is Answer.NO:
                between[self._groups(told)].append(told)
        against = [self._groups(told) for told in known.suspects if told.answer is Answer.YES]
        found = []
        for groups, answers in between.items():
            if not all(group in place for group in groups) or place[groups[0]] == place[groups[1]]:
                continue
            one, other = sorted(groups, key=lambda group: (len(known.members(group)), group))
            small, large = known.members(one), known.members(other)
            wrong = self._wrong(evidence.chance(small, place[other]), len(answers) - against.count(groups))
            pair = _fresh(known, small, large, answers) if wrong > self._least else None
            if pair is not None:
                whole = sum(at == place[one] for at in place.values()) == 1
                won = max(float(evidence.won[[place[one], place[other]]].min()), TINY * float(evidence.won.sum()))
                moved = won if whole else evidence.misled(small)
                found.append(Doubt(pair, tuple(told.number for told in answers), wrong * moved))
        return found

    def _ties(self) -> list[Doubt]:
        """Doubts about samples that one answer ties to their group."""
        known, evidence = self._known, self._evidence
        edges: defaultdict[int, list[Told]] = defaultdict(list)
        for told in known.trusted:
            if told.answer is Answer.YES:
                for item in told.items:
                    edges[item].append(told)
        against = [told for told in known.suspects if told.answer is Answer.NO]
        found = []
        for told in known.trusted:
            group = known.group(told.items[0])
            side = _side(edges, told) if told.answer is Answer.YES and group in self._place else None
            if side is None:
                continue
            members, samples = known.members(group), sorted(side)
            contrary = sum(len(side & set(no.items)) == 1 and known.same(*no.items) is True for no in against)
            wrong = self._wrong(1.0 - evidence.chance(samples, self._place[group]), 1 - contrary)
            rest = [member for member in members if member not in side]
            pair = _fresh(known, samples, rest, [told]) if wrong > self._least else None
            if pair is not None:
                found.append(Doubt(pair, (told.number,), wrong * evidence.misled(samples)))
        return found

    def _wrong(self, p: float, times: int) -> float:
        odds = p / (1.0 - p) * self._slip**times
        return odds / (1.0 + odds)

    def _groups(self, told: Told) -> tuple[int, ...]:
        return tuple(sorted(self._known.group(item) for item in told.items))


def _side(edges: dict[int, list[Told]], told: Told) -> set[int] | None:
    """The smaller part that a group falls into without a "yes"; None if it does not fall apart."""
    ends = [item for item in told.items if len(edges[item]) == 1]
    if ends:
        return {ends[0]}
    sides = []
    for start, other in (told.items, told.items[::-1]):
        seen, line = {start}, [start]
        while line:
            here = line.pop()
            for edge in edges[here]:
                more = set() if edge is told else set(edge.items) - seen
                seen |= more
                line += more
        if other in seen:
            return None
        sides.append(seen)
    return min(sides, key=lambda side: (len(side), min(side)))


def _fresh(known: Known, small: list[int], large: list[int], answers: list[Told]) -> tuple[int, int] | None:
    """A pair across two sides that was not asked about; of samples that the answers do not name, if possible."""
    named = {item for told in answers for item in told.items}
    for one in sorted(small, key=lambda item: item in named):
        for two in sorted(large, key=lambda item: item in named):
            if not known.is_told((one, two)):
                return (min(one, two), max(one, two))
    return None
