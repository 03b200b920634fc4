"""Statements of a project: what is refused, what stands after undo and repair, and what engines get."""

from __future__ import annotations

import itertools
import json
import random

import pytest
from hypothesis import given, settings, strategies as st

from linkwise.app._log import OPS, Statement, names_in, read_body, read_new, require_targets
from linkwise.app._standing import fold, units
from linkwise.exceptions import LinkwiseError
from tests.profile import examples

ITEMS = [f"item {n}" for n in range(12)]


def row(seq, op, body, who="ann"):
    return Statement(seq, f"id {seq}", who, "menu", op, read_body(op, body), 0, "")


def opened(*rows):
    return [row(1, "open", {"name": "beers"}), *(row(seq, *one) for seq, one in enumerate(rows, start=2))]


def said(log):
    """All that a log says, without the numbers of what is undone."""
    now = fold(log)
    return now.statements, units(now), now.project, now.repaired, now.people, now.names, now.notes, now.cut


def random_body(rng, op, seq):
    pick = rng.sample(ITEMS, 8)
    kind = rng.choice(["must_link", "cannot_link", "triplet", "together", "apart"])
    size = {"must_link": 2, "cannot_link": 2, "triplet": 3}.get(kind, rng.randint(2, 5))
    statement = {"kind": kind, "items": pick[:size], "weight": rng.choice([None, 0.5, 2])}
    trio = rng.random() < 0.5
    bodies = {
        "open": {"name": f"beers {rng.random()}", "roles": {"abv": "number"}},
        "answer": {"items": pick[: 3 if trio else 2], "confidence": rng.choice([1, 0.8]),
                   "answer": rng.choice(["first", "second", "third", "unsure"] if trio else ["yes", "no", "unsure"])},
        "say": statement,
        "move": {"A": pick[:2], "B": pick[2:4], "S": pick[4:6], "a": pick[0], "b": pick[3], "s": pick[5],
                 "reading": rng.choice(["branch", "group", "away", "apart"])},
        "split": {"parts": [pick[:2], pick[2:3], pick[3:5]]}, "lock": {"items": pick[:3]},
        "name": {"items": rng.choice([ITEMS[:2], ITEMS[1::-1], pick[:2]]), "text": rng.choice(["Trappist", "Ale", ""])},
        "note": {"items": pick[:1], "text": "a note"}, "flag": {"seq": rng.randint(1, seq), "text": ""},
        "cut": rng.choice([{"k": 3}, {"height": 0.5}, {}]),
        "import": {"name": "f.jsonl", "statements": [{**statement, "line": 2}, {**statement, "line": 5}]},
        "repair": {"targets": [{"seq": rng.randint(1, seq), "line": rng.choice([0, 0, 2, 5]),
                                "action": rng.choice(["drop", "soften", "flip"])} for _ in range(rng.randint(1, 3))]},
        "people": {"name": rng.choice(["ann", "bob"]), "active": rng.random() < 0.5},
        "undo": {"target": rng.randint(1, max(1, seq - 1))},
    }  # fmt: skip
    return bodies[op]


def random_log(rng, length, ops):
    rows = [row(1, "open", {"name": "beers"})]
    for seq in range(2, length + 2):
        op = rng.choice(ops)
        rows.append(row(seq, op, random_body(rng, op, seq), rng.choice(["ann", "bob"])))
    return rows


# -- what stands -------------------------------------------------------------------------------------------------------


def stands(log, seq):
    """From the definition: a row stands unless a later row that undoes it stands."""
    return not any(
        one.op == "undo" and one.seq > seq and one.body["target"] == seq and seq != 1 and stands(log, one.seq)
        for one in log
    )


def test_every_log_of_seven_rows_that_undo_each_other():
    choices = [[None, *range(1, seq)] for seq in range(2, 8)]
    for targets in itertools.product(*choices):
        log = opened(*(("cut", {"k": 1}) if one is None else ("undo", {"target": one}) for one in targets))
        now = fold(log)
        assert now.undone == {one.seq for one in log if not stands(log, one.seq)}
        assert [one.seq for one in now.statements] == [
            one.seq for one in log if one.op != "undo" and one.seq not in now.undone
        ]


@pytest.mark.parametrize("seed", range(examples(2, 20)))
def test_500_statements_undone_one_by_one_leave_those_that_were_never_undone(seed):
    rng = random.Random(seed)
    log = random_log(rng, 500, [op for op in OPS if op != "undo"])
    order = rng.sample(range(2, 502), 500)
    whole = list(log)
    for done, target in enumerate(order, start=1):
        whole.append(row(len(whole) + 1, "undo", {"target": target}))
        if done % examples(50, 10) == 0:
            gone = set(order[:done])
            assert said(whole) == said([one for one in log if one.seq not in gone])
    assert [one.op for one in fold(whole).statements] == ["open"]
    for target in range(502, 1002):  # each undo undone: all is back
        whole.append(row(len(whole) + 1, "undo", {"target": target}))
    assert said(whole) == said(log)


@settings(max_examples=examples(40, 1000), deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 30))
def test_an_undo_takes_back_one_statement_and_its_undo_brings_it_back(seed, length):
    rng = random.Random(seed)
    log = random_log(rng, length, OPS)
    last = log[-1].seq
    standing = [one.seq for one in fold(log).statements if one.seq > 1]
    if standing:
        target = rng.choice(standing)
        without = [*log, row(last + 1, "undo", {"target": target})]
        assert target in fold(without).undone
        assert said([*without, row(last + 2, "undo", {"target": last + 1})]) == said(log)
    cut = rng.randint(0, last)
    assert fold(log, upto=cut) == fold(log[:cut]) == fold(log[:cut][::-1])


def test_the_first_row_always_stands():
    assert fold(opened(("undo", {"target": 1}))).project["name"] == "beers"
    assert fold([]).seq == 0


# -- what engines get --------------------------------------------------------------------------------------------------


def test_units_of_every_statement():
    log = opened(
        ("answer", {"items": ["a", "b"], "answer": "yes", "confidence": 0.8}),
        ("answer", {"items": ["a", "b"], "answer": "unsure"}),
        ("answer", {"items": ["a", "b", "c"], "answer": "second"}),
        ("say", {"kind": "together", "items": ["a", "b", "c"], "weight": 2}),
        ("lock", {"items": ["d", "e"]}),
        ("split", {"parts": [["a", "b"], ["c"], ["d"]]}),
        ("move", {"A": ["a", "b"], "B": ["c"], "S": ["d"], "a": "a", "b": "c", "s": "d", "reading": "away"}),
        ("move", {"A": ["a", "b"], "B": ["c"], "S": ["d"], "a": "a", "b": "c", "s": "d", "reading": "apart"}),
        ("move", {"A": ["a", "b"], "B": ["c"], "a": "a", "b": "c", "reading": "group"}),
        ("move", {"A": ["a", "b"], "B": ["c"], "a": "a", "b": "c", "reading": "branch"}),
        ("import", {"name": "f", "statements": [{"line": 7, "kind": "apart", "items": ["a", "b"], "confidence": 0.9}]}),
    )
    assert [
        (one.seq, one.line, one.kind, "".join(one.items), one.weight, one.confidence) for one in units(fold(log))
    ] == [
        (2, 0, "must_link", "ab", None, 0.8),
        (4, 0, "triplet", "acb", None, 1.0),
        (5, 0, "together", "abc", 2.0, 1.0),
        (6, 0, "together", "de", None, 1.0),
        (7, 0, "together", "ab", None, 1.0),
        (7, 0, "cannot_link", "ac", None, 1.0),
        (7, 0, "cannot_link", "ad", None, 1.0),
        (7, 0, "cannot_link", "cd", None, 1.0),
        (8, 0, "triplet", "acd", None, 1.0),
        (8, 0, "triplet", "bcd", None, 1.0),
        (9, 0, "cannot_link", "ad", None, 1.0),
        (10, 0, "together", "abc", None, 1.0),
        (11, 0, "branch", "abc", None, 1.0),
        (12, 7, "apart", "ab", None, 0.9),
    ]


def test_repairs_drop_soften_and_turn_around_until_a_later_one():
    lines = [
        {"line": 3, "kind": "must_link", "items": ["a", "b"]},
        {"line": 4, "kind": "triplet", "items": ["a", "b", "c"]},
    ]
    log = opened(("import", {"name": "f", "statements": lines}))

    def after(*targets):
        rows = [*log, *(row(3 + at, "repair", {"targets": [one]}) for at, one in enumerate(targets))]
        return [(one.line, one.kind, one.weight) for one in units(fold(rows))]

    assert after({"seq": 2, "line": 3, "action": "flip"}) == [(3, "cannot_link", None), (4, "triplet", None)]
    assert after({"seq": 2, "action": "flip"}) == [(3, "cannot_link", None)]
    assert after({"seq": 2, "action": "soften"}) == [(3, "must_link", 1.0), (4, "triplet", 1.0)]
    assert after({"seq": 2, "line": 4, "action": "drop"}, {"seq": 2, "action": "soften"}) == [
        (3, "must_link", 1.0),
        (4, "triplet", 1.0),
    ]
    assert after({"seq": 2, "action": "soften"}, {"seq": 2, "line": 4, "action": "drop"}) == [(3, "must_link", 1.0)]


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "body", "words"),
    [
        ("anser", {}, "did you mean 'answer'?"),
        (["say"], {}, "there is no statement"),
        ("answer", [], "expected an object"),
        ("answer", {"items": ["a"], "answer": "yes"}, "answer names 1 item, expected 2 to 3"),
        ("answer", {"items": ["a", "a"], "answer": "yes"}, "names 'a' twice"),
        ("answer", {"items": ["a", "b"], "answer": "first"}, "expected 'yes', 'no' or 'unsure'"),
        ("answer", {"items": ["a", "b"], "answer": "yes", "confidence": float("nan")}, "from 0.5 to 1"),
        ("answer", {"items": ["a", "b"], "answer": "yes", "confidence": True}, "from 0.5 to 1"),
        ("answer", {"items": ["a", 7], "answer": "yes"}, "expected a text"),
        ("answer", {"items": ["a", "\ud800"], "answer": "yes"}, "half a character"),
        ("answer", {"items": ["a", "b"], "answer": "yes", "sure": 1}, "unknown field 'sure'"),
        ("say", {"kind": "same", "items": ["a", "b"]}, "kind is 'same'"),
        ("say", {"kind": "triplet", "items": ["a", "b"]}, "names 2 items, expected 3"),
        ("say", {"kind": "must_link", "items": ["a", "b"], "weight": 0}, "above 0"),
        ("say", {"kind": "must_link", "items": ["a", "b"], "weight": 10**400}, "above 0"),
        ("move", {"A": ["a"], "B": ["a"], "a": "a", "b": "a", "reading": "group"}, "A and B share 'a'"),
        ("move", {"A": ["a"], "B": ["b"], "a": "b", "b": "b", "reading": "group"}, "a is 'b', which is not in A"),
        ("move", {"A": ["a"], "B": ["b"], "a": "a", "b": "b", "reading": "away"}, "needs S"),
        ("split", {"parts": [["a"]]}, "two or more lists"),
        ("split", {"parts": [["a"], ["a"]]}, "names 'a' twice"),
        ("split", {"items": ["a", "b", "c"], "parts": [["a"], ["b"]]}, "do not hold the items"),
        ("note", {"items": ["a"], "text": "  "}, "the note is empty"),
        ("note", {"text": "x"}, "needs either items or seq"),
        ("name", {"items": ["a"], "text": "x" * 201}, "at most 200"),
        ("cut", {"k": 2, "height": 1}, "both k and height"),
        ("cut", {"k": 0}, "whole number from 1"),
        ("import", {"name": "f", "statements": []}, "holds 0 statements"),
        (
            "import",
            {"name": "f", "statements": [{"line": 2, "kind": "apart", "items": ["a", "b"]}] * 2},
            "line 2 follows",
        ),
        ("repair", {"targets": [{"seq": 1, "action": "burn"}]}, "'drop', 'soften' or 'flip'"),
        ("people", {"name": " "}, "name of a person is empty"),
        ("undo", {"target": 2**60}, "whole number"),
        ("open", {"name": "x", "roles": {"abv": "digits"}}, "the role of 'abv' is 'digits'"),
        ("open", {"name": "x", "options": {"a": [1]}}, "expected a text, a number"),
    ],
)
def test_a_malformed_body_is_refused_in_words(op, body, words):
    with pytest.raises(LinkwiseError) as refused:
        read_body(op, body)
    assert words in str(refused.value)
    assert "Traceback" not in str(refused.value)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(OPS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
FIELDS = (
    "items",
    "answer",
    "kind",
    "targets",
    "parts",
    "statements",
    "name",
    "text",
    "seq",
    "roles",
    "A",
    "weight",
    "k",
)


@settings(max_examples=examples(150, 5000), deadline=None)
@given(st.sampled_from(OPS), VALUES | st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4))
def test_whatever_is_sent_is_refused_or_can_be_saved_and_read_again(op, body):
    try:
        read = read_body(op, body)
    except LinkwiseError:
        return
    assert read_body(op, json.loads(json.dumps(read, allow_nan=False))) == read


@settings(max_examples=examples(60, 2000), deadline=None)
@given(st.integers(0, 10**9))
def test_what_was_read_is_read_again_as_it_is(seed):
    rng = random.Random(seed)
    for op in OPS:
        read = read_body(op, random_body(rng, op, 9))
        assert read_body(op, json.loads(json.dumps(read))) == read
        assert names_in(op, read) <= set(ITEMS)
        assert Statement.from_dict(row(4, op, read).to_dict()) == row(4, op, read)


def test_a_statement_is_read_with_its_sender():
    sent = {"id": "u-1", "op": "cut", "body": {"k": 3}, "via": "drag", "basis": 7, "who": "mallory"}
    assert read_new(sent, "ann") == read_new({**sent, "who": "bob"}, "ann")
    assert (read_new(sent, "ann").who, read_new(sent, "ann").basis) == ("ann", 7)
    for wrong in ({"id": ""}, {"via": "mail"}, {"basis": -1}, {"seq": 4}, {"id": "x" * 101}):
        with pytest.raises(LinkwiseError):
            read_new({**sent, **wrong}, "ann")


@pytest.mark.parametrize(
    ("op", "body", "words"),
    [
        ("undo", {"target": 9}, "no statement #9"),
        ("undo", {"target": 1}, "cannot be undone"),
        ("repair", {"targets": [{"seq": 9, "action": "drop"}]}, "no statement #9"),
        ("repair", {"targets": [{"seq": 3, "action": "drop"}]}, "says nothing about items"),
        ("repair", {"targets": [{"seq": 2, "line": 8, "action": "drop"}]}, "has no line 8"),
        ("note", {"seq": 9, "text": "x"}, "no statement #9"),
    ],
)
def test_a_statement_about_a_row_that_is_not_there_is_refused(op, body, words):
    log = opened(("lock", {"items": ["a", "b"]}), ("cut", {"k": 2}))
    with pytest.raises(LinkwiseError, match=words):
        require_targets(op, read_body(op, body), log)
    require_targets("undo", read_body("undo", {"target": 3}), log)
