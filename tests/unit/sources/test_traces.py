from __future__ import annotations

import datetime as dt
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from linkwise import Constraints, check
from linkwise.constraints import Kind
from linkwise.exceptions import LinkwiseError
from linkwise.problem import close
from linkwise.sources import _traces, contiguity, max_separation
from tests.oracles import sources as oracle
from tests.profile import examples

pytestmark = pytest.mark.kernels


def must(constraints):
    return {tuple(row) for row in constraints.of(Kind.MUST_LINK).tolist()}


def cannot(constraints):
    return {tuple(row) for row in constraints.of(Kind.CANNOT_LINK).tolist()}


# -- contiguity --------------------------------------------------------------------------------------------------------


def test_links_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    for _ in range(examples(40, 500)):
        n = int(rng.integers(0, 12))
        time = rng.integers(0, 9, n)
        trace = [[None, "a", "b", "c"][t] for t in rng.integers(0, 4, n)]
        breaks = rng.random(n) < 0.3
        gap = float(rng.integers(0, 5))
        made = contiguity(time, np.array(trace, dtype=object), max_gap=gap, breaks=breaks)
        assert must(made) == oracle.contiguous(time.tolist(), trace, gap, breaks.tolist())
        assert made.n_statements == len(must(made))


def test_breaks_may_be_times():
    time = [0, 1, 2, 3, 0, 1]
    trace = ["a", "a", "a", "a", "b", "b"]
    assert must(contiguity(time, trace, max_gap=np.inf, breaks={"a": [1.5]})) == {(0, 1), (2, 3), (4, 5)}
    assert must(contiguity(time, trace, max_gap=np.inf, breaks={"a": [2, -1, 9], "b": []})) == {(0, 1), (2, 3), (4, 5)}
    assert must(contiguity(time, trace, max_gap=np.inf, breaks={"b": [0.5], "a": [0, 3]})) == {(0, 1), (1, 2)}
    with pytest.raises(LinkwiseError, match="names the trace 'q', which has no points"):
        contiguity(time, trace, max_gap=1, breaks={"q": [1]})


def test_dates_and_times():
    stamps = ["2024-01-01T00:00:00", "2024-01-01T00:00:04", "2024-01-01T00:01:00"]
    forms = [
        np.array(stamps, dtype="datetime64[s]"),
        pd.Series(pd.to_datetime(stamps)),
        [dt.datetime.fromisoformat(s) for s in stamps],
    ]
    for form in forms:
        for gap in (np.timedelta64(5, "s"), dt.timedelta(seconds=5), pd.Timedelta("5s")):
            assert must(contiguity(form, max_gap=gap)) == {(0, 1)}
        with pytest.raises(LinkwiseError, match="expected a timedelta"):
            contiguity(form, max_gap=5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"time": [0, np.nan], "max_gap": 1}, "sample 1 has the time nan"),
        ({"time": [0, np.inf], "max_gap": 1}, "sample 1 has the time inf"),
        ({"time": ["x", "y"], "max_gap": 1}, "expected numbers or dates"),
        ({"time": [0, 1], "trace": ["a"], "max_gap": 1}, "time has 2 entries and trace 1"),
        ({"time": [0, 1], "max_gap": -1}, "max_gap is -1"),
        ({"time": [0, 1], "max_gap": np.nan}, "max_gap is nan"),
        ({"time": [0, 1], "max_gap": None}, "max_gap is None"),
        ({"time": [0, 1], "max_gap": 1, "breaks": [0, 1]}, "expected True or False for each of the 2 samples"),
        ({"time": [0, 1], "max_gap": 1, "breaks": [True]}, "breaks holds 1 values"),
    ],
)
def test_times_that_make_no_sense_are_refused(arguments, words):
    with pytest.raises(LinkwiseError, match=words):
        contiguity(**arguments)


# -- maximum separation ------------------------------------------------------------------------------------------------


def instances():
    rng = np.random.default_rng(1)
    for _ in range(examples(40, 500)):
        n = int(rng.integers(0, 12))
        position = rng.integers(0, 8, n) / 10  # tenths, whose sums and differences round differently
        yield rng, n, position, float(rng.integers(0, 6)) / 10


def test_cannot_links_are_those_of_the_definition():
    for rng, n, position, limit in instances():
        assert cannot(max_separation(position, limit)) == oracle.separated(position, limit)
        along, window = rng.integers(0, 6, n).astype(float), float(rng.integers(0, 4))
        made = max_separation(position, limit, along=along, window=window)
        assert cannot(made) == oracle.separated(position, limit, along, window)


def test_one_cannot_link_speaks_for_must_linked_groups():
    for rng, n, position, limit in instances():
        order = np.argsort(position, kind="stable")
        joined = [(int(i), int(j)) for i, j in pairwise(order) if rng.random() < 0.4]
        joined = [(i, j) for i, j in joined if abs(position[i] - position[j]) <= limit]
        given = Constraints.build(n, must_link=joined)
        everything = given | max_separation(position, limit)
        few = max_separation(position, limit, given=given)
        together = oracle.joined(n, joined)
        assert few.n_statements <= len(together) * (len(together) + 1) // 2
        feasible = check(everything).status
        assert check(given | few).status == feasible
        if feasible == "feasible":
            assert cannot(close(given | few)) == cannot(close(everything))
        along, window = rng.integers(0, 6, n).astype(float), 2.0
        everything = given | max_separation(position, limit, along=along, window=window)
        few = given | max_separation(position, limit, along=along, window=window, given=given)
        assert check(few).status == check(everything).status
        if check(few).status == "feasible":
            assert cannot(close(few)) == cannot(close(everything))


def test_only_hard_must_links_join():
    given = Constraints.build(3, must_link=[(0, 1)], cannot_link=[(1, 2)], weight={"must_link": 1.0})
    assert len(cannot(max_separation([0, 0, 9], 1, given=given))) == 2


def test_groups_that_belong_together_join_and_others_do_not():
    given = Constraints.build(6, together=[[0, 1, 2]], apart=[[3, 4]], must_link_any=[[3, 4, 5]])
    assert cannot(max_separation([0, 0, 0.5, 9, 9, 9], 1, given=given)) == {(0, 3), (0, 4), (0, 5)}
    soft = Constraints.build(4, together=[[0, 1, 2]], weight=1.0)
    assert len(cannot(max_separation([0, 0, 0, 9], 1, given=soft))) == 3


def test_a_trace_wider_than_the_limit_contradicts_itself():
    given = contiguity([0, 1, 2], max_gap=1)
    made = given | max_separation([0.0, 2.0, 4.0], 3.0, given=given)
    assert cannot(made) == {(0, 2)}
    assert check(made).status == "infeasible"


def test_too_many_are_refused_with_their_number(monkeypatch):
    position = np.arange(10_000.0)
    with pytest.raises(LinkwiseError, match=r"needs 49,985,001 cannot-links.*\n.*given=contiguity"):
        max_separation(position, 1.0)
    with pytest.raises(LinkwiseError, match="needs 49,985,001 cannot-links"):
        max_separation(position, 1.0, given=Constraints.build(10_000))
    chains = contiguity(np.arange(10_000), np.arange(10_000) // 1000, max_gap=1)
    assert max_separation(np.arange(10_000) // 1000 * 4.0, 3.0, given=chains).n_statements == 45
    monkeypatch.setattr(_traces, "_MOST_PAIRS", 100)
    with pytest.raises(LinkwiseError, match="needs 171 cannot-links"):
        max_separation(position[:20], 1.0, along=position[:20], window=np.inf)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"position": [0, np.nan], "limit": 1}, "sample 1 has the position nan"),
        ({"position": ["x"], "limit": 1}, "position does not hold numbers"),
        ({"position": [0, 1], "limit": -1}, "limit is -1"),
        ({"position": [0, 1], "limit": np.inf}, "limit is inf"),
        ({"position": [0, 1], "limit": 1, "window": 2}, "one of along and window"),
        ({"position": [0, 1], "limit": 1, "along": [0, 1]}, "one of along and window"),
        ({"position": [0, 1], "limit": 1, "along": [0], "window": 1}, "along has 1 entries"),
        ({"position": [0, 1], "limit": 1, "along": [0, 1], "window": "x"}, "window is 'x'"),
        ({"position": [0, 1], "limit": 1, "given": [(0, 1)]}, "are list, expected Constraints"),
        ({"position": [0, 1], "limit": 1, "given": Constraints.build(3)}, "are about 3 samples, but position has 2"),
    ],
)
def test_places_that_make_no_sense_are_refused(arguments, words):
    with pytest.raises(LinkwiseError, match=words):
        max_separation(**arguments)
