"""The command line over blocks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from linkwise.cli import main
from tests.unit.scale.test_blocks import contents, planted, write_files, write_statements


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, _, must, cannot = planted()
    write_files(tmp_path / "data", X, [400])
    write_statements(tmp_path / "said.csv", must, cannot)
    return tmp_path


def test_workers_and_this_process_write_the_same_bytes(folder, capsys):
    common = ["cluster", "data", "-c", "said.csv", "-k", "4", "--block-rows", "300"]
    assert main([*common, "--workers", "0", "-o", "here"]) == 0
    said = capsys.readouterr()
    assert "1,200 rows of 3 numbers in 4 blocks, 4 clusters" in said.err
    assert "cannot-links hold in 1,200 labels." in said.out
    assert main([*common, "--workers", "1", "--memory-limit", "1GiB", "-o", "there", "--json", "--block-tree"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["hard_statements_hold"] is True
    assert told["tree"]["ok"] is True
    assert sum(told["sizes"]) == told["samples"] == 1200
    assert contents(folder / "here") == contents(folder / "there")


def test_columns_are_named_one_by_one_or_as_a_list(folder, capsys):
    for out, named in (("a", ["x0,x2"]), ("b", ["x0", "x2"])):
        columns = [word for name in named for word in ("--columns", name)]
        assert main(["cluster", "data", "-k", "4", "--workers", "0", *columns, "-o", out]) == 0
        assert "1,200 rows of 2 numbers" in capsys.readouterr().err
    assert contents(folder / "a") == contents(folder / "b")


def test_empty_clusters_are_told_and_not_counted(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.repeat([[0.0], [1.0]], 5, axis=0))
    assert main(["cluster", "x.npy", "-k", "3", "--workers", "0", "-o", "out"]) == 0
    said = capsys.readouterr()
    assert "10 samples in 2 clusters" in said.out
    assert "warning: 1 of the 3 clusters is empty" in said.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--workers", "0"], 2, "needs a number of clusters"),
        (["--workers", "0", "-k", "4", "--linkage", "ward"], 2, "--linkage does not go together with --workers"),
        (["--workers", "1", "--scheduler", "tcp://127.0.0.1:1", "-k", "4"], 2, "give one of them"),
        (["--block-rows", "5", "-k", "4"], 2, "--workers 0 runs over blocks here"),
        (["--workers", "0", "-k", "4", "--columns", "y"], 1, "has no column 'y'"),
        (["--workers", "0", "-k", "1"], 4, "cannot hold"),
    ],
)
def test_wrong_usage_is_told_without_a_traceback(folder, capsys, arguments, code, words):
    assert main(["cluster", "data", "-c", "said.csv", "-o", "out", *arguments]) == code
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said
    assert not (folder / "out").exists()


def test_a_missing_number_is_told_with_its_row(folder, capsys):
    X = np.ones((10, 2))
    X[3, 1] = np.nan
    np.save("x.npy", X)
    assert main(["cluster", "x.npy", "-k", "2", "--workers", "0", "-o", "out"]) == 1
    assert "x.npy, row 3: column '1' is missing or not finite" in capsys.readouterr().err


def test_hints_name_options_of_the_command(folder, capsys):
    pq.write_table(pa.table({"name": ["a", "b"], "x y": [1.0, 2.0]}), "names.parquet")
    said = ["must_link,a,b\n", "must_link,0,9\n"]
    for data, rows, words in (
        ("names.parquet", None, "--columns 'x y' names the columns to compare by, --id name a column of names."),
        ("data", said[0], "Hint: --id NAME is the column that does; without it statements hold row numbers."),
    ):
        Path("rows.csv").write_text("kind,a,b\n" + (rows or said[1]))
        assert main(["cluster", data, "-c", "rows.csv", "-k", "2", "--workers", "0", "-o", "out"]) == 1
        assert words in capsys.readouterr().err
    assert main(["cluster", "data", "-k", "2", "--workers", "0", "-o", "out"]) == 0
    assert main(["cluster", "data", "-k", "2", "--workers", "0", "-o", "out"]) == 1
    assert "--force replaces them" in capsys.readouterr().err
