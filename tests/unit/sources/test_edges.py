"""Must-links from lists of interactions and from logs, against their definitions."""

from __future__ import annotations

import random

import numpy as np
import pytest

from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.sources import _edges, from_co_occurrence, from_edges
from tests.oracles.sources import shared_contexts, strengths
from tests.profile import examples

IDS = ["a", "b", "c", "d", "e"]


def as_table(constraints):
    return {
        tuple(pair): weight for pair, weight in zip(constraints.items[:, :2].tolist(), constraints.weight, strict=True)
    }


def kept(total, threshold, hard_from, scale):
    return {
        pair: np.inf if value >= hard_from else pytest.approx(scale * value)
        for pair, value in total.items()
        if value > threshold
    }


@pytest.mark.parametrize("seed", range(examples(200, 5_000)))
def test_pairs_equal_their_definition(seed):
    rng = random.Random(seed)
    names = [*IDS, "x", "y"]
    threshold, hard_from, scale = rng.choice([0, 1, 2]), rng.choice([3, np.inf]), rng.choice([1.0, 0.5])
    options = {"ids": IDS, "threshold": threshold, "hard_from": hard_from, "scale": scale}
    edges = [("a", "b", 1), *((rng.choice(names), rng.choice(names), rng.choice([0, 0.5, 1, 2])) for _ in range(20))]
    found = from_edges(*zip(*edges, strict=True), **options)
    assert as_table(found) == kept(strengths(edges, IDS), threshold, hard_from, scale)
    assert found.ids.tolist() == IDS
    log = [("q", "a"), *((rng.choice("qrst"), rng.choice(names)) for _ in range(20))]
    found = from_co_occurrence(*zip(*log, strict=True), **options)
    assert as_table(found) == kept(shared_contexts(log, IDS), threshold, hard_from, scale)


def test_contexts_that_are_missing_are_left_out():
    assert from_co_occurrence([None, None, "q"], ["a", "b", "a"], ids=IDS, threshold=0).n_statements == 0


def test_lists_about_other_samples_bring_a_warning():
    with pytest.warns(LinkwiseWarning, match="no edge has both ends among the 5 ids"):
        assert from_edges(["a"], ["z"], ids=IDS).n_statements == 0
    with pytest.warns(LinkwiseWarning, match="no entry names one of the 5 ids"):
        assert from_co_occurrence(["q"], ["z"], ids=IDS).n_statements == 0
    assert from_edges([], [], ids=IDS).n_statements == 0
    assert from_co_occurrence([], [], ids=IDS).n_statements == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: from_edges(["a"], ["b", "c"], ids=IDS), "1 entries and second 2"),
        (lambda: from_edges(["a"], ["b"], [-1], ids=IDS), "edge 0 has the strength -1.0"),
        (lambda: from_edges(["a"], ["b"], [1, 2], ids=IDS), r"strength has shape \(2,\)"),
        (lambda: from_edges(["a"], ["b"], ["much"], ids=IDS), "strength does not hold numbers"),
        (lambda: from_edges(["a"], ["b"], ids=["a", "b", "a"]), "ids holds 1 repeats"),
        (lambda: from_edges(["a"], ["b"], ids=IDS, threshold=-1), "threshold"),
        (lambda: from_co_occurrence(["q"], ["a", "b"], ids=IDS), "context has 1 entries and item 2"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(LinkwiseError, match=message):
        call()


def test_contexts_with_too_many_items_are_refused(monkeypatch):
    monkeypatch.setattr(_edges, "_MOST_PAIRS", 2)
    with pytest.raises(LinkwiseError, match="hold 3 pairs of items, expected at most 2"):
        from_co_occurrence(["q"] * 3, ["a", "b", "c"], ids=IDS)
