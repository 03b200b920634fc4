"""Depth and size cost nothing: caterpillars of a hundred thousand leaves, many classes, a small recursion limit."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from linkwise import Dendrogram
from linkwise.metrics import (
    class_f,
    count_triples,
    dasgupta_cost,
    dendrogram_purity,
    h_correlation,
    hierarchy_fscore,
    pairwise_scores,
    rand,
    triplet_accuracy,
)

N = 100_000


def caterpillar(order):
    """The first two samples meet at the bottom, every further one joins above."""
    n = len(order)
    merges = np.column_stack([np.r_[order[0], np.arange(n, 2 * n - 2)], order[1:]])
    return Dendrogram.from_merges(n, merges, np.arange(1.0, n))


@pytest.fixture(scope="module")
def chain():
    return caterpillar(np.arange(N))


@pytest.fixture(autouse=True)
def little_recursion():
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    yield
    sys.setrecursionlimit(usual)


def test_h_correlation_of_caterpillars(chain):
    assert h_correlation(chain, chain) == 1.0
    # upside down: of a trio a < b < c the gold tree says ab|c and the other bc|a, hence never the same
    assert h_correlation(chain, caterpillar(np.arange(N)[::-1])) == 0.0
    assert count_triples(chain) == N * (N - 1) * (N - 2) // 3  # 2 (n choose 3): beyond 32 bits, and exact


def test_blocks_along_a_caterpillar(chain):
    y = np.arange(N) // (N // 2)
    # the first half is a cluster of the chain; the second is found best by the root
    assert hierarchy_fscore(y, chain) == pytest.approx((1 + 2 * (N // 2) / (N + N // 2)) / 2)
    # the pairs of the first half meet in pure clusters, those of the second below i + 1 - N/2 of i + 1 samples
    i = np.arange(N // 2, N)
    pure = ((i - N // 2) * (i + 1 - N // 2) / (i + 1)).sum() / (N // 2 * (N // 2 - 1) / 2)
    assert dendrogram_purity(y, chain) == pytest.approx((1 + pure) / 2)
    assert class_f(y, chain).leaf == pytest.approx(hierarchy_fscore(y, chain))
    assert hierarchy_fscore(y, chain, form="levels") < 1
    # of {x, y}, z with x, y in the first half all are found, of those in the second none, as z joined before
    assert h_correlation(y, chain) == 0.5
    assert triplet_accuracy([(0, 1, N - 1), (N - 1, N - 2, 0)], chain) == 0.5


def test_every_sample_a_class_of_its_own(chain):
    y = np.arange(N)
    assert hierarchy_fscore(y, chain) == dendrogram_purity(y, chain) == h_correlation(y, chain) == 1.0
    assert pairwise_scores(y, y) == (1.0, 1.0, 1.0)


def test_dasgupta_cost_of_a_path_graph_along_a_caterpillar(chain):
    from scipy.sparse import diags_array

    path = diags_array([np.ones(N - 1), np.ones(N - 1)], offsets=[-1, 1], shape=(N, N))
    assert dasgupta_cost(path, chain) == (N * (N + 1) - 2) / 2  # samples i and i + 1 meet in a cluster of i + 2


def test_counts_beyond_32_bits_are_exact():
    y = np.zeros(1_000_000, dtype=np.int32)
    y[0] = 1
    n = len(y)
    assert rand(y, np.zeros(n, dtype=np.int8)) == 1 - 2 / n
