"""Reading text files that people made: encodings, line ends, and files that are not text at all."""

from __future__ import annotations

import csv
import io
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from linkwise.exceptions import LinkwiseError

__all__ = ["NUMBER", "read_rows", "read_text", "shown"]

# float() also takes "1_0", "nan" and digits of other scripts; a column of those is not a column of numbers
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)

_NOT_TEXT = (
    (b"PK\x03\x04", "is a spreadsheet or zip archive", "save it as CSV first."),
    (b"\x1f\x8b", "is compressed with gzip", "unpack it first: gunzip -k FILE"),
    (b"\x80", "looks like a pickle or joblib file, which can run code and is never read", "export the data as CSV."),
    (b"\xff\xfe", "is encoded as UTF-16", "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8 FILE"),
    (b"\xfe\xff", "is encoded as UTF-16", "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8 FILE"),
)


def shown(text: str, longest: int = 40) -> str:
    """Quote a value for a message, escaped and shortened."""
    return repr(text if len(text) <= longest else text[: longest - 1] + "…")


def read_text(path: str) -> str:
    """Read a whole UTF-8 text file (``-`` is standard input), with line ends made one."""
    raw = _read_bytes(path)
    name = "standard input" if path == "-" else path
    if not raw.strip():
        msg = f"{name} is empty."
        raise LinkwiseError(msg)
    for magic, what, hint in _NOT_TEXT:
        if raw.startswith(magic):
            msg = f"{name} {what}.\nHint: {hint}"
            raise LinkwiseError(msg)
    if b"\x00" in raw:
        msg = f"{name} holds a NUL byte at offset {raw.index(0)}, so it is no text file."
        raise LinkwiseError(msg)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as bad:
        msg = f"{name} is not UTF-8: byte {raw[bad.start]:#04x} at offset {bad.start}.\nHint: save it as UTF-8."
        raise LinkwiseError(msg) from bad
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read_bytes(path: str) -> bytes:
    if path == "-":
        if sys.stdin is None or sys.stdin.closed:
            msg = "standard input is closed.\nHint: name a file instead of `-`."
            raise LinkwiseError(msg)
        return sys.stdin.buffer.read()
    mode = Path(path).stat().st_mode
    if stat.S_ISDIR(mode):
        msg = f"{path} is a folder, expected a file."
        raise LinkwiseError(msg)
    if not stat.S_ISREG(mode):
        msg = f"{path} is a pipe or device, expected a file.\nHint: to read from a pipe, write `-` for standard input."
        raise LinkwiseError(msg)
    return Path(path).read_bytes()


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
