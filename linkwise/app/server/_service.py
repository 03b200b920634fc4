"""The requests of the page, one function each; addresses and headers are left to others.

A statement is on disk before an engine hears of it and before its reply: it is safe even if both engines are dead.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import platform
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import linkwise
from linkwise._files import visible
from linkwise.app import New, ProjectError, Statement, Store, read_body, read_new
from linkwise.app.server._desk import SILENT, Desk
from linkwise.app.server._gate import Refused
from linkwise.app.server._hands import Engine
from linkwise.app.server._recent import Recent
from linkwise.app.server._request_fields import require_fields, texts, whole
from linkwise.app.server._uploads import ENDING, PROJECT, Uploads, display_name, free_path, write_parts
from linkwise.exceptions import LinkwiseError

NEXT = 0.12  # seconds that a reply waits for the next question; later it follows as an event
MOST_ITEMS, MOST_HITS, MOST_EVENTS = 200, 200, 1_000
MOST_LETTERS = 200  # of a text in the table; the card shows more
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
File = tuple[str, str, bytes]  # name, type, content


class Service:
    """One server's work: at most one open project, two engines, and the files that wait to become a project.

    Parameters
    ----------
    people : sequence of str
        Who may answer.
    folder : Path
        Where projects of the start page are made.
    ask, fit : sequence of str, optional
        Other commands for the engines.
    recent : Recent, optional
        Another list of recent projects.
    quit : callable, optional
        Called when the page asks to end.
    """

    def __init__(
        self,
        people: Sequence[str] = ("me",),
        folder: Path | None = None,
        *,
        ask: Sequence[str] | None = None,
        fit: Sequence[str] | None = None,
        recent: Recent | None = None,
        quit: Callable[[], None] | None = None,  # noqa: A002
    ) -> None:
        self.people, self.folder, self.recent = tuple(people), folder or Path.cwd(), recent or Recent()
        self.desk: Desk | None = None
        self.ask, self.fit = Engine("ask", self._heard, ask), Engine("fit", self._heard, fit)
        self.address, self.port = "", 0
        self._quit = quit or (lambda: None)
        self.listeners: set[asyncio.Queue[tuple[str, dict[str, Any]] | None]] = set()
        self._work: dict[str, dict[str, Any]] = {name: {"state": "starting"} for name in ("ask", "fit")}
        self._uploads = Uploads()
        self._samples: list[dict[str, Any]] = []
        self._preview: dict[str, Any] | None = None
        self._offered: dict[str, str] | None = None  # the table named in the terminal: its name, and why it was refused
        self._begun = asyncio.Event()  # that the engines take requests: the page is there before them
        self._early: list[tuple[str, dict[str, Any], bytes]] | None = None  # of a project that is being made
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._making = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()

    # -- beginning and ending -------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Start both engines."""
        await asyncio.gather(self.ask.begin(), self.fit.begin())
        self._begun.set()
        if self.desk is None:
            self._background(self._read_samples())

    async def close(self) -> None:
        """End the engines, the event streams and the project; nothing stays behind."""
        for listener in self.listeners:
            listener.put_nowait(None)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(self.ask.close(), self.fit.close())
        if self.desk is not None:
            self._note(self.desk)
            await self.desk.close()
        self._uploads.close()

    async def open_path(self, path: Path) -> None:
        """Open a project file, and show it to the engines in the background."""
        store = await asyncio.to_thread(Store.open, path)
        if self.address:
            store.announce(self.address)
        self._sit_down(store)
        self._background(self._open_engines())

    def offer(self, path: Path, project: Path) -> None:
        """Show the import of a table on this computer, from which `project` will be made."""
        key = self._uploads.keep(path.name, path, project)
        self._offered = {"name": path.name, "problem": ""}
        self._background(self._offer(key, self._offered))

    async def _offer(self, key: str, offered: dict[str, str]) -> None:
        try:
            self._preview = (await self.preview({"upload": key}))["preview"]
            self._offered = None
        except Refused as failed:
            offered["problem"] = f"{failed} {failed.hint}".strip()
        except OSError:
            offered["problem"] = "This file cannot be read any more."
        self.publish("project", {})

    async def leave(self, told: dict[str, Any]) -> dict[str, Any]:
        """Close the project, and go back to the start page."""
        require_fields(told, set(), set())
        async with self._making:
            desk = self._need()
            self.desk = None
            self.ask.keep(None)
            self.fit.keep(None)
            if any(one["state"] == "busy" for one in self._work.values()):  # of a project that is not shown any more
                await asyncio.gather(self.ask.close(), self.fit.close())
                await asyncio.gather(self.ask.begin(), self.fit.begin())
            self._note(desk)
            await desk.close()
        self.publish("project", {})
        if not self._samples:
            self._background(self._read_samples())
        return {}

    def _sit_down(self, store: Store) -> None:
        self.desk = Desk(store)
        self._preview = self._offered = None
        self._note(self.desk)
        self.publish("project", {})

    def _note(self, desk: Desk) -> None:
        """Put a project first on the list of recent ones."""
        self.recent.add(desk.store.path, max(0, len(desk.standing.statements) - 1), self.port)

    async def _open_engines(self, fit: bool = True) -> None:
        desk = self.desk
        if desk is None:
            return

        async def opened(engine: Engine) -> None:
            try:
                reply, _ = await engine.open(desk.opening)
            except Refused as failed:
                if failed.code != "engine":
                    self._problem(engine.name, failed)
                return
            if "columns" in reply:
                desk.columns = reply["columns"]
                self.publish("project", {})

        await asyncio.gather(*(opened(one) for one in ([self.ask, self.fit] if fit else [self.ask])))
        for who in self.people:
            self._ask_for(who)

    async def _read_samples(self) -> None:
        with contextlib.suppress(LinkwiseError):
            reply, _ = await self.fit.call("sample", name=None)
            self._samples = reply.get("samples", [])
            self.publish("project", {})

    # -- events ---------------------------------------------------------------------------------------------------

    def publish(self, name: str, told: dict[str, Any]) -> None:
        """Tell all open pages."""
        for listener in self.listeners:
            if listener.qsize() < MOST_EVENTS:
                listener.put_nowait((name, told))
                continue
            while not listener.empty():  # a page that sleeps connects once more, and asks for the state
                listener.get_nowait()
            listener.put_nowait(None)

    async def events(self) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield what happens, until the server ends."""
        mine: asyncio.Queue[tuple[str, dict[str, Any]] | None] = asyncio.Queue()
        self.listeners.add(mine)
        try:
            while (told := await mine.get()) is not None:
                yield told
        finally:
            self.listeners.discard(mine)

    def _heard(self, engine: str, told: dict[str, Any], body: bytes) -> None:
        """Take in what an engine published."""
        name, desk = told["event"], self.desk
        if self._early is not None and name in ("tree", "map", "progress", "question"):
            self._early.append((engine, told, body))
            return
        if name == "work":
            self._work[engine] = {key: told[key] for key in ("state", "stage", "share") if key in told}
            self.publish("work", self.engine())
        elif name == "engine":
            down = told["state"] == "down"
            self._work[engine] = {"state": "down" if down else "starting", "message": told["message"]}
            self.publish("engine", {**self.engine(), "message": told["message"], "hint": told["hint"]})
            if engine == "ask" and not down:
                for who in self.people:
                    self._ask_for(who)
        elif name == "problem":
            self.publish("engine", {**self.engine(), "message": told.get("message", ""), "hint": told.get("hint", "")})
        elif desk is None:
            return
        elif name == "tree":
            desk.take_tree(told, body)
            self.publish("tree", {key: told[key] for key in ("v", "seq", "moved") if key in told})
        elif name == "map":
            desk.take_map(body)
            self.publish("map", {key: told[key] for key in ("v",) if key in told})
        elif name == "progress":
            desk.progress[told.get("who", self.people[0])] = {
                key: told[key] for key in ("answers", "settled", "stable", "more") if told.get(key) is not None
            }
        elif name == "question":
            self._ask_for(told.get("who", self.people[0]))

    def engine(self) -> dict[str, Any]:
        """How the engines are doing, as one."""
        ask, fit = self._work["ask"], self._work["fit"]
        for state in ("down", "preparing"):
            found = [one for one in (fit, ask) if one["state"] == state]
            if found:
                return {"stage": "", "message": "", **found[0], "share": min(one.get("share") or 0.0 for one in found)}
        return {"stage": "", "message": "", "share": 1.0, **fit}

    def _problem(self, engine: str, failed: Refused) -> None:
        self._work[engine] = {"state": "down", "message": f"{failed} {failed.hint}".strip()}
        self.publish("engine", self.engine())

    # -- reading --------------------------------------------------------------------------------------------------

    def _need(self) -> Desk:
        if self.desk is None:
            raise Refused(409, "closed", "No project is open.", "Open one on the start page.")
        return self.desk

    def state(self, who: str, given: Mapping[str, str]) -> dict[str, Any]:
        """What the page shows: the start page, or the log from a row on with its marks."""
        since = whole(given, "since", 0)
        if self.desk is None:
            listed = {"recent": self.recent.shown(), "samples": self._samples, "preview": self._preview,
                      "offered": self._offered}  # fmt: skip
            return {"seq": 0, "who": who, "project": None, "engine": self.engine(), **listed}
        desk = self.desk
        known = desk.standing.people
        names = [*self.people, *(name for name in known if name not in self.people)]
        people = [{"name": name, "active": known.get(name, {}).get("active", True)} for name in names]
        return {"seq": desk.seq, "who": who, "people": people, "engine": self.engine(), **desk.to_dict(since, who)}

    def names(self, who: str, given: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """Names of all items."""
        desk = self._need()
        return {"seq": desk.seq, "names": desk.ids}

    def items(self, who: str, given: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """Return a window of the table, filtered and sorted."""
        desk = self._need()
        start, count = whole(given, "from", 0), whole(given, "n", 100, least=1, most=MOST_ITEMS)
        found = desk.ordered(desk.find(given.get("q", "")), given.get("order", ""), down=given.get("down") == "1")
        window = [(n, desk.item(n)) for n in found[start : start + count]]
        rows = [{"n": n, "id": desk.ids[n], "values": item.get("values", []),
                 "text": (item.get("text") or "")[:MOST_LETTERS], "picture": item.get("picture") is not None}
                for n, item in window]  # fmt: skip
        return {"seq": desk.seq, "total": len(found), "columns": desk.columns, "rows": rows}

    def search(self, who: str, given: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """Items that hold some words, the first few hundred of them."""
        desk, sought = self._need(), given.get("q", "")
        found = desk.find(sought) if sought.strip() else []
        return {"seq": desk.seq, "total": len(found), "hits": found[:MOST_HITS]}

    def question(self, who: str, given: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """Return the question that waits for this person, the same in all of their tabs."""
        desk = self._need()
        if who not in desk.questions and desk.asked.get(who) != "done":
            self._ask_for(who)
        state = "ready" if who in desk.questions else desk.asked.get(who, "waiting")
        return {"seq": desk.seq, "question": desk.questions.get(who), "state": state}

    async def tree(self, who: str, given: Mapping[str, str]) -> bytes | None:  # noqa: ARG002
        """Return the newest tree, or the one after an earlier statement; nothing while there is none."""
        desk = self._need()
        if not given.get("at"):
            return desk.tree
        at = whole(given, "at", desk.seq, least=1, most=desk.seq)
        if (found := desk.past(at)) is None:
            _, found = await self.fit.call("tree", at=at)
            desk.keep_past(at, found)
        return found

    def map(self, who: str, given: Mapping[str, str]) -> bytes | None:  # noqa: ARG002
        """Return the newest map; nothing while there is none."""
        return self._need().map

    async def why(self, who: str, given: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """Why two items are together or apart."""
        self._need_items(given)
        return await self._fitted("why", a=given["a"], b=given["b"])

    def _need_items(self, given: Mapping[str, str]) -> None:
        desk = self._need()
        for name in ("a", "b"):
            if given.get(name) not in desk.rows:
                raise Refused(422, "items", f"{name} is not an item of this project.")

    async def conflicts(self, who: str, given: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """All contradictions, the fewest changes first."""
        self._need()
        return await self._fitted("conflicts")

    async def drag(self, who: str, given: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """What it may mean that one branch is dropped on another."""
        desk = self._need()
        nodes = max(0, 2 * len(desk.ids) - 2)
        a, b = (whole(given, name, None, most=nodes) for name in ("a", "b"))
        return await self._fitted("drag", a=a, b=b, v=whole(given, "v", 0))

    async def compare(self, who: str, given: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """Items that changed their group between two statements."""
        desk = self._need()
        a, b = (whole(given, name, None, least=1, most=desk.seq) for name in ("a", "b"))
        return await self._fitted("compare", a=a, b=b)

    async def exports(self, who: str, given: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """Return the files that can be had, and the code that makes them again."""
        desk = self._need()
        at = whole(given, "at", desk.seq, least=1, most=desk.seq)
        told = await self._fitted("export", kind=None, at=at)
        copy = {"kind": "project", "file": desk.name, "words": "a copy of the whole project, to go on elsewhere"}
        return {**told, "kinds": [*told["kinds"], copy]}

    async def export(self, who: str, kind: str, given: Mapping[str, str]) -> File:  # noqa: ARG002
        """Return one file of the state after a statement."""
        desk = self._need()
        at = whole(given, "at", desk.seq, least=1, most=desk.seq)
        if kind == "project":
            return desk.name, "application/octet-stream", await asyncio.to_thread(self._copy, desk)
        reply, body = await self.fit.call("export", kind=kind, at=at)
        return str(reply["file"]), str(reply.get("type", "application/octet-stream")), body

    def _copy(self, desk: Desk) -> bytes:
        beside = self._uploads.fresh()
        try:
            desk.store.copy(beside)
            return beside.read_bytes()
        except ProjectError as failed:
            raise desk.refusal(failed) from None
        finally:
            beside.unlink(missing_ok=True)

    async def picture(self, who: str, n: str) -> tuple[str, bytes]:  # noqa: ARG002
        """Return the picture of an item, from the archive that the project was made of."""
        desk = self._need()
        if not n.isascii() or not n.isdecimal() or len(n) > 9 or int(n) >= len(desk.ids):
            raise Refused(404, "unknown", "This item is unknown.")
        name = desk.item(int(n)).get("picture")
        if not isinstance(name, str):
            raise Refused(404, "unknown", "This item has no picture.")
        return await asyncio.to_thread(desk.picture, name)

    async def _fitted(self, do: str, **given: Any) -> dict[str, Any]:
        reply, _ = await self.fit.call(do, **given)
        told = {name: value for name, value in reply.items() if name not in ("id", "ok")}
        return {"seq": self._need().seq, **told}

    # -- saying ---------------------------------------------------------------------------------------------------

    async def say(self, who: str, told: dict[str, Any]) -> dict[str, Any]:
        """Save one statement; the reply comes when it is on disk, with the next question if there is one by then."""
        desk = self._need()
        if told.get("who", who) != who:
            raise Refused(422, "who", "A page speaks for the person of its own link only.")
        if told.get("project", desk.key) != desk.key:
            hint = f"Open that project again; {desk.name} is open now."
            raise Refused(409, "other", "Not saved: this was said about another project.", hint)
        new = read_new({name: value for name, value in told.items() if name != "project"}, who)
        before = desk.by_id.get(new.id)
        if before is not None:
            if (before.who, before.op, before.body) != (new.who, new.op, _checked(new.body, before.body)):
                raise Refused(409, "conflict", "This id belongs to another statement already. Nothing was saved.")
            return desk.replies.get(new.id) or self._reply(desk, before, None)
        first, work = desk.in_flight.get(new.id, (new, None))
        if (first.who, first.op, first.body) != (new.who, new.op, _checked(new.body, first.body)):
            raise Refused(409, "conflict", "This id belongs to another statement already. Nothing was saved.")
        if work is None:
            if desk.readonly:
                raise Refused(503, "readonly", "Not saved: the file of this project cannot be written.")
            desk.require(new)
            desk.require_question(new)
            lease = desk.questions.pop(who, None) if new.op == "answer" else None
            if new.op == "answer":
                if lease is not None and lease["id"] == new.body["question"]:
                    new.body["checks"] = new.body["checks"] or lease.get("checks", [])
                desk.answering.add((who, new.body["question"]))
            work = self._background(self._say(desk, new, lease))
            desk.in_flight[new.id] = new, work
            work.add_done_callback(lambda _: desk.in_flight.pop(new.id, None))
        return await asyncio.shield(work)

    async def _say(self, desk: Desk, new: New, lease: dict[str, Any] | None) -> dict[str, Any]:
        answered = lease is not None and new.body.get("question") == lease["id"]
        try:
            saved = await desk.append(new)
        except BaseException:
            if lease is not None:
                desk.questions.setdefault(new.who, lease)
            raise
        finally:
            desk.answering.discard((new.who, new.body.get("question")))
        if lease is not None and not answered:
            desk.questions.setdefault(new.who, lease)
        asked = self._pass_on(desk, [saved])
        conflict = None
        if new.op not in SILENT:
            repairs = self._background(self._repairs(saved.to_dict()))
            await asyncio.wait([*(task for who, task in asked.items() if who == new.who), repairs], timeout=NEXT)
            if repairs.done() and not repairs.cancelled():
                conflict = repairs.result()
        return desk.remember(new.id, self._reply(desk, saved, conflict))

    def _pass_on(self, desk: Desk, saved: Sequence[Statement]) -> dict[str, asyncio.Task[None]]:
        """Tell engines and pages about statements that are on disk; return the fetching of everyone's next question."""
        rows = [one.to_dict() for one in saved]
        self.ask.tell(rows)
        self.fit.tell(rows)
        self.publish("said", {"seq": saved[-1].seq})
        if all(one.op in SILENT for one in saved):
            return {}
        for who in self.people:
            desk.asked.pop(who, None)
        return {who: self._ask_for(who) for who in self.people}

    def _reply(self, desk: Desk, saved: Statement, conflict: Any) -> dict[str, Any]:
        return {"seq": saved.seq, "next": desk.questions.get(saved.who), "conflict": conflict, "implied": None}

    async def _repairs(self, row: dict[str, Any]) -> Any:
        try:
            return (await self.fit.call("repairs", row=row))[0].get("conflict")
        except LinkwiseError:
            return None  # the tree that follows says the same

    def _ask_for(self, who: str) -> asyncio.Task[None]:
        """Fetch the question of a person, once more if one is being fetched."""
        running = self._asking.get(who)
        if running is not None and not running.done():
            self._again.add(who)
            return running
        self._asking[who] = task = self._background(self._fetch(who))
        return task

    async def _fetch(self, who: str) -> None:
        desk = self.desk
        while desk is not None:
            self._again.discard(who)
            try:
                reply, _ = await self.ask.call("question", who=who)
            except LinkwiseError:
                return  # the asker says so itself, and asks for a question when it is back
            if who in self._again:
                continue
            if desk is not self.desk:
                return
            asked, before = reply.get("question"), desk.questions.get(who)
            if asked and (who, asked["id"]) in desk.answering:
                return  # the next one is fetched when the answer is saved
            desk.asked[who] = reply.get("state", "ready" if asked else "waiting")
            if asked:
                desk.questions[who] = asked
            elif desk.asked[who] == "done":
                desk.questions.pop(who, None)
            if asked != before:
                self.publish("question", {"who": who})
            return

    # -- making a project -----------------------------------------------------------------------------------------

    async def upload(self, who: str, name: str, parts: AsyncIterator[bytes]) -> dict[str, Any]:  # noqa: ARG002
        """Take in a file under a made-up name; a project is opened, of anything else a preview is returned."""
        shown = display_name(name)
        file = self._uploads.fresh()
        try:
            start = await write_parts(file, shown, parts)
            if start == PROJECT or shown.lower().endswith(ENDING):
                async with self._making:
                    await self._adopt(shown, file)
                return {}
            key = self._uploads.keep(shown, file)
            try:
                return await self.preview({"upload": key})
            except BaseException:
                self._uploads.drop(key)
                raise
        except BaseException:
            file.unlink(missing_ok=True)
            raise

    async def read(self, who: str, name: str, parts: AsyncIterator[bytes]) -> dict[str, Any]:
        """Take in a file of statements about the project that is open; the reply comes when they are on disk."""
        desk = self._need()
        if desk.readonly:
            raise Refused(503, "readonly", "Not saved: the file of this project cannot be written.")
        shown, file = display_name(name), self._uploads.fresh()
        try:
            await write_parts(file, shown, parts)
            body = await asyncio.to_thread(file.read_bytes)
        finally:
            file.unlink(missing_ok=True)
        saved: list[Statement] | None = None
        while saved is None:  # once more if someone said something meanwhile: answers name others by their rows
            reply, _ = await self.fit.call("read", body, name=shown)
            rows = [New(one["id"], who if one["op"] == "import" else one["who"], one["via"], one["op"], one["body"])
                    for one in reply["rows"]]  # fmt: skip
            if desk is not self.desk:
                raise Refused(
                    409, "closed", f"Not saved: {desk.name} was closed.", "Open it again, then read the file."
                )
            saved = await desk.append_after(reply["seq"], rows) if rows else []
        if saved:
            self._pass_on(desk, saved)
        count = sum(len(one.body["statements"]) if one.op == "import" else 1 for one in saved)
        return {"name": shown, "seq": desk.seq, "statements": count}

    async def _adopt(self, name: str, file: Path) -> None:
        """Open a project that was dropped on the page: a copy of it, in the folder of projects."""
        self._require_none()
        path = free_path(self.folder, name)
        try:
            with await asyncio.to_thread(Store.open, file, readonly=True) as looked:
                await asyncio.to_thread(looked.copy, path)
            await self.open_path(path)
        except ProjectError as failed:
            raise _unopened(failed, (file, path), name) from None
        file.unlink(missing_ok=True)

    async def preview(self, told: dict[str, Any]) -> dict[str, Any]:
        """How a file would be read with these roles."""
        require_fields(told, {"upload"}, {"roles", "options"})
        name, file, _ = self._uploads.find(told["upload"])
        body = await asyncio.to_thread(file.read_bytes)
        roles, options = texts(told.get("roles"), "roles"), texts(told.get("options"), "options")
        await self._begun.wait()
        reply, _ = await self.fit.call("preview", body, name=name, roles=roles or None, options=options)
        shown = {key: value for key, value in reply.items() if key not in ("id", "ok")}
        return {"preview": {**shown, "upload": told["upload"], "name": name}, **shown, "upload": told["upload"],
                "name": name}  # fmt: skip

    async def open(self, who: str, told: dict[str, Any]) -> dict[str, Any]:
        """Open a recent project, a sample or an upload; or forget the recent ones."""
        require_fields(told, set(), {"upload", "roles", "options", "recent", "sample", "forget"})
        ways = [name for name in ("upload", "recent", "sample", "forget") if name in told]
        if len(ways) != 1:
            raise Refused(422, "fields", "Name one thing to open: an upload, a recent project or a sample.")
        if ways == ["forget"]:
            self.recent.clear()
            return {}
        async with self._making:
            self._require_none()
            if ways == ["recent"]:
                path = self.recent.path(told["recent"]) if isinstance(told["recent"], str) else None
                if path is None:
                    raise Refused(422, "recent", "This project is not on the list any more.")
                try:
                    await self.open_path(path)
                except ProjectError as failed:
                    raise _unopened(failed, (path,), path.name) from None
            elif ways == ["sample"]:
                await self._open_sample(who, told["sample"])
            else:
                name, file, project = self._uploads.find(told["upload"])
                roles, options = texts(told.get("roles"), "roles"), texts(told.get("options"), "options")
                body = await asyncio.to_thread(file.read_bytes)
                await self._make(who, name, body, roles, options, project)
                self._uploads.drop(told["upload"])
        return {}

    def _require_none(self) -> None:
        if self.desk is not None:
            told = f"{self.desk.name} is open here."
            raise Refused(409, "busy", told, "Start linkwise once more to open another project beside it.")

    async def _open_sample(self, who: str, name: Any) -> None:
        if name not in [one["name"] for one in self._samples]:
            raise Refused(422, "sample", "This example is unknown.")
        reply, body = await self.fit.call("sample", name=name)
        file = str(reply.get("file name") or reply["file"])
        await self._make(who, file, body, reply["roles"], reply.get("options", {}), None)

    async def _make(
        self, who: str, name: str, body: bytes, roles: dict[str, str], options: dict[str, Any], project: Path | None
    ) -> None:
        """Read a file with its roles, then make the project; nothing is made when it cannot be read."""
        path = project or free_path(self.folder, name)
        suffix = Path(name).suffix.lstrip(".").lower() or "csv"
        opened = {
            "name": path.stem, "file": {"name": name, "kind": suffix, "sha256": hashlib.sha256(body).hexdigest()},
            "roles": roles, "options": options, "seed": 0, "versions": versions(),
        }  # fmt: skip
        self._early = []
        row = {"seq": 1, "id": "first", "who": who, "via": "menu", "op": "open", "body": opened, "basis": 0, "at": ""}
        try:
            reply, _ = await self.fit.open(lambda: ({"project": opened, "rows": [row], "items": True}, body))
            items = [(one["id"], {key: one.get(key) for key in ("values", "text", "picture")})
                     for one in reply["items"]]  # fmt: skip
            store = await asyncio.to_thread(Store.create, path, opened, [(name, suffix, body)], items, who=who)
        except ProjectError as failed:
            self.fit.keep(None)
            self._early = None
            raise _unopened(failed, (path,), path.name) from None
        except BaseException:
            self.fit.keep(None)
            self._early = None
            raise
        if self.address:
            store.announce(self.address)
        self._sit_down(store)
        desk = self._need()
        desk.columns = reply.get("columns", [])
        for number, said in enumerate(reply.get("knowledge", []), start=1):
            await desk.append(New(f"{desk.key}-{number}", who, "import", "import", read_body("import", said)))
            self.fit.tell([desk.statements[-1].to_dict()])
        self.fit.keep(desk.opening)
        early, self._early = self._early, None
        for engine, heard, body_of in early:
            self._heard(engine, heard, body_of)
        self._background(self._open_engines(fit=False))

    # -- ending ---------------------------------------------------------------------------------------------------

    def stop(self, told: dict[str, Any]) -> dict[str, Any]:
        """Stop what the fitter computes; it starts again from the log."""
        require_fields(told, set(), {"job"})
        self.fit.kill()
        return {}

    def quit(self, told: dict[str, Any]) -> dict[str, Any]:
        """End the server."""
        require_fields(told, set(), set())
        self._quit()
        return {}

    def _background(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it hears of it


def _checked(body: dict[str, Any], saved: dict[str, Any]) -> dict[str, Any]:
    """An answer as it is saved: what its question checks is added by the server."""
    return body if body.get("checks", True) else {**body, "checks": saved.get("checks", [])}


def versions() -> dict[str, str]:
    """Versions of what computes, read without loading it."""
    found = {"linkwise": linkwise.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def _unopened(failed: ProjectError, paths: Sequence[Path], name: str) -> Refused:
    told, _, hint = str(failed).partition("\nHint: ")
    for path in paths:
        for shown in (visible(path.resolve()), visible(path)):
            told, hint = told.replace(shown, name), hint.replace(shown, name)
    status = {"full": 507, "readonly": 503, "locked": 409, "conflict": 409}.get(failed.code, 422)
    return Refused(status, failed.code, told, hint)
