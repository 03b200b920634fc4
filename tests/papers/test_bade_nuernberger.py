"""K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints": printed counts."""

from __future__ import annotations

import pytest

from linkwise import Taxonomy
from linkwise.constraints import Kind
from tests.oracles import sources as oracle

REUTERS_1 = [f"t{t}" for t in range(3)] + [f"t{t}/s{s}" for t, width in enumerate((3, 2, 3)) for s in range(width)]


@pytest.mark.parametrize(("per_class", "printed"), [(5, 37_200), (10, 307_800)])
def test_section_4_3_the_labelled_items_of_reuters_1_make_that_many_constraints(per_class, printed):
    tree = Taxonomy.from_paths(REUTERS_1 * per_class)
    assert tree.n_nodes == 11
    assert tree.count_triples() == printed
    assert tree.triplets().unique().n_statements == printed // 2


def test_the_count_does_not_depend_on_writing_the_root():
    assert Taxonomy.from_paths([f"all/{path}" for path in REUTERS_1] * 5).count_triples() == 37_200


def test_section_2_the_triples_are_those_of_the_definition():
    tree = Taxonomy.from_paths(REUTERS_1 * 2)
    listed = {tuple(row) for row in tree.triplets().of(Kind.TRIPLET).tolist()}
    assert listed == oracle.taxonomy_triplets(tree.parent.tolist(), tree.node.tolist())
