"""One comparison d(a, b) < d(a, c) against the triplet ab|c: equal in a tree, different before; weights; conflicts."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import squareform

from linkwise import Constraints, repair
from linkwise.engines import HACoc, IPoptim, UltraTran, agglomerate, project_triplets
from linkwise.engines.hierarchical.ultrametric import _hacoc, _ipoptim, _ultratran
from linkwise.engines.hierarchical.ultrametric._base import drop_at_random
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError, LinkwiseWarning
from linkwise.problem import close_comparisons
from tests.oracles.entailment import transitive_closure
from tests.oracles.generators import consistent_triplets, noise_triplets, random_tree, tree_triplets
from tests.oracles.relative import binary_trees, consistent, displays
from tests.oracles.ultrametric import (
    algorithm_1,
    algorithm_2,
    compares,
    comparison_rows,
    comparisons,
    greedy_by_comparisons,
    hierarchies,
    least_absolute,
    project_by_qp,
)
from tests.posing import posed
from tests.profile import examples

pytestmark = pytest.mark.kernels

hacoc, ultratran = posed(_hacoc.hacoc), posed(_ultratran.ultratran)


def instance(seed, high=9):
    """Distances, comparisons some tree agrees with, the same as triplets, and where each comparison starts."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, high))
    k = n * (n - 1) // 2
    D = squareform(rng.random(k) if seed % 2 else rng.integers(1, 5, k).astype(float))
    rows = consistent_triplets(rng, n, "random")
    return D, rows, Constraints.build(n, triplets=rows), np.array([a for a, _, _ in rows], dtype=np.intp)


def matrix(tree):
    i = np.arange(tree.n_samples)
    return tree.cophenetic(i[:, None], i[None])


# -- theory, by enumeration -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 4, 5])
def test_in_every_tree_one_strict_comparison_is_a_triplet_and_one_weak_comparison_forbids_another(n):
    for tree in hierarchies(tuple(range(n))):
        height = {clade: len(clade) for clade in tree}  # rises strictly towards the root
        for a, b, c in permutations(range(n), 3):
            closer = compares(tree, height, a, b, c) < 0
            assert closer == displays(tree, (a, b, c)) == (compares(tree, height, b, a, c) < 0)
            assert (compares(tree, height, a, b, c) <= 0) == (not displays(tree, (a, c, b)))
        for trio in combinations(range(n), 3):
            assert sum(displays(tree, t) for t in (trio, (*trio[1:], trio[0]), (trio[0], trio[2], trio[1]))) <= 1


# -- projection -----------------------------------------------------------------------------------------------------


def test_one_comparison_each_is_projected_as_algorithm_1_and_quadratic_programs_do():
    differs = 0
    for seed in range(examples(200, 2000)):
        D, rows, said, _ = instance(seed)
        moved = project_triplets(D, rows, margin=0, metric="precomputed")
        C = comparison_rows(moved.pairs, rows)
        assert_array_equal(moved.before, D[tuple(moved.pairs.T)])
        assert_allclose(moved.after, algorithm_1(moved.before, C)[0], atol=1e-6, err_msg=str(seed))
        both = project_triplets(D, said, margin=0, metric="precomputed")
        assert_allclose(
            both.after, algorithm_1(both.before, comparison_rows(both.pairs, comparisons(rows)))[0], atol=1e-6
        )
        place = {tuple(pair): k for k, pair in enumerate(both.pairs.tolist())}
        differs += not np.allclose(moved.after, [both.after[place[tuple(p)]] for p in moved.pairs.tolist()])
    assert differs > examples(200, 2000) / 3


def test_comparisons_need_no_tree_but_no_circle_either():
    rows = [(0, 1, 2), (1, 2, 0)]  # d12 < d01 < d02: points on a line, no ultrametric
    moved = project_triplets([[0.0], [2.0], [3.0]], rows, margin=0)
    assert_array_equal(moved.before, moved.after)
    with pytest.raises(InfeasibleConstraintsError):
        project_triplets(np.eye(3), Constraints.build(3, triplets=rows))
    with pytest.raises(InfeasibleConstraintsError, match="3 comparisons form a circle"):
        project_triplets(np.eye(4), [(0, 1, 2), (0, 2, 3), (0, 3, 1)])
    with pytest.raises(LinkwiseError, match="names sample 7, but samples are numbered 0 to 3"):
        project_triplets(np.eye(4), [(0, 1, 7)])


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_weights_of_pairs_are_those_of_the_objective(margin):
    for seed in range(examples(200, 1000)):
        D, rows, _, _ = instance(seed)
        W = squareform(np.exp(np.random.default_rng(seed).normal(size=len(D) * (len(D) - 1) // 2)))
        moved = project_triplets(D, rows, margin=margin, metric="precomputed", pair_weight=W)
        C, w = comparison_rows(moved.pairs, rows), W[tuple(moved.pairs.T)]
        gap = margin * moved.before.mean()
        assert_allclose(moved.after, project_by_qp(moved.before, C, gap, w, floor=True), atol=2e-6, err_msg=str(seed))
        if margin == 0:
            assert_allclose(moved.after, algorithm_1(moved.before, C, w)[0], atol=1e-6, err_msg=str(seed))


def test_weighted_absolute_deviations_reach_the_linear_program():
    for seed in range(examples(15, 200)):
        D, rows, _, _ = instance(seed)
        W = squareform(np.random.default_rng(seed).integers(1, 4, len(D) * (len(D) - 1) // 2).astype(float))
        moved = project_triplets(D, rows, margin=0, norm="l1", metric="precomputed", pair_weight=W)
        w = W[tuple(moved.pairs.T)].astype(int)
        C = comparison_rows(moved.pairs, rows)
        # a weight of 3 is three copies of a distance that have to agree
        copy = np.repeat(np.arange(len(w)), w)
        first = np.searchsorted(copy, np.arange(len(w)))
        wide = np.zeros((len(C), len(copy)))
        wide[:, first] = C
        for k, x in enumerate(copy):
            if k != first[x]:
                for sign in (1, -1):
                    wide = np.vstack([wide, np.zeros(len(copy))])
                    wide[-1, [k, first[x]]] = sign, -sign
        least = least_absolute(moved.before[copy], wide, 0.0)
        assert (w * np.abs(moved.after - moved.before)).sum() == pytest.approx(least, rel=1e-3, abs=1e-6)


def test_the_closure_of_the_order_changes_no_projection():
    for seed in range(examples(200, 500)):
        D, rows, _, _ = instance(seed)
        once, closed = (
            project_triplets(D, given, margin=0, metric="precomputed") for given in (rows, close_comparisons(rows))
        )
        assert_array_equal(once.pairs, closed.pairs)
        assert_allclose(once.after, closed.after, atol=1e-9)


# -- trees ----------------------------------------------------------------------------------------------------------


def test_ultratran_with_anchors_is_algorithm_2_of_the_rows_alone():
    for seed in range(examples(200, 2000)):
        D, rows, said, anchor = instance(seed)
        for closure in (False, True):
            compared = sorted(transitive_closure(rows)) if closure else rows
            tree = ultratran(D, said, metric="precomputed", anchor=anchor, closure=closure)
            assert_array_equal(matrix(tree), algorithm_2(D, compared), err_msg=str(seed))


@pytest.mark.parametrize("method", ["single", "average"])
def test_hacoc_with_anchors_lets_b_and_c_meet_first(method):
    differs = 0
    for seed in range(examples(200, 1000)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 10))
        X = rng.normal(size=(n, 3))
        rows = consistent_triplets(rng, n, "random")
        said, anchor = Constraints.build(n, triplets=rows), np.array([a for a, _, _ in rows], dtype=np.intp)
        D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
        for closure in (False, True):
            more = sorted(transitive_closure(rows) - set(rows)) if closure else []
            pairs, heights = greedy_by_comparisons(D, [*rows, *more], method)
            tree = hacoc(X, said, method=method, anchor=anchor, closure=closure)
            assert tree.to_children().tolist() == [list(pair) for pair in pairs], seed
            assert_allclose(tree.raw_height[n:], heights)
        differs += tree != hacoc(X, said, method=method)
    assert differs > 10


def test_the_tree_of_ipoptim_is_the_linkage_of_the_distances_its_anchors_move():
    for seed in range(examples(25, 300)):
        D, rows, said, anchor = instance(seed)
        moved = project_triplets(D, rows, metric="precomputed", pair_weight=D + 1)
        i, j = moved.pairs.T
        changed = D.copy()
        changed[i, j] = changed[j, i] = moved.after
        tree = posed(_ipoptim.ipoptim)(D, said, metric="precomputed", anchor=anchor, pair_weight=D + 1)[0]
        assert_allclose(matrix(tree), matrix(agglomerate(changed, method="average", metric="precomputed")))


@pytest.mark.parametrize("estimator", [IPoptim, UltraTran, HACoc])
@pytest.mark.filterwarnings("ignore::linkwise.exceptions.LinkwiseWarning")
def test_anchors_are_read_by_statement_drawn_by_seed_and_refused_in_words(estimator):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12, 2))
    rows = np.array(tree_triplets(rng, random_tree(rng, range(12), "random"), 15))
    said = Constraints.build(12, triplets=rows)
    given = estimator(anchors=rows[:, 0]).fit(X, constraints=said)
    order = rng.permutation(len(rows))
    assert estimator(anchors=rows[:, 0]).fit(X, constraints=said.select(np.sort(order[:6]))).dendrogram_.is_tree
    turned = estimator(anchors=rows[order, 0]).fit(X, constraints=Constraints.build(12, triplets=rows[order]))
    assert_allclose(matrix(turned.dendrogram_), matrix(given.dendrogram_))
    drawn = [estimator(anchors="random", random_state=seed).fit(X, constraints=said) for seed in (0, 0)]
    assert drawn[0].dendrogram_ == drawn[1].dendrogram_
    with pytest.raises(LinkwiseError, match="expected a whole number for each"):
        estimator(anchors=rows[:2, 0]).fit(X, constraints=said)
    with pytest.raises(LinkwiseError, match="expected one of its close pair"):
        estimator(anchors=rows[:, 2]).fit(X, constraints=said)


# -- contradictions -------------------------------------------------------------------------------------------------


def test_random_removal_drops_something_exactly_when_no_tree_displays_all_and_leaves_what_some_tree_does():
    dropped = 0
    for seed in range(examples(200, 2000)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 6))
        rows = noise_triplets(rng, n, int(rng.integers(1, 7)))
        said = Constraints.build(n, triplets=rows)
        kept = drop_at_random(said, seed)
        trees = binary_trees(tuple(range(n)))
        possible = any(all(displays(tree, row) for row in rows) for tree in trees)
        assert possible == (len(kept) == len(rows))
        assert any(all(displays(tree, rows[t]) for t in kept.tolist()) for tree in trees)
        assert_array_equal(kept, drop_at_random(said, seed))
        dropped += not possible
    assert dropped > 40


@pytest.mark.filterwarnings("ignore::linkwise.exceptions.LinkwiseWarning")
def test_conflicts_are_dropped_at_random_or_at_minimum_cost():
    contradictory, sizes = 0, {}
    for seed in range(examples(40, 600)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 7))
        rows = noise_triplets(rng, n, 6)
        said = Constraints.build(n, triplets=rows)
        X = rng.normal(size=(n, 2))
        possible = consistent(rows, n)
        contradictory += not possible
        for conflicts in ("random", "cheapest"):
            model = UltraTran(variant="strict", conflicts=conflicts, random_state=seed).fit(X, constraints=said)
            kept = [rows[r] for r in model.constraints_.row.tolist()]
            assert consistent(kept, n)
            assert model.satisfied_ == 1.0
            assert len(kept) + model.dropped_.n_statements == said.n_statements
            assert possible == (model.dropped_.n_statements == 0)
            sizes.setdefault(conflicts, []).append(model.dropped_.n_statements)
        assert sizes["cheapest"][-1] == len(repair(said).dropped) <= sizes["random"][-1]
        if not possible:
            with pytest.raises(InfeasibleConstraintsError):
                UltraTran().fit(X, constraints=said)
    assert contradictory > 10
    assert sum(sizes["random"]) > sum(sizes["cheapest"])


def test_what_is_dropped_is_told_and_depends_on_the_seed():
    X, said = np.eye(3), Constraints.build(3, triplets=[(0, 1, 2), (0, 2, 1), (1, 2, 0)])
    kept = set()
    for seed in range(20):
        with pytest.warns(LinkwiseWarning, match=r"2 of 3 statements contradict others and were left out"):
            model = UltraTran(variant="strict", conflicts="random", random_state=seed).fit(X, constraints=said)
        kept.add(int(model.constraints_.row[0]))
    assert kept == {0, 1, 2}
