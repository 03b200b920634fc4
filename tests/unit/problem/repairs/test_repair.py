"""repair(): as cheap as brute force, maximal, deterministic, and worded."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import pytest

from linkwise import Constraints, check, repair
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.problem.repairs._components import insert_in_order, part_of
from linkwise.problem.statements._budget import Budget
from tests.oracles.generators import flip, random_tree, tree_triplets
from tests.oracles.knowledge import cheapest_repair, feasible_sizes, links_consistent
from tests.oracles.repairs import cheapest_subset, consistent, share_of_wrong, triplets_hold
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
    for _ in range(examples(10, 400)):
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
    for _ in range(examples(4, 60)):
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


KINDS = ("must_link", "cannot_link", "triplets")
MIXES = [mix for k in (1, 2, 3) for mix in combinations(KINDS, k)]


@pytest.mark.parametrize("mix", MIXES, ids="+".join)
def test_every_mix_of_kinds_and_weights_agrees_with_brute_force(mix):
    rng = np.random.default_rng(len(mix))
    conflicts = 0
    for _ in range(examples(12, 250)):
        n, m = int(rng.integers(3, 6)), int(rng.integers(2, 13))
        kinds = rng.integers(len(mix), size=m)
        rows = {
            kind: [rng.choice(n, 3 if kind == "triplets" else 2, replace=False) for _ in range((kinds == k).sum())]
            for k, kind in enumerate(mix)
        }
        weight = [np.inf, 1.0, rng.choice([1.0, 2.5, 0.3], m), rng.choice([1.0, 2.0, np.inf], m)][rng.integers(4)]
        c = Constraints.build(n, **rows, weight=weight)
        fixed = repair(c)
        _assert_sound(c, fixed)
        assert fixed.optimal
        assert fixed.lower_bound == pytest.approx(fixed.cost)
        assert fixed.cost == pytest.approx(cheapest_subset(n, _rows(c), _prices(c).tolist()))
        conflicts += len(fixed.dropped) > 0
    if {"must_link", "cannot_link"} <= set(mix) or "triplets" in mix:
        assert conflicts > 3


def _wrong_triplets(seed, n, m, share):
    rng = np.random.default_rng(seed)
    said = tree_triplets(rng, random_tree(rng, range(n), "random"), m)
    wrong = rng.random(len(said)) < share
    return Constraints.build(n, triplets=[flip(t, rng) if w else t for t, w in zip(said, wrong, strict=True)]), wrong


def _wrong_pairs(seed, n, k, m, share):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, k, n)
    pairs = np.unique(np.sort(rng.integers(0, n, (m, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    wrong = rng.random(len(pairs)) < share
    same = (label[pairs[:, 0]] == label[pairs[:, 1]]) ^ wrong
    wrong = np.concatenate([wrong[same], wrong[~same]])
    return Constraints.build(n, must_link=pairs[same], cannot_link=pairs[~same]), wrong


@pytest.mark.parametrize(
    "make", [lambda s: _wrong_triplets(s, 25, 120, 0.08), lambda s: _wrong_pairs(s, 60, 4, 220, 0.1)]
)
def test_a_search_alone_is_sound_and_no_better_than_the_proven_repair(make):
    for seed in range(examples(2, 20)):
        c, wrong = make(seed)
        exact = repair(c)
        assert exact.optimal
        part = part_of(c, np.arange(c.n_statements), np.random.default_rng(0))
        greedy = part.complete(np.arange(c.n_statements), Budget(np.inf))
        broken = part.search(greedy, np.ones(c.n_statements), Budget(np.inf))
        found = part.complete(np.argsort(broken, kind="stable"), Budget(np.inf))
        assert not (found & ~broken).any()
        kept = np.flatnonzero(~found)
        assert check(c.select(kept)).status == "feasible"
        for d in np.flatnonzero(found):
            assert check(c.select(np.append(kept, d))).status == "infeasible"
        assert exact.cost <= found.sum() <= 1.1 * exact.cost + 1
        assert exact.cost <= min(greedy.sum(), wrong.sum())


def test_noisy_triplets_lose_fewer_statements_than_are_wrong():
    c, wrong = _wrong_triplets(7, 60, 300, 0.04)
    fixed = repair(c, budget=3.0)
    _assert_sound(c, fixed)
    assert 0 < len(fixed.dropped) <= wrong.sum()
    greedy = min(insert_in_order(c, np.random.default_rng(s).permutation(c.n_statements)).sum() for s in range(5))
    assert len(fixed.dropped) <= greedy


def test_a_cut_short_repair_is_no_worse_than_greedy_and_its_bound_is_true():
    c, _ = _wrong_pairs(3, 80, 4, 300, 0.1)
    full = repair(c)
    for budget in (0.0, 0.02, 0.3):
        fixed = repair(c, budget=budget)
        assert not fixed.cut
        _assert_sound(c, fixed)
        assert full.optimal
        assert fixed.lower_bound <= full.cost <= fixed.cost
        assert fixed.cost <= insert_in_order(c, np.arange(c.n_statements)).sum()


@pytest.mark.parametrize(
    ("make", "true"),
    [
        (lambda s: _wrong_triplets(s, 40, 400, 0.05), 0.05),
        (lambda s: _wrong_triplets(s, 40, 400, 0.15), 0.15),
        (lambda s: _wrong_pairs(s, 100, 4, 700, 0.03), 0.03),
        (lambda s: _wrong_pairs(s, 100, 4, 700, 0.1), 0.1),
    ],
)
def test_the_estimated_noise_is_near_the_planted_noise(make, true):
    ratios = []
    for seed in range(examples(3, 12)):
        c, wrong = make(seed)
        ratios.append(repair(c, budget=1.0).noise / wrong.mean())
    assert 0.6 < np.mean(ratios) < 1.6, true


def test_noise_is_nothing_without_conflicts_and_shared_among_equal_suspects():
    assert repair(Constraints.build(3, must_link=[(0, 1)])).noise == 0.0
    triangle = Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    assert repair(triangle).noise == pytest.approx(1 / 3)
    mixed = Constraints.build(4, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], triplets=[(0, 1, 3)])
    assert repair(mixed).noise == pytest.approx(1 / 3)


HOLDS = {
    "pairs": lambda n, rows: links_consistent(n, *_split(rows)[:2]),
    "triplets": lambda _, rows: triplets_hold([items for _, items in rows]),
    "mixed": consistent,
}


@pytest.mark.parametrize(
    ("mix", "n", "m_pairs", "m_trios"), [("pairs", 9, 30, 0), ("triplets", 6, 0, 16), ("mixed", 4, 5, 4)]
)
def test_the_noise_is_that_of_the_model(mix, n, m_pairs, m_trios):
    rng = np.random.default_rng(8)
    seen = np.zeros(2, dtype=int)
    for _ in range(examples(5, 60)):
        y = rng.integers(0, 3, n)
        pairs = rng.permutation(list(combinations(range(n), 2)))[:m_pairs]
        same = (y[pairs[:, 0]] == y[pairs[:, 1]]) ^ (rng.random(len(pairs)) < 0.2)
        trios = rng.permutation(list(combinations(range(n), 3)))[:m_trios]
        triplets = [rng.permutation(trio) if rng.random() < 0.3 else trio for trio in trios]
        c = Constraints.build(n, must_link=pairs[same], cannot_link=pairs[~same], triplets=triplets)
        fixed = repair(c)
        if len(fixed.dropped):
            holds = partial(HOLDS[mix], n)
            own, common = (share_of_wrong(_rows(c), fixed.dropped.tolist(), holds, few=few) for few in (10, 1000))
            assert fixed.noise == pytest.approx(own)
            seen += [1, own != common]
    assert seen[0] > 2
    assert seen[1] or mix != "pairs"


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


def test_without_a_budget_the_greedy_repair_comes_back_with_a_bound():
    rng = np.random.default_rng(3)
    triplets = [rng.choice(12, 3, replace=False) for _ in range(60)]
    c = Constraints.build(12, triplets=triplets)
    fixed = repair(c, budget=0)
    _assert_sound(c, fixed)
    assert not fixed.optimal
    assert "no repair costs less than" in str(fixed)
    assert not fixed.cut
    assert "time limit" not in str(fixed)


def test_nothing_to_repair():
    c = Constraints.build(3, must_link=[(0, 1)])
    fixed = repair(c)
    assert fixed.optimal
    assert fixed.cost == 0
    assert not len(fixed.dropped)
    assert fixed.kept is c
    assert str(fixed) == "The one statement holds; nothing to drop."


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


def test_long_lists_of_reasons_are_cut_and_counted():
    chain = Constraints.build(8, must_link=[(i, i + 1) for i in range(7)], cannot_link=[(0, 7)], weight=[2] * 7 + [1])
    (reason,) = repair(chain).because
    assert reason.startswith("#7 cannot_link(0, 7) weight 1: it contradicts #0 must_link(0, 1) weight 2, #1 ")
    assert reason.endswith("#4 must_link(4, 5) weight 2 and 2 more.")
    five = Constraints.build(6, must_link=[(i, i + 1) for i in range(5)], cannot_link=[(0, 5)], weight=[2] * 5 + [1])
    assert repair(five).because[0].endswith("#4 must_link(4, 5) weight 2.")
    for n, last in ((20, "drop #39"), (21, "... and 1 more")):
        pairs = [(2 * i, 2 * i + 1) for i in range(n)]
        fixed = repair(Constraints.build(2 * n, must_link=pairs, cannot_link=pairs, weight=[2] * n + [1] * n))
        head, *lines = str(fixed).split("\n")
        assert head == f"{n} of {2 * n} statements must go, at a cost of {n}; no cheaper repair exists."
        assert len(lines) == n
        assert lines[-1].strip().startswith(last)


def test_without_time_nothing_is_claimed_whatever_the_prices():
    rng = np.random.default_rng(9)
    worse = 0
    for price in (1e-3, 1.0, 1e3) * 2:
        pairs = [tuple(rng.choice(8, 2, replace=False)) for _ in range(26)]
        c = Constraints.build(8, must_link=pairs[:13], cannot_link=pairs[13:], weight=price)
        fixed, best = repair(c, time_limit=0.0), repair(c)
        assert best.optimal
        assert 0 <= fixed.lower_bound <= best.cost <= fixed.cost
        assert best.cost == fixed.cost or not fixed.optimal
        worse += price < 1 and best.cost < fixed.cost
    assert worse


def test_greedy_insertion_of_pairs_agrees_with_one_by_one():
    rng = np.random.default_rng(4)
    for _ in range(examples(20, 1000)):
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
    for _ in range(examples(7, 300)):
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
