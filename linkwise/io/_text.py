"""Text input: sources, quoting for messages, and rows delimited by commas, semicolons or tabs."""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linkwise._files import decode, is_utf8, read_bytes, visible
from linkwise._validation import warn_user
from linkwise.exceptions import LinkwiseError

# float() also takes "1_0", "nan" and digits of other scripts; a column of those is not a column of numbers
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


def shown(text: str, longest: int = 40) -> str:
    """Quote a value for a message, escaped and shortened; invisible characters are written as codes."""
    short = str(text) if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in repr(short))


def is_path(source: Any) -> bool:
    """Whether a source is the name of a file (or ``-``, standard input) rather than something in memory."""
    return isinstance(source, (str, Path))


def source_name(source: Any) -> str:
    """Return the name of a source for messages."""
    if is_path(source):
        return "standard input" if str(source) == "-" else visible(source)
    named = getattr(source, "name", None)
    return visible(named) if isinstance(named, str) else f"the {type(source).__name__}"


def named_file(name: str, raw: bytes) -> io.BytesIO:
    """Return bytes as an open file with a name, by which messages call it."""
    file = io.BytesIO(raw)
    file.name = name
    return file


def read_raw(source: Any) -> bytes:
    """Read all bytes of a file, of standard input (``-``) or of an open file."""
    if is_path(source) and str(source) != "-":
        return read_bytes(source)
    if is_path(source):
        if sys.stdin is None or sys.stdin.closed:
            msg = "standard input is closed.\nHint: name a file instead of `-`."
            raise LinkwiseError(msg)
        source = getattr(sys.stdin, "buffer", sys.stdin)
    if not hasattr(source, "read"):
        msg = f"a {type(source).__name__} is not a file.\nHint: give the name of a file, or an open one."
        raise LinkwiseError(msg)
    content = source.read()
    return content.encode("utf-8", errors="surrogatepass") if isinstance(content, str) else bytes(content)


def read_text(source: Any, encoding: str | None = None, *, unless_utf8: bool = False) -> str:
    """Read a whole text, with line ends made one; the first sheet of an .xlsx file as CSV, and so is a Parquet file.

    With ``unless_utf8``, a text that is UTF-8 beyond ASCII is read as that, not in ``encoding``, with a warning.
    """
    from linkwise.io._arrow_files import arrow_text, is_arrow
    from linkwise.io._spreadsheet import is_spreadsheet, sheet_text

    raw, name = read_raw(source), source_name(source)
    if is_arrow(raw):
        return arrow_text(raw, name)
    if is_spreadsheet(raw):
        return sheet_text(raw, name)
    if unless_utf8 and encoding is not None and is_utf8(raw) and _differs(encoding):
        warn_user(f"{name} is UTF-8 and was read as such, not as {encoding}.")
        encoding = None
    return decode(raw, name, encoding, guess=True)


def _differs(encoding: str) -> bool:
    """Whether a known encoding is another one than UTF-8."""
    try:
        return not codecs.lookup(encoding).name.startswith("utf-8")
    except LookupError:
        return False


def delimiter_of(text: str) -> str:
    """Return the delimiter: the most frequent of comma, semicolon and tab in the first line that is not a comment."""
    head = next((line for line in text.split("\n", 50) if line.strip() and not line.lstrip().startswith("#")), "")
    plain = re.sub(r'"[^"]*"', "", head)
    return max(",;\t", key=plain.count)  # of equals the first


def read_rows(text: str, name: str, delimiter: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Read delimited rows as (line number, cells); empty lines are skipped."""
    mark = delimiter_of(text) if delimiter is None else delimiter
    before = csv.field_size_limit(sys.maxsize if sys.maxsize < 2**31 else 2**31 - 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cells) and any(map(str.strip, cells)):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as bad:
        msg = f"{name}, line {line}: {bad}.\nHint: look for a quotation mark that is never closed."
        raise LinkwiseError(msg) from bad
    finally:
        csv.field_size_limit(before)
