"""The gate: other sites, other programs and hostile requests get nothing, and no request brings the server down."""

import io
import json
import random
import socket

import pytest

from linkwise.app.server._gate import HEADERS, MOST_JSON, MOST_UPLOAD, POLICY, Gate, Refused, Sessions, read_json
from linkwise.app.server._server import ROUTES, read_static
from tests.app.hostile_requests import requests
from tests.app.running import Workbench


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Workbench(tmp_path_factory.mktemp("desk")) as running:
        yield running.sign_in().open_table()


def status(server, method="GET", path="/api/state", body=None, drop=(), **more):
    sent = {name: value for name, value in server.headers(**more).items() if name not in drop and value is not None}
    return server.raw(method, path, sent, body).status


def posted(server, path="/api/say", body=b"{}", **more):
    given = {"origin": f"http://{server.host}", "content_type": "application/json"} | more
    return status(server, "POST", path, body, **given)


def test_what_comes_from_the_page_passes(server):
    assert status(server) == 200
    assert posted(server, "/api/stop") == 200


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"cookie": ""}, 401),
        ({"cookie": "linkwise-1=x"}, 401),
        ({"x_linkwise": None}, 403),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1:1"}, 421),
        ({"host": "127.0.0.1/x?y#z"}, 400),
        ({"host": None}, 400),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1.evil.example"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"x_forwarded_host": "evil.example"}, 200),  # ignored
    ],
)
def test_everything_else_does_not(server, change, expected):
    assert status(server, **change) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"origin": None}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": "application/x-www-form-urlencoded"}, 415),
        ({"content_type": None}, 415),
        ({"content_encoding": "gzip"}, 415),
        ({"body": b"{"}, 400),
        ({"body": b"[1]"}, 422),
        ({"body": b'{"a": 1, "a": 2}'}, 400),
        ({"body": b'{"a": NaN}'}, 400),
        ({"body": b'{"a": "\\ud800"}'}, 400),
        ({"body": b'{"a": ' + b"9" * 10_000 + b"}"}, 400),
        ({"body": b"\xff"}, 400),
        ({"body": b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"}, 400),
        ({"content_length": str(MOST_JSON + 1)}, 413),
    ],
)
def test_a_write_needs_more(server, change, expected):
    assert posted(server, **change) == expected


def test_a_host_given_twice_is_refused(server):
    headers = [("host", server.host), *server.headers().items()]
    assert server.raw("GET", "/api/state", headers).status == 400


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/nothing", 404),
        ("//evil.example/", 404),
        ("/static/../_gate.py", 404),
        ("/static/%2e%2e/_gate.py", 404),
        ("/static/%252e%252e/_gate.py", 404),
        ("/static/main.js%00", 404),
        ("/api/export/..%2f..%2fetc", 404),
        ("/api/picture/99999", 404),
        ("/?next=//evil.example", 200),
        ("/api/state?" + "a" * 9_000, 414),
        ("/api/items?from=-1", 422),
        ("/api/items?n=1000000000", 422),
        ("/api/items?order=x;drop", 422),
        ("/api/compare?a=1&b=99", 422),
        ("/api/why?a=item+1&b=nobody", 422),
        ("/api/drag?a=1&b=999999", 422),
    ],
)
def test_addresses(server, path, expected):
    reply = server.raw("GET", path, server.headers())
    assert reply.status == expected
    if expected == 404:
        assert path.encode() not in reply.raw
    assert "location" not in reply.headers


def test_methods_and_large_headers(server):
    reply = server.raw("OPTIONS", "/api/say", server.headers(origin="https://evil.example"))
    assert reply.status == 405
    assert not any(name.lower().startswith("access-control") for name in reply.headers)
    assert status(server, "DELETE") == 405
    assert status(server, "GET", "/api/say") == 405
    assert status(server, x_junk="a" * 40_000) == 431


def test_every_reply_carries_the_headers_and_no_path(server):
    for path in ("/", "/static/main.js", "/api/state", "/api/nothing", "/api/items?n=0"):
        reply = server.raw("GET", path, server.headers())
        for name, value in HEADERS.items():
            assert reply.headers[name] == value
        assert str(server.folder) not in reply.raw.decode()
    assert "unsafe" not in POLICY


def test_a_page_that_is_opened_from_elsewhere_holds_nothing(server):
    opened = server.raw("GET", "/", {"host": server.host, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate",
                                     "sec-fetch-dest": "document"})  # fmt: skip
    assert opened.status == 200
    assert opened.raw == read_static()["/"][0]
    framed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}
    assert server.raw("GET", "/", {"host": server.host, **framed}).status == 403


def test_a_code_works_once_and_for_a_minute():
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    code, late = sessions.code("ann"), sessions.code("bob")
    now[0] = 59
    token = sessions.enter(code)
    assert sessions.who(token)[0] == "ann"
    assert sessions.enter(code) is None
    now[0] = 61
    assert sessions.enter(late) is None
    for wrong in ("", "x", None, 3, ["x"]):
        assert sessions.enter(wrong) is None
    assert sessions.who("") is None
    assert sessions.who(code) is None


def test_a_wrong_code_does_not_let_in(server):
    sent = server.headers(origin=f"http://{server.host}", content_type="application/json")
    for told in ({"code": "x" * 43}, {"code": None}):
        assert server.raw("POST", "/api/login", sent, json.dumps(told).encode()).status == 401
    assert server.raw("POST", "/api/login", sent, b'{"code": "x", "next": "//evil"}').status == 422


def test_the_cookie_is_kept_from_scripts_and_other_sites(server):
    told = json.dumps({"code": server.server.sessions.code("me")}).encode()
    sent = server.headers(origin=f"http://{server.host}", content_type="application/json", cookie="")
    cookie = server.raw("POST", "/api/login", sent, told).headers["set-cookie"]
    assert cookie.startswith(f"linkwise-{server.server.port}=")
    assert {"HttpOnly", "SameSite=Strict"} <= {part.strip() for part in cookie.split(";")}


def test_a_websocket_is_refused(server):
    upgrade = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13",
               "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip
    assert server.raw("GET", "/api/events", {"host": server.host, **upgrade}).status == 401


def test_it_listens_on_this_computer_only(server):
    assert server.server._socket.getsockname()[0] == "127.0.0.1"
    with socket.socket() as other:
        other.settimeout(None)
        assert other.connect_ex(("127.0.0.2", server.server.port)) != 0


def test_too_many_requests_are_slowed_down(tmp_path):
    with Workbench(tmp_path, per_second=0.0) as running:
        running.sign_in()
        found = [running.get("state").status for _ in range(305)]
        assert found.count(200) == 300
        assert found[-5:] == [429] * 5


def test_an_upload_that_is_cut_or_too_large_leaves_nothing(server):
    before = set(server.service._uploads.folder.iterdir())
    sent = server.headers(origin=f"http://{server.host}", content_type="application/octet-stream", x_name="a.csv")
    assert server.raw("POST", "/api/upload", sent | {"content-length": str(MOST_UPLOAD + 1)}, b"a").status == 413
    with socket.create_connection(("127.0.0.1", server.server.port)) as there:
        lines = [f"{name}: {value}" for name, value in (sent | {"content-length": "1000"}).items()]
        there.sendall("\r\n".join(["POST /api/upload HTTP/1.1", *lines, "", "a,b"]).encode())
    assert server.get("state").status == 200
    assert server.upload("empty.csv", b"").status == 422
    assert server.upload("table.csv", b"a\n").status == 422  # the engine refuses it
    while set(server.service._uploads.folder.iterdir()) != before:  # the server notices that the other side is gone
        server.get("state")


@pytest.mark.parametrize(
    "wire",
    [
        b"GET /api/state HTTP/1.1\r\n\r\n",
        b"POST /api/say HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\na",
        b"POST /api/say HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\nhost: x\r\n" + b"a: " + b"b" * 200_000 + b"\r\n\r\n",
    ],
)
def test_broken_http_is_a_bad_request(server, wire):
    with socket.create_connection(("127.0.0.1", server.server.port)) as there:
        there.sendall(wire)
        start = there.recv(12)
    assert start in (b"HTTP/1.1 400", b"HTTP/1.1 431")
    assert server.get("state").status == 200


def test_strict_json_is_read_as_json():
    told = {"a": [{"b": ["[[[[[[[[[[[[[[[[[[[[[[[[[[", 'x"{{{{{{{{{{{{{{{{{{{{{{{{{']}], "é": 1.5}
    assert read_json(json.dumps(told).encode()) == told
    with pytest.raises(Refused):
        read_json(b"{}" + b" " * 10 + b"{}")


def test_an_error_nobody_foresaw_says_nothing_about_the_computer(capsys):
    import asyncio

    async def broken(scope, receive, send):
        raise RuntimeError("C:/ann/secret.csv")

    sent = []

    async def run():
        sessions = Sessions()
        token = sessions.enter(sessions.code("me"))
        gate = Gate(broken, 1, sessions, {}, ROUTES)
        headers = [(b"host", b"127.0.0.1:1"), (b"cookie", f"linkwise-1={token}".encode()), (b"x-linkwise", b"1")]
        scope = {"type": "http", "method": "GET", "raw_path": b"/api/state", "headers": headers}

        async def send(message):
            sent.append(message)

        await gate(scope, None, send)

    asyncio.run(run())
    assert sent[0]["status"] == 500
    assert b"secret" not in sent[1]["body"]
    assert "secret" in capsys.readouterr().err


def test_generated_requests_meet_no_server_error(server):
    told = io.StringIO()
    for number, (method, path, headers, body) in enumerate(requests(random.Random(0), 300, server)):
        found = server.raw(method, path, headers, body).status
        if found >= 500:
            print(number, method, path, body, found, file=told)
    assert told.getvalue() == ""
    assert server.get("state").status == 200
