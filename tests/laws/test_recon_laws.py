"""What holds for ReCon whatever the data: no dead end, nothing broken, nothing changed by what already holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_array_equal
from scipy.spatial.distance import pdist, squareform

from linkwise import Constraints, verify
from linkwise.engines.hierarchical.relative import _estimator
from tests.oracles import generators, relative, trees
from tests.posing import posed
from tests.profile import examples

METHODS = ("single", "complete", "average", "weighted", "ward", "centroid", "median")


def recon(X, constraints, **options):
    """The tree of ReCon before it is cut."""
    return posed(_estimator.recon)(X, constraints, **options)[0]


def said(n, triplets):
    return Constraints.build(n, triplets=triplets)


def clusters(tree):
    """The samples of every cluster ever made, in merge order."""
    held = [frozenset([x]) for x in range(tree.n_samples)]
    held += [frozenset()] * (tree.n_nodes - tree.n_samples)
    for node, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            held[above] |= held[node]
    return held[tree.n_samples :]


@st.composite
def instances(draw, kinds=("distinct", "grid", "copies")):
    """Points, consistent statements and a linkage; the seed is what a failing example shows."""
    seed = draw(st.integers(0, 2**32 - 1), label="seed")
    kind = draw(st.sampled_from(kinds), label="points")
    source = draw(st.sampled_from(generators.SOURCES), label="statements")
    X, triplets = generators.relative_instance(seed, 2, 20, kind=kind, source=source)
    return X, triplets, draw(st.sampled_from(METHODS), label="linkage"), seed


def test_no_run_ends_before_all_is_merged_and_every_statement_holds():
    for seed in range(examples(300, 10_000)):
        X, triplets = generators.relative_instance(seed, 2, 30, kind=("distinct", "grid", "copies")[seed % 3])
        constraints = said(len(X), triplets)
        tree = recon(X, constraints, method=METHODS[seed % 7])
        assert tree.n_nodes == 2 * len(X) - 1, f"seed {seed}"
        assert verify(tree, constraints).ok, f"seed {seed}"


def test_only_looking_at_what_is_violated_now_meets_dead_ends():
    dead = 0
    for seed in range(200):
        X, triplets = generators.relative_instance(seed, 5, 12, source=generators.SHAPES[seed % 4])
        pairs, _ = relative.naive_agglomeration(squareform(pdist(X)), triplets, METHODS[seed % 7])
        dead += len(pairs) < len(X) - 1
        assert recon(X, said(len(X), triplets), method=METHODS[seed % 7]).n_roots == 1, f"seed {seed}"
    assert dead > 20  # about a quarter in published counts; far from none


@given(instances())
def test_statements_the_tree_already_displays_change_nothing(instance):
    X, triplets, method, seed = instance
    n = len(X)
    tree = recon(X, said(n, triplets), method=method)
    every = tree.triplets().items
    rng = np.random.default_rng(seed)
    more = every[rng.permutation(len(every))[: int(rng.integers(0, 2 * n))]].tolist()
    again = recon(X, said(n, [*triplets, *more]), method=method)
    assert_array_equal(again.parent, tree.parent)
    assert_array_equal(again.raw_height, tree.raw_height)


@given(instances())
def test_every_cut_satisfies_the_conditional_form_of_each_statement(instance):
    X, triplets, method, _ = instance
    n = len(X)
    constraints = said(n, triplets)
    tree = recon(X, constraints, method=method)
    finer = np.arange(n)
    for k in range(n, 0, -1):
        for labels in (tree.cut(n_clusters=k), tree.cut_constrained(constraints, k)):
            assert labels.max() + 1 == k
            assert all(trees.satisfied_by(labels, statement) for statement in triplets)
        labels = tree.cut(n_clusters=k)
        assert len(set(zip(finer.tolist(), labels.tolist(), strict=True))) == finer.max() + 1
        finer = labels
    for height in np.unique(tree.height):
        labels = tree.cut(height=height)
        assert all(trees.satisfied_by(labels, statement) for statement in triplets)


@given(instances(kinds=("distinct",)))
def test_renaming_the_samples_renames_the_clusters(instance):
    X, triplets, method, seed = instance
    rng = np.random.default_rng(seed)
    name = rng.permutation(len(X))
    moved = np.empty_like(X)
    moved[name] = X
    order = rng.permutation(len(triplets))
    renamed = [(name[b], name[a], name[c]) for a, b, c in (triplets[t] for t in order)]
    one = recon(X, said(len(X), triplets), method=method)
    two = recon(moved, said(len(X), renamed), method=method)
    assert [frozenset(name[list(c)].tolist()) for c in clusters(one)] == clusters(two)


@given(instances())
def test_running_twice_gives_the_same_bytes(instance):
    X, triplets, method, _ = instance
    one, two = (recon(X, said(len(X), triplets), method=method) for _ in range(2))
    assert one.parent.tobytes() == two.parent.tobytes()
    assert one.raw_height.tobytes() == two.raw_height.tobytes()


@given(instances(kinds=("distinct",)))
def test_samples_nobody_spoke_about_are_never_in_the_way(instance):
    """A statement about a trio binds a tree only where the trio is: far free samples join without a change below."""
    X, triplets, method, seed = instance
    n = len(X)
    rng = np.random.default_rng(seed)
    far = X.max(0) + (1e3 + rng.random((2, X.shape[1]))) * (np.abs(X).max() + 1)
    tree = recon(np.vstack([X, far]), said(n + 2, triplets), method=method)
    alone = recon(X, said(n, triplets), method=method)
    assert clusters(alone) == [c for c in clusters(tree) if c <= frozenset(range(n))]


@pytest.mark.parametrize("method", METHODS)
def test_a_chain_of_nested_groups_against_the_data(method):
    n = 120
    X = np.random.default_rng(0).normal(size=(n, 2))
    chain = [(0, i, i + 1) for i in range(1, n - 1)]
    tree = recon(X, said(n, chain), method=method)
    assert clusters(tree) == [frozenset(range(i + 1)) for i in range(1, n)]
