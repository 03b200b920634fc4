"""Shortest paths through must-links: equal to the plain loops, a metric, never longer; the input is left alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist, squareform

from linkwise import Constraints, _memory
from linkwise._threads import Workers
from linkwise.constraints import MinSeparation
from linkwise.engines import propagate
from linkwise.engines.distances import _kernels_shortest_paths, _shortest_paths
from linkwise.exceptions import (
    ConstraintError,
    InfeasibleConstraintsError,
    LinkwiseError,
    MemoryLimitError,
    UnsupportedConstraintError,
)
from tests.oracles.complete_link import cannot_link_mask, constrain_proximities, propagate_must_links, sentinel
from tests.oracles.generators import points
from tests.profile import examples

pytestmark = pytest.mark.kernels


def random_links(rng, n):
    """Links of a planted partition: few or many, chains and cliques, none at all."""
    y = rng.integers(int(rng.integers(1, 4)), size=n)
    must, cannot = [], []
    for a, b in rng.integers(n, size=(int(rng.integers(0, n + 1)), 2)).tolist():
        if a != b:
            (must if y[a] == y[b] else cannot).append((a, b))
    return must, cannot


def strange_distances(rng, n):
    """Symmetric numbers that know no triangle inequality."""
    D = np.triu(rng.random((n, n)) ** 3, 1)
    return D + D.T


def floyd_warshall(D):
    D = D.copy()
    for k in range(len(D)):
        np.minimum(D, D[:, k, None] + D[None, k], out=D)
    return D


# -- the same as the plain loops ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["distinct", "grid", "copies"])
def test_points_agree_with_the_plain_loops(kind):
    for seed in range(examples(25, 300)):
        rng = np.random.default_rng(seed)
        n = seed % 3 + 1 if seed < 6 else int(rng.integers(2, 14))
        X = points(rng, n, kind)
        must, cannot = random_links(rng, n)
        c = Constraints.build(n, must_link=must, cannot_link=cannot)
        D = cdist(X, X)
        tolerance = {"rtol": 1e-9, "atol": 1e-9 * (1 + np.abs(X).max())}
        for full in (False, True):  # the same, as these are metrics
            expected = propagate_must_links(D, must, full=full)
            assert_allclose(propagate(X, c, cannot_link="keep"), expected, **tolerance)
            assert_allclose(propagate(X, c, cannot_link="keep", metric_input=not full), expected, **tolerance)
        assert_allclose(propagate(X, c), constrain_proximities(D, must, cannot, full=False), **tolerance)


def test_distances_without_triangles_agree_with_the_full_loops():
    differ = linked = 0
    for seed in range(examples(40, 400)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 14))
        D = strange_distances(rng, n)
        must, cannot = random_links(rng, n)
        c = Constraints.build(n, must_link=must, cannot_link=cannot)
        found = propagate(D, c, metric="precomputed")
        assert_allclose(found, constrain_proximities(D, must, cannot, full=True), rtol=1e-12)
        assert_allclose(propagate(squareform(D), c, metric="precomputed"), found, rtol=1e-15)
        told = propagate(D, c, metric="precomputed", metric_input=True, cannot_link="keep")
        assert_allclose(told, propagate_must_links(D, must, full=False), rtol=1e-12)
        if must and n > 3:
            linked += 1
            differ += not np.allclose(told, propagate(D, c, metric="precomputed", cannot_link="keep"))
    assert differ > 0.7 * linked > 0


@pytest.mark.parametrize("metric", ["cosine", "sqeuclidean", "correlation", "braycurtis"])
def test_known_offenders_take_all_samples_as_stops(metric):
    X = np.random.default_rng(0).random((30, 4)) + 0.1
    must = [(0, 1), (5, 9)]
    D = cdist(X, X, metric)
    np.fill_diagonal(D, 0.0)
    full = propagate_must_links(D, must, full=True)
    found = propagate(X, Constraints.build(30, must_link=must), metric=metric)
    assert_allclose(found, full, rtol=1e-9, atol=1e-12)
    assert not np.allclose(found, propagate_must_links(D, must, full=False))


@pytest.mark.parametrize("metric", ["cityblock", "l1", "chebyshev", "canberra", "hamming", "seuclidean", "minkowski"])
def test_metrics_by_name_give_the_full_answer_through_linked_samples_alone(metric):
    X = np.random.default_rng(1).integers(1, 6, size=(25, 4)).astype(float)
    must = [(0, 1), (5, 9), (9, 10)]
    D = squareform(pdist(X, "cityblock" if metric == "l1" else metric))
    c = Constraints.build(25, must_link=must)
    assert_allclose(propagate(X, c, metric=metric), propagate_must_links(D, must, full=True), rtol=1e-9, atol=1e-12)


def test_many_pivots_are_taken_in_blocks_and_bands(monkeypatch):
    monkeypatch.setattr(_shortest_paths, "PIVOTS", 5)
    monkeypatch.setattr(_shortest_paths, "WIDE_ENOUGH", 1)
    rng = np.random.default_rng(2)
    n = 75
    X = rng.normal(size=(n, 2))
    pairs = rng.permutation(n)[:60].reshape(-1, 2)
    c = Constraints.build(n, must_link=pairs)
    D = cdist(X, X)
    D[pairs[:, 0], pairs[:, 1]] = D[pairs[:, 1], pairs[:, 0]] = 0
    assert_allclose(propagate(X, c), floyd_warshall(D), rtol=1e-12, atol=1e-12)
    strange = strange_distances(rng, n)
    strange[pairs[:, 0], pairs[:, 1]] = strange[pairs[:, 1], pairs[:, 0]] = 0
    assert_allclose(propagate(strange, c, metric="precomputed"), floyd_warshall(strange), rtol=1e-12)


def test_rows_longer_than_a_stretch_and_the_number_of_threads():
    rng = np.random.default_rng(3)
    n = 320
    D = strange_distances(rng, n)
    pivots = np.sort(rng.permutation(n)[:40])
    answers = []
    for threads in (1, 2, 5):
        found = D.copy()
        with Workers(threads) as workers:
            _shortest_paths.shorten(found, n, pivots, workers)
        _kernels_shortest_paths.mirror(found, n)
        answers.append(found)
    assert_array_equal(answers[0], answers[1])
    assert_array_equal(answers[0], answers[2])
    expected = D.copy()
    for k in pivots:
        np.minimum(expected, expected[:, k, None] + expected[None, k], out=expected)
    assert_allclose(answers[0], expected, rtol=1e-12)


# -- laws -----------------------------------------------------------------------------------------------------------


def test_the_result_is_a_metric_never_longer_and_stays_when_computed_again():
    for seed in range(examples(15, 200)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 20))
        X = points(rng, n, "distinct")
        X /= np.abs(X).max()
        must, _ = random_links(rng, n)
        c = Constraints.build(n, must_link=must)
        D = cdist(X, X)
        found = propagate(X, c)
        assert_array_equal(found, found.T)
        assert (np.diagonal(found) == 0).all()
        assert (found <= D * (1 + 1e-12)).all()
        assert (found <= (found[:, :, None] + found[None]).min(axis=1) + 1e-12).all()
        assert (found[tuple(np.array(must, int).reshape(-1, 2).T)] == 0).all()
        assert_allclose(propagate(found, c, metric="precomputed"), found, atol=1e-12)
        assert_allclose(propagate(8 * X, c), 8 * found, atol=1e-12)
        order = rng.permutation(n)
        assert_allclose(propagate(X[order], c[order]), found[np.ix_(order, order)], atol=1e-12)


def test_copies_of_a_sample_are_not_linked_with_it():
    X = np.array([[0.0], [0.0], [7.0]])
    c = Constraints.build(3, must_link=[(0, 2)], cannot_link=[(1, 0)])
    assert propagate(X, c, cannot_link="keep").tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert propagate(X, c).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_without_must_links_nothing_is_shortened():
    D = strange_distances(np.random.default_rng(4), 12)
    assert_array_equal(propagate(D, Constraints.build(12), metric="precomputed"), D)
    far = propagate(D, Constraints.build(12, cannot_link=[(3, 4)]), metric="precomputed")
    assert far[3, 4] == far[4, 3] == 2 * D.max()
    far[3, 4] = far[4, 3] = D[3, 4]
    assert_array_equal(far, D)


def test_groups_together_and_apart_are_read_like_pairs():
    X = np.random.default_rng(5).normal(size=(9, 2))
    groups = Constraints.build(9, together=[[0, 1, 2]], apart=[[1, 4, 5], [6, 7]])
    pairs = Constraints.build(9, must_link=[(0, 2), (1, 2)], cannot_link=[(0, 4), (2, 5), (4, 5), (6, 7)])
    assert_allclose(propagate(X, groups), propagate(X, pairs), rtol=1e-12)


def test_cannot_links_reach_all_samples_of_both_components():
    X = np.random.default_rng(6).normal(size=(8, 2))
    must, cannot = [(0, 1), (1, 2), (3, 4)], [(2, 3), (5, 0)]
    c = Constraints.build(8, must_link=must, cannot_link=cannot)
    near, far = propagate(X, c, cannot_link="keep"), propagate(X, c)
    mask = cannot_link_mask(8, must, cannot)
    assert mask.sum() == 2 * (3 * 2 + 3)
    assert_array_equal(far == sentinel(near), mask)
    assert_array_equal(far[~mask], near[~mask])


# -- input and output -----------------------------------------------------------------------------------------------


def test_inputs_are_read_from_many_containers_and_left_alone():
    rng = np.random.default_rng(7)
    X = rng.integers(0, 9, size=(20, 3)).astype(float)
    c = Constraints.build(20, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2)])
    expected = propagate(X, c)
    X.setflags(write=False)
    for variant in (X, X.tolist(), np.asfortranarray(X), pd.DataFrame(X), X.astype(np.float32), X.astype(int)):
        assert_array_equal(propagate(variant, c), expected)
    assert_allclose(propagate(sp.csr_array(X), c), expected, atol=1e-7)
    D = cdist(X, X)
    before = D.copy()
    assert_allclose(propagate(D, c, metric="precomputed"), expected, rtol=1e-12)
    assert_array_equal(D, before)
    assert_allclose(propagate(D, c, metric="precomputed", metric_input=True), expected, rtol=1e-12)


def test_single_precision_agrees():
    rng = np.random.default_rng(8)
    X = 1000 + rng.normal(size=(60, 5))
    c = Constraints.build(60, must_link=rng.permutation(60)[:20].reshape(-1, 2))
    found = propagate(X, c, dtype=np.float32)
    assert found.dtype == np.float32
    assert_allclose(found, propagate(X, c), rtol=1e-4, atol=1e-5)


def test_rows_are_found_by_name():
    X = pd.DataFrame([[0.0], [1.0], [8.0]], index=["x", "y", "z"])
    c = Constraints.from_ids(["z", "y", "x"], must_link=[("z", "x")])
    assert propagate(X, c)[1].tolist() == [1, 0, 1]


def test_huge_and_tiny_distances():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    c = Constraints.build(4, must_link=[(0, 3)], cannot_link=[(1, 2)])
    unit = propagate(X, c)
    for scale in (1e-300, 1e150):
        assert_allclose(propagate(X * scale, c) / scale, unit, rtol=1e-12)
    D = cdist(X, X) * (np.finfo(float).max / 8)
    far = propagate(D, c, metric="precomputed")
    assert np.isfinite(far).all()
    assert far[1, 2] == far.max() > far[0, 1]


def test_what_cannot_be_is_said(monkeypatch):
    X = np.zeros((3, 1))
    with pytest.raises(InfeasibleConstraintsError) as no:
        propagate(X, Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], weight=1.0))
    assert no.value.explanation.core == (0, 1, 2)
    with pytest.raises(InfeasibleConstraintsError):
        propagate(X, Constraints.build(3, must_link=[(0, 1)], apart=[[0, 1, 2]]))
    with pytest.raises(UnsupportedConstraintError, match="triplets and MinSeparation") as no:
        propagate(X, Constraints.build(3, triplets=[(0, 1, 2)], rules=MinSeparation(1.0)))
    assert no.value.kinds == ("triplets", "MinSeparation")
    with pytest.raises(ConstraintError, match="are about 4 samples, but X has 3 rows"):
        propagate(X, Constraints.build(4))
    with pytest.raises(LinkwiseError, match='expected "far" or "keep"'):
        propagate(X, Constraints.build(3), cannot_link="near")
    with pytest.raises(LinkwiseError, match="float32 or float64"):
        propagate(X, Constraints.build(3), dtype=np.int64)
    with pytest.raises(LinkwiseError, match="did you mean 'euclidean'"):
        propagate(X, Constraints.build(3), metric="euclidian")
    with pytest.raises(LinkwiseError, match="takes no sparse X"):
        propagate(sp.csr_array(np.eye(3)), Constraints.build(3), metric="hamming")
    monkeypatch.setattr(_memory, "available_memory", lambda: 10**6)
    with pytest.raises(MemoryLimitError, match="propagating through a dense 4000 x 4000"):
        propagate(np.zeros((4000, 1)), Constraints.build(4000, must_link=[(0, 1)]))
