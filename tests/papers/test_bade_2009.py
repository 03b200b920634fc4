"""K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints": sections 2 and 4."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Dendrogram, Taxonomy
from linkwise.constraints import Kind
from linkwise.metrics import class_f, count_triples, h_correlation
from tests.oracles import sources as oracle

# three topics with three, two and three subtopics; items on all of them
REUTERS_1 = [f"t{t}" for t in range(3)] + [f"t{t}/s{s}" for t, width in enumerate((3, 2, 3)) for s in range(width)]


@pytest.mark.parametrize("root", ["", "all/"])
@pytest.mark.parametrize(("per_class", "printed"), [(5, 37_200), (10, 307_800)])
def test_section_4_3_the_labeled_items_of_reuters_1_make_that_many_constraints(per_class, printed, root):
    """Whether the root is written or not; counted by the source of statements and by the measures."""
    tree = Taxonomy.from_paths([root + path for path in REUTERS_1] * per_class)
    assert tree.n_nodes == 11 + bool(root)
    assert tree.count_triples() == count_triples(tree) == printed
    assert tree.triplets().unique().n_statements == printed // 2


def test_section_2_the_triples_are_those_of_the_definition():
    tree = Taxonomy.from_paths(REUTERS_1 * 2)
    listed = {tuple(row) for row in tree.triplets().of(Kind.TRIPLET).tolist()}
    assert listed == oracle.taxonomy_triplets(tree.parent.tolist(), tree.node.tolist())


def test_the_hierarchy_as_a_dendrogram_is_fully_correlated_with_itself():
    m = 5
    # nodes of the taxonomy: the root, the topics, their subtopics
    truth = Taxonomy([-1, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3], np.repeat(np.arange(1, 12), m))
    n = truth.n_samples
    # nodes of the dendrogram: subtopics, then topics, then the root
    place = np.array([n + 11, n + 8, n + 9, n + 10, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7])
    above = [n + 8] * 3 + [n + 9] * 2 + [n + 10] * 3 + [n + 11] * 3 + [-1]
    same = Dendrogram(n, np.concatenate([place[truth.node], above]))
    assert truth.to_dendrogram().triplets() == same.triplets()
    assert count_triples(same) == count_triples(truth)
    assert h_correlation(truth, same) == h_correlation(same, same) == 1.0
    score = class_f(truth, same)
    assert (score.leaf, score.higher) == (1.0, 1.0)
    # measured without the first item of every class, the others keep their classes
    score = class_f(truth, same, labeled=np.arange(0, n, m))
    assert (score.leaf, score.higher) == (1.0, 1.0)
