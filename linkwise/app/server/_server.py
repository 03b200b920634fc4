"""The server of the workbench: addresses, the stream of events, start and end. It listens on this computer only."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from linkwise._files import require_file, visible
from linkwise.app.server._gate import PER_SECOND, Gate, Refused, Sessions, fault
from linkwise.app.server._recent import Recent
from linkwise.app.server._service import Service
from linkwise.app.server._uploads import ENDING, PROJECT
from linkwise.exceptions import LinkwiseError

STATIC = Path(__file__).parents[1] / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".LICENSE": "text/plain; charset=utf-8",
}
BEAT = 15.0  # seconds between signs of life on a stream without events
MOST_STREAMS = 8
SECONDS_OF_A_HEAD = 75  # that a connection may wait for the head of a request
GETS = ("state", "names", "items", "search", "question", "why", "conflicts", "drag", "compare", "export", "tree", "map")
POSTS = ("say", "preview", "open", "leave", "stop", "quit")
ROUTES = (
    *(("GET", f"/api/{name}") for name in (*GETS, "events")),
    *(("GET", f"/api/{name}/") for name in ("picture", "export")),
    *(("POST", f"/api/{name}") for name in (*POSTS, "upload", "read", "login")),
)


def read_static() -> dict[str, tuple[bytes, str]]:
    """Read every file of the page into memory: no path is joined later."""
    found = {
        f"/static/{path.relative_to(STATIC).as_posix()}": (path.read_bytes(), TYPES[path.suffix])
        for path in STATIC.rglob("*")
        if path.is_file() and path.suffix in TYPES
    }
    return {**found, "/": found["/static/index.html"]}


class Routes:
    """The addresses of a service as an application."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._streams: dict[bytes, int] = {}

    def application(self) -> Starlette:
        """Return the application that stands behind the gate."""
        posts: list[tuple[str, Callable[..., Any]]] = [
            ("say", self._service.say),
            ("preview", lambda _, told: self._service.preview(told)),
            ("open", self._service.open),
            ("leave", lambda _, told: self._service.leave(told)),
            ("stop", lambda _, told: self._service.stop(told)),
            ("quit", lambda _, told: self._service.quit(told)),
        ]
        named = {"export": self._service.exports}
        gets = [(name, named.get(name) or getattr(self._service, name)) for name in GETS]
        made = Starlette(
            routes=[
                *(Route(f"/api/{name}", self._reads(ask), methods=["GET"]) for name, ask in gets),
                *(Route(f"/api/{name}", self._writes(ask), methods=["POST"]) for name, ask in posts),
                Route("/api/events", self._events, methods=["GET"]),
                Route("/api/picture/{n}", self._picture, methods=["GET"]),
                Route("/api/export/{kind}", self._export, methods=["GET"]),
                Route("/api/upload", self._takes(self._service.upload), methods=["POST"]),
                Route("/api/read", self._takes(self._service.read), methods=["POST"]),
            ],
            exception_handlers=dict.fromkeys((Refused, ClientDisconnect, LinkwiseError, Exception), _refused),
        )
        made.router.redirect_slashes = False
        return made

    def _reads(self, ask: Callable[..., Any]) -> Callable[[Request], Awaitable[Response]]:
        async def read(request: Request) -> Response:
            try:
                told = await _while_there(request, ask(_who(request), _query(request)))
            except Refused as refused:
                if refused.code != "closed":
                    raise
                told = None  # the project was closed while the page asked: an empty reply
            if told is None:
                return Response(status_code=204)
            if not isinstance(told, bytes):
                return _json(told)
            version = f'"{hashlib.sha256(told).hexdigest()[:24]}"'
            if request.headers.get("if-none-match") == version:
                return Response(status_code=304, headers={"etag": version})
            return Response(told, media_type="application/octet-stream", headers={"etag": version})

        return read

    def _writes(self, do: Callable[..., Any]) -> Callable[[Request], Awaitable[Response]]:
        async def write(request: Request) -> Response:
            told = do(_who(request), request.scope["linkwise"]["json"])
            return _json(await told if asyncio.iscoroutine(told) else told)

        return write

    def _takes(self, take: Callable[..., Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
        async def taken(request: Request) -> Response:
            name = unquote(request.headers.get("x-name", ""), errors="replace")
            return _json(await take(_who(request), name, request.stream()))

        return taken

    async def _picture(self, request: Request) -> Response:
        kind, content = await self._service.picture(_who(request), request.path_params["n"])
        return Response(content, media_type=kind)

    async def _export(self, request: Request) -> Response:
        kind = request.path_params["kind"]
        name, media, content = await _while_there(request, self._service.export(_who(request), kind, _query(request)))
        held = f"attachment; filename*=UTF-8''{quote(name, safe='', errors='replace')}"
        return Response(content, headers={"content-type": media, "content-disposition": held})

    async def _events(self, request: Request) -> Response:
        session = request.scope["linkwise"]["session"]
        if self._streams.get(session, 0) >= MOST_STREAMS:
            raise Refused(429, "streams", "There are too many streams of events.", "Close some of the tabs.")
        self._streams[session] = self._streams.get(session, 0) + 1

        def ended() -> None:
            self._streams[session] -= 1

        headers = {"content-type": "text/event-stream", "x-accel-buffering": "no"}
        return _Stream(self._stream(), ended, headers)

    async def _stream(self) -> AsyncIterator[bytes]:
        events = self._service.events()
        try:
            yield b": linkwise\n\n"
            coming: asyncio.Task[Any] = asyncio.ensure_future(anext(events, None))
            while True:
                done, _ = await asyncio.wait({coming}, timeout=BEAT)
                if not done:
                    yield b": still here\n\n"
                    continue
                if (told := coming.result()) is None:
                    return
                yield f"event: {told[0]}\ndata: {_text(told[1])}\n\n".encode()
                coming = asyncio.ensure_future(anext(events, None))
        finally:
            coming.cancel()


class _Stream(StreamingResponse):
    """A stream that tells when it has ended, even where the page was gone before its first byte."""

    def __init__(self, parts: AsyncIterator[bytes], ended: Callable[[], None], headers: dict[str, str]) -> None:
        super().__init__(parts, headers=headers)
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()


async def _refused(_: Request, refused: Exception) -> Response:
    told = refused if isinstance(refused, Refused) else _in_words(refused)
    return _json(told.to_dict(), told.status)


def _in_words(wrong: Exception) -> Refused:
    """Word an error for the page; a fault of our own has its traceback in the terminal."""
    if isinstance(wrong, ClientDisconnect):
        return Refused(400, "cut", "The request ended before its body.")
    if isinstance(wrong, LinkwiseError):
        told, _, hint = str(wrong).partition("\nHint: ")
        return Refused(422, "refused", told, hint)
    return fault()


async def _while_there(request: Request, work: Any) -> Any:
    """Wait for work unless the page goes away meanwhile."""
    if not asyncio.iscoroutine(work):
        return work
    running = asyncio.ensure_future(work)
    left = asyncio.ensure_future(_left(request))
    await asyncio.wait({running, left}, return_when=asyncio.FIRST_COMPLETED)
    left.cancel()
    if not running.done():
        running.cancel()
        raise Refused(499, "left", "The page did not wait for the reply.")
    return running.result()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _who(request: Request) -> str:
    return str(request.scope["linkwise"]["who"])


def _query(request: Request) -> dict[str, str]:
    pairs = request.query_params.multi_items()
    given = dict(pairs)
    if len(given) < len(pairs):
        raise Refused(422, "query", "The address names a value twice.")
    return given


def _text(told: Any) -> str:
    return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _json(told: Any, status: int = 200) -> Response:
    return Response(_text(told).encode("utf-8", "replace"), status, media_type="application/json")


class _Uvicorn(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Patient(H11Protocol):
    """A connection that ends when the head of a request does not arrive in time.

    A server keeps a place for each connection, also for those of programs that hold them open and say nothing.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._late is not None:
            self._late.cancel()
        self._late = self.loop.call_later(SECONDS_OF_A_HEAD, self._give_up)

    def _give_up(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


class Running:
    """A server on a free port of this computer, from `begin` to `end`."""

    def __init__(self, service: Service, port: int = 0, *, per_second: float = PER_SECOND) -> None:
        self.service = service
        self._socket = _listen(port)
        self.port: int = self._socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}/"
        service.address, service.port = self.address, self.port
        self.sessions = Sessions()
        application = Routes(service).application()
        gate = Gate(application, self.port, self.sessions, read_static(), ROUTES, per_second=per_second)
        settings = uvicorn.Config(
            gate,
            loop="asyncio",
            http=_Patient,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=SECONDS_OF_A_HEAD,
            timeout_graceful_shutdown=5,
            h11_max_incomplete_event_size=1 << 17,
        )
        self._server = _Uvicorn(settings)

    def link(self, who: str) -> str:
        """Return an address that lets one browser in, once, as that person."""
        return f"{self.address}#code={self.sessions.code(who)}"

    def end(self) -> None:
        """Ask the server to end; it does so as soon as it can."""
        self._server.should_exit = True
        for listener in self.service.listeners:
            listener.put_nowait(None)

    async def run(self) -> None:
        """Serve until `end` is called, then end the engines and close the project."""
        engines = asyncio.ensure_future(self.service.begin())
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            engines.cancel()
            await asyncio.gather(engines, return_exceptions=True)
            await self.service.close()
            self.close()

    def close(self) -> None:
        """Let go of the port."""
        self._socket.close()


def _listen(port: int) -> socket.socket:
    """Bind a port of this computer, which other computers cannot reach."""
    # TCP is named, since asyncio turns off Nagle's algorithm only then: with it, each reply waits 40 ms for its head
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform != "win32":  # there it would let a second program take the same port
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
        found.listen(128)  # a browser that comes early waits
    except (OSError, OverflowError) as failed:
        found.close()
        why = getattr(failed, "strerror", None) or str(failed)
        msg = f"port {port} cannot be used: {why}.\nHint: leave --port out, then a free one is taken."
        raise LinkwiseError(msg) from None
    return found


def open_project(
    path: str | Path | None = None,
    *,
    project: str | Path | None = None,
    folder: str | Path = ".",
    port: int = 0,
    browser: bool = True,
    people: Sequence[str] = ("me",),
    say: Callable[[str], None] = print,
) -> None:
    """Show a table or a project in the browser, and return when the workbench is ended there or by Ctrl-C.

    Parameters
    ----------
    path : str or Path, optional
        A project (``.lw``), or a table, of which a project is made beside it; the start page when left out.
    project : str or Path, optional
        Where the project of a table lies, in place of a file beside it.
    folder : str or Path, default="."
        Where projects that are made on the start page lie.
    port : int, default=0
        The port of 127.0.0.1 to listen on; 0 takes a free one.
    browser : bool, default=True
        Open a browser; else open the link that is printed.
    people : sequence of str, default=("me",)
        Who answers; everyone gets a link of their own.
    say : callable, default=print
        What to do with lines for the person at the terminal.

    Raises
    ------
    LinkwiseError
        The file is not a project, is open elsewhere, or cannot be read; or the port is taken.

    Notes
    -----
    **Guarantee** the server listens on 127.0.0.1 only, and everything said is on disk before the page hears so.

    Examples
    --------
    >>> from linkwise.app import open_project
    >>> open_project("beers.lw")  # doctest: +SKIP
    Open http://127.0.0.1:51234/#code=... in a browser.
    """
    found = _find(path, project)
    names = _names(people)
    home = Path(folder)
    if not home.is_dir():
        msg = f"{visible(home)} is not a folder.\nHint: make it first, or leave --folder out."
        raise LinkwiseError(msg)
    asyncio.run(_serve(found, names, home, port, browser=browser, say=say))


def _find(path: str | Path | None, project: str | Path | None) -> tuple[Path | None, Path | None]:
    """Return the table to import, if one is to be imported, and the project that it makes or that exists already."""
    if path is None:
        if project is None:
            return None, None
        path = project
    file = Path(path)
    require_file(file)
    with file.open("rb") as start:
        if start.read(len(PROJECT)) == PROJECT:
            return None, file
    if file.suffix.lower() == ENDING:
        msg = f"{visible(file)} is not a project of linkwise.\nHint: open the table it was made of instead."
        raise LinkwiseError(msg)
    target = Path(project) if project is not None else file.with_suffix(ENDING)
    return (None, target) if target.exists() else (file, target)


def _names(people: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in people))
    if not names or not all(name and name.isprintable() and len(name) <= 100 for name in names):
        msg = f"people are {', '.join(people)!r}, expected one or more names.\nHint: --people ann,bob"
        raise LinkwiseError(msg)
    return names


async def _serve(
    found: tuple[Path | None, Path | None],
    people: tuple[str, ...],
    folder: Path,
    port: int,
    *,
    browser: bool,
    say: Callable[[str], None],
) -> None:
    table, project = found
    running: Running | None = None
    service = Service(people, folder, quit=lambda: running.end() if running is not None else None)
    try:
        running = Running(service, port or _former(service.recent, project))
        if project is not None and table is None:
            await service.open_path(project)
    except BaseException:
        if running is not None:
            running.close()
        await service.close()
        raise
    if table is not None and project is not None:
        service.offer(table, project)
    with _signals(running.end):
        _announce_all(running, people, browser=browser, say=say)
        say("Ctrl-C ends it; so does Quit on the page. Everything said is saved at once.")
        if sys.stdin is not None and sys.stdin.isatty():
            say("Enter prints another link.")
            _on_enter(partial(_announce_all, running, people, browser=False, say=say))
        await running.run()


def _former(recent: Recent, project: Path | None) -> int:
    """Return the port on which a project was open last if it is free, else 0: any."""
    port = 0 if project is None else recent.port(project)
    try:
        _listen(port).close()
    except LinkwiseError:
        return 0
    return port


def _announce_all(running: Running, people: tuple[str, ...], *, browser: bool, say: Callable[[str], None]) -> None:
    """Print a link for everyone, and open the first."""
    for who in people:
        link = running.link(who)
        say(f"{f'{who}: open' if len(people) > 1 else 'Open'} {link} in a browser. It works once, within a minute.")
        if browser and who == people[0]:
            threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


@contextlib.contextmanager
def _signals(end: Callable[[], None]) -> Iterator[None]:
    """Make Ctrl-C and SIGTERM end the server in order; as they were afterwards."""
    loop = asyncio.get_running_loop()
    before = {}
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(ValueError):  # not in the main thread
            before[name] = signal.signal(name, lambda *_: loop.call_soon_threadsafe(end))
    try:
        yield
    finally:
        for name, former in before.items():
            signal.signal(name, former)


def _on_enter(act: Callable[[], Any]) -> None:
    """Call back whenever a line is typed in the terminal."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        for _ in sys.stdin:
            try:
                loop.call_soon_threadsafe(act)
            except RuntimeError:  # the server has ended
                return

    threading.Thread(target=read, daemon=True).start()
