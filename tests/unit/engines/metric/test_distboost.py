"""DistBoost: boosting by the square of all pairs, mixtures by enumeration, and distances that are distances."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from linkwise import ConstrainedAgglomerative, Constraints, Kind, ReCon
from linkwise.engines import DistBoost
from linkwise.engines.metric._boosting import Labeled, PairWeights, best_step, boost
from linkwise.engines.metric._distboost import WeakMixture, draw_forest, fit_weak_mixture
from linkwise.engines.metric._kernels import grow_forest
from linkwise.engines.mixture._constrained_mixture import Given
from linkwise.engines.mixture._em import Settings, climb_weighted
from linkwise.engines.mixture._factors import read_chunklets
from linkwise.exceptions import LinkwiseError, LinkwiseWarning, MemoryLimitError, UnsupportedConstraintError
from linkwise.problem import Problem
from linkwise.sources import label_pairs
from tests.oracles.boosted_distance import alike, boost_with_matrices, memberships, weighted_em
from tests.oracles.mixture import Enumeration
from tests.profile import examples

pytestmark = pytest.mark.kernels


def ring(seed=0, n=80):
    """A ring around a heap: no linear metric parts them."""
    rng = np.random.default_rng(seed)
    y, angle = np.arange(n) % 2, rng.uniform(0, 2 * np.pi, n)
    radius = np.where(y, 4.0, 0.0) + 0.5 * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def statements(rng, n, m):
    """Random labeled pairs with weights; some are said twice, some contradict each other."""
    ends = np.array([rng.choice(n, size=2, replace=False) for _ in range(m)])
    ends[m // 2] = ends[0]
    return Labeled(ends[:, 0], ends[:, 1], rng.choice([-1.0, 1.0], size=m), rng.uniform(0.1, 3.0, size=m))


# -- boosting ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(examples(6, 200)))
def test_boosting_is_that_of_the_square_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    n, m, rounds, k = int(rng.integers(4, 12)), int(rng.integers(2, 14)), 8, 3
    pairs = statements(rng, n, m)
    noise = rng.normal(size=(rounds, n, k))
    bias = rng.normal(size=(n, k))

    def weak(told):
        def learn(sample_weight, pair_weight):
            z = 2 * noise[len(told)] + bias * np.log(sample_weight + 1e-3)[:, None]  # answers depend on what is asked
            for i, j, label, w in zip(pairs.first, pairs.second, pairs.label, pair_weight, strict=True):
                z[j] += label * w * z[i]
            told.append((sample_weight, pair_weight))
            return np.exp(z) / np.exp(z).sum(axis=1)[:, None]

        return learn

    heard, expected = [], []
    found = boost(n, pairs, weak(heard), rounds)
    said = list(zip(*(part.tolist() for part in pairs), strict=True))
    history, losses, _ = boost_with_matrices(n, said, weak(expected), rounds)
    steps = np.zeros(len(history))
    steps[found.kept] = found.step
    assert_allclose(steps, [step for step, _, _ in history], atol=1e-5)
    assert len(heard) == len(expected) == len(history)
    for (a, b), (_, c, d) in zip(heard, history, strict=True):
        assert_allclose(a, c, rtol=1e-3, atol=1e-4)
        assert_allclose(b, d, rtol=1e-3, atol=1e-4)
    assert_allclose(found.losses, losses, rtol=1e-3)
    assert (np.diff(found.losses) <= 1e-12).all()


def test_weights_of_all_pairs_add_up_to_one_and_unlabeled_ones_fade():
    rng = np.random.default_rng(0)
    pairs = statements(rng, 9, 7)
    weights = PairWeights(9, pairs)
    margin, before = rng.uniform(-1, 1, size=7), 1.0
    for _ in range(400):
        assert weights.of_samples().sum() == pytest.approx(1.0)
        assert 0 <= weights.unlabeled <= before
        before = weights.unlabeled
        weights.update(1.5, margin)
    assert weights.unlabeled == 0.0
    assert np.isfinite(weights.labeled).all()


def test_the_step_is_the_best_one():
    rng = np.random.default_rng(1)
    for _ in range(50):
        weight = rng.dirichlet(np.ones(6))
        margin = rng.uniform(-1, 1, size=6)
        step = best_step(weight, margin, 0.05)
        if weight @ margin <= 0:
            assert step == 0.0
            continue
        grid = np.linspace(0, 5, 2001)
        loss = np.exp(-grid[:, None] * margin) @ weight + 0.1 * np.cosh(grid)
        assert step == pytest.approx(grid[loss.argmin()], abs=2e-3)
        assert weight @ np.exp(-step * margin) <= 1.0
    assert best_step(np.array([1.0]), np.array([1.0]), 0.5) == pytest.approx(np.log(3) / 2)  # faultless, yet finite


def test_boosting_gives_up_when_nothing_is_better_than_chance():
    pairs = Labeled(np.array([0]), np.array([1]), np.array([1.0]), np.array([1.0]))
    asked = []

    def stubborn(*_):
        asked.append(1)
        return np.eye(3)

    found = boost(3, pairs, stubborn, 50)
    assert len(asked) == 10
    assert len(found.kept) == 0
    assert_array_equal(found.losses, np.ones(11))


# -- the weak learner -------------------------------------------------------------------------------------------------


def test_statements_drawn_are_a_forest_and_heavy_ones_come_first():
    rng = np.random.RandomState(0)
    gen = np.random.default_rng(0)
    pairs = statements(gen, 10, 40)
    weight = np.full(40, 1e-9)
    weight[7] = 1.0
    for _ in range(20):
        chosen = draw_forest(10, pairs, np.full(40, 1.0), rng)
        ends = np.column_stack([pairs.first, pairs.second])[chosen]
        assert grow_forest(10, ends.astype(np.int64)).all()
        assert draw_forest(10, pairs, weight, rng).tolist() == [7]
    assert_array_equal(grow_forest(4, np.array([(0, 1), (1, 2), (2, 0), (0, 1), (2, 3)])), [1, 1, 0, 0, 1])


def test_weighted_em_is_that_of_the_definition():
    for seed in range(examples(4, 200)):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(6, 2)) + 3 * (np.arange(6) % 2)[:, None]
        must, cannot = [(0, 2)], [(2, 1), (1, 4), (3, 5)]
        sample_weight = rng.uniform(0.1, 2.0, size=6)
        start = X[[0, 1]]
        told = Constraints.build(6, must_link=must, cannot_link=cannot)
        settings = Settings("full", 0.0, 0.05, 3, 1, start - X.mean(axis=0), 0)
        given = Given(read_chunklets(Problem(X, told, n_clusters=2), 4), 2, "chunklets", 4, "test")
        weights, found = climb_weighted(X, given, 2, settings, sample_weight)
        model = Enumeration(6, 2, must, cannot)
        # the start: the labeling nearest to the centers among those in which all holds
        square = ((X[:, None] - start) ** 2).sum(axis=2)
        best = min(model.rows, key=lambda row: square[np.arange(6), row].sum())
        expected = weighted_em(X, model, np.eye(2)[best], sample_weight, 0.05, 3)
        assert_allclose(weights, expected[0], rtol=1e-6)
        assert_allclose(found.means, expected[1], rtol=1e-6)
        assert_allclose(found.covariances, expected[2], rtol=1e-6, atol=1e-9)


def test_a_weight_of_three_is_three_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) + 4 * (np.arange(30) % 2)[:, None]
    times = rng.integers(1, 4, size=30)
    shift = X.mean(axis=0)
    start = X[:2] - shift
    Y = np.repeat(X, times, axis=0)
    runs = []
    for rows, weight in ((X, times.astype(float)), (Y, np.ones(len(Y)))):
        graph = read_chunklets(Problem(rows, Constraints.build(len(rows)), n_clusters=2), 4)
        # starts are made of unweighted samples, so that only after many rounds both agree
        settings = Settings("full", 0.0, 1e-6, 200, 1, start + shift - rows.mean(axis=0), 0)
        runs.append(climb_weighted(rows, Given(graph, 2, "chunklets", 4, "test"), 2, settings, weight))
    (one, a), (other, b) = runs
    assert_allclose(one, other, rtol=1e-6)
    assert_allclose(a.means, b.means, rtol=1e-6)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_memberships_are_those_of_the_mixture(kind):
    X, y = ring(1, 30)
    said = label_pairs(y, 10, random_state=0)
    found = DistBoost(n_rounds=3, covariance_type=kind, random_state=0).fit(X, constraints=said)
    for one in found.mixtures_:
        L = one.precisions_cholesky
        if kind == "spherical":
            L = np.sqrt(L[:, None] ** 2 * np.ones(2))
        if kind in ("diag", "spherical"):
            L = np.stack([np.diag(row) for row in L])
        if kind == "tied":
            L = np.stack([L] * len(one.weights))
        covariances = np.linalg.inv(L @ L.transpose(0, 2, 1))
        assert_allclose(one.memberships(X), memberships(X, one.weights, one.means, covariances), atol=1e-8)


def test_more_clusters_than_chunklets_are_not_asked_for():
    X = np.arange(4.0)[:, None]
    pairs = Labeled(np.array([0, 1, 2]), np.array([1, 2, 3]), np.ones(3), np.ones(3))
    settings = Settings("full", 1e-3, 0.1, 5, 1, "k-means++", np.random.RandomState(0))
    # the third link is all but never drawn, so that 0, 1 and 2 are one chunklet and 3 another
    found = fit_weak_mixture(X, pairs, np.array([0.5, 0.5, 1e-12]), np.ones(4), 3, settings)
    assert isinstance(found, WeakMixture)
    assert len(found.weights) <= 3
    assert found.memberships(X).shape == (4, len(found.weights))


# -- the distance -----------------------------------------------------------------------------------------------------


def test_distance_and_losses_follow_from_the_mixtures_by_definition():
    for seed in range(3):
        X, y = ring(seed, 30)
        said = label_pairs(y, 15, random_state=seed)
        model = DistBoost(n_rounds=8, random_state=seed).fit(X, constraints=said)
        P = [one.memberships(X) for one in model.mixtures_]
        expected = [
            [sum(w * (1 - alike(p[i], p[j])) / 2 for w, p in zip(model.weights_, P, strict=True)) for j in range(30)]
            for i in range(30)
        ]
        assert_allclose(model.distance_matrix(X), expected, atol=1e-12)
        assert model.weights_.sum() == pytest.approx(1.0)
        assert len(model.mixtures_) <= model.n_iter_ == len(model.losses_) - 1


def test_it_is_a_distance_between_zero_and_one():
    X, y = ring(2)
    model = DistBoost(n_rounds=12, random_state=0).fit(X, constraints=label_pairs(y, 30, random_state=0))
    D = model.distance_matrix(np.vstack([X, X[:5]]))
    assert_array_equal(D, D.T)
    assert_array_equal(np.diag(D), 0.0)
    assert_array_equal(D[np.arange(5), 80 + np.arange(5)], 0.0)
    assert D.min() >= 0.0
    assert D.max() <= 1.0
    assert (D[:, None, :] <= D[:, :, None] + D[None, :, :] + 1e-12).all()
    assert_allclose(cdist(model.transform(X), model.transform(X), "cityblock"), D[:80, :80], atol=1e-12)
    assert (np.diff(model.losses_) <= 1e-12).all()


def test_what_is_alike_comes_nearer_where_euclid_fails():
    for seed in range(3):
        X, y = ring(seed)
        said = label_pairs(y, 40, random_state=seed)
        model = DistBoost(n_rounds=12, random_state=seed).fit(X, constraints=said)
        D, far = model.distance_matrix(X)[y == 1], cdist(X, X)[y == 1]
        assert far[:, y == 1].mean() > far[:, y == 0].mean()  # for the ring the other class is nearer than its own
        assert D[:, y == 1].mean() < 0.3 * D[:, y == 0].mean()
        must, cannot = (model.pair_distance(X[said.of(kind)]) for kind in (Kind.MUST_LINK, Kind.CANNOT_LINK))
        assert must.mean() < 0.3 * cannot.mean()


def test_hierarchies_take_it_as_a_matrix_as_vectors_and_as_a_function():
    X, y = ring(3, 40)
    said = label_pairs(y, 25, random_state=0)
    model = DistBoost(n_rounds=5, random_state=0).fit(X, constraints=said)
    for cls in (ReCon, ConstrainedAgglomerative):
        matrix = cls(2, linkage="average", metric="precomputed").fit(model.distance_matrix(X), constraints=said)
        vectors = cls(2, linkage="average", metric="cityblock").fit(model.transform(X), constraints=said)
        called = cls(2, linkage="average", metric=model.get_metric()).fit(X, constraints=said)
        assert_array_equal(matrix.labels_, vectors.labels_)
        assert_array_equal(matrix.labels_, called.labels_)
        assert ((matrix.labels_ == matrix.labels_[0]) == (y == y[0])).mean() > 0.9


# -- statements -------------------------------------------------------------------------------------------------------


def test_wrong_statements_that_weigh_little_do_little():
    gains = []
    for seed in range(3):
        X, y = ring(seed)
        right = label_pairs(y, 30, random_state=seed)
        wrong = label_pairs(1 - y[np.random.default_rng(seed).permutation(80)], 30, random_state=seed + 50)

        def gap(c, X=X, y=y, seed=seed):
            D = DistBoost(n_rounds=12, random_state=seed).fit(X, constraints=c).distance_matrix(X)
            same = y[:, None] == y
            return D[~same].mean() - D[same].mean()

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkwiseWarning)
            doubted, believed = (gap(right.with_weight(1.0) | wrong.with_weight(w)) for w in (0.02, 1.0))
        gains.append(doubted - believed)
        assert doubted > 0.5
    assert np.mean(gains) > 0.1


def test_weight_zero_is_nothing_said_and_hard_weighs_one():
    X, y = ring(4, 40)
    said = label_pairs(y, 20, random_state=0)
    none = DistBoost(n_rounds=4, random_state=0).fit(X).transform(X)
    zero = DistBoost(n_rounds=4, random_state=0).fit(X, constraints=said.with_weight(0.0))
    assert_array_equal(zero.transform(X), none)
    assert zero.n_iter_ == 4
    assert len(zero.losses_) == 0
    hard, one = (
        DistBoost(n_rounds=4, random_state=0).fit(X, constraints=c).transform(X) for c in (said, said.with_weight(1.0))
    )
    assert_array_equal(hard, one)


def test_groups_count_as_their_pairs():
    X, y = ring(5, 40)
    together = [np.flatnonzero(y == k)[:6] for k in (0, 1)]
    said = Constraints.build(40, together=together, apart=[(0, 1), (2, 3)])
    D = DistBoost(random_state=0).fit(X, constraints=said).distance_matrix(X)
    same = y[:, None] == y
    assert D[same].mean() < D[~same].mean()


def test_statements_no_mixture_agrees_with_are_told():
    X, _ = ring(8, 20)
    said = Constraints.build(20, must_link=[(0, 1)], cannot_link=[(0, 1)])
    with pytest.warns(LinkwiseWarning) as told:
        model = DistBoost(random_state=0, n_rounds=12).fit(X, constraints=said)
    assert any("none of 10 mixtures agrees" in str(one.message) for one in told)
    assert len(model.weights_) == model.n_iter_ == 10
    assert_allclose(model.weights_, 0.1)


def test_coincident_cannot_links_are_told_and_left_out():
    X, _ = ring(6, 20)
    X[1] = X[0]
    with pytest.warns(LinkwiseWarning, match="have the same features"):
        DistBoost(n_rounds=2, random_state=0).fit(X, constraints=Constraints.build(20, cannot_link=[(0, 1), (2, 3)]))


def test_refusals_name_the_matter(monkeypatch):
    X, _ = ring(7, 20)
    with pytest.raises(UnsupportedConstraintError, match="triplets"):
        DistBoost().fit(X, constraints=Constraints.build(20, triplets=[(0, 2, 1)]))
    with pytest.raises(LinkwiseError, match="n_clusters=30"):
        DistBoost(30).fit(X)
    with pytest.raises(LinkwiseError, match="n_clusters=1, but there are cannot-links"):
        DistBoost(1).fit(X, constraints=Constraints.build(20, cannot_link=[(0, 1)]))
    model = DistBoost(n_rounds=1, random_state=0).fit(X)
    with pytest.raises(LinkwiseError, match=r"expected \(n_pairs, 2, 2\)"):
        model.pair_distance(X)
    monkeypatch.setattr("linkwise._memory.available_memory", lambda: 1000)
    with pytest.raises(MemoryLimitError, match=r"distances between 20,000 samples needs 3.0 GiB"):
        model.distance_matrix(np.repeat(X, 1000, axis=0))
