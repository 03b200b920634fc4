from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from linkwise import Constraints, Kind
from linkwise._kernels.disjoint_set import components
from linkwise.engines.agglomeration._choose_loop import merge_all
from tests.oracles.agglomeration import faults, greedy
from tests.profile import examples

pytestmark = pytest.mark.kernels

METHODS = ("single", "complete", "average", "weighted", "ward", "centroid", "median")
MATRIX_FREE = ("ward without a matrix", "centroid without a matrix", "median without a matrix")
LISTED = ("complete by lists", "average by short lists", "weighted by short lists")


def instance(seed, *, grid=False, n=None):
    """Draw points, must-link groups and cannot-links between different groups."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 26)) if n is None else n
    d = int(rng.integers(1, 5))
    X = rng.integers(0, 4, size=(n, d)).astype(float) if grid else rng.normal(size=(n, d))
    links = rng.integers(n, size=(int(rng.integers(0, n // 2 + 1)), 2)).astype(np.intp)
    forced = components(n, links) if seed % 3 else None
    pairs = rng.integers(n, size=(int(rng.integers(0, 3 * n)), 2)).astype(np.intp)
    group = np.arange(n) if forced is None else forced
    forbidden = pairs[group[pairs[:, 0]] != group[pairs[:, 1]]]
    return X, forced, forbidden if seed % 4 else None


def listed(forbidden):
    return () if forbidden is None else forbidden


@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_must_and_cannot_links_follow_the_definition(method):
    forests = 0
    for seed in range(examples(14, 4000)):
        X, forced, forbidden = instance(seed)
        pairs, heights = greedy(X, method, forced=forced, forbidden=listed(forbidden))
        merges = merge_all(X, method=method, forced=forced, forbidden=forbidden)
        assert_allclose(merges.height, heights, rtol=1e-9, atol=1e-12, err_msg=f"seed {seed}")
        assert_array_equal(merges.pairs, np.sort(pairs, axis=1), err_msg=f"seed {seed}")
        forests += len(merges.height) < len(X) - 1
    assert forests > 3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_constrained_ties_go_to_some_legal_minimum(method, dtype):
    for seed in range(examples(9, 2000)):
        X, forced, forbidden = instance(seed, grid=True)
        merges = merge_all(X, method=method, forced=forced, forbidden=forbidden, dtype=dtype)
        wrong = faults(
            merges.pairs,
            merges.height,
            X,
            method,
            forced=forced,
            forbidden=listed(forbidden),
            tolerance=1e-9 if dtype == np.float64 else 1e-4,
        )
        assert wrong == [], f"seed {seed}"


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted", "centroid", "median"])
def test_constrained_matrix_equals_constrained_vectors(method):
    for seed in range(1, examples(4, 300)):
        X, forced, forbidden = instance(seed)
        given = squareform(pdist(X)) if seed % 2 or len(X) < 2 else pdist(X)
        a = merge_all(X, method=method, forced=forced, forbidden=forbidden)
        b = merge_all(given, method=method, metric="precomputed", forced=forced, forbidden=forbidden)
        assert_array_equal(a.pairs, b.pairs, err_msg=f"seed {seed}")
        assert_allclose(a.height, b.height, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_large_enough_to_rearrange_the_blocks(method):
    X, _, _ = instance(0, n=400)
    rng = np.random.default_rng(1)
    truth = rng.integers(5, size=400)
    links = rng.integers(400, size=(2000, 2)).astype(np.intp)
    same = truth[links[:, 0]] == truth[links[:, 1]]
    forced = components(400, links[same][:60])
    forbidden = links[~same]
    a = merge_all(X, method=method, forced=forced, forbidden=forbidden)
    if method == "ward":
        # the generic algorithm on a matrix knows nothing of blocks, lists or rounds
        b = merge_all(X, method=method, forced=forced, forbidden=forbidden, epsilon=1e9)
        order = np.argsort(b.height, kind="stable")
        assert_allclose(a.height, b.height[order], rtol=1e-9)
    else:
        b = merge_all(squareform(pdist(X)), method=method, metric="precomputed", forced=forced, forbidden=forbidden)
        assert_array_equal(a.pairs, b.pairs)
        assert_allclose(a.height, b.height, rtol=1e-9)
    assert len(a.height) < 399


@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
@pytest.mark.parametrize("rule", ["gamma", "epsilon", "both"])
def test_gamma_and_epsilon_follow_the_definition(method, rule):
    forests = 0
    for seed in range(examples(7, 1500)):
        X, forced, forbidden = instance(seed)
        rng = np.random.default_rng(seed)
        gamma = float(rng.uniform(0.5, 3)) if rule != "epsilon" else None
        epsilon = float(rng.uniform(0.2, 1.5)) if rule != "gamma" else None
        pairs, heights = greedy(X, method, forced=forced, forbidden=listed(forbidden), gamma=gamma, epsilon=epsilon)
        merges = merge_all(X, method=method, forced=forced, forbidden=forbidden, gamma=gamma, epsilon=epsilon)
        assert_allclose(merges.height, heights, rtol=1e-9, atol=1e-12, err_msg=f"seed {seed}")
        assert_array_equal(merges.pairs, np.sort(pairs, axis=1), err_msg=f"seed {seed}")
        forests += len(merges.height) < len(X) - 1
    assert forests > 3


def test_smallest_dead_end():
    # merging {2, 3} first leaves three clusters, although {0, 3}, {1, 2} would be legal
    X = np.array([[0.0], [20.0], [9.0], [10.0]])
    forbidden = np.array([[0, 1], [0, 2], [1, 3]], np.intp)
    for method in METHODS:
        assert merge_all(X, method=method, forbidden=forbidden).pairs.tolist() == [[2, 3]]


@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_everything_forced_or_everything_forbidden(method):
    X = np.random.default_rng(0).normal(size=(90, 2))
    together = merge_all(X, method=method, forced=np.zeros(90, np.intp))
    assert_array_equal(together.height, np.zeros(89))
    assert together.pairs[:3].tolist() == [[0, 1], [2, 90], [3, 91]]
    apart = np.array([(i, j) for i in range(90) for j in range(i)], np.intp)
    assert len(merge_all(X, method=method, forbidden=apart).height) == 0


@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_empty_rules_equal_no_rules(method):
    X = np.random.default_rng(3).normal(size=(80, 3))
    plain = merge_all(X, method=method)
    other = merge_all(X, method=method, forced=np.arange(80, dtype=np.intp), forbidden=np.empty((0, 2), np.intp))
    assert_array_equal(plain.pairs, other.pairs)
    assert_allclose(plain.height, other.height, rtol=1e-12)


def groups_apart(seed, forced, n):
    """Draw groups apart that no must-linked group contradicts; return them, and all their pairs."""
    rng = np.random.default_rng([seed, 1])
    group = np.arange(n) if forced is None else forced
    told = []
    for _ in range(int(rng.integers(1, 4))):
        some = rng.permutation(n)[: int(rng.integers(2, n + 1))]
        some = some[np.unique(group[some], return_index=True)[1]]
        if len(some) > 1:
            told.append(some.tolist())
    if not told:
        return None, None
    pairs = np.array([(i, j) for some in told for i in some for j in some if i < j], np.intp)
    return Constraints.build(n, apart=told).groups_of(Kind.APART), pairs


def both(*pairs):
    given = [some for some in pairs if some is not None]
    return np.concatenate(given) if given else None


@pytest.mark.parametrize("rule", [None, "gamma", "epsilon"])
@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_groups_apart_equal_all_their_pairs(method, rule):
    groups = merged = 0
    for seed in range(examples(30, 2000)):
        X, forced, forbidden = instance(seed)
        apart, pairs = groups_apart(seed, forced, len(X))
        rules = {} if rule is None else {rule: 1.5}
        told = merge_all(X, method=method, forced=forced, forbidden=forbidden, apart=apart, **rules)
        written = merge_all(X, method=method, forced=forced, forbidden=both(forbidden, pairs), **rules)
        assert_array_equal(told.pairs, written.pairs, err_msg=f"seed {seed}")
        assert_array_equal(told.height, written.height, err_msg=f"seed {seed}")
        groups += apart is not None
        merged += len(told.height)
    assert groups > 15
    assert merged > 100


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("method", [*METHODS, *MATRIX_FREE, *LISTED], indirect=True)
def test_groups_apart_survive_rearranged_blocks(method, dtype):
    X, _, _ = instance(0, n=400)
    rng = np.random.default_rng(2)
    forced = components(400, rng.integers(400, size=(40, 2)).astype(np.intp))
    first = np.unique(forced, return_index=True)[1]  # one sample of each must-linked group
    told = [first[k::60].tolist() for k in range(60)]
    apart = Constraints.build(400, apart=told).groups_of(Kind.APART)
    pairs = np.array([(i, j) for some in told for i in some for j in some if i < j], np.intp)
    a = merge_all(X, method=method, forced=forced, apart=apart, dtype=dtype)
    b = merge_all(X, method=method, forced=forced, forbidden=pairs, dtype=dtype)
    assert_array_equal(a.pairs, b.pairs)
    assert_array_equal(a.height, b.height)
    assert 200 < len(a.height) < 399


@pytest.mark.parametrize("method", ["ward", "centroid", "median"])
def test_linkages_of_centers_take_distances_as_scipy_does(method):
    for seed in range(examples(8, 1000)):
        X, forced, forbidden = instance(seed, n=30)
        D = squareform(pdist(X))
        plain, Z = merge_all(D, method=method, metric="precomputed"), linkage(pdist(X), method)
        assert_allclose(plain.height, Z[:, 2], rtol=1e-9, atol=1e-12)
        assert_array_equal(plain.pairs, Z[:, :2])
        given = merge_all(D, method=method, metric="precomputed", forced=forced, forbidden=forbidden)
        told = merge_all(X, method=method, forced=forced, forbidden=forbidden)
        assert_array_equal(given.pairs, told.pairs)
        assert_allclose(given.height, told.height, rtol=1e-7, atol=1e-9)
    D[2, 5] = D[5, 2] = 1e3  # no longer Euclidean: the formula is followed to a tree
    bent = merge_all(D, method=method, metric="precomputed")
    assert len(bent.pairs) == 29
    assert (bent.height >= 0).all()
