"""Whatever is said about whatever data, a learned metric is finite, one, proved as near the optimum as it says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose

from linkwise import Constraints, Kind
from linkwise.engines import ITML, LSML, RCA, ChunkletLDA, DiscriminativeRCA, SVMMetric, XingMetric
from linkwise.exceptions import LinkwiseWarning
from tests.oracles.metrics_learned import xing_sums
from tests.profile import examples

LEARNERS = [
    XingMetric(),
    XingMetric(form="diagonal"),
    RCA(),
    RCA(1),
    DiscriminativeRCA(),
    ChunkletLDA(),
    ITML(),
    ITML(solver="bregman", max_iter=50),
    LSML(),
    LSML(loss="margin", prior="covariance"),
    SVMMetric(),
]


@st.composite
def instances(draw):
    """Small integer grids, which have ties, duplicates and constant features, or spread ones; any statements."""
    n, d = draw(st.integers(4, 9)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.integers(0, draw(st.integers(1, 4)), size=(n, d)).astype(float)
    if draw(st.booleans()):
        X += rng.normal(size=(n, d)) * 10.0 ** draw(st.integers(-3, 3))
    sample = st.integers(0, n - 1)
    pair = st.tuples(sample, sample).filter(lambda p: p[0] != p[1])
    trio = st.tuples(sample, sample, sample).filter(lambda t: len(set(t)) == 3)
    weight = draw(st.sampled_from([np.inf, 1.0, 0.01]))
    return (
        X,
        {
            Kind.MUST_LINK: draw(st.lists(pair, max_size=6)),
            Kind.CANNOT_LINK: draw(st.lists(pair, max_size=6)),
            Kind.TRIPLET: draw(st.lists(trio, max_size=5)),
            Kind.TOGETHER: draw(st.lists(trio, max_size=2)),
            Kind.APART: draw(st.lists(trio, max_size=2)),
        },
        weight,
    )


@pytest.mark.parametrize("model", LEARNERS, ids=repr)
@settings(max_examples=examples(25, 1500), deadline=None)
@given(instances())
def test_any_statements_about_any_data_give_a_metric(model, instance):
    X, said, weight = instance
    told = {kind.word: rows for kind, rows in said.items() if kind in type(model).understands}
    c = Constraints.build(len(X), **told, weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", LinkwiseWarning)
        model.fit(X, constraints=c)
    M = model.get_mahalanobis_matrix()
    assert np.isfinite(M).all()
    assert np.isfinite(model.objective_)
    values = np.linalg.eigvalsh(M)
    assert values[0] >= -1e-10 * values[-1]
    assert values[-1] > 0
    assert model.gap_ >= 0
    assert np.isfinite(model.transform(X)).all()


@settings(max_examples=examples(25, 1000), deadline=None)
@given(instances(), st.integers(0, 10**6))
def test_no_metric_beats_what_xing_proves(instance, seed):
    X, said, _ = instance
    must, cannot = said[Kind.MUST_LINK], said[Kind.CANNOT_LINK]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        model = XingMetric().fit(X, constraints=Constraints.build(len(X), must_link=must, cannot_link=cannot))
    if model.shrinkage_ or (model.components_ == np.eye(X.shape[1])).all():
        return  # another problem, or none
    must, cannot = ([(pair, 1.0) for pair in pairs] for pairs in (must, cannot))
    f, g = xing_sums(model.get_mahalanobis_matrix(), X, must, cannot)
    assert_allclose(f, 1.0, rtol=1e-8)
    assert_allclose(g, model.objective_, rtol=1e-6)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        L = rng.normal(size=(X.shape[1], X.shape[1]))
        f, other = xing_sums(L.T @ L, X, must, cannot)
        assert other <= g * (1 + model.gap_) * np.sqrt(f) * (1 + 1e-9)
