"""What the command line takes beside the fit is measured by one command."""

from __future__ import annotations

from benchmarks.command_line import main


def test_the_quick_run_prints_seconds_and_ratios(capsys):
    main(["--quick"])
    head, *lines, ratios = capsys.readouterr().out.splitlines()
    assert head.startswith("300 x 16, 30 statements")
    assert [line.split()[0] for line in lines] == ["help", "fit", "script", "cluster"]
    assert ratios.split()[:3] == ["cluster", "/", "script"]
