"""Why two samples are where they are: every claim is checked by looking at all hierarchies with all cuts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram, check, cluster, why
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.problem.reasons._forced import Knowledge
from tests.oracles.entailment import entailed, statements
from tests.profile import examples

N = 5
TREE = Dendrogram.from_merges(4, [(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 5.0], marked=[4, 5])


def table(n, said):
    """A Constraints whose position i is said[i]."""
    kinds = {"must_link": 0, "cannot_link": 1, "triplet": 2}
    order = sorted(range(len(said)), key=lambda i: kinds[said[i][0]])
    said = [said[i] for i in order]
    picks = {word: [s[1:] for s in said if s[0] == word] for word in kinds}
    made = Constraints.build(
        n, must_link=picks["must_link"], cannot_link=picks["cannot_link"], triplets=picks["triplet"]
    )
    return made, said


def consistent_sets(count, seed=0):
    rng = np.random.default_rng(seed)
    everything = statements(N)
    while count:
        size = int(rng.integers(1, 9))
        said = [everything[i] for i in rng.choice(len(everything), size, replace=False)]
        if entailed(N, said) is not None:
            count -= 1
            yield table(N, said)


def assert_is_minimal_proof(said, at, claim):
    named = [said[i] for i in at]
    assert claim in entailed(N, named)
    for left_out in range(len(named)):
        rest = named[:left_out] + named[left_out + 1 :]
        assert claim not in entailed(N, rest), (named, claim)


def random_tree(rng):
    merges, alive = [], list(range(N))
    while len(alive) > 1:
        a, b = (alive.pop(int(rng.integers(len(alive)))) for _ in range(2))
        merges.append((a, b))
        alive.append(N + len(merges) - 1)
    tree = Dendrogram.from_merges(N, merges, np.arange(1.0, N))
    return tree, tree.cut(n_clusters=int(rng.integers(1, N + 1)))


@pytest.mark.parametrize("seed", range(examples(3, 30)))
def test_what_is_said_to_be_forced_is_forced_by_the_named_statements_and_none_can_be_spared(seed):
    rng = np.random.default_rng(seed)
    for made, said in consistent_sets(12, seed):
        follows = entailed(N, said)
        tree, labels = random_tree(rng)
        a, b = sorted(int(x) for x in rng.choice(N, 2, replace=False))
        told = why(tree, a, b, made, labels=labels)
        expected = "together" if ("must_link", a, b) in follows else "apart" if ("cannot_link", a, b) in follows else ""
        assert told.forced == expected
        if expected:
            word = "must_link" if expected == "together" else "cannot_link"
            assert told.minimal
            assert_is_minimal_proof(said, told.statements, (word, a, b))
        for bound in told.bounds:
            x, y, z = bound.triplet
            assert_is_minimal_proof(said, bound.statements, ("triplet", *sorted((x, y)), z))
            assert bound.held == tree.satisfies(Constraints.build(N, triplets=[bound.triplet]))[0]
        forced_here = {s for s in follows if s[0] == "triplet" and {a, b} <= set(s[1:])}
        assert bool(told.bounds) == bool(forced_here)
        for change in told.changes:
            word, *samples = change.statement
            claim = (word, *sorted(samples[:2]), *samples[2:])
            assert change.possible == (entailed(N, [*said, claim]) is not None)
            if not change.possible:
                against = [said[i] for i in change.against]
                assert entailed(N, [*against, claim]) is None
                for i in range(len(against)):
                    assert entailed(N, [*against[:i], *against[i + 1 :], claim]) is not None
                freed = [
                    i
                    for i in change.against
                    if entailed(N, [*(s for j, s in enumerate(said) if j != i), claim]) is not None
                ]
                assert list(change.keys) == freed


def test_no_change_that_is_offered_holds_already():
    rng = np.random.default_rng(4)
    for made, _ in consistent_sets(20, 9):
        tree, labels = random_tree(rng)
        for change in why(tree, 0, 1, made, labels=labels).changes:
            word, *samples = change.statement
            one = Constraints.build(N, **{{"triplet": "triplets"}.get(word, word): [samples]})
            marked = Dendrogram(N, tree.parent, tree.raw_height)
            if word == "triplet":
                assert not marked.satisfies(one)[0]
            else:
                assert (labels[0] == labels[1]) != (word == "must_link")


def test_groups_count_as_one_statement():
    said = Constraints.build(6, together=[[0, 1, 2]], apart=[[2, 3, 4]], must_link=[(4, 5)])
    told = why([0, 0, 0, 1, 2, 2], 0, 5, said)
    assert told.forced == "apart"
    assert sorted(told.lines) == ["#0 must_link(4, 5)", "#1 together(0, 1, 2)", "#2 apart(2, 3, 4)"]


def test_where_they_meet_is_read_off_the_tree():
    told = why(TREE, 0, 3)
    assert (told.height, told.size, told.together, told.clusters) == (5.0, 4, False, (0, 1))
    assert "above the cut" in str(told)
    assert "the distances decided" in str(told)
    assert [change.aim for change in told.changes] == ["together", "closer"]


def test_the_result_without_knowledge_tells_whether_statements_moved_them():
    told = why([0, 0, 1], 0, 1, before=[0, 1, 1])
    assert told.before is False
    assert "Without the statements they would be apart" in str(told)


def test_a_result_that_breaks_what_was_said_is_called_broken():
    told = why([0, 1, 1], 0, 1, Constraints.build(3, must_link=[(0, 1)]))
    assert told.broken
    assert "The result breaks hard statements: they should be together." in str(told)


def test_different_trees_never_meet():
    forest = Dendrogram.from_merges(3, [(0, 1)], [1.0])
    told = why(forest, 0, 2)
    assert told.height == np.inf
    assert told.size is None
    assert "never meet" in str(told)
    json.dumps(told.to_dict(), allow_nan=False)


def test_samples_are_called_by_name():
    said = Constraints.from_ids(["a", "b", "c", "d"], must_link=[("a", "b")])
    assert why(TREE, "a", "b", said).statements == (0,)
    assert why(TREE, 0, 1, said).names == ("a", "b")
    with pytest.raises(LinkwiseError, match=r"there is no sample 'bb'(?s:.*)did you mean 'b'"):
        why(TREE, "a", "bb", said)
    with pytest.raises(LinkwiseError, match="two different ones"):
        why(TREE, "a", "a", said)
    with pytest.raises(LinkwiseError, match="a number from 0 to 3"):
        why(TREE, 0, 4)


def test_names_that_are_not_unique_need_numbers():
    with pytest.raises(LinkwiseError, match="names 2 samples"):
        why(TREE, "x", "y", ids=["x", "x", "y", "z"])
    assert why(TREE, 0, 1, ids=["x", "x", "y", "z"]).names == ("x", "x")


@pytest.mark.parametrize("wrong", ["labels", [[0, 1]], [0.5, 1.5], None, []])
def test_what_is_no_result_is_refused(wrong):
    with pytest.raises(LinkwiseError, match="expected a fitted estimator, a Dendrogram or integer labels"):
        why(wrong, 0, 1)


def test_statements_about_other_samples_are_refused():
    with pytest.raises(LinkwiseError, match="the result is about 4 samples, but the constraints about 5"):
        why(TREE, 0, 1, Constraints.build(5))


def test_a_tree_without_a_cut_has_no_clusters_but_bounds():
    tree = Dendrogram.from_merges(3, [(0, 1), (3, 2)], [1.0, 2.0])
    told = why(tree, 0, 1, Constraints.build(3, triplets=[(0, 1, 2)]))
    assert told.together is None
    assert told.bounds[0].statements == (0,)
    assert [change.aim for change in told.changes] == ["farther"]
    assert "the tree is not cut" in str(told)


def test_contradictions_are_refused():
    with pytest.raises(InfeasibleConstraintsError):
        why(TREE, 0, 1, Constraints.build(4, must_link=[(0, 1)], cannot_link=[(0, 1)]))


def test_estimators_and_the_front_door_bring_their_own_statements():
    X = np.random.default_rng(0).normal(size=(30, 3))
    found = cluster(X, Constraints.build(30, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)]), 3)
    for result in (found, found.estimator):
        told = why(result, 0, 3)
        assert told.forced == "apart"
        assert len(told.statements) == 3
        assert not told.broken


def test_soft_statements_choices_and_rules_are_noted_and_force_nothing():
    said = Constraints.build(3, must_link=[(0, 1)], weight=2.0) | Constraints.build(3, must_link_any=[[0, 1, 2]])
    told = why([0, 0, 1], 0, 1, said)
    assert told.forced == ""
    assert "about these two: #0 must_link(0, 1) weight 2" in str(told)
    assert "1 choice was not reasoned from" in str(told)


def test_long_chains_are_explained_without_recursion():
    n = 20_000
    chain = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    said = Constraints.build(n, must_link=chain)
    told = why(np.zeros(n, dtype=int), 0, n - 1, said)
    assert len(told.statements) == n - 1
    assert "and 19,979 more" in str(told)


def test_knowledge_agrees_with_check():
    for made, _ in consistent_sets(10, 77):
        assert check(made).status == "feasible"
        assert Knowledge.of(made).said.n_statements == made.n_statements


@pytest.mark.parametrize("seed", range(examples(4, 40)))
def test_groups_force_what_their_pairs_force_and_none_can_be_spared(seed):
    rng = np.random.default_rng(seed)
    n = 6
    pick = [rng.choice(n, int(rng.integers(2, 4)), replace=False).tolist() for _ in range(3)]
    trio = [tuple(rng.choice(n, 3, replace=False).tolist()) for _ in range(2)]
    said = Constraints.build(n, triplets=trio, together=pick[:1], apart=pick[1:])
    if check(said).status == "infeasible":
        said = said.select(said.kind != 2)
    if check(said).status == "infeasible":
        said = said.select(said.kind == 4)
    pairs = Knowledge.of(said).written_out
    for a in range(n):
        for b in range(a + 1, n):
            told = why(np.zeros(n, dtype=int), a, b, said)
            assert told.forced == why(np.zeros(n, dtype=int), a, b, pairs).forced
            if told.forced:
                contrary = {"must_link" if told.forced == "apart" else "cannot_link": [(a, b)]}
                supposed = Constraints.build(n, **contrary)
                named = list(told.statements)
                assert check(said.select(named) | supposed).status == "infeasible"
                for left_out in named:
                    rest = [s for s in named if s != left_out]
                    assert check(said.select(rest) | supposed).status == "feasible"
