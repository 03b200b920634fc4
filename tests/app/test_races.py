"""The server when things happen at once, at the wrong moment, or not at all: races, sleepers, disks, odd names."""

import asyncio
import concurrent.futures
import errno
import gc
import http.client
import io
import json
import os
import signal
import socket
import sqlite3
import sys
import uuid
import zipfile
from pathlib import Path

import pytest

from linkwise.app._store import Store
from linkwise.app.files import Pictures
from linkwise.app.files._images import holds_pictures
from linkwise.app.server import _hands, _server
from linkwise.app.server._desk import Desk
from linkwise.app.server._gate import MOST_LOGIN
from linkwise.app.server._recent import Recent
from linkwise.app.server._server import Routes, _former
from linkwise.app.server._service import MOST_EVENTS, Service
from linkwise.exceptions import LinkwiseError
from tests.app.running import Workbench

APART = {"kind": "cannot_link", "items": ["item 1", "item 2"]}
TOGETHER = {"kind": "must_link", "items": ["item 1", "item 2"]}


@pytest.fixture
def server(tmp_path):
    with Workbench(tmp_path) as running:
        yield running.sign_in().open_table()


# -- statements --------------------------------------------------------------------------------------------------------


def test_one_id_with_two_contents_at_once_is_one_statement_and_one_refusal(server):
    for number in range(12):
        told = {"id": f"key {number}", "op": "say", "via": "menu", "basis": 1}
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            sent = [told | {"body": body} for body in (TOGETHER, APART) * 4]
            replies = list(pool.map(lambda one: server.post("say", one), sent))
        saved = [one for one in server.get("state").json["statements"] if one["id"] == told["id"]]
        assert len(saved) == 1
        for one, reply in zip(sent, replies, strict=True):
            assert reply.status == (200 if saved[0]["body"]["kind"] == one["body"]["kind"] else 409)


def test_a_statement_about_another_project_is_refused_and_can_be_sent_there(server):
    first = server.get("state").json["project"]["key"]
    told = {"id": str(uuid.uuid4()), "op": "say", "body": TOGETHER, "via": "menu", "basis": 1, "project": first}
    assert server.post("leave", {}).status == 200
    assert server.post("say", told).json["code"] == "closed"
    server.open_table()  # of the same items
    reply = server.post("say", told)
    assert (reply.status, reply.json["code"]) == (409, "other")
    assert server.get("state").json["seq"] == 1
    server.post("leave", {})
    recent = next(one for one in server.get("state").json["recent"] if one["name"] == "beers.lw")
    assert server.post("open", {"recent": recent["id"]}).status == 200
    assert server.post("say", told).json["seq"] == 2


def test_statements_that_meet_the_end_of_the_project_are_saved_or_refused(tmp_path):
    """Everything that got a number is there afterwards, and nothing that was refused."""
    pairs = [[f"item {a}", f"item {b}"] for a in range(12) for b in range(a)]
    with Workbench(tmp_path) as server:
        server.sign_in().open_table()

        def send(n):
            if n == 20:
                return server.post("leave", {})
            return server.post("say", {"id": f"k{n}", "op": "say", "via": "key", "basis": 1,
                                       "body": {"kind": "must_link", "items": pairs[n]}})  # fmt: skip

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(send, range(len(pairs))))
    assert {one.status for one in replies} == {200, 409}
    with Store.open(tmp_path / "beers.lw") as kept:
        ids = [one.id for one in kept.statements()[1:]]
    assert sorted(ids) == sorted(f"k{n}" for n, one in enumerate(replies) if one.status == 200 and n != 20)


# -- engines -----------------------------------------------------------------------------------------------------------


def test_stopping_often_is_no_fault_of_the_engine(server):
    for _ in range(_hands.RESTARTS + 3):
        before = server.service.fit.pid
        assert server.post("stop", {}).status == 200
        while server.service.fit.pid in (before, None):
            server.get("state")
    assert server.get("state").json["engine"]["state"] != "down"
    server.say("say", TOGETHER)
    while server.get("state").json["marks"].get("2") != "holds":
        pass


def test_an_engine_that_cannot_be_started_again_is_told_and_answers_are_saved(server, monkeypatch):
    async def none(*_, **__):
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(asyncio, "create_subprocess_exec", none)
    os.kill(server.service.fit.pid, signal.SIGKILL)
    while (engine := server.get("state").json["engine"])["state"] != "down":
        pass
    assert "could not be started again" in engine["message"]
    assert server.say("say", TOGETHER).json["seq"] == 2


def test_an_engine_that_dies_while_a_request_is_sent_is_reported_to_its_caller_alone():
    """The terminal does not show the same error again."""
    unheard = []

    async def run():
        asyncio.get_running_loop().set_exception_handler(lambda _, told: unheard.append(told))
        engine = _hands.Engine("fit", lambda *_: None)

        async def send(*_):
            await engine._died(asked=True)
            raise engine._gone()

        async def none():
            pass

        engine._send, engine.begin = send, none
        with pytest.raises(LinkwiseError, match="not running"):
            await engine._call("tree")
        gc.collect()
        await asyncio.sleep(0)

    asyncio.run(run())
    assert unheard == []


# -- connections -------------------------------------------------------------------------------------------------------


def test_connections_that_say_nothing_are_ended_and_honest_ones_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(_server, "SECONDS_OF_A_HEAD", 0.2)
    with Workbench(tmp_path) as server:
        server.sign_in()
        silent = socket.create_connection(("127.0.0.1", server.server.port))
        slow = socket.create_connection(("127.0.0.1", server.server.port))
        slow.sendall(b"GET / HTTP/1.1\r\nhost: ")
        stream = http.client.HTTPConnection("127.0.0.1", server.server.port)
        stream.request("GET", "/api/events", headers=server.headers())
        reply = stream.getresponse()
        assert reply.readline() == b": linkwise\n"
        assert silent.recv(1) == slow.recv(1) == b""  # the server has hung up
        server.on_loop(lambda: server.service.publish("said", {"seq": 7}))
        while (line := reply.readline()) != b'data: {"seq":7}\n':
            assert line
        for one in (silent, slow, stream):
            one.close()


def test_a_reply_is_sent_at_once_and_not_when_its_head_was_acknowledged(server):
    there = http.client.HTTPConnection("127.0.0.1", server.server.port)
    there.request("GET", "/api/state", headers=server.headers())
    there.getresponse().read()
    connections = server.server._server.server_state.connections
    sockets = server.on_loop(lambda: [one.transport.get_extra_info("socket") for one in connections])
    assert sockets
    assert all(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in sockets)
    there.close()


def test_a_login_is_small_since_anyone_may_send_one(server):
    sent = server.headers(origin=f"http://{server.host}", content_type="application/json", cookie="")
    body = json.dumps({"code": "x" * MOST_LOGIN}).encode()
    assert server.raw("POST", "/api/login", sent, body).status == 413
    assert server.raw("POST", "/api/login", sent | {"transfer-encoding": "chunked"}, b"%x\r\n%s\r\n0\r\n\r\n" % (
        len(body), body)).status == 413  # fmt: skip


def test_streams_of_pages_that_are_gone_before_the_first_byte_do_not_count(tmp_path):
    service = Service(folder=tmp_path, recent=Recent(tmp_path))
    routes = Routes(service)
    session = b"one session"

    async def run():
        async def gone():
            return {"type": "http.disconnect"}

        async def nowhere(message):
            raise OSError("the page is gone")

        for _ in range(20):
            scope = {"type": "http", "method": "GET", "path": "/api/events", "headers": [], "query_string": b"",
                     "linkwise": {"who": "me", "session": session, "json": None}}  # fmt: skip
            response = await routes._events(_server.Request(scope, gone))
            try:
                await response(scope, gone, nowhere)
            except* OSError:
                pass
        await service.close()

    asyncio.run(run())
    assert routes._streams == {session: 0}


def test_a_page_that_sleeps_is_told_to_ask_for_the_state_instead_of_filling_the_memory(tmp_path):
    async def run():
        service = Service(folder=tmp_path, recent=Recent(tmp_path))
        events = service.events()
        heard = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        for seq in range(3 * MOST_EVENTS):
            service.publish("said", {"seq": seq})
        (waiting,) = service.listeners
        assert waiting.qsize() <= MOST_EVENTS
        with pytest.raises(StopAsyncIteration):  # the stream ends; a browser connects once more
            await heard
        assert not service.listeners
        await service.close()

    asyncio.run(run())


# -- files -------------------------------------------------------------------------------------------------------------


def test_an_upload_on_a_full_disk_says_so_and_leaves_nothing(server, monkeypatch):
    real = Path.open

    class Full(io.FileIO):
        def write(self, part):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def opened(self, mode="r", *given, **more):
        return Full(self, "x") if mode == "xb" else real(self, mode, *given, **more)

    before = set(server.service._uploads.folder.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", opened)
        reply = server.upload("a.csv", b"name,x\na,1\nb,2\n")
    assert (reply.status, reply.json["code"]) == (507, "full")
    assert set(server.service._uploads.folder.iterdir()) == before
    assert server.upload("a.csv", b"name,x\na,1\nb,2\n").status == 200


def test_an_archive_that_lists_millions_of_files_is_refused_before_they_are_read(monkeypatch):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as out:
        out.writestr("a.png", b"")
    raw = made.getvalue()
    at, end = raw.index(b"PK\x01\x02"), raw.index(b"PK\x05\x06")
    entry, tail = raw[at:end], bytearray(raw[end:])
    many = raw[:at] + entry * 60_000
    tail[8:12] = (60_000).to_bytes(2, "little") * 2
    tail[12:16] = len(entry * 60_000).to_bytes(4, "little")
    seen = []
    monkeypatch.setattr(zipfile.ZipInfo, "_decodeExtra", lambda *_: seen.append(1), raising=True)
    assert holds_pictures(many + tail)
    with pytest.raises(LinkwiseError, match="holds more than"):
        Pictures("p.zip", many + bytes(tail))
    assert not seen


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
@pytest.mark.parametrize("name", [b"caf\xe9.lw", b"two  words.lw", "Ü 🍺.lw".encode()])
def test_a_project_of_any_name_is_shown_copied_and_listed(tmp_path, name):
    path = tmp_path / os.fsdecode(name)
    Store.create(path, {"name": "x"}, [("a.csv", "csv", b"name,x\na,1\nb,2\n")], [("a", {}), ("b", {})]).close()
    with Workbench(tmp_path, project=path) as server:
        server.sign_in()
        assert server.get("state").json["project"]["items"] == 2
        reply = server.get("export/project")
        assert reply.status == 200
        assert reply.raw.startswith(b"SQLite format 3")
        assert server.post("leave", {}).status == 200
        (recent,) = server.get("state").json["recent"]
        assert server.post("open", {"recent": recent["id"]}).status == 200


@pytest.mark.parametrize(
    "facts", [b"[]", b"{", b'{"marks": 3}', b'{"moved": {"x": 1}}', b'{"columns": 4}', b"[" * 99_999]
)
@pytest.mark.parametrize("tree", [b"", b"LWA1\xff\xff\xff\x00", b"LWA1\x02\x00\x00\x00{}", b"not arrays"])
def test_a_project_with_a_strange_cache_opens_without_it(tmp_path, facts, tree):
    path = tmp_path / "x.lw"
    with Store.create(path, {"name": "x"}, [], [("a", {}), ("b", {})]) as store:
        store.cache("tree", 1, tree)
        store.cache("facts", 1, facts)

    async def run():
        desk = Desk(Store.open(path))
        assert desk.ordered([0, 1], "tree", down=False) == [0, 1]
        assert desk.to_dict(0, "me")["marks"] == {"1": "none"}
        await desk.close()

    asyncio.run(run())


# -- where it listens --------------------------------------------------------------------------------------------------


def test_a_project_is_shown_on_its_former_port_where_pages_kept_what_was_not_saved(tmp_path):
    recent = Recent(tmp_path / "config")
    project = tmp_path / "a.lw"
    project.write_bytes(b"")
    assert _former(recent, project) == _former(recent, None) == 0
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        recent.add(project, 3, port)
        assert recent.port(project) == port
        assert _former(recent, project) == 0
    assert _former(recent, project) == port
    for wrong in (80, -1, 70_000, "8000", None):
        recent.add(project, 3, wrong)
        assert _former(recent, project) == 0


def test_errors_name_no_folder(tmp_path):
    """What cannot be opened is told by its name: the page may be shown to others."""
    other = tmp_path / "secret folder"
    other.mkdir()
    path = other / "mine.lw"
    Store.create(path, {"name": "x"}, [("a.csv", "csv", b"name,x\na,1\nb,2\n")], [("a", {}), ("b", {})]).close()
    recent = Recent(tmp_path / "config")
    recent.add(path, 1)
    whole = path.read_bytes()
    with sqlite3.connect(tmp_path / "foreign.lw") as foreign:
        foreign.execute("create table log (a)")
    foreign.close()
    with Workbench(tmp_path) as server:
        server.sign_in()
        (shown,) = server.get("state").json["recent"]
        for content in (
            b"",
            whole[:9_000],
            (tmp_path / "foreign.lw").read_bytes(),
            whole[:60] + b"\0\0\0\x09" + whole[64:],
        ):
            path.write_bytes(content)
            for reply in (server.post("open", {"recent": shown["id"]}), server.upload("mine.lw", content)):
                assert reply.status == 422
                assert "secret folder" not in reply.raw.decode()
                assert str(tmp_path) not in reply.raw.decode()
        assert list(tmp_path.glob("*.partial")) == []
