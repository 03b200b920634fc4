"""Newick text: what is read, what is refused and where, and that writing and reading agree."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Dendrogram
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.trees import _newick
from linkwise.trees._newick_arrays import read_at_once


def read(text, **more):
    return Dendrogram.from_newick(text, **more)


def test_lengths_become_heights_and_names_become_ids():
    tree = read("((b:1,a:1):2,c:3);")
    assert tree.ids.tolist() == ["b", "a", "c"]
    assert tree.height.tolist() == [0, 0, 0, 1, 3]
    assert tree.parent.tolist() == [3, 3, 4, 4, -1]


def test_ids_give_the_sample_order():
    tree = read("((b:1,a:1):2,c:3);", ids=["a", "b", "c"])
    assert tree.ids.tolist() == ["a", "b", "c"]
    assert tree.leaf_order.tolist() == [2, 0, 1]
    assert read("(20:1,10:1);", ids=np.array([10, 20])).ids.tolist() == [10, 20]


def test_an_underscore_without_quotes_is_a_blank_where_the_sample_is_called_so():
    text = "((Canis_lupus,Canis_latrans),'Ursus_arctos');"
    read("((Canis_lupus,Canis_latrans),c);", ids=["c", "Canis latrans", "Canis lupus"])  # as the notation says
    told = r"underscores of 1 name .*: Canis_lupus is 'Canis lupus'; others are read as .*: 'Canis_latrans'"
    with pytest.warns(LinkwiseWarning, match=told):
        tree = read(text, ids=["Ursus_arctos", "Canis_latrans", "Canis lupus"])
    assert tree.ids.tolist() == ["Ursus_arctos", "Canis_latrans", "Canis lupus"]
    assert tree.lca(1, 2) == 3
    assert read(text).ids.tolist() == ["Canis_lupus", "Canis_latrans", "Ursus_arctos"]
    with pytest.raises(LinkwiseError, match="leaf 'Ursus_arctos' is not in ids"):  # what is quoted stays as it is
        read(text, ids=["Ursus arctos", "Canis_latrans", "Canis_lupus"])


def test_where_both_spellings_are_samples_each_name_is_the_one_written():
    ids = ["x y", "x_y", "z"]
    assert read("((x_y,z),'x y');", ids=ids).parent.tolist() == [4, 3, 3, 4, -1]
    assert read("(('x y',z),x_y);", ids=ids).parent.tolist() == [3, 4, 3, 4, -1]


def test_two_leaves_are_never_read_as_one_sample():
    text = "((x_y,'x y'),z);"
    with pytest.raises(LinkwiseError, match="'x y' appears a second"):
        read(text, ids=["x y", "z", "other"])
    with pytest.raises(LinkwiseError, match="leaf 'a_b_c' is not in ids"):  # all underscores are blanks, or none
        read("(a_b_c,d);", ids=["a_b c", "d"])


def test_numbers_from_zero_on_are_sample_numbers():
    tree = read("((2,0),1);")
    assert tree.ids is None
    assert tree.lca(0, 2) == 3
    assert read("(1,2);").ids.tolist() == ["1", "2"]
    assert read("(00,1);").ids.tolist() == ["00", "1"]


def test_without_lengths_levels_are_heights():
    assert read("((a,b),(c,(d,e)));").height.tolist() == [0, 0, 0, 0, 0, 1, 1, 2, 3]


def test_names_with_every_special_character_survive():
    names = [
        "plain",
        "with space",
        "it's",
        "(x)",
        "a,b",
        "c:d",
        "e;f",
        "[g]",
        "Ωmega ☃",
        "under_score",
        "''",
        "tab\t",
        "new\nline",
        '"',
    ]
    parent = [len(names)] * len(names) + [-1]
    tree = Dendrogram(len(names), parent, ids=names)
    again = read(tree.to_newick())
    assert again.ids.tolist() == names
    assert again == tree


def test_comments_inner_names_and_unary_nodes_are_tolerated():
    tree = read("[&R] ( ((a:1[x],b:1)ab:1)lonely:1 , c:3 )root:7 ; [the end]")
    assert tree.ids.tolist() == ["a", "b", "c"]
    assert tree.height.tolist() == [0, 0, 0, 1, 3]
    assert read("((a));").n_nodes == 1
    assert read("a;").ids.tolist() == ["a"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("((a,b),c;", "unbalanced: ';' before.*character 8"),
        ("(a,b));", "unbalanced: '\\)' outside.*character 5"),
        ("(a,b),c;", "unbalanced: ',' outside.*character 5"),
        ("((a,b),c", "unbalanced: the text ends.*character 0"),
        ("(a,b)(c);", "unexpected '\\('.*character 5"),
        ("(a,);", "a leaf has no name.*character 3"),
        ("();", "a leaf has no name"),
        ("('',a);", "a leaf has no name"),
        ("(a,b,a);", "'a' appears a second time.*character 5"),
        ("(a:-1,b:1);", "branch length is -1.*character 3"),
        ("(a:nan,b:1);", "branch length is nan"),
        ("(a:inf,b:1);", "branch length is inf"),
        ("(a:x,b:1);", "'x' is not a branch length"),
        ("(a:'1',b:1);", "branch length is 1"),
        ("(a:,b:1);", "a number is missing after ':'.*character 3"),
        ("(a:1:2,b);", "unexpected ':'"),
        ("(a b,c);", "unexpected 'b'"),
        ("(a,b)[c;", "comment is never closed.*character 5"),
        ("('a,b);", "quote is never closed.*character 1"),
        ("(a,b]);", "unexpected ']'"),
        ("(a,b);(c,d);", r"second tree begins.*character 6[\s\S]*forest=True"),
        ("", "holds no tree"),
        ("  [only a comment] ", "holds no tree"),
        (";", "unexpected ';'"),
        ("x\n(a,b);", "line 2"),
    ],
)
def test_malformed_text_is_refused_with_the_place(text, says):
    with pytest.raises(LinkwiseError, match=says):
        read(text)


def test_things_that_are_no_text_are_refused():
    with pytest.raises(LinkwiseError, match="got bytes"):
        read(b"(a,b);")


def test_a_byte_order_mark_is_skipped():
    assert read("\ufeff(a,b);").ids.tolist() == ["a", "b"]


def test_warnings_point_at_the_caller():
    for text in ("(a,b)", "((a:1,b:1),c:1);", "((a:1,b:2):1,c:1);"):
        with pytest.warns(LinkwiseWarning) as caught:
            Dendrogram.from_newick(text)
        assert caught[0].filename == __file__


def test_an_empty_id_has_no_newick():
    with pytest.raises(LinkwiseError, match="sample is empty"):
        Dendrogram(2, [2, 2, -1], ids=["", "b"]).to_newick()


def test_doubtful_text_is_read_with_a_warning():
    with pytest.warns(LinkwiseWarning, match="';' at the end is missing"):
        assert read("(a,b)").n_samples == 2
    with pytest.warns(LinkwiseWarning, match="1 branch"):
        assert read("((a:1,b:1),c:1);").height.tolist() == [0, 0, 0, 1, 1]
    with pytest.warns(LinkwiseWarning, match="not equally far"):
        assert read("((a:1,b:2):1,c:1);").height.tolist() == [0, 0, 0, 2, 3]


@pytest.mark.parametrize(
    ("ids", "says"),
    [
        (["a", "x"], "leaf 'b' is not in ids"),
        (["a", "b", "c"], "id 'c' is not a leaf"),
        ([1, "1"], "look alike"),
        (5, "expected one identifier per sample"),
    ],
)
def test_ids_that_do_not_fit_are_refused(ids, says):
    with pytest.raises(LinkwiseError, match=says):
        read("(a,b);", ids=ids)


def test_a_forest_is_one_tree_per_line():
    forest = Dendrogram(4, [4, 4, -1, -1, -1], [0, 0, 0, 0, 2.5], ids=list("abcd"))
    text = forest.to_newick()
    assert text == "c;\nd;\n(a:2.5,b:2.5);\n"
    again = read(text, ids=list("abcd"), forest=True)
    assert again == forest


def test_heights_survive_inversions_and_odd_numbers():
    tree = Dendrogram.from_merges(4, [(0, 1), (4, 2), (5, 3)], [1 / 3, 0.1, 2e-300 + 0.7])
    again = read(tree.to_newick())
    np.testing.assert_allclose(again.height, tree.height, rtol=1e-9)
    assert again.parent.tolist() == tree.parent.tolist()


def test_equal_heights_are_numbered_from_left_to_right():
    tree = read("((0,1),(2,3),(4,5));")
    assert tree.parent.tolist() == [6, 6, 7, 7, 8, 8, 9, 9, 9, -1]


# -- large texts, of which all marks are read at once

ODD = [
    "((a:1,b:1):2,c:3);",
    "[&R] ( ((a:1[x],b:1)ab:1)lonely:1 , c_d:3 )root:7 ; [the end]",
    "(a,b)[&&NHX:linkwise_join=2];\n(c_d:1 ,\n'e f':1e-3):2[&&NHX:x=1:linkwise_join=2] ; ",
    "(([&&NHX:linkwise_join=2](a,b),c)[&&NHX:linkwise_join=2]:3,'it''s _[(:')'95:Canidae';",
    "('Ωmega ☃':1,[c]'',x:1)☃:2;",
    "(((((a:+1,b:1.)x:.5,c))));",
    "(ß\u2003:1,b:1);",
]
_PARTS = ["(", ")", ",", ":", ";", "a", "b_c", "'d e'", "''", " ", "\n", "1", "1.5e3", "[x]", "'", '"', "]", "é", "-1"]


def mark_by_mark(text):
    try:
        return _newick._read_by_marks(text, True, True)
    except LinkwiseError:
        return None


def assert_read_alike(text, *, usual):
    found = read_at_once(text, negative=True)
    assert not usual or found is not None, text
    if found is not None:
        expected = mark_by_mark(text)
        assert expected is not None, text
        for one, other in zip(found.nodes, expected.nodes, strict=True):
            np.testing.assert_array_equal(np.asarray(one), np.asarray(other), err_msg=text)
        assert found[1:] == expected[1:], text


@pytest.mark.filterwarnings("ignore:Newick")
def test_texts_are_read_at_once_as_mark_by_mark():
    for text in ODD:
        assert_read_alike(text, usual="☃" not in text and "\u2003" not in text and "[c]" not in text)
    rng = np.random.default_rng(0)
    for _ in range(1500):
        text = list(ODD[rng.integers(len(ODD) - 1)])
        for _ in range(rng.integers(1, 4)):
            at = int(rng.integers(len(text)))
            text[at : at + int(rng.integers(0, 3))] = [_PARTS[rng.integers(len(_PARTS))]]
        assert_read_alike("".join(text), usual=False)


def test_large_trees_are_read_at_once(monkeypatch):
    monkeypatch.setattr(_newick, "_read_by_marks", None)
    n = 3000
    rng = np.random.default_rng(1)
    order = [*rng.permutation(n)]
    pairs = []
    while len(order) > 2:
        a, b = order.pop(int(rng.integers(len(order)))), order.pop(int(rng.integers(len(order))))
        pairs.append((a, b))
        order.append(n + len(pairs) - 1)
    tree = Dendrogram.from_merges(n, pairs, np.arange(1.0, len(pairs) + 1))
    assert read(tree.to_newick(), forest=True).parent.tolist() == tree.parent.tolist()
    named = Dendrogram(n, tree.parent, tree.raw_height, ids=[f"it's {i}_" for i in range(n)])
    again = read(named.to_newick(join=True), ids=named.ids)
    assert len(again.joins) == 1
    assert again.parted().parent.tolist() == tree.parent.tolist()


def test_a_large_text_is_refused_with_the_place():
    text = "(" + ",".join(f"a{i}:1" for i in range(4000))
    with pytest.raises(LinkwiseError, match=r"'a7' appears a second time at character \d+ \(line 1\), near"):
        read(text + ",a7:1);")
    with pytest.raises(LinkwiseError, match="a second tree begins"):
        read(text + ");(x,y);")
    with pytest.raises(LinkwiseError, match="the branch length is -1"):
        read(text + ",x:-1);")
