"""Drawn statements are different, true of the classes, and wrong exactly as often as asked."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import check, repair
from linkwise.constraints import Constraints, Kind
from linkwise.datasets import blobs_with_knowledge
from linkwise.datasets._statements import disagrees, draw_statements
from linkwise.exceptions import LinkwiseError


def true_statements(y, kind):
    """All statements of a kind that are true of ``y``, straight from the definition."""
    n = range(len(y))
    if kind == "triplets":
        return {(a, b, c) for a, b in itertools.combinations(n, 2) for c in n if y[a] == y[b] != y[c]}
    wanted = {"must_link": (True,), "cannot_link": (False,), "pairs": (True, False)}[kind]
    return {(a, b, -1) for a, b in itertools.combinations(n, 2) if (y[a] == y[b]) in wanted}


@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=9),
    st.sampled_from(["must_link", "cannot_link", "pairs", "triplets"]),
    st.integers(0, 2**32 - 1),
)
def test_asking_for_all_gives_each_true_statement_once(y, kind, seed):
    wanted = true_statements(y, kind)
    said = draw_statements(y, kind, len(wanted), 0.0, np.random.default_rng(seed))
    assert said.n_statements == len(wanted)
    assert {tuple(row) for row in said.items.tolist()} == wanted
    assert not disagrees(said, y).any()
    with pytest.raises(LinkwiseError, match=f"give only {len(wanted)}"):
        draw_statements(y, kind, len(wanted) + 1, 0.0, np.random.default_rng(seed))


@pytest.mark.parametrize("kind", ["must_link", "cannot_link", "pairs", "triplets"])
@pytest.mark.parametrize("noise", [0.0, 0.25, 0.5, 1.0])
def test_the_number_of_wrong_ones_is_exact(kind, noise):
    y = np.repeat([0, 1, 2], 20)
    said = draw_statements(y, kind, 40, noise, np.random.default_rng(0))
    assert said.n_statements == 40
    assert disagrees(said, y).sum() == round(noise * 40)
    pairs = np.sort(said.items, axis=1)
    assert len(np.unique(pairs, axis=0)) == 40


def test_all_statements_are_equally_likely():
    y = np.array([0, 0, 0, 1, 1])
    rng = np.random.default_rng(0)
    seen = np.zeros((5, 5))
    for _ in range(2000):
        a, b, _ = draw_statements(y, "pairs", 1, 0.0, rng).items[0]
        seen[a, b] += 1
    drawn = seen[np.triu_indices(5, 1)]
    assert drawn.min() > 140  # 200 expected of each of 10; 4.5 standard deviations
    assert drawn.max() < 260


def test_labels_speak_of_as_many_samples_as_asked_and_noise_gives_others():
    y = np.repeat([4, 7, 9], 10)
    said = draw_statements(y, "labels", 12, 0.0, np.random.default_rng(0))
    assert len(np.unique(said.items[:, :2])) == 12
    assert not disagrees(said, y).any()
    wrong = draw_statements(y, "labels", 12, 0.5, np.random.default_rng(0))
    assert disagrees(wrong, y).any()
    assert check(wrong).status == "feasible"  # wrong labels are wrong, but never contradict each other


@pytest.mark.parametrize(
    ("y", "kind", "amount", "noise", "what"),
    [
        ([0, 1], "guesses", 1, 0.0, "expected one of"),
        ([[0, 1]], "pairs", 1, 0.0, "one class for each"),
        ([0, 1], "labels", 3, 0.0, "only 2 samples"),
        ([0, 0], "labels", 2, 0.5, "second class"),
    ],
)
def test_impossible_wishes_are_refused(y, kind, amount, noise, what):
    with pytest.raises(LinkwiseError, match=what):
        draw_statements(y, kind, amount, noise, np.random.default_rng(0))


def test_nothing_said_is_an_empty_table():
    assert draw_statements([0, 1], "none", 5, 0.0, np.random.default_rng(0)) == Constraints.build(2)
    assert draw_statements([0, 1], "pairs", 0, 0.0, np.random.default_rng(0)) == Constraints.build(2)


# -- blobs with planted contradictions -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_clusters", "n_wrong"), [(2, 4), (3, 0), (4, 7)])
def test_each_wrong_statement_contradicts_the_right_ones(seed, n_clusters, n_wrong):
    data, said, wrong = blobs_with_knowledge(n_clusters=n_clusters, n_wrong=n_wrong, random_state=seed)
    assert said.n_statements == len(wrong) == 80
    assert wrong.sum() == n_wrong
    assert np.array_equal(disagrees(said, data.y), wrong)
    assert len(np.unique(said.items, axis=0)) == 80
    assert set(said.kind.tolist()) <= {Kind.MUST_LINK, Kind.CANNOT_LINK}
    assert check(said.select(~wrong)).status == "feasible"
    for one in np.flatnonzero(wrong):
        assert check(said.select(np.r_[np.flatnonzero(~wrong), one])).status == "infeasible"


def test_repair_finds_what_was_planted():
    """Most often: the truth has several witnesses, but chance may leave a sample with few."""
    found = 0
    for seed in range(6):
        _, said, wrong = blobs_with_knowledge(n_wrong=3, random_state=seed)
        found += sorted(repair(said).dropped) == np.flatnonzero(wrong).tolist()
    assert found >= 5


def test_statements_keep_to_the_known_samples_and_the_seed_decides():
    made = [blobs_with_knowledge(n_known=20, random_state=seed) for seed in (1, 1, 2)]
    assert len(np.unique(made[0].constraints.items[:, :2])) == 20
    assert made[0].constraints == made[1].constraints
    assert np.array_equal(made[0].data.X, made[1].data.X)
    assert made[0].constraints != made[2].constraints


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"n_clusters": 1}, "n_clusters is 1"),
        ({"n_features": 1}, "n_features is 1"),
        ({"n_wrong": 81}, "n_wrong is 81"),
        ({"n_known": 2}, "n_known is 2"),
        ({"n_known": 5}, "only 10 pairs"),
        ({"n_known": 100}, "cannot settle 100 samples"),
        ({"n_statements": 3, "n_wrong": 3}, "expected n_clusters"),
    ],
)
def test_numbers_that_do_not_go_together_are_refused(wrong, what):
    with pytest.raises(LinkwiseError, match=what):
        blobs_with_knowledge(**wrong)
