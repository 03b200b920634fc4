"""Random taxonomies: inner nodes hold items, and what is near in the tree is near in the data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from linkwise.datasets import noisy_taxonomy
from linkwise.exceptions import LinkwiseError


@pytest.mark.parametrize("features", ["gaussian", "text"])
@pytest.mark.parametrize("seed", range(3))
def test_every_node_but_the_top_holds_items_and_inner_ones_their_share(features, seed):
    data = noisy_taxonomy(200, n_nodes=9, features=features, inner=0.4, random_state=seed)
    parent = data.taxonomy.parent
    assert parent[0] == -1
    assert (parent[1:] < np.arange(1, 9)).all()
    node = data.taxonomy.node
    assert set(node) == set(range(1, 9))
    assert np.array_equal(node, data.y + 1)
    assert data.taxonomy.names[node[0]] == data.label_names[data.y[0]]
    assert np.isin(node, parent).sum() == 80
    assert data.X.shape == (200, 30)


def test_without_noise_items_sit_on_their_node():
    data = noisy_taxonomy(60, n_nodes=6, noise=0.0, random_state=0)
    for label in range(5):
        assert np.ptp(data.X[data.y == label], axis=0).max() == 0
    depth = data.taxonomy.depth
    center = np.stack([np.zeros(30), *(data.X[data.y == label][0] for label in range(5))])
    step = np.linalg.norm(center[1:] - center[data.taxonomy.parent[1:]], axis=1)
    np.testing.assert_allclose(step, 0.6 ** (depth[1:] - 1.0))


def test_text_counts_words_and_a_node_uses_the_words_of_those_above():
    data = noisy_taxonomy(150, n_nodes=6, features="text", n_features=200, noise=0.0, random_state=1)
    assert sparse.issparse(data.X)
    assert (data.X.data == data.X.data.round()).all()
    used = [set(data.X[np.flatnonzero(data.taxonomy.node == node)].indices) for node in range(6)]
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
    assert first.taxonomy == again.taxonomy
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
