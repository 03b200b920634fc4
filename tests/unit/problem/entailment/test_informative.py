"""The most informative statements: of a hierarchy, of a labeling, and of many."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram, ReCon, close, implies, informative
from linkwise.constraints import Kind
from linkwise.exceptions import ConstraintError, InfeasibleConstraintsError, LinkwiseError, UnsupportedConstraintError
from linkwise.problem import label_triplets, minimal, onetree
from linkwise.problem.entailment import _informative
from tests.oracles import generators, relative
from tests.oracles.knowledge import trees
from tests.profile import examples


def dendrogram(n, tree):
    """A tree given by its clades."""
    inner = sorted(tree, key=lambda clade: (len(clade), sorted(clade)))
    nodes = [frozenset([x]) for x in range(n)] + inner
    parent = [
        min((v for v, other in enumerate(nodes) if clade < other), key=lambda v: len(nodes[v]), default=-1)
        for clade in nodes
    ]
    return Dendrogram(n, parent)


def clades(n, parent):
    below = [{x} for x in range(n)] + [set() for _ in range(len(parent) - n)]
    for v, above in enumerate(parent):
        if above >= 0:
            below[above] |= below[v]
    return {frozenset(c) for c in below[n:]}


@pytest.mark.parametrize("n", [4, 5, 6])
def test_few_triplets_carry_any_binary_hierarchy_and_none_can_be_dropped(n):
    """T15, exhaustively: n - 2 of them define the tree, imply all it displays, and each is needed."""
    every = relative.binary_trees(tuple(range(n)))
    for tree in every[:: 1 if n < 5 else examples(3 if n == 5 else 40, 1)]:
        few = dendrogram(n, tree).triplets(minimal=True)
        rows = [tuple(t) for t in few.items.tolist()]
        assert len(rows) == n - 2
        assert clades(n, onetree(n, rows).parent) == tree
        shown = [t for t in relative.all_triplets(n) if relative.displays(tree, t)]
        assert len(shown) == comb(n, 3)
        assert implies(few, Constraints.build(n, triplets=shown)).all()
        assert minimal(few) == few
        assert sum(all(relative.displays(t, s) for s in rows) for t in every) == 1
        for left in range(n - 2):
            kept = rows[:left] + rows[left + 1 :]
            assert sum(all(relative.displays(t, s) for s in kept) for t in every) > 1


@pytest.mark.parametrize("n", [3, 4, 5])
def test_any_hierarchy_comes_back_from_its_few_triplets(n):
    for tree in trees(tuple(range(n)))[:: examples(1 if n < 5 else 4, 1)]:
        few = dendrogram(n, tree).triplets(minimal=True)
        assert clades(n, onetree(n, few.items).parent) == tree
        assert minimal(few) == few
        shown = [t for t in relative.all_triplets(n) if any(set(t[:2]) <= c and t[2] not in c for c in tree)]
        answer = implies(few, Constraints.build(n, triplets=relative.all_triplets(n)))
        assert {t for t, yes in zip(relative.all_triplets(n), answer, strict=True) if yes} == set(shown)


def test_refining_a_tree_adds_triplets_and_contracting_an_edge_adds_none():
    """H14."""
    n = 5
    for tree in trees(tuple(range(n)))[:: examples(3, 1)]:
        shown = {t for t in relative.all_triplets(n) if any(set(t[:2]) <= c and t[2] not in c for c in tree)}
        for clade in tree:
            if len(clade) < n:
                fewer = dendrogram(n, tree - {clade}).triplets().items.tolist()
                assert {tuple(t) for t in fewer} < shown
        binary = [t for t in relative.binary_trees(tuple(range(n))) if tree <= t]
        assert binary
        for finer in binary:
            assert shown <= {t for t in relative.all_triplets(n) if relative.displays(finer, t)}


def test_consistent_triplets_leave_a_partition_of_every_size_and_not_only_they():
    """H11."""
    from tests.oracles.knowledge import partitions
    from tests.oracles.trees import satisfied_by

    rng = np.random.default_rng(0)
    n = 6
    every = [{x: i for i, block in enumerate(p) for x in block} for p in partitions(range(n))]
    misled = 0
    for _ in range(examples(20, 1500)):
        said = generators.noise_triplets(rng, n, int(rng.integers(1, 6)))
        sizes = {len(set(p.values())) for p in every if all(satisfied_by(p, s) for s in said)}
        assert {1, n} <= sizes
        if relative.consistent(said, n):
            assert sizes == set(range(1, n + 1))
        else:
            misled += sizes == set(range(1, n + 1))
    assert misled > 0


# -- a labeling ---------------------------------------------------------------------------------------------------


def test_the_triplets_of_a_labeling_are_those_of_the_paper_without_the_empty_ones():
    """S0.7."""
    rng = np.random.default_rng(1)
    for _ in range(examples(17, 1000)):
        n = int(rng.integers(1, 15))
        y = rng.integers(0, int(rng.integers(1, 5)), n)
        found = label_triplets(y)
        k = len(np.unique(y))
        assert found.n_statements == (k - 1) * (n - k)
        assert found.items.tolist() == Constraints.build(n, triplets=generators.informative_triplets(y)).items.tolist()
        assert minimal(found) == found
        shown = [t for t in relative.all_triplets(n) if y[t[0]] == y[t[1]] != y[t[2]]]
        answer = implies(found, Constraints.build(n, triplets=relative.all_triplets(n)))
        assert answer.sum() == len(shown)
        assert implies(found, Constraints.build(n, triplets=shown)).all()


def test_unlabeled_samples_are_in_no_triplet():
    assert label_triplets(["a", "", "b", "a"], unlabeled="").items.tolist() == [[0, 3, 2]]
    assert label_triplets([-1, -1]).n_statements == 0
    assert label_triplets([]).n_statements == 0
    with pytest.raises(ConstraintError, match="one value per sample"):
        label_triplets([[0, 1]])
    with pytest.raises(ConstraintError, match="5,000,000"):
        label_triplets(np.arange(10_000) // 2)


def test_a_labeling_is_found_again_in_pure_noise():
    """H12, with the triplets made here."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 40)
    model = ReCon(n_clusters=3).fit(rng.normal(size=(40, 2)), constraints=label_triplets(y))
    assert len({*zip(y.tolist(), model.labels_.tolist(), strict=True)}) == 3


# -- the best few of many ------------------------------------------------------------------------------------------


def test_gains_are_what_the_closure_grows_by_and_no_choice_beats_the_bound():
    rng = np.random.default_rng(3)
    better = 0
    for _ in range(examples(25, 500)):
        n = int(rng.integers(5, 10))
        shape = str(rng.choice(generators.SHAPES))
        said = generators.tree_triplets(rng, generators.random_tree(rng, range(n), shape), 3 * n)
        c = Constraints.build(n, triplets=said)
        m = int(rng.integers(1, 6))
        best = informative(c, m)
        assert best.exact
        assert len(best.statements) == len(best.gain) <= m
        for count in range(1, len(best.statements) + 1):
            closed = close(c.select(best.statements[:count]), triplets=True)
            assert closed.n_statements == best.gain[:count].sum()
        assert best.kept.row.tolist() == sorted(best.statements)
        assert best.implied == best.gain.sum() <= best.bound <= best.total
        assert best.total == close(c, triplets=True).unique().n_statements
        chosen = rng.choice(len(said), size=min(m, len(said)), replace=False)
        random = close(c.select(chosen), triplets=True).n_statements
        assert random <= best.bound or len(chosen) > len(best.statements)
        better += best.implied > random
        again = informative(c, m)
        assert again.statements.tolist() == best.statements.tolist()
    assert better > 5


def test_a_triplet_with_one_sample_in_each_part_adds_only_itself():
    rng = np.random.default_rng(4)
    for _ in range(examples(20, 2000)):
        said = generators.consistent_triplets(rng, 5, "random")
        other = generators.consistent_triplets(rng, 4, "random")
        n = 9
        joined = said + [tuple(x + 5 for x in t) for t in other]
        last = tuple(rng.permutation([int(rng.integers(0, 5)), int(rng.integers(5, 9)), n]).tolist())
        before = close(Constraints.build(n + 1, triplets=joined), triplets=True).unique().n_statements
        after = close(Constraints.build(n + 1, triplets=[*joined, last]), triplets=True).unique().n_statements
        assert after == before + 1


def test_if_few_suffice_everything_is_said():
    c = Constraints.build(6, triplets=relative_chain(6))
    best = informative(c, 10)
    assert best.implied == best.total == best.bound == comb(6, 3)
    assert len(best.statements) == minimal(c).n_statements == 4
    assert informative(c, 0).statements.tolist() == []
    assert "4 of 20 statements imply 20 triplets; all of them imply 20" in str(best)


def test_one_statement_is_told_in_the_singular():
    one = Constraints.build(2, must_link=[(0, 1)])
    assert str(informative(one, 1)).startswith("1 of 1 statement decides 1 pair.\n")
    four = Constraints.build(6, must_link=[(0, 1), (2, 3), (3, 4), (4, 5)])
    head = "1 of 4 statements decides 1 pair; all of them decide 7, no single one decides more than 1.\n"
    assert str(informative(four, 1)).startswith(head)
    assert str(informative(Constraints.build(3, triplets=[(0, 1, 2)]), 1)).startswith(
        "1 of 1 statement implies 1 triplet."
    )


def relative_chain(n):
    return [(a, b, c) for a, b, c in combinations(range(n), 3)]


def test_far_better_than_chance_on_many():
    rng = np.random.default_rng(5)
    said = generators.tree_triplets(rng, generators.random_tree(rng, range(60), "random"), 1200)
    c = Constraints.build(60, triplets=said)
    best = informative(c, 15)
    random = close(c.select(rng.choice(len(said), 15, replace=False)), triplets=True).n_statements
    assert best.implied > 10 * random


def test_beyond_what_is_counted_the_sample_is_close(monkeypatch):
    monkeypatch.setattr(_informative, "_MOST_COUNTED", 9)
    rng = np.random.default_rng(6)
    said = generators.tree_triplets(rng, generators.random_tree(rng, range(20), "random"), 500)
    c = Constraints.build(20, triplets=said)
    best = informative(c, 14, random_state=3)
    assert not best.exact
    assert "about" in str(best)
    counted = close(best.kept, triplets=True).n_statements
    assert abs(best.implied - counted) < 0.2 * counted
    assert informative(c, 14, random_state=3).statements.tolist() == best.statements.tolist()


def test_must_links_are_chosen_as_well_as_possible():
    rng = np.random.default_rng(7)
    for _ in range(examples(14, 1000)):
        n = int(rng.integers(3, 9))
        y = rng.integers(0, 3, n)
        pairs = [(a, b) for a, b in combinations(range(n), 2) if y[a] == y[b] and rng.random() < 0.6]
        c = Constraints.build(n, must_link=pairs[:9])
        m = int(rng.integers(0, 5))
        best = informative(c, m)
        decided = [
            close(c.select(list(few)), triplets=False).n_statements
            for few in combinations(range(c.n_statements), min(m, c.n_statements))
        ]
        assert best.implied == max(decided) == close(best.kept).n_statements


def test_links_of_both_kinds_are_counted_exactly():
    rng = np.random.default_rng(8)
    for _ in range(examples(20, 2000)):
        n = int(rng.integers(3, 12))
        y = rng.integers(0, 3, n)
        pairs = [(a, b) for a, b in combinations(range(n), 2) if rng.random() < 0.4]
        must = [p for p in pairs if y[p[0]] == y[p[1]]]
        cannot = [p for p in pairs if y[p[0]] != y[p[1]]]
        weight = rng.choice([1.0, 2.0, np.inf], size=len(pairs))
        c = Constraints.build(n, must_link=must, cannot_link=cannot, weight=weight)
        best = informative(c, int(rng.integers(0, 6)))
        hard = Constraints.build(n, must_link=must, cannot_link=cannot)
        for count in range(len(best.statements) + 1):
            closed = close(hard.select(best.statements[:count]))
            assert closed.n_statements == best.gain[:count].sum()
        assert best.total == close(hard).n_statements
        assert best.implied <= best.bound <= best.total
        everything = informative(c, len(pairs))
        assert everything.implied == best.total
        assert len(everything.statements) == minimal(hard).n_statements


def test_what_cannot_be_compared_is_refused():
    mixed = Constraints.build(4, must_link=[(0, 1)], triplets=[(0, 1, 2)])
    with pytest.raises(UnsupportedConstraintError, match=r"Hint: .*select") as raised:
        informative(mixed, 1)
    assert raised.value.kinds == ("must_link", "triplets")
    assert informative(mixed.select(mixed.kind == Kind.TRIPLET), 1).implied == 1
    with pytest.raises(LinkwiseError, match="m is -1"):
        informative(mixed, -1)
    with pytest.raises(LinkwiseError, match="expected Constraints"):
        informative([(0, 1, 2)], 1)
    with pytest.raises(InfeasibleConstraintsError):
        informative(Constraints.build(3, triplets=[(0, 1, 2), (0, 2, 1)], weight=1.0), 1)
