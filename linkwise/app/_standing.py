"""A log at one moment: the statements that stand after undo and repair, and those that engines get."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwise.app._log import TRIO_ANSWERS, Statement

SOFT = 1.0  # the weight of a statement that a repair keeps as a preference


@dataclass(frozen=True)
class Standing:
    """What a log says at one moment.

    Attributes
    ----------
    seq : int
        The newest row that was read; 0 if there was none.
    statements : tuple of Statement
        The rows that stand, in order: neither undone nor undo.
    undone : frozenset of int
        Rows that a later undo switched off, undos among them.
    project : dict
        The body of the newest standing `open`.
    repaired : dict
        What became of a statement: ``(seq, line)`` to ``"drop"``, ``"soften"`` or ``"flip"``; line 0 is all of it.
    people : dict
        By name, the newest standing word on whether someone answers and how much it counts.
    names, notes : tuples of Statement
        Names of branches, of which a later one for the same items replaces an earlier one; notes and flags.
    cut : dict or None
        The newest standing cut; None if there was none.
    """

    seq: int = 0
    statements: tuple[Statement, ...] = ()
    undone: frozenset[int] = frozenset()
    project: dict[str, Any] = field(default_factory=dict)
    repaired: dict[tuple[int, int], str] = field(default_factory=dict)
    people: dict[str, dict[str, Any]] = field(default_factory=dict)
    names: tuple[Statement, ...] = ()
    notes: tuple[Statement, ...] = ()
    cut: dict[str, Any] | None = None

    def action(self, seq: int, line: int = 0) -> str | None:
        """Return what a repair did to a statement, or to one line of an import; None if it is as it was."""
        return self.repaired.get((seq, line), self.repaired.get((seq, 0)))


def fold(statements: Iterable[Statement], upto: int | None = None) -> Standing:
    """Read the log up to a row, and return what stands.

    Notes
    -----
    A row stands unless a standing undo aims at it; an undo aims at earlier rows only, so one pass from the newest row
    to the oldest decides all. The undo of an undo is a redo. The first row, which opens the project, always stands.
    """
    rows = sorted((one for one in statements if upto is None or one.seq <= upto), key=lambda one: one.seq)
    undone: set[int] = set()
    for one in reversed(rows):
        if one.op == "undo" and one.seq not in undone and rows[0].seq < one.body["target"] < one.seq:
            undone.add(one.body["target"])
    standing = [one for one in rows if one.op != "undo" and one.seq not in undone]
    project: dict[str, Any] = {}
    repaired: dict[tuple[int, int], str] = {}
    people: dict[str, dict[str, Any]] = {}
    names: dict[frozenset[str], Statement] = {}
    cut: dict[str, Any] | None = None
    for one in standing:
        if one.op == "open":
            project = one.body
        elif one.op == "repair":
            for target in one.body["targets"]:
                seq, line = target["seq"], target["line"]
                if not line:  # a word about the whole statement ends all earlier ones about its lines
                    repaired = {at: what for at, what in repaired.items() if at[0] != seq}
                repaired[seq, line] = target["action"]
        elif one.op == "people":
            people[one.body["name"]] = {"active": one.body["active"], "weight": one.body["weight"]}
        elif one.op == "name":
            names.pop(key := frozenset(one.body["items"]), None)
            names[key] = one
        elif one.op == "cut":
            cut = one.body
    return Standing(
        seq=rows[-1].seq if rows else 0,
        statements=tuple(standing),
        undone=frozenset(undone),
        project=project,
        repaired=repaired,
        people=people,
        names=tuple(one for one in names.values() if one.body["text"].strip()),
        notes=tuple(one for one in standing if one.op in ("note", "flag")),
        cut=cut,
    )


# -- knowledge for engines ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing that engines take into account, with the row and the line of an import that it stems from.

    The kind is that of a statement, or ``"branch"`` for a branch that hangs right beside another: its items are those
    of both branches, and the row of the log holds which is which. A weight of None means that it certainly holds.
    """

    seq: int
    line: int
    kind: str
    items: tuple[str, ...]
    weight: float | None
    who: str
    confidence: float = 1.0


def units(standing: Standing) -> list[Unit]:
    """Return what engines take into account, with repairs applied, in the order of the log."""
    found = []
    for one in standing.statements:
        if one.op not in _UNITS:
            continue
        for line, said, items, given, confidence in _UNITS[one.op](one.body):
            action = standing.action(one.seq, line)
            kind = said if action != "flip" else _FLIPPED.get(said) if one.op != "split" else None
            weight = SOFT if action == "soften" and given is None else given
            if action != "drop" and kind is not None:
                found.append(Unit(one.seq, line, kind, tuple(items), weight, one.who, confidence))
    return found


# Of other kinds, and of a split as a whole, the opposite says nothing: it is dropped.
_FLIPPED = {"must_link": "cannot_link", "cannot_link": "must_link"}
_Row = tuple[int, str, Sequence[str], float | None, float]


def _units_of_answer(body: Mapping[str, Any]) -> list[_Row]:
    items, answer, sure = body["items"], body["answer"], body["confidence"]
    if answer == "unsure":
        return []
    if len(items) == 2:
        return [(0, "must_link" if answer == "yes" else "cannot_link", items, None, sure)]
    odd = TRIO_ANSWERS.index(answer)
    rest = [name for at, name in enumerate(items) if at != odd]
    return [(0, "triplet", [*rest, items[odd]], None, sure)]


def _units_of_say(body: Mapping[str, Any]) -> list[_Row]:
    return [(0, body["kind"], body["items"], body["weight"], 1.0)]


def _units_of_move(body: Mapping[str, Any]) -> list[_Row]:
    match body["reading"]:
        case "group":
            return [(0, "together", [*body["A"], *body["B"]], None, 1.0)]
        case "apart":
            return [(0, "cannot_link", [body["a"], body["s"]], None, 1.0)]
        case "away":
            return [(0, "triplet", [x, body["b"], body["s"]], None, 1.0) for x in body["A"]]
    return [(0, "branch", [*body["A"], *body["B"]], None, 1.0)]


def _units_of_split(body: Mapping[str, Any]) -> list[_Row]:
    parts = body["parts"]
    whole: list[_Row] = [(0, "together", part, None, 1.0) for part in parts if len(part) > 1]
    first = [part[0] for part in parts]
    return whole + [(0, "cannot_link", [a, b], None, 1.0) for at, a in enumerate(first) for b in first[at + 1 :]]


def _units_of_lock(body: Mapping[str, Any]) -> list[_Row]:
    return [(0, "together", body["items"], None, 1.0)]


def _units_of_import(body: Mapping[str, Any]) -> list[_Row]:
    return [
        (row["line"], row["kind"], row["items"], row["weight"], row.get("confidence", 1.0))
        for row in body["statements"]
    ]


_UNITS: dict[str, Callable[[Mapping[str, Any]], list[_Row]]] = {
    "answer": _units_of_answer, "say": _units_of_say, "move": _units_of_move, "split": _units_of_split,
    "lock": _units_of_lock, "import": _units_of_import,
}  # fmt: skip
