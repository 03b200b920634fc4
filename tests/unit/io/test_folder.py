"""Output files appear whole or not at all."""

from __future__ import annotations

import csv
import io

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
