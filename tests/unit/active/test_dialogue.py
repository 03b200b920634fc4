"""Dialogues with any strategy: questions, answers and their withdrawal."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse

from linkwise import ConstrainedAgglomerative, Constraints, ReCon, Taxonomy
from linkwise.active import (
    Answer,
    Dialogue,
    ExpectedGain,
    Inquiry,
    LabelAnswerer,
    MinMax,
    PairsAndTrios,
    PlacingTrios,
    Query,
    RandomPairs,
    RandomTrios,
    Strategy,
    TreeAnswerer,
    _answered as answered,
)
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError

X = np.arange(12.0).reshape(-1, 1)
Y = np.arange(12) // 4


def run(talk, says):
    while (query := talk.ask()) is not None:
        talk.tell(query, says(query))
    return talk


def test_asking_again_gives_the_same_question_and_answers_must_fit_it():
    talk = Dialogue(X, strategy=RandomPairs())
    query = talk.ask()
    assert talk.ask() is query
    with pytest.raises(LinkwiseError, match='"yes", "no", "unsure"'):
        talk.tell(query, "first")
    with pytest.raises(LinkwiseError, match="the question is"):
        talk.tell(Query((0, 1)) if query.items != (0, 1) else Query((0, 2)), True)
    talk.tell(query, True)
    with pytest.raises(LinkwiseError, match="nothing was asked"):
        talk.tell(query, True)


@pytest.mark.parametrize(
    ("given", "read"), [(True, "yes"), (np.False_, "no"), (None, "unsure"), ("YES", "yes"), (Answer.NO, "no")]
)
def test_answers_may_be_words_and_truth_values(given, read):
    talk = Dialogue(X, strategy=RandomPairs())
    talk.tell(talk.ask(), given)
    assert talk.answers[0].answer == read


def test_the_budget_counts_questions_but_not_what_is_said_unasked():
    talk = Dialogue(X, strategy=RandomPairs(), budget=2)
    talk.tell((0, 1), True)
    run(talk, LabelAnswerer(Y))
    assert (talk.n_asked, len(talk.answers), talk.ask()) == (2, 3, None)
    assert talk.undo().asked
    assert talk.ask() is not None


def test_the_odd_one_is_named_by_its_place_in_what_was_listed():
    talk = Dialogue(X, strategy=RandomTrios())
    talk.tell((7, 2, 5), "first")
    assert talk.constraints == Constraints.build(12, triplets=[(2, 5, 7)])
    for bad in ((0, 0), (0, 12), (0, 1, 2, 3), (0.5, 1), (True, 1)):
        with pytest.raises(LinkwiseError):
            talk.tell(bad, "unsure")


def test_undo_brings_the_question_back_and_reaches_the_beginning():
    talk = Dialogue(X, strategy=RandomPairs())
    asked = []
    for _ in range(5):
        asked.append(talk.ask())
        talk.tell(asked[-1], LabelAnswerer(Y)(asked[-1]))
    for query in reversed(asked):
        talk.undo()
        assert talk.ask() == query
    assert talk.undo() is None
    assert not talk.constraints


def test_what_contradicts_is_asked_again_once_and_stops_nothing():
    talk = Dialogue(X, strategy=RandomPairs())
    talk.tell((0, 1), True, who="ann")
    talk.tell((1, 2), True, who="ann")
    talk.tell((0, 2), False, who="bob")
    assert len(talk.suspects) == 1
    query = talk.ask()
    assert query.items == talk.suspects[0].items
    assert query.checks == (talk.suspects[0].number,)
    checked = []
    truth = {(0, 1): True, (1, 2): True, (0, 2): True}
    while (query := talk.ask()).checks:
        checked += query.checks
        talk.tell(query, truth[query.items], who="cy")
    assert len(checked) == len(set(checked)) <= 3
    assert not talk.known.decides(query.items)
    assert [told.who for told in talk.suspects] == ["bob"]
    rates = talk.error_rates()
    assert rates["bob"] > 0.05 > rates["ann"]
    assert "1 contradicts others" in str(talk.progress())


def test_answers_that_need_more_clusters_contradict_each_other():
    talk = Dialogue(X, strategy=RandomPairs(), n_clusters=2)
    for pair in ((0, 4), (4, 8), (0, 8)):
        talk.tell(pair, False)
    assert [told.items for told in talk.suspects] == [(0, 4)]
    assert talk.ask().checks == (0,)
    talk.tell(talk.ask(), True)
    assert [told.number for told in talk.suspects] == [0]
    assert talk.known.same(0, 4)
    with pytest.raises(InfeasibleConstraintsError):
        Dialogue(X, constraints=Constraints.build(12, cannot_link=[(0, 4), (4, 8), (0, 8)]), n_clusters=2)


def test_one_answer_does_not_outweigh_many():
    talk = Dialogue(X, strategy=RandomPairs())
    for pair in ((0, 1), (2, 3), (4, 5), (6, 7)):
        talk.tell(pair, True)
    for pair in ((0, 2), (1, 3), (0, 3)):
        talk.tell(pair, False)
    talk.tell((1, 2), True)
    assert [told.items for told in talk.suspects] == [(1, 2)]


def test_the_default_estimator_makes_as_many_clusters_as_are_known():
    talk = run(Dialogue(X, n_clusters=3, budget=6), LabelAnswerer(Y))
    assert talk.fit().n_clusters_ == 3
    assert Dialogue(X, strategy=RandomPairs(), n_clusters=3).fit().n_clusters_ == 3


def test_progress_counts_the_pairs_that_are_known_said_or_implied():
    talk = Dialogue(X, strategy=RandomPairs())
    for pair, answer in (((0, 1), True), ((1, 2), True), ((3, 4), True), ((0, 3), False), ((5, 6), False)):
        talk.tell(pair, answer)
    assert talk.progress().n_implied == 3 + 1 + 3 * 2 + 1
    assert sum(talk.known.decides(pair) for pair in combinations(range(12), 2)) == 11


def test_strategies_see_how_many_questions_are_left():
    seen = []

    class Watching(Strategy):
        def begin(self, scene):
            seen.append(("begin", scene.budget_left))
            return Watch(scene)

    class Watch(Inquiry):
        def propose(self):
            seen.append(("propose", self.scene.budget_left))
            return next(p for p in combinations(range(self.scene.n_samples), 2) if not self.scene.known.decides(p))

    talk = Dialogue(X, strategy=Watching(), budget=3)
    talk.tell((0, 11), False)
    for _ in range(2):
        talk.tell(talk.ask(), False)
    talk.undo()
    talk.undo()
    talk.ask()
    counts = [("begin", 3), ("propose", 3), ("propose", 2), ("begin", 3), ("begin", 3), ("propose", 3)]
    assert seen == counts
    talk = Dialogue(X, strategy=Watching())
    talk.ask()
    assert seen[len(counts) :] == [("begin", None), ("propose", None)]


def test_any_estimator_is_fitted_with_what_it_understands():
    y = np.repeat([0, 1, 2], 4)
    for estimator in (ConstrainedAgglomerative(3), ReCon(3)):
        talk = run(Dialogue(X, estimator, strategy=RandomPairs(), budget=20), LabelAnswerer(y))
        talk.tell((0, 1, 11), "third")
        fitted = talk.fit()
        assert fitted.n_clusters_ == 3
        assert fitted is not estimator
        assert fitted.certificate_.ok


def test_what_is_given_is_not_asked_and_names_are_used():
    names = [f"s{i}" for i in range(12)]
    talk = Dialogue(X, constraints=Constraints.from_labels(Y).with_ids(names), strategy=RandomPairs())
    assert talk.ask() is None
    free = Dialogue(X, strategy=RandomPairs(), names=names)
    assert free.ask().text(free.names).startswith("Do s")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": -1}, "budget is -1"),
        ({"budget": 2.5}, "budget is 2.5"),
        ({"n_clusters": 0}, "n_clusters is 0"),
        ({"n_clusters": 2.0}, "n_clusters is 2.0"),
        ({"random_state": None}, "random_state is None"),
        ({"strategy": "random"}, "strategy is 'random'"),
        ({"metric": "manhattan"}, "metric is 'manhattan'"),
        ({"names": ["a"]}, "there are 1 names"),
        ({"constraints": Constraints.build(3)}, "are about 3 samples"),
    ],
)
def test_wrong_settings_are_refused(arguments, message):
    with pytest.raises(LinkwiseError, match=message):
        Dialogue(X, **arguments)


def test_confidence_lies_between_a_guess_and_certainty():
    talk = Dialogue(X, strategy=RandomPairs())
    for bad in (0.4, 1.1, float("nan"), True):
        with pytest.raises(LinkwiseError, match="confidence is"):
            talk.tell(talk.ask(), True, confidence=bad)
    assert not talk.answers


def test_sparse_samples_are_compared_by_cosine():
    rows = scipy.sparse.random(20, 50, density=0.2, random_state=0, format="csr")
    talk = run(Dialogue(rows, strategy=RandomPairs(), budget=5), LabelAnswerer(np.arange(20) % 2))
    dense = Dialogue(rows.toarray(), strategy=RandomPairs(), budget=5, metric="cosine")
    for i in range(3):
        np.testing.assert_allclose(talk._scene.distances_from(i), dense._scene.distances_from(i), atol=1e-12)
    assert talk.n_asked == 5
    assert talk.estimator.metric == "cosine"


def test_simulated_people_err_as_often_as_told_and_the_same_way_each_time():
    y = np.arange(200) % 4
    queries = [Query((a, b)) for a in range(0, 200, 3) for b in range(a + 1, 200, 7)]
    truth, liar = LabelAnswerer(y), LabelAnswerer(y, noise=0.1, unsure=0.05, random_state=1)
    answers = [liar(q) for q in queries]
    assert answers == list(map(LabelAnswerer(y, noise=0.1, unsure=0.05, random_state=1), queries))
    unsure = np.mean([a == "unsure" for a in answers])
    wrong = np.mean([a != truth(q) for a, q in zip(answers, queries, strict=True) if a != "unsure"])
    assert abs(unsure - 0.05) < 0.02
    assert abs(wrong - 0.1) < 0.03
    tired = LabelAnswerer(y, fatigue=0.001)
    late = [tired(q) != truth(q) for q in queries]
    assert np.mean(late[:300]) < np.mean(late[-300:]) <= 0.6


def test_a_taxonomy_answers_by_where_paths_meet():
    tree = Taxonomy.from_paths(["a/b/x", "a/b/y", "a/c", "d", "a/b/x", "a", None])
    says = TreeAnswerer(tree)
    trios = [
        ((0, 1, 2), "third"),
        ((0, 2, 3), "third"),
        ((0, 1, 4), "second"),
        ((2, 3, 5), "second"),
        ((0, 1, 6), "unsure"),
    ]
    for items, answer in trios:
        assert says(Query(items)) == answer
    assert (says(Query((0, 4))), says(Query((0, 1)))) == ("yes", "no")
    displayed = {tuple(row) for row in tree.triplets().items.tolist()}
    for a in range(6):
        for b in range(a):
            for c in range(b):
                answer = says(Query((a, b, c)))
                odd = {"first": c, "second": b, "third": a}.get(str(answer))
                rest = tuple(sorted({a, b, c} - {odd}))
                assert (odd is not None) == any(set(row) == {a, b, c} for row in displayed)
                assert odd is None or (*rest, odd) in displayed or (*rest[::-1], odd) in displayed


def test_strategies_of_others_fit_in():
    class Neighbors(Strategy):
        def begin(self, scene):
            return Ask(scene)

    class Ask(Inquiry):
        def propose(self):
            pairs = [(i, i + 1) for i in range(self.scene.n_samples - 1)]
            return next((pair for pair in pairs if not self.scene.known.decides(pair)), None)

    talk = run(Dialogue(X, strategy=Neighbors()), LabelAnswerer(Y))
    assert talk.n_asked == 11


def test_what_is_settled_never_falls_along_answers_that_agree():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    talk, says, before = Dialogue(X[::3], budget=25), LabelAnswerer(y[::3]), 0.0
    fell = 0
    while (query := talk.ask()) is not None:
        talk.tell(query, says(query))
        now = talk.progress()
        assert now.settled >= before
        if now.before is not None:  # the estimate may fall; then the text says from where, and why
            fell += 1
            assert now.believed < now.before
            assert f"({100 * now.before:.0f} % before: {now.because})" in str(now)
        before = now.settled
    assert fell, "the case that is worded above occurs"
    assert before == talk.progress().n_implied / (50 * 49 / 2)


def test_a_contradiction_that_unsettles_pairs_is_named_as_the_cause():
    talk = Dialogue([[0.0], [1.0], [2.0], [9.0]])
    talk.tell((0, 1), "yes", confidence=0.6)
    talk.tell((0, 2), "no")
    talk.tell((1, 3), "no")
    first = talk.progress()
    talk.tell((0, 1), "no")
    now = talk.progress()
    assert now.settled < first.settled
    assert now.because == "the last answer contradicts others"
    assert now.because in str(now)
    assert str(talk.progress()) == str(now), "looking again changes nothing"
    talk.undo()
    assert talk.progress().because == ""


def test_several_people_hold_different_questions_and_answer_in_any_order():
    for strategy in (RandomPairs(), RandomTrios(), ExpectedGain(), PlacingTrios(), PairsAndTrios(), MinMax(3)):
        talk = Dialogue(X, strategy=strategy)
        first = talk.ask()
        held = [first]
        while len(held) < 3:
            held.append(talk.ask(besides=held))
        assert len({query.items for query in held}) == 3
        assert talk.ask() is first
        assert talk.ask(besides=held[:1]) is held[1]
        for query in reversed(held):
            talk.tell(query, "unsure")
        assert [told.items for told in talk.answers] == [query.items for query in reversed(held)]
        with pytest.raises(LinkwiseError, match="nothing was asked"):
            talk.tell(first, "unsure")
        alone = Dialogue(X, strategy=strategy)
        alone.tell(alone.ask(), "unsure")
        other = Dialogue(X, strategy=strategy)
        asked = other.ask()
        other.ask(besides=[asked])
        other.tell(asked, "unsure")
        assert other.ask() == alone.ask()  # what others were asked changes nothing


def test_questions_that_others_hold_count_against_the_budget():
    talk = Dialogue(X, strategy=RandomPairs(), budget=2)
    held = [talk.ask()]
    held.append(talk.ask(besides=held))
    assert talk.ask(besides=held) is None


def test_any_answer_can_be_withdrawn():
    talk = Dialogue(X, strategy=PairsAndTrios())
    for at in range(6):
        talk.tell((at, at + 3), True)
    assert talk.undo(2).items == (2, 5)
    assert talk.undo(2) is None
    other = Dialogue(X, strategy=PairsAndTrios())
    for at in (0, 1, 3, 4, 5):
        other.tell((at, at + 3), True)
    assert talk.constraints == other.constraints
    assert talk.ask().items == other.ask().items
    assert talk.undo().number == 5


def test_what_is_known_may_grow_and_shrink_and_contradictions_change_nothing():
    talk = Dialogue(X, strategy=RandomPairs())
    talk.tell((0, 1), False)
    talk.know(Constraints.build(12, must_link=[(0, 1)]))
    assert [told.items for told in talk.suspects] == [(0, 1)]
    with pytest.raises(InfeasibleConstraintsError):
        talk.know(Constraints.build(12, must_link=[(0, 1)], cannot_link=[(0, 1)]))
    with pytest.raises(LinkwiseError, match="about 3 samples"):
        talk.know(Constraints.build(3))
    assert talk.known.same(0, 1)
    talk.know(Constraints.build(12))
    assert talk.known.same(0, 1) is False
    assert not talk.suspects


def test_many_answers_at_once_are_those_told_one_by_one_with_one_test_of_all(monkeypatch):
    def says(query):
        return LabelAnswerer(Y)(query) if len(query.items) == 2 else "third"

    one = run(Dialogue(X, strategy=PairsAndTrios(), budget=25), says)
    entries = [{"items": list(t.items), "answer": str(t.answer), "checks": list(t.checks)} for t in one.answers]
    tests, check = [], answered.check
    monkeypatch.setattr(answered, "check", lambda *given, **more: tests.append(given) or check(*given, **more))
    many = Dialogue(X, strategy=PairsAndTrios(), budget=25)
    many.tell_all(entries)
    assert len(tests) == 1
    assert many.answers == one.answers
    assert many.constraints == one.constraints
    assert str(many.progress()) == str(one.progress())
    for bad in ({"undo": 0}, {"items": [0, 12], "answer": "yes"}, {"items": [0, 1], "answer": "first"}):
        with pytest.raises(LinkwiseError, match="tell_all: entry 1"):
            many.tell_all([entries[0], bad])
    assert many.answers == one.answers


def test_an_estimator_with_a_warm_start_is_kept():
    talk = Dialogue(X, ReCon(None, linkage="ward", warm_start=True), strategy=RandomTrios())
    talk.tell((0, 1, 11), "third")
    model = talk.fit()
    talk.tell((0, 2, 11), "third")
    assert talk.fit() is model
    assert model.n_reused_ > 0
    cold = Dialogue(X, ReCon(None, linkage="ward"), constraints=talk.constraints, strategy=RandomTrios()).fit()
    assert (model.dendrogram_.parent == cold.dendrogram_.parent).all()
