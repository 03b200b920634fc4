"""Files that wait to become a project: under made-up names in a private folder, a few of them at a time."""

from __future__ import annotations

import errno
import re
import secrets
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

from linkwise.app.server._gate import MOST_UPLOAD, Refused

PROJECT = b"SQLite format 3\x00"
ENDING = ".lw"
MOST_UPLOADS = 8


class Upload(NamedTuple):
    """A file, what people see as its name, and the project to be made of it, if that is a choice already."""

    name: str
    file: Path
    project: Path | None


class Uploads:
    """The files that pages have sent, and those that were named in the terminal."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="linkwise-"))
        self._kept: OrderedDict[str, Upload] = OrderedDict()

    def fresh(self) -> Path:
        """Return a name for a new file."""
        return self.folder / secrets.token_hex(16)

    def keep(self, name: str, file: Path, project: Path | None = None) -> str:
        """Keep a file, and let go of the oldest where there are too many; return the word by which a page names it."""
        key = secrets.token_hex(12)
        self._kept[key] = Upload(name, file, project)
        while len(self._kept) > MOST_UPLOADS:
            self.drop(next(iter(self._kept)))
        return key

    def drop(self, key: str) -> None:
        """Let go of a file; one that was named in the terminal is its owner's and stays."""
        found = self._kept.pop(key, None)
        if found is not None and found.project is None:
            found.file.unlink(missing_ok=True)

    def find(self, key: Any) -> Upload:
        """Return a file."""
        found = self._kept.get(key) if isinstance(key, str) else None
        if found is None:
            raise Refused(422, "upload", "This file is not here any more.", "Choose it again.")
        return found

    def close(self) -> None:
        """Remove all that was sent."""
        shutil.rmtree(self.folder, ignore_errors=True)


async def write_parts(file: Path, shown: str, parts: AsyncIterator[bytes]) -> bytes:
    """Write an upload, and return its first bytes."""
    start, got = b"", 0
    try:
        with file.open("xb") as out:
            async for part in parts:
                got += len(part)
                if got > MOST_UPLOAD:
                    raise Refused(413, "large", f"This is larger than {MOST_UPLOAD >> 20} MB.")
                start = (start + part)[: len(PROJECT)]
                out.write(part)
    except OSError as failed:
        if failed.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise Refused(
            507, "full", f"{shown} was not taken in: the disk is full.", "Make room, then try again."
        ) from None
    if not got:
        raise Refused(422, "empty", f"{shown} is empty.")
    return start


def display_name(name: str) -> str:
    """Return a file name as people see it: its last part, without what would move a cursor, and not too long."""
    last = re.split(r"[/\\]", name)[-1]
    shown = "".join(c for c in last if c.isprintable()).strip().strip(".")
    stem, dot, ending = shown.rpartition(".")
    if dot and len(ending) <= 10:
        return f"{stem[:150] or 'table'}.{ending}"
    return shown[:150] or "table"


def free_path(folder: Path, name: str) -> Path:
    """Return the path of a new project, called after a file, that does not exist yet."""
    stem = re.sub(r"[^\w .()+-]", "_", Path(display_name(name)).stem).strip(" .")[:80] or "project"
    if stem.upper() in {"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10))}:
        stem = f"{stem}_"
    path, number = folder / f"{stem}{ENDING}", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}{ENDING}"
    return path
