"""OneTree (BUILD): when it succeeds, what its tree displays, and where it gets stuck."""

from __future__ import annotations

from itertools import compress, product

import numba
import numpy as np
import pytest

from linkwise.exceptions import ConstraintError
from linkwise.problem import onetree
from tests.oracles import generators, relative
from tests.oracles.trees import clades, samples_below
from tests.profile import examples

pytestmark = pytest.mark.kernels

SLOW = numba.config.DISABLE_JIT


def succeeds(n, triplets):
    return onetree(n, triplets).parent is not None


def masks(n):
    """All statements about n items, and for each binary tree the set it displays as the bits of one number."""
    said = relative.all_triplets(n)
    shown = [
        sum(1 << t for t, statement in enumerate(said) if relative.displays(tree, statement))
        for tree in relative.binary_trees(tuple(range(n)))
    ]
    return said, shown


def test_there_are_as_many_binary_trees_as_there_should_be():
    assert [len(relative.binary_trees(tuple(range(n)))) for n in (3, 4, 5, 6)] == [3, 15, 105, 945]


def test_every_set_of_statements_about_four_items():
    said, shown = masks(4)
    feasible = {}
    for chosen in product([0, 1], repeat=12):
        wanted = sum(bit << t for t, bit in enumerate(chosen))
        feasible[wanted] = succeeds(4, list(compress(said, chosen)))
        assert feasible[wanted] == any(wanted & tree == wanted for tree in shown), list(compress(said, chosen))
    sizes = [wanted.bit_count() for wanted, yes in feasible.items() if yes]
    assert np.bincount(sizes).tolist() == [1, 12, 54, 52, 15]
    minimal = [
        wanted.bit_count()
        for wanted, yes in feasible.items()
        if not yes and all(feasible[wanted & ~(1 << t)] for t in range(12) if wanted >> t & 1)
    ]
    assert np.bincount(minimal).tolist() == [0, 0, 12, 56]


@pytest.mark.parametrize("n", [5, 6])
def test_random_sets_against_all_binary_trees(n):
    said, shown = masks(n)
    rng = np.random.default_rng(n)
    yes = 0
    count = 100 if SLOW else examples(100, 10_000)
    for _ in range(count):
        chosen = rng.choice(len(said), size=int(rng.integers(1, 2 * n)), replace=False).tolist()
        wanted = sum(1 << t for t in chosen)
        answer = succeeds(n, [said[t] for t in chosen])
        assert answer == any(wanted & tree == wanted for tree in shown), [said[t] for t in chosen]
        yes += answer
    assert 0.1 < yes / count < 0.9  # both answers are put to the test


def drawn(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    return n, generators.consistent_triplets(rng, n)


def test_the_tree_is_that_of_the_recursive_algorithm_and_displays_everything():
    for seed in range(examples(40 if SLOW else 100, 5000)):
        n, said = drawn(seed)
        parent = onetree(n, said).parent
        assert parent is not None, f"seed {seed}"
        tree = clades(n, parent.tolist())
        assert tree == relative.onetree(said, range(n)), f"seed {seed}"
        for statement in said:
            assert relative.displays(tree, statement), f"seed {seed}: {statement}"


def test_each_leaf_once_children_first_and_no_node_with_one_child():
    for seed in range(examples(40 if SLOW else 100, 5000)):
        n, said = drawn(seed)
        parent = onetree(n, said).parent
        inner = np.arange(n, len(parent))
        assert (np.bincount(parent[parent >= 0], minlength=len(parent))[inner] >= 2).all(), f"seed {seed}"
        assert not np.isin(parent, np.arange(n)).any(), f"seed {seed}"  # leaves are leaves
        assert np.flatnonzero(parent == -1).tolist() == [len(parent) - 1], f"seed {seed}"
        assert (parent[:-1] > np.arange(len(parent) - 1)).all(), f"seed {seed}"
        assert samples_below(n, parent.tolist())[-1] == set(range(n)), f"seed {seed}"


def mixed(seed):
    """Statements that contradict each other more often than not."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 16))
    if seed % 3 == 0:
        return n, generators.noise_triplets(rng, n, int(rng.integers(1, n)))
    return n, generators.flipped_triplets(rng, n)[0]


def test_the_conflict_lies_inside_the_stuck_set():
    stuck_count = 0
    for seed in range(examples(60 if SLOW else 134, 5000)):
        n, said = mixed(seed)
        parent, stuck = onetree(n, said)
        assert (parent is None) == (not relative.consistent(said, n)), f"seed {seed}"
        assert (parent is None) != (stuck is None), f"seed {seed}"
        if stuck is not None:
            assert stuck.tolist() == sorted(set(stuck.tolist())), f"seed {seed}"
            group = frozenset(stuck.tolist())
            inside = relative.within(said, group)
            # stuck at once: the statements inside connect the whole set
            assert len(relative.components(group, [(a, b) for a, b, _ in inside])) == 1, f"seed {seed}"
            assert len(group) >= 3, f"seed {seed}"
            stuck_count += 1
    assert stuck_count > 20


def test_names_order_copies_and_the_order_of_the_close_pair_do_not_matter():
    for seed in range(examples(30 if SLOW else 50, 3000)):
        n, said = mixed(seed) if seed % 2 else drawn(seed)
        rng = np.random.default_rng(seed)
        name = rng.permutation(n)
        again = [(b, a, c) if rng.random() < 0.5 else (a, b, c) for a, b, c in said]
        again += [again[t] for t in rng.integers(len(again), size=3).tolist()] if again else []
        again = [tuple(name[list(again[t])].tolist()) for t in rng.permutation(len(again)).tolist()]
        one, two = onetree(n, said).parent, onetree(n, again).parent
        assert (one is None) == (two is None), f"seed {seed}"
        if one is not None:
            renamed = {frozenset(name[list(clade)].tolist()) for clade in clades(n, one.tolist())}
            assert renamed == clades(n, two.tolist()), f"seed {seed}"


def test_part_of_a_consistent_set_is_consistent():
    for seed in range(examples(30 if SLOW else 50, 3000)):
        n, said = drawn(seed)
        rng = np.random.default_rng(seed)
        assert succeeds(n, [t for t in said if rng.random() < 0.7]), f"seed {seed}"


def implied(n, said):
    """The statements of which both alternatives contradict ``said``."""
    return {
        (a, b, c)
        for a, b, c in relative.all_triplets(n)
        if not succeeds(n, [*said, (a, c, b)]) and not succeeds(n, [*said, (b, c, a)])
    }


def test_what_contradicting_the_alternatives_implies_is_what_all_displaying_trees_share():
    said_about, shown = masks(5)
    more = 0
    for seed in range(examples(10 if SLOW else 20, 1000)):
        rng = np.random.default_rng(seed)
        said = generators.consistent_triplets(rng, 5, str(rng.choice(generators.SHAPES)))
        # said with the smaller of the close pair first, as all_triplets has them
        wanted = sum(1 << said_about.index((*sorted(t[:2]), t[2])) for t in said)
        common = (1 << len(said_about)) - 1
        for tree in shown:
            if tree & wanted == wanted:
                common &= tree
        found = implied(5, said)
        assert found == {t for p, t in enumerate(said_about) if common >> p & 1}, f"seed {seed}: {said}"
        assert found >= {(*sorted(t[:2]), t[2]) for t in said}, f"seed {seed}"
        assert implied(5, sorted(found)) == found, f"seed {seed}"  # closing twice changes nothing
        assert succeeds(5, sorted(found)), f"seed {seed}"
        assert implied(5, said[1:]) <= found, f"seed {seed}"
        more += len(found) > len(said)
    assert more > 1


def test_a_triplet_of_the_tree_need_not_be_implied():
    parent = onetree(4, [(0, 1, 2)]).parent
    tree = clades(4, parent.tolist())
    assert tree == {frozenset([0, 1]), frozenset([0, 1, 2, 3])}
    assert relative.displays(tree, (0, 1, 3))
    assert succeeds(4, [(0, 1, 2), (0, 3, 1)])


def test_no_statements_give_a_fan_and_few_items_their_only_tree():
    assert onetree(0, []).parent.tolist() == []
    assert onetree(1, []).parent.tolist() == [-1]
    assert onetree(2, []).parent.tolist() == [2, 2, -1]
    assert onetree(5, []).parent.tolist() == [5, 5, 5, 5, 5, -1]


def test_the_given_statements_are_not_modified():
    said = np.array([(0, 1, 2), (3, 4, 0), (0, 2, 3)])
    before = said.copy()
    onetree(5, said)
    assert (said == before).all()


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ([(0, 1, 2), (0, 1, 4)], r"row 1 of the triplets is \(0, 1, 4\), but items are numbered 0 to 3\.\nHint: "),
        ([(-1, 1, 2)], r"row 0 of the triplets is \(-1, 1, 2\), but items are numbered 0 to 3\.\nHint: "),
        ([(0, 1, 1)], r"row 0 .* is \(0, 1, 1\), but ab\|c is about three different items\.\nHint: "),
        ([(1, 1, 0)], "three different items"),
        ([(0, 1, 0)], "three different items"),
    ],
)
def test_a_row_that_is_no_triplet_of_the_items_is_refused(said, problem):
    with pytest.raises(ConstraintError, match=problem):
        onetree(4, said)


def test_statements_about_no_items_are_refused():
    with pytest.raises(ConstraintError, match="but there are no items"):
        onetree(0, [(0, 1, 2)])
