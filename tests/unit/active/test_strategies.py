"""Every strategy: nothing implied, nothing twice, the truth collected, and the state a fold of the answers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from linkwise import check
from linkwise.active import (
    Dialogue,
    DoubtfulMerges,
    ExpectedGain,
    ExploreConsolidate,
    LabelAnswerer,
    MinMax,
    PairsAndTrios,
    PlacingTrios,
    RandomPairs,
    RandomTrios,
    Uncertainty,
)
from tests.profile import examples

STRATEGIES = [
    RandomPairs(),
    RandomTrios(),
    ExploreConsolidate(3),
    MinMax(3),
    Uncertainty(3),
    DoubtfulMerges(12),
    ExpectedGain(),
    PlacingTrios(),
    PairsAndTrios(),
]
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)


def scene(seed, n=None):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 25)) if n is None else n
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 2)) + 3 * y[:, None]
    if seed % 3 == 1:
        X = np.round(X)  # ties and duplicates
    return X, y


def converse(talk, says, most=10_000):
    asked = []
    while len(asked) < most and (query := talk.ask()) is not None:
        assert not talk.known.is_told(query.items), "asked twice"
        assert query.checks or not talk.known.decides(query.items), "asked what is implied"
        asked.append(query)
        talk.tell(query, says(query))
    return asked


@every_strategy
@pytest.mark.parametrize("seed", range(examples(4, 60)))
def test_questions_are_new_within_the_budget_and_answers_consistent_and_true(strategy, seed):
    X, y = scene(seed)
    budget = None if seed % 2 else 15
    says = LabelAnswerer(y, unsure=0.2 if seed % 4 > 1 else 0.0, random_state=seed)
    talk = Dialogue(X, strategy=strategy, budget=budget, random_state=seed)
    asked = converse(talk, says, most=60)
    assert budget is None or len(asked) <= budget
    assert not talk.suspects
    assert check(talk.constraints).status == "feasible"
    for told in talk.known.trusted:
        assert told.answer == says.truth(told.items)


@every_strategy
@pytest.mark.parametrize("seed", range(examples(2, 20)))
def test_the_state_is_a_fold_of_the_answers(strategy, seed, tmp_path):
    X, y = scene(seed)
    says = LabelAnswerer(y, noise=0.1, unsure=0.1, random_state=seed)
    path = tmp_path / "log"
    asked = []
    with Dialogue(X, strategy=strategy, log=path) as talk:
        for _ in range(12):
            if (query := talk.ask()) is None:
                break
            asked.append(query)
            talk.tell(query, says(query))
        last = talk.ask()
        known = talk.constraints
    with Dialogue(X, strategy=strategy, log=path) as again:
        assert (again.ask(), again.constraints) == (last, known)
        for query in reversed(asked):
            again.undo()
            assert again.ask() == query


@every_strategy
@pytest.mark.parametrize("X", [np.zeros((1, 2)), np.zeros((2, 2)), np.zeros((6, 1)), np.eye(4)], ids=str)
def test_few_and_equal_samples_are_ordinary(strategy, X):
    talk = Dialogue(X, strategy=strategy)
    converse(talk, LabelAnswerer(np.arange(len(X)) % 2), most=100)
    assert talk.ask() is None


@every_strategy
def test_nothing_but_unsure_ends_too(strategy):
    X, _ = scene(0, n=8)
    asked = converse(Dialogue(X, strategy=strategy), lambda query: "unsure", most=200)
    assert len({query.items for query in asked}) == len(asked) < 200


@every_strategy
def test_sparse_rows_are_asked_about_too(strategy):
    X = scipy.sparse.random(30, 80, density=0.1, random_state=1, format="csr")
    talk = Dialogue(X, strategy=strategy, budget=10, estimator=None)
    assert 0 < len(converse(talk, LabelAnswerer(np.arange(30) % 3))) <= 10


@pytest.mark.parametrize("seed", range(examples(4, 100)))
def test_explore_keeps_neighborhoods_apart_and_goes_to_the_farthest(seed):
    X, y = scene(seed)
    k = 2 + seed % 4  # also more than there are classes
    talk = Dialogue(X, strategy=ExploreConsolidate(k), random_state=seed)
    says, inquiry = LabelAnswerer(y), talk._inquiry
    while (query := talk.ask()) is not None:
        skeleton = inquiry.skeleton
        assert len(skeleton) <= k
        assert all(talk.known.same(a, b) is False for a in skeleton for b in skeleton if a != b)
        if not inquiry.loose and len(skeleton) < k:
            gap = np.sqrt(((X[:, None] - X[inquiry.placed]) ** 2).sum(-1)).min(axis=1)
            new = next(i for i in query.items if i not in inquiry.placed)
            open_ones = [i for i in range(len(X)) if talk.known.group(i) == i and i not in inquiry.placed]
            assert gap[new] == pytest.approx(gap[open_ones].max())
        talk.tell(query, says(query))
    assert len(inquiry.skeleton) == min(k, len(set(y.tolist())))


@pytest.mark.parametrize("seed", range(examples(4, 100)))
def test_consolidate_asks_the_nearest_first_and_at_most_one_less_than_clusters(seed):
    X, y = scene(seed, n=20)
    y[:3] = [0, 1, 2]
    talk = Dialogue(X, strategy=ExploreConsolidate(3), random_state=seed)
    says, inquiry = LabelAnswerer(y), talk._inquiry
    count: dict[int, int] = {}
    while (query := talk.ask()) is not None:
        if len(inquiry.skeleton) == 3:
            members = [talk.known.members(group) for group in inquiry.skeleton]
            new = next(i for i in query.items if i not in inquiry.placed)
            other = next(i for i in query.items if i != new)
            gap = [((X[new] - X[m].mean(axis=0)) ** 2).sum() for m in members]
            still = [i for i, g in enumerate(inquiry.skeleton) if talk.known.same(new, g) is None]
            assert gap[inquiry.skeleton.index(talk.known.group(other))] == pytest.approx(min(gap[i] for i in still))
            count[new] = count.get(new, 0) + 1
        talk.tell(query, says(query))
    assert count
    assert max(count.values()) <= 2


def test_the_sample_with_most_entropy_per_question_is_placed():
    X, y = scene(5, n=24)
    talk = Dialogue(X, strategy=Uncertainty(3), random_state=5)
    says, inquiry = LabelAnswerer(y), talk._inquiry
    seen = 0
    for _ in range(20):
        query = talk.ask()
        if len(inquiry.skeleton) > 1 and not inquiry.loose:
            seen += 1
            p = inquiry._belief()
            assert p.sum(axis=1) == pytest.approx(np.ones(len(X)))
            score = {}
            for i in np.flatnonzero(inquiry.free):
                falling = sorted(p[i].tolist(), reverse=True)
                asks = [min(at + 1, len(falling) - 1) for at in range(len(falling))]
                entropy = -sum(v * np.log(v) for v in falling if v > 0)
                score[int(i)] = entropy / sum(q * v for q, v in zip(asks, falling, strict=True))
            new = next(i for i in query.items if i in score)
            assert score[new] == pytest.approx(max(score.values()))
        talk.tell(query, says(query))
    assert seen > 3


def test_doubtful_merges_are_those_of_complete_link_that_asks():
    from linkwise.engines import active_complete_link

    X, y = scene(2, n=20)
    run = active_complete_link(X, 12)
    talk = Dialogue(X, strategy=DoubtfulMerges(12))
    while (pair := run.ask()) is not None:
        query = talk.ask()
        assert query.items == pair
        run.tell(pair, bool(y[pair[0]] == y[pair[1]]))
        talk.tell(query, y[pair[0]] == y[pair[1]])
    assert talk.ask() is None
