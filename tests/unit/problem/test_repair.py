"""repair(): as cheap as brute force, maximal, deterministic, and worded."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Constraints, check, repair
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.problem._insert import insert_in_order
from tests.oracles.knowledge import cheapest_repair, feasible_sizes, links_consistent
from tests.profile import examples


def _rows(c):
    return [(int(k), tuple(i)) for k, i in zip(c.kind.tolist(), c.items.tolist(), strict=True)]


def _split(rows):
    return [[i[: 3 if k == 2 else 2] for k, i in rows if k == kind] for kind in range(3)]


def _prices(c):
    soft = c.weight[~c.is_hard].sum()
    return np.where(c.is_hard, soft + 1, c.weight)


def _assert_sound(c, fixed):
    hardened = Constraints(c.n_samples, c.kind, c.items, np.full(c.n_statements, np.inf), c.row)
    kept = np.setdiff1d(np.arange(c.n_statements), fixed.dropped)
    assert check(hardened.select(kept)).status == "feasible"
    for d in fixed.dropped:
        assert check(hardened.select(np.append(kept, d))).status == "infeasible"
    assert fixed.cost == pytest.approx(_prices(c)[fixed.dropped].sum())
    assert fixed.lower_bound <= fixed.cost + 1e-9
    assert fixed.kept.n_statements == len(kept)
    assert (fixed.kept.row == c.row[kept]).all()


def test_pairs_agree_with_brute_force_over_all_subsets():
    rng = np.random.default_rng(0)
    for _ in range(examples(30, 400)):
        n, m = int(rng.integers(3, 7)), int(rng.integers(2, 11))
        pairs = [tuple(rng.choice(n, 2, replace=False)) for _ in range(m)]
        cut = int(rng.integers(0, m + 1))
        weight = rng.choice([1.0, 2.5, np.inf], m) if rng.random() < 0.6 else np.inf
        c = Constraints.build(n, must_link=pairs[:cut], cannot_link=pairs[cut:], weight=weight)
        rows = _rows(c)

        def consistent(kept, rows=rows, n=n):
            must, cannot, _ = _split([rows[i] for i in kept])
            return links_consistent(n, must, cannot)

        fixed = repair(c)
        _assert_sound(c, fixed)
        assert fixed.optimal
        assert fixed.cost == pytest.approx(cheapest_repair(_prices(c), consistent))


def test_mixed_knowledge_agrees_with_brute_force_when_optimal():
    rng = np.random.default_rng(1)
    for _ in range(examples(8, 60)):
        must, cannot = ([tuple(rng.choice(4, 2, replace=False)) for _ in range(rng.integers(0, 3))] for _ in range(2))
        triplets = [tuple(rng.choice(4, 3, replace=False)) for _ in range(4)]
        c = Constraints.build(4, must_link=must, cannot_link=cannot, triplets=triplets)
        rows = _rows(c)
        fixed = repair(c)
        _assert_sound(c, fixed)
        assert fixed.optimal
        best = cheapest_repair(
            _prices(c), lambda kept, rows=rows: bool(feasible_sizes(4, *_split([rows[i] for i in kept])))
        )
        assert fixed.cost == best


def test_larger_noisy_pairs_are_repaired_optimally_and_no_worse_than_greedy():
    rng = np.random.default_rng(2)
    n, m = 100, 300
    y = rng.integers(0, 5, n)
    pairs = rng.integers(0, n, (m, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = (y[pairs[:, 0]] == y[pairs[:, 1]]) ^ (rng.random(len(pairs)) < 0.05)
    c = Constraints.build(n, must_link=pairs[same], cannot_link=pairs[~same])
    fixed = repair(c)
    _assert_sound(c, fixed)
    greedy = insert_in_order(c, np.arange(c.n_statements))
    assert fixed.optimal
    assert 0 < fixed.cost <= greedy.sum()
    again = repair(c)
    assert again.dropped.tolist() == fixed.dropped.tolist()


def test_without_time_the_greedy_repair_comes_back_with_a_bound():
    rng = np.random.default_rng(3)
    triplets = [rng.choice(12, 3, replace=False) for _ in range(60)]
    c = Constraints.build(12, triplets=triplets)
    fixed = repair(c, time_limit=0.0)
    _assert_sound(c, fixed)
    assert not fixed.optimal
    assert "no repair costs less than" in str(fixed)


def test_nothing_to_repair():
    c = Constraints.build(3, must_link=[(0, 1)])
    fixed = repair(c)
    assert fixed.optimal
    assert fixed.cost == 0
    assert not len(fixed.dropped)
    assert fixed.kept is c
    assert str(fixed) == "All 1 statements hold together; nothing needs to go."


def test_keep_hard_never_drops_a_hard_statement():
    c = Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], weight=[np.inf, np.inf, 9.0])
    assert repair(c, keep="hard").dropped.tolist() == [2]
    broken = Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    with pytest.raises(InfeasibleConstraintsError):
        repair(broken, keep="hard")


def test_one_hard_statement_outweighs_all_soft_ones():
    cannot = [(0, i) for i in range(2, 12)]
    must = [(0, 1), *((1, i) for i in range(2, 12))]
    c = Constraints.build(12, must_link=must, cannot_link=cannot, weight=[np.inf] + [1e6] * 20)
    fixed = repair(c)
    assert 0 not in fixed.dropped
    assert fixed.cost == 1e7


def test_each_drop_is_blamed_on_kept_statements():
    c = Constraints.build(
        4, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], triplets=[(0, 1, 3)], weight=[3, 3, 1, 1]
    )
    fixed = repair(c)
    assert fixed.because == (
        "#2 cannot_link(0, 2) weight 1: it contradicts #0 must_link(0, 1) weight 3, #1 must_link(1, 2) weight 3.",
    )


def test_greedy_insertion_of_pairs_agrees_with_one_by_one():
    rng = np.random.default_rng(4)
    for _ in range(examples(60, 1000)):
        n, m = int(rng.integers(2, 9)), 15
        pairs = [tuple(rng.choice(n, 2, replace=False)) for _ in range(m)]
        c = Constraints.build(n, must_link=pairs[:8], cannot_link=pairs[8:])
        order, rows = rng.permutation(m), _rows(c)
        kept = []
        for s in order:
            must, cannot, _ = _split([rows[i] for i in [*kept, s]])
            if links_consistent(n, must, cannot):
                kept.append(s)
        assert sorted(kept) == np.flatnonzero(~insert_in_order(c, order)).tolist()


def test_greedy_insertion_of_mixed_statements_agrees_with_one_by_one():
    rng = np.random.default_rng(5)
    for _ in range(examples(20, 300)):
        pairs = [tuple(rng.choice(6, 2, replace=False)) for _ in range(6)]
        triplets = [tuple(rng.choice(6, 3, replace=False)) for _ in range(6)]
        c = Constraints.build(6, must_link=pairs[:3], cannot_link=pairs[3:], triplets=triplets)
        order = rng.permutation(12)
        kept: list[int] = []
        for s in order:
            if check(c.select([*kept, s])).status == "feasible":
                kept.append(s)
        assert sorted(kept) == np.flatnonzero(~insert_in_order(c, order)).tolist()


def test_an_unknown_way_to_keep_is_refused():
    with pytest.raises(LinkwiseError, match="keep"):
        repair(Constraints.build(2), keep="all")
