"""The search over trees: the value of a place, and a best tree at least as good as every known one."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.problem import onetree
from linkwise.problem.repairs._annealing import best_tree, tree_of
from linkwise.problem.repairs._kernels_anneal_tree import _choose, _mark_places, broken_by, resolve
from linkwise.problem.statements._budget import Budget
from tests.oracles.knowledge import statement_holds
from tests.oracles.repairs import cheapest_subset, regrafts
from tests.profile import examples

pytestmark = pytest.mark.kernels
PLENTY = 3600.0


def random_parent(rng, n):
    """A random binary tree as a parent array."""
    parent = np.full(2 * n - 1, -1, np.intp)
    forest = list(range(n))
    for node in range(n, 2 * n - 1):
        for _ in range(2):
            parent[forest.pop(int(rng.integers(len(forest))))] = node
        forest.append(node)
    return parent


def random_triplets(rng, n, m):
    return np.array([rng.choice(n, 3, replace=False) for _ in range(m)], dtype=np.intp).reshape(-1, 3)


def broken_weight(parent, triplets, weight):
    return sum(w for t, w in zip(triplets.tolist(), weight, strict=True) if not statement_holds(parent, None, 2, t))


def incidence(n, triplets):
    item = triplets.ravel()
    start = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=n))])
    return start.astype(np.intp), np.argsort(item, kind="stable") // 3


def test_broken_triplets_agree_with_walking_up():
    rng = np.random.default_rng(0)
    for _ in range(examples(30, 300)):
        n = int(rng.integers(3, 12))
        parent, triplets = random_parent(rng, n), random_triplets(rng, n, 20)
        expected = [not statement_holds(parent.tolist(), None, 2, t) for t in triplets.tolist()]
        assert broken_by(tree_of(parent), triplets).tolist() == expected


def test_every_place_of_a_subtree_is_valued_as_the_tree_that_results():
    rng = np.random.default_rng(1)
    for _ in range(examples(15, 200)):
        n = int(rng.integers(3, 8))
        parent, triplets = random_parent(rng, n), random_triplets(rng, n, 15)
        weight = rng.random(15) + 0.1
        tree, (start, incident) = tree_of(parent), incidence(n, triplets)
        before = broken_weight(parent.tolist(), triplets, weight)
        for pruned in range(2 * n - 2):
            add = np.zeros(2 * n)
            _mark_places(tree, pruned, triplets, weight, start, incident, add)
            value = np.cumsum(add)[tree.first]
            here = value[next(x for x in range(2 * n - 1) if parent[x] == parent[pruned] and x != pruned)]
            for target, moved in regrafts(parent.tolist(), pruned).items():
                gain = before - broken_weight(moved, triplets, weight)
                assert value[target] - here == pytest.approx(gain, abs=1e-9)


def test_cold_choices_take_a_best_place_and_say_what_it_gains():
    rng = np.random.default_rng(2)
    n, parent = 7, random_parent(rng, 7)
    triplets, weight = random_triplets(rng, 7, 20), np.ones(20)
    tree, (start, incident) = tree_of(parent), incidence(n, triplets)
    before = broken_weight(parent.tolist(), triplets, weight)
    for pruned in range(2 * n - 2):
        add = np.zeros(2 * n)
        _mark_places(tree, pruned, triplets, weight, start, incident, add)
        target, gain = _choose(tree, pruned, add[:-1], 1e-3, rng)
        after = {t: broken_weight(moved, triplets, weight) for t, moved in regrafts(parent.tolist(), pruned).items()}
        assert after[target] == min(after.values())
        assert gain == pytest.approx(before - after[target])


def test_small_instances_reach_the_best_of_all_trees():
    rng = np.random.default_rng(3)
    for _ in range(examples(4, 100)):
        n, m = 5, 12
        triplets, weight = random_triplets(rng, n, m), rng.integers(1, 4, m).astype(float)
        found = best_tree(n, triplets, weight, random_parent(rng, n), Budget(PLENTY), np.random.default_rng(0))
        least = cheapest_subset(n, [(2, t) for t in triplets.tolist()], weight.tolist())
        assert broken_weight(found.tolist(), triplets, weight) == least


def test_never_worse_than_the_start_and_the_same_for_the_same_seed():
    rng = np.random.default_rng(4)
    triplets, weight, start = random_triplets(rng, 6, 20), np.ones(20), random_parent(rng, 6)
    late = best_tree(6, triplets, weight, start, Budget(0), np.random.default_rng(0))
    assert late.tolist() == start.tolist()
    runs = [best_tree(6, triplets, weight, start, Budget(PLENTY), np.random.default_rng(5)) for _ in range(2)]
    assert runs[0].tolist() == runs[1].tolist()
    assert broken_weight(runs[0].tolist(), triplets, weight) <= broken_weight(start.tolist(), triplets, weight)


def test_resolving_keeps_what_a_tree_displays():
    rng = np.random.default_rng(6)
    for _ in range(examples(20, 200)):
        n = int(rng.integers(3, 10))
        truth = random_parent(rng, n).tolist()
        rows = random_triplets(rng, n, 8)
        rows = rows[[statement_holds(truth, None, 2, t) for t in rows.tolist()]]
        parent = resolve(n, onetree(n, rows).parent)
        assert np.bincount(parent[parent >= 0], minlength=2 * n - 1)[n:].tolist() == [2] * (n - 1)
        assert not broken_by(tree_of(parent), rows).any()
