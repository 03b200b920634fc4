"""Columns of a delimited text, a data frame or an array, read as numbers or words, with the place of every row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._messages import many
from linkwise._typing import FloatArray
from linkwise.exceptions import LinkwiseError
from linkwise.io._text import NUMBER, read_rows, shown

_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
_OF_NUMBERS = b"0123456789+-.eE \t"


class Script(NamedTuple):
    """Number format of a text: the decimal mark, and the words that mark a missing value."""

    decimal: str = "."
    missing: tuple[str, ...] = ()

    def number(self, cell: str) -> float | None:
        """The number in a cell without spaces around it, NaN for a missing one, None for anything else."""
        if cell.lower() in _MISSING or cell in self.missing:
            return np.nan
        if self.decimal != ".":
            cell = "" if "." in cell else cell.replace(self.decimal, ".")
        return float(cell) if NUMBER.fullmatch(cell) else None

    def blank(self, column: FloatArray) -> FloatArray:
        """Mark numbers that stand for a missing one, such as -999."""
        marks = [value for value in map(self.number_of_mark, self.missing) if value is not None]
        return np.where(np.isin(column, marks), np.nan, column) if marks else column

    def number_of_mark(self, word: str) -> float | None:
        """A word for missing as a number, if it is one."""
        return float(word) if NUMBER.fullmatch(word) else None


PLAIN = Script()


class Columns(ABC):
    """Named columns of equal length, and how to call a row in a message."""

    name: str
    names: list[str]
    n_rows: int
    unit: str

    @abstractmethod
    def place(self, row: int) -> int:
        """Return the line or row number to show in a message."""

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
        self._script = script
        rows = read_rows(text, name, delimiter)
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
        if self._script == PLAIN and not "".join(cells).encode().translate(None, _OF_NUMBERS):
            try:
                return np.fromiter(map(float, cells), dtype=np.float64, count=len(cells)), -1
            except ValueError:
                pass  # an empty cell, or marks of numbers that make none: look closely
        return _numbers_in(map(str.strip, cells), len(cells), self._script)

    def words(self, column: int) -> list[str]:
        """Cells as they stand."""
        return [cell.strip() for cell in self._columns[column]]


class FrameColumns(Columns):
    """The columns of a pandas, polars or pyarrow table, seen through narwhals."""

    unit = "row"

    def __init__(self, frame: Any, name: str, script: Script = PLAIN) -> None:
        self.name = name
        self._script = script
        self._series = list(frame.iter_columns())
        self.names = [str(column) for column in frame.columns]
        self._refuse_repeats()
        self.n_rows = len(frame)
        if not self.n_rows:
            msg = f"{name} has no rows."
            raise LinkwiseError(msg)

    def place(self, row: int) -> int:
        """The number of the row, from 0."""
        return row

    def numbers(self, column: int) -> tuple[FloatArray, int]:
        """Numbers and truth values as they are; text only where it reads as numbers."""
        series = self._series[column]
        if not (series.dtype.is_numeric() or str(series.dtype) == "Boolean"):
            return self._read_words(column) if str(series.dtype) in ("String", "Object") else (self._nothing(), 0)
        if not series.null_count():
            return self._script.blank(np.asarray(series.to_numpy()).astype(np.float64)), -1
        found = self._nothing()
        found[[not gone for gone in series.is_null().to_list()]] = [
            float(value) for value in series.drop_nulls().to_list()
        ]
        return self._script.blank(found), -1

    def _nothing(self) -> FloatArray:
        return np.full(self.n_rows, np.nan)

    def _read_words(self, column: int) -> tuple[FloatArray, int]:
        return _numbers_in(self.words(column), self.n_rows, self._script)

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
        self._script = script
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

    def place(self, row: int) -> int:
        """The number of the row, from 0."""
        return row

    def numbers(self, column: int) -> tuple[FloatArray, int]:
        """One column."""
        return self._script.blank(self._array[:, column].astype(np.float64)), -1

    def words(self, column: int) -> list[str]:
        """One column as text, such as numbers that name the samples."""
        return [str(value) for value in self._array[:, column].tolist()]
