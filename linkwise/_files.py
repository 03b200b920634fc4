"""Files and JSON: reading text with clear errors, strict JSON, atomic writing, locks."""

from __future__ import annotations

import codecs
import json
import os
import re
import secrets
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from linkwise._messages import hint
from linkwise.exceptions import LinkwiseError

PARTIAL = ".partial"
_records: list[dict[str, None]] = []  # files written inside the blocks of `recording`, innermost last
_LARGE, _USUAL = 2**28, 100  # a file that unpacks to more than 256 MiB and a hundred times its size is not a table
_NOT_TEXT = (
    (b"PK\x03\x04", "is a spreadsheet or zip archive", "save it as CSV first."),
    (b"\xd0\xcf\x11\xe0", "is an old spreadsheet (.xls)", "save it as .xlsx or CSV first."),
    (
        b"SQLite format 3\x00",
        "is a project of `linkwise open`, or another database",
        "export files: linkwise open FILE",
    ),
    (b"\x80", "looks like a pickle or joblib file, which can run code and is never read", "export the data as CSV."),
    (b"\xff\xfe", "is encoded as UTF-16", "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8 FILE"),
    (b"\xfe\xff", "is encoded as UTF-16", "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8 FILE"),
)
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
ENCODINGS = {"": "UTF-8", "cp1252": "Windows-1252", "latin2": "Latin 2", "utf-16": "UTF-16"}  # what they are called
_UNUSED_1252 = frozenset(b"\x81\x8d\x8f\x90\x9d")  # bytes that Windows-1252 has no character for

# -- reading -----------------------------------------------------------------------------------------------------------


def require_file(path: str | Path) -> os.stat_result:
    """Refuse a folder, a pipe and a device; reading from a pipe might never end."""
    found = Path(path).stat()
    if stat.S_ISDIR(found.st_mode):
        msg = f"{path} is a folder, expected a file."
        raise LinkwiseError(msg)
    if not stat.S_ISREG(found.st_mode):
        msg = f"{path} is a pipe or device, expected a file.\nHint: to read from a pipe, write `-` for standard input."
        raise LinkwiseError(msg)
    return found


def read_bytes(path: str | Path) -> bytes:
    """Read a whole file; refuse one that changes meanwhile."""
    before = require_file(path)
    raw = Path(path).read_bytes()
    after = Path(path).stat()
    if (before.st_size, before.st_mtime_ns, before.st_ino) != (after.st_size, after.st_mtime_ns, after.st_ino):
        msg = f"{path} was changed while it was read.\nHint: read it again when the program that writes it is done."
        raise LinkwiseError(msg)
    return raw


def read_text_file(path: str | Path) -> str:
    r"""Read a whole UTF-8 text file, packed with gzip or not; line ends become ``\n``."""
    return decode(read_bytes(path), str(path))


def decode(raw: bytes, name: str, encoding: str | None = None, *, guess: bool = False) -> str:
    r"""Decode the bytes of a text file, with ``\n`` as line end; name the format of bytes that are not text.

    Without ``encoding`` they are UTF-8. With ``guess``, a table in UTF-16 or in Windows-1252, as spreadsheets write
    them, is read as well, and a warning says so.
    """
    if raw.startswith(b"\x1f\x8b"):
        raw = _unpacked(raw, name)
    if not raw.strip():
        msg = f"{name} is empty."
        raise LinkwiseError(msg)
    if encoding is not None:
        return _line_ends(_in_encoding(raw, name, encoding))
    if guess and raw.startswith(_UTF16):
        _warn(f"{name} is encoded as UTF-16, and was read as such.")
        return _line_ends(_in_encoding(raw, name, "utf-16"))
    for magic, what, advice in _NOT_TEXT:
        if raw.startswith(magic):
            msg = f"{name} {what}.\nHint: {advice}"
            raise LinkwiseError(msg)
    if b"\x00" in raw:
        msg = f"{name} holds a NUL byte at offset {raw.index(0)}, so it is not a text file."
        raise LinkwiseError(msg)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as bad:
        if guess and not _UNUSED_1252 & set(raw):
            return _line_ends(_western(raw, name))
        other = hint(command="give --encoding, such as --encoding latin2", python="give encoding=, such as 'latin2'")
        advice = f"save it as UTF-8, or {other}." if guess else "save it as UTF-8."
        msg = f"{name} is not UTF-8: byte {raw[bad.start]:#04x} at offset {bad.start}.\nHint: {advice}"
        raise LinkwiseError(msg) from bad
    return _line_ends(text)


def is_utf8(raw: bytes) -> bool:
    """Whether bytes are a text in UTF-8 with characters beyond ASCII, which others hardly ever are by chance."""
    if raw.isascii():
        return False
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def guess_encoding(raw: bytes) -> str | None:
    """Return the encoding of a table that is not UTF-8, as spreadsheets write them, "utf-16" or "cp1252"; else None."""
    if raw.startswith(b"\x1f\x8b"):
        raw = _unpacked(raw, "")
    if raw.startswith(_UTF16):
        return "utf-16"
    if b"\x00" in raw or any(raw.startswith(magic) for magic, _, _ in _NOT_TEXT):
        return None
    try:
        raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None if _UNUSED_1252 & set(raw) else "cp1252"
    return None


def _warn(message: str) -> None:
    from linkwise._validation import warn_user  # which loads NumPy

    warn_user(message)


def _line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _in_encoding(raw: bytes, name: str, encoding: str) -> str:
    """Decode bytes in an encoding that was given."""
    try:
        if not codecs.lookup(encoding)._is_text_encoding:  # such as rot13, base64 and zip
            raise LookupError  # noqa: TRY301
        return raw.decode(encoding).removeprefix("\ufeff")
    except (LookupError, ValueError) as bad:
        if isinstance(bad, UnicodeError):
            at = getattr(bad, "start", 0)
            msg = f"{name} is not in {encoding}: the bytes at offset {at} have no meaning there."
        else:
            msg = f"there is no encoding {encoding!r}.\nHint: utf-8, cp1252, latin1, latin2, utf-16 and so on."
        raise LinkwiseError(msg) from bad


def _western(raw: bytes, name: str) -> str:
    """Decode Windows-1252, and warn with the first word that depends on it."""
    text = raw.decode("cp1252")
    at = next(i for i, letter in enumerate(text) if letter > "\x7f")
    before, after = re.search(r"\w*\Z", text[max(at - 20, 0) : at]), re.match(r"\w*", text[at + 1 : at + 21])
    word = (before[0] if before else "") + text[at] + (after[0] if after else "")
    other = hint(command="--encoding NAME", python="encoding=")
    _warn(f"{name} is not UTF-8 and was read as Windows-1252, as in {word!r}; {other} reads another encoding.")
    return text


def visible(path: str | Path) -> str:
    """Write a path on one line for a message: invisible characters, line ends included, become their codes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(path))


def _unpacked(raw: bytes, name: str) -> bytes:
    """Unpack gzip, one member or several, up to a limit."""
    most = max(_LARGE, _USUAL * len(raw))
    parts, total = [], 0
    try:
        while raw:
            engine = zlib.decompressobj(wbits=31)
            parts.append(engine.decompress(raw, most - total + 1))
            total += len(parts[-1])
            if total > most:
                msg = f"{name} unpacks to more than {most // 2**20:,} MiB, expected a table. Nothing was read."
                raise LinkwiseError(msg)
            if not engine.eof:
                msg = f"{name} is packed with gzip, but its end is missing.\nHint: copy or download it again."
                raise LinkwiseError(msg)
            raw = engine.unused_data.lstrip(b"\x00")
    except zlib.error as bad:
        msg = f"{name} is packed with gzip, but damaged ({bad}).\nHint: copy or download it again."
        raise LinkwiseError(msg) from bad
    return b"".join(parts)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            msg = f"the key {key!r} appears twice"
            raise ValueError(msg)
        found[key] = value
    return found


def _no_constant(word: str) -> NoReturn:
    msg = f"{word} is not a JSON number"
    raise ValueError(msg)


def parse_json(text: str | bytes) -> Any:
    """Parse JSON strictly; a ValueError names repeated keys, NaN, half characters and deep nesting."""
    try:
        found = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
        if (b"\\u" if isinstance(text, bytes) else "\\u") in text:  # type: ignore[operator]
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        msg = "nested too deeply"
    except UnicodeEncodeError:
        msg = "half of a surrogate pair is not a character"
    else:
        return found
    raise ValueError(msg)


# -- writing -----------------------------------------------------------------------------------------------------------


@contextmanager
def recording() -> Iterator[dict[str, None]]:
    """Collect the names of files that are written inside the block, each once and in order."""
    written: dict[str, None] = {}
    _records.append(written)
    try:
        yield written
    finally:
        _records.pop()


def note_written(path: Path) -> None:
    """Note for `recording` that a file was written; unfinished files do not count."""
    if not is_partial(path):
        for written in _records:
            written[str(path)] = None


def is_partial(path: Path) -> bool:
    """Whether a file name is that of an unfinished file."""
    return PARTIAL in path.suffixes


def write_whole(path: Path, content: bytes | Iterable[bytes | memoryview]) -> None:
    """Write a file atomically: under another name in the same folder, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.parent / f".{path.name[:40]}.{secrets.token_hex(8)}{PARTIAL}"
    try:
        with beside.open("xb") as file:
            for part in (content,) if isinstance(content, bytes) else content:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException as failed:
        beside.unlink(missing_ok=True)
        if isinstance(failed, OSError) and failed.errno is not None:  # without a number it has no file name
            failed.filename = str(path)  # not the temporary name
        raise
    note_written(path)
    if sys.platform != "win32":  # the name itself must reach the disk, too
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


if sys.platform == "win32":

    def lock_file(handle: int) -> None:
        """Lock an open file, or raise OSError if another process has locked it; the lock ends with the process."""
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    @contextmanager
    def holding(folder: Path) -> Iterator[None]:
        """Wait for the lock of a folder, so that one process at a time changes its files."""
        import msvcrt

        with (folder / ".lock").open("ab") as file:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            yield

else:

    def lock_file(handle: int) -> None:
        """Lock an open file, or raise OSError if another process has locked it; the lock ends with the process."""
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @contextmanager
    def holding(folder: Path) -> Iterator[None]:
        """Wait for the lock of a folder, so that one process at a time changes its files."""
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
