"""Problem and Contraction: must-linked samples become one and come back."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram, verify
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.problem import Contraction, Problem
from tests.oracles.trees import climb


def test_groups_become_weighted_means():
    X = np.array([[0.0, 0], [2, 0], [9, 9], [4, 3]])
    small, contraction = Problem(X, Constraints.build(4, must_link=[(0, 1), (1, 3)])).contract()
    assert small.X.tolist() == [[2, 1], [9, 9]]
    assert small.weight.tolist() == [3, 1]
    assert contraction.group.tolist() == [0, 0, 1, 0]
    assert contraction.size.tolist() == [3, 1]
    again, _ = small.contract()
    assert again.weight.tolist() == [3, 1]


def test_cannot_links_and_triplets_survive_contraction_once_each():
    c = Constraints.build(5, must_link=[(0, 1)], cannot_link=[(1, 4)], triplets=[(4, 1, 2), (0, 1, 3)])
    small, _ = Problem(np.zeros((5, 1)), c).contract()
    assert [small.constraints.describe(i) for i in range(2)] == ["#1 cannot_link(0, 3)", "#2 triplet(0, 3 | 1)"]
    assert small.constraints.n_statements == 2


def test_triplets_that_force_samples_together_contract_them_too():
    c = Constraints.build(4, must_link=[(0, 1)], triplets=[(0, 2, 1)])
    small, contraction = Problem(np.zeros((4, 1)), c).contract()
    assert contraction.group.tolist() == [0, 0, 0, 1]
    assert small.constraints.n_statements == 0


def test_soft_must_links_do_not_contract():
    c = Constraints.build(3, must_link=[(0, 1)], weight=2.0)
    small, contraction = Problem(np.zeros((3, 1)), c).contract()
    assert contraction.n_groups == 3
    assert small.constraints.n_statements == 1


def test_a_contradiction_is_raised_by_contract():
    c = Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    with pytest.raises(InfeasibleConstraintsError, match="contradict"):
        Problem(np.zeros((3, 1)), c).contract()


def test_distances_follow_the_metric():
    X = np.array([[0.0, 0], [3, 4]])
    c = Constraints.build(2)
    assert Problem(X, c).distances()[0, 1] == 5
    assert Problem(X, c, "manhattan").distances()[0, 1] == 7
    D = np.array([[0.0, 2], [2, 0]])
    assert Problem(D, c, "precomputed").distances() is D
    with pytest.raises(LinkwiseError, match="mean"):
        Problem(D, Constraints.build(2, must_link=[(0, 1)]), "precomputed").contract()


@pytest.mark.parametrize(
    ("X", "metric"), [(np.zeros(3), "euclidean"), (np.zeros((2, 1)), "euclidean"), (np.zeros((3, 2)), "precomputed")]
)
def test_data_of_another_shape_are_refused(X, metric):
    with pytest.raises(LinkwiseError, match="Problem: X has shape"):
        Problem(X, Constraints.build(3), metric)


def test_a_hierarchy_of_groups_expands_to_all_samples():
    contraction = Contraction.of([0, 1, 0, 2, 0])
    tree = Dendrogram(3, [3, 3, 4, 4, -1], [0, 0, 0, 1.0, 2.0], marked=[3, 2])
    whole = contraction.expand(tree)
    assert whole.parent.tolist() == [5, 6, 5, 7, 5, 6, 7, -1]
    assert whole.height.tolist() == [0, 0, 0, 0, 0, 0, 1, 2]
    assert sorted(whole.marked.tolist()) == [3, 6]
    c = Constraints.build(5, must_link=[(0, 4), (0, 1)], cannot_link=[(2, 3)], triplets=[(0, 2, 1), (1, 4, 3)])
    assert verify(whole, c).ok


def test_samples_of_a_hierarchy_of_groups_meet_where_their_groups_do():
    contraction = Contraction.of([0, 0, 1, 2, 1])
    tree = Dendrogram(3, [3, 4, 3, 4, -1], [0, 0, 0, 1.0, 2.0], marked=[3, 1])
    whole = contraction.expand(tree)
    for a, b in combinations(range(5), 2):
        g, h = contraction.group[[a, b]]
        expected = 0.0 if g == h else tree.height[climb(tree.parent, g, h)]
        assert whole.height[climb(whole.parent, a, b)] == expected
    assert whole.cut_marked().tolist() == [0, 0, 1, 0, 1]


def test_expanding_something_else_is_refused():
    contraction = Contraction.of([0, 0, 1])
    with pytest.raises(LinkwiseError, match="2 groups"):
        contraction.expand([0, 1, 2])
    with pytest.raises(LinkwiseError, match="2 groups"):
        contraction.expand(Dendrogram(3, [3, 3, 3, -1]))


def test_groups_are_written_over_groups_when_samples_are_contracted():
    said = Constraints.build(
        8,
        must_link=[(0, 1)],
        together=[[2, 3, 4]],
        apart=[[0, 2, 5], [6, 7]],
        must_link_any=[[5, 0, 1, 6], [1, 0, 7]],
        cannot_link_any=[[5, 6, 7], [2, 3, 7]],
    )
    problem, contraction = Problem(np.arange(8.0)[:, None], said).contract()
    assert contraction.group.tolist() == [0, 0, 1, 1, 1, 2, 3, 4]
    small = problem.constraints
    assert [small.describe(i) for i in range(small.n_statements)] == [
        "#2 apart(0, 1, 2)",
        "#3 apart(3, 4)",
        "#4 must_link_any(2: 0, 3)",
        "#6 cannot_link_any(2: 3, 4)",
        "#7 cannot_link_any(1: 4)",
    ]


def test_soft_groups_that_the_contraction_decides_are_dropped():
    said = Constraints.build(
        4, must_link=[(0, 1)], together=[[0, 1]], apart=[[0, 1, 2], [0, 3]], weight=[np.inf, 1, 1, 1]
    )
    problem, _ = Problem(np.arange(4.0)[:, None], said).contract()
    assert [problem.constraints.describe(i) for i in range(problem.constraints.n_statements)] == [
        "#3 apart(0, 2) weight 1"
    ]
