"""ITML and LSML: minima of general solvers, proved; slopes; projections and their slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from linkwise import Constraints
from linkwise.engines import ITML, LSML
from linkwise.engines.metric._itml import Bounds, dual_terms
from linkwise.engines.metric._kernels import project_onto_bounds
from linkwise.engines.metric._logdet import certify_near, value_and_slope
from linkwise.engines.metric._lsml import _loss as lsml_loss
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from tests.oracles.metrics_learned import (
    best_itml,
    best_lsml,
    bregman_sweep,
    central_differences,
    logdet_divergence,
    lsml_value,
)

pytestmark = pytest.mark.kernels


def itml(X, constraints, **options):
    return ITML(**options)._metric_from(X, constraints)


def lsml(X, constraints, **options):
    return LSML(**options)._metric_from(X, constraints)


def pairs(seed, d=2, n=10, m=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 2.0, 0.5][:d]
    chosen = rng.permutation([(i, j) for i in range(n) for j in range(i)])[: 2 * m]
    weight = rng.uniform(0.3, 2, size=2 * m)
    c = Constraints.build(n, must_link=chosen[:m], cannot_link=chosen[m:], weight=weight)
    return X, c, chosen, weight, np.arange(2 * m) < m


def matrix(found):
    return found.components.T @ found.components


# -- ITML -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "bregman"])
def test_itml_is_the_minimum_with_bounds_written_out(solver):
    for seed in range(4):
        X, c, chosen, weight, near = pairs(seed)
        D = X[chosen[:, 0]] - X[chosen[:, 1]]
        found = itml(X, c, slack=0.8, bounds=(0.7, 4.0), solver=solver, tol=1e-9)
        value, A = best_itml(D, near, np.where(near, 0.7, 4.0), 0.8 * weight)
        assert_allclose(found.objective, value, rtol=1e-5)
        assert_allclose(matrix(found), A, atol=2e-3)
        assert found.gap <= 1e-9


def test_solvers_of_itml_agree_where_many_things_were_said():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 5)) + 2 * rng.normal(size=(3, 5))[y]
    both = rng.integers(60, size=(120, 2))
    both = both[both[:, 0] != both[:, 1]]
    same = y[both[:, 0]] == y[both[:, 1]]
    c = Constraints.build(60, must_link=both[same], cannot_link=both[~same])
    for gamma in (0.1, 10.0):
        a, *others = (
            itml(X, c, solver=solver, slack=gamma, tol=1e-6, max_iter=20_000) for solver in ("auto", "lbfgs", "bregman")
        )
        assert a.gap <= 1e-6
        for b in others:
            assert b.gap <= 1e-6
            assert_allclose(a.objective, b.objective, rtol=1e-5)
            assert_allclose(matrix(a), matrix(b), atol=1e-2 * matrix(a).max())


def test_derivatives_of_the_dual_are_those_of_central_differences():
    rng = np.random.default_rng(2)
    D, bound, gamma = rng.normal(size=(5, 3)), rng.uniform(1, 2, size=5), rng.uniform(0.5, 2, size=5)
    theta = np.array([0.05, -0.02, 0.1, 0.0, -0.03])
    at = dual_terms(theta, D, bound, gamma)
    assert_allclose(at.gradient, central_differences(lambda t: dual_terms(t, D, bound, gamma).value, theta), atol=1e-7)
    by_hand = [central_differences(lambda t, k=k: dual_terms(t, D, bound, gamma).gradient[k], theta) for k in range(5)]
    assert_allclose(-at.bend, by_hand, atol=1e-6)
    assert dual_terms(theta - 10, D, bound, gamma) is None
    assert dual_terms(theta + 10, D, bound, gamma) is None


def test_projections_agree_with_their_slow_twin():
    rng = np.random.default_rng(1)
    D, near = rng.normal(size=(8, 3)), np.arange(8) % 2 == 0
    bound, gamma = np.where(near, 0.5, 6.0), rng.uniform(0.2, 3, size=8)
    A, giving, multiplier = np.eye(3), bound.copy(), np.zeros(8)
    project_onto_bounds(A, D, near, giving, gamma, multiplier, 3)
    B, twin, other = np.eye(3), bound.copy(), np.zeros(8)
    for _ in range(3):
        B, twin, other = bregman_sweep(B, D, near, twin, gamma, other)
    assert_allclose(A, B, rtol=1e-9)
    assert_allclose(giving, twin, rtol=1e-9)
    assert_allclose(multiplier, other, rtol=1e-9, atol=1e-12)


def test_a_pair_that_coincides_breaks_nothing():
    X, c, _, _, _ = pairs(2)
    X[1] = X[0]
    c = c | Constraints.build(10, must_link=[(0, 1)])
    for solver in ("auto", "lbfgs", "bregman"):
        assert np.isfinite(itml(X, c, solver=solver).components).all()


@pytest.mark.filterwarnings("ignore:.*keep apart what must-links join:linkwise.exceptions.LinkwiseWarning")
def test_priors_are_stayed_near():
    X, c, _, _, _ = pairs(3)
    M = np.array([[2.0, 0.5], [0.5, 1.0]])
    faint = c.with_weight(1e-9)
    assert_allclose(matrix(itml(X, faint, prior=M)), M, atol=1e-6)
    assert_allclose(matrix(itml(X, faint, prior="covariance")), np.linalg.inv(np.cov(X.T, bias=True)), rtol=1e-5)
    assert_allclose(matrix(lsml(X, c, C=1e-9, prior=M)), M, atol=1e-6)
    for wrong, words in (
        (np.eye(3), "expected a symmetric matrix"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "expected a positive definite matrix"),
    ):
        with pytest.raises(LinkwiseError, match=words):
            ITML(prior=wrong).fit(X, constraints=c)
    for bounds in ((1.0,), (0.0, 1.0), (1.0, np.inf)):
        with pytest.raises(LinkwiseError, match="expected two positive numbers"):
            ITML(bounds=bounds).fit(X, constraints=c)


def test_directions_no_pair_has_keep_the_prior():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(10, 50))
    c = Constraints.build(10, must_link=[(0, 1)], cannot_link=[(2, 3), (4, 5)])
    spanned = np.array([X[0] - X[1], X[2] - X[3], X[4] - X[5]])
    rest = np.linalg.svd(spanned)[2][3:]
    for found in (itml(X, c), lsml(X, c)):
        assert_allclose(rest @ matrix(found) @ rest.T, np.eye(47), atol=1e-9)


# -- LSML -------------------------------------------------------------------------------------------------------------


def trios(seed, d=2, n=9):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 2.0, 0.5][:d]
    rows = [rng.choice(n, 3, replace=False).tolist() for _ in range(5)]
    links = rng.permutation([(i, j) for i in range(n) for j in range(i)]).tolist()
    said = {
        "must_link": ([tuple(p) for p in links[:3]], rng.uniform(0.3, 2, 3).tolist()),
        "cannot_link": ([tuple(p) for p in links[3:5]], rng.uniform(0.3, 2, 2).tolist()),
        "triplets": ([tuple(r) for r in rows], rng.uniform(0.3, 2, 5).tolist()),
    }
    c = Constraints.build(n, **{k: v for k, (v, _) in said.items()}, weight={k: w for k, (_, w) in said.items()})
    return X, c, {k: list(zip(*v, strict=True)) for k, v in said.items()}


@pytest.mark.parametrize("loss", ["residual", "margin"])
def test_lsml_is_the_minimum_of_the_sum_written_out(loss):
    for seed in range(3):
        X, c, said = trios(seed)
        told = said["triplets"], said["must_link"], said["cannot_link"]
        found = lsml(X, c, loss=loss, C=20.0, unit=1.0, tol=1e-9)
        value = lsml_value(matrix(found), X, *told, C=20.0, margin=loss == "margin")
        assert_allclose(value, found.objective, rtol=1e-8)
        best, A = best_lsml(X, *told, C=20.0, margin=loss == "margin")
        assert_allclose(found.objective, best, rtol=1e-6)
        assert_allclose(matrix(found), A, atol=5e-3)
        assert value - found.gap * (1 + value) <= best * (1 + 1e-9)


def test_lsml_of_triplets_alone_and_of_links_alone():
    X, c, said = trios(7)
    for kinds in (["triplets"], ["must_link", "cannot_link"]):
        part = c.select(
            np.flatnonzero(np.isin(c.kind, [{"must_link": 0, "cannot_link": 1, "triplets": 2}[k] for k in kinds]))
        )
        told = [said[k] if k in kinds else [] for k in ("triplets", "must_link", "cannot_link")]
        found = lsml(X, part, C=5.0, unit=1.0)
        assert_allclose(found.objective, best_lsml(X, *told, C=5.0, margin=False)[0], rtol=1e-5)


def test_the_unit_is_that_of_the_distances_compared():
    X, c, said = trios(6)
    compared = [pair for (a, b, e), w in said["triplets"] for pair in (((a, b), 2 * w), ((a, e), w), ((b, e), w))]
    compared += [(p, w * v) for p, w in said["must_link"] for _, v in said["cannot_link"]]
    compared += [(q, w * v) for _, w in said["must_link"] for q, v in said["cannot_link"]]
    mean = sum(w * ((X[i] - X[j]) ** 2).sum() for (i, j), w in compared) / sum(w for _, w in compared)
    for loss in ("residual", "margin"):
        auto, by_hand = lsml(X, c, loss=loss, C=9.0), lsml(X, c, loss=loss, C=9.0, unit=np.sqrt(mean))
        assert_allclose(auto.components, by_hand.components, rtol=1e-6)
        for scale in (1e-5, 1e5):
            assert_allclose(lsml(X * scale, c, loss=loss, C=9.0).components, auto.components, rtol=1e-3, atol=1e-4)


def test_comparisons_with_coincident_samples_are_told():
    X, _, _ = trios(8)
    X[2] = X[0]
    c = Constraints.build(9, triplets=[(0, 1, 2), (3, 4, 5)])
    with pytest.warns(LinkwiseWarning, match=r"LSML: 1 comparison\(s\) require a positive distance"):
        assert np.isfinite(lsml(X, c).components).all()
    with pytest.warns(LinkwiseWarning, match="LSML compares distances"):
        assert_array_equal(LSML().fit(X, constraints=Constraints.build(9, must_link=[(3, 4)])).components_, np.eye(2))


# -- both -------------------------------------------------------------------------------------------------------------


def losses():
    rng = np.random.default_rng(5)
    near = np.arange(9) % 2 == 0
    yield Bounds(near, rng.uniform(0.5, 2, 9), rng.uniform(0.5, 2, 9)).loss
    listed = rng.integers(4, size=(2, 6))
    for form in ("residual", "margin"):
        yield lsml_loss(form, *listed, rng.uniform(size=6), rng.uniform(size=3), rng.uniform(size=2), 0.7)


@pytest.mark.parametrize("loss", list(losses()), ids=["itml", "residual", "margin"])
def test_slopes_are_those_of_central_differences(loss):
    rng = np.random.default_rng(6)
    p = rng.uniform(0.2, 3, size=9)
    assert_allclose(loss(p)[1], central_differences(lambda q: loss(q)[0], p), atol=1e-7)
    D, L = rng.normal(size=(9, 3)), rng.normal(size=(3, 3))
    slope = central_differences(lambda z: value_and_slope(z.reshape(3, 3), D, loss)[0], L.ravel())
    assert_allclose(value_and_slope(L, D, loss)[1], slope, rtol=1e-6, atol=1e-5)
    value, _ = certify_near(L.T @ L, D, loss)
    assert_allclose(value, value_and_slope(L, D, loss)[0])
    assert_allclose(value - loss(((D @ L.T) ** 2).sum(axis=1))[0], logdet_divergence(L.T @ L, np.eye(3)))


@pytest.mark.parametrize("loss", list(losses()), ids=["itml", "residual", "margin"])
def test_the_proof_holds_far_from_the_optimum_too(loss):
    rng = np.random.default_rng(7)
    D = rng.normal(size=(9, 3))
    proved = 0
    for _ in range(50):
        L = np.eye(3) + 0.2 * rng.normal(size=(3, 3))
        value, gap = certify_near(L.T @ L, D, loss)
        proved += np.isfinite(gap)
        for _ in range(20):
            K = rng.normal(size=(3, 3))
            assert value_and_slope(K, D, loss)[0] >= value - gap * (1 + abs(value)) - 1e-9
    assert proved > 10
