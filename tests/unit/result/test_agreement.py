"""Cuts that agree best with statements: optimal among all cuts of the tree, whatever its shape."""

from __future__ import annotations

import random
from math import inf

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram
from linkwise.exceptions import LinkwiseError, MemoryLimitError, UnsupportedConstraintError
from tests.oracles.cuts import agreement, all_cuts
from tests.oracles.trees import blocks, random_forest
from tests.profile import examples

pytestmark = pytest.mark.kernels
TREE = Dendrogram.from_merges(5, [(0, 1), (5, 2), (3, 4), (6, 7)], [1.0, 3.0, 4.0, 9.0])


def random_statements(rng, n):
    """Statements of all kinds that a cut understands, with the weights a user writes; many contradict each other."""
    statements = []
    for _ in range(rng.randint(0, 7)):
        word = rng.choice(["must_link", "cannot_link", "triplets", "together", "apart"])
        size = {"must_link": 2, "cannot_link": 2, "triplets": 3}.get(word, rng.randint(2, 5))
        if size <= n:
            statements.append((word, rng.sample(range(n), size), rng.choice([inf, inf, "0.1", "0.2", "0.3", "2"])))
    return statements


def table(n, statements):
    """The statements as constraints."""
    made = Constraints.build(n)
    for word, samples, weight in statements:
        made |= Constraints.build(n, **{word: [samples]}, weight=float(weight))
    return made


def test_it_is_the_best_of_all_cuts():
    for seed in range(examples(300, 20_000)):
        rng = random.Random(seed)
        n = rng.randint(1, 8)
        shape = rng.choice(["random", "caterpillar"])
        parent = random_forest(rng, n, widest=rng.choice([2, 2, 3, 6]), n_roots=rng.randint(1, min(n, 3)), shape=shape)
        tree = Dendrogram(n, parent)
        statements = random_statements(rng, n)
        said = table(n, statements)
        cuts = all_cuts(n, parent)
        for k in (None, *range(tree.n_roots, n + 1)):
            sized = k is not None
            value = {
                frozenset(some): agreement(n, parent, some, undone, statements, sized=sized)
                for some, undone in cuts
                if not sized or len(some) == k
            }
            found = frozenset(map(frozenset, blocks(tree.cut_agreeing(said, k))))
            best = max(value.values())
            assert value[found] == best, (seed, k)
            assert sized or [*value.values()].count(best) == 1, seed  # the fewest clusters are one cut


def test_without_statements_it_is_the_plain_cut():
    for seed in range(60):
        rng = random.Random(seed)
        n = rng.randint(1, 30)
        tree = Dendrogram(n, random_forest(rng, n, widest=rng.choice([2, 5]), n_roots=rng.randint(1, n)))
        for k in range(tree.n_roots, n + 1):
            assert tree.cut_agreeing(Constraints.build(n), k).tolist() == tree.cut(n_clusters=k).tolist()
        assert tree.cut_agreeing(Constraints.build(n)).tolist() == tree.cut(n_clusters=tree.n_roots).tolist()


def test_branches_have_their_own_heights():
    said = Constraints.build(5, must_link=[(3, 4)], cannot_link=[(1, 2)])
    assert TREE.cut_agreeing(said).tolist() == TREE.cut_agreeing(said, 3).tolist() == [0, 0, 1, 2, 2]
    assert all(TREE.cut(n_clusters=k).tolist() != [0, 0, 1, 2, 2] for k in range(1, 6))


def test_hard_statements_outweigh_soft_ones_and_these_the_number_of_clusters():
    soft = Constraints.build(5, cannot_link=[(0, 1), (1, 2)], weight=1e9)
    assert TREE.cut_agreeing(soft).tolist() == [0, 1, 2, 3, 3]
    hard = Constraints.build(5, must_link=[(0, 2)])
    assert TREE.cut_agreeing(soft | hard).tolist() == [0, 0, 0, 0, 0]
    against = Constraints.build(5, must_link=[(0, 2)], weight=2.5e9)
    assert TREE.cut_agreeing(soft | against).tolist() == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("unit", [1e-300, 0.1, 1e300])
def test_weights_of_any_size_are_added_exactly(unit):
    """Three thirds are a whole: a tie, which the fewer clusters decide."""
    three = Constraints.build(5, cannot_link=[(0, 1)] * 3, weight=unit)
    against = Constraints.build(5, must_link=[(0, 1)], weight=3 * unit)
    assert TREE.cut_agreeing(three | against).tolist() == [0, 0, 0, 0, 0]
    assert TREE.cut_agreeing(three).tolist() == [0, 1, 2, 3, 3]
    least = Constraints.build(5, cannot_link=[(0, 1)], weight=5e-324)
    assert TREE.cut_agreeing(least).tolist() == [0, 1, 2, 3, 3]


def test_a_triplet_asks_for_its_pair_without_the_third():
    assert TREE.cut_agreeing(Constraints.build(5, triplets=[(0, 1, 2)])).tolist() == [0, 0, 1, 2, 2]
    assert TREE.cut_agreeing(Constraints.build(5, triplets=[(0, 2, 1)])).tolist() == [0, 0, 0, 0, 0]  # not displayed
    forest = Dendrogram(4, [4, 4, 5, 5, -1, -1])
    assert forest.cut_agreeing(Constraints.build(4, triplets=[(0, 1, 2)])).tolist() == [0, 0, 1, 1]


def test_links_across_trees_change_nothing():
    forest = Dendrogram(5, [5, 5, 6, 6, 7, -1, 7, -1])
    said = Constraints.build(5, must_link=[(0, 2), (1, 4)], cannot_link=[(0, 3)])
    assert forest.cut_agreeing(said).tolist() == [0, 0, 1, 1, 1]
    assert forest.cut_agreeing(said, 2).tolist() == [0, 0, 1, 1, 1]


def test_depth_and_width_do_not_matter():
    n = 3_000
    chain = Dendrogram(n, [n, *range(n, 2 * n - 1), *range(n + 1, 2 * n - 1), -1])
    said = Constraints.build(n, cannot_link=[(0, 1)], must_link=[(0, 2)], weight=[2.0, 1.0])
    assert chain.cut_agreeing(said).max() == 0
    assert len(np.unique(chain.cut_agreeing(said, 50))) == 50
    star = Dendrogram(n, [n] * n + [-1])
    apart = Constraints.build(n, cannot_link=[(0, n - 1)])
    assert star.cut_agreeing(apart).tolist() == star.cut_agreeing(apart, 2).tolist() == [0] * (n - 1) + [1]


def test_impossible_requests_are_refused():
    with pytest.raises(LinkwiseError, match=r"cut_agreeing: .* but the tree has 5"):
        TREE.cut_agreeing(Constraints.build(4))
    with pytest.raises(LinkwiseError, match="n_clusters is 6"):
        TREE.cut_agreeing(Constraints.build(5), 6)
    with pytest.raises(UnsupportedConstraintError, match="does not understand must_link_any"):
        TREE.cut_agreeing(Constraints.build(5, must_link_any=[[0, 1, 2]]))


def test_a_table_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("linkwise._memory.available_memory", lambda: 2**20)
    n = 20_000  # pairs, and a chain of these: every node of it has a choice
    pairs = [n + i // 2 for i in range(n)]
    chain = [n + n // 2, *range(n + n // 2, 2 * n - 1), *range(n + n // 2 + 1, 2 * n - 1), -1]
    with pytest.raises(MemoryLimitError, match="a table of 9999 splits of a tree of 20000 samples needs"):
        Dendrogram(n, pairs + chain).cut_agreeing(Constraints.build(n), n // 2)
