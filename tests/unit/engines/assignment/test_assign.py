"""The assignment step: least cost with what is to be apart, apart."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.optimize import linear_sum_assignment

from linkwise import Constraints, Kind, check
from linkwise.engines.assignment import _kernels_cycles
from linkwise.engines.assignment._assign import assign
from linkwise.engines.assignment._kernels_trees import match
from linkwise.problem.statements._conflict_graph import CLIQUE, OTHER, TREE, keep_apart
from tests.oracles.centers import cheapest_assignment
from tests.profile import examples

kernels = pytest.mark.kernels  # on the tests that stay quick when run interpreted


def gather(n, pairs=(), groups=()):
    c = Constraints.build(n, cannot_link=pairs, apart=groups)
    return keep_apart(n, c.of(Kind.CANNOT_LINK), c.groups_of(Kind.APART))


def cost_of(costs, labels):
    return costs[np.arange(len(labels)), labels].sum()


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 8)), int(rng.integers(1, 5))
    share = rng.random() * 0.8
    pairs = [(a, b) for a in range(n) for b in range(a) if rng.random() < share]
    groups = [rng.choice(n, int(rng.integers(2, min(n, 4) + 1)), replace=False).tolist() for _ in range(seed % 2)]
    apart = gather(n, pairs, groups)
    costs = rng.random((apart.n_places, k)) if seed % 3 else rng.integers(0, 4, (apart.n_places, k)).astype(float)
    place = {int(v): i for i, v in enumerate(apart.node)}
    return apart, costs, [[place[v] for v in clique] for clique in [*pairs, *groups]]


@kernels
def test_the_answer_is_the_least_cost_by_enumeration():
    solved = 0
    for seed in range(examples(150, 5000)):
        apart, costs, cliques = random_case(seed)
        least = cheapest_assignment(costs, cliques)
        found = assign(costs, apart)
        assert found.solved == (least < np.inf)
        if found.solved:
            solved += 1
            assert found.best
            assert apart.broken(found.labels) == 0
            assert cost_of(costs, found.labels) == pytest.approx(least)
    assert solved > 40


@kernels
def test_forbidden_clusters_stay_forbidden():
    for seed in range(examples(80, 2000)):
        apart, costs, cliques = random_case(seed)
        costs = np.where(np.random.default_rng(seed).random(costs.shape) < 0.2, np.inf, costs)
        least = cheapest_assignment(costs, cliques)
        found = assign(costs, apart)
        assert found.solved == (least < np.inf)
        if found.solved:
            assert cost_of(costs, found.labels) == pytest.approx(least)


@kernels
def test_cliques_are_matched_as_scipy_does():
    for seed in range(examples(40, 1000)):
        rng = np.random.default_rng(seed)
        s, k = sorted(rng.integers(1, 12, size=2).tolist())
        costs, labels = rng.normal(size=(s, k)), np.empty(s, dtype=np.intp)
        assert match(costs, np.arange(s), labels)
        assert len(set(labels.tolist())) == s
        assert cost_of(costs, labels) == pytest.approx(costs[linear_sum_assignment(costs)].sum())


def test_parts_are_told_apart_by_their_shape():
    pairs = [(0, 1), (2, 3), (3, 4), (4, 2), (5, 6), (6, 7), (7, 8), (9, 10), (10, 11), (11, 12), (12, 9)]
    apart = gather(20, pairs, [[13, 14, 15], [16, 17, 18], [18, 19]])
    parts = [apart.node[apart.place[a:b]].tolist() for a, b in zip(apart.begin[:-1], apart.begin[1:], strict=True)]
    assert parts == [[0, 1], [2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15], [16, 17, 18, 19]]
    assert apart.shape.tolist() == [CLIQUE, CLIQUE, TREE, OTHER, CLIQUE, OTHER]


@kernels
def test_repeats_and_pairs_within_groups_change_nothing():
    costs = np.random.default_rng(0).random((4, 5))
    once = assign(costs, gather(4, groups=[[0, 1, 2, 3]]))
    again = assign(costs, gather(4, [(0, 1), (1, 0), (2, 3)], [[0, 1, 2, 3], [3, 2, 1, 0], [1, 2]]))
    assert_array_equal(once.labels, again.labels)


def test_a_group_is_not_written_out_as_pairs():
    n = 3000
    apart = gather(n, groups=[list(range(n))])
    assert len(apart.member) == n


@kernels
def test_a_long_chain_is_solved_exactly_without_recursion():
    n = 300
    rng = np.random.default_rng(0)
    costs = rng.random((n, 3))
    found = assign(costs, gather(n, [(i, i + 1) for i in range(n - 1)]))
    ways = costs[0]
    for i in range(1, n):  # cheapest way to end in each cluster
        ways = costs[i] + np.array([min(ways[d] for d in range(3) if d != c) for c in range(3)])
    assert found.best
    assert cost_of(costs, found.labels) == pytest.approx(ways.min())


def large_case(seed, n=40, m=90, k=5):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    pairs = [(a, b) for a, b in rng.integers(n, size=(4 * m, 2)).tolist() if y[a] != y[b]][:m]
    return y, gather(n, pairs), rng.random((n, k)), pairs


@pytest.mark.parametrize("n", [pytest.param(14, marks=kernels), 40])
def test_large_parts_keep_apart_what_is_and_never_cost_more_than_where_they_started(n):
    for seed in range(examples(3, 200)):
        y, apart, costs, _ = large_case(seed, n=n, m=2 * n)
        own = costs[apart.node]
        start = y[apart.node]
        found = assign(own, apart, start)
        assert found.solved
        assert apart.broken(found.labels) == 0
        assert cost_of(own, found.labels) <= cost_of(own, start) + 1e-12
        again = assign(own, apart, found.labels)
        assert cost_of(own, again.labels) <= cost_of(own, found.labels) + 1e-12


def test_trees_of_the_largest_parts_are_chosen_again_only_where_chains_gain_nothing():
    """The loop of k-means calls this again and again: thousands of places are gone through only near its end."""
    n = _kernels_cycles.LARGE + 100
    y, apart, costs, _ = large_case(0, n=n, m=3 * n, k=6)
    own, start = costs[apart.node], y[apart.node]
    part = int((apart.shape == OTHER).argmax())
    places = apart.place[apart.begin[part] : apart.begin[part + 1]]
    assert len(places) > _kernels_cycles.LARGE
    chains = start.copy()
    _kernels_cycles._rename(own, places, chains)
    _kernels_cycles._swap_chains(
        own, apart, places, chains, np.empty(len(start), dtype=np.intp), _kernels_cycles.VISITS
    )
    first = assign(own, apart, start)
    assert_array_equal(first.labels[places], chains[places])
    assert cost_of(own, first.labels) < cost_of(own, start)
    second = assign(own, apart, first.labels)
    assert apart.broken(second.labels) == 0
    assert cost_of(own, second.labels) < cost_of(own, first.labels)


def test_no_swap_of_two_clusters_along_a_chain_would_be_better():
    y, apart, costs, _ = large_case(3)
    own = costs[apart.node]
    labels = assign(own, apart, y[apart.node]).labels
    cliques = [apart.member[a:b].tolist() for a, b in zip(apart.start[:-1], apart.start[1:], strict=True)]
    for start in range(len(labels)):
        for b in range(own.shape[1]):
            a = labels[start]
            chain, todo = {start}, [start]
            while todo:
                p = todo.pop()
                near = {q for clique in cliques if p in clique for q in clique if labels[q] in (a, b)} - chain
                chain |= near
                todo += near
            swapped = labels.copy()
            for p in chain:
                swapped[p] = b if labels[p] == a else a
            assert apart.broken(swapped) == 0
            assert cost_of(own, swapped) >= cost_of(own, labels) - 1e-9


def test_a_coloring_that_the_greedy_start_misses_can_be_handed_in():
    """A start from a witness is renamed as a whole to the cheapest names first."""
    _, apart, costs, pairs = large_case(1, n=80, m=300, k=4)
    witness = check(Constraints.build(80, cannot_link=pairs), n_clusters=4).witness
    found = assign(costs[apart.node], apart, witness[apart.node])
    assert found.solved
    assert apart.broken(found.labels) == 0


def test_the_same_input_gives_the_same_labels_and_nothing_is_modified():
    y, apart, costs, _ = large_case(2)
    own, start = costs[apart.node], y[apart.node]
    kept = own.copy(), start.copy()
    first, second = assign(own, apart, start), assign(own, apart, start)
    assert_array_equal(first.labels, second.labels)
    assert_array_equal(own, kept[0])
    assert_array_equal(start, kept[1])


@kernels
def test_nothing_to_keep_apart_is_an_empty_answer():
    found = assign(np.empty((0, 3)), gather(5))
    assert found.solved
    assert found.best
    assert len(found.labels) == 0


def test_a_start_that_greed_misses_is_found_by_tabu_search():
    """Near the density at which colorings cease to exist; the classes they were drawn from are one."""
    solved = 0
    for seed in range(examples(4, 40)):
        y, apart, costs, _ = large_case(seed, n=40, m=150, k=4)
        found = assign(costs[apart.node], apart)
        solved += found.solved
        assert not found.solved or apart.broken(found.labels) == 0
        assert y.max() == 3
    assert solved >= 0.9 * examples(4, 40)
