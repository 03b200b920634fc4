"""Sizes within bounds: by flow where that is exact, together with links by search and repair."""

from __future__ import annotations

from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.optimize import linear_sum_assignment

from linkwise import Constraints, COPKMeans, verify
from linkwise.constraints import SizeBetween
from linkwise.engines.assignment import _policies
from linkwise.engines.assignment._kernels_flow import flow_within
from linkwise.exceptions import GaveUpError, InfeasibleConstraintsError, UnsupportedConstraintError
from tests.oracles.centers import cheapest_sized, squared_distances
from tests.profile import examples
from tests.unit.engines.outcomes import outcome

cop_kmeans = partial(outcome, COPKMeans)


def cost_of(costs, labels):
    return costs[np.arange(len(labels)), labels].sum()


@pytest.mark.kernels
def test_the_flow_is_the_least_cost_by_enumeration():
    for seed in range(examples(80, 2000)):
        rng = np.random.default_rng(seed)
        m, k = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        costs = rng.random((m, k)) if seed % 2 else rng.integers(0, 3, (m, k)).astype(float)
        low, high = int(rng.integers(0, m // k + 1)), int(rng.integers(-(-m // k), m + 1))
        labels = np.empty(m, dtype=np.intp)
        flow_within(costs, low, high, labels)
        sizes = np.bincount(labels, minlength=k)
        assert low <= sizes.min() <= sizes.max() <= high
        assert cost_of(costs, labels) == pytest.approx(cheapest_sized(costs, low, high))


@pytest.mark.kernels
def test_the_flow_ends_though_rounding_makes_cycles_of_ties_shorter_than_nothing():
    for seed in (582, 781, 1228, 1909):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(3, 7))
        costs = rng.integers(0, 3, (k, k)) + rng.integers(-1, 2, (k, k)) * 2.0**-52 * rng.integers(0, 3)
        costs -= costs.min(axis=1, keepdims=True)
        labels = np.empty(k, dtype=np.intp)
        flow_within(costs, 1, 1, labels)
        assert sorted(labels.tolist()) == list(range(k))
        assert cost_of(costs, labels) == pytest.approx(costs[linear_sum_assignment(costs)].sum())


def test_the_flow_agrees_with_an_assignment_to_slots():
    """With equal sizes every cluster is a number of slots, and rows and slots are matched one to one."""
    for seed in range(examples(5, 200)):
        rng = np.random.default_rng(seed)
        k, each = int(rng.integers(2, 6)), int(rng.integers(10, 40))
        costs = rng.normal(size=(k * each, 2)) @ rng.normal(size=(2, k))
        labels = np.empty(len(costs), dtype=np.intp)
        flow_within(costs, each, each, labels)
        slots = np.repeat(costs, each, axis=1)
        assert np.bincount(labels).tolist() == [each] * k
        assert cost_of(costs, labels) == pytest.approx(slots[linear_sum_assignment(slots)].sum())


@pytest.mark.parametrize(("low", "high"), [(1, 20), (10, None), (14, 16), (15, 15), (1, None)])
def test_sizes_hold(low, high):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2)) * [[1.0, 4.0]]
        c = Constraints.build(60, rules=SizeBetween(low, high))
        model = COPKMeans(4, random_state=seed).fit(X, constraints=c)
        sizes = np.bincount(model.labels_)
        assert low <= sizes.min()
        assert sizes.max() <= (60 if high is None else high)
        assert model.certificate_.rules == ((SizeBetween(low, high), True),)
        assert model.best_assignment_


def test_bounds_that_do_not_bind_change_nothing():
    X = np.random.default_rng(0).normal(size=(50, 2))
    plain = COPKMeans(3, random_state=0).fit(X)
    loose = COPKMeans(3, random_state=0).fit(X, constraints=Constraints.build(50, rules=SizeBetween(2, 45)))
    assert_array_equal(plain.labels_, loose.labels_)


def test_several_rules_are_all_kept():
    c = Constraints.build(60, rules=[SizeBetween(5, 40), SizeBetween(12, 50), SizeBetween(1, 25)])
    model = COPKMeans(4, random_state=0).fit(np.random.default_rng(1).exponential(size=(60, 2)), constraints=c)
    assert 12 <= np.bincount(model.labels_).min() <= np.bincount(model.labels_).max() <= 25


@pytest.mark.parametrize("cells", [0, 10**6], ids=["repair", "solver"])
def test_sizes_and_links_hold_together(cells, monkeypatch):
    monkeypatch.setattr(_policies, "_CELLS", cells)
    for seed in range(examples(15, 500)):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 5))
        y = rng.permutation(np.arange(10 * k) % k)
        pairs = rng.integers(len(y), size=(8 * k, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        same = y[pairs[:, 0]] == y[pairs[:, 1]]
        c = Constraints.build(len(y), must_link=pairs[same], cannot_link=pairs[~same], rules=SizeBetween(8, 12))
        X = rng.normal(size=(len(y), 2))
        seen = []

        def watch(labels, centers, seen=seen):
            seen.append((labels, centers))

        run = cop_kmeans(X, c, k, n_init=1, random_state=seed, watch=watch)
        assert verify(run.labels, c).ok
        assert 8 <= np.bincount(run.labels).min() <= np.bincount(run.labels).max() <= 12
        cloud = _cloud(X, c)
        costs = [
            float(cloud.weight @ squared_distances(cloud.X, centers)[np.arange(len(labels)), labels])
            for labels, centers in seen
        ]
        assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairwise(costs))


def _cloud(X, c):
    from linkwise.problem import Problem

    return Problem(X, c).contract()


def test_few_samples_are_assigned_at_least_cost_under_sizes_and_links():
    for seed in range(examples(10, 200)):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(7, 2))
        c = Constraints.build(7, must_link=[(0, 1)], cannot_link=[(0, 2), (3, 4)], rules=SizeBetween(2, 4))
        start = rng.normal(size=(3, 2))
        cloud = _cloud(X, c)
        places = _policies.SizedPlaces(cloud, (2, 4), lambda: pytest.fail("no witness is needed"))
        placed = places(start, None)
        costs = cloud.weight[:, None] * squared_distances(cloud.X, start)
        least = cheapest_sized(costs, 2, 4, cloud.weight.tolist(), [(0, 1), (2, 3)])
        assert placed.best
        assert cost_of(costs, placed.labels) == pytest.approx(least)


@pytest.mark.parametrize("k", [2, 3])
def test_one_variance_and_equal_sizes_are_balanced_gaussians(k):
    """At the end no balanced labels are likelier under Gaussians of one variance around the means of the clusters."""
    from scipy.stats import multivariate_normal

    for seed in range(examples(8, 200)):
        X = np.random.default_rng(seed).normal(size=(7, 2))
        balanced = Constraints.build(7, rules=SizeBetween(7 // k, -(-7 // k)))
        model = COPKMeans(k, random_state=seed).fit(X, constraints=balanced)
        means = np.array([X[model.labels_ == c].mean(axis=0) for c in range(k)])
        assert model.cluster_centers_ == pytest.approx(means)
        density = np.column_stack([multivariate_normal(mean, np.eye(2)).logpdf(X) for mean in means])
        every = np.array(list(product(range(k), repeat=7)))
        sizes = np.array([np.bincount(labels, minlength=k) for labels in every])
        every = every[(np.ptp(sizes, axis=1) <= 1)]
        likeliest = density[np.arange(7), every].sum(axis=1).max()
        assert density[np.arange(7), model.labels_].sum() == pytest.approx(likeliest)


def test_sizes_that_cannot_be_are_explained():
    X = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(InfeasibleConstraintsError, match="SizeBetween"):
        COPKMeans(3).fit(X, constraints=Constraints.build(10, rules=SizeBetween(4)))
    large = Constraints.build(10, together=[[0, 1, 2, 3, 4]], rules=SizeBetween(1, 4))
    with pytest.raises(InfeasibleConstraintsError, match="5 samples into one cluster"):
        COPKMeans(3).fit(X, constraints=large)
    uneven = Constraints.build(10, together=[[0, 1, 2], [3, 4, 5], [6, 7, 8]], rules=SizeBetween(5, 5))
    with pytest.raises(InfeasibleConstraintsError, match="has sizes for which"):
        COPKMeans(2).fit(X, constraints=uneven)


def test_a_division_the_filling_misses_is_looked_up():
    """Heavy groups first puts 3 + 3 together and leaves no room for 2 + 2 + 2 in clusters of six otherwise."""
    groups = [[0, 1, 2], [3, 4, 5], [6, 7], [8, 9], [10, 11]]
    c = Constraints.build(12, together=groups, rules=SizeBetween(6, 6))
    X = np.zeros((12, 1))
    X[3:6] = 1.0
    model = COPKMeans(2, init=[[0.0], [1.0]]).fit(X, constraints=c)
    assert np.bincount(model.labels_).tolist() == [6, 6]
    assert verify(model.labels_, c).ok


def test_greedy_refuses_sizes_by_name():
    c = Constraints.build(10, rules=SizeBetween(3))
    with pytest.raises(UnsupportedConstraintError, match='SizeBetween with assignment="greedy"') as no:
        COPKMeans(2, assignment="greedy").fit(np.eye(10), constraints=c)
    assert no.value.kinds == ("SizeBetween",)


def test_sizes_left_undecided_say_so(monkeypatch):
    from dataclasses import replace

    from linkwise.problem import _problem

    def unknown(*args):
        return replace(decide(*args), status="unknown", witness=None)

    decide = _problem.decide
    monkeypatch.setattr(_problem, "decide", unknown)
    monkeypatch.setattr(_policies, "fill_within", lambda *_: False)
    c = Constraints.build(8, must_link=[(0, 1)], rules=SizeBetween(3, 5))
    with pytest.raises(GaveUpError, match="gave up"):
        COPKMeans(2).fit(np.random.default_rng(0).normal(size=(8, 1)), constraints=c)
