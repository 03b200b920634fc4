"""Reading text files that people made: encodings, line ends, and files that are not text at all."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator

from linkwise.exceptions import LinkwiseError

__all__ = ["NUMBER", "read_rows", "read_text", "shown"]

# float() also takes "1_0", "nan" and digits of other scripts; a column of those is not a column of numbers
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


def shown(text: str, longest: int = 40) -> str:
    """Quote a value for a message, escaped and shortened."""
    return repr(text if len(text) <= longest else text[: longest - 1] + "…")


def read_text(path: str) -> str:
    """Read a whole UTF-8 text file (``-`` is standard input), with line ends made one."""
    from linkwise.sources._files import decode, read_text_file

    if path != "-":
        return read_text_file(path)
    if sys.stdin is None or sys.stdin.closed:
        msg = "standard input is closed.\nHint: name a file instead of `-`."
        raise LinkwiseError(msg)
    return decode(sys.stdin.buffer.read(), "standard input")


def read_rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Read comma-, semicolon- or tab-separated rows as (line number, cells); empty lines are passed over."""
    head = text.split("\n", 1)[0]
    delimiter = next((mark for mark in ",;\t" if mark in head), ",")
    before = csv.field_size_limit(sys.maxsize if sys.maxsize < 2**31 else 2**31 - 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as bad:
        msg = f"{name}, line {line}: {bad}.\nHint: look for a quotation mark that is never closed."
        raise LinkwiseError(msg) from bad
    finally:
        csv.field_size_limit(before)
