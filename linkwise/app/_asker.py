"""Questions about the items of a project: one at a time for each person, ready before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwise._messages import many
from linkwise.active import Dialogue, PairsAndTrios, Query
from linkwise.app._items import Items
from linkwise.app._log import Statement, names_in
from linkwise.app._standing import Standing, fold
from linkwise.app._trusted import Roll, trust

MOST_ROWS = 5_000  # of more items, questions are about that many: finding them would take longer than answering
_ODD = ("first", "second", "third")
_FLIPPED = {"yes": "no", "no": "yes"}


class Asker:
    """The questions of one project.

    Parameters
    ----------
    items : Items
        All items; questions are about those that statements name and a sample of the others.
    rows : sequence of Statement
        The log so far.
    seed : int
        Seed of everything left to chance.
    send : callable
        Takes events.
    """

    def __init__(
        self, items: Items, rows: Sequence[Statement], seed: int, send: Callable[[dict[str, Any], bytes], None]
    ) -> None:
        items.require_size()
        self.items, self._send = items, send
        self._rows = list(rows)
        self.kept = _some(items, rows, seed)
        self.roll = Roll([items.ids[row] for row in self.kept])
        self.talk = Dialogue(items.X[self.kept], strategy=PairsAndTrios(), random_state=seed)
        self._told: list[tuple[int, dict[str, Any]]] = []  # row of the log and entry of every answer in the dialogue
        self._number: dict[int, int] = {}  # row of the log to number of the answer
        self._known: Any = None
        self._held: dict[str, tuple[Query, dict[str, Any]]] = {}
        self._people: list[str] = []
        self._catch_up()

    # -- what the engine is asked ------------------------------------------------------------------------------------

    def add(self, rows: Sequence[Statement]) -> None:
        """Take new rows of the log, and get the next questions ready."""
        newest = self._rows[-1].seq if self._rows else 0
        self._rows += [one for one in rows if one.seq > newest]
        self._catch_up()
        for who in self._people:
            if who not in self._held:
                self.question(who)
                self._send({"event": "question", "who": who}, b"")
                self.progress(who)

    def question(self, who: str) -> dict[str, Any]:
        """Return the question of a person, as the card reads it: the same until it is answered or settled."""
        if who not in self._people:
            self._people.append(who)
        if who not in self._held:
            query = self.talk.ask(besides=[query for query, _ in self._held.values()])
            if query is None:
                return {"question": None, "state": "done"}
            self._held[who] = query, self._card(query)
        return {"question": self._held[who][1], "state": "ready"}

    def query(self, who: str) -> Query | None:
        """Return the question that a person holds, by the rows that questions are about."""
        held = self._held.get(who)
        return None if held is None else held[0]

    def progress(self, who: str) -> None:
        """Publish how far the questions have come."""
        now = self.talk.progress()
        told = {"answers": len(self.talk.answers), "settled": now.n_implied, "stable": now.believed, "more": now.more}
        self._send({"event": "progress", "who": who, **told}, b"")

    # -- the log -----------------------------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Bring the dialogue to what stands in the log; the same log gives the same questions, whatever came before."""
        standing = fold(self._rows)
        said = self._knowledge(standing)
        if said is not None:
            self.talk.know(said)
        wanted = self._answers(standing)
        same = 0
        while same < min(len(wanted), len(self._told)) and wanted[same] == self._told[same]:
            same += 1
        if same < len(self._told):
            self.talk.undo_all([self._number[seq] for seq, _ in self._told[same:]])
            for _, entry in self._told[same:]:  # who takes an answer back gets the question again
                self._held.pop(entry["who"], None)
        fresh = [entry for _, entry in wanted[same:]]
        if fresh:
            checked = [[self._number[seq] for seq in entry["checks"] if seq in self._number] for entry in fresh]
            self.talk.tell_all([entry | {"checks": at} for entry, at in zip(fresh, checked, strict=True)])
            for (seq, _), answer in zip(wanted[same:], self.talk.answers[-len(fresh) :], strict=True):
                self._number[seq] = answer.number
        self._told = wanted
        answered = {tuple(entry["items"]) for entry in fresh}
        for who, (query, _) in list(self._held.items()):
            settled = not query.checks and self.talk.known.decides(query.items)
            if query.items in answered or settled:
                del self._held[who]

    def _answers(self, standing: Standing) -> list[tuple[int, dict[str, Any]]]:
        """Answers that stand, as entries of a dialogue; one that was dropped or kept as a preference is none."""
        found = []
        for one in standing.statements:
            action = standing.action(one.seq)
            if one.op != "answer" or action in ("drop", "soften"):
                continue
            body = one.body
            if any(name not in self.roll.place for name in body["items"]):
                continue
            rows, answer = self.roll.rows(body["items"]), body["answer"]
            if action == "flip" and answer != "unsure":
                if len(rows) == 3:
                    continue
                answer = _FLIPPED[answer]
            if answer in _ODD:  # the place of the odd one among the rows in ascending order
                answer = _ODD[sorted(rows).index(rows[_ODD.index(answer)])]
            entry = {"items": sorted(rows), "answer": answer, "confidence": body["confidence"], "who": one.who,
                     "asked": body["asked"], "checks": list(body["checks"])}  # fmt: skip
            found.append((one.seq, entry))
        return found

    def _knowledge(self, standing: Standing) -> Any:
        """Return the statements besides answers, as far as they hold together; None if they have not changed."""
        others = tuple(one for one in standing.statements if one.op != "answer")
        chosen = trust(self.roll, replace(standing, statements=others))
        said = [unit for unit in chosen.kept if unit.weight is None]
        key = (tuple(said), tuple(chosen.bodies))
        if key == self._known:
            return None
        self._known = key
        return self.roll.table(said, chosen.bodies)[0]

    # -- cards -------------------------------------------------------------------------------------------------------

    def _card(self, query: Query) -> dict[str, Any]:
        rows = [int(self.kept[row]) for row in query.items]
        seqs = [seq for seq, _ in self._told if self._number[seq] in query.checks]
        newest = self._rows[-1].seq if self._rows else 0
        number = len(self._told) + 1
        key = "-".join(map(str, (newest, *rows)))
        items = self.items.cards(rows)
        return {"id": key, "number": number, "items": items, "checks": seqs, "why": self._why(query, seqs)}

    def _why(self, query: Query, checks: list[int]) -> str:
        """Say in one sentence why this is asked."""
        if checks:
            listed = ", ".join(f"#{seq}" for seq in checks[:3])
            if query.items in {told.items for told in self.talk.suspects}:
                return f"This was answered before ({listed}) and contradicts other answers, so it is asked once more."
            return f"This checks {listed}: judged by the other answers, it may be wrong."
        gain, n = self.talk.progress().gain, len(self.kept)
        if len(query.items) == 3:
            share = "" if gain is None else f" It is expected to correct about {100 * gain:.2g} % of the tree."
            return f"It tells where one of the three hangs in the tree.{share}"
        if gain is None:
            return "It tells whether two groups are one."
        return f"The answer is expected to settle where about {many(max(1, round(gain * n)), 'item')} belong."


def _some(items: Items, rows: Sequence[Statement], seed: int) -> Any:
    """Rows that questions are about: all up to 5,000, else those that statements name and some drawn at random."""
    n = len(items)
    if n <= MOST_ROWS:
        return np.arange(n)
    place = {name: row for row, name in enumerate(items.ids)}
    named = {place[name] for one in rows for name in names_in(one.op, one.body) if name in place}
    draw = np.random.default_rng(seed).permutation(n)
    drawn = [int(row) for row in draw if int(row) not in named][: max(0, MOST_ROWS - len(named))]
    return np.array(sorted([*sorted(named)[:MOST_ROWS], *drawn]), dtype=np.intp)
