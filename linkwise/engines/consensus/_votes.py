"""The votes of views on statements held out: evidence as pairs, the weight of each view, and calibrated trust."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints, Groups, Kind
from linkwise.engines.consensus._maps import Maps
from linkwise.engines.consensus._views import DOUBTFUL, HARD, Outcome, View, fit_views
from linkwise.problem.entailment import knowledge_folds

FOLDS = 5
SPLITS = 2  # ways to part doubtful statements into folds: the mean of two votes on a statement depends less on chance
FLOOR = 0.02  # weight of a view that agrees with held-out statements no better than chance
_SLOPE = 6.0  # prior: log odds between a pair that all views put together and a pair that none does
_RIDGE = np.array([0.1, 0.5])  # strength of that prior, for the offset and for the slope
_IMAGINED = 3.0  # pairs apart that no view puts together, and pairs together that all do, imagined before any evidence
_MOST = 5.0  # times that a held-out fact may count when kinds are weighed to their share among the statements
_ROUNDS = 40  # of calibrating and judging statements in turn
# Statements that a weight is worth, when the share of wrong ones among those of the same weight is learned from votes.
_RATE = 40.0
# Log odds that a triplet ab|c is right about a, b in one cluster and c outside it: it may be about a finer level.
_TRIPLET = float(np.log(4.0))
# Log odds at which hard statements are judged, those of the trust "doubtful": they hold whatever the verdict.
_HARD = float(np.log(19.0))
_REACH = 10  # members of a group apart with which each member is compared

Step = Callable[[], None]


class Evidence(NamedTuple):
    """Statements as pairs of samples.

    Attributes
    ----------
    pairs : ndarray of intp, shape (m, 2)
        The samples.
    same : ndarray of bool, shape (m,)
        Whether the statement puts them together.
    odds : ndarray of float64, shape (m,)
        Log odds that it is right; inf for hard statements.
    owner : ndarray of intp, shape (m,)
        The statement each pair is from.
    """

    pairs: IntArray
    same: BoolArray
    odds: FloatArray
    owner: IntArray

    def pick(self, keep: Any) -> Evidence:
        """Keep some of the pairs."""
        return Evidence(self.pairs[keep], self.same[keep], self.odds[keep], self.owner[keep])

    def within(self, samples: IntArray) -> Evidence:
        """Keep the pairs of which both are among ``samples``, and number them by their place there."""
        place = np.full(int(max(self.pairs.max(initial=0), samples.max(initial=0))) + 1, -1, dtype=np.intp)
        place[samples] = np.arange(len(samples))
        pairs = place[self.pairs]
        return self._replace(pairs=pairs).pick((pairs >= 0).all(axis=1))

    def distinct(self) -> tuple[Evidence, IntArray]:
        """Keep one of equal pairs, with the largest odds; also return the place of each pair among those kept."""
        ends = np.sort(self.pairs, axis=1)
        _, first, back = np.unique(np.column_stack([ends, self.same]), axis=0, return_index=True, return_inverse=True)
        odds = np.full(len(first), -np.inf)
        np.maximum.at(odds, back.reshape(-1), self.odds)
        return self.pick(first)._replace(odds=odds), back.reshape(-1)

    def told(self, n_samples: int) -> Constraints:
        """Return the pairs as soft statements of weight 1, for methods that weigh them."""
        together, apart = self.pairs[self.same], self.pairs[~self.same]
        return Constraints.build(n_samples, must_link=together, cannot_link=apart, weight=1.0)


def read_evidence(constraints: Constraints) -> Evidence:
    """Write statements as pairs: a group together as a ring, a triplet ab|c as a, b together and c apart from both."""
    trio = np.flatnonzero(constraints.kind == Kind.TRIPLET)
    must = np.flatnonzero(constraints.kind == Kind.MUST_LINK)
    cannot = np.flatnonzero(constraints.kind == Kind.CANNOT_LINK)
    together, joined = _rings(constraints.groups_of(Kind.TOGETHER), 1)
    apart, parted = _rings(constraints.groups_of(Kind.APART), _REACH)
    parts = [
        (constraints.items[must, :2], True, must),
        (constraints.items[cannot, :2], False, cannot),
        (together, True, joined),
        (apart, False, parted),
        (constraints.items[trio][:, [0, 1]], True, trio),
        (constraints.items[trio][:, [0, 2]], False, trio),
        (constraints.items[trio][:, [1, 2]], False, trio),
    ]
    pairs = np.concatenate([one for one, _, _ in parts]).reshape(-1, 2).astype(np.intp)
    same = np.concatenate([np.full(len(one), is_same) for one, is_same, _ in parts])
    owner = np.concatenate([who for _, _, who in parts]).astype(np.intp)
    odds = constraints.weight[owner].astype(np.float64)
    of_triplet = constraints.kind[owner] == Kind.TRIPLET
    return Evidence(pairs, same, np.where(of_triplet, np.minimum(odds, _TRIPLET), odds), owner)


def _rings(groups: Groups, reach: int) -> tuple[IntArray, IntArray]:
    """Pairs of each member of a group with the next ones around a ring, each pair once, and the statement of each."""
    pairs, owner = [np.empty((0, 2), dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    for at, members in enumerate(np.split(groups.member, groups.start[1:-1])):
        size = len(members)
        for far in range(1, min(reach, size // 2) + 1):
            count = size // 2 if 2 * far == size else size
            pairs.append(np.column_stack([members, np.roll(members, -far)])[:count])
            owner.append(np.full(count, groups.statement[at], dtype=np.intp))
    return np.concatenate(pairs), np.concatenate(owner)


class Poll(NamedTuple):
    """Votes on held-out evidence.

    Attributes
    ----------
    evidence : Evidence
        The pairs held out, those of all folds.
    votes : dict
        For each view that was fitted in all folds, whether it put the pairs together, or the share of its fits that
        did.
    """

    evidence: Evidence
    votes: dict[View, Any]

    def share(self, weight: dict[View, float]) -> FloatArray:
        """Weighted share of the views that put each pair together."""
        own = {view: weight[view] for view in self.votes if view in weight}
        start = np.zeros(len(self.evidence.same))
        return np.asarray(sum((one * self.votes[view] for view, one in own.items()), start) / sum(own.values()))

    def agreement(self) -> dict[View, float]:
        """Kappa of each view with the evidence: 1 for agreement throughout, 0 for no better than chance."""
        return {view: _kappa(vote, self.evidence.same) for view, vote in self.votes.items()}


def poll_hard(
    maps: Maps, known: Constraints, evidence: Evidence, seed: int, step: Step
) -> tuple[Poll, Poll] | tuple[None, None]:
    """Fit the views on parts of hard statements and let them vote on the rest; None if too few samples are named.

    The facts held out are those that follow about samples which the training part does not name. A second poll is about
    the evidence itself: the mean vote on each pair in the folds that hold out one of its samples.
    """
    named = np.union1d(known.items[known.items >= 0], known.groups.member)
    if len(named) < FOLDS:
        return None, None
    tested, outcomes, untold = [], [], []
    for fold in knowledge_folds(known, FOLDS, random_state=seed):
        untold.append(np.asarray(np.isin(evidence.pairs, fold.held_out).any(axis=1)))
        facts = fold.test
        pairs = np.concatenate([facts.of(Kind.MUST_LINK), facts.of(Kind.CANNOT_LINK)])
        same = np.arange(len(pairs)) < int((facts.kind == Kind.MUST_LINK).sum())
        tested.append(Evidence(pairs, same, np.full(len(pairs), np.inf), np.full(len(pairs), -1, dtype=np.intp)))
        outcomes.append(fit_views(HARD, maps, fold.train, seed, step))
    poll = _gather(tested, outcomes)
    votes = {view: _mean_vote(evidence.pairs, untold, [one.labels[view] for one in outcomes]) for view in poll.votes}
    return poll, Poll(evidence, votes)


def _mean_vote(pairs: IntArray, untold: list[BoolArray], labels: list[IntArray]) -> FloatArray:
    """Share of the folds without a pair in which a view put it together; nan if it is in every fold."""
    votes = np.array([own[pairs[:, 0]] == own[pairs[:, 1]] for own in labels])
    with np.errstate(invalid="ignore"):
        return np.asarray((votes & untold).sum(axis=0) / np.sum(untold, axis=0))


def poll_doubtful(maps: Maps, evidence: Evidence, seed: int, step: Step) -> Poll | None:
    """Fit the views on parts of the evidence and let them vote on the rest; None if there are too few pairs.

    The evidence is parted in two ways, so each pair has two votes of each view.
    """
    if len(evidence.same) < FOLDS:
        return None
    votes: list[dict[View, FloatArray]] = []
    for split in range(SPLITS):
        turn = np.random.RandomState(seed + split).permutation(np.arange(len(evidence.same)) % FOLDS)
        tested, outcomes = [], []
        for at in range(FOLDS):
            tested.append(evidence.pick(turn == at))
            outcomes.append(fit_views(DOUBTFUL, maps, evidence.pick(turn != at).told(len(maps.X)), seed, step))
        back = np.argsort(np.concatenate([np.flatnonzero(turn == at) for at in range(FOLDS)]), kind="stable")
        votes.append({view: vote[back] for view, vote in _gather(tested, outcomes).votes.items()})
    in_all = [view for view in votes[0] if all(view in one for one in votes)]
    return Poll(evidence, {view: np.mean([one[view] for one in votes], axis=0) for view in in_all})


def _gather(tested: list[Evidence], outcomes: list[Outcome]) -> Poll:
    evidence = Evidence(*(np.concatenate(columns) for columns in zip(*tested, strict=True)))
    shared = set.intersection(*(set(outcome.labels) for outcome in outcomes))
    votes = {
        view: np.concatenate(
            [
                outcome.labels[view][part.pairs[:, 0]] == outcome.labels[view][part.pairs[:, 1]]
                for part, outcome in zip(tested, outcomes, strict=True)
            ]
        )
        for view in outcomes[0].labels
        if view in shared
    }
    return Poll(evidence, votes)


def _kappa(vote: BoolArray | FloatArray, same: BoolArray) -> float:
    if not len(same):
        return 0.0
    agree = 1.0 - float(np.abs(np.subtract(vote, same, dtype=np.float64)).mean())
    chance = float(vote.mean() * same.mean() + (1 - vote.mean()) * (1 - same.mean()))
    return (agree - chance) / (1 - chance) if chance < 1 else 0.0


class Calibration(NamedTuple):
    """Log odds of two samples belonging together, ``offset + slope * share`` of the weighted views; and trust.

    ``trust`` is the probability that each pair of the evidence is right, given the votes of views that were not told
    it; 1 for hard statements.
    """

    offset: float
    slope: float
    trust: FloatArray

    def probability(self, share: FloatArray) -> FloatArray:
        """Turn shares of the views that put samples together into probabilities."""
        odds = self.offset + self.slope * share
        return np.asarray(1.0 / (1.0 + np.exp(-odds)))


PRIOR = Calibration(-_SLOPE / 2, _SLOPE, np.ones(0))


def calibrate(poll: Poll, weight: dict[View, float], share: float | None = None, *, learns: bool = True) -> Calibration:
    """Fit the log odds to the held-out evidence, with a prior, while judging which of it is right.

    Doubtful pairs of equal odds share one rate of errors, which is learned too.

    Parameters
    ----------
    poll : Poll
        Votes and evidence.
    weight : dict
        Weight of each view.
    share : float, optional
        Share of pairs together among the statements; facts are counted so that theirs is the same.
    learns : bool, default=True
        Whether the rate of errors is learned, or that of the odds.
    """
    same, odds = poll.evidence.same, poll.evidence.odds
    A = np.column_stack([np.ones(len(same) + 2), np.append(poll.share(weight), [0.0, 1.0])])
    count = np.ones(len(same))
    if share is not None:
        m, s = len(same), int(same.sum())
        count = np.minimum(np.where(same, share * m / max(s, 1), (1 - share) * m / max(m - s, 1)), _MOST)
    count = np.append(count, [_IMAGINED, _IMAGINED])
    prior = np.array([-_SLOPE / 2, _SLOPE])
    doubtful = np.isfinite(odds)
    given, source = np.unique(odds[doubtful], return_inverse=True)
    stated = np.maximum(expit(-given), 1e-300)  # rate of errors by the odds given
    rate, size = stated, np.bincount(source, minlength=len(given))
    right = np.ones(len(odds))
    right[doubtful] = 1 - rate[source]
    at = prior
    for _ in range(_ROUNDS if doubtful.any() else 1):
        at = _logistic(A, np.append(np.where(same, right, 1 - right), [0.0, 1.0]), count, prior, at)
        belief = (A @ at)[:-2][doubtful]
        votes = np.where(same[doubtful], belief, -belief)
        right[doubtful] = expit((np.log1p(-rate) - np.log(rate))[source] + votes)
        if learns:
            wrong = np.bincount(source, weights=1 - right[doubtful], minlength=len(given))
            rate = (wrong + _RATE * stated) / (size + _RATE)
    return Calibration(float(at[0]), float(at[1]), right)


def judge(poll: Poll, weight: dict[View, float]) -> FloatArray:
    """Probability that each pair of the evidence is wrong, hard ones being judged like doubtful ones; nan if no votes.

    Calibrated apart: hard statements that are wrong would otherwise count as examples of what views get wrong. Their
    rate of errors is not learned: views that hold wrong statements see fewer errors than there are.
    """
    voted = ~np.isnan(poll.share(weight))
    some = poll.evidence.pick(voted)
    some = some._replace(odds=np.where(np.isinf(some.odds), _HARD, some.odds))
    doubt = np.full(len(voted), np.nan)
    votes = {view: vote[voted] for view, vote in poll.votes.items()}
    doubt[voted] = 1 - calibrate(Poll(some, votes), weight, learns=False).trust
    return doubt


def _logistic(A: FloatArray, target: FloatArray, count: FloatArray, prior: FloatArray, start: FloatArray) -> FloatArray:
    """Penalized logistic regression with a slope that is not negative."""

    def loss(at: FloatArray) -> tuple[float, FloatArray]:
        odds, gap = A @ at, at - prior
        value = (count * (np.logaddexp(0.0, odds) - target * odds)).sum() + 0.5 * (_RIDGE * gap**2).sum()
        return float(value), A.T @ (count * (1.0 / (1.0 + np.exp(-odds)) - target)) + _RIDGE * gap

    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(None, None), (0.0, None)])
    return np.asarray(found.x)
