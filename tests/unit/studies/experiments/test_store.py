"""A record is there whole or not at all, also when the process dies between any two steps of writing it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from linkwise._files import write_whole
from linkwise.exceptions import LinkwiseError
from studies.experiments import read_records
from studies.experiments._store import Store

KEY = "ab" + "0" * 62
RECORD = {"status": "done", "measures": {"f": 0.25, "g": None}, "text": "ä\n"}


def test_what_was_put_is_got(tmp_path):
    store = Store(tmp_path / "new" / "folder")
    assert store.get(KEY) is None
    store.put(KEY, RECORD)
    assert store.get(KEY) == {**RECORD, "key": KEY}
    assert store.all_keys() == [KEY]
    (flat,) = read_records(tmp_path / "new" / "folder")
    assert flat["f"] == 0.25
    assert flat["g"] != flat["g"]  # a measure without a number is NaN
    assert "measures" not in flat


def test_a_file_cut_at_any_place_is_not_read(tmp_path):
    store = Store(tmp_path)
    store.put(KEY, RECORD)
    content = store.path(KEY).read_bytes()
    for length in range(len(content) - 1):  # the last byte is only the end of the line
        store.path(KEY).write_bytes(content[:length])
        assert store.get(KEY) is None
    assert read_records(tmp_path) == []
    store.put(KEY, RECORD)
    assert store.get(KEY) is not None


def test_an_altered_record_or_one_of_another_cell_is_not_read(tmp_path):
    store = Store(tmp_path)
    store.put(KEY, RECORD)
    content = store.path(KEY).read_bytes()
    store.path(KEY).write_bytes(content.replace(b"0.25", b"0.26"))
    assert store.get(KEY) is None
    other = "ab" + "1" * 62
    store.path(other).write_bytes(content)
    assert store.get(other) is None
    for strange in (b"[]", b"3", b'{"record": 1, "sha256": 2}', b'{"record": {}, "sha256": ""}', b"\xff"):
        store.path(KEY).write_bytes(strange)
        assert store.get(KEY) is None


DIE = """
import os, signal, sys, pathlib
from studies.experiments._store import Store
step, folder, key = sys.argv[1:]
def die(*a, **k): os.kill(os.getpid(), signal.SIGKILL)
real = os.fsync
if step == "before the content is safe": os.fsync = die
elif step == "before the name is there": pathlib.Path.replace = die
elif step == "before the name is safe":
    calls = []
    os.fsync = lambda handle: die() if calls else (calls.append(1), real(handle))
Store(folder).put(key, {"status": "done", "measures": {"f": 0.5}})
"""


@pytest.mark.parametrize(
    ("step", "there"),
    [("before the content is safe", False), ("before the name is there", False), ("before the name is safe", True)],
)
def test_death_between_two_steps_of_writing(tmp_path, step, there):
    store = Store(tmp_path)
    ended = subprocess.run([sys.executable, "-c", DIE, step, str(tmp_path), KEY], check=False)
    assert ended.returncode == -9
    assert (store.get(KEY) is not None) == there
    assert store.all_keys() == ([KEY] if there else [])  # what is half-written never has the name of a record
    store.put(KEY, RECORD)
    assert store.get(KEY) == {**RECORD, "key": KEY}


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"old")

    def full(handle):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [left.name for left in tmp_path.iterdir()] == ["file"]


def test_what_a_killed_process_left_is_swept_away_when_it_is_old(tmp_path):
    store = Store(tmp_path)
    store.put(KEY, RECORD)
    fresh, stale = (store.path(KEY).with_name(f".{name}.partial") for name in ("fresh", "stale"))
    fresh.write_bytes(b"{")
    stale.write_bytes(b"{")
    long_ago = fresh.stat().st_mtime - 2 * 24 * 3600
    os.utime(stale, (long_ago, long_ago))
    with store.working():
        pass
    assert fresh.exists()
    assert not stale.exists()
    assert store.get(KEY) is not None


def test_a_second_run_is_kept_out_and_let_in_afterwards(tmp_path):
    store, second = Store(tmp_path), Store(tmp_path)
    with store.working(), pytest.raises(LinkwiseError, match="another run is at work"), second.working():
        pass
    with second.working():
        pass


def test_a_file_is_no_store(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LinkwiseError, match="expected a folder"):
        Store(tmp_path / "file")
