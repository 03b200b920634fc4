"""K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints": section 4.3."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from linkwise import Dendrogram
from linkwise.metrics import class_f, count_triples, h_correlation

# three topics under a root, with three, two and three subtopics
PARENT = np.array([-1, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3])


def items_on_every_node(m):
    return SimpleNamespace(parent=PARENT, node=np.repeat(np.arange(1, 12), m), n_samples=11 * m)


@pytest.mark.parametrize(("m", "printed"), [(5, 37_200), (10, 307_800)])
def test_the_number_of_must_link_before_constraints(m, printed):
    assert count_triples(items_on_every_node(m)) == printed


def test_the_hierarchy_as_a_dendrogram_is_fully_correlated_with_itself():
    m = 5
    truth = items_on_every_node(m)
    n = truth.n_samples
    # nodes of the dendrogram: subtopics, then topics, then the root
    place = np.array([n + 11, n + 8, n + 9, n + 10, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7])
    above = [n + 8] * 3 + [n + 9] * 2 + [n + 10] * 3 + [n + 11] * 3 + [-1]
    same = Dendrogram(n, np.concatenate([place[truth.node], above]))
    assert count_triples(same) == count_triples(truth)
    assert h_correlation(truth, same) == h_correlation(same, same) == 1.0
    score = class_f(truth, same)
    assert (score.leaf, score.higher) == (1.0, 1.0)
    # measured without the first item of every class, the others keep their classes
    score = class_f(truth, same, labelled=np.arange(0, n, m))
    assert (score.leaf, score.higher) == (1.0, 1.0)
