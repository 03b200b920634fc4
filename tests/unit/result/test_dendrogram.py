"""Building a dendrogram: what is accepted, what is refused and how, and that it is a value."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram
from linkwise.exceptions import LinkwiseError


def small(**more):
    return Dendrogram.from_merges(4, [(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 5.0], **more)


def test_counts_children_and_orders_of_a_small_tree():
    tree = Dendrogram(5, [5, 5, 6, 6, 6, 7, 7, -1], [0, 0, 0, 0, 0, 1.0, 2.0, 3.0])
    assert (tree.n_nodes, tree.n_roots, tree.is_tree, tree.is_binary) == (8, 1, True, False)
    assert tree.children(6).tolist() == [2, 3, 4]
    assert tree.children(0).tolist() == []
    assert tree.child_start.tolist() == [0, 0, 0, 0, 0, 0, 2, 5, 7]
    assert tree.leaf_count.tolist() == [1, 1, 1, 1, 1, 2, 3, 5]
    assert tree.depth.tolist() == [2, 2, 2, 2, 2, 1, 1, 0]
    assert tree.leaf_order.tolist() == [0, 1, 2, 3, 4]


def test_leaf_order_keeps_subtrees_and_trees_together():
    forest = Dendrogram(5, [5, 6, 5, 6, -1, -1, -1])
    assert forest.leaf_order.tolist() == [4, 0, 2, 1, 3]
    assert forest.roots.tolist() == [4, 5, 6]


def test_heights_are_lifted_and_raw_heights_kept():
    tree = Dendrogram.from_merges(3, [(0, 1), (3, 2)], [2.0, 1.5])
    assert tree.raw_height.tolist() == [0, 0, 0, 2.0, 1.5]
    assert tree.height.tolist() == [0, 0, 0, 2.0, 2.0]


def test_without_heights_levels_are_used():
    assert Dendrogram(3, [3, 3, 4, 4, -1]).height.tolist() == [0, 0, 0, 1, 2]


def test_sorting_merges_by_height_renumbers_nodes_and_marks():
    tree = Dendrogram.from_merges(4, [(2, 3), (0, 1), (4, 5)], [2.0, 1.0, 3.0], sort=True, marked=[4, 0, 1])
    assert tree.parent.tolist() == [4, 4, 5, 5, 6, 6, -1]
    assert tree.raw_height.tolist() == [0, 0, 0, 0, 1, 2, 3]
    assert tree.marked.tolist() == [0, 1, 5]


def test_sorting_keeps_children_before_parents_despite_inversions():
    tree = Dendrogram.from_merges(4, [(2, 3), (4, 0), (1, 5)], [9.0, 1.0, 2.0], sort=True)
    assert (tree.parent[:-1] > np.arange(6)).all()
    assert tree.lca(2, 3) == 4


def test_single_sample():
    tree = Dendrogram(1, [-1])
    assert tree.cut(n_clusters=1).tolist() == [0]
    assert tree.lca(0, 0) == 0
    assert tree.cophenetic(0, 0) == 0.0
    assert "1 tree" in repr(tree)


@pytest.mark.parametrize(
    ("parent", "says"),
    [
        ([3, 3, 9, -1], "node 2 has the parent 9"),
        ([3, 3, -2, -1], "node 2 has the parent -2"),
        ([1, -1, 3, -1], "which is a sample"),
        ([3, 3, 4, 3, -1], "numbered after its children"),
        ([3, 3, 3, 4, 3], "numbered after its children"),  # a cycle 3 -> 4 -> 3
        ([3, 3, 3, -1, -1], "inner node 4 has no children"),
        ([3, 3, 3, 4, -1], "inner node 4 has a single child"),
        ([3, 3], "one per node"),
        ([3.5, 3, 3, -1], "whole numbers"),
        ([[3, 3, 3, -1]], "dimension"),
    ],
)
def test_malformed_parents_are_refused(parent, says):
    with pytest.raises(LinkwiseError, match=says):
        Dendrogram(3, parent)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ([0, 0, np.nan], "node 2 has the height nan"),
        ([0, 0, np.inf], "node 2 has the height inf"),
        ([0, 0.5, 1], "sample 1 has the height 0.5"),
        ([1.0], "shape"),
        (["a", "b", "c"], "not hold numbers"),
    ],
)
def test_malformed_heights_are_refused(raw, says):
    with pytest.raises(LinkwiseError, match=says):
        Dendrogram(2, [2, 2, -1], raw)


@pytest.mark.parametrize(
    ("merges", "says"),
    [
        ([(0, 1), (3, 5)], "row 1 joins 3 and 5, but it can only join nodes 0 to 3"),
        ([(0, -1)], "row 0 joins 0 and -1"),
        ([(1, 1)], "two different nodes"),
        ([(0, 1), (0, 2)], "a node merges once"),
        ([(0, 1, 2)], "two nodes in each row"),
        ([(0, 1), (2, 0.5)], "whole numbers"),
    ],
)
def test_malformed_merges_are_refused(merges, says):
    with pytest.raises(LinkwiseError, match=says):
        Dendrogram.from_merges(3, merges, np.ones(len(merges)))


@pytest.mark.parametrize(
    ("marked", "says"),
    [
        ([4, 2], "leaves out 1 sample"),
        ([6, 4], "twice"),
        ([4, 4, 5], "twice"),
        ([4, 9], "names node 9"),
        ([-1, 4, 5], "names node -1"),
        ([], "leaves out 4"),
    ],
)
def test_malformed_marks_are_refused(marked, says):
    with pytest.raises(LinkwiseError, match=says):
        small(marked=marked)
    with pytest.raises(LinkwiseError, match=says):
        small(marked=marked, sort=True)


def test_ids_are_one_per_sample_and_unique():
    with pytest.raises(LinkwiseError, match="ids has 2 entries"):
        small(ids=["a", "b"])
    with pytest.raises(LinkwiseError, match="more than once"):
        small(ids=["a", "b", "a", "c"])
    for ids in ("wxyz", 5, [[], 1, 2, 3], [[1], [2, 3]]):
        with pytest.raises(LinkwiseError, match="ids"):
            small(ids=ids)
    assert small(ids=list("wxyz")).name(2) == "y"


@pytest.mark.parametrize("n_samples", [0, -1, 2.0, True, "3"])
def test_sample_counts_that_make_no_sense_are_refused(n_samples):
    with pytest.raises(LinkwiseError, match="n_samples"):
        Dendrogram(n_samples, [-1])


def test_arrays_are_copies_that_cannot_be_written():
    parent = np.array([2, 2, -1])
    raw = np.array([0, 0, 1.0])
    tree = Dendrogram(2, parent, raw, marked=(mark := np.array([2])), ids=(ids := np.array(["a", "b"])))
    for mine in (parent, raw, mark, ids):
        assert mine.flags.writeable
    parent[:] = raw[:] = mark[:] = -1
    assert tree.parent.tolist() == [2, 2, -1]
    arrays = [
        tree.parent,
        tree.raw_height,
        tree.height,
        tree.marked,
        tree.ids,
        tree.roots,
        tree.child,
        tree.child_start,
    ]
    for array in [*arrays, tree.leaf_count, tree.depth, tree.leaf_order]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError, match="immutable"):
        tree.parent = parent
    with pytest.raises(AttributeError, match="immutable"):
        del tree.ids


def test_equal_trees_are_equal_and_hash_alike():
    tree = small(marked=[4, 5], ids=list("abcd"))
    again = small(marked=[5, 4], ids=np.array(list("abcd")))
    assert tree == again
    assert hash(tree) == hash(again)
    others = [small(), small(marked=[6], ids=list("abcd")), small(marked=[4, 5], ids=list("abce"))]
    others.append(Dendrogram.from_merges(4, [(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 6.0], marked=[4, 5], ids=list("abcd")))
    others.append(Dendrogram.from_merges(4, [(0, 2), (1, 3), (4, 5)], [1.0, 2.0, 5.0], marked=[4, 5], ids=list("abcd")))
    assert all(tree != other for other in others)
    assert tree != "tree"


def test_zero_heights_of_either_sign_hash_alike():
    assert hash(Dendrogram(2, [2, 2, -1], [0, 0, 0.0])) == hash(Dendrogram(2, [2, 2, -1], [0, 0, -0.0]))


def test_pickle_and_copy_give_an_equal_immutable_tree():
    tree = small(marked=[4, 5], ids=list("abcd"))
    tree.lca(0, 1)
    for other in (pickle.loads(pickle.dumps(tree)), copy.copy(tree), copy.deepcopy(tree)):
        assert other == tree
        assert not other.parent.flags.writeable


def test_repr_says_what_is_there():
    assert repr(small()) == "Dendrogram(4 samples: 3 inner nodes, 1 tree, height 5)"
    forest = Dendrogram(5, [5, 5, 5, -1, -1, -1], marked=[5, 3, 4])
    assert repr(forest) == "Dendrogram(5 samples: 1 inner nodes, 3 trees, many-way nodes, height 1, 3 marked clusters)"


def test_queries_broadcast_and_refuse_unknown_nodes():
    tree = small()
    assert tree.lca([[0], [2]], [1, 3]).tolist() == [[4, 6], [6, 5]]
    assert tree.cophenetic(0, 3) == 5.0
    assert isinstance(tree.cophenetic(0, 3), float)
    assert tree.is_below(4, 6)
    assert not tree.is_below(6, 4)
    assert tree.lca([], []).tolist() == []
    with pytest.raises(LinkwiseError, match="node 7, but nodes are numbered 0 to 6"):
        tree.lca(0, 7)
    with pytest.raises(LinkwiseError, match="node -1"):
        tree.cophenetic([0, -1], 1)
    with pytest.raises(LinkwiseError, match="broadcast"):
        tree.lca([0, 1], [0, 1, 2])


def test_satisfies_reads_pairs_off_the_marks_and_triplets_off_the_tree():
    said = Constraints.build(
        4, must_link=[(0, 1), (0, 2)], cannot_link=[(0, 2), (2, 3)], triplets=[(0, 1, 2), (0, 2, 1), (2, 3, 0)]
    )
    assert small().satisfies(said).tolist() == [True, True, False, False, True, False, True]
    assert small(marked=[4, 5]).satisfies(said).tolist() == [True, False, True, False, True, False, True]
    assert small(marked=[4, 2, 3]).satisfies(said).tolist() == [True, False, True, True, True, False, True]


def test_satisfies_across_trees_of_a_forest():
    forest = Dendrogram(4, [4, 4, -1, -1, -1])
    said = Constraints.build(
        4, must_link=[(0, 1), (0, 2)], cannot_link=[(2, 3)], triplets=[(0, 1, 2), (0, 2, 1), (2, 3, 0)]
    )
    assert forest.satisfies(said).tolist() == [True, False, True, True, False, False]


def test_satisfies_refuses_other_samples_and_other_things():
    with pytest.raises(LinkwiseError, match="are about 3 samples, but the tree has 4"):
        small().satisfies(Constraints.build(3))
    with pytest.raises(LinkwiseError, match="are list, expected Constraints"):
        small().satisfies([(0, 1)])
    assert small().satisfies(Constraints.build(4)).shape == (0,)
