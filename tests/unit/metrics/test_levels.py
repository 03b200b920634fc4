"""Purity and distortion over the levels of a dendrogram against their definitions."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.sparse import csr_array

from linkwise import Dendrogram
from linkwise.exceptions import LinkwiseError
from linkwise.metrics import _level_measures, level_distortion, level_purity, purity
from tests.oracles import measures
from tests.profile import examples
from tests.unit.metrics.test_trees import forest

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("seed", range(examples(200, 5_000)))
def test_levels_equal_their_definitions(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 10)
    parent, y = forest(rng, n), measures.random_labels(rng, n, unlabeled=rng.choice([0.0, 0.3]))
    d = rng.choice([1, 3])
    X = np.array([[rng.choice([0.0, rng.gauss(0, 1)]) for _ in range(d)] for _ in range(n)])
    tree = Dendrogram(n, parent)
    assert level_purity(y, tree) == pytest.approx(measures.level_purity(n, parent, y))
    wanted = measures.level_distortion(n, parent, X.tolist())
    assert level_distortion(X, tree) == pytest.approx(wanted, abs=1e-12)
    assert level_distortion(csr_array(X), tree) == pytest.approx(wanted, abs=1e-12)


def test_blocks_of_features_add_up(monkeypatch):
    X = np.random.default_rng(0).normal(size=(8, 20))
    tree = Dendrogram.from_newick("(((0,1),(2,3)),((4,5),(6,7)));")
    whole = level_distortion(X, tree)
    monkeypatch.setattr(_level_measures, "_BLOCK", 40)
    assert level_distortion(X, tree) == pytest.approx(whole)


def test_a_tree_of_one_merge_has_the_mean_of_two_levels():
    y = [0, 0, 1, 1, 1]
    assert level_purity(y, Dendrogram.from_newick("(0,1,2,3,4);")) == (1 + purity(y, [0] * 5)) / 2


def test_wrong_shapes_and_missing_values_are_refused():
    tree = Dendrogram.from_newick("((0,1),2);")
    with pytest.raises(LinkwiseError, match=r"shape \(2, 1\), but the dendrogram has 3 leaves"):
        level_distortion([[0.0], [1.0]], tree)
    with pytest.raises(LinkwiseError, match="NaN or infinite"):
        level_distortion([[0.0], [np.nan], [1.0]], tree)
