"""A file of statements as constraints: CSV with the columns type, a, b, c, weight, or one JSON object per line."""

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

_KEYS = ("type", "a", "b", "c", "weight")
_KINDS = {"must_link": Kind.MUST_LINK, "cannot_link": Kind.CANNOT_LINK, "triplet": Kind.TRIPLET}


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
        words = ("must_link", "cannot_link", "triplet")
        lines = []
        for kind, items, weight in zip(
            said.kind.tolist()[:shown], said.items.tolist(), said.weight.tolist(), strict=False
        ):
            named = [item if said.ids is None else said.ids[item].item() for item in items[: Kind(kind).arity]]
            lines.append(repr((words[kind], *named, *([] if math.isinf(weight) else [weight]))))
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
        return (word, *(position[sample] for sample in self.samples), self.weight)


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


def _csv_lines(name: str, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    rows = ((line, cells) for line, cells in read_rows(text, name) if not cells[0].lstrip().startswith("#"))
    line, header = next(rows, (1, []))
    keys = [cell.strip().lower() for cell in header]
    if not {"type", "a", "b"} <= set(keys):
        msg = (
            f"{name}, line {line}: the header is {', '.join(keys)}, expected type,a,b,c,weight (c and weight optional)."
        )
        raise ConstraintError(msg)
    _check_keys(name, line, keys)
    for at, cells in rows:
        if len(cells) > len(keys):
            msg = f"{name}, line {at} has {len(cells)} values, but the header names {len(keys)} columns."
            raise ConstraintError(msg)
        yield at, {key: cell.strip() for key, cell in zip(keys, cells, strict=False) if cell.strip()}


def _json_lines(name: str, text: str) -> Iterator[tuple[int, dict[str, str]]]:
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
            if isinstance(value, (bool, list, dict, float)) and not (key == "weight" and isinstance(value, float)):
                msg = f"{name}, line {line}: {key} is {shown(json.dumps(value))}, expected text or a whole number."
                raise ConstraintError(msg)
        yield line, {key: str(value) for key, value in given.items() if value is not None}


def _check_keys(name: str, line: int, keys: list[str]) -> None:
    for key in keys:
        if key not in _KEYS or keys.count(key) > 1:
            what = "is not one of" if key not in _KEYS else "stands there twice;"
            msg = f"{name}, line {line}: {shown(key)} {what} {', '.join(_KEYS)}."
            raise ConstraintError(msg)


def _row(name: str, line: int, given: Mapping[str, str]) -> _Row:
    word = given.get("type", "").lower().replace("-", "_").replace(" ", "_")
    if word not in _KINDS:
        near = difflib.get_close_matches(word, _KINDS, n=1)
        hint = f"did you mean {near[0]}?" if near else "write must_link, cannot_link or triplet."
        msg = f"{name}, line {line}: the type is {shown(given.get('type', ''))}.\nHint: {hint}"
        raise ConstraintError(msg)
    kind = _KINDS[word]
    samples = tuple(given.get(key, "") for key in "abc")
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
