"""Kernel k-means: its criterion is that of the papers, it never rises, and hard statements hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from linkwise import Constraints, verify
from linkwise.constraints import SizeBetween
from linkwise.engines import KernelKMeans
from linkwise.engines.graph._affinity import read_affinity
from linkwise.engines.graph._gram import OBJECTIVES, make_gram
from linkwise.engines.graph._kernel_loop import Loop, _costs, _places_of, _sweep, criterion
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError, UnsupportedConstraintError
from linkwise.problem import Problem
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


def posed(table, k, X=None):
    """A problem whose statements were judged; without X about samples that only the statements tell apart."""
    problem = Problem(np.zeros((table.n_samples, 1)) if X is None else X, table, n_clusters=k, who="test")
    problem.require_feasible()
    return problem


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
    gram = make_gram(X @ X.T, "hmrf", posed(table_of(must, cannot), 3))
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
    degree = A.sum(axis=1)
    K, weight = {
        "ratio_association": (A + W, np.ones(7)),
        "ratio_cut": (A - np.diag(degree) + W, np.ones(7)),
        "normalized_cut": ((A + W) / np.outer(degree, degree), degree),
    }[objective]
    for k in (2, 3, 5):
        gram = make_gram(A, objective, posed(table_of(must, cannot), k))
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
    gram = make_gram(A, objective, posed(table_of(must, cannot, n), 3))
    shift = gram.least_shift()
    lowest = np.linalg.eigvalsh(gram.scaled_dense())[0]
    assert lowest < 0
    assert lowest + shift > -1e-9
    assert shift < 1.01 * -lowest + 1e-9
    assert gram._gershgorin() >= shift


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_costs_are_squared_distances_in_feature_space(objective):
    A, n, k = graph(3, 9), 9, 3
    problem = posed(Constraints.build(n), k)
    gram = make_gram(A, objective, problem)
    labels = np.array([0, 0, 1, 1, 2, 2, 0, 1, 2])
    loop = Loop(gram, problem, 2.0, 5)
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
        problem = posed(Constraints.build(n, cannot_link=pairs), k)
        apart, gram = problem.apart, make_gram(form(A), "normalized_cut", problem)
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
            problem = posed(table_of(must, cannot, 20), 3, X)
            run = KernelKMeans(3, init=start, random_state=seed, n_init=1, **options(objective))._solve(problem)
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
        run = KernelKMeans(3, n_init=10, random_state=0, **options(objective))
        run.fit(X, constraints=table_of(must, cannot))
        if objective == "hmrf":
            best = min(spectral.hmrf(X, labels, must, cannot) for labels in spectral.labelings(7, 3))
        else:
            A = read_affinity(X, "rbf", gamma=None, n_neighbors=10, who="test")[0]
            best = min(spectral.cut(A, labels, must, cannot, objective) for labels in spectral.labelings(7, 3))
        assert run.objective_ >= best - 1e-9
        found += run.objective_ <= best + 1e-9
    assert found >= 8


def test_hard_must_links_are_k_means_on_groups():
    """K2: and the criterion over groups is that over samples."""
    for seed in range(5):
        X, y = blobs(seed, 30)
        rows = [(i, j) for i in range(6) for j in range(i + 1, 6) if y[i] == y[j]]
        hard = Constraints.build(30, must_link=rows)
        run = KernelKMeans(3, random_state=seed).fit(X, constraints=hard)
        assert run.objective_ == pytest.approx(spectral.hmrf(X, run.labels_, [], []))
        must, cannot = soft(seed, 30)
        both = hard | table_of(must, cannot, 30)
        run = KernelKMeans(3, random_state=seed).fit(X, constraints=both)
        assert run.objective_ == pytest.approx(spectral.hmrf(X, run.labels_, must, cannot))


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
            run = KernelKMeans(3, random_state=seed, **options(objective))._solve(posed(said, 3, X))
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
    a, b = (KernelKMeans(3, random_state=0).fit(X, constraints=c) for c in (one, two))
    assert_array_equal(a.labels_, b.labels_)
    assert a.objective_ == b.objective_
    nothing = KernelKMeans(3, random_state=0).fit(X, constraints=one.with_weight(0.0))
    plain = KernelKMeans(3, random_state=0).fit(X)
    assert_array_equal(nothing.labels_, plain.labels_)
    assert plain.objective_ == pytest.approx(KMeans(3, n_init=20, random_state=0).fit(X).inertia_)


def test_a_heavy_statement_holds_and_a_light_one_is_overruled():
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    said = Constraints.build(6, must_link=[(2, 3)], cannot_link=[(0, 1)], weight=1.0)
    model = KernelKMeans(2, random_state=0)
    light = model.fit(X, constraints=said.with_weight(0.01)).labels_
    assert light[0] == light[1] != light[3]
    heavy = model.fit(X, constraints=said.with_weight(1e4)).labels_
    assert heavy[2] == heavy[3]
    assert heavy[0] != heavy[1]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_sparse_graph_gives_what_a_dense_one_gives(objective):
    for seed in range(3):
        X, y = blobs(seed, 60)
        A = read_affinity(X, "nearest_neighbors", gamma=None, n_neighbors=8, who="test")[0]
        said = Constraints.build(60, must_link=[(0, 3)], cannot_link=[(0, 1)]) | table_of(*soft(seed, 60), 60)
        said = said if y[0] == y[3] else said.select(~said.is_hard)
        runs = [
            KernelKMeans(3, objective=objective, kernel="precomputed", random_state=0).fit(form, constraints=said)
            for form in (A.toarray(), A, sp.coo_array(A))
        ]
        for run in runs[1:]:
            assert adjusted_rand_score(run.labels_, runs[0].labels_) == 1.0
            assert run.objective_ == pytest.approx(runs[0].objective_)


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
        ({"objective": "ratio_cut"}, "cuts a graph, but inner products"),
        ({"init": [0, 1]}, "expected 10 whole numbers from 0 to 1"),
        ({"kernel": "precomputed"}, r"shape \(10, 2\)"),
    ],
)
def test_wrong_parameters_are_named(options, words):
    with pytest.raises(LinkwiseError, match=words):
        KernelKMeans(2, **options).fit(np.random.default_rng(0).normal(size=(10, 2)))


def test_what_cannot_be_is_explained():
    X, _ = blobs(1, 10)
    with pytest.raises(InfeasibleConstraintsError):
        KernelKMeans(2).fit(X, constraints=Constraints.build(10, cannot_link=[(0, 1), (1, 2), (0, 2)]))
    with pytest.raises(UnsupportedConstraintError, match="triplets"):
        KernelKMeans(2).fit(X, constraints=Constraints.build(10, triplets=[(0, 1, 2)]))
    with pytest.raises(UnsupportedConstraintError, match="SizeBetween"):
        KernelKMeans(2).fit(X, constraints=Constraints.build(10, rules=SizeBetween(2, 8)))
    lonely = np.ones((4, 4))
    lonely[3] = lonely[:, 3] = 0.0
    with pytest.raises(LinkwiseError, match="the first in row 3"):
        KernelKMeans(2, objective="normalized_cut", kernel="precomputed").fit(lonely)
    with pytest.raises(LinkwiseError, match="not symmetric"):
        KernelKMeans(2, objective="ratio_cut", kernel="precomputed").fit(np.triu(lonely))
    with pytest.raises(LinkwiseError, match="negative values"):
        KernelKMeans(2, objective="ratio_cut", kernel="precomputed").fit(-lonely)
