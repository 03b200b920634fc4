"""Rules about clusters are small frozen values that refuse nonsense."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from linkwise.constraints import MaxCentroidDistance, MinSeparation, NeighborWithin, Rule, SizeBetween
from linkwise.exceptions import ConstraintError

NUMERIC = [(MinSeparation, "delta"), (NeighborWithin, "epsilon"), (MaxCentroidDistance, "gamma")]


@pytest.mark.parametrize(("rule", "name"), NUMERIC)
def test_a_rule_holds_one_number_as_float(rule, name):
    made = rule(2)
    assert isinstance(made, Rule)
    assert isinstance(getattr(made, name), float)
    assert repr(made) == f"{rule.__name__}({name}=2.0)"
    assert getattr(rule(np.float32(0.5)), name) == 0.5
    assert getattr(rule(np.int64(3)), name) == 3.0
    assert getattr(rule(0), name) == 0.0


@pytest.mark.parametrize(("rule", "name"), NUMERIC)
@pytest.mark.parametrize("bad", [-1, np.nan, "1", None, True, [1.0]])
def test_a_rule_refuses_what_is_no_length(rule, name, bad):
    with pytest.raises(ConstraintError, match=rf"{rule.__name__}: {name} is .*expected a number >= 0"):
        rule(bad)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0, None, "low is 0, expected a whole number >= 1"),
        (1.5, None, "low is 1.5, expected a whole number"),
        (True, None, "low is True, expected a whole number"),
        (1, 0, "high is 0, expected a whole number"),
        (3, 2, "low is 3 and high is 2, expected low <= high"),
    ],
)
def test_sizes_are_whole_and_ordered(low, high, words):
    with pytest.raises(ConstraintError, match=words):
        SizeBetween(low, high)


def test_sizes_take_numpy_integers():
    assert SizeBetween(np.int64(2), np.int32(5)) == SizeBetween(2, 5)


def test_rules_compare_and_hash_by_content():
    assert MinSeparation(1) == MinSeparation(1.0)
    assert MinSeparation(1) != NeighborWithin(1)
    assert len({MinSeparation(1), MinSeparation(1.0), SizeBetween(2), SizeBetween(2, None)}) == 2
    assert pickle.loads(pickle.dumps(SizeBetween(2, 5))) == SizeBetween(2, 5)


def test_rules_are_frozen():
    rule = MinSeparation(1)
    with pytest.raises(AttributeError):
        rule.delta = 2
