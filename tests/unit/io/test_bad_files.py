"""The catalogue of bad constraint and hierarchy files, F1 to F75: the error or warning of each."""

from __future__ import annotations

import gzip
import json
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise import Constraints, check, read_knowledge
from linkwise.exceptions import ConstraintError, LinkwiseError, LinkwiseWarning
from tests.profile import examples

NAMES = ["otter", "mink", "seal", "walrus", "007", "NA", "null", "None", "nan", "True", "1e5", "1_0", "=cmd()", "12"]
HEAD = "kind,a,b,c,weight\n"
PAIR = HEAD + "must_link,otter,mink,,\n"
SAID = '{"kind": "must_link", "a": "otter", "b": "mink"}\n'
DEEP = "[" * 100_000


@dataclass(frozen=True)
class Case:
    """A file, and what becomes of it: an error (E), a warning (W) or nothing special (OK), then how many statements."""

    number: str
    content: Any
    outcome: str
    words: str = ""
    count: int = 1
    name: str = "said.csv"
    ids: Any = None


def lines(count: int) -> str:
    return HEAD + "must_link,otter,mink,,\n" * count


CASES = [
    # files
    Case("F1", b"", "E", "is empty"),
    Case("F1 blank", b" \n\n", "E", "is empty"),
    Case("F2", HEAD, "W", "there are no statements", 0),
    Case("F3", "# nothing yet\n# nor here\n", "W", "there are no statements", 0),
    Case("F4", b"\xef\xbb\xbf" + PAIR.encode(), "OK"),
    Case("F5", PAIR.encode("utf-16"), "W", "is encoded as UTF-16, and was read as such"),
    Case("F6", PAIR.encode() + b"must_link,\x81,x,,\n", "E", "not UTF-8: byte 0x81 at offset 51"),
    Case("F7", PAIR.encode() + b"\x00", "E", "NUL byte at offset 41"),
    Case("F8", PAIR.replace("\n", "\r"), "OK"),
    Case("F9", HEAD.replace("\n", "\r\n") + "must_link,otter,mink,,\rcannot_link,otter,seal,,\n", "OK", count=2),
    Case("F10", PAIR.rstrip("\n"), "OK"),
    Case("F16", b"\x1f\x8bnothing of the kind", "E", "packed with gzip, but damaged"),
    Case("F16 packed", gzip.compress(PAIR.encode()), "OK", name="said.csv.gz"),
    Case("F18", gzip.compress(lines(2000).encode())[:-20], "E", "its end is missing", name="said.csv.gz"),
    Case("F19", lines(examples(20_000, 10_000_000)), "OK", count=examples(20_000, 10_000_000)),
    # CSV
    Case("F21", "kind,a\nmust_link,otter\n", "E", "line 1: the header is kind, a, expected kind,a,b,c,weight"),
    Case("F22", "kind,a,b,mood\nmust_link,otter,mink,fine\n", "W", "line 1: 'mood' is not a known key"),
    Case("F23", "kind,a,a,b\nmust_link,otter,mink,seal\n", "E", "line 1: 'a' occurs twice"),
    Case("F23 synonyms", "kind,type,a,b\nmust_link,x,otter,mink\n", "E", "'kind' occurs twice"),
    Case("F24", " Kind ,A,\tB \nmust_link,otter,mink\n", "OK"),
    Case("F24 type", "TYPE,a,b\nmust_link,otter,mink\n", "OK"),
    Case("F25", "kind|a|b\nmust_link|otter|mink\n", "E", "Hint: divide columns by commas, semicolons or tabs"),
    Case("F25 spaces", "kind a b\nmust_link otter mink\n", "E", "Hint: divide columns by", name="said.txt"),
    Case("F25 semicolons", PAIR.replace(",", ";"), "OK"),
    Case("F25 tabs", PAIR.replace(",", "\t"), "OK", name="said.tsv"),
    Case("F26", PAIR + 'must_link,"otter,mink,,\nmust_link,otter,seal,,\n', "E", "line 3: unexpected end of data"),
    Case("F27", 'kind,a,b,note\nmust_link,otter,mink,"two\nlines"\ncannot_link,mink,mink,\n', "E", "line 4"),
    Case("F28", f"kind,a,b,note\nmust_link,otter,mink,{'x' * 200_000}\n", "OK"),
    Case(
        "F29", HEAD + "mustlink,otter,mink,,\n", "E", "line 2: the kind is 'mustlink'.\nHint: did you mean must_link?"
    ),
    Case("F30", HEAD + "Must-Link,otter,mink,,\nCANNOT LINK,otter,seal,,\n", "OK", count=2),
    Case("F31", HEAD + "".join(f"must_link,x{i},otter,,\n" for i in range(9)), "E", "'x4' (line 6) and 4 more"),
    Case("F31 near", HEAD + "must_link,oter,mink,,\n", "E", "'oter' (line 2).\nHint: did you mean 'otter'?"),
    Case("F32", HEAD + "must_link, otter,mink ,,\n", "W", "2 name(s) had spaces around them"),
    Case("F33", HEAD + "must_link,NA,null,,\nmust_link,None,nan,,\nmust_link,True,NA,,\n", "OK", count=3),
    Case("F34", HEAD + "must_link,7,otter,,\n", "E", "'7' (line 2)"),
    Case("F34 kept", HEAD + "must_link,007,otter,,\n", "OK"),
    Case("F35", HEAD + "must_link,1e5,otter,,\n", "OK"),
    Case("F35 number", HEAD + "must_link,100000,otter,,\n", "E", "'100000' (line 2)"),
    Case("F36", HEAD + "must_link,1_0,otter,,1_0\n", "E", "line 2: the weight is '1_0'"),
    Case("F36 digits", HEAD + "must_link,1_0,otter,,٣\n", "E", "the weight is '٣'"),
    Case(
        "F37",
        HEAD + "must_link,caf\u00e9,otter,,\n",
        "W",
        "names that look alike",
        ids=["cafe\u0301", "caf\u00e9", "otter"],
    ),
    Case("F37 other form", HEAD + "must_link,cafe\u0301,x,,\n", "E", "composed differently", ids=["caf\u00e9", "x"]),
    Case(
        "F38",
        HEAD + "must_link,ot\u200bter,x,,\n",
        "W",
        "invisible characters, such as 'ot\\u200bter'",
        ids=["ot\u200bter", "x"],
    ),
    Case("F38 unknown", HEAD + "must_link,ot\u202eter,mink,,\n", "E", "'ot\\u202eter' (line 2)"),
    Case("F39", PAIR + "must_link,otter,mink,,\n", "OK", count=2),
    Case("F40", PAIR + "must_link,mink,otter,,\n", "OK", count=2),
    Case("F42", PAIR + "must_link,otter,otter,,\n", "W", "line 3: must_link(otter, otter) holds for every clustering"),
    Case("F42 apart", PAIR + "cannot_link,otter,otter,,\n", "E", "line 3: cannot_link(otter, otter) can never hold"),
    Case("F43", PAIR + "triplet,otter,otter,mink,\n", "W", "line 3: triplet(otter, otter, mink) holds for every"),
    Case("F43 apart", PAIR + "triplet,otter,mink,otter,\n", "E", "line 3: triplet(otter, mink, otter) can never hold"),
    *(
        Case(f"F44 {weight}", HEAD + f'must_link,otter,mink,,"{weight}"\n', "E", "line 2: the weight is")
        for weight in ("abc", "inf", "nan", "-1", "1,5")
    ),
    Case("F44 none", PAIR + "must_link,otter,seal,,0\n", "W", "line 3: a statement of weight 0 has no effect", count=1),
    Case("F45", HEAD + f"must_link,otter,mink,,{'9' * 5000}\n", "E", "line 2: the weight is '999"),
    Case("F46", HEAD + "must_link,1,4,,\n", "E", "0 to 3; give --id COLUMN to use names. If your file counts", ids=4),
    Case("F46 rows", HEAD + "must_link,0,3,,\n", "OK", ids=4),
    Case("F47", HEAD + "must_link,=cmd(),otter,,\n", "OK"),
    Case("F48", PAIR + "must_link," + "x" * 10_000_000, "E", "line 3 is 10,000,010 characters long"),
    # JSON
    Case("F49", SAID + DEEP, "E", "line 2 is not one JSON object: nested too deeply", name="said.jsonl"),
    Case("F49 nested", DEEP, "E", "nested too deeply", name="said.json"),
    Case(
        "F50",
        SAID + '{"kind": "must_link", "a": "otter", "a": "mink"}',
        "E",
        "line 2 is not one JSON",
        name="said.jsonl",
    ),
    Case("F51", SAID.replace("}", ', "weight": NaN}'), "E", "NaN is not a JSON number", name="said.jsonl"),
    Case(
        "F51 inf", SAID.replace("}", ', "weight": Infinity}'), "E", "Infinity is not a JSON number", name="said.jsonl"
    ),
    Case("F52", "5\n", "E", "line 1: expected an object", name="said.jsonl"),
    Case("F52 document", '"must_link"\n', "E", "expected statements or a taxonomy", name="said.json"),
    Case("F53", SAID.replace("}", ",}"), "E", "line 1 is not one JSON object", name="said.jsonl"),
    Case("F54", SAID * 56 + "{oops}\n" + SAID, "E", "line 57 is not one JSON object", name="said.jsonl"),
    Case("F55", SAID * 3 + '{"kind": "must_', "E", "line 4 is not one JSON object", name="said.jsonl"),
    Case("F56", '{"kind": "must_link", "a": 12, "b": "otter"}', "OK", name="said.jsonl"),  # as CSV would say it
    Case(
        "F56 fraction", '{"kind": "must_link", "a": 1.5, "b": "otter"}', "E", "a is 1.5, expected text", name="s.jsonl"
    ),
    Case(
        "F56 truth", '{"kind": "must_link", "a": true, "b": "otter"}', "E", "expected text or a whole", name="s.jsonl"
    ),
    Case(
        "F57", f'{{"kind": "must_link", "a": {2**70}, "b": "otter"}}', "E", "not in the data: '1180591", name="s.jsonl"
    ),
    Case("F57 long", f'{{"kind": "must_link", "a": {"9" * 5000}, "b": "x"}}', "E", "line 1 is not one", name="s.jsonl"),
    Case("F58", SAID.replace("otter", "\\ud800"), "E", "half of a surrogate pair", name="said.jsonl"),
    Case(
        "F59", '{"format": "linkwise.knowledge/2"}\n' + SAID, "E", "pip install --upgrade linkwise", name="said.jsonl"
    ),
    Case("F59 csv", "# linkwise.knowledge/2\n" + PAIR, "E", "has the format 'linkwise.knowledge/2'"),
    Case("F59 same", '{"format": "linkwise.knowledge/1"}\n' + SAID, "OK", name="said.jsonl"),
    Case("F60", SAID.replace("}", ', "mood": "fine"}') * 3, "W", "'mood' is not a known key", 3, name="said.jsonl"),
    # Newick
    Case(
        "F61", "((otter,mink),seal;", "E", "unbalanced: ';' before every '(' was closed at character 18", name="t.nwk"
    ),
    Case("F62", "((otter,mink),seal)", "W", "the ';' at the end is missing", name="t.nwk"),
    Case("F64", "(('(o,:)''s',mink),seal);", "OK", name="t.nwk", ids=["(o,:)'s", "mink", "seal"]),
    Case("F65", "((otter,mink),otter);", "E", "'otter' appears a second time at character", name="t.nwk"),
    Case("F66", "((otter,),seal);", "E", "a leaf has no name at character 8", name="t.nwk"),
    Case("F67", "((otter:-1,mink:1),seal);", "OK", name="t.nwk"),  # as neighbor joining writes it; lengths play no role
    Case("F67 nan", "((otter:nan,mink:1),seal);", "E", "expected a finite number", name="t.nwk"),
    Case("F68", "((otter,mink)[why,seal);", "E", "a comment is never closed at character 13", name="t.nwk"),
    Case("F69", "otter;", "W", "there are no statements", 0, name="t.nwk"),
    Case("F70", "(((otter),(mink)),seal);", "OK", name="t.nwk"),
    Case("F71", "((otter,yak),seal);", "E", "1 leaf is not in", name="t.nwk"),
    Case("F72", "((otter,mink),seal);", "OK", name="t.nwk"),
    Case("F73", "((otter,mink),seal);\n(walrus,12);", "E", "a second tree begins", name="t.nwk"),
    Case("F74", "(otter,mink,seal,walrus);", "W", "there are no statements", 0, name="t.nwk"),
]


def write(folder: Path, case: Case) -> Path:
    path = folder / case.name
    path.write_bytes(case.content if isinstance(case.content, bytes) else case.content.encode())
    return path


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.number)
def test_the_catalogue_of_bad_files(tmp_path, case):
    path = write(tmp_path, case)
    ids = NAMES if case.ids is None else case.ids
    if case.outcome == "E":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkwiseWarning)
            with pytest.raises(LinkwiseError) as caught:
                read_knowledge(path, ids)
        assert case.words in str(caught.value)
        assert case.name in str(caught.value)
        assert len(str(caught.value)) < 800
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", LinkwiseWarning)
        said = read_knowledge(path, ids)
    assert said.constraints.n_statements == case.count
    assert (case.outcome == "W") == bool(told)
    if told:
        assert case.words in str(told[0].message)


def test_every_number_of_the_catalogue_has_a_case():
    elsewhere = {"F11", "F12", "F13", "F14", "F15", "F17", "F20", "F41", "F63", "F75"}  # need more than content
    assert {case.number.split()[0] for case in CASES} | elsewhere == {f"F{i}" for i in range(1, 76)}


def test_f11_a_folder(tmp_path):
    with pytest.raises(LinkwiseError, match="is a folder, expected a file"):
        read_knowledge(tmp_path, NAMES)


def test_f12_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        read_knowledge(tmp_path / "none.csv", NAMES)


def test_f13_a_file_one_may_not_read(tmp_path, monkeypatch):
    path = write(tmp_path, Case("", PAIR, "OK"))

    def refuse(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", refuse)  # the tests may run as somebody who may read everything
    with pytest.raises(PermissionError, match=r"said\.csv"):
        read_knowledge(path, NAMES)


def test_f14_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "said.csv")
    with pytest.raises(LinkwiseError, match=r"pipe or device.*\nHint: .* standard input"):
        read_knowledge(tmp_path / "said.csv", NAMES)


def test_f15_a_loop_of_links(tmp_path):
    (tmp_path / "a.csv").symlink_to(tmp_path / "b.csv")
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    with pytest.raises(OSError, match=r"a\.csv"):
        read_knowledge(tmp_path / "a.csv", NAMES)


def test_f17_a_file_that_unpacks_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("linkwise._files._LARGE", 2**20)
    path = write(tmp_path, Case("", gzip.compress(b"a" * 2**22), "E", name="said.csv.gz"))
    with pytest.raises(LinkwiseError, match="unpacks to more than 1 MiB"):
        read_knowledge(path, NAMES)


def test_f20_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    path = write(tmp_path, Case("", PAIR, "OK"))
    plain = Path.read_bytes

    def meanwhile(self):
        raw = plain(self)
        with self.open("a") as file:
            file.write("must_link,otter,seal,,\n")
        return raw

    monkeypatch.setattr(Path, "read_bytes", meanwhile)
    with pytest.raises(LinkwiseError, match="was changed while it was read"):
        read_knowledge(path, NAMES)


def test_f41_a_contradiction_is_told_with_both_lines(tmp_path):
    path = write(tmp_path, Case("", HEAD + "must_link,otter,mink,,\ncannot_link,mink,otter,,\n", "OK"))
    said = read_knowledge(path, NAMES)
    told = said.explain(check(said.constraints).explanation)
    assert "line 2: must_link(otter, mink)" in told
    assert "line 3: cannot_link(otter, mink)" in told
    assert "#" not in told


def test_f55_with_skip_bad_the_rest_is_kept_and_the_skips_are_listed(tmp_path):
    content = SAID + "{oops}\n" + SAID.replace("mink", "yak") + '{"kind": "must_'
    said = read_knowledge(write(tmp_path, Case("", content, "OK", name="said.jsonl")), NAMES, skip_bad=True)
    assert said.constraints.n_statements == 1
    assert [text.split(" is not")[0].split(" names")[0][-6:] for text in said.skipped] == ["line 2", "line 3", "line 4"]
    assert "'yak'" in said.skipped[1]
    misspelt = Case("", b"kind,a,b\nmustlink,a,b\n", "OK", name="said.csv")
    (skip,) = read_knowledge(write(tmp_path, misspelt), NAMES, skip_bad=True).skipped
    assert skip.endswith("line 2: the kind is 'mustlink'.")  # the hint is for those who are to mend it


def test_f63_a_tree_of_a_hundred_thousand_levels(tmp_path):
    depth = examples(3_000, 100_000)
    content = "(" * depth + "0" + "".join(f",{i})" for i in range(1, depth + 1)) + ";"
    said = read_knowledge(write(tmp_path, Case("", content, "OK", name="t.nwk")), depth + 1)
    assert said.constraints.n_statements == depth - 1


def test_f75_a_tree_of_many_leaves(tmp_path):
    n = examples(2**12, 2**20)
    rows = [str(i) for i in range(n)]
    while len(rows) > 1:
        rows = [f"({a},{b})" for a, b in zip(rows[::2], rows[1::2], strict=True)]
    said = read_knowledge(write(tmp_path, Case("", rows[0] + ";", "OK", name="t.nwk")), n)
    assert said.constraints.n_statements == n - 2


def test_what_is_read_is_what_was_said(tmp_path):
    rows = [("must_link", "otter", "mink"), ("cannot_link", "007", "NA", 0.5), ("triplet", "otter", "mink", "seal")]
    content = "".join(json.dumps({"kind": k, "a": a, "b": b, **_rest(k, rest)}) + "\n" for k, a, b, *rest in rows)
    said = read_knowledge(write(tmp_path, Case("", content, "OK", name="said.jsonl")), NAMES)
    assert said.constraints == Constraints.from_ids(NAMES, rows)
    assert np.array_equal(np.sort(said.line), [1, 2, 3])


def _rest(kind, rest):
    return dict(zip(["c"] if kind == "triplet" else ["weight"], rest, strict=False))


def test_errors_are_of_the_kind_that_says_constraints(tmp_path):
    with pytest.raises(ConstraintError):
        read_knowledge(write(tmp_path, Case("", HEAD + "mustlink,otter,mink,,\n", "E")), NAMES)
