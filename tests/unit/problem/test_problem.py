"""Problem: must-linked samples become one row and come back; every consequence is found once."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from linkwise import Constraints, COPKMeans, verify
from linkwise.constraints import MinSeparation, SizeBetween
from linkwise.exceptions import GaveUpError, InfeasibleConstraintsError, LinkwiseError
from linkwise.problem import Problem
from linkwise.problem.statements import _hard


def line(n):
    return np.arange(float(n))[:, None]


def test_groups_become_weighted_means():
    X = np.array([[0.0, 0], [2, 0], [9, 9], [4, 3]])
    small = Problem(X, Constraints.build(4, must_link=[(0, 1), (1, 3)])).contract()
    assert small.X.tolist() == [[2, 1], [9, 9]]
    assert small.weight.tolist() == [3, 1]
    assert small.group.tolist() == [0, 0, 1, 0]


def test_sparse_and_dense_rows_have_the_same_means():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) * (rng.random((30, 4)) < 0.5)
    c = Constraints.build(30, must_link=rng.integers(30, size=(12, 2)) % [[15, 30]] + [[0, 0]])
    dense, sparse = Problem(X, c).contract(), Problem(sp.csr_array(X), c).contract()
    for g in range(dense.n_nodes):
        assert dense.X[g] == pytest.approx(X[dense.group == g].mean(axis=0))
    assert sparse.X.toarray() == pytest.approx(dense.X)


def test_other_rows_of_the_same_samples_are_contracted_alike():
    problem = Problem(line(3), Constraints.build(3, must_link=[(0, 2)]))
    assert problem.contract(10.0 * line(3)).X.tolist() == [[10.0], [10.0]]
    assert problem.contract().X.tolist() == [[1.0], [1.0]]


def test_cannot_links_and_groups_apart_are_between_groups():
    c = Constraints.build(6, must_link=[(0, 1)], together=[[2, 3]], cannot_link=[(1, 5), (0, 5)], apart=[[0, 3, 4]])
    problem = Problem(line(6), c)
    assert problem.group.tolist() == [0, 0, 1, 1, 2, 3]
    assert problem.apart.pairs().tolist() == [[0, 1], [0, 2], [0, 3], [1, 2]]


def test_soft_must_links_do_not_contract():
    problem = Problem(line(3), Constraints.build(3, must_link=[(0, 1)], weight=2.0))
    assert problem.n_groups == 3
    assert problem.soft_pairs.weight.tolist() == [2.0]


def test_opposite_soft_statements_about_a_pair_are_netted():
    c = Constraints.build(
        4,
        must_link=[(1, 0), (2, 3)],
        cannot_link=[(0, 1), (2, 3)],
        together=[[0, 1, 2]],
        weight=[3.0, 1.0, 2.0, 1.0, 0.5],
    )
    net = Problem(line(4), c).soft_pairs.net()
    assert net.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert net.weight.tolist() == [1.5, 0.5, 0.5]


def test_a_rule_of_least_separation_adds_must_links():
    problem = Problem(np.array([[0.0], [1.0], [9.0]]), Constraints.build(3, rules=[MinSeparation(2.0)]))
    assert problem.group.tolist() == [0, 0, 1]


def test_labels_of_groups_come_back_to_samples():
    problem = Problem(line(4), Constraints.build(4, must_link=[(0, 2)]))
    assert problem.expand(np.array([5, 7, 9])).tolist() == [5, 7, 5, 9]
    assert problem.reduce(np.array([5, 7, 5, 9])).tolist() == [5, 7, 9]
    assert problem.reduce(np.array([5, 7, 6, 9])).tolist() == [5, 7, 9]  # of labels that differ in a group the first
    with pytest.raises(LinkwiseError, match="one for each of the 3 groups"):
        problem.expand(np.zeros(4, dtype=np.intp))


def test_a_contradiction_is_raised_by_blocks_and_by_the_gate():
    problem = Problem(line(3), Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)]))
    for ask in (lambda: problem.blocks, problem.require_feasible, problem.witness):
        with pytest.raises(InfeasibleConstraintsError, match="contradict"):
            ask()


def test_triplets_can_force_samples_into_one_block():
    c = Constraints.build(4, must_link=[(0, 1)], triplets=[(0, 2, 1)])
    assert Problem(line(4), c).blocks.tolist() == [0, 0, 0, 1]


def test_a_number_outside_the_bounds_is_refused_at_the_gate():
    triangle = Constraints.build(4, cannot_link=[(0, 1), (1, 2), (0, 2)])
    with pytest.raises(InfeasibleConstraintsError, match="3 clusters"):
        Problem(line(4), triangle, n_clusters=2).require_feasible()
    with pytest.raises(InfeasibleConstraintsError):
        Problem(line(4), Constraints.build(4, rules=[SizeBetween(3)]), n_clusters=2).require_feasible()
    Problem(line(4), triangle, n_clusters=3).require_feasible()


def test_a_witness_holds_what_is_stated():
    ring = Constraints.build(5, cannot_link=[(i, (i + 1) % 5) for i in range(5)])
    labels = Problem(line(5), ring, n_clusters=3).witness()
    assert verify(labels, ring).ok
    Problem(line(5), ring, n_clusters=2).require_feasible()  # within the bounds, which do not see odd rings
    with pytest.raises((InfeasibleConstraintsError, GaveUpError)):
        Problem(line(5), ring, n_clusters=2).witness()


def test_a_method_that_needs_a_number_says_so():
    with pytest.raises(LinkwiseError, match="Some needs a number of clusters"):
        _ = Problem(line(3), Constraints.build(3), who="Some").k


@pytest.mark.parametrize(
    ("X", "metric"), [(np.zeros(3), "euclidean"), (np.zeros((2, 1)), "euclidean"), (np.zeros((3, 2)), "precomputed")]
)
def test_data_of_another_shape_are_refused(X, metric):
    with pytest.raises(LinkwiseError, match="Problem: X has shape"):
        Problem(X, Constraints.build(3), metric=metric)


def test_a_fit_contracts_once(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    pairs = rng.integers(60, size=(40, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    c = Constraints.build(60, must_link=pairs[same], cannot_link=pairs[~same])
    seen = []
    contract = _hard.components
    monkeypatch.setattr(_hard, "components", lambda n, pairs: (seen.append(n), contract(n, pairs))[1])
    COPKMeans(3, random_state=0).fit(X, constraints=c)
    assert seen == [60]
