"""repair() with choices: the cheapest statements to drop, by all subsets and all partitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from linkwise import Constraints, check, repair
from linkwise.exceptions import InfeasibleConstraintsError
from tests.oracles.partitions import draw_statements, holding

SAID = {
    "must_link": 2,
    "cannot_link": 3,
    "together": 1,
    "apart": 1,
    "must_link_any": 1,
    "cannot_link_any": 1,
    "either": 2,
}


def _cheapest(n, rows, price):
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
        if holding(n, said).any():
            return cost
    raise AssertionError


@pytest.mark.parametrize("weights", ["hard", "soft", "mixed"])
def test_repairs_cost_as_little_as_possible(weights):
    rng = np.random.default_rng(len(weights))
    dropped = 0
    for _ in range(70):
        n = int(rng.integers(3, 6))
        said = draw_statements(rng, n, SAID)
        if not said["must_link_any"] + said["cannot_link_any"] + said["either"]:
            continue
        rows = [(word, row) for word, several in said.items() for row in several]
        drawn = {"hard": [np.inf], "soft": [1.0, 2.5], "mixed": [1.0, 2.0, np.inf]}[weights]
        weight = rng.choice(drawn, len(rows))
        table = Constraints.build(n, **said, weight=weight)
        found = repair(table)
        price = np.where(np.isinf(weight), 1 + weight[np.isfinite(weight)].sum(), weight)
        assert check(found.kept.with_weight(np.inf)).status == "feasible"
        assert found.cost == pytest.approx(price[found.dropped].sum())
        assert found.optimal
        assert found.cost == pytest.approx(_cheapest(n, rows, price))
        assert len(found.because) == len(found.dropped) == len(found.entries)
        dropped += len(found.dropped)
    assert dropped > 15


def test_a_choice_is_a_unit_and_the_reason_names_the_others():
    table = Constraints.build(4, cannot_link=[(0, 1), (0, 2)], must_link=[(1, 3)], must_link_any=[(0, 1, 2)])
    found = repair(table.with_weight([5, 5, 5, 1]))
    assert str(found) == (
        "1 of 4 statements must go, at a cost of 1; no cheaper repair exists.\n"
        "  drop #3 must_link_any(0: 1, 2) weight 1: it contradicts #1 cannot_link(0, 1) weight 5, "
        "#2 cannot_link(0, 2) weight 5."
    )
    assert found.noise == 0.25


def test_hard_statements_are_kept_where_that_is_asked():
    table = Constraints.build(3, cannot_link=[(0, 1), (0, 2)]) | Constraints.build(
        3, must_link_any=[(0, 1, 2)], weight=9
    )
    assert repair(table, keep="hard").dropped.tolist() == [2]
    with pytest.raises(InfeasibleConstraintsError):
        repair(table.with_weight(np.inf), keep="hard")


def test_nothing_is_dropped_where_all_choices_can_be_made():
    found = repair(Constraints.build(4, must_link_any=[(0, 1, 2)], cannot_link_any=[(3, 1, 2)]))
    assert len(found.dropped) == 0
    assert found.optimal


def test_a_small_budget_gives_a_repair_without_proof():
    rng = np.random.default_rng(0)
    cannot = [tuple(rng.choice(12, 2, replace=False).tolist()) for _ in range(40)]
    choice = [tuple(rng.choice(12, 3, replace=False).tolist()) for _ in range(15)]
    found = repair(Constraints.build(12, cannot_link=cannot, must_link_any=choice), budget=0)
    assert check(found.kept).status == "feasible"
    assert found.lower_bound <= found.cost
