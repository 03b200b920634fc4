"""close_comparisons() against the loops of the paper."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Constraints
from linkwise.exceptions import ConstraintError, InfeasibleConstraintsError, LinkwiseError
from linkwise.problem import close_comparisons, repair_comparisons
from linkwise.problem.entailment import _comparisons
from tests.oracles.entailment import transitive_closure
from tests.oracles.ultrametric import fewest_off_circles
from tests.profile import examples


def rows(rng, n, count):
    return [tuple(rng.choice(n, size=3, replace=False).tolist()) for _ in range(count)]


def test_the_closure_is_that_of_floyd_and_warshall():
    rng = np.random.default_rng(0)
    closed = circular = 0
    for _ in range(examples(150, 3000)):
        n = int(rng.integers(3, 8))
        said = rows(rng, n, int(rng.integers(0, 12)))
        if rng.random() < 0.5:  # comparisons of some distances, so never circular
            d = rng.random((n, n))
            d += d.T
            said = [(i, j, k) if d[i, j] < d[i, k] else (i, k, j) for i, j, k in said]
        expected = transitive_closure(said)
        if expected is None:
            with pytest.raises(InfeasibleConstraintsError, match="circle"):
                close_comparisons(said)
            circular += 1
        else:
            found = [tuple(row) for row in close_comparisons(said).tolist()]
            assert len(found) == len(set(found))
            assert set(found) == expected
            assert close_comparisons(found).tolist() == [list(row) for row in found]
            closed += len(found) > len(set(said))
    assert closed > 10
    assert circular > 10


def test_the_example_of_the_paper():
    assert [0, 1, 3] in close_comparisons([(0, 1, 2), (0, 2, 3)]).tolist()


def test_a_chain_over_pairs_without_a_common_item_is_reasoned_from():
    # d01 < d02 < d23 < d13: the first and the last share item 1
    assert close_comparisons([(0, 1, 2), (2, 0, 3), (3, 2, 1)]).tolist() == [
        [0, 1, 2],
        [1, 0, 3],
        [2, 0, 3],
        [3, 2, 1],
    ]


def test_what_only_a_hierarchy_excludes_is_no_circle():
    said = [(0, 1, 2), (1, 2, 0)]
    assert close_comparisons([said[0], (1, 2, 3)]).shape == (2, 3)
    assert len(close_comparisons([(0, 1, 2), (2, 1, 0)])) == 2  # both say that the pair 0, 2 is far
    with pytest.raises(InfeasibleConstraintsError):
        close_comparisons([(0, 1, 2), (0, 2, 1)])
    assert [2, 1, 0] in close_comparisons(said).tolist()  # d12 < d01 < d02


def test_a_circle_is_shown():
    with pytest.raises(InfeasibleConstraintsError) as raised:
        close_comparisons([(5, 6, 7), (0, 1, 2), (0, 2, 3), (0, 3, 1)])
    text = str(raised.value)
    assert "3 comparisons form a circle" in text
    assert all(f"#{e}" in text for e in (1, 2, 3))
    assert "#0" not in text


def test_a_triplet_makes_two_comparisons():
    c = Constraints.build(4, triplets=[(0, 1, 2), (1, 2, 3)], weight=[np.inf, 1.0])
    assert close_comparisons(c).tolist() == [[0, 1, 2], [1, 0, 2]]


def test_input_is_checked(monkeypatch):
    assert close_comparisons([]).shape == (0, 3)
    for wrong in ([(0, 1)], [(0, 1, -2)], [(0.5, 1.0, 2.0)], [(0, 1, 1)]):
        with pytest.raises(ConstraintError, match="expected"):
            close_comparisons(wrong)
    monkeypatch.setattr(_comparisons, "_MOST_PAIRS", 1)
    with pytest.raises(LinkwiseError, match="2 pairs"):
        close_comparisons([(0, 1, 2)])


def test_circles_are_removed_at_random_or_at_minimum_cost():
    rng = np.random.default_rng(1)
    circular = 0
    for seed in range(examples(200, 2000)):
        said = rows(rng, int(rng.integers(3, 6)), int(rng.integers(1, 9)))
        weight = rng.integers(1, 4, len(said))
        least = fewest_off_circles(said, weight)
        cheapest = repair_comparisons(said, weight=weight)
        assert weight[cheapest].sum() == least
        drawn = repair_comparisons(said, choose="random", random_state=seed)
        assert drawn.tolist() == repair_comparisons(said, choose="random", random_state=seed).tolist()
        for gone in (cheapest, drawn):
            assert transitive_closure([row for t, row in enumerate(said) if t not in gone]) is not None
        assert (len(drawn) == 0) == (least == 0)
        circular += least > 0
    assert circular > 20


def test_wrong_words_about_removal():
    assert repair_comparisons([]).tolist() == []
    with pytest.raises(LinkwiseError, match="choose"):
        repair_comparisons([(0, 1, 2)], choose="first")
    with pytest.raises(LinkwiseError, match="expected 1 finite numbers above 0"):
        repair_comparisons([(0, 1, 2)], weight=[0.0])
