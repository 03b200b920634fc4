"""Merging along a graph: the literal loop on random graphs and statements, and room that runs out on the way."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Constraints, Kind, check
from linkwise.engines.hierarchical.sparse import _graph_merging
from linkwise.engines.hierarchical.sparse._graph_merging import (
    chain,
    clusters_as_items,
    link_items,
    make_items,
    merge_along,
    merge_within,
)
from linkwise.problem import Problem
from tests.oracles import graph_merging
from tests.profile import examples

pytestmark = pytest.mark.kernels


def _draw(rng):
    n = int(rng.integers(3, 25))
    X = rng.normal(size=(n, 3))
    must = [rng.choice(n, 2, replace=False) for _ in range(rng.integers(0, n // 3))]
    cannot = [rng.choice(n, 2, replace=False) for _ in range(rng.integers(0, n))]
    apart = [rng.choice(n, 3, replace=False) for _ in range(rng.integers(0, 3))]
    trios = [rng.choice(n, 3, replace=False) for _ in range(rng.integers(0, n // 2))]
    index = np.argsort(rng.random((n, n)), axis=1)[:, : int(rng.integers(1, 6))]
    return (
        X,
        Constraints.build(n, must_link=must, cannot_link=cannot, apart=apart, triplets=trios),
        cannot + apart,
        index,
    )


def _sets(labels):
    return [frozenset(np.flatnonzero(labels == c).tolist()) for c in range(int(labels.max()) + 1)]


def _merges(merged, items):
    """The merges as pairs of sets of samples."""
    inside, owner = dict(enumerate(_sets(items.of_sample))), np.arange(len(items.first))
    found = []
    for (i, j), height in zip(merged.pairs.tolist(), merged.height.tolist(), strict=True):
        a, b = int(owner[i]), int(owner[j])  # any item stands for its cluster
        found.append((frozenset([inside[a], inside[b]]), height))
        inside[a] = inside[a] | inside.pop(b)
        owner[owner == b] = a
    return found, set(inside.values())


@pytest.mark.parametrize("room", [(1.25, 4), (1.0, 1)])  # where there is none to spare, heap and table grow
def test_merges_are_those_of_the_literal_loop(monkeypatch, room):
    monkeypatch.setattr(_graph_merging, "_HEAP", room[0])
    monkeypatch.setattr(_graph_merging, "_TABLE", room[1])
    rng = np.random.default_rng(room[1])
    seen = refused = triplets = 0
    while seen < examples(40, 1000):
        X, known, apart, index = _draw(rng)
        if check(known).status != "feasible":
            continue
        seen += 1
        problem = Problem(X, known)
        items = make_items(problem)
        edges = link_items(index, items.of_sample)
        target = int(rng.integers(1, 5))
        merged = merge_along(edges, items, problem, min(target, len(items.first)), lambda _: None)
        anchors = frozenset(problem.hard.triplets.ravel().tolist())
        literal, left, no = graph_merging.merge(
            X,
            _sets(items.of_sample),
            items.class_of.tolist(),
            anchors,
            edges.tolist(),
            [[int(s) for s in one] for one in apart],
            target,
        )
        found, clusters = _merges(merged, items)
        assert [pair for pair, _ in found] == [frozenset([a, b]) for a, b, _ in literal]
        np.testing.assert_allclose([height for _, height in found], [height for *_, height in literal], rtol=1e-9)
        assert clusters == left == set(_sets(merged.cluster[items.of_sample]))
        assert merged.refused == no
        np.testing.assert_allclose(
            merged.mean, [X[sorted(c)].mean(axis=0) for c in _sets(merged.cluster[items.of_sample])]
        )
        refused += no
        triplets += bool(anchors)
        together = Constraints.build(len(X), together=[sorted(c) for c in clusters if len(c) > 1])
        assert check(known | together).status == "feasible"
    assert refused > seen / 2
    assert triplets > seen / 5


def test_two_rounds_are_one_sequence_of_merges():
    rng = np.random.default_rng(0)
    for _ in range(examples(20, 200)):
        X, known, _, index = _draw(rng)
        if check(known).status != "feasible":
            continue
        problem = Problem(X, known)
        items = make_items(problem)
        first = merge_along(link_items(index[:, :1], items.of_sample), items, problem, 1, lambda _: None)
        grown = clusters_as_items(first, items)
        assert set(_sets(grown.of_sample)) == _merges(first, items)[1]
        more = merge_along(link_items(index, grown.of_sample), grown, problem, 1, lambda _: None)
        both = chain(first, more, items, grown)
        assert (
            _merges(both, items)[1]
            == set(_sets(both.cluster[items.of_sample]))
            == set(_sets(more.cluster[grown.of_sample]))
        )
        anchors = problem.hard.triplets.ravel()
        assert all(np.isin(sorted(c), anchors).sum() <= 1 or len(anchors) == 0 for c in _merges(both, items)[1])


def test_many_cannot_links_at_one_hub_and_large_groups_apart():
    n = 600
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    hub = [(0, i) for i in range(1, n)]
    groups = [rng.choice(np.arange(1, n), 40, replace=False) for _ in range(20)]
    problem = Problem(X, Constraints.build(n, cannot_link=hub, apart=groups))
    items = make_items(problem)
    index = np.argsort(((X[:, None] - X[None]) ** 2).sum(axis=2), axis=1)[:, 1:12]
    merged = merge_along(link_items(index, items.of_sample), items, problem, 1, lambda _: None)
    label = merged.cluster[items.of_sample]
    assert (label == label[0]).sum() == 1
    assert all(len(np.unique(label[group])) == len(group) for group in groups)
    assert len(merged.size) < n / 3


def test_merging_goes_on_within_parts_from_the_merges_that_lie_in_one():
    rng = np.random.default_rng(0)
    kept = 0
    for _ in range(examples(30, 300)):
        X, known, _, index = _draw(rng)
        known = known.select(known.kind != Kind.TRIPLET)
        if check(known).status != "feasible":
            continue
        problem = Problem(X, known)
        items = make_items(problem)
        edges = link_items(index, items.of_sample)
        merged = merge_along(edges, items, problem, min(2, len(items.first)), lambda _: None)
        part = rng.integers(0, 2, len(items.first)) * (rng.random(len(items.first)) < 0.5)
        within = merge_within(merged, edges, items, part, problem, 1)
        parts = [{int(part[items.of_sample[s]]) for s in c} for c in _merges(within, items)[1]]
        assert all(len(one) == 1 for one in parts)
        whole = [pair for pair, _ in _merges(merged, items)[0]]
        pure = [pair for pair in whole if len({int(part[items.of_sample[s]]) for c in pair for s in c}) == 1]
        found = [pair for pair, _ in _merges(within, items)[0]]
        assert found[: len(pure)] == pure
        kept += len(pure)
        for (a, b), height in _merges(within, items)[0]:
            gap = X[sorted(a)].mean(axis=0) - X[sorted(b)].mean(axis=0)
            assert np.isclose(height, np.sqrt(2 * len(a) * len(b) / (len(a) + len(b)) * (gap @ gap)))
        clusters = within.cluster[items.of_sample]
        assert set(_sets(clusters)) == _merges(within, items)[1]
        for pair in known.of(Kind.CANNOT_LINK):
            assert clusters[pair[0]] != clusters[pair[1]]
        for i, j in within.cluster[edges].tolist():  # an edge that is left joins parts, or clusters that are apart
            one, two = (set(np.flatnonzero(clusters == c).tolist()) for c in (i, j))
            same = part[items.of_sample[min(one)]] == part[items.of_sample[min(two)]]
            assert i == j or not same or _are_apart(known, one, two, problem.group)
    assert kept > 30


def _are_apart(known, a, b, group):
    a, b = (set(np.flatnonzero(np.isin(group, group[sorted(c)])).tolist()) for c in (a, b))
    apart = known.groups_of(Kind.APART)
    groups = known.of(Kind.CANNOT_LINK).tolist() + [apart.of(g).tolist() for g in range(len(apart.statement))]
    return any(set(group) & a and set(group) & b for group in groups)
