"""A cell is known by its content, in every process, and refuses what it cannot mean."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from linkwise.exceptions import LinkwiseError
from studies.experiments import Cell, grid

BASE = {"engine": "ReCon", "data": "iris", "knowledge": "triplets", "amount": 10, "noise": 0.1, "seed": 3}


def test_the_key_depends_on_content_and_on_nothing_else():
    first = Cell(**BASE, params={"a": 1, "b": [1, 2]})
    assert first.key() == Cell(**BASE, params=[("b", (1, 2)), ("a", 1)]).key()
    assert (
        first.key()
        == Cell(**{**BASE, "amount": np.int64(10), "noise": np.float64(0.1)}, params={"b": [1, 2], "a": 1}).key()
    )
    assert Cell(**{**BASE, "noise": 0}).key() == Cell(**{**BASE, "noise": 0.0}).key()
    assert hash(first) == hash(Cell(**BASE, params={"b": [1, 2], "a": 1}))


@pytest.mark.parametrize(
    "change",
    [
        {"engine": "Other"},
        {"data": "wine"},
        {"knowledge": "pairs"},
        {"amount": 11},
        {"noise": 0.2},
        {"seed": 4},
        {"params": {"a": 1}},
        {"data_params": {"a": 1}},
        {"prepare": "standard"},
    ],
)
def test_every_field_changes_the_key(change):
    assert Cell(**BASE).key() != Cell(**{**BASE, **change}).key()


def test_the_context_changes_the_key():
    cell = Cell(**BASE)
    assert len({cell.key(), cell.key(code="a"), cell.key(code="b"), cell.key(version="a")}) == 4


def test_the_key_is_the_same_in_every_process():
    code = "from studies.experiments import Cell; print(Cell('ReCon', 'iris', params={'x': 1, 'y': 'ä'}).key())"
    other = str(1 + hash("seed") % 1000)  # hashes there differ from those here
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": other},
    )
    assert ended.stdout.strip() == Cell("ReCon", "iris", params={"x": 1, "y": "ä"}).key()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"engine": ""}, "engine"),
        ({"data": 3}, "data"),
        ({"amount": 1.0}, "amount"),
        ({"amount": -1}, "amount"),
        ({"amount": True}, "amount"),
        ({"seed": None}, "seed"),
        ({"noise": 1.5}, "noise"),
        ({"noise": float("nan")}, "noise"),
        ({"knowledge": "guesses"}, "knowledge"),
        ({"prepare": "clean"}, "prepare"),
        ({"params": {"a": object()}}, "params"),
        ({"params": {"a": float("nan")}}, "params"),
        ({"params": {1: 2}}, "params"),
        ({"params": [1]}, "params"),
        ({"data_params": {"a": {1, 2}}}, "data_params"),
    ],
)
def test_what_a_cell_cannot_mean_is_refused(change, what):
    with pytest.raises(LinkwiseError, match=f"^a cell's {what} is .*, expected"):
        Cell(**{**BASE, **change})


def test_a_grid_crosses_everything():
    made = grid(
        engine=["A", ("B", {"k": 1})], data="iris", amount=np.array([0, 5]), seed=range(3), knowledge="pairs", noise=0.5
    )
    assert len(made) == len(set(made)) == 12
    assert {cell.label for cell in made} == {"A", "B(k=1)"}
    assert {cell.amount for cell in made} == {0, 5}
    assert all(cell.noise == 0.5 for cell in made)
    assert grid(engine=("B", {"k": 1}), data="iris") == [Cell("B", "iris", params={"k": 1})]


@pytest.mark.parametrize("axis", ["amounts", "params"])
def test_a_grid_refuses_what_no_cell_has(axis):
    with pytest.raises(LinkwiseError, match=f"grid does not know {axis}"):
        grid(engine="A", data="iris", **{axis: [1]})
