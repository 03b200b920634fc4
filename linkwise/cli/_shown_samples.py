"""Samples beside each other on a screen, and keys from a terminal, for verbs that ask about samples."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from linkwise._messages import many

if TYPE_CHECKING:
    from linkwise.io import Table

MOST_COLUMNS = 12
MOST_LETTERS = 500


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
        rows = [[shortened(column), *(shortened(told[i]) for i in items)] for column, told in self.beside.items()]
        if self.texts:
            lines = _beside(["", *called], rows) if rows else []
            for name, i in zip(called, items, strict=True):
                text = " / ".join(told[i] for told in self.texts.values())
                lines.append(wrapped(f"{name}: {shortened(text, MOST_LETTERS)}"))
            return lines
        chosen = self._telling(items)
        rows += [[shortened(self.table.columns[c]), *self._cells(items, c)] for c in chosen]
        left = len(self.table.columns) - len(chosen)
        return [*_beside(["", *called], rows), *([f"  (and {many(left, 'more column')})"] if left else [])]

    def _telling(self, items: list[int]) -> list[int]:
        """Columns in which the samples differ most for their spread; columns without a value of theirs come last."""
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
        return [int(column) for column in np.sort(np.argsort(-differs, kind="stable")[:MOST_COLUMNS])]

    def _cells(self, items: list[int], column: int) -> list[str]:
        """The values of samples as the file has them; for a missing one, the value used instead."""
        import math

        found = (float(self.values[i, column]) for i in items)
        return [f"missing ({self.table.fill_words(column)} used)" if math.isnan(v) else f"{v:g}" for v in found]


def _beside(head: list[str], rows: list[list[str]]) -> list[str]:
    """Columns of text beside each other."""
    cells = [head, *rows]
    width = [max(len(row[at]) for row in cells) for at in range(len(head))]
    return ["  ".join(cell.rjust(w) for cell, w in zip(row, width, strict=True)).rstrip() for row in cells]


def wrapped(text: str) -> str:
    """Break a long line between words, where a terminal would break it inside one."""
    import shutil
    import textwrap

    if sys.stdout is None or not sys.stdout.isatty():
        return text
    width = max(shutil.get_terminal_size().columns, 20)
    return "\n".join(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))


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
