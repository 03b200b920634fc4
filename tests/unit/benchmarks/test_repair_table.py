"""The table of repairs runs from one command, and its workloads hold as many wrong answers as they say."""

from __future__ import annotations

from benchmarks.repair import main, noisy_pairs, noisy_triplets
from linkwise import check


def test_the_quick_run_prints_one_line_per_workload(capsys):
    assert main(["--quick"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["workload", "seed", "wrong"]
    assert len(lines) == 2


def test_answers_without_noise_hold_together():
    for said, wrong in (noisy_pairs(30, 3, 100, 0.0, 0), noisy_triplets(12, 80, 0.0, 0)):
        assert wrong == 0
        assert check(said).status == "feasible"
    said, wrong = noisy_pairs(30, 3, 100, 1.0, 0)
    assert wrong == 100
    said, wrong = noisy_triplets(12, 80, 1.0, 0)
    assert wrong == 80
    assert check(said).status == "infeasible"
