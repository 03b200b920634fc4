"""The engine processes: frames in and out, errors in words, and nothing else on the way to the server."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import nullcontext

import pytest

from linkwise.app import _rehearsal
from linkwise.app._arrays import unpack
from linkwise.app._engine import AskEngine, FitEngine, Jobs, Line
from linkwise.app._frames import read, write
from tests.app.engine_work import blobs, opened, row

ITEMS, _ = blobs(40, centers=3, features=3)
CSV = "name,c0,c1,c2\n" + "".join(
    f"{name},{','.join(f'{v:.4f}' for v in ITEMS.X[at])}\n" for at, name in enumerate(ITEMS.ids)
)
PROJECT = {"name": "p", "file": {"name": "p.csv", "kind": "csv"},
           "roles": {"name": "name", "c0": "number", "c1": "number", "c2": "show"},
           "options": {}, "seed": 0}  # fmt: skip
OPEN = {"do": "open", "project": PROJECT, "rows": [one.to_dict() for one in opened()], "items": True}
SAID = row(2, "say", {"kind": "must_link", "items": ["i0", "i1"]})


class Desk:
    """An engine in this process, and what it wrote."""

    def __init__(self, kind):
        self.stream = io.BytesIO()
        self.engine = kind(Line(self.stream))

    def __call__(self, do, body=b"", **given):
        start = self.stream.tell()
        self.engine.reply({"id": 7, "do": do, **given}, body)
        self.stream.seek(start)
        found = []
        while (frame := read(self.stream)) is not None:
            found.append(frame)
        return next(frame for frame in found if frame[0].get("id") == 7)


def test_the_fitter_answers_what_the_page_asks():
    desk = Desk(FitEngine)
    assert desk("why", a="i0", b="i1")[0]["message"] == "no project is open in this engine."
    told, _ = desk(**OPEN, body=CSV.encode())
    assert (told["ok"], told["n"], told["columns"], told["ids"][:2]) == (True, 40, ["c0", "c1", "c2"], ["i0", "i1"])
    assert told["items"][0]["values"] == CSV.splitlines()[1].split(",")[1:]
    desk.engine._fitter.work()
    desk.engine.reply({"do": "log", "rows": [SAID.to_dict()]}, b"")
    assert desk.engine._fitter.behind
    desk.engine._fitter.work()
    assert unpack(desk("tree", at=None)[1])[0]["v"] == 2
    assert unpack(desk("tree", at=1)[1])[0]["v"] == 1
    assert any("#2" in line for line in desk("why", a="i0", b="i1")[0]["words"])
    assert desk("conflicts")[0]["conflicts"] == []
    assert {one["reading"] for one in desk("drag", a=0, b=9, v=2)[0]["readings"]} >= {"branch", "group"}
    assert desk("compare", a=1, b=2)[0]["n_moved"] >= 0
    against = row(3, "say", {"kind": "cannot_link", "items": ["i0", "i1"]})
    assert {fix["seq"] for fix in desk("repairs", row=against.to_dict())[0]["conflict"]["fixes"]} == {2, 3}
    listed, _ = desk("export", kind=None, at=2)
    assert "cut" in listed["python"]
    labels, raw = desk("export", kind="labels", at=None)
    assert (labels["file"], raw.count(b"\n")) == ("labels.csv", 41)
    assert desk("preview", body=CSV.encode(), name="p.csv", roles=None, options={})[0]["rows"] == 40
    samples = desk("sample", name=None)[0]["samples"]
    assert desk("sample", name=samples[0]["name"])[1].count(b"\n") > samples[0]["items"]
    wrong = desk("drag", a=0, b=0)[0]
    assert (wrong["ok"], wrong["hint"]) == (False, "choose another target.")
    assert "outside of it" in wrong["message"]
    assert desk("dance")[0]["message"] == "there is no request 'dance'."
    assert desk("open", body=b"name\n", project={**PROJECT, "roles": {}}, rows=[])[0]["ok"] is False


def test_the_asker_answers_what_the_page_asks(monkeypatch):
    desk = Desk(AskEngine)
    assert desk("question", who="me")[0]["state"] == "waiting"
    assert desk(**OPEN, body=CSV.encode())[0]["n"] == 40
    asked = desk("question", who="me")[0]["question"]
    assert [one["column"] for one in asked["items"][0]["show"]][-1] == "c2"  # shown, not compared
    body = {"items": [item["id"] for item in asked["items"]], "answer": "unsure", "question": asked["id"]}
    desk.engine.reply({"do": "log", "rows": [row(2, "answer", body).to_dict()]}, b"")
    assert desk("question", who="me")[0]["question"]["id"] != asked["id"]
    monkeypatch.setattr(desk.engine._asker, "question", lambda who: 1 / 0)
    assert desk("question", who="me")[0]["code"] == "fault"  # told, and the engine goes on


def test_rows_that_pile_up_become_one_request_and_stopped_ones_are_dropped():
    jobs = Jobs()
    for frame in (
        {"do": "log", "rows": [1]},
        {"do": "log", "rows": [2]},
        {"id": 4, "do": "why"},
        {"do": "log", "rows": [3]},
    ):
        jobs.put((frame, b""))
    jobs.put(({"do": "stop", "job": 4}, b""))
    taken = [jobs.take()[0] for _ in range(3)]
    assert [frame.get("rows") for frame in taken] == [[1, 2], None, [3]]
    assert jobs.stopped == {4}
    assert jobs.take(0.001) is None


def test_what_libraries_print_does_not_come_between_frames():
    code = (
        "import os\nfrom linkwise.app._engine import frames\nfrom linkwise.app._frames import read, write\n"
        "with frames() as (given, out):\n"
        "    print('noise', flush=True); os.write(1, b'noise'); os.system('echo noise')\n"
        "    write(out, {'heard': read(given)[0]['say']})\n"
    )
    sent = io.BytesIO()
    write(sent, {"say": "hello"})
    made = subprocess.run([sys.executable, "-c", code], input=sent.getvalue(), capture_output=True, check=True)
    assert read(io.BytesIO(made.stdout)) == ({"heard": "hello"}, b"")
    assert made.stderr.count(b"noise") == 3


@pytest.mark.parametrize("kind", ["ask", "fit"])
def test_a_process_opens_a_project_and_ends_with_its_input(kind):
    command = [sys.executable, "-P", "-m", "linkwise.app._engine", kind]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ
    ) as process:
        write(process.stdin, {"id": 1, **OPEN}, CSV.encode())
        write(process.stdin, {"id": 2, "do": "question" if kind == "ask" else "conflicts", "who": "me"})
        seen, waits = [], {"tree", "map"} if kind == "fit" else {"progress"}
        while waits - {frame[0].get("event") for frame in seen} or not any(frame[0].get("id") == 2 for frame in seen):
            seen.append(read(process.stdout))
        process.stdin.close()
        assert process.wait(600) == 0
    first = next(frame for frame, _ in seen if frame.get("id") == 1)
    assert (first["ok"], first["n"]) == (True, 40)
    assert not [frame for frame, _ in seen if frame.get("event") == "problem"]


def test_kernels_are_made_ready_in_stages_that_tell_how_far_they_are(monkeypatch):
    monkeypatch.setattr(_rehearsal, "compiled_only", nullcontext)  # compiling is slow, the path is the same
    for kind in (AskEngine, FitEngine):
        desk = Desk(kind)
        desk.engine.plan()
        while desk.engine._stages:
            desk.engine.get_ready()
        desk.stream.seek(0)
        shares = []
        while (frame := read(desk.stream)) is not None:
            shares.append(frame[0]["share"])
        assert shares == sorted(shares)
        assert (shares[0], shares[-1], len(shares)) == (0.0, 1.0, len(_rehearsal.STAGES[kind.kind]) + 1)
