"""Kernel k-means: its criterion is that of the papers, it never rises, and hard statements hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from linkwise import Constraints, KernelKMeans, SizeBetween, verify
from linkwise.engines import kernel_kmeans
from linkwise.engines.graph._affinity import read_affinity
from linkwise.engines.graph._gram import OBJECTIVES, make_gram
from linkwise.engines.graph._kernel_loop import Loop, _costs, _places_of, _sweep, criterion
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError, UnsupportedConstraintError
from linkwise.problem.statements._conflict_graph import keep_apart
from linkwise.problem.statements._said import read_leanings
from tests.contract.discovery import blobs
from tests.oracles import spectral
from tests.profile import examples

pytestmark = pytest.mark.kernels
CUTS = [name for name in OBJECTIVES if name != "hmrf"]


def soft(seed, n=7):
    """Draw weighted pairs of both kinds, some of them twice, some contradicting."""
    rng = np.random.default_rng(seed)
    draw = lambda m: [(*rng.choice(n, 2, replace=False).tolist(), float(rng.uniform(0.2, 3))) for _ in range(m)]  # noqa: E731
    return draw(4), draw(4)


def table_of(must, cannot, n=7):
    weight = {"must_link": [w for *_, w in must], "cannot_link": [w for *_, w in cannot]}
    return Constraints.build(n, must_link=[m[:2] for m in must], cannot_link=[c[:2] for c in cannot], weight=weight)


def graph(seed, n=7):
    A = np.random.default_rng(seed).uniform(size=(n, n))
    return A + A.T


def value(gram, labels):
    k = int(labels.max()) + 1
    return criterion(gram, labels, gram.sums(labels, k))


@pytest.mark.parametrize("seed", range(3))
def test_the_kernel_form_is_the_criterion_of_the_papers(seed):
    """G1: the difference is one constant for all labelings of seven samples."""
    X = np.random.default_rng(seed).normal(size=(7, 2))
    must, cannot = soft(seed)
    K = X @ X.T + spectral.weights_matrix(7, must, cannot)
    said = read_leanings(table_of(must, cannot), "test")
    gram = make_gram(X @ X.T, "hmrf", said, np.arange(7), 3, "test")
    gaps, ours = [], []
    for labels in spectral.labelings(7):
        J = spectral.hmrf(X, labels, must, cannot)
        gaps.append(J - spectral.kernel_objective(K, np.ones(7), labels))
        ours.append(J - value(gram, labels))
    assert len(gaps) == 877
    assert np.ptp(gaps) < 1e-12
    assert np.abs(ours).max() < 1e-12  # the criterion itself, not only up to a constant


@pytest.mark.parametrize("objective", CUTS)
def test_the_kernel_form_is_the_cut_of_a_graph(objective):
    must, cannot = soft(5)
    A = graph(5)
    W = spectral.weights_matrix(7, must, cannot)
    said = read_leanings(table_of(must, cannot), "test")
    degree = A.sum(axis=1)
    K, weight = {
        "ratio_association": (A + W, np.ones(7)),
        "ratio_cut": (A - np.diag(degree) + W, np.ones(7)),
        "normalized_cut": ((A + W) / np.outer(degree, degree), degree),
    }[objective]
    for k in (2, 3, 5):
        gram = make_gram(A, objective, said, np.arange(7), k, "test")
        gaps, shifted, ours = [], [], []
        for labels in spectral.labelings(7, k):
            J = spectral.cut(A, labels, must, cannot, objective)
            gaps.append(J - spectral.kernel_objective(K, weight, labels))
            shifted.append(J - spectral.kernel_objective(K + np.diag(4.0 / weight), weight, labels))
            ours.append(J - value(gram, labels))
        assert np.ptp(gaps) < 1e-12
        assert np.ptp(shifted) < 1e-11  # G2: a shift changes no comparison between labelings into k clusters
        assert np.abs(ours).max() < 1e-12


def test_the_printed_form_of_the_normalized_cut_kernel_is_another_criterion():
    """Guard: the form with D on the wrong side would not pass the test above."""
    A = graph(1)
    degree = A.sum(axis=1)
    wrong = A / degree[:, None] * degree
    gaps = [
        spectral.cut(A, labels, [], [], "normalized_cut") - spectral.kernel_objective(wrong, degree, labels)
        for labels in spectral.labelings(7, 3)
    ]
    assert np.ptp(gaps) > 1e-3


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("n", [30, 450])
def test_the_shift_is_the_least_that_makes_the_kernel_semidefinite(objective, n):
    X, _ = blobs(3, n)
    A, _ = read_affinity(X, "rbf", gamma=None, n_neighbors=10, who="test")
    must, cannot = soft(4, n)
    gram = make_gram(A, objective, read_leanings(table_of(must, cannot, n), "test"), np.arange(n), 3, "test")
    shift = gram.least_shift()
    lowest = np.linalg.eigvalsh(gram.scaled_dense())[0]
    assert lowest < 0
    assert lowest + shift > -1e-9
    assert shift < 1.01 * -lowest + 1e-9
    assert gram._gershgorin() >= shift


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_costs_are_squared_distances_in_feature_space(objective):
    A, n, k = graph(3, 9), 9, 3
    gram = make_gram(A, objective, read_leanings(Constraints.build(n), "test"), np.arange(n), k, "test")
    labels = np.array([0, 0, 1, 1, 2, 2, 0, 1, 2])
    loop = Loop(gram, keep_apart(n, np.empty((0, 2), np.intp), Constraints.build(n).groups), k, 2.0, 5, lambda: labels)
    m = gram.mass
    K = (gram.table + np.diag(2.0 * m)) / np.outer(m, m)
    costs = _costs(loop, labels, gram.sums(labels, k))
    for x in range(n):
        for c in range(k):
            inside = labels == c
            w = m[inside] / m[inside].sum()
            away = K[x, x] - 2.0 * K[x, inside] @ w + w @ K[np.ix_(inside, inside)] @ w
            assert costs[x, c] + m[x] * K[x, x] == pytest.approx(m[x] * away)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_sweep_keeps_its_sums_and_ends_where_no_move_helps(form):
    for seed in range(examples(4, 300)):
        rng = np.random.default_rng(seed)
        n, k = 14, 3
        A = graph(seed, n) * (rng.uniform(size=(n, n)) < 0.5)
        A = np.maximum(A, A.T) + np.eye(n)
        pairs = np.array([(0, 5), (0, 6), (2, 9)], dtype=np.intp)
        apart = keep_apart(n, pairs, Constraints.build(n).groups)
        gram = make_gram(form(A), "normalized_cut", read_leanings(Constraints.build(n), "t"), np.arange(n), k, "t")
        labels = rng.integers(k, size=n)
        labels[:3] = [0, 1, 2]
        labels[[5, 6, 9]] = [1, 1, 0]
        sums = gram.sums(labels, k)
        before = criterion(gram, labels, sums)
        while _sweep(gram, apart, _places_of(apart, n), labels, sums, 1e-12):
            assert_allclose(sums, gram.sums(labels, k), atol=1e-12)
            after = criterion(gram, labels, sums)
            assert after < before
            before = after
            assert (labels[pairs[:, 0]] != labels[pairs[:, 1]]).all()
        for x in range(n):
            for c in range(k):
                moved = labels.copy()
                moved[x] = c
                if len(np.unique(moved)) == k and (moved[pairs[:, 0]] != moved[pairs[:, 1]]).all():
                    assert spectral.cut(A, moved, [], [], "normalized_cut") >= before - 1e-9


def options(objective):
    return {"objective": objective, "kernel": "linear" if objective == "hmrf" else "rbf"}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_criterion_never_rises_and_is_the_one_reported(objective):
    steps = 0
    for seed in range(examples(8, 300)):
        X, _ = blobs(seed, 20)
        must, cannot = soft(seed, 20)
        for start in ("neighborhoods", "k-means++", "spectral", np.arange(20) % 3):
            run = kernel_kmeans(
                X, table_of(must, cannot, 20), 3, start=start, random_state=seed, n_init=1, **options(objective)
            )
            assert (np.diff(run.history) <= 0).all()
            steps += len(run.history)
            if objective == "hmrf":
                expected = spectral.hmrf(X, run.labels, must, cannot)
            else:
                A = read_affinity(X, "rbf", gamma=None, n_neighbors=10, who="test")[0]
                expected = spectral.cut(A, run.labels, must, cannot, objective)
            assert run.objective == pytest.approx(expected, abs=1e-9)
    assert steps > 40


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_it_never_beats_the_optimum_and_mostly_finds_it(objective):
    found = 0
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(7, 2))
        must, cannot = soft(seed)
        run = kernel_kmeans(X, table_of(must, cannot), 3, n_init=10, random_state=0, **options(objective))
        if objective == "hmrf":
            best = min(spectral.hmrf(X, labels, must, cannot) for labels in spectral.labelings(7, 3))
        else:
            A = read_affinity(X, "rbf", gamma=None, n_neighbors=10, who="test")[0]
            best = min(spectral.cut(A, labels, must, cannot, objective) for labels in spectral.labelings(7, 3))
        assert run.objective >= best - 1e-9
        found += run.objective <= best + 1e-9
    assert found >= 8


def test_hard_must_links_are_k_means_on_groups():
    """K2: and the criterion over groups is that over samples."""
    for seed in range(5):
        X, y = blobs(seed, 30)
        rows = [(i, j) for i in range(6) for j in range(i + 1, 6) if y[i] == y[j]]
        hard = Constraints.build(30, must_link=rows)
        run = kernel_kmeans(X, hard, 3, random_state=seed)
        assert run.objective == pytest.approx(spectral.hmrf(X, run.labels, [], []))
        must, cannot = soft(seed, 30)
        both = hard | table_of(must, cannot, 30)
        run = kernel_kmeans(X, both, 3, random_state=seed)
        assert run.objective == pytest.approx(spectral.hmrf(X, run.labels, must, cannot))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_hard_statements_hold_whatever_else_is_said(objective):
    held, refused = 0, 0
    for seed in range(examples(15, 500)):
        rng = np.random.default_rng(seed)
        X, y = blobs(seed, 18)
        pairs = [tuple(rng.choice(18, 2, replace=False).tolist()) for _ in range(14)]
        wrong = rng.uniform(size=14) < 0.1
        hard = Constraints.build(
            18,
            must_link=[(i, j) for (i, j), w in zip(pairs, wrong, strict=True) if (y[i] == y[j]) != w],
            cannot_link=[(i, j) for (i, j), w in zip(pairs, wrong, strict=True) if (y[i] == y[j]) == w],
        )
        said = hard | table_of(*soft(seed, 18), 18)
        try:
            run = kernel_kmeans(X, said, 3, random_state=seed, **options(objective))
        except InfeasibleConstraintsError:
            refused += 1
            continue
        held += 1
        assert verify(run.labels, said).ok
        assert set(run.labels.tolist()) == {0, 1, 2}
        assert (np.diff(run.history) <= 0).all()
    assert held > 5
    assert refused > 0


def test_weights_add_up_and_zero_is_nothing():
    X, _ = blobs(2, 30)
    one = Constraints.build(30, must_link=[(0, 1)], cannot_link=[(2, 3)], weight=3.0)
    two = Constraints.build(30, must_link=[(0, 1), (1, 0)], cannot_link=[(2, 3), (2, 3)], weight=1.5)
    a, b = (kernel_kmeans(X, c, 3, random_state=0) for c in (one, two))
    assert_array_equal(a.labels, b.labels)
    assert a.objective == b.objective
    nothing = kernel_kmeans(X, one.with_weight(0.0), 3, random_state=0)
    plain = kernel_kmeans(X, Constraints.build(30), 3, random_state=0)
    assert_array_equal(nothing.labels, plain.labels)
    assert plain.objective == pytest.approx(KMeans(3, n_init=20, random_state=0).fit(X).inertia_)


def test_a_heavy_statement_holds_and_a_light_one_is_overruled():
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    said = Constraints.build(6, must_link=[(2, 3)], cannot_link=[(0, 1)], weight=1.0)
    light = kernel_kmeans(X, said.with_weight(0.01), 2, random_state=0)
    assert light.labels[0] == light.labels[1] != light.labels[3]
    heavy = kernel_kmeans(X, said.with_weight(1e4), 2, random_state=0)
    assert heavy.labels[2] == heavy.labels[3]
    assert heavy.labels[0] != heavy.labels[1]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_sparse_graph_gives_what_a_dense_one_gives(objective):
    for seed in range(3):
        X, y = blobs(seed, 60)
        A = read_affinity(X, "nearest_neighbors", gamma=None, n_neighbors=8, who="test")[0]
        said = Constraints.build(60, must_link=[(0, 3)], cannot_link=[(0, 1)]) | table_of(*soft(seed, 60), 60)
        said = said if y[0] == y[3] else said.select(~said.is_hard)
        runs = [
            kernel_kmeans(form, said, 3, objective=objective, kernel="precomputed", random_state=0)
            for form in (A.toarray(), A, sp.coo_array(A))
        ]
        for run in runs[1:]:
            assert adjusted_rand_score(run.labels, runs[0].labels) == 1.0
            assert run.objective == pytest.approx(runs[0].objective)


def test_translation_costs_no_digits():
    X, _ = blobs(4, 60)
    a, b = (KernelKMeans(3, random_state=0).fit(data) for data in (X, X + 1e6))
    assert adjusted_rand_score(a.labels_, b.labels_) == 1.0
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-6)


def test_circles_are_told_apart_by_a_graph_and_not_by_the_plain_method():
    rng = np.random.default_rng(0)
    angle, y = rng.uniform(0, 2 * np.pi, 200), np.arange(200) % 2
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * (1.0 + y)[:, None] + rng.normal(scale=0.05, size=(200, 2))
    model = KernelKMeans(2, objective="normalized_cut", kernel="nearest_neighbors", random_state=0)
    assert adjusted_rand_score(model.fit(X).labels_, y) > 0.95
    assert adjusted_rand_score(KernelKMeans(2, random_state=0).fit(X).labels_, y) < 0.1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"objective": "modularity"}, "objective is 'modularity'"),
        ({"kernel": "poly"}, "kernel is 'poly'"),
        ({"objective": "ratio_cut"}, "cuts a graph, and inner products"),
        ({"n_init": 0}, "n_init is 0"),
        ({"shift": -1.0}, "shift is -1.0"),
        ({"kernel": "rbf", "gamma": 0.0}, "gamma is 0.0"),
        ({"start": "random"}, "start is 'random'"),
        ({"start": [0, 1]}, "expected 10 whole numbers from 0 to 1"),
        ({"kernel": "precomputed"}, r"shape \(10, 2\)"),
    ],
)
def test_wrong_parameters_are_named(options, words):
    with pytest.raises(LinkwiseError, match=words):
        kernel_kmeans(np.random.default_rng(0).normal(size=(10, 2)), Constraints.build(10), 2, **options)


def test_what_cannot_be_is_explained():
    X, _ = blobs(1, 10)
    with pytest.raises(InfeasibleConstraintsError):
        kernel_kmeans(X, Constraints.build(10, cannot_link=[(0, 1), (1, 2), (0, 2)]), 2)
    with pytest.raises(UnsupportedConstraintError, match="triplets"):
        kernel_kmeans(X, Constraints.build(10, triplets=[(0, 1, 2)]), 2)
    with pytest.raises(UnsupportedConstraintError, match="SizeBetween"):
        kernel_kmeans(X, Constraints.build(10, rules=SizeBetween(2, 8)), 2)
    lonely = np.ones((4, 4))
    lonely[3] = lonely[:, 3] = 0.0
    with pytest.raises(LinkwiseError, match="the first in row 3"):
        kernel_kmeans(lonely, Constraints.build(4), 2, objective="normalized_cut", kernel="precomputed")
    with pytest.raises(LinkwiseError, match="not symmetric"):
        kernel_kmeans(np.triu(lonely), Constraints.build(4), 2, objective="ratio_cut", kernel="precomputed")
    with pytest.raises(LinkwiseError, match="negative values"):
        kernel_kmeans(-lonely, Constraints.build(4), 2, objective="ratio_cut", kernel="precomputed")
