"""Which answers are probably wrong, judged by what all the others say about the same samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.active._known import Known
from linkwise.active._query import Answer

__all__ = ["Doubt", "Evidence", "doubtful"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]

EXPECTED_ERRORS = (1.0, 19.0)  # wrong and right answers imagined before the first: one in twenty errs


class Evidence(NamedTuple):
    """What the field says of the samples placed: who they are, where they belong, and how they vary together."""

    placed: list[int]
    owner: IntArray
    covariance: FloatArray  # of the samples placed, noise on its diagonal
    claims: FloatArray  # of all neighbourhoods on all samples


class Doubt(NamedTuple):
    """An answer that is probably wrong, and another question that would tell."""

    pair: tuple[int, int]
    number: int
    chance: float


def doubtful(known: Known, evidence: Evidence, skeleton: list[int], least: float) -> Doubt | None:
    """Return the answer most probably wrong that can be checked, if that is more probable than ``least``.

    What is left of the claims on a sample if nothing but the answers about others is counted gives the chance p that it
    belongs to a neighbourhood. A share e of answers is wrong, judged by those that were
    checked. So a no was wrong with odds
    p e : (1 - p)(1 - e), and a yes with odds (1 - p) e : p (1 - e). Where such claims are often mistaken, they count
    less: p is mixed with the share of samples placed that would have been put elsewhere. The question that checks is
    the same about another member of the neighbourhood.
    """
    at = {sample: row for row, sample in enumerate(evidence.placed)}
    place = {group: row for row, group in enumerate(skeleton)}
    without, apart = _left_out(evidence)
    checked = {number for told in known.answers for number in told.checks}
    error = (EXPECTED_ERRORS[0] + len(known.suspects)) / (sum(EXPECTED_ERRORS) + len(checked))
    best: Doubt | None = None
    for told in known.trusted:
        if told.checks or told.number in checked or len(told.items) != 2:
            continue
        for sample, other in (told.items, told.items[::-1]):
            group = known.group(other)
            pair = _another(known, sample, other, group)
            if pair is None or group not in place:
                continue
            if sample in at:
                chances = (without if told.answer is Answer.YES else apart)[at[sample]]
            elif known.group(sample) not in place:
                chances = evidence.claims[sample]
            else:
                continue
            p = _chance(chances, place[group], evidence, without)
            q = p if told.answer is Answer.NO else 1.0 - p
            wrong = q * error / (q * error + (1.0 - q) * (1.0 - error))
            if wrong > (least if best is None else best.chance):
                best = Doubt(pair, told.number, wrong)
    return best


def _left_out(evidence: Evidence) -> tuple[FloatArray, FloatArray]:
    """Claims on each sample placed as if it had not been, and as if none of its neighbourhood had been."""
    owner, k = evidence.owner, evidence.claims.shape[1]
    goal = np.zeros((len(owner), k))
    goal[np.arange(len(owner)), owner] = 1.0
    inverse = np.linalg.inv(evidence.covariance)
    weights = inverse @ goal
    without = goal - weights / np.diag(inverse)[:, None]
    apart = np.zeros_like(goal)
    for group in range(k):
        rows = np.flatnonzero(owner == group)
        apart[rows] = goal[rows] - np.linalg.solve(inverse[np.ix_(rows, rows)], weights[rows])
    return without, apart


def _chance(claims: FloatArray, group: int, evidence: Evidence, without: FloatArray) -> float:
    shared = np.bincount(evidence.owner, minlength=without.shape[1])[evidence.owner] > 1
    missed = int((without.argmax(axis=1) != evidence.owner)[shared].sum())
    doubt = (missed + 1.0) / (int(shared.sum()) + 2.0)
    p = np.maximum(claims, 0.0)
    return float((1.0 - doubt) * p[group] / max(p.sum(), 1.0) + doubt / (len(p) + 1))


def _another(known: Known, sample: int, other: int, group: int) -> tuple[int, int] | None:
    """The same question about another member."""
    for member in known.members(group):
        pair = (min(sample, member), max(sample, member))
        if member not in (sample, other) and not known.is_told(pair):
            return pair
    return None
