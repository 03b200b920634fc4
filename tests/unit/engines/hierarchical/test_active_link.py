"""The clustering that asks: the questions and trees of the plain loops, never one too many, never one twice."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from linkwise import check, verify
from linkwise.engines import active_complete_link, agglomerate
from linkwise.exceptions import LinkwiseError
from tests.oracles.complete_link import Active, components
from tests.oracles.generators import points
from tests.oracles.trees import clades
from tests.profile import examples
from tests.unit.engines.distances.test_propagate import strange_distances

pytestmark = pytest.mark.kernels


def answer_all(run, answer):
    asked = []
    while (pair := run.ask()) is not None:
        assert run.ask() == pair
        asked.append(pair)
        run.tell(pair[::-1] if len(asked) % 2 else pair, answer(*pair))
    return asked


def oracle(rng, n, kind):
    """Somebody who answers from classes, at random, or does not always know."""
    y = rng.integers(3, size=n)
    noise = rng.random((n, n))

    def answer(i, j):
        if kind == "noise":
            return bool(noise[i, j] < 0.5)
        if kind == "unsure" and noise[i, j] < 0.3:
            return None
        return bool(y[i] == y[j])

    return y, answer


@pytest.mark.parametrize("kind", ["classes", "noise", "unsure"])
@pytest.mark.parametrize("strange", [False, True])
def test_questions_answers_and_tree_are_those_of_the_plain_loops(kind, strange):
    for seed in range(examples(15, 200)):
        rng = np.random.default_rng(seed)
        n = seed + 1 if seed < 3 else int(rng.integers(2, 14))
        budget = int(rng.integers(0, n + 3))
        _, answer = oracle(rng, n, kind)
        D = strange_distances(rng, n) if strange else cdist(X := points(rng, n, "distinct"), X)
        begin = None if seed % 2 else int(rng.integers(1, n + 2))
        expected = Active(D, budget, answer, full=strange, begin=begin)
        run = active_complete_link(D, budget, begin=begin, metric="precomputed", metric_input=not strange)
        assert run.alpha == pytest.approx(expected.alpha)
        assert answer_all(run, answer) == expected.asked
        assert not expected.below, "paths between clusters farther apart than alpha are longer than alpha"
        tree = run.dendrogram
        inner = {group for group in clades(n, tree.parent.tolist()) if len(group) > 1}
        assert inner == {a | b for a, b, _ in expected.merges}
        assert_allclose(np.sort(tree.raw_height[n:]), sorted(h for _, _, h in expected.merges), rtol=1e-9, atol=1e-12)
        assert run.constraints.items[:, :2].tolist() == [list(p) for p in expected.must + expected.cannot]


@pytest.mark.parametrize("kind", ["distinct", "grid", "copies"])
def test_at_most_the_budget_is_asked_nothing_twice_and_nothing_implied(kind):
    for seed in range(examples(25, 300)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 25))
        budget = int(rng.integers(0, 2 * n))
        y, answer = oracle(rng, n, "classes" if seed % 2 else "noise")
        run = active_complete_link(points(rng, n, kind), budget)
        asked, must, cannot = [], [], []
        while (pair := run.ask()) is not None:
            label = components(n, must)
            a, b = label[pair[0]], label[pair[1]]
            assert a != b, "a must-link is implied"
            assert all({label[i], label[j]} != {a, b} for i, j in cannot), "a cannot-link is implied"
            assert pair not in asked
            asked.append(pair)
            run.tell(pair, answer(*pair))
            (must if answer(*pair) else cannot).append(pair)
        assert run.n_asked == len(asked) <= budget
        assert run.ask() is None
        known = run.constraints
        assert known.n_statements == len(asked)
        assert check(known).status == "feasible"
        tree = run.dendrogram
        assert verify(tree.cut(n_clusters=tree.n_roots), known).ok
        if seed % 2:
            assert verify(y, known).ok


def test_enough_answers_give_the_classes_however_the_points_lie():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=30)
    X = rng.normal(size=(30, 2))
    run = active_complete_link(X, 30 * 29)
    answer_all(run, lambda i, j: bool(y[i] == y[j]))
    tree = run.dendrogram
    assert tree.n_roots == 3
    labels = tree.cut(n_clusters=3)
    assert ((labels[:, None] == labels) == (y[:, None] == y)).all()


def test_no_questions_are_plain_complete_link():
    X = np.random.default_rng(1).normal(size=(40, 3))
    run = active_complete_link(X, 0)
    assert run.ask() is None
    plain = agglomerate(X, method="complete")
    assert clades(40, run.dendrogram.parent.tolist()) == clades(40, plain.parent.tolist())
    assert_allclose(run.dendrogram.raw_height, plain.raw_height, rtol=1e-9)
    one = active_complete_link(X, 1)
    assert one.alpha == pytest.approx(plain.raw_height[-2])
    left, right = one.ask()
    roots = plain.cut(n_clusters=2)
    assert roots[left] != roots[right]


def test_a_question_left_open_changes_nothing_and_the_tree_can_be_looked_at_on_the_way():
    X = np.random.default_rng(2).normal(size=(20, 2))
    run = active_complete_link(X, 5)
    before = run.dendrogram
    assert before == agglomerate(X, method="complete")
    pair = run.ask()
    assert run.dendrogram == before
    assert run.ask() == pair
    run.tell(pair, False)
    assert run.dendrogram.n_roots == 2
    assert run.n_asked == 1


def test_not_knowing_leaves_the_merge_to_the_distances():
    X = np.random.default_rng(3).normal(size=(20, 2))
    run = active_complete_link(X, 19, begin=20)
    assert len(answer_all(run, lambda i, j: None)) == 19
    assert run.dendrogram.parent.tolist() == agglomerate(X, method="complete").parent.tolist()
    assert not run.constraints


def test_a_yes_draws_the_surroundings_together():
    X = np.array([[0.0], [1.0], [10.0], [11.5], [30.0]])
    run = active_complete_link(X, 2, begin=3)
    assert run.alpha == 1.5
    first = run.ask()
    assert sorted(X[list(first), 0].tolist()) == [0.0, 10.0]
    run.tell(first, True)
    assert run.dendrogram.raw_height.max() == 20.0  # from 30 to the farther end of the nearer cluster, not to 0


def test_beginning_later_leaves_questions_for_noes():
    """Four heaps, of which those across the diagonal are one class: a question per merge leaves too few."""
    rng = np.random.default_rng(5)
    corner = np.arange(40) % 4
    X = np.array([[-1, -1], [1, 1], [-1, 1], [1, -1]])[corner] + 0.1 * rng.normal(size=(40, 2))
    y = corner // 2
    right = []
    for begin in (11, None):
        run = active_complete_link(X, 10, begin=begin)
        answer_all(run, lambda i, j: bool(y[i] == y[j]))
        tree = run.dendrogram
        labels = tree.cut(n_clusters=max(2, tree.n_roots))
        right.append(bool(((labels[:, None] == labels) == (y[:, None] == y)).all()))
    assert right == [False, True]


def test_inputs_are_left_alone():
    X = np.random.default_rng(4).normal(size=(12, 2))
    D = cdist(X, X)
    before = D.copy()
    D.setflags(write=False)
    answer_all(active_complete_link(D, 8, metric="precomputed"), lambda i, j: i % 2 == j % 2)
    np.testing.assert_array_equal(D, before)


def test_misunderstandings_are_worded():
    X = np.zeros((3, 1))
    for wrong in (-1, 2.5, True, "many"):
        with pytest.raises(LinkwiseError, match="expected a number of questions"):
            active_complete_link(X, wrong)
        with pytest.raises(LinkwiseError, match=r"begin is .* expected a number of clusters, 1 or more"):
            active_complete_link(X, 1, begin=wrong)
    run = active_complete_link(np.array([[0.0], [1.0], [5.0]]), 1)
    with pytest.raises(LinkwiseError, match="but nothing was asked"):
        run.tell((0, 1), True)
    pair = run.ask()
    with pytest.raises(LinkwiseError, match=r"the question was about"):
        run.tell((pair[0], pair[0]), True)
    with pytest.raises(LinkwiseError, match="expected True, False or None"):
        run.tell(pair, "yes")
    run.tell(pair, np.True_)
    assert run.ask() is None
