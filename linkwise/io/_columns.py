"""Columns of a delimited text, a data frame or an array, read as numbers or words, with the place of every row."""

from __future__ import annotations

import copy
import fnmatch
import re
import shlex
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from linkwise._messages import and_more, hint, in_words, many
from linkwise._typing import FloatArray
from linkwise.exceptions import LinkwiseError
from linkwise.io._text import NUMBER, delimiter_of, read_rows, shown

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?")
# One group of three digits behind a mark, which may divide thousands or decimals, by the decimal mark of the text.
_UNCLEAR = {".": re.compile(r"[+-]?[0-9]{1,3},[0-9]{3}"), ",": re.compile(r"[+-]?[0-9]{1,3}\.[0-9]{3}")}
# Thousands that can be nothing else: with a decimal part, several groups, or marks that only divide thousands.
_GROUPED = {
    decimal: re.compile(
        rf"[+-]?[1-9][0-9]{{0,2}}(?:(?:{mark}[0-9]{{3}})+{end}|(?:{mark}[0-9]{{3}}){{2,}}|(?: [0-9]{{3}})+{end}"
        rf"|(?:['\u2019\u00a0\u202f][0-9]{{3}})+(?:{end})?)"
    )
    for decimal, mark, end in ((".", ",", r"\.[0-9]+"), (",", r"\.", ",[0-9]+"))
}
DATE = re.compile(r"\d{4}-\d\d?-\d\d?([T ][\d:.+Z-]*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}( [\d:]+)?")
WITH_UNIT = re.compile(r"[<>~]?\s*[+-]?\d+(?:[.,]\d+)?\s*[^\d\s,;:/-]{1,6}")
_DIVIDERS = re.compile("[ '\u2019\u00a0\u202f]")
_OF_NUMBERS = b"0123456789+-.eE \t"


class Script(NamedTuple):
    """Number format of a text: the decimal mark, and the words that mark a missing value."""

    decimal: str = "."
    missing: tuple[str, ...] = ()

    def number(self, cell: str) -> float | None:
        """The number in a cell without spaces around it, NaN for a missing one, None for anything else."""
        if cell.lower() in MISSING or cell in self.missing:
            return np.nan
        plain = cell if self.decimal == "." else "" if "." in cell else cell.replace(",", ".")
        if NUMBER.fullmatch(plain):
            return float(plain)
        if not _GROUPED[self.decimal].fullmatch(cell):
            return None
        whole, _, part = _DIVIDERS.sub("", cell).partition(self.decimal)
        return float(f"{whole.replace('.', '').replace(',', '')}.{part}")

    def blank(self, column: FloatArray) -> FloatArray:
        """Mark numbers that stand for a missing one, such as -999."""
        marks = [float(word) for word in self.missing if NUMBER.fullmatch(word)]
        return np.where(np.isin(column, marks), np.nan, column) if marks else column


PLAIN = Script()


def has_decimal_comma(cell: str) -> bool:
    """Whether a comma in a number can be the decimal mark only; in 1,234 it may divide thousands."""
    if COMMA.fullmatch(cell):
        return not _UNCLEAR["."].fullmatch(cell)
    return "," in cell and _GROUPED[","].fullmatch(cell) is not None and _GROUPED["."].fullmatch(cell) is None


class Columns(ABC):
    """Named columns of equal length, and how to call a row in a message."""

    name: str
    names: list[str]
    n_rows: int
    unit: str
    script: Script

    def place(self, row: int) -> int:
        """Return the line or row number to show in a message."""
        return row

    @abstractmethod
    def numbers(self, column: int) -> tuple[FloatArray, int]:
        """Return one column as numbers, NaN where missing; and the first row that is neither, or -1."""

    @abstractmethod
    def words(self, column: int) -> list[str]:
        """Return one column as text without surrounding spaces; "" where missing."""

    def where(self, row: int) -> str:
        """Return the place of a row for a message, as in ``samples.csv, line 7``."""
        return f"{self.name}, {self.unit} {self.place(row)}"

    def find(self, option: str, wanted: Sequence[str]) -> list[int]:
        """Return the positions of columns by name; messages refer to ``option``."""
        at = {column: i for i, column in enumerate(self.names)}
        for column in wanted:
            if column not in at:
                msg = (
                    f"{option} asks for the column {shown(column)}, which {self.name} does not have.\n"
                    f"Hint: it has {', '.join(map(str, self.names[:20]))}{', ...' if len(self.names) > 20 else ''}."
                )
                raise LinkwiseError(msg)
        return [at[column] for column in wanted]

    def expand(self, option: str, wanted: Sequence[str]) -> list[str]:
        """Return the columns that names, patterns such as ``id_*`` and lists such as ``a,b`` stand for, each once."""
        found: dict[str, None] = {}
        for one in wanted:
            parts = [one] if one in self.names or "," not in one else [part.strip() for part in one.split(",")]
            for part in parts:
                if part in self.names or not any(mark in part for mark in "*?["):
                    found |= dict.fromkeys([self.names[self.find(option, [part])[0]]])
                    continue
                fitting = [name for name in self.names if fnmatch.fnmatchcase(name, part)]
                if not fitting:
                    msg = (
                        f"{option} {shown(part)} fits no column of {self.name}.\n"
                        f"Hint: it has {', '.join(self.names[:20])}{', ...' if len(self.names) > 20 else ''}."
                    )
                    raise LinkwiseError(msg)
                found |= dict.fromkeys(fitting)
        return list(found)

    def _refuse_repeats(self) -> None:
        if len(set(self.names)) < len(self.names):
            twice = next(column for column in self.names if self.names.count(column) > 1)
            msg = f"{self.name} names the column {shown(twice)} more than once."
            raise LinkwiseError(msg)


def _numbers_in(cells: Iterable[str], count: int, script: Script) -> tuple[FloatArray, int]:
    """Read cell by cell, up to the first that is neither a number nor missing."""
    found = np.full(count, np.nan)
    for row, cell in enumerate(cells):
        value = script.number(cell)
        if value is None:
            return found, row
        found[row] = value
    return found, -1


class DelimitedColumns(Columns):
    """The columns of a CSV text with a header."""

    unit = "line"

    def __init__(self, text: str, name: str, delimiter: str | None = None, script: Script = PLAIN) -> None:
        self.name = name
        self.script = script
        self.delimiter = delimiter_of(text) if delimiter is None else delimiter
        rows = read_rows(text, name, self.delimiter)
        line, header = next(rows, (1, []))
        self.names = [cell.strip() for cell in header]
        if "" in self.names or not self.names:
            which = f"column {self.names.index('') + 1}" if self.names else "the table"
            msg = (
                f"{name}, line {line}: {which} has no name.\n"
                "Hint: write one into the first line; a column of row numbers can then be left out or name samples."
            )
            raise LinkwiseError(msg)
        if all(NUMBER.fullmatch(cell) for cell in self.names):
            msg = (
                f"{name} starts with numbers, expected a first line with column names.\n"
                "Hint: add one, for example: a,b,c"
            )
            raise LinkwiseError(msg)
        self._refuse_repeats()
        self._lines: list[int] = []
        cells: list[list[str]] = []
        width = len(header)
        for line, row in rows:
            if len(row) != width:
                msg = (
                    f"{name}, line {line} has {many(len(row), 'value')}, but the header names {many(width, 'column')}."
                )
                raise LinkwiseError(msg)
            self._lines.append(line)
            cells.append(row)
        self.n_rows = len(cells)
        if not cells:
            msg = f"{name} has a header but no rows."
            raise LinkwiseError(msg)
        self._columns = list(zip(*cells, strict=True))
        self._read: dict[int, tuple[FloatArray, int]] = {}

    def place(self, row: int) -> int:
        """The line of the file."""
        return self._lines[row]

    def numbers(self, column: int) -> tuple[FloatArray, int]:
        """Convert all at once where every character belongs to numbers, else cell by cell."""
        if column not in self._read:
            self._read[column] = self._convert(self._columns[column])
        found, odd = self._read[column]
        return found.copy(), odd

    def _convert(self, cells: tuple[str, ...]) -> tuple[FloatArray, int]:
        if self.script == PLAIN and not "".join(cells).encode().translate(None, _OF_NUMBERS):
            try:
                return np.fromiter(map(float, cells), dtype=np.float64, count=len(cells)), -1
            except ValueError:
                pass  # an empty cell, or marks of numbers that make none: look closely
        return _numbers_in(map(str.strip, cells), len(cells), self.script)

    def words(self, column: int) -> list[str]:
        """Cells as they stand."""
        return [cell.strip() for cell in self._columns[column]]

    def with_script(self, script: Script) -> DelimitedColumns:
        """The same cells, with numbers written in another way."""
        other = copy.copy(self)
        other.script, other._read = script, {}
        return other

    def comma_example(self, columns: Sequence[int]) -> str | None:
        """A number with a decimal comma, where commas must be decimal marks: no number of the columns has a point.

        Cells such as 1,234 alone do not decide, since the comma may divide thousands.
        """
        example = None
        for column in columns:
            cells, odd = self.words(column), self.numbers(column)[1]
            if any("." in cell and NUMBER.fullmatch(cell) for cell in cells):
                return None
            if odd >= 0 and example is None:
                example = next(filter(has_decimal_comma, cells), None)
        return example


class FrameColumns(Columns):
    """The columns of a pandas, polars or pyarrow table, seen through narwhals."""

    unit = "row"

    def __init__(self, frame: Any, name: str, script: Script = PLAIN) -> None:
        self.name = name
        self.script = script
        self._series = list(frame.iter_columns())
        self.names = [str(column) for column in frame.columns]
        self._refuse_repeats()
        self.n_rows = len(frame)
        if not self.n_rows:
            msg = f"{name} has no rows."
            raise LinkwiseError(msg)

    def numbers(self, column: int) -> tuple[FloatArray, int]:
        """Numbers and truth values as they are; text only where it reads as numbers."""
        series = self._series[column]
        if not (series.dtype.is_numeric() or str(series.dtype) == "Boolean"):
            if str(series.dtype) in ("String", "Object"):
                return _numbers_in(self.words(column), self.n_rows, self.script)
            return np.full(self.n_rows, np.nan), 0
        if not series.null_count():
            return self.script.blank(np.asarray(series.to_numpy()).astype(np.float64)), -1
        found = np.full(self.n_rows, np.nan)
        found[[not gone for gone in series.is_null().to_list()]] = [
            float(value) for value in series.drop_nulls().to_list()
        ]
        return self.script.blank(found), -1

    def words(self, column: int) -> list[str]:
        """Values as text."""
        series = self._series[column]
        gaps = series.is_null().to_list()
        return ["" if gone else str(value).strip() for value, gone in zip(series.to_list(), gaps, strict=True)]


class ArrayColumns(Columns):
    """The columns of a two-dimensional array of numbers, called 0, 1, 2, ... unless they have names."""

    unit = "row"

    def __init__(
        self, array: npt.NDArray[Any], name: str, names: Sequence[str] | None = None, script: Script = PLAIN
    ) -> None:
        self.name = name
        self.script = script
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            msg = f"{name} is an array of shape {array.shape} of {array.dtype}, expected a table of numbers."
            raise LinkwiseError(msg)
        self._array = array
        self.n_rows = array.shape[0]
        self.names = list(map(str, range(array.shape[1]) if names is None else names))
        if len(self.names) != array.shape[1] or not array.size:
            msg = (
                f"{name} has the shape {array.shape} and {len(self.names)} column names, "
                "expected a row or more and a name per column."
            )
            raise LinkwiseError(msg)
        self._refuse_repeats()

    def numbers(self, column: int) -> tuple[FloatArray, int]:
        """One column."""
        return self.script.blank(self._array[:, column].astype(np.float64)), -1

    def words(self, column: int) -> list[str]:
        """One column as text, such as numbers that name the samples."""
        return [str(value) for value in self._array[:, column].tolist()]


# -- cells that are not numbers ----------------------------------------------------------------------------------------

_SHOWN = 5
_FEW = 3  # different odd cells up to which each is named
_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)


def refuse_words(source: Columns, wordy: Sequence[tuple[str, int, list[str]]], *, named: bool) -> NoReturn:
    """Report columns that hold other values than numbers, and the options that read them.

    ``wordy`` has each column, the first row that is not a number, and all its cells as text; ``named`` says whether a
    column names the samples already.
    """
    listed = "; ".join(
        f"{column} ({source.unit} {source.place(row)}: {shown(cells[row])})" for column, row, cells in wordy[:_SHOWN]
    )
    have = f"{many(len(wordy), 'column')} {'has' if len(wordy) == 1 else 'have'}"
    hints = "; ".join(_ways(wordy, source.script, named))
    if len(wordy) > 1:
        hints += hint(command=f"; `linkwise look {shlex.quote(source.name)}` proposes the whole command", python="")
    msg = f"{source.name}: {have} cells that are not numbers: {listed}{and_more(_SHOWN, len(wordy))}.\nHint: {hints}."
    raise LinkwiseError(msg)


def _ways(wordy: Sequence[tuple[str, int, list[str]]], script: Script, named: bool) -> list[str]:
    """Return options to type, the likeliest first; only names and texts may be left out, and that comes last."""
    like: dict[str, list[str]] = {}
    marks: list[str] = []
    examples: dict[str, str] = {}
    for column, _, cells in wordy:
        kind, odd = kind_of(cells, script)
        like.setdefault(kind, []).append(column)
        examples.setdefault(kind, odd[0])
        if kind == "dirty":
            marks += [mark for mark in odd if mark not in marks]
    ways = []
    decimal = hint(command="`--decimal ,`", python="decimal=','")
    point = hint(command="`--decimal .`", python="decimal='.'")
    if "comma" in like:
        ways.append(f"these look like decimal commas: {decimal}")
    if "thousands" in like:
        word = examples["thousands"]
        mark, called, other = (",", "comma", decimal) if script.decimal == "." else (".", "point", point)
        plain = word.replace(mark, "")
        ways.append(f"write {shown(word)} without {called}s ({plain}); if the {called} is the decimal mark: {other}")
    if "units" in like:
        ways.append(f"write numbers such as {shown(examples['units'])} in {in_words(like['units'][:_SHOWN])} alone")
    if "dates" in like:
        ways.append(
            f"dates are not compared; leave them out: {_option('drop', like['dates'])}, or write numbers instead"
        )
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
    if texts:
        ways.append(f"if {in_words(texts[:_SHOWN])} shall not be compared by: {_option('drop', texts)}")
    return ways


def kind_of(cells: list[str], script: Script = PLAIN) -> tuple[str, list[str]]:
    """Return the likely meaning of a column, and its cells that are not numbers of the ``script``, each once."""
    odd = list(dict.fromkeys(cell for cell in cells if script.number(cell) is None))
    if all(map(_UNCLEAR[script.decimal].fullmatch, odd)):
        return "thousands", odd
    commas = [cell for cell in odd if COMMA.fullmatch(cell)]
    if 2 * len(commas) > len(odd):
        return "comma", commas  # the rest is dirt, which is named once numbers are read
    if all(map(_INFINITE.fullmatch, odd)):
        return "infinite", odd
    if all(NUMBER.fullmatch(unicodedata.normalize("NFKC", cell)) for cell in odd):
        return "script", odd
    there = [cell for cell in cells if cell]
    if all(DATE.fullmatch(cell) for cell in there):
        return "dates", odd
    if all(WITH_UNIT.fullmatch(cell) for cell in there):
        return "units", odd
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
    shell = " ".join(f"--missing {shlex.quote(mark)}" for mark in marks)
    return hint(command=f"{shell} --impute median", python=f"missing={marks!r}, impute='median'")


def _option(name: str, columns: list[str]) -> str:
    """One option for some columns, as it is typed."""
    some = columns[:_SHOWN]
    more = " ..." if len(columns) > _SHOWN else ""
    python = f"{name}={(some[0] if name in ('id', 'text') else some)!r}"
    if name == "categories" and len(columns) > _SHOWN:
        return hint(command="--categories auto", python="categories='auto'")
    return hint(command=typed_columns(name, some) + more, python=python)


def typed_columns(option: str, columns: Sequence[str]) -> str:
    """An option for some columns as one types it: a list divided by commas, unless a name has a comma itself."""
    if any("," in column for column in columns):
        return " ".join(f"--{option} {shlex.quote(column)}" for column in columns)
    return f"--{option} {shlex.quote(','.join(columns))}"
