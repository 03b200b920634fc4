"""Constraints passed as ``y``, by position or by name, are used: no estimator loses them."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linkwise import (
    ConstrainedGaussianMixture,
    Constraints,
    COPKMeans,
    IPoptim,
    Kind,
    KnowledgeSearchCV,
    PenalizedMixture,
)
from linkwise.engines import ConstrainedClusterer, DistanceLearner, MetricLearner
from linkwise.exceptions import ConstraintError, LinkwiseWarning
from tests.contract.discovery import blobs, estimators, takers_of_y, truth

BASES = {ConstrainedClusterer, DistanceLearner, MetricLearner}
TAKERS = [cls for cls in takers_of_y() if cls not in BASES]
each = pytest.mark.parametrize("cls", TAKERS, ids=lambda cls: cls.__name__)
pytestmark = pytest.mark.filterwarnings(f"ignore::{LinkwiseWarning.__module__}.LinkwiseWarning")


def made(cls):
    """A small model that gives the same result each time."""
    if cls is KnowledgeSearchCV:
        return KnowledgeSearchCV(COPKMeans(3, random_state=0), {"n_clusters": [3, 4]}, cv=3, random_state=0)
    offered = inspect.signature(cls).parameters
    options = {"random_state": 0, "n_clusters": 3, "n_rounds": 2}
    return cls(**{name: value for name, value in options.items() if name in offered})


def known(cls):
    """Data, and statements of the kinds an estimator understands that change its result."""
    X, y = blobs(3)
    X = np.random.default_rng(0).permutation(X)  # so that the statements are news
    kinds = getattr(cls, "understands", {Kind.MUST_LINK, Kind.CANNOT_LINK})
    kinds = {kind for kind in kinds if kind not in (Kind.TOGETHER, Kind.APART)} or kinds
    return X, Constraints.build(len(X), **{kind.word: truth(kind, y, 1) for kind in sorted(kinds)})


def result(model, X):
    """What a fitted model says: labels, or where it moves the samples."""
    return model.labels_ if hasattr(model, "labels_") else model.transform(X)


def quietly(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return call()


def test_the_walk_finds_all_that_take_y():
    names = {cls.__name__ for cls in TAKERS}
    assert {cls.__name__ for cls in estimators()} <= names
    assert {cls.__name__ for cls in estimators(DistanceLearner)} - {"MetricLearner"} <= names
    assert "KnowledgeSearchCV" in names


@each
def test_constraints_as_y_are_used(cls):
    X, said = known(cls)
    expected = quietly(lambda: result(made(cls).fit(X, constraints=said), X))
    assert_array_equal(quietly(lambda: result(made(cls).fit(X, said), X)), expected)
    assert_array_equal(quietly(lambda: result(made(cls).fit(X, y=said), X)), expected)
    if cls is not KnowledgeSearchCV:  # which needs statements
        assert quietly(lambda: made(cls).fit(X, said)).constraints_.n_statements == said.n_statements
        if cls is not IPoptim:  # whose changes here are below the cut
            assert not np.array_equal(expected, quietly(lambda: result(made(cls).fit(X), X)))


@each
def test_the_short_ways_use_them_too(cls):
    X, said = known(cls)
    expected = quietly(lambda: result(made(cls).fit(X, constraints=said), X))
    if hasattr(cls, "fit_predict"):
        assert_array_equal(quietly(lambda: made(cls).fit_predict(X, said)), expected)
        assert_array_equal(quietly(lambda: made(cls).fit_predict(X, y=said)), expected)
        assert_array_equal(quietly(lambda: made(cls).fit_predict(X, constraints=said)), expected)
    if hasattr(cls, "fit_transform"):
        moved = quietly(lambda: made(cls).fit(X, constraints=said).transform(X))
        assert_array_equal(quietly(lambda: made(cls).fit_transform(X, said)), moved)
        assert_array_equal(quietly(lambda: made(cls).fit_transform(X, constraints=said)), moved)


@each
def test_a_pipeline_hands_them_on(cls):
    X, said = known(cls)
    scaled = StandardScaler().fit_transform(X)
    expected = quietly(lambda: result(made(cls).fit(scaled, constraints=said), scaled))
    pipe = make_pipeline(StandardScaler(), made(cls))
    assert_array_equal(quietly(lambda: result(clone(pipe).fit(X, said)[-1], scaled)), expected)
    if hasattr(cls, "fit_predict"):
        assert_array_equal(quietly(lambda: clone(pipe).fit_predict(X, said)), expected)


@each
def test_both_at_once_are_refused_with_the_line_to_type(cls):
    X, said = known(cls)
    with pytest.raises(ConstraintError, match=r"twice, as y and as constraints.*\nHint: fit\(X, constraints=a \| b\)"):
        made(cls).fit(X, said, constraints=said)


@each
def test_any_other_y_is_ignored(cls):
    X, said = known(cls)
    expected = quietly(lambda: result(made(cls).fit(X, constraints=said), X))
    y = np.arange(len(X)) % 2
    assert_array_equal(quietly(lambda: result(made(cls).fit(X, y, constraints=said), X)), expected)


@pytest.mark.parametrize("cls", [ConstrainedGaussianMixture, PenalizedMixture])
def test_a_score_refuses_constraints(cls):
    X, said = known(cls)
    model = quietly(lambda: made(cls).fit(X, said))
    assert model.score(X, np.zeros(len(X))) == model.score(X)
    with pytest.raises(TypeError, match=r"score got Constraints as y.*\nHint: score"):
        model.score(X, said)
