"""The benchmark of choosing runs, keeps what it computed, and words it."""

from __future__ import annotations

from benchmarks import choosing


def record(name, k, ari):
    """A draw in which the second of two candidates keeps everything, the first breaks every must-link."""
    bad, good = [[0, 4], [4, 4], [0, 0]], [[4, 4], [4, 4], [0, 0]]
    return {
        "set": name,
        "seed": 0,
        "samples": 9,
        "classes": 3,
        "candidates": ["a", "b", "c"],
        "k": [2, k, 9],
        "ari": [0.1, ari, None],
        "counts": [[bad] * 4, [good] * 4, [None] * 4],
        "stability": [1.0, 1.0, -1.0],
        "default": 0.5,
    }


def test_the_table_counts_near_misses_and_gaps():
    records = [record("one", 3, 0.9), record("two", 5, 0.05)]
    assert choosing.pick(records[0], "kappa simple") == 1
    lines = choosing.table(records, "kappa simple")
    assert lines[2] == "| one | 9 | 3 | 100% | 100% | 0.900 | 0.900 | 0.000 | 0.500 |"
    assert lines[3] == "| two | 9 | 3 | 0% | 0% | 0.050 | 0.100 | 0.050 | 0.500 |"
    assert "1 of 2 sets" in lines[-1]
    assert len(choosing.rules_table(records)) == 2 + 15


def test_what_was_computed_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(choosing, "run", lambda name, seed: record(name, 3, 0.9))
    first = choosing.recorded(tmp_path, "one", 0)
    monkeypatch.setattr(choosing, "run", None)
    assert choosing.recorded(tmp_path, "one", 0) == first
