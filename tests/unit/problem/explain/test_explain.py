"""Explanations: minimal cores, smallest fixes, and words, for every mix of kinds."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from linkwise import Constraints, check
from linkwise.constraints import MinSeparation
from linkwise.problem import Explanation
from linkwise.problem.explain._explanation import explain
from linkwise.problem.explain._fixes import Suspects
from linkwise.problem.feasibility._check import judge, read_hard
from linkwise.problem.feasibility._choices import Choices
from tests.oracles.generators import SHAPES, consistent_triplets, flip, random_tree, tree_triplets
from tests.profile import examples

MIXES = {
    "must cannot": (6, 4, 0, 0, 0, 0, 0),
    "triplets": (0, 0, 12, 0, 0, 0, 0),
    "must cannot triplets": (4, 3, 8, 0, 0, 0, 0),
    "must together apart": (3, 0, 0, 2, 2, 0, 0),
    "cannot together apart triplets": (1, 2, 6, 2, 1, 0, 0),
    "choices": (2, 3, 0, 1, 1, 2, 1),
    "everything": (2, 2, 4, 1, 1, 1, 1),
}


def holds(c: Constraints, kept=None, *, k=None, X=None) -> bool:
    """Whether statements can hold together, decided without any search for fixes."""
    c = c if kept is None else c.select(np.array(sorted(kept), dtype=np.intp))
    return judge(read_hard(c, X, "euclidean", "test"), Choices.of(c), k, X, "euclidean", None).status == "feasible"


def draw(rng, mix, n):
    """Random statements of each kind, up to as many as the mix says."""

    def rows(most, size):
        return [rng.permutation(n)[:size].tolist() for _ in range(rng.integers(most + 1) if most else 0)]

    must, cannot, triplets, together, apart, must_any, cannot_any = MIXES[mix]
    return Constraints.build(
        n,
        must_link=rows(must, 2),
        cannot_link=rows(cannot, 2),
        triplets=rows(triplets, 3),
        together=rows(together, 3),
        apart=rows(apart, int(rng.integers(2, 5))),
        must_link_any=rows(must_any, 3),
        cannot_link_any=rows(cannot_any, 3),
    )


def conflicting(rng, mix, low, high):
    while True:
        c = draw(rng, mix, int(rng.integers(low, high + 1)))
        if not holds(c):
            return c


def assert_minimal(c, core, **question):
    assert not holds(c, core, **question)
    for left_out in core:
        assert holds(c, set(core) - {left_out}, **question), (c, core, left_out)


@pytest.mark.parametrize("mix", MIXES)
def test_cores_are_minimal_and_suspects_are_the_smallest_repairs(mix):
    rng = np.random.default_rng(list(MIXES).index(mix))
    sizes = set()
    for _ in range(examples(14, 720)):
        c = conflicting(rng, mix, 4, 8)
        everything = set(range(c.n_statements))
        why = check(c).explanation
        assert why.complete
        assert_minimal(c, why.core)
        singles = {(s,) for s in everything if holds(c, everything - {s})}
        assert singles == {some for some in why.suspects if len(some) == 1}
        if not singles and why.suspects:
            size = len(why.suspects[0])
            assert all(len(some) == size == why.at_least for some in why.suspects)
            assert all(holds(c, everything - set(some)) for some in why.suspects)
            smaller = combinations(sorted(everything), min(size, 3) - 1)
            assert not any(holds(c, everything - set(some)) for some in smaller)
        sizes.add(len(why.suspects[0]) if why.suspects else 0)
    assert 1 in sizes
    assert len(sizes) > 1


@pytest.mark.parametrize("mix", ["triplets", "must cannot triplets", "cannot together apart triplets"])
def test_larger_cores_are_minimal_too(mix):
    rng = np.random.default_rng(3)
    longest = 0
    for _ in range(examples(4, 300)):
        n = int(rng.integers(12, 40))
        said = tree_triplets(rng, random_tree(rng, range(n), str(rng.choice(SHAPES))), 3 * n)
        wrong = int(rng.integers(len(said)))
        said[wrong] = flip(said[wrong], rng)
        c = Constraints.build(n, triplets=said) | draw(rng, mix, n)
        if holds(c):
            continue
        why = check(c).explanation
        assert_minimal(c, why.core)
        longest = max(longest, len(why.core))
        for some in why.suspects:
            assert holds(c, set(range(c.n_statements)) - set(some))
    assert longest > 6


@pytest.mark.parametrize("n", [8, 20, 60])
def test_every_core_holds_a_flipped_answer_and_the_only_one_is_a_suspect(n):
    rng = np.random.default_rng(n)
    met = {1: 0, 2: 0}
    while min(met.values()) < examples(4, 250):
        said = consistent_triplets(rng, n, str(rng.choice(SHAPES)))
        errors = int(rng.integers(1, 3))
        if len(said) < 3:
            continue
        wrong = set(rng.choice(len(said), size=errors, replace=False).tolist())
        c = Constraints.build(n, triplets=[flip(s, rng) if t in wrong else s for t, s in enumerate(said)])
        if holds(c):
            continue
        why = check(c).explanation
        assert wrong & set(why.core)
        if errors == 1:
            assert (*wrong,) in why.suspects
        met[errors] += 1


def test_independent_conflicts_are_repaired_by_one_statement_of_each():
    c = Constraints.build(
        9, must_link=[(0, 1), (3, 4)], cannot_link=[(0, 1), (3, 4)], triplets=[(5, 6, 7), (6, 7, 5), (6, 7, 8)]
    )
    why = check(c).explanation
    assert why.at_least == 3
    assert len(why.suspects) == 8
    assert set(why.suspects[0]) == {5, 3, 2}  # the newest of each; #6 is in no conflict
    assert "drop #5 triplet(6, 7 | 5) and #3 cannot_link(3, 4) and #2 cannot_link(0, 1)" in str(why)


def test_more_conflicts_than_anyone_weighs_are_left_to_repair():
    pairs = [(2 * i, 2 * i + 1) for i in range(7)]
    why = check(Constraints.build(14, must_link=pairs, cannot_link=pairs)).explanation
    assert why.suspects == ()
    assert why.at_least == 6
    assert why.complete
    assert str(why).startswith("No single change repairs it, at least 6 are needed; `repair(constraints)` finds")


@pytest.mark.parametrize(("core", "suspects"), [(True, True), (True, False), (False, True), (False, False)])
def test_an_explanation_is_complete_when_its_core_and_its_suspects_are(core, suspects):
    c = Constraints.build(2, must_link=[(0, 1)], cannot_link=[(0, 1)])
    why = explain(c, [0, 1], "", suspects=Suspects(((1,),), complete=suspects), complete=core)
    assert why.complete == (core and suspects)


# -- a wanted number of clusters -----------------------------------------------------------------------------------


def test_single_fixes_for_a_wanted_number_are_exact():
    rng = np.random.default_rng(9)
    seen = [0, 0]
    for _ in range(examples(200, 2000)):
        mix = str(rng.choice(["must cannot", "must together apart", "choices", "must cannot triplets"]))
        n = int(rng.integers(3, 7))
        c = draw(rng, mix, n)
        k = int(rng.integers(1, n + 1))
        verdict = check(c, n_clusters=k)
        if verdict.status != "infeasible" or not verdict.explanation.goal:
            continue
        why = verdict.explanation
        assert_minimal(c, why.core, k=k)
        everything = set(range(c.n_statements))
        assert {(s,) for s in everything if holds(c, everything - {s}, k=k)} == set(why.suspects)
        seen[len(why.suspects) > 0] += 1
    assert min(seen) > 5


def test_one_group_too_few_names_every_link_that_could_be_torn():
    c = Constraints.build(20_000, must_link=[(i, i + 1) for i in range(19_998)] + [(0, 2), (19_997, 19_999)])
    why = check(c, n_clusters=2).explanation
    assert len(why.suspects) == 19_999 - 2  # all but those on the cycle
    assert why.complete
    assert check(c, n_clusters=4).explanation.at_least == 3


# -- whom to doubt -------------------------------------------------------------------------------------------------


def test_data_decide_whom_to_doubt_first():
    X = np.array([[0.0], [0.1], [5.0], [5.2], [9.0]])
    c = Constraints.build(5, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    assert check(c).explanation.suspects == ((2,), (1,), (0,))
    assert check(c, X=X).explanation.suspects[0] == (1,)
    assert check(c, X=1000 * X).explanation.suspects == check(c, X=X).explanation.suspects
    distances = np.abs(X - X.T)
    assert check(c, X=distances, metric="precomputed").explanation.suspects == check(c, X=X).explanation.suspects
    close = Constraints.build(5, must_link=[(0, 2), (2, 3)], cannot_link=[(0, 3)])
    assert check(close, X=X).explanation.suspects[0] == (0,)


def test_a_triplet_is_doubted_as_far_as_its_pair_lies_apart():
    X = np.array([[0.0], [0.1], [9.0]])
    c = Constraints.build(3, triplets=[(1, 2, 0), (0, 1, 2)])
    assert check(c, X=X).explanation.suspects == ((0,), (1,))
    assert check(c.select([1, 0]), X=X).explanation.suspects == ((1,), (0,))


def test_groups_are_doubted_by_their_worst_pair_and_choices_by_their_best():
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1]])
    mixed = Constraints.build(5, together=[[0, 1, 3]], apart=[[1, 3, 4]])
    assert check(mixed, X=X).explanation.suspects == ((1,), (0,))  # 3 and 4 are closer still
    choice = Constraints.build(5, must_link_any=[[0, 3, 4]], cannot_link=[(0, 3), (0, 4)])
    assert check(choice, X=X).explanation.suspects[0] == (2,)


def test_the_newest_is_doubted_first_and_rules_are_not_up_for_it():
    c = Constraints.build(3, must_link=[(1, 2)], cannot_link=[(0, 2)], rules=[MinSeparation(1.0)])
    why = check(c, X=[[0.0], [0.5], [9.0]]).explanation
    assert why.core == (0, 1)
    assert set(why.suspects) == {(0,), (1,)}
    assert "MinSeparation(delta=1.0) joins samples 0 and 1" in str(why)
    assert why.steps == ("0 = 1 (MinSeparation(delta=1.0)) = 2 (#0), but #1 keeps 0 and 2 apart.",)


def test_what_a_rule_joins_needs_nobodys_word():
    X = [[0.0], [0.5], [0.9], [9.0]]
    c = Constraints.build(4, must_link=[(0, 2)], cannot_link=[(0, 2)], rules=[MinSeparation(0.6)])
    assert check(c, X=X).explanation.core == (1,)
    with_triplet = Constraints.build(
        4, must_link=[(0, 2)], cannot_link=[(0, 3)], triplets=[(1, 3, 2)], rules=[MinSeparation(0.6)]
    )
    assert check(with_triplet, X=X).explanation.core == (1, 2)


# -- words ---------------------------------------------------------------------------------------------------------


def test_a_chain_is_told_in_order():
    c = Constraints.from_ids(
        list("edcba"),
        [
            ("must_link", "c", "a"),
            ("together", ["a", "b", "d"]),
            ("cannot_link", "d", "e"),
            ("must_link", "e", "c"),
        ],
    )
    why = check(c).explanation
    assert why.steps == ("e = c (#3) = a (#0) = d (#1), but #2 keeps e and d apart.",)
    assert "samples [e, c, a, d] share one cluster" in why.because


def test_triplets_are_told_as_an_undividable_set():
    c = Constraints.from_ids(
        list("abcd"), [("triplet", "a", "b", "c"), ("triplet", "b", "c", "d"), ("triplet", "c", "d", "a")]
    )
    assert str(check(c).explanation).endswith(
        "no hierarchy satisfies them all: every way to divide samples [a, b, c, d] breaks one.\n"
        "Step by step:\n"
        "  Wherever samples [a, b, c, d] are first divided into parts:\n"
        "  #0 keeps a and b together, for c is here too.\n"
        "  #1 keeps b and c together, for d is here too.\n"
        "  #2 keeps c and d together, for a is here too.\n"
        "  So all of them stay together, and nothing is divided."
    )


def test_mixed_knowledge_is_told_rule_by_rule():
    c = Constraints.from_ids(
        list("abcdef"),
        [
            ("must_link", "a", "c"),
            ("triplet", "a", "b", "c"),
            ("cannot_link", "b", "c"),
        ],
    )
    assert check(c).explanation.steps == (
        "#0 puts a and c into one cluster.",
        "#1: c is in one cluster with a, so b is as well.",
        "But #2 keeps b and c apart.",
    )
    knot = Constraints.build(5, must_link=[(0, 4)], cannot_link=[(0, 3)], triplets=[(0, 1, 2), (1, 2, 3), (2, 3, 4)])
    assert check(knot).explanation.steps == (
        "#0 puts 0 and 4 into one cluster.",
        "#2, #3 and #4: the clusters of samples [0, 1, 2, 3] cannot be divided from each other, so they are one.",
        "But #1 keeps 0 and 3 apart.",
    )


def test_long_arguments_are_cut():
    chain = np.column_stack([np.arange(1000), np.arange(1, 1001)])
    why = check(Constraints.build(1001, must_link=chain, cannot_link=[(0, 1000)])).explanation
    assert "... 987 more ... = 1000 (#999), but #1000 keeps 0 and 1000 apart." in why.steps[0]
    n = 60
    ring = [(i, i + 1, (i + 2) % n) for i in range(n - 1)]
    told = check(Constraints.build(n, triplets=ring)).explanation
    assert len(told.core) == n - 1
    assert told.steps[-2] == f"... and {n - 1 - 12} more steps"


def test_everything_goes_into_json():
    c = Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    told = json.loads(json.dumps(check(c).explanation.to_dict()))
    assert told["suspects"] == [[2], [1], [0]]
    assert told["core"] == [0, 1, 2]
    assert told["complete"] is True
    assert told["steps"] == ["0 = 1 (#0) = 2 (#1), but #2 keeps 0 and 2 apart."]
    assert set(told) == set(Explanation.__dataclass_fields__) - {"written"} | {"entries", "repairs"}
