"""Comparison of fitted models: equal to the last bit, alike up to rounding, and statements broken by definition."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from linkwise import Kind
from tests.oracles.trees import clades


def partition(labels):
    """The clusters, as sets of samples."""
    return {frozenset(np.flatnonzero(labels == v).tolist()) for v in np.unique(labels)}


def clusters(model):
    """All clusters of a model's tree, as sets of samples."""
    return clades(model.dendrogram_.n_samples, model.dendrogram_.parent.tolist())


def heights(tree):
    """Heights of the merges in order."""
    return np.sort(tree.raw_height)


def assert_same(a, b):
    """Two fitted models agree to the last bit."""
    for name in ("labels_", "cluster_centers_", "inertia_", "components_", "weights_"):
        assert hasattr(a, name) == hasattr(b, name)
        if hasattr(a, name):
            assert_array_equal(getattr(a, name), getattr(b, name))
    if hasattr(a, "dendrogram_"):
        assert_array_equal(a.dendrogram_.parent, b.dendrogram_.parent)
        assert_array_equal(a.dendrogram_.raw_height, b.dendrogram_.raw_height)
    if hasattr(a, "certificate_"):
        assert a.certificate_.to_dict() == b.certificate_.to_dict()


def assert_alike(a, b, rtol=1e-6):
    """Two fitted clusterers agree up to rounding and the names of the clusters."""
    assert partition(a.labels_) == partition(b.labels_)
    if hasattr(a, "inertia_"):
        assert_allclose(a.inertia_, b.inertia_, rtol=rtol)
    if hasattr(a, "dendrogram_"):
        assert clusters(a) == clusters(b)
        assert_allclose(heights(a.dendrogram_), heights(b.dendrogram_), rtol=rtol)


def count_broken(model, kind, rows):
    """Count broken statements from labels and clusters alone."""
    if kind is Kind.TRIPLET:
        groups = clusters(model)
        return sum(not any({a, b} <= group and c not in group for group in groups) for a, b, c in rows)
    together = kind in (Kind.MUST_LINK, Kind.TOGETHER)
    return sum(len(np.unique(model.labels_[list(row)])) != (1 if together else len(row)) for row in rows)
