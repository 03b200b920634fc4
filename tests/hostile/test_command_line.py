"""A reduced campaign of damaged files over every verb, and planted faults that it has to notice."""

from __future__ import annotations

import contextlib
import shutil
from collections import Counter
from pathlib import Path

import pytest

from linkwise.cli import _main
from tests.hostile import command_line
from tests.hostile.command_line import SUFFIXES, VERBS, Case, examine, prepare, run_command, silence, text_of
from tests.profile import examples


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with sound files, and their contents."""
    folder = tmp_path_factory.mktemp("place")
    return folder, prepare(folder)


def clean(folder):
    for path in folder.iterdir():
        if path.name.startswith((".", "out", "bad")):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_every_verb_that_reads_a_file_is_among_them():
    without = {"demo", "open", "docs", "warmup", "info", "reproduce"}
    assert {words[0] for words in VERBS} == set(_main.commands.commands) - without


@pytest.mark.parametrize("number", range(len(VERBS)))
def test_sound_files_are_taken(place, number):
    """Else a campaign would only see how the same refusal is worded."""
    folder, sound = place
    words = list(VERBS[number])
    at = next(i for i, word in enumerate(words) if word.startswith("bad:"))
    sort = words[at].removeprefix("bad:")
    if sort == "word":
        words[at] = "n01" if words[0] == "why" else "COPKMeans"
        words = [word if word != "said.csv" else "named.csv" for word in words]
    else:
        words[at] = f"bad{SUFFIXES[sort][0]}"
        (folder / words[at]).write_bytes(sound[sort, SUFFIXES[sort][0]])
    with contextlib.chdir(folder), silence() as (_, err):
        code = run_command(words)
    clean(folder)
    assert code == 0, text_of(err)


def test_no_promise_is_broken(place):
    folder, sound = place
    broken = []
    tally = Counter()
    for seed in range(examples(80, 3000)):
        case = Case(seed, sound)
        broken += [(seed, " ".join(case.words), *one) for one in examine(case, folder, tally)]
    assert broken == []
    assert tally[0] > 10
    assert tally[1] > 10


# -- planted faults are noticed ----------------------------------------------------------------------------------------


def first_found(folder, sound, sort):
    for seed in range(300):
        if any(one[0].startswith(sort) for one in examine(Case(seed, sound), folder, Counter())):
            return True
    return False


def lose(*_):
    raise KeyError("lost")


@pytest.mark.parametrize(
    ("sort", "plant"),
    [
        ("a fault", lambda patch: patch.setattr("linkwise.io._columns.Columns.find", lose)),
        ("raised", lambda patch: patch.setattr(_main, "_words", lose)),
        ("an exit code without an error", lambda patch: patch.setattr(_main, "_say", lambda text: None)),
        ("bare ValueError", lambda patch: patch.setattr("linkwise.io._columns.Columns.find", refuse)),
        ("an error without words", lambda patch: patch.setattr(_main, "_words", lambda failed: " ")),
        ("left behind", lambda patch: patch.setattr(_main, "_words", leave)),
    ],
)
def test_a_planted_fault_is_noticed(place, monkeypatch, sort, plant):
    folder, sound = place
    plant(monkeypatch)
    assert first_found(folder, sound, sort)


def refuse(*_):
    msg = "array must not contain infs or NaNs"
    raise ValueError(msg)


def leave(failed):
    Path("out").mkdir(exist_ok=True)
    return str(failed)


@pytest.mark.parametrize(
    ("content", "sort"),
    [
        ("sample,cluster\nn00,\n", "labels that are not numbers"),
        ("sample,cluster\nn00,nan\n", "labels that are not numbers"),
        ("sample,cluster\nn00,1\nn00,2\n", "two rows of one name"),
    ],
)
def test_labels_that_say_nothing_are_noticed(tmp_path, content, sort):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "labels.csv").write_text(content)
    assert [one[0] for one in command_line._judge_labels(tmp_path)] == [sort]
