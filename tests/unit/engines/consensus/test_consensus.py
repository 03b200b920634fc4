"""Consensus: moves against their definition, evidence, planted wrong statements, many samples, sparse data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise import Consensus, Constraints
from linkwise.engines.consensus import _views, _votes
from linkwise.engines.consensus._maps import Maps
from linkwise.engines.consensus._moves import obey_triplets, settle
from linkwise.engines.consensus._views import HARD, View
from linkwise.engines.consensus._votes import Evidence, Poll, calibrate, poll_doubtful, read_evidence
from linkwise.engines.mixture import _exact
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem
from linkwise.sources import flip, label_pairs, label_triplets_sample
from tests.oracles import moves
from tests.profile import examples


def drawn(seed, n=14):
    rng = np.random.default_rng(seed)
    P = rng.random((n, n))
    return (P + P.T) / 2, rng.integers(0, 3, n)


@pytest.mark.parametrize("seed", range(examples(60, 200)))
def test_moves_are_those_of_the_definition(seed):
    P, labels = drawn(seed)
    labels[:3] = 0, 1, 2
    free = Problem(np.zeros((len(P), 1)), Constraints.build(len(P)), n_clusters=3)
    assert settle(P, labels, free).tolist() == moves.climb(P, labels, 3).tolist()


@pytest.mark.parametrize("seed", range(examples(60, 200)))
def test_moves_raise_the_expected_index_and_keep_pairs(seed):
    P, labels = drawn(seed)
    labels[:4] = 0, 0, 1, 2
    known = Constraints.build(len(P), must_link=[(0, 1)], cannot_link=[(0, 2), (1, 3), (2, 3)])
    found = settle(P, labels, Problem(np.zeros((len(P), 1)), known, n_clusters=3))
    assert lw.verify(found, known).ok
    assert len(np.unique(found)) == 3
    assert moves.expected_index(P, found) >= moves.expected_index(P, labels) - 1e-12


@pytest.mark.parametrize("seed", range(40))
def test_clusters_are_mended_until_triplets_allow_them_as_branches(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 18)
    y[:3] = 0, 1, 2
    trios = [(a, b, c) for a, b, c in rng.integers(0, 18, (200, 3)).tolist() if a != b and y[a] == y[b] != y[c]][:12]
    known = Constraints.build(18, triplets=trios)
    labels = y.copy()
    labels[rng.integers(0, 18, 3)] = rng.integers(0, 3, 3)
    labels[:3] = 0, 1, 2
    P = 0.1 + 0.8 * (y[:, None] == y[None, :])
    found = obey_triplets(P, labels, Problem(np.zeros((18, 1)), known, n_clusters=3))
    a, b, c = found[np.array(trios)].T
    assert not ((a != b) & ((c == a) | (c == b))).any()
    assert len(np.unique(found)) == 3


def test_statements_become_pairs():
    known = Constraints.build(
        9, must_link=[(0, 1)], cannot_link=[(1, 2)], together=[(3, 4, 5)], apart=[(6, 7, 8)], triplets=[(0, 3, 8)]
    )
    evidence = read_evidence(known.with_weight([3.0, 3.0, 1.0, 2.0, np.inf]))
    told = {(*sorted(pair), same) for pair, same in zip(evidence.pairs.tolist(), evidence.same.tolist(), strict=True)}
    ring = {(3, 4, True), (4, 5, True), (3, 5, True), (6, 7, False), (7, 8, False), (6, 8, False)}
    assert told == ring | {(0, 1, True), (1, 2, False), (0, 3, True), (0, 8, False), (3, 8, False)}
    assert len(evidence.within(np.array([0, 1, 3])).same) == 2
    twice = read_evidence(known | known)
    assert len(twice.distinct()[0].same) == len(evidence.same)


def test_groups_of_two_and_four_are_rings_without_repeats():
    evidence = read_evidence(Constraints.build(6, together=[(0, 1)], apart=[(2, 3, 4, 5)]))
    pairs = [tuple(sorted(pair)) for pair in evidence.pairs.tolist()]
    assert sorted(pairs) == [(0, 1), (2, 3), (2, 4), (2, 5), (3, 4), (3, 5), (4, 5)]


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(120, centers=3, n_features=4, cluster_std=1.5, random_state=3)


def test_planted_wrong_statements_are_suspected(blobs):
    X, y = blobs
    right = label_pairs(y, 60, 0)
    a, b = np.flatnonzero(y == 0)[:2], np.flatnonzero(y == 1)[:2]
    wrong = Constraints.build(120, must_link=[(a[0], b[0])], cannot_link=[(b[0], b[1])])
    told = right | wrong
    found = lw.suspects(X, told, 3)
    listed = {one.statement for one in found}
    assert set(range(60, 62)) <= listed
    assert len(listed) <= 4
    assert found.drop().n_statements == 62 - len(listed)
    assert "wrong with probability" in str(found)
    result = lw.cluster(X, told, 3, trust="doubtful")
    assert adjusted_rand_score(y, result.labels) > 0.9
    assert any("the data contradict" in reason for reason in result.reasons)
    held = lw.cluster(X, told, 3)
    assert held.certificate.ok  # told as hard, they hold, and the doubt is among the reasons
    reason = next(reason for reason in held.reasons if "hard statement" in reason and "contradict" in reason)
    assert "hold in the result" in reason or "holds in the result" in reason
    assert {60, 61} & set(np.flatnonzero(held.estimator.doubt_ > 0.5))


def test_planted_wrong_triplets_are_suspected(blobs):
    X, y = blobs
    told, wrong = flip(label_triplets_sample(y, 100, 0), 0.1, random_state=0)
    listed = [one.statement for one in lw.suspects(X, told, 3)]
    assert set(np.flatnonzero(wrong)) <= set(listed)
    assert len(listed) <= 12


def test_trust_of_hard_statements_is_one_and_soft_ones_are_judged(blobs):
    X, y = blobs
    told = label_pairs(y, 20, 0) | label_pairs(y, 20, 1).with_trust(0.9)
    model = Consensus(3).fit(X, constraints=told)
    assert (model.trust_[told.is_hard] == 1).all()
    assert (model.trust_[~told.is_hard] < 1).all()
    assert model.certificate_.ok


def test_calibration_rises_with_the_share_of_views(blobs):
    X, y = blobs
    evidence = read_evidence(label_pairs(y, 40, 0).with_trust("doubtful"))
    poll = poll_doubtful(Maps(X, 3), evidence, 0, lambda: None)
    weight = {view: max(kappa, 0.02) for view, kappa in poll.agreement().items()}
    found = calibrate(poll, weight)
    low, high = found.probability(np.array([0.0, 1.0]))
    assert low < 0.2 < 0.8 < high
    assert len(found.trust) == 40


def test_each_pair_has_two_votes_of_fits_that_were_not_told_it(blobs, monkeypatch):
    X, y = blobs
    evidence = read_evidence(label_pairs(y, 23, 0).with_trust("doubtful"))
    pairs = {tuple(sorted(pair)) for pair in evidence.pairs.tolist()}
    told, view = [], View("raw", "", "mpck")

    def fit(views, maps, known, seed, step):
        told.append({tuple(sorted(pair)) for pair in known.items[:, :2].tolist()})
        return _votes.Outcome({view: np.full(len(X), len(told)) + np.arange(len(X)) % 2}, {})

    monkeypatch.setattr(_votes, "fit_views", fit)
    poll = poll_doubtful(Maps(X, 3), evidence, 0, lambda: None)
    assert poll.evidence is evidence
    for pair in pairs:
        assert sum(pair not in one for one in told) == 2
    for part in (told[:5], told[5:]):
        assert set.union(*(pairs - one for one in part)) == pairs
    assert (pairs - told[0]) not in [pairs - one for one in told[5:]]
    together = (evidence.pairs[:, 0] % 2) == (evidence.pairs[:, 1] % 2)
    assert poll.votes[view].tolist() == together.astype(float).tolist()


def voted(share, same, odds):
    """A poll of one view, which puts pairs together in some share of its fits."""
    m = len(same)
    evidence = Evidence(np.zeros((m, 2), dtype=np.intp), np.array(same), np.array(odds), np.arange(m))
    return Poll(evidence, {View("raw", "", "mpck"): np.array(share, dtype=float)}), {View("raw", "", "mpck"): 1.0}


@pytest.mark.parametrize("seed", range(10))
def test_trust_and_rates_of_errors_are_those_of_their_definition(seed):
    """Trust is the posterior under the rate of the statements of its odds; the rate is their mean doubt and a prior."""
    rng = np.random.default_rng(seed)
    same = rng.random(90) < 0.4
    odds = rng.choice([np.log(19), np.log(4), np.inf], 90)
    share = np.clip(np.where(same ^ (rng.random(90) < 0.1), 0.8, 0.2) + rng.normal(0, 0.1, 90), 0, 1)
    found = calibrate(*voted(share, same, odds))
    belief = found.offset + found.slope * share
    for one in (np.log(19), np.log(4)):
        own = odds == one
        rate = ((1 - found.trust[own]).sum() + 40 / (1 + np.exp(one))) / (own.sum() + 40)
        right = (1 - rate) / (1 - rate + rate * np.exp(np.where(same[own], -belief[own], belief[own])))
        assert found.trust[own] == pytest.approx(right, abs=2e-3)
    assert (found.trust[np.isinf(odds)] == 1).all()


def test_statements_that_views_agree_with_make_others_of_the_same_weight_more_trusted():
    """The same vote against one statement, among a hundred that hold and among a hundred of which thirty do not."""
    doubt = {}
    for wrong in (0, 30):
        same = np.arange(101) % 2 == 0
        share = np.where(same, 0.9, 0.1)
        share[:wrong] = 1 - share[:wrong]
        share[100] = 0.35  # against a must-link, weakly
        doubt[wrong] = 1 - calibrate(*voted(share, same, np.full(101, np.log(19)))).trust[100]
    assert doubt[0] < 0.7 * doubt[30]


def test_answers_claim_their_surroundings_in_a_vote():
    """Neighborhood propagation, made for answers, is among the views of hard pairs, with and without a metric."""
    assert {View("raw", "", "claims"), View("raw", "ITML", "claims")} <= set(HARD)


def test_samples_beyond_the_compared_ones_join_their_neighbors(blobs):
    X, y = blobs
    told = label_pairs(y, 12, 0)
    model = Consensus(3, max_samples=60).fit(X, constraints=told)
    assert model.certificate_.ok
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert model.dendrogram_.n_samples == 120
    assert model.dendrogram_.cut_marked().tolist() == model.labels_.tolist()
    assert (model.predict(X) == model.labels_).mean() > 0.95


def test_wide_sparse_data_are_projected():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    words = rng.poisson(0.05, (90, 400)) + rng.poisson(0.5, (90, 400)) * ((np.arange(400) % 3) == y[:, None])
    X = scipy.sparse.csr_array(words.astype(float))
    model = Consensus(3).fit(X, constraints=label_pairs(y, 30, 0))
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert model.predict(X).tolist() == model.labels_.tolist()


def test_views_are_reported(blobs):
    X, y = blobs
    model = Consensus(3).fit(X, constraints=label_pairs(y, 30, 0))
    voting = [view for view in model.views_ if not view.missing]
    assert sum(view.weight for view in voting) == pytest.approx(1)
    assert [view.weight for view in voting] == sorted((view.weight for view in voting), reverse=True)
    assert all("agreement" in str(view) for view in voting)


@pytest.mark.parametrize("trust", [0.5, 1.2, "perhaps", [0.9], None])
def test_trust_that_is_none_is_refused(trust):
    with pytest.raises(LinkwiseError, match=r"with_trust: trust is|weight"):
        Constraints.build(3, must_link=[(0, 1), (1, 2)]).with_trust(trust)


@pytest.mark.parametrize("seed", range(3))
def test_pairs_about_more_samples_than_are_compared_hold(seed):
    """Must-links reach compared samples through others, and the others' cannot-links may move compared ones."""
    X, y = make_blobs(300, centers=3, n_features=3, cluster_std=3.0, random_state=seed)
    told = label_pairs(y, 400, seed)
    model = Consensus(3, max_samples=60, random_state=seed).fit(X, constraints=told)
    assert model.certificate_.ok
    assert adjusted_rand_score(model.dendrogram_.cut_marked(), model.labels_) == 1
    assert len(np.unique(model.labels_)) == 3


def test_hard_triplets_are_trusted_and_equal_samples_are_divided():
    X, y = make_blobs(60, centers=2, random_state=0)
    a, b, c = np.flatnonzero(y == 0)[0], np.flatnonzero(y == 0)[1], np.flatnonzero(y == 1)[0]
    assert Consensus(2).fit(X, constraints=Constraints.build(60, triplets=[(a, b, c)])).trust_.tolist() == [1.0]
    found = lw.cluster(np.zeros((60, 2)), n_clusters=2)
    assert found.n_clusters == 2
    assert "could not be fitted" in found.reasons[-1] or "one cluster holds" in found.reasons[-1]


def test_a_view_of_doubtful_statements_makes_no_large_tables(monkeypatch):
    tables, make_plan = [], _exact.make_plan

    def counted(*given):
        tables.append(make_plan(*given))
        return tables[-1]

    monkeypatch.setattr(_exact, "make_plan", counted)
    X = np.random.default_rng(0).normal(size=(14, 2))
    pairs = [(a, b) for a in range(10) for b in range(a)]  # each with each: 4**10 joint states
    narrow = Constraints.build(14, must_link=[(a, a + 1) for a in range(9)], weight=1.0)
    _views._METHODS["mixture"](X, 4, Constraints.build(14, must_link=pairs, weight=1.0), 0)
    _views._METHODS["mixture"](X, 4, narrow, 0)
    assert len(tables) >= 2
    assert max(int(plan.n_states.max(initial=0)) for plan in tables) <= _views._MOST_STATES
    assert max(int(plan.n_states.max(initial=0)) for plan in tables) > 1
