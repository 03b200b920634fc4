from __future__ import annotations

import networkx as nx
import numba
import numpy as np
import pytest

from linkwise._kernels.disjoint_set import components, find, labels, make, union

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("seed", range(20))
def test_components_are_those_of_networkx_numbered_by_first_member(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    pairs = rng.integers(n, size=(int(rng.integers(0, n + 1)), 2))
    graph = nx.Graph(pairs.tolist())
    graph.add_nodes_from(range(n))
    expected = np.empty(n, int)
    for number, members in enumerate(sorted(nx.connected_components(graph), key=min)):
        expected[list(members)] = number
    assert components(n, pairs).tolist() == expected.tolist()


def test_union_says_whether_two_sets_became_one():
    sets = make(4)
    assert union(sets, 0, 3)
    assert not union(sets, 3, 0)
    assert find(sets, 0) == find(sets, 3) != find(sets, 1)
    assert labels(sets).tolist() == [0, 1, 2, 0]


def test_a_chain_of_a_hundred_thousand_needs_no_recursion():
    n = 2_000 if numba.config.DISABLE_JIT else 100_000
    chain = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    assert not components(n, chain).any()
