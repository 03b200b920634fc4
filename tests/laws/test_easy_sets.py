"""Degree and inductiveness of cannot-links against the definition, and pairs drawn so that they stay small."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from linkwise import Constraints, check
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.problem import structure
from linkwise.sources import easy_label_pairs
from tests.oracles.partitions import draw_statements, holding, sizes
from tests.oracles.relative import components


def _by_definition(n, said):
    """Groups, pairs apart, largest degree, and the least over all orders of the most neighbors before a group."""
    groups = components(range(n), [*said["must_link"], *((row[0], x) for row in said["together"] for x in row[1:])])
    place = {x: i for i, group in enumerate(groups) for x in group}
    rows = [*said["cannot_link"], *said["apart"]]
    apart = {frozenset((place[a], place[b])) for row in rows for a in row for b in row if a != b}
    if any(len(pair) == 1 for pair in apart):
        return None
    around = {v: {w for pair in apart if v in pair for w in pair if w != v} for v in range(len(groups))}
    best = min(
        max((len(around[v] & set(order[:i])) for i, v in enumerate(order)), default=0)
        for order in permutations(range(len(groups)))
    )
    return len(groups), len(apart), max((len(found) for found in around.values()), default=0), best


def test_degree_and_inductiveness_agree_with_all_orders():
    rng = np.random.default_rng(0)
    contradictions = 0
    for _ in range(300):
        n = int(rng.integers(2, 7))
        said = draw_statements(rng, n, {"must_link": 2, "together": 1, "cannot_link": 7, "apart": 2})
        table, expected = Constraints.build(n, **said), _by_definition(n, said)
        if expected is None:
            contradictions += 1
            with pytest.raises(InfeasibleConstraintsError):
                structure(table)
            continue
        found = structure(table)
        assert found == (*expected, True)
        possible = set(sizes(n)[holding(n, said)].tolist())
        assert possible >= set(range(found.inductiveness + 1, found.n_groups + 1))
    assert 20 < contradictions < 250


def test_the_reason_names_degree_or_order_where_they_prove_it():
    star = Constraints.build(5, cannot_link=[(0, 1), (0, 2), (0, 3)])
    assert check(star, n_clusters=4).because == (
        "A partition into 4 clusters exists: no group of samples is apart from 4 others."
    )
    assert check(star, n_clusters=2).because == (
        "A partition into 2 clusters exists: groups of samples can be placed in an order in which each is apart from "
        "fewer than 2 before it."
    )
    square = Constraints.build(4, cannot_link=[(0, 1), (1, 2), (2, 3), (0, 3)])
    assert check(square, n_clusters=2).because == "A partition into 2 clusters exists."


@pytest.mark.parametrize("k", [2, 3, 4, 7])
def test_easy_pairs_stay_below_the_number_of_clusters_and_true_to_the_labels(k):
    rng = np.random.default_rng(k)
    for seed in range(40):
        y = np.arange(int(rng.integers(30, 60))) % int(rng.integers(2, 6))
        y[rng.random(len(y)) < 0.2] = -1
        m = int(rng.integers(0, 16))
        easy = easy_label_pairs(y, m, k, seed, must_link_share=float(rng.choice([0.0, 0.3, 0.5])))
        shape = structure(easy)
        assert shape.inductiveness < k
        assert easy.n_statements == m == len({tuple(sorted(row[:2])) for row in easy.items.tolist()})
        ends = easy.items[:, :2]
        assert (y[ends] >= 0).all()
        assert ((y[ends[:, 0]] == y[ends[:, 1]]) == (easy.kind == 0)).all()
        if shape.n_groups >= k:
            assert check(easy, n_clusters=k).status == "feasible"


def test_easy_pairs_fill_all_the_room_there_is():
    y = np.arange(9)
    most = sum(min(i, 2) for i in range(9))
    assert structure(easy_label_pairs(y, most, 3, 0, must_link_share=0.0)).inductiveness == 2
    with pytest.raises(LinkwiseError, match=f"have room for {most}"):
        easy_label_pairs(y, most + 1, 3, 0, must_link_share=0.0)


def test_the_same_seed_gives_the_same_pairs():
    y = np.arange(60) % 4
    assert easy_label_pairs(y, 30, 3, 5) == easy_label_pairs(y, 30, 3, 5)
    assert easy_label_pairs(y, 30, 3, 5) != easy_label_pairs(y, 30, 3, 6)


def test_large_groups_apart_give_bounds():
    table = Constraints.build(3000, apart=[range(2500), range(1000, 3000)])
    shape = structure(table)
    assert not shape.exact
    assert shape.max_degree >= 2999
    assert "at most" in str(shape)
