"""Forests as one tree for other programs: joins above every merge, marked, and taken away again."""

from __future__ import annotations

import io
import json
import pickle
import random
import warnings

import dendropy
import numpy as np
import pytest
from Bio import Phylo
from scipy.cluster.hierarchy import cophenet, is_monotonic, is_valid_linkage, to_tree
from scipy.spatial.distance import squareform

from linkwise import Constraints, Dendrogram, Taxonomy, verify
from linkwise.exceptions import LinkwiseError
from linkwise.io import read_tree, write_tree
from tests.oracles import newick
from tests.oracles.trees import random_forest
from tests.profile import examples

NAMES = [
    "plain",
    "two words",
    "under_score",
    "it's",
    "rock 'n' roll",
    "a,b",
    "(c)",
    "[d]",
    "e:f",
    "g;h",
    'say "i"',
    "äöü",
    "中文",
    "😀",
]


def forest_of(seed, *, named=False):
    rng = random.Random(seed)
    n = rng.randint(2, 14)
    parent = random_forest(rng, n, widest=rng.choice([2, 2, 4]), n_roots=rng.randint(1, min(n, 5)))
    raw = [0.0] * n + [rng.random() * 10 for _ in range(len(parent) - n)]
    return Dendrogram(n, parent, raw, ids=rng.sample(NAMES, n) if named else None)


def test_joined_trees_are_one_tree_above_every_merge():
    joins = 0
    for seed in range(examples(150, 3000)):
        forest = forest_of(seed)
        tree = forest.joined()
        assert tree.is_tree
        assert tree.n_trees == forest.n_roots
        assert tree.parted() == forest
        if forest.is_tree:
            assert tree is forest
            continue
        joins += 1
        top = forest.n_nodes
        assert tree.joins.tolist() == [top]
        assert tree.children(top).tolist() == forest.roots.tolist()
        assert tree.height[top] > forest.height.max()
        assert np.array_equal(tree.height[:top], forest.height)
        i, j = (v.ravel() for v in np.indices((forest.n_samples,) * 2))
        met = forest.lca(i, j)
        assert np.array_equal(tree.lca(i, j), np.where(met >= 0, met, top))
        assert tree.joined() is tree
        assert forest.parted() is forest
        assert not forest.is_joined
        assert tree.is_joined
        assert f"1 tree joined from {forest.n_roots}" in repr(tree)
    assert joins > 20


def test_what_holds_in_a_forest_holds_in_the_joined_tree():
    """A join is not a merge: cannot-links between trees hold, must-links between them do not."""
    differs = 0
    for seed in range(examples(80, 2000)):
        forest = forest_of(seed)
        n = forest.n_samples
        rng = np.random.default_rng(seed)
        said = Constraints.build(
            n,
            must_link=[rng.choice(n, 2, replace=False) for _ in range(3)],
            cannot_link=[rng.choice(n, 2, replace=False) for _ in range(3)],
            triplets=[rng.choice(n, 3, replace=False) for _ in range(3)] if n > 2 else [],
        )
        roots = np.flatnonzero(forest.parent < 0)
        marked = Dendrogram(n, forest.parent, forest.raw_height, marked=roots)
        for tree in (forest, marked):
            held = tree.satisfies(said)
            assert tree.joined().satisfies(said).tolist() == held.tolist()
            assert verify(tree.joined(), said).held.tolist() == held.tolist()
        plain = Dendrogram(n, forest.joined().parent)
        differs += (plain.satisfies(said) != forest.satisfies(said)).any()
    assert differs > 0


def test_scipy_reads_all_of_a_forest():
    for seed in range(examples(60, 1500)):
        forest = forest_of(seed)
        if forest.n_samples < 2:
            continue
        if not forest.is_tree:
            with pytest.raises(LinkwiseError, match=r"to_linkage\(join=True\)"):
                forest.to_linkage(binary=True)
        Z = forest.to_linkage(binary=True, join=True)
        assert is_valid_linkage(Z)
        assert is_monotonic(Z)
        assert to_tree(Z).get_count() == forest.n_samples
        pairs = squareform(cophenet(Z))
        tree = forest.joined()
        i, j = np.triu_indices(forest.n_samples, 1)
        assert np.allclose(pairs[i, j], tree.cophenetic(i, j))


def test_a_join_of_several_trees_needs_no_binary_and_hides_no_wide_merge():
    forest = Dendrogram(4, [-1, -1, -1, -1])
    assert forest.to_linkage(join=True).tolist() == [[0, 1, 1, 2], [2, 4, 1, 3], [3, 5, 1, 4]]
    wide = Dendrogram(4, [4, 4, 4, -1, -1])
    with pytest.raises(LinkwiseError, match="node 4 has 3 children"):
        wide.to_linkage(join=True)
    assert len(wide.to_linkage(join=True, binary=True)) == 3


def test_a_strict_reader_reads_every_sample_at_its_height():
    for seed in range(examples(100, 2000)):
        forest = forest_of(seed, named=True)
        text = forest.to_newick(join=True)
        assert text.count("\n") == 1
        leaves, inner = newick.read(text)
        tree = forest.joined()
        assert set(leaves) == set(forest.ids.tolist())
        assert np.allclose(list(leaves.values()), tree.height.max())
        joins = [(below, notes) for below, notes in inner if notes]
        expected = [] if forest.is_tree else [(set(leaves), [f"&&NHX:linkwise_join={forest.n_roots}"])]
        assert joins == expected
        below = [
            {str(forest.ids[s]) for s in range(tree.n_samples) if tree.is_below(s, v)} for v in range(tree.n_nodes)
        ]
        assert sorted(map(sorted, (b for b, _ in inner))) == sorted(map(sorted, below[tree.n_samples :]))


def test_the_oracle_refuses_what_is_not_one_tree():
    for text in ("(a,b);(c,d);", "(a,b;", "(a,,b);", "a,b;", "(a,a);"):
        with pytest.raises((ValueError, IndexError)):
            newick.read(text)


def test_biopython_dendropy_and_scipy_read_every_sample_and_name():
    for seed in range(examples(30, 500)):
        forest = forest_of(seed, named=True)
        text, names = forest.to_newick(join=True), set(forest.ids.tolist())
        found = Phylo.read(io.StringIO(text), "newick")
        assert {leaf.name for leaf in found.get_terminals()} == names
        known = dendropy.Tree.get(data=text, schema="newick")
        assert {leaf.taxon.label for leaf in known.leaf_nodes()} == names
        again = Dendrogram.from_newick(text)
        assert to_tree(again.to_linkage(binary=True)).get_count() == len(names) if len(names) > 1 else True
        called = {v: f"{NAMES[v % len(NAMES)]} clade {v}" for v in range(forest.n_samples, forest.n_nodes)}
        text = forest.to_newick(join=True, node_names=called)
        for read, inner in (
            (Phylo.read(io.StringIO(text), "newick"), lambda tree: [v.name for v in tree.get_nonterminals()]),
            (dendropy.Tree.get(data=text, schema="newick"), lambda tree: [v.label for v in tree.internal_nodes()]),
        ):
            assert sorted(name for name in inner(read) if name) == sorted(called.values())
        assert set(called.values()) <= set(Taxonomy.from_newick(text).names.tolist())
        assert set(Dendrogram.from_newick(text).ids.tolist()) == names
        if not forest.is_tree:
            assert found.root.comment == f"&&NHX:linkwise_join={forest.n_roots}"
            assert known.seed_node.annotations.get_value("linkwise_join") == str(forest.n_roots)


def test_every_notation_of_ours_gives_the_forest_back(tmp_path):
    for seed in range(examples(60, 1000)):
        forest = forest_of(seed, named=True)
        tree = forest.joined()
        assert Dendrogram.from_json(tree.to_json()) == tree
        assert ("joins" in json.loads(tree.to_json())) == tree.is_joined
        assert pickle.loads(pickle.dumps(tree)) == tree
        for again in (
            Dendrogram.from_newick(forest.to_newick(join=True), ids=forest.ids),
            Dendrogram.from_nested(tree.to_nested(), ids=forest.ids),
            Dendrogram.from_networkx(tree.to_networkx(), ids=forest.ids),
        ):
            assert again.n_trees == forest.n_roots
            parted = again.parted()
            i, j = (v.ravel() for v in np.indices((forest.n_samples,) * 2))
            assert np.allclose(parted.cophenetic(i, j), forest.cophenetic(i, j))
    write_tree(tmp_path / "tree.nwk", forest, join=True)
    assert read_tree(tmp_path / "tree.nwk").parted().n_roots == forest.n_roots
    write_tree(tmp_path / "tree.json", forest, join=True)
    assert read_tree(tmp_path / "tree.json") == tree


def test_marks_stay_and_a_cluster_across_trees_is_refused():
    forest = Dendrogram(4, [4, 4, -1, -1, -1], marked=[0, 1, 2, 3])
    assert forest.joined().marked.tolist() == [0, 1, 2, 3]
    assert forest.joined().parted() == forest
    tree = forest.joined()
    whole = Dendrogram(4, tree.parent, tree.raw_height, marked=[5], joins=tree.joins)
    assert verify(whole, Constraints.build(4, must_link=[(0, 3)])).ok
    with pytest.raises(LinkwiseError, match="node 5 is a join and is marked"):
        whole.parted()


def test_comments_that_call_nodes_joins_count_only_at_the_top():
    below = Dendrogram.from_newick("(((a:1,b:1):1[&&NHX:linkwise_join=2],c:2):1,d:3);")
    assert not below.is_joined
    unary = Dendrogram.from_newick("(((a:1,b:1):1,c:2):1)[&&NHX:linkwise_join=1];")
    assert not unary.is_joined
    named = Dendrogram.from_newick("((a:1,b:1):1,c:2)top[&&NHX:B=1:linkwise_join=2:S=x];")
    assert named.joins.tolist() == [4]
    for other in ("((a:1,b:1):1,c:2)[linkwise_join=2];", "((a:1,b:1):1,c:2)[&&NHX:not_linkwise_join=2];"):
        assert not Dendrogram.from_newick(other).is_joined
    two = Dendrogram.from_newick("((a:1,b:1)[&&NHX:linkwise_join=2]:1,c:2)[&&NHX:linkwise_join=2];")
    assert two.joins.tolist() == [3, 4]
    assert two.n_trees == 3
    assert two.parted().n_roots == 3


@pytest.mark.parametrize(
    ("joins", "words"),
    [
        ([0], "expected inner nodes"),
        ([9], "expected inner nodes"),
        ([3], "lies below a merge"),
        (["x"], "whole numbers"),
    ],
)
def test_joins_that_make_no_sense_are_refused(joins, words):
    with pytest.raises(LinkwiseError, match=words):
        Dendrogram(3, [3, 3, 4, 4, -1], joins=joins)
    document = json.loads(Dendrogram(3, [3, 3, 4, 4, -1]).to_json())
    with pytest.raises(LinkwiseError, match=words):
        Dendrogram.from_json(json.dumps({**document, "joins": joins}))
    with pytest.raises(LinkwiseError, match="'joins' is dict"):
        Dendrogram.from_json(json.dumps({**document, "joins": {}}))


@pytest.mark.parametrize("highest", [0.0, 5e-324, 1.0, 1e308, np.finfo(np.float64).max])
def test_a_join_has_a_finite_height_not_below_any_merge(highest):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = Dendrogram.from_merges(3, [(0, 1)], [highest]).joined()
    assert np.isfinite(tree.height[-1])
    assert tree.height[-1] > highest or highest == np.finfo(np.float64).max


def test_chains_of_any_depth_are_joined_and_written():
    n = 100_000
    merges = [(0, 1), *((n + t, t + 2) for t in range(n - 3))]  # the last sample stays apart
    forest = Dendrogram.from_merges(n, merges, np.arange(1.0, n - 1))
    tree = forest.joined()
    assert tree.n_trees == 2
    text = forest.to_newick(join=True)
    assert text.endswith("[&&NHX:linkwise_join=2];\n")
    again = Dendrogram.from_newick(text)
    assert again.joins.tolist() == [again.n_nodes - 1]
    assert again.parted().n_roots == 2
    assert is_valid_linkage(forest.to_linkage(join=True))
    assert Dendrogram.from_json(tree.to_json()).parted() == forest
