"""iHAC, biHAC and biiHAC against their definitions, and what the papers and the errata promise about them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from linkwise import Constraints, Kind, Taxonomy
from linkwise.engines import agglomerate, progress
from linkwise.engines.hierarchical.biased import _kernels as kernels, _runs
from linkwise.metrics import h_correlation
from tests.oracles import adaptive as oracle
from tests.oracles.trees import clades
from tests.posing import posed
from tests.profile import examples

pytestmark = pytest.mark.kernels

METHODS = ("average", "centroid")
ihac, bihac, biihac = (posed(getattr(_runs, name)) for name in ("ihac", "bihac", "biihac"))


def clusters(tree):
    return clades(tree.n_samples, tree.parent.tolist())


def instance(seed):
    """Random vectors with zeros among them, and triplets of a random tree, sometimes said twice."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 13)), int(rng.integers(2, 8))
    X = rng.gamma(0.7, size=(n, d)) * (rng.random((n, d)) < 0.8)
    X[np.arange(n), rng.integers(d, size=n)] += 0.1
    if seed % 5 == 0:
        X -= 0.5
    truth = agglomerate(rng.normal(size=(n, 2)), method="average").triplets().of(Kind.TRIPLET)
    rows = truth[rng.choice(len(truth), size=int(rng.integers(1, min(40, len(truth)) + 1)))]
    flip = rng.random(len(rows)) < 0.5
    rows[flip] = rows[flip][:, [1, 0, 2]]
    return X, Constraints.build(n, triplets=rows), [tuple(row) for row in rows.tolist()]


def assert_same_tree(run, merges):
    assert clusters(run.dendrogram) == {a | b for a, b, _, _ in merges}
    assert_allclose(
        np.sort(run.dendrogram.raw_height[run.dendrogram.n_samples :]),
        np.sort([max(1 - s, 0) for _, _, s, _ in merges]),
        atol=1e-9,
    )


@pytest.mark.parametrize("method", METHODS)
def test_ihac_agrees_with_the_definition(method):
    n_cases = examples(14, 600)
    compared = forced = 0
    for seed in range(n_cases):
        X, said, rows = instance(seed)
        merges, _, least = oracle.cluster(X, set(_canonical(rows)), np.ones(X.shape[1]), method, legal=True)
        run = ihac(X, said, method=method)
        if least < 1e-9:
            continue
        compared += 1
        forced += any(broken for *_, broken in merges)
        assert_same_tree(run, merges)
        assert_array_equal(run.broken, [broken for *_, broken in merges])
        assert run.error == pytest.approx(oracle.error(merges, rows, "node"), abs=1e-12)
    assert compared > 0.9 * n_cases
    assert forced > 0.05 * n_cases  # dead ends were among them


@pytest.mark.parametrize("method", METHODS)
def test_bihac_agrees_with_figure_5(method):
    n_cases = examples(9, 500)
    compared = learned = 0
    for seed in range(n_cases):
        X, said, rows = instance(10_000 + seed)
        options = {"error_weights": ("node", "uniform")[seed % 2]}
        rate, r_max, r_ni = (0.05, 0.3, 2.0)[seed % 3], 5, (None, 2)[seed % 2]
        merges, weights, errors, least = oracle.bihac(
            X, _canonical(rows), method=method, rate=rate, r_max=r_max, r_ni=r_ni, score=options["error_weights"]
        )
        run = bihac(X, said, method=method, learning_rate=rate, max_iter=r_max, n_iter_no_change=r_ni, **options)
        if least < 1e-9:
            continue
        compared += 1
        learned += len(errors) > 1
        assert_allclose(run.errors, errors, atol=1e-12)
        assert_allclose(run.weights, weights, atol=1e-8)
        assert_same_tree(run, merges)
        assert_array_equal(run.broken, [broken for *_, broken in merges])
        assert run.error == pytest.approx(min(errors), abs=1e-12)
        last, _, least = oracle.cluster(X, _canonical(rows), weights, method, legal=True)
        if least > 1e-9:
            both = biihac(X, said, method=method, learning_rate=rate, max_iter=r_max, n_iter_no_change=r_ni, **options)
            assert_same_tree(both, last)
            assert_array_equal(both.weights, run.weights)
            assert_array_equal(both.errors, run.errors)
            assert_array_equal(both.broken, [broken for *_, broken in last])
    assert compared > 0.6 * n_cases
    assert learned > 0.3 * n_cases


def _canonical(rows):
    return sorted({(min(x, y), max(x, y), z) for x, y, z in rows})


# -- equation (7) ---------------------------------------------------------------------------------------------------


def test_the_gradient_equals_central_differences_and_cosine_is_free_of_scale():
    rng = np.random.default_rng(0)
    for _ in range(examples(50, 200)):
        d = int(rng.integers(2, 12))
        x, y, z, w = rng.gamma(1.0, size=(4, d)) + 0.05
        change = np.empty(d)
        assert kernels.update(x, y, z, w.copy(), 0.1, change)
        h = 1e-6
        for i in range(d):
            up, down = w.copy(), w.copy()
            up[i] += h
            down[i] -= h
            rise = oracle.cosine(x, y, up) - oracle.cosine(x, z, up)
            fall = oracle.cosine(x, y, down) - oracle.cosine(x, z, down)
            assert change[i] == pytest.approx((rise - fall) / (2 * h), abs=1e-8)
        assert (w * change).sum() == pytest.approx(0.0, abs=1e-12)
        assert_allclose(change, oracle.gradient(x, y, z, w), atol=1e-12)


def test_a_step_keeps_the_conditions_on_weights():
    rng = np.random.default_rng(1)
    for rate in (0.1, 5.0, 1e6):
        x, y, z = rng.random((3, 6))
        w = np.ones(6)
        assert kernels.update(x, y, z, w, rate, np.empty(6))
        assert w.min() >= 0
        assert w.sum() == pytest.approx(6.0)


def test_no_step_without_weighted_norm_or_without_weight_left():
    one, two, change = np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.empty(2)
    w = np.array([2.0, 0.0])
    assert not kernels.update(one, two, one + two, w, 1.0, change)
    assert_array_equal(w, [2.0, 0.0])
    w = np.array([1.0, 1.0])
    assert not kernels.update(one, two, one + two, w, np.inf, change)
    assert_array_equal(w, [1.0, 1.0])


# -- what a run promises --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_tree_is_reproduced_by_its_weights_and_the_best_error_never_rises(method, sparse):
    for seed in range(examples(5, 200)):
        X, said, _ = instance(20_000 + seed)
        X = sp.csr_array(X) if sparse else X
        before = np.inf
        for runs in (1, 2, 4, 8):
            run = bihac(X, said, method=method, learning_rate=0.5, max_iter=runs)
            assert run.error == run.errors.min() <= before
            before = run.error
            assert run.weights.min() >= 0
            assert run.weights.sum() == pytest.approx(X.shape[1])
        again = bihac(X, said, method=method, max_iter=1, weights=run.weights)
        assert_array_equal(again.dendrogram.parent, run.dendrogram.parent)
        assert_array_equal(again.dendrogram.raw_height, run.dendrogram.raw_height)
        assert again.error == run.error
        assert_array_equal(again.weights, run.weights)


def test_without_statements_it_is_average_linkage_of_cosines():
    rng = np.random.default_rng(2)
    for _ in range(examples(5, 50)):
        X = rng.random((40, 6))
        said = Constraints.build(40)
        tree = agglomerate(X, method="average", metric="cosine")
        for run in (ihac(X, said), bihac(X, said), biihac(sp.csr_array(X), said)):
            assert clusters(run.dendrogram) == clusters(tree)
            assert_allclose(np.sort(run.dendrogram.raw_height), np.sort(tree.raw_height), atol=1e-9)
            assert run.error == 0.0
            assert_array_equal(run.weights, np.ones(6))
        assert bihac(X, said).errors.tolist() == [0.0]


def test_weights_are_those_of_stretched_features():
    rng = np.random.default_rng(3)
    X, w = rng.random((30, 5)), rng.random(5)
    run = bihac(X, Constraints.build(30), weights=w)
    assert_allclose(run.weights, 5 * w / w.sum())
    assert clusters(run.dendrogram) == clusters(agglomerate(X * np.sqrt(w), method="average", metric="cosine"))


def test_the_error_is_that_of_the_measure():
    rng = np.random.default_rng(4)
    X = rng.random((60, 8))
    node = rng.integers(-1, 6, size=60)
    known = Taxonomy([-1, 0, 0, 1, 1, 2], node)
    for score in ("node", "uniform"):
        run = bihac(X, known.triplets(), error_weights=score, max_iter=3, learning_rate=0.2)
        assert run.error == pytest.approx(1 - h_correlation(known, run.dendrogram, weights=score), abs=1e-12)
        assert run.broken.sum() == (~run.dendrogram.satisfies(known.triplets())).sum()


@pytest.mark.parametrize("method", METHODS)
def test_sparse_rows_give_the_same_as_dense_ones(method):
    for seed in range(20):
        X, said, _ = instance(30_000 + seed)
        for build in (ihac, lambda *a, **k: bihac(*a, learning_rate=0.1, max_iter=3, **k)):
            dense, sparse = (build(form, said, method=method) for form in (X, sp.csc_matrix(X)))
            assert clusters(dense.dendrogram) == clusters(sparse.dendrogram)
            assert_allclose(dense.weights, sparse.weights, atol=1e-9)


def test_rows_of_zeros_are_similar_to_none_and_duplicates_meet_at_zero():
    X = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    for method in METHODS:
        for form in (X, sp.csr_array(X)):
            tree = ihac(form, Constraints.build(5), method=method).dendrogram
            assert tree.height[tree.lca(0, 2)] == pytest.approx(0.0, abs=1e-12)
            assert tree.height[tree.lca(0, 1)] == 1.0
            assert tree.height[tree.lca(1, 4)] == 1.0


def test_very_small_and_very_large_numbers_do_not_matter():
    X, said, _ = instance(6)
    expected = bihac(X, said, learning_rate=0.2)
    for scale in (2.0**-900, 2.0**900):
        run = bihac(X * scale, said, learning_rate=0.2)
        assert_array_equal(run.weights, expected.weights)
        assert_array_equal(run.dendrogram.parent, expected.dendrogram.parent)


def test_a_violation_is_told_by_the_merge_that_makes_it():
    # 0 and 1 are as alike as can be, so are 2 and 3; nothing allowed is left once both pairs have met
    X = np.array([[9.0, 1.0], [9.0, 1.1], [1.0, 9.0], [1.1, 9.0]])
    said = Constraints.build(4, triplets=[(0, 2, 1), (0, 2, 3)])
    hac = bihac(X, said, max_iter=1)
    assert hac.broken.tolist() == [1, 1, 0]
    assert ihac(X, said).broken.tolist() == [0, 0, 0]
    # harmless merges can leave nothing but harmful ones
    X, said, rows = next(case for case in map(instance, range(100)) if ihac(case[0], case[1]).broken.any())
    run = ihac(X, said)
    assert run.broken.sum() == (~run.dendrogram.satisfies(Constraints.build(len(X), triplets=_canonical(rows)))).sum()


def test_progress_counts_merges_of_all_runs():
    X, said, _ = instance(7)
    n, seen = len(X), []
    with progress(lambda done, total: seen.append((done, total))):
        run = biihac(X, said, max_iter=3, learning_rate=0.1)
    assert seen[-1] == (4 * (n - 1), 4 * (n - 1))
    assert len(seen) == len(run.errors) + 1


def test_one_and_two_samples():
    assert ihac([[1.0, 2.0]], Constraints.build(1)).dendrogram.n_samples == 1
    assert bihac(np.ones((2, 3)), Constraints.build(2)).dendrogram.height.max() == pytest.approx(0.0, abs=1e-12)


def test_the_share_of_triplets_needs_no_hierarchy():
    said = Constraints.build(3, triplets=[(0, 1, 2), (0, 2, 1)])
    assert bihac(np.eye(3), said, error_weights="uniform", max_iter=2).error == 0.5


def test_input_is_untouched():
    X, said, _ = instance(8)
    sparse, w = sp.csr_array(X), np.linspace(0.5, 1.5, X.shape[1])
    before, data, given = X.copy(), sparse.data.copy(), w.copy()
    bihac(X, said, weights=w)
    bihac(sparse, said, weights=w)
    assert_array_equal(X, before)
    assert_array_equal(sparse.data, data)
    assert_array_equal(w, given)
