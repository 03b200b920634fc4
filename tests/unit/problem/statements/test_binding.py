"""How statements meet the rows of X: by name when both sides have names, by position otherwise, never by guessing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from linkwise import Constraints
from linkwise.exceptions import ConstraintError
from linkwise.problem.statements._binding import bind

NAMES = ["otter", "mink", "seal", "owl"]


def known():
    return Constraints.from_ids(NAMES, must_link=[("otter", "seal")], cannot_link=[("mink", "owl")])


def frame(index, rows=4):
    return pd.DataFrame({"a": range(rows)}, index=index)


def test_none_becomes_an_empty_table():
    assert bind(None, np.zeros((3, 1)), 3) == Constraints.build(3)


def test_without_names_positions_count():
    c = Constraints.build(4, must_link=[(0, 3)])
    for X in (np.zeros((4, 1)), frame(NAMES), frame(None), pl.DataFrame({"a": range(4)})):
        assert bind(c, X, 4) is c


def test_names_on_both_sides_bind_by_name_whatever_the_order():
    bound = bind(known(), frame(["owl", "seal", "mink", "otter"]), 4)
    assert bound == Constraints.from_ids(
        ["owl", "seal", "mink", "otter"], must_link=[("otter", "seal")], cannot_link=[("mink", "owl")]
    )
    assert bound.of(0).tolist() == [[1, 3]]
    assert bound.of(1).tolist() == [[0, 2]]


def test_rows_may_be_fewer_than_names():
    bound = bind(known(), frame(["seal", "otter"], 2), 2)
    assert bound.n_samples == 2
    assert [bound.describe(i) for i in range(bound.n_statements)] == ["#0 must_link(seal, otter)"]


def test_a_default_index_is_no_name_even_after_slicing():
    c = known()
    X = frame(None)
    assert bind(c, X, 4) is c
    rows = [3, 0, 2]
    assert bind(c[rows], X.iloc[rows], 3) == c[rows]
    assert bind(c, pl.DataFrame({"a": range(4)}), 4) is c


def test_numbers_bind_to_numbers():
    c = Constraints.from_ids([10, 20, 30], must_link=[(10, 30)])
    assert bind(c, frame([30, 20, 10], 3), 3).of(0).tolist() == [[0, 2]]
    assert bind(c, frame([20, 30, 10], 3), 3).of(0).tolist() == [[1, 2]]


def test_unknown_rows_are_counted_and_a_near_name_is_offered():
    with pytest.raises(ConstraintError, match=r"names 1 item\(s\) the constraints do not know: 'minks'") as caught:
        bind(known(), frame(["otter", "minks", "seal", "owl"]), 4)
    assert "did you mean 'mink'?" in str(caught.value)
    with pytest.raises(ConstraintError, match=r"names 4 item\(s\).*\nHint: constraints were made with other ids"):
        bind(known(), frame([f"{i}x7" for i in range(4)]), 4)


def test_a_name_twice_in_the_index_cannot_be_bound():
    with pytest.raises(ConstraintError, match="names 'owl' more than once"):
        bind(known(), frame(["otter", "owl", "owl", "mink"]), 4)


def test_a_table_of_another_length_is_refused():
    with pytest.raises(ConstraintError, match=r"are about 4 samples, but X has 5 rows.\nHint: .*X\[rows\]"):
        bind(known(), np.zeros((5, 1)), 5)


@pytest.mark.parametrize("wrong", [[(0, 1)], np.zeros((2, 2), int), {"must_link": [(0, 1)]}, "abc", [0, 0, 1]])
def test_only_tables_are_constraints(wrong):
    with pytest.raises(TypeError, match=r"constraints is \w+, expected linkwise.Constraints.\nHint: Constraints.build"):
        bind(wrong, np.zeros((3, 1)), 3)
