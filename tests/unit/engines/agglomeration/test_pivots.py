"""Centroid linkage under γ with pivots: the merges of the unpruned run, and never more distances."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linkwise import ConstrainedAgglomerative, Constraints
from linkwise.constraints import MaxCentroidDistance
from linkwise.engines import gamma_linkage
from linkwise.exceptions import ConstraintError, LinkwiseError
from tests.profile import examples

pytestmark = pytest.mark.kernels


def _merge_by_definition(X, gamma):
    """Closest centroids first, everything computed; merged sets, heights and how many distances that took."""
    clusters = [frozenset([i]) for i in range(len(X))]
    computed = len(X) * (len(X) - 1) // 2
    merged = []
    while len(clusters) > 1:
        gaps = [
            (np.linalg.norm(X[list(a)].mean(axis=0) - X[list(b)].mean(axis=0)), a, b)
            for n, a in enumerate(clusters)
            for b in clusters[:n]
        ]
        gap, a, b = min(gaps, key=lambda g: g[0])
        if gap > gamma:
            break
        clusters = [c for c in clusters if c not in (a, b)] + [a | b]
        merged.append((a | b, gap))
        computed += len(clusters) - 1
    return merged, computed


def _clades(tree):
    below = {i: {i} for i in range(tree.n_samples)}
    for child, parent in enumerate(tree.parent.tolist()):
        if parent >= 0:
            below.setdefault(parent, set()).update(below[child])
    return [frozenset(below[v]) for v in range(tree.n_samples, tree.n_nodes)]


@pytest.mark.parametrize("n_pivots", [1, 3, 100])
def test_pruning_changes_no_merge_and_never_costs_a_distance(n_pivots):
    rng = np.random.default_rng(n_pivots)
    saved = 0
    for _ in range(examples(25, 400)):
        n = int(rng.integers(1, 16))
        X = rng.normal(size=(n, int(rng.integers(1, 4)))) * rng.choice([0.1, 1.0, 30.0])
        gamma = float(rng.choice([0.0, 0.3, 1.0, 3.0, 1e9]))
        merged, computed = _merge_by_definition(X, gamma)
        run = gamma_linkage(X, gamma, n_pivots=n_pivots)
        assert _clades(run.dendrogram) == [clade for clade, _ in merged]
        assert_allclose(run.dendrogram.raw_height[n:], [gap for _, gap in merged], rtol=1e-9)
        assert run.n_unpruned == computed
        assert run.n_distances <= computed
        saved += computed - run.n_distances
    assert saved > 0


def test_more_pivots_never_cost_more():
    X = np.random.default_rng(5).normal(size=(60, 2))
    counts = [gamma_linkage(X, 0.4, n_pivots=p).n_distances for p in (1, 2, 4, 8, 16)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] < counts[0]


def test_it_is_the_tree_of_the_general_engine_on_real_data():
    from sklearn.datasets import load_iris

    X = load_iris().data
    _, first = np.unique(X, axis=0, return_index=True)
    X = X[np.sort(first)] + np.random.default_rng(0).normal(scale=1e-6, size=(len(first), 4))  # no ties
    run = gamma_linkage(X, 1.0)
    rule = Constraints.build(len(X), rules=[MaxCentroidDistance(1.0)])
    model = ConstrainedAgglomerative(None, linkage="centroid").fit(X, constraints=rule)
    assert set(_clades(run.dendrogram)) == set(_clades(model.dendrogram_))
    assert run.n_distances < run.n_unpruned
    assert gamma_linkage(X, 1.0, n_pivots=8).n_distances < run.n_distances


def test_duplicates_and_single_samples():
    assert gamma_linkage([[1.0]], 1.0).dendrogram.n_nodes == 1
    assert gamma_linkage(np.zeros((4, 2)), 0.0).dendrogram.n_roots == 1


def test_senseless_input_is_refused():
    with pytest.raises(LinkwiseError, match="expected rows of finite numbers"):
        gamma_linkage([[np.nan]], 1.0)
    with pytest.raises(LinkwiseError, match="n_pivots is 0"):
        gamma_linkage([[1.0]], 1.0, n_pivots=0)
    with pytest.raises(ConstraintError, match="gamma is -1"):
        gamma_linkage([[1.0]], -1)
