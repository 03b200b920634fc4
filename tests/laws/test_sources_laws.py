"""What every source of statements owes: what it says is true of where it comes from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from linkwise import Constraints, Dendrogram, Taxonomy
from linkwise.constraints import Kind
from linkwise.problem import check
from linkwise.sources import flip, label_pairs, label_triplets_sample

pytestmark = pytest.mark.kernels


@st.composite
def taxonomies(draw):
    n_nodes = draw(st.integers(1, 12))
    above = [draw(st.integers(-1, v - 1)) for v in range(n_nodes)]
    number = draw(st.permutations(range(n_nodes)))
    parent = [0] * n_nodes
    for v, up in enumerate(above):
        parent[number[v]] = -1 if up < 0 else number[up]
    node = draw(st.lists(st.integers(-1, n_nodes - 1), max_size=12))
    return Taxonomy(parent, node)


labelings = st.lists(st.integers(-1, 4), max_size=14)
seeds = st.integers(0, 2**32 - 1)


@given(taxonomies(), seeds, st.integers(0, 60))
def test_drawn_triplets_are_displayed_and_differ(tree, seed, m):
    total = tree.count_triples() // 2
    drawn = tree.sample_triplets(min(m, total), seed)
    assert drawn.unique().n_statements == drawn.n_statements == min(m, total)
    if len(tree.items):
        assert tree.to_dendrogram().satisfies(drawn[tree.items]).all()


@given(taxonomies())
def test_all_triplets_and_all_cuts_hold_together(tree):
    said = tree.triplets()
    assert said.n_statements * 2 == tree.count_triples()
    for level in range(int(tree.depth.max()) + 1):
        assert check(said | tree.pairs(level=level)).status == "feasible"


@given(taxonomies(), st.data())
def test_leaving_samples_out_keeps_what_is_said_about_the_others(tree, data):
    kept = sorted(data.draw(st.sets(st.sampled_from(range(tree.n_samples)))) if tree.n_samples else set())
    assert tree[kept].triplets() == tree.triplets()[kept]


@given(taxonomies())
def test_the_dendrogram_of_a_taxonomy_is_the_taxonomy_of_its_dendrogram(tree):
    if len(tree.items):
        shape = tree.to_dendrogram()
        again = Taxonomy.from_dendrogram(shape).to_dendrogram()
        assert isinstance(again, Dendrogram)
        assert again.triplets() == shape.triplets()


@given(labelings, seeds, st.integers(0, 100), st.sampled_from(["triplets", "classes"]))
def test_labels_keep_what_is_drawn_from_them(y, seed, m, balance):
    known = np.asarray(y, dtype=int)
    n = int((known >= 0).sum())
    total = Taxonomy.from_levels([known]).count_triples() // 2
    triplets = label_triplets_sample(y, min(m, total), seed, balance=balance)
    pairs = label_pairs(y, min(m, n * (n - 1) // 2), seed)
    everything = pairs | triplets
    assert everything.unique().n_statements == everything.n_statements
    a, b = known[pairs.of(Kind.MUST_LINK)].T
    assert (a == b).all()
    a, b = known[pairs.of(Kind.CANNOT_LINK)].T
    assert (a != b).all()
    a, b, c = known[triplets.of(Kind.TRIPLET)].T
    assert ((a == b) & (a != c)).all()
    assert (known[everything.items[everything.items >= 0]] >= 0).all()


@given(labelings, seeds, st.floats(0, 1))
def test_flipping_twice_the_same_pairs_gives_them_back(y, seed, share):
    pairs = Constraints.from_labels(y)
    wrong, mask = flip(pairs, share, seed)
    back, again = flip(wrong, share, seed)
    assert (mask == again).all()
    assert back == pairs
