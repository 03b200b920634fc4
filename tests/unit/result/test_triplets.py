"""What a tree says, listed as triplets."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from linkwise import Dendrogram
from linkwise.exceptions import LinkwiseError
from tests.oracles.relative import binary_trees, onetree
from tests.oracles.trees import all_triplets, clades, random_forest, tree_displays
from tests.profile import examples


def rows(constraints):
    return [tuple(row) for row in constraints.items.tolist()]


def trees(count, **more):
    for seed in range(count):
        rng = random.Random(seed)
        n = rng.randint(1, 9)
        yield seed, n, random_forest(rng, n, **more)


@pytest.mark.parametrize(("widest", "n_roots"), [(2, 1), (4, 1), (9, 1), (3, 2)])
def test_all_triplets_are_those_of_the_definition(widest, n_roots):
    for seed, n, parent in trees(examples(40, 1000), widest=widest, n_roots=n_roots):
        found = rows(Dendrogram(n, parent).triplets())
        assert len(found) == len(set(found))
        assert set(found) == all_triplets(n, parent), seed


@pytest.mark.parametrize("widest", [2, 3, 5])
def test_build_gives_the_tree_back_from_all_and_from_few(widest):
    for seed, n, parent in trees(examples(40, 1000), widest=widest):
        tree = Dendrogram(n, parent)
        few = rows(tree.triplets(minimal=True))
        assert set(few) <= all_triplets(n, parent)
        assert onetree(few, range(n)) == clades(n, parent), seed
        assert onetree(rows(tree.triplets()), range(n)) == clades(n, parent), seed


def test_the_few_imply_all_the_others():
    for _, n, parent in trees(examples(25, 400), widest=4):
        few = rows(Dendrogram(n, parent).triplets(minimal=True))
        for a, b, c in all_triplets(n, parent):
            assert onetree([*few, (a, c, b)], range(n)) is None
            assert onetree([*few, (b, c, a)], range(n)) is None


def test_binary_trees_need_two_fewer_than_samples_and_none_can_be_dropped():
    every = {n: binary_trees(tuple(range(n))) for n in (4, 5, 6)}
    assert [len(every[n]) for n in (4, 5, 6)] == [15, 105, 945]
    for seed in range(examples(12, 200)):
        rng = random.Random(seed)
        n = rng.choice([4, 5, 6])
        few = rows(Dendrogram(n, random_forest(rng, n)).triplets(minimal=True))
        assert len(few) == n - 2
        assert sum(all(tree_displays(tree, *t) for t in few) for tree in every[n]) == 1
        for kept in combinations(few, n - 3):
            assert sum(all(tree_displays(tree, *t) for t in kept) for tree in every[n]) > 1


def test_ids_travel_along():
    assert Dendrogram.from_newick("((a,b),c);").triplets().describe(0) == "#0 triplet(a, b | c)"


def test_small_trees_say_nothing():
    for tree in (
        Dendrogram(1, [-1]),
        Dendrogram(2, [2, 2, -1]),
        Dendrogram(3, [3, 3, 3, -1]),
        Dendrogram(3, [-1, -1, -1]),
    ):
        assert tree.triplets().n_statements == tree.triplets(minimal=True).n_statements == 0


def test_too_many_are_refused_before_they_are_made():
    n = 1000
    caterpillar = Dendrogram.from_merges(n, [(0, 1), *((n + t, t + 2) for t in range(n - 2))], range(n - 1))
    with pytest.raises(LinkwiseError, match=r"166,167,000 triplets[\s\S]*minimal=True"):
        caterpillar.triplets()
    assert caterpillar.triplets(minimal=True).n_statements == n - 2
    fans = [5000] * 2500 + [5001] * 2500 + [5002, 5002, -1]
    with pytest.raises(LinkwiseError, match="triplets"):
        Dendrogram(5000, fans).triplets()
