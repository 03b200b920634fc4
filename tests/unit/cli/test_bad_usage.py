"""What people do wrong on the command line: one table of command, files, exit code and words; never a traceback.

What needs more than a command and some files (streams, signals, terminals, full disks) is in test_surroundings.py and
tests/unit/io/test_folder.py.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from linkwise.cli import main
from linkwise.io import read_labels
from tests.unit.io.test_bad_files import CASES, NAMES, write

DATA = "name,x,y\notter,0,0\nmink,0,1\nstoat,1,0\nseal,9,9\nwalrus,9,8\norca,30,1\n"
FILES = {
    "data.csv": DATA,
    "said.csv": "kind,a,b\nmust_link,otter,orca\ncannot_link,otter,mink\n",
    "conflict.csv": "kind,a,b\nmust_link,otter,orca\ncannot_link,otter,mink\nmust_link,mink,orca\n",
    "apart.csv": "kind,a,b\ncannot_link,otter,mink\ncannot_link,mink,seal\ncannot_link,otter,seal\n",
    "unknown.csv": "kind,a,b\nmust_link,otter,oter\n",
    "header.csv": "kind,a,b\n",
    "empty.csv": "",
    "gaps.csv": "x,y\n1,2\n3,\n,4\n",
    "twice.csv": "name,x\notter,1\notter,2\n",
    "one.csv": "x,y\n1,2\n",
    "flat.csv": "x,y\n1,2\n1,3\n1,9\n",
    "wordy.csv": "name,x\notter,1\nmink,big\n",
    "ragged.csv": "x,y\n1,2\n3\n",
    "-odd.csv": "x,y\n1,2\n3,4\n",
    "silent.csv": "id,body\n1,a b c\n2,the cat sat\n3,a cat ran\n",
    "texts.csv": "body\nthe cat sat\na cat ran\n",
    "labels.csv": "sample,cluster\notter,0\nmink,1\n",
    "cut.nwk": "((a,b),c",
    "model.lwm": "no model",
    "known.csv": "kind,a,b\nmust_link,otter,stoat\ncannot_link,otter,orca\n",
    "trios.csv": "kind,a,b,c\ntriplet,otter,orca,mink\n",
    "choice.csv": "kind,samples\nmust_link_any,otter;mink;seal\n",
    "large.csv": "sample,cluster\notter,99999999999999999999999\nmink,-5\n",
    "log.csv": "some,thing\n1,2\n",
    "infinite.csv": "x,y\n1,inf\n2,3\n",
    "vast.csv": "x,y\n1e308,-1e308\n-1e308,1e308\n",
    "bare.csv": "x,y\n",
    "escape.csv": "kind,a,b\nmust_link,\x1b[31mred,mink\ncannot_link,\x1b[31mred,mink\n",
}
BYTES = {
    "book.xlsx": b"PK\x03\x04rest",
    "thing.pkl": b"\x80\x04rest",
    "binary.csv": b"x,y\n1,\x00\n",
    "latin.csv": b"n\x81me,x\n1,2\n",
}
NAMED = ["--id", "name"]
OUT = ["-o", "out"]
CHOICE = ["cluster", "data.csv", *NAMED, "-c", "choice.csv"]

TABLE = [
    # usage
    ("no verb", [], 2, "Usage:"),
    ("unknown verb", ["chek", "said.csv"], 2, "did you mean `linkwise check`?"),
    ("unknown option", ["check", "said.csv", "--color"], 2, "No such option"),
    ("mistyped option", ["plot", "out", "-o", "t.png", "--knd", "tree"], 2, "--kind"),
    ("option without a value", ["cluster", "data.csv", "-o"], 2, "requires an argument"),
    (
        "clusters in words",
        ["cluster", "data.csv", "-k", "abc", *OUT],
        2,
        "'abc', expected a number of clusters (1 or more) or auto, or",
    ),
    (
        "half a range",
        ["cluster", "data.csv", "-k", "3-x", *OUT],
        2,
        "'3-x', expected a number of clusters (1 or more) or auto",
    ),
    (
        "order",
        ["cluster", "data.csv", "-k", "6-3", *OUT],
        2,
        "'6-3', expected the fewest clusters first, as in 3-6.",
    ),
    (
        "range of check without ends",
        ["check", "said.csv", "-k", "..4"],
        2,
        "expected a number of clusters (1 or more) or a range such as 3-6.",
    ),
    ("no clusters", ["cluster", "data.csv", "-k", "0", *OUT], 2, "expected a number of clusters (1 or more) or auto"),
    ("negative", ["cluster", "data.csv", "-k", "-3", *OUT], 2, "expected a number of clusters (1 or more) or auto"),
    ("two cuts", ["cluster", "data.csv", "-k", "2", "--height", "3", *OUT], 2, "-k and --height both set where to cut"),
    ("two cuts, one automatic", ["cluster", "data.csv", "-k", "auto", "--height", "3", *OUT], 2, "give one of them"),
    ("height that is nan", ["cluster", "data.csv", "--height", "nan", *OUT], 2, "'nan' is not a finite number"),
    ("height below zero", ["cluster", "data.csv", "--height", "-1", *OUT], 2, "not in the range"),
    ("seed", ["ask", "data.csv", "-l", "log", "--seed", "abc"], 2, "'abc', expected a whole number (0 or more)."),
    ("negative seed", ["ask", "data.csv", "-l", "log", "--seed", "-1"], 2, "expected a whole number (0 or more)"),
    ("no threads", ["cluster", "data.csv", "--threads", "0", *OUT], 2, "0 is not in the range 1 to"),
    ("threads below zero", ["check", "said.csv", "--threads", "-2"], 2, "the cores of this machine"),
    ("many threads", ["ask", "data.csv", "-l", "log", "--threads", "100000"], 2, "Hint: without it, all are used"),
    ("no jobs", ["reproduce", "000", "--jobs", "0"], 2, "expected a whole number (1 or more)"),
    ("unknown format", ["check", "said.csv", "--format", "xml"], 2, "'xml' is not one of"),
    ("wrong format", ["check", "said.csv", "--format", "newick"], 2, "--format newick, but said.csv ends in .csv"),
    ("tree as groups", ["convert", "cut.nwk", "new.csv", "--format", "groups"], 2, "ends in .nwk, which means newick"),
    ("wrong header", ["check", "said.csv", "--format", "groups"], 1, "expected sample,group"),
    ("option twice", ["cluster", "data.csv", "-k", "2", "-k", "3", *OUT], 2, "--clusters is given more than once"),
    ("scales", ["cluster", "data.csv", "--standardize", "--scale", "minmax", *OUT], 2, "different scales"),
    ("no way", ["repair", "conflict.csv", "-o", "left.csv"], 2, "one of --auto, --drop LINE and --ask"),
    ("two ways", ["repair", "conflict.csv", "--auto", "--ask", "-o", "left.csv"], 2, "one of --auto"),
    ("no line", ["repair", "conflict.csv", "--drop", "x", "-o", "left.csv"], 2, "expected the number of a line"),
    ("ending", ["repair", "conflict.csv", "--auto", "-o", "left.xls"], 2, "expected .csv, .tsv or .jsonl"),
    ("picture", ["plot", "out", "-o", "tree.gif"], 2, "expected .png, .svg or .pdf"),
    ("report", ["report", "out", "-o", "page.doc"], 2, "expected .html, .md or .json"),
    ("leaves", ["plot", "out", "-o", "t.png", "--kind", "links", "--max-leaves", "3"], 2, "belongs to --kind tree"),
    ("no m", ["select", "said.csv"], 2, "Missing option '-m'"),
    ("data options", ["check", "said.csv", "--scale", "standard"], 2, "--scale is about the data"),
    ("two stdin", ["check", "-", "--data", "-"], 2, "only one input can come from standard input"),
    ("no name", ["check", ""], 2, "is empty, expected a name"),
    ("no folder", ["cluster", "data.csv", "-o", ""], 2, "'-o' / '--output' is empty"),
    ("no text", ["cluster", "data.csv", "--title", "\udcff", *OUT], 2, "'--title' holds bytes that are not text"),
    ("endless", ["explain", "said.csv", "--time-limit", "inf"], 2, "'inf' is not a finite number"),
    ("labels", ["assign", "labels.csv", "data.csv", "-o", "new.xyz"], 2, "expected .csv, .tsv or .parquet"),
    ("log", ["ask", "data.csv", "-l", "data.csv"], 2, "-l data.csv is the data"),
    ("too many", ["ask", "data.csv", *NAMED, "-l", "log", "--strategy", "minmax", "-k", "9"], 2, "has only 6 rows"),
    ("centroids", ["cluster", "texts.csv", "--text", "body", "--linkage", "ward", *OUT], 2, "needs columns of number"),
    # input
    ("no such file", ["cluster", "none.csv", *OUT], 1, "none.csv: No such file"),
    ("folder as file", ["cluster", ".", *OUT], 1, "is a folder, expected a file"),
    ("empty file", ["cluster", "empty.csv", *OUT], 1, "empty.csv is empty"),
    ("empty statements", ["explain", "empty.csv"], 1, "empty.csv is empty"),
    ("NUL byte", ["cluster", "binary.csv", *OUT], 1, "NUL byte at offset"),
    ("spreadsheet", ["cluster", "book.xlsx", *OUT], 1, "spreadsheet or zip archive"),
    ("pickle", ["cluster", "thing.pkl", *OUT], 1, "never read"),
    ("encoding", ["cluster", "latin.csv", *OUT], 1, "is not UTF-8: byte 0x81 at offset 1"),
    ("words instead of numbers", ["cluster", "wordy.csv", *OUT], 1, "Hint: if name names the samples: --id name"),
    ("missing values", ["cluster", "gaps.csv", *OUT], 1, "2 values are missing"),
    ("missing values, hint", ["cluster", "gaps.csv", *OUT], 1, "--impute median"),
    ("no such column", ["score", "labels.csv", "data.csv", "--column", "species"], 1, "which data.csv does not have"),
    ("no column of labels", ["score", "labels.csv", "data.csv"], 1, "has no column of labels"),
    ("names twice", ["cluster", "twice.csv", *NAMED, *OUT], 1, "names must differ"),
    ("no words", ["cluster", "silent.csv", "--id", "id", "--text", "body", *OUT], 1, "no word to be compared by: '1'"),
    ("quiet error", ["cluster", "none.csv", "--quiet", *OUT], 1, "none.csv: No such file"),
    ("ragged", ["cluster", "ragged.csv", *OUT], 1, "ragged.csv, line 3"),
    ("more clusters than samples", ["cluster", "data.csv", *NAMED, "-k", "7", *OUT], 2, "has only 6 rows"),
    ("no model", ["why", "model.lwm", "a", "b"], 1, "model.lwm is not a linkwise model"),
    ("no result", ["plot", "folder.csv", "-o", "t.png"], 1, "is not a folder of results"),
    ("no tree", ["convert", "cut.nwk", "cut.json"], 1, "is not a readable tree"),
    ("strangers", ["compare", "labels.csv", "data.csv"], 1, "has no column of labels"),
    ("no samples", ["why", "labels.csv", "otter", "yak"], 1, "there is no sample 'yak'"),
    ("same twice", ["why", "labels.csv", "otter", "otter"], 1, "expected two different ones"),
    ("a stranger", ["cluster", "data.csv", *NAMED, "-c", "unknown.csv", *OUT], 1, "Hint: did you mean 'otter'?"),
    ("no rows", ["cluster", "bare.csv", *OUT], 1, "has a header but no rows"),
    ("infinite", ["cluster", "infinite.csv", *OUT], 1, "line 2: 'inf'"),
    ("vast", ["cluster", "vast.csv", *OUT], 1, "overflow double precision"),
    ("no log", ["ask", "data.csv", *NAMED, "-l", "log.csv"], 1, "is not the log of a dialogue"),
    ("choices", [*CHOICE, "--method", "consensus", *OUT], 1, "does not understand must_link_any"),
    (
        "triplets",
        ["cluster", "data.csv", *NAMED, "-c", "trios.csv", "--method", "agglomerative", *OUT],
        1,
        "Hint: --method recon",
    ),
    ("not both", ["score", "labels.csv", "data.csv", "--column", "name", "--id", "name"], 1, "cannot both name"),
    # output
    ("input", ["repair", "conflict.csv", "--drop", "2", "-o", "conflict.csv", "--force"], 1, "would be overwritten"),
    ("output exists", ["convert", "said.csv", "labels.csv"], 1, "give --force"),
    ("a folder", ["convert", "said.csv", "folder.csv"], 1, "is a folder, expected the name of a file"),
    (
        "a folder inside",
        ["cluster", "data.csv", *NAMED, "-o", "taken", "--force"],
        1,
        "model.lwm is a folder, expected a",
    ),
    ("a loop", ["cluster", "loop.csv", *OUT], 1, "loop.csv: Too many levels of symbolic links"),
    ("a file", ["cluster", "data.csv", *NAMED, "-o", "said.csv"], 1, "is a file, expected a folder"),
    # knowledge
    ("contradiction", ["cluster", "data.csv", *NAMED, "-c", "conflict.csv", *OUT], 3, "line 4: must_link(mink, orca)"),
    (
        "too few",
        ["cluster", "data.csv", *NAMED, "-c", "apart.csv", "-k", "2", *OUT],
        4,
        "at least 3 clusters are needed",
    ),
    ("select", ["select", "conflict.csv", "-m", "1"], 3, "line 3: cannot_link"),
    ("keep hard", ["repair", "conflict.csv", "--auto", "--keep-hard", "-o", "left.csv"], 3, "line 3: cannot_link"),
]

ODD = [
    ("name like an option", ["cluster", "--quiet", *OUT, "--", "-odd.csv"], ""),
    ("one sample", ["cluster", "one.csv", "-k", "1", *OUT], ""),
    ("equal rows", ["cluster", "flat.csv", *OUT], "same value in every row"),
    ("statements without rows", ["cluster", "data.csv", *NAMED, "-c", "header.csv", *OUT], "there are no statements"),
    (
        "nothing new",
        ["cluster", "data.csv", *NAMED, "-c", "known.csv", *OUT],
        "all 2 statements hold in the clusters found",
    ),
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for name, raw in BYTES.items():
        (tmp_path / name).write_bytes(raw)
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "taken" / "model.lwm").mkdir(parents=True)
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("arguments", "code", "words"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_bad_usage_is_worded_and_changes_nothing(here, capsys, arguments, code, words):
    before = files(here)
    assert main(arguments) == code
    told = capsys.readouterr()
    assert words in told.err + (told.out if not arguments else "")
    assert "Traceback" not in told.err
    assert files(here) == before


@pytest.mark.parametrize(
    ("arguments", "code", "words"), [row[1:] for row in TABLE[1:]], ids=[row[0] for row in TABLE[1:]]
)
def test_bad_usage_is_one_json_object_with_the_same_code(here, capsys, arguments, code, words):
    assert main([arguments[0], "--json", *arguments[1:]]) == code
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert told[-1]["exit_code"] == code
    assert words in told[-1]["error"] + "\nHint: " + told[-1]["hint"]


@pytest.mark.parametrize(("arguments", "words"), [row[1:] for row in ODD], ids=[row[0] for row in ODD])
def test_what_looks_odd_works_with_a_warning(here, capsys, arguments, words):
    assert main(arguments) == 0
    told = capsys.readouterr().err
    assert words in told
    assert "Traceback" not in told
    assert (here / "out" / "labels.csv").exists()


def test_statements_that_change_something_are_no_news_to_warn_of(here, capsys):
    assert main(["cluster", "data.csv", *NAMED, "-c", "said.csv", *OUT]) == 0
    assert capsys.readouterr().err == ""


def test_labels_too_large_for_a_number_are_words(here, capsys):
    assert main(["compare", "large.csv", "large.csv"]) == 0
    assert "0 samples moved." in capsys.readouterr().out


def test_what_would_move_the_cursor_is_shown_as_text(here, capsys):
    assert main(["explain", "escape.csv"]) == 3
    told = capsys.readouterr().out
    assert "\\x1b[31mred" in told
    assert "\x1b" not in told


@pytest.mark.parametrize("height", ["0", "2", "1e9"])
def test_a_cut_at_a_height_obeys_what_was_said(here, capsys, height):
    assert main(["cluster", "data.csv", *NAMED, "-c", "said.csv", "--height", height, *OUT]) == 0
    assert f"the tree is cut at height {float(height):g}." in capsys.readouterr().out
    ids, found = (column.tolist() for column in read_labels("out/labels.csv"))
    of = dict(zip(ids, found, strict=True))
    assert of["otter"] == of["orca"] != of["mink"]
    assert len(set(found)) == {"0": 5, "2": 3, "1e9": 2}[height]
    assert f"distance_threshold={float(height)!r}" in (here / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.number)
def test_bad_files_of_statements_are_told_in_one_error(tmp_path, capsys, case):
    """The catalogue of bad files, F1 to F75, as it reaches somebody who types a command."""
    names = NAMES if case.ids is None else range(case.ids) if isinstance(case.ids, int) else case.ids
    data = tmp_path / "samples.csv"
    with data.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("name", "x"), *((name, row) for row, name in enumerate(names))])
    words = ["check", str(write(tmp_path, case)), "--data", str(data)]
    code = main(words if isinstance(case.ids, int) else [*words, "--id", "name"])
    told = capsys.readouterr()
    assert code == {"E": 1}.get(case.outcome, 0), told.err
    assert told.err.startswith("error: ") or case.outcome != "E"
    assert case.words in told.err
    assert "should not have" not in told.err
    assert max(map(len, told.err.splitlines()), default=0) < 1000


def test_lines_that_cannot_be_read_are_passed_over_when_asked(here, capsys):
    (here / "torn.jsonl").write_text('{"kind": "must_link", "a": "otter", "b": "orca"}\n{oops}\n{"kind": "must_')
    assert main(["check", "torn.jsonl"]) == 1
    assert "torn.jsonl, line 2 is not one JSON object" in capsys.readouterr().err
    assert main(["check", "torn.jsonl", "--skip-bad"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("1 statement about 2 samples")
    assert told.err.startswith("warning: skipped 2 rows or names:\n  torn.jsonl, line 2 is not one JSON object")
    for words in (
        ["cluster", "data.csv", *NAMED, "-c", "torn.jsonl", *OUT],
        ["convert", "torn.jsonl", "whole.csv"],
        ["repair", "torn.jsonl", "--auto", "-o", "left.csv"],
    ):
        assert main([*words, "--skip-bad"]) == 0
        assert "skipped 2 rows or names" in capsys.readouterr().err
