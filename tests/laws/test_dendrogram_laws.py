"""Laws of the dendrogram: cuts, heights, exchange formats, refinement, and depth that costs nothing."""

from __future__ import annotations

import json
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.cluster import hierarchy

from linkwise import Constraints, Dendrogram
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from tests.oracles.trees import (
    all_triplets,
    blocks,
    breaks_a_trio,
    clades as clades_of,
    climb,
    monotone_heights,
    random_forest,
    refines,
    undo_merges,
)

# NumPy's text arrays drop a NUL at the end, and half of a surrogate pair is no text.
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@st.composite
def forests(draw, max_samples=12, widest=(2, 2, 3, 5), roots=True, ids=False):
    """A dendrogram with tied, inverted and ordinary heights, and the plain lists it was made of."""
    n = draw(st.integers(1, max_samples))
    rng = draw(st.randoms(use_true_random=False))
    n_roots = draw(st.integers(1, n)) if roots else 1
    parent = random_forest(
        rng,
        n,
        widest=draw(st.sampled_from(widest)),
        n_roots=n_roots,
        shape=draw(st.sampled_from(["random", "caterpillar"])),
    )
    inner = st.one_of(st.integers(0, 3).map(float), st.floats(0, 1e6, allow_subnormal=False))
    raw = [0.0] * n + draw(st.lists(inner, min_size=len(parent) - n, max_size=len(parent) - n))
    names = draw(st.lists(NAMES, min_size=n, max_size=n, unique=True)) if ids else None
    return Dendrogram(n, parent, raw, ids=names), n, parent, raw


trees = forests(roots=False)
binary_trees = forests(roots=False, widest=(2,))


@given(forests())
def test_heights_never_fall_on_the_way_up_and_are_the_least_that_do_not(case):
    tree, n, parent, raw = case
    assert tree.height.tolist() == monotone_heights(n, parent, raw)
    hangs = tree.parent >= 0
    assert (tree.height[tree.parent[hangs]] >= tree.height[hangs]).all()


@given(binary_trees)
def test_exported_linkage_is_valid_and_keeps_the_heights(case):
    tree, n, parent, _ = case
    Z = tree.to_linkage()
    if n > 1:
        assert hierarchy.is_valid_linkage(Z)
        assert hierarchy.is_monotonic(Z)
    again = Dendrogram.from_linkage(Z)
    assert clades_of(n, again.parent.tolist()) == clades_of(n, parent)
    i, j = np.indices((n, n))
    np.testing.assert_array_equal(again.cophenetic(i, j), tree.cophenetic(i, j))


@given(forests())
def test_cut_gives_exactly_k_clusters_that_undo_the_latest_merges_and_refine(case):
    tree, n, parent, _ = case
    coarse = None
    for k in range(tree.n_roots, n + 1):
        labels = tree.cut(n_clusters=k)
        assert len(set(labels.tolist())) == k
        assert list(dict.fromkeys(labels.tolist())) == list(range(k))
        assert blocks(labels.tolist()) == undo_merges(n, parent, k)
        assert coarse is None or refines(labels.tolist(), coarse)
        coarse = labels.tolist()
    if tree.n_roots > 1:
        with pytest.raises(LinkwiseError, match="roots"):
            tree.cut(n_clusters=tree.n_roots - 1)


@given(forests(), st.data())
def test_cut_at_a_height_joins_exactly_what_meets_by_then(case, data):
    tree, n, parent, raw = case
    heights = monotone_heights(n, parent, raw)
    level = data.draw(st.one_of(st.sampled_from(heights), st.floats(0, 1e6)))
    labels = tree.cut(height=level)
    for i in range(n):
        for j in range(i):
            node = climb(parent, i, j)
            assert (labels[i] == labels[j]) == (node >= 0 and heights[node] <= level)
    higher = tree.cut(height=level + data.draw(st.floats(0, 10)))
    assert refines(labels.tolist(), higher.tolist())


@given(forests(roots=False, widest=(2, 3)), st.data())
def test_cut_at_a_height_agrees_with_scipy(case, data):
    tree, n, _, _ = case
    if n == 1:
        return
    Z = tree.to_linkage(binary=True)
    level = data.draw(st.one_of(st.sampled_from(tree.height.tolist()), st.floats(0, 1e6)))
    assert blocks(tree.cut(height=level).tolist()) == blocks(hierarchy.fcluster(Z, level, "distance").tolist())


@given(forests(), st.data())
def test_every_cut_keeps_trios_together(case, data):
    tree, n, parent, _ = case
    shown = all_triplets(n, parent)
    said = Constraints.build(n, triplets=sorted(shown)[:: data.draw(st.integers(1, 4))])
    coarse = None
    for k in range(tree.n_roots, n + 1):
        assert not breaks_a_trio(tree.cut(n_clusters=k), shown)
        labels = tree.cut_constrained(said, k)
        assert len(blocks(labels.tolist())) == k
        assert not breaks_a_trio(labels, shown)
        assert coarse is None or refines(labels.tolist(), coarse)
        coarse = labels.tolist()


@given(forests(), st.data())
def test_enough_clusters_meet_every_cannot_link_that_can_be_met(case, data):
    """Splitting all that lies above the meeting points is enough, and the constraint-aware cut does that first."""
    tree, n, parent, _ = case
    if n < 2:
        return
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    pairs = data.draw(st.lists(pair, min_size=1, max_size=4))
    split = set()
    for i, j in pairs:
        node = climb(parent, i, j)
        while node >= 0:
            split.add(node)
            node = parent[node]
    k = tree.n_roots + sum(parent.count(node) - 1 for node in split)
    labels = tree.cut_constrained(Constraints.build(n, cannot_link=pairs), k)
    assert all(labels[i] != labels[j] for i, j in pairs)


@given(forests(max_samples=40), st.data())
def test_no_cut_of_as_many_clusters_agrees_better_than_the_agreeing_one(case, data):
    tree, n, _, _ = case
    if n < 2:
        return
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    must, cannot = (data.draw(st.lists(pair, max_size=8)) for _ in range(2))
    said = Constraints.build(n, must_link=must, cannot_link=cannot)

    def broken(labels):
        return sum(labels[i] != labels[j] for i, j in must) + sum(labels[i] == labels[j] for i, j in cannot)

    fewest = broken(tree.cut_agreeing(said))
    for k in range(tree.n_roots, n + 1):
        labels = tree.cut_agreeing(said, k)
        assert len(blocks(labels.tolist())) == k
        assert fewest <= broken(labels) <= min(broken(tree.cut(n_clusters=k)), broken(tree.cut_constrained(said, k)))
        assert tree.cut_agreeing(said.with_weight(0.1), k).tolist() == labels.tolist()


@given(forests(widest=(3, 5), roots=False))
def test_a_binary_refinement_says_the_same_and_more(case):
    tree, n, parent, _ = case
    refined = Dendrogram.from_linkage(tree.to_linkage(binary=True))
    assert all_triplets(n, refined.parent.tolist()) >= all_triplets(n, parent)
    assert refined.satisfies(tree.triplets()).all()


@given(trees, st.data())
def test_contracting_an_edge_adds_no_triplet(case, data):
    tree, n, parent, _ = case
    inner = [v for v in range(n, len(parent)) if parent[v] >= 0]
    if not inner:
        return
    gone = data.draw(st.sampled_from(inner))
    joined = [parent[gone] if p == gone else p for p in parent]
    contracted = [p - (p > gone) for v, p in enumerate(joined) if v != gone]
    less = Dendrogram(n, contracted)
    assert set(map(tuple, less.triplets().items.tolist())) < set(map(tuple, tree.triplets().items.tolist()))


@given(forests(ids=True))
def test_json_and_pickle_give_an_equal_tree_back(case):
    tree, *_ = case
    assert Dendrogram.from_json(tree.to_json()) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree


@given(forests(ids=True))
def test_newick_nested_and_graphs_give_the_same_tree_heights_and_names_back(case):
    tree, n, parent, _ = case
    i, j = np.indices((n, n))
    for again in (
        Dendrogram.from_newick(tree.to_newick(), ids=tree.ids, forest=True),
        Dendrogram.from_nested(tree.to_nested(), ids=tree.ids),
        Dendrogram.from_networkx(tree.to_networkx(), ids=tree.ids),
    ):
        assert again.ids.tolist() == tree.ids.tolist()
        assert clades_of(n, again.parent.tolist()) == clades_of(n, parent)
        np.testing.assert_allclose(again.cophenetic(i, j), tree.cophenetic(i, j), rtol=1e-9)


@given(st.text("()[],:;'ab01.-e \n", max_size=40))
def test_any_text_is_a_tree_or_a_clear_error(text):
    try:
        tree = Dendrogram.from_newick(text, forest=True)
    except (LinkwiseError, LinkwiseWarning):
        return
    again = Dendrogram.from_newick(tree.to_newick(), ids=tree.ids, forest=True)
    assert clades_of(again.n_samples, again.parent.tolist()) == clades_of(tree.n_samples, tree.parent.tolist())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=3), inside, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["n_samples", "parent", "raw_height", "marked", "ids"]), values))
def test_any_document_is_a_tree_or_a_clear_error(change):
    document = {**json.loads(Dendrogram(2, [2, 2, -1]).to_json()), **change}
    try:
        tree = Dendrogram.from_json(json.dumps(document))
    except LinkwiseError:
        return
    assert tree.n_samples == document["n_samples"]


@given(values)
def test_any_nested_value_is_a_tree_or_a_clear_error(nested):
    with pytest.raises(LinkwiseError):
        Dendrogram.from_nested(nested)
    with pytest.raises(LinkwiseError):
        Dendrogram.from_nested({"children": [{"name": "a"}, nested]})


@given(forests(), st.randoms(use_true_random=False))
def test_renaming_samples_renames_answers(case, rng):
    tree, n, parent, raw = case
    new = list(range(n))
    rng.shuffle(new)
    renamed_parent = parent.copy()
    for old, sample in enumerate(new):
        renamed_parent[sample] = parent[old]
    renamed = Dendrogram(n, renamed_parent, raw)
    i, j = np.indices((n, n))
    place = np.array(new)
    np.testing.assert_array_equal(renamed.lca(place[i], place[j])[i != j], tree.lca(i, j)[i != j])
    level = float(tree.height.max()) / 2
    assert {frozenset(new[s] for s in group) for group in blocks(tree.cut(height=level).tolist())} == blocks(
        renamed.cut(height=level).tolist()
    )


def test_depth_is_no_limit():
    """A caterpillar 100,000 deep through every method, with hardly any recursion allowed."""
    n = 100_001
    merges = np.column_stack([np.r_[0, n + np.arange(n - 2)], np.arange(1, n)])
    said = Constraints.build(n, triplets=[(0, 1, n - 1), (0, n - 1, 1)], cannot_link=[(0, n - 1)], must_link=[(0, 1)])
    depth = 0
    frame = sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    before = sys.getrecursionlimit()
    Dendrogram(3, [3, 3, 4, 4, -1]).triplets(minimal=True)  # compiling kernels needs its own stack
    _everything(
        Dendrogram.from_merges(5, [(0, 1), (5, 2), (6, 3), (7, 4)], [1.0, 2, 3, 4]), said[[0, 1, n - 3, n - 2, n - 1]]
    )
    sys.setrecursionlimit(depth + 200)
    try:
        tree = Dendrogram.from_merges(n, merges, np.arange(1.0, n))
        assert tree.depth.max() == n - 1
        _everything(tree, said)
    finally:
        sys.setrecursionlimit(before)


def _everything(tree, said):
    n = tree.n_samples
    assert tree.satisfies(said).tolist() == [True, False, True, False]
    assert len(set(tree.cut(n_clusters=4).tolist())) == 4
    assert tree.cut(height=1.0).tolist() == [0, *range(n - 1)]
    assert len(set(tree.cut_constrained(said, 3).tolist())) == 3
    assert tree.cut_outliers(1, min_size=2).n_clusters == 1
    assert tree.triplets(minimal=True).n_statements == n - 2
    assert Dendrogram.from_linkage(tree.to_linkage()) == tree
    assert Dendrogram.from_children(tree.to_children(), tree.height[n:]) == tree
    assert Dendrogram.from_json(tree.to_json()) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    for again in (
        Dendrogram.from_newick(tree.to_newick()),
        Dendrogram.from_nested(tree.to_nested()),
        Dendrogram.from_networkx(tree.to_networkx()),
    ):
        assert again.parent.tolist() == tree.parent.tolist()
        np.testing.assert_allclose(again.height, tree.height, rtol=1e-9)
