"""The comparison with other libraries runs from one command and words its figures rightly. Nothing here is timed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import benchmarks
from benchmarks import _child, _contenders
from benchmarks._command import _short, main, read_arguments
from benchmarks._data import SHAPES, tree_of_shape
from benchmarks._measure import Comparison, Goal, Pair, Row, Spread, measure
from benchmarks._sections import SECTIONS, TRIPLET_CASES, Plan
from linkwise.engines import agglomerate

COMMAND = Path(benchmarks.__file__).with_name("peers.py")


def test_the_quick_run_prints_ratios_and_writes_them(tmp_path):
    figures = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, str(COMMAND), "--quick", "--section", "recon", "--repeats", "1", "--json", str(figures)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "wall ratio" in done.stdout
    assert "0 statements broken" in done.stdout
    rows = json.loads(figures.read_text(encoding="utf-8"))["rows"]
    for row in rows:
        assert not row["failed"]
        assert all(0 < spread["low"] <= spread["best"] <= spread["high"] for spread in row["figures"].values())
        best = row["figures"].get("wall", row["figures"].get("per triplet"))["best"]
        assert re.search(rf"\b{_short(best)} \(", done.stdout)
    assert sum("live set" in row["case"] for row in rows) == 3
    if "fastcluster" not in _contenders.find_missing():
        assert {"fastcluster", "fastcluster.linkage_vector"} <= {row["against"] for row in rows}


def test_a_fresh_process_is_measured_with_its_memory_and_the_same_tree_is_noticed():
    sides = [{"who": "linkwise", "method": "average", "dtype": "float64"}, {"who": "scipy", "method": "average"}]
    data = {"make": "blobs", "n": 400}
    (row,) = measure(Comparison("dense", "a case", data, sides, [Pair(0, 1, (Goal("wall", 1e9),))], fresh=True), 1)
    assert (row.ours, row.against) == ("linkwise float64", "scipy")
    assert "same tree" in row.notes
    assert row.verdicts() == [(Goal("wall", 1e9), True)]
    if sys.platform != "win32":
        assert row.peak_mb[1] is not None
        assert 0 <= row.peak_mb[1] < 500


def test_a_peer_that_fails_is_named_and_the_others_go_on():
    job = {"data": {"make": "blobs", "n": 100}, "fresh": False, "rounds": 1}
    contenders = [{"who": "linkwise", "method": "ward"}, {"who": "scikit-learn", "method": "median"}]
    ours, theirs = _child.compare({**job, "contenders": contenders})
    assert len(ours["wall"]) == len(ours["cpu"]) == 1
    assert "error" not in ours
    assert theirs["error"]
    assert theirs["wall"] == []


def test_whoever_builds_a_tree_of_triplets_builds_the_same():
    who = ["onetree", *(["tralda"] if "tralda" not in _contenders.find_missing() else [])]
    job = {"n": 12, "m": 4_000, "shape": "random", "contenders": who, "rounds": 2}
    results = _child.build(job)
    assert [len(one["wall"]) for one in results] == [2] * len(who)
    # so many triplets tell the whole tree
    assert {one["tree"] for one in results} == {_contenders.tree_digest(tree_of_shape(12, "random"), 12)}


def test_the_build_section_names_its_peer_and_its_clock(monkeypatch):
    jobs = []

    def report(job):
        jobs.append(job)
        return [{"wall": [1.0, 2.0], "cpu": [1.0, 2.0], "tree": "x"} for _ in job["contenders"]]

    monkeypatch.setattr("benchmarks._sections.run_child", report)
    monkeypatch.setattr("benchmarks._contenders.importlib.util.find_spec", lambda _name: object())
    rows = list(SECTIONS["build"](Plan()))
    assert [(job["n"], job["m"]) for job in jobs[:3]] == [(1_000, 1_000), (1_000, 50_000), (5_000, 50_000)]
    assert [job["shape"] for job in jobs[3:]] == [*SHAPES, "chain"]
    assert {(job["n"], job["m"]) for job in jobs[3:]} == {(100_000, 1_000_000)}
    assert [row.against for row in rows] == ["tralda"] * 3 + ["the clock"] * 5
    assert all(row.notes == ["same tree"] for row in rows[:3])
    assert [str(goal) for row in rows for goal, _ in row.verdicts()] == ["wall ≤ 0.04 x"] * 3 + ["seconds ≤ 30 s"] * 5
    assert [met for row in rows for _, met in row.verdicts()] == [False] * 3 + [True] * 5


def test_a_failure_of_ours_is_not_passed_over(monkeypatch, capsys):
    def broken(_plan):
        """A section that fails."""
        yield Row("dense", "a case", "linkwise", "scipy", failed="LinkwiseError: no", ours_failed=True)

    monkeypatch.setitem(SECTIONS, "dense", broken)
    assert main(["--section", "dense"]) == 1
    assert "LinkwiseError: no" in capsys.readouterr().out


def test_a_missed_goal_is_said_and_is_no_failure(monkeypatch, capsys):
    def slow(_plan):
        """A section that is too slow."""
        row = Row("dense", "a case", "linkwise", "scipy", goals=[Goal("wall", 0.5), Goal("peak", 0.5)])
        row.figures["wall"] = Spread.of_ratio([3.0, 2.0], [1.0, 2.0])
        yield row

    monkeypatch.setitem(SECTIONS, "dense", slow)
    assert main(["--section", "dense"]) == 0
    shown = capsys.readouterr().out
    assert "2.00 (1.00 2.00 3.00)" in shown
    assert "wall ≤ 0.5 x: missed" in shown
    assert "0 goals met, 1 missed, 1 not measured." in shown


def test_a_missing_peer_is_named_with_the_way_to_get_it(monkeypatch, capsys):
    def nothing(_plan):
        """A section without rows."""
        return iter(())

    monkeypatch.setattr("benchmarks._contenders.importlib.util.find_spec", lambda _name: None)
    monkeypatch.setitem(SECTIONS, "dense", nothing)
    assert _contenders.find_missing()["fastcluster"] == "pip install linkwise[bench]"
    assert not Plan().takes_part("fastcluster.linkage_vector")
    assert main(["--section", "dense"]) == 0
    assert "fastcluster is not installed and takes no part: pip install linkwise[bench]" in capsys.readouterr().out


def test_trees_are_compared_by_their_clusters_whatever_their_numbering():
    X = np.random.default_rng(0).normal(size=(30, 3))
    tree = agglomerate(X)
    Z = tree.to_linkage()
    mirrored = Z[:, [1, 0, 2, 3]]
    digest = _contenders.tree_digest(tree, 30)
    assert _contenders.tree_digest(Z, 30) == _contenders.tree_digest(mirrored, 30) == digest
    assert _contenders.tree_digest(agglomerate(X, method="single"), 30) != digest


def test_the_command_line_refuses_what_cannot_be_measured(capsys):
    for wrong, word in (
        (["--repeats", "0"], "at least 1"),
        (["--sizes", "10"], "at least 100"),
        (["--peers", "x"], "x"),
    ):
        with pytest.raises(SystemExit):
            read_arguments(wrong)
        assert word in capsys.readouterr().err
    assert read_arguments(["--quick"]).repeats == 2
    assert read_arguments([]).repeats == 5


def test_small_ratios_keep_their_digits():
    assert [_short(ratio) for ratio in (12.345, 0.25, 0.0123, 0.00041)] == ["12.35", "0.25", "0.012", "0.00041"]


def test_every_goal_of_the_triplet_cases_has_its_size():
    assert Plan(quick=True).sizes_or(3_000) == (120,)
    assert Plan(sizes=(500,)).sizes_or(3_000) == (500,)
    assert all(size >= 1_000 for _, size, _, _, limit in TRIPLET_CASES if limit)
