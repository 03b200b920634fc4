"""Exhibits as files: every number is in the CSV, the page says what it compares, and hostile text stays text."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest

from linkwise.cli import main
from linkwise.exceptions import LinkwiseError
from studies.papers import Figure, Found, Judged, Paper, Settings, Table, find_paper, mean_and_error, reproduce
from studies.papers._reproduce import NUMBERS, PAPERS
from studies.papers._verdict_rules import VERDICTS
from studies.papers._write_exhibits import draw, page, slug, table_csv, write_paper

CURVE = Figure(
    "Figure 1",
    "F over <amount>",
    tuple(Found(line, x, x / 50, 0.01, 3, 0.5 if x == 20 else None) for line in ("ours", "<b>") for x in (20, 40)),
    Judged("better", "because & so", "Better: more is <better>."),
    x_label="statements",
    y_label="F",
)
ROWS = Table(
    "Table I",
    "scores",
    (Found("iris", "F", 0.8906, printed=0.8906), Found("iris", "ms", 1234.5)),
    Judged("same", "", ""),
)
PAPER = Paper(
    "test2000", "A. Author, <Title>, 2000", "about", {"1": lambda _: iter([CURVE]), "I": lambda _: iter([ROWS])}
)


def test_every_number_is_in_the_csv():
    rows = list(csv.DictReader(io.StringIO(table_csv([CURVE, ROWS]))))
    assert len(rows) == 6
    assert rows[0] == {
        "exhibit": "Figure 1",
        "line": "ours",
        "x": "20",
        "value": "0.4",
        "standard_error": "0.01",
        "repeats": "3",
        "printed": "0.5",
    }
    assert rows[-1]["printed"] == rows[-1]["standard_error"] == ""


def test_the_page_stands_alone_and_text_stays_text():
    text = page(PAPER, [CURVE, ROWS], "linkwise reproduce test2000")
    assert "<b>" not in text
    assert "&lt;Title&gt;" in text
    assert not re.search(r"(src|href)=['\"]?http", text)
    assert "0.8906 <span class=printed>(0.8906)</span>" in text
    assert "1 same, 1 better" in text
    assert "Rule: Better: more is &lt;better&gt;. Repetitions per figure: 3." in text
    assert "class='verdict better'" in text


def test_every_verdict_has_a_badge_of_its_own():
    for verdict in VERDICTS:
        text = page(PAPER, [replace(ROWS, judged=Judged(verdict, "", ""))], "command")
        assert f"1 exhibits: 1 {verdict}." in text
        assert f"<span class='verdict {slug(verdict)}'>{verdict}</span>" in text
        assert f".{slug(verdict)}{{background" in text


def test_files_are_written_whole(tmp_path):
    made = write_paper(PAPER, [CURVE, ROWS], tmp_path, "command")
    assert [path.name for path in made] == ["test2000.html", "test2000.csv", "test2000-figure-1.png"]
    assert made[2].read_bytes() == draw(CURVE)
    assert "<div class='scroll'><img" in made[0].read_text(encoding="utf-8")  # wide pictures scroll in their own box
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in made)


def test_means_leave_gaps_out():
    assert mean_and_error([1.0, float("nan"), 3.0]) == (2.0, 1.0, 2)
    assert mean_and_error([])[2] == 0


@pytest.mark.parametrize("number", NUMBERS)
def test_papers_are_found_by_number_and_name(number):
    paper = find_paper(number)
    assert find_paper(paper.name.upper()) is PAPERS[paper.name]


def test_unknown_papers_and_figures_are_named(capsys):
    with pytest.raises(LinkwiseError, match="Hint: choose one of"):
        find_paper("nobody1999")
    assert main(["reproduce", "zheng2011", "--figure", "77"]) == 1
    assert "has no figure or table 77" in capsys.readouterr().err


def test_a_second_run_only_draws(tmp_path, monkeypatch):
    from studies.papers import _zheng

    monkeypatch.setattr(_zheng, "SMALL", ("Iris",))
    monkeypatch.setattr(_zheng, "METHODS", {name: _zheng.METHODS[name] for name in ("HAC", "UltraTran")})
    said: list[str] = []
    first = reproduce("002", figures=["IV"], quick=True, output=tmp_path, say=said.append)
    content = first[1].read_bytes()
    assert b'"Iris, HAC",FScore,0.8906' in content
    assert "5 results: 0 finished before" in said[-1]
    reproduce("002", figures=["IV"], quick=True, output=tmp_path, say=said.append)
    assert "5 results: 5 finished before" in said[-1]
    assert first[1].read_bytes() == content
    assert Settings(quick=True).repeats(9, 2) == 2


def test_draws_are_as_many_as_asked_for(tmp_path, monkeypatch, capsys):
    from studies.papers import _zheng

    monkeypatch.setattr(_zheng, "SMALL", ("Iris",))
    monkeypatch.setattr(_zheng, "METHODS", {"UltraTran": _zheng.METHODS["UltraTran"]})
    folder = str(tmp_path)
    assert main(["reproduce", "zheng2011", "--figure", "IV", "--quick", "--draws", "1", "-o", folder, "--quiet"]) == 0
    text = (tmp_path / "zheng2011.html").read_text(encoding="utf-8")
    assert "linkwise reproduce zheng2011 --figure IV --quick --draws 1" in text
    assert "Repetitions per figure: 1." in text
    assert main(["reproduce", "zheng2011", "--draws", "0"]) == 2
    with pytest.raises(LinkwiseError, match="draws is 0, expected a whole number >= 1"):
        reproduce("zheng2011", draws=0)
