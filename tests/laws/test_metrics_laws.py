"""Laws of the measures: their range, 1 for agreement, and that names and numbering of samples play no role."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

from linkwise import Constraints, Dendrogram
from linkwise.metrics import (
    adjusted_mutual_info,
    adjusted_rand,
    class_f,
    constrained_rand,
    dendrogram_purity,
    h_correlation,
    hierarchy_fscore,
    nmi,
    pairwise_f,
    pairwise_precision,
    pairwise_recall,
    purity,
    rand,
)
from tests.oracles.trees import forest_of_classes, random_forest

FLAT = [adjusted_mutual_info, adjusted_rand, nmi, pairwise_f, pairwise_precision, pairwise_recall, purity, rand]


def by_levels(y, tree):
    return hierarchy_fscore(y, tree, form="levels")


def by_triples(y, tree):
    return h_correlation(y, tree, weights="uniform")


def of_leaf_classes(y, tree):
    return class_f(y, tree).leaf


OF_TREES = [by_levels, by_triples, dendrogram_purity, h_correlation, hierarchy_fscore, of_leaf_classes]


@st.composite
def labelings(draw, max_samples=10):
    n = draw(st.integers(1, max_samples))
    column = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    return np.array(draw(column)), np.array(draw(column)), draw(st.permutations(range(n)))


@pytest.mark.parametrize("measure", FLAT)
@given(labelings())
def test_label_measures(measure, case):
    y, labels, order = case
    value = measure(y, labels)
    low = {adjusted_rand: -1.0, adjusted_mutual_info: -np.inf}.get(measure, 0.0)
    assert low <= value <= 1.0 + 1e-12
    assert measure(y, y) == pytest.approx(1.0)
    names = np.array(["d", "a", "c", "b"])
    assert measure(names[y], labels * 7 + 100) == pytest.approx(value)
    assert measure(y[list(order)], labels[list(order)]) == pytest.approx(value)


@given(labelings(), st.randoms(use_true_random=False))
def test_constrained_rand(case, rng):
    y, labels, order = case
    n = len(y)
    must = [rng.sample(range(n), 2) for _ in range(n // 3)]
    cannot = [rng.sample(range(n), 2) for _ in range(n // 3)]
    said = Constraints.build(n, must_link=must, cannot_link=cannot)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no free pair: nan
        value = constrained_rand(y, labels, said)
        perfect = constrained_rand(y, y, said)
        renumbered = constrained_rand(y[list(order)], labels[list(order)], said.reorder(list(order)))
    assert np.isnan(value) == np.isnan(perfect)
    if not np.isnan(value):
        assert 0.0 <= value <= 1.0
        assert perfect == 1.0
        assert renumbered == pytest.approx(value)


@pytest.mark.parametrize("measure", OF_TREES)
@given(labelings(), st.randoms(use_true_random=False), st.integers(2, 4))
def test_tree_measures(measure, case, rng, widest):
    y, _, order = case
    n = len(y)
    parent = np.array(random_forest(rng, n, widest=widest, n_roots=rng.randint(1, n)))
    value = measure(y, Dendrogram(n, parent))
    assert 0.0 <= value <= 1.0
    assert measure(np.array(["d", "a", "c", "b"])[y], Dendrogram(n, parent)) == pytest.approx(value)
    moved = np.concatenate([parent[:n][list(order)], parent[n:]])
    assert measure(y[list(order)], Dendrogram(n, moved)) == pytest.approx(value)
    if measure is not by_levels:
        perfect = Dendrogram(n, forest_of_classes(rng, y.tolist()))
        assert measure(y, perfect) == 1.0
