"""One pass over the rows: labels to the last tie, sums and costs as from scratch, at any scale, in any threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from linkwise._threads import Workers
from linkwise.engines.partitional import _sweeps
from linkwise.engines.partitional._distortions import SquaredEuclidean, State
from linkwise.engines.partitional._sweeps import Sweeper
from tests.oracles.centers import squared_distances

pytestmark = pytest.mark.kernels


def case(seed, m, d, k):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)), rng.normal(size=(k, d)), np.flatnonzero(rng.random(m) < 0.3)


def compare(found, X, centers, some):
    """Hold a pass against the distances of all rows to all centers."""
    away = squared_distances(X, centers)
    free = np.setdiff1d(np.arange(len(X)), some)
    assert_array_equal(found.labels, away.argmin(axis=1))
    assert_allclose(found.cost, away[free].min(axis=1).sum(), rtol=1e-10, atol=1e-300)
    mine = [free[found.labels[free] == c] for c in range(len(centers))]
    assert found.size.tolist() == [len(rows) for rows in mine]
    sums = [X[rows].sum(axis=0) for rows in mine]
    assert_allclose(found.total, sums, rtol=1e-12, atol=1e-12 * np.abs(X).sum(axis=0).max())


@pytest.mark.parametrize(("m", "d", "k"), [(1, 1, 1), (40, 3, 5), (300, 9, 4), (700, 16, 2)])
def test_a_pass_gives_what_several_do(m, d, k):
    X, centers, some = case(m, m, d, k)
    compare(Sweeper(X, some).sweep(centers)(), X, centers, some)


def test_passes_follow_each_other_as_if_each_were_the_first(monkeypatch):
    monkeypatch.setattr(_sweeps, "_TILES", 1)  # several blocks
    X, centers, some = case(0, 400, 3, 6)
    sweeper, rng, anew = Sweeper(X, some), np.random.default_rng(1), 0
    for step in range(25):
        before = sweeper._moves
        compare(sweeper.sweep(centers)(), X, centers, some)
        anew += sweeper._moves < before
        centers = (
            rng.normal(size=(6 if step < 20 else 4, 3)) if step % 4 == 0 else centers + rng.normal(size=(1, 3)) / 9
        )
    assert anew > 2  # sums were begun anew now and then


def test_threads_change_no_digit(monkeypatch):
    monkeypatch.setattr(_sweeps, "_TILES", 1)
    X, centers, some = case(3, 900, 5, 4)
    alone = Sweeper(X, some).sweep(centers)()
    monkeypatch.setattr(_sweeps, "_LARGE", 0)
    with Workers(3) as workers:
        for one, other in zip(alone, Sweeper(X, some, workers).sweep(centers, workers)(), strict=True):
            assert_array_equal(one, other)


@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1.0, 1e30, 1e150])
@pytest.mark.parametrize("far", [0.0, 1e4, 1e9])
def test_no_scale_and_no_place_changes_a_label(scale, far):
    X, centers, some = case(5, 300, 4, 5)
    X, centers = scale * (X + far), scale * (centers + far)
    compare(Sweeper(X, some).sweep(centers)(), X, centers, some)


def test_ties_and_near_ties_are_decided_in_full():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(500, 4)).astype(float)
    X[::3] += rng.normal(size=X[::3].shape) * 1e-12
    centers = np.concatenate([X[:6], X[:2], X[:3] + 1e-9])  # the same center twice, and others next to it
    compare(Sweeper(X, np.arange(7)).sweep(centers)(), X, centers, np.arange(7))


def test_rows_between_two_centers_are_decided_in_full():
    """So near to the middle that single precision would name either."""
    rng = np.random.default_rng(4)
    centers = rng.normal(size=(2, 16))
    way = centers[1] - centers[0]
    X = rng.normal(size=(600, 16))
    X -= np.outer((X - centers.mean(axis=0)) @ way / (way @ way), way)  # onto the plane between them
    X += rng.normal(size=(600, 1)) * 1e-9 * way
    compare(Sweeper(X, np.arange(0)).sweep(centers)(), X, centers, np.arange(0))


def test_rows_and_centers_out_of_reach_of_single_precision():
    X, centers, some = case(9, 200, 3, 4)
    X[17], X[130] = 1e60, -1e25
    compare(Sweeper(X, some).sweep(centers)(), X, centers, some)
    centers[2] = 1e70
    compare(Sweeper(X, some).sweep(centers)(), X, centers, some)
    compare(Sweeper(np.zeros((9, 2)), some[:0]).sweep(np.zeros((2, 2)))(), np.zeros((9, 2)), np.zeros((2, 2)), some[:0])


def test_a_cost_that_would_cancel_is_computed_in_full():
    rng = np.random.default_rng(2)
    centers = rng.normal(size=(3, 4)) * 1e6
    X = centers[np.arange(300) % 3] + rng.normal(size=(300, 4)) * 1e-4
    some = np.arange(0, 300, 9)
    compare(Sweeper(X, some).sweep(centers)(), X, centers, some)


def test_sums_of_a_sweep_serve_its_own_labels_only():
    X, centers, _ = case(3, 60, 2, 3)
    measure, some = SquaredEuclidean(X, 3), np.arange(0, 60, 7)
    table, assigned = measure.sweep(State(centers), some)
    assert_allclose(table, squared_distances(X[some], centers))
    labels, _ = assigned()
    labels[some] = (labels[some] + 1) % 3  # as an assignment of what statements bind does
    fresh = SquaredEuclidean(X, 3)
    for given in (labels, labels.copy(), (labels + 1) % 3):
        assert_allclose(measure.centers(given), fresh.centers(given))
        assert measure.count(given).tolist() == np.bincount(given, minlength=3).tolist()
