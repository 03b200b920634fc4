"""E. Y. Liu, Z. Zhang, W. Wang, "Clustering with relative constraints", KDD 2011: its examples, as corrected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris, load_wine

from linkwise import Constraints, ReCon
from linkwise.engines import recon
from linkwise.problem import LiveTriplets, onetree
from tests.oracles import generators, relative

A, B, C, D = range(4)
EXAMPLE = [(A, B, C), (C, D, A)]  # section 4.2
NEAR_B_D = np.array([[3.0], [0.0], [-4.0], [0.5]])  # b and d are closest, everything else is far


def pairwise_f(y, labels):
    """The F-measure of section 5, over pairs of samples."""
    same = np.triu(y[:, None] == y, 1)
    found = np.triu(labels[:, None] == labels, 1)
    both = (same & found).sum()
    precision, recall = both / found.sum(), both / same.sum()
    return 2 * precision * recall / (precision + recall)


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
    tree = recon(NEAR_B_D, said, method=method)
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


@pytest.mark.parametrize("k", [2, 3, 4])
def test_generate_constraints_makes_k_minus_1_times_n_minus_k_statements(k):
    y = np.random.default_rng(k).permutation(np.arange(5 * k + 3) % k)
    said = generators.informative_triplets(y)
    assert len(said) == len(set(said)) == (k - 1) * (len(y) - k)
    assert all(y[a] == y[b] != y[c] and a != b for a, b, c in said)
    # they define the two-level hierarchy: BUILD gives the classes under one root, and nothing below them
    parent = onetree(len(y), said).parent
    assert len(parent) == len(y) + k + 1
    assert ((parent[: len(y), None] == parent[: len(y)]) == (y[:, None] == y)).all()


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("linkage", ["centroid", "average", "ward"])
def test_all_informative_constraints_give_full_accuracy(load, linkage):
    X, y = load(return_X_y=True)
    said = Constraints.build(len(y), triplets=generators.informative_triplets(y))
    model = ReCon(n_clusters=3, linkage=linkage).fit(X, constraints=said)
    assert pairwise_f(y, model.labels_) == 1.0
    # without them the clusters are not the classes, so it is the statements that do it
    assert pairwise_f(y, ReCon(n_clusters=3, linkage=linkage).fit(X).labels_) < 0.95
