"""E. Y. Liu, Z. Zhang, W. Wang, "Clustering with Relative Constraints", KDD 2011: where its constraints come from."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Taxonomy
from linkwise.constraints import Kind
from linkwise.problem import onetree
from linkwise.sources import label_triplets_sample
from tests.oracles import sources as oracle
from tests.oracles import trees


@pytest.mark.parametrize("sizes", [(4, 3), (3, 3, 2), (1, 5, 2), (4, 1)])
def test_section_5_2_a_labelling_is_carried_by_k_minus_1_times_n_minus_k_triplets(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    made = Taxonomy.from_levels([y]).triplets(minimal=True).of(Kind.TRIPLET)
    assert len(made) == (len(sizes) - 1) * (len(y) - len(sizes))  # not (k - 1) |D| as printed
    parent = onetree(len(y), made).parent
    expected = {frozenset(np.flatnonzero(y == c).tolist()) for c in range(len(sizes))} | {frozenset(range(len(y)))}
    assert trees.clades(len(y), parent.tolist()) == {group for group in expected if len(group) > 1}


def test_section_5_1_draws_two_of_one_cluster_and_one_of_another():
    y = [0, 0, 0, 1, 1, 2]
    drawn = label_triplets_sample(y, 13, random_state=3).of(Kind.TRIPLET).tolist()
    assert {tuple(row) for row in drawn} == oracle.label_statements(y)[2]


def test_section_4_3_a_binary_hierarchy_is_carried_by_n_minus_2_triplets():
    tree = Taxonomy.from_newick("(((0,1),(2,3)),((4,5),6));")
    assert tree.triplets(minimal=True).n_statements == 5
