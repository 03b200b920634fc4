"""scikit-learn's own checks on every estimator: once for each way through its code, and no expected failures.

The checks are about reading samples, keeping parameters and answering with attributes. Values of a parameter that go
the same way are not checked again: all linkages on a matrix share one loop, and ``n_clusters`` is read in one place.
"""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from tests.contract.cases import CASES, CLUSTERERS, LEARNERS

# Estimators whose checks need constraints or find no clusters in X alone, and the files that run them.
ELSEWHERE = {case.name: case.checks for case in CASES if case.checks}
ELSEWHERE["KnowledgeSearchCV"] = "tests/unit/selection/test_search.py"
# Hands feature vectors to clusterers, also to those that expect distances.
VECTORS_ONLY = "check_clustering"
# Asks SciPy for a setting that a process has to be started with, and reports it by skipping itself.
ARRAY_API = "check_array_api_input"


def name_of(check):
    return getattr(check, "func", check).__name__


def checks(cases):
    """Each check of each estimator, once for each way through its code."""
    for case in (case for case in cases if not case.checks):
        always = {"n_clusters": 2} if case.answers in CLUSTERERS else {}
        always |= {"random_state": 0} if case.answers in LEARNERS and case.has("random_state") else {}
        for way in (way for way in case.ways if way.checks):
            estimator = case.estimator(**always | case.options | way.options)
            left_out = {ARRAY_API, VECTORS_ONLY if way.options.get("metric") == "precomputed" else ""}
            words = ",".join(f"{key}={value}" for key, value in way.options.items())
            for made, check in estimator_checks_generator(estimator):
                if name_of(check) not in left_out:
                    yield pytest.param(made, check, id=f"{case.name}({words})-{name_of(check)}")


@pytest.mark.parametrize(("name", "file"), ELSEWHERE.items())
def test_estimators_checked_elsewhere_are_checked_there(name, file, pytestconfig):
    text = (pytestconfig.rootpath / file).read_text(encoding="utf-8")
    assert "estimator_checks_generator(" in text
    assert name in text


@pytest.mark.parametrize(("estimator", "check"), list(checks(CASES)))
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
