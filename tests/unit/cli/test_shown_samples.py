"""Samples on a screen: differences first and marked, missing values said, no word broken on a narrow terminal."""

from __future__ import annotations

import os

import numpy as np
import pytest

from linkwise import read_data
from linkwise.cli import _shown_samples as screen
from linkwise.cli._ask_verb import HELP_TRIO, Interview
from linkwise.cli._shown_samples import ShownSamples, wrapped

ROWS = """animal,weight in kilograms,length of the tail,legs,genus
european otter,8,0.4,4,Lutra
giant otter from the river,30,0.7,4,Pteronura
mink,,0.2,4,Neogale
harbor seal,90,0.1,2,Phoca
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "animals.csv"
    path.write_text(ROWS)
    return read_data(path, id="animal", drop=["genus"], keep=["genus"], impute="median")


@pytest.fixture
def narrow(monkeypatch):
    """A terminal of 60 columns."""

    class Terminal:
        closed = False

        def isatty(self):
            return True

        def write(self, text):
            return len(text)

        def flush(self):
            pass

    def at(width):
        monkeypatch.setattr(screen.sys, "stdout", Terminal())
        monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((width, 24)))
        monkeypatch.setenv("NO_COLOR", "1")

    return at


def test_the_columns_that_differ_most_come_first_and_are_marked(table):
    shown = ShownSamples(table, beside={"genus": list(table.beside["genus"])})
    lines = shown.lines([0, 3], ["otter", "seal"])
    assert lines[0].split() == ["otter", "seal"]
    assert lines[1].split() == ["*", "genus", "Lutra", "Phoca"]  # a column that is shown beside the others
    assert [line.split()[:2] for line in lines[2:]] == [["*", "weight"], ["*", "legs"], ["*", "length"]]
    same = shown.lines([0, 1], ["otter", "giant"])
    assert same[-1].split() == ["legs", "4", "4"]  # no difference: last, and not marked


def test_a_missing_value_is_said_to_be_missing(table):
    lines = ShownSamples(table).lines([0, 2], ["otter", "mink"])
    assert any("missing (median 30 used)" in line for line in lines)


@pytest.mark.parametrize("width", [20, 40, 60])
def test_nothing_is_wider_than_the_terminal(table, narrow, width):
    narrow(width)
    lines = "\n".join(ShownSamples(table).lines([0, 1, 2], ["european otter", "giant otter", "mink"])).split("\n")
    assert max(map(len, lines)) <= max(width, 26)  # "* weight in kilograms" is one line
    words = " ".join(" ".join(lines).split())
    for value in ("mink:", "missing (median 30 used)", "length of the tail"):
        assert value in words
    for line in wrapped(HELP_TRIO).split("\n"):
        assert len(line) <= width


def test_bold_marks_differences_where_colors_are_welcome(table, narrow, monkeypatch):
    narrow(100)
    plain = ShownSamples(table).lines([0, 3], ["otter", "seal"])
    monkeypatch.delenv("NO_COLOR")
    bold = ShownSamples(table).lines([0, 3], ["otter", "seal"])
    assert not any("\x1b" in line for line in plain)
    assert [line for line in bold if "\x1b[1m" in line] == bold[1:]


def test_a_terminal_gives_single_keys_and_a_file_gives_lines(table, monkeypatch):
    from linkwise.active import Dialogue

    class Keyboard:
        def __init__(self, terminal):
            self.terminal = terminal

        def isatty(self):
            return self.terminal

    talk = Dialogue(np.nan_to_num(table.X))
    monkeypatch.setattr("sys.stdin", Keyboard(terminal=True))
    monkeypatch.setattr("click.getchar", lambda: "n")
    assert Interview(talk, table).read() == "n"
    monkeypatch.setattr("click.getchar", lambda: "\x7f")
    assert Interview(talk, table).read() == "b"
    monkeypatch.setattr("sys.stdin", Keyboard(terminal=False))
    assert Interview(talk, table).read is not screen.read_key
