from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from linkwise import _threads
from linkwise.engines.agglomeration import (
    _rounds_dense,
    _rounds_points,
    _spanning_tree,
)
from linkwise.engines.agglomeration._choose_loop import merge_all
from tests.oracles.agglomeration import faults
from tests.profile import examples

pytestmark = pytest.mark.kernels

METHODS = ("single", "complete", "average", "weighted", "ward", "centroid", "median")
MATRIX_FREE = ("ward without a matrix", "centroid without a matrix", "median without a matrix")
LISTED = ("complete by lists", "average by short lists", "weighted by short lists")
TOLERANCE = {np.float64: 1e-9, np.float32: 1e-4}


def blobs(seed, n, d):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(4, d))[rng.integers(4, size=n)] * 4 + rng.normal(size=(n, d))


@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_same_tree_as_scipy(method):
    for seed in range(examples(10, 3000)):
        rng = np.random.default_rng(seed)
        X = blobs(seed, int(rng.integers(2, 90)), int(rng.integers(1, 20)))
        Z = linkage(X, method)
        merges = merge_all(X, method=method)
        assert_allclose(merges.height, Z[:, 2], rtol=1e-9, atol=1e-12, err_msg=f"seed {seed}")
        assert_array_equal(merges.pairs, Z[:, :2], err_msg=f"seed {seed}")


@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_same_heights_as_scipy_in_single_precision(method):
    for seed in range(examples(5, 1000)):
        # a common offset must not cost digits
        X = blobs(seed, 20 + seed, 3) + 1000.0
        merges = merge_all(X, method=method, dtype=np.float32)
        assert merges.height.dtype == np.float64
        assert faults(merges.pairs, merges.height, X, method, tolerance=1e-4) == []


@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_same_tree_as_scipy_when_blocks_are_rearranged(method):
    X = blobs(7, 600, 5)
    Z = linkage(X, method)
    merges = merge_all(X, method=method)
    assert_allclose(merges.height, Z[:, 2], rtol=1e-9)
    assert_array_equal(merges.pairs, Z[:, :2])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_ties_are_broken_towards_some_legal_minimum(method, dtype):
    for seed in range(examples(4, 600)):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, size=(int(rng.integers(2, 22)), int(rng.integers(1, 4)))).astype(float)
        merges = merge_all(X, method=method, dtype=dtype)
        assert faults(merges.pairs, merges.height, X, method, tolerance=TOLERANCE[dtype]) == [], f"seed {seed}"
        if method not in ("centroid", "median"):
            assert_allclose(merges.height, np.sort(merges.height), err_msg="reducible linkages come sorted by height")


@pytest.mark.parametrize("method", ["single", "complete"])
def test_heights_are_unique_even_among_ties(method):
    # for these two, all greedy runs on a grid in one dimension have the same heights
    X = np.arange(64.0)[:, None]
    if method == "single":
        assert_array_equal(merge_all(X, method=method).height, np.ones(63))
    else:
        assert_array_equal(merge_all(X, method=method).height, linkage(X, method)[:, 2])


@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_few_or_equal_samples(method):
    one = merge_all(np.zeros((1, 3)), method=method)
    assert one.pairs.shape == (0, 2)
    assert one.height.shape == (0,)
    two = merge_all(np.array([[0.0, 0.0], [3.0, 4.0]]), method=method)
    assert two.pairs.tolist() == [[0, 1]]
    assert_allclose(two.height, [5.0])
    three = merge_all(np.array([[0.0], [1.0], [9.0]]), method=method)
    assert three.pairs.tolist() == [[0, 1], [2, 3]]
    for dtype in (np.float32, np.float64):
        same = merge_all(np.full((70, 2), 3.7), method=method, dtype=dtype)
        assert_array_equal(same.height, np.zeros(69))
        assert faults(same.pairs, same.height, np.full((70, 2), 3.7), method) == []


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted", "centroid", "median"])
def test_matrix_path_equals_vector_path(method):
    X = blobs(3, 150, 4)
    condensed = pdist(X)
    square = squareform(condensed)
    before = condensed.copy(), square.copy()
    expected = linkage(X, method)
    for given in (condensed, square):
        merges = merge_all(given, method=method, metric="precomputed")
        assert_allclose(merges.height, expected[:, 2], rtol=1e-9)
        assert_array_equal(merges.pairs, expected[:, :2])
    assert_array_equal(condensed, before[0])
    assert_array_equal(square, before[1])


@pytest.mark.parametrize("metric", ["cityblock", "chebyshev", "cosine", "correlation", "seuclidean", "mahalanobis"])
def test_other_metrics_equal_scipy(metric):
    X = blobs(5, 120, 5)
    Z = linkage(X, "average", metric)
    merges = merge_all(X, method="average", metric=metric)
    assert_allclose(merges.height, Z[:, 2], rtol=1e-9)
    assert_array_equal(merges.pairs, Z[:, :2])


@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_result_depends_neither_on_threads_nor_on_slices(method, monkeypatch):
    X = blobs(11, 400, 6)
    plain = merge_all(X, method=method)
    # every step wide, several threads, tiny budgets
    monkeypatch.setattr(_rounds_dense, "WIDE", 0)
    monkeypatch.setattr(_rounds_dense, "BUDGET", 1)
    monkeypatch.setattr(_rounds_points, "WIDE", 0)
    monkeypatch.setattr(_rounds_points, "BUDGET", 1)
    monkeypatch.setattr(_threads, "cores", lambda: 3)
    seen = []
    other = merge_all(X, method=method, progress=lambda done, total: seen.append((done, total)))
    assert_array_equal(plain.pairs, other.pairs)
    assert_array_equal(plain.height, other.height)
    assert seen[-1] == (399, 399)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e-30, 1e30, 1e140])
def test_units_do_not_matter(method, scale):
    X = np.random.default_rng(0).integers(1, 1000, size=(40, 3)).astype(float)
    if scale == 1e-320:
        X = np.round(X / 100)
    unit = merge_all(X, method=method).height
    for dtype in (np.float64, np.float32):
        heights = merge_all(X * scale, method=method, dtype=dtype).height
        # near the smallest numbers there are, heights have few digits left
        assert_allclose(heights, unit * scale, rtol=TOLERANCE[dtype], atol=1e-322)


@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_input_is_left_alone(method):
    X = blobs(2, 100, 3)
    before = X.copy()
    merge_all(X, method=method)
    merge_all(X, method=method, dtype=np.float32)
    assert_array_equal(X, before)


@pytest.mark.parametrize("seed", range(12))
def test_a_rough_first_look_never_changes_the_spanning_tree(seed, monkeypatch):
    monkeypatch.setattr(_spanning_tree, "LARGE", 0)
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 200)), int(rng.integers(1, 9))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-12, 12)
    if seed % 3 == 0:
        X += 1e6 * np.abs(X).max()  # single precision sees little of the differences
    if seed % 4 == 0:
        X = np.round(X / np.abs(X).max() * 3)  # many ties
    height = merge_all(X, method="single").height
    assert_allclose(height, linkage(X, "single")[:, 2], rtol=1e-9, atol=1e-12 * np.abs(X).max())
