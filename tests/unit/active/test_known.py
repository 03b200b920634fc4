"""Answers and their implications agree with plain reasoning, and contradictions do no harm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from linkwise import Constraints, check, implies
from linkwise.active import Answer, Known, LabelAnswerer, Query, Told
from linkwise.exceptions import UnsupportedConstraintError
from tests.profile import examples


def told_about(items, answer, number=0, **more):
    return Told(number, tuple(sorted(items)), Answer(answer), **more)


def by_search(n, told):
    """Relation of all pairs by repeated propagation, from the definition."""
    same = {(a, a) for a in range(n)} | {p for t in told if t.answer == "yes" for p in (t.items, t.items[::-1])}
    for c in range(n):
        same |= {(a, b) for a in range(n) for b in range(n) if (a, c) in same and (c, b) in same}
    apart = {p for t in told if t.answer == "no" for p in (t.items, t.items[::-1])}
    apart = {(a, b) for c, d in apart for a in range(n) if (a, c) in same for b in range(n) if (d, b) in same}
    return [[True if (a, b) in same else False if (a, b) in apart else None for b in range(n)] for a in range(n)]


@pytest.mark.parametrize("seed", range(examples(20, 300)))
def test_pairs_follow_as_by_search(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    says = LabelAnswerer(rng.integers(0, 3, n), unsure=0.2, random_state=seed)
    known, told = Known(n), []
    for number in range(int(rng.integers(0, 12))):
        items = tuple(sorted(rng.choice(n, 2, replace=False).tolist()))
        told.append(told_about(items, says(Query(items)), number))
        known.take(told[-1])
    expected = by_search(n, told)
    assert [[known.same(a, b) for b in range(n)] for a in range(n)] == expected
    for a in range(n):
        assert sorted(known.members(known.group(a))) == [b for b in range(n) if expected[a][b]]
    assert not known.suspects
    assert known.constraints.n_statements == sum(t.statement is not None for t in told)


@pytest.mark.parametrize("seed", range(examples(15, 200)))
def test_what_follows_is_what_implies_says(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    says = LabelAnswerer(rng.integers(0, 3, n), random_state=seed)
    known = Known(n)
    for number in range(8):
        size = int(rng.integers(2, 4))
        items = tuple(sorted(rng.choice(n, size, replace=False).tolist()))
        known.take(told_about(items, says(Query(items)), number))
    a, b, c = (int(v) for v in rng.choice(n, 3, replace=False))
    table = known.constraints
    odd = [x for x, rest in ((a, (b, c)), (b, (a, c)), (c, (a, b))) if implies(table, ("triplet", *rest, x))[0]]
    assert known.odd(a, b, c) == (odd[0] if odd else None)
    must, cannot = implies(table, [("must_link", a, b), ("cannot_link", a, b)])
    assert known.same(a, b) is (True if must else False if cannot else None)


def test_groups_given_at_the_start_count_and_are_never_doubted():
    given = Constraints.build(8, together=[[0, 1, 2]], apart=[[2, 3, 4]], triplets=[(5, 6, 7)])
    known = Known(8, given)
    assert known.same(0, 2) is True
    assert known.same(1, 4) is False
    assert known.same(0, 5) is None
    assert known.odd(5, 6, 7) == 7
    known.take(told_about((0, 1), "no"))
    assert [t.items for t in known.suspects] == [(0, 1)]
    assert known.same(0, 1) is True


def test_choices_and_contradictions_given_at_the_start_are_refused():
    with pytest.raises(UnsupportedConstraintError, match="does not reason about"):
        Known(4, Constraints.build(4, must_link_any=[[0, 1, 2]]))
    with pytest.raises(ValueError, match="contradict"):
        Known(3, Constraints.build(3, must_link=[(0, 1)], cannot_link=[(0, 1)]))


def test_the_newer_of_two_equal_answers_is_trusted_and_a_third_decides():
    known = Known(2)
    for number, answer in enumerate(["yes", "no"]):
        known.take(told_about((0, 1), answer, number))
    assert known.same(0, 1) is False
    assert [t.number for t in known.suspects] == [0]
    known.take(told_about((0, 1), "yes", 2))
    assert known.same(0, 1) is True
    assert [t.number for t in known.suspects] == [1]


def test_confidence_outweighs_number():
    known = Known(2)
    known.take(told_about((0, 1), "yes", 0, confidence=0.95))
    known.take(told_about((0, 1), "no", 1, confidence=0.6))
    known.take(told_about((0, 1), "no", 2, confidence=0.6))
    assert known.same(0, 1) is True


@pytest.mark.parametrize("seed", range(examples(15, 200)))
def test_whatever_is_said_the_trusted_answers_hold_together(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    known = Known(n)
    for number in range(12):
        size = int(rng.integers(2, 4))
        query = Query(tuple(rng.choice(n, size, replace=False).tolist()))
        known.take(told_about(query.items, rng.choice(list(query.answers)), number))
        assert check(known.constraints).status == "feasible"
        assert len(known.trusted) + len(known.suspects) == sum(t.statement is not None for t in known.answers)
        for suspect in known.suspects:  # none is distrusted without need
            table = known.constraints | Known(n)._table([suspect])
            assert check(table).status == "infeasible"


@st.composite
def answers(draw):
    n = draw(st.integers(3, 7))
    said = []
    for number in range(draw(st.integers(0, 14))):
        items = tuple(sorted(draw(st.permutations(range(n)))[: draw(st.integers(2, 3))]))
        answer = draw(st.sampled_from(Query(items).answers))
        said.append(Told(number, items, answer, confidence=draw(st.sampled_from([1.0, 0.7]))))
    return n, said


@given(answers(), st.sampled_from([None, 2, 3]))
def test_many_answers_at_once_leave_what_each_alone_would(case, n_clusters):
    n, said = case
    one, many = Known(n, None, n_clusters), Known(n, None, n_clusters)
    for told in said:
        one.take(told)
    many.take_all(said)
    assert many.answers == one.answers
    assert many.trusted == one.trusted
    assert many.constraints == one.constraints
    assert many.groups() == one.groups()
    assert [many.members(g) for g in many.groups()] == [one.members(g) for g in one.groups()]
    assert [many.apart(g) for g in many.groups()] == [one.apart(g) for g in one.groups()]
