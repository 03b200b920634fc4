"""Labels on a graph of charges: one by one as the definition says, trees at least energy, never worse together."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist

from linkwise.engines.partitional._farthest_pair import farthest_pair
from linkwise.engines.partitional.inference._energy import _make_graph
from linkwise.engines.partitional.inference._kernels_energy import Charges, descend, energies, improve_by_trees
from linkwise.engines.partitional.inference._relaxed_labels import ROUNDS, believe, relax
from linkwise.exceptions import LinkwiseError
from tests.oracles.soft_kmeans import (
    believe_by_definition,
    descend_by_definition,
    energy_by_definition,
    least_energy,
    relax_by_definition,
)
from tests.profile import examples

pytestmark = pytest.mark.kernels


def instance(seed, *, tree, hard=False):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 8)), int(rng.integers(2, 4))
    if tree:
        ends = [(int(rng.integers(v)), v) for v in range(1, n) if rng.random() < 0.8]
    else:
        ends = [(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.5]
    ends = np.array(ends, dtype=np.intp).reshape(-1, 2)
    q = len(ends)
    between = rng.random((k, k)) * 2 if seed % 3 == 0 else np.empty((0, 0))
    if len(between):
        between = between + between.T
    charges = Charges(rng.random((q, k)), rng.random((q, k)), rng.random((q, k)) * 3, rng.random(q), between)
    if hard and q and k > 2:
        charges.same[0] = np.inf
    own = rng.random((n, k)) * 2
    links = []
    for (u, v), e in zip(ends.tolist(), range(q), strict=True):
        table = charges.left[e][:, None] + charges.right[e][None, :]
        if len(between):
            table = table + charges.weight[e] * between
        table = np.where(np.eye(k, dtype=bool), charges.same[e][:, None], table)
        links.append((u, v, table.tolist()))
    return own, _make_graph(n, ends), charges, links, rng


def test_one_by_one_is_what_the_definition_says():
    for seed in range(examples(200, 1000)):
        own, graph, charges, links, rng = instance(seed, tree=False)
        n, k = own.shape
        order, labels = rng.permutation(n), rng.integers(k, size=n)
        expected = descend_by_definition(own, links, order.tolist(), labels.tolist())
        descend(own, graph, charges, order, labels)
        assert labels.tolist() == expected
        assert_allclose(energies(own, graph, charges, labels).sum(), energy_by_definition(own, links, expected))


def test_trees_end_at_the_least_energy():
    for seed in range(examples(200, 1000)):
        own, graph, charges, links, rng = instance(seed, tree=True, hard=seed % 2 == 0)
        assert graph.tree.all()
        labels = rng.integers(own.shape[1], size=len(own))
        value = improve_by_trees(own, graph, charges, own.argmin(axis=1), labels)
        assert_allclose(value, energy_by_definition(own, links, labels.tolist()))
        assert_allclose(value, least_energy(own, links))


def test_trees_in_circles_are_never_worse_than_one_by_one_nor_better_than_the_best():
    better = best = cycles = 0
    for seed in range(examples(200, 1000)):
        own, graph, charges, links, rng = instance(seed, tree=False)
        labels = rng.integers(own.shape[1], size=len(own))
        descend(own, graph, charges, np.arange(len(own)), labels)
        one_by_one = energy_by_definition(own, links, labels.tolist())
        value = improve_by_trees(own, graph, charges, own.argmin(axis=1), labels)
        least = least_energy(own, links)
        assert_allclose(value, energy_by_definition(own, links, labels.tolist()))
        assert least - 1e-12 <= value <= one_by_one + 1e-12
        cycles += not graph.tree.all()
        better += value < one_by_one - 1e-9
        best += value <= least + 1e-9
    assert cycles > examples(100, 500)
    assert better > 0
    assert best > 0.9 * examples(200, 1000)


def parts_of(graph):
    part = np.empty(len(graph.place), dtype=np.intp)
    part[graph.place] = np.repeat(np.arange(len(graph.tree)), np.diff(graph.begin))
    return part


def test_beliefs_are_what_the_definition_says():
    for seed in range(examples(200, 1000)):
        own, graph, charges, links, _ = instance(seed, tree=seed % 3 == 0, hard=True)
        part = parts_of(graph)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("linkwise.engines.partitional.inference._relaxed_labels.ROUNDS", 7)
            patch.setattr("linkwise.engines.partitional.inference._relaxed_labels._SETTLED", 0.0)
            patch.setattr("linkwise.engines.partitional.inference._relaxed_labels._TIES", 0.0)
            found = believe(own, graph, charges, part)
        trees = {u for u in range(len(own)) if graph.tree[part[u]]}
        assert_allclose(found, believe_by_definition(own.tolist(), links, 7, trees), rtol=1e-9, atol=1e-9)


def test_beliefs_and_fractions_are_exact_without_cycles():
    for seed in range(examples(200, 1000)):
        own, graph, charges, links, _ = instance(seed, tree=True, hard=seed % 2 == 0)
        if seed % 5 == 0:
            own[:] = 0.5  # nothing but ties
        least = least_energy(own, links)
        labels = believe(own, graph, charges, parts_of(graph)).argmin(axis=1)
        assert_allclose(energy_by_definition(own, links, labels.tolist()), least, rtol=1e-7)
        assert_allclose(relax(own, graph, charges)[1], least, rtol=1e-7)
    assert ROUNDS == 200


def test_fractions_are_the_optimum_of_the_linear_program_and_bound_the_energy():
    whole = 0
    for seed in range(examples(200, 1000)):
        own, graph, charges, links, _ = instance(seed, tree=False, hard=True)
        share, bound = relax(own, graph, charges)
        assert_allclose(share.sum(axis=1), 1.0)
        assert_allclose(bound, relax_by_definition(own.tolist(), links), rtol=1e-6, atol=1e-9)
        least = least_energy(own, links)
        assert bound <= least + 1e-7
        if (share.max(axis=1) > 1 - 1e-6).all():
            whole += 1
            assert_allclose(energy_by_definition(own, links, share.argmax(axis=1).tolist()), least, rtol=1e-6)
    assert whole > 0.5 * examples(200, 1000)


def test_a_linear_program_that_is_too_large_is_refused():
    own, graph, charges, _, _ = instance(1, tree=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("linkwise.engines.partitional.inference._relaxed_labels._MOST_CELLS", 3)
        with pytest.raises(LinkwiseError, match="variables, expected at most 3"):
            relax(own, graph, charges)


def test_a_large_part_is_labeled_without_recursion():
    n = 3000
    ends = np.column_stack([np.arange(n - 1), np.arange(1, n)]).astype(np.intp)
    own = np.random.default_rng(0).random((n, 2))
    charges = Charges(*(np.full((n - 1, 2), c) for c in (0.05, 0.05, 0.0)), np.ones(n - 1), np.empty((0, 0)))
    labels = own.argmin(axis=1)
    improve_by_trees(own, _make_graph(n, ends), charges, own.argmin(axis=1), labels)
    low, path = own[0], []  # the chain by its own recurrence
    for u in range(1, n):
        low = own[u] + np.minimum(low, low[::-1] + 0.1)
        path.append(low)
    total = energies(own, _make_graph(n, ends), charges, labels).sum()
    assert_allclose(total, low.min())


def test_the_farthest_samples_are_found():
    rng = np.random.default_rng(0)
    for trial in range(examples(200, 500)):
        X = rng.normal(size=(int(rng.integers(1, 40)), int(rng.integers(1, 5))))
        if trial % 3 == 0:
            X = np.round(X)
        if trial % 5 == 0:
            X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
        expected = pdist(X, "sqeuclidean").max() if len(X) > 1 else 0.0
        guess = None if trial % 2 or len(X) < 2 else (0, len(X) - 1)
        for rows in (X, sp.csr_array(X)):
            a, b, away = farthest_pair(rows, guess)
            assert_allclose(away, expected, atol=1e-12)
            assert_allclose(((X[a] - X[b]) ** 2).sum(), expected, atol=1e-12)
