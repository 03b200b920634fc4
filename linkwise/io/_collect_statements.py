"""A collector of statements from files: names become sample numbers, each statement keeps its file and line."""

from __future__ import annotations

import difflib
import unicodedata
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._messages import and_more
from linkwise._typing import IntArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints, Kind, Labels, Rule, links_of, orient
from linkwise.exceptions import ConstraintError
from linkwise.io._text import shown
from linkwise.sources import Taxonomy


def singular(kind: Kind) -> str:
    """Return the word that files use for one statement of a kind."""
    return "triplet" if kind is Kind.TRIPLET else kind.word


KINDS = {singular(kind): kind for kind in Kind}


class Collector:
    """Collects statements one by one or many at once, and reports unknown samples at the end."""

    def __init__(self, ids: npt.NDArray[Any] | None, *, skip_bad: bool = False) -> None:
        self.ids = ids
        self.skip_bad = skip_bad
        self.skipped: list[str] = []
        self.rules: list[Rule] = []
        self.notes: dict[int, str] = {}
        self.files: list[str] = []
        self.trimmed = 0
        self._unknown: list[tuple[str, int, str]] = []
        self.known: dict[str, int] = {} if ids is None else {str(v): i for i, v in enumerate(ids.tolist())}
        if ids is not None and len(self.known) < len(ids):
            msg = "ids has values that are equal as text, expected a different name for each sample."
            raise ConstraintError(msg)
        self._kind, self._size, self._member = array("b"), array("q"), array("q")
        self._weight, self._file, self._line = array("d"), array("i"), array("q")
        self._labeled, self._class, self._class_source = array("q"), array("q"), array("q")
        self._class_name: list[str] = []
        self._source_apart: list[bool] = []
        self._source_of: dict[int, int] = {}
        self.label_file, self.label_line = array("i"), array("q")
        self.taxonomies: list[tuple[Taxonomy, list[str]]] = []  # each with the names of its samples

    # -- taking in ---------------------------------------------------------------------------------------------------

    def skip(self, bad: ConstraintError) -> None:
        """Raise the error of one line, or with ``skip_bad`` record it and continue."""
        if not self.skip_bad:
            raise bad
        self.skipped.append(str(bad).split("\n", 1)[0])

    def open_file(self, name: str) -> None:
        """Set the file that the next statements come from."""
        self.files.append(name)

    @property
    def name(self) -> str:
        """The file being read."""
        return self.files[-1]

    def code(self, sample: str, line: int) -> int:
        """Return the number of a sample; an unknown one is recorded, and its number is -1."""
        found = self.known.get(sample)
        if found is None:
            if self.ids is not None:
                self._unknown.append((self.name, line, sample))
                return -1
            found = self.known[sample] = len(self.known)
        return found

    def add(
        self,
        kind: Kind,
        samples: Sequence[str],
        weight: float,
        line: int,
        note: str = "",
        together: Sequence[bool] = (),
    ) -> None:
        """Add one statement; one that holds in every clustering is dropped with a warning.

        ``together`` tells of each link of a disjunction whether it is a must-link.
        """
        if kind in (Kind.MUST_LINK, Kind.TRIPLET) and samples[0] == samples[1]:
            said = f"{singular(kind)}({', '.join(samples)})"
            warn_user(f"{self.name}, line {line}: {said} holds for every clustering and was dropped.")
            return
        unknown = len(self._unknown)
        codes = [self.code(sample, line) for sample in samples]
        if kind is Kind.EITHER and min(codes) >= 0:
            codes = orient(np.reshape(codes, (-1, 2)), np.array(together, dtype=np.bool_)).ravel().tolist()
        if self.skip_bad and len(self._unknown) > unknown:
            names = ", ".join(shown(sample) for _, _, sample in self._unknown[unknown:])
            del self._unknown[unknown:]
            codes = [code for code in codes if code >= 0]
            stay = kind in (Kind.TOGETHER, Kind.APART) and len(codes) > 1
            others = f"; the other {len(codes)} stay" if stay else ""
            self.skipped.append(f"{self.name}, line {line} names samples that are not in the data: {names}{others}.")
            if not stay:
                return
        self.append(kind, codes, weight, line, note)

    def append(self, kind: Kind, codes: Sequence[int], weight: float, line: int, note: str = "") -> None:
        """Add one statement about different samples, by their numbers."""
        if note:
            self.notes[len(self._kind)] = note
        self._kind.append(kind)
        self._size.append(len(codes))
        self._member.extend(codes)
        self._weight.append(weight)
        self._file.append(len(self.files) - 1)
        self._line.append(line)

    def different(self, names: Sequence[str], line: int, complaint: str) -> list[str]:
        """Return the names; a repeat is refused with ``complaint``, in which ``{}`` stands for the name."""
        found: dict[str, None] = {}
        twice = next((name for name in names if name in found or found.setdefault(name)), None)
        if twice is not None:
            found = dict.fromkeys(names)
            self.skip(ConstraintError(f"{self.name}, line {line}: {complaint.format(shown(twice))}"))
        return list(found)

    def add_labels(
        self, samples: Sequence[str], labels: Sequence[str], lines: Sequence[int], word: str, *, apart: bool
    ) -> None:
        """Add rows that label samples: equal labels are together; with ``apart``, different labels are apart."""
        members: dict[str, list[tuple[int, int]]] = {}
        for sample, label, line in zip(samples, labels, lines, strict=True):
            code = self.code(sample, line)
            if code < 0 and self.skip_bad:
                self._unknown.pop()
                self.skipped.append(
                    f"{self.name}, line {line} names a sample that is not in the data: {shown(sample)}."
                )
                continue
            members.setdefault(label, []).append((code, line))
        first = len(self._kind)
        for label, rows in members.items():
            if len(rows) > 1:
                kind = Kind.MUST_LINK if len(rows) == 2 else Kind.TOGETHER
                self.append(kind, [code for code, _ in rows], np.inf, rows[0][1], f"{word} {label}")
        heads = [rows[0] for rows in members.values()]
        if apart and len(heads) > 1:
            kind = Kind.CANNOT_LINK if len(heads) == 2 else Kind.APART
            self.append(kind, [code for code, _ in heads], np.inf, heads[0][1], f"different {word}")
        if len(self._kind) == first:
            return  # nothing follows from one sample, nor from groups of one
        source = len(self._source_apart)
        self._source_apart.append(apart)
        self._source_of |= dict.fromkeys(range(first, len(self._kind)), source)
        place = {label: len(self._class_name) + i for i, label in enumerate(members)}
        self._class_name += list(members)
        self._class_source.extend([source] * len(members))
        given = sorted((line, code, place[label]) for label, found in members.items() for code, line in found)
        for line, code, of in given:
            self._labeled.append(code)
            self._class.append(of)
            self.label_file.append(len(self.files) - 1)
            self.label_line.append(line)

    def add_many(self, kind: Kind, names: Sequence[str], items: IntArray, lines: IntArray) -> None:
        """Add hard statements that give samples as positions in ``names``, such as those of a taxonomy."""
        codes = np.array([self.code(name, 0) for name in names], dtype=np.int64)
        rows, arity = items.shape
        self._kind.extend([int(kind)] * rows)
        self._size.extend([arity] * rows)
        self._member.frombytes(codes[items].tobytes())
        self._weight.extend([np.inf] * rows)
        self._file.extend([len(self.files) - 1] * rows)
        self._line.frombytes(lines.astype(np.int64).tobytes())

    def placed_taxonomies(self, made: Constraints) -> tuple[Taxonomy, ...]:
        """The taxonomies that were read, with every sample of the constraints on its node."""
        found = []
        for taxonomy, names in self.taxonomies:
            node = np.full(made.n_samples, -1, dtype=np.intp)
            node[[self.known[name] for name in names]] = taxonomy.node
            ids = np.array(list(self.known), dtype=str) if made.ids is None else made.ids
            found.append(Taxonomy(taxonomy.parent, node, names=taxonomy.names, ids=ids))
        return tuple(found)

    # -- handing out -------------------------------------------------------------------------------------------------

    def finish(self, *, named: bool = True) -> tuple[Constraints, IntArray, IntArray]:
        """Return the constraints, and file and line of each statement by its ``row``."""
        if self._unknown:
            raise ConstraintError(self._word_unknown())
        ids = np.array(list(self.known), dtype=str) if self.ids is None else self.ids
        kind, size = np.array(self._kind, dtype=np.int8), np.array(self._size, dtype=np.intp)
        member, weight = np.array(self._member, dtype=np.intp), np.array(self._weight, dtype=np.float64)
        start = np.cumsum(size) - size
        given: dict[str, Any] = {}
        order = []
        for one in Kind:
            rows = np.flatnonzero(kind == one)
            order.append(rows)
            if one is Kind.EITHER:
                given[one.word] = [links_of(member[start[r] : start[r] + size[r]]) for r in rows.tolist()]
            elif one.is_group:
                given[one.word] = [member[start[r] : start[r] + size[r]] for r in rows.tolist()]
            else:
                given[one.word] = member[start[rows][:, None] + np.arange(one.arity)]
        rows = np.concatenate(order)
        made = Constraints.build(len(ids), **given, weight=weight[rows], rules=self.rules)
        names = self._check_names(ids) if named else None
        rows = rows[made.row]
        made = made._replace(row=rows, ids=names, labels=self._labels(rows))
        return made, np.array(self._file, dtype=np.intp), np.array(self._line, dtype=np.intp)

    def _labels(self, rows: IntArray) -> Labels:
        """The labeled samples, and which of the statements with these rows follow from them."""
        count = len(self._labeled)
        return Labels(
            np.array(self._labeled, dtype=np.intp),
            np.array(self._class, dtype=np.intp),
            np.arange(count, dtype=np.intp),
            np.array(self._class_name, dtype=str) if count else np.empty(0, dtype="U1"),
            np.array(self._class_source, dtype=np.intp),
            np.array(self._source_apart, dtype=np.bool_),
            np.array([self._source_of.get(row, -1) for row in rows.tolist()] if count else [], dtype=np.intp),
        )

    def _check_names(self, ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Warn of names that look alike or contain invisible characters."""
        if ids.dtype.kind != "U":
            return ids
        odd = [name for name in ids.tolist() if not name.isascii()]
        hidden = [name for name in odd if any(unicodedata.category(c) == "Cf" for c in name)]
        if hidden:
            warn_user(f"{len(hidden)} name(s) contain invisible characters, such as {hidden[0]!a}.")
        forms: dict[str, str] = {}
        for name in odd:
            twin = forms.setdefault(unicodedata.normalize("NFC", name), name)
            if twin != name:
                warn_user(f"two samples have names that look alike: {twin!a} and {name!a} (composed differently).")
        return ids

    def _word_unknown(self) -> str:
        ids = self.ids if self.ids is not None else np.empty(0)
        names = [str(value) for value in ids[:100_000].tolist()]
        several = len(self.files) > 1
        listed = ", ".join(
            shown(sample)
            + (f" ({file if several else ''}{', ' if several and line else ''}{f'line {line}' * (line > 0)})")
            for file, line, sample in self._unknown[:5]
        ).replace(" ()", "")
        who = "the constraints name" if several else f"{self._unknown[0][0]} names"
        first = self._unknown[0][2]
        near = difflib.get_close_matches(first, names, n=1)
        if ids.dtype.kind in "iu":
            hint = f"without --id, samples are row numbers 0 to {len(ids) - 1}; give --id COLUMN to use names."
            if any(sample == str(len(ids)) for _, _, sample in self._unknown):
                hint += " If your file counts from 1, subtract 1."
        elif unicodedata.normalize("NFC", first) in {unicodedata.normalize("NFC", name) for name in names}:
            hint = "there is a name with the same letters, composed differently; save both files in the form NFC."
        else:
            hint = f"did you mean {near[0]!r}?" if near else "names are compared exactly, including case."
        return f"{who} samples that are not in the data: {listed}{and_more(5, len(self._unknown))}.\nHint: {hint}"
