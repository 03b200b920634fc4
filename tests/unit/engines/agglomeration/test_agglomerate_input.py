from __future__ import annotations

import logging

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import is_valid_linkage, linkage
from scipy.spatial.distance import pdist, squareform

from linkwise import _memory
from linkwise.engines import agglomerate
from linkwise.engines.agglomeration import (
    _kernels_rounds_dense,
    _kernels_rounds_points,
    _kernels_spanning_tree,
    _rounds_dense,
    _rounds_points,
    _spanning_tree,
)
from linkwise.engines.agglomeration._choose_loop import merge_all
from linkwise.engines.agglomeration._linkages import plan_memory
from linkwise.engines.distances._dense import read_dissimilarities, scaled, square_distances
from linkwise.exceptions import LinkwiseError, LinkwiseWarning, MemoryLimitError

METHODS = ("single", "complete", "average", "weighted", "ward", "centroid", "median")
X = np.random.default_rng(0).normal(size=(60, 4))


@pytest.mark.parametrize("method", METHODS)
def test_dendrogram_equals_scipy(method):
    tree = agglomerate(X, method=method)
    Z = linkage(X, method)
    assert_allclose(tree.raw_height[60:], Z[:, 2], rtol=1e-9)
    exported = tree.to_linkage()
    assert is_valid_linkage(exported)
    assert_array_equal(exported[:, 3], Z[:, 3])


def test_one_sample():
    assert agglomerate([[1.0, 2.0]]).n_nodes == 1
    assert agglomerate([[0.0]], metric="precomputed").n_nodes == 1


def as_memmap(values, path):
    np.save(path / "X.npy", values)
    return np.load(path / "X.npy", mmap_mode="r")


@pytest.mark.parametrize(
    "change",
    [
        lambda v, path: v.astype(np.int8),
        lambda v, path: (v > 30).astype(bool),
        lambda v, path: v.astype(np.float16),
        lambda v, path: v.astype(">f8"),
        lambda v, path: v[::-1],
        lambda v, path: np.asfortranarray(v),
        lambda v, path: np.repeat(v, 2, axis=1)[:, ::2],
        as_memmap,
        lambda v, path: v.tolist(),
    ],
)
@pytest.mark.parametrize("method", ["single", "average", "ward"])
def test_any_layout_and_type_of_numbers(change, method, tmp_path):
    values = np.random.default_rng(1).integers(0, 100, size=(40, 3)).astype(float)
    given = change(values, tmp_path)
    plain = np.ascontiguousarray(given, dtype=np.float64)
    before = plain.copy()
    tree, expected = agglomerate(given, method=method), agglomerate(plain, method=method)
    assert_array_equal(tree.parent, expected.parent)
    assert_array_equal(tree.raw_height, expected.raw_height)
    assert_array_equal(np.asarray(given, dtype=np.float64), before)


def test_int8_does_not_wrap_around():
    assert agglomerate(np.array([[-128], [127]], np.int8)).raw_height[2] == 255


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros((3, 4)), "not square"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), r"not symmetric: the worst pair is \(0, 1\)"),
        (np.array([[0.0, 1.0], [1.0, 0.5]]), r"diagonal is not zero: entry \(1, 1\)"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), r"negative dissimilarity for the pair \(0, 1\)"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), r"missing \(NaN\) dissimilarity for the pair \(0, 1\)"),
        (np.array([[0.0, np.inf], [np.inf, 0.0]]), r"infinite dissimilarity for the pair \(0, 1\)"),
        (np.ones(4), "3 samples have 3, 4 have 6"),
        (np.array([1.0, 2.0, np.nan]), r"missing \(NaN\) dissimilarity for the pair \(1, 2\)"),
        (np.array(["a", "b", "c"]), "expects numbers"),
    ],
)
def test_what_is_no_dissimilarity_is_refused(given, message):
    with pytest.raises(LinkwiseError, match=message) as caught:
        agglomerate(given, metric="precomputed")
    assert "Hint:" in str(caught.value)


def test_dissimilarities_too_large_for_single_precision():
    D = squareform([1e39, 2e39, 3e39])
    with pytest.raises(LinkwiseError, match="too large for float32"):
        agglomerate(D, metric="precomputed", dtype=np.float32)
    assert_array_equal(agglomerate(D, metric="precomputed", method="single").raw_height[3:], [1e39, 2e39])


def test_negative_zero_is_zero():
    D = squareform([1.0, 2.0, 3.0])
    D[0, 1] = D[1, 0] = -0.0
    assert agglomerate(D, metric="precomputed", method="complete").raw_height[3:].tolist() == [0.0, 3.0]


def test_condensed_is_expanded_right():
    v = pdist(np.random.default_rng(2).normal(size=(150, 3)))
    assert_array_equal(read_dissimilarities(v), squareform(v))


@pytest.mark.parametrize(("typo", "meant"), [("wards", "'ward'"), ("avergae", "'average'"), ("Complete", "'complete'")])
def test_misspelled_linkage(typo, meant):
    with pytest.raises(LinkwiseError, match=rf"did you mean {meant}"):
        agglomerate(X, method=typo)


def test_unknown_metric():
    with pytest.raises(LinkwiseError, match="did you mean 'euclidean'"):
        agglomerate(X, metric="euclidian")


@pytest.mark.parametrize("metric", ["cosine", "cityblock"])
def test_ward_needs_euclidean_distances(metric):
    with pytest.raises(LinkwiseError, match='method="ward" is defined by Euclidean'):
        agglomerate(squareform(pdist(X)), method="ward", metric=metric)


def test_unknown_dtype():
    with pytest.raises(LinkwiseError, match="float32 or float64"):
        agglomerate(X, dtype=np.int32)


def test_cosine_of_zero_rows():
    rows = X.copy()
    rows[[3, 8]] = 0
    with pytest.raises(LinkwiseError, match="rows 3, 8 of X"):
        agglomerate(rows, metric="cosine")


def test_cosine_of_equal_rows_is_zero():
    rows = np.repeat(X[:10], 3, axis=0) * np.tile([[1.0], [3.0], [0.1]], (10, 1))
    heights = agglomerate(rows, metric="cosine", method="complete").raw_height[30:]
    assert_allclose(heights[:20], 0, atol=1e-15)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (lambda a, b: np.nan, "gives nan for rows"),
        (lambda a, b: -1.0, "gives -1.0 for rows"),
        (lambda a, b: float(a[0] > b[0]), "not symmetric"),
    ],
)
def test_functions_that_are_no_distance(metric, message):
    with pytest.raises(LinkwiseError, match=message):
        agglomerate(X, metric=metric)


def test_function_as_metric():
    tree = agglomerate(X, metric=lambda a, b: np.abs(a - b).sum())
    assert_allclose(tree.raw_height[60:], linkage(X, "average", "cityblock")[:, 2], rtol=1e-9)


@pytest.mark.parametrize("size", [1e308, 3e307])
def test_overflow_is_named(size):
    with pytest.raises(LinkwiseError, match="squared distances overflow"):
        agglomerate(X / np.abs(X).max() * size, method="ward")


def test_distances_given_as_vectors_are_noticed():
    with pytest.warns(LinkwiseWarning, match="looks like distances"):
        agglomerate(squareform(pdist(X)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_vectors_must_be_finite(bad):
    values = X.copy()
    values[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        agglomerate(values)


def test_memory_is_planned():
    assert plan_memory(100_000, "ward", "euclidean") == 0
    assert plan_memory(100_000, "single", "euclidean") == 0
    assert 80e9 <= plan_memory(100_000, "average", "euclidean") < 80.1e9
    assert plan_memory(100_000, "average", "euclidean", np.float32) < 40.1e9
    assert plan_memory(1000, "single", "cosine") > 0


def test_what_cannot_fit_is_refused(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 2**26)
    big = np.zeros((5000, 1))
    with pytest.raises(MemoryLimitError, match=r"needs 0.2 GiB, but only 0.1 GiB") as caught:
        agglomerate(big)
    assert caught.value.needed >= 200_000_000
    assert caught.value.available == 2**26
    assert "float32" in str(caught.value)
    assert "ward" in str(caught.value)


def test_large_allocations_are_logged(monkeypatch, caplog):
    monkeypatch.setattr(_memory, "available_memory", lambda: 2**40)
    with caplog.at_level(logging.INFO, logger="linkwise"):
        _memory.require_memory(3 * 2**30, "a matrix", "do less")
    assert "a matrix allocates 3.0 GiB" in caplog.text


def test_available_memory_is_known_here():
    free = _memory.available_memory()
    assert free is None or free > 0


@pytest.mark.parametrize("method", METHODS)
def test_progress_can_stop_a_run(method):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        agglomerate(X, method=method, progress=stop)


@pytest.mark.parametrize(
    ("method", "home", "kernel"),
    [
        ("average", _rounds_dense, _kernels_rounds_dense.advance),
        ("ward", _rounds_points, _kernels_rounds_points._ward_rounds),
        ("centroid", _rounds_points, _kernels_rounds_points._closest_steps),
        ("single", _spanning_tree, _kernels_spanning_tree._grow),
    ],
)
def test_signals_and_other_threads_get_a_turn(method, home, kernel, monkeypatch):
    """Compiled code returns after a budget, so that Python sees Ctrl-C, and lets other threads run meanwhile."""
    values = np.random.default_rng(0).normal(size=(3000, 8))

    def turns():
        seen = []
        merge_all(values, method=method, progress=lambda done, total: seen.append(done))
        return len(seen)

    assert home.BUDGET <= 400_000_000  # distances: less than a second
    few = turns()
    monkeypatch.setattr(home, "BUDGET", home.BUDGET // 4000)
    assert turns() > few + 5
    assert kernel.targetoptions["nogil"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 31, 33, 300])
def test_square_distances(n, dtype):
    values = np.random.default_rng(n).normal(size=(n, 11))
    moved, factor = scaled(values, dtype)
    for pitch in (None, n + 5):
        D = square_distances(moved, dtype=dtype, pitch=pitch)
        assert D.shape == (n, pitch or n)
        assert D.dtype == dtype
        D = D[:, :n] * factor
        assert_allclose(D, squareform(pdist(values)) if n > 1 else [[0.0]], rtol=1e-4 if dtype == np.float32 else 1e-12)
        assert_array_equal(D, D.T)
    squares = square_distances(moved, squared=True, dtype=dtype) * factor**2
    assert_allclose(squares, D**2, rtol=1e-4 if dtype == np.float32 else 1e-12)
