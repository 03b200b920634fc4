"""FScore, dendrogram purity, class F and Dasgupta's cost against their definitions, on trees of every shape."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_matrix

from linkwise import Dendrogram, Taxonomy
from linkwise.exceptions import LinkwiseError
from linkwise.metrics import class_f, dasgupta_cost, dendrogram_purity, hierarchy_fscore
from tests.oracles import measures
from tests.oracles.sources import random_taxonomy
from tests.oracles.trees import random_forest
from tests.profile import examples

pytestmark = pytest.mark.kernels
SEEDS = range(examples(120, 5_000))


def forest(rng, n):
    """Binary and many-way trees, forests, caterpillars."""
    return random_forest(
        rng,
        n,
        widest=rng.choice([2, 2, 3, 5]),
        n_roots=1 if rng.random() < 0.6 else rng.randint(1, n),
        shape=rng.choice(["random", "caterpillar"]),
    )


def hierarchy(rng, n, share=0.9):
    """A taxonomy of up to eight nodes under one or two roots, with somebody on it."""
    chance = np.random.default_rng(rng.getrandbits(32))
    parent, node = random_taxonomy(chance, rng.randint(1, 8), n, n_roots=rng.randint(1, 2), share=share)
    node[rng.randrange(n)] = rng.randrange(len(parent))
    return parent, node


@pytest.mark.parametrize("seed", SEEDS)
def test_fscore_and_purity_equal_their_definitions(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 16)
    parent, y = forest(rng, n), measures.random_labels(rng, n, unlabeled=rng.choice([0.0, 0.3]))
    tree = Dendrogram(n, parent)
    assert hierarchy_fscore(y, tree) == pytest.approx(measures.fscore_by_class(n, parent, y))
    assert hierarchy_fscore(y, tree, form="levels") == pytest.approx(measures.fscore_by_levels(n, parent, y))
    assert dendrogram_purity(y, tree) == pytest.approx(measures.dendrogram_purity(n, parent, y))


@pytest.mark.parametrize("seed", SEEDS)
def test_dasgupta_cost_equals_its_definition_for_dense_and_sparse(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 12)
    parent = forest(rng, n)
    tree = Dendrogram(n, parent)
    similarity = np.zeros((n, n))
    for _ in range(rng.randint(0, 3 * n)):
        i, j = rng.randrange(n), rng.randrange(n)
        similarity[i, j] = similarity[j, i] = rng.choice([1.0, 0.5, rng.random()])
    expected = measures.dasgupta_cost(n, parent, similarity.tolist())
    assert dasgupta_cost(similarity, tree) == pytest.approx(expected)
    assert dasgupta_cost(csr_matrix(similarity), tree) == pytest.approx(expected)


def test_dasgupta_cost_adds_up_entries_that_are_stored_twice():
    tree = Dendrogram.from_newick("((0,1),2);")
    twice = coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(3, 3))
    assert dasgupta_cost(twice, tree) == 3.0 * 2


@pytest.mark.parametrize("seed", SEEDS)
def test_class_f_equals_its_definition(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 16)
    learned = forest(rng, n)
    parent, node = hierarchy(rng, n)
    here = [i for i in range(n) if node[i] != -1]
    labeled = rng.sample(here, rng.randint(0, len(here) - 1))
    truth = Taxonomy(parent, node)
    score = class_f(truth, Dendrogram(n, learned), labeled=labeled)
    leaf, higher = measures.class_f(parent, node, n, learned, labeled)
    assert score.leaf == pytest.approx(np.nan if leaf is None else leaf, nan_ok=True)
    assert score.higher == pytest.approx(np.nan if higher is None else higher, nan_ok=True)
    told = np.isin(np.arange(n), labeled)
    again = class_f(truth, Dendrogram(n, learned), labeled=told)
    np.testing.assert_array_equal(again.of_class, score.of_class)


def test_class_f_says_what_each_class_has():
    truth = Taxonomy([1, 3, 3, -1], [0, 0, 1, 2, 2, -1])
    tree = Dendrogram.from_newick("(((0,1),2),(3,(4,5)));")
    score = class_f(truth, tree)
    # class 0 is {0, 1}, class 1 {0, 1, 2}, class 2 {3, 4}; the root is none, and sample 5 is looked through
    assert score.of_class.tolist()[:3] == [1.0, 1.0, 1.0]
    assert np.isnan(score.of_class[3])
    # with 0 and 1 given, class 0 has nobody left, and class 1 is the single sample 2
    assert np.isnan(class_f(truth, tree, labeled=[0, 1]).of_class[0])
    assert class_f(truth, tree, labeled=[0, 1]).higher == 1.0


def test_class_f_of_a_dendrogram_and_of_classes():
    gold = Dendrogram.from_newick("((0,1),(2,3));")
    score = class_f(gold, gold)
    assert (score.leaf, score.of_class.tolist()[4:6]) == (1.0, [1.0, 1.0])
    assert np.isnan(score.higher)  # the root above all is no class
    flat = class_f([1, 1, 0, -1], gold)
    assert flat.leaf == 1.0
    assert class_f([0, 0, 0, 0], gold).leaf == 1.0  # one class under a root
    assert class_f(Dendrogram(1, [-1]), Dendrogram(1, [-1])).of_class.shape == (1,)


@pytest.mark.parametrize(
    ("labeled", "words"),
    [
        ([0, 1, 2, 3], "every sample with a class is labeled"),
        ([4], "labeled names sample 4, but samples are numbered 0 to 3"),
        ([True, False], "mask labeled has 2 entries, but there are 4"),
        ([0.5], "expected sample numbers or a mask"),
    ],
)
def test_labeled_samples_that_make_no_sense_are_refused(labeled, words):
    with pytest.raises(LinkwiseError, match=words):
        class_f([0, 0, 1, 1], Dendrogram.from_newick("((0,1),(2,3));"), labeled=labeled)


def test_a_forest_has_no_cluster_of_all_samples():
    two = Dendrogram.from_newick("(0,1);(2,3);", forest=True)
    assert hierarchy_fscore([0, 0, 0, 0], two) == pytest.approx(2 * 2 / (2 + 4))
    assert dendrogram_purity([0, 1, 1, 0], two) == pytest.approx(0.5)


def test_a_batch_boundary_changes_nothing(monkeypatch):
    rng = random.Random(5)
    n = 40
    gold, learned = Dendrogram(n, random_forest(rng, n)), Dendrogram(n, random_forest(rng, n))
    whole = class_f(gold, learned)
    monkeypatch.setattr("linkwise.metrics._tree_measures._BATCH", 7)
    np.testing.assert_array_equal(class_f(gold, learned).of_class, whole.of_class)


@pytest.mark.parametrize(
    ("similarity", "words"),
    [
        (np.ones((3, 3)), r"shape \(3, 3\), expected \(4, 4\)"),
        (np.triu(np.ones((4, 4))), "not symmetric"),
        (csr_matrix(np.triu(np.ones((4, 4)))), "not symmetric"),
        (np.full((4, 4), np.nan), "NaN or infinite"),
        (csr_matrix(np.full((4, 4), np.inf)), "NaN or infinite"),
    ],
)
def test_similarities_that_make_no_sense_are_refused(similarity, words):
    with pytest.raises(LinkwiseError, match=words):
        dasgupta_cost(similarity, Dendrogram.from_newick("((0,1),(2,3));"))


def test_an_unknown_form_is_refused():
    with pytest.raises(LinkwiseError, match="form is 'mean'"):
        hierarchy_fscore([0, 1], Dendrogram.from_newick("(0,1);"), form="mean")
