"""Xing's metric: the optimum of general-purpose solvers, proved; errata resolved; fast where features are many."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from linkwise import Constraints
from linkwise.engines import XingMetric
from linkwise.engines.metric._xing import diagonal_value, full_value, newton_terms, spread_diagonal
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from tests.oracles.metrics_learned import best_xing, central_differences, xing_sums
from tests.profile import examples

# pairs drawn at random contradict each other; the sum does not mind
contradictory = pytest.mark.filterwarnings(
    "ignore:.*keep apart what must-links join:linkwise.exceptions.LinkwiseWarning"
)


def xing_metric(X, constraints, **options):
    return XingMetric(**options)._metric_from(X, constraints)


def instance(seed, d, m=9, n=14):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d))
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(i)])
    weight = rng.uniform(0.2, 3.0, size=2 * m)
    must, cannot = pairs[:m], pairs[m : 2 * m]
    c = Constraints.build(n, must_link=must, cannot_link=cannot, weight=weight)
    listed = [(tuple(pair), w) for pair, w in zip(pairs[: 2 * m].tolist(), weight.tolist(), strict=True)]
    return X, c, listed[:m], listed[m:]


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("options", [{"form": "diagonal"}, {"form": "full"}, {"solver": "projection"}], ids=str)
def test_the_optimum_is_that_of_a_general_solver(d, options):
    for seed in range(examples(1, 5)):
        X, c, must, cannot = instance(seed, d)
        found = xing_metric(X, c, **options)
        A = found.components.T @ found.components
        f, g = xing_sums(A, X, must, cannot)
        assert_allclose(f, 1.0, rtol=1e-9)
        assert_allclose(g, found.objective, rtol=1e-9)
        best = best_xing(X, must, cannot, diagonal=options.get("form") == "diagonal", starts=5)
        assert_allclose(g, best, rtol=1e-5)  # asked for: 1e-3
        assert best <= g * (1 + found.gap) * (1 + 1e-12)  # the proof holds
        assert found.gap <= 1e-6


def test_the_proof_holds_far_from_the_optimum_too():
    X, c, must, cannot = instance(5, 4)
    rng = np.random.default_rng(0)
    for rounds in (1, 2, 5):
        for options in ({"form": "diagonal"}, {}, {"solver": "projection"}):
            early = xing_metric(X, c, max_iter=rounds, tol=0.0, **options)
            for _ in range(200):
                L = np.diag(rng.normal(size=4)) if options.get("form") else rng.normal(size=(4, 4))
                f, g = xing_sums(L.T @ L, X, must, cannot)
                assert g / np.sqrt(f) <= early.objective * (1 + early.gap) * (1 + 1e-12)


def test_slopes_are_those_of_central_differences():
    rng = np.random.default_rng(1)
    U, V, w = rng.normal(size=(7, 3)), rng.uniform(size=(7, 3)), rng.uniform(size=7)
    M, z, b = rng.normal(size=9), rng.normal(size=3), rng.uniform(0.1, 1, size=3)
    assert_allclose(full_value(M, U, w)[1], central_differences(lambda x: full_value(x, U, w)[0], M), atol=1e-8)
    assert_allclose(diagonal_value(z, V, w)[1], central_differences(lambda x: diagonal_value(x, V, w)[0], z), atol=1e-8)
    _, gradient, bend = newton_terms(b, V, w, np.arange(3))
    assert_allclose(gradient, central_differences(lambda x: newton_terms(x, V, w, np.arange(3))[0], b), atol=1e-8)
    by_hand = [central_differences(lambda x, k=k: newton_terms(x, V, w, np.arange(3))[1][k], b) for k in range(3)]
    assert_allclose(bend, by_hand, atol=1e-7)


def test_newton_and_quasi_newton_agree_on_the_diagonal():
    rng = np.random.default_rng(2)
    V, w = rng.exponential(size=(60, 12)), rng.uniform(size=60)
    a = spread_diagonal(V, w, max_iter=1000, tol=1e-9)
    b = spread_diagonal(sp.csr_array(V), w, max_iter=1000, tol=1e-9)
    assert_allclose(a.root**2, b.root**2, atol=1e-5)
    assert_allclose(a.value, b.value, rtol=1e-8)
    assert max(a.gap, b.gap) <= 1e-8


def test_cannot_links_are_summed_as_distances_not_squares():
    """Squares would put all on one direction; the sum of roots shares it out."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 5.0], [6.0, 6.0], [5.0, 4.0]])
    c = Constraints.build(6, must_link=[(3, 4), (3, 5)], cannot_link=[(0, 1), (0, 2)])
    found = xing_metric(X, c, form="diagonal")
    assert (np.diagonal(found.components) > 0.1).all()


def test_coincident_pairs_are_dropped_with_a_warning():
    X, c, _, _ = instance(3, 3)
    X[1] = X[0]
    more = c | Constraints.build(14, cannot_link=[(0, 1)])
    with pytest.warns(LinkwiseWarning, match="1 pair.* have the same features.* samples 0 and 1"):
        found = xing_metric(X, more)
    assert_allclose(found.components, xing_metric(X, c.select(np.arange(c.n_statements))).components)


@pytest.mark.parametrize("what", ["must_link", "cannot_link"])
def test_one_kind_alone_leaves_nothing_to_weigh(what):
    X, _, _, _ = instance(3, 3)
    with pytest.warns(LinkwiseWarning, match="weighs must-links against cannot-links"):
        found = xing_metric(X, Constraints.build(14, **{what: [(0, 1)]}))
    assert_allclose(found.components, np.eye(3))


def test_directions_nothing_was_said_about_are_bounded_by_shrinkage():
    X, _, _, _ = instance(3, 4)
    c = Constraints.build(14, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (1, 5)])
    assert XingMetric().fit(X, constraints=c).shrinkage_ == 0.1
    assert XingMetric(shrinkage=0.3).fit(X, constraints=c).shrinkage_ == 0.3
    with pytest.raises(LinkwiseError, match=r"shrinkage=0 does not allow one.\nHint"):
        XingMetric(shrinkage=0.0).fit(X, constraints=c)


def test_a_group_counts_like_its_pairs_evenly():
    X, _, _, _ = instance(4, 3)
    group = [0, 2, 5, 7]
    pairs = [(a, b) for a in group for b in group if a < b]
    far = [(0, 1), (5, 9), (2, 11)]
    together = Constraints.build(14, together=[group], cannot_link=far)
    spelled = Constraints.build(14, must_link=pairs, cannot_link=far, weight={"must_link": 2 / 4, "cannot_link": 1.0})
    assert_allclose(xing_metric(X, together).components, xing_metric(X, spelled).components, rtol=1e-4, atol=1e-5)
    apart = Constraints.build(14, must_link=pairs, apart=[[0, 1, 9]])
    listed = Constraints.build(14, must_link=pairs, cannot_link=[(0, 1), (0, 9), (1, 9)])
    assert_allclose(xing_metric(X, apart).components, xing_metric(X, listed).components, rtol=1e-4, atol=1e-5)


@contradictory
def test_a_hundred_features_take_few_steps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 100))
    pairs = rng.integers(1000, size=(3000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    c = Constraints.build(1000, must_link=pairs[:1000], cannot_link=pairs[1000:2000])
    model = XingMetric().fit(X, constraints=c)
    assert model.n_iter_ <= 200
    assert model.gap_ <= 1e-6


def test_many_sparse_features_are_weighed():
    rng = np.random.default_rng(0)
    X = sp.random(200, 3000, density=0.02, random_state=0, format="csr")
    pairs = rng.permutation(200).reshape(-1, 2)
    c = Constraints.build(200, must_link=pairs[:50], cannot_link=pairs[50:])
    model = XingMetric(form="diagonal", tol=1e-4).fit(X, constraints=c)
    assert model.gap_ <= 1e-4
    assert model.components_.shape == (3000, 3000)
    assert sp.issparse(model.transform(X))


@contradictory
def test_stopping_early_is_told():
    X, c, _, _ = instance(0, 4)
    with pytest.warns(LinkwiseWarning, match="stopped after 1 rounds, at most .* from the optimum"):
        XingMetric(max_iter=1).fit(X, constraints=c)
