"""SciPy, scikit-learn, JSON, nested dictionaries and networkx: there and back, and what is refused."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest
from scipy.cluster import hierarchy
from sklearn.cluster import AgglomerativeClustering

from linkwise import Dendrogram
from linkwise.exceptions import LinkwiseError
from tests.oracles.trees import clades

X = np.random.default_rng(5).normal(size=(40, 3))
FOREST = Dendrogram(
    6, [6, 6, 7, 7, 7, -1, 8, 8, -1], [0, 0, 0, 0, 0, 0, 2.0, 1.0, 1.5], marked=[6, 7, 5], ids=list("uvwxyz")
)


@pytest.mark.parametrize("method", ["single", "complete", "average", "ward", "centroid", "median"])
def test_linkage_there_and_back(method):
    Z = hierarchy.linkage(X, method)
    tree = Dendrogram.from_linkage(Z)
    np.testing.assert_array_equal(tree.raw_height[40:], Z[:, 2])
    out = tree.to_linkage()
    assert hierarchy.is_valid_linkage(out)
    assert hierarchy.is_monotonic(out)
    assert clades(40, Dendrogram.from_linkage(out).parent.tolist()) == clades(40, tree.parent.tolist())
    if hierarchy.is_monotonic(Z):
        np.testing.assert_array_equal(out, Z)
        np.testing.assert_allclose(tree.cophenetic(*np.triu_indices(40, 1)), hierarchy.cophenet(Z))


def test_linkage_rows_follow_heights_when_merges_did_not():
    tree = Dendrogram.from_merges(4, [(0, 1), (2, 3), (4, 5)], [3.0, 1.0, 2.0])
    assert tree.to_linkage().tolist() == [[2, 3, 1, 2], [0, 1, 3, 2], [4, 5, 3, 4]]


def test_many_way_nodes_become_merges_at_equal_height():
    tree = Dendrogram(5, [5, 5, 5, 6, 6, 6, -1], [0, 0, 0, 0, 0, 1.0, 2.0])
    with pytest.raises(LinkwiseError, match=r"node 5 has 3 children[\s\S]*binary=True"):
        tree.to_linkage()
    Z = tree.to_linkage(binary=True)
    assert hierarchy.is_valid_linkage(Z)
    assert Z[:, 2].tolist() == [1, 1, 2, 2]
    assert clades(5, Dendrogram.from_linkage(Z).parent.tolist()) >= clades(5, tree.parent.tolist())


def test_a_forest_has_no_linkage():
    with pytest.raises(LinkwiseError, match=r"2 roots[\s\S]*to_json"):
        FOREST.to_linkage(binary=True)


@pytest.mark.parametrize(
    ("Z", "says"),
    [
        (np.zeros((3, 3)), "shape"),
        ([[0, 1, 1, 2], [0, 2, 2, 3]], "merges once"),
        ([[0, 1, 1, 2], [2, 3, 2, 2]], "row 1 of Z counts 2 samples"),
        ([[0, 1, np.nan, 2]], "height nan"),
        ([[0, 1.5, 1, 2]], "whole numbers"),
        ([[0, np.nan, 1, 2]], "whole numbers"),
        ("Z", "not hold numbers"),
    ],
)
def test_malformed_linkages_are_refused(Z, says):
    with pytest.raises(LinkwiseError, match=says):
        Dendrogram.from_linkage(Z)


def test_an_empty_linkage_is_one_sample():
    assert Dendrogram.from_linkage(np.empty((0, 4))).n_samples == 1
    assert Dendrogram(1, [-1]).to_linkage().shape == (0, 4)


def test_scikit_learn_children_there_and_back():
    fitted = AgglomerativeClustering(n_clusters=3, compute_distances=True).fit(X)
    tree = Dendrogram.from_children(fitted.children_, fitted.distances_)
    np.testing.assert_array_equal(tree.to_children(), np.sort(fitted.children_, axis=1))
    pairs = {frozenset(pair) for pair in zip(tree.cut(n_clusters=3).tolist(), fitted.labels_.tolist(), strict=True)}
    assert len(set(zip(tree.cut(n_clusters=3).tolist(), fitted.labels_.tolist(), strict=True))) == 3, pairs


def test_children_of_an_early_stop_make_a_forest():
    tree = Dendrogram.from_children([[0, 1]], n_samples=3)
    assert tree.n_roots == 2
    assert tree.to_children().tolist() == [[0, 1]]
    with pytest.raises(LinkwiseError, match="many-way"):
        Dendrogram(3, [3, 3, 3, -1]).to_children()


# -- JSON --------------------------------------------------------------------------------------------------------------


def test_json_keeps_everything():
    for tree in (
        FOREST,
        Dendrogram(1, [-1]),
        Dendrogram(2, [2, 2, -1], ids=[7, 5]),
        Dendrogram(2, [2, 2, -1], ids=[1, "b"]),
    ):
        again = Dendrogram.from_json(tree.to_json())
        assert again == tree
        assert again.ids is None or again.ids.dtype == tree.ids.dtype
    assert json.loads(FOREST.to_json())["format"] == "linkwise.dendrogram/1"
    assert Dendrogram.from_json(FOREST.to_json().encode()) == FOREST


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t[:-5], "not valid JSON"),
        (lambda t: "[" * 100_000, "not valid JSON"),
        (lambda t: "[1]", "expected the format"),
        (lambda t: t.replace("dendrogram/1", "dendrogram/2"), "dendrogram/2"),
        (lambda t: t.replace('"ids"', '"names"'), "'ids' is missing"),
        (lambda t: t[:-1] + ',"extra":1}', "'extra' is unknown"),
        (lambda t: t[:-1] + ',"ids":null}', "'ids' appears twice"),
        (lambda t: t.replace("1.5", "NaN"), "NaN is not a JSON number"),
        (lambda t: t.replace('"n_samples":6', '"n_samples":"6"'), "n_samples is '6'"),
        (lambda t: t.replace('"parent":[6,', '"parent":[99,'), "node 0 has the parent 99"),
        (lambda t: t.replace('"parent":[6,', '"parent":["6",'), "whole numbers"),
        (lambda t: t.replace('"parent":[6,', '"parent":[[6,7],'), "different lengths"),
        (lambda t: t.replace('"parent":[6,', '"parent":[1e300,'), "whole numbers"),
        (lambda t: json.dumps({**json.loads(t), "raw_height": None}), "'raw_height' is NoneType"),
        (lambda t: t.replace("2.0,1.0", "[2.0],1.0"), "not hold numbers"),
    ],
)
def test_broken_json_is_refused(change, says):
    with pytest.raises(LinkwiseError, match=says):
        Dendrogram.from_json(change(FOREST.to_json()))


def test_json_refuses_what_it_cannot_hold():
    with pytest.raises(LinkwiseError, match="ids cannot be written"):
        Dendrogram(2, [2, 2, -1], ids=np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]")).to_json()
    with pytest.raises(LinkwiseError, match="got dict"):
        Dendrogram.from_json({})


# -- nested dictionaries and graphs ------------------------------------------------------------------------------------


def same_but_for_merge_order(one, other):
    assert clades(one.n_samples, one.parent.tolist()) == clades(other.n_samples, other.parent.tolist())
    pairs = np.triu_indices(one.n_samples, 1)
    np.testing.assert_array_equal(one.cophenetic(*pairs), other.cophenetic(*pairs))
    np.testing.assert_array_equal(np.sort(one.raw_height), np.sort(other.raw_height))
    assert (one.ids is None and other.ids is None) or one.ids.tolist() == other.ids.tolist()
    assert (one.marked is None) == (other.marked is None)
    if one.marked is not None:
        assert one.cut_marked().tolist() == other.cut_marked().tolist()


@pytest.mark.parametrize(
    "tree", [FOREST, Dendrogram(1, [-1]), Dendrogram.from_linkage(hierarchy.linkage(X, "centroid"))]
)
def test_nested_and_networkx_keep_tree_heights_marks_and_ids(tree):
    same_but_for_merge_order(tree, Dendrogram.from_nested(tree.to_nested(), ids=tree.ids))
    same_but_for_merge_order(tree, Dendrogram.from_networkx(tree.to_networkx(), ids=tree.ids))
    same_but_for_merge_order(tree, Dendrogram.from_nested(json.loads(json.dumps(tree.to_nested())), ids=tree.ids))


def test_nested_drops_unary_nodes_and_moves_their_mark_down():
    tree = Dendrogram.from_nested(
        {
            "children": [
                {"marked": True, "children": [{"children": [{"name": "a"}, {"name": "b"}]}]},
                {"name": "c", "marked": True},
            ]
        }
    )
    assert tree.parent.tolist() == [3, 3, 4, 4, -1]
    assert tree.marked.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("nested", "says"),
    [
        ({"children": [{"name": "a"}, {}]}, "no 'name'"),
        ({"children": [{"name": "a"}, {"name": ""}]}, "no 'name'"),
        ({"children": [{"name": "a"}, {"name": ["b"]}]}, "expected text or a number"),
        ({"children": [{"name": "a"}, {"name": "a"}]}, "'a' appears twice"),
        ({"children": [{"name": "a"}, "b"]}, "found str"),
        ({"children": {"name": "a"}}, "'children' is dict"),
        ({"height": "x", "children": [{"name": "a"}, {"name": "b"}]}, "height 'x'"),
        (
            {"height": 1, "children": [{"name": "a"}, {"children": [{"name": "b"}, {"name": "c"}]}]},
            "height None",
        ),
        ({"height": float("nan"), "children": [{"name": "a"}, {"name": "b"}]}, "nan"),
        ([], "got no nodes"),
    ],
)
def test_malformed_nested_trees_are_refused(nested, says):
    with pytest.raises(LinkwiseError, match=says):
        Dendrogram.from_nested(nested)


def test_a_dictionary_that_holds_itself_is_refused():
    loop = {"children": [{"name": "a"}]}
    loop["children"].append(loop)
    with pytest.raises(LinkwiseError, match="appears twice"):
        Dendrogram.from_nested(loop)


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        (nx.Graph([(0, 1)]), "DiGraph"),
        (nx.DiGraph([(0, 1), (2, 1)]), "2 parents"),
        (nx.DiGraph([(0, 1), (1, 0)]), "cycle"),
        (nx.DiGraph([(0, 1), (0, 2), (3, 4), (4, 3)]), "cycle"),
        (nx.DiGraph(), "got no nodes"),
        ([(0, 1)], "got list"),
    ],
)
def test_graphs_that_are_no_forest_are_refused(graph, says):
    with pytest.raises(LinkwiseError, match=says):
        Dendrogram.from_networkx(graph)


def test_a_foreign_graph_is_read_by_its_node_names():
    tree = Dendrogram.from_networkx(nx.DiGraph([("r", "x"), ("r", "c"), ("x", "a"), ("x", "b")]))
    assert tree.ids.tolist() == ["a", "b", "c"]
    assert tree.height.tolist() == [0, 0, 0, 1, 2]
