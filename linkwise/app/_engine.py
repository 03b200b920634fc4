"""An engine process: ``python -m linkwise.app._engine ask|fit`` answers frames on its input by frames on its output.

It holds nothing that the log does not hold and ends when its input closes.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from linkwise.app._frames import Frame, read, write
from linkwise.exceptions import LinkwiseError

IDLE = 1.0  # seconds without a project after which kernels are made ready


class Line:
    """The way to the server: whole frames, one after the other, from any thread."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._lock = stream, threading.Lock()

    def send(self, header: dict[str, Any], body: bytes = b"") -> None:
        """Write one frame; a server that is gone ends the process."""
        with self._lock:
            try:
                write(self._stream, header, body)
            except (BrokenPipeError, ValueError):
                os._exit(0)


class Jobs:
    """Requests that wait, in order, and those whose caller has gone."""

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._waiting: deque[Frame] = deque()
        self.stopped: set[int] = set()

    def put(self, frame: Frame) -> None:
        """Add a request; rows of the log that follow each other become one."""
        with self._wake:
            header = frame[0]
            if header.get("do") == "stop":
                self.stopped.add(header.get("job", -1))
                return
            last = self._waiting[-1][0] if self._waiting else {}
            if header.get("do") == "log" and last.get("do") == "log":
                last["rows"] = [*last["rows"], *header["rows"]]
            else:
                self._waiting.append(frame)
            self._wake.notify()

    def take(self, patience: float | None = None) -> Frame | None:
        """Return the next request; None if there was none for that many seconds."""
        with self._wake:
            while not self._waiting:
                if not self._wake.wait(patience):
                    return None
            return self._waiting.popleft()


class Engine:
    """What both engines have in common: requests in order, errors in words, kernels made ready when nothing waits."""

    kind = ""

    def __init__(self, line: Line) -> None:
        self.line, self.jobs = line, Jobs()
        self._stages: deque[Callable[[], None]] = deque()
        self._n_stages = 0

    def run(self) -> None:
        """Work off requests for good."""
        self.plan()
        while True:
            patience = IDLE if self._stages else None
            frame = self.jobs.take(patience)
            if frame is None:
                self.get_ready()
            else:
                self.reply(*frame)

    def _method(self, do: str) -> Any:
        found = getattr(self, f"do_{do}", None)
        if found is None:
            msg = f"there is no request {do!r}."
            raise LinkwiseError(msg)
        return found

    def plan(self) -> None:
        """List what is made ready, the first thing first."""
        from linkwise.app import _rehearsal

        self._stages.extend(_rehearsal.STAGES[self.kind])
        self._n_stages = len(self._stages)

    def get_ready(self) -> None:
        """Do one stage of what compiles or loads kernels, and tell how far that is."""
        stage = self._stages.popleft()
        share = 1 - (len(self._stages) + 1) / self._n_stages
        self.line.send({"event": "work", "state": "preparing", "stage": "kernels", "share": share})
        stage()
        if not self._stages:
            self.line.send({"event": "work", "state": "ready", "stage": "kernels", "share": 1.0})

    def reply(self, header: dict[str, Any], body: bytes) -> None:
        """Answer one request, with words for people where that fails."""
        number, do = header.get("id"), str(header.get("do"))
        if number in self.jobs.stopped:
            self.jobs.stopped.discard(number)
            return
        try:
            told, raw = self._method(do)(header, body)
        except MemoryError:
            told, raw = {"ok": False, "code": "memory", "message": "The memory of this computer does not suffice.",
                         "hint": "Open a part of the rows."}, b""  # fmt: skip
        except LinkwiseError as refused:
            words, _, hint = str(refused).partition("\nHint: ")
            told, raw = {"ok": False, "code": getattr(refused, "code", "refused"), "message": words, "hint": hint}, b""
        except Exception as fault:  # noqa: BLE001 - a fault of ours must not end the process that others wait for
            traceback.print_exc(file=sys.stderr)
            words = f"linkwise failed at this request ({type(fault).__name__})."
            told, raw = {"ok": False, "code": "fault", "message": words, "hint": "Please report it."}, b""
        if number is not None:
            self.line.send({"id": number, "ok": True, **told}, raw)
        elif told.get("ok") is False:
            self.line.send({"event": "problem", "message": told["message"], "hint": told["hint"]})


def read_project(header: dict[str, Any], body: bytes) -> tuple[str, Any]:
    """Return the name of the file of an ``open`` frame, and the file as it is compared."""
    from linkwise.app.files import read_items

    project = header["project"]
    file = (project.get("file") or {}).get("name") or project["name"]
    return file, read_items(file, body, project.get("roles"), project.get("options"))


def _statements(rows: Sequence[dict[str, Any]]) -> list[Any]:
    from linkwise.app._log import Statement

    return [Statement.from_dict(row) for row in rows]


class AskEngine(Engine):
    """The process that asks questions."""

    kind = "ask"

    def __init__(self, line: Line) -> None:
        super().__init__(line)
        self._asker: Any = None
        self._told = False  # that the first question is there

    def do_open(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Read a project, and find the first question."""
        from linkwise.app._asker import Asker
        from linkwise.app._items import items_of

        self._asker, self._told = None, False
        _, reading = read_project(header, body)
        items, seed = items_of(reading.table, reading.roles), int(header["project"].get("seed") or 0)
        self._asker = Asker(items, _statements(header["rows"]), seed, self.line.send)
        return {"n": len(items)}, b""

    def do_log(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:  # noqa: ARG002
        """Take new rows, and get the next questions ready."""
        if self._asker is not None:
            self._asker.add(_statements(header["rows"]))
        return {}, b""

    def do_question(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:  # noqa: ARG002
        """Return the question of a person."""
        if self._asker is None:
            return {"question": None, "state": "waiting"}, b""
        return self._asker.question(str(header.get("who", ""))), b""

    def reply(self, header: dict[str, Any], body: bytes) -> None:
        """Answer, then publish what the first question shows of the progress."""
        super().reply(header, body)
        if header.get("do") == "question" and self._asker is not None and not self._told:
            self._told = True
            self._asker.progress(str(header.get("who", "")))
            self.line.send({"event": "work", "state": "ready", "stage": "question", "share": 1.0})


class FitEngine(Engine):
    """The process that makes the tree: fits in a thread of their own, so that requests never wait for them."""

    kind = "fit"

    def __init__(self, line: Line) -> None:
        super().__init__(line)
        self._fitter: Any = None
        self._original: tuple[str, bytes, Any] = ("", b"", None)  # the file, and how it was read
        self._wake = threading.Condition()
        self._fresh: Any = None
        self._busy = False  # with a request, which comes before kernels

    def run(self) -> None:
        """Start the thread that fits, and work off requests."""
        self.plan()
        threading.Thread(target=contextvars.copy_context().run, args=(self._fit,), daemon=True).start()
        while True:
            frame = self.jobs.take()
            if frame is not None:
                self._busy = True
                self.reply(*frame)
                self._busy = False

    def _fit(self) -> None:
        """Bring the tree to the newest state whenever there is one; else make kernels ready."""
        begun: Any = None
        while True:
            with self._wake:
                idle = self._fresh is None or (self._fresh is begun and not self._fresh.behind)
                if idle and (self._wake.wait(IDLE if self._stages else None) or self._busy or not self._stages):
                    continue
                fitter = self._fresh
            try:
                if idle:
                    self.get_ready()
                elif fitter is not begun:
                    begun = fitter
                    self.line.send({"event": "work", "state": "preparing", "stage": "first tree", "share": 0.0})
                    fitter.show_first()
                    fitter.show_map()
                    fitter.work()
                    self.line.send({"event": "work", "state": "ready", "stage": "first tree", "share": 1.0})
                else:
                    fitter.work()
            except LinkwiseError as refused:
                words, _, hint = str(refused).partition("\nHint: ")
                self._failed(fitter, words, hint)
            except Exception as fault:  # noqa: BLE001 - the next statement may be fitted again
                traceback.print_exc(file=sys.stderr)
                self._failed(fitter, f"The tree could not be made ({type(fault).__name__}).", "Please report it.")

    def _failed(self, fitter: Any, words: str, hint: str) -> None:
        self.line.send({"event": "problem", "message": words, "hint": hint})
        if fitter is not None:
            fitter.give_up()

    def do_open(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Read a project; its tree follows as an event."""
        from linkwise.app._fitter import Fitter
        from linkwise.app._items import items_of

        file, reading = read_project(header, body)
        items = items_of(reading.table, reading.roles)
        if self._fitter is not None:
            self._fitter.stop()
        self._original = file, body, reading
        self._fitter = fitter = Fitter(items, _statements(header["rows"]), self.line.send)
        with self._wake:
            self._fresh = fitter
            self._wake.notify()
        told: dict[str, Any] = {"n": len(items), "ids": items.ids, "columns": list(items.columns)}
        if header.get("items"):  # a project is made: what its columns say becomes its first statements
            told |= {"items": items.listed(), "knowledge": list(reading.knowledge)}
        return told, b""

    def do_log(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:  # noqa: ARG002
        """Take new rows; the tree follows."""
        if self._fitter is not None:
            with self._wake:
                self._fitter.add(_statements(header["rows"]))
                self._wake.notify()
        return {}, b""

    def _need(self) -> Any:
        if self._fitter is None:
            msg = "no project is open in this engine.\nHint: open one first."
            raise LinkwiseError(msg)
        return self._fitter

    def do_tree(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:  # noqa: ARG002
        """Return the tree after a statement."""
        return {}, self._need().tree(header.get("at"))

    def do_why(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:  # noqa: ARG002
        """Return why two items are together or apart."""
        return self._need().why(header["a"], header["b"]), b""

    def do_conflicts(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:  # noqa: ARG002
        """Return the contradictions."""
        return self._need().conflicts(), b""

    def do_drag(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:  # noqa: ARG002
        """Return the readings of a move."""
        return self._need().drag(int(header["a"]), int(header["b"]), header.get("v") or None), b""

    def do_compare(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:  # noqa: ARG002
        """Return what moved between two statements."""
        return self._need().compare(int(header["a"]), int(header["b"])), b""

    def do_repairs(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:  # noqa: ARG002
        """Return the contradiction that a row brings."""
        return {"conflict": self._need().repairs(_statements([header["row"]])[0])}, b""

    def do_export(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:  # noqa: ARG002
        """Return the list of exports with code that repeats them, or one file."""
        from linkwise.app.files import State

        state = State.of(*self._original, self._need(), header.get("at"))
        if header.get("kind") is None:
            return state.listed(), b""
        file, kind, raw = state.export(str(header["kind"]))
        return {"file": file, "type": kind}, raw

    def do_preview(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Describe a file as the import page shows it."""
        from linkwise.app.files import preview

        return preview(header["name"], body, header.get("roles"), header.get("options")), b""

    def do_read(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Return the statements that a file adds, and the row of the log that they follow."""
        from linkwise.app.files import read_statements

        fitter = self._need()
        rows = fitter.rows
        made = read_statements(str(header["name"]), body, fitter.items.ids, fitter.items.X, rows)
        told = [{"id": one.id, "who": one.who, "via": one.via, "op": one.op, "body": one.body} for one in made]
        return {"seq": rows[-1].seq if rows else 0, "rows": told}, b""

    def do_sample(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:  # noqa: ARG002
        """Return a sample project, or the list of them."""
        from linkwise.app.files import list_samples, sample

        if header.get("name") is None:
            return {"samples": list_samples()}, b""
        file, roles, options, raw = sample(str(header["name"]))
        return {"file": file, "roles": roles, "options": options}, raw


@contextlib.contextmanager
def frames() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Take standard input and output for frames alone: what libraries print goes to standard error."""
    taken = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield taken
    finally:
        for stream in taken:
            with contextlib.suppress(OSError):
                stream.close()


def main(kind: str) -> None:
    """Run an engine until its input ends."""
    os.environ["LINKWISE_QUIET"] = "1"
    with frames() as (given, out):
        line = Line(out)
        engine = {"ask": AskEngine, "fit": FitEngine}[kind](line)

        def work() -> None:
            from linkwise._threads import cores, threads_at_most

            with threads_at_most(max(1, cores() // 2)):
                engine.run()

        threading.Thread(target=work, daemon=True).start()
        try:
            while (frame := read(given)) is not None:
                engine.jobs.put(frame)
        except LinkwiseError as broken:
            print(broken, file=sys.stderr)
        sys.stderr.flush()
        os._exit(0)  # fits do not outlive the server


if __name__ == "__main__":
    if sys.argv[1:] not in (["ask"], ["fit"]):
        sys.exit("usage: python -m linkwise.app._engine ask|fit\nIt is started by `linkwise open` and speaks frames.")
    main(sys.argv[1])
