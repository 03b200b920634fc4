"""The progress callback: counts up to the end, belongs to its block, and may stop the work."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from linkwise import ConstrainedAgglomerative, Constraints, ReCon
from linkwise.constraints import NeighborWithin
from linkwise.engines import _progress, progress
from linkwise.engines._progress import current_progress

LINKAGES = ("single", "complete", "average", "weighted", "ward", "centroid", "median")


def points(n=60):
    return np.random.default_rng(0).normal(size=(n, 2))


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("estimator", [ConstrainedAgglomerative, ReCon])
def test_counts_rise_to_the_number_of_merges(estimator, linkage):
    seen = []
    with progress(lambda done, total: seen.append((done, total))):
        estimator(linkage=linkage).fit(points())
    done = [d for d, _ in seen]
    assert done == sorted(done)
    assert seen[-1] == (59, 59)
    assert all(isinstance(v, int) for pair in seen for v in pair)


def test_a_forest_ends_below_the_total():
    seen = []
    with progress(lambda done, total: seen.append((done, total))):
        ConstrainedAgglomerative(None).fit(points(), constraints=Constraints.build(60, rules=NeighborWithin(0.1)))
    assert 0 < seen[-1][0] < 59
    assert seen[-1][1] == 59


def test_the_callback_does_not_change_the_result():
    X = points()
    plain = ReCon().fit(X)
    with progress(lambda done, total: None):
        watched = ReCon().fit(X)
    assert_array_equal(plain.labels_, watched.labels_)


def test_blocks_nest_and_end():
    outer, inner = [], []
    assert current_progress() is None
    with progress(lambda *_: outer.append(1)):
        with progress(lambda *_: inner.append(1)):
            ReCon().fit(points(5))
        assert not outer
        ReCon().fit(points(5))
    assert inner
    assert outer
    assert current_progress() is None


def test_a_block_ends_when_it_fails():
    def stop(done, total):
        raise RuntimeError

    with pytest.raises(RuntimeError), progress(stop):
        ConstrainedAgglomerative().fit(points(5))
    assert current_progress() is None


def test_other_threads_are_not_watched():
    seen, found = [], []
    with progress(lambda *_: seen.append(1)):
        other = threading.Thread(target=lambda: found.append(current_progress()))
        other.start()
        other.join()
    assert found == [None]
    assert not seen


class Terminal:
    """A stream that is a terminal, or is none."""

    def __init__(self, tty):
        self.tty, self.text = tty, ""

    def isatty(self):
        return self.tty

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def shown(monkeypatch, *, tty, notebook=False):
    """What is shown of two fits that take a second for each hundredth."""
    stream, now = Terminal(tty), [0.0]
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    if notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", object())
    with progress():
        for _ in range(2):
            for done in range(1, 101):
                now[0] += 1.0
                current_progress()(done, 100)
    return stream.text


def test_without_a_callback_a_line_shows_the_time_that_is_left(monkeypatch):
    text = shown(monkeypatch, tty=True)
    lines = [line.rstrip() for line in text.split("\r")]
    assert lines[40] == "40 % after 40 s, about 60 s left"
    assert lines[-3:] == ["100 % after 99 s, about 0 s left", "", ""]  # cleared at the end
    assert "\n" not in text


def test_a_notebook_is_shown_the_same_and_a_file_each_tenth(monkeypatch):
    monkeypatch.setattr(_progress.sys, "modules", {**sys.modules})
    assert "\r40 % after 40 s" in shown(monkeypatch, tty=False, notebook=True)
    monkeypatch.delitem(sys.modules, "ipykernel")
    lines = shown(monkeypatch, tty=False).splitlines()
    assert len(lines) == 20
    assert lines[3] == "linkwise: 40 % after 40 s, about 60 s left"


def test_short_fits_show_nothing(capsys):
    with progress():
        ConstrainedAgglomerative().fit(points(5))
    assert capsys.readouterr().err == ""
