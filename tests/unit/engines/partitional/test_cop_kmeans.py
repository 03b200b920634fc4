"""COP-KMeans: every statement holds, the objective falls, and nobody gives up without need."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans

from linkwise import Constraints, COPKMeans, check, verify
from linkwise.constraints import MinSeparation
from linkwise.exceptions import (
    GaveUpError,
    InfeasibleConstraintsError,
    LinkwiseError,
)
from linkwise.problem import Problem
from tests.oracles.centers import feasible, inertia, least_inertia, squared_distances
from tests.profile import examples
from tests.unit.engines.outcomes import outcome

cop_kmeans = partial(outcome, COPKMeans)


def planted(seed, n=None, k=None, m=None):
    """Points in k classes and pairs that are true of them; the first and the last sample are always named."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 9)) if k is None else k
    n = int(rng.integers(k + 2, 60)) if n is None else n
    m = int(rng.integers(1, 2 * n)) if m is None else m
    y = rng.integers(k, size=n)
    y[rng.choice(n, k, replace=False)] = np.arange(k)
    X = rng.normal(size=(n, 2)) + rng.normal(size=(k, 2))[y]
    pairs = rng.integers(n, size=(m, 2))
    pairs[0, 0] = 0
    pairs[-1, 1] = n - 1
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return X, y, k, Constraints.build(n, must_link=pairs[same], cannot_link=pairs[~same])


# -- the plain method -----------------------------------------------------------------------------------------------


def test_nothing_said_is_scikit_learns_lloyd_step_by_step():
    for seed in range(examples(40, 500)):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(5, 200)), int(rng.integers(1, 8))
        k = int(rng.integers(1, min(n, 9)))
        X = rng.normal(size=(n, d)) + 100.0 * (seed % 3)
        start = X[rng.choice(n, k, replace=False)]
        theirs = KMeans(k, init=start, n_init=1, algorithm="lloyd").fit(X)
        ours = COPKMeans(k, init=start).fit(X)
        assert_array_equal(ours.labels_, theirs.labels_)
        assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-9)
        assert ours.inertia_ == pytest.approx(theirs.inertia_)
        assert ours.n_iter_ == theirs.n_iter_


def test_an_iteration_limit_stops_where_scikit_learn_does():
    X = np.random.default_rng(0).normal(size=(300, 2))
    start = X[:6]
    for steps in (1, 2, 5):
        theirs = KMeans(6, init=start, n_init=1, max_iter=steps, tol=0).fit(X)
        ours = COPKMeans(6, init=start, max_iter=steps, tol=0).fit(X)
        assert_array_equal(ours.labels_, theirs.labels_)
        assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)


def test_must_links_alone_are_weighted_kmeans_on_the_means_of_the_groups():
    for seed in range(examples(20, 300)):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 3))
        pairs = rng.integers(60, size=(25, 2))
        c = Constraints.build(60, must_link=pairs[pairs[:, 0] != pairs[:, 1]])
        cloud = Problem(X, c).contract()
        start = cloud.X[rng.choice(cloud.n_nodes, 4, replace=False)]  # no cluster starts empty
        theirs = KMeans(4, init=start, n_init=1, tol=0).fit(cloud.X, sample_weight=cloud.weight)
        ours = COPKMeans(4, init=start, tol=0).fit(X, constraints=c)
        assert_array_equal(ours.labels_, theirs.labels_[cloud.group])
        assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
        within = ((X - cloud.X[cloud.group]) ** 2).sum()  # what no assignment can change
        assert ours.inertia_ == pytest.approx(theirs.inertia_ + within)


# -- the objective --------------------------------------------------------------------------------------------------


def test_the_objective_never_rises_at_any_half_step():
    for seed in range(examples(40, 1000)):
        X, _, k, c = planted(seed)
        cloud = Problem(X, c).contract()
        seen = []

        def watch(labels, centers, seen=seen, cloud=cloud):
            away = squared_distances(cloud.X, centers)[np.arange(len(labels)), labels]
            seen.append(float(cloud.weight @ away))
            assert cloud.apart.broken(labels[cloud.apart.node]) == 0

        cop_kmeans(X, c, k, n_init=1, random_state=seed, watch=watch)
        assert len(seen) > 2
        assert all(later <= earlier * (1 + 1e-9) + 1e-12 for earlier, later in pairwise(seen))


def test_inertia_is_that_of_the_labels_when_the_loop_has_settled():
    X, _, k, c = planted(1, n=50, k=4)
    run = cop_kmeans(X, c, k, tol=0.0, random_state=0)
    assert run.inertia == pytest.approx(inertia(X, run.labels))
    assert_allclose(run.centers, [X[run.labels == j].mean(axis=0) for j in range(k)])


def test_no_run_beats_the_best_of_all_partitions_and_many_runs_find_it():
    found = 0
    cases = examples(12, 300)
    for seed in range(cases):
        X, _, k, c = planted(seed, n=7, k=2 + seed % 3, m=4)
        pairs = {"must_link": c.must_links()[0].tolist(), "cannot_link": c.items[c.kind == 1, :2].tolist()}
        best = least_inertia(X, k, **pairs)
        run = cop_kmeans(X, c, k, n_init=20, tol=0.0, random_state=seed)
        assert run.inertia >= best * (1 - 1e-9)
        found += run.inertia <= best * (1 + 1e-9)
    assert found >= 0.8 * cases


# -- solved, proved infeasible, or gave up --------------------------------------------------------------------------


def test_feasible_problems_are_solved_and_nothing_is_broken():
    """Ten thousand in the full profile: k from 2 to 8, the first and the last sample named, every cluster touched."""
    cases = examples(150, 10_000)
    solved, touched = 0, set()
    for seed in range(cases):
        X, _, k, c = planted(seed)
        try:
            model = COPKMeans(k, n_init=1, random_state=seed).fit(X, constraints=c)
        except GaveUpError:
            continue
        solved += 1
        assert verify(model.labels_, c).ok
        assert sorted(set(model.labels_.tolist())) == list(range(k))
        touched |= {k} if (model.labels_[np.unique(c.items[c.items >= 0])] == 0).any() else set()
    assert solved >= 0.995 * cases
    assert touched == set(range(2, 9))


def test_the_status_agrees_with_an_oracle():
    outcomes = {True: 0, False: 0}
    for seed in range(examples(120, 3000)):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(4, 14)), int(rng.integers(2, 5))
        links = rng.integers(n, size=(int(rng.integers(1, 3 * n)), 2))
        links = links[links[:, 0] != links[:, 1]]
        must = rng.random(len(links)) < 0.15
        pairs = {"must_link": links[must].tolist(), "cannot_link": links[~must].tolist()}
        possible = feasible(n, k, **pairs) if k <= n else False
        outcomes[possible] += 1
        c, solved = Constraints.build(n, **pairs), True
        model = COPKMeans(k, n_init=1, random_state=seed)
        try:
            model.fit(rng.normal(size=(n, 2)), constraints=c)
        except InfeasibleConstraintsError as no:
            solved = not no.explanation.core
        assert solved == possible
        assert not solved or verify(model.labels_, c).ok
    assert min(outcomes.values()) > 20


def test_a_greedy_run_that_nobody_could_finish_is_explained():
    """No three are pairwise apart, so no clique tells that a cycle of five needs a third cluster."""
    c = Constraints.build(5, cannot_link=[(i, (i + 1) % 5) for i in range(5)])
    for assignment in ("greedy", "exact"):
        with pytest.raises(InfeasibleConstraintsError) as no:
            COPKMeans(2, assignment=assignment).fit(np.arange(5.0)[:, None], constraints=c)
        assert no.value.explanation.core == (0, 1, 2, 3, 4)


def test_greedy_gets_stuck_where_exact_looks_ahead():
    """Samples 0 and 2 are nearest to different centers, and sample 1 must be apart from both."""
    X = np.array([[0.0], [5.0], [10.0], [1.0], [9.0]])
    c = Constraints.build(5, cannot_link=[(0, 1), (1, 2)])
    start = np.array([[0.0], [10.0]])
    outcomes = set()
    for seed in range(20):
        try:
            model = COPKMeans(2, assignment="greedy", init=start, n_init=1, random_state=seed).fit(X, constraints=c)
            outcomes.add("solved" if verify(model.labels_, c).ok else "broken")
        except GaveUpError:
            outcomes.add("gave up")
    assert outcomes == {"solved"}  # ten orders are tried, so every seed meets one in which sample 1 comes early
    run = cop_kmeans(X, c, 2, init=start)
    assert run.best_assignment
    assert verify(run.labels, c).ok


def test_greedy_names_what_it_got_stuck_on():
    X = np.array([[0.0], [10.0], [5.0]] * 20)
    far = [(3 * i + a, 3 * i + 2) for i in range(20) for a in (0, 1)]
    c = Constraints.build(60, cannot_link=far)
    with pytest.raises(GaveUpError, match="gave up: each of the 2 clusters already held a sample") as stuck:
        COPKMeans(2, assignment="greedy", init=[[0.0], [10.0]], n_init=1, random_state=0).fit(X, constraints=c)
    assert len(stuck.value.statements) == 2
    assert all(c.describe(i) in str(stuck.value) for i in stuck.value.statements)
    assert "Hint: " in str(stuck.value)
    assert verify(COPKMeans(2, random_state=0).fit(X, constraints=c).labels_, c).ok


def test_greedy_follows_the_paper_when_it_gets_through():
    """Nearest feasible center in the order of the run; with one pair that is the nearest for whoever comes first."""
    X, c = np.array([[0.0], [1.0], [10.0]]), Constraints.build(3, cannot_link=[(0, 1)])
    model = COPKMeans(2, assignment="greedy", init=[[0.0], [10.0]], random_state=0).fit(X, constraints=c)
    assert verify(model.labels_, c).ok
    assert not model.best_assignment_


def test_a_search_that_ends_undecided_says_so(monkeypatch):
    from dataclasses import replace

    from linkwise.engines.assignment import _policies
    from linkwise.engines.assignment._assign import Assignment
    from linkwise.problem import _problem

    def unknown(*args):
        return replace(decide(*args), status="unknown", witness=None, because="It was too hard.")

    decide = _problem.decide
    monkeypatch.setattr(_problem, "decide", unknown)
    monkeypatch.setattr(_policies, "assign", lambda costs, apart, labels=None: Assignment(labels, False, False))
    with pytest.raises(GaveUpError, match=r"nor a proof that there are none\.\nIt was too hard\.\nHint: "):
        cop_kmeans(np.eye(4), Constraints.build(4, cannot_link=[(0, 1)]), 2)


def test_a_witness_is_used_where_the_assignment_finds_nothing_itself(monkeypatch):
    from linkwise.engines.assignment import _policies

    seen = []
    own = _policies.assign

    def blind(costs, apart, labels=None):
        seen.append(labels is None)
        found = own(costs, apart, labels)
        return found._replace(solved=False) if labels is None else found

    monkeypatch.setattr(_policies, "assign", blind)
    X, _, k, c = planted(5, n=30, k=3, m=40)
    run = cop_kmeans(X, c, k, n_init=1, random_state=0)
    assert verify(run.labels, c).ok
    assert any(seen)  # without labels to start from, once


# -- groups, empty clusters, arguments ------------------------------------------------------------------------------


def test_groups_together_and_apart_hold():
    for seed in range(examples(20, 500)):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 7))
        y = rng.permutation(np.arange(40) % k)
        together = [rng.choice(np.flatnonzero(y == j), 4, replace=False).tolist() for j in range(k)]
        apart = [[int(rng.choice(np.flatnonzero(y == j))) for j in range(k)] for _ in range(10)]
        c = Constraints.build(40, together=together, apart=apart)
        model = COPKMeans(k, random_state=seed).fit(rng.normal(size=(40, 2)), constraints=c)
        assert verify(model.labels_, c).ok
        assert all(len(set(model.labels_[row].tolist())) == k for row in apart)


def test_a_cluster_left_empty_takes_the_sample_that_fits_its_own_worst():
    X = np.array([[0.0], [1.0], [2.0], [20.0]])
    run = cop_kmeans(X, Constraints.build(4), 3, init=[[0.0], [20.0], [500.0]], max_iter=1)
    assert sorted(set(run.labels.tolist())) == [0, 1, 2]
    assert run.labels.tolist() == [0, 0, 2, 1]


def test_equal_samples_fill_all_clusters_and_statements_still_hold():
    c = Constraints.build(6, cannot_link=[(0, 1), (1, 2)], must_link=[(0, 5)])
    for k in (2, 3, 4, 5):
        model = COPKMeans(k, random_state=0).fit(np.zeros((6, 2)), constraints=c)
        assert sorted(set(model.labels_.tolist())) == list(range(k))
        assert model.inertia_ == 0.0


@pytest.mark.parametrize("init", ["k-means++", "neighborhoods"])
def test_starts_are_spread_out_and_seeded(init):
    X, y, k, c = planted(3, n=50, k=5)
    a, b, other = (cop_kmeans(X, c, k, init=init, random_state=seed) for seed in (0, 0, 1))
    assert_array_equal(a.labels, b.labels)
    assert_array_equal(a.centers, b.centers)
    assert other.inertia < inertia(X, np.arange(50) % k)
    state = np.random.RandomState(0)
    assert cop_kmeans(X, c, k, init=init, random_state=state).inertia > 0
    assert y.max() == k - 1


def test_more_runs_are_never_worse():
    X, _, k, c = planted(11, n=55, k=6)
    costs = [cop_kmeans(X, c, k, n_init=runs, random_state=0).inertia for runs in (1, 3, 10)]
    assert costs[0] >= costs[1] >= costs[2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"init": np.zeros((3, 2))}, "has shape \\(3, 2\\), expected finite centers of shape \\(2, 2\\)"),
        ({"init": np.full((2, 2), np.nan)}, "has values that are not finite"),
    ],
)
def test_wrong_arguments_are_named(options, words):
    with pytest.raises(LinkwiseError, match=words):
        cop_kmeans(np.ones((4, 2)), Constraints.build(4), 2, **options)


def test_soft_statements_that_can_hold_are_taken_as_hard():
    X, _, k, c = planted(2)
    soft = c.with_weight(0.5)
    assert_array_equal(cop_kmeans(X, soft, k, random_state=0).labels, cop_kmeans(X, c, k, random_state=0).labels)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_start_from_a_feasible_clustering_equals_its_centers(sparse):
    rng = np.random.default_rng(8)
    for _ in range(20):
        X = rng.random((12, 2))
        cannot = [tuple(rng.choice(12, 2, replace=False).tolist()) for _ in range(8)]
        said = Constraints.build(12, cannot_link=cannot, must_link_any=[(0, 1, 2)], rules=MinSeparation(0.05))
        verdict = check(said, n_clusters=4, X=X)
        if verdict.status == "infeasible":
            continue
        data = sp.csr_array(X) if sparse else X
        found = COPKMeans(4, init="feasible").fit(data, constraints=said)
        chosen = said.select(said.kind < 5) | found.chosen_
        witness = check(chosen, n_clusters=4, X=X).witness
        centers = np.stack([X[witness == c].mean(axis=0) for c in range(4)])
        given = COPKMeans(4, init=centers).fit(data, constraints=said)
        assert_array_equal(found.labels_, given.labels_)
        assert found.certificate_.ok
