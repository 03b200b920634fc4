"""Samples beside each other on a screen, and keys from a terminal, for verbs that ask about samples."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from linkwise._messages import many

if TYPE_CHECKING:
    from linkwise.io import Table

MOST_COLUMNS = 12
MOST_LETTERS = 500
_FAR = 0.5  # spreads of a column from which on a difference is marked


class ShownSamples:
    """Samples of a table as lines of text, in the columns that tell them apart best.

    ``texts`` are shown in place of the columns that are compared, ``beside`` above them.
    """

    def __init__(
        self, table: Table, texts: dict[str, list[str]] | None = None, beside: dict[str, list[str]] | None = None
    ) -> None:
        self.table, self.values = table, table.values
        self.texts, self.beside = texts or {}, beside or {}

    def lines(self, items: list[int], called: list[str]) -> list[str]:
        """Show samples beside each other, under the names that they are ``called``."""
        rows = []
        for column, told in self.beside.items():
            cells = [shortened(told[i] or "missing") for i in items]
            rows.append(_Row(shortened(column), cells, len(set(cells)) > 1))
        if self.texts:
            lines = _beside(called, rows) if rows else []
            for name, i in zip(called, items, strict=True):
                text = " / ".join(told[i] for told in self.texts.values())
                lines.append(wrapped(f"{name}: {shortened(text, MOST_LETTERS)}"))
            return lines
        chosen = self._telling(items)
        rows += [_Row(shortened(self.table.columns[c]), self._cells(items, c), far >= _FAR) for c, far in chosen]
        left = len(self.table.columns) - len(chosen)
        return [*_beside(called, rows), *([f"  (and {many(left, 'more column')})"] if left else [])]

    def _telling(self, items: list[int]) -> list[tuple[int, float]]:
        """Columns in which the samples differ most for their spread, and how far, in spreads; the farthest first.

        Columns without a value of theirs come last.
        """
        import numpy as np

        if isinstance(self.values, np.ndarray):
            rows, known = self.values[items], ~np.isnan(self.values)
            center = np.where(known, self.values, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
            away = np.where(known, self.values - center, 0.0)
            spread = np.sqrt((away**2).sum(axis=0) / np.maximum(known.sum(axis=0), 1))
        else:
            rows, spread = np.asarray(self.values[items].todense()), np.ones(self.values.shape[1])
        there = ~np.isnan(rows)
        most = np.where(there, rows, -np.inf).max(axis=0) - np.where(there, rows, np.inf).min(axis=0)
        differs = np.where(there.any(axis=0), most / np.where(spread > 0, spread, 1.0), -1.0)
        first = np.argsort(-differs, kind="stable")[:MOST_COLUMNS]
        return [(int(column), float(differs[column])) for column in first]

    def _cells(self, items: list[int], column: int) -> list[str]:
        """The values of samples as the file has them; for a missing one, the value used instead."""
        import math

        found = (float(self.values[i, column]) for i in items)
        return [f"missing ({self.table.fill_words(column)} used)" if math.isnan(v) else f"{v:g}" for v in found]


class _Row(NamedTuple):
    """The values of samples in one column, and whether they differ much in it."""

    column: str
    cells: list[str]
    differs: bool


def _beside(called: list[str], rows: list[_Row]) -> list[str]:
    """Columns of text beside each other, or below each other where the screen is too narrow; * marks differences."""
    cells = [["", *called], *([row.column, *row.cells] for row in rows)]
    marks = [" ", *("*" if row.differs else " " for row in rows)]
    width = [max(len(row[at]) for row in cells) for at in range(len(called) + 1)]
    room = _columns()
    if room and sum(width) + 2 * len(called) + 2 > room:
        lines = []
        for row, mark in zip(rows, marks[1:], strict=True):
            lines.append(_bold(f"{mark} {row.column}", row.differs))
            lines += [wrapped(f"    {name}: {cell}", "      ") for name, cell in zip(called, row.cells, strict=True)]
        return lines
    found = []
    for line_cells, mark in zip(cells, marks, strict=True):
        line = "  ".join(cell.rjust(w) for cell, w in zip(line_cells, width, strict=True)).rstrip()
        found.append(_bold(f"{mark} {line}".rstrip(), mark == "*"))
    return found


def _bold(line: str, strong: bool) -> str:
    """A line in bold on a terminal, unless NO_COLOR asks for plain text."""
    plain = not strong or not _columns() or os.environ.get("NO_COLOR")
    return line if plain else click.style(line, bold=True)


def _columns() -> int:
    """How many letters a line of the terminal holds; 0 where the output is not a terminal."""
    import shutil

    if sys.stdout is None or not sys.stdout.isatty():
        return 0
    return max(shutil.get_terminal_size().columns, 20)


def wrapped(text: str, indent: str = "") -> str:
    """Break long lines between words, where a terminal would break them inside one; ``indent`` the broken ones."""
    import textwrap

    width = _columns()
    if not width:
        return text
    options = {"subsequent_indent": indent, "break_long_words": False, "break_on_hyphens": False}
    return "\n".join("\n".join(textwrap.wrap(line, width, **options)) for line in text.split("\n"))  # type: ignore[arg-type]


def shortened(text: str, longest: int = 24) -> str:
    """Shorten a text, and show what cannot be printed as question marks."""
    plain = "".join(c if c.isprintable() else "?" for c in text)
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def read_key() -> str | None:
    """Wait for one key; None for the end of input or Escape, b for Backspace."""
    try:
        key = click.getchar()
    except (EOFError, OSError):
        return None
    return None if key in ("\x04", "\x1b") else {"\x7f": "b", "\x08": "b", "\r": "?", "\n": "?"}.get(key, key)
