"""implies(): every answer equals that of looking at all hierarchies with all cuts."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Constraints, check, close, implies
from linkwise.constraints import Kind
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.problem import onetree
from linkwise.problem.triplets._spans import Spans
from tests.oracles import generators, relative
from tests.oracles.entailment import bits, entailed, statements, worlds
from tests.profile import examples

MIXES = {
    "triplets": ((0, 0), (0, 0), (0, 6)),
    "links": ((0, 3), (0, 4), (0, 0)),
    "must-links and triplets": ((1, 3), (0, 0), (1, 6)),
    "cannot-links and triplets": ((0, 0), (1, 4), (1, 6)),
    "all": ((1, 3), (1, 4), (1, 6)),
}


def random_statements(rng, n, mix, *, true=False):
    """Any statements, or such as hold in one hierarchy with a cut."""
    words = ("must_link", "cannot_link", "triplet")
    world = int(rng.choice(len(worlds(n))))
    held = [s for s in statements(n) if not true or worlds(n)[world] & bits(n)[s]]
    said = []
    for word, (low, high) in zip(words, MIXES[mix], strict=True):
        some = [s for s in held if s[0] == word]
        said += [some[i] for i in rng.integers(len(some), size=rng.integers(low, high + 1))] if some else []
    return said


def table(n, said):
    return Constraints.from_ids(range(n), said)


@pytest.mark.parametrize("mix", MIXES)
def test_implied_is_what_holds_in_every_hierarchy_with_a_cut(mix):
    rng = np.random.default_rng(0)
    feasible = 0
    for _ in range(examples(250, 5000)):
        n = int(rng.choice([3, 4, 5, 6], p=[0.1, 0.3, 0.5, 0.1]))
        said = random_statements(rng, n, mix, true=rng.random() < 0.8)
        expected = entailed(n, said)
        if expected is None:
            with pytest.raises(InfeasibleConstraintsError):
                implies(table(n, said), statements(n))
            continue
        feasible += 1
        answer = implies(table(n, said), statements(n))
        assert {s for s, yes in zip(statements(n), answer, strict=True) if yes} == expected, said
    assert feasible > 100


def test_triplets_are_implied_when_both_other_resolutions_contradict():
    """T6 against BUILD from scratch, at sizes no enumeration reaches; not all trees are deep or wide alone."""
    rng = np.random.default_rng(1)
    for _ in range(examples(20, 3000)):
        n = int(rng.integers(4, 12))
        said = generators.consistent_triplets(rng, n)
        c = Constraints.build(n, triplets=said)
        asked = relative.all_triplets(n)
        answer = implies(c, Constraints.build(n, triplets=asked))
        for (x, y, z), yes in zip(asked, answer, strict=True):
            alone = not relative.consistent([*said, (x, z, y)], n) and not relative.consistent([*said, (y, z, x)], n)
            assert yes == alone, (said, (x, y, z))


def test_every_binary_tree_that_displays_the_given_displays_the_implied():
    rng = np.random.default_rng(2)
    for _ in range(examples(20, 3000)):
        n = int(rng.integers(3, 7))
        said = generators.consistent_triplets(rng, n)
        trees = [t for t in relative.binary_trees(tuple(range(n))) if all(relative.displays(t, s) for s in said)]
        asked = relative.all_triplets(n)
        answer = implies(Constraints.build(n, triplets=said), Constraints.build(n, triplets=asked))
        assert answer.tolist() == [all(relative.displays(t, s) for t in trees) for s in asked]


def test_what_the_built_tree_displays_is_not_thereby_implied():
    said = Constraints.build(4, triplets=[(0, 1, 2)])
    parent = onetree(4, [(0, 1, 2)]).parent
    assert parent[0] == parent[1] != parent[3]  # the tree displays 01|3
    assert implies(said, [("triplet", 0, 1, 3), ("triplet", 0, 1, 2)]).tolist() == [False, True]
    assert close(said, triplets=True) == said


def test_adding_what_every_displaying_tree_displays_keeps_consistency():
    """T5: subsets stay consistent, and so does the set with anything it implies."""
    rng = np.random.default_rng(3)
    for _ in range(examples(34, 3000)):
        n = int(rng.integers(3, 9))
        said = generators.consistent_triplets(rng, n)
        closed = close(Constraints.build(n, triplets=said), triplets=True).of(Kind.TRIPLET).tolist()
        assert relative.consistent(closed, n)
        kept = [s for s in closed if rng.random() < 0.5]
        assert relative.consistent(kept, n)


def test_spans_asked_for_and_written_out_are_those_of_the_definition():
    """On trees with many-way nodes, where there is work to do."""
    rng = np.random.default_rng(4)
    for _ in range(examples(9, 1000)):
        n = int(rng.integers(5, 14))
        said = generators.tree_triplets(rng, generators.random_tree(rng, range(n), "fans"), int(rng.integers(1, 2 * n)))
        if not said:
            continue
        spans = Spans(n, np.array(said))
        inside = spans.table()
        x, y, z = (side.ravel() for side in np.meshgrid(*(np.arange(n),) * 3, indexing="ij"))
        expected = (z == x) | (z == y)
        at = spans.position
        known = (at[x] >= 0) & (at[y] >= 0) & (at[z] >= 0)
        expected[known] |= inside[at[x[known]], at[y[known]], at[z[known]]]
        assert (spans.holds(x, y, z) == expected)[x != y].all()
        for a, b, c in zip(x[::7], y[::7], z[::7], strict=True):
            if len({a, b, c}) == 3:
                assert spans.holds(*(np.array([v]) for v in (a, b, c)))[0] != relative.consistent([*said, (a, b, c)], n)


def test_cannot_links_follow_through_many_way_nodes():
    rng = np.random.default_rng(5)
    followed = 0
    for _ in range(examples(9, 2000)):
        n = int(rng.integers(5, 10))
        tree = generators.random_tree(rng, range(n), "fans")
        said = generators.tree_triplets(rng, tree, int(rng.integers(2, 2 * n)))
        cannot = [tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(2)]
        c = Constraints.build(n, triplets=said, cannot_link=cannot)
        pairs = np.column_stack(np.triu_indices(n, 1))
        answer = implies(c, Constraints.build(n, cannot_link=pairs))
        for (a, b), yes in zip(pairs.tolist(), answer, strict=True):
            with_link = Constraints.build(n, triplets=said, cannot_link=cannot, must_link=[(a, b)])
            assert yes == (check(with_link).status == "infeasible")
        followed += int(answer.sum()) > len({frozenset(p) for p in cannot})
    assert followed > 2


def test_soft_statements_are_not_reasoned_from_and_weights_asked_about_play_no_role():
    c = Constraints.build(3, must_link=[(0, 1), (1, 2)], weight=[np.inf, 5.0])
    asked = Constraints.build(3, must_link=[(0, 1), (0, 2)], weight=[1.0, 2.0])
    assert implies(c, asked).tolist() == [True, False]


def test_identifiers_are_understood():
    c = Constraints.from_ids(["a", "b", "c"], must_link=[("a", "b")], cannot_link=[("b", "c")])
    assert implies(c, [("cannot_link", "c", "a"), ("triplet", "a", "b", "c")]).tolist() == [True, True]
    assert implies(c, []).tolist() == []


def test_what_makes_no_sense_is_refused():
    c = Constraints.build(3, must_link=[(0, 1)])
    with pytest.raises(LinkwiseError, match="4 samples"):
        implies(c, Constraints.build(4))
    for neither in ("must_link", 5):
        with pytest.raises(LinkwiseError, match=f"implies: statements are {neither!r}, expected Constraints or tuples"):
            implies(c, neither)
    with pytest.raises(LinkwiseError, match="kind"):
        implies(c, ("must", 0, 1))
    with pytest.raises(LinkwiseError, match="expected Constraints"):
        implies([(0, 1)], ("must_link", 0, 1))
    with pytest.warns(UserWarning, match="holds for every"), pytest.raises(LinkwiseError, match="twice"):
        implies(c, ("must_link", 1, 1))


def test_a_contradiction_is_explained():
    c = Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    with pytest.raises(InfeasibleConstraintsError) as raised:
        implies(c, ("must_link", 0, 1))
    assert raised.value.explanation.core == (0, 1, 2)


def test_a_deep_chain_is_asked_without_recursion():
    n = 3000
    chain = np.column_stack([np.zeros(n - 2, int), np.arange(1, n - 1), np.arange(2, n)])
    c = Constraints.build(n, triplets=chain)
    asked = Constraints.build(n, triplets=[(5, 9, 10), (1, 2998, 2999), (9, 10, 5)])
    assert implies(c, asked).tolist() == [True, True, False]
