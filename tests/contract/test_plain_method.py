"""Fits without statements: each estimator is the plain method it extends, and empty tables change nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances

from linkwise import Constraints, Dendrogram
from tests.contract.agreement import assert_alike, assert_same, clusters, heights, partition
from tests.contract.cases import CLUSTERERS, LABELS, TREE, each
from tests.contract.discovery import blobs, table, truth
from tests.oracles.trees import clades


def plain_tree(X, linkage, metric="euclidean"):
    """The tree of SciPy."""
    distances = squareform(pairwise_distances(X, metric=metric), checks=False)
    return Dendrogram.from_linkage(scipy_linkage(distances, linkage))


def compares_distances(case):
    """Whether distances of any metric decide; some methods compare samples by their own measure."""
    return case.has("metric")


def merges_by_linkage(case):
    """Whether a linkage is the plain method."""
    return compares_distances(case) and not case.searches


@each((TREE,), "linkage", where=merges_by_linkage)
def test_a_tree_without_statements_is_that_of_the_linkage(case, linkage):
    for seed in range(5):
        X, _ = blobs(seed, 40)
        tree = plain_tree(X, linkage)
        model = case.make(linkage=linkage, n_clusters=3).fit(X)
        assert clusters(model) == clades(40, tree.parent.tolist())
        assert_allclose(heights(model.dendrogram_), heights(tree), rtol=1e-9)
        assert partition(model.labels_) == partition(tree.cut(n_clusters=3))
        assert model.k_min_ == 1


@each((TREE,), where=merges_by_linkage)
@pytest.mark.parametrize("metric", ["cityblock", "manhattan", "l1", "l2", "cosine", "chebyshev", "canberra"])
def test_other_metrics_give_the_tree_of_the_linkage(case, metric):
    X, _ = blobs(2, 30)
    linkage = "average" if "average" in case.linkages else case.linkages[0]
    model = case.make(linkage=linkage, n_clusters=3, metric=metric).fit(X)
    assert partition(model.labels_) == partition(plain_tree(X, linkage, metric).cut(n_clusters=3))


@each((TREE,), "linkage", where=compares_distances)
def test_aliases_of_euclidean_and_precomputed_distances_equal_vectors(case, linkage):
    X, _ = blobs(1, 30)
    model = case.make(linkage=linkage, n_clusters=3).fit(X)
    assert_same(model, case.make(linkage=linkage, n_clusters=3, metric="l2").fit(X))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    assert_alike(model, case.make(linkage=linkage, n_clusters=3, metric="precomputed").fit(D), rtol=1e-7)


@each((LABELS,), where=lambda case: case.plain is not None)
def test_labels_without_statements_are_those_of_the_plain_method(case):
    for seed in range(5):
        X, _ = blobs(seed, 60)
        assert partition(case.make(seed=seed).fit(X).labels_) == partition(case.plain(X, 3, seed))


@each((LABELS,), where=lambda case: case.plain is None and case.has("n_clusters"))
def test_centers_without_statements_are_those_of_k_means(case):
    for seed in range(5):
        X, _ = blobs(seed, 60)
        if case.has("init"):
            start = X[np.random.default_rng(seed).choice(len(X), 3, replace=False)]
            model = case.make(init=start, **case.euclidean).fit(X)
        else:  # k-means stays where the method ended
            model = case.make(seed=seed, tol=0.0).fit(X)
            start = model.cluster_centers_
        plain = KMeans(3, init=start, n_init=1).fit(X)
        assert_array_equal(model.labels_, plain.labels_)
        assert_allclose(model.cluster_centers_, plain.cluster_centers_)
        assert model.inertia_ == pytest.approx(plain.inertia_)


@each(CLUSTERERS, "kind")
def test_no_statements_in_any_container_are_unconstrained(case, kind):
    X, y = blobs(3)
    n = len(X)
    options = {"n_clusters": 3} if case.has("n_clusters") else {}
    expected = case.make(**options).fit(X)
    empty = [(), [], None, np.empty((0, 2), int), np.empty((0, 3)), pd.DataFrame(), iter(())]
    tables = [table(kind, rows, n) for rows in empty]
    tables += [Constraints.from_labels(np.full(n, -1)), table(kind, truth(kind, y, 0), n, weight=0.0), None]
    for constraints in tables:
        assert_same(case.make(**options).fit(X, constraints=constraints), expected)
