"""scikit-learn's own checks on every estimator: once for each way through its code, and no expected failures.

The checks are about reading samples, keeping parameters and answering with attributes. Values of a parameter that go
the same way are not checked again: all linkages on a matrix share one loop, and ``n_clusters`` is read in one place.
"""

from __future__ import annotations

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import estimator_checks_generator

import linkwise.selection
from linkwise.engines import DistanceLearner
from tests.contract.discovery import estimators

# Ways through the code of each estimator, with the reason for those that are not the default.
WAYS = {
    "ConstrainedAgglomerative": [
        {},  # rounds over a matrix: single, complete, average and weighted differ in one formula
        {"linkage": "ward"},  # works on points: ward, centroid and median
        {"linkage": "single"},  # a spanning tree
        {"linkage": "complete", "metric": "cityblock"},  # distances that are not Euclidean
        {"n_clusters": None},  # one cluster per tree; read by the base class of all hierarchies
        {"n_clusters": 1},
        {"dtype": "float32"},
        {"dtype": "float32", "linkage": "ward"},
        {"metric": "precomputed"},
        {"metric": "precomputed", "linkage": "single"},
        {"metric": "precomputed", "linkage": "median"},  # heights may fall: a loop of its own
    ],
    "ConstrainedCompleteLink": [
        {},
        {"dtype": "float32"},
        {"metric_input": False},  # distances are taken as they are
        {"metric": "precomputed"},
    ],
    "HACoc": [{}, {"linkage": "ward"}, {"metric": "precomputed"}],
    "IPoptim": [{}, {"enforce": "joint", "norm": "l1"}, {"metric": "precomputed"}],
    "ReCon": [
        {},
        {"linkage": "ward"},
        {"n_clusters": None},  # cuts where statements say, not by a number
        {"cut": "merges"},
        {"min_cluster_size": 2},
        {"min_cluster_size": "auto"},
        {"metric": "precomputed"},
    ],
    "UltraTran": [{}, {"variant": "strict"}, {"metric": "precomputed"}],
    # small steps: large ones on two features leave one of them, and then all samples are equally similar
    "BiHAC": [{"learning_rate": 0.05}],
    "BiiHAC": [{}],
    "IHAC": [{}],
    "COPKMeans": [{}, {"assignment": "greedy"}, {"init": "neighborhoods"}, {"n_clusters": 1}],
    "ConstrainedKMeans": [{}],
    "SeededKMeans": [{}],
    "PCKMeans": [{}, {"inference": "icm"}],
    "MPCKMeans": [{}, {"form": "full", "per_cluster": True}],
    "HMRFKMeans": [{}, {"form": "diagonal"}],
    "MKMeans": [{}],
    "CVQE": [{}, {"update": "printed"}],
    "LCVQE": [{}],
    "KernelKMeans": [
        {},
        {"n_clusters": 1},
        {"objective": "normalized_cut", "kernel": "nearest_neighbors"},
        {"kernel": "rbf"},
    ],
    "SpectralLearning": [{}, {"n_clusters": 1}, {"affinity": "rbf"}],
    "NeighborhoodPropagation": [{}, {"n_clusters": 1}],
    "ConstrainedGaussianMixture": [{}, {"n_clusters": 3, "covariance_type": "tied", "sampling": "points"}],
    "PenalizedMixture": [{}, {"n_clusters": 1, "covariance_type": "diag", "wide": "gibbs"}],
    "ChunkletLDA": [{}],
    "DiscriminativeRCA": [{}],
    "RCA": [{}, {"n_components": 1}],  # fewer features out than in; one place for all learners
    "ITML": [{}, {"solver": "lbfgs"}, {"solver": "bregman", "tol": 1e-5}],
    "LSML": [{}, {"loss": "margin"}, {"prior": "covariance"}],  # a prior learned from X, as in ITML
    "SVMMetric": [{}],
    "XingMetric": [{}, {"form": "diagonal"}, {"solver": "projection"}],
    "DistBoost": [{"n_clusters": 3}, {"covariance_type": "tied"}],
}
ALWAYS = {"DistBoost": {"n_rounds": 8, "random_state": 0}}
# Checked where they are tested: one needs statements in `fit`, the other finds no clusters in X alone.
ELSEWHERE = {
    "CorrelationClustering": "tests/unit/engines/test_correlation_clustering.py",
    "KnowledgeSearchCV": "tests/unit/choosing/test_search.py",
}
BASES = {"ConstrainedClusterer", "ConstrainedEstimator", "DistanceLearner", "MetricLearner"}

# Hands feature vectors to clusterers, also to those that expect distances.
VECTORS_ONLY = "check_clustering"
# Asks SciPy for a setting that a process has to be started with, and says so by skipping itself.
ARRAY_API = "check_array_api_input"

CLASSES = {cls.__name__: cls for cls in estimators(BaseEstimator) if cls.__name__ not in BASES}


def name_of(check):
    return getattr(check, "func", check).__name__


def cases():
    for name, ways in WAYS.items():
        for way in ways:
            number = {"n_clusters": 2} if "n_clusters" in CLASSES[name]._parameter_constraints else {}
            if issubclass(CLASSES[name], DistanceLearner):
                number = {}
            estimator = CLASSES[name](**{**number, **ALWAYS.get(name, {}), **way})
            left_out = {ARRAY_API, VECTORS_ONLY if way.get("metric") == "precomputed" else ""}
            dress = ",".join(f"{key}={value}" for key, value in way.items())
            for made, check in estimator_checks_generator(estimator):
                if name_of(check) not in left_out:
                    yield pytest.param(made, check, id=f"{name}({dress})-{name_of(check)}")


def test_every_estimator_is_checked():
    assert len(CLASSES) > 30
    assert linkwise.selection.KnowledgeSearchCV in CLASSES.values()
    assert set(WAYS) | set(ELSEWHERE) == set(CLASSES)
    assert all(WAYS.values())


@pytest.mark.parametrize(("name", "file"), ELSEWHERE.items())
def test_estimators_checked_elsewhere_are_checked_there(name, file, pytestconfig):
    text = (pytestconfig.rootpath / file).read_text(encoding="utf-8")
    assert "estimator_checks_generator(" in text
    assert name in text


@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
