"""Soft statements weighed against the data: exactly, by mean field, by sampling."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.mixture import GaussianMixture

from linkwise import ConstrainedGaussianMixture, Constraints, Kind
from linkwise.engines import PenalizedMixture
from linkwise.engines.mixture._factors import read_chunklets
from linkwise.engines.mixture._penalized_mixture import Penalized
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem
from tests.oracles.mixture import Enumeration, bound_of_independent_labels, em
from tests.profile import examples

pytestmark = pytest.mark.filterwarnings("ignore:EM did not converge:sklearn.exceptions.ConvergenceWarning")
fewer = pytest.mark.filterwarnings("ignore:.* found . cluster:linkwise.exceptions.LinkwiseWarning")
FEW = 4  # states: enough for pairs and trees of two clusters, not for a cycle


def blobs(seed=0, n=60, k=3, d=2, apart=2.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    y[:k] = np.arange(k)
    return rng.normal(size=(n, d)) + apart * y[:, None], y


def standardized(X):
    """X with features of variance 1, of which a share is the number itself."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def renumbered(means, like):
    """Where each of the means stands; Gaussians without samples come last in ours."""
    order = np.array([np.argmin(((means - one) ** 2).sum(axis=1)) for one in like])
    assert sorted(order) == list(range(len(means)))
    return order


def tangle(rng, n, *, hard=0.0):
    """Draw prices for most pairs, so that no tree holds them, and perhaps some hard cannot-links along a path."""
    pairs = [(i, j) for i in range(n) for j in range(i)]
    prices = [(*p, bool(rng.random() < 0.5), float(rng.exponential(0.7))) for p in pairs if rng.random() < 0.8]
    cannot = [(i + 1, i) for i in range(0, n - 1, 2) if rng.random() < hard]
    table = Constraints.build(n, cannot_link=cannot)
    table |= Constraints.build(
        n, must_link=[p[:2] for p in prices if p[2]], weight=[p[3] for p in prices if p[2]]
    ) | Constraints.build(n, cannot_link=[p[:2] for p in prices if not p[2]], weight=[p[3] for p in prices if not p[2]])
    return prices, cannot, table


def beliefs_of(table, k, wide, *, max_states=FEW, n_sweeps=200, seed=0):
    graph = read_chunklets(Problem(np.zeros((table.n_samples, 1)), table, n_clusters=k, who="test"), 2**20)
    hard = table.select(table.is_hard)
    allowed = np.zeros(table.n_samples, dtype=np.intp)
    allowed[hard.of(Kind.CANNOT_LINK).max(axis=1, initial=0)] = 1  # the hard pairs of `tangle` are disjoint
    return Penalized(graph, k, wide, max_states, n_sweeps, allowed, seed, "test")


@fewer
def test_em_under_prices_agrees_with_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(examples(15, 400)):
        n, k = 6, 2
        X, _ = blobs(int(rng.integers(1000)), n, k)
        prices, cannot, table = tangle(rng, n, hard=0.3)
        model = Enumeration(n, k, cannot=cannot, prices=prices, sampling="points", normalized=False)
        seed = int(rng.integers(1000))
        begin = np.random.RandomState(seed).uniform(size=(n, k))
        begin /= begin.sum(axis=1)[:, None]
        weights, means, covariances, responsibilities, values = em(X, model, begin, "full", 0.05, 5)
        found = PenalizedMixture(
            k, tol=0, reg_covar=0.05, max_iter=5, init="random", random_state=seed, wide="refuse"
        ).fit(X, constraints=table)
        assert_allclose(found.lower_bounds_, values, rtol=1e-9)
        order = renumbered(found.means_, means)
        assert_allclose(found.weights_[order], weights, rtol=1e-7)
        assert_allclose(found.means_[order], means, rtol=1e-7, atol=1e-9)
        assert_allclose(found.covariances_[order], covariances, rtol=1e-7, atol=1e-9)
        assert_allclose(found.responsibilities_[:, order], responsibilities, atol=1e-8)


@pytest.mark.kernels
def test_mean_field_says_what_its_beliefs_prove():
    rng = np.random.default_rng(1)
    below = 0
    for _ in range(examples(200, 2000)):
        n, k = int(rng.integers(3, 7)), 2
        prices, _, table = tangle(rng, n)
        if len(prices) < n:  # a forest stays exact
            continue
        model = Enumeration(n, k, prices=prices, sampling="points", normalized=False)
        log_density, weights = rng.normal(size=(n, k)), rng.dirichlet(np.ones(k) * 3)
        beliefs = beliefs_of(table, k, "mean_field")
        assert beliefs.rough is not None
        value, chance = beliefs.expect(log_density, weights)
        tied = np.isin(np.arange(n), beliefs.rough.node)
        if tied.all():
            assert_allclose(value, bound_of_independent_labels(model, log_density, weights, chance), atol=1e-6)
        exact = model.expect(log_density, weights)[0]
        assert value <= exact + 1e-9
        below += value < exact - 1e-3
        labels = beliefs.decide(beliefs.log_weight(log_density, weights))
        each = model.log_weights(log_density, weights)
        reached = each[(model.rows == labels).all(axis=1)][0]
        for i in range(n):  # no single change betters them
            other = labels.copy()
            other[i] = 1 - other[i]
            assert reached >= each[(model.rows == other).all(axis=1)][0] - 1e-9
    assert below > 10


@pytest.mark.kernels
def test_mean_field_keeps_hard_pairs_exactly_and_its_bound_holds():
    rng = np.random.default_rng(2)
    seen = 0
    for _ in range(examples(200, 2000)):
        n, k = 6, 2
        prices, cannot, table = tangle(rng, n, hard=0.7)
        model = Enumeration(n, k, cannot=cannot, prices=prices, sampling="points", normalized=False)
        beliefs = beliefs_of(table, k, "mean_field")
        if beliefs.rough is None or not cannot:
            continue
        seen += 1
        log_density, weights = rng.normal(size=(n, k)), rng.dirichlet(np.ones(k) * 3)
        value, chance = beliefs.expect(log_density, weights)
        assert value <= model.expect(log_density, weights)[0] + 1e-9
        labels = beliefs.decide(beliefs.log_weight(log_density, weights))
        for i, j in cannot:
            assert labels[i] != labels[j]
            assert_allclose(chance[i] + chance[j], 1)  # with two clusters, one has what the other has not
    assert seen > 20


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("max_states", [2**20, 27])
def test_the_objective_does_not_fall(kind, max_states):
    for seed in range(examples(4, 200)):
        X, y = blobs(seed, 120, 3)  # enough samples for no covariance to collapse
        rng = np.random.default_rng(seed)
        rows = np.array([rng.choice(120, size=2, replace=False) for _ in range(120)])
        same = (y[rows[:, 0]] == y[rows[:, 1]]) ^ (rng.random(120) < 0.2)  # some are wrong
        said = Constraints.build(120, must_link=rows[same], cannot_link=rows[~same], weight=1.5)
        said |= Constraints.build(120, must_link=[(0, 3)], cannot_link=[(0, 1), (1, 2)])
        if y[0] != y[3]:
            said = said.select(~((said.kind == Kind.MUST_LINK) & said.is_hard))
        model = PenalizedMixture(
            3, covariance_type=kind, max_states=max_states, reg_covar=0, tol=0, max_iter=30, random_state=seed
        ).fit(X, constraints=said)  # fmt: skip
        bounds = model.lower_bounds_
        assert (np.diff(bounds) >= -1e-8 * np.abs(bounds[1:])).all()
        assert model.certificate_.ok


def test_sampling_agrees_with_enumeration_up_to_chance():
    rng = np.random.default_rng(3)
    errors = []
    for turn in range(examples(20, 200)):
        n, k = 6, 2
        prices, cannot, table = tangle(rng, n, hard=0.5)
        model = Enumeration(n, k, cannot=cannot, prices=prices, sampling="points", normalized=False)
        beliefs = beliefs_of(table, k, "gibbs", n_sweeps=4000, seed=turn)
        if beliefs.rough is None:
            continue
        log_density, weights = rng.normal(size=(n, k)), rng.dirichlet(np.ones(k) * 3)
        value, chance = beliefs.expect(log_density, weights)
        exact, responsibilities = model.expect(log_density, weights)
        errors.append(np.abs(chance - responsibilities).max())
        each = model.log_weights(log_density, weights)
        assert value <= exact + 1e-9
        labels = beliefs.decide(beliefs.log_weight(log_density, weights))
        assert_allclose(
            each[(model.rows == labels).all(axis=1)][0], each.max(), atol=1e-9
        )  # so few states are all seen
    assert len(errors) > 10
    assert np.mean(errors) < 0.02
    assert max(errors) < 0.2  # prices that add up make a chain that is slow to turn over


@pytest.mark.kernels
def test_sampling_visits_only_allowed_labelings_and_says_what_the_best_is_worth():
    rng = np.random.default_rng(4)
    seen = 0
    for turn in range(examples(15, 300)):
        n, k = 6, 3
        prices, cannot, table = tangle(rng, n, hard=0.8)
        model = Enumeration(n, k, cannot=cannot, prices=prices, sampling="points", normalized=False)
        beliefs = beliefs_of(table, k, "gibbs", max_states=9, n_sweeps=20, seed=turn)
        if beliefs.rough is None or len(beliefs.rough.node) < n:
            continue
        seen += 1
        log_density, weights = rng.normal(size=(n, k)), rng.dirichlet(np.ones(k) * 3)
        value, chance = beliefs.expect(log_density, weights)
        labels = beliefs.rough.label[np.argsort(beliefs.rough.node)]
        at = np.flatnonzero((model.rows == labels).all(axis=1))
        assert len(at) == 1
        assert_allclose(value, model.log_weights(log_density, weights)[at[0]])
        assert_allclose(chance.sum(axis=1), 1)
        again = beliefs.expect(log_density, weights)[0]
        assert again >= value - 1e-9  # it begins at the best labeling known
    assert seen > 5


def test_two_copies_are_one_of_their_summed_weight_and_weight_zero_is_none():
    X = standardized(blobs(1)[0])
    pairs = [(0, 5), (7, 9), (5, 30), (30, 0)]
    options = {"random_state": 0, "wide": "mean_field", "max_states": 9}
    for word in ("must_link", "cannot_link"):
        once = Constraints.build(60, **{word: pairs}, weight=1.25)
        twice = Constraints.build(60, **{word: pairs}, weight=0.5) | Constraints.build(60, **{word: pairs}, weight=0.75)
        one, two = (PenalizedMixture(3, **options).fit(X, constraints=said) for said in (once, twice))
        assert_allclose(one.lower_bounds_, two.lower_bounds_, rtol=1e-12)
        assert_array_equal(one.labels_, two.labels_)
        none = PenalizedMixture(3, **options).fit(X, constraints=once.with_weight(0.0))
        plain = GaussianMixture(3, random_state=0).fit(X)
        assert_allclose(none.means_, plain.means_)
        assert_allclose(none.lower_bounds_, plain.lower_bounds_)


def test_a_group_is_its_pairs():
    X, _ = blobs(2)
    for word, pair in (("together", "must_link"), ("apart", "cannot_link")):
        group = Constraints.build(60, **{word: [[3, 8, 20]]}, weight=0.8)
        pairs = Constraints.build(60, **{pair: [(3, 8), (3, 20), (8, 20)]}, weight=0.8)
        one, other = (PenalizedMixture(3, random_state=0).fit(X, constraints=said) for said in (group, pairs))
        assert_allclose(one.lower_bounds_, other.lower_bounds_, rtol=1e-12)


def test_the_heavier_a_statement_the_more_it_counts():
    X = np.r_[np.zeros(10), np.full(10, 3.0)][:, None] + np.random.default_rng(0).normal(size=(20, 1)) * 0.5
    together = []
    for weight in (0.1, 2.0, 50.0, np.inf):
        said = Constraints.build(20, must_link=[(0, 19)], weight=weight)
        found = PenalizedMixture(2, covariance_type="tied", random_state=0).fit(X, constraints=said).responsibilities_
        together.append(float(found[0] @ found[19]))
    assert (np.diff(together[:3]) > 0).all()
    assert_allclose(together[2], together[3], rtol=1e-4)


def test_a_heavy_weight_is_nearly_hard():
    X, y = blobs(4, 30, 2)
    rng = np.random.default_rng(0)
    rows = np.array([rng.choice(30, size=2, replace=False) for _ in range(12)])
    same = y[rows[:, 0]] == y[rows[:, 1]]
    hard = Constraints.build(30, must_link=rows[same], cannot_link=rows[~same])
    assert same.any()
    one = PenalizedMixture(2, random_state=3, init="random", max_iter=8, tol=0).fit(X, constraints=hard)
    near = PenalizedMixture(2, init=one.means_, max_iter=300, tol=1e-10)  # start both where the first one ended
    one, other = (clone(near).fit(X, constraints=said) for said in (hard, hard.with_weight(60.0)))
    assert_allclose(one.lower_bound_, other.lower_bound_, rtol=1e-6)
    assert_array_equal(one.labels_, other.labels_)


def test_wrong_statements_are_overruled_and_listed():
    X, y = blobs(0, 90, 3, apart=6.0)
    rng = np.random.default_rng(0)
    rows = np.array([rng.choice(90, size=2, replace=False) for _ in range(60)])
    true = y[rows[:, 0]] == y[rows[:, 1]]
    wrong = np.arange(60) < 6
    said = Constraints.build(90, must_link=rows[true ^ wrong], cannot_link=rows[~(true ^ wrong)], weight=2.0)
    model = PenalizedMixture(3, random_state=0).fit(X, constraints=said)
    assert len(model.certificate_.soft_violated) == 6
    strict = said.select(model.certificate_.held).with_weight(np.inf)
    assert ConstrainedGaussianMixture(3, random_state=0).fit(X, constraints=strict).certificate_.ok


@pytest.mark.parametrize("wide", ["mean_field", "gibbs"])
def test_statements_too_wide_to_sum_over_still_help(wide):
    rng = np.random.default_rng(0)
    X, y = blobs(1, 150, 3, apart=1.2)
    rows = np.array([rng.choice(150, size=2, replace=False) for _ in range(900)])
    same = y[rows[:, 0]] == y[rows[:, 1]]
    said = Constraints.build(150, must_link=rows[same], cannot_link=rows[~same], weight=2.0)
    with pytest.raises(LinkwiseError, match=r"one connected set of statements ties 150 groups"):
        PenalizedMixture(3, wide="refuse").fit(X, constraints=said)
    told = PenalizedMixture(3, wide=wide, n_init=3, random_state=0).fit(X, constraints=said)
    plain = PenalizedMixture(3, n_init=3, random_state=0).fit(X)
    assert (told.n_approximated_, plain.n_approximated_) == (150, 0)
    joined = y[:, None] == y
    share = [(joined == (one.labels_[:, None] == one.labels_)).mean() for one in (plain, told)]
    assert share[1] > 0.95 > share[0] + 0.05
    again = PenalizedMixture(3, wide=wide, n_init=3, random_state=0).fit(X, constraints=said)
    assert_array_equal(again.labels_, told.labels_)


def test_hard_cannot_links_too_wide_for_tables_are_sampled_when_asked_for():
    rng = np.random.default_rng(0)
    X, y = blobs(3, 60, 6, apart=3.0)
    rows = np.array([(i, j) for i in range(60) for j in range(i) if y[i] != y[j] and rng.random() < 0.35])
    said = Constraints.build(60, cannot_link=rows)
    with pytest.raises(LinkwiseError, match=r"one connected set of hard cannot-links .* ties 60 groups[\s\S]*gibbs"):
        PenalizedMixture(6, covariance_type="spherical").fit(X, constraints=said)
    model = PenalizedMixture(6, covariance_type="spherical", wide="gibbs", random_state=0).fit(X, constraints=said)
    assert model.certificate_.ok
    assert model.certificate_.n_hard == len(rows)
