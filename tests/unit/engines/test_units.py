"""Units of the data: powers of ten between 1e-150 and 1e150 change neither labels nor learned distances."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from linkwise import ConstrainedCompleteLink, ConstrainedGaussianMixture, Constraints, MPCKMeans, PCKMeans
from linkwise.engines import (
    CVQE,
    ITML,
    LCVQE,
    LSML,
    RCA,
    ChunkletLDA,
    DiscriminativeRCA,
    DistBoost,
    HMRFKMeans,
    MKMeans,
    PenalizedMixture,
    SVMMetric,
    XingMetric,
    propagate,
)
from linkwise.engines.distances._units import in_unit, unit_of
from linkwise.exceptions import LinkwiseError, LinkwiseWarning

SCALES = [2.0**500, 2.0**-500, 2.0**100, 2.0**-100]  # powers of two, so that the data stay the same to the last digit
scales = pytest.mark.parametrize("scale", SCALES, ids=["2^500", "2^-500", "2^100", "2^-100"])
PAIRS = {"must_link": [(0, 1), (2, 3), (7, 9)], "cannot_link": [(0, 2), (5, 8), (1, 11)]}
LEARNERS = [
    (RCA(), {"must_link": PAIRS["must_link"]}),
    (RCA(1), {"must_link": PAIRS["must_link"]}),
    (DiscriminativeRCA(), PAIRS),
    (ChunkletLDA(), {"must_link": PAIRS["must_link"]}),
    (XingMetric(), PAIRS),
    (XingMetric(form="diagonal"), PAIRS),
    (DistBoost(n_rounds=3, random_state=0), PAIRS),
]
NEAR = [(ITML(), PAIRS), (LSML(), {"triplets": [(0, 1, 2), (3, 4, 5)]}), (LSML(), PAIRS)]
SOFT = [
    MKMeans(3, random_state=0),
    MPCKMeans(3, random_state=0),
    MPCKMeans(3, form="full", per_cluster=True, random_state=0),
    HMRFKMeans(3, form="diagonal", random_state=0),
    CVQE(3, random_state=0),
    LCVQE(3, random_state=0),
]


def cloud(seed=0, n=15):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + 3.0 * rng.integers(3, size=n)[:, None]


def name(value):
    return type(value).__name__ if hasattr(value, "fit") else ""


def said(rows, **options):
    return Constraints.build(15, **rows, **options)


def test_a_unit_is_a_power_of_two_or_one():
    X = cloud()
    assert unit_of(X) == unit_of(X * 1e15) == unit_of(np.zeros((2, 2))) == unit_of(np.empty((0, 2))) == 1.0
    assert in_unit(X, 1.0) is X
    for scale in (1e150, 1e-150, 1e30, 1e-300, 1.7e308 / np.abs(X).max()):
        unit = unit_of(X * scale)
        assert np.frexp(unit)[0] == 0.5
        assert 1.0 <= np.abs(in_unit(X * scale, unit)).max() < 2.0
        assert_array_equal(in_unit(X * scale, unit) * unit, X * scale)


@scales
@pytest.mark.parametrize(("learner", "rows"), LEARNERS, ids=name)
def test_a_learned_space_does_not_depend_on_units(learner, rows, scale):
    X, table = cloud(), said(rows)
    plain = learner.fit(X, constraints=table).transform(X)
    assert_allclose(learner.fit(X * scale, constraints=table).transform(X * scale), plain, rtol=1e-7, atol=1e-9)
    assert_allclose(
        learner.pair_distance(scale * X[[(0, 1), (4, 9)]]),
        learner.fit(X, constraints=table).pair_distance(X[[(0, 1), (4, 9)]]),
    )


@scales
@pytest.mark.parametrize("prior", ["identity", "covariance"])
@pytest.mark.parametrize(("learner", "rows"), NEAR, ids=name)
def test_a_metric_near_a_prior_does_not_depend_on_units(learner, rows, prior, scale):
    X, table = cloud(), said(rows)
    learner.set_params(prior=prior)
    plain, moved = learner.fit(X, constraints=table).transform(X), learner.fit(X * scale, constraints=table)
    factor = 1.0 if prior == "covariance" else scale
    assert_allclose(moved.transform(X * scale) / factor, plain, rtol=1e-5, atol=1e-7)
    assert np.isfinite(moved.pair_distance(scale * X[[(0, 1)]])).all()


@scales
def test_bounds_and_unit_are_those_of_the_data(scale):
    X = cloud()
    if scale in SCALES[2:]:
        plain = ITML(bounds=(1.0, 4.0)).fit(X, constraints=said(PAIRS)).components_
        moved = ITML(bounds=(scale**2, 4 * scale**2)).fit(X * scale, constraints=said(PAIRS)).components_
        assert_allclose(moved, plain, rtol=1e-5)
        plain = LSML(unit=2.0).fit(X, constraints=said(PAIRS)).components_
        moved = LSML(unit=2.0 * scale).fit(X * scale, constraints=said(PAIRS)).components_
        assert_allclose(moved, plain, rtol=1e-5)
        return
    with pytest.raises(LinkwiseError, match=r"too far from the scale of X.*\n?Hint: bounds=None"):
        ITML(bounds=(1.0, 4.0)).fit(X * scale, constraints=said(PAIRS))
    with pytest.raises(LinkwiseError, match=r"times the given unit.*\n?.*Hint: unit=\"auto\""):
        LSML(unit=1.0).fit(X * scale, constraints=said(PAIRS))


@pytest.mark.parametrize("scale", [1e150, 1e-150])
def test_distances_that_single_precision_cannot_hold_are_refused(scale):
    X, table = cloud(), said(PAIRS)
    with pytest.raises(LinkwiseError, match=r"which float32 cannot hold.*\nHint: dtype=np.float64"):
        propagate(X * scale, table, dtype=np.float32)
    with pytest.raises(LinkwiseError, match=r"which float32 cannot hold"):
        ConstrainedCompleteLink(3, dtype="float32").fit(X * scale, constraints=table)
    labels = ConstrainedCompleteLink(3, dtype="float64").fit(X * scale, constraints=table).labels_
    assert_array_equal(labels, ConstrainedCompleteLink(3).fit(X, constraints=table).labels_)


def test_a_margin_of_one_refuses_data_out_of_proportion():
    X, table = cloud(), said({"triplets": [(0, 1, 2)]})
    for scale in (1e150, 1e-150):
        with pytest.raises(LinkwiseError, match=r"too far from the margin.*\n?.*Hint: scale the features"):
            SVMMetric().fit(X * scale, constraints=table)
    assert np.isfinite(SVMMetric().fit(X * 1e3, constraints=table).components_).all()


@scales
@pytest.mark.parametrize("weight", [1e-12, 1.0, 1e9])
@pytest.mark.parametrize("model", SOFT, ids=name)
def test_soft_kmeans_that_charges_distances_does_not_depend_on_units(model, weight, scale):
    X, table = cloud(), said(PAIRS, weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = model.fit(X, constraints=table).labels_
        plain, objective = model.transform(X), model.objective_
        assert_array_equal(model.fit(X * scale, constraints=table).labels_, labels)
    learned = hasattr(model, "metric_")
    assert_allclose(model.transform(X * scale), plain if learned else plain * scale, rtol=1e-7)
    assert_array_equal(model.predict(X * scale), model.fit(X, constraints=table).predict(X))
    if not learned and 1e-30 < scale < 1e35:
        assert_allclose(model.fit(X * scale, constraints=table).objective_, objective * scale**2)


def test_weights_that_are_prices_are_in_the_units_of_the_data():
    X = cloud()
    scale = 2.0**80
    plain = PCKMeans(3, random_state=0).fit(X, constraints=said(PAIRS, weight=2.0))
    moved = PCKMeans(3, random_state=0).fit(X * scale, constraints=said(PAIRS, weight=2.0 * scale**2))
    assert_array_equal(plain.labels_, moved.labels_)
    assert_allclose(moved.objective_, plain.objective_ * scale**2)
    assert_allclose(moved.cluster_centers_, plain.cluster_centers_ * scale)
    tiny = PCKMeans(3, random_state=0).fit(X * 2.0**-500, constraints=said(PAIRS, weight=1e9))
    assert tiny.certificate_.soft_violated == ()


def test_an_empty_cluster_is_filled_where_nothing_is_held():
    X = np.random.default_rng(0).normal(size=(15, 2)) * 1e150
    table = Constraints.build(15, together=[(2, 3, 1), (11, 10, 4)], weight=1e9)
    model = MKMeans(5, random_state=0).fit(X, constraints=table)
    assert model.n_clusters_ == 5


def test_features_of_very_different_units_leave_a_metric_regular():
    X = cloud() * [1e40, 1e-40]
    for options in ({"form": "full"}, {"form": "diagonal"}, {"form": "full", "per_cluster": True}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = MPCKMeans(3, random_state=0, **options).fit(X, constraints=said(PAIRS, weight=1.0))
        assert np.isfinite(model.objective_)
        assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("cls", [ConstrainedGaussianMixture, PenalizedMixture])
class TestMixtures:
    @scales
    @pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
    def test_the_mixture_does_not_depend_on_units(self, cls, kind, scale):
        X, table = cloud(), said(PAIRS)
        plain = cls(3, covariance_type=kind, random_state=0).fit(X, constraints=table)
        moved = cls(3, covariance_type=kind, random_state=0).fit(X * scale, constraints=table)
        assert_array_equal(moved.labels_, plain.labels_)
        assert_allclose(moved.means_, plain.means_ * scale)
        assert_allclose(moved.lower_bounds_, plain.lower_bounds_ - 2 * np.log(scale))
        assert_allclose(moved.score_samples(X * scale), plain.score_samples(X) - 2 * np.log(scale))
        assert_array_equal(moved.predict(X * scale), plain.predict(X))
        assert_allclose(moved.covariances_, plain.covariances_ * scale * scale)

    def test_small_units_do_not_drown(self, cls):
        for scale in (1e-9, 1.0, 1e9):
            labels = cls(2, random_state=0).fit(np.array([[0.0], [1.0], [10.0], [11.0]]) * scale).labels_
            assert labels[0] == labels[1] != labels[2] == labels[3]

    @pytest.mark.parametrize("kind", ["full", "tied", "diag"])
    def test_units_of_single_features_do_not_matter(self, cls, kind):
        X, table, units = cloud(), said(PAIRS), np.array([2.0**20, 2.0**-20])
        plain = cls(3, covariance_type=kind, init="random", random_state=0).fit(X, constraints=table)
        moved = cls(3, covariance_type=kind, init="random", random_state=0).fit(X * units, constraints=table)
        assert_array_equal(moved.labels_, plain.labels_)
        assert_allclose(moved.means_, plain.means_ * units, rtol=1e-6)
        assert_allclose(moved.lower_bounds_, plain.lower_bounds_, rtol=1e-6)

    def test_fewer_clusters_are_told_and_numbered_without_gaps(self, cls):
        X = np.zeros((6, 1))
        with pytest.warns(LinkwiseWarning, match=r"found 1 cluster instead of n_clusters=3.*\n?.*Hint: "):
            model = cls(3, random_state=0).fit(X)
        assert model.labels_.tolist() == [0] * 6
        assert model.n_clusters_ == 1
        assert model.responsibilities_.shape == (6, 3)
        assert_array_equal(model.predict(X), model.labels_)

    def test_gaussians_without_samples_come_last(self, cls):
        found = 0
        for seed in range(40):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(12, 1))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LinkwiseWarning)
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = cls(5, random_state=seed, init="random").fit(X)
            used = np.unique(model.labels_)
            assert_array_equal(used, np.arange(len(used)))
            assert_array_equal(model.labels_, model.responsibilities_.argmax(axis=1))
            assert_array_equal(model.labels_, model.predict(X))
            assert model.n_clusters_ == len(used)
            found += len(used) < 5
        assert found > 5
