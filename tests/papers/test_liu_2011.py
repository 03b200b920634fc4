"""E. Y. Liu, Z. Zhang, W. Wang, "Clustering with relative constraints", KDD 2011: its examples, as corrected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris, load_wine

from linkwise import Constraints, ReCon, Taxonomy
from linkwise.constraints import Kind
from linkwise.metrics import pairwise_f
from linkwise.problem import LiveTriplets, onetree
from linkwise.sources import label_triplets_sample
from tests.oracles import generators, relative, sources as oracle, trees

A, B, C, D = range(4)
EXAMPLE = [(A, B, C), (C, D, A)]  # section 4.2
NEAR_B_D = np.array([[3.0], [0.0], [-4.0], [0.5]])  # b and d are closest, everything else is far


def test_figure_1c_is_the_tree_of_the_example_and_induces_four_triplets():
    parent = onetree(4, EXAMPLE).parent
    assert parent.tolist() == [4, 4, 5, 5, 6, 6, -1]
    tree = relative.onetree(EXAMPLE, range(4))
    shown = {t for t in relative.all_triplets(4) if relative.displays(tree, t)}
    assert shown == {(A, B, C), (A, B, D), (C, D, A), (C, D, B)}


def test_merging_b_and_d_violates_nothing_now_and_ends_in_a_dead_end():
    distances = squareform(pdist(NEAR_B_D))
    pairs, _ = relative.naive_agglomeration(distances, EXAMPLE)
    assert pairs == [[B, D]]


@pytest.mark.parametrize("method", ["centroid", "single", "complete", "average", "weighted", "ward", "median"])
def test_recon_refuses_to_merge_b_and_d_and_completes_the_hierarchy(method):
    said = Constraints.build(4, triplets=EXAMPLE)
    tree = ReCon(1, linkage=method).fit(NEAR_B_D, constraints=said).dendrogram_
    assert tree.n_roots == 1
    assert tree.lca(A, B) != tree.lca(B, D)
    assert tree.satisfies(said).all()


def test_ab_d_is_implied_although_no_single_statement_says_so():
    live = LiveTriplets(4)
    assert live.add_many(EXAMPLE) == -1
    assert not live.add(A, D, B)
    assert not live.add(B, D, A)
    assert live.add(A, B, D)
    for one in EXAMPLE:  # neither statement alone implies it
        assert onetree(4, [one, (B, D, A)]).parent is not None


def test_section_4_3_a_binary_hierarchy_is_carried_by_n_minus_2_triplets():
    tree = Taxonomy.from_newick("(((0,1),(2,3)),((4,5),6));")
    assert tree.triplets(minimal=True).n_statements == 5


def test_section_5_1_draws_two_of_one_cluster_and_one_of_another():
    y = [0, 0, 0, 1, 1, 2]
    drawn = label_triplets_sample(y, 13, random_state=3).of(Kind.TRIPLET).tolist()
    assert {tuple(row) for row in drawn} == oracle.label_statements(y)[2]


def generate_constraints(y):
    return generators.informative_triplets(y)


def minimal_triplets(y):
    return Taxonomy.from_levels([y]).triplets(minimal=True).of(Kind.TRIPLET).tolist()


@pytest.mark.parametrize("informative", [generate_constraints, minimal_triplets])
@pytest.mark.parametrize("sizes", [(4, 3), (3, 3, 2), (1, 5, 2), (4, 1), (6, 6, 6, 5)])
def test_section_5_2_a_labeling_is_carried_by_k_minus_1_times_n_minus_k_triplets(informative, sizes):
    """By the paper's GenerateConstraints and by the library's own minimal triplets."""
    y = np.random.default_rng(len(sizes)).permutation(np.repeat(np.arange(len(sizes)), sizes))
    said = [tuple(row) for row in informative(y)]
    assert len(said) == len(set(said)) == (len(sizes) - 1) * (len(y) - len(sizes))  # not (k - 1) |D| as printed
    assert all(y[a] == y[b] != y[c] and a != b for a, b, c in said)
    # they define the two-level hierarchy: BUILD gives the classes under one root, and nothing below them
    expected = {frozenset(np.flatnonzero(y == c).tolist()) for c in range(len(sizes))} | {frozenset(range(len(y)))}
    made = trees.clades(len(y), onetree(len(y), said).parent.tolist())
    assert made == {group for group in expected if len(group) > 1}


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("linkage", ["centroid", "average", "ward"])
def test_all_informative_constraints_give_full_accuracy(load, linkage):
    X, y = load(return_X_y=True)
    said = Constraints.build(len(y), triplets=generators.informative_triplets(y))
    model = ReCon(n_clusters=3, linkage=linkage).fit(X, constraints=said)
    assert pairwise_f(y, model.labels_) == 1.0
    # without them the clusters are not the classes, so it is the statements that do it
    assert pairwise_f(y, ReCon(n_clusters=3, linkage=linkage).fit(X).labels_) < 0.95
