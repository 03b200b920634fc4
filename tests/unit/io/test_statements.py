"""Reading statements from CSV and JSON lines, by name or row number."""

from __future__ import annotations

import json

import numpy as np
import pytest

from linkwise import Constraints
from linkwise.exceptions import ConstraintError, LinkwiseWarning
from linkwise.io import read_knowledge

IDS = np.array(["otter", "mink", "seal", "walrus"])
CSV = "type,a,b,c,weight\nmust_link,otter,mink,,\ncannot_link,mink,seal,,0.5\ntriplet,otter,mink,walrus,\n"


@pytest.fixture
def read(tmp_path):
    def read(text: str, ids=IDS, name: str = "said.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return read_knowledge(str(path), ids)

    return read


def as_jsonl(text: str) -> str:
    head, *rows = [line.split(",") for line in text.strip().split("\n")]
    made = []
    for row in rows:
        given = {key: value for key, value in zip(head, row, strict=True) if value}
        if "weight" in given:
            given["weight"] = float(given["weight"])
        made.append(json.dumps(given))
    return "\n".join(made)


def test_csv_and_json_lines_say_the_same(read):
    table, lines = read(CSV), read(as_jsonl(CSV), name="said.jsonl")
    assert table.constraints == lines.constraints
    assert table.constraints.weight.tolist() == [np.inf, 0.5, np.inf]
    assert table.word(1) == "line 3: cannot_link(mink, seal) weight 0.5"
    assert lines.word(1) == "line 2: cannot_link(mink, seal) weight 0.5"


@pytest.mark.parametrize(
    "text",
    [
        "TYPE, A ,B\nMust-Link,otter,mink\n",
        "# said on Monday\ntype,a,b\nmust_link,otter,mink\n",
        "b,a,type\nmink,otter,must link\n",
    ],
    ids=["case and spaces", "comment", "columns in another order"],
)
def test_harmless_variants_are_accepted(read, text):
    assert read(text).constraints.items[:, :2].tolist() == [[0, 1]]


def test_row_numbers_name_samples_when_there_are_no_names(read):
    said = read("type,a,b\nmust_link,3,0\n", ids=np.arange(4)).constraints
    assert said.items[:, :2].tolist() == [[0, 3]]
    with pytest.raises(ConstraintError, match=r"row numbers 0 to 3; give --id COLUMN.*counts from 1"):
        read("type,a,b\nmust_link,4,1\n", ids=np.arange(4))


def test_without_data_the_samples_are_those_named(read):
    said = read(CSV, ids=None).constraints
    assert said.ids.tolist() == ["otter", "mink", "seal", "walrus"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("mustlink,otter,mink,,", "line 2: the kind is 'mustlink'.\nHint: did you mean must_link"),
        ("zzz,otter,mink,,", "write must_link, cannot_link, triplet, together or apart"),
        ("apart,otter,mink,,", "line 2: apart names two samples or more, in `samples`"),
        ("must_link,otter,,,", r"a must_link names 2 samples \(a, b\)"),
        ("must_link,otter,mink,seal,", r"a must_link names 2 samples \(a, b\)"),
        ("triplet,otter,mink,,", r"a triplet names 3 samples \(a, b, c\)"),
        ("cannot_link,otter,otter,,", "line 2: .* can never hold"),
        ("triplet,otter,mink,otter,", "line 2: .* can never hold"),
        ("must_link,oter,mink,,", r"'oter' \(line 2\).\nHint: did you mean 'otter'"),
        ("must_link,otter,mink,,abc", "the weight is 'abc'"),
        ("must_link,otter,mink,,-1", "expected a number of 0 or more"),
        ("must_link,otter,mink,,inf", "expected a number of 0 or more"),
        ("must_link,otter,mink,,nan", "expected a number of 0 or more"),
        ("must_link,otter,mink,,1e999", "expected a number of 0 or more"),
        ('must_link,otter,mink,,"1,5"', "expected a number of 0 or more"),
        ("must_link,otter,mink,,1,7", "has 6 values"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(read, rows, words):
    with pytest.raises(ConstraintError, match=words):
        read(f"type,a,b,c,weight\n{rows}\n")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("must_link,otter,seal,walrus", "line 3 has 4 values, but the header names 3 columns"),
        ("must_link,otter,seal,", "line 3 has 4 values, but the header names 3 columns"),
        ("must_link,otter", r"line 3: a must_link names 2 samples \(a, b\)"),
        ("must_link", r"line 3: a must_link names 2 samples \(a, b\)"),
    ],
)
def test_a_line_with_too_many_or_too_few_cells_after_a_good_one(read, row, words):
    with pytest.raises(ConstraintError, match=words):
        read(f"kind,a,b\nmust_link,otter,mink\n{row}\nmust_link,mink,seal\n")


def test_cells_left_out_at_the_end_of_a_line_are_empty(read):
    said = read("kind,a,b,c,weight\nmust_link,otter,mink,,\ncannot_link,mink,seal\ntriplet,otter,mink,walrus\n")
    assert [said.word(i) for i in range(3)] == [
        "line 2: must_link(otter, mink)",
        "line 3: cannot_link(mink, seal)",
        "line 4: triplet(otter, mink | walrus)",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sort,a,b\nx,y,z\n", "expected kind,a,b,c,weight"),
        ("type,a,a,b\nx,y,z,w\n", "'a' occurs twice"),
    ],
)
def test_headers_are_checked(read, text, words):
    with pytest.raises(ConstraintError, match=words):
        read(text)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"type": "must_link", "a": "otter"', "line 2 is not one JSON object"),
        ('["must_link"]', "line 2: expected an object"),
        ('{"type": "must_link", "a": "otter", "a": "seal", "b": "mink"}', "the key 'a' appears twice"),
        ('{"type": "must_link", "a": "otter", "b": "mink", "weight": NaN}', "NaN is not a JSON number"),
        ('{"type": "must_link", "a": ["otter"], "b": "mink"}', "expected text or a whole number"),
        ('{"type": "must_link", "a": true, "b": "mink"}', "expected text or a whole number"),
        ("[" * 100_000, "is not one JSON object"),
    ],
)
def test_bad_json_lines_are_named(read, line, words):
    good = '{"type": "must_link", "a": "otter", "b": "mink"}\n'
    with pytest.raises(ConstraintError, match=words):
        read(good + line + "\n", name="said.jsonl")


def test_many_unknown_names_are_counted(read):
    rows = "".join(f"must_link,x{i},y{i}\n" for i in range(50))
    with pytest.raises(ConstraintError, match="and 95 more"):
        read("type,a,b\n" + rows)


def test_a_self_link_is_dropped_with_a_warning_and_lines_stay_right(read):
    with pytest.warns(LinkwiseWarning, match="line 2: .* was dropped"):
        said = read("type,a,b\nmust_link,otter,otter\nmust_link,otter,mink\n")
    assert said.word(0) == "line 3: must_link(otter, mink)"


def test_python_that_repeats_the_statements_is_python(read):
    said = read(CSV)
    assert [eval(line) for line in said.as_python()] == [
        ("must_link", "otter", "mink"),
        ("cannot_link", "mink", "seal", 0.5),
        ("triplet", "otter", "mink", "walrus"),
    ]
    assert said.as_python(shown=1)[-1] == "# ... and 2 more"


def test_groups_are_read_from_one_cell_or_a_list(read):
    table = read(
        "type,a,b,samples,weight\napart,,,otter; mink;seal,2\nmust_link,otter,walrus,,\ntogether,,,mink;seal,\n"
    )
    lines = read(
        '{"type": "apart", "samples": ["otter", "mink", "seal"], "weight": 2.0}\n'
        '{"type": "must_link", "a": "otter", "b": "walrus"}\n{"type": "together", "samples": ["mink", "seal"]}\n',
        name="said.jsonl",
    )
    assert table.constraints == lines.constraints
    assert sorted(table.word(i) for i in range(3)) == [
        "line 2: apart(otter, mink, seal) weight 2",
        "line 3: must_link(otter, walrus)",
        "line 4: together(mink, seal)",
    ]
    assert "('apart', ['otter', 'mink', 'seal'], 2.0)" in table.as_python()
    assert read("type,samples\nmust_link_any,otter;mink;seal\n").word(0) == "line 2: must_link_any(otter: mink, seal)"


def test_a_disjunction_says_its_links_in_the_kind(read):
    for text, name in (
        ("kind,samples,weight\nMust-link or cannot link,otter;mink;seal;walrus,2\n", "said.csv"),
        (
            '\n{"kind": "must_link or cannot_link", "samples": ["otter", "mink", "seal", "walrus"], "weight": 2.0}',
            "said.jsonl",
        ),
    ):
        said = read(text, name=name)
        assert said.word(0) == "line 2: either(must_link(otter, mink), cannot_link(seal, walrus)) weight 2"
        links = [("must_link", "otter", "mink"), ("cannot_link", "seal", "walrus")]
        assert said.constraints == Constraints.from_ids(said.constraints.ids, [("either", links, 2.0)])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("type,a,b,samples\nmust_link,,,otter;mink\n", "a must_link names its samples in a, b, not in samples"),
        ("type,samples\napart,otter\n", "line 2: apart names two samples or more"),
        ("type,samples\napart,otter;mink;otter\n", "line 2: apart names 'otter' twice"),
        ("type,samples\napart,otter;minks\n", r"'minks' \(line 2\)"),
        ("kind,samples\nmust_link or cannot_link,otter;mink\n", "line 2: must_link or cannot_link names 2 samples"),
        ("kind,samples\nmust_link or apart,otter;mink;seal;walrus\n", "the kind is 'must_link or apart'"),
        ("kind,samples\neither,otter;mink;seal;walrus\n", "did you mean|write must_link"),
        ("kind,a,b,samples\nmust_link or must_link,otter,mink,seal;otter;otter;mink\n", "not in a, b and c"),
        ("kind,samples\nmust_link or cannot_link,otter;otter;seal;mink\n", "names 'otter' twice, expected two"),
        ('{"type": "apart", "samples": "otter"}', "expected a list of samples"),
        ('{"type": "apart", "samples": ["otter", 1.5]}', "expected text or a whole number"),
        ('{"type": "apart", "samples": ["otter", null]}', "expected text or a whole number"),
        ('{"type": "apart", "a": "otter", "samples": ["mink", "seal"]}', "names two samples or more, in `samples`"),
    ],
)
def test_groups_that_cannot_be_read(read, text, words):
    with pytest.raises(ConstraintError, match=words):
        read(text, name="said.jsonl" if text.startswith("{") else "said.csv")
