"""The table after Klein, Kamvar and Manning runs from one command and counts rightly."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import _child, klein
from benchmarks._data import blobs, must_links_of_classes
from linkwise import Kind


def test_the_quick_table_has_a_row_for_every_set_and_method(capsys):
    assert klein.main(["--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + (len(klein.SHAPES) + 1) * len(klein.METHODS)
    for line in lines[2:]:
        figures = [float(v) for v in line[36:].split()[: len(klein.GRID[:4])]]
        assert all(0 <= v <= 1 for v in figures)


@pytest.mark.parametrize("name", [*klein.SHAPES, "iris"])
def test_data_have_the_size_asked_for_and_the_same_seed_gives_the_same(name):
    X, y = klein.points(name, 3, 50)
    assert X.shape[0] == len(y) == 50
    assert len(np.unique(y)) == (3 if name == "iris" else 2)
    np.testing.assert_array_equal(X, klein.points(name, 3, 50)[0])


def test_what_is_needed_is_counted_from_the_last_shortfall():
    grid = (0, 5, 10)
    assert klein.needed(grid, [0.5, 0.95, 0.99]) == "5"
    assert klein.needed(grid, [0.95, 0.5, 0.99]) == "10"
    assert klein.needed(grid, [0.5, 0.95, float("nan")]) == "5"
    assert klein.needed(grid, [0.5, 0.5, 0.5]) == "> 10"
    assert klein.needed(grid, [0.9, 0.9, 0.9]) == "0"


def test_disjoint_must_links_stay_within_classes():
    _, y = blobs(101, classes=7)
    pairs = must_links_of_classes(y, 30).of(Kind.MUST_LINK)
    assert len(pairs) == 30
    assert (y[pairs[:, 0]] == y[pairs[:, 1]]).all()
    assert len(np.unique(pairs)) == 60
    most = must_links_of_classes(y, 1000).of(Kind.MUST_LINK)
    assert len(most) == (np.bincount(y) // 2).sum()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_measured_loop_gives_the_same_distances(dtype):
    job = {"n": 90, "d": 3, "classes": 3, "linked": 30, "dtype": dtype, "rounds": 1}
    ours, theirs = _child.propagation(job)
    assert ours["linked"] == 30
    assert ours["off"] < (1e-12 if dtype == "float64" else 1e-5)
    assert len(ours["wall"]) == len(theirs["cpu"]) == 1
