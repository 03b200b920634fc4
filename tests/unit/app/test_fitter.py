"""The tree of a project: what stands decides it, what contradicts is settled by true offers, marks are checked."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from linkwise import check, verify
from linkwise._threads import threads_at_most
from linkwise.app import _fitter
from linkwise.app._arrays import unpack
from linkwise.app._fitter import Fitter, Stopped
from linkwise.app._items import Items
from linkwise.app._picture import Anchor, Picture, rotate_onto
from linkwise.app._standing import fold, units
from linkwise.app._trusted import Roll, trust
from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram
from tests.app.engine_work import Heard, blobs, fitter, opened, random_body, row, true_answer

N = 60


def test_undone_one_by_one_the_tree_is_always_that_of_a_fresh_fit():
    items, y = blobs(N, centers=4, features=4)
    rng = np.random.default_rng(3)
    made, heard = fitter(items, opened())
    empty = heard.last("tree")[1]
    seq = 1
    for _ in range(24):
        seq += 1
        made.add([row(seq, *random_body(rng, y, items.ids, seq))])
    made.work()
    for at, target in enumerate((1 + rng.permutation(seq - 1) + 1).tolist()):
        standing = {one.seq for one in fold(made.rows).statements}
        if target not in standing:
            continue
        made.add([row(made.rows[-1].seq + 1, "undo", {"target": target})])
        made.work()
        if at % 4 == 0:
            fresh, told = fitter(items, made.rows)
            assert told.last("tree")[1] == heard.last("tree")[1]
            assert fresh.now.chosen.doubted == made.now.chosen.doubted
            assert told.last("tree")[0]["marks"] == heard.last("tree")[0]["marks"]
    left = [one for one in fold(made.rows).statements if one.op != "open"]
    for one in left:  # undone undos stand again
        made.add([row(made.rows[-1].seq + 1, "undo", {"target": one.seq})])
    made.work()
    facts, arrays = unpack(heard.last("tree")[1])
    first_facts, first = unpack(empty)
    assert {**facts, "v": 0} == {**first_facts, "v": 0}
    assert all((arrays[name] == first[name]).all() for name in first)


def test_the_tree_does_not_depend_on_threads_or_on_what_was_on_screen_before():
    items, y = blobs(N)
    rng = np.random.default_rng(0)
    rows = opened()
    for seq in range(2, 12):
        rows.append(row(seq, "answer", true_answer(rng, y, items.ids, trio=seq % 2 == 0)))
    with threads_at_most(1):
        one, first = fitter(items, rows)
    with threads_at_most(4):
        _, second = fitter(items, rows)
    assert first.last("tree") == second.last("tree")
    assert one.tree(6) == fitter(items, rows[:6])[1].last("tree")[1]  # a past moment is that of the past


def test_marks_are_what_a_check_from_outside_finds():
    items, y = blobs(N)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows = opened()
        for seq in range(2, 26):
            rows.append(row(seq, *random_body(rng, y, items.ids, seq)))
        made, heard = fitter(items, rows)
        told, body = heard.last("tree")
        facts, arrays = unpack(body)
        n = facts["n_leaves"]
        tops = [
            v
            for v in range(len(arrays["parent"]))
            if arrays["cluster"][v] >= 0 and (arrays["parent"][v] < 0 or arrays["cluster"][arrays["parent"][v]] < 0)
        ]
        tree = Dendrogram(n, arrays["parent"].astype(np.intp), arrays["height"].astype(float), marked=np.array(tops))
        standing = fold(rows)
        bad = made.now.chosen.doubted | made.now.chosen.strange
        expected = dict.fromkeys((one.seq for one in standing.statements), "none")
        for unit in units(standing):
            if (unit.seq, unit.line) in bad:
                expected[unit.seq] = "doubted"
            elif expected[unit.seq] != "doubted":
                table, _ = Roll(items.ids).table([unit], {one.seq: one.body for one in standing.statements})
                holds = bool(verify(tree, table).held.all())
                expected[unit.seq] = "holds" if holds and expected[unit.seq] != "broken" else "broken"
        cut = [one for one in standing.statements if one.op == "cut"]
        if cut:
            expected[cut[-1].seq] = "holds" if cut[-1].body["k"] == facts["k"] else "broken"
        assert told["marks"] == {str(seq): mark for seq, mark in expected.items()}
        assert not [h for h, _ in heard if h["event"] == "problem"]
        json.dumps(told)


def test_a_fitter_that_lies_turns_the_mark_red(monkeypatch):
    items, _ = blobs(N)
    far = [
        row(2, "say", {"kind": "must_link", "items": ["i0", "i1"]}),
        row(3, "say", {"kind": "triplet", "items": ["i2", "i3", "i4"]}),
    ]
    honest, heard = fitter(items, opened() + far)
    assert heard.last("tree")[0]["marks"] == {"1": "none", "2": "holds", "3": "holds"}
    tree = honest.anchor.tree

    def lie(self, table, cut, heard):
        return tree, np.arange(N)  # every item alone, in the tree that knows of no statement

    monkeypatch.setattr(_fitter.Trees, "_fit", lie)
    _, heard = fitter(items, opened() + far)
    told = heard.last("tree")[0]
    wrong = not bool(verify(tree, Roll(items.ids).table(units(fold(opened() + far))[1:], {})[0]).held[0])
    assert told["marks"]["2"] == "broken"
    assert told["marks"]["3"] == ("broken" if wrong else "holds")
    assert told["verdict"]["broken"] == 1 + wrong
    assert "#2" in heard.last("problem")[0]["message"]


def test_a_wrong_answer_is_among_the_fixes_and_every_offered_click_settles_all():
    items, y = blobs(N)
    rng = np.random.default_rng(1)
    for trial in range(6):
        rows = opened()
        for seq in range(2, 42):
            rows.append(row(seq, "answer", true_answer(rng, y, items.ids, trio=seq % 4 == 0)))
        same = [one for one in rows[1:] if one.body["answer"] in ("yes", "no")]
        wrong = same[int(rng.integers(len(same)))]
        flipped = {"yes": "no", "no": "yes"}[wrong.body["answer"]]
        rows[wrong.seq - 1] = replace(wrong, body={**wrong.body, "answer": flipped})
        made, heard = fitter(items, rows)
        cards = heard.last("tree")[0]["conflicts"]
        assert bool(cards) == bool(made.now.chosen.doubted), trial
        for card in cards:
            assert wrong.seq in [fix["seq"] for fix in card["fixes"]]
            for fix in card["fixes"]:
                for action in fix["actions"]:
                    click = row(100, "repair", {"targets": [{"seq": fix["seq"], "action": action}]}, via="repair")
                    after = trust(Roll(items.ids), fold([*rows, click]))
                    table, _ = Roll(items.ids).table([u for u in after.units if u.weight is None], after.bodies)
                    assert check(table).status == "feasible"


def test_several_contradictions_are_told_one_by_one_and_the_newest_waits():
    items, _ = blobs(N)
    said = [
        ("must_link", "i0", "i1"),
        ("cannot_link", "i0", "i1"),
        ("must_link", "i2", "i3"),
        ("must_link", "i3", "i4"),
        ("cannot_link", "i2", "i4"),
    ]
    rows = opened() + [row(at, "say", {"kind": kind, "items": list(two)}) for at, (kind, *two) in enumerate(said, 2)]
    made, heard = fitter(items, rows)
    told = heard.last("tree")[0]
    assert [seq for seq, mark in told["marks"].items() if mark == "doubted"] == ["3", "6"]
    assert [card["seqs"] for card in told["conflicts"]] == [[2, 3], [4, 5, 6]]
    assert [{fix["seq"] for fix in card["fixes"]} for card in told["conflicts"]] == [{2, 3}, {4, 5, 6}]
    made.add([row(7, "repair", {"targets": [{"seq": 3, "action": "flip"}]}, via="repair")])
    made.work()
    assert [card["seqs"] for card in heard.last("tree")[0]["conflicts"]] == [[4, 5, 6]]
    new = row(8, "say", {"kind": "cannot_link", "items": ["i0", "i1"]})
    assert made.repairs(new)["seqs"] is not None
    assert 8 in made.repairs(new)["seqs"]
    assert made.repairs(row(8, "say", {"kind": "cannot_link", "items": ["i0", "i9"]})) is None


def test_less_sure_answers_yield_first_and_lines_of_an_import_are_told_by_line():
    items, _ = blobs(N)
    rows = [
        *opened(),
        row(2, "answer", {"items": ["i0", "i1"], "answer": "yes", "confidence": 0.8}),
        row(3, "import", {"name": "k.csv", "statements": [{"line": 7, "kind": "apart", "items": ["i0", "i1", "i2"]}]}),
    ]
    made, heard = fitter(items, rows)
    assert made.now.chosen.doubted == {(2, 0)}
    fixes = heard.last("tree")[0]["conflicts"][0]["fixes"]
    assert {(fix["seq"], fix["line"]) for fix in fixes} == {(2, 0), (3, 7)}
    assert next(fix for fix in fixes if fix["line"])["words"] == "line 7: i0, i1 and i2 are all apart"


def test_the_number_of_groups_is_that_of_the_cut_as_far_as_statements_allow():
    items, _ = blobs(N)
    made, heard = fitter(items, opened())
    assert made.now.picture.k == made.anchor.k == 6
    made.add([row(2, "cut", {"k": 3})])
    made.work()
    assert (heard.last("tree")[0]["k"], heard.last("tree")[0]["marks"]["2"]) == (3, "holds")
    assert heard.last("tree")[0]["moved"] > 0
    made.add([row(3, "say", {"kind": "apart", "items": ["i0", "i1", "i2", "i3", "i4"]})])
    made.work()
    told = heard.last("tree")[0]
    assert told["k"] >= 5
    assert (told["marks"]["2"], told["marks"]["3"]) == ("broken", "holds")
    made.add([row(4, "cut", {})])
    made.work()
    assert heard.last("tree")[0]["k"] >= 5
    made.add([row(5, "undo", {"target": 3}), row(6, "cut", {"height": 1e-9})])
    made.work()
    assert heard.last("tree")[0]["k"] == N


def test_colors_stay_and_names_follow_when_the_tree_changes():
    items, y = blobs(200)
    made, _ = fitter(items, opened())
    before = made.now.picture.labels.copy()
    rng = np.random.default_rng(0)
    named = np.flatnonzero(before == 2)
    made.add([row(2, "name", {"items": [items.ids[at] for at in named], "text": "mine"})])
    for seq in range(3, 13):
        made.add([row(seq, "answer", true_answer(rng, y, items.ids, trio=False))])
        made.work()
    assert (made.now.picture.labels == before).mean() > 0.9
    assert made.names(made.now) == [{"seq": 2, "text": "mine", "cluster": 2, "n": len(named)}]
    order = np.corrcoef(made.now.picture.sketch.slot, made.anchor.slot)[0, 1]
    assert order > 0.9
    assert made.now.picture.cluster_of([0]) == -1


def test_names_of_a_cut_into_more_groups_refine_those_of_fewer():
    items, _ = blobs(80)
    anchor = Anchor(_fitter.first_tree(items))
    for k in range(1, 12):
        fewer, more = anchor.names(k), anchor.names(k + 1)
        changed = fewer != more
        assert set(more[changed]) == {k}
        assert changed.sum() <= (fewer == fewer[changed][0]).sum() / 2
        assert Picture.of(anchor.tree, anchor.tree.cut(n_clusters=k), anchor).labels.tolist() == fewer.tolist()


def test_why_names_rows_of_the_log_and_offers_statements_that_can_be_said():
    items, _ = blobs(N)
    rows = [
        *opened(),
        row(2, "say", {"kind": "must_link", "items": ["i0", "i1"]}),
        row(3, "say", {"kind": "cannot_link", "items": ["i1", "i2"]}),
    ]
    made, _ = fitter(items, rows)
    told = made.why("i0", "i2")
    assert {"#2: i0 and i1 belong together", "#3: i1 and i2 are apart"} <= set(told["words"])
    assert not any("_link" in line for line in told["words"])
    drops = [one["body"]["targets"][0]["seq"] for one in told["changes"] if one["op"] == "repair"]
    assert set(drops) == {2, 3}
    for seq, change in enumerate((one for one in told["changes"] if one["op"] == "say"), 4):
        after = trust(made.roll, fold([*rows, row(seq, "say", change["body"])]))
        assert not after.doubted
    with pytest.raises(LinkwiseError, match="no item 'x'"):
        made.why("i0", "x")


def test_compare_blames_a_statement_only_if_it_is_the_only_one():
    items, _ = blobs(N)
    made, _ = fitter(items, opened())
    labels = made.now.picture.labels
    a, b = int(np.flatnonzero(labels == 0)[0]), int(np.flatnonzero(labels == 1)[0])
    made.add([row(2, "say", {"kind": "must_link", "items": [items.ids[a], items.ids[b]]})])
    made.work()
    told = made.compare(1, 2)
    assert told["n_moved"] == len(told["moved"]) > 0
    assert {one["because"] for one in told["moved"]} == {2}
    made.add([row(3, "lock", {"items": ["i3", "i4"]}), row(4, "note", {"seq": 2, "text": "x"})])
    made.work()
    assert {one["because"] for one in made.compare(1, 4)["moved"]} == {None}
    assert made.compare(4, 4) == {"moved": [], "n_moved": 0, "words": []}


def test_a_fit_can_be_stopped_between_two_merges_and_made_again():
    items, _ = blobs(150)
    made, heard = fitter(items, opened())
    before = len(heard)
    made.add([row(2, "say", {"kind": "must_link", "items": ["i0", "i140"]})])
    trees, seen = made._trees, []

    def stop(done, total):
        seen.append(done)
        raise Stopped

    with pytest.raises(Stopped):
        trees.moment(made.rows, heard=stop)
    assert seen[0] < 149
    assert len(heard) == before
    made.work()
    assert heard.last("tree")[1] == fitter(items, made.rows)[1].last("tree")[1]


def test_statements_about_unknown_items_wait_and_too_few_or_too_many_items_are_refused():
    items, _ = blobs(N)
    _, heard = fitter(items, [*opened(), row(2, "say", {"kind": "must_link", "items": ["i0", "elsewhere"]})])
    assert heard.last("tree")[0]["marks"]["2"] == "doubted"
    with pytest.raises(LinkwiseError, match="has 1 items"):
        Fitter(Items(np.zeros((1, 2)), ["a"]), opened(), Heard())


def test_the_map_turns_onto_the_last_one():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 2))
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    assert np.allclose(rotate_onto(points @ turn + 3.0, points), points)
    assert np.allclose(rotate_onto(points * [-1.0, 1.0], points), points)


def test_the_first_tree_needs_no_engine_and_is_drawn_as_the_later_one():
    items, _ = blobs(N)
    heard = Heard()
    made = Fitter(items, opened(), heard)
    made.show_first()
    made.show_map()
    assert made.behind
    first = heard.last("tree")
    made.work()
    assert not made.behind
    (_, early), (_, late) = unpack(first[1]), unpack(heard.last("tree")[1])
    assert all(np.allclose(early[name], late[name], atol=1e-6) for name in early)
    assert unpack(heard.last("map")[1])[1]["x"].shape == (N,)
