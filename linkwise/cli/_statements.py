"""A file of statements as constraints: CSV with the columns type, a, b, c, weight, or one JSON object per line.

Groups name their samples in one cell, divided by semicolons (CSV column ``samples``), or as a list (JSON).
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.cli._text import NUMBER, read_rows, read_text, shown
from linkwise.constraints import Constraints, Kind
from linkwise.exceptions import ConstraintError

__all__ = ["Statements", "read_statements"]

_KEYS = ("type", "a", "b", "c", "samples", "weight")
_KINDS = {"triplet" if kind is Kind.TRIPLET else kind.word: kind for kind in Kind}


@dataclass(frozen=True, slots=True)
class Statements:
    """Constraints, and the line of the file each came from (by ``constraints.row``)."""

    constraints: Constraints
    lines: tuple[int, ...]

    def word(self, statement: int) -> str:
        """Word one statement with its line number."""
        constraints = self.constraints
        words = constraints.describe(statement).split(" ", 1)[1]
        return f"line {self.lines[int(constraints.row[statement])]}: {words}"

    def as_python(self, shown: int = 200) -> list[str]:
        """Word the statements as the tuples `Constraints.from_ids` takes; the last entry says what was left out."""
        said = self.constraints
        words = tuple(_KINDS)
        group = {int(s): g for g, s in enumerate(said.groups.statement)}
        lines = []
        for statement, (kind, items, weight) in enumerate(
            zip(said.kind.tolist()[:shown], said.items.tolist(), said.weight.tolist(), strict=False)
        ):
            in_group = Kind(kind).is_group
            members = said.groups.of(group[statement]).tolist() if in_group else items[: Kind(kind).arity]
            named = [item if said.ids is None else said.ids[item].item() for item in members]
            given = [named] if in_group else named
            lines.append(repr((words[kind], *given, *([] if math.isinf(weight) else [weight]))))
        left_out = said.n_statements - len(lines)
        return [*lines, f"# ... and {left_out:,} more"] if left_out else lines


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    kind: Kind
    samples: tuple[str, ...]
    weight: float

    def as_tuple(self, position: Mapping[str, Any]) -> tuple[Any, ...]:
        word = "triplet" if self.kind is Kind.TRIPLET else self.kind.word
        named = [position[sample] for sample in self.samples]
        return (word, *([named] if self.kind.is_group else named), self.weight)


def read_statements(path: str, ids: npt.NDArray[Any] | None) -> Statements:
    """Read statements about samples called ``ids``; without ``ids``, the samples are those the file names.

    Parameters
    ----------
    path : str
        The file, or ``-`` for standard input.
    ids : ndarray or None
        Names (text) or row numbers of the samples.
    """
    name = "standard input" if path == "-" else path
    text = read_text(path)
    as_json = path.lower().endswith((".jsonl", ".ndjson", ".json")) or text.lstrip().startswith("{")
    rows = [_row(name, line, given) for line, given in (_json_lines if as_json else _csv_lines)(name, text)]
    if ids is None:
        ids = np.array(list(dict.fromkeys(sample for row in rows for sample in row.samples)), dtype=str)
    called = {str(value): value for value in ids.tolist()}
    unknown = [(row.line, sample) for row in rows for sample in row.samples if sample not in called]
    if unknown:
        raise ConstraintError(_unknown(name, unknown, ids))
    statements = Constraints.from_ids(ids, [row.as_tuple(called) for row in rows])
    return Statements(statements, tuple(row.line for row in rows))


def _csv_lines(name: str, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = ((line, cells) for line, cells in read_rows(text, name) if not cells[0].lstrip().startswith("#"))
    line, header = next(rows, (1, []))
    keys = [cell.strip().lower() for cell in header]
    if "type" not in keys or not ({"a", "b"} <= set(keys) or "samples" in keys):
        msg = (
            f"{name}, line {line}: the header is {', '.join(keys)}, expected type,a,b,c,weight (c, weight optional).\n"
            "Hint: groups such as apart name their samples in a column `samples`, divided by semicolons."
        )
        raise ConstraintError(msg)
    _check_keys(name, line, keys)
    for at, cells in rows:
        if len(cells) > len(keys):
            msg = f"{name}, line {at} has {len(cells)} values, but the header names {len(keys)} columns."
            raise ConstraintError(msg)
        given: dict[str, Any] = {key: cell.strip() for key, cell in zip(keys, cells, strict=False) if cell.strip()}
        if "samples" in given:
            given["samples"] = [part.strip() for part in given["samples"].split(";") if part.strip()]
        yield at, given


def _json_lines(name: str, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            msg = "a key stands there twice"
            raise ValueError(msg)
        return dict(pairs)

    def no_constant(word: str) -> None:
        msg = f"{word} is not a JSON number"
        raise ValueError(msg)

    for line, raw in enumerate(text.split("\n"), start=1):
        if not raw.strip():
            continue
        try:
            given = json.loads(raw, object_pairs_hook=unique, parse_constant=no_constant)
        except (ValueError, RecursionError) as bad:
            why = "nested too deeply" if isinstance(bad, RecursionError) else str(bad)
            msg = f"{name}, line {line} is not one JSON object: {why}."
            raise ConstraintError(msg) from bad
        if not isinstance(given, dict):
            msg = f'{name}, line {line}: expected an object such as {{"type": "must_link", "a": "x", "b": "y"}}.'
            raise ConstraintError(msg)
        _check_keys(name, line, list(given))
        for key, value in given.items():
            listed = value if key == "samples" and isinstance(value, list) else [value]
            if key == "samples" and not isinstance(value, list):
                msg = f"{name}, line {line}: samples is {shown(json.dumps(value))}, expected a list of samples."
                raise ConstraintError(msg)
            if any(isinstance(v, (bool, list, dict, float, type(None))) for v in listed) and not (
                value is None or (key == "weight" and isinstance(value, float))
            ):
                msg = f"{name}, line {line}: {key} is {shown(json.dumps(value))}, expected text or a whole number."
                raise ConstraintError(msg)
        yield (
            line,
            {
                key: [str(v) for v in value] if isinstance(value, list) else str(value)
                for key, value in given.items()
                if value is not None
            },
        )


def _check_keys(name: str, line: int, keys: list[str]) -> None:
    for key in keys:
        if key not in _KEYS or keys.count(key) > 1:
            what = "is not one of" if key not in _KEYS else "stands there twice;"
            msg = f"{name}, line {line}: {shown(key)} {what} {', '.join(_KEYS)}."
            raise ConstraintError(msg)


def _row(name: str, line: int, given: Mapping[str, Any]) -> _Row:
    word = given.get("type", "").lower().replace("-", "_").replace(" ", "_")
    if word not in _KINDS:
        near = difflib.get_close_matches(word, _KINDS, n=1)
        hint = f"did you mean {near[0]}?" if near else "write must_link, cannot_link, triplet, together or apart."
        msg = f"{name}, line {line}: the type is {shown(given.get('type', ''))}.\nHint: {hint}"
        raise ConstraintError(msg)
    kind = _KINDS[word]
    if kind.is_group:
        return _Row(line, kind, _members(name, line, word, given), _weight(name, line, given.get("weight", "")))
    samples = tuple(given.get(key, "") for key in "abc")
    if "samples" in given:
        msg = f"{name}, line {line}: a {word} names its samples in {', '.join('abc'[: kind.arity])}, not in samples."
        raise ConstraintError(msg)
    used, unused = samples[: kind.arity], samples[kind.arity :]
    if "" in used or any(unused):
        msg = f"{name}, line {line}: a {word} names {kind.arity} samples ({', '.join('abc'[: kind.arity])})."
        raise ConstraintError(msg)
    if (kind is Kind.CANNOT_LINK and used[0] == used[1]) or (kind is Kind.TRIPLET and used[2] in used[:2]):
        msg = (
            f"{name}, line {line}: {word}({', '.join(used)}) can never hold, since a sample is never apart from itself."
        )
        raise ConstraintError(msg)
    return _Row(line, kind, used, _weight(name, line, given.get("weight", "")))


def _members(name: str, line: int, word: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    members = tuple(given.get("samples", ()))
    if any(key in given for key in "abc") or len(members) < 2:
        msg = (
            f"{name}, line {line}: {word} names two samples or more, in `samples`.\n"
            'Hint: write {"type": "apart", "samples": ["x", "y", "z"]}, or in CSV a column samples with x;y;z.'
        )
        raise ConstraintError(msg)
    if len(set(members)) < len(members):
        twice = next(sample for sample in members if members.count(sample) > 1)
        msg = f"{name}, line {line}: {word} names {shown(twice)} twice."
        raise ConstraintError(msg)
    return members


def _weight(name: str, line: int, text: str) -> float:
    if not text:
        return math.inf
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not (value > 0 and math.isfinite(value)):
        msg = f"{name}, line {line}: the weight is {shown(text)}, expected a number above 0, or nothing (hard)."
        raise ConstraintError(msg)
    return value


def _unknown(name: str, unknown: list[tuple[int, str]], ids: npt.NDArray[Any]) -> str:
    names = [str(value) for value in ids[:100_000].tolist()]
    listed = ", ".join(f"{shown(sample)} (line {line})" for line, sample in unknown[:5])
    more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
    near = difflib.get_close_matches(unknown[0][1], names, n=1)
    if ids.dtype.kind in "iu":
        hint = f"without --id, samples are row numbers 0 to {len(ids) - 1}; give --id COLUMN to use names."
        if any(sample == str(len(ids)) for _, sample in unknown):
            hint += " If your file counts from 1, subtract 1."
    else:
        hint = f"did you mean {near[0]!r}?" if near else "names are compared exactly, including case."
    return f"{name} names samples that are not in the data: {listed}{more}.\nHint: {hint}"
