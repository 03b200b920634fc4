"""L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011: tables I, II and IV, both algorithms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from linkwise import Constraints
from linkwise.engines import (
    IPoptim,
    LeastSquaresUltrametric,
    UltraTran,
    agglomerate,
    project_triplets,
    subdominant_ultrametric,
)
from linkwise.engines.hierarchical.ultrametric import _hacoc, _ipoptim, _ultratran
from linkwise.metrics import hierarchy_fscore
from tests.oracles.entailment import transitive_closure
from tests.oracles.generators import class_triplets, consistent_triplets
from tests.oracles.ultrametric import (
    algorithm_1,
    algorithm_2,
    comparison_rows,
    comparisons,
    least_squares_ultrametric,
    minimax,
    project_by_qp,
)
from tests.posing import posed

hacoc, ultratran = posed(_hacoc.hacoc), posed(_ultratran.ultratran)

TABLE_1 = np.array(
    [
        [0, 138, 300, 262, 230],
        [138, 0, 164, 289, 272],
        [300, 164, 0, 400, 384],
        [262, 289, 400, 0, 85],
        [230, 272, 468, 85, 0],
    ],
    dtype=float,
)
TABLE_2 = np.array(
    [
        [0, 138, 164, 230, 230],
        [138, 0, 164, 230, 230],
        [164, 164, 0, 230, 230],
        [230, 230, 230, 0, 85],
        [230, 230, 230, 85, 0],
    ],
    dtype=float,
)


def ipoptim(X, said, **options):
    """The tree of IPoptim before it is cut."""
    return posed(_ipoptim.ipoptim)(X, said, **options)[0]


# Figures 1 and 4: the matrix of the picture is not in our text of the paper, so table I stands for it.
WORKED = np.minimum(TABLE_1, TABLE_1.T)
FOUR = np.array([(0, 4, 1), (0, 1, 2), (3, 4, 1), (3, 4, 0)])


@pytest.mark.parametrize("pick", [np.minimum, np.maximum])
def test_table_2_follows_from_table_1_whichever_of_its_two_asymmetric_entries_is_right(pick):
    D = pick(TABLE_1, TABLE_1.T)
    tree = subdominant_ultrametric(D, metric="precomputed")
    i = np.arange(5)
    U = tree.cophenetic(i[:, None], i[None])
    assert_array_equal(U, TABLE_2)
    assert (U <= D).all()  # the paper says the opposite
    assert tree.cut(n_clusters=2).tolist() == [0, 0, 0, 1, 1]


def matrix(tree):
    i = np.arange(tree.n_samples)
    return tree.cophenetic(i[:, None], i[None])


@pytest.mark.filterwarnings("ignore::linkwise.exceptions.LinkwiseWarning")
def test_the_worked_example_of_figures_1_and_4_step_by_step():
    said = Constraints.build(5, triplets=FOUR)
    closed = transitive_closure([tuple(row) for row in FOUR.tolist()])
    assert closed - {tuple(row) for row in FOUR.tolist()} == {(0, 4, 2)}
    every = np.column_stack(np.triu_indices(5, 1))
    d, C = WORKED[tuple(every.T)], comparison_rows(every, FOUR.tolist())
    assert (C.sum(axis=1) == 0).all()
    assert (np.abs(C).sum(axis=1) == 2).all()
    expected, _ = algorithm_1(d, C)  # over all ten pairs, as printed
    moved = project_triplets(WORKED, FOUR, margin=0, metric="precomputed")
    changed = WORKED.copy()
    changed[tuple(moved.pairs.T)] = changed[tuple(moved.pairs[:, ::-1].T)] = moved.after
    assert_allclose(changed[tuple(every.T)], expected, atol=1e-9)
    paper = {"metric": "precomputed", "anchors": FOUR[:, 0], "conflicts": "random", "random_state": 0}
    fitted = IPoptim(linkage="single", margin=0, **paper).fit(WORKED, constraints=said)
    assert_allclose(matrix(fitted.dendrogram_), minimax(changed))
    lowered = UltraTran(closure=True, **paper).fit(WORKED, constraints=said)
    assert_array_equal(matrix(lowered.dendrogram_), algorithm_2(WORKED, sorted(closed)))
    closest = LeastSquaresUltrametric(metric="precomputed", random_state=0).fit(WORKED, constraints=said)
    ones = np.ones((5, 5))
    assert closest.objective_ == pytest.approx(least_squares_ultrametric(WORKED, ones, FOUR.tolist()))
    assert (fitted.satisfied_, lowered.satisfied_) == (0.5, 1.0)
    assert closest.certificate_.ok


def test_algorithm_2_as_printed_is_asymmetric_and_lowering_both_entries_mends_it():
    asymmetric = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        A = rng.random((8, 8))
        D = np.triu(A, 1) + np.triu(A, 1).T
        triplets = consistent_triplets(rng, 8, "random")
        printed = algorithm_2(D, triplets, symmetric=False)
        asymmetric += not np.array_equal(printed, printed.T)
        mended = algorithm_2(D, comparisons(triplets))
        assert_array_equal(mended, mended.T)
        assert (mended <= printed).all()
        i = np.arange(8)
        tree = ultratran(D, Constraints.build(8, triplets=triplets), metric="precomputed")
        assert_array_equal(tree.cophenetic(i[:, None], i[None]), mended)
    assert asymmetric > 10


def test_algorithm_1_with_weights_needs_their_inverse_in_its_steps():
    rng = np.random.default_rng(0)
    for _ in range(10):
        d, W = rng.random(6), rng.random(6) + 0.5
        C = np.zeros((5, 6))
        C[np.arange(5), np.arange(5)], C[np.arange(5), np.arange(1, 6)] = 1, -1
        assert_allclose(algorithm_1(d, C, W)[0], project_by_qp(d, C, 0.0, W), atol=1e-6)
    assert not np.allclose(algorithm_1(d, C, 1 / W)[0], project_by_qp(d, C, 0.0, W), atol=1e-3)
    assert_array_equal(algorithm_1(d, np.zeros((0, 6)))[0], d)


def test_lowering_once_keeps_hardly_more_than_no_triplets_at_all_and_the_strict_variant_keeps_all():
    held = np.zeros(3)
    total = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20, 3))
        said = Constraints.build(20, triplets=consistent_triplets(rng, 20, "random")[:12])
        trees = (
            agglomerate(X, method="single"),
            ultratran(X, said),
            ultratran(X, said, variant="strict"),
        )
        held += [tree.satisfies(said).sum() for tree in trees]
        total += said.n_statements
    assert held[2] == total
    assert held[1] < 0.85 * total


def test_projecting_once_and_clustering_then_keeps_few():
    """S. V-A never enforces (8): with random triplets about two of five hold, where all could."""
    held = np.zeros(3)
    total = 0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20, 3))
        said = Constraints.build(20, triplets=consistent_triplets(rng, 20, "random")[:12])
        total += said.n_statements
        trees = (agglomerate(X), ipoptim(X, said), ipoptim(X, said, enforce="joint"))
        held += [tree.satisfies(said).sum() for tree in trees]
    assert held[0] < 0.5 * total
    assert held[1] < 0.65 * total
    assert held[2] > 0.9 * total


def test_table_4_iris():
    """100 triplets of the classes of Iris: HACoc, whose rule is ours, gains as much as in the paper (0.96).

    The others stay where single linkage is (0.8906); their 0.9293 and 0.9211 we could not reproduce, whose triplets and
    settings are not told.
    """
    X, y = load_iris(return_X_y=True)
    found = {"UltraTran": [], "IPoptim": [], "HACoc": []}
    for seed in range(5):
        said = Constraints.build(len(X), triplets=class_triplets(np.random.default_rng(seed), y, 100))
        found["UltraTran"].append(hierarchy_fscore(y, ultratran(X, said)))
        found["IPoptim"].append(hierarchy_fscore(y, ipoptim(X, said, method="single")))
        found["HACoc"].append(hierarchy_fscore(y, hacoc(X, said)))
    assert np.mean(found["HACoc"]) == pytest.approx(0.96, abs=0.015)
    assert np.mean(found["IPoptim"]) == pytest.approx(0.8906, abs=0.01)
    assert np.mean(found["UltraTran"]) == pytest.approx(0.8906, abs=0.02)
