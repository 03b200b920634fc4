"""scikit-learn's own checks on every estimator, in several dresses; no expected failures."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from tests.contract.discovery import ESTIMATORS, linkages, make

DRESSES = [
    {"linkage": "complete", "metric": "cityblock"},
    {"n_clusters": None},
    {"n_clusters": 1},
]
OWN = {
    "ConstrainedAgglomerative": [{"dtype": "float32"}, {"dtype": "float32", "linkage": "ward"}],
    "IPoptim": [{"enforce": "joint", "norm": "l1"}],
    "ConstrainedCompleteLink": [{"dtype": "float32"}, {"metric_input": False}],
    "ReCon": [{"cut": "merges"}, {"min_cluster_size": 2}, {"min_cluster_size": "auto"}],
    "UltraTran": [{"variant": "strict"}],
}


# Hands feature vectors to whoever clusters, so also to those told to expect distances.
VECTORS_ONLY = {"check_clustering"}

# A check that needs an array-API library tells so with this warning; nothing else about it is ignored.
array_api = pytest.mark.filterwarnings("ignore:.*SCIPY_ARRAY_API:sklearn.exceptions.SkipTestWarning")


def vectors():
    for cls in ESTIMATORS:
        dresses = [*({"linkage": name} for name in linkages(cls)), *DRESSES, *OWN.get(cls.__name__, [])]
        yield from (make(cls, **{"n_clusters": 2, **dress}) for dress in dresses)


def distances():
    for cls in ESTIMATORS:
        for linkage in [name for name in linkages(cls) if name != "ward"]:
            for estimator, check in estimator_checks_generator(make(cls, 2, linkage=linkage, metric="precomputed")):
                name = check.func.__name__
                if name not in VECTORS_ONLY:
                    yield pytest.param(estimator, check, id=f"{cls.__name__}-{linkage}-{name}")


@array_api
@parametrize_with_checks(list(vectors()), expected_failed_checks=lambda estimator: {})
def test_checks_on_vectors(estimator, check):
    check(estimator)


@array_api
@pytest.mark.parametrize(("estimator", "check"), list(distances()))
def test_checks_on_distances(estimator, check):
    check(estimator)
