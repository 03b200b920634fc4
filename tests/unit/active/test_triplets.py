"""Questions about hierarchies: the trees they find, the beliefs in between, and wrong answers."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Kind, Taxonomy
from linkwise.active import Answer, Dialogue, ExploreConsolidate, PairsAndTrios, PlacingTrios, RandomTrios, TreeAnswerer
from linkwise.exceptions import LinkwiseError
from linkwise.metrics import h_correlation

PATHS = ["a/b", "a/c", "d/e", "d/f/g", "d/f/h"]


def scene(seed, each=8, spread=1.0):
    """Five classes on three levels whose places have nothing to do with the tree: distances show classes alone."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(PATHS)), each)
    X = rng.normal(size=(len(PATHS), 4))[y] * 4 + spread * rng.normal(size=(len(y), 4))
    return X, Taxonomy.from_paths([PATHS[c] for c in y])


def recovered(talk, truth):
    return h_correlation(truth, talk.fit().dendrogram_, weights="uniform")


def answer(talk, says, most):
    while talk.n_asked < most and (query := talk.ask()) is not None:
        talk.tell(query, says(query))
    return talk


def test_few_questions_recover_a_tree_that_distances_hardly_show():
    placing, blind = [], []
    for seed in range(2):
        X, truth = scene(seed, spread=4.0)
        for strategy, found in ((PlacingTrios(), placing), (RandomTrios(), blind)):
            talk = answer(Dialogue(X, strategy=strategy, random_state=seed), TreeAnswerer(truth), 60)
            found.append(recovered(talk, truth))
    assert np.mean(placing) > 0.9
    assert np.mean(placing) > np.mean(blind)


def test_the_tree_shown_displays_every_answer_and_guesses_are_never_said():
    X, truth = scene(1)
    talk = answer(Dialogue(X, strategy=PlacingTrios()), TreeAnswerer(truth), 25)
    model = talk.fit()
    assert model.dendrogram_.satisfies(talk.constraints).all()
    guesses = talk._inquiry.guesses()
    assert guesses.n_statements > 0
    assert not guesses.is_hard.any()
    assert (talk.constraints.of(Kind.TRIPLET).shape[0]) == sum(t.answer is not Answer.UNSURE for t in talk.answers)


def test_wrong_answers_cost_something_but_not_everything():
    found = []
    for seed in range(2):
        X, truth = scene(seed)
        says = TreeAnswerer(truth, noise=0.05, random_state=seed)
        talk = answer(Dialogue(X, strategy=PlacingTrios(check=0.1), random_state=seed), says, 50)
        found.append(recovered(talk, truth))
    assert np.mean(found) > 0.8


def test_an_unlikely_answer_is_asked_for_again_and_the_second_one_counts():
    X = np.concatenate([np.zeros((6, 1)), np.full((6, 1), 50.0)]) + np.linspace(0, 1, 12)[:, None]
    talk = Dialogue(X, strategy=PlacingTrios(check=0.3))
    truth = Taxonomy.from_levels([np.repeat([0, 1], 6)])
    says = TreeAnswerer(truth)
    lied = None
    while (query := talk.ask()) is not None and talk.n_asked < 40:
        true = says(query)
        if lied is not None and query.checks == (lied.number,):
            talk.tell(query, true)
            assert [told.number for told in talk.suspects] == [lied.number]
            return
        if lied is None and talk.n_asked > 6 and true is not Answer.UNSURE:
            talk.tell(query, next(a for a in query.answers if a not in (true, Answer.UNSURE)))
            lied = talk.answers[-1]
        else:
            talk.tell(query, true)
    pytest.fail("the lie was not checked")


def test_progress_is_told():
    X, truth = scene(2)
    talk = Dialogue(X, strategy=PlacingTrios())
    first = talk.progress()
    assert 0 < first.gain <= 1
    assert 0 <= first.believed <= 1
    last = answer(talk, TreeAnswerer(truth), 10_000).progress()
    assert last.gain == 0
    assert last.believed > first.believed


def test_what_was_said_unasked_is_heard():
    X, _ = scene(3)
    talk = Dialogue(X, strategy=PlacingTrios())
    talk.tell((0, 1, 39), "third")
    query = talk.ask()
    assert query.items != (0, 1, 39)
    talk.tell(query, "unsure")
    assert talk.ask() is not None


@pytest.mark.parametrize(
    "bad", [{"worth": 0}, {"worth": 2}, {"slip": 0}, {"slip": 0.7}, {"check": -1}, {"check": True}]
)
def test_parameters_out_of_range_are_refused(bad):
    with pytest.raises(LinkwiseError, match="expected a number"):
        PlacingTrios(**bad)


def test_pairs_and_trios_share_the_questions_and_both_hold():
    X, truth = scene(4)
    strategy = PairsAndTrios(ExploreConsolidate(5), share=0.25)
    talk = answer(Dialogue(X, strategy=strategy), TreeAnswerer(truth), 40)
    pairs = sum(len(told.items) == 2 for told in talk.answers)
    assert pairs == 10
    model = talk.fit()
    hard = talk.constraints
    assert model.dendrogram_.satisfies(hard.select(hard.kind == Kind.TRIPLET)).all()
    same = hard.of(Kind.MUST_LINK)
    assert (model.labels_[same[:, 0]] == model.labels_[same[:, 1]]).all()


def test_trios_go_on_when_no_pair_is_left():
    X, truth = scene(5, each=1)
    talk = answer(Dialogue(X, strategy=PairsAndTrios(share=1.0)), TreeAnswerer(truth), 100)
    sizes = [len(told.items) for told in talk.answers]
    assert sizes[:10] == [2] * 10
    assert 3 in sizes


def test_a_share_that_is_none_is_refused():
    with pytest.raises(LinkwiseError, match="share is 2"):
        PairsAndTrios(share=2)
