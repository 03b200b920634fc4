"""The four shapes are what the paper says of them: near neighbors agree, round clusters do not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from linkwise.datasets import cellwalls, circles, stormclouds, xor
from linkwise.exceptions import LinkwiseError

SHAPES = [circles, cellwalls, xor, stormclouds]


def by_kmeans(X):
    return KMeans(2, n_init=3, random_state=0).fit_predict(X)


def by_linkage(X, linkage):
    return AgglomerativeClustering(2, linkage=linkage).fit_predict(X)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_methods_that_look_for_round_clusters_fail(shape, seed):
    data = shape(random_state=seed)
    assert adjusted_rand_score(data.y, by_kmeans(data.X)) < 0.1
    assert adjusted_rand_score(data.y, by_linkage(data.X, "complete")) < 0.5
    assert adjusted_rand_score(data.y, by_linkage(data.X, "average")) < 0.5


@pytest.mark.parametrize("shape", SHAPES)
def test_near_neighbors_are_of_one_class(shape):
    """Knowledge can spread through space only where what is close belongs together."""
    data = shape(random_state=0)
    nearest = NearestNeighbors(n_neighbors=2).fit(data.X).kneighbors(data.X, return_distance=False)[:, 1]
    assert (data.y[nearest] == data.y).mean() > 0.99


@pytest.mark.parametrize("seed", range(3))
def test_circles_share_their_center_and_are_two_connected_pieces(seed):
    data = circles(random_state=seed)
    middle = [data.X[data.y == label].mean(axis=0) for label in (0, 1)]
    assert np.linalg.norm(middle[0] - middle[1]) < 0.1
    assert adjusted_rand_score(data.y, by_linkage(data.X, "single")) == 1.0


@pytest.mark.parametrize("linkage", ["single", "complete", "average", "ward"])
def test_no_common_method_finds_that_the_two_centers_of_cellwalls_are_one_class(linkage):
    data = cellwalls(random_state=0)
    assert adjusted_rand_score(data.y, by_linkage(data.X, linkage)) < 0.5
    centers = data.X[data.y == 1]
    left, right = centers[centers[:, 0] < 0], centers[centers[:, 0] > 0]
    assert len(left) == len(right) == 50
    # each center is nearer to its own wall than to the other center
    assert np.linalg.norm(left.mean(axis=0) - right.mean(axis=0)) > 2 * 1.0


def test_xor_is_not_linearly_separable_and_its_heaps_could_be_paired_otherwise():
    data = xor(random_state=0)
    assert LogisticRegression().fit(data.X, data.y).score(data.X, data.y) < 0.8
    heap = (data.X[:, 0] > 0).astype(int) * 2 + (data.X[:, 1] > 0)
    found = KMeans(4, n_init=3, random_state=0).fit_predict(data.X)
    assert adjusted_rand_score(heap, found) > 0.99


def test_stormclouds_are_long_flat_and_one_above_the_other():
    data = stormclouds(random_state=0)
    upper, lower = data.X[data.y == 0], data.X[data.y == 1]
    for cloud in (upper, lower):
        wide, high = np.ptp(cloud, axis=0)
        assert wide > 4 * high
    assert upper[:, 1].mean() - lower[:, 1].mean() > 0.5
    assert np.ptp(data.X[:, 0]) > 2 * np.ptp(data.X[:, 1])  # why a round method cuts left from right


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [8, 11, 200])
def test_sizes_are_exact_and_the_seed_decides(shape, n):
    data = shape(n_samples=n, random_state=3)
    assert data.X.shape == (n, 2)
    assert set(data.y) == {0, 1}
    assert data.name == shape.__name__
    assert data.source
    assert data.description
    again, other = shape(n_samples=n, random_state=3), shape(n_samples=n, random_state=4)
    assert np.array_equal(data.X, again.X)
    assert np.array_equal(data.y, again.y)
    assert not np.array_equal(data.X, other.X)


def test_without_noise_points_lie_on_their_shape():
    data = circles(random_state=0, noise=0.0)
    radius = np.linalg.norm(data.X, axis=1)
    np.testing.assert_allclose(radius, np.where(data.y == 0, 1.0, 0.4))


@pytest.mark.parametrize(
    "wrong", [{"n_samples": 3}, {"n_samples": 20.0}, {"n_samples": True}, {"noise": -1.0}, {"noise": np.nan}]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_impossible_sizes_are_refused(shape, wrong):
    with pytest.raises(LinkwiseError, match=rf"^{shape.__name__}: {next(iter(wrong))} is .*expected"):
        shape(**wrong)
