"""Expected gain: the look ahead equals its definition, few questions settle the samples, wrong answers are found."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.metrics import adjusted_rand_score

from linkwise.active import Dialogue, ExpectedGain, LabelAnswerer
from linkwise.active._doubts import NOISE, Evidence
from linkwise.active._gain import RARE, _questions
from linkwise.engines import NeighborhoodPropagation
from linkwise.engines.graph._similarity_columns import Field
from tests.oracles import gaussian_field as twin
from tests.profile import examples

pytestmark = pytest.mark.kernels


def blobs(seed, n=60, k=4, apart=8.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    center = apart * np.stack([np.cos(2 * np.pi * np.arange(k) / k), np.sin(2 * np.pi * np.arange(k) / k)], axis=1)
    return rng.normal(size=(n, 2)) + center[y], y


def answer(talk, says, most=1000):
    asked = []
    while len(asked) < most and (query := talk.ask()) is not None:
        asked.append(query)
        talk.tell(query, says(query))
    return asked


@pytest.mark.parametrize("seed", range(examples(3, 200)))
def test_the_sample_placed_next_is_the_best_by_trying_every_outcome(seed):
    X, y = blobs(seed, 25, 3, 4.0)
    talk, says = Dialogue(X, strategy=ExpectedGain(check=1), random_state=seed), LabelAnswerer(y)
    covariance = Field(X).columns(np.arange(25))
    for _ in range(6):
        answer(talk, says, 1)
        inquiry = talk._inquiry
        inquiry._read()
        if inquiry.loose:
            continue
        order = inquiry._order
        owner = [inquiry._owner[sample] for sample in order]
        gains = {}
        for sample in np.flatnonzero(inquiry.free).tolist():
            gain = twin.expected_gain(covariance, order, owner, len(inquiry.skeleton), sample, NOISE, RARE)
            p, new = (part[[sample]] for part in inquiry._chances)
            gains[sample] = gain / float(_questions(p, new)[0])
        picked = inquiry.pick()
        assert gains[picked] == pytest.approx(max(gains.values()), rel=1e-6, abs=1e-9)
        assert inquiry.gain() == pytest.approx(max(gains[picked], 0.0) / 25, rel=1e-6, abs=1e-9)


def test_a_strategy_thinks_with_the_claims_of_its_companion():
    X, y = blobs(1, apart=4.0)
    talk, says = Dialogue(X, strategy=ExpectedGain()), LabelAnswerer(y)
    for _ in range(12):
        answer(talk, says, 3)
        inquiry = talk._inquiry
        inquiry._read()
        if not inquiry.loose:
            model = NeighborhoodPropagation().fit(X, constraints=talk.constraints)
            columns = [model.labels_[group] for group in inquiry.skeleton]
            assert_allclose(inquiry._claims, model.claims_[:, columns], atol=1e-7)


@pytest.mark.parametrize("seed", range(examples(4, 40)))
def test_blobs_take_few_answers(seed):
    X, y = blobs(seed)
    talk = Dialogue(X, strategy=ExpectedGain(), budget=9, random_state=seed)
    answer(talk, LabelAnswerer(y))
    assert adjusted_rand_score(y, talk.fit().labels_) == 1.0
    assert talk.progress().believed > 0.5


@pytest.mark.parametrize("seed", range(examples(4, 40)))
def test_a_wrong_answer_is_found_out(seed):
    X, y = blobs(seed, 80, 2)
    talk, says = Dialogue(X, strategy=ExpectedGain(), random_state=seed), LabelAnswerer(y)
    answer(talk, says, 20)
    query = talk.ask()
    assert not query.checks
    wrong = talk.n_asked
    talk.tell(query, says(query) == "no")
    answer(talk, says, 8)
    assert [told.number for told in talk.suspects] == [wrong]
    assert adjusted_rand_score(y, talk.fit().labels_) == 1.0


@pytest.mark.parametrize("seed", range(examples(4, 40)))
def test_a_lone_no_opens_no_cluster(seed):
    X, y = blobs(seed, 90, 3)
    talk, says = Dialogue(X, random_state=seed), LabelAnswerer(y)
    answer(talk, says, 20)
    apart = talk.ask()
    while says(apart) == "no":
        answer(talk, says, 1)
        apart = talk.ask()
    wrong = talk.n_asked
    talk.tell(apart, "no")
    for _ in range(12):
        query = talk.ask()
        talk.tell(query, says(query))
        if wrong in query.checks:
            break
    else:
        pytest.fail("the lone no was not checked")
    answer(talk, says, 4)
    assert [told.number for told in talk.suspects] == [wrong]
    assert talk.fit().n_clusters_ == 3


def test_evidence_without_some_samples_is_that_of_a_field_without_them():
    X, y = blobs(3, 40, 3, 4.0)
    covariance = Field(X).columns(np.arange(40))
    placed = list(range(0, 24, 2))
    claims, _ = twin.posterior(covariance, placed, np.eye(3)[y[placed]], NOISE)
    evidence = Evidence(placed, y[placed], covariance[placed], claims)
    for gone in ([4], [0, 6, 12]):
        rest = [sample for sample in placed if sample not in gone]
        left, _ = twin.posterior(covariance, rest, np.eye(3)[y[rest]], NOISE)
        assert evidence.misled(gone) == (left.argmax(axis=1) != claims.argmax(axis=1)).sum()
        p = np.maximum(left[gone], 0.0)
        share = (p[:, 1] / np.maximum(p.sum(axis=1), 1.0)).mean()
        slip = evidence._mistaken
        assert evidence.chance(gone, 1) == pytest.approx((1 - slip) * share + slip / 4)


@pytest.mark.parametrize("seed", range(examples(3, 30)))
def test_nothing_is_asked_that_follows_from_the_number_of_clusters(seed):
    X, y = blobs(seed, 60, 2, 1.0)
    talk, says = Dialogue(X, n_clusters=2, random_state=seed), LabelAnswerer(y)
    for _ in range(40):
        query = talk.ask()
        inquiry, known = talk._inquiry, talk.known
        if not query.checks:
            assert not {known.group(sample) for sample in query.items} & set(inquiry.implied)
        talk.tell(query, says(query))
    talk.ask()
    assert talk._inquiry.implied
    assert all(y[group] == y[other] for group, other in talk._inquiry.implied.items())
    assert talk.fit().n_clusters_ == 2


def test_unless_nothing_is_to_be_checked():
    X, y = blobs(0, 80, 2)
    talk, says = Dialogue(X, strategy=ExpectedGain(check=1)), LabelAnswerer(y, noise=0.2)
    assert not any(
        query.checks for query in answer(talk, says, 60) if query.items not in {t.items for t in talk.suspects}
    )


def test_what_is_believed_grows_and_less_is_to_gain():
    X, y = blobs(2)
    talk, says = Dialogue(X, strategy=ExpectedGain()), LabelAnswerer(y)
    before = talk.progress()
    answer(talk, says, 30)
    after = talk.progress()
    assert before.believed < after.believed <= 1.0
    assert after.gain < before.gain
    assert after.more < before.more


def test_texts_are_compared_by_direction():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = scipy.sparse.csr_array(rng.poisson(0.3 + 2.0 * (np.arange(30) % 2 == y[:, None]), size=(40, 30)).astype(float))
    talk = Dialogue(X, strategy=ExpectedGain(), budget=12)
    answer(talk, LabelAnswerer(y))
    assert adjusted_rand_score(y, talk.fit().labels_) > 0.8


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_and_equal_samples_end_by_themselves(n):
    talk = Dialogue(np.zeros((n, 2)), strategy=ExpectedGain())
    assert len(answer(talk, LabelAnswerer(np.arange(n)))) == n * (n - 1) // 2
    assert talk.progress().more in (None, 0)
