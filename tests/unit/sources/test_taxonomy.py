from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram, Taxonomy
from linkwise.constraints import Kind
from linkwise.exceptions import LinkwiseError
from linkwise.problem import onetree
from linkwise.sources import _taxonomy
from tests.oracles import sources as oracle, trees
from tests.profile import examples

pytestmark = pytest.mark.kernels

SHAPES = [(1, 6, 1, "random"), (6, 8, 1, "random"), (8, 9, 3, "random"), (6, 7, 1, "chain"), (12, 5, 2, "random")]
DEEP = 100_000


def rows_of(constraints):
    return [tuple(row) for row in constraints.of(Kind.TRIPLET).tolist()]


def cases():
    rng = np.random.default_rng(0)
    for n_nodes, n_samples, n_roots, shape in SHAPES * examples(4, 60):
        yield oracle.random_taxonomy(rng, n_nodes, n_samples, n_roots=n_roots, shape=shape)


# -- triplets ----------------------------------------------------------------------------------------------------------


def test_counts_and_lists_are_those_of_the_definition():
    for parent, node in cases():
        tree, triples = Taxonomy(parent, node), oracle.mlb_triples(parent, node)
        assert tree.count_triples() == len(triples)
        listed = rows_of(tree.triplets())
        assert len(listed) == len(set(listed)) == len(triples) // 2
        assert set(listed) == oracle.taxonomy_triplets(parent, node)


def test_build_gives_the_clades_back_from_the_minimal_triplets():
    for parent, node in cases():
        tree = Taxonomy(parent, node)
        n = len(tree.items)
        if n < 2:
            continue
        made = rows_of(tree.triplets(minimal=True))
        assert set(made) <= oracle.taxonomy_triplets(parent, node)
        position = {int(s): i for i, s in enumerate(tree.items)}
        built = onetree(n, [[position[s] for s in row] for row in made]).parent.tolist()
        clades = {frozenset(int(tree.items[i]) for i in clade) for clade in trees.clades(n, built)}
        assert clades == oracle.taxonomy_clades(parent, node) | {frozenset(tree.items.tolist())}


def test_the_minimal_triplets_imply_all_others_and_none_can_be_dropped():
    for parent, node in list(cases())[: examples(10, 100)]:
        tree = Taxonomy(parent, node)
        made = rows_of(tree.triplets(minimal=True))
        for a, b, c in oracle.taxonomy_triplets(parent, node):
            assert onetree(len(node), [*made, (a, c, b)]).parent is None
            assert onetree(len(node), [*made, (b, c, a)]).parent is None
        for t, (a, b, c) in enumerate(made):
            rest = made[:t] + made[t + 1 :]
            others = [onetree(len(node), [*rest, other]).parent for other in ((a, c, b), (b, c, a))]
            assert any(other is not None for other in others)


def test_an_item_on_an_inner_node_is_a_leaf_directly_below_it():
    tree = Taxonomy([-1, 0, 0], [0, 1, 1, 2])
    assert set(rows_of(tree.triplets())) == {(1, 2, 0), (1, 2, 3)}
    below = Taxonomy([-1, 0, 0, 1], [1, 3, 3, 2])
    assert set(rows_of(below.triplets())) == {(1, 2, 0), (1, 2, 3), (0, 1, 3), (0, 2, 3)}


def test_nodes_that_divide_nothing_change_nothing():
    plain = Taxonomy([-1, 0, 0], [1, 1, 2])
    padded = Taxonomy([3, 0, 0, -1, 1, 4, 2, 6], [5, 5, 7])  # unary chains and nodes without samples
    assert rows_of(plain.triplets()) == rows_of(padded.triplets()) == [(0, 1, 2)]
    assert padded.to_dendrogram().parent.tolist() == plain.to_dendrogram().parent.tolist()


@pytest.mark.parametrize("node", [[], [-1, -1], [0], [0, 0, 0]])
def test_a_taxonomy_that_says_nothing(node):
    tree = Taxonomy([-1], node)
    assert tree.count_triples() == 0
    for made in (tree.triplets(), tree.triplets(minimal=True), tree.sample_triplets(0)):
        assert made == Constraints.build(len(node))
    with pytest.raises(LinkwiseError, match="1 triplets are wanted, but there are 0"):
        tree.sample_triplets(1)


def test_counts_are_exact_beyond_64_bits(monkeypatch):
    tree = Taxonomy.from_levels([np.repeat([0, 1, 2], [7, 5, 4])])
    expected = tree.count_triples()
    monkeypatch.setattr(_taxonomy, "_SAFE", 0)
    assert Taxonomy(tree.parent, tree.node).count_triples() == expected


def test_too_many_triplets_are_refused_and_can_still_be_drawn():
    tree = Taxonomy.from_levels([np.arange(20_000) % 2])
    assert tree.count_triples() == 4 * (10_000 * 9_999 // 2) * 10_000
    with pytest.raises(LinkwiseError, match="at most 5,000,000"):
        tree.triplets()
    drawn = tree.sample_triplets(1000, random_state=1)
    y = np.arange(20_000) % 2
    a, b, c = y[drawn.of(Kind.TRIPLET)].T
    assert ((a == b) & (a != c)).all()


def test_weights_and_ids_are_passed_on():
    tree = Taxonomy.from_paths(["x/y", "x/y", "x", None], ids=["a", "b", "c", "d"])
    for made in (
        tree.triplets(weight=0.5),
        tree.triplets(minimal=True, weight=0.5),
        tree.sample_triplets(1, 0, weight=0.5),
    ):
        assert made.describe(0) == "#0 triplet(a, b | c) weight 0.5"
    assert tree.pairs(level=1, weight=2).describe(0) == "#0 must_link(a, b) weight 2"


# -- drawing -----------------------------------------------------------------------------------------------------------


def test_every_rank_is_one_triplet():
    for parent, node in cases():
        tree = Taxonomy(parent, node)
        total = tree.count_triples() // 2
        if total:
            drawn = rows_of(tree.sample_triplets(total, random_state=0))
            assert set(drawn) == oracle.taxonomy_triplets(parent, node)
            assert len(drawn) == total


def test_draws_are_uniform():
    tree = Taxonomy([-1, 0, 0, 1, -1], [0, 1, 1, 3, 3, 2, 4])
    total = tree.count_triples() // 2
    counts = Counter(rows_of(tree.sample_triplets(total * 200, random_state=5, replace=True)))
    assert len(counts) == total
    assert not oracle.too_uneven(list(counts.values()))
    first = Counter(rows_of(tree.sample_triplets(2, random_state=seed))[0] for seed in range(total * 20))
    assert not oracle.too_uneven([first[row] for row in counts])


def test_the_same_seed_draws_the_same():
    tree = Taxonomy.from_levels([np.arange(60) % 4])
    assert tree.sample_triplets(50, 7) == tree.sample_triplets(50, np.random.default_rng(7))
    assert tree.sample_triplets(50, 7) != tree.sample_triplets(50, 8)
    with pytest.raises(LinkwiseError, match="random_state is 'x'"):
        tree.sample_triplets(5, "x")
    for m in (-1, 2.0, True):
        with pytest.raises(LinkwiseError, match="expected a whole number >= 0"):
            tree.sample_triplets(m)


def test_more_than_there_are_is_refused_unless_repeats_are_allowed():
    tree = Taxonomy.from_paths(["a", "a", "b"])
    with pytest.raises(LinkwiseError, match=r"2 triplets are wanted, but there are 1.*\n.*replace=True"):
        tree.sample_triplets(2)
    assert rows_of(tree.sample_triplets(2, replace=True)) == [(0, 1, 2)] * 2


# -- flat reading ------------------------------------------------------------------------------------------------------


def test_cuts_at_a_level_are_those_of_the_definition():
    for parent, node in cases():
        tree = Taxonomy(parent, node)
        for level in range(int(tree.depth.max()) + 1):
            expected = [-1 if v is None else v for v in oracle.cut_at_level(parent, node, level)]
            assert tree.labels(level=level).tolist() == expected
            assert tree.pairs(level=level) == Constraints.from_labels(expected)


def test_samples_above_the_cut_are_left_out_or_a_class_of_their_own():
    tree = Taxonomy.from_paths(["x", "x/y", "x/z", "x", "w"])
    assert tree.labels(level=1).tolist() == [-1, 1, 2, -1, 3]
    assert tree.labels(level=1, above="own").tolist() == [0, 1, 2, 0, 3]
    assert tree.labels(nodes=["y", "w"]).tolist() == [-1, 1, -1, -1, 3]


def test_cuts_by_number_where_nodes_have_no_names():
    tree = Taxonomy([-1, 0, 0], [1, 2, 0])
    assert tree.labels(nodes=[1, 2]).tolist() == [1, 2, -1]
    for wrong in ([3], ["x"], [True], [-1]):
        with pytest.raises(LinkwiseError, match=r"the node is .*, expected a whole number from 0 to 2"):
            tree.labels(nodes=wrong)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "neither of level and nodes"),
        ({"level": 0, "nodes": ["x"]}, "both of level and nodes"),
        ({"level": 5}, "level is 5, expected a whole number from 0"),
        ({"level": -1}, "level is -1"),
        ({"level": True}, "level is True"),
        ({"nodes": ["q"]}, r"1 name not in the taxonomy: 'q'"),
        ({"nodes": ["mamal"]}, "did you mean 'mammal'"),
        ({"nodes": ["other"]}, "several nodes are called 'other'"),
        ({"nodes": ["animal", "mammal"]}, "'mammal' is below 'animal'"),
        ({"level": 0, "above": "all"}, "above is 'all'"),
    ],
)
def test_cuts_that_make_no_sense_are_refused(arguments, words):
    tree = Taxonomy.from_paths(["animal/mammal", "animal/other", "plant/other"])
    with pytest.raises(LinkwiseError, match=words):
        tree.labels(**arguments)


# -- the arrays --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parent", "node", "words"),
    [
        ([1, 0], [], "has a cycle, expected a forest: "),
        ([-1, 2, 3, 1], [], "1 < 2 < 3 < 1"),
        ([0], [], "0 < 0"),
        ([-1, 5], [], "node 1 has the parent 5, but nodes are numbered 0 to 1"),
        ([-2], [], "node 0 has the parent -2"),
        ([-1], [0, 1], "sample 1 sits on node 1, but nodes are numbered 0 to 0"),
        ([-1], [-2], "sample 0 sits on node -2"),
        (["x"], [0], "expected whole numbers"),
    ],
)
def test_arrays_that_are_no_taxonomy_are_refused(parent, node, words):
    with pytest.raises(LinkwiseError, match=words):
        Taxonomy(parent, node)


def test_a_cycle_below_a_long_tail_is_named():
    with pytest.raises(LinkwiseError, match=r"a < b < a"):
        Taxonomy([1, 0, 0, 2, 3], [], names=["a", "b", "c", "d", "e"])
    with pytest.raises(LinkwiseError, match=r"… \(9 nodes\)"):
        Taxonomy([*range(1, 9), 0], [])


def test_names_and_ids_must_fit():
    with pytest.raises(LinkwiseError, match="names has 1 entries, expected one for each of the 2 nodes"):
        Taxonomy([-1, 0], [0], names=["x"])
    with pytest.raises(LinkwiseError, match="ids has 2 entries"):
        Taxonomy([-1], [0], ids=["a", "b"])


def test_a_taxonomy_is_an_immutable_value():
    tree = Taxonomy.from_paths(["a/b", "a", None], ids=["x", "y", "z"])
    same = Taxonomy.from_paths(["a/b", "a", None], ids=["x", "y", "z"])
    assert tree == same
    assert hash(tree) == hash(same)
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert tree != Taxonomy.from_paths(["a/b", "a", None])
    assert tree != "tree"
    with pytest.raises(AttributeError, match="immutable"):
        tree.parent = [1]
    with pytest.raises(AttributeError, match="immutable"):
        del tree.node
    with pytest.raises(ValueError, match="read-only"):
        tree.node[0] = 1


def test_samples_can_be_picked_like_rows_of_x():
    tree = Taxonomy.from_paths(["a/b", "a", None, "a/b"], ids=list("wxyz"))
    some = tree[[3, 0, 2]]
    assert some.node.tolist() == [1, 1, -1]
    assert some.ids.tolist() == ["z", "w", "y"]
    assert tree[tree.node >= 0].n_samples == 3
    with pytest.raises(LinkwiseError, match="picks one sample"):
        tree[1]


def test_the_dendrogram_names_its_samples():
    tree = Taxonomy.from_paths(["a/b", None, "a/b", "a"])
    assert tree.to_dendrogram().ids.tolist() == [0, 2, 3]
    assert tree[[0, 2, 3]].to_dendrogram().ids is None
    assert Taxonomy.from_paths(["a", "b"], ids=["p", "q"]).to_dendrogram().ids.tolist() == ["p", "q"]
    with pytest.raises(LinkwiseError, match="no sample is in the taxonomy"):
        Taxonomy([-1], [-1]).to_dendrogram()


def test_a_dendrogram_and_its_taxonomy_say_the_same():
    tree = Dendrogram.from_newick("(((0,1),2),(3,4));")
    assert Taxonomy.from_dendrogram(tree).triplets() == tree.triplets()
    assert Taxonomy.from_dendrogram(tree).triplets(minimal=True) == tree.triplets(minimal=True)
    with pytest.raises(LinkwiseError, match="got str, expected a Dendrogram"):
        Taxonomy.from_dendrogram("tree")


def test_a_taxonomy_may_be_very_deep():
    tree = Taxonomy(np.arange(-1, DEEP - 1), np.arange(DEEP))
    assert tree.count_triples() == DEEP * (DEEP - 1) * (DEEP - 2) // 3
    assert tree.sample_triplets(10, 0).n_statements == 10
    assert tree.triplets(minimal=True).n_statements == DEEP - 2
    assert len(set(tree.labels(level=50_000).tolist())) == 2
