"""Blobs with planted contradictions: exactly as many wrong statements as asked, each against the right ones."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import check, repair, verify
from linkwise.constraints import Kind
from linkwise.datasets import blobs_with_knowledge
from linkwise.exceptions import LinkwiseError


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_clusters", "n_wrong"), [(2, 4), (3, 0), (4, 7)])
def test_each_wrong_statement_contradicts_the_right_ones(seed, n_clusters, n_wrong):
    data, said, wrong = blobs_with_knowledge(n_clusters=n_clusters, n_wrong=n_wrong, random_state=seed)
    assert said.n_statements == len(wrong) == 80
    assert wrong.sum() == n_wrong
    assert np.array_equal(~verify(data.y, said).held, wrong)
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
        ({"n_known": 100}, "expected 100 to decide 100 samples"),
        ({"n_statements": 3, "n_wrong": 3}, "n_clusters to n_samples"),
    ],
)
def test_numbers_that_do_not_go_together_are_refused(wrong, what):
    with pytest.raises(LinkwiseError, match=what):
        blobs_with_knowledge(**wrong)
