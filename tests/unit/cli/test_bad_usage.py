"""What people do wrong on the command line: one table of command, files, exit code and words; never a traceback.

Covered elsewhere: data from standard input under ``-W error``, ``-O``, LANG=C, NO_COLOR and 20 columns, empty standard
input, the reader of a pipe that goes away, an interruption, replacing only with --force, no colour outside a terminal
(test_commands.py); folders that appear whole or not at all (tests/unit/io/test_folder.py); files that change, are
pickles, spreadsheets or too large, odd names and locales (tests/unit/io/test_bad_files.py); help without loading
anything heavy (tests/meta/test_imports.py).
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from linkwise.cli import main

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
    "labels.csv": "sample,cluster\notter,0\nmink,1\n",
    "cut.nwk": "((a,b),c",
    "model.lwm": "no model",
}
BYTES = {
    "book.xlsx": b"PK\x03\x04rest",
    "thing.pkl": b"\x80\x04rest",
    "binary.csv": b"x,y\n1,\x00\n",
    "latin.csv": b"n\xe4me,x\n1,2\n",
}
NAMED = ["--id", "name"]
OUT = ["-o", "out"]

TABLE = [
    # usage
    ("L1", [], 2, "Usage:"),
    ("L2", ["chek", "said.csv"], 2, "did you mean `linkwise check`?"),
    ("L3", ["check", "said.csv", "--colour"], 2, "No such option"),
    ("L3 near", ["plot", "out", "-o", "t.png", "--knd", "tree"], 2, "--kind"),
    ("L4", ["cluster", "data.csv", "-o"], 2, "requires an argument"),
    ("L5", ["cluster", "data.csv", "-k", "abc", *OUT], 2, "not a valid integer"),
    ("L6", ["cluster", "data.csv", "-k", "0", *OUT], 2, "not in the range"),
    ("L7", ["cluster", "data.csv", "-k", "-3", *OUT], 2, "not in the range"),
    ("L8", ["cluster", "data.csv", "-k", "2", "--height", "3", *OUT], 2, "No such option"),
    ("L9", ["ask", "data.csv", "-l", "log", "--seed", "abc"], 2, "not a valid integer"),
    ("L10", ["ask", "data.csv", "-l", "log", "--seed", "-1"], 2, "not in the range"),
    ("L11", ["reproduce", "000", "--jobs", "0"], 2, "not in the range"),
    ("L12", ["check", "said.csv", "--format", "xml"], 2, "'xml' is not one of"),
    ("L13", ["check", "said.csv", "--format", "groups"], 1, "expected sample,group"),
    ("L14", ["cluster", "data.csv", "-k", "2", "-k", "3", *OUT], 2, "--clusters is given more than once"),
    ("scales", ["cluster", "data.csv", "--standardise", "--scale", "minmax", *OUT], 2, "different scales"),
    ("no way", ["repair", "conflict.csv", "-o", "left.csv"], 2, "one of --auto, --drop LINE and --ask"),
    ("two ways", ["repair", "conflict.csv", "--auto", "--ask", "-o", "left.csv"], 2, "one of --auto"),
    ("no line", ["repair", "conflict.csv", "--drop", "x", "-o", "left.csv"], 2, "expected the number of a line"),
    ("ending", ["repair", "conflict.csv", "--auto", "-o", "left.xls"], 2, "expected .csv, .tsv or .jsonl"),
    ("picture", ["plot", "out", "-o", "tree.gif"], 2, "expected .png, .svg or .pdf"),
    ("report", ["report", "out", "-o", "page.doc"], 2, "expected .html, .md or .json"),
    ("leaves", ["plot", "out", "-o", "t.png", "--kind", "links", "--max-leaves", "3"], 2, "belongs to --kind tree"),
    ("no m", ["select", "said.csv"], 2, "Missing option '-m'"),
    ("data options", ["check", "said.csv", "--scale", "standard"], 2, "--scale speaks about the data"),
    ("two stdin", ["check", "-", "--data", "-"], 2, "only one input can come from standard input"),
    # input
    ("L18", ["cluster", "none.csv", *OUT], 1, "none.csv: No such file"),
    ("L19", ["cluster", ".", *OUT], 1, "is a folder, expected a file"),
    ("L20", ["cluster", "empty.csv", *OUT], 1, "empty.csv is empty"),
    ("L20 said", ["explain", "empty.csv"], 1, "empty.csv is empty"),
    ("L23", ["cluster", "binary.csv", *OUT], 1, "NUL byte at offset"),
    ("L24", ["cluster", "book.xlsx", *OUT], 1, "spreadsheet or zip archive"),
    ("L25", ["cluster", "thing.pkl", *OUT], 1, "never read"),
    ("encoding", ["cluster", "latin.csv", *OUT], 1, "is not UTF-8: byte 0xe4 at offset 1"),
    ("L26", ["cluster", "wordy.csv", *OUT], 1, "Hint: name the samples with --id name"),
    ("L27", ["cluster", "gaps.csv", *OUT], 1, "2 value(s) are missing"),
    ("L27 hint", ["cluster", "gaps.csv", *OUT], 1, "--impute median"),
    ("L28", ["score", "labels.csv", "data.csv", "--column", "species"], 1, "which data.csv does not have"),
    ("L28 none", ["score", "labels.csv", "data.csv"], 1, "has no column of labels"),
    ("L29", ["cluster", "twice.csv", *NAMED, *OUT], 1, "names must differ"),
    ("L32", ["cluster", "silent.csv", "--id", "id", "--text", "body", *OUT], 1, "undefined for rows of zeros"),
    ("L55", ["cluster", "none.csv", "--quiet", *OUT], 1, "none.csv: No such file"),
    ("ragged", ["cluster", "ragged.csv", *OUT], 1, "ragged.csv, line 3"),
    ("L34", ["cluster", "data.csv", *NAMED, "-k", "7", *OUT], 2, "has only 6 rows"),
    ("no model", ["why", "model.lwm", "a", "b"], 1, "model.lwm is no model"),
    ("no result", ["plot", "folder.csv", "-o", "t.png"], 1, "is no folder of results"),
    ("no tree", ["convert", "cut.nwk", "cut.json"], 1, "is no tree that can be read"),
    ("strangers", ["compare", "labels.csv", "data.csv"], 1, "has no column of labels"),
    ("no samples", ["why", "labels.csv", "otter", "yak"], 1, "there is no sample 'yak'"),
    ("same twice", ["why", "labels.csv", "otter", "otter"], 1, "expected two different ones"),
    ("a stranger", ["cluster", "data.csv", *NAMED, "-c", "unknown.csv", *OUT], 1, "Hint: did you mean 'otter'?"),
    # output
    ("L43", ["repair", "conflict.csv", "--drop", "2", "-o", "conflict.csv", "--force"], 1, "would be overwritten"),
    ("L42", ["convert", "said.csv", "labels.csv"], 1, "give --force"),
    ("a folder", ["convert", "said.csv", "folder.csv"], 1, "is a folder, expected the name of a file"),
    ("a file", ["cluster", "data.csv", *NAMED, "-o", "said.csv"], 1, "is a file, expected a folder"),
    # knowledge
    ("L59", ["cluster", "data.csv", *NAMED, "-c", "conflict.csv", *OUT], 3, "line 4: must_link(mink, orca)"),
    ("L60", ["cluster", "data.csv", *NAMED, "-c", "apart.csv", "-k", "2", *OUT], 4, "at least 3 clusters are needed"),
    ("select", ["select", "conflict.csv", "-m", "1"], 3, "line 3: cannot_link"),
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for name, raw in BYTES.items():
        (tmp_path / name).write_bytes(raw)
    (tmp_path / "folder.csv").mkdir()
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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["cluster", "--quiet", *OUT, "--", "-odd.csv"], "", id="L17"),
        pytest.param(["cluster", "one.csv", "-k", "1", *OUT], "", id="L30"),
        pytest.param(["cluster", "flat.csv", *OUT], "same value in every row", id="L31"),
        pytest.param(["cluster", "data.csv", *NAMED, "-c", "header.csv", *OUT], "nothing is said", id="L61"),
    ],
)
def test_what_looks_odd_works_with_a_warning(here, capsys, arguments, words):
    assert main(arguments) == 0
    told = capsys.readouterr().err
    assert words in told
    assert "Traceback" not in told
    assert (here / "out" / "labels.csv").exists()


def test_odd_names_of_files_work(here, capsys):
    names = ["with space.csv", "quo'te\".csv", "new\nline.csv", "ünï.csv", "x" * 240 + ".csv"]
    for name in names:
        (here / name).write_text("kind,a,b\ncannot_link,u,v\n")
        assert main(["check", name]) == 0, capsys.readouterr().err


def test_standard_input_that_is_closed_or_binary(here, capsys, monkeypatch):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr("sys.stdin", closed)
    assert main(["cluster", "-", *OUT]) == 1
    assert "standard input is closed" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\x80\x04rest")))
    assert main(["cluster", "-", *OUT]) == 1
    assert "never read" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_leaves_nothing_behind(here, capsys):
    if os.geteuid() == 0:  # nobody refuses root: a file where a folder is wanted stands for it
        target = "said.csv/out"
    else:
        (here / "locked").mkdir(mode=0o500)
        target = "locked/out"
    assert main(["cluster", "data.csv", *NAMED, "-o", target]) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert not [path for path in here.rglob("*") if "partial" in path.name]


def test_a_full_disk_leaves_nothing_behind(here, capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "out/model.lwm")

    monkeypatch.setattr("linkwise.io.save", full)
    assert main(["cluster", "data.csv", *NAMED, *OUT]) == 1
    assert capsys.readouterr().err == "error: out/model.lwm: No space left on device\n"
    assert list((here / "out").iterdir()) == []


def test_help_and_version_without_home_temporary_folder_or_sense(here):
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TMPDIR": str(here / "nowhere"),
        "LINKWISE_DEBUG": "junk",
        "COLUMNS": "junk",
        "LANG": "C",
    }
    for arguments in (["--version"], ["--help"], ["convert", "--help"]):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-O", "-m", "linkwise.cli", *arguments],
            cwd=here,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_completion_is_offered():
    done = subprocess.run(
        [sys.executable, "-m", "linkwise.cli"],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "_LINKWISE_COMPLETE": "bash_complete",
            "COMP_WORDS": "linkwise con",
            "COMP_CWORD": "1",
        },
    )
    assert done.stdout == "plain,convert\n"


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_while_writing_leaves_nothing_behind(here, name, code):
    script = (
        "import os, signal, sys, linkwise.io as files\n"
        f"files.save = lambda *_, **__: os.kill(os.getpid(), signal.{name})\n"
        "from linkwise.cli import main\n"
        "sys.exit(main(['cluster', 'data.csv', '--id', 'name', '-o', 'out']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=here,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert list((here / "out").iterdir()) == []
