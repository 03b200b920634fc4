"""The table about sparse text runs from one command."""

from __future__ import annotations

from benchmarks import newsgroups


def test_the_quick_run_prints_a_line_for_each_method_and_says_who_refuses(capsys):
    only = ["COPKMeans", "ReCon", "MPCKMeans"]
    assert newsgroups.main(["--quick", "--pairs", "5", "--only", *only]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("60 postings, 500 terms")
    assert [line.split()[1] for line in lines[4:]] == only
    assert "refuses: MPCKMeans needs dense X" in lines[-1]


def test_statements_are_true_and_of_a_kind_the_method_takes():
    _, y = newsgroups.read(quick=True)
    pairs = newsgroups.draw(y, 10, frozenset({newsgroups.Kind.MUST_LINK}))
    triplets = newsgroups.draw(y, 10, frozenset({newsgroups.Kind.TRIPLET}))
    assert pairs.n_statements == triplets.n_statements == 10
    a, b, c = triplets.items.T
    assert (y[a] == y[b]).all()
    assert (y[a] != y[c]).all()
