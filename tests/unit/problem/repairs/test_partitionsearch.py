"""The search over partitions: what breaks, the best of all partitions on small instances, and repeatability."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.problem.repairs._annealing import best_partition, broken_in
from linkwise.problem.statements._budget import Budget
from tests.oracles.knowledge import pairs_hold, partitions
from tests.profile import examples

pytestmark = pytest.mark.kernels
PLENTY = 3600.0


def instance(rng, n, m):
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(m)], dtype=np.intp)
    return pairs, rng.random(m) < 0.6, rng.integers(1, 4, m).astype(float)


def broken_weight(blocks, pairs, is_must, weight):
    total = 0.0
    for pair, must, w in zip(pairs.tolist(), is_must.tolist(), weight, strict=True):
        total += 0.0 if pairs_hold(blocks, [pair] * must, [pair] * (not must)) else w
    return total


def blocks_of(label):
    return [np.flatnonzero(label == c).tolist() for c in np.unique(label)]


def test_broken_pairs_are_links_across_and_bans_inside():
    pairs = np.array([(0, 1), (0, 2), (0, 1), (0, 2)])
    is_must = np.array([True, True, False, False])
    assert broken_in(np.array([4, 4, 1]), pairs, is_must).tolist() == [False, True, True, False]


def test_small_instances_reach_the_best_of_all_partitions():
    rng = np.random.default_rng(0)
    for _ in range(examples(8, 200)):
        n = int(rng.integers(3, 7))
        pairs, is_must, weight = instance(rng, n, 14)
        label = best_partition(pairs, is_must, weight, np.arange(n), Budget(PLENTY), np.random.default_rng(0))
        least = min(broken_weight(blocks, pairs, is_must, weight) for blocks in partitions(range(n)))
        assert broken_weight(blocks_of(label), pairs, is_must, weight) == least
        assert weight[broken_in(label, pairs, is_must)].sum() == least


def test_never_worse_than_the_start_and_the_same_for_the_same_seed():
    rng = np.random.default_rng(1)
    pairs, is_must, weight = instance(rng, 12, 30)
    start = rng.integers(0, 12, 12)
    late = best_partition(pairs, is_must, weight, start, Budget(0), np.random.default_rng(0))
    assert late.tolist() == start.tolist()
    runs = [best_partition(pairs, is_must, weight, start, Budget(PLENTY), np.random.default_rng(5)) for _ in range(2)]
    assert runs[0].tolist() == runs[1].tolist()
    before, after = (weight[broken_in(label, pairs, is_must)].sum() for label in (start, runs[0]))
    assert after <= before


def test_a_long_chain_moves_as_a_whole():
    # Two chains are joined by a light link and held apart by heavy bans: only the light link may break.
    chain = np.array([(i, i + 1) for i in range(19)] + [(0, 19), (1, 18), (2, 17)], dtype=np.intp)
    is_must = np.array([True] * 19 + [False] * 3)
    weight = np.where(np.arange(22) == 9, 1.0, 5.0)
    label = best_partition(chain, is_must, weight, np.zeros(20, np.intp), Budget(PLENTY), np.random.default_rng(0))
    assert np.flatnonzero(broken_in(label, chain, is_must)).tolist() == [9]
