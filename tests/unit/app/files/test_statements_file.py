"""Files of statements become one statement of a project, each line by its number; what cannot be kept is refused."""

from __future__ import annotations

import pytest

from linkwise.app._log import Statement
from linkwise.app._standing import fold, units
from linkwise.app.files._statements_file import read_statements
from linkwise.exceptions import LinkwiseError

IDS = ["otter", "mink", "seal", "orca", "wolf"]


def read(name, text):
    (new,) = read_statements(name, text.encode(), IDS, None, [])
    return new


def said(new):
    """What engines get of it."""
    opened = Statement(1, "first", "ann", "menu", "open", {"name": "x"}, 0, "")
    standing = fold([opened, Statement(2, new.id, "ann", new.via, new.op, new.body, 1, "")])
    return [(unit.line, unit.kind, unit.items, unit.weight) for unit in units(standing)]


def test_lines_keep_their_numbers():
    new = read("said.txt", "# a comment\notter = mink\n\notter mink | seal\norca != wolf\n")
    assert new.body["by_line"]
    assert said(new) == [
        (2, "must_link", ("otter", "mink"), None),
        (4, "triplet", ("otter", "mink", "seal"), None),
        (5, "cannot_link", ("orca", "wolf"), None),
    ]


def test_weights_and_groups_of_a_table_are_kept():
    text = "kind,a,b,samples,weight\napart,,,otter;seal;wolf,\nmust_link,otter,mink,,0.5\n"
    assert said(read("said.csv", text)) == [
        (2, "apart", ("otter", "seal", "wolf"), None),
        (3, "must_link", ("otter", "mink"), 0.5),
    ]


def test_statements_of_a_tree_are_counted_since_they_have_no_line():
    new = read("tree.nwk", "((otter,mink),(seal,orca));")
    assert not new.body["by_line"]
    assert {(kind, frozenset(items[:2])) for _, kind, items, _ in said(new)} == {
        ("triplet", frozenset({"otter", "mink"})),
        ("triplet", frozenset({"seal", "orca"})),
    }
    assert [line for line, *_ in said(new)] == [1, 2]


def test_rows_of_paths_and_groups_keep_their_lines():
    groups = read("groups.csv", "sample,group\notter,a\nseal,b\nmink,a\norca,b\n")
    assert [(line, kind, set(items)) for line, kind, items, _ in said(groups)] == [
        (2, "must_link", {"otter", "mink"}),
        (3, "must_link", {"seal", "orca"}),
    ]
    paths = read("paths.csv", "sample,path\notter,river/a\nmink,river/a\nseal,sea/b\norca,sea/b\n")
    assert paths.body["by_line"]
    assert {kind for _, kind, *_ in said(paths)} == {"triplet"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("otter = badger\n", "'badger' (line 1)"),
        ("# nothing\n", "holds no statements"),
        ("", "is empty"),
        ("\0", "NUL byte"),
        ("kind,a,samples\nmust_link_any,,otter;mink;seal\n", "line 2: a project cannot keep a must-link choice"),
        ("kind,a,b\nmust_link,otter,mink\nsize_between,2,3\n", "rules about sizes"),
        ("kind,a,b\nmarried,otter,mink\n", "married"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_its_line(text, words):
    with pytest.raises(LinkwiseError) as refused:
        read("said.csv", text)
    assert words in str(refused.value)
