"""The table of learned metrics runs."""

from __future__ import annotations

from benchmarks import learned


def test_the_table_is_printed(capsys):
    assert learned.main(["--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("|")[2].strip() for line in lines[2:]] == ["K-Means", "ReCon"]
    figures = [float(cell) for line in lines[2:] for cell in line.split("|")[3:-1]]
    assert len(figures) == 2 * len(learned.LEARNERS)
    assert all(0 <= value <= 1 for value in figures)
