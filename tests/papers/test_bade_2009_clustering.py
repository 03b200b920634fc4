"""K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints": the clustering.

The texts here are made: eleven topics in the hierarchy of "Reuters 1", told in styles whose words are louder than those
of the topics, so that plain clustering finds the styles.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from linkwise import Constraints, Taxonomy
from linkwise.engines.hierarchical.biased import _runs
from linkwise.metrics import class_f, h_correlation
from tests.posing import posed

PARENT = np.array([-1, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3])
SUBTREE = (3, 9, 10, 11)
ihac, bihac, biihac = (posed(getattr(_runs, name)) for name in ("ihac", "bihac", "biihac"))


def texts(seed, per_node=30):
    rng = np.random.default_rng(seed)
    node = np.tile(np.arange(1, 12), per_node)
    style = rng.integers(6, size=len(node))
    rate = np.full((len(node), 400), 0.1)
    for i, v in enumerate(node):
        for topic in (v, PARENT[v]):
            rate[i, 10 * topic : 10 * topic + 10] += 0.8 * (topic > 0)
        rate[i, 200 + 10 * style[i] : 210 + 10 * style[i]] += 1.2
    return sp.csr_array(rng.poisson(rate).astype(float)), node


def knowledge(node, per_class, unknown=()):
    told = (np.arange(len(node)) < 11 * per_class) & ~np.isin(node, unknown)
    return told, Taxonomy(PARENT, np.where(told, node, -1)).triplets()


def test_section_4_3_few_adaptations_however_many_constraints():
    """The paper counts about 23 adaptations for 37,200 constraints and 36 for 307,800."""
    X, node = texts(0)
    for per_class, printed, adaptations in ((5, 37_200, 23), (10, 307_800, 36)):
        _, said = knowledge(node, per_class)
        assert 2 * said.n_statements == printed
        first = int(bihac(X, said, max_iter=1).steps[0])
        assert adaptations / 2 < first < adaptations * 2  # other texts, so only the size can agree
        assert first <= 2 * (11 * per_class - 1)  # a cluster takes part once, and two steps are made each time


def test_section_5_3_all_approaches_improve_the_clusters():
    X, node = texts(0)
    truth = Taxonomy(PARENT, node)
    told, said = knowledge(node, 5)
    plain = bihac(X, said, max_iter=1).dendrogram
    for method in (ihac, bihac, biihac):
        tree = method(X, said).dendrogram
        assert h_correlation(truth, tree) > h_correlation(truth, plain) + 0.2
        new, old = class_f(truth, tree, labeled=told), class_f(truth, plain, labeled=told)
        assert new.leaf > old.leaf + 0.1
        assert new.higher > old.higher + 0.1


def test_section_5_3_the_metric_resists_unknown_classes_where_instances_suffer():
    X, node = texts(0)
    truth = Taxonomy(PARENT, node)
    _, said = knowledge(node, 5, unknown=SUBTREE)
    score = {f.__name__: h_correlation(truth, f(X, said).dendrogram) for f in (ihac, bihac, biihac)}
    assert score["bihac"] > score["ihac"] + 0.05
    assert score["biihac"] > score["ihac"] + 0.05


def test_section_4_2_biihac_is_ihac_under_the_metric_of_bihac():
    X, node = texts(1, per_node=10)
    _, said = knowledge(node, 4)
    learned, both = bihac(X, said, max_iter=5), biihac(X, said, max_iter=5)
    last = ihac(X, said, weights=learned.weights)
    assert_array_equal(both.weights, learned.weights)
    assert_array_equal(both.dendrogram.parent, last.dendrogram.parent)
    assert_array_equal(both.dendrogram.raw_height, last.dendrogram.raw_height)


def test_figure_4_two_clusters_that_meet_wrongly_turn_to_those_they_should_have_met():
    # c1 = {0} and c2 = {1} are most similar but 0 belongs with 2, 1 with 3
    X = np.array([[1.0, 0.0, 3.0], [0.0, 1.0, 3.0], [1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    said = Constraints.build(4, triplets=[(0, 2, 1), (1, 3, 0)])
    first = bihac(X, said, max_iter=1)
    assert first.broken.tolist() == [2, 0, 0]
    assert first.steps.tolist() == [2]
    run = bihac(X, said, learning_rate=0.5)
    assert run.error == 0.0
    assert run.weights[2] < 1.0 < run.weights[0]
    assert run.weights[0] == pytest.approx(run.weights[1], rel=0.3)  # the two sides are alike, the steps take turns
