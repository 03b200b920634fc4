"""The SVM metric: the minimum of a general solver, enclosed by its dual."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from linkwise import Constraints
from linkwise.engines import SVMMetric
from linkwise.engines.metric._svm import largest_margin
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from tests.oracles.metrics_learned import best_margin


def svm_metric(X, constraints, **options):
    return SVMMetric(**options)._metric_from(X, constraints)


def triplets(seed, n=30, m=15, d=4, scale=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, d)) * scale
    X[:, 0] += 2 * y * scale
    rows = rng.integers(n, size=(50 * m, 3))
    rows = rows[(y[rows[:, 0]] == y[rows[:, 1]]) & (y[rows[:, 0]] != y[rows[:, 2]]) & (rows[:, 0] != rows[:, 1])][:m]
    return X, rows


def test_the_minimum_is_that_of_a_general_solver():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        m, d = [(9, 4), (3, 6), (14, 2)][seed % 3]
        D, cost = rng.normal(size=(m, d)) + 0.3, rng.uniform(0.05, 3, size=m)
        G = rng.normal(size=(d, d))
        H = G @ G.T + 0.1 * np.eye(d) if seed % 2 else None
        found = largest_margin(D, cost, H, max_iter=200, tol=1e-9)
        value, weights = best_margin(D, cost, np.eye(d) if H is None else H)
        assert found.gap <= 1e-9
        assert_allclose(found.objective, value, rtol=1e-6)
        assert_allclose(found.weights, weights, atol=1e-4)
        primal = 0.5 * found.weights @ (found.weights if H is None else H @ found.weights)
        primal += cost @ np.maximum(1 - D @ found.weights, 0)
        assert_allclose(primal, found.objective, rtol=1e-9)


def test_a_triplet_is_two_comparisons_of_squared_distances():
    X, rows = triplets(0)
    weight = np.random.default_rng(0).uniform(0.2, 2, size=len(rows))
    found = svm_metric(X, Constraints.build(30, triplets=rows, weight=weight), C=0.7)
    D = [(X[i] - X[c]) ** 2 - (X[a] - X[b]) ** 2 for a, b, c in rows for i in (a, b)]
    value, weights = best_margin(np.array(D), 0.7 * np.repeat(weight, 2), np.eye(4))
    assert_allclose(found.objective, value, rtol=1e-5)
    assert_allclose(np.diagonal(found.components) ** 2, weights, atol=1e-4)


def test_a_basis_is_weighed_in_place_of_the_features():
    X, rows = triplets(1)
    A = np.random.default_rng(1).normal(size=(4, 3))
    c = Constraints.build(30, triplets=rows)
    found = svm_metric(X, c, basis=A)
    Z = X @ A
    D = [(Z[i] - Z[c_]) ** 2 - (Z[a] - Z[b]) ** 2 for a, b, c_ in rows for i in (a, b)]
    value, weights = best_margin(np.array(D), np.ones(2 * len(rows)), (A.T @ A) ** 2)
    assert_allclose(found.objective, value, rtol=1e-5)
    M = found.components.T @ found.components
    assert_allclose(M, A @ np.diag(weights) @ A.T, atol=1e-3 * np.abs(M).max())
    W = np.diag(weights)
    assert_allclose(np.linalg.norm(A @ W @ A.T) ** 2, weights @ (A.T @ A) ** 2 @ weights, rtol=1e-9)  # the norm meant
    with pytest.raises(LinkwiseError, match="basis has shape"):
        svm_metric(X, c, basis=A.T)


@pytest.mark.parametrize("scale", [1e-4, 1e-2, 1.0, 1e2, 1e4])
def test_the_scale_of_the_data_is_no_obstacle(scale):
    X, rows = triplets(2, n=60, m=40, scale=scale)
    model = SVMMetric().fit(X, constraints=Constraints.build(60, triplets=rows))
    assert model.gap_ <= 1e-6


@pytest.mark.parametrize("d", [4, 200])
def test_more_features_than_comparisons_and_sparse_ones_give_the_same(d):
    X, rows = triplets(3, n=40, m=20, d=d)
    X[np.abs(X) < 0.5] = 0
    c = Constraints.build(40, triplets=rows)
    dense, sparse = svm_metric(X, c, tol=1e-9), svm_metric(sp.csr_array(X), c, tol=1e-9)
    assert dense.gap <= 1e-6
    assert_allclose(sparse.components.diagonal(), dense.components.diagonal(), atol=1e-4)
    assert_allclose(sparse.objective, dense.objective, rtol=1e-6)


def test_irrelevant_features_get_no_weight_at_all():
    X, rows = triplets(4)
    X = np.column_stack([X, np.zeros(30)])
    weights = np.diagonal(svm_metric(X, Constraints.build(30, triplets=rows)).components)
    assert weights[4] == 0
    assert weights[0] > 0


def test_features_that_all_speak_against_it_leave_the_metric_alone():
    X = np.array([[0.0, 0.0], [5.0, 5.0], [0.1, 0.1]])
    with pytest.warns(LinkwiseWarning, match="best weights are all 0"):
        found = svm_metric(X, Constraints.build(3, triplets=[(0, 1, 2)]))
    assert_allclose(found.components, np.eye(2))
    assert_allclose(found.objective, 2.0)
    with pytest.warns(LinkwiseWarning, match="no feature differs"):
        svm_metric(np.ones((3, 2)), Constraints.build(3, triplets=[(0, 1, 2)]))


def test_most_triplets_hold_afterwards():
    X, rows = triplets(5, n=80, m=60)

    def held(Z):
        far = np.linalg.norm(Z[:, None] - Z, axis=2)
        a, b, c = rows.T
        return ((far[a, b] < far[a, c]) & (far[a, b] < far[b, c])).mean()

    model = SVMMetric().fit(X, constraints=Constraints.build(80, triplets=rows))
    assert held(model.transform(X)) > held(X) + 0.1
