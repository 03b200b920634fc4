"""Soft k-means against the definitions: objectives from scratch, half-steps that never rise, whole runs, optima."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans

from linkwise import Constraints, verify
from linkwise.engines.partitional import CVQE, LCVQE, HMRFKMeans, MKMeans, MPCKMeans, PCKMeans
from tests.oracles import soft_kmeans as twins
from tests.profile import examples
from tests.unit.engines.outcomes import outcome

cvqe = partial(outcome, CVQE)
hmrf_kmeans = partial(outcome, HMRFKMeans)
lcvqe = partial(outcome, LCVQE)
mk_means = partial(outcome, MKMeans)
mpck_means = partial(outcome, MPCKMeans)
pck_means = partial(outcome, PCKMeans)

METHODS = {
    "pck": (pck_means, {}, twins.PCK),
    "mk-diagonal": (mk_means, {"form": "diagonal"}, twins.MK),
    "mk-full": (mk_means, {"form": "full"}, twins.MK),
    "mk-diagonal-each": (mk_means, {"form": "diagonal", "per_cluster": True}, twins.MK),
    "mpck-diagonal": (mpck_means, {"form": "diagonal"}, twins.HMRF),
    "mpck-full": (mpck_means, {"form": "full"}, twins.HMRF),
    "mpck-diagonal-each": (mpck_means, {"form": "diagonal", "per_cluster": True}, twins.HMRF),
    "mpck-full-each": (mpck_means, {"form": "full", "per_cluster": True}, twins.HMRF),
    "hmrf": (hmrf_kmeans, {}, twins.HMRF),
    "hmrf-cosine": (hmrf_kmeans, {"distortion": "cosine"}, twins.CosineHMRF),
    "hmrf-kl": (hmrf_kmeans, {"distortion": "kl"}, twins.EntropyHMRF),
    "cvqe": (cvqe, {}, twins.CVQE),
    "cvqe-printed": (cvqe, {"update": "printed"}, twins.PrintedCVQE),
    "lcvqe": (lcvqe, {}, twins.LCVQE),
}
each = pytest.mark.parametrize("name", METHODS)


def problem(seed, n, m, *, forest=False):
    """Draw loose classes and soft pairs that do not care about them; with ``forest`` no pairs run in a circle."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + 2.0 * rng.integers(3, size=(n, 1))
    must, cannot, above = [], [], list(range(n))

    def root(i):
        while above[i] != i:
            i = above[i]
        return i

    while len(must) + len(cannot) < m:
        i, j = rng.choice(n, 2, replace=False).tolist()
        if forest and root(i) == root(j):
            continue
        above[root(i)] = root(j)
        i, j = min(i, j), max(i, j)  # as statements are kept
        (must if rng.random() < 0.5 else cannot).append((i, j, float(rng.uniform(0.1, 3.0))))
    return X, must, cannot


def statements(n, must, cannot, extra_must=(), extra_cannot=()):
    return Constraints.build(
        n,
        must_link=[*((i, j) for i, j, _ in must), *extra_must],
        cannot_link=[*((i, j) for i, j, _ in cannot), *extra_cannot],
        weight={
            "must_link": [*(w for *_, w in must), *[np.inf] * len(extra_must)],
            "cannot_link": [*(w for *_, w in cannot), *[np.inf] * len(extra_cannot)],
        },
    )


def definition(name, X, k, must, cannot):
    _, options, twin = METHODS[name]
    return twin(X, k, must, cannot, **{o: v for o, v in options.items() if o in ("form", "per_cluster")})


def matrices(metric, k):
    """One full matrix per cluster from what `watch` is told."""
    if metric is None:
        return None
    full = [np.diag(m) if m.ndim == 1 else m for m in metric]
    return full if len(full) == k else full * k


def positive(name, X):
    return np.abs(X) + 0.1 if name == "hmrf-kl" else X


@each
@pytest.mark.parametrize("inference", ["trees", "icm"])
def test_the_objective_is_what_the_definition_says_and_no_half_step_raises_it(name, inference):
    function, options, _ = METHODS[name]
    rises = steps = 0
    for seed in range(examples(6, 200)):
        X, must, cannot = problem(seed, 14, 16)
        X, k = positive(name, X), 3
        twin = definition(name, X, k, must, cannot)
        seen = []

        def watch(step, labels, centers, metric, value, seen=seen, twin=twin, k=k):
            seen.append((step, value))
            assert_allclose(value, twin.objective(labels, centers, matrices(metric, k)), rtol=1e-8, atol=1e-9)

        run = function(
            X, statements(14, must, cannot), k, inference=inference, random_state=seed, n_init=1, watch=watch, **options
        )
        values = np.array([value for _, value in seen])
        rose = np.diff(values) > 1e-9 * (1 + np.abs(values[:-1]))
        if name.startswith("mk"):  # its assignment looks at distances only, so that one may climb
            rose &= np.array([step != "assign" for step, _ in seen[1:]])
        rises += int(rose.sum())
        steps += len(values)
        assert {step for step, _ in seen} == (
            {"assign", "centers", "metric"} if "form" in options else {"assign", "centers"}
        )
        assigned = [value for step, value in seen if step == "assign"]
        assert_allclose(run.objective, min(assigned) if name.startswith("mk") else values[-1], rtol=1e-9, atol=1e-9)
        assert_allclose(run.objectives, assigned)
        assert sorted(set(run.labels.tolist())) == [0, 1, 2]
    assert steps > 20
    if name != "cvqe-printed":
        assert rises == 0


@pytest.mark.parametrize("inference", ["bp", "lp"])
@pytest.mark.parametrize("name", ["pck", "mpck-diagonal", "cvqe"])
def test_relaxed_inference_keeps_hard_statements_and_raises_nothing(name, inference):
    function, options, _ = METHODS[name]
    for seed in range(examples(6, 200)):
        X, must, cannot = problem(seed, 14, 12)
        c = statements(14, must, cannot, extra_must=[(0, 1)], extra_cannot=[(0, 3), (3, 4), (4, 5), (5, 1)])
        values = []

        def watch(step, labels, centers, metric, value, values=values):
            values.append(value)

        chosen = {"inference": inference, "random_state": seed, "n_init": 1}
        run = function(X, c, 3, watch=watch, **chosen, **options)
        assert verify(run.labels, c).ok
        assert (np.diff(values) <= 1e-9 * (1 + np.abs(values[:-1]))).all()


@each
def test_hard_statements_hold_while_soft_ones_are_weighed_and_nothing_rises(name):
    function, options, _ = METHODS[name]
    for seed in range(examples(4, 200)):
        X, must, cannot = problem(seed, 16, 12)
        X, k = positive(name, X), 3
        c = statements(16, must, cannot, extra_must=[(0, 1), (1, 2)], extra_cannot=[(0, 3), (3, 4), (4, 5), (5, 2)])
        values = []
        run = function(
            X,
            c,
            k,
            random_state=seed,
            n_init=1,
            watch=lambda step, labels, centers, metric, v, values=values: values.append(v),
            **options,
        )
        certificate = verify(run.labels, c)
        assert certificate.ok
        twin = definition(name, X, k, must, cannot)
        metric = run.metric
        if metric is not None and not options.get("per_cluster"):
            metric = metric[None]
        value = twin.objective(run.labels, run.centers, matrices(metric, k))
        assert_allclose(run.objective, value, rtol=1e-8, atol=1e-9)
        if name != "cvqe-printed" and not name.startswith("mk"):
            assert (np.diff(values) <= 1e-9 * (1 + np.abs(values[:-1]))).all()


@each
def test_runs_agree_with_the_definition_where_statements_run_in_no_circle(name):
    function, options, _ = METHODS[name]
    agreed, seed = 0, 0
    while agreed < examples(4, 500):
        seed += 1
        X, must, cannot = problem(seed, 7, 4, forest=True)
        X, k = positive(name, X), 2 + seed % 2
        start = X[np.random.default_rng(seed).choice(7, k, replace=False)]
        twin = definition(name, X, k, must, cannot)
        C = start
        if name == "hmrf-kl":
            unit = start / start.sum(axis=1, keepdims=True)
            C = (unit + twin.PULL * twin.X.mean(axis=0)) / (1 + twin.PULL)
        expected = twin.run(C, 3)
        if expected is None:
            continue
        run = function(X, statements(7, must, cannot), k, init=start, max_iter=3, tol=0.0, n_init=1, **options)
        assert run.best_assignment
        m = min(len(run.objectives), 3)
        assert_allclose(run.objectives[:m], expected[:m], rtol=1e-7, atol=1e-9)
        assert_allclose(expected[m:], expected[m - 1], rtol=1e-4)  # it stopped because nothing moved any more
        agreed += 1


@pytest.mark.parametrize("name", ["pck", "hmrf", "cvqe", "lcvqe"])
def test_nothing_beats_the_optimum_of_all_labelings(name):
    """For each labeling with all clusters the centers are the best ones; CVQE's and LCVQE's are found by iterating."""
    function, options, _ = METHODS[name]
    reached = 0
    for seed in range(examples(4, 200)):
        n, k = 6, 2 + seed % 2
        X, must, cannot = problem(seed, n, 5)
        twin = definition(name, X, k, must, cannot)
        best = np.inf
        for labels in map(np.array, product(range(k), repeat=n)):
            if len(set(labels.tolist())) < k:
                continue
            C = np.array([X[labels == h].mean(axis=0) for h in range(k)])
            for _ in range(1 if name in ("pck", "hmrf") else 12):
                C = twin.centers(labels, C, None)
            best = min(best, twin.objective(labels, C))
        for inference in ("trees", "icm"):
            run = function(
                X,
                statements(n, must, cannot),
                k,
                inference=inference,
                n_init=10,
                init="k-means++",
                random_state=seed,
                **options,
            )
            if name in ("pck", "hmrf"):
                assert run.objective >= best - 1e-9
            reached += run.objective <= best * (1 + 1e-6)
    assert reached >= examples(4, 200)  # at least half the time it is found


@each
def test_charges_are_never_negative(name):
    """K5: the largest distance is taken under the metric of the moment."""
    function, options, _ = METHODS[name]
    X, _, cannot = problem(3, 12, 30)
    X = positive(name, X)
    twin = definition(name, X, 3, [], cannot)

    def watch(step, labels, centers, metric, value):
        A = matrices(metric, 3)
        for i, j, _ in cannot:
            for h in range(3):
                assert twin.cannot_cost(i, j, h, centers, A) >= -1e-12

    run = function(X, statements(12, [], cannot), 3, random_state=0, n_init=1, watch=watch, **options)
    assert run.n_iter >= 2


def test_the_printed_update_of_cvqe_can_raise_the_objective_and_the_symmetric_one_does_not():
    """Points 0 and 3 with a broken must-link and centers 1 and 2: from 1.5 to 2.5 as printed."""
    twin = twins.PrintedCVQE([[0.0], [3.0]], 2, [(0, 1, 1.0)], [])
    labels, C = np.array([0, 1]), np.array([[1.0], [2.0]])
    assert twin.objective(labels, C) == 1.5
    assert twin.objective(labels, twin.centers(labels, C, None)) == 2.5
    symmetric = twins.CVQE([[0.0], [3.0]], 2, [(0, 1, 1.0)], [])
    assert symmetric.objective(labels, symmetric.centers(labels, C, None)) <= 1.5
    seen = {}
    for update in ("printed", "symmetric"):
        values = []
        cvqe(
            np.array([[0.0], [3.0]]),
            Constraints.build(2, must_link=[(0, 1)], weight=1.0),
            2,
            init=[[1.0], [2.0]],
            update=update,
            watch=lambda step, labels, centers, metric, v, values=values: values.append(v),
        )
        seen[update] = values[:2]
    assert seen["printed"] == [1.5, 2.5]
    assert seen["symmetric"][0] == 1.5
    assert seen["symmetric"][1] <= 1.5


def test_the_order_of_samples_matters_to_the_printed_update_only():
    """A pair is kept with its lower number first, so counting samples from behind swaps all pairs."""
    differs = 0
    for seed in range(20):
        X, must, cannot = problem(seed, 14, 10, forest=True)
        behind = [[(13 - i, 13 - j, w) for i, j, w in said] for said in (must, cannot)]
        for update in ("symmetric", "printed"):
            a = cvqe(X, statements(14, must, cannot), 3, init=X[:3], update=update)
            b = cvqe(X[::-1], statements(14, *behind), 3, init=X[:3], update=update)
            if update == "symmetric":
                assert (a.labels == b.labels[::-1]).all()
                assert_allclose(a.objective, b.objective)
            else:
                differs += abs(a.objective - b.objective) > 1e-6
    assert differs > 0


def test_lcvqe_without_statements_is_k_means_and_what_holds_costs_nothing():
    """Half the inertia is the objective; a must-link within a cluster and a cannot-link across do not change it."""
    for seed in range(examples(4, 200)):
        X, _, _ = problem(seed, 20, 0)
        start = X[np.random.default_rng(seed).choice(20, 3, replace=False)]
        free = lcvqe(X, Constraints.build(20), 3, init=start, tol=0.0)
        plain = KMeans(3, init=start, n_init=1, tol=0.0).fit(X)
        assert_array_equal(free.labels, plain.labels_)
        assert free.objective == pytest.approx(plain.inertia_ / 2)
        pairs = np.argwhere(np.triu(np.ones((20, 20), dtype=bool), 1))
        same = free.labels[pairs[:, 0]] == free.labels[pairs[:, 1]]
        held = Constraints.build(20, must_link=pairs[same][::3], cannot_link=pairs[~same][::5], weight=2.0)
        told = lcvqe(X, held, 3, init=free.centers, tol=0.0)
        assert_array_equal(told.labels, free.labels)
        assert told.objective == pytest.approx(free.objective)


def test_lcvqe_assigns_at_least_cost_of_all_labelings():
    """One assignment from given centers, against every labeling; who pays for a cannot-link is part of the cost."""
    agreed = 0
    for seed in range(examples(10, 300)):
        X, must, cannot = problem(seed, 6, 4, forest=True)
        start = X[np.random.default_rng(seed).choice(6, 3, replace=False)]
        twin = twins.LCVQE(X, 3, must, cannot)
        everything = [np.array(labels) for labels in product(range(3), repeat=6)]
        costs = np.array([twin.objective(labels, start) for labels in everything])
        best = [everything[i] for i in np.flatnonzero(costs <= costs.min() * (1 + 1e-9))]
        if any(len(set(labels.tolist())) < 3 for labels in best):
            continue  # an empty cluster would take a sample
        run = lcvqe(X, statements(6, must, cannot), 3, init=start, max_iter=1)
        assert run.objectives[0] == pytest.approx(costs.min())
        agreed += 1
    assert agreed >= examples(4, 100)


@pytest.mark.parametrize("run", [pck_means, mpck_means, hmrf_kmeans, cvqe, lcvqe], ids=lambda run: run.args[0].__name__)
def test_the_run_kept_is_not_worse_than_one_that_breaks_nothing(run):
    for seed in range(examples(4, 100)):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 2)) * [4.0, 1.0]
        y = X[:, 1] > 0  # not what k-means would find
        pairs = rng.integers(80, size=(120, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        same = y[pairs[:, 0]] == y[pairs[:, 1]]
        c = Constraints.build(80, must_link=pairs[same], cannot_link=pairs[~same], weight=5.0)
        found = run(X, c, 2, random_state=seed)
        held = run(X, c.with_weight(np.inf), 2, random_state=seed)
        assert found.objective <= 1.02 * held.objective, f"seed {seed}"
