"""Distances to centers: dense and sparse, narrow and wide, one thread or several."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from linkwise import Constraints, COPKMeans
from linkwise.engines.distances import _rows
from linkwise.engines.distances._rows import means, nearest, squared, squared_to, typical_variance
from tests.oracles.centers import squared_distances

pytestmark = pytest.mark.kernels


def case(seed, m=40, d=3, k=5, far=0.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)) + far, rng.normal(size=(k, d)) + far


@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("way", ["narrow", "wide", "threads"])
def test_every_way_finds_the_nearest_center(way, far, monkeypatch):
    monkeypatch.setattr(_rows, "_WIDE", 0 if way == "wide" else 10**9)
    monkeypatch.setattr(_rows, "_LARGE", 0 if way == "threads" else 10**9)
    X, centers = case(0, far=far)
    expected = squared_distances(X, centers)
    labels, distance = nearest(X, centers)
    assert_array_equal(labels, expected.argmin(axis=1))
    assert_allclose(distance, expected.min(axis=1))
    assert_allclose(squared(X, centers), expected)
    assert_allclose(squared_to(X, centers, labels), distance)


@pytest.mark.parametrize("way", ["narrow", "wide"])
def test_ties_go_to_the_lowest_numbered_center(way, monkeypatch):
    monkeypatch.setattr(_rows, "_WIDE", 0 if way == "wide" else 10**9)
    centers = np.array([[5.0, 5.0], [0.1, 0.0], [-0.1, 0.0], [0.1, 0.0]])
    assert nearest(np.zeros((3, 2)), centers)[0].tolist() == [1, 1, 1]


def test_sparse_rows_agree_with_dense_ones():
    X, centers = case(1)
    X[np.abs(X) < 0.7] = 0.0
    rows = sp.csr_array(X)
    assert_array_equal(nearest(rows, centers)[0], nearest(X, centers)[0])
    assert_allclose(nearest(rows, centers)[1], nearest(X, centers)[1])
    assert_allclose(squared(rows, centers), squared(X, centers))
    labels, weight = np.arange(len(X)) % 4, np.arange(1.0, len(X) + 1)
    assert_allclose(means(rows, weight, labels, 4), means(X, weight, labels, 4))
    assert_allclose(squared_to(rows, centers, labels), squared_to(X, centers, labels))
    assert typical_variance(rows) == pytest.approx(typical_variance(X))


def test_means_are_weighted():
    X, weight = np.array([[0.0], [3.0], [9.0]]), np.array([2.0, 1.0, 5.0])
    assert means(X, weight, np.array([0, 0, 1]), 2).ravel().tolist() == [1.0, 9.0]


def test_sparse_data_are_never_made_dense():
    rng = np.random.default_rng(0)
    X = sp.random_array((500, 20_000), density=1e-3, format="csr", rng=rng)
    c = Constraints.build(500, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 3), (4, 5)])
    COPKMeans(2, n_init=1, max_iter=2, random_state=0).fit(X[:20], constraints=c[np.arange(20)])
    tracemalloc.start()
    COPKMeans(2, n_init=1, max_iter=5, random_state=0).fit(X, constraints=c)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.shape[0] * X.shape[1] * 8 / 4  # a quarter of what the dense matrix would take
