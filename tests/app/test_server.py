"""The server with engines that compute nothing: saving, questions, faults of disk and processes, imports, the verb."""

import concurrent.futures
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import uuid
from contextlib import contextmanager

import pytest

from linkwise.app import open_project
from linkwise.app._store import Store
from linkwise.app.server._recent import Recent
from linkwise.app.server._uploads import display_name, free_path
from linkwise.exceptions import LinkwiseError
from tests.app.running import TABLE, Workbench


@pytest.fixture
def server(tmp_path):
    with Workbench(tmp_path) as running:
        yield running.sign_in().open_table()


def answered(question, word="yes"):
    return {"items": [one["id"] for one in question["items"]], "answer": word, "question": question["id"]}


@contextmanager
def listening(server):
    """What the stream of events says, as a list that grows; waits for the stream to be open."""
    import http.client

    there = http.client.HTTPConnection("127.0.0.1", server.server.port)
    there.request("GET", "/api/events", headers=server.headers())
    stream = there.getresponse()
    assert stream.readline() == b": linkwise\n"
    found, more = [], threading.Condition()

    def listen():
        name = ""
        for line in stream:
            if line.startswith(b"event: "):
                name = line[7:].strip().decode()
            elif line.startswith(b"data: "):
                with more:
                    found.append((name, json.loads(line[6:])))
                    more.notify_all()

    def until(name):
        with more:
            assert more.wait_for(lambda: any(one == name for one, _ in found), timeout=600)
            return next(told for one, told in found if one == name)

    reader = threading.Thread(target=listen, daemon=True)
    reader.start()
    yield until
    server.end()
    reader.join()
    there.close()


# -- statements --------------------------------------------------------------------------------------------------------


def test_an_answer_is_saved_once_and_brings_the_next_question(server):
    asked = server.question()
    told = {"id": str(uuid.uuid4()), "op": "answer", "body": answered(asked), "via": "question", "basis": 1}
    first = server.post("say", told).json
    assert first["seq"] == 2
    assert first["next"]["id"] != asked["id"]
    assert server.post("say", told).json == first
    assert server.post("say", told | {"body": answered(asked, "no")}).status == 409
    state = server.get("state").json
    assert [one["op"] for one in state["statements"]] == ["open", "answer"]
    assert state["statements"][1]["body"]["items"] == told["body"]["items"]
    assert state["progress"]["answers"] == 1


def test_a_stale_answer_is_refused_with_the_question_that_waits(server):
    asked = server.question()
    following = server.say("answer", answered(asked)).json["next"]
    reply = server.say("answer", answered(asked))
    assert reply.status == 409
    assert reply.json["question"] == following
    mixed = answered(following) | {"items": ["item 7", "item 8"]}
    assert server.say("answer", mixed).status == 409
    assert server.get("state").json["seq"] == 2


def test_keys_pressed_fifty_times_at_once_answer_one_question(server):
    asked = server.question()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: server.say("answer", answered(asked)), range(50)))
    assert sorted({one.status for one in replies}) == [200, 409]
    assert [one.status for one in replies].count(200) == 1
    assert len(server.get("state").json["statements"]) == 2


def test_two_people_get_questions_of_their_own_and_speak_for_themselves(tmp_path):
    with Workbench(tmp_path, people=("ann", "bob")) as server:
        server.sign_in("ann").open_table()
        asked = server.question()
        server.say("answer", answered(asked))
        assert server.say("say", {"kind": "must_link", "items": ["item 3", "item 4"]}, who="bob").status == 422
        server.sign_in("bob")
        assert server.question()["id"] == asked["id"]
        assert server.say("answer", answered(asked, "no")).status == 200
        state = server.get("state").json
        assert state["who"] == "bob"
        assert [one["who"] for one in state["statements"][1:]] == ["ann", "bob"]
        assert [one["name"] for one in state["people"]] == ["ann", "bob"]


@pytest.mark.parametrize(
    ("op", "body"),
    [
        ("say", {"kind": "must_link", "items": ["item 1", "nobody"]}),
        ("say", {"kind": "must_link", "items": ["item 1", "item 1"]}),
        ("say", {"kind": "must_link", "items": ["item 1", "item 2"], "zz": 1}),
        ("answer", {"items": ["item 1", "item 2"], "answer": "maybe"}),
        ("undo", {"target": 1}),
        ("undo", {"target": 99}),
        ("name", {"items": ["item 1"], "text": "x" * 10_000}),
        ("open", {"name": "other"}),
        ("nothing", {}),
    ],
)
def test_what_makes_no_sense_is_refused_with_words(server, op, body):
    reply = server.say(op, body)
    assert reply.status == 422
    assert set(reply.json) == {"code", "message", "hint"}
    assert server.get("state").json["seq"] == 1


def test_undone_statements_stay_in_the_log_and_are_marked(server):
    server.say("say", {"kind": "must_link", "items": ["item 1", "item 2"]})
    server.say("undo", {"target": 2})
    marks = server.get("state").json["marks"]
    assert marks["2"] == "undone"
    server.say("undo", {"target": 3})
    while (marks := server.get("state").json["marks"])["2"] == "waiting":
        pass
    assert marks["2"] == "holds"


def test_statements_that_wait_are_written_together_and_each_once(server, monkeypatch):
    calls, append = [], Store.append
    monkeypatch.setattr(Store, "append", lambda self, rows: (calls.append(len(rows)), append(self, rows))[1])
    pairs = [[f"item {a}", f"item {b}"] for a in range(12) for b in range(a)]
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        seqs = list(pool.map(lambda pair: server.say("say", {"kind": "must_link", "items": pair}).json["seq"], pairs))
    assert sorted(seqs) == list(range(2, len(pairs) + 2))
    assert sum(calls) == len(pairs)


def test_a_file_of_statements_is_one_statement_of_whoever_read_it_in(server):
    reply = server.upload("said.txt", b"item 1 = item 2\nitem 3 = item 4\n", "read")
    assert (reply.status, reply.json) == (200, {"name": "said.txt", "seq": 2, "statements": 2})
    said = server.get("state").json["statements"][1]
    assert (said["op"], said["via"], said["who"], len(said["body"]["statements"])) == ("import", "import", "me", 2)
    for content, words in ((b"", "is empty"), (b"\n", "no statements")):
        reply = server.upload("said.txt", content, "read")
        assert reply.status == 422
        assert words in reply.json["message"]
    assert server.get("state").json["seq"] == 2
    assert list(server.service._uploads.folder.iterdir()) == []
    server.post("leave", {})
    assert server.upload("said.txt", b"item 1 = item 2\n", "read").status == 409


def test_statements_that_refer_to_rows_are_read_again_if_something_was_said_meanwhile(server, monkeypatch):
    """The rows of a file are numbered from the newest row on: they are saved there, or worked out once more."""
    server.say("say", {"kind": "must_link", "items": ["item 1", "item 2"]})
    call, times = type(server.service.fit).call, []

    async def slow(self, do, body=b"", **given):
        found = await call(self, do, body, **given)
        if do == "read" and not times:
            times.append(do)
            await server.service.say("me", {"id": "between", "op": "note", "body": {"seq": 2, "text": "x"}})
        return found

    monkeypatch.setattr(type(server.service.fit), "call", slow)
    assert server.upload("said.jsonl", b"#2\n", "read").json["seq"] == 4
    rows = server.get("state").json["statements"]
    assert [(one["op"], one["who"]) for one in rows[2:]] == [("note", "me"), ("undo", "ann")]
    assert server.get("state").json["marks"]["2"] == "undone"


# -- faults ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("code", "status"), [(sqlite3.SQLITE_FULL, 507), (sqlite3.SQLITE_IOERR_FSYNC, 503)])
def test_a_statement_that_cannot_be_written_is_refused_and_saved_when_sent_again(server, code, status):
    failing, real = [True], server.service.desk.store._database

    class Database:
        """The database on a disk with no room."""

        def __getattr__(self, name):
            return getattr(real, name)

        def execute(self, line, *given):
            if failing[0] and line == "commit":
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorcode = code
                raise error
            return real.execute(line, *given)

    server.service.desk.store._database = Database()
    asked = server.question()
    told = {"id": "an answer", "op": "answer", "body": answered(asked), "via": "question", "basis": 1}
    reply = server.post("say", told)
    assert reply.status == status
    assert "Not saved" in reply.json["message"]
    assert str(server.folder) not in reply.raw.decode()
    assert server.get("state").json["seq"] == 1
    assert server.get("question").json["question"] == asked
    failing[0] = False
    if status == 507:  # after a failed sync nothing more is written until linkwise starts again
        assert server.post("say", told).json["seq"] == 2
        assert server.post("say", told).json["seq"] == 2
    else:
        assert server.post("say", told).status == 503


def test_a_file_that_cannot_be_written_is_shown(tmp_path):
    with Workbench(tmp_path) as server:
        server.sign_in().open_table()
        server.say("say", {"kind": "must_link", "items": ["item 1", "item 2"]})
    project = tmp_path / "beers.lw"
    with Store.open(project) as kept:
        seq = kept.seq
    look = Store.open

    def looking(path, **given):
        return look(path, readonly=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "open", looking)
        with Workbench(tmp_path, project=project) as server:
            server.sign_in()
            state = server.get("state").json
            assert state["project"]["readonly"]
            assert state["seq"] == seq == 2
            assert server.say("say", {"kind": "must_link", "items": ["item 3", "item 4"]}).status == 503


def test_an_answer_that_waited_while_the_server_was_down_is_saved_once(tmp_path):
    with Workbench(tmp_path) as server:
        server.sign_in().open_table()
        asked = server.question()
    told = {"id": "kept by the page", "op": "answer", "body": answered(asked), "via": "question", "basis": 1}
    for _ in range(2):
        with Workbench(tmp_path, project=tmp_path / "beers.lw") as server:
            server.sign_in()
            assert server.post("say", told).json["seq"] == 2
            assert server.post("say", told).json["seq"] == 2
            assert server.question()["id"] != asked["id"]
            assert [one["id"] for one in server.get("state").json["statements"][1:]] == ["kept by the page"]


def test_engines_that_die_lose_nothing_and_come_back(server):
    server.say("say", {"kind": "must_link", "items": ["item 1", "item 2"]})
    for engine in (server.service.ask, server.service.fit):
        before = engine.pid
        os.kill(before, signal.SIGKILL)
        assert server.say("say", {"kind": "must_link", "items": ["item 3", "item 4"]}).status == 200
        while engine.pid in (before, None):
            server.get("state")
    seq = server.get("state").json["seq"]
    assert seq == 4
    while server.get("state").json["marks"].get("4") != "holds":  # the new one has read the whole log
        pass
    assert server.question() is not None


def test_an_engine_that_keeps_dying_is_left_alone_and_answers_are_saved(server):
    for _ in range(4):
        while (reply := server.get("export/die").json)["code"] != "engine" or server.service.fit.state == "stopped":
            pass
    while server.get("state").json["engine"]["state"] != "down":
        server.get("export/die")
    assert "within a minute" in server.get("state").json["engine"]["message"]
    assert reply["message"]
    asked = server.question()
    assert server.say("answer", answered(asked)).json["seq"] == 2


def test_events_tell_every_page(server):
    with listening(server) as until:
        server.say("say", {"kind": "must_link", "items": ["item 1", "item 2"]})
        assert until("said") == {"seq": 2}
        assert until("tree")["v"] == 2
        until("map")


def test_a_session_has_eight_streams(server):
    import http.client

    streams = []
    for _ in range(9):
        there = http.client.HTTPConnection("127.0.0.1", server.server.port)
        there.request("GET", "/api/events", headers=server.headers())
        streams.append((there, there.getresponse()))
    assert [reply.status for _, reply in streams] == [200] * 8 + [429]
    for there, _ in streams:
        there.close()


# -- items, pictures, exports ------------------------------------------------------------------------------------------


def test_windows_of_the_table(server):
    first = server.get("items?from=0&n=5&order=x&down=1").json
    assert first["total"] == 12
    assert [one["values"][0] for one in first["rows"]] == ["6", "5", "4", "4", "3"]
    assert server.get("items?q=ITEM+1").json["total"] == 3
    assert server.get("search?q=item+11").json == {"seq": 1, "total": 1, "hits": [11]}
    assert server.get("names").json["names"][3] == "item 3"
    server.say("say", {"kind": "must_link", "items": ["item 7", "item 9"]})
    assert {one["id"] for one in server.get("items?order=said&down=1&n=2").json["rows"]} == {"item 7", "item 9"}


def test_values_are_data_wherever_they_come(tmp_path):
    nasty = '<img src=x onerror=alert(1)>,1,2\n=HYPERLINK("http://evil"),3,4\njavascript:alert(1),5,6\n'
    with Workbench(tmp_path) as server:
        server.sign_in().open_table("<script>,x,y\n" + nasty)
        for path in ("names", "items", "state", "question"):
            reply = server.get(path)
            assert reply.headers["content-type"] == "application/json"
            assert reply.headers["x-content-type-options"] == "nosniff"
        assert server.get("names").json["names"][0] == "<img src=x onerror=alert(1)>"
        assert "attachment" in server.get("export/labels").headers["content-disposition"]


def test_a_copy_of_the_project_opens(server, tmp_path):
    server.say("say", {"kind": "must_link", "items": ["item 1", "item 2"]})
    copy = tmp_path / "copy.lw"
    copy.write_bytes(server.get("export/project").raw)
    with Store.open(copy) as kept:
        assert [one.op for one in kept.statements()] == ["open", "say"]


def test_pictures_come_from_the_archive_of_the_project_only(server):
    assert server.get("picture/1").status == 404  # a table without pictures


# -- making projects ---------------------------------------------------------------------------------------------------


def test_names_of_files_are_text():
    assert display_name("../../x.csv") == "x.csv"
    assert display_name("C:\\data\\x.csv") == "x.csv"
    assert display_name("\0\u202e..") == "table"
    assert len(display_name("x" * 300 + ".csv")) < 200


def test_projects_stay_in_their_folder(tmp_path):
    for name in ("../../x.csv", "/etc/passwd", "CON", "a/b", "..", "\0", "-rf.csv"):
        path = free_path(tmp_path, name)
        assert path.parent == tmp_path
        assert path.suffix == ".lw"
        path.write_bytes(b"")
    assert free_path(tmp_path, "x.csv").name == "x-2.lw"


def test_a_table_that_cannot_be_read_makes_no_project(tmp_path):
    with Workbench(tmp_path) as server:
        server.sign_in()
        assert server.upload("x.csv", b"a\n").status == 422
        foreign = server.upload("beers.lw", b"name,x\na,1\nb,2\n")
        assert foreign.status == 422
        assert "beers.lw is not a project" in foreign.json["message"]
        assert server.post("open", {"upload": "unknown"}).status == 422
        assert list(tmp_path.glob("*.lw")) == []
        assert server.get("state").json["project"] is None


def test_a_table_named_in_the_terminal_is_shown_for_import(tmp_path):
    """The server is asked to read it before its engines run."""
    table = tmp_path / "beers.csv"
    table.write_text(TABLE, encoding="utf-8")
    with Workbench(tmp_path, table=table) as named:
        named.sign_in()
        while not (told := named.get("state").json)["preview"]:
            assert told["offered"] == {"name": "beers.csv", "problem": ""}
        assert told["preview"]["rows"] == 12
        named.post("open", {"upload": told["preview"]["upload"], "roles": {}, "options": {}})
        assert (tmp_path / "beers.lw").exists()


def test_a_table_named_in_the_terminal_that_cannot_be_read_says_so_on_the_start_page(tmp_path):
    table = tmp_path / "beers.csv"
    table.write_text("name\n", encoding="utf-8")
    with Workbench(tmp_path, table=table) as named:
        named.sign_in()
        while not (told := named.get("state").json)["offered"]["problem"]:
            assert told["preview"] is None
        assert "a line of names" in told["offered"]["problem"]


def test_recent_projects_samples_and_dropped_projects_open(tmp_path):
    with Workbench(tmp_path) as server:
        server.sign_in().open_table()
        server.say("say", {"kind": "must_link", "items": ["item 1", "item 2"]})
        assert server.post("open", {"sample": "letters"}).status == 409  # one project at a time
        dropped = server.get("export/project").raw
    with Workbench(tmp_path) as server:
        server.sign_in()
        while not (state := server.get("state").json)["samples"]:
            pass
        (recent,) = state["recent"]
        assert (recent["name"], recent["answers"]) == ("beers.lw", 1)
        assert str(tmp_path) not in json.dumps(recent)
        assert server.post("open", {"recent": recent["id"]}).status == 200
        assert server.get("state").json["seq"] == 2
    with Workbench(tmp_path) as server:
        server.sign_in()
        assert server.upload("mine.lw", dropped).status == 200
        assert server.get("state").json["project"]["name"] == "mine.lw"
        assert server.get("state").json["seq"] == 2
    with Workbench(tmp_path) as server:
        server.sign_in()
        while not server.get("state").json["samples"]:
            pass
        assert server.post("open", {"sample": "letters"}).status == 200
        assert server.get("names").json["names"] == ["a", "b", "c"]
        assert server.post("open", {"forget": True}).status == 200
    assert Recent(tmp_path / "config").read() == [] or len(Recent(tmp_path / "config").read()) == 1


def test_a_project_that_is_left_lets_another_be_opened(server):
    server.say("say", {"kind": "must_link", "items": ["item 1", "item 2"]})
    assert server.post("leave", {}).status == 200
    assert server.post("leave", {}).status == 409
    state = server.get("state").json
    assert (state["project"], state["recent"][0]["answers"]) == (None, 1)
    reads = ("names", "items", "question", "tree", "map", "conflicts")  # a page may ask for them before it knows
    assert {server.get(name).status for name in reads} == {204}
    assert server.say("say", {"kind": "must_link", "items": ["item 1", "item 2"]}).status == 409
    server.open_table("name,x,y\na,1,2\nb,3,4\nc,5,6\n")
    assert server.get("state").json["project"]["name"] == "beers-2.lw"
    assert server.question()["items"][0]["id"] == "a"
    while server.get("tree").status == 204:
        pass


def test_the_list_of_recent_projects_is_private(tmp_path):
    project = tmp_path / "a.lw"
    project.write_bytes(b"")
    recent = Recent(tmp_path / "config")
    recent.add(project, 3)
    assert stat.S_IMODE((tmp_path / "config" / "recent.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "config").stat().st_mode) == 0o700
    (tmp_path / "config" / "recent.json").write_text("{", encoding="utf-8")
    assert recent.read() == []


# -- processes ---------------------------------------------------------------------------------------------------------


def test_the_server_process_loads_no_numpy():
    code = (
        "import sys, linkwise.app.server._server; print([n for n in ('numpy', 'numba', 'sklearn') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_verb_prints_a_link_and_leaves_no_process_behind(tmp_path):
    (tmp_path / "beers.csv").write_text(TABLE, encoding="utf-8")
    command = [sys.executable, "-m", "linkwise", "open", "beers.csv", "--no-browser"]
    there = os.environ | {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)}
    with subprocess.Popen(command, cwd=tmp_path, env=there, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, start_new_session=True) as running:  # fmt: skip
        line = running.stdout.readline().decode()
        assert "http://127.0.0.1:" in line
        assert "#code=" in line
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=600)  # ends when engines, which share its pipes, have ended as well
    assert running.returncode == 0, told
    assert told == b""
    assert list(tmp_path.glob("*.lw")) == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"path": "missing.csv"}, "missing.csv"),
        ({"path": "empty.lw"}, "is not a project"),
        ({"folder": "nowhere"}, "is not a folder"),
        ({"people": ["ann", ""]}, "expected one or more names"),
        ({"port": 99_999}, "cannot be used"),
    ],
)
def test_what_cannot_be_opened_is_said_before_a_server_starts(tmp_path, monkeypatch, given, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.lw").write_bytes(b"")
    with pytest.raises((LinkwiseError, OSError), match=words):
        open_project(**given, browser=False)


def test_a_project_that_is_open_elsewhere_says_so(server):
    with pytest.raises(LinkwiseError, match="open"):
        open_project(server.folder / "beers.lw", browser=False)
