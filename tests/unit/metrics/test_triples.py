"""H-correlation by recoloring equals H-correlation by looking at every triple."""

from __future__ import annotations

import random

import pytest

from linkwise import Dendrogram, Taxonomy
from linkwise.exceptions import LinkwiseError
from linkwise.metrics import count_triples, h_correlation
from tests.oracles import measures
from tests.oracles.trees import random_forest
from tests.profile import examples
from tests.unit.metrics.test_trees import forest, hierarchy

pytestmark = pytest.mark.kernels


def check(truth, parent, node, n, learned):
    tree = Dendrogram(n, learned)
    by_node, uniform = measures.h_correlation(parent, node, n, learned)
    assert h_correlation(truth, tree) == pytest.approx(by_node)
    assert h_correlation(truth, tree, weights="uniform") == pytest.approx(uniform)
    assert (h_correlation(truth, tree) == 1.0) == (by_node == 1.0)
    assert count_triples(truth) == sum(map(len, measures.gold_triples(parent, node).values()))


@pytest.mark.parametrize("seed", range(examples(150, 3_000)))
def test_taxonomies_with_samples_on_any_node(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 11)
    parent, node = hierarchy(rng, n, share=rng.choice([0.8, 1.0]))
    check(Taxonomy(parent, node), parent, node, n, forest(rng, n))


@pytest.mark.parametrize("seed", range(examples(60, 1_000)))
def test_dendrograms_as_truth(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 11)
    gold = forest(rng, n)
    check(Dendrogram(n, gold), gold, list(range(n)), n, forest(rng, n))


@pytest.mark.parametrize("seed", range(examples(60, 1_000)))
def test_classes_as_truth(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 11)
    y = measures.random_labels(rng, n, unlabeled=rng.choice([0.0, 0.2]))
    k = max(y) + 1
    check(y, [k] * k + [-1], y, n, forest(rng, n))


@pytest.mark.parametrize("seed", range(examples(6, 200)))
def test_twenty_five_samples(seed):
    rng = random.Random(seed)
    n = 25
    parent, node = hierarchy(rng, n)
    check(Taxonomy(parent, node), parent, node, n, forest(rng, n))


@pytest.mark.parametrize("seed", range(examples(40, 1_000)))
def test_it_is_one_for_a_refinement_and_for_nothing_less(seed):
    rng = random.Random(seed)
    n = rng.randint(3, 14)
    fine = random_forest(rng, n)
    tree = Dendrogram(n, fine)
    assert h_correlation(tree, tree) == 1.0
    coarse = Dendrogram.from_newick("(" + ",".join(map(str, range(n))) + ");")
    assert h_correlation(coarse, tree) == 1.0  # a fan asks for nothing
    assert h_correlation(tree, coarse) == 0.0  # and leaves every trio unresolved


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("y", [[0, 0], [0, 1], [0, -1]])
def test_without_a_triple_there_is_nothing_to_miss(n, y):
    tree = Dendrogram.from_newick("(0,1);") if n == 2 else Dendrogram(1, [-1])
    assert h_correlation(y[:n], tree) == 1.0
    assert h_correlation(tree, tree, weights="uniform") == 1.0
    assert count_triples(y[:n]) == 0


def test_samples_outside_the_taxonomy_neither_ask_nor_answer():
    parent, node = [2, 2, -1], [0, 0, 1, -1]
    assert h_correlation(Taxonomy(parent, node), Dendrogram.from_newick("((0,(3,1)),2);")) == 1.0
    assert h_correlation(Taxonomy(parent, node), Dendrogram.from_newick("((0,2),(1,3));")) == 0.0


def test_nodes_of_a_taxonomy_may_come_in_any_order_and_be_empty_or_lead_to_one_more():
    down = Taxonomy([-1, 0, 1, 0, 3], [2, 2, 4, 4])  # 0 above 1 above 2, 0 above 3 above 4
    up = Taxonomy([4, 2, 4, -1, 3, 0], [1, 1, 5, 5])  # a node 3 above everything, node 0 empty but for its child
    tree = Dendrogram.from_newick("((0,1),(2,3));")
    assert count_triples(down) == count_triples(up) == count_triples([0, 0, 1, 1]) == 8
    assert h_correlation(down, tree) == h_correlation(up, tree) == 1.0


@pytest.mark.parametrize(
    ("parent", "node", "words"),
    [
        ([-1, 0], [-1, -1, -1], "no sample has a place"),
        ([-1, 0], [0, 1], "the truth is about 2 samples, but the dendrogram has 3 leaves"),
    ],
)
def test_a_taxonomy_of_nobody_or_of_other_samples_is_refused(parent, node, words):
    with pytest.raises(LinkwiseError, match=words):
        h_correlation(Taxonomy(parent, node), Dendrogram.from_newick("((0,1),2);"))


def test_unknown_weights_and_too_many_items_are_refused(monkeypatch):
    tree = Dendrogram.from_newick("((0,1),2);")
    with pytest.raises(LinkwiseError, match="weights is 'size'"):
        h_correlation(tree, tree, weights="size")
    monkeypatch.setattr("linkwise.metrics._triple_measures.MOST_ITEMS", 2)
    with pytest.raises(LinkwiseError, match="64-bit counts of triples"):
        count_triples(tree)
