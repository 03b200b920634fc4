"""Files as people keep them: read with words for what is none, written whole or not at all, held by one process."""

from __future__ import annotations

import os
import secrets
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from linkwise.exceptions import LinkwiseError

PARTIAL = ".partial"
_records: list[dict[str, None]] = []  # what was written inside the blocks of `recording`, innermost last
_LARGE, _USUAL = 2**28, 100  # what unpacks to more than 256 MiB and a hundred times its size is no table
_NOT_TEXT = (
    (b"PK\x03\x04", "is a spreadsheet or zip archive", "save it as CSV first."),
    (b"\x80", "looks like a pickle or joblib file, which can run code and is never read", "export the data as CSV."),
    (b"\xff\xfe", "is encoded as UTF-16", "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8 FILE"),
    (b"\xfe\xff", "is encoded as UTF-16", "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8 FILE"),
)

# -- reading -----------------------------------------------------------------------------------------------------------


def require_file(path: str | Path) -> os.stat_result:
    """Refuse a folder, and a pipe or device, which might be waited for without end."""
    found = Path(path).stat()
    if stat.S_ISDIR(found.st_mode):
        msg = f"{path} is a folder, expected a file."
        raise LinkwiseError(msg)
    if not stat.S_ISREG(found.st_mode):
        msg = f"{path} is a pipe or device, expected a file.\nHint: to read from a pipe, write `-` for standard input."
        raise LinkwiseError(msg)
    return found


def read_bytes(path: str | Path) -> bytes:
    """Read a whole file; one that changes meanwhile is refused."""
    before = require_file(path)
    raw = Path(path).read_bytes()
    after = Path(path).stat()
    if (before.st_size, before.st_mtime_ns, before.st_ino) != (after.st_size, after.st_mtime_ns, after.st_ino):
        msg = f"{path} was changed while it was read.\nHint: read it again when whatever writes to it is done."
        raise LinkwiseError(msg)
    return raw


def read_text_file(path: str | Path) -> str:
    """Read a whole UTF-8 text file, packed with gzip or not, with line ends made one."""
    return decode(read_bytes(path), str(path))


def decode(raw: bytes, name: str) -> str:
    """Turn the bytes of a text file into text with one kind of line end, or say what they are instead."""
    if raw.startswith(b"\x1f\x8b"):
        raw = _unpacked(raw, name)
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


def visible(path: str | Path) -> str:
    """A path on one line for a message: what cannot be seen, line ends included, is written as its code."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(path))


def _unpacked(raw: bytes, name: str) -> bytes:
    """Unpack gzip, one member or several, but never without end."""
    most = max(_LARGE, _USUAL * len(raw))
    parts, total = [], 0
    try:
        while raw:
            engine = zlib.decompressobj(wbits=31)
            parts.append(engine.decompress(raw, most - total + 1))
            total += len(parts[-1])
            if total > most:
                msg = (
                    f"{name} unpacks to more than {most // 2**20:,} MiB, which no packed table does; nothing was read."
                )
                raise LinkwiseError(msg)
            if not engine.eof:
                msg = f"{name} is packed with gzip, but its end is missing.\nHint: copy or download it again."
                raise LinkwiseError(msg)
            raw = engine.unused_data.lstrip(b"\x00")
    except zlib.error as bad:
        msg = f"{name} is packed with gzip, but damaged ({bad}).\nHint: copy or download it again."
        raise LinkwiseError(msg) from bad
    return b"".join(parts)


# -- writing -----------------------------------------------------------------------------------------------------------


@contextmanager
def recording() -> Iterator[dict[str, None]]:
    """Collect the names of files that take their places inside the block, each once and in order."""
    written: dict[str, None] = {}
    _records.append(written)
    try:
        yield written
    finally:
        _records.pop()


def note_written(path: Path) -> None:
    """Note for `recording` that a file is in its place; parts of one that is not finished do not count."""
    if not is_partial(path):
        for written in _records:
            written[str(path)] = None


def is_partial(path: Path) -> bool:
    """Whether a file is by its name one that is being written."""
    return PARTIAL in path.suffixes


def write_whole(path: Path, content: bytes | Iterable[bytes | memoryview]) -> None:
    """Write a file so that it appears whole or not at all: beside its place, then moved there."""
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
        if isinstance(failed, OSError) and failed.errno is not None:  # with no number, words are all there is
            failed.filename = str(path)  # not the name it had for a moment
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
        """Take hold of an open file, or raise OSError if another process has it; a dead one holds nothing."""
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    @contextmanager
    def holding(folder: Path) -> Iterator[None]:
        """Let one process at a time change what a folder holds; waits for its turn."""
        import msvcrt

        with (folder / ".lock").open("ab") as file:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            yield

else:

    def lock_file(handle: int) -> None:
        """Take hold of an open file, or raise OSError if another process has it; a dead one holds nothing."""
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @contextmanager
    def holding(folder: Path) -> Iterator[None]:
        """Let one process at a time change what a folder holds; waits for its turn."""
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
