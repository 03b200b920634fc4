"""repair() in a given number of clusters and with data: the cheapest entries to drop, by all subsets and partitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from linkwise import Constraints, check, repair, suspects
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from tests.oracles.partitions import draw_statements, holding, sizes

PAIRS = {"must_link": 2, "cannot_link": 4}
CHOICES = PAIRS | {"must_link_any": 2, "cannot_link_any": 1}


def _cheapest(n, rows, price, k):
    """The least cost over all subsets of statements to drop."""
    for cost, gone in sorted(
        (sum(price[i] for i in gone), gone)
        for size in range(len(rows) + 1)
        for gone in combinations(range(len(rows)), size)
    ):
        said = {}
        for i, (word, row) in enumerate(rows):
            if i not in gone:
                said.setdefault(word, []).append(row)
        if (holding(n, said) & (sizes(n) == k)).any():
            return cost
    raise AssertionError


@pytest.mark.parametrize("weights", ["hard", "soft", "mixed"])
@pytest.mark.parametrize("words", [PAIRS, CHOICES], ids=["pairs", "choices"])
def test_repairs_cost_as_little_as_possible(words, weights):
    rng = np.random.default_rng(len(weights) + len(words))
    beyond = 0
    for _ in range(50):
        n = int(rng.integers(3, 6))
        k = int(rng.integers(1, n + 1))
        said = draw_statements(rng, n, words)
        rows = [(word, row) for word, several in said.items() for row in several]
        if not rows:
            continue
        weight = rng.choice({"hard": [np.inf], "soft": [1.0, 2.5], "mixed": [1.0, 2.0, np.inf]}[weights], len(rows))
        table = Constraints.build(n, **said, weight=weight)
        found = repair(table, n_clusters=k)
        price = np.where(np.isinf(weight), 1 + weight[np.isfinite(weight)].sum(), weight)
        assert check(found.kept.with_weight(np.inf), n_clusters=k).status == "feasible"
        assert found.n_clusters == k
        assert found.optimal
        assert found.cost == pytest.approx(_cheapest(n, rows, price, k))
        assert len(found.because) == len(found.dropped)
        beyond += len(found.dropped) > len(repair(table).dropped)
    assert beyond > 5


def test_one_wrong_label_goes_and_not_the_classes():
    labels = Constraints.from_labels(["a", "a", "b", "b", "c"])
    found = repair(labels, n_clusters=2)
    assert len(found.entries) == 1
    assert found.entries[0].sample == 4
    assert check(found.kept, n_clusters=2).status == "feasible"
    assert str(found).startswith("1 of 5 entries must go, at a cost of 1; no cheaper repair exists.")


def test_of_several_ways_out_the_data_choose():
    loop = Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    for X, wrong in (([[0.0], [0.1], [9.0]], 1), ([[9.0], [0.1], [0.0]], 0), ([[0.0], [5.0], [0.1]], 2)):
        assert repair(loop, X=np.array(X)).dropped.tolist() == [wrong]
    far = np.abs(np.subtract.outer([0.0, 0.1, 9.0], [0.0, 0.1, 9.0]))
    assert repair(loop, X=far, metric="precomputed").dropped.tolist() == [1]


def test_a_label_that_the_data_contradict_goes_first():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [0.15]])
    said = Constraints.from_labels(["a", "a", "a", "b", "b", "b"]) | Constraints.build(6, must_link=[(5, 1)])
    assert [entry.sample for entry in repair(said, X=X).entries] == [5]


def test_hard_statements_stay_where_that_is_asked_whatever_the_data_say():
    hard = Constraints.build(3, must_link=[(0, 2)])
    soft = Constraints.build(3, cannot_link=[(0, 2), (0, 1), (1, 2)], weight=3)
    X = np.array([[0.0], [5.0], [9.0]])
    assert repair(hard | soft, X=X, keep="hard").dropped.tolist() == [1]
    with pytest.raises(InfeasibleConstraintsError):
        repair(hard, n_clusters=3, keep="hard")


def test_views_that_were_not_told_weigh_a_repair():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 2)) + 8 * y[:, None]
    must = [(i, i + 1) for i in (*range(0, 29, 2), *range(30, 59, 2))]
    told = Constraints.build(60, must_link=must, cannot_link=[(0, 30), (4, 34)]) | Constraints.build(
        60, must_link=[(0, 30)]
    )
    fixed = repair(suspects(X, told, 2).constraints, n_clusters=2)
    assert fixed.dropped.tolist() == [len(must) + 2]


@pytest.mark.parametrize("wrong", [0, 9, 2.5, "two", (2, 3)])
def test_a_number_that_cannot_be_is_refused(wrong):
    with pytest.raises(LinkwiseError, match="repair: n_clusters is"):
        repair(Constraints.build(4, must_link=[(0, 1)]), n_clusters=wrong)


def test_data_of_another_length_are_refused():
    with pytest.raises(LinkwiseError, match="repair: X has 2 rows"):
        repair(Constraints.build(4, must_link=[(0, 1)]), X=np.zeros((2, 1)))


def test_what_fits_is_said_with_the_number():
    assert str(repair(Constraints.build(4, must_link=[(0, 1), (1, 2)]), n_clusters=2)) == (
        "All 2 statements hold together in 2 clusters; nothing to drop."
    )
