"""The two engine processes: starting, asking, watching and restarting them.

An engine holds nothing that the log does not hold, so it can be killed at any time: a new one reads the log again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import linkwise
from linkwise.app import read_async, write_async
from linkwise.app.server._gate import Refused
from linkwise.exceptions import LinkwiseError

RESTARTS, PER_SECONDS = 3, 60.0
PATIENCE = 5.0  # seconds that an engine may take to end by itself
MOST_LINES = 40  # of what an engine printed last, for the terminal
Reply = tuple[dict[str, Any], bytes]
_NAMES = {"ask": "The engine that asks questions", "fit": "The engine that makes the tree"}


def command(name: str) -> list[str]:
    """Return the command that starts an engine; the current folder is not searched for modules."""
    return [sys.executable, "-P", "-m", "linkwise.app._engine", name]


class Engine:
    """One engine process, kept running.

    Parameters
    ----------
    name : {"ask", "fit"}
        Which of the two.
    heard : callable
        Called with the name, the facts and the bytes of everything that the engine publishes unasked.
    start : sequence of str, optional
        Another command that speaks frames.
    """

    def __init__(
        self, name: str, heard: Callable[[str, dict[str, Any], bytes], None], start: Sequence[str] | None = None
    ) -> None:
        self.name, self._heard, self._start = name, heard, list(start or command(name))
        self.state = "stopped"  # then running, down
        self.said: deque[str] = deque(maxlen=MOST_LINES)
        self.deaths: deque[float] = deque(maxlen=RESTARTS + 1)
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[int, asyncio.Future[Reply]] = {}
        self._number = 0
        self._opening: Callable[[], tuple[dict[str, Any], bytes]] | None = None
        self._opened: asyncio.Future[Reply] | None = None
        self._rows: list[dict[str, Any]] = []
        self._sending: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._asked_to_end: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return None if self._process is None else self._process.pid

    async def begin(self) -> None:
        """Start the process; where a project is open it reads the log again."""
        self._closing = False
        self._process = process = await asyncio.create_subprocess_exec(
            *self._start,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_environment(),
            start_new_session=True,  # Ctrl-C in the terminal reaches the server, which ends its engines
        )
        self.state = "running"
        self._opened = None if self._opening is None else _pending()
        self._background(self._listen(process))
        self._background(self._keep_words(process))
        if self._opening is not None:
            self._background(self._reopen())

    async def open(self, make: Callable[[], tuple[dict[str, Any], bytes]]) -> Reply:
        """Send the project that `make` returns, now and after every restart; return the reply."""
        self._opening, self._rows = make, []
        return await self._reopened()

    async def call(self, do: str, body: bytes = b"", **given: Any) -> Reply:
        """Ask the engine and wait for its reply; when the caller is cancelled, the engine stops."""
        if self._process is None or self.state != "running":
            raise self._gone()
        if self._opened is not None and not self._opened.done() and do not in ("preview", "sample"):
            await asyncio.shield(self._opened)
        if self._sending is not None and not self._sending.done():
            await asyncio.wait({self._sending})  # after the request before it
        return await self._call(do, body, **given)

    def tell(self, rows: Sequence[dict[str, Any]]) -> None:
        """Pass on new rows of the log, in order; rows that pile up while the engine is busy travel as one frame."""
        if self._opening is None or self._process is None:
            return
        self._rows += rows
        if self._sending is None or self._sending.done():
            self._sending = self._background(self._send_rows())

    def kill(self) -> None:
        """End the process at once, as someone asked for; it is started again, and reads the log."""
        self._asked_to_end = self._process
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def close(self) -> None:
        """End the process for good: its input closes, and if that is not enough it is killed."""
        self._closing, self._opening = True, None
        process = self._process
        if process is not None and process.returncode is None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), PATIENCE)
            except TimeoutError:
                self.kill()
                await process.wait()
        self._process, self.state = None, "stopped"
        for task in list(self._tasks):
            if task is not asyncio.current_task():
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def keep(self, make: Callable[[], tuple[dict[str, Any], bytes]] | None) -> None:
        """Send another project, or none, after the next restart."""
        self._opening = make
        if make is None:
            self._opened, self._rows = None, []

    # -- the steps ------------------------------------------------------------------------------------------------

    def _background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _reopen(self) -> None:
        with contextlib.suppress(LinkwiseError):  # the engine gave the reason, or died: both are reported elsewhere
            await self._reopened()

    async def _reopened(self) -> Reply:
        if self._process is None or self.state != "running" or self._opening is None:
            raise self._gone()
        self._rows = []  # the whole log goes with the project
        header, body = self._opening()
        if self._opened is None or self._opened.done():
            self._opened = _pending()
        opened = self._opened
        try:
            reply = await self._call("open", body, **header)
        except BaseException as failed:
            if not opened.done():
                opened.set_exception(failed if isinstance(failed, Exception) else self._gone())
            raise
        if not opened.done():
            opened.set_result(reply)
        return reply

    async def _call(self, do: str, body: bytes = b"", **given: Any) -> Reply:
        self._number += 1
        number = self._number
        self._waiting[number] = reply = _pending()  # an engine that dies while the request is sent tells of it twice
        try:
            await self._send({"id": number, "do": do, **given}, body)
            return await reply
        except asyncio.CancelledError:
            with contextlib.suppress(Refused):
                await self._send({"do": "stop", "job": number})
            raise
        finally:
            self._waiting.pop(number, None)

    async def _send(self, header: dict[str, Any], body: bytes = b"") -> None:
        process = self._process
        if process is None or process.stdin is None or process.stdin.is_closing():
            raise self._gone()
        try:
            write_async(process.stdin, header, body)
            await process.stdin.drain()
        except (BrokenPipeError, ConnectionError):
            raise self._gone() from None

    async def _send_rows(self) -> None:
        while self._rows:
            rows, self._rows = self._rows, []
            try:
                await self._send({"do": "log", "rows": rows})
            except Refused:
                return  # it died: the next one gets the whole log

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Read what the engine writes until it ends, then start it again."""
        try:
            while process.stdout is not None and (frame := await read_async(process.stdout)) is not None:
                self._take(*frame)
        except LinkwiseError as wrong:
            self.said.append(str(wrong))
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await process.wait()
        if process is not self._process or self._closing:
            return
        await self._died(asked=process is self._asked_to_end)

    def _take(self, header: dict[str, Any], body: bytes) -> None:
        if "event" in header:
            self._heard(self.name, header, body)
            return
        waiting = self._waiting.get(header.get("id", -1))
        if waiting is None or waiting.done():
            return  # its caller went away
        if header.get("ok"):
            waiting.set_result((header, body))
        else:
            code = str(header.get("code", "engine"))
            told = str(header.get("message", "The engine refused this."))
            waiting.set_exception(Refused(422, code, told, str(header.get("hint", ""))))

    async def _died(self, *, asked: bool) -> None:
        self.state, self._process = "stopped", None
        now = time.monotonic()
        if not asked:
            self.deaths.append(now)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._gone())
        often = not asked and len(self.deaths) > RESTARTS and now - self.deaths[0] < PER_SECONDS
        if often:
            self.state = "down"
            told = f"{_NAMES[self.name]} stopped {len(self.deaths)} times within a minute."
            hint = "Everything said is saved. Start linkwise again; with fewer items if memory ran out."
        else:
            told = f"{_NAMES[self.name]} stopped and was started again."
            hint = "Everything said is saved."
        state = "down" if often else "restarted"
        self._heard(self.name, {"event": "engine", "state": state, "message": told, "hint": hint}, b"")
        if often:
            return
        try:
            await self.begin()
        except OSError as failed:  # no memory or no processes left
            self.state = "down"
            told = f"{_NAMES[self.name]} could not be started again ({failed.strerror})."
            hint = "Everything said is saved. Make room, then start linkwise again."
            self._heard(self.name, {"event": "engine", "state": "down", "message": told, "hint": hint}, b"")

    async def _keep_words(self, process: asyncio.subprocess.Process) -> None:
        """Keep the last lines that the engine printed, for the terminal."""
        while process.stderr is not None and (printed := await process.stderr.read(1 << 14)):
            text = printed.decode("utf-8", "replace")
            self.said.extend(line[:400] for line in text.splitlines() if line.strip())
            if os.environ.get("LINKWISE_DEBUG") == "1":
                sys.stderr.write(text)

    def _gone(self) -> Refused:
        told = f"{_NAMES[self.name]} is not running."
        return Refused(503, "engine", told, "It is started again by itself. What you say is saved meanwhile.")


def _pending() -> asyncio.Future[Reply]:
    """A future whose error may go unheard."""
    made: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
    made.add_done_callback(lambda done: None if done.cancelled() else done.exception())
    return made


def _environment() -> dict[str, str]:
    """The environment of an engine, which finds this linkwise even where it is not installed."""
    root = str(Path(linkwise.__file__).parents[1])
    if "site-packages" in root or "dist-packages" in root:
        return dict(os.environ)
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != root]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, *others])}
