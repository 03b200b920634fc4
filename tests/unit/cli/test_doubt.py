"""`linkwise doubt`, and --trust and --effort of `linkwise cluster`: what is judged, asked, dropped and recorded."""

from __future__ import annotations

import csv
import html
import inspect
import io
import json
import re
import shlex

import numpy as np
import pytest

from linkwise import cluster, read_data, read_knowledge, suspects
from linkwise.cli import main
from linkwise.io import read_labels
from tests.views import few_views  # noqa: F401  # used by every test of this file

Y = np.repeat([0, 1, 2], 20)
WRONG = {"cannot_link(s6, s18)", "must_link(s1, s48)"}
READ = ["data.csv", "--id", "name"]
DOUBT = ["doubt", *READ, "-c", "said.csv", "-k", "3", "--trust", "0.8"]
CLUSTER = ["cluster", *READ, "-c", "said.csv", "-k", "3"]


def data() -> str:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + np.array([[0, 0, 0], [6, 0, 1], [0, 6, 2]])[Y]
    rows = (f"s{i}," + ",".join(f"{value:.2f}" for value in row) for i, row in enumerate(X.tolist()))
    return "\n".join(["name,length,width,depth", *rows]) + "\n"


def statements() -> str:
    rng = np.random.default_rng(1)
    pairs = {(6, 18), (1, 48)} | {tuple(sorted(rng.choice(60, 2, replace=False).tolist())) for _ in range(60)}
    lines = ["kind,a,b"]
    for i, j in sorted(pairs):
        same = (Y[i] == Y[j]) != ((i, j) in {(6, 18), (1, 48)})
        lines.append(f"{'must_link' if same else 'cannot_link'},s{i},s{j}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(data())
    (tmp_path / "said.csv").write_text(statements())
    (tmp_path / "more.csv").write_text(
        "kind,a,b,weight\nmust_link,s2,s55,\ncannot_link,s25,s45,\nmust_link,s3,s4,1.5\n"
    )
    return tmp_path


@pytest.fixture(scope="module")
def judged():
    """The judgment of `DOUBT`, made once."""
    X = np.array([row.split(",")[1:] for row in data().splitlines()[1:]], dtype=float)
    said = read_knowledge(io.StringIO(statements()), [f"s{i}" for i in range(60)]).constraints
    return suspects(X, said, 3, trust=0.8)


def keys(monkeypatch, typed: str, judged=None) -> list[str]:
    """Let a terminal type keys, about a judgment that was made before if one is given; return those left over."""
    left = list(typed)
    if judged is not None:
        monkeypatch.setattr("linkwise.selection.suspects", lambda *_, **__: judged)
    monkeypatch.setattr("linkwise.cli._doubt_verb._is_terminal", lambda: True)
    monkeypatch.setattr("linkwise.cli._doubt_verb.read_key", lambda: left.pop(0))
    return left


def spoken(capsys, *arguments, code=0):
    capsys.readouterr()
    assert main([*arguments, "--json"]) == code
    told = capsys.readouterr()
    return json.loads(told.out) if code == 0 else json.loads(told.err.splitlines()[-1])


def bodies(path) -> set[str]:
    said = read_knowledge(path, [f"s{i}" for i in range(60)]).constraints
    return {said.describe(at).split(" ", 1)[1] for at in range(said.n_statements)}


# -- the list ----------------------------------------------------------------------------------------------------------


def test_wrong_statements_are_listed_by_file_and_line_the_most_probable_first(here, capsys):
    assert main(DOUBT) == 0
    told = capsys.readouterr().out
    lines = (here / "said.csv").read_text().splitlines()
    listed = re.findall(r"said\.csv:(\d+): (\w+)\((\w+), (\w+)\): wrong with probability (0\.\d\d)", told)
    assert {lines[int(line) - 1] for line, *_ in listed} == {",".join(row[1:4]) for row in listed}
    assert {f"{kind}({a}, {b})" for _, kind, a, b, _ in listed} == WRONG
    shares = [float(row[4]) for row in listed]
    assert shares == sorted(shares, reverse=True)
    assert told.startswith(f"2 of {len(lines) - 1} statements are doubtful, given the data:\n")
    assert sorted(path.name for path in here.iterdir()) == ["data.csv", "more.csv", "said.csv"]


def test_what_is_worth_a_look_is_more_than_what_is_dropped_without_asking(here, capsys):
    assert inspect.signature(suspects).parameters["threshold"].default == spoken(capsys, *DOUBT)["threshold"] == 0.25
    assert spoken(capsys, *DOUBT, "-o", "kept.csv")["threshold"] == 0.5
    told = spoken(capsys, *DOUBT, "--threshold", "0.01", "-o", "few.csv")
    assert len(told["dropped"]) == len(told["suspects"]) > 2


def test_json_holds_what_the_library_finds(here, capsys):
    told = spoken(capsys, *DOUBT, "--threshold", "0.05")
    table = read_data("data.csv", id="name")
    said = read_knowledge("said.csv", table).constraints
    expected = suspects(table.X, said, 3, trust=0.8, threshold=0.05)
    assert [row["probability"] for row in told["suspects"]] == pytest.approx([one.probability for one in expected])
    assert [f"#{row['line'] - 2} {row['statement']}" for row in told["suspects"]] == [
        re.sub(" weight .*", "", said.describe(one.statement)) for one in expected
    ]
    assert told["suspects"][0]["samples"] == re.findall(r"s\d+", told["suspects"][0]["statement"])
    assert (told["judged"], told["trust"], told["threshold"], told["written"]) == (True, 0.8, 0.05, None)


def test_the_trust_in_a_file_decides_about_its_statements(here, capsys):
    options = ["doubt", *READ, "-c", "said.csv", "-c", "more.csv", "-k", "3", "--trust", "0.8"]
    both = {row["file"] for row in spoken(capsys, *options)["suspects"]}
    assert both == {"said.csv", "more.csv"}
    told = spoken(capsys, *options, "--trust", "said.csv=hard")
    assert {row["file"] for row in told["suspects"]} == {"more.csv"}
    assert told["trust"] == {"said.csv": "hard", "more.csv": 0.8}


def test_too_few_statements_are_not_judged_and_that_is_said(here, capsys):
    assert main(["doubt", *READ, "-c", "more.csv", "-k", "3"]) == 0
    told = capsys.readouterr().out
    assert "statements was judged by the data: there are too few statements to hold some out.\n" in told
    assert "None" in told
    assert "is doubtful" not in told
    assert not spoken(capsys, "doubt", *READ, "-c", "more.csv", "-k", "3")["judged"]


def test_statements_that_contradict_each_other_are_judged_without_a_warning(here, capsys):
    with (here / "said.csv").open("a") as file:
        file.write("cannot_link,s21,s22\nmust_link,s21,s22\n")
    assert main(DOUBT) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert "cannot_link(s21, s22): wrong" in told.out
    assert "must_link(s21, s22)" not in told.out.replace("cannot_link(s21, s22)", "")


# -- dropping ----------------------------------------------------------------------------------------------------------


def test_without_a_terminal_all_listed_are_dropped_and_nothing_is_asked(here, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("k\nk\n"))
    before = bodies("said.csv")
    assert main([*DOUBT, "-o", "kept.csv", "--threshold", "0.3"]) == 0
    assert (
        f"2 of {len(before)} statements dropped.\nkept.csv: {len(before) - 2} statements.\n" in capsys.readouterr().out
    )
    assert bodies("kept.csv") == before - WRONG
    assert main([*DOUBT, "-o", "kept.csv"]) == 1
    assert "kept.csv exists already.\nHint: give --force" in capsys.readouterr().err
    assert main([*DOUBT, "-o", "said.csv", "--force"]) == 1
    assert bodies("said.csv") == before


@pytest.mark.parametrize("silent", ["--json", "--auto", "--quiet"])
def test_a_terminal_is_not_asked_either_when_it_may_not_be(here, capsys, monkeypatch, judged, silent):
    left = keys(monkeypatch, "kk", judged)
    assert main([*DOUBT, "-o", "kept.jsonl", silent]) == 0
    assert left == ["k", "k"]
    assert not WRONG & bodies("kept.jsonl")
    told = capsys.readouterr().out
    if silent == "--json":
        assert {row["statement"] for row in json.loads(told)["dropped"]} == WRONG
    assert (told == "") == (silent == "--quiet")


@pytest.mark.parametrize(
    ("typed", "n_dropped", "words"),
    [
        ("dd ", 2, "2 statements of 2 looked at."),
        ("dk ", 1, "1 of 2. said.csv:"),
        ("ks ", 0, "0 of "),
        ("dq", 1, "1 statement of 2 looked at."),
        ("q", 0, "0 statements of 2 looked at."),
        ("ddud ", 2, "took back the last decision."),
        ("dduk ", 1, "That was the last one."),
        ("ddbbkk ", 0, "took back the last decision."),
        ("udk ", 1, "there is no decision to take back."),
        ("xDk ", 1, "d drop it   k keep it   s skip"),
    ],
)
def test_each_is_decided_by_a_key(here, capsys, monkeypatch, judged, typed, n_dropped, words):
    left = keys(monkeypatch, typed, judged)
    before = bodies("said.csv")
    assert main([*DOUBT, "-o", "kept.csv"]) == 0
    told = capsys.readouterr().out
    assert left == []
    assert words in told
    assert re.search(r"length +-?[\d.]+ +-?[\d.]+\n", told), "the values of both samples are shown"
    assert len(before - bodies("kept.csv")) == n_dropped
    assert bodies("kept.csv") <= before


def test_an_interrupted_review_writes_nothing(here, capsys, monkeypatch, judged):
    def stop():
        raise KeyboardInterrupt

    keys(monkeypatch, "", judged)
    monkeypatch.setattr("linkwise.cli._doubt_verb.read_key", stop)
    assert main([*DOUBT, "-o", "kept.csv"]) == 130
    assert "interrupted; nothing was written." in capsys.readouterr().err
    assert not (here / "kept.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["doubt", *READ, "-k", "3"], "there are no statements to judge.\nHint: -c said.csv"),
        (["doubt", *READ, "-c", "said.csv"], "Missing option '-k'"),
        ([*DOUBT, "--auto"], "--auto drops statements, so it needs -o FILE"),
        ([*DOUBT, "-o", "kept.txt"], "-o kept.txt ends in '.txt', expected .csv, .tsv or .jsonl."),
        ([*DOUBT, "--threshold", "0"], "0.0 is not in the range 0<x<=1"),
        ([*DOUBT, "--trust", "0.9"], "--trust ... is given more than once"),
        (
            [*DOUBT, "--trust", "said.csv=0.9", "--trust", "said.csv=0.8"],
            "--trust said.csv=... is given more than once",
        ),
        ([*DOUBT, "--trust", "other.csv=0.9"], "other.csv is not a file of -c.\nHint: --trust said.csv=0.9"),
        ([*DOUBT, "--trust", "said.csv=hard"], "hard statements hold in every result and are not judged"),
        ([*CLUSTER, "--trust", "0.5", "-o", "out"], "'0.5', expected hard, doubtful or a probability above 0.5"),
        ([*CLUSTER, "--trust", "said.csv=often", "-o", "out"], "expected hard, doubtful or a probability above 0.5"),
        (["cluster", *READ, "--trust", "0.9", "-o", "out"], "--trust is about statements, so it needs a file of them"),
        ([*CLUSTER, "--effort", "most", "-o", "out"], "'most' is not one of 'full', 'quick'"),
        (["doubt", *READ, "-c", "said.csv", "-k", "61"], "-k 61: data.csv has only 60 rows."),
    ],
)
def test_wrong_usage_is_worded_and_writes_nothing(here, capsys, arguments, words):
    before = {path.name for path in here.iterdir()}
    assert main(arguments) == 2
    assert words in capsys.readouterr().err
    assert {path.name for path in here.iterdir()} == before


# -- cluster -----------------------------------------------------------------------------------------------------------


def labels(path) -> list[str]:
    with path.open(newline="") as file:
        return [row["cluster"] for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    ("options", "trust", "method"),
    [
        (["--trust", "0.8"], 0.8, "Consensus"),
        (["--trust", "doubtful"], "doubtful", "Consensus"),
        (["--trust", "doubtful", "--effort", "quick"], "doubtful", "ConstrainedCompleteLink"),
        (
            ["-c", "more.csv", "--trust", "0.9", "--trust", "more.csv=0.7"],
            {"said.csv": 0.9, "more.csv": 0.7},
            "Consensus",
        ),
    ],
)
def test_trust_and_effort_are_those_of_the_library_and_recorded(here, capsys, options, trust, method):
    told = spoken(capsys, *CLUSTER, *options, "-o", "out")
    assert (told["trust"], told["effort"], told["method"]) == (trust, "quick" if "quick" in options else "full", method)
    page = html.unescape((here / "out" / "report.html").read_text(encoding="utf-8"))
    code = re.search(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)[1]
    names: dict = {}
    exec(code, names)
    assert [str(label) for label in names["found"].labels] == labels(here / "out" / "labels.csv")
    command = code.rpartition("# in a shell: linkwise ")[2]
    assert [word in command for word in ("--trust", "--effort quick")] == [True, "quick" in options]
    assert main([*shlex.split(command.replace("OUT", "again")), "--quiet"]) == 0
    assert labels(here / "again" / "labels.csv") == labels(here / "out" / "labels.csv")
    unweighed = "soft statements hold unless they contradict others; this method does not weigh them."
    assert (unweighed in told["reasons"]) == (method != "Consensus")


def test_the_usual_effort_is_full_and_the_usual_trust_hard(here, capsys):
    (here / "said.csv").write_text("kind,a,b\nmust_link,s1,s48\ncannot_link,s6,s18\n")
    told = spoken(capsys, *CLUSTER, "-o", "out")
    assert (told["trust"], told["effort"], told["method"]) == ("hard", "full", "Consensus")
    assert told["hard_statements_hold"]
    table = read_data("data.csv", id="name")
    expected = cluster(table.X, read_knowledge("said.csv", table).constraints, 3)
    assert read_labels("out/labels.csv")[1].tolist() == [str(label) for label in expected.labels]
    assert main([*CLUSTER, "--effort", "quick", "-o", "fast"]) == 0
    assert "ConstrainedCompleteLink" in capsys.readouterr().out
