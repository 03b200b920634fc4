"""Errors about cells that are not numbers: their likely meaning, and the options that read them."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Sequence
from typing import NoReturn

from linkwise._messages import hint, many
from linkwise.exceptions import LinkwiseError
from linkwise.io._columns import Columns, Script
from linkwise.io._text import NUMBER, shown

_SHOWN = 5
_FEW = 3  # different odd cells up to which each is named
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_WRITTEN_OTHERWISE = ("comma", "thousands", "script")  # numbers all the same, so nothing needs to be left out
_SCRIPT = Script()

quoted = shlex.quote


def refuse_words(source: Columns, wordy: Sequence[tuple[str, int, list[str]]], *, named: bool) -> NoReturn:
    """Report columns that hold other values than numbers, and the options that read them.

    Parameters
    ----------
    source : Columns
        The table.
    wordy : sequence of (column, row, cells)
        Each column, the first row that is no number, and all its cells as text.
    named : bool
        Whether a column names the samples already.
    """
    listed = "; ".join(
        f"{column} ({source.unit} {source.place(row)}: {shown(cells[row])})" for column, row, cells in wordy[:_SHOWN]
    )
    more = f" and {len(wordy) - _SHOWN} more" if len(wordy) > _SHOWN else ""
    have = f"{many(len(wordy), 'column')} {'has' if len(wordy) == 1 else 'have'}"
    hints = "; ".join(_ways(wordy, named))
    msg = f"{source.name}: {have} cells that are not numbers: {listed}{more}.\nHint: {hints}."
    raise LinkwiseError(msg)


def _ways(wordy: Sequence[tuple[str, int, list[str]]], named: bool) -> list[str]:
    """Return options to type, the likeliest first; leaving columns out comes last."""
    like: dict[str, list[str]] = {}
    marks: list[str] = []
    examples: dict[str, str] = {}
    for column, _, cells in wordy:
        kind, odd = _kind(cells)
        like.setdefault(kind, []).append(column)
        examples.setdefault(kind, odd[0])
        if kind == "dirty":
            marks += [mark for mark in odd if mark not in marks]
    ways = []
    decimal = hint(command="`--decimal ,`", python=_python("decimal", ","))
    if "comma" in like:
        ways.append(f"these look like decimal commas: {decimal}")
    if "thousands" in like:
        word = examples["thousands"]
        plain = word.replace(",", "")
        ways.append(f"write {shown(word)} without commas ({plain}); if the comma is the decimal mark: {decimal}")
    if "script" in like:
        word = examples["script"]
        ways.append(f"write {shown(word)} in plain digits: {unicodedata.normalize('NFKC', word)}")
    if "infinite" in like:
        ways.append(f"an infinite value cannot be compared; to count it as missing: {_missing([examples['infinite']])}")
    if "dirty" in like:
        ways.append(f"correct the cell, or count it as missing: {_missing(marks[:_FEW])}")
    names = like.get("names", [])
    if names and not named:
        ways.append(f"if {names[0]} names the samples: {_option('id', names[:1])}")
    few = like.get("categories", [])
    if few:
        ways.append(f"if the words are categories: {_option('categories', few)}")
    texts = like.get("texts", []) + (names if named else names[1:])
    if texts or (names and not named):
        ways.append(f"to compare by the words of a text: {_option('text', (texts or names)[:1])}")
    rest = [column for kind, columns in like.items() if kind not in _WRITTEN_OTHERWISE for column in columns]
    if not rest:
        return ways
    end = "leave a column out" if len(rest) == 1 else "leave columns out"
    return [*ways, f"{'or ' if ways else ''}{end}: {_option('drop', rest)}"]


def _kind(cells: list[str]) -> tuple[str, list[str]]:
    """Return the likely meaning of a column, and its cells that are not numbers, each once."""
    odd = list(dict.fromkeys(cell for cell in cells if _SCRIPT.number(cell) is None))
    if all(map(_THOUSANDS.fullmatch, odd)):
        return "thousands", odd
    if all(map(_COMMA.fullmatch, odd)):
        return "comma", odd
    if all(map(_INFINITE.fullmatch, odd)):
        return "infinite", odd
    if all(NUMBER.fullmatch(unicodedata.normalize("NFKC", cell)) for cell in odd):
        return "script", odd
    there = [cell for cell in cells if cell]
    strange = set(odd)
    if 2 * sum(cell in strange for cell in there) < len(there):
        return "dirty", odd
    different = len(set(there))
    if different == len(cells) and max(len(cell.split()) for cell in there) <= _FEW:
        return "names", odd
    if different <= max(20, len(cells) // 2) and different < len(cells):
        return "categories", odd
    return "texts", odd


def _missing(marks: list[str]) -> str:
    shell = " ".join(f"--missing {quoted(mark)}" for mark in marks)
    return hint(command=f"{shell} --impute median", python=f"missing={marks!r}, impute='median'")


def _option(name: str, columns: list[str]) -> str:
    """One option for some columns, as it is typed."""
    some = columns[:_SHOWN]
    more = " ..." if len(columns) > _SHOWN else ""
    single = name in ("id", "text")
    python = _python(name, some[0] if single else some)
    return hint(command=" ".join(f"--{name} {quoted(column)}" for column in some) + more, python=python)


def _python(name: str, value: object) -> str:
    return f"{name}={value!r}"
