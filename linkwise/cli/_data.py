"""A CSV file as samples: numbers in columns, perhaps a column of names; anything else is named and explained."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.cli._text import NUMBER, read_rows, read_text, shown
from linkwise.exceptions import LinkwiseError, LinkwiseWarning

__all__ = ["Table", "read_table"]

_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})


@dataclass(frozen=True, slots=True)
class Table:
    """Samples read from a file; ``ids`` are names where a column gives them, else row numbers from 0."""

    X: npt.NDArray[np.float64]
    ids: npt.NDArray[Any]
    columns: tuple[str, ...]
    has_names: bool


def read_table(path: str, *, id_column: str | None = None, drop: Sequence[str] = ()) -> Table:
    """Read numbers from a CSV file with a header.

    Parameters
    ----------
    path : str
        The file, or ``-`` for standard input.
    id_column : str, optional
        The column that names the samples.
    drop : sequence of str
        Columns to leave out.
    """
    name = "standard input" if path == "-" else path
    rows = read_rows(read_text(path), name)
    _, header = next(rows)
    header = [cell.strip() for cell in header]
    _check_header(name, header, id_column, drop)
    lines: list[int] = []
    cells: list[list[str]] = []
    for line, row in rows:
        if len(row) != len(header):
            msg = f"{name}, line {line} has {len(row)} values, but the header names {len(header)} columns."
            raise LinkwiseError(msg)
        lines.append(line)
        cells.append(row)
    if not cells:
        msg = f"{name} has a header but no rows."
        raise LinkwiseError(msg)
    kept = [i for i, column in enumerate(header) if column != id_column and column not in drop]
    if not kept:
        msg = f"{name} has no columns left to compare samples by."
        raise LinkwiseError(msg)
    X = _numbers(name, header, lines, cells, kept)
    columns = tuple(header[i] for i in kept)
    flat = [column for column, constant in zip(columns, (np.ptp(X, axis=0) == 0), strict=True) if constant]
    if flat and len(X) > 1:
        warnings.warn(f"same value in every row, so no help: {', '.join(flat[:5])}.", LinkwiseWarning, stacklevel=2)
    if id_column is None:
        return Table(X, np.arange(len(X)), columns, False)
    return Table(X, _ids(name, lines, [row[header.index(id_column)].strip() for row in cells]), columns, True)


def _check_header(name: str, header: list[str], id_column: str | None, drop: Sequence[str]) -> None:
    if all(NUMBER.fullmatch(cell) for cell in header):
        msg = f"{name} starts with numbers, expected a first line with column names.\nHint: add one, for example: a,b,c"
        raise LinkwiseError(msg)
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        msg = f"{name} names the column {shown(twice[0])} more than once."
        raise LinkwiseError(msg)
    for option, column in [("--id", id_column), *(("--drop", column) for column in drop)]:
        if column is not None and column not in header:
            msg = f"{option} {column}: {name} has no such column.\nHint: it has {', '.join(header[:20])}."
            raise LinkwiseError(msg)


def _numbers(
    name: str, header: list[str], lines: list[int], cells: list[list[str]], kept: list[int]
) -> npt.NDArray[np.float64]:
    """Convert the kept columns, or say what stands in the way: first words, then gaps, then sizes."""
    X = np.empty((len(cells), len(kept)))
    words: list[tuple[str, int, str]] = []
    gaps: list[tuple[str, int]] = []
    for place, i in enumerate(kept):
        wordy = False
        for r, row in enumerate(cells):
            value = row[i].strip()
            if NUMBER.fullmatch(value):
                X[r, place] = float(value)
            elif value.lower() in _MISSING:
                gaps.append((header[i], lines[r]))
            elif not wordy:
                wordy = True
                words.append((header[i], lines[r], value))
    if words:
        listed = "; ".join(f"{column} (line {line}: {shown(value)})" for column, line, value in words[:5])
        names = " ".join(f"--drop {column}" for column, _, _ in words[:5])
        msg = (
            f"{name}: {len(words)} column(s) are not numbers: {listed}.\n"
            f"Hint: name the samples with --id {words[0][0]}, or leave columns out: {names}"
        )
        raise LinkwiseError(msg)
    if gaps:
        column, line = gaps[0]
        msg = (
            f"{name}: {len(gaps)} value(s) are missing, the first in line {line}, column {column}.\n"
            "Hint: fill them in or remove these rows; linkwise does not guess."
        )
        raise LinkwiseError(msg)
    if not np.isfinite(X).all():
        r, place = np.argwhere(~np.isfinite(X))[0]
        msg = f"{name}, line {lines[r]}, column {header[kept[place]]}: the number is too large."
        raise LinkwiseError(msg)
    return X


def _ids(name: str, lines: list[int], ids: list[str]) -> npt.NDArray[Any]:
    seen: dict[str, int] = {}
    for value, line in zip(ids, lines, strict=True):
        if not value:
            msg = f"{name}, line {line}: the sample has no name."
            raise LinkwiseError(msg)
        if value in seen:
            msg = (
                f"{name}, line {line}: the name {shown(value)} stands in line {seen[value]} already; names must differ."
            )
            raise LinkwiseError(msg)
        seen[value] = line
    return np.array(ids)
