"""Counted work: shares, ends, and the time limit that may be asked for besides."""

from __future__ import annotations

import time

import numpy as np
import pytest

from linkwise import Constraints, check, conflicts, repair, verify
from linkwise.exceptions import LinkwiseError
from linkwise.problem.explain._explanation import minimal_core
from linkwise.problem.statements._budget import STEPS, Budget


def test_what_a_share_spends_counts_above_and_no_share_is_more_than_what_is_left():
    whole = Budget(2.0)
    part = whole.share(0.5)
    inner = part.share(9.0)
    assert (part.left, inner.left) == (0.5, 0.5)
    inner.spend(0.5 * STEPS)
    assert inner.over
    assert part.over
    assert not whole.over
    assert whole.left == pytest.approx(1.5)
    assert (inner.spent, part.spent, whole.spent) == pytest.approx((0.5, 0.5, 0.5))
    whole.spend(2.0 * STEPS)
    assert whole.over
    assert whole.share(1.0).over
    assert not whole.cut


def test_without_a_time_limit_no_clock_is_read(monkeypatch):
    def read():
        raise AssertionError

    monkeypatch.setattr(time, "monotonic", read)
    budget = Budget(1.0)
    assert not budget.over
    assert budget.seconds is None
    assert not budget.share(0.1).over


def test_a_time_limit_ends_all_shares_and_is_remembered(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    budget = Budget(1.0, 10.0)
    part = budget.share(0.5)
    assert not part.over
    assert part.seconds == 10.0
    now[0] = 10.0
    assert not budget.cut  # nothing has ended yet
    assert part.over
    assert budget.over
    assert budget.cut


def test_a_budget_used_up_before_its_time_limit_was_not_cut(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    budget = Budget(1.0, 10.0)
    budget.spend(STEPS)
    now[0] = 20.0
    assert budget.over
    assert not budget.cut


def test_a_core_is_left_as_it_is_when_the_budget_ends_and_a_test_that_gave_up_decides_nothing():
    rows = np.arange(64)
    core, complete = minimal_core(rows, lambda some: {5, 40} <= set(some.tolist()))
    assert (core.tolist(), complete) == ([5, 40], True)
    budget = Budget(6 * 31_000 / STEPS)
    core, complete = minimal_core(rows, lambda some: {5, 40} <= set(some.tolist()), budget)
    assert not complete
    assert {5, 40} <= set(core.tolist())

    def gives_up(some):
        if len(some) < 10:
            budget.spend(STEPS)
            return False
        return {5, 40} <= set(some.tolist())

    budget = Budget(0.5)
    core, complete = minimal_core(rows, gives_up, budget)
    assert not complete
    assert {5, 40} <= set(core.tolist())


@pytest.mark.parametrize("wrong", [{"budget": -1}, {"budget": None}, {"time_limit": -1}, {"time_limit": float("nan")}])
@pytest.mark.parametrize("work", [repair, conflicts])
def test_wrong_limits_are_refused(work, wrong):
    name = next(iter(wrong))
    with pytest.raises(LinkwiseError, match=f"{work.__name__}: {name} is .*, expected a number >= 0"):
        work(Constraints.build(4), **wrong)


def test_results_that_may_say_no_have_no_truth_value():
    said = Constraints.build(2, must_link=[(0, 1)], cannot_link=[(0, 1)])
    with pytest.raises(TypeError, match="status"):
        bool(check(said))
    with pytest.raises(TypeError, match=r"certificate\.ok"):
        bool(verify([0, 0], said))
    with pytest.raises(TypeError, match=r"repair\.dropped"):
        bool(repair(said))
