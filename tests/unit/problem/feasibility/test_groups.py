"""check() with statements about groups: against brute force, against the same groups written out, and at scale."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from linkwise import Constraints, check, repair, verify
from linkwise.problem.feasibility import _choices, _coloring_solver
from linkwise.problem.feasibility._coloring import ConflictGraph, Outcome
from linkwise.problem.statements._budget import Budget
from tests.oracles.knowledge import feasible_sizes_with_groups
from tests.profile import examples

WORDS = ("together", "apart", "must_link_any", "cannot_link_any")


def _draw(rng, n, triplets):
    pair = lambda: tuple(rng.choice(n, 2, replace=False).tolist())  # noqa: E731
    must = [pair() for _ in range(rng.integers(0, 2))]
    cannot = [pair() for _ in range(rng.integers(0, 3))]
    rows = [tuple(rng.choice(n, 3, replace=False).tolist()) for _ in range(rng.integers(0, triplets + 1))]
    groups = [
        (str(rng.choice(WORDS)), rng.choice(n, rng.integers(2, 4), replace=False).tolist())
        for _ in range(rng.integers(1, 4))
    ]
    return must, cannot, rows, groups


def _build(n, must, cannot, triplets, groups):
    by_word = {word: [members for said, members in groups if said == word] for word in WORDS}
    return Constraints.build(n, must_link=must, cannot_link=cannot, triplets=triplets, **by_word)


def _clusters(witness):
    return witness if isinstance(witness, np.ndarray) else witness.cut_marked()


@pytest.mark.parametrize(("n", "triplets"), [(4, 0), (5, 0), (6, 0), (4, 3), (5, 4)])
def test_the_verdict_agrees_with_all_partitions_or_trees_with_cuts(n, triplets):
    rng = np.random.default_rng(10 * n + triplets)
    seen = {"feasible": 0, "infeasible": 0}
    for _ in range(examples(14, 800)):
        parts = _draw(rng, n, triplets)
        sizes = feasible_sizes_with_groups(n, *parts)
        c = _build(n, *parts)
        free = check(c)
        assert (free.status == "feasible") == bool(sizes), (n, parts)
        seen[free.status] += 1
        if sizes:
            assert verify(free.witness, c).ok
            assert free.k_min <= min(sizes)
            assert max(sizes) <= free.k_max
        for k in range(1, n + 1):
            given = check(c, n_clusters=k)
            assert (given.status == "feasible") == (k in sizes), (n, parts, k)
            if given.status == "feasible":
                assert verify(given.witness, c).ok
                assert len(np.unique(_clusters(given.witness))) == k
    assert min(seen.values()) > 0


def test_the_reason_names_no_choices_where_the_others_leave_too_few_clusters():
    c = Constraints.build(8, apart=[[0, 1, 2, 3]], must_link_any=[(4, 5, 6)], cannot_link_any=[(6, 7, 4)])
    plain = "4 samples are pairwise apart, so at least 4 clusters are needed, not 3."
    assert check(c, n_clusters=3).because == plain
    odd = Constraints.build(9, cannot_link=[(i, (i + 1) % 5) for i in range(5)], must_link_any=[(5, 6, 7), (6, 7, 8)])
    why = check(odd, n_clusters=2).explanation
    assert why.core == (0, 1, 2, 3, 4)
    assert why.because == check(odd.select(odd.kind == 1), n_clusters=2).explanation.because


def test_cores_with_groups_are_minimal():
    rng = np.random.default_rng(0)
    found = 0
    while found < examples(14, 1000):
        n = int(rng.integers(3, 6))
        c = _build(n, *_draw(rng, n, 3))
        k = None if rng.random() < 0.5 else int(rng.integers(1, n + 1))
        verdict = check(c, n_clusters=k)
        if verdict.status != "infeasible":
            continue
        found += 1
        core = list(verdict.explanation.core)
        k = k if verdict.explanation.goal else None  # a contradiction is one whatever number is asked for
        assert check(c.select(core), n_clusters=k).status == "infeasible"
        for left_out in core:
            rest = [s for s in core if s != left_out]
            assert check(c.select(rest), n_clusters=k).status == "feasible", (c, core, left_out)


def test_groups_say_what_their_pairs_say():
    rng = np.random.default_rng(1)
    for _ in range(examples(20, 1000)):
        n = int(rng.integers(5, 30))
        sizes = rng.integers(2, 6, 4)
        groups = [rng.choice(n, min(s, n), replace=False).tolist() for s in sizes]
        must = [rng.choice(n, 2, replace=False).tolist() for _ in range(rng.integers(0, 5))]
        whole = Constraints.build(n, must_link=must, together=groups[:1], apart=groups[1:])
        pairs = Constraints.build(
            n,
            must_link=must + list(zip(groups[0], groups[0][1:], strict=False)),
            cannot_link=[pair for group in groups[1:] for pair in combinations(group, 2)],
        )
        one, other = check(whole), check(pairs)
        assert one.status == other.status
        if one.status == "feasible":
            assert (one.k_min, one.k_max) == (other.k_min, other.k_max)
            assert np.array_equal(one.witness, other.witness)
            for k in range(1, n + 1):
                assert check(whole, n_clusters=k).status == check(pairs, n_clusters=k).status


def test_a_hundred_thousand_samples_in_a_thousand_groups_are_ordinary():
    source = np.random.default_rng(0).permutation(np.repeat(np.arange(1000), 100))
    c = Constraints.from_groups(source, say="apart")
    verdict = check(c, n_clusters=100)
    assert verdict.status == "feasible"
    assert verify(verdict.witness, c).ok
    few = check(c, n_clusters=99)
    assert few.because == "100 samples are pairwise apart, so at least 100 clusters are needed, not 99."
    assert len(few.explanation.core) == 1
    first, second, third = np.flatnonzero(source == 7)[:3].tolist()
    other = int(np.flatnonzero(source == 8)[0])
    wrong = c | Constraints.build(100_000, must_link=[(first, other), (other, second)])
    why = check(wrong).explanation
    assert len(why.core) == 3
    assert "share one cluster" in why.because
    assert len(why.suspects) == 3
    both = c | Constraints.build(100_000, together=[[first, other, second, third]])
    assert len(check(both).explanation.core) == 2


def test_a_chain_through_a_group_names_each_statement_once():
    c = Constraints.build(9, together=[[0, 1, 2, 3], [3, 4, 5]], must_link=[(5, 6)], apart=[[0, 6, 8]])
    why = check(c).explanation
    assert len(why.core) == 4
    assert sorted(s for (s,) in why.suspects) == sorted(why.core)


def test_choices_that_cannot_be_made_are_explained():
    c = Constraints.from_ids(
        ["a", "b", "c", "d"], [("must_link_any", ["a", "b", "c"]), ("cannot_link", "a", "b"), ("cannot_link", "a", "c")]
    )
    verdict = check(c)
    assert verdict.status == "infeasible"
    assert verdict.explanation.core == (0, 1, 2)
    assert verdict.because == "whatever samples [a] choose breaks another statement."


def test_a_search_over_choices_that_takes_too_much_says_so(monkeypatch):
    monkeypatch.setattr(_choices, "_WORK", 1e-9)
    c = Constraints.build(6, must_link_any=[[0, 1, 2], [3, 4, 5]], cannot_link=[(0, 1), (3, 4)])
    verdict = check(c)
    assert verdict.status == "unknown"
    assert verdict.because.endswith("was not decided.")


# -- solvers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solve", [_coloring_solver._with_highs, _coloring_solver._with_cp_sat])
def test_solvers_agree_with_the_search(solve):
    rng = np.random.default_rng(2)
    outcomes = set()
    for _ in range(examples(4, 200)):
        n = int(rng.integers(4, 10))
        graph = nx.gnp_random_graph(n, 0.6, seed=int(rng.integers(1 << 30)))
        pairs = np.array(graph.edges, dtype=np.intp).reshape(-1, 2)
        if not len(pairs):
            continue
        search = ConflictGraph(np.arange(n), pairs, Constraints.build(n).groups)
        for k in (2, 3, 4):
            start, budget = np.arange(0, 2 * len(pairs) + 1, 2), Budget(10.0)
            answer, color = solve(start, pairs.ravel(), n, k, np.empty(0, dtype=np.intp), budget)
            assert answer == (search.color(k)[0] is Outcome.FOUND)
            assert not budget.over
            outcomes.add(answer)
            if answer:
                assert (color[pairs[:, 0]] != color[pairs[:, 1]]).all()
                assert color.max() < k
    assert outcomes == {True, False}


def test_a_solver_settles_what_the_search_leaves_open(monkeypatch):
    from linkwise.problem.feasibility import _coloring

    monkeypatch.setattr(_coloring, "_SEARCH", 0.0)
    graph = nx.mycielski_graph(4)  # no triangle, yet three colors do not suffice
    c = Constraints.build(graph.number_of_nodes(), cannot_link=np.array(graph.edges))
    assert check(c, n_clusters=3).status == "infeasible"
    verdict = check(c, n_clusters=4)
    assert verdict.status == "feasible"
    assert verify(verdict.witness, c).ok


def test_a_solver_without_work_left_leaves_it_open_and_counts_what_it_did():
    graph = nx.gnp_random_graph(110, 0.25, seed=1)
    pairs = np.array(graph.edges, dtype=np.intp)
    start, found = np.arange(0, 2 * len(pairs) + 1, 2), []
    for _ in range(2):
        budget = Budget(0.05)
        answer, _ = _coloring_solver._with_cp_sat(start, pairs.ravel(), 110, 7, np.empty(0, dtype=np.intp), budget)
        assert answer is None
        assert budget.over
        assert not budget.cut
        found.append(budget.spent)
    assert found[0] == found[1]
    budget = Budget(10.0)  # too many edges for the other, which would be long before its first branch
    assert _coloring_solver._with_highs(start, pairs.ravel(), 110, 7, np.empty(0, dtype=np.intp), budget)[0] is None


# -- repair --------------------------------------------------------------------------------------------------------


def fewest_entries(c):
    """How many entries must go at least, by trying."""
    entries = c.entries()
    return next(
        size
        for size in range(len(entries) + 1)
        for gone in combinations(entries, size)
        if check(c.without(gone)).status == "feasible"
    )


def test_repair_takes_back_the_fewest_members():
    rng = np.random.default_rng(4)
    seen = set()
    for _ in range(examples(20, 300)):
        n = 6
        groups = [rng.choice(n, 3, replace=False).tolist() for _ in range(3)]
        must = [rng.choice(n, 2, replace=False).tolist() for _ in range(3)]
        c = Constraints.build(n, must_link=must, together=groups[:1], apart=groups[1:])
        fixed = repair(c)
        assert len(fixed.entries) == fixed.cost == fewest_entries(c)
        assert fixed.optimal
        assert fixed.kept == c.without(fixed.entries)
        assert check(fixed.kept).status == "feasible"
        assert check(c.select(np.setdiff1d(np.arange(c.n_statements), fixed.dropped))).status == "feasible"
        seen.add(fixed.cost)
    assert len(seen) > 2


def test_repair_of_groups_weighs_choices():
    table = Constraints.build(3, must_link_any=[[0, 1, 2]], cannot_link=[(0, 1), (0, 2)])
    assert repair(table).cost == 1
