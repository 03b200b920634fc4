"""State of an estimator: kept by a fit that fails, the same after another fit, in a copy and from a file."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from linkwise import Constraints
from linkwise.constraints import MaxCentroidDistance, SizeBetween
from linkwise.engines import RCA, DistBoost, SVMMetric, XingMetric
from linkwise.exceptions import InfeasibleConstraintsError, UnsupportedConstraintError
from tests.contract.agreement import assert_same
from tests.contract.cases import ALL, BY_CLASS, CLUSTERERS, LEARNERS, TREE, each, fit, quiet
from tests.contract.test_hard_statements import OPPOSITE


@each(ALL, "example")
def test_a_failed_fit_leaves_the_state(case, example):
    X, c = example.problem(14)
    model = fit(example.model, X, c)
    before = dict(vars(model))
    if case.answers in CLUSTERERS:
        with pytest.raises(InfeasibleConstraintsError):
            model.fit(X, constraints=Constraints.build(len(X), **OPPOSITE[example.kinds[0]]))
    foreign = next(rule for rule in (SizeBetween(1), MaxCentroidDistance(100.0)) if type(rule) not in case.rules)
    with pytest.raises(UnsupportedConstraintError):
        model.fit(X[:, :1], constraints=Constraints.build(len(X), rules=foreign))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full_like(X, np.nan))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


@each(ALL, "example")
def test_second_fits_copies_and_files_agree(case, example, tmp_path):
    X, c = example.problem(13)
    model = fit(example.model, X, c)
    fresh = clone(model)
    assert not hasattr(fresh, "constraints_")
    joblib.dump(model, tmp_path / "model.joblib")
    others = [fit(fresh, X, c), pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")]
    with quiet():
        others.append(fresh.fit(X[:10]).fit(X, constraints=c))
    for other in others:
        assert_same(other, model)
        assert other.constraints_ == model.constraints_
        for way in ("predict", "transform"):
            if case.has(way):
                assert_array_equal(getattr(other, way)(X), getattr(model, way)(X))
        if case.answers == TREE:
            assert_array_equal(other.children_, model.children_)
        if case.answers in LEARNERS:
            assert other.constraints_ == c


def test_joblib_fits_learners_in_other_processes_as_here():
    solvers = (RCA, SVMMetric, XingMetric, DistBoost)  # a closed form, two sorts of descent, boosting
    chosen = [BY_CLASS[cls].examples()[0] for cls in solvers]
    jobs = [(example.model, *example.problem(13)) for example in chosen]
    fitted = joblib.Parallel(n_jobs=2)(joblib.delayed(clone(model).fit)(X, constraints=c) for model, X, c in jobs)
    for (model, X, c), other in zip(jobs, fitted, strict=True):
        assert_array_equal(other.transform(X), fit(model, X, c).transform(X))
        assert other.constraints_ == c
