"""Statements as rows of a data frame: columns kind, a, b, c, samples, weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from linkwise._data_frames import Backend, make_frame, read_frame
from linkwise._messages import did_you_mean, in_words, some_of
from linkwise._validation import is_whole
from linkwise._value_columns import is_missing
from linkwise.constraints._disjunctions import links_of, links_said, write_links
from linkwise.constraints._from_labels_and_ids import read_ids, sort_statements
from linkwise.constraints._kinds import Kind
from linkwise.exceptions import ConstraintError

if TYPE_CHECKING:
    from linkwise.constraints._table_building import Building

_COLUMNS = ("kind", "a", "b", "c", "samples", "weight")
_WORDS = {"triplet" if kind is Kind.TRIPLET else kind.word: kind for kind in Kind}
_NAMES = {kind: word for word, kind in _WORDS.items()}
C = TypeVar("C", bound="Building")


def frame_of(table: Building, backend: Backend) -> Any:
    """Write a table as a frame, in the order the statements were given, without columns that none needs."""
    if table.rules:
        msg = (
            f"to_frame: a frame holds statements only, but there are rules: {some_of(list(map(repr, table.rules)))}.\n"
            "Hint: `constraints.with_rules().to_frame()` writes the statements without them; "
            "`linkwise.io.write_knowledge` writes both."
        )
        raise ConstraintError(msg)
    order = np.argsort(table.row, kind="stable").tolist()
    kinds = [Kind(int(kind)) for kind in table.kind[order]]
    words, named = [_NAMES[kind] for kind in kinds], [table.samples_of(s).tolist() for s in order]
    for at in [at for at, kind in enumerate(kinds) if kind is Kind.EITHER]:
        words[at], named[at] = write_links(links_of(named[at]))
    columns: dict[str, list[Any]] = {"kind": words}
    if table.ids is not None:
        ids = table.ids.tolist()
        named = [[ids[sample] for sample in samples] for samples in named]
    widest = max([2, *(kind.arity for kind in kinds)])
    if not kinds or not all(kind.is_group for kind in kinds):
        for place, name in enumerate("abc"[:widest]):
            columns[name] = [
                None if kind.arity <= place else samples[place] for kind, samples in zip(kinds, named, strict=True)
            ]
    if any(kind.is_group for kind in kinds):
        columns["samples"] = [samples if kind.is_group else None for kind, samples in zip(kinds, named, strict=True)]
    columns["weight"] = table.weight[order].tolist()
    return make_frame("to_frame", columns, backend)


def table_of(cls: type[C], given: Any, ids: Any) -> C:
    """Read a frame that `frame_of` wrote, or one with such columns."""
    frame = read_frame("from_frame", given)
    names = np.arange(int(ids)) if is_whole(ids) else read_ids(ids)
    _check_columns(list(frame.columns))
    values = {name: frame[name].to_list() for name in frame.columns if name in _COLUMNS}
    numbers = names.dtype.kind in "iu"
    rows = []
    for at in range(len(frame)):
        cells = {name: cell for name, column in values.items() if not _is_gap(cell := column[at])}
        rows.append(_row(at, cells, numbers))
    made = sort_statements(cls, names, rows, ())
    return made._replace(ids=None) if is_whole(ids) else made


def _check_columns(found: list[str]) -> None:
    odd = [name for name in found if name not in (*_COLUMNS, "note")]
    if odd:
        hint = did_you_mean(odd[0], _COLUMNS, f"known columns are {in_words(_COLUMNS)}; leave others out.")
        msg = f"from_frame: {some_of([repr(name) for name in odd])} is not a column of statements.\nHint: {hint}"
        raise ConstraintError(msg)
    if "kind" not in found or not ({"a", "b"} <= {*found} or "samples" in found):
        msg = (
            f"from_frame: the columns are {some_of([repr(name) for name in found])}, expected kind, a and b.\n"
            "Hint: a row such as must_link, otter, mink; groups have a list in a column `samples`."
        )
        raise ConstraintError(msg)


def _is_gap(cell: Any) -> bool:
    if isinstance(cell, (list, tuple, np.ndarray)):
        return False
    value = np.empty(1, dtype=object)
    value[0] = cell
    return bool(is_missing(value)[0])


def _row(at: int, cells: dict[str, Any], numbers: bool) -> tuple[Any, ...]:
    """One statement as a tuple of `Constraints.from_ids`."""
    word = cells.get("kind", "")
    kind = _WORDS.get("triplet" if word == "triplets" else word) if isinstance(word, str) else None
    links = links_said(word, list(cells.get("samples", ()))) if isinstance(word, str) else None
    if links is not None:
        kind = Kind.EITHER
    if kind is None or (kind is Kind.EITHER and links is None):
        known = [*list(_WORDS)[: Kind.EITHER], "must_link or cannot_link"]
        hint = did_you_mean(word, known, f"write one of {', '.join(known)}.")
        msg = f"from_frame: row {at} has the kind {word!r}, expected a kind of statement.\nHint: {hint}"
        raise ConstraintError(msg)
    wanted = {"samples"} if kind.is_group else {*"abc"[: kind.arity]}
    filled = {name for name in ("a", "b", "c", "samples") if name in cells}
    if filled != wanted:
        msg = (
            f"from_frame: row {at} ({word}) has values in {in_words(sorted(filled)) or 'no column of samples'}, "
            f"expected them in {in_words(sorted(wanted))}."
        )
        raise ConstraintError(msg)
    listed: list[Any] = list(cells["samples"]) if kind.is_group else [cells[name] for name in sorted(wanted)]
    if numbers:  # a column of numbers with gaps holds 7.0 for 7
        listed = [int(one) if isinstance(one, float) and one.is_integer() else one for one in listed]
    if kind is Kind.EITHER:
        listed = links_said(word, listed) or listed
    said: tuple[Any, ...] = (_NAMES[kind], listed) if kind.is_group else (_NAMES[kind], *listed)
    return (*said, cells["weight"]) if "weight" in cells else said
