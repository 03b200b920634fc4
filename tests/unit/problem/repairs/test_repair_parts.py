"""Parts of repairs: contradictions, the parts they lie in, and the cheapest choice that hits them all."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from linkwise import Constraints
from linkwise.problem.repairs._components import Incidence, MixedPart, cycle_parts, independent_parts, part_of
from linkwise.problem.repairs._hitting_sets import _unit, hit_conflicts, packing_bound
from linkwise.problem.repairs._kernels_link_cycles import light_cycles
from linkwise.problem.repairs._kernels_tree_cores import frees, implied_rows, small_cores, stuck_parts
from linkwise.problem.statements._budget import Budget
from tests.oracles.generators import flipped_triplets
from tests.oracles.knowledge import links_consistent
from tests.oracles.repairs import consistent, minimal_conflicts, triplets_hold
from tests.profile import examples

pytestmark = pytest.mark.kernels
PLENTY = 3600.0


def random_triplets(rng, n, m):
    return np.array([rng.choice(n, 3, replace=False) for _ in range(m)], dtype=np.intp).reshape(-1, 3)


def random_pairs(rng, n, m):
    return np.array([rng.choice(n, 2, replace=False) for _ in range(m)], dtype=np.intp), rng.random(m) < 0.6


def expected_parts(m, cores):
    """Statements in some core, joined when they share one: parts may be no finer."""
    part = {s: {s} for core in cores for s in core}
    for core in cores:
        joined = set().union(*(part[s] for s in core))
        for s in joined:
            part[s] = joined
    return part


def assert_parts_cover(part, m, cores):
    for core in cores:
        assert len({int(part[s]) for s in core}) == 1
        assert part[next(iter(core))] >= 0
    touched = set().union(*cores) if cores else set()
    for number in set(part[part >= 0].tolist()):  # no part without a contradiction
        assert touched & set(np.flatnonzero(part == number).tolist())


def test_triplets_in_different_parts_share_no_contradiction():
    rng = np.random.default_rng(0)
    for _ in range(examples(25, 300)):
        triplets = random_triplets(rng, int(rng.integers(3, 7)), 7)
        cores = minimal_conflicts(7, lambda chosen, rows=triplets: triplets_hold(rows[list(chosen)]))
        assert_parts_cover(stuck_parts(7, triplets), 7, cores)


def test_two_quarrels_far_apart_are_two_parts():
    triplets = np.array([(0, 1, 2), (1, 2, 0), (3, 4, 5), (4, 5, 3), (0, 1, 3), (3, 4, 0)])
    part = stuck_parts(6, triplets)
    assert part[[0, 2, 4, 5]].tolist().count(-1) == 2
    assert part[0] == part[1] != part[2] == part[3]


def test_pairs_in_different_parts_share_no_contradiction():
    rng = np.random.default_rng(1)
    for _ in range(examples(25, 300)):
        n = int(rng.integers(3, 8))
        pairs, is_must = random_pairs(rng, n, 9)

        def holds(chosen, n=n, pairs=pairs, is_must=is_must):
            at = np.array(chosen)
            return links_consistent(n, pairs[at[is_must[at]]].tolist(), pairs[at[~is_must[at]]].tolist())

        cores = minimal_conflicts(9, holds)
        part = cycle_parts(n, pairs, is_must)
        assert_parts_cover(part, 9, cores)
        assert (part >= 0).sum() >= len(expected_parts(9, cores))


def test_blocks_that_touch_in_one_sample_are_parts_of_their_own():
    pairs = np.array([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4), (4, 5)])
    is_must = np.array([True, True, False, True, True, False, True])
    part = cycle_parts(6, pairs, is_must)
    assert part[:3].tolist() == [part[0]] * 3
    assert part[3:6].tolist() == [part[3]] * 3
    assert part[0] != part[3]
    assert part[6] == -1


def test_every_found_contradiction_of_triplets_is_minimal_and_holds_a_wrong_answer():
    rng = np.random.default_rng(2)
    seen = 0
    for seed in range(examples(25, 300)):
        said, wrong = flipped_triplets(np.random.default_rng(seed), 9, share=0.3)
        if len(said) < 2:
            continue
        triplets = np.array(said, dtype=np.intp)
        start, member, _ = small_cores(9, triplets, rng.random(len(said)), np.arange(len(said)), 5, rng)
        assert (len(start) > 1) == (not triplets_hold(said))
        for low, high in pairwise(start):
            core = member[low:high].tolist()
            assert not triplets_hold(triplets[core])
            assert all(triplets_hold(np.delete(triplets[core], i, axis=0)) for i in range(len(core)))
            assert set(core) & set(wrong)
            seen += 1
    assert seen > 20


def test_two_answers_about_one_trio_are_found_as_a_contradiction_of_two():
    triplets = np.array([(0, 1, 2), (2, 3, 0), (1, 3, 4), (1, 2, 0), (0, 4, 2)])
    _, member, _ = small_cores(5, triplets, np.zeros(5), np.arange(5), 1, np.random.default_rng(0))
    assert sorted(member.tolist()) == [0, 3]


def test_implied_triplets_and_single_fixes_agree_with_the_definition():
    rng = np.random.default_rng(3)
    for _ in range(examples(15, 200)):
        triplets = random_triplets(rng, 5, 8)
        kept = []
        for t in range(8):
            if triplets_hold(triplets[[*kept, t]]):
                kept.append(t)
        rows = np.array(kept)
        expected = []
        for t in kept:
            a, b, c = triplets[t].tolist()
            rest = [triplets[s].tolist() for s in kept if s != t]
            expected.append(not any(triplets_hold([*rest, other]) for other in ((a, c, b), (b, c, a))))
        assert implied_rows(5, triplets, rows, rows).tolist() == expected
        everything = np.arange(8)
        alone = [triplets_hold(np.delete(triplets, t, axis=0)) for t in range(8)]
        assert frees(5, triplets, everything, everything).tolist() == alone


def test_light_cycles_are_shortest_chains():
    rng = np.random.default_rng(4)
    for _ in range(examples(20, 200)):
        n, m = 7, 10
        pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(m)], dtype=np.intp)
        length = rng.random(m)
        far = np.where(np.eye(n) > 0, 0.0, np.inf)
        for (a, b), d in zip(pairs.tolist(), length, strict=True):
            far[a, b] = far[b, a] = min(far[a, b], d)
        for k in range(n):
            far = np.minimum(far, far[:, [k]] + far[[k]])
        ends = np.array(list(combinations(range(n), 2)), dtype=np.intp)
        graph, limit = Incidence(n, pairs), rng.random(len(ends)) * 2
        which, start, member, _ = light_cycles(graph.start, graph.other, graph.link, length, ends, limit)
        assert which.tolist() == np.flatnonzero(far[ends[:, 0], ends[:, 1]] < limit).tolist()
        for w, low, high in zip(which, start[:-1], start[1:], strict=True):
            a, b = ends[w].tolist()
            chain = member[low:high]
            assert length[chain].sum() == pytest.approx(far[a, b])
            assert not links_consistent(n, pairs[chain].tolist(), [(a, b)])


class Listed:
    """Contradictions given in advance, to try the programmes on."""

    def __init__(self, cores, fractional):
        self.cores, self.fractional = [np.array(core) for core in cores], fractional

    def find(self, x, budget):
        return [core for core in self.cores if x[core].sum() < 1 - 1e-6][:2]

    def complete(self, order, budget):
        kept: set[int] = set()
        refused = np.zeros(len(order), dtype=bool)
        for s in order.tolist():
            refused[s] = any(set(core.tolist()) <= kept | {s} for core in self.cores)
            if not refused[s]:
                kept.add(s)
        return refused


@pytest.mark.parametrize("fractional", [True, False])
def test_the_cheapest_hitting_set_is_found_and_proven(fractional):
    rng = np.random.default_rng(5)
    for _ in range(examples(20, 300)):
        m = 9
        cores = [rng.choice(m, int(rng.integers(1, 4)), replace=False).tolist() for _ in range(7)]
        price = rng.choice([0.7, 1.0, 2.5], m) if rng.random() < 0.5 else np.ones(m)
        hits = [
            sum(price[list(chosen)])
            for size in range(m + 1)
            for chosen in combinations(range(m), size)
            if all(set(core) & set(chosen) for core in cores)
        ]
        everything = np.ones(m, dtype=bool)
        off, bound = hit_conflicts(Listed(cores, fractional), price, ~everything, 0, everything, Budget(PLENTY))
        assert bound == pytest.approx(min(hits)) == price[off].sum()
        assert packing_bound([np.array(core) for core in cores], price) <= min(hits) + 1e-9


def test_whole_numbers_are_searched_to_the_end():
    m = 14
    chosen = (np.arange(2**m)[:, None] >> np.arange(m)) & 1 == 1
    for seed in range(4):
        rng = np.random.default_rng(seed)
        cores = np.array([rng.choice(m, 3, replace=False) for _ in range(20)])
        price = rng.choice([2.0, 3.0, 5.0, 7.0], m)
        best = (chosen[chosen[:, cores].any(axis=2).all(axis=1)] @ price).min()
        everything = np.ones(m, dtype=bool)
        off, bound = hit_conflicts(Listed(cores, False), price, ~everything, 0, everything, Budget(np.inf))
        assert bound == pytest.approx(best) == price[off].sum()


@pytest.mark.parametrize(
    ("price", "unit"), [([2, 3], 0), ([2, 4, 0, 6], 2), ([0.5, 1.5], 0.5), ([1, 1.5], 0), ([0], 0), ([1, 2.0**41], 0)]
)
def test_costs_are_rounded_up_to_multiples_of_the_least_price_only_if_all_prices_are(price, unit):
    assert _unit(np.array(price, dtype=float)) == unit


def test_parts_of_a_mixed_table_hold_every_contradiction():
    rng = np.random.default_rng(6)
    for _ in range(examples(6, 60)):
        pairs, is_must = random_pairs(rng, 5, 4)
        links = {"must_link": pairs[is_must], "cannot_link": pairs[~is_must]}
        c = Constraints.build(5, **links, triplets=random_triplets(rng, 5, 3))
        rows = list(zip(c.kind.tolist(), c.items.tolist(), strict=True))
        cores = minimal_conflicts(7, lambda chosen, rows=rows: consistent(5, [rows[s] for s in chosen]))
        number = np.full(7, -1)
        for k, at in enumerate(independent_parts(c)):
            number[at] = k
        for core in cores:
            assert len({int(number[s]) for s in core}) == 1
            assert number[next(iter(core))] >= 0


def test_knowledge_without_must_links_or_without_cannot_links_is_never_mixed():
    quarrel = [(0, 1, 2), (1, 2, 0)]
    for links in ({"must_link": [(0, 1), (1, 2)]}, {"cannot_link": [(0, 1), (1, 2)]}):
        c = Constraints.build(3, triplets=quarrel, **links)
        assert [at.tolist() for at in independent_parts(c)] == [[2, 3]]
    c = Constraints.build(3, triplets=quarrel, must_link=[(0, 1)], cannot_link=[(1, 2)])
    (at,) = independent_parts(c)
    assert isinstance(part_of(c, at, np.random.default_rng(0)), MixedPart)
