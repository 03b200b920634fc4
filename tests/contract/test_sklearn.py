"""scikit-learn's own checks on every estimator, in several dresses; no expected failures."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.contract.discovery import ESTIMATORS

LINKAGES = ("single", "complete", "average", "weighted", "ward", "centroid", "median")
DRESSES = [
    *({"linkage": linkage} for linkage in LINKAGES),
    *({"linkage": linkage, "metric": "precomputed"} for linkage in ("average", "single", "centroid")),
    {"linkage": "complete", "metric": "cityblock"},
    {"n_clusters": None},
    {"n_clusters": None, "distance_threshold": 1.0},
    {"n_clusters": 1},
]
OWN = {
    "ConstrainedAgglomerative": [{"dtype": "float32"}, {"dtype": "float32", "linkage": "ward"}],
    "ReCon": [{"cut": "merges"}, {"min_cluster_size": 2}],
}


def candidates():
    return [cls(**dress) for cls in ESTIMATORS for dress in [*DRESSES, *OWN.get(cls.__name__, [])]]


# A check that needs an array-API library tells so with this warning; nothing else about it is ignored.
@pytest.mark.filterwarnings("ignore:.*SCIPY_ARRAY_API:sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(candidates(), expected_failed_checks=lambda estimator: {})
def test_scikit_learn_checks(estimator, check):
    check(estimator)
