"""The benchmark of the front door draws the same statements every time, keeps its cells, and counts right."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import _front_cells as cells, _front_constants as constants, front_door
from benchmarks._front_constants import Constant, choose_elsewhere, in_force, table
from linkwise import Kind
from linkwise.engines.consensus import _estimator, _votes

Y = np.repeat([0, 1, 2], 20)


def test_smaller_amounts_are_among_larger_ones_and_follow_the_classes():
    few, many = (cells.random_pairs(Y, amount, 3) for amount in (25, 50))
    assert {tuple(row) for row in few.items.tolist()} < {tuple(row) for row in many.items.tolist()}
    a, b = many.items[:, :2].T
    assert np.array_equal(many.kind == Kind.MUST_LINK, Y[a] == Y[b])


def test_some_pairs_are_wrong():
    told = cells.random_pairs(Y, 50, 3, wrong=5)
    a, b = told.items[:, :2].T
    assert ((told.kind == Kind.MUST_LINK) != (Y[a] == Y[b])).sum() == 5


def test_triplets_are_of_two_classes():
    a, b, c = Y[cells.random_triplets(Y, 12, 0).items].T
    assert ((a == b) & (a != c)).all()


def test_a_large_set_keeps_the_shares_of_its_classes():
    y = np.repeat([0, 1, 2], [600, 300, 100])
    assert np.bincount(y[cells.stratified(y, 50)]).tolist() == [30, 15, 5]


def test_a_kept_cell_is_not_computed_again(tmp_path):
    for kept in (cells.Kept(None), cells.Kept(tmp_path)):
        assert kept.once({"a": 1}, lambda: {"ari": 0.5}) == {"ari": 0.5}
        assert kept.once({"a": 1}, lambda: pytest.fail("computed again")) == {"ari": 0.5}


def test_a_constant_is_changed_for_a_while():
    before = _estimator.FLOOR
    with in_force("FLOOR", 0.5):
        assert _estimator.FLOOR == _votes.FLOOR == 0.5
    assert _estimator.FLOOR == _votes.FLOOR == before


@pytest.mark.parametrize("constant", constants.CONSTANTS, ids=lambda one: f"{one.name} {one.cells}")
def test_the_first_value_of_each_constant_is_the_one_in_force(constant):
    (value,) = {constant.show(getattr(m, constant.name)) for m in constants.MODULES if hasattr(m, constant.name)}
    assert value == constant.show(constant.values[0])


def test_values_are_chosen_on_the_other_sets():
    scores = {"one": [0.5, 0.9], "two": [0.6, 0.5], "three": [0.6, 0.5]}
    assert choose_elsewhere(scores) == {"one": 0, "two": 1, "three": 1}
    line = table([(Constant("FLOOR", (0.02, 0.1), "pairs"), scores)])[2]
    assert line == "| `FLOOR` | pairs | 0.02: 0.567, 0.1: 0.633 | 0.02 (1), 0.1 (2) | 0.567 | 0.500 |"


def test_facts_of_hand_made_cells(monkeypatch):
    monkeypatch.setattr(front_door, "samples", lambda _: (None, np.array([0, 1, 1])))
    door = {"ari": 0.5, "broken": 1, "k": 3}
    cell = {"cluster": door, "COPKMeans": {"ari": 0.6}}
    rows = front_door.facts({("a", 0): {"cluster": {"ari": 0.9}}}, {(25, "a", 0): cell}, [25])
    assert [row[1] for row in rows] == ["1", "1", "1 of 1", "-0.400", "0%", "-0.100"]


def test_a_set_that_is_not_there_is_named(capsys, monkeypatch):
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    assert front_door.main(["--sets", "tr23", "--quick"]) == 0
    assert capsys.readouterr().out.startswith("tr23 is left out: ")


def test_quick_runs_print_all_tables(tmp_path, capsys):
    command = ["--quick", "--keep", str(tmp_path), "--sets", "iris"]
    assert front_door.main(command) == 0
    first = capsys.readouterr()
    assert [line for line in first.out.splitlines() if line.startswith("#")] == [
        "## Random pairs, 1 sets, 1 seeds",
        '## 100 pairs, some of them wrong, trust="doubtful"',
        "## Triplets",
    ]
    assert "peers left out" in first.err
    assert front_door.main(command) == 0
    assert capsys.readouterr().out == first.out
    assert front_door.main(["--quick", "--keep", str(tmp_path), "--constants"]) == 0
    assert "| `_SWEEPS` | pairs | 6: " in capsys.readouterr().out


def test_the_cost_is_printed(capsys):
    assert front_door.main(["--quick", "--cost"]) == 0
    head, _, line, *_ = capsys.readouterr().out.splitlines()
    assert "peak MB" in head
    assert line.startswith("| 200 | hard | ")
