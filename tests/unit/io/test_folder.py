"""Output files appear whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from linkwise.exceptions import LinkwiseError
from linkwise.io import Folder, csv_line


def test_files_take_their_places_together(tmp_path):
    with Folder(tmp_path / "new" / "out", ["a.txt", "b.txt"], force=False) as folder:
        folder.write("a.txt", "one\n")
        folder.write("b.txt", "two\n")
        assert not (tmp_path / "new" / "out" / "a.txt").exists()
    assert sorted(path.name for path in (tmp_path / "new" / "out").iterdir()) == ["a.txt", "b.txt"]
    assert (tmp_path / "new" / "out" / "a.txt").read_text() == "one\n"


def test_a_failure_leaves_the_old_files_and_nothing_half_written(tmp_path):
    (tmp_path / "a.txt").write_text("old")

    def fail_halfway():
        with Folder(tmp_path, ["a.txt", "b.txt"], force=True) as folder:
            folder.write("a.txt", "new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "old"}


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    def write():
        with Folder(tmp_path, ["a.txt"], force=False) as folder:
            folder.write("a.txt", "new")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write()
    assert list(tmp_path.iterdir()) == []


def write_all(folder, who):
    with folder:
        for name in folder.names:
            folder.write(name, who)


@pytest.mark.parametrize("force", [True, False])
def test_of_two_that_write_at_once_one_has_its_way_whole(tmp_path, monkeypatch, force):
    names = ["a.txt", "b.txt", "c.txt"]
    first, second = (Folder(tmp_path, names, force=force) for _ in range(2))
    errors = []

    def meanwhile():
        try:
            write_all(second, "second")
        except LinkwiseError as refused:
            errors.append(str(refused))

    other = threading.Thread(target=meanwhile)
    plain = Path.replace

    def slowly(self, target):
        plain(self, target)
        if other.ident is None:  # after the first of three files somebody else is done, and wants the same places
            other.start()
            other.join(0.5)

    monkeypatch.setattr(Path, "replace", slowly)
    write_all(first, "first")
    other.join()
    left = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert left == dict.fromkeys(names, "second" if force else "first")
    assert ["already" in words for words in errors] == ([] if force else [True])


def test_killed_at_any_moment_every_file_is_whole_and_old_or_new(tmp_path):
    script = """
import os, signal, sys
from pathlib import Path
from linkwise._files import write_whole
from linkwise.io import Folder

def steps(after):
    # killed when so many calls that can change a file have returned
    count = [0]
    def watch(frame, event, called):
        if event == "c_return" and called.__name__ in ("open", "write", "flush", "fsync", "replace"):
            count[0] += 1
            if count[0] == after:
                os.kill(os.getpid(), signal.SIGKILL)
    return watch

def work():
    with Folder("out", ["a.txt", "b.txt"], force=True) as folder:
        folder.write("a.txt", "new" * 10000)
        folder.write("b.txt", "new" * 10000)
    write_whole(Path("out/c.txt"), [b"new" * 5000, b"new" * 5000])

seen = set()
for after in range(1, 200):
    for name in "abc":
        Path(f"out/{name}.txt").write_text("old")
    child = os.fork()
    if not child:
        sys.setprofile(steps(after))
        work()
        os._exit(0)
    killed = os.waitpid(child, 0)[1]
    left = tuple(Path(f"out/{name}.txt").read_text() for name in "abc")
    assert set(left) <= {"old", "new" * 10000}, (after, [text[:9] for text in left])
    seen.add(tuple(text[:3] for text in left))
    if not killed:
        break
print(after, len(seen))
"""
    (tmp_path / "out").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    kills, states = map(int, done.stdout.split())
    assert kills > 15  # openings, writes, flushes and moves
    assert states == 4  # nothing new; a; a and b; all


def test_existing_files_are_replaced_only_when_told(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(LinkwiseError, match=r"holds a\.txt already\.\nHint: give --force"):
        Folder(tmp_path, ["a.txt"], force=False)
    with Folder(tmp_path, ["a.txt"], force=True) as folder:
        folder.write("a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "new"


def test_an_input_is_never_overwritten(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(LinkwiseError, match="is an input and would be overwritten"):
        Folder(tmp_path, ["a.txt"], force=True, inputs=["-", str(tmp_path / "a.txt")])


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(LinkwiseError, match="is a file, expected a folder"):
        Folder(tmp_path / "out", ["a.txt"], force=False)


@pytest.mark.parametrize("value", ["plain", 'quo"te', "com,ma", "new\nline", "ünï", "-5", "+1.5e3"])
def test_csv_cells_come_back_as_they_were(value):
    assert next(csv.reader(io.StringIO(csv_line(value, 1), newline=""))) == [value, "1"]


@pytest.mark.parametrize("value", ["=1+1", "+cmd()", "-x", "@SUM(A1)", "\tx"])
def test_a_spreadsheet_is_given_no_formula(value):
    assert next(csv.reader(io.StringIO(csv_line(value), newline=""))) == ["'" + value]


def test_what_a_killed_process_left_is_cleared_by_the_next_that_succeeds(tmp_path):
    script = (
        "import os, signal, sys\n"
        "from linkwise.io import Folder, write_labels\n"
        "with Folder(sys.argv[1], ['labels.csv', 'a.txt'], force=False) as folder:\n"
        "    folder.write('a.txt', 'half')\n"
        "    write_labels(folder.path('labels.csv'), [0, 1])\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], env=environment, check=False)
    kept = tmp_path / ".partial.of.somebody.else"
    kept.touch()
    assert len(list(tmp_path.glob(".*.partial*"))) > 1
    with pytest.raises(ValueError, match="stop"), Folder(tmp_path, ["a.txt"], force=False):
        raise ValueError("stop")
    assert len(list(tmp_path.glob(".*.partial*"))) > 1, "only success clears"
    with Folder(tmp_path, ["a.txt"], force=False) as folder:
        folder.write("a.txt", "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [kept.name, "a.txt"]


def test_what_another_process_is_writing_is_left_alone(tmp_path):
    with Folder(tmp_path, ["slow.txt"], force=False) as slow:
        slow.write("slow.txt", "not yet")
        with Folder(tmp_path, ["quick.txt"], force=False) as quick:
            quick.write("quick.txt", "done")
        assert slow.path("slow.txt").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["quick.txt", "slow.txt"]
