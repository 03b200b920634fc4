"""Random histories of asking, telling, taking back and crashing end in the state that their answers alone lead to."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from linkwise.active import Dialogue, ExploreConsolidate, Known, MinMax, Query, RandomPairs, RandomTrios, Told
from tests.profile import examples

N = 7
X = np.random.default_rng(0).normal(size=(N, 2))
STRATEGIES = [RandomPairs(), RandomTrios(), ExploreConsolidate(3), MinMax(2)]


class Histories(RuleBasedStateMachine):
    """A dialogue beside the plain list of what was said and not taken back."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "log"
        self.said = []

    @initialize(strategy=st.sampled_from(STRATEGIES))
    def begin(self, strategy):
        self.strategy = strategy
        self.talk = Dialogue(X, strategy=strategy, log=self.path)

    @rule(choice=st.integers(0, 3), confidence=st.sampled_from([0.6, 0.9, 1.0]))
    def answer(self, choice, confidence):
        query = self.talk.ask()
        assert self.talk.ask() == query
        if query is not None:
            answer = query.answers[choice % len(query.answers)]
            self.talk.tell(query, answer, confidence=confidence)
            self.said.append((query.items, answer, confidence, query.checks))

    @rule(items=st.lists(st.integers(0, N - 1), min_size=2, max_size=3, unique=True), choice=st.integers(0, 3))
    def say_unasked(self, items, choice):
        query = Query(tuple(items))
        answer = query.answers[choice % len(query.answers)]
        self.talk.tell(query.items, answer)
        self.said.append((query.items, answer, 1.0, ()))

    @rule()
    def take_back(self):
        told = self.talk.undo()
        last = self.said.pop() if self.said else None
        assert (told is None) == (last is None)
        assert told is None or (told.items, told.answer) == last[:2]

    @rule(torn=st.sampled_from([b"", b"{", b'{"items":[0,1],"answer":"yes"}', b'{"undo":']))
    def crash(self, torn):
        self.talk.close()
        self.path.write_bytes(self.path.read_bytes() + torn)  # a last line without an end was never acknowledged
        self.talk = Dialogue(X, strategy=self.strategy, log=self.path)

    @invariant()
    def nothing_was_lost_or_made_up(self):
        told = [(t.items, t.answer, t.confidence, t.checks) for t in self.talk.answers]
        assert told == self.said

    def teardown(self):
        if hasattr(self, "talk"):
            fresh = Dialogue(X, strategy=self.strategy)
            for told in self.talk.answers:  # the same answers, without ever asking in between
                fresh._take(told)
            assert fresh.constraints == self.talk.constraints
            assert fresh.suspects == self.talk.suspects
            assert fresh.ask() == self.talk.ask()
            self.talk.close()
        self.folder.cleanup()


def test_every_history_ends_in_the_state_its_answers_lead_to():
    run_state_machine_as_test(
        Histories, settings=settings(max_examples=examples(9, 500), stateful_step_count=20, deadline=None)
    )


@pytest.mark.parametrize("size", [2, 3])
@settings(max_examples=examples(9, 300), deadline=None)
@given(choices=st.lists(st.integers(0, 3), min_size=2, max_size=4), order=st.randoms(use_true_random=False))
def test_answers_about_different_samples_commute(size, choices, order):
    queries = [Query(tuple(range(size * at, size * at + size))) for at in range(len(choices))]
    told = [
        Told(n, q.items, q.answers[c % len(q.answers)]) for n, (q, c) in enumerate(zip(queries, choices, strict=True))
    ]
    n = size * len(choices)
    one, other = Known(n), Known(n)
    for answer in told:
        one.take(answer)
    order.shuffle(told)
    for answer in told:
        other.take(answer)
    assert one.constraints == other.constraints
    for a in range(n):
        for b in range(a):
            assert one.same(a, b) == other.same(a, b)
