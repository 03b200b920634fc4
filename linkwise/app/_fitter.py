"""The tree of a project: fitted to what stands in its log, checked, laid out, and asked about."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.app._drag import readings
from linkwise.app._items import Items
from linkwise.app._log import Statement
from linkwise.app._picture import Anchor, Picture, rotate_onto
from linkwise.app._standing import Standing, Unit, fold
from linkwise.app._trusted import Conflicts, Roll, Trust, key_of, sentence, trust
from linkwise.constraints import Constraints
from linkwise.engines import ReCon, progress
from linkwise.exceptions import DeadEndError, LinkwiseError, LinkwiseWarning
from linkwise.plots import to_plane
from linkwise.problem import check, why
from linkwise.result import Dendrogram

LONG, STEP = 5_000, 0.05  # items from which on the progress of a fit is shown, and its steps
UNCOMPILED = 5_000  # items whose first tree is SciPy's, which needs no compiling but all distances


class Stopped(Exception):  # noqa: N818 - not an error: the answer is not wanted any more
    """A fit was stopped between two merges."""


@dataclass(frozen=True, eq=False)
class Moment:
    """The state after one row of the log: what stands, what is relied on, and the tree it gives."""

    seq: int
    standing: Standing
    chosen: Trust
    units: tuple[Unit, ...]  # those in the table
    table: Constraints  # numbered by rows of the log; soft statements included
    owner: IntArray  # the unit of each row of the table
    picture: Picture
    conflicts: list[dict[str, Any]] = field(default_factory=list)


class Trees:
    """Makes trees from items and statements, keeping the engine warm.

    The tree is that of ``ReCon(n_clusters, linkage=..., cut="merges")``: ward between vectors, average between texts;
    statements about three items shape the tree, and the cut undoes its last merges. What a log says alone decides the
    result: a warm start changes the time, not the tree.
    """

    def __init__(self, items: Items, roll: Roll, anchor: Anchor) -> None:
        self.items, self.roll, self.anchor = items, roll, anchor
        self._model = ReCon(cut="merges", warm_start=True, **items.linkage)
        self._as_few = False  # whether cannot-links left more groups than wanted the last time

    def moment(
        self,
        rows: Sequence[Statement],
        *,
        upto: int | None = None,
        before: Trust | None = None,
        heard: Callable[[int, int], object] | None = None,
    ) -> Moment:
        """Return the state of a log after a row; ``heard`` gets the progress of a long fit, and may end it."""
        standing = fold(rows, upto)
        chosen = trust(self.roll, standing, before)
        units = tuple(chosen.kept)
        table, owner = self.roll.table(units, chosen.bodies)
        tree, labels = self._fit(table, standing.cut, heard)
        picture = Picture.of(tree, labels, self.anchor)
        return Moment(standing.seq, standing, chosen, units, table, owner, picture)

    def _fit(
        self, table: Constraints, cut: Mapping[str, Any] | None, heard: Callable[[int, int], object] | None
    ) -> tuple[Dendrogram, IntArray]:
        verdict = check(table)
        wanted: int | None = self.anchor.k if cut is None else cut.get("k")
        height = None if cut is None else cut.get("height")
        if wanted is not None:
            low, high = verdict.k_min or 1, verdict.k_max or self.roll.n
            wanted = max(low, min(wanted, high))
        if self._as_few and wanted is not None:  # as few as possible may still be more than wanted
            tree, labels = self._try(table, None, None, heard)
            if int(labels.max()) + 1 > wanted:
                return tree, labels
        try:
            found = self._try(table, wanted, height, heard)
        except DeadEndError:
            self._as_few = True
            return self._try(table, None, None, heard)
        self._as_few = False
        return found

    def _try(
        self, table: Constraints, k: int | None, height: float | None, heard: Callable[[int, int], object] | None
    ) -> tuple[Dendrogram, IntArray]:
        model = self._model.set_params(n_clusters=k, distance_threshold=height)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkwiseWarning)  # preferences that are not met have a mark
            if heard is None:
                model.fit(self.items.X, constraints=table)
            else:
                with progress(heard):
                    model.fit(self.items.X, constraints=table)
        return model.dendrogram_, model.labels_


def first_tree(items: Items) -> Dendrogram:
    """Return the tree of the items alone, up to 5,000 of them by code that needs no compiling."""
    if len(items) > UNCOMPILED:
        tree: Dendrogram = ReCon(None, **items.linkage).fit(items.X).dendrogram_
        return tree
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    if not items.sparse:
        return Dendrogram.from_linkage(linkage(items.X, "ward"))
    from sklearn.preprocessing import normalize

    rows = normalize(items.X)
    gap = 1.0 - np.asarray((rows @ rows.T).todense())
    gap = np.maximum((gap + gap.T) / 2, 0.0)
    np.fill_diagonal(gap, 0.0)
    return Dendrogram.from_linkage(linkage(squareform(gap, checks=False), "average"))


def _once(line: str) -> str:
    """A line in which a move of a branch, which is many triplets, is named once where they follow each other."""
    return re.sub(r"(#\d+)\b(?:,? (?:and )?\1\b)+", r"\1", re.sub(r"(#\d+)\b(?:, \1\b)+", r"\1", line))


class Fitter:
    """One project: answers requests from its newest moment, and makes the next when the log has grown.

    ``send`` takes events; `work` and requests may run in two threads.
    """

    def __init__(self, items: Items, rows: Sequence[Statement], send: Callable[[dict[str, Any], bytes], None]) -> None:
        items.require_size()
        self.items, self.roll = items, Roll(items.ids)
        self._send = send
        self._lock = threading.Lock()
        self._rows = list(rows)
        self._stop = False
        self._tried = -1  # the newest row that a fit has seen
        self.now: Moment | None = None
        self.anchor = Anchor(first_tree(items))
        self._trees = Trees(items, self.roll, self.anchor)
        self._past: Trees | None = None
        self._map: FloatArray | None = None

    @property
    def rows(self) -> list[Statement]:
        """The log so far."""
        with self._lock:
            return list(self._rows)

    def add(self, rows: Sequence[Statement]) -> None:
        """Take new rows of the log; they count from the next `work` on."""
        with self._lock:
            newest = self._rows[-1].seq if self._rows else 0
            self._rows += [one for one in rows if one.seq > newest]

    @property
    def behind(self) -> bool:
        """Whether the log has grown since the tree was made."""
        with self._lock:
            return (self._rows[-1].seq if self._rows else 0) > self._tried

    def give_up(self) -> None:
        """Wait for the next row: with those so far there is no tree."""
        with self._lock:
            self._tried = self._rows[-1].seq if self._rows else 0

    def stop(self) -> None:
        """End the fit that is going on, between two merges."""
        self._stop = True

    # -- events ------------------------------------------------------------------------------------------------------

    def show_first(self) -> None:
        """Publish the tree of the items alone, before anything is compiled, if the log holds no statement yet."""
        rows = self.rows
        standing = fold(rows)
        chosen = trust(self.roll, standing)
        if chosen.units or standing.cut is not None:
            return
        tree, empty = self.anchor.tree, Constraints.build(self.roll.n)
        picture = Picture.of(tree, tree.cut(n_clusters=self.anchor.k), self.anchor)
        self._publish(Moment(standing.seq, standing, chosen, (), empty, np.zeros(0, np.intp), picture))

    def show_map(self) -> None:
        """Publish where items lie on the map."""
        points, _ = to_plane(self.items.X)
        self._map = points if self._map is None else rotate_onto(points, self._map)
        from linkwise.app._arrays import pack

        x, y = self._map.T.astype(np.float32)
        self._send({"event": "map", "v": 1}, pack({"x": x, "y": y}))

    def work(self) -> bool:
        """Make the tree of the newest state and publish it; False if it was stopped."""
        self._stop = False
        rows = self.rows
        told = 0.0

        def heard(done: int, total: int) -> None:
            nonlocal told
            if self._stop:
                raise Stopped
            if self.roll.n >= LONG and done < total and done / total >= told + STEP:
                told = done / total
                self._send({"event": "work", "state": "busy", "stage": "tree", "share": told}, b"")

        try:
            moment = self._trees.moment(rows, before=None if self.now is None else self.now.chosen, heard=heard)
        except Stopped:
            self._send({"event": "work", "state": "ready", "stage": "stopped", "share": 1.0}, b"")
            return False
        self._tried = moment.seq
        self._publish(moment)
        if told:
            self._send({"event": "work", "state": "ready", "stage": "tree", "share": 1.0}, b"")
        return True

    def _publish(self, moment: Moment) -> None:
        before = self.now
        cards = self._cards(moment)
        moment = Moment(**{**vars(moment), "conflicts": cards})
        marks, lies = self.marks(moment)
        moved = 0 if before is None else int((before.picture.labels != moment.picture.labels).sum())
        self.now = moment
        words = list(marks.values())
        told = {
            "event": "tree", "seq": moment.seq, "v": moment.seq, "k": moment.picture.k, "moved": moved,
            "marks": {str(seq): mark for seq, mark in marks.items()},
            "verdict": {mark: words.count(mark) for mark in ("holds", "broken", "doubted")},
            "conflicts": cards, "names": self.names(moment),
        }  # fmt: skip
        self._send(told, moment.picture.pack(moment.seq))
        if lies:
            listed = ", ".join(f"#{seq}" for seq in lies[:5])
            message = f"The tree does not show what it has to: {listed}. An independent check found it."
            hint = "This is a fault of linkwise. Please report it together with the project."
            self._send({"event": "problem", "message": message, "hint": hint}, b"")

    def _cards(self, moment: Moment) -> list[dict[str, Any]]:
        before = self.now
        if (
            before is not None
            and before.chosen == moment.chosen
            and before.standing.repaired == moment.standing.repaired
        ):
            return before.conflicts
        return Conflicts(self.roll, moment.standing, moment.chosen, self.items.X).cards()

    # -- what a moment says ------------------------------------------------------------------------------------------

    def marks(self, moment: Moment) -> tuple[dict[int, str], list[int]]:
        """Return the mark of every standing row, and the rows that had to hold and do not.

        What counts is what is on screen, judged by code that shares nothing with the engine.
        """
        held = moment.picture.shows(moment.table)
        marks = dict.fromkeys((one.seq for one in moment.standing.statements), "none")
        marks |= dict.fromkeys((unit.seq for unit in moment.units), "holds")
        broken = np.unique(moment.owner[~held]).tolist()
        marks |= dict.fromkeys((moment.units[at].seq for at in broken), "broken")
        out = moment.chosen.doubted | moment.chosen.strange
        marks |= dict.fromkeys((seq for seq, _ in out), "doubted")
        cut = next((one for one in reversed(moment.standing.statements) if one.op == "cut"), None)
        if cut is not None and cut.body.get("k") is not None:
            marks[cut.seq] = "holds" if cut.body["k"] == moment.picture.k else "broken"
        return marks, sorted({moment.units[at].seq for at in broken if moment.units[at].weight is None})

    def names(self, moment: Moment) -> list[dict[str, Any]]:
        """Return what people called branches, each with the cluster it follows."""
        found = []
        for one in moment.standing.names:
            rows = [self.roll.place[name] for name in one.body["items"] if name in self.roll.place]
            cluster = moment.picture.cluster_of(rows) if rows else -1
            found.append({"seq": one.seq, "text": one.body["text"], "cluster": cluster, "n": len(rows)})
        return found

    # -- requests ----------------------------------------------------------------------------------------------------

    def newest(self) -> Moment:
        """Return the moment that requests are answered from."""
        if self.now is None:
            msg = "the first tree is not ready yet.\nHint: wait a moment and ask again."
            raise LinkwiseError(msg)
        return self.now

    def at(self, seq: int | None) -> Moment:
        """Return the moment after a row of the log; earlier ones are made again."""
        now = self.now
        rows = self.rows
        if now is not None and (seq is None or seq == now.seq):
            return now
        if self._past is None:
            self._past = Trees(self.items, self.roll, self.anchor)
        return self._past.moment(rows, upto=seq)

    def tree(self, seq: int | None) -> bytes:
        """Return the message of the tree after a row."""
        moment = self.at(seq)
        return moment.picture.pack(moment.seq)

    def why(self, a: str, b: str) -> dict[str, Any]:
        """Return why two items are together or apart, and the statements that would change it."""
        moment = self.newest()
        for name in (a, b):
            if name not in self.roll.place:
                msg = f"there is no item {name!r} in this project.\nHint: select two items in the tree or the table."
                raise LinkwiseError(msg)
        hard = moment.table.select(moment.table.is_hard)
        labels = moment.picture.labels
        bare = Dendrogram(self.roll.n, moment.picture.tree.parent, moment.picture.tree.raw_height)
        found = why(bare, self.roll.place[a], self.roll.place[b], hard, labels=labels + 1, ids=self.roll.names)
        units = [moment.units[at] for at in moment.owner[moment.table.is_hard]]
        forcing = [units[at] for at in found.statements]
        plain = {f"  {line}": self._worded(unit) for line, unit in zip(found.lines, forcing, strict=True)}
        told = [line for line in str(found).splitlines() if not line.startswith("To have them")]
        told[:1] = [self._where(moment, a, b)]
        told = [line.replace(" samples", " items") if line.startswith("They meet at") else line for line in told]
        lines = list(dict.fromkeys(_once(plain.get(line, line)) for line in told))
        changes: list[dict[str, Any]] = []
        for change in found.changes:
            kind, *named = change.statement
            items = [self.roll.ids[row] for row in named]
            if change.possible:
                body = {"kind": kind, "items": items}
                changes.append({"op": "say", "body": body, "words": f"Say that {sentence(kind, items)}"})
                continue
            for at in change.keys[:3]:
                unit = units[at]
                seq, line = key_of(unit)
                target = {"seq": seq, "action": "drop"} | ({"line": line} if line else {})
                words = f"Drop {self._worded(unit)}. Then one can say that {sentence(kind, items)}"
                changes.append({"op": "repair", "body": {"targets": [target]}, "words": words})
        distinct = {change["words"]: change for change in changes}
        return {"words": lines, "changes": list(distinct.values())}

    def _where(self, moment: Moment, a: str, b: str) -> str:
        """Word the groups of two items, called as on screen."""
        named = {one["cluster"]: one["text"] for one in self.names(moment)}
        one, two = (int(moment.picture.labels[self.roll.place[name]]) for name in (a, b))
        called = [named.get(at, f"group {at + 1}") for at in (one, two)]
        if one == two:
            return f"{a} and {b} are in the same group: {called[0]}."
        return f"{a} and {b} are in different groups: {called[0]} and {called[1]}."

    def _worded(self, unit: Unit) -> str:
        """Word a statement as the list of the page does, with its row of the log."""
        what = "a branch was moved" if unit.kind == "branch" else sentence(unit.kind, unit.items)
        return f"#{unit.seq}: {what}"

    def conflicts(self) -> dict[str, Any]:
        """Return the contradictions of the newest moment."""
        return {"conflicts": self.newest().conflicts}

    def drag(self, a: int, b: int, v: int | None = None) -> dict[str, Any]:
        """Return what a move of the branch at node a onto that at node b can mean."""
        moment = self.newest()
        if v is not None and v != moment.seq:
            msg = "the tree has changed since the branch was taken.\nHint: take it again."
            raise LinkwiseError(msg)
        made = readings(self.roll, self.items, moment.picture, moment.standing, moment.chosen, a, b)
        return {"readings": made}

    def compare(self, a: int, b: int) -> dict[str, Any]:
        """Return the items whose group differs between two moments."""
        one, two = self.at(a), self.at(b)
        old, new = one.picture.labels, two.picture.labels
        rows = np.flatnonzero(old != new)
        seqs = {s.seq for s in one.standing.statements} ^ {s.seq for s in two.standing.statements}
        because = next(iter(seqs)) if len(seqs) == 1 else None  # with more, no single one can be blamed
        moved = [
            {"id": self.roll.ids[row], "from": int(old[row]), "to": int(new[row]), "because": because}
            for row in rows.tolist()
        ]
        words = [] if one.picture.k == two.picture.k else [f"{one.picture.k} groups became {two.picture.k}."]
        return {"moved": moved, "n_moved": len(moved), "words": words}

    def repairs(self, row: Statement) -> dict[str, Any] | None:
        """Return the contradiction that a row brings, or None."""
        rows = [one for one in self.rows if one.seq < row.seq]
        standing = fold([*rows, row])
        chosen = trust(self.roll, standing, None if self.now is None else self.now.chosen)
        if not any(seq == row.seq for seq, _ in chosen.doubted) and row.op not in ("repair", "undo"):
            known = frozenset() if self.now is None else self.now.chosen.doubted
            if not chosen.doubted - known:
                return None
        cards = Conflicts(self.roll, standing, chosen, self.items.X).cards()
        return next((card for card in cards if row.seq in card["seqs"]), None)
