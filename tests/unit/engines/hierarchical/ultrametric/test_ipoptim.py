"""The sparse projection onto triplets, exact by Kuhn and Tucker, and the trees IPoptim makes of it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import squareform
from sklearn.isotonic import isotonic_regression

from linkwise import Constraints
from linkwise.engines import IPoptim, agglomerate, project_triplets
from linkwise.engines.hierarchical.ultrametric import _ipoptim
from linkwise.engines.hierarchical.ultrametric._base import Comparisons, Triplets
from linkwise.engines.hierarchical.ultrametric._projection import least_squares, name_pairs, project
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError, LinkwiseWarning
from tests.oracles.generators import consistent_triplets
from tests.oracles.trees import climb
from tests.oracles.ultrametric import algorithm_1, is_ultrametric, least_absolute, project_by_qp
from tests.posing import posed
from tests.profile import examples

pytestmark = pytest.mark.kernels


def ipoptim(X, said, **options):
    """The tree of IPoptim before it is cut."""
    return posed(_ipoptim.ipoptim)(X, said, **options)[0]


def solve(wish, weight, left, right, gap):
    """Solve as one part and return the point, the multipliers and the rows of the constraints."""
    wish, left, right = np.asarray(wish, float), np.asarray(left, np.intp), np.asarray(right, np.intp)
    weight, gap = (np.broadcast_to(np.asarray(v, float), k).copy() for v, k in ((weight, len(wish)), (gap, len(left))))
    x, u, stuck = least_squares(wish, weight, left, right, gap, np.zeros(len(wish), np.intp))
    assert stuck == -1
    C = np.zeros((len(left), len(wish)))
    C[np.arange(len(left)), left] += 1
    C[np.arange(len(left)), right] -= 1
    return x, u, C, weight, gap


def acyclic(seed):
    """Random comparisons that follow a random order, wishes with and without ties, any weights, any gaps."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 14))
    ends = np.array([rng.choice(k, size=2, replace=False) for _ in range(int(rng.integers(1, 25)))])
    rank = rng.permutation(k)
    turn = rank[ends[:, 0]] > rank[ends[:, 1]]
    left, right = np.where(turn, ends[:, 1], ends[:, 0]), np.where(turn, ends[:, 0], ends[:, 1])
    wish = rng.random(k) if seed % 2 else rng.integers(0, 4, size=k).astype(float)
    weight = np.ones(k) if seed % 3 else np.exp(rng.normal(size=k))
    gap = (0.0, 0.1, rng.random(len(left)))[seed // 2 % 3]
    return wish, weight, left, right, gap


def test_the_solver_meets_kuhn_and_tucker_and_equals_quadratic_programming():
    for seed in range(examples(150, 3000)):
        wish, weight, left, right, gap = acyclic(seed)
        x, u, C, W, g = solve(wish, weight, left, right, gap)
        assert (C @ x + g).max() <= 1e-12, seed
        assert (u >= 0).all(), seed
        assert_allclose(x, wish - C.T @ u / W / 2, atol=1e-11, err_msg=str(seed))
        assert np.abs(u * (C @ x + g)).max() <= 1e-10, seed
        assert_allclose(x, project_by_qp(wish, C, g, W), atol=1e-7, err_msg=str(seed))


def test_a_chain_is_scikit_learns_isotonic_regression():
    for seed in range(examples(10, 200)):
        rng = np.random.default_rng(seed)
        wish, weight = rng.normal(size=60), rng.random(60) + 0.1
        x, *_ = solve(wish, weight, np.arange(59), np.arange(1, 60), 0.0)
        assert_allclose(x, isotonic_regression(wish, sample_weight=weight), atol=1e-12)


def test_without_a_gap_values_stay_in_range_and_keep_their_sum():
    for seed in range(examples(50, 500)):
        wish, _, left, right, _ = acyclic(seed)
        x, *_ = solve(wish, 1.0, left, right, 0.0)
        assert_allclose(x.sum(), wish.sum(), atol=1e-12 * len(x))
        assert x.min() >= wish.min() - 1e-12
        assert x.max() <= wish.max() + 1e-12


def test_the_projection_is_idempotent_non_expansive_and_indifferent_to_order():
    for seed in range(examples(50, 500)):
        wish, weight, left, right, gap = acyclic(seed)
        x, _, _, W, g = solve(wish, weight, left, right, gap)
        assert_allclose(solve(x, weight, left, right, gap)[0], x, atol=1e-12)
        other = wish + np.random.default_rng(seed).normal(size=len(wish))
        y, *_ = solve(other, weight, left, right, gap)
        assert (W * (x - y) ** 2).sum() <= (W * (wish - other) ** 2).sum() + 1e-12
        turned = solve(wish, weight, left[::-1], right[::-1], g[::-1])[0]
        assert_allclose(turned, x, atol=1e-11)


def test_a_cycle_with_a_gap_is_noticed():
    stuck = least_squares(
        np.zeros(2), np.ones(2), np.array([0, 1]), np.array([1, 0]), np.full(2, 0.5), np.zeros(2, np.intp)
    )[2]
    assert stuck == 0


# -- on triplets ----------------------------------------------------------------------------------------------------


def instance(seed, high=10):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, high))
    D = squareform(rng.random(n * (n - 1) // 2) if seed % 2 else rng.integers(1, 5, n * (n - 1) // 2).astype(float))
    triplets = consistent_triplets(rng, n)
    return D, triplets, Constraints.build(n, triplets=triplets)


def rows(pairs, triplets):
    """Both comparisons of each triplet as a row over the named pairs: +1 at the close pair, -1 at the other."""
    place = {tuple(pair): k for k, pair in enumerate(pairs.tolist())}
    C = []
    for a, b, c in triplets:
        for x in (a, b):
            row = np.zeros(len(pairs))
            row[place[min(a, b), max(a, b)]] = 1
            row[place[min(x, c), max(x, c)]] = -1
            C.append(row)
    return np.array(C).reshape(len(C), len(pairs))


@pytest.mark.parametrize("margin", [0.0, 0.02, 1.0])
def test_triplets_are_projected_exactly_and_never_below_zero(margin):
    for seed in range(examples(40, 500)):
        D, triplets, said = instance(seed)
        moved = project_triplets(D, said, margin=margin, metric="precomputed")
        if not triplets:
            assert not len(moved.pairs)
            continue
        C, gap = rows(moved.pairs, triplets), margin * moved.before.mean()
        assert_array_equal(moved.before, D[tuple(moved.pairs.T)])
        assert (C @ moved.after).max() <= -gap + 1e-9
        assert (moved.after >= 0).all()
        assert_allclose(moved.after, project_by_qp(moved.before, C, gap, floor=True), atol=1e-6, err_msg=str(seed))


def test_algorithm_1_approaches_the_same_point_and_keeps_its_invariant():
    for seed in range(examples(15, 500)):
        D, triplets, said = instance(seed, high=7)
        moved = project_triplets(D, said, margin=0, metric="precomputed")
        C, d = rows(moved.pairs, triplets), moved.before

        def watch(a, u, C=C, d=d):
            assert (u >= 0).all()
            assert_allclose(a, d - C.T @ u / 2, atol=1e-12)

        a, _ = algorithm_1(d, C, watch=watch)
        assert_allclose(moved.after, a, atol=1e-6, err_msg=str(seed))


def test_absolute_deviations_reach_the_linear_programme():
    for seed in range(examples(15, 500)):
        D, triplets, said = instance(seed)
        if not triplets:
            continue
        moved = project_triplets(D, said, norm="l1", margin=0.01, metric="precomputed")
        C, gap = rows(moved.pairs, triplets), 0.01 * moved.before.mean()
        assert (C @ moved.after).max() <= -gap + 1e-9
        least = least_absolute(moved.before, C, gap)
        assert np.abs(moved.after - moved.before).sum() == pytest.approx(least, rel=1e-3, abs=1e-6)
        squares = project_triplets(D, said, margin=0.01, metric="precomputed").after
        assert np.abs(moved.after - moved.before).sum() <= np.abs(squares - moved.before).sum() + 1e-12


def test_ties_are_why_there_is_a_margin():
    tied = total = 0
    for seed in range(30):
        D, triplets, said = instance(2 * seed + 1)
        moved = project_triplets(D, said, margin=0, metric="precomputed")
        value = rows(moved.pairs, triplets) @ moved.after
        tied, total = tied + int((np.abs(value) < 1e-12).sum()), total + len(value)
    assert tied > total / 4


def test_parts_are_solved_apart():
    """Random triplets rarely share a pair: thousands of them are thousands of tiny problems."""
    rng = np.random.default_rng(0)
    n, m = 3000, 2000
    a, b, c = rng.permutation(n)[: 3 * (n // 3)].reshape(3, -1)[:, : min(m, n // 3)]
    named = name_pairs(n, Comparisons.of(Triplets(a, b, c)))
    assert named.part.max() + 1 == len(a)
    wish = rng.random(len(named.pairs))
    x = project(named, wish, np.full(len(named.left), 0.01))
    assert (x[named.left] + 0.01 <= x[named.right] + 1e-12).all()


# -- trees ----------------------------------------------------------------------------------------------------------


def test_the_tree_is_the_linkage_of_the_moved_distances():
    for method in ("single", "complete", "average", "weighted"):
        D, triplets, said = instance(5, high=12)
        moved = project_triplets(D, said, metric="precomputed")
        changed = D.copy()
        i, j = moved.pairs.T
        changed[i, j] = changed[j, i] = moved.after
        tree = ipoptim(D, said, method=method, metric="precomputed")
        assert triplets
        assert tree == agglomerate(changed, method=method, metric="precomputed")
        k = np.arange(len(D))
        assert is_ultrametric(tree.cophenetic(k[:, None], k[None]))


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted"])
def test_joint_enforcement_keeps_far_more_than_one_projection(method):
    held = {"once": 0, "joint": 0}
    total = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20, 3))
        said = Constraints.build(20, triplets=consistent_triplets(rng, 20, "random")[:10])
        total += said.n_statements
        for enforce in held:
            held[enforce] += int(ipoptim(X, said, method=method, enforce=enforce).satisfies(said).sum())
    assert held["once"] < 0.7 * total
    assert held["joint"] > 0.9 * total


def test_joint_is_never_worse_and_stops_at_once_when_all_hold():
    for seed in range(examples(20, 300)):
        D, _, said = instance(seed)
        once, joint = (
            ipoptim(D, said, enforce=enforce, metric="precomputed").satisfies(said).sum()
            for enforce in ("once", "joint")
        )
        assert joint >= once
    X = np.array([[0.0], [1.0], [5.0], [6.5]])
    agreeing = Constraints.build(4, triplets=[(0, 1, 2)])
    assert IPoptim(enforce="joint").fit(X, constraints=agreeing).n_rounds_ == 1
    assert IPoptim().fit(X).n_rounds_ == 1


def test_the_share_is_a_recount_by_lowest_common_ancestors():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 2))
    triplets = consistent_triplets(rng, 30, "random")
    with pytest.warns(LinkwiseWarning, match="IPoptim promises nothing and broke"):
        model = IPoptim().fit(X, constraints=Constraints.build(30, triplets=triplets))
    parent = model.dendrogram_.parent.tolist()
    held = [
        climb(parent, a, b) != climb(parent, a, c) and climb(parent, a, c) == climb(parent, b, c)
        for a, b, c in triplets
    ]
    assert 0 < np.mean(held) < 1
    assert model.satisfied_ == np.mean(held)


def test_wrong_words_and_contradictions():
    X = np.eye(4)[:, :3]
    fine = Constraints.build(4, triplets=[(0, 1, 2)])
    both = Constraints.build(4, triplets=[(0, 1, 2), (0, 2, 1)])
    for options in ({"linkage": "ward"}, {"norm": "l3"}, {"enforce": "twice"}, {"margin": -1.0}):
        with pytest.raises(ValueError, match=f"The '{next(iter(options))}' parameter of IPoptim must be"):
            IPoptim(**options).fit(X)
    with pytest.raises(InfeasibleConstraintsError):
        IPoptim().fit(X, constraints=both)
    with pytest.raises(LinkwiseError, match="does not know the norm"):
        project_triplets(X, fine, norm="l3")
    with pytest.raises(LinkwiseError, match="at least 0"):
        project_triplets(X, fine, margin=-1.0)
    with pytest.raises(LinkwiseError, match="are about 4 samples, but X has 3 rows"):
        project_triplets(X[:3], fine)
    with pytest.raises(InfeasibleConstraintsError):
        project_triplets(X, both)
    bad = 1.0 - np.eye(4)
    bad[0, 2] = bad[2, 0] = np.nan
    with pytest.raises(LinkwiseError, match=r"missing \(NaN\) dissimilarity for the pair \(0, 2\)"):
        project_triplets(bad, fine, metric="precomputed")
