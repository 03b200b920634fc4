"""The gate before every request: who may ask what, how large, how often; and the headers of every reply.

It reads the raw request before anything is routed. Other programs of this computer and other sites in the same browser
can reach the port: without the cookie of a session they get no more than the empty page.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import secrets
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from linkwise._files import parse_json
from linkwise.exceptions import LinkwiseError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "x-frame-options": "DENY",
}
MOST_ADDRESS = 8_192  # bytes of a path and its query
MOST_HEADERS = 32_768
MOST_JSON = 8 << 20  # a move names every item of three branches
MOST_LOGIN = 1_024  # of a request by whoever can reach the port
MOST_UPLOAD = 200 << 20
MOST_DEPTH = 20
SECONDS_OF_A_CODE = 60
SECONDS_OF_A_BODY = 30
SECONDS_OF_AN_UPLOAD = 600
PER_SECOND, AT_ONCE = 100.0, 300.0  # requests of one session
# What a browser asks for by itself, without the header that the page adds.
PLAIN = ("/api/events", "/api/picture/", "/api/export/")
LOGIN, JSON, BYTES = "/api/login", "application/json", "application/octet-stream"
FILES = frozenset({"/api/upload", "/api/read"})  # requests whose body is a file, not JSON


class Refused(LinkwiseError):  # noqa: N818 - a reply, which the page reads by this name
    """A request that is not answered, with the status of the reply, a word for programs, and words for people."""

    def __init__(self, status: int, code: str, message: str, hint: str = "", **more: Any) -> None:
        super().__init__(message)
        self.status, self.code, self.hint, self.more = status, code, hint, more

    def to_dict(self) -> dict[str, Any]:
        """Return the body of the reply."""
        return {"code": self.code, "message": str(self), "hint": self.hint, **self.more}


def fault() -> Refused:
    """Return the reply to a request that met an unforeseen error; the terminal shows more."""
    told = "linkwise met a fault of its own; the request was not done."
    return Refused(500, "fault", told, "The terminal shows what happened. What was saved is safe.")


class Sessions:
    """One-time codes and the sessions they were exchanged for, of one person each; kept in memory, as digests."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._codes: dict[bytes, tuple[str, float]] = {}
        self._sessions: dict[bytes, str] = {}

    def code(self, who: str) -> str:
        """Make a code of 256 bits that becomes a session of that person, once, within a minute."""
        code = secrets.token_urlsafe(32)
        self._codes[_digest(code)] = (who, self._clock() + SECONDS_OF_A_CODE)
        return code

    def enter(self, code: Any) -> str | None:
        """Exchange a code for the token of a session; ``None`` if the code is unknown, used or too old."""
        if not isinstance(code, str):
            return None
        found = self._find(self._codes, code)
        if found is None:
            return None
        who, until = self._codes.pop(found)
        if self._clock() > until:
            return None
        token = secrets.token_urlsafe(32)
        self._sessions[_digest(token)] = who
        return token

    def who(self, token: str) -> tuple[str, bytes] | None:
        """Return the person of a session, and a key of the session that is not its token."""
        found = self._find(self._sessions, token)
        return None if found is None else (self._sessions[found], found)

    @staticmethod
    def _find(table: Mapping[bytes, Any], given: str) -> bytes | None:
        """Compare with all, so that the time it takes tells nothing."""
        digest, found = _digest(given), None
        for known in table:
            if hmac.compare_digest(known, digest):
                found = known
        return found


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


@dataclass
class _Rate:
    """A bucket that fills at an even pace; a request takes a drop of it."""

    left: float = AT_ONCE
    at: float = field(default=0.0)

    def take(self, now: float, per_second: float) -> bool:
        self.left = min(AT_ONCE, self.left + (now - self.at) * per_second)
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Gate:
    """Let through what comes from the page of a session, and answer all else itself.

    Parameters
    ----------
    application : ASGI application
        What lies behind the gate. It finds ``who``, ``session`` and ``json`` (the parsed body) under ``linkwise`` in
        the scope.
    port : int
        The port of the server, part of the only names by which it may be called.
    sessions : Sessions
        Codes and sessions.
    files : mapping of str to (bytes, str)
        Static files by address, with their types: the only files that can be had.
    routes : iterable of (str, str)
        Method and address of every request behind the gate; an address that ends with ``/`` stands for all below it.
    per_second : float
        Requests per second that one session may send.
    """

    def __init__(
        self,
        application: Application,
        port: int,
        sessions: Sessions,
        files: Mapping[str, tuple[bytes, str]],
        routes: Iterable[tuple[str, str]],
        *,
        per_second: float = PER_SECOND,
    ) -> None:
        self._application, self._sessions, self._files = application, sessions, files
        self._routes = frozenset(routes)
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._origins = {f"http://{host}" for host in self._hosts}
        self.cookie = f"linkwise-{port}"
        self._per_second, self._rates = per_second, dict[bytes, _Rate]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        begun = False

        async def sealed(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = [(name, value) for name, value in message["headers"] if name.decode("latin-1") not in HEADERS]
                message["headers"] = headers + [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            await send(message)

        try:
            await self._pass(scope, receive, sealed)
        except Refused as refused:
            if begun:
                raise
            await _reply(sealed, refused.status, refused.to_dict(), refused.more.get("allow", ""))
        except Exception:
            if begun:
                raise
            traceback.print_exc(file=sys.stderr)
            await _reply(sealed, 500, fault().to_dict())

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _Headers(scope["headers"])
        self._require_host(headers)
        path, query = scope["raw_path"].decode("latin-1"), scope.get("query_string", b"")
        if len(path) + len(query) > MOST_ADDRESS:
            raise Refused(414, "long", f"An address has at most {MOST_ADDRESS:,} bytes.")
        if headers.size > MOST_HEADERS:
            raise Refused(431, "headers", f"The headers of a request have at most {MOST_HEADERS:,} bytes.")
        method = scope["method"]
        self._require_route(method, path)
        self._require_origin(method, path, headers)
        if path in self._files:
            await _send_file(send, *self._files[path], head=method == "HEAD")
            return
        body = None
        if path == LOGIN:
            _require_type(headers, JSON)
            await self._login(await _read_json(receive, headers, MOST_LOGIN), send)
            return
        who, session = self._require_session(headers)
        if "x-linkwise" not in headers and not path.startswith(PLAIN):
            raise Refused(403, "header", "This request does not come from the page of linkwise.")
        if not self._rates.setdefault(session, _Rate(at=time.monotonic())).take(time.monotonic(), self._per_second):
            raise Refused(429, "often", "There are too many requests at once.", "Wait a second, then go on.")
        if method == "POST":
            _require_type(headers, BYTES if path in FILES else JSON)
            if path in FILES:
                receive = _bounded(receive, headers)
            else:
                body = await _read_json(receive, headers)
        scope["linkwise"] = {"who": who, "session": session, "json": body}
        await self._application(scope, receive, send)

    def _require_host(self, headers: _Headers) -> None:
        hosts = headers.all("host")
        if len(hosts) != 1 or not re.fullmatch(r"[A-Za-z0-9.:\[\]-]+", hosts[0]):
            raise Refused(400, "host", "A request names one host.")
        if hosts[0].lower() not in self._hosts:
            raise Refused(421, "host", "This server answers under its own name only.", "Open the link of the terminal.")

    def _require_route(self, method: str, path: str) -> None:
        if path in self._files:
            allowed = {"GET", "HEAD"}
        else:
            allowed = {
                verb for verb, route in self._routes if (_below(path, route) if route[-1] == "/" else path == route)
            }
        if not allowed:
            raise Refused(404, "unknown", "This address is unknown.")
        if method not in allowed:
            raise Refused(405, "method", "This address does not take that method.", allow=", ".join(sorted(allowed)))

    def _require_origin(self, method: str, path: str, headers: _Headers) -> None:
        origins, sites = headers.all("origin"), headers.all("sec-fetch-site")
        foreign = Refused(403, "origin", "This request comes from another site.", "Open the link of the terminal.")
        if len(origins) > 1 or (origins and origins[0] not in self._origins):
            raise foreign
        if method == "POST" and not origins:
            raise foreign
        if sites and (len(sites) > 1 or sites[0] not in ("same-origin", "none")):
            # a link in another program's page may open the page itself, which holds nothing yet
            opened = headers.all("sec-fetch-mode") == ["navigate"] and headers.all("sec-fetch-dest") == ["document"]
            if path != "/" or not opened:
                raise foreign

    def _require_session(self, headers: _Headers) -> tuple[str, bytes]:
        for line in headers.all("cookie"):
            for part in line.split(";"):
                name, _, value = part.strip().partition("=")
                if name == self.cookie and (found := self._sessions.who(value)) is not None:
                    return found
        raise Refused(401, "session", "This page has lost its key.", "Open the link that the terminal prints.")

    async def _login(self, told: dict[str, Any], send: Send) -> None:
        if set(told) != {"code"}:
            raise Refused(422, "fields", "A login holds a code and nothing else.")
        token = self._sessions.enter(told["code"])
        if token is None:
            hint = "Press Enter in the terminal for another link, or start linkwise again."
            raise Refused(401, "code", "This link was used before, or it is older than a minute.", hint)
        cookie = f"{self.cookie}={token}; HttpOnly; SameSite=Strict; Path=/"
        await _reply(send, 200, {}, cookie=cookie)


class _Headers:
    """Headers of a request, in which one name may occur several times."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._all: dict[str, list[str]] = {}
        self.size = 0
        for name, value in raw:
            self.size += len(name) + len(value) + 4
            self._all.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))

    def all(self, name: str) -> list[str]:
        return self._all.get(name, [])

    def __contains__(self, name: str) -> bool:
        return name in self._all


def _below(path: str, route: str) -> bool:
    """Whether an address is one plain name below a route."""
    return path.startswith(route) and re.fullmatch(r"[A-Za-z0-9._-]{1,100}", path[len(route) :]) is not None


def _require_type(headers: _Headers, expected: str) -> None:
    given = headers.all("content-type")
    kind = given[0].partition(";")[0].strip().lower() if len(given) == 1 else ""
    if kind != expected or "content-encoding" in headers:
        raise Refused(415, "type", f"The body of this request must be {expected}, not compressed.")


def _length(headers: _Headers, most: int) -> None:
    for length in headers.all("content-length"):
        if not length.isascii() or not length.isdecimal() or len(length) > 18:
            raise Refused(400, "length", "The length of the body is not a number.")
        if int(length) > most:
            raise _large(most)


def _large(most: int) -> Refused:
    shown = f"{most >> 20} MB" if most >> 20 else f"{most:,} bytes"
    return Refused(413, "large", f"This is larger than {shown}, the most that is taken.")


def _bounded(receive: Receive, headers: _Headers) -> Receive:
    """A body that may not be larger than an upload, nor pause for minutes."""
    _length(headers, MOST_UPLOAD)
    got, until = 0, time.monotonic() + SECONDS_OF_AN_UPLOAD

    async def bounded() -> Message:
        nonlocal got
        message = await _in_time(receive, until)
        got += len(message.get("body", b""))
        if got > MOST_UPLOAD:
            raise _large(MOST_UPLOAD)
        return message

    return bounded


async def _in_time(receive: Receive, until: float) -> Message:
    try:
        return await asyncio.wait_for(receive(), max(0.0, until - time.monotonic()))
    except TimeoutError:
        raise Refused(408, "slow", "The body of the request did not arrive.", "Send it again.") from None


async def _read_json(receive: Receive, headers: _Headers, most: int = MOST_JSON) -> dict[str, Any]:
    _length(headers, most)
    raw, until = bytearray(), time.monotonic() + SECONDS_OF_A_BODY
    while True:
        message = await _in_time(receive, until)
        if message["type"] == "http.disconnect":
            raise Refused(400, "cut", "The request ended before its body.")
        raw += message.get("body", b"")
        if len(raw) > most:
            raise _large(most)
        if not message.get("more_body"):
            return read_json(bytes(raw))


def read_json(raw: bytes) -> dict[str, Any]:
    """Read a JSON object strictly: no fields twice, no NaN, not too deep, all of it UTF-8."""
    if _depth(raw) > MOST_DEPTH:
        raise Refused(400, "json", f"The body is nested more than {MOST_DEPTH} deep.")
    try:
        told = parse_json(raw.decode("utf-8"))
    except UnicodeDecodeError as wrong:
        raise Refused(400, "json", f"The body is not UTF-8 at byte {wrong.start}.") from None
    except json.JSONDecodeError as wrong:
        raise Refused(400, "json", f"The body is not JSON at character {wrong.pos}.") from None
    except ValueError:
        faults = "a field twice, a number that is none or very long, or half a character"
        raise Refused(400, "json", f"The body is not strict JSON: it holds {faults}.") from None
    if not isinstance(told, dict):
        raise Refused(422, "json", "The body must be an object.")
    return told


def _depth(raw: bytes) -> int:
    deep = most = 0
    for bracket in re.findall(rb"[\[{\]}]", re.sub(rb'"(?:[^"\\]++|\\.)*+"', b"", raw, flags=re.DOTALL)):
        deep += 1 if bracket in b"[{" else -1
        most = max(most, deep)
    return most


async def _send_file(send: Send, content: bytes, kind: str, *, head: bool) -> None:
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else content})


async def _reply(send: Send, status: int, told: dict[str, Any], allow: str = "", cookie: str = "") -> None:
    raw = json.dumps(told, ensure_ascii=False).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(raw)).encode())]
    headers += [(b"allow", allow.encode())] if allow else []
    headers += [(b"set-cookie", cookie.encode())] if cookie else []
    headers += [(b"connection", b"close")] if status in (400, 408, 413, 431) else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": raw})
