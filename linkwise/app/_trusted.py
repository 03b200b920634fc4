"""A log as a table of constraints: which statements hold together, and which wait for a decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._typing import IntArray
from linkwise.app._log import Statement
from linkwise.app._standing import Standing, Unit, units
from linkwise.constraints import Constraints
from linkwise.problem import check

Key = tuple[int, int]  # row of the log and line of an import, 0 for other rows
KINDS = ("must_link", "cannot_link", "triplet", "branch", "together", "apart")


class Roll:
    """The items of a project by name, and units of its log as tables about them."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = list(ids)
        self.n = len(self.ids)
        self.place = {name: at for at, name in enumerate(self.ids)}
        self.names: npt.NDArray[Any] = np.array(self.ids, dtype=object)

    def knows(self, unit: Unit) -> bool:
        """Whether all items of a unit are in the project."""
        return all(name in self.place for name in unit.items)

    def rows(self, names: Iterable[str]) -> list[int]:
        """Return the rows of items."""
        return [self.place[name] for name in names]

    def table(self, said: Sequence[Unit], bodies: Mapping[int, Mapping[str, Any]]) -> tuple[Constraints, IntArray]:
        """Return the units as one table in their order, numbered by the rows of the log, and the unit of each row.

        ``bodies`` holds the body of every move of a branch by its row in the log.
        """
        found: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        owner: dict[str, list[int]] = {kind: [] for kind in KINDS}
        for at, unit in enumerate(said):
            rows = self.rows(unit.items)
            owner[unit.kind].append(at)
            found[unit.kind].append(self._beside(rows, bodies[unit.seq]) if unit.kind == "branch" else rows)
        beside = found.pop("branch")
        triplets = np.concatenate([np.array(found.pop("triplet"), dtype=np.intp).reshape(-1, 3), *beside])
        places = [*owner["must_link"], *owner["cannot_link"], *owner["triplet"]]
        for at, rows in zip(owner["branch"], beside, strict=True):
            places += [at] * len(rows)
        made_of = np.array([*places, *owner["together"], *owner["apart"]], dtype=np.intp)
        weight = np.array([np.inf if unit.weight is None else unit.weight for unit in said], dtype=np.float64)
        table = Constraints.build(self.n, **found, triplets=triplets, weight=weight[made_of].tolist())
        made_of = made_of[table.row]  # weights are positive and items differ, so that no statement is left out
        order = np.argsort(made_of, kind="stable")
        seqs = np.array([unit.seq for unit in said], dtype=np.intp)
        made_of = made_of[order]
        return table.select(order).with_rows(seqs[made_of]), made_of

    def _beside(self, both: list[int], body: Mapping[str, Any]) -> IntArray:
        """Triplets that make A and B branches whose nearest neighbors they are: n - 2 of them.

        The middles a and b meet before any other item z joins them; within A all meet a before b does, within B b
        before a. Since ax|b and ab|z give ax|z, nothing else comes into the branch that A and B share.
        """
        a, b = self.rows([body["a"], body["b"]])
        others = np.ones(self.n, dtype=np.bool_)
        others[both] = False
        inside = [(self.rows(body[side]), x, y) for side, x, y in (("A", a, b), ("B", b, a))]
        made = [np.column_stack([np.full((others.sum(), 2), (a, b)), np.flatnonzero(others)])]
        made += [np.array([(x, other, y) for other in side if other != x]).reshape(-1, 3) for side, x, y in inside]
        return np.concatenate(made).astype(np.intp)

    def named(self, table: Constraints) -> Constraints:
        """Return a table whose words name the items."""
        return table.with_ids(self.names)


def bodies_of(standing: Standing) -> dict[int, dict[str, Any]]:
    """Return the bodies of moves by row of the log."""
    return {one.seq: one.body for one in standing.statements if one.op == "move"}


def key_of(unit: Unit) -> Key:
    """Return the row and the line that a unit stems from."""
    return unit.seq, unit.line


@dataclass(frozen=True)
class Trust:
    """Which statements hold together.

    Attributes
    ----------
    units : tuple of Unit
        All units of the log, in its order.
    doubted : frozenset of (int, int)
        Row and line of the statements that are left out, as they contradict others.
    strange : frozenset of (int, int)
        Row and line of those left out since they name items that the project does not have.
    """

    units: tuple[Unit, ...] = ()
    doubted: frozenset[Key] = frozenset()
    strange: frozenset[Key] = frozenset()
    bodies: dict[int, dict[str, Any]] = field(default_factory=dict)

    @property
    def kept(self) -> list[Unit]:
        """Units of statements that are not left out."""
        out = self.doubted | self.strange
        return [unit for unit in self.units if key_of(unit) not in out] if out else list(self.units)


def trust(roll: Roll, standing: Standing, before: Trust | None = None) -> Trust:
    """Choose the statements to rely on: in order of confidence and then of the log, each that holds with those before.

    Preferences are not judged here; the engine meets what it can of them. ``before`` is the choice for an earlier
    state: where the log only grew, its verdicts are taken over.
    """
    said, bodies = tuple(units(standing)), bodies_of(standing)
    strange = frozenset(key_of(unit) for unit in said if not roll.knows(unit))
    hard = [unit for unit in said if unit.weight is None and key_of(unit) not in strange]
    whole = [list(parts) for _, parts in groupby(hard, key_of)]
    whole.sort(key=lambda parts: -parts[0].confidence)  # stable: of equals, the order of the log

    kept: list[list[Unit]] = []

    def holds(statements: Sequence[list[Unit]]) -> bool:
        """Whether these hold with those kept so far."""
        table, _ = roll.table([unit for parts in (*kept, *statements) for unit in parts], bodies)
        return check(table).status != "infeasible"

    doubted: set[Key] = set()
    left = whole
    if before is not None and before.doubted:
        old = [list(parts) for _, parts in groupby(_hard(before), key_of)]
        old.sort(key=lambda parts: -parts[0].confidence)
        if whole[: len(old)] == old:
            doubted = set(before.doubted)
            kept = [parts for parts in old if key_of(parts[0]) not in doubted]
            left = whole[len(old) :]
    while left:
        first = _longest(left, holds)
        kept += left[:first]
        doubted.update(key_of(parts[0]) for parts in left[first : first + 1])
        left = left[first + 1 :]
    return Trust(said, frozenset(doubted), strange, bodies)


def _hard(before: Trust) -> list[Unit]:
    return [unit for unit in before.units if unit.weight is None and key_of(unit) not in before.strange]


def _longest(rows: Sequence[Any], holds: Callable[[Sequence[Any]], bool]) -> int:
    """Return how many of the first rows hold together, given that more rows never help."""
    if holds(rows):
        return len(rows)
    known, open_ = 0, len(rows)
    while open_ - known > 1:
        middle = (known + open_) // 2
        known, open_ = (middle, open_) if holds(rows[:middle]) else (known, middle)
    return known


# -- words -------------------------------------------------------------------------------------------------------------


def sentence(kind: str, items: Sequence[str]) -> str:
    """Word a statement as the page does."""
    match kind:
        case "must_link":
            return f"{items[0]} and {items[1]} belong together"
        case "cannot_link":
            return f"{items[0]} and {items[1]} are apart"
        case "triplet":
            return f"{items[0]} and {items[1]} are closer than {items[2]}"
        case "together":
            return f"{listed(items)} are one group"
        case "apart":
            return f"{listed(items)} are all apart"
    msg = f"there are no words for a statement of kind {kind!r}"
    raise AssertionError(msg)


def listed(items: Sequence[str], most: int = 3) -> str:
    """Name a few items, and count the rest."""
    more = len(items) - most
    if more > 0:
        return f"{', '.join(items[:most])} and {more:,} more"
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


# -- contradictions ----------------------------------------------------------------------------------------------------

MOST_FIXES = 12
MOST_TRIED = 60  # of the statements of a proof
MOST_CARDS = 8


class Conflicts:
    """Contradictions in a log, each with the changes that settle it; every action that is offered was tried."""

    def __init__(self, roll: Roll, standing: Standing, chosen: Trust, X: Any = None) -> None:
        self.roll, self.standing, self.chosen = roll, standing, chosen
        self.X = X if isinstance(X, np.ndarray) else None  # to doubt first what the data speak against
        self._row: dict[int, Statement] = {one.seq: one for one in standing.statements}
        self._held: dict[tuple[Key, tuple[Unit, ...]], bool] = {}

    def cards(self) -> list[dict[str, Any]]:
        """Return the contradictions as the page reads them: one, if single changes settle all, else one at a time."""
        if not self.chosen.doubted:
            return []
        every = _hard(self.chosen)
        card = self._card(every)
        if card is not None and card["fixes"]:
            return [card]
        kept = [unit for unit in every if key_of(unit) not in self.chosen.doubted]
        out: list[Key] = sorted(self.chosen.doubted)
        found = [self._card(kept + [u for u in every if key_of(u) == key]) for key in out[:MOST_CARDS]]
        return [card for card in found if card is not None]

    def _card(self, said: list[Unit]) -> dict[str, Any] | None:
        """Return one contradiction among hard units, with the single statements whose change settles it."""
        table, owner = self.roll.table(said, self.chosen.bodies)
        self._held.clear()
        why = check(self.roll.named(table), X=self.X).explanation
        if why is None:
            return None
        order = [int(at) for group in why.suspects if len(group) == 1 for at in group] + list(why.core[::-1])
        keys = list(dict.fromkeys(key_of(said[owner[at]]) for at in order))
        fixes = []
        for key in keys[:MOST_TRIED]:
            actions = [action for action in ("drop", "flip", "soften") if self._settles(said, key, action)]
            if actions:
                fixes.append(self._fix(key, actions))
            if len(fixes) == MOST_FIXES:
                break
        seqs = sorted({said[owner[at]].seq for at in why.core})
        return {"fixes": fixes, "proof": list(why.steps) or [why.because], "seqs": seqs}

    def _settles(self, said: list[Unit], key: Key, action: str) -> bool:
        """Whether all of these hold together once a repair changes one statement; asked of the log itself."""
        one = self._row[key[0]]
        repaired = Standing(statements=(one,), repaired={**self.standing.repaired, key: action})
        after = tuple(unit for unit in units(repaired) if key_of(unit) == key)
        hard = tuple(unit for unit in after if unit.weight is None)
        if action == "flip" and not hard:
            return False  # nothing would be left of it: that is dropping it
        if action == "soften" and not after:
            return False
        if (key, hard) not in self._held:
            rest = [unit for unit in said if key_of(unit) != key]
            if hard and not self._held.get((key, ()), True):
                return False  # without it the rest does not hold either
            table, _ = self.roll.table([*rest, *hard], self.chosen.bodies)
            self._held[key, hard] = check(table).status != "infeasible"
        return self._held[key, hard]

    def _fix(self, key: Key, actions: list[str]) -> dict[str, Any]:
        seq, line = key
        one = self._row[seq]
        fix: dict[str, Any] = {"seq": seq, "line": line, "actions": actions, "who": one.who, "at": one.at}
        if line:
            unit = next(unit for unit in self.chosen.units if key_of(unit) == key)
            place = "line" if one.body.get("by_line", True) else "statement"
            fix["words"] = f"{place} {line}: {sentence(unit.kind, unit.items)}"
        return fix
