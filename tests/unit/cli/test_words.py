"""What a person at a terminal reads: true after an interruption, in words of the shell, and never a fault of ours."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys

import pytest

from linkwise.cli import _main as main_module, main

DATA = "name,genus,BW,WA,AI\na,Canis,1,70,365\nb,Canis,,71,\nc,Felis,5,,300\nd,Felis,5.5,60,\ne,Ursus,90,120,700\n"
PLAIN = "name,x,y\notter,0,0\nmink,0,1\nstoat,1,0\nseal,9,9\nwalrus,9,8\norca,30,1\n"
FILES = {
    "gaps.csv": DATA + "f,Ursus,95,130,720\n",
    "data.csv": PLAIN,
    "conflict.csv": "kind,a,b\nmust_link,otter,orca\ncannot_link,otter,mink\nmust_link,mink,orca\n",
    "apart.csv": "kind,a,b\ncannot_link,otter,mink\ncannot_link,mink,seal\ncannot_link,otter,seal\n",
    "mixed.csv": "kind,a,b,c\nmust_link,otter,mink,\ntriplet,otter,mink,seal\n",
    "circle.csv": "kind,a,b,c\ntriplet,otter,mink,seal\ntriplet,otter,seal,mink\n",
    "choice.csv": "kind,samples\nmust_link_any,otter;mink;seal\n",
    "group.csv": "kind,samples\ntogether,otter;mink\napart,otter;mink;seal\n",
    "size.csv": "kind,a,b\nsize_between,4,5\n",
    "near.csv": "kind,a\nneighbor_within,0.5\n",
    "index.csv": "kind,a,b\nmust_link,0,99\n",
    "float.csv": "kind,a,b\nmust_link,1.5,2\n",
    "loop.csv": "kind,a,b\ncannot_link,otter,otter\n",
    "heavy.csv": "kind,a,b,weight\nmust_link,otter,mink,heavy\n",
    "own.csv": "art;gruppe\notter;marder\nmink;marder\nseal;robbe\n",
    "three.csv": "one,two,same\notter,mink,yes\n",
    "kind.csv": "kind,a,b\nmustlink,otter,mink\n",
    "wide.csv": "kind,a,b\nmust_link,otter,mink,seal\n",
    "short.csv": "kind,a,b\nmust_link,otter\n",
    "paths.csv": "sample,path\notter,/a/b\nmink,a//b\n",
    "parents.csv": "child,parent\notter,x\nx,otter\n",
    "leaf.csv": "child,parent\nyak,x\notter,x\nx,\n",
    "tree.nwk": "((otter,mink),(yak,seal));",
    "fan.nwk": "(otter,mink,seal);",
    "cut.nwk": "((otter,mink),seal",
    "twice.nwk": "((otter,otter),seal);",
    "labels.csv": "sample,cluster\notter,0\nmink,1\n",
    "others.csv": "sample,cluster\nyak,0\ngnu,1\n",
    "blank.csv": "sample,cluster\notter,\nmink,\n",
    "bad.json": "{",
    "number.json": "5",
    "deep.json": "[" * 3000 + "]" * 3000,
    "lines.txt": "otter mink | otter\n",
    "bad.jsonl": '{"kind": "must_link", "a": ["otter"], "b": "mink"}\n',
    "half.jsonl": '{"kind": "must_link", "a": "otter"',
    "answers.jsonl": '{"format": "linkwise.dialogue/1", "n_samples": 99}\n',
    "model.lwm": "no model",
    "both-marks.csv": "n;x;y\na;31,1;2.5\nb;3,25;4\n",
    "comma.csv": "n;x;y\na;31,1;2\nb;3,25;4\n",
    "thousand.csv": 'n,x\na,"1,000"\nb,"12,500"\n',
    "wide-digits.csv": "n,x\na,１２\nb,3\n",
    "infinite.csv": "n,x\na,inf\nb,3\nc,4\n",
    "dirty.csv": "n,AM\na,t 132\nb,120\nc,90\n",
    "wordy.csv": "n,sex,x\na,m,1\nb,f,2\nc,m,3\n",
    "empty-column.csv": "x,y\n1,\n2,\n",
    "many.csv": "n,c\n" + "".join(f"s{i},w{i}\n" for i in range(30)),
}
NAMED = ["--id", "name"]
ON = ["cluster", "data.csv", *NAMED, "-o", "out"]
BAD = [
    *([*ON, "-c", file] for file in FILES if file.endswith((".jsonl", ".json", ".nwk", ".txt"))),
    *(
        [*ON, "-c", file]
        for file in [
            "conflict.csv",
            "choice.csv",
            "group.csv",
            "size.csv",
            "index.csv",
            "float.csv",
            "loop.csv",
            "heavy.csv",
            "own.csv",
            "three.csv",
            "kind.csv",
            "wide.csv",
            "short.csv",
            "paths.csv",
            "parents.csv",
            "leaf.csv",
            "circle.csv",
        ]
    ),
    [*ON, "-c", "apart.csv", "-k", "2"],
    [*ON, "-c", "mixed.csv", "--method", "agglomerative"],
    [*ON, "-c", "size.csv", "--method", "copkmeans", "-k", "3"],
    [*ON, "-c", "apart.csv", "-k", "1"],
    [*ON, "-k", "two"],
    [*ON, "--method", "copkmeans", "-k", "auto"],
    *(["cluster", file, "-o", "out"] for file in ("gaps.csv", "wordy.csv", "many.csv")),
    *(
        ["cluster", file, "--id", "n", "-o", "out"]
        for file in ("comma.csv", "thousand.csv", "wide-digits.csv", "infinite.csv", "dirty.csv", "wordy.csv")
    ),
    ["cluster", "empty-column.csv", "--impute", "mean", "-o", "out"],
    ["cluster", "many.csv", "--categories", "c", "--id", "n", "-o", "out"],
    ["cluster", "data.csv", "--id", "nme", "-o", "out"],
    ["cluster", "data.csv", "--columns", "z", "-o", "out"],
    ["cluster", "data.csv", *NAMED, "--columns", "x", "--columns", "x", "-o", "out"],
    ["check", "tree.nwk", "--data", "data.csv", *NAMED],
    ["explain", "choice.csv", "-k", "9"],
    ["repair", "choice.csv", "--auto", "-o", "left.csv"],
    ["repair", "conflict.csv", "--drop", "99", "-o", "left.csv"],
    ["select", "mixed.csv", "-m", "1"],
    ["select", "group.csv", "-m", "1"],
    ["select", "conflict.csv", "-m", "x"],
    ["convert", "fan.nwk", "fan.npy"],
    ["convert", "tree.nwk", "tree.csv", "--data", "data.csv", *NAMED],
    ["convert", "labels.csv", "labels.npy"],
    ["convert", "model.lwm", "model.nwk"],
    ["assign", "model.lwm", "data.csv"],
    ["assign", "labels.csv", "data.csv"],
    ["why", "labels.csv", "otter", "yak"],
    ["why", "tree.nwk", "otter", "mink", "-c", "circle.csv"],
    ["score", "labels.csv", "others.csv"],
    ["score", "labels.csv", "blank.csv"],
    ["compare", "labels.csv", "others.csv"],
    ["compare", "labels.csv", "tree.nwk"],
    ["plot", "labels.csv", "-o", "p.png"],
    ["plot", "tree.nwk", "-o", "p.png", "--kind", "heatmap"],
    ["plot", "tree.nwk", "-o", "p.png", "--max-leaves", "none"],
    ["report", "model.lwm", "-o", "r.html"],
    ["report", "labels.csv", "-o", "r.html", "--before", "others.csv"],
    ["ask", "data.csv", *NAMED, "-l", "answers.jsonl"],
    ["ask", "data.csv", *NAMED, "-l", "log", "-c", "choice.csv"],
    ["ask", "data.csv", *NAMED, "-l", "log", "-c", "conflict.csv"],
    ["ask", "data.csv", *NAMED, "-l", "log", "--show", "none"],
    ["ask", "data.csv", *NAMED, "-l", "log", "--strategy", "explore", "-k", "two"],
    ["reproduce", "nobody2020"],
]
# a call, an argument with its value, or a class of the library: nothing one can type in a shell
PYTHON = re.compile(
    r"`[\w.]+\(|\b(?!LINKWISE)[a-z_]{2,}=|\bConstraints\.|\bestimator\b|integer range|TypeError|KeyError"
)
FAULT = re.compile(r"Traceback|something went wrong")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_what_is_wrong_is_told_in_words_of_the_shell(here, capsys, monkeypatch, arguments):
    monkeypatch.setattr("sys.stdin", None)
    code = main(arguments)
    said = capsys.readouterr()
    words = said.err + (said.out if code else "")
    assert not FAULT.search(words)
    assert not PYTHON.search(words), words
    if code:
        assert code in (1, 2, 3, 4)
        assert words


def test_a_score_without_free_pairs_names_what_the_command_prints(here, capsys):
    (here / "pair.csv").write_text("kind,a,b\ncannot_link,otter,mink\n")
    assert main(["score", "labels.csv", "labels.csv", "-c", "pair.csv"]) == 0
    said = capsys.readouterr()
    assert "Hint: read the adjusted rand index, which counts all pairs" in said.err
    assert "`" not in said.err
    assert "adjusted rand" in said.out


@pytest.mark.parametrize(
    ("file", "hint"),
    [
        ("both-marks.csv", "these look like decimal commas: `--decimal ,`."),
        ("thousand.csv", "write '1,000' without commas (1000); if the comma is the decimal mark: `--decimal ,`."),
        ("wide-digits.csv", "write '１２' in plain digits: 12."),
        ("infinite.csv", "to count it as missing: --missing inf --impute median."),
        ("dirty.csv", "count it as missing: --missing 't 132' --impute median."),
        ("wordy.csv", "if the words are categories: --categories sex."),
    ],
)
def test_hints_fit_what_stands_in_the_cells_and_never_name_a_second_id(here, capsys, file, hint):
    assert main(["cluster", file, "--id", "n", "-o", "out"]) == 1
    said = capsys.readouterr().err
    assert said.endswith(f"{hint}\n")
    assert "--id" not in said


def test_a_name_is_offered_only_where_every_row_has_another(here, capsys):
    assert main(["cluster", "wordy.csv", "-o", "out"]) == 1
    assert "if n names the samples: --id n;" in capsys.readouterr().err


def test_the_hints_work(here, capsys):
    assert main(["cluster", "comma.csv", "--id", "n", "--decimal", ",", "-o", "out", "--quiet"]) == 0
    options = ["--id", "n", "--missing", "t 132", "--impute", "median"]
    assert main(["cluster", "dirty.csv", *options, "-o", "two", "--quiet"]) == 0
    assert main(["check", "own.csv", "--format", "groups"]) == 0
    assert main(["assign", "out", "comma.csv"]) == 0, "new rows are written as the old ones were"
    assert capsys.readouterr().out.endswith("sample,cluster\na,0\nb,1\n")


def test_own_headers_are_recognized_as_groups(here, capsys):
    assert main(["check", "own.csv"]) == 0
    said = capsys.readouterr()
    assert "1 statement about 3 samples can hold" in said.out
    assert "own.csv: samples of the same gruppe are together" in said.err


# -- interruptions -----------------------------------------------------------------------------------------------------


class Keys:
    """Lines of answers, then Ctrl-C."""

    closed = False

    def __init__(self, text):
        self.lines = text.splitlines(keepends=True)

    def isatty(self):
        return False

    def readline(self):
        if not self.lines:
            raise KeyboardInterrupt
        return self.lines.pop(0)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("", "interrupted; no answer was given yet, so log.jsonl holds none."),
        ("y\n", "interrupted; 1 answer is saved in log.jsonl."),
        ("y\nn\nb\nu\n", "interrupted; 2 answers are saved in log.jsonl."),
    ],
)
def test_an_interrupted_dialogue_says_how_many_answers_are_saved(here, capsys, monkeypatch, keys, words):
    monkeypatch.setattr("sys.stdin", Keys(keys))
    assert main(["ask", "data.csv", *NAMED, "-l", "log.jsonl"]) == 130
    said = capsys.readouterr().err
    assert said.strip().split("\n")[0] == words
    assert ("run the same command again to go on" in said) == bool(keys)
    assert "nothing was written" not in said


def test_an_interruption_names_what_is_in_its_place_already(here, capsys, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("linkwise.cli._cluster_verb._tell", stop)
    assert main([*ON, "--quiet"]) == 130
    assert "interrupted; already written: out/labels.csv, out/tree.nwk, out/model.lwm, out/report.html" in (
        capsys.readouterr().err
    )
    monkeypatch.setattr("linkwise.selection.cluster", stop)
    assert main([*ON, "--quiet", "--force"]) == 130
    assert capsys.readouterr().err.strip() == "interrupted; nothing was written."


# -- results that nobody reads -----------------------------------------------------------------------------------------


class Full:
    """A disk without room, or a reader that left."""

    def __init__(self, code):
        self.code = code

    def write(self, _text):
        raise OSError(self.code, os.strerror(self.code))

    def flush(self):
        pass

    def isatty(self):
        return False


@pytest.mark.parametrize("extra", [[], ["--json"]])
@pytest.mark.parametrize(
    ("number", "file", "code"), [("EPIPE", "conflict.csv", 3), ("ENOSPC", "conflict.csv", 3), ("EPIPE", "apart.csv", 0)]
)
def test_the_exit_code_is_that_of_the_verdict_though_it_cannot_be_shown(
    here, capsys, monkeypatch, number, file, code, extra
):
    monkeypatch.setattr("sys.stdout", Full(getattr(errno, number)))
    assert main(["check", file, *extra]) == code
    said = capsys.readouterr().err
    assert ("standard output: No space left on device" in said) == (number == "ENOSPC")


def test_a_result_that_could_not_be_shown_is_no_success(here, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout", Full(errno.ENOSPC))
    assert main(["check", "apart.csv"]) == 1
    assert capsys.readouterr().err == "error: standard output: No space left on device\n"


def test_a_shell_sees_the_verdict(here):
    script = f"{sys.executable} -m linkwise check conflict.csv | true; echo ${{PIPESTATUS[0]}}"
    script += f"; {sys.executable} -m linkwise check conflict.csv > /dev/full; echo $?"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=here,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == "3\n3\n"
    assert done.stderr == "error: standard output: No space left on device\n"


# -- small things ------------------------------------------------------------------------------------------------------


def test_one_of_a_thing_is_one(here, capsys):
    (here / "one.csv").write_text("x,y\n1,2\n")
    assert main(["cluster", "one.csv", "-k", "1", "-o", "one"]) == 0
    assert capsys.readouterr().out.startswith("1 sample in 1 cluster.\n")
    assert main(["compare", "one", "one"]) == 0
    assert capsys.readouterr().out.startswith("1 sample in 1 and 1 cluster; ")
    assert "<b>1</b><span>sample</span>" in (here / "one" / "report.html").read_text()
    (here / "pair.csv").write_text("kind,a,b\nmust_link,otter,mink\n")
    assert main(["check", "pair.csv"]) == 0
    assert capsys.readouterr().out == "1 statement about 2 samples can hold. Only 1 cluster is possible.\n"
    (here / "few.csv").write_text("kind,a,b\nmin_separation,1,\n")
    assert main(["check", "few.csv", "--data", "one.csv", "-k", "2"]) == 2
    assert "-k 2: there is only 1 sample." in capsys.readouterr().err


def test_a_folder_with_a_line_end_in_its_name_stays_on_one_line(here, capsys):
    assert main(["cluster", "data.csv", *NAMED, "-o", "two\nlines"]) == 0
    assert "  two\\nlines/labels.csv\n" in capsys.readouterr().out
    assert main(["cluster", "data.csv", *NAMED, "-o", "two\nlines"]) == 1
    assert capsys.readouterr().err.startswith("error: two\\nlines holds labels.csv, ")


def test_notices_are_json_where_json_is_asked_for(capsys):
    from linkwise._messages import notice

    for as_json, words in ((True, '{"note": "compiling"}\n'), (False, "linkwise: compiling\n")):
        with main_module.in_shell(main_module._Voice(as_json=as_json).note):
            notice("compiling")
        assert capsys.readouterr().err == words
    notice("compiling")
    assert capsys.readouterr().err == "linkwise: compiling\n"


def test_a_cluster_that_holds_nearly_all_is_pointed_out(here, capsys):
    rows = "".join(f"{i % 10},{i // 10}\n" for i in range(90)) + "200,0\n0,200\n-200,-200\n"
    (here / "heap.csv").write_text("x,y\n" + rows)
    words = "one cluster holds 90 of 93 samples; try --linkage ward or -k auto."
    assert main(["cluster", "heap.csv", "-k", "4", "--linkage", "average", "-o", "out"]) == 0
    assert words in capsys.readouterr().out
    assert words in (here / "out" / "report.html").read_text()
    assert main(["cluster", "heap.csv", "-k", "4", "--linkage", "average", "-o", "out", "--force", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["largest_cluster"] == 90
    assert words in told["reasons"]
    assert main(["cluster", "heap.csv", "-k", "8", "--linkage", "ward", "-o", "out", "--force"]) == 0
    assert "holds" not in capsys.readouterr().out


def test_missing_values_are_never_shown_as_numbers(here, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", Keys("y\n"))
    options = [*NAMED, "--drop", "genus", "--impute", "median", "--standardize"]
    main(["ask", "gaps.csv", *options, "--show", "genus", "-l", "log"])
    said = capsys.readouterr().out
    assert re.search(r"AI +(\d+ +)?missing \(median 532.5 used\)", said)
    assert re.search(r"genus +(Canis|Felis|Ursus) +(Canis|Felis|Ursus)\n", said)
    assert not re.search(r"AI.* 532.5 ", said.replace("median 532.5 used", ""))
    assert main(["cluster", "gaps.csv", *options, "-o", "out", "--quiet"]) == 0
    for name in ("r.md", "r.json"):
        assert main(["report", "out", "-o", name, "--quiet"]) == 0
    text, facts = (here / "r.md").read_text(), json.loads((here / "r.json").read_text())
    assert "4 values are missing and were filled in only to compare samples" in text
    assert "BW 3.83 \\(1 missing\\)" in text, "the mean of 1, 5 and 5.5, in the units of the file"
    assert facts["n_missing"] == 4
    trait = next(one for one in facts["clusters"][0]["traits"] if one["feature"] == "AI")
    assert (trait["missing"], trait["mean"]) == (2, pytest.approx(332.5))
    assert "e-1" not in text


def test_long_lines_break_between_words(monkeypatch):
    from linkwise.cli._shown_samples import wrapped

    monkeypatch.setattr("sys.stdout", type("Screen", (), {"isatty": staticmethod(lambda: True)})())
    monkeypatch.setenv("COLUMNS", "40")
    text = "about 15 more answers would help, and then further ones would change very little."
    lines = wrapped(text).split("\n")
    assert len(lines) > 1
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(lines) == text


def test_info_says_where_compiled_code_is_kept_and_where_it_is_not(monkeypatch, tmp_path):
    from numba import config

    from linkwise.cli._installation_verbs import kept_in

    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "code"))
    assert kept_in() == f"in {tmp_path / 'code'}"
    (tmp_path / "file").touch()
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "file" / "code"))
    assert kept_in() == "nowhere, as no folder for it can be written; NUMBA_CACHE_DIR can name one"


def test_a_file_that_forces_something_does_so_in_the_singular(here, capsys):
    (here / "known.nwk").write_text("((otter,mink),seal);")
    (here / "more.csv").write_text("kind,a,b\nmust_link,stoat,walrus\n")
    options = ["-c", "known.nwk", "-c", "more.csv"]
    assert main(["cluster", "data.csv", *NAMED, *options, "-o", "out", "--quiet", "-k", "3"]) == 0
    assert main(["why", "out", "otter", "mink", *options]) == 0
    said = capsys.readouterr().out
    assert "known.nwk forces that" in said
    assert "known.nwk force that" not in said


def test_an_interrupted_reproduction_says_what_other_processes_kept(here, capsys, monkeypatch):
    def stop(*_, output, **__):
        (here / output / "records").mkdir(parents=True)
        (here / output / "records" / "one.json").touch()
        (here / output / "records" / ".two.json.0.partial").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr("studies.papers._reproduce.reproduce", stop)
    assert main(["reproduce", "000", "-o", "papers"]) == 130
    assert "interrupted; 1 new file in papers.\nHint: run the same command again" in capsys.readouterr().err
