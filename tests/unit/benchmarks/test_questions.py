"""The table of questions: runs are repeatable, wrong answers are as many as asked for, and the report counts right."""

from __future__ import annotations

import numpy as np

from benchmarks import questions
from benchmarks._data import blobs


def test_a_run_shows_each_number_of_answers_and_is_repeatable():
    X, y = blobs(60, d=2, classes=3, spread=6.0)
    for told in (False, True):
        rows = questions.converse(X, y, 0, wrong=0, told=told)
        assert len(rows) == len(questions.SHOWN)
        assert rows == questions.converse(X, y, 0, wrong=0, told=told)
        assert rows[-1] == (1.0, 0)
    assert questions.random_pairs(X, y, 0, told=True)[-1][1] == 0


def test_as_many_answers_are_wrong_as_asked_for(monkeypatch):
    X, y = blobs(150, d=2, classes=2, spread=3.0)
    talks = []

    def keep(*given, **options):
        talks.append(dialogue(*given, **options))
        return talks[-1]

    dialogue = questions.Dialogue
    monkeypatch.setattr(questions, "Dialogue", keep)
    questions.converse(X, y, 1, wrong=5, told=False)
    (talk,) = talks
    assert talk.n_asked == questions.SHOWN[-1]
    assert sum((y[a] == y[b]) != (told.answer == "yes") for told in talk.answers for a, b in [told.items]) == 5


def test_the_report_means_over_sets():
    found = {"one": np.array([[0.5, 1.0, 1.0]]), "two": np.array([[1.0, -1.0, 1.0]])}
    assert questions.report("answers", (25,), found).splitlines()[-1] == "| mean | 0.75 | +0.00 (1.00) |"
