"""`linkwise ask` about a project: questions in the terminal, answers in the file before the next question."""

from __future__ import annotations

import io
import sys

import pytest

from linkwise.app._standing import fold
from linkwise.app._store import Store
from linkwise.app.files import read_items, sample
from linkwise.cli import main
from tests.app.pictures import archive, square


@pytest.fixture
def path(tmp_path):
    file, roles, options, raw = sample("letters to a bank")
    told = {"name": "letters", "file": {"name": file, "kind": "csv"}, "roles": roles, "options": options}
    Store.create(tmp_path / "letters.lw", told, [(file, "csv", raw)]).close()
    return tmp_path / "letters.lw"


def ask(monkeypatch, path, keys, *options):
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(keys) + "\n"))
    return main(["ask", str(path), *options])


def test_answers_are_rows_of_the_project_and_the_next_run_goes_on(path, monkeypatch, capsys):
    assert ask(monkeypatch, path, ["u", "u", "b", "u", "q"], "--who", "ann") == 0
    first = capsys.readouterr().out
    assert "took back answer 2" in first
    with Store.open(path) as store:
        rows = store.statements()
        names = set(read_items(*[store.file()[n] for n in (0, 2)]).table.ids.tolist())
    assert [one.op for one in rows] == ["open", "answer", "answer", "undo", "answer"]
    assert {(one.who, one.via) for one in rows[1:]} == {("ann", "cli")}
    assert len(fold(rows).statements) == 3
    assert all(set(one.body["items"]) <= names for one in rows if one.op == "answer")
    assert rows[2].body["items"] == rows[4].body["items"]  # taken back, and asked again
    assert ask(monkeypatch, path, ["u", "q"], "--budget", "3") == 0
    second = capsys.readouterr().out
    assert "going on after 2 answers" in second
    assert "that was the last question of --budget" in second
    with Store.open(path) as store:
        assert store.seq == 6
        assert store.statements()[-1].who == "me"


def test_what_a_project_fixes_is_refused_and_so_is_one_that_is_open(path, monkeypatch, capsys):
    for options, words in ((["-l", "a.jsonl"], "-l has no place"), (["--id", "x"], "--id has no place"),
                           (["--strategy", "random"], "--strategy has no place")):  # fmt: skip
        assert ask(monkeypatch, path, ["q"], *options) == 2
        assert words in capsys.readouterr().err
    with Store.open(path):
        assert ask(monkeypatch, path, ["q"]) == 1
    assert "is open already" in capsys.readouterr().err
    assert main(["ask", "beers.csv"]) == 2
    assert "--log" in capsys.readouterr().err


def test_pictures_are_not_asked_about_in_a_terminal(tmp_path, monkeypatch, capsys):
    raw = archive({f"{n}.png": square(n) for n in range(3)})
    told = {"name": "p", "file": {"name": "p.zip", "kind": "zip"}, "roles": {"picture": "picture"}}
    Store.create(tmp_path / "p.lw", told, [("p.zip", "zip", raw)]).close()
    assert ask(monkeypatch, tmp_path / "p.lw", ["q"]) == 1
    assert "linkwise open" in capsys.readouterr().err
