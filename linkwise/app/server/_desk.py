"""One open project: its log, its items, the questions that wait for an answer, and what the engines published last."""

from __future__ import annotations

import asyncio
import contextlib
import json
from array import array
from collections import Counter, OrderedDict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from linkwise._files import visible
from linkwise.app import SAYS, New, ProjectError, Standing, Statement, Store, fold, names_in, require_targets
from linkwise.app.files import Pictures
from linkwise.app.server._gate import Refused
from linkwise.exceptions import LinkwiseError

STATUS = {"full": 507, "readonly": 503, "conflict": 409}
SILENT = frozenset({"name", "note", "flag", "cut", "people"})  # statements that change no question
MOST_REPLIES = 2_000
MOST_TREES = 8  # of earlier moments
_FACTS = {"seq": int, "v": int, "k": int, "marks": dict, "conflicts": list, "names": list, "columns": list}
QUIET = 2.0  # seconds without a new tree before it is put into the file; it can be made again at any time


class Desk:
    """A project that is open in this process.

    Notes
    -----
    **Guarantee** `append` returns when a statement is on disk; statements that wait for the disk are written together,
    in one transaction, in the order in which they came.
    """

    def __init__(self, store: Store) -> None:
        self.store, self.readonly, self.name = store, store.readonly, store.path.name
        self.statements: list[Statement] = store.statements()
        self.by_id = {one.id: one for one in self.statements}
        self.replies: dict[str, dict[str, Any]] = {}
        self.in_flight: dict[str, tuple[New, asyncio.Task[dict[str, Any]]]] = {}
        self.ids: list[str] = []
        self._bodies: list[str] = []
        self.rows: dict[str, int] = {}
        self.read_items()
        self.columns: list[Any] = []
        self.questions: dict[str, dict[str, Any]] = {}
        self.asked: dict[str, str] = {}  # by person: ready, done or waiting
        self.answering: set[tuple[str, str | None]] = set()  # person and question of answers that are being saved
        self.progress: dict[str, dict[str, Any]] = {}
        self.moved: dict[int, int] = {}
        self.tree: bytes | None = None
        self.map: bytes | None = None
        self.facts: dict[str, Any] = {}
        self._past: OrderedDict[int, bytes] = OrderedDict()
        self._pictures: Pictures | None = None
        self._standing: Standing | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="log")
        self._waiting: list[tuple[New, asyncio.Future[Statement]]] = []
        self._committing: asyncio.Task[None] | None = None
        self._caching: asyncio.TimerHandle | None = None
        self._closing = False
        self._recall()

    # -- the log --------------------------------------------------------------------------------------------------

    @property
    def seq(self) -> int:
        """The newest row of the log."""
        return self.statements[-1].seq if self.statements else 0

    @property
    def key(self) -> str:
        """What tells this project from all others, whatever they are called."""
        return self.statements[0].id if self.statements else self.name

    @property
    def standing(self) -> Standing:
        """What the log says now."""
        if self._standing is None:
            self._standing = fold(self.statements)
        return self._standing

    def require(self, new: New) -> None:
        """Refuse a statement about rows or items that do not exist."""
        if new.op == "open":
            raise Refused(422, "op", "The project is open already.", "Start linkwise again to make another one.")
        require_targets(new.op, new.body, self.statements)
        unknown = sorted(name for name in names_in(new.op, new.body) if name not in self.rows)
        if unknown:
            told = f"{len(unknown):,} of the items are not in this project, the first is {unknown[0][:60]!r}."
            raise Refused(422, "items", told, "Name items as the table names them.")

    def require_question(self, new: New) -> None:
        """Refuse an answer to a question that does not wait for this person, with the one that does."""
        asked = new.body.get("question")
        if new.op != "answer" or asked is None:
            return
        waiting = self.questions.get(new.who)
        if waiting is not None:
            fits = waiting["id"] == asked and {one["id"] for one in waiting["items"]} == set(new.body["items"])
        else:  # the server was started again meanwhile: one answer to each question
            standing = (one for one in self.standing.statements if one.op == "answer" and one.who == new.who)
            answered = any(one.body.get("question") == asked for one in standing)
            fits = not answered and (new.who, asked) not in self.answering
        if not fits:
            told = "This question is not the one that waits for an answer."
            raise Refused(409, "stale", told, "Here is the one that does.", question=waiting)

    async def append(self, new: New) -> Statement:
        """Save a statement; return it when it is on disk."""
        return await asyncio.shield(self._queue([new])[0])

    async def append_after(self, seq: int, rows: list[New]) -> list[Statement] | None:
        """Save statements that refer to each other by their rows, together; None if the log has grown past a row."""
        if self._committing is not None:
            await asyncio.wait({self._committing})
        if self.seq != seq or self._waiting:
            return None
        return list(await asyncio.gather(*(asyncio.shield(one) for one in self._queue(rows))))

    def _queue(self, rows: list[New]) -> list[asyncio.Future[Statement]]:
        """Add statements to those that wait for the disk."""
        if self._closing:
            raise Refused(409, "closed", f"Not saved: {self.name} was closed.", "Open it again, then say it once more.")
        made: list[asyncio.Future[Statement]] = [asyncio.get_running_loop().create_future() for _ in rows]
        self._waiting += zip(rows, made, strict=True)
        if self._committing is None or self._committing.done():
            self._committing = asyncio.create_task(self._commit())
        return made

    async def _commit(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                await self._save(batch)
            except ProjectError as failed:
                alone = len(batch) > 1 and failed.code == "conflict"
                for one in batch:
                    if not alone:
                        one[1].set_exception(self.refusal(failed))
                        continue
                    try:
                        await self._save([one])
                    except ProjectError as own:
                        one[1].set_exception(self.refusal(own))
            except Exception as failed:  # noqa: BLE001 - whoever waits must hear of it
                for _, saved in batch:
                    if not saved.done():
                        saved.set_exception(failed)

    async def _save(self, batch: list[tuple[New, asyncio.Future[Statement]]]) -> None:
        rows = [new for new, _ in batch]
        made = await asyncio.get_running_loop().run_in_executor(self._thread, self.store.append, rows)
        for (_, saved), one in zip(batch, made, strict=True):
            if one.id not in self.by_id:
                self.by_id[one.id] = one
                self.statements.append(one)
            self._standing = None
            saved.set_result(one)

    def refusal(self, failed: LinkwiseError) -> Refused:
        """Word an error of the store for the page, without the path of the file."""
        code = getattr(failed, "code", "store")
        told, _, hint = str(failed).partition("\nHint: ")
        told, hint = (part.replace(visible(self.store.path), self.name) for part in (told, hint))
        return Refused(STATUS.get(code, 503), code, f"Not saved: {told}" if code != "conflict" else told, hint)

    def remember(self, key: str, reply: dict[str, Any]) -> dict[str, Any]:
        """Keep a reply for whoever sends the same statement again."""
        self.replies[key] = reply
        if len(self.replies) > MOST_REPLIES:
            del self.replies[next(iter(self.replies))]
        return reply

    # -- for the engines ------------------------------------------------------------------------------------------

    def opening(self, *, items: bool = False) -> tuple[dict[str, Any], bytes]:
        """Return what an engine must know: the project, the whole log, and the original."""
        rows = [one.to_dict() for one in self.statements]
        project = self.standing.project
        content = self.store.file(1)[2] if project.get("file") else b""
        return {"project": project, "rows": rows, "items": items}, content

    # -- what the engines published -------------------------------------------------------------------------------

    def take_tree(self, told: dict[str, Any], body: bytes) -> None:
        """Keep a new tree and the facts that came with it."""
        self.tree = body
        self._past.clear()
        self.facts = {name: told[name] for name in ("seq", "v", "k", "marks", "conflicts", "names") if name in told}
        if told.get("moved") is not None:
            self.moved[told.get("seq", self.seq)] = told["moved"]
        self._cache_soon()

    def take_map(self, body: bytes) -> None:
        """Keep a new map."""
        self.map = body
        self._cache_soon()

    def past(self, at: int) -> bytes | None:
        """Return the tree after an earlier statement, if it was made lately."""
        return self._past.get(at)

    def keep_past(self, at: int, tree: bytes) -> None:
        """Keep the tree after an earlier statement for a while."""
        self._past[at] = tree
        while len(self._past) > MOST_TREES:
            self._past.popitem(last=False)

    def marks(self) -> dict[str, str]:
        """What became of every statement: holds, broken, doubted, undone, waiting (for the check) or none."""
        found = {str(seq): mark for seq, mark in self.facts.get("marks", {}).items()}
        undone, marks = self.standing.undone, {}
        for one in self.statements:
            name = str(one.seq)
            if one.seq in undone:
                marks[name] = "undone"
            elif one.op not in SAYS:
                marks[name] = "none"
            else:
                known = found.get(name, "waiting")
                marks[name] = "waiting" if known == "undone" else known
        return marks

    def to_dict(self, since: int, who: str) -> dict[str, Any]:
        """Return what the page shows beside tree, map and question."""
        marks = self.marks()
        counts = Counter(marks.values())
        rows = [one.to_dict() for one in self.statements if one.seq > since]
        for row in rows:
            row["moved"] = self.moved.get(row["seq"])
        answers = sum(one.op == "answer" for one in self.standing.statements)
        project = {"name": self.name, "key": self.key, "items": len(self.ids), "readonly": self.readonly}
        first = self.item(0) if self.ids else {}
        return {
            "project": project | {name: first.get(name) is not None for name in ("text", "picture")},
            "statements": rows,
            "marks": marks,
            "verdict": {name: counts[name] for name in ("holds", "broken", "doubted", "waiting")},
            "progress": {**self.progress.get(who, {}), "answers": answers},
            "names": self.facts.get("names", []),
            "conflicts": self.facts.get("conflicts", []),
        }

    # -- items ----------------------------------------------------------------------------------------------------

    def read_items(self) -> None:
        """Read the items from the file."""
        items = self.store.items()
        self.ids = [name for name, _ in items]
        self._bodies = [json.dumps(body, ensure_ascii=False) for _, body in items]
        self.rows = {name: n for n, name in enumerate(self.ids)}

    def item(self, n: int) -> dict[str, Any]:
        """Return what people see of an item."""
        found: dict[str, Any] = json.loads(self._bodies[n])
        return found

    def picture(self, name: str) -> tuple[str, bytes]:
        """Return a picture of the archive that the project was made of."""
        if self._pictures is None:
            file, _, content = self.store.file(1)
            self._pictures = Pictures(file, content)
        return self._pictures.picture(name)

    def find(self, words: str) -> list[int]:
        """Items whose name, text or values hold the words."""
        sought = words.casefold().strip()
        if not sought:
            return list(range(len(self.ids)))
        quoted = json.dumps(sought, ensure_ascii=False)[1:-1]
        found = []
        for n, (name, body) in enumerate(zip(self.ids, self._bodies, strict=True)):
            if sought in name.casefold() or (quoted in body.casefold() and sought in self._seen(n)):
                found.append(n)
        return found

    def _seen(self, n: int) -> str:
        body = self.item(n)
        parts = [body.get("text"), *body.get("values", [])]
        return "\n".join(str(part) for part in parts if part is not None).casefold()

    def ordered(self, rows: Iterable[int], by: str, *, down: bool) -> list[int]:
        """Sort items by name, group, place in the tree, number of statements, or a column; gaps come last."""
        kept = list(rows)
        if not by:
            return kept
        keys: dict[int, Any]
        names = [one["name"] if isinstance(one, dict) else one for one in self.columns]
        if by == "id":
            keys = {n: _sortable(self.ids[n]) for n in kept}
        elif by in ("cluster", "tree"):
            numbers = self._of_tree("cluster" if by == "cluster" else "start")
            keys = {n: (0, numbers[n], "") for n in kept} if numbers else dict.fromkeys(kept, (0, 0, ""))
        elif by == "said":
            said = Counter(name for one in self.standing.statements for name in names_in(one.op, one.body))
            keys = {n: (0, said[self.ids[n]], "") for n in kept}
        elif by in names:
            at = names.index(by)
            keys = {n: _sortable(values[at] if at < len(values) else None)
                    for n in kept for values in [self.item(n).get("values", [])]}  # fmt: skip
        else:
            raise Refused(422, "order", "The table has no column of this name to sort by.")
        full = [n for n in kept if keys[n] is not None]
        full.sort(key=lambda n: keys[n], reverse=down)
        return full + [n for n in kept if keys[n] is None]

    def _of_tree(self, name: str) -> list[int]:
        """An array of the newest tree, read without NumPy."""
        if self.tree is None:
            return []
        length = int.from_bytes(self.tree[4:8], "little")
        with contextlib.suppress(ValueError, TypeError, LookupError, RecursionError):  # kept by another program
            for one in json.loads(self.tree[8 : 8 + length])["arrays"]:
                if one["name"] == name and one["dtype"] in ("i2", "i4"):
                    found = array("h" if one["dtype"] == "i2" else "i")
                    begin = 8 + length + one["at"]
                    found.frombytes(self.tree[begin : begin + one["n"] * found.itemsize])
                    return found.tolist() if len(found) >= len(self.ids) else []
        return []

    # -- the cache ------------------------------------------------------------------------------------------------

    def _recall(self) -> None:
        """Show what was shown last, until the engines have read the project."""
        facts, tree, drawn = (self.store.cached(name) for name in ("facts", "tree", "map"))
        if facts is None:
            return
        try:
            told = json.loads(facts[1])
            moved = {int(seq): int(count) for seq, count in told.pop("moved", {}).items()}
            fits = all(isinstance(told.get(name, kind()), kind) for name, kind in _FACTS.items())
        except (ValueError, TypeError, AttributeError, RecursionError):
            return
        if not fits:
            return  # kept by another program
        self.columns, self.moved = told.pop("columns", []), moved
        if tree is not None and tree[0] == facts[0] <= self.seq:
            self.tree, self.facts = tree[1], told
        if drawn is not None:
            self.map = drawn[1]

    def _cache_soon(self) -> None:
        if self._caching is not None:
            self._caching.cancel()
        self._caching = asyncio.get_running_loop().call_later(QUIET, self._cache_now)

    def _cache_now(self) -> None:
        self._caching = None
        self._thread.submit(self._cache)

    def _cache(self) -> None:
        if self.readonly or self.tree is None:
            return
        version, facts = int(self.facts.get("seq", 0)), {**self.facts, "columns": self.columns, "moved": self.moved}
        with contextlib.suppress(LinkwiseError):  # it can be made again; `append` reports what cannot
            self.store.cache("tree", version, self.tree)
            self.store.cache("facts", version, json.dumps(facts, ensure_ascii=False).encode())
            if self.map is not None:
                self.store.cache("map", version, self.map)

    async def close(self) -> None:
        """Wait for what is being saved, then let go of the file."""
        self._closing = True
        if self._committing is not None:
            await self._committing
        if self._caching is not None:
            self._caching.cancel()
            self._cache_now()
        await asyncio.get_running_loop().run_in_executor(self._thread, self.store.close)
        self._thread.shutdown()


def _sortable(value: Any) -> tuple[int, float, str] | None:
    """Numbers before texts; nothing for a gap."""
    if value is None or value == "":
        return None
    text = str(value)
    with contextlib.suppress(ValueError):
        number = float(text.replace(",", ""))
        if number == number:  # noqa: PLR0124 - not a number is sorted as text
            return 0, number, text.casefold()
    return 1, 0.0, text.casefold()
