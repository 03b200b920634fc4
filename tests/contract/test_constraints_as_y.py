"""Constraints passed as ``y``, by position or by name, are used: no estimator loses them."""

from __future__ import annotations

import warnings
from functools import cache, partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linkwise import Constraints, COPKMeans, Kind, KnowledgeSearchCV
from linkwise.exceptions import ConstraintError, LinkwiseWarning
from tests.contract.cases import BY_CLASS, CASES
from tests.contract.discovery import blobs, truth

TAKERS = [*(case.estimator for case in CASES), KnowledgeSearchCV]
each = pytest.mark.parametrize("cls", TAKERS, ids=lambda cls: cls.__name__)


def make(cls):
    """A small model that gives the same result each time."""
    if cls is KnowledgeSearchCV:
        return KnowledgeSearchCV(COPKMeans(3, random_state=0), {"n_clusters": [3, 4]}, cv=3, random_state=0)
    options = {"n_clusters": 3, "n_rounds": 2}
    return BY_CLASS[cls].make(**{name: value for name, value in options.items() if BY_CLASS[cls].has(name)})


@cache
def problem(cls):
    """Samples, and statements of the kinds an estimator understands that change its result."""
    X, y = blobs(3)
    X = np.random.default_rng(0).permutation(X)  # so that the statements are news
    kinds = BY_CLASS[cls].kinds if cls in BY_CLASS else {Kind.MUST_LINK, Kind.CANNOT_LINK}
    kinds -= {Kind.TOGETHER, Kind.APART}
    return X, Constraints.build(len(X), **{kind.word: truth(kind, y, 1) for kind in sorted(kinds)})


def quietly(call):
    """Call without warnings of broken statements and loops that ended early."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", LinkwiseWarning)
        return call()


def fit(model, X, *args, **options):
    return quietly(lambda: model.fit(X, *args, **options))


def result(model, X):
    """The answer of a fitted model: a tree, labels, or the samples it moved."""
    if hasattr(model, "dendrogram_"):
        return np.column_stack([model.dendrogram_.parent, model.dendrogram_.raw_height])
    return model.labels_ if hasattr(model, "labels_") else model.transform(X)


@cache
def expected(cls):
    """A model fitted to constraints given by their name."""
    X, c = problem(cls)
    return fit(make(cls), X, constraints=c)


@each
def test_constraints_as_y_are_used(cls):
    X, c = problem(cls)
    for model in (fit(make(cls), X, c), fit(make(cls), X, y=c)):
        assert_array_equal(result(model, X), result(expected(cls), X))
    if cls is not KnowledgeSearchCV:  # which needs statements
        assert model.constraints_.n_statements == c.n_statements
        assert not np.array_equal(result(model, X), result(fit(make(cls), X), X))


@each
@pytest.mark.parametrize("name", ["fit_predict", "fit_transform"])
def test_the_short_ways_use_them_too(cls, name):
    if not hasattr(cls, name):
        return
    X, c = problem(cls)
    want = expected(cls).labels_ if name == "fit_predict" else expected(cls).transform(X)
    for args, options in (((c,), {}), ((), {"y": c}), ((), {"constraints": c})):
        short = getattr(make(cls), name)
        assert_array_equal(quietly(partial(short, X, *args, **options)), want)


@each
def test_a_pipeline_hands_them_on(cls):
    X, c = problem(cls)
    scaled = StandardScaler().fit_transform(X)
    by_hand = fit(make(cls), scaled, constraints=c)
    pipe = make_pipeline(StandardScaler(), make(cls))
    assert_array_equal(result(fit(clone(pipe), X, c)[-1], scaled), result(by_hand, scaled))
    if hasattr(cls, "fit_predict"):
        assert_array_equal(quietly(lambda: clone(pipe).fit_predict(X, c)), by_hand.labels_)


@each
def test_both_at_once_are_refused_with_the_line_to_type(cls):
    X, c = problem(cls)
    with pytest.raises(ConstraintError, match=r"twice, as y and as constraints.*\nHint: fit\(X, constraints=a \| b\)"):
        make(cls).fit(X, c, constraints=c)


@each
def test_any_other_y_is_ignored(cls):
    X, c = problem(cls)
    model = fit(make(cls), X, np.arange(len(X)) % 2, constraints=c)
    assert_array_equal(result(model, X), result(expected(cls), X))


@pytest.mark.parametrize("cls", [cls for cls in TAKERS if hasattr(cls, "score") and cls is not KnowledgeSearchCV])
def test_a_score_refuses_constraints(cls):
    X, c = problem(cls)
    model = expected(cls)
    assert model.score(X, np.zeros(len(X))) == model.score(X)
    with pytest.raises(TypeError, match=r"score got Constraints as y.*\nHint: score"):
        model.score(X, c)
