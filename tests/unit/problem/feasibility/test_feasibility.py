"""check(): exact against brute force, witnesses that verify, cores from which nothing can be dropped."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest

from linkwise import Constraints, check, verify
from linkwise.constraints import MaxCentroidDistance, MinSeparation, NeighborWithin, SizeBetween
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.problem import onetree
from linkwise.problem.feasibility import _coloring
from tests.oracles.knowledge import feasible_partition_sizes, feasible_sizes, pairs_hold, partitions
from tests.profile import examples

ALL_TRIPLETS = [(a, b, c) for a, b in combinations(range(4), 2) for c in range(4) if c not in (a, b)]


def _draw(rng, n, counts):
    must, cannot = (
        [tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(rng.integers(0, m + 1))] for m in counts[:2]
    )
    triplets = [tuple(rng.choice(n, 3, replace=False).tolist()) for _ in range(rng.integers(0, counts[2] + 1))]
    return must, cannot, triplets


def _assert_minimal(constraints, core, **options):
    assert check(constraints.select(list(core)), **options).status == "infeasible"
    for left_out in core:
        rest = [s for s in core if s != left_out]
        assert check(constraints.select(rest), **options).status == "feasible", (core, left_out)


def test_golden_counts_of_consistent_and_minimal_inconsistent_triplet_sets_on_four_items():
    consistent = {}
    for chosen in product([False, True], repeat=12):
        rows = [t for t, take in zip(ALL_TRIPLETS, chosen, strict=True) if take]
        consistent[chosen] = onetree(4, rows).parent is not None
        if sum(chosen) <= 3:
            assert (check(Constraints.build(4, triplets=rows)).status == "feasible") == consistent[chosen]
    sizes = [sum(chosen) for chosen, ok in consistent.items() if ok]
    assert np.bincount(sizes).tolist() == [1, 12, 54, 52, 15]
    minimal = [
        sum(chosen)
        for chosen, ok in consistent.items()
        if not ok and all(consistent[(*chosen[:i], False, *chosen[i + 1 :])] for i in range(12) if chosen[i])
    ]
    assert np.bincount(minimal).tolist() == [0, 0, 12, 56]


@pytest.mark.parametrize(("n", "few", "many"), [(3, 100, 3000), (4, 120, 4000), (5, 50, 2600), (6, 5, 500)])
def test_mixed_knowledge_agrees_with_all_trees_and_all_cuts(n, few, many):
    rng = np.random.default_rng(n)
    infeasible = 0
    for _ in range(examples(few, many)):
        must, cannot, triplets = _draw(rng, n, (2, 4, n + 1))
        c = Constraints.build(n, must_link=must, cannot_link=cannot, triplets=triplets)
        sizes = feasible_sizes(n, must, cannot, triplets)
        free = check(c)
        assert (free.status == "feasible") == bool(sizes), (must, cannot, triplets)
        if not sizes:
            infeasible += 1
            assert free.k_min is None
            assert free.witness is None
            continue
        assert verify(free.witness, c).ok
        assert free.k_max == max(sizes)
        assert free.k_min <= min(sizes)
        for k in range(1, n + 1):
            given = check(c, n_clusters=k)
            assert given.status == ("feasible" if k in sizes else "infeasible"), (must, cannot, triplets, k)
            if given.status == "feasible":
                labels = given.witness if isinstance(given.witness, np.ndarray) else given.witness.cut_marked()
                assert verify(given.witness, c).ok
                assert len(np.unique(labels)) == k
    assert infeasible >= 0.3 * examples(few, many) or n == 6


def test_pairs_with_given_k_agree_with_all_partitions():
    rng = np.random.default_rng(8)
    for _ in range(examples(20, 1000)):
        n = int(rng.integers(2, 8))
        must, cannot, _ = _draw(rng, n, (2, 2 * n, 0))
        c = Constraints.build(n, must_link=must, cannot_link=cannot)
        sizes = feasible_partition_sizes(n, must, cannot)
        for k in range(1, n + 1):
            verdict = check(c, n_clusters=k)
            assert (verdict.status == "feasible") == (k in sizes)
            assert verdict.status != "unknown"
            if k in sizes:
                assert verify(verdict.witness, c).ok
                assert len(np.unique(verdict.witness)) == k
            elif sizes:
                _assert_minimal(c, verdict.explanation.core, n_clusters=k)


def test_every_core_is_minimal_and_every_suspect_repairs():
    rng = np.random.default_rng(1)
    sizes = set()
    for _ in range(examples(50, 3000)):
        n = int(rng.integers(4, 8))
        must, cannot, triplets = _draw(rng, n, (4, 3, 8) if rng.random() < 0.6 else (0, 0, 9))
        c = Constraints.build(n, must_link=must, cannot_link=cannot, triplets=triplets)
        verdict = check(c)
        if verdict.status == "feasible":
            continue
        why = verdict.explanation
        sizes.add(len(why.core))
        assert why.complete
        _assert_minimal(c, why.core)
        for statement in range(c.n_statements):
            repaired = check(c.select(np.arange(c.n_statements) != statement)).status == "feasible"
            assert repaired == ((statement,) in why.suspects)
    assert max(sizes) >= 4


def test_single_fixes_of_link_conflicts_are_exact_with_cycles_and_several_cannot_links():
    rng = np.random.default_rng(2)
    seen = 0
    for _ in range(examples(200, 3000)):
        n = int(rng.integers(3, 9))
        must, cannot, _ = _draw(rng, n, (n + 2, 3, 0))
        c = Constraints.build(n, must_link=must, cannot_link=cannot)
        verdict = check(c)
        if verdict.status == "feasible":
            continue
        fixes = {
            (s,) for s in range(c.n_statements) if check(c.select(np.arange(c.n_statements) != s)).status == "feasible"
        }
        assert fixes == {some for some in verdict.explanation.suspects if len(some) == 1}
        seen += len(fixes) > 0
    assert seen > 20


def test_a_core_of_five_triplets_is_found():
    rng = np.random.default_rng(5)
    for _ in range(4000):
        rows = [tuple(rng.permutation(6)[:3].tolist()) for _ in range(7)]
        c = Constraints.build(6, triplets=rows)
        verdict = check(c)
        if verdict.status == "infeasible" and len(verdict.explanation.core) == 5:
            _assert_minimal(c, verdict.explanation.core)
            return
    raise AssertionError("no core of size five among 4000 random sets")


def test_two_answers_about_one_trio_are_named_first():
    why = check(Constraints.build(6, triplets=[(3, 4, 5), (0, 1, 2), (4, 5, 0), (1, 2, 0)])).explanation
    assert why.core == (1, 3)
    assert "different ways" in why.because
    assert "hierarchy" in why.because


def test_conflict_through_a_chain_of_a_thousand_must_links_lists_twenty_and_counts_the_rest():
    chain = np.column_stack([np.arange(1000), np.arange(1, 1001)])
    c = Constraints.build(2000, must_link=chain, cannot_link=[(0, 1000)])
    verdict = check(c)
    assert verdict.explanation.core == tuple(range(1001))
    assert len(verdict.explanation.suspects) == 1001
    with pytest.raises(InfeasibleConstraintsError, match=r"\.\.\. and 981 more") as raised:
        verdict.raise_if_infeasible()
    assert raised.value.explanation is verdict.explanation
    assert len(str(raised.value)) < 2000


def test_the_error_reads_as_a_person_would_say_it():
    c = Constraints.build(80, must_link=[(12, 40), (40, 77), (1, 2), (3, 4)], cannot_link=[(12, 77)])
    with pytest.raises(InfeasibleConstraintsError) as raised:
        check(c).raise_if_infeasible()
    assert str(raised.value) == (
        "3 of 5 constraints contradict each other:\n"
        "  #0 must_link(12, 40)\n"
        "  #1 must_link(40, 77)\n"
        "  #4 cannot_link(12, 77)\n"
        "must-link is transitive, so samples [12, 40, 77] share one cluster, which #4 forbids.\n"
        "Hint: drop or soften one of them, or call `repair(constraints)`."
    )


def test_identifiers_appear_in_the_explanation():
    c = Constraints.from_ids(
        ["otter", "mink", "seal"], [("triplet", "otter", "mink", "seal"), ("triplet", "mink", "seal", "otter")]
    )
    assert "otter" in str(check(c).explanation)


def test_soft_statements_never_make_it_infeasible_and_are_counted():
    c = Constraints.build(3, must_link=[(0, 1)], cannot_link=[(0, 1)], weight=[np.inf, 2.0])
    verdict = check(c)
    assert verdict.status == "feasible"
    assert "1 soft statement was left out" in verdict.because


def test_k_above_the_groups_names_must_links():
    c = Constraints.build(6, must_link=[(0, 1), (2, 3), (1, 0)])
    verdict = check(c, n_clusters=5)
    assert verdict.status == "infeasible"
    assert verdict.k_max == 4
    assert verdict.explanation.core == (0, 1)
    assert "at most 4 groups" in verdict.because


def test_k_below_a_clique_shows_the_clique_and_the_links_that_make_it():
    c = Constraints.build(7, must_link=[(0, 4), (5, 6)], cannot_link=[(4, 1), (1, 2), (0, 2), (3, 0)])
    verdict = check(c, n_clusters=2)
    assert verdict.status == "infeasible"
    assert verdict.k_min == 3
    assert verdict.explanation.core == (0, 2, 3, 4)
    _assert_minimal(c, verdict.explanation.core, n_clusters=2)


def test_an_odd_cycle_needs_three_clusters_without_any_clique():
    cycle = [(i, (i + 1) % 7) for i in range(7)]
    c = Constraints.build(8, cannot_link=[*cycle, (7, 0)])
    verdict = check(c, n_clusters=2)
    assert verdict.status == "infeasible"
    assert verdict.explanation.core == tuple(range(7))
    assert check(c, n_clusters=3).status == "feasible"


def test_smallest_dead_end_is_feasible_at_two():
    c = Constraints.build(4, cannot_link=[(0, 1), (0, 2), (1, 3)])
    verdict = check(c, n_clusters=2)
    assert verdict.witness.tolist() == [0, 1, 1, 0]


def test_degree_and_degeneracy_bounds_are_always_enough():
    rng = np.random.default_rng(3)
    for _ in range(examples(4, 100)):
        n = 300
        pairs = rng.integers(0, n, (900, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        c = Constraints.build(n, cannot_link=pairs)
        left = {v: set() for v in range(n)}
        for a, b in pairs.tolist():
            left[a].add(b)
            left[b].add(a)
        degeneracy = 0
        while left:
            v = min(left, key=lambda u: len(left[u]))
            degeneracy = max(degeneracy, len(left[v]))
            for u in left.pop(v):
                left[u].discard(v)
        verdict = check(c, n_clusters=degeneracy + 1)
        assert verdict.status == "feasible"
        assert verify(verdict.witness, c).ok


def test_a_hard_coloring_question_is_answered_unknown_with_bounds(monkeypatch):
    for part in ("_SEARCH", "_SOLVE"):  # as hard with a tenth of the work
        monkeypatch.setattr(_coloring, part, getattr(_coloring, part) / 10)
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(400, 1)
    some = rng.random(len(first)) < 0.5
    c = Constraints.build(400, cannot_link=np.column_stack([first[some], second[some]]))
    verdict = check(c, n_clusters=30)
    assert verdict.status == "unknown"
    assert verdict.witness is None
    assert f"at least {verdict.k_min}" in verdict.because
    assert verdict.k_max == 400


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", True, 6])
def test_senseless_cluster_counts_are_refused(k):
    with pytest.raises(LinkwiseError, match="n_clusters"):
        check(Constraints.build(5), n_clusters=k)


def test_a_million_must_links_are_checked():
    n = 500_000
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, n, (1_000_000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    c = Constraints.build(n, must_link=pairs, cannot_link=[pairs[0]])
    verdict = check(c)
    assert verdict.explanation.core == (0, len(pairs)) or len(verdict.explanation.core) == 2


def test_the_conditional_rule_runs_through_a_long_chain_against_the_order_of_statements():
    n = 3000
    chain = np.column_stack([np.zeros(n - 2, int), np.arange(2, n), np.arange(1, n - 1)])[::-1]
    for link, blocks in ((1, 1), (2, 1), (n - 1, 1)):  # 0 with i pulls in all after i, none before
        c = Constraints.build(n, must_link=[(0, link)], triplets=chain)
        verdict = check(c)
        assert verdict.status == "feasible"
        assert verdict.k_max == blocks + max(0, link - 1)
        assert verify(verdict.witness, c).ok


# -- rules -----------------------------------------------------------------------------------------------------


def _rule_holds(rule, blocks, D):
    if isinstance(rule, MinSeparation):
        label = {x: i for i, block in enumerate(blocks) for x in block}
        return all(label[a] == label[b] for a, b in combinations(label, 2) if D[a, b] < rule.delta)
    if isinstance(rule, NeighborWithin):
        return all(len(b) == 1 or all(any(D[x, y] <= rule.epsilon for y in b if y != x) for x in b) for b in blocks)
    return all(rule.low <= len(b) <= (rule.high or len(D)) for b in blocks)


def test_rules_agree_with_all_partitions_whenever_decided():
    rng = np.random.default_rng(6)
    decided = total = 0
    for _ in range(examples(27, 1000)):
        n = int(rng.integers(2, 7))
        X = rng.integers(0, 8, (n, 1)).astype(float)
        D = np.abs(X - X.T)
        must, cannot, _ = _draw(rng, n, (2, 2, 0))
        rules = [
            r for r in (MinSeparation(1.5), NeighborWithin(2), SizeBetween(1, 3), SizeBetween(2)) if rng.random() < 0.4
        ]
        c = Constraints.build(n, must_link=must, cannot_link=cannot, rules=rules)
        good = [
            blocks
            for blocks in partitions(range(n))
            if pairs_hold(blocks, must, cannot) and all(_rule_holds(rule, blocks, D) for rule in rules)
        ]
        for k in [None, *range(1, n + 1)]:
            verdict = check(c, n_clusters=k, X=X)
            exists = any(k in (None, len(blocks)) for blocks in good)
            total += 1
            decided += verdict.status != "unknown"
            if verdict.status != "unknown":
                assert (verdict.status == "feasible") == exists, (must, cannot, rules, X, k)
            if verdict.status == "feasible":
                assert verify(verdict.witness, c, X=X).ok
    assert decided > 0.7 * total


@pytest.mark.parametrize(
    ("delta", "epsilon", "sizes", "links", "numbers"),
    [
        (1.5, None, None, "", "all"),
        (None, 1.0, None, "", "all"),
        (None, 1.5, None, "", "all"),
        (1.2, 1.5, None, "", "all"),
        (2.3, 1.2, None, "", "all"),
        (1.5, None, None, "m", "all"),
        (None, 1.5, None, "m", "any"),  # with a given number NP-complete
        (None, None, None, "mc", "all"),
        (None, None, (2, 3), "mc", "all"),
        (1.2, None, (2, 4), "c", "all"),
    ],
    ids=str,
)
def test_every_cell_of_the_table_that_can_be_decided_is(delta, epsilon, sizes, links, numbers):
    rng = np.random.default_rng(7)
    outcomes = set()
    for _ in range(examples(4, 300)):
        n = int(rng.integers(1, 9 if numbers == "all" and not links else 7))
        X = rng.integers(0, 4, (n, 2)).astype(float)
        D = np.linalg.norm(X[:, None] - X, axis=2)
        must, cannot, _ = _draw(rng, n, (2 * ("m" in links), 3 * ("c" in links), 0)) if n > 1 else ([], [], [])
        rules = [MinSeparation(delta)] if delta else []
        rules += [NeighborWithin(epsilon)] if epsilon else []
        rules += [SizeBetween(*sizes)] if sizes else []
        c = Constraints.build(n, must_link=must, cannot_link=cannot, rules=rules)
        good = {
            len(blocks)
            for blocks in partitions(range(n))
            if pairs_hold(blocks, must, cannot) and all(_rule_holds(rule, blocks, D) for rule in rules)
        }
        for k in [None, *(range(1, n + 1) if numbers == "all" else ())]:
            verdict = check(c, n_clusters=k, X=X)
            exists = bool(good) if k is None else k in good
            assert verdict.status == ("feasible" if exists else "infeasible"), (X.tolist(), must, cannot, rules, k)
            outcomes.add(verdict.status)
            if exists:
                assert verify(verdict.witness, c, X=X).ok
                assert k in (None, len(np.unique(verdict.witness)))
    assert "feasible" in outcomes


def test_a_number_of_clusters_is_found_among_many_samples_with_near_neighbors():
    X = np.random.default_rng(0).uniform(size=(5_000, 2))
    c = Constraints.build(5_000, rules=[NeighborWithin(0.04)])
    for k in (50, 2_000, 4_990):
        verdict = check(c, n_clusters=k, X=X)
        assert verdict.status == "feasible"
        assert len(np.unique(verdict.witness)) == k
        assert verify(verdict.witness, c, X=X).ok


def test_separation_rule_is_named_in_the_proof():
    c = Constraints.build(3, cannot_link=[(0, 2)], rules=[MinSeparation(1.5)])
    verdict = check(c, X=[[0.0], [1.0], [2.0]])
    assert verdict.status == "infeasible"
    assert verdict.explanation.core == (0,)
    assert "MinSeparation(delta=1.5) joins samples 0 and 1" in verdict.explanation.message()
    assert check(c).status == "unknown"
    assert "depends on X" in check(c).because
    assert check(c, X=np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]]), metric="precomputed").status == "infeasible"


def test_a_must_link_on_a_sample_without_neighbors_is_infeasible():
    c = Constraints.build(3, must_link=[(0, 1), (1, 2)], rules=[NeighborWithin(1.0)])
    verdict = check(c, X=[[0.0], [1.0], [9.0]])
    assert verdict.status == "infeasible"
    assert verdict.explanation.core == (1,)
    assert "sample 2" in verdict.because


def test_reach_of_a_merge_never_makes_it_infeasible_and_needs_no_data():
    assert check(Constraints.build(3, must_link=[(0, 1)], rules=[MaxCentroidDistance(0.1)])).status == "feasible"


def test_sizes_and_a_cluster_count_that_do_not_fit():
    verdict = check(Constraints.build(10, rules=[SizeBetween(4)]), n_clusters=3)
    assert verdict.status == "infeasible"
    assert verdict.explanation.core == ()
    assert "SizeBetween(low=4, high=None) cannot hold for 10 samples in 3 clusters" in verdict.explanation.message()
    assert check(Constraints.build(10, rules=[SizeBetween(4)])).status == "feasible"


def test_relabeling_and_duplicating_statements_change_nothing():
    rng = np.random.default_rng(9)
    for perm in list(permutations(range(4)))[:8]:
        must, cannot, triplets = _draw(rng, 4, (2, 2, 3))
        c = Constraints.build(4, must_link=must, cannot_link=cannot, triplets=triplets)
        assert check(c).status == check(c | c).status == check(c.reorder(list(perm))).status
