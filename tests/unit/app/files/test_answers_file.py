"""The log of `linkwise ask` becomes statements of a project and comes out again line by line."""

from __future__ import annotations

import io
import json
import random

import numpy as np
import pytest

from linkwise.active import Dialogue, PairsAndTrios, is_entry
from linkwise.app._log import Statement
from linkwise.app._standing import fold, units
from linkwise.app.files._answers_file import from_answers, header_of, to_answers
from linkwise.app.files._reading import read_items
from linkwise.app.files._statements_file import read_statements
from linkwise.cli import main
from linkwise.exceptions import LinkwiseError

X = np.random.default_rng(0).normal(size=(12, 3))
IDS = [f"otter {n}" for n in range(12)]


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    """A log with everything that a dialogue writes: pairs, trios, doubts, people, checks, volunteered and undone."""
    path, rng = tmp_path_factory.mktemp("asked") / "answers.jsonl", random.Random(3)
    with Dialogue(X, PairsAndTrios(), log=path, names=IDS) as talk:
        for n in range(30):
            asked = talk.ask()
            words = ["yes", "no", "unsure"] if len(asked.items) == 2 else ["first", "second", "third", "unsure"]
            talk.tell(asked, rng.choice(words), confidence=rng.choice([1.0, 0.8]), who=rng.choice(["", "ann"]))
            if n % 7 == 3:
                talk.undo()
            if n % 5 == 2:
                talk.tell(rng.sample(range(12), 2), "no")
    lines = path.read_text().splitlines()
    lines.insert(
        9, '{"items":[2,5],"answer":"yes","names":["otter 2","otter 5"],"who":"bö","checks":[0,3]}'
    )  # as a strategy with checks writes it
    return ("\n".join(lines) + "\n").encode()


def project(rows):
    made = [Statement(1, "first", "ann", "menu", "open", {"name": "x"}, 0, "")]
    return made + [
        Statement(n, new.id, new.who, new.via, new.op, new.body, new.basis, "") for n, new in enumerate(rows, 2)
    ]


def head():
    return header_of(X)


def test_a_log_comes_out_as_it_went_in(raw):
    rows = project(from_answers("a.jsonl", raw, IDS, project([]), head))
    assert to_answers(rows, IDS, json.loads(raw.split(b"\n")[0])) == raw
    assert json.loads(raw.split(b"\n")[0]) == header_of(X)


def test_the_statements_are_those_of_the_dialogue(raw, tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_bytes(raw)
    with Dialogue(X, PairsAndTrios(), log=path) as talk:
        told = [one.statement for one in talk.answers if one.statement is not None]
    rows = project(from_answers("a.jsonl", raw, IDS, project([]), head))
    found = [(one.kind, *(IDS.index(name) for name in one.items)) for one in units(fold(rows))]
    assert found == told


def test_a_log_that_has_grown_adds_what_is_new(raw):
    lines = raw.splitlines(keepends=True)
    rows = project([])
    for end in (6, 20, 20, len(lines)):
        cut = b"".join(lines[:end]) + b'{"items":[1,'  # and the beginning of a line that a crash cut short
        new = from_answers("a.jsonl", cut, IDS, rows, head)
        rows += [
            Statement(len(rows) + n, one.id, one.who, one.via, one.op, one.body, 0, "") for n, one in enumerate(new, 1)
        ]
    assert to_answers(rows, IDS, json.loads(lines[0])) == raw


def test_undos_that_were_undone_come_out_as_answers_again():
    def row(seq, op, body):
        return Statement(seq, f"k{seq}", "", "key", op, body, 0, "")

    plain = {"confidence": 1.0, "checks": [], "question": None, "asked": True}
    rows = [
        *project([]),
        row(2, "answer", {"items": IDS[:2], "answer": "yes", **plain}),
        row(3, "answer", {"items": IDS[1:3], "answer": "no", **plain}),
        row(4, "undo", {"target": 2}),
        row(5, "undo", {"target": 4}),
        row(6, "undo", {"target": 5}),
        row(7, "undo", {"target": 6}),
        row(8, "undo", {"target": 2}),
    ]
    for end in range(1, 9):
        raw = to_answers(rows[:end], IDS, header_of(X))
        again = project(from_answers("a", raw, IDS, project([]), head))
        mine, theirs = (sorted((u.kind, u.items) for u in units(fold(one))) for one in (rows[:end], again))
        assert mine == theirs


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 2: it is not JSON"),
        ("[]", "line 2: expected a JSON object"),
        ('{"items":[0,12],"answer":"yes"}', "rows from 0 to 11"),
        ('{"items":[0,true],"answer":"yes"}', "rows from 0 to 11"),
        ('{"items":[0,1],"answer":"perhaps"}', "answer is 'perhaps'"),
        ('{"items":[0,1],"answer":"yes","mood":3}', "unknown field 'mood'"),
        ('{"items":5,"answer":"yes"}', "expected an answer"),
        ('{"items":[0,1],"answer":"yes","names":["otter 0","mink"]}', "no item 'mink'"),
        ('{"items":[0,1],"answer":"yes","names":["otter 0"]}', "differ in number"),
        ('{"undo":0}', "takes back answer 0"),
    ],
)
def test_lines_that_are_not_answers_are_refused(line, words):
    with pytest.raises(LinkwiseError) as refused:
        from_answers("a.jsonl", f"{json.dumps(head())}\n{line}\n".encode(), IDS, [], head)
    assert words in str(refused.value)


def test_a_log_without_names_about_other_samples_is_refused(raw):
    lines = raw.splitlines()
    rows = [{key: value for key, value in json.loads(line).items() if key != "names"} for line in lines]
    plain = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    with pytest.raises(LinkwiseError, match="has 3 items"):
        from_answers("a.jsonl", plain, IDS[:3], [], head)
    with pytest.raises(LinkwiseError, match="other data"):
        from_answers("a.jsonl", plain, IDS, [], lambda: header_of(X + 1))
    with pytest.raises(LinkwiseError, match="no first line"):
        from_answers("a.jsonl", b"", IDS, [], head)
    named, nameless = (from_answers("a.jsonl", one, IDS, project([]), head) for one in (raw, plain))
    assert [new.body for new in named] == [new.body for new in nameless]


def test_names_say_which_items_are_meant_whatever_the_order_of_the_rows(raw):
    """A table that was sorted, or has more rows, keeps its answers; they come out by its own rows."""
    other = [*reversed(IDS), "seal"]
    rows = project(from_answers("a.jsonl", raw, other, project([]), lambda: pytest.fail("rows do not count")))
    same = project(from_answers("a.jsonl", raw, IDS, project([]), head))
    assert units(fold(rows)) == units(fold(same))
    written = to_answers(rows, other, head())
    assert all(is_entry(json.loads(line)) for line in written.splitlines()[1:])
    again = project(from_answers("a.jsonl", written, other, project([]), head))
    mine, theirs = (
        [(one.kind, frozenset(one.items[:2]), one.items[2:]) for one in units(fold(log))] for log in (rows, again)
    )
    assert mine == theirs


def test_a_log_of_the_terminal_is_read_by_a_project_made_of_the_same_table(tmp_path, monkeypatch, capsys):
    """`linkwise ask` writes names, and a project may compare otherwise than the command did."""
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"otter {n},{n % 3 * 50 + n},{n}\n" for n in range(9))
    (tmp_path / "otters.csv").write_text(f"name,weight,age\n{lines}", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\nn\nu\nq\n"))
    assert main(["ask", "otters.csv", "--id", "name", "-l", "answers.jsonl", "--who", "ann"]) == 0
    capsys.readouterr()
    reading = read_items("otters.csv", (tmp_path / "otters.csv").read_bytes(), None, {"scale": "standard"})
    names = [str(name) for name in reading.table.ids.tolist()]
    raw = (tmp_path / "answers.jsonl").read_bytes()
    found = read_statements("answers.jsonl", raw, names, reading.table.X, project([]))
    assert [(new.op, new.who, new.body["answer"]) for new in found] == [
        ("answer", "ann", "yes"), ("answer", "ann", "no"), ("answer", "ann", "unsure")]  # fmt: skip
