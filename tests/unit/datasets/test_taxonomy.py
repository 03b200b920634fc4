"""Random taxonomies: inner nodes hold items, and what is near in the tree is near in the data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from linkwise.datasets import Data, Taxonomy, noisy_taxonomy, xor
from linkwise.exceptions import LinkwiseError


@pytest.mark.parametrize("features", ["gaussian", "text"])
@pytest.mark.parametrize("seed", range(3))
def test_every_node_but_the_top_holds_items_and_inner_ones_their_share(features, seed):
    data = noisy_taxonomy(200, n_nodes=9, features=features, inner=0.4, random_state=seed)
    parent = data.taxonomy.parent
    assert parent[0] == -1
    assert (parent[1:] < np.arange(1, 9)).all()
    assert set(data.node) == set(range(1, 9))
    assert np.isin(data.node, parent).sum() == 80
    assert data.X.shape == (200, 30)


def test_without_noise_items_sit_on_their_node():
    data = noisy_taxonomy(60, n_nodes=6, noise=0.0, random_state=0)
    for label in range(5):
        assert np.ptp(data.X[data.y == label], axis=0).max() == 0
    depth = data.taxonomy.depth
    centre = np.stack([np.zeros(30), *(data.X[data.y == label][0] for label in range(5))])
    step = np.linalg.norm(centre[1:] - centre[data.taxonomy.parent[1:]], axis=1)
    np.testing.assert_allclose(step, 0.6 ** (depth[1:] - 1.0))


def test_text_counts_words_and_a_node_uses_the_words_of_those_above():
    data = noisy_taxonomy(150, n_nodes=6, features="text", n_features=200, noise=0.0, random_state=1)
    assert sparse.issparse(data.X)
    assert (data.X.data == data.X.data.round()).all()
    used = [set(data.X[np.flatnonzero(data.node == node)].indices) for node in range(6)]
    inner = int(data.taxonomy.parent[np.flatnonzero(data.taxonomy.depth == 2)[0]])
    child = int(np.flatnonzero(data.taxonomy.parent == inner)[0])
    assert len(used[inner]) == 10
    assert used[inner] < used[child]
    assert data.feature_names[0] == "word 0"


def test_noise_blurs_text():
    def foreign(noise):
        data = noisy_taxonomy(100, n_nodes=5, features="text", n_features=300, noise=noise, random_state=0)
        return data.X.nnz

    assert foreign(0.0) < foreign(0.3) < foreign(0.9)


def test_the_seed_decides():
    first, again, other = (noisy_taxonomy(50, random_state=seed) for seed in (5, 5, 6))
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.node, again.node)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_nodes": 3},
        {"n_nodes": 500},
        {"features": "words"},
        {"n_features": 1},
        {"inner": 1.5},
        {"features": "text", "noise": 1.5},
    ],
)
def test_impossible_taxonomies_are_refused(wrong):
    with pytest.raises(LinkwiseError, match=r"^noisy_taxonomy: .*expected"):
        noisy_taxonomy(**wrong)


def test_a_deep_chain_has_the_depth_it_should():
    n = 3000
    tree = Taxonomy(np.arange(-1, n - 1), tuple(str(i) for i in range(n)), np.arange(n))
    assert tree.depth.tolist() == list(range(n))
    assert len(tree.path(n - 1)) == n


@pytest.mark.parametrize(
    ("parent", "of_class", "what"),
    [
        ([1, 0], [0], "cycle"),
        ([0], [0], "cycle"),
        ([-1, 5], [0], "parent"),
        ([-1], [0], "parent"),
        ([-1, 0], [2], "of_class"),
    ],
)
def test_what_is_no_tree_is_refused(parent, of_class, what):
    with pytest.raises(LinkwiseError, match=what):
        Taxonomy(np.array(parent), ("a", "b") if what != "cycle" or len(parent) == 2 else ("a",), np.array(of_class))


def test_the_node_of_a_sample_needs_a_taxonomy_and_single_classes():
    with pytest.raises(LinkwiseError, match="has no taxonomy"):
        _ = xor(random_state=0).node
    tree = Taxonomy(np.array([-1, -1]), ("a", "b"), np.array([0, 1]))
    many = Data(np.zeros((1, 1)), sparse.csr_array([[1, 1]]), "many", label_names=("a", "b"), taxonomy=tree)
    with pytest.raises(LinkwiseError, match="several classes"):
        _ = many.node
    assert many.n_classes == 2
    assert many.counts == {"a": 1, "b": 1}
