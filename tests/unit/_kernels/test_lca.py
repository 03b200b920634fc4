"""Lowest common ancestors against walking up, on every shape of tree, and the layout the answers rest on."""

from __future__ import annotations

import random

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram
from linkwise._kernels import lca
from tests.oracles.trees import ancestors, climb, displays, random_forest
from tests.profile import examples

pytestmark = pytest.mark.kernels


def shapes():
    for seed in range(examples(40, 1500)):
        rng = random.Random(seed)
        n = rng.randint(1, 24)
        shape = rng.choice(["random", "caterpillar"])
        yield n, random_forest(rng, n, widest=rng.choice([2, 2, 3, 9]), n_roots=rng.choice([1, 1, 2, n]), shape=shape)


def test_every_pair_of_nodes_meets_where_walking_up_says():
    for n, parent in shapes():
        tree = Dendrogram(n, parent)
        u, v = np.indices((len(parent), len(parent)))
        expected = [[climb(parent, x, y) for y in range(len(parent))] for x in range(len(parent))]
        assert tree.lca(u, v).tolist() == expected
        below = [[y in ancestors(parent, x) for y in range(len(parent))] for x in range(len(parent))]
        assert tree.is_below(u, v).tolist() == below


def test_a_complete_binary_tree_of_many_levels():
    n = 256
    parent = [n + v // 2 for v in range(2 * n - 2)] + [-1]
    tree = Dendrogram(n, parent)
    for x in (0, 1, 100, 255, 300, 500, 510):
        assert tree.lca(x, np.arange(511)).tolist() == [climb(parent, x, y) for y in range(511)]


def test_kernel_takes_one_pair_at_a_time_too():
    index = lca.prepare(np.array([4, 4, 5, 5, -1, -1]))
    assert [lca.query(index, 0, y) for y in range(6)] == [0, 4, -1, -1, 4, -1]
    assert lca.below(index, 2, 5)
    assert not lca.below(index, 2, 4)


def test_triplets_hold_exactly_when_a_cluster_separates_them():
    for n, parent in shapes():
        if n < 3:
            continue
        rng = random.Random(n)
        trios = [tuple(rng.sample(range(n), 3)) for _ in range(30)]
        said = Constraints.build(n, triplets=trios)
        assert Dendrogram(n, parent).satisfies(said).tolist() == [displays(n, parent, *trio) for trio in trios]
