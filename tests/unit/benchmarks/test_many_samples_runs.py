"""The benchmark of many samples on few: every section runs, and its figures are of what it says."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import many_samples
from linkwise import Kind, check


@pytest.mark.parametrize("kind", ["separated", "overlapping", "numeric", "embedding"])
def test_statements_are_true_and_rows_are_of_their_kind(kind):
    X, y, known = many_samples.blobs(500, kind=kind)
    assert len(X) == len(y) == known.n_samples == 500
    assert np.isfinite(X).all()
    assert check(known).status == "feasible"
    for pairs, same in ((known.of(Kind.MUST_LINK), True), (known.of(Kind.CANNOT_LINK), False)):
        assert len(pairs) == 25
        assert ((y[pairs[:, 0]] == y[pairs[:, 1]]) == same).all()
    if kind == "numeric":
        assert all(len(np.unique(column.round(9))) == 2 for column in X[:, 10:14].T)
    if kind == "embedding":
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)


@pytest.mark.filterwarnings("ignore:greedy merging met a dead end")
def test_sections_give_their_figures():
    found = many_samples.speed([300, 600], ["separated"])["separated"]
    assert [row["held"] for row in found["sparse"].values()] == [True] * 3
    assert found["exponent"] is not None
    made = many_samples.dense([300, 600])["dense"]
    assert {name: sorted(one["cpu_s"]) for name, one in made.items()}.popitem()[1] == [300, 600]
    assert many_samples.front(400)["front"]["has_tree"]
    assert many_samples.quality(400, 1, [])["quality"]["overlapping"]["cost_ratio"] > 0.5
    assert many_samples.apart(300, 5, 500)["apart"]["held"]
    looked = many_samples.stops(1_500)["stops"]
    assert looked["held"]
    assert all("<" in where for _, where in looked["longest_s"])
