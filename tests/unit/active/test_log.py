"""The log keeps every acknowledged answer whenever the process dies, and refuses foreign files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import FileIO

import numpy as np
import pytest

from linkwise.active import Answer, Dialogue, LabelAnswerer, RandomPairs, _answer_log as log_module
from linkwise.exceptions import LinkwiseError

X = np.arange(12.0).reshape(-1, 1)
Y = np.arange(12) // 4


def converse(path, answers, **more):
    says = LabelAnswerer(Y)
    talk = Dialogue(X, strategy=RandomPairs(), log=path, **more)
    for _ in range(answers):
        query = talk.ask()
        talk.tell(query, says(query))
    return talk


def state(talk):
    return talk.answers, talk.constraints, talk.ask()


def test_a_dialogue_goes_on_where_it_ended(tmp_path):
    path = tmp_path / "talk.jsonl"
    whole = converse(None, 6)
    with converse(path, 4):
        pass
    with converse(path, 2) as talk:
        assert state(talk) == state(whole)


def test_cut_anywhere_the_whole_lines_count(tmp_path):
    path = tmp_path / "talk.jsonl"
    with converse(path, 3) as talk:
        talk.undo()
    content = path.read_bytes()
    for length in range(len(content) + 1):
        path.write_bytes(content[:length])
        with Dialogue(X, strategy=RandomPairs(), log=path) as talk:
            lines = content[:length].count(b"\n")
            assert len(talk._log.entries) == max(lines - 1, 0)
            assert path.read_bytes().startswith(content[: content.find(b"\n") + 1])
            query = talk.ask()
            talk.tell(query, "unsure")  # and writing goes on cleanly
        assert all(json.loads(line) for line in path.read_text().splitlines())


def test_a_long_line_cut_short_leaves_nothing_behind_the_next_one(tmp_path):
    path = tmp_path / "talk.jsonl"
    converse(path, 1).close()
    with path.open("ab") as file:
        file.write(b'{"items":[0,1],"answer":"yes","who":"' + b"x" * 500)
    converse(path, 1).close()
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 3


def test_the_answer_is_on_disk_before_tell_returns(tmp_path, monkeypatch):
    path, seen = tmp_path / "talk.jsonl", []
    synced = os.fsync
    monkeypatch.setattr(log_module.os, "fsync", lambda f: (synced(f), seen.append(path.read_bytes().count(b"\n"))))
    with converse(path, 2):
        assert seen == [1, 2, 3]


def test_a_full_disk_takes_no_answer_and_leaves_no_half_line(tmp_path, monkeypatch):
    path = tmp_path / "talk.jsonl"
    with converse(path, 2) as talk:
        before, content = state(talk), path.read_bytes()

        def full(_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(log_module.os, "fsync", full)
        with pytest.raises(LinkwiseError, match="No space left on device"):
            talk.tell(talk.ask(), "yes")
        assert path.read_bytes() == content
        assert state(talk) == before
        monkeypatch.undo()
        talk.tell(talk.ask(), "yes")
        assert path.read_bytes().count(b"\n") == 4


class Disk(FileIO):
    """A file on a disk that may have room for a few bytes only."""

    room = None

    def write(self, line):
        if self.room == 0:
            raise OSError(28, "No space left on device")
        written = super().write(line[: self.room])
        self.room = None if self.room is None else self.room - written
        return written


def test_after_a_write_that_fails_half_way_the_log_takes_answers_again_and_opens_with_all_of_them(
    tmp_path, monkeypatch
):
    path = tmp_path / "talk.jsonl"
    monkeypatch.setattr(log_module, "FileIO", Disk)
    with converse(path, 2) as talk:
        before, content = state(talk), path.read_bytes()
        talk._log._file.room = 5
        with pytest.raises(LinkwiseError, match="No space left on device"):
            talk.tell(talk.ask(), "no")
        assert path.read_bytes() == content
        assert state(talk) == before
        talk._log._file.room = None
        for _ in range(2):
            talk.tell(talk.ask(), "no")
        told = state(talk)
    with Dialogue(X, strategy=RandomPairs(), log=path) as again:
        assert state(again) == told
        assert [answer.number for answer in again.answers] == [0, 1, 2, 3]


def test_a_refused_answer_is_in_no_memory_that_an_undo_reads(tmp_path, monkeypatch):
    path = tmp_path / "talk.jsonl"
    monkeypatch.setattr(log_module, "FileIO", Disk)
    with converse(path, 2) as talk:
        talk._log._file.room = 0
        with pytest.raises(LinkwiseError, match="was not taken"):
            talk.tell((4, 7), "yes")
        talk._log._file.room = None
        talk.undo()
        talk.tell((0, 5), "no")
        told = state(talk)
    with Dialogue(X, strategy=RandomPairs(), log=path) as again:
        assert state(again) == told
        assert (4, 7) not in [answer.items for answer in told[0]]
        assert [answer.number for answer in told[0]] == [0, 2]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"X": X + 1}, "data"),
        ({"X": X[:6]}, "n_samples"),
        ({"random_state": 3}, "seed"),
        ({"metric": "cosine"}, "metric"),
    ],
)
def test_the_log_of_another_dialogue_is_refused_and_untouched(tmp_path, change, word):
    path = tmp_path / "talk.jsonl"
    converse(path, 1).close()
    content = path.read_bytes()
    with pytest.raises(LinkwiseError, match=f"another dialogue: {word} is"):
        Dialogue(**({"X": X, "strategy": RandomPairs(), "log": path} | change))
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name,age\n1,2\n", "not the log of a dialogue"),
        (b"no newline at all", "not the log of a dialogue"),
        (b'{"format":"other/1"}\n', "not the log of a dialogue"),
        (b"\xff\xfe\x00\n", "not the log of a dialogue"),
        (b"[]\n", "not the log of a dialogue"),
    ],
)
def test_foreign_files_are_refused_and_untouched(tmp_path, content, message):
    path = tmp_path / "talk.jsonl"
    path.write_bytes(content)
    with pytest.raises(LinkwiseError, match=message):
        Dialogue(X, strategy=RandomPairs(), log=path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "line",
    [
        "junk",
        '{"items":[1,0],"answer":"yes"}',
        '{"items":[0,1],"answer":"first"}',
        '{"answer":"yes"}',
        '{"undo":"x"}',
        '{"items":[0,0],"answer":"yes"}',
    ],
)
def test_a_damaged_line_is_named(tmp_path, line):
    path = tmp_path / "talk.jsonl"
    converse(path, 1).close()
    path.write_text(path.read_text() + line + "\n")
    content = path.read_bytes()
    with pytest.raises(LinkwiseError, match="line 3"):
        Dialogue(X, strategy=RandomPairs(), log=path)
    assert path.read_bytes() == content


def test_two_processes_do_not_share_a_log(tmp_path):
    path = tmp_path / "talk.jsonl"
    code = (
        "import sys, numpy as np; from linkwise.active import Dialogue, RandomPairs\n"
        "try: Dialogue(np.arange(12.0).reshape(-1, 1), strategy=RandomPairs(), log=sys.argv[1])\n"
        "except ValueError as error: print(error)"
    )
    with converse(path, 1):
        out = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True).stdout
    assert "in another process" in out


def test_a_closed_log_says_so_and_a_place_that_cannot_be_written_too(tmp_path):
    talk = converse(tmp_path / "talk.jsonl", 1)
    talk.close()
    query = talk.ask()
    with pytest.raises(LinkwiseError, match="is closed"):
        talk.tell(query, Answer.YES)
    with pytest.raises(LinkwiseError, match="cannot be opened"):
        Dialogue(X, strategy=RandomPairs(), log=tmp_path / "missing" / "talk.jsonl")
