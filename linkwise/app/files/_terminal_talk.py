"""Questions about a project at a keyboard: every answer is in the file before the next question."""

from __future__ import annotations

import uuid
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from linkwise.app import Asker, New, Store, fold, items_of, read_body
from linkwise.app.files._reading import Reading, read_items
from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from linkwise._typing import IntArray
    from linkwise.active import Progress, Query, Told


class TerminalTalk:
    """A project, open for one person who answers in a terminal; as `Dialogue`, as far as a terminal needs it.

    Attributes
    ----------
    reading : Reading
        The items; ``kept`` are the rows of them that questions are about.
    names : list of str
        Names of these, as questions number them.
    """

    def __init__(self, path: Any, *, who: str = "", budget: int | None = None) -> None:
        self._store = Store.open(path)
        try:
            _require(
                not self._store.readonly, f"{path} cannot be written, so no answer could be kept", "make it writable"
            )
            rows, (file, _, raw) = self._store.statements(), self._store.file()
            project = fold(rows).project
            self.reading: Reading = read_items(file, raw, project["roles"], project["options"])
            blind = "picture" in self.reading.roles.values()
            _require(not blind, f"{path} is about pictures, which a terminal cannot show", f"linkwise open {path}")
            items = items_of(self.reading.table, self.reading.roles)
            self._asker = Asker(items, rows, project["seed"], lambda told, body: None)  # noqa: ARG005
        except BaseException:
            self._store.close()
            raise
        self.who, self.budget = who or "me", budget
        self.kept: IntArray = self._asker.kept
        self.names = self._asker.roll.ids
        self._given: list[int] = []  # rows of the log with answers that were given here

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._store.close()

    @property
    def answers(self) -> list[Told]:
        """Answers that stand."""
        return self._asker.talk.answers

    @property
    def suspects(self) -> list[Told]:
        """Answers that contradict others and are not trusted."""
        return self._asker.talk.suspects

    @property
    def n_asked(self) -> int:
        """How many questions were answered."""
        return self._asker.talk.n_asked

    @property
    def n_saved(self) -> int:
        """How many answers were given here, taken back or not."""
        return len(self._given)

    def ask(self) -> Query | None:
        """Return the next question; None if nothing is left to ask or the budget is used up."""
        if self.budget is not None and self.n_asked >= self.budget:
            return None
        self._asker.question(self.who)
        return self._asker.query(self.who)

    def tell(self, query: Query, answer: Any, *, who: str = "") -> None:  # noqa: ARG002 - one person answers here
        """Save an answer, then draw its consequences."""
        card = self._asker.question(self.who)["question"]
        body = {"items": [self.names[row] for row in query.items], "answer": str(answer), "question": card["id"],
                "checks": card["checks"]}  # fmt: skip
        self._save("answer", body)

    def undo(self) -> Told | None:
        """Take back the newest answer that was given here and stands; None if there is none."""
        standing = {one.seq for one in fold(self._store.statements()).statements}
        last = next((seq for seq in reversed(self._given) if seq in standing), None)
        if last is None:
            return None
        told = self.answers[-1]
        self._save("undo", {"target": last})
        return told

    def progress(self) -> Progress:
        """Return how far the questions have come."""
        return self._asker.talk.progress()

    def _save(self, op: str, body: dict[str, Any]) -> None:
        new = New(uuid.uuid4().hex, self.who, "cli", op, read_body(op, body), self._store.seq)
        rows = self._store.append([new])
        if op == "answer":
            self._given.append(rows[0].seq)
        self._asker.add(rows)


def _require(holds: bool, fault: str, hint: str) -> None:
    if not holds:
        msg = f"{fault}.\nHint: {hint}"
        raise LinkwiseError(msg)
