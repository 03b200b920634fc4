"""What is found does not depend on the clock: hard instances, looked at while time flies and while it stands still."""

from __future__ import annotations

import itertools
import time

import pytest

from linkwise import Constraints, repair
from linkwise.problem import conflicts
from tests.determinism import findings, instance
from tests.profile import examples

CLOCKS = ("monotonic", "perf_counter", "process_time", "thread_time", "time")


def lie(monkeypatch: pytest.MonkeyPatch, hours: float) -> None:
    """Make every clock advance by some hours whenever it is read."""
    for name in CLOCKS:
        ticks = itertools.count(1)
        monkeypatch.setattr(time, name, lambda ticks=ticks: 1e6 + 3600.0 * hours * next(ticks))


@pytest.mark.parametrize("number", range(8, 8 + examples(4, 200)))
def test_the_clock_has_no_say(number, monkeypatch):
    lie(monkeypatch, 3.0)
    hurried = findings(number)
    lie(monkeypatch, 0.0)
    assert findings(number) == hurried


def test_a_time_limit_that_was_asked_for_cuts_and_says_so(monkeypatch):
    said, _ = instance(0)
    lie(monkeypatch, 3.0)
    fixed = repair(said, time_limit=60.0)
    assert fixed.cut
    assert not fixed.optimal
    assert "The time limit ended the search." in str(fixed)
    assert fixed.dropped.tolist() == repair(said, budget=0).dropped.tolist()
    pairs = [(2 * i, 2 * i + 1) for i in range(20)]
    many = Constraints.build(40, must_link=pairs, cannot_link=pairs)
    lie(monkeypatch, 0.25)  # the third look at the clock is too late
    found = conflicts(many, time_limit=1000.0)
    assert 0 < len(found) < 20
    assert all(why.cut and why.more for why in found)
    assert "The time limit ended the search" in str(found[0])
    lie(monkeypatch, 0.0)
    fixed = repair(said, time_limit=60.0)
    assert not fixed.cut
    assert "time limit" not in str(fixed)
    found = conflicts(many, time_limit=60.0)
    assert len(found) == 20
    assert not any(why.cut for why in found)
