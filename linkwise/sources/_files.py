"""Text files that people made: encodings, line ends, and files that are not text at all."""

from __future__ import annotations

import stat
from pathlib import Path

from linkwise.exceptions import LinkwiseError

__all__ = ["decode", "read_text_file"]

_NOT_TEXT = (
    (b"PK\x03\x04", "is a spreadsheet or zip archive", "save it as CSV first."),
    (b"\x1f\x8b", "is compressed with gzip", "unpack it first: gunzip -k FILE"),
    (b"\x80", "looks like a pickle or joblib file, which can run code and is never read", "export the data as CSV."),
    (b"\xff\xfe", "is encoded as UTF-16", "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8 FILE"),
    (b"\xfe\xff", "is encoded as UTF-16", "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8 FILE"),
)


def read_text_file(path: str | Path) -> str:
    """Read a whole UTF-8 text file, with line ends made one."""
    mode = Path(path).stat().st_mode
    if stat.S_ISDIR(mode):
        msg = f"{path} is a folder, expected a file."
        raise LinkwiseError(msg)
    if not stat.S_ISREG(mode):
        msg = f"{path} is a pipe or device, expected a file.\nHint: to read from a pipe, write `-` for standard input."
        raise LinkwiseError(msg)
    return decode(Path(path).read_bytes(), str(path))


def decode(raw: bytes, name: str) -> str:
    """Turn the bytes of a text file into text with one kind of line end, or say what they are instead."""
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
