"""The table of k-means methods runs from one command; the peer is told apart when it is not there."""

from __future__ import annotations

import sys

from benchmarks.kmeans import draw, main, peer
from linkwise import check


def test_the_quick_run_prints_one_line_per_contender(capsys):
    assert main(["--quick", "--seeds", "1"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["n", "said", "who"]
    assert len(lines) == 4
    assert lines[0].split()[-1] == "0"


def test_statements_are_true_of_the_classes():
    X, said = draw(100, 50)
    assert len(X) == 100
    assert said.n_statements == 50
    assert check(said, n_clusters=10).status == "feasible"


def test_a_peer_that_does_not_run_says_why():
    X, said = draw(30, 5)
    run = peer(sys.executable, 60.0)(X, said, 0)
    assert run.said.startswith("does not run: ModuleNotFoundError")
    assert run.broken == -1


def test_the_quick_run_of_methods_that_weigh(capsys):
    assert main(["--quick", "--soft", "--seeds", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    who = [line.split()[2] for line in lines[1:]]
    assert who == ["PCKMeans", "PCKMeans,", "PCKMeans,", "the", "who", "PCKMeans,", "KMeans,", "MPCKMeans"]
    assert "does not run: ModuleNotFoundError" in lines[4]
