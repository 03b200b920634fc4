from __future__ import annotations

import os

import numpy as np
import pandas as pd
import polars as pl
import pytest

from linkwise import Taxonomy
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from tests.oracles import sources as oracle

DEEP = 100_000
EXPECTED = {frozenset("abx"), frozenset("abxc")}  # a, b below "in", x on "in", c beside it
OBO = """format-version: 1.2
ontology: toy

[Term]
id: T:1 ! the top
name: thing

[Term]
id: T:2
name: animal \\! wild
is_a: T:1 ! thing

[Term]
id: T:3 {source="x"}
name: cat
is_a: T:2 {is_inferred="true"} ! animal
relationship: part_of T:1 ! thing

[Term]
id: T:9
name: old
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""


def clades(tree):
    found = oracle.taxonomy_clades(tree.parent.tolist(), tree.node.tolist())
    return {frozenset(tree.ids[list(group)].tolist()) for group in found}


# -- all say the same --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tree",
    [
        Taxonomy.from_newick("((a,b)x,c);", ids=["a", "b", "c", "x"]),
        Taxonomy.from_newick("((a,b,x)in,c)all;"),
        Taxonomy.from_newick("((p,q)in,r)all;", list("abcx"), items=["p", "q", "r", "in"]),
        Taxonomy.from_nested({"all": {"in": ["a", "b", "x"], "c": None}}),
        Taxonomy.from_nested({"all": ["c", {"x": ["a", "b"]}]}, ids=list("abcx")),
        Taxonomy.from_nested('{"all": ["c", {"x": {"a": [], "b": {}}}]}', ids=list("abcx")),
        Taxonomy.from_nested({"name": "all", "children": [{"name": "c"}, {"children": ["a", "b", {"name": "x"}]}]}),
        Taxonomy.from_paths(["in", "in", "", "in"], ids=list("abcx")).place(
            ["in"] * 2 + [None, "in"], ids=list("abcx")
        ),
        Taxonomy.from_parents(["in", "r", "p"], ["all", "all", "in"], ["p", "in", "r", "in"], ids=list("abcx")),
        Taxonomy.from_levels([["u", "u", "v", "u"]], ids=list("abcx")),
    ],
)
def test_the_readers_agree(tree):
    assert clades(tree) - {frozenset("abxc")} == {frozenset("abx")}


# -- Newick ------------------------------------------------------------------------------------------------------------


def test_newick_leaves_are_samples_when_nothing_else_is_said():
    assert Taxonomy.from_newick("((2,0),1);").node.tolist() == [3, 4, 2]
    assert Taxonomy.from_newick("((2,0),1);").ids is None
    assert Taxonomy.from_newick("(('b c',a),d);").ids.tolist() == ["b c", "a", "d"]


def test_newick_may_hold_a_subset_of_the_samples_but_no_strangers():
    tree = Taxonomy.from_newick("(7,10);", ids=[7, 8, 10])
    assert tree.node.tolist() == [1, -1, 2]
    with pytest.raises(LinkwiseError, match=r"2 leaves are not in ids: 'cta', 'q'.\nHint: did you mean 'cat'"):
        Taxonomy.from_newick("((cta,q),dog);", ids=["cat", "dog"])
    with pytest.raises(LinkwiseError, match="look alike as text"):
        Taxonomy.from_newick("(1,2);", ids=np.array([1, "1", 2], dtype=object))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("((a,b),c;", "unbalanced.*line 1"),
        ("((a,b),c", r"unbalanced.*\(line 1\)"),
        ("(a,\n(b,(a,c)));", r"leaf name 'a' appears a second time .*line 2"),
        ("(a,,b);", "leaf has no name"),
        ("(a,b);(c,d);", "second tree"),
        ("(a,[b);", "comment is never closed"),
        ("(a,'b);", "quote is never closed"),
        ("", "no tree"),
    ],
)
def test_malformed_newick_names_the_place(text, words):
    with pytest.raises(LinkwiseError, match=words):
        Taxonomy.from_newick(text)


def test_newick_without_semicolon_warns_and_other_types_are_refused():
    with pytest.warns(LinkwiseWarning, match="';' at the end is missing"):
        Taxonomy.from_newick("(a,b)")
    with pytest.raises(LinkwiseError, match="got bytes, expected text"):
        Taxonomy.from_newick(b"(a,b);")


def test_newick_underscores_are_blanks_where_samples_or_items_are_called_so():
    text = "((Canis_lupus,Canis_latrans)Old_dogs,'Ursus_arctos');"
    ids = ["Ursus_arctos", "Canis lupus", "Old dogs", "Canis_latrans", "Canis latrans"]
    with pytest.warns(LinkwiseWarning, match="underscores of 2 names"):
        tree = Taxonomy.from_newick(text, ids=ids)
    assert tree.node.tolist() == [4, 2, 1, 3, -1]  # Canis_latrans is there as written
    tree = Taxonomy.from_newick(text, items=["Old dogs", None, "Ursus_arctos"])
    assert tree.node.tolist() == [1, -1, 4]
    with pytest.raises(LinkwiseError, match="several nodes are"):
        Taxonomy.from_newick("(('x y',z)x_y,w);", ids=["x y", "z", "w"])


def test_newick_forests_and_repeated_inner_names():
    tree = Taxonomy.from_newick("((a,b)x,(c,d)x);\n(e,f);", forest=True)
    assert tree.parent.tolist().count(-1) == 2
    with pytest.raises(LinkwiseError, match="several nodes are called 'x'"):
        tree.labels(nodes=["x"])


def test_newick_as_programs_write_it():
    text = """[&R] (('Canis lupus'[&rate=1.2]:-0.1,"Canis latrans":2e-3)'95:Canis'[&support=95]:0.3,
        ((Felis:1,Lynx:1)0.98:1[a comment (with, marks)],Vulpes:1)95.2/98)root:0;"""
    tree = Taxonomy.from_newick(text)
    assert tree.ids.tolist() == ["Canis lupus", "Canis latrans", "Felis", "Lynx", "Vulpes"]
    inner = np.setdiff1d(np.arange(tree.n_nodes), tree.node)
    assert sorted(tree.names[inner].tolist()) == ["", "", "Canis", "root"]  # support is no name
    assert tree.triplets(minimal=True).n_statements == 3
    numbers = Taxonomy.from_newick("((0,1)3,2);", ids=range(4))  # a name, since leaves are numbers
    assert numbers.node.tolist()[3] == numbers.parent[numbers.node[0]]


# -- nested ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nested", "words"),
    [
        ('{"a": [1, 2', "not valid JSON"),
        ('{"a": 1,}', "not valid JSON.*line 1"),
        ('{"a": ["x"],\n "a": ["y"]}', "'a' appears twice"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ("3", "got int, expected a dictionary"),
        ("{}", "got no nodes"),
        ([], "got no nodes"),
        (5, "got int"),
        ('{"a": "\\ud800"}', "half of a surrogate pair"),
        ('{"a": [true]}', "called True"),
        ({"a": [[1, 2]]}, r"called \[1, 2\]"),
        ({"a": ["x"], "b": ["x"]}, "'x' appears twice"),
        ({"name": "a", "children": {"b": 1}}, "'children' is dict"),
        ({"name": "a", "children": [{}, {"children": []}]}, "leaf has no 'name'"),
        ("[" * DEEP, "nested too deeply"),
    ],
)
def test_nested_that_is_no_taxonomy_is_refused(nested, words):
    with pytest.raises(LinkwiseError, match=words):
        Taxonomy.from_nested(nested)


def test_a_dictionary_inside_itself_is_refused():
    ring = {"b": {"c": ["d"]}}
    ring["b"]["a"] = ring
    with pytest.raises(LinkwiseError, match="appears in two places"):
        Taxonomy.from_nested(ring)


# -- OBO ---------------------------------------------------------------------------------------------------------------


def test_obo_terms_become_nodes():
    tree = Taxonomy.from_obo(OBO, ["T:3", "T:3", "T:2", None, "T:1"])
    assert tree.names.tolist() == ["T:1", "T:2", "T:3"]
    assert tree.parent.tolist() == [-1, 0, 1]
    assert tree.node.tolist() == [2, 2, 1, -1, 0]
    assert Taxonomy.from_obo(OBO, by="name").names.tolist() == ["thing", "animal \\! wild", "cat"]
    assert Taxonomy.from_obo(OBO).n_samples == 0


def test_obo_files_are_read_whatever_their_line_ends(tmp_path):
    for name, ends in (("lf", "\n"), ("crlf", "\r\n"), ("cr", "\r")):
        path = tmp_path / f"{name}.obo"
        path.write_bytes(("\ufeff" + OBO.replace("\n", ends).rstrip()).encode())
        assert Taxonomy.from_obo(path) == Taxonomy.from_obo(str(path)) == Taxonomy.from_obo(OBO)
        assert Taxonomy.from_obo(OBO.replace("\n", ends)) == Taxonomy.from_obo(OBO)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "is empty"),
        (b"\xff\xfea\x00", "UTF-16"),
        (b"[Term]\nid: \xe9\n", "not UTF-8: byte 0xe9 at offset 11"),
        (b"[Term]\nid: a\x00\n", "NUL byte at offset 12"),
        (b"\x1f\x8b123", "gzip"),
    ],
)
def test_files_that_are_no_text_are_refused(tmp_path, raw, words):
    path = tmp_path / "x.obo"
    path.write_bytes(raw)
    with pytest.raises(LinkwiseError, match=words):
        Taxonomy.from_obo(path)


def test_folders_pipes_and_missing_files(tmp_path):
    with pytest.raises(LinkwiseError, match="is a folder"):
        Taxonomy.from_obo(tmp_path)
    with pytest.raises(FileNotFoundError):
        Taxonomy.from_obo(tmp_path / "none.obo")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LinkwiseError, match="pipe or device"):
        Taxonomy.from_obo(tmp_path / "pipe")


def term(number, *above, extra=""):
    return f"[Term]\nid: T:{number}\n" + "".join(f"is_a: T:{up}\n" for up in above) + extra + "\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (term(1) + term(2) + term(3, 1, 2), r"line 7: T:3 has 2 parents \(T:1, T:2\).*\n.*parents=\"first\""),
        (term(1, 2) + term(2, 1), r"T:1 \(line 1\) < T:2 \(line 5\) < T:1"),
        (term(1) + term(1), "line 4: the term T:1 is described twice, first on line 1"),
        (term(1, 7), "line 3: T:1 is_a T:7, a term that is missing or obsolete"),
        (term(1, extra="is_obsolete: true\n") + term(2, 1), "line 7: T:2 is_a T:1, a term that is missing or obsolete"),
        ("[Term]\nname: x\n", "line 1: the .Term. has no id"),
        ("[Term\nid: x\n", r"line 1: '\[Term' is not closed"),
        ("[Term]\nid x\n", "line 2: 'id x', expected `tag: value`"),
        ("[Term]\nid: ! none\n", "line 2: id has no value"),
        ("[Term]\nid: a\nid: b\n", "line 3: the stanza of a has a second id"),
        ("nothing\n", r"no \[Term\] that is not obsolete"),
    ],
)
def test_malformed_obo_names_the_line(text, words):
    with pytest.raises(LinkwiseError, match=words):
        Taxonomy.from_obo(text)


def test_obo_options():
    many = term(1) + term(2) + term(3, 2, 1)
    assert Taxonomy.from_obo(many, parents="first").parent.tolist() == [-1, -1, 1]
    assert Taxonomy.from_obo(term(1) + term(2, 1, 1)).parent.tolist() == [-1, 0]  # the same parent twice is one
    with pytest.raises(LinkwiseError, match="parents is 'all'"):
        Taxonomy.from_obo(many, parents="all")
    with pytest.raises(LinkwiseError, match="got int"):
        Taxonomy.from_obo(3)
    with pytest.raises(LinkwiseError, match=r"1 name not in the taxonomy: 'T:4'"):
        Taxonomy.from_obo(many, ["T:4"], parents="first")
    with pytest.raises(LinkwiseError, match="ids but no items"):
        Taxonomy.from_obo(many, ids=["x"], parents="first")


# -- columns -----------------------------------------------------------------------------------------------------------


def test_parent_columns_of_any_type():
    tree = Taxonomy.from_parents([2, 3, 1], [1, 1, np.nan], [2, 3, 3, None])
    assert tree.n_nodes == 3
    assert sorted(tree.depth.tolist()) == [0, 1, 1]
    assert tree.names[tree.node].tolist() == ["2", "3", "3", tree.names[-1]]
    frame = pd.DataFrame({"child": ["b", "c", "b"], "parent": ["a", "b", "a"]})
    assert Taxonomy.from_parents(frame["child"], frame["parent"]).depth.tolist() == [1, 2, 0]
    assert Taxonomy.from_parents(pl.Series(["b"]), pl.Series(["a"])).n_nodes == 2
    assert Taxonomy.from_parents([], []).n_nodes == 0


@pytest.mark.parametrize(
    ("child", "parent", "words"),
    [
        (["x", "y", "x"], ["a", "a", "b"], "'x' has two parents, 'a' in row 0 and 'b' in row 2"),
        (["x", "x"], ["a", None], "'x' has two parents, 'a' in row 0 and none in row 1"),
        (["x", "y", "w"], ["y", "x", "x"], r"'x' \(row 0\) < 'y' \(row 1\) < 'x' \(row 0\)"),
        (["x", None], ["a", "a"], "row 1 has no child"),
        (["x"], ["a", "b"], "child has 1 entries and parent 2"),
        ("x", "a", "child is str, expected one value per sample"),
        ([["x"]], ["a"], "child has shape"),
    ],
)
def test_parent_columns_that_are_no_tree_are_refused(child, parent, words):
    with pytest.raises(LinkwiseError, match=words):
        Taxonomy.from_parents(child, parent)


def test_numbers_and_text_that_look_alike_stay_what_they_are():
    with pytest.raises(LinkwiseError, match="not in the taxonomy: '007'"):
        Taxonomy.from_parents([7], [1], ["007"])


@pytest.mark.parametrize("missing", [None, "", float("nan"), pd.NA, pd.NaT])
def test_paths_may_be_missing(missing):
    tree = Taxonomy.from_paths(np.array(["a/b", missing, "a"], dtype=object))
    assert tree.node.tolist() == [1, -1, 0]
    assert tree.names.tolist() == ["a", "b"]


def test_paths_with_other_separators_and_equal_names_below_different_parents():
    tree = Taxonomy.from_paths(["a > z", "b > z", "a"], sep=" > ")
    assert tree.names.tolist() == ["a", "z", "b", "z"]
    assert tree.node.tolist() == [1, 3, 0]
    assert Taxonomy.from_paths([]).n_samples == 0


@pytest.mark.parametrize(
    ("paths", "sep", "words"),
    [
        (["a", "a//b"], "/", "sample 1 has the path 'a//b', in which a name is empty"),
        (["a", "/b"], "/", "sample 1 has the path '/b'"),
        (["a", 5], "/", "sample 1 has the path 5, expected text"),
        (["a"], "", "sep is ''"),
        ("a/b", "/", "paths is str"),
        ([["a"], ["b"]], "/", "paths has shape"),
    ],
)
def test_paths_that_make_no_sense_are_refused(paths, sep, words):
    with pytest.raises(LinkwiseError, match=words):
        Taxonomy.from_paths(paths, sep=sep)


def test_level_columns_of_any_type_agree():
    coarse, fine = ["p", "p", "q", None, "p"], [1, 2, 1, -1, -1]
    forms = [
        [coarse, fine],
        {"coarse": coarse, "fine": fine},
        pd.DataFrame({"coarse": coarse, "fine": fine}),
        pl.DataFrame({"coarse": coarse, "fine": fine}),
        np.array([coarse, fine], dtype=object).T,
    ]
    for form in forms:
        tree = Taxonomy.from_levels(form)
        assert tree.names.tolist() == ["p", "q", "1", "2", "1"]
        assert tree.parent.tolist() == [-1, -1, 0, 0, 1]
        assert tree.node.tolist() == [2, 3, 4, -1, 0]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([["a", None], ["x", "y"]], r"sample 1 has 'y' in column 1, but nothing in column 0"),
        ([], "got no columns"),
        ([["a"], ["x", "y"]], r"the columns have \[1, 2\] entries"),
        ([[["a"]]], "column 0 has shape"),
        ([np.array([{}, []], dtype=object)], "not names"),
    ],
)
def test_level_columns_that_make_no_sense_are_refused(columns, words):
    with pytest.raises(LinkwiseError, match=words):
        Taxonomy.from_levels(columns)


def test_deep_input_is_no_problem_for_any_reader():
    nested = "x"
    for level in range(DEEP):
        nested = {f"n{level}": nested}
    path = "/".join(map(str, range(DEEP)))
    trees = [
        Taxonomy.from_newick("(" * DEEP + "a" + ")" * DEEP + ";"),
        Taxonomy.from_nested(nested),
        Taxonomy.from_paths([path, path]),
        Taxonomy.from_parents(np.arange(DEEP), np.arange(1, DEEP + 1), [0]),
        Taxonomy.from_obo("".join(term(v, *([v - 1] if v else [])) for v in range(DEEP)), [f"T:{DEEP - 1}"]),
    ]
    for tree in trees:
        assert int(tree.depth.max()) >= DEEP - 1
        assert tree.count_triples() == 0
    while isinstance(nested, dict):  # taken apart by hand, so that no Python version recurses
        nested = nested.popitem()[1]
