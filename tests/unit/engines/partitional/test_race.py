"""The race of starts: what each runner does, who wins, and that methods go on from there."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans

from linkwise import Constraints, COPKMeans, PCKMeans
from linkwise.engines.distances import _rows
from linkwise.engines.partitional import LCVQE, SeededKMeans, _race
from linkwise.engines.partitional._init import Start, spread_centers
from linkwise.engines.partitional._race import RUNNERS, STEPS, advance, race
from linkwise.problem import Problem
from tests.oracles.centers import race_by_definition, spread_by_definition
from tests.profile import examples
from tests.unit.engines.outcomes import outcome

cop_kmeans = partial(outcome, COPKMeans)
lcvqe = partial(outcome, LCVQE)
pck_means = partial(outcome, PCKMeans)
seeded_kmeans = partial(outcome, SeededKMeans)

pytestmark = pytest.mark.kernels
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


def cloud_of(seed, n=30, d=2, form=np.asarray):
    """Loose classes, some samples must-linked."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 2.0 * rng.integers(4, size=(n, 1))
    return Problem(form(X), Constraints.build(n, must_link=[(0, 1), (1, 2), (5, 9)])).contract()


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@FORMS
@pytest.mark.parametrize("chosen", [(), (3,), (0, 4)])
def test_centers_are_spread_as_the_definition_says(form, chosen):
    for seed in range(examples(5, 200)):
        cloud, k = cloud_of(seed, form=form), 4
        found = spread_centers(cloud, np.array(chosen, dtype=np.intp), k, np.random.default_rng(seed))
        luck = np.random.default_rng(seed).random((k - len(chosen), 2 + int(np.log(k))))
        assert_allclose(found, spread_by_definition(dense(cloud.X), cloud.weight, chosen, k, luck), atol=1e-12)


@FORMS
def test_equal_samples_leave_any_row_to_be_drawn(form):
    cloud = Problem(form(np.ones((6, 2))), Constraints.build(6)).contract()
    assert_array_equal(spread_centers(cloud, np.zeros(0, np.intp), 3, np.random.default_rng(0)), np.ones((3, 2)))


@FORMS
def test_the_order_is_that_of_the_definition(form):
    for seed in range(examples(5, 200)):
        cloud = cloud_of(seed, form=form)
        starts = [start.centers() for start in [Start("k-means++", cloud, 3, np.random.default_rng(seed))] * RUNNERS]
        expected = race_by_definition(dense(cloud.X), cloud.weight, starts, STEPS)
        found = race(Start("k-means++", cloud, 3, np.random.default_rng(seed)))
        assert len(found) == RUNNERS
        costs = np.array([cost for cost, _ in expected])
        for at in np.flatnonzero(np.diff(costs, append=np.inf) > 1e-9):  # equals may change places by rounding
            if at == 0 or costs[at] - costs[at - 1] > 1e-9:
                assert_allclose(found[at], expected[at][1], atol=1e-9)


def test_few_dense_rows_are_advanced_as_many_are(monkeypatch):
    cloud = cloud_of(3)
    start = np.vstack([cloud.X[:3], np.full((1, 2), 1e6)])  # nobody is near the last one, which stays
    kernel = advance(cloud.X, cloud.weight, start, 4)
    monkeypatch.setattr(_rows, "_LARGE", 0)
    cost, centers = advance(cloud.X, cloud.weight, start, 4)
    assert kernel[0] == pytest.approx(cost)
    assert_allclose(kernel[1], centers)
    assert centers[3].tolist() == [1e6, 1e6]


def test_of_many_rows_some_judge(monkeypatch):
    monkeypatch.setattr(_race, "_ROWS", 40)
    cloud = cloud_of(1, n=200)
    seen = []
    step = _race.advance
    monkeypatch.setattr(_race, "advance", lambda X, *rest: (seen.append(X.shape[0]), step(X, *rest))[1])
    first, second = (race(Start("k-means++", cloud, 3, np.random.default_rng(5))) for _ in range(2))
    assert set(seen) == {40}
    assert_array_equal(first, second)


@pytest.mark.parametrize("function", [cop_kmeans, seeded_kmeans, pck_means, lcvqe])
def test_a_method_goes_on_from_the_winner(function):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2)) + 2.0 * rng.integers(4, size=(60, 1))
    said = Constraints.build(60)
    options = {"init": "k-means++"} if function in (pck_means, lcvqe) else {}
    start = Start("k-means++", Problem(X, said).contract(), 4, np.random.default_rng(7))
    winner = race(start)[0]
    plain = KMeans(4, init=winner, n_init=1, tol=0.0).fit(X)
    for n_init in ({}, {"n_init": "race"}):
        run = function(X, said, 4, tol=0.0, random_state=7, **options, **n_init)
        assert_array_equal(run.labels, plain.labels_)


def test_a_race_ends_no_worse_than_three_runs_on_average_and_every_statement_holds():
    raced, ran = [], []
    for seed in range(examples(6, 60)):
        rng = np.random.default_rng(seed)
        y = rng.integers(8, size=200)
        X = rng.normal(size=(200, 4)) + 1.5 * rng.normal(size=(8, 4))[y]
        pairs = rng.integers(200, size=(40, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        same = y[pairs[:, 0]] == y[pairs[:, 1]]
        c = Constraints.build(200, must_link=pairs[same], cannot_link=pairs[~same])
        for found, n_init in ((raced, "race"), (ran, 3)):
            model = COPKMeans(8, n_init=n_init, random_state=seed).fit(X, constraints=c)
            assert model.certificate_.ok
            found.append(model.inertia_)
    assert np.mean(raced) <= 1.02 * np.mean(ran)


def test_the_neighborhoods_run_besides_the_winner():
    """Two pairs far apart say which clusters are meant; plain k-means would not find them."""
    X = np.array([[0.0, 0.0], [0.0, 9.0], [1.0, 0.0], [1.0, 9.0]])
    c = Constraints.build(4, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2)], weight=100.0)
    model = PCKMeans(2, random_state=0).fit(X, constraints=c)
    assert model.labels_[0] == model.labels_[1] != model.labels_[2]
