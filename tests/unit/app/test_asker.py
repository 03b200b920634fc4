"""Questions: cards as the page reads them, the same questions from the same log, and one for each person."""

from __future__ import annotations

import json

import numpy as np

from linkwise.app import _asker
from linkwise.app._asker import Asker
from linkwise.app._items import Items
from tests.app.engine_work import ODD, Heard, blobs, opened, row

N = 60
ITEMS, Y = blobs(N)


def answer(asked, y=Y):
    """The body of a true answer to a card."""
    rows = [item["n"] for item in asked["items"]]
    groups = [int(y[at]) for at in rows]
    said = "unsure"
    if len(rows) == 2:
        said = "yes" if groups[0] == groups[1] else "no"
    elif len(set(groups)) == 2:
        said = ODD[next(at for at in range(3) if groups.count(groups[at]) == 1)]
    names = [item["id"] for item in asked["items"]]
    return {"items": names, "answer": said, "checks": asked["checks"], "question": asked["id"]}


def test_a_card_shows_columns_that_differ_most_first_and_missing_values_as_missing():
    X = np.array([[0.0, 5.0], [0.1, 9.0], [4.0, 7.0]])
    columns = {"close": ["0", "0.1", "4"], "far": ["5", None, "7"], "kind": ["a", "b", "a"], "year": ["1", "2", "3"]}
    numbers = {"close": X[:, 0], "far": np.array([5.0, np.nan, 7.0])}
    items = Items(
        X,
        ["x", "y", "z"],
        columns,
        numbers,
        frozenset({"close", "far", "kind"}),
        ["one", "two", "three"],
        ["x.png", None, ""],
    )
    first, second = items.cards([0, 1])
    assert [one["column"] for one in first["show"]] == ["kind", "close", "far", "year"]
    assert [one["value"] for one in second["show"]] == ["b", "0.1", None, "2"]
    assert [one["differs"] for one in first["show"]][2:] == [0.0, 0.0]  # nothing to compare a missing value with
    assert (first["picture"], second["picture"], second["text"], second["n"]) == (True, False, "two", 1)
    json.dumps(items.listed())


def test_the_same_log_gives_the_same_question_whatever_came_before():
    heard = Heard()
    asker = Asker(ITEMS, opened(), 0, heard)
    rows = opened()
    seen = []
    for seq in range(2, 16):
        asked = asker.question("me")["question"]
        assert asker.question("me")["question"] is asked
        assert asked["number"] == seq - 1
        assert asked["why"].endswith(".")
        seen.append([item["id"] for item in asked["items"]])
        rows.append(row(seq, "answer", answer(asked), via="question"))
        asker.add(rows[-1:])
    assert len({tuple(sorted(one)) for one in seen}) == len(seen)
    assert {len(one) for one in seen} == {2, 3}
    again = Asker(ITEMS, rows, 0, Heard())
    assert again.question("me") == asker.question("me")
    assert again.talk.constraints == asker.talk.constraints
    told = heard.last("progress")[0]
    assert (told["answers"], told["who"]) == (14, "me")
    assert told["settled"] > 0
    for seq, target in ((16, 5), (17, 9)):
        rows.append(row(seq, "undo", {"target": target}))
        asker.add(rows[-1:])
    rows.append(row(18, "undo", {"target": 16}))  # and one back
    asker.add(rows[-1:])
    fresh = Asker(ITEMS, rows, 0, Heard())
    assert fresh.talk.constraints == asker.talk.constraints
    assert [told.items for told in fresh.talk.answers] == [told.items for told in asker.talk.answers]
    assert fresh.question("ann")["question"]["items"] == asker.question("me")["question"]["items"]
    json.dumps(asker.question("me"))


def test_two_people_hold_different_questions_and_a_settled_one_is_replaced():
    heard = Heard()
    asker = Asker(ITEMS, opened(), 0, heard)
    ann, bob = asker.question("ann")["question"], asker.question("bob")["question"]
    assert {item["id"] for item in ann["items"]} != {item["id"] for item in bob["items"]}
    asker.add([row(2, "answer", answer(ann), who="ann")])
    assert asker.question("bob")["question"] is bob
    assert asker.question("ann")["question"]["id"] != ann["id"]
    names = [item["id"] for item in bob["items"]]
    kind = "must_link" if len(names) == 2 else "triplet"
    asker.add([row(3, "say", {"kind": kind, "items": names}, who="ann")])
    assert asker.question("bob")["question"]["id"] != bob["id"]
    assert [h["who"] for h, _ in heard if h["event"] == "question"] == ["ann", "bob"]


def test_answers_that_contradict_are_asked_again_by_row_of_the_log():
    rows = [*opened(), row(2, "answer", {"items": ["i0", "i1"], "answer": "yes"}),
            row(3, "answer", {"items": ["i1", "i2"], "answer": "yes"}),
            row(4, "answer", {"items": ["i2", "i0"], "answer": "no", "confidence": 0.7})]  # fmt: skip
    asker = Asker(ITEMS, rows, 0, Heard())
    asked = asker.question("me")["question"]
    assert asked["checks"] == [4]
    assert "#4" in asked["why"]
    asker.add([row(5, "answer", answer(asked, np.zeros(N)))])
    assert asker.talk.known.same(0, 2)
    assert 4 not in asker.question("me")["question"]["checks"]
    asker.add([row(6, "repair", {"targets": [{"seq": 2, "action": "flip"}, {"seq": 5, "action": "drop"}]})])
    assert asker.talk.known.same(0, 1) is False


def test_odd_ones_are_read_by_name_and_volunteered_statements_are_not_asked():
    asker = Asker(ITEMS, [*opened(), row(2, "answer", {"items": ["i9", "i3", "i5"], "answer": "first"})], 0, Heard())
    assert asker.talk.answers[0].statement == ("triplet", 3, 5, 9)
    asker.add([row(3, "lock", {"items": [f"i{at}" for at in range(N)]})])
    assert asker.question("me")["question"] is None or len(asker.question("me")["question"]["items"]) == 3


def test_of_many_items_questions_are_about_those_named_and_some_drawn(monkeypatch):
    monkeypatch.setattr(_asker, "MOST_ROWS", 20)
    rows = [*opened(), row(2, "say", {"kind": "must_link", "items": ["i58", "i59"]})]
    asker = Asker(ITEMS, rows, 0, Heard())
    assert len(asker.kept) == 20
    assert {58, 59} <= set(asker.kept.tolist())
    assert asker.talk.known.same(*(asker.roll.place[name] for name in ("i58", "i59")))
    asked = asker.question("me")["question"]
    assert all(ITEMS.ids[item["n"]] == item["id"] for item in asked["items"])
    asker.add(
        [
            row(
                3,
                "say",
                {"kind": "must_link", "items": [name for name in ITEMS.ids if name not in asker.roll.place][:2]},
            )
        ]
    )
    assert asker.question("me")["question"] == asked
