"""Proof forests against their definitions: chains, needs, knots, bridges, and the links that make blocks."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.problem.triplets._blocks import finest_blocks, unite_blocks
from linkwise.problem.triplets._kernels_blocks import BY_ITSELF
from linkwise.problem.triplets._kernels_proof_forest import grow_forest, needed_links, path
from linkwise.problem.triplets._onetree import onetree
from linkwise.problem.triplets._proof_forest import bridges, smallest_knot
from tests.oracles.forests import bridges_by_definition, chain, joined_by_definition, needed_by_definition, reach
from tests.profile import examples

pytestmark = pytest.mark.kernels
NOWHERE = np.empty(0, dtype=np.intp)


def _forest_links(rng, n, trees=1):
    """Links of random trees over n samples."""
    order = rng.permutation(n)
    return np.array([(order[i], order[rng.integers(i)]) for i in range(trees, n)], dtype=np.intp).reshape(-1, 2)


def _lower(forest, mask):
    return {int(forest.link[v]) for v in np.flatnonzero(mask)}


def test_a_forest_reaches_everything_by_shortest_chains():
    rng = np.random.default_rng(0)
    for _ in range(examples(30, 500)):
        n = int(rng.integers(1, 12))
        links = rng.integers(n, size=(int(rng.integers(0, 2 * n)), 2))
        links = links[links[:, 0] != links[:, 1]]
        root = int(rng.integers(n))
        forest = grow_forest(n, links, np.array([root]))
        assert sorted(forest.order.tolist()) == list(range(n))
        layer, depth = {root}, 0
        seen = {root}
        while layer:
            assert set(np.flatnonzero(forest.depth == depth)) & reach(links.tolist(), root) == layer
            step = {int(w) for u, v in links for w in (u, v) if {int(u), int(v)} & layer} - seen
            seen |= step
            layer, depth = step, depth + 1
        for v in np.flatnonzero(forest.link >= 0):
            assert set(links[forest.link[v]].tolist()) == {int(v), int(forest.above[v])}


def test_paths_and_needs_agree_with_the_definition():
    rng = np.random.default_rng(1)
    for _ in range(examples(60, 1000)):
        n = int(rng.integers(3, 12))
        links = _forest_links(rng, n)
        need = np.where(rng.random(len(links)) < 0.4, -1, rng.integers(n, size=len(links)))
        need[(links == need[:, None]).any(axis=1)] = -1
        forest = grow_forest(n, links, rng.integers(n, size=1))
        x, y = rng.choice(n, 2, replace=False)
        steps = path(forest, x, y)
        assert (steps[0], steps[-1]) == (x, y)
        assert len(steps) == len(chain(links.tolist(), x, y)) + 1
        found = _lower(forest, needed_links(forest, need, x, y))
        assert found == needed_by_definition(links.tolist(), need, chain(links.tolist(), x, y))


def test_the_smallest_knot_is_the_smallest_set_that_needs_nothing_else():
    rng = np.random.default_rng(2)
    sizes = set()
    for _ in range(examples(60, 1000)):
        n = int(rng.integers(3, 10))
        links = _forest_links(rng, n) if rng.random() < 0.7 else np.column_stack([np.arange(n - 1), np.arange(1, n)])
        need = np.array([rng.choice(np.setdiff1d(np.arange(n), link)) for link in links])
        forest = grow_forest(n, links, rng.integers(n, size=1))
        found = {int(forest.link[v]) for v in smallest_knot(forest, need)}
        closures = [needed_by_definition(links.tolist(), need, {t}) for t in range(len(links))]
        minimal = [c for c in closures if not any(other < c for other in closures)]
        assert found in minimal
        assert len(found) == min(len(c) for c in minimal)
        sizes.add(len(found))
    assert len(sizes) > 3


def test_a_forest_as_deep_as_it_is_large_is_no_matter():
    n = 50_000
    links = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    need = np.append(links[1:, 1], 0)
    forest = grow_forest(n, links, np.array([0]))
    assert len(smallest_knot(forest, need)) == n - 1
    need[-1] = n - 3
    assert {int(forest.link[v]) for v in smallest_knot(forest, need)} == {n - 3, n - 2}
    assert _lower(forest, needed_links(forest, need, n - 4, n - 3)) == {n - 4, n - 3, n - 2}


def test_bridges_agree_with_the_definition():
    rng = np.random.default_rng(3)
    for _ in range(examples(60, 1000)):
        n = int(rng.integers(2, 10))
        links = np.array([rng.choice(n, 2, replace=False) for _ in range(rng.integers(1, 2 * n))])
        assert set(bridges(n, links).tolist()) == bridges_by_definition(links.tolist())


def test_blocks_and_the_links_that_make_them_agree_with_the_definition():
    rng = np.random.default_rng(4)
    joined = 0
    for _ in range(examples(60, 1000)):
        n = int(rng.integers(3, 8))
        must = np.array([rng.choice(n, 2, replace=False) for _ in range(rng.integers(1, 3))])
        triplets = np.array([rng.choice(n, 3, replace=False) for _ in range(rng.integers(1, 6))])
        if onetree(n, triplets).parent is None:
            continue
        made = unite_blocks(n, must, triplets)
        blocks = {frozenset(np.flatnonzero(made.block == b).tolist()) for b in np.unique(made.block)}
        assert blocks == joined_by_definition(n, must.tolist(), triplets.tolist())
        assert np.array_equal(made.block, finest_blocks(n, must, triplets))
        assert len(made.link) == n - len(blocks)  # a forest
        assert len(np.unique(made.reason)) == len(made.reason)  # in which each statement has one link
        pairs = np.concatenate([must, triplets[:, :2]])[made.reason]
        assert (pairs == made.link).all()
        assert ((made.step == BY_ITSELF) == (made.reason < len(must))).all()
        joined += (made.step != BY_ITSELF).any()
    assert joined > 5
