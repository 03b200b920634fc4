"""Purity, information and silhouette against their definitions and scikit-learn."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    normalized_mutual_info_score,
    silhouette_score,
)

from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.metrics import adjusted_mutual_info, adjusted_rand, nmi, purity, silhouette
from tests.oracles import measures
from tests.profile import examples


@pytest.mark.parametrize("seed", range(examples(100, 5_000)))
def test_purity_and_nmi_equal_their_definitions(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 14)
    y, labels = measures.random_labels(rng, n), measures.random_labels(rng, n)
    assert purity(y, labels) == pytest.approx(measures.purity(y, labels))
    assert nmi(y, labels) == pytest.approx(measures.nmi(y, labels), abs=1e-12)


def test_agreement_with_scikit_learn():
    rng = np.random.default_rng(0)
    y, labels = rng.integers(7, size=500), rng.integers(5, size=500) * 10**9
    labels[:200] = y[:200]
    assert nmi(y, labels) == pytest.approx(normalized_mutual_info_score(y, labels))
    assert adjusted_rand(y, labels) == pytest.approx(adjusted_rand_score(y, labels))
    assert adjusted_mutual_info(y, labels) == pytest.approx(adjusted_mutual_info_score(y, labels))


def test_unknown_classes_are_left_out():
    y, labels = np.array([0, 0, 1, 1, -1, -1]), np.array([0, 0, 1, 1, 0, 1])
    for measure in (purity, nmi, adjusted_rand, adjusted_mutual_info):
        assert measure(y, labels) == pytest.approx(1.0)
        assert measure(y, labels, unlabeled=None) < 0.9


# -- silhouette ----------------------------------------------------------------------------------------------------

X = np.random.default_rng(3).normal(size=(30, 3))
LABELS = np.arange(30) % 4


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_silhouette_is_scikit_learns(metric):
    assert silhouette(X, LABELS, metric=metric) == pytest.approx(silhouette_score(X, LABELS, metric=metric))


def test_silhouette_takes_distances_sparse_data_and_names():
    names = np.array(["a", "b", "c", "d"])[LABELS]
    plain = silhouette(X, LABELS)
    assert silhouette(cdist(X, X), names, metric="precomputed") == pytest.approx(plain)
    assert silhouette(csr_array(X), LABELS) == pytest.approx(plain)


def test_silhouette_under_a_learned_metric_uses_its_distances():
    A = np.random.default_rng(4).normal(size=(3, 3))
    M = A @ A.T
    distances = cdist(X, X, "mahalanobis", VI=M)
    expected = silhouette_score(distances, LABELS, metric="precomputed")
    assert silhouette(X, LABELS, M=M) == pytest.approx(expected)
    assert silhouette(csr_array(X), LABELS, M=M) == pytest.approx(expected)
    assert silhouette(X, LABELS, M=[1, 0, 4]) == pytest.approx(silhouette(X * [1, 0, 2], LABELS))


def test_silhouette_of_singletons_is_0_and_of_one_cluster_nan():
    assert silhouette([[0.0], [1.0], [2.0]], [0, 1, 2]) == 0.0
    for n in (1, 2, 3):
        with pytest.warns(LinkwiseWarning, match="one cluster"):
            assert math.isnan(silhouette(np.zeros((n, 2)), np.zeros(n)))


@pytest.mark.parametrize(
    ("M", "words"),
    [
        (np.eye(2), r"M has shape \(2, 2\), expected \(3, 3\)"),
        (np.triu(np.ones((3, 3))), "not symmetric"),
        (np.diag([1.0, 1.0, -1.0]), "negative eigenvalue -1"),
        (np.full((3, 3), np.nan), "not symmetric and finite"),
    ],
)
def test_what_is_no_metric_is_refused(M, words):
    with pytest.raises(LinkwiseError, match=words):
        silhouette(X, LABELS, M=M)


def test_silhouette_refuses_a_second_metric_and_other_samples():
    with pytest.raises(LinkwiseError, match='expected "euclidean" with M'):
        silhouette(X, LABELS, metric="manhattan", M=np.eye(3))
    with pytest.raises(LinkwiseError, match="labels has 29 entries, but there are 30 samples"):
        silhouette(X, LABELS[1:])
    with pytest.raises(LinkwiseError, match="expected two dimensions"):
        silhouette(X[0], LABELS)
