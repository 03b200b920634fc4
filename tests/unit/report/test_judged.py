"""Sections about doubtful statements and views: every figure is the estimator's, and hard statements are not judged."""

from __future__ import annotations

import json

import numpy as np
import pytest

from linkwise import Consensus, ConstrainedAgglomerative, Constraints, load, save, verify
from linkwise.engines import ViewReport
from linkwise.report import gather_facts, render_html, render_markdown, to_json

N = 60
Y = np.repeat([0, 1, 2], 20)
X = np.random.default_rng(0).normal(size=(N, 3)) + np.array([[0, 0, 0], [6, 0, 1], [0, 6, 2]])[Y]


def constraints(wrong=True) -> Constraints:
    rng = np.random.default_rng(1)
    pairs = np.array(sorted({tuple(sorted(rng.choice(N, 2, replace=False).tolist())) for _ in range(60)}))
    same = Y[pairs[:, 0]] == Y[pairs[:, 1]]
    same[[3, 11]] ^= wrong
    return Constraints.build(N, must_link=pairs[same], cannot_link=pairs[~same])


@pytest.fixture(scope="module")
def doubtful():
    sure = Constraints.build(N, must_link=[(0, 2), (20, 22)])
    return Consensus(3).fit(X, constraints=constraints().with_trust(0.8) | sure)


@pytest.fixture(scope="module")
def hard():
    return Consensus(3).fit(X, constraints=constraints(wrong=False))


def test_the_most_probably_wrong_come_first_with_the_figures_of_the_estimator(doubtful):
    facts, said = gather_facts(doubtful), doubtful.constraints_
    wrong = doubtful.doubt_
    n = said.n_statements
    assert (facts.n_judged, facts.n_contradicted) == (n, int((wrong >= 0.5).sum())) == (n, 2)
    np.testing.assert_allclose(wrong[~said.is_hard], 1 - doubtful.trust_[~said.is_hard])
    shown = [one.wrong for one in facts.judged]
    assert shown == sorted(wrong.tolist(), reverse=True)[: len(shown)]
    assert len(shown) >= 3
    held = verify(doubtful.labels_, said).held
    words = {said.with_weight(np.inf).describe(at): bool(held[at]) for at in range(n)}
    assert {one.text: one.held for one in facts.judged}.items() <= words.items()
    assert [one.held for one in facts.judged][:2] == [False, False]
    assert [(vote.view, vote.weight, vote.missing) for vote in facts.votes] == [
        (view.name, view.weight, view.missing) for view in doubtful.views_
    ]
    assert json.loads(to_json(facts))["judged"][0]["wrong"] == shown[0]


def test_other_clusters_are_held_against_the_statements_themselves(doubtful):
    labels = Y.copy()
    labels[:30] = 0
    held = verify(labels, doubtful.constraints_).held
    facts = gather_facts(doubtful, labels=labels)
    order = np.argsort(-doubtful.doubt_, kind="stable")
    assert [one.held for one in facts.judged] == held[order[: len(facts.judged)]].tolist()


@pytest.mark.parametrize("render", [render_html, render_markdown])
def test_page_and_markdown_tell_the_same(doubtful, render):
    facts = gather_facts(doubtful)
    text = render(facts).replace("\\", "")
    n = facts.n_judged
    assert "Doubtful statements" in text
    assert f"The data contradict 2 of {n} statements, which are wrong with a probability of at least 0.5." in text
    assert "None is dropped." in text
    assert "Soft statements are weighed against the data, and may be broken." in text
    assert "Hard statements hold in the result, whatever the data say." in text
    for one in facts.judged:
        assert one.text in text
        assert f"{one.wrong:.2f}" in text
    assert f"and {n - len(facts.judged):,} more, less probably wrong than these" in text
    assert f"{len(facts.votes)} views of the data voted, and their weight follows" in text
    assert facts.votes[0].view in text
    assert f"{facts.votes[0].weight:.3f}" in text


@pytest.mark.parametrize("render", [render_html, render_markdown])
def test_hard_statements_are_judged_as_if_doubtful(hard, render):
    facts = gather_facts(hard)
    n = hard.constraints_.n_statements
    assert (facts.n_judged, facts.n_contradicted, all(one.held for one in facts.judged)) == (n, 0, True)
    text = render(facts).replace("\\", "")
    assert f"The data contradict none of {n} statements. Each is judged by views" in text
    assert "Hard statements hold in the result, whatever the data say." in text
    assert "weighed" not in text


def test_views_that_were_left_out_have_their_reason(hard):
    facts = gather_facts(hard)
    assert "could not be fitted" not in render_markdown(facts) or any(vote.missing for vote in facts.votes)
    model = Consensus(3).set_params(**hard.get_params())
    model.__dict__.update(hard.__dict__)
    model.views_ = [*hard.views_, ViewReport("a view <b>", 0.0, np.nan, "the map tells no samples apart")]
    facts = gather_facts(model)
    assert facts.votes[-1].agreement is None
    for render in (render_html, render_markdown):
        text = render(facts)
        assert "the map tells no samples apart" in text
        assert "could not be fitted and" in text
        assert "<b>:" not in text
        assert "a view <b>" not in text


@pytest.mark.parametrize("said", [None, Constraints.build(N, must_link=[(0, 1)], weight=3.0)])
def test_without_statements_to_hold_out_nothing_is_claimed(said):
    facts = gather_facts(Consensus(3).fit(X, constraints=said))
    text = render_markdown(facts)
    assert "all have the same weight, since no statements were held out" in text
    assert ("Doubtful statements" in text) == (said is not None)
    if said is not None:
        assert "1 statement: too few to hold some out, so none is judged by the data." in text
        assert "The probabilities are those that were given." in text
        assert facts.judged[0].wrong == pytest.approx(1 / (1 + np.exp(3.0)))


def test_other_methods_have_neither_section():
    facts = gather_facts(ConstrainedAgglomerative(3).fit(X, constraints=constraints(wrong=False)))
    assert (facts.n_judged, facts.votes) == (None, ())
    for text in (render_html(facts), render_markdown(facts)):
        assert "Doubtful statements" not in text
        assert "views of the data" not in text


def test_a_saved_model_is_reported_alike(doubtful, tmp_path):
    save(doubtful, tmp_path / "model.lwm")
    assert to_json(gather_facts(load(tmp_path / "model.lwm"))) == to_json(gather_facts(doubtful))
