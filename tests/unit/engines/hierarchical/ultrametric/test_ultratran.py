"""The largest ultrametric below distances, fitted heights, and UltraTran in both variants."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform

from linkwise import Constraints, Dendrogram, ReCon
from linkwise.engines import UltraTran, agglomerate, fit_heights, fit_ultrametric, subdominant_ultrametric
from linkwise.engines.hierarchical.ultrametric import _ultratran
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError, LinkwiseWarning
from tests.oracles.generators import consistent_triplets
from tests.oracles.ultrametric import (
    algorithm_2,
    comparisons,
    heights_by_qp,
    is_ultrametric,
    lowered,
    minimax,
    strict_fixpoint,
)
from tests.posing import posed
from tests.profile import examples

pytestmark = pytest.mark.kernels

ultratran = posed(_ultratran.ultratran)
SCALES = ("plain", "ties", "wide", "zeros")


def distances(rng, n, kind="plain"):
    """Symmetric numbers that are no metric: any, few different ones, ones over many orders of magnitude, with zeros."""
    A = rng.random((n, n)) ** 3
    D = (A + A.T) / 2
    D = {"plain": D, "ties": np.round(4 * D) + 1, "wide": np.exp(-12 * D), "zeros": np.round(4 * D)}[kind]
    np.fill_diagonal(D, 0.0)
    return D


def instance(seed, *, kind=None, high=12):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, high))
    triplets = consistent_triplets(rng, n)
    D = distances(rng, n, SCALES[seed % len(SCALES)] if kind is None else kind)
    return D, triplets, Constraints.build(n, triplets=triplets)


def matrix(tree):
    i = np.arange(tree.n_samples)
    return tree.cophenetic(i[:, None], i[None])


# -- without knowledge ----------------------------------------------------------------------------------------------


def test_the_subdominant_ultrametric_is_minimax_and_single_linkage():
    for seed in range(examples(40, 500)):
        D, _, _ = instance(seed)
        U = matrix(subdominant_ultrametric(D, metric="precomputed"))
        assert_array_equal(U, minimax(D))
        assert_allclose(U, squareform(cophenet(linkage(squareform(D), "single"))), rtol=1e-12)
        assert is_ultrametric(U)
        assert (U <= D).all()


def test_no_ultrametric_below_the_distances_is_above_it():
    for seed in range(examples(40, 500)):
        D, _, _ = instance(seed, kind="plain")
        rng = np.random.default_rng(seed)
        other = minimax(np.minimum(D, distances(rng, len(D))))
        assert is_ultrametric(other)
        assert (other <= D).all()
        assert (other <= matrix(subdominant_ultrametric(D, metric="precomputed"))).all()


def test_fitted_heights_are_the_least_squares_of_their_tree():
    for seed in range(examples(40, 500)):
        D, _, _ = instance(seed)
        n = len(D)
        rng = np.random.default_rng(seed)
        for tree in (
            agglomerate(D, method=["single", "complete", "median"][seed % 3], metric="precomputed"),
            ReCon(1).fit(rng.random((n, 2))).dendrogram_,  # a tree that has nothing to do with the distances
        ):
            fitted = fit_heights(tree, D, metric="precomputed")
            assert_array_equal(fitted.parent, tree.parent)
            assert_allclose(fitted.height[n:], heights_by_qp(n, tree.parent, D), atol=1e-8)
            assert is_ultrametric(matrix(fitted), rtol=1e-9)


def test_average_linkage_is_its_own_least_squares_fit():
    X = np.random.default_rng(0).normal(size=(60, 3))
    assert_allclose(fit_ultrametric(X).height, agglomerate(X, method="average").height, rtol=1e-12)


def test_a_fit_beats_the_heights_of_the_linkage():
    X = np.random.default_rng(1).normal(size=(50, 3))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    for method in ("single", "complete", "ward"):
        fitted = ((matrix(fit_ultrametric(X, method=method)) - D) ** 2).sum()
        assert fitted < ((matrix(agglomerate(X, method=method)) - D) ** 2).sum()


def test_many_way_nodes_marks_and_names_survive_a_fit():
    tree = Dendrogram(4, [4, 4, 4, 5, 5, -1], [0, 0, 0, 0, 9, 1], marked=[4, 3], ids=list("abcd"))
    fitted = fit_heights(tree, [1.0, 2, 9, 3, 6, 6], metric="precomputed")
    assert fitted.height[4:].tolist() == [2.0, 7.0]
    assert fitted.marked.tolist() == [3, 4]
    assert fitted.ids.tolist() == list("abcd")


def test_a_forest_or_another_number_of_samples_cannot_be_fitted():
    forest = Dendrogram.from_merges(3, [(0, 1)], [1.0])
    with pytest.raises(LinkwiseError, match="forest of 2 trees"):
        fit_heights(forest, np.eye(3)[:, :2])
    with pytest.raises(LinkwiseError, match="3 samples, but X has 4 rows"):
        fit_heights(forest, np.eye(4)[:, :2])


# -- faithful -------------------------------------------------------------------------------------------------------


def test_the_faithful_variant_is_the_literal_loop():
    for seed in range(examples(60, 500)):
        D, triplets, said = instance(seed)
        U = matrix(ultratran(D, said, metric="precomputed"))
        assert_array_equal(U, algorithm_2(D, comparisons(triplets)))
        assert_array_equal(U, minimax(lowered(D, comparisons(triplets))))
        assert is_ultrametric(U)


def test_the_faithful_variant_breaks_statements_that_could_hold():
    held = [ultratran(D, said, metric="precomputed").satisfies(said) for D, _, said in map(instance, range(40))]
    assert 0.3 < np.concatenate(held).mean() < 0.9


def test_without_triplets_both_variants_are_single_linkage_and_more_triplets_never_raise_an_entry():
    for seed in range(examples(40, 500)):
        D, triplets, _ = instance(seed)
        for variant in ("faithful", "strict"):
            last = minimax(D)
            for m in range(0, len(triplets) + 1, 1 + len(triplets) // 6):
                said = Constraints.build(len(D), triplets=triplets[:m])
                U = matrix(ultratran(D, said, variant=variant, metric="precomputed"))
                assert ((last >= U) if m else (last == U)).all()
                last = U


def test_of_merges_at_equal_height_those_asked_for_go_first():
    D = squareform([1.0, 1.0, 1.0])
    for row in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        said = Constraints.build(3, triplets=[row])
        tree = ultratran(D, said, metric="precomputed")
        assert tree.satisfies(said).all()
        assert_array_equal(matrix(tree), D)


def test_vectors_and_their_distances_agree():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    said = Constraints.build(40, triplets=consistent_triplets(rng, 40, "random"))
    for metric, D in (
        ("euclidean", np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))),
        ("cityblock", np.abs(X[:, None] - X[None]).sum(-1)),
    ):
        for variant in ("faithful", "strict"):
            a = ultratran(X, said, variant=variant, metric=metric)
            b = ultratran(D, said, variant=variant, metric="precomputed")
            assert_allclose(matrix(a), matrix(b), rtol=1e-9)


# -- strict ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("margin", [0.05, 0.3])
def test_the_strict_variant_is_the_fixpoint_and_keeps_every_triplet(margin):
    for seed in range(examples(60, 1000)):
        D, triplets, said = instance(seed)
        tree = ultratran(D, said, variant="strict", margin=margin, metric="precomputed")
        U = matrix(tree)
        assert tree.satisfies(said).all()
        assert_allclose(U, strict_fixpoint(D, triplets, margin), rtol=1e-9)
        assert is_ultrametric(U)
        assert (U <= D).all()


def test_a_margin_that_vanishes_only_creeps_for_the_fixpoint():
    """Two triplets pull 0 down by turns, from 1 to below 0.001: a thousand margins, one merge each for us."""
    D = np.ones((5, 5)) - np.eye(5)
    D[1, 2] = D[2, 1] = 1e-3
    D[3, 4] = D[4, 3] = 5e-4
    said = Constraints.build(5, triplets=[(0, 1, 4), (0, 3, 2)])
    tree = ultratran(D, said, variant="strict", margin=1e-9, metric="precomputed")
    assert tree.satisfies(said).all()
    assert_allclose(tree.height[-1], 1e-3)
    assert strict_fixpoint(D, [(0, 1, 4), (0, 3, 2)], 1e-9, sweeps=1000) is None


def test_a_caterpillar_against_the_data_is_kept():
    n = 400
    X = np.random.default_rng(0).normal(size=(n, 2))
    said = Constraints.build(n, triplets=np.column_stack([np.zeros(n - 2, int), np.arange(1, n - 1), np.arange(2, n)]))
    tree = ultratran(X, said, variant="strict")
    assert tree.satisfies(said).all()
    assert tree.depth.max() == n - 1


def test_duplicates_leave_no_room_but_the_tree_says_it_still():
    X = np.zeros((6, 2))
    said = Constraints.build(6, triplets=[(0, 5, 1), (1, 4, 2), (0, 4, 3), (0, 1, 4)])
    tree = ultratran(X, said, variant="strict")
    assert tree.satisfies(said).all()
    assert not tree.height.any()


# -- words ----------------------------------------------------------------------------------------------------------


def test_contradictions_are_errors_and_wrong_words_are_named():
    X = np.eye(4)[:, :3]
    both = Constraints.build(4, triplets=[(0, 1, 2), (0, 2, 1)])
    with pytest.raises(InfeasibleConstraintsError):
        UltraTran().fit(X, constraints=both)
    for options in ({"variant": "literal"}, {"margin": 0.0}, {"margin": 1.0}, {"margin": np.nan}):
        with pytest.raises(ValueError, match=f"The '{next(iter(options))}' parameter of UltraTran must be"):
            UltraTran(**options).fit(X)


def test_what_breaks_is_told_and_counted():
    X = np.array([[0.0], [1.0], [5.0], [6.5]])
    said = Constraints.build(4, triplets=[(0, 2, 1), (2, 3, 0)])
    with pytest.warns(LinkwiseWarning, match="UltraTran promises nothing and broke 1 of 2 statements"):
        model = UltraTran().fit(X, constraints=said)
    assert model.satisfied_ == 0.5
    assert model.certificate_.violated == (1,)
    strict = UltraTran(variant="strict").fit(X, constraints=said)
    assert strict.satisfied_ == 1.0
    assert strict.certificate_.ok
    assert UltraTran().fit(X).satisfied_ == 1.0
