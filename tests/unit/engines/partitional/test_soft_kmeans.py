"""Soft k-means: what weights mean, what is refused, sparse and learned data, and what new rows get."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from linkwise import Constraints, Kind, MPCKMeans, PCKMeans
from linkwise.engines import CVQE, LCVQE, HMRFKMeans, MKMeans
from linkwise.engines.partitional import COPKMeans
from linkwise.exceptions import LinkwiseError
from tests.profile import examples
from tests.unit.engines.outcomes import outcome

cop_kmeans = partial(outcome, COPKMeans)
cvqe = partial(outcome, CVQE)
hmrf_kmeans = partial(outcome, HMRFKMeans)
lcvqe = partial(outcome, LCVQE)
mk_means = partial(outcome, MKMeans)
mpck_means = partial(outcome, MPCKMeans)
pck_means = partial(outcome, PCKMeans)

FUNCTIONS = [pck_means, mk_means, mpck_means, hmrf_kmeans, cvqe, lcvqe]
WEIGHING = [f for f in FUNCTIONS if f is not mk_means]
each = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.args[0].__name__)
weighing = pytest.mark.parametrize("function", WEIGHING, ids=lambda f: f.args[0].__name__)


def loose(seed, n=40, d=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    y[:3] = [0, 1, 2]
    return rng.normal(size=(n, d)) + 1.5 * y[:, None], y


def some_pairs(seed, n, m):
    rng = np.random.default_rng(seed)
    pairs = [tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(m)]
    return pairs[: m // 2], pairs[m // 2 :]


def assert_equal_runs(a, b):
    assert_array_equal(a.labels, b.labels)
    assert_array_equal(a.centers, b.centers)
    assert a.objective == b.objective


# -- weights ----------------------------------------------------------------------------------------------------------


@each
def test_two_copies_of_a_pair_are_one_with_the_sum_of_the_weights(function):
    for seed in range(examples(10, 200)):
        X, _ = loose(seed)
        must, cannot = some_pairs(seed, 40, 20)
        one = Constraints.build(40, must_link=must, cannot_link=cannot, weight=0.75)
        two = Constraints.build(
            40,
            must_link=must + [(j, i) for i, j in must],
            cannot_link=cannot + cannot,
            weight=[0.5] * 10 + [0.25] * 10 + [0.5] * 10 + [0.25] * 10,
        )
        assert_equal_runs(function(X, one, 3, random_state=seed), function(X, two, 3, random_state=seed))


@each
def test_weight_zero_is_absence(function):
    X, _ = loose(0)
    must, cannot = some_pairs(0, 40, 10)
    weight = [1.0] * 5 + [0.0] + [1.0] * 5 + [0.0]
    said = Constraints.build(40, must_link=[*must, (0, 9)], cannot_link=[*cannot, (1, 8)], weight=weight)
    less = Constraints.build(40, must_link=must, cannot_link=cannot, weight=1.0)
    assert_equal_runs(function(X, said, 3, random_state=0), function(X, less, 3, random_state=0))


@each
def test_a_group_is_all_its_pairs(function):
    X, _ = loose(4)
    grouped = Constraints.build(40, together=[[0, 5, 9]], apart=[[1, 2, 30]], weight=2.0)
    pairs = Constraints.build(
        40, must_link=[(0, 5), (0, 9), (5, 9)], cannot_link=[(1, 2), (1, 30), (2, 30)], weight=2.0
    )
    for inference in ("trees", "icm"):
        a, b = (function(X, c, 3, random_state=0, inference=inference, init=X[:3]) for c in (grouped, pairs))
        assert_equal_runs(a, b)


@weighing
def test_contradictions_are_weighed(function):
    """The heavier of two opposite statements about one pair decides."""
    X = np.array([[0.0], [0.2], [6.0], [6.1], [3.1]])
    for must, cannot in ((1e6, 1.0), (1.0, 1e6)):
        c = Constraints.build(
            5, must_link=[(0, 2)], cannot_link=[(0, 2)], weight={"must_link": must, "cannot_link": cannot}
        )
        run = function(X, c, 2, init=[[0.0], [6.0]])
        if function in (cvqe, lcvqe) and must > cannot:
            assert run.labels[0] == run.labels[2]
        assert (run.labels[0] == run.labels[2]) == (must > cannot)


def test_large_weights_give_what_hard_statements_give():
    for seed in range(examples(10, 200)):
        X, y = loose(seed)
        must, cannot = some_pairs(seed, 40, 24)
        must = [(i, j) for i, j in must if y[i] == y[j]]
        cannot = [(i, j) for i, j in cannot if y[i] != y[j]]
        hard = Constraints.build(40, must_link=must, cannot_link=cannot)
        softly = pck_means(X, hard.with_weight(1e7), 3, init=X[:3])
        if softly.best_assignment:
            assert_array_equal(softly.labels, cop_kmeans(X, hard, 3, init=X[:3]).labels)


def test_hard_statements_alone_give_cop_kmeans():
    """A soft method that is told nothing soft is the hard method."""
    for seed in range(examples(10, 200)):
        X, y = loose(seed)
        must, cannot = some_pairs(seed, 40, 24)
        hard = Constraints.build(
            40,
            must_link=[(i, j) for i, j in must if y[i] == y[j]],
            cannot_link=[(i, j) for i, j in cannot if y[i] != y[j]],
        )
        expected = cop_kmeans(X, hard, 3, init=X[:3])
        for function in (pck_means, hmrf_kmeans, cvqe, lcvqe):
            run = function(X, hard, 3, init=X[:3])
            assert_array_equal(run.labels, expected.labels)
            assert_allclose(run.inertia, expected.inertia)


def test_soft_statements_within_hard_groups_are_charged_once():
    """A soft cannot-link between hard must-linked samples is broken whatever happens; a soft must-link never is."""
    X, _ = loose(1)
    hard = Constraints.build(40, must_link=[(0, 1), (1, 2)])
    softer = hard | Constraints.build(40, must_link=[(0, 2)], cannot_link=[(0, 2)], weight=7.0)
    a, b = (pck_means(X, c, 3, init=X[3:6]) for c in (hard, softer))
    assert_array_equal(a.labels, b.labels)
    assert_allclose(b.objective, a.objective + 7.0)


def test_statements_in_the_way_of_hard_ones_are_charged():
    X, _ = loose(1)
    hard = Constraints.build(40, cannot_link=[(0, 1)])
    softer = hard | Constraints.build(40, must_link=[(0, 1)], cannot_link=[(0, 1)], weight=7.0)
    a, b = (pck_means(X, c, 3, init=X[3:6]) for c in (hard, softer))
    assert_array_equal(a.labels, b.labels)
    assert_allclose(b.objective, a.objective + 7.0)


def test_random_order_is_the_seeds_business():
    X, _ = loose(2)
    must, cannot = some_pairs(2, 40, 60)
    c = Constraints.build(40, must_link=must, cannot_link=cannot, weight=2.0)
    a, b = (pck_means(X, c, 3, inference="icm", random_state=5, init=X[:3]) for _ in range(2))
    assert_equal_runs(a, b)
    found = {pck_means(X, c, 3, inference="icm", random_state=s, init=X[:3], n_init=1).objective for s in range(30)}
    assert len(found) > 1
    assert pck_means(X, c, 3, inference="icm", random_state=0, init=X[:3], n_init=30).objective <= min(found) * 1.2


# -- learned metrics --------------------------------------------------------------------------------------------------


def test_a_metric_finds_the_feature_that_matters():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = np.column_stack([y + 0.1 * rng.normal(size=120), 3.0 * rng.normal(size=120)])
    pairs = rng.integers(120, size=(200, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    c = Constraints.build(120, must_link=pairs[same], cannot_link=pairs[~same], weight=1.0)
    for model in (
        MPCKMeans(2, random_state=0),
        MKMeans(2, random_state=0),
        MPCKMeans(2, form="full", random_state=0),
    ):
        model.fit(X, constraints=c)
        weight = model.metric_ if model.metric_.ndim == 1 else np.diag(model.metric_)
        assert weight[0] > 10 * weight[1]
    labels = MPCKMeans(2, random_state=0).fit(X, constraints=c).labels_
    assert max((labels == y).mean(), (labels != y).mean()) > 0.95


@pytest.mark.parametrize("metric", ["diagonal", "full"])
@pytest.mark.parametrize("per_cluster", [False, True])
def test_metrics_are_positive_and_new_rows_are_measured_by_them(metric, per_cluster):
    X, _ = loose(3)
    must, cannot = some_pairs(3, 40, 20)
    c = Constraints.build(40, must_link=must, cannot_link=cannot, weight=1.0)
    model = MPCKMeans(3, form=metric, per_cluster=per_cluster, random_state=0).fit(X, constraints=c)
    A = np.asarray(model.metric_)
    assert A.shape == ((3,) if per_cluster else ()) + ((3, 3) if metric == "full" else (3,))
    A = A if per_cluster else np.repeat(A[None], 3, axis=0)
    full = A if metric == "full" else np.stack([np.diag(a) for a in A])
    assert (np.linalg.eigvalsh(full) > 0).all()
    gap = X[:, None] - model.cluster_centers_
    away = np.einsum("nkd,kde,nke->nk", gap, full, gap)
    assert_allclose(model.transform(X), np.sqrt(away))
    covariance = np.cov(X.T, bias=True)
    ridge = 1e-3 * (covariance if metric == "full" else np.diag(np.diag(covariance)))
    cost = away - np.linalg.slogdet(full)[1] + np.trace(full @ ridge, axis1=1, axis2=2)
    assert_array_equal(model.predict(X), cost.argmin(axis=1))
    free = np.setdiff1d(np.arange(40), np.ravel(must + cannot))
    assert_array_equal(model.labels_[free], model.predict(X)[free])


def test_full_metrics_turn_with_the_data():
    X, _ = loose(5)
    must, cannot = some_pairs(5, 40, 20)
    c = Constraints.build(40, must_link=must, cannot_link=cannot, weight=1.0)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    a = mpck_means(X, c, 3, form="full", init=X[:3])
    b = mpck_means(X @ turn + 4.0, c, 3, form="full", init=X[:3] @ turn + 4.0)
    assert_array_equal(a.labels, b.labels)
    assert_allclose(turn.T @ a.metric @ turn, b.metric, rtol=1e-6, atol=1e-9)


def test_weights_of_features_go_with_their_units():
    X, _ = loose(6)
    X = X * [1e3, 1.0, 1e-3]
    for metric in ("diagonal", "full"):
        found = mpck_means(X, Constraints.build(40), 1, form=metric).metric
        wanted = np.diag(1 / np.var(X, axis=0)) if metric == "diagonal" else np.linalg.inv(np.cov(X.T, bias=True))
        assert_allclose(found, (np.diag(wanted) if metric == "diagonal" else wanted) / 1.001, rtol=1e-6)


@pytest.mark.parametrize("function", [mk_means, mpck_means])
def test_flat_data_keep_metrics_finite(function):
    X = np.column_stack([np.arange(8.0), np.ones(8), np.zeros(8)])
    c = Constraints.build(8, must_link=[(0, 7)], cannot_link=[(0, 1), (3, 4)], weight=1.0)
    for metric in ("diagonal", "full"):
        for per_cluster in (False, True):
            for data in (X, np.zeros((8, 3))):
                run = function(data, c, 3, form=metric, per_cluster=per_cluster, random_state=0)
                assert np.isfinite(run.metric).all()
                assert np.isfinite(run.objective)
                assert len(set(run.labels.tolist())) == 3


# -- sparse data and other distortions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (pck_means, {}),
        (cvqe, {}),
        (lcvqe, {}),
        (hmrf_kmeans, {}),
        (hmrf_kmeans, {"distortion": "cosine"}),
        (hmrf_kmeans, {"distortion": "kl"}),
    ],
    ids=["pck", "cvqe", "lcvqe", "hmrf", "cosine", "kl"],
)
def test_sparse_rows_give_what_dense_ones_give(function, options):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.6, size=(50, 12)).astype(float)
    X[:, 0] += 1
    must, cannot = some_pairs(1, 50, 24)
    c = Constraints.build(50, must_link=must, cannot_link=cannot, weight=0.7)
    for inference in ("trees", "icm"):
        a, b = (
            function(x, c, 4, init=X[:4], inference=inference, random_state=0, **options) for x in (X, sp.csr_array(X))
        )
        assert_array_equal(a.labels, b.labels)
        assert_allclose(a.centers, b.centers)
        assert_allclose(a.objective, b.objective)


@pytest.mark.parametrize("distortion", ["squared_euclidean", "cosine", "kl"])
def test_sparse_rows_are_never_made_dense(distortion):
    """400 texts over 100,000 words would be 320 MB."""
    X = sp.random_array((400, 100_000), density=2e-4, format="csr", rng=np.random.default_rng(0))
    X = sp.csr_array(X + sp.csr_array((np.ones(400), (np.arange(400), np.zeros(400, dtype=int))), shape=X.shape))
    must, cannot = some_pairs(1, 400, 60)
    c = Constraints.build(400, must_link=must, cannot_link=cannot, weight=0.5)
    model = HMRFKMeans(3, distortion=distortion, random_state=0, n_init=1, max_iter=5)
    tracemalloc.start()
    model.fit(X, constraints=c)
    model.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


def test_directions_and_distributions_are_scaled():
    rng = np.random.default_rng(1)
    X = rng.random((30, 5)) + 0.01
    scale = rng.uniform(0.5, 20.0, size=(30, 1))
    c = Constraints.build(30, must_link=[(0, 9), (3, 4)], cannot_link=[(1, 2)], weight=0.1)
    for distortion in ("cosine", "kl"):
        a, b = (hmrf_kmeans(x, c, 3, distortion=distortion, init=X[:3]) for x in (X, X * scale))
        assert_array_equal(a.labels, b.labels)
        assert_allclose(a.objective, b.objective)
    centers = hmrf_kmeans(X, c, 3, distortion="cosine", random_state=0).centers
    assert_allclose(np.linalg.norm(centers, axis=1), 1.0)
    centers = hmrf_kmeans(X, c, 3, distortion="kl", random_state=0).centers
    assert_allclose(centers.sum(axis=1), 1.0)


def test_other_distortions_predict_and_transform():
    rng = np.random.default_rng(1)
    X = rng.random((30, 5)) + 0.01
    model = HMRFKMeans(3, distortion="cosine", random_state=0).fit(X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert_allclose(model.transform(X), 1 - unit @ model.cluster_centers_.T, atol=1e-12)
    assert_array_equal(model.predict(X), model.labels_)
    model = HMRFKMeans(3, distortion="kl", random_state=0).fit(X)
    p = X / X.sum(axis=1, keepdims=True)
    away = (p[:, None] * np.log(p[:, None] / model.cluster_centers_)).sum(axis=2)
    assert_allclose(model.transform(X), away, atol=1e-12)
    assert_array_equal(model.predict(X), model.labels_)


def test_opposite_directions_leave_a_center():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    run = hmrf_kmeans(X, Constraints.build(3, must_link=[(0, 1)]), 2, distortion="cosine", random_state=0)
    assert np.isfinite(run.centers).all()
    assert run.labels[0] == run.labels[1] != run.labels[2]


# -- empty clusters ---------------------------------------------------------------------------------------------------


@each
def test_every_cluster_has_samples_from_any_start(function):
    for seed in range(examples(5, 100)):
        X, _ = loose(seed, 20)
        must, cannot = some_pairs(seed, 20, 30)
        c = Constraints.build(20, must_link=must, cannot_link=cannot, weight=5.0)
        far = np.vstack([X[:1], np.full((4, 3), 100.0) + np.arange(4)[:, None]])
        values = []
        run = function(
            X, c, 5, init=far, watch=lambda step, labels, centers, metric, v, values=values: values.append(v)
        )
        assert sorted(set(run.labels.tolist())) == [0, 1, 2, 3, 4]
        if function is not mk_means:  # whose assignment looks at distances only
            assert (np.diff(values) <= 1e-9 * (1 + np.abs(values[:-1]))).all()


@each
def test_soft_must_links_over_everything_still_give_all_clusters(function):
    X, _ = loose(0, 12)
    c = Constraints.build(12, together=[list(range(12))], weight=1e6)
    run = function(X, c, 4, random_state=0)
    assert sorted(set(run.labels.tolist())) == [0, 1, 2, 3]


@each
def test_one_cluster_and_one_sample(function):
    c = Constraints.build(3, must_link=[(0, 1)], cannot_link=[(1, 2)], weight=1.0)
    X = np.array([[0.0, 1.0], [1.0, 0.5], [5.0, 2.0]])
    run = function(X, c, 1)
    assert run.labels.tolist() == [0, 0, 0]
    assert np.isfinite(run.objective)
    assert function(X[:1], Constraints.build(1), 1).labels.tolist() == [0]


# -- what is refused --------------------------------------------------------------------------------------------------


def test_metrics_that_cannot_be_learned_are_refused():
    X, _ = loose(0)
    c = Constraints.build(40)
    with pytest.raises(LinkwiseError, match=r'does not learn a metric with distortion="cosine" and form="full"'):
        hmrf_kmeans(X, c, 3, distortion="cosine", form="full")
    with pytest.raises(LinkwiseError, match=r'with distortion="pearson" and per_cluster=True'):
        hmrf_kmeans(X, c, 3, distortion="pearson", form="diagonal", per_cluster=True)
    with pytest.raises(TypeError, match="a metric is learned from dense rows only"):
        mpck_means(sp.csr_array(X), c, 3)


def test_rows_without_direction_or_sum_are_refused():
    X = np.ones((4, 2))
    X[2] = 0.0
    with pytest.raises(LinkwiseError, match="row 2 of X has no direction"):
        hmrf_kmeans(X, Constraints.build(4), 2, distortion="cosine")
    with pytest.raises(LinkwiseError, match="row 2 of X sums to zero"):
        HMRFKMeans(2, distortion="kl").fit(sp.csr_array(X))
    with pytest.raises(LinkwiseError, match="numbers below 0"):
        hmrf_kmeans(-X, Constraints.build(4), 2, distortion="kl")
    with pytest.raises(LinkwiseError, match="centers that are not distributions"):
        hmrf_kmeans(np.ones((4, 2)), Constraints.build(4), 1, distortion="kl", init=[[0.0, 0.0]])


def test_soft_groups_beyond_measure_are_refused():
    c = Constraints.build(6000, together=[list(range(6000))], weight=1.0)
    with pytest.raises(LinkwiseError, match="stand for 17,997,000 pairs"):
        pck_means(np.zeros((6000, 1)), c, 2)


def test_hard_groups_are_not_written_out():
    X, y = loose(0, 6000)
    c = Constraints.build(6000, together=[np.flatnonzero(y == 0)], apart=[[0, 1, 2]])
    run = pck_means(X, c, 3, random_state=0, n_init=1, max_iter=5)
    assert len(set(run.labels[y == 0].tolist())) == 1
    assert len(set(run.labels[:3].tolist())) == 3


# -- estimators -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [PCKMeans, MKMeans, MPCKMeans, HMRFKMeans, CVQE, LCVQE])
def test_estimators_report_the_objective_iteration_by_iteration(estimator):
    X, _ = loose(0)
    must, cannot = some_pairs(0, 40, 20)
    c = Constraints.build(40, must_link=must, cannot_link=cannot, weight=1.0)
    model = estimator(3, random_state=0).fit(X, constraints=c)
    assert estimator.weighs
    assert Kind.APART in estimator.understands
    assert len(model.objectives_) >= model.n_iter_
    assert (np.diff(model.objectives_) <= 1e-9).all()
    assert_allclose(model.objective_, model.objectives_[-1])
    assert model.certificate_.ok
    assert model.constraints_ == c
    assert model.best_assignment_ in (True, False)
