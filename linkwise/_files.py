"""Files that survive: written whole or not at all, and held by one process at a time."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

__all__ = ["PARTIAL", "lock_file", "write_whole"]

PARTIAL = ".partial"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it appears whole or not at all: beside its place, then moved there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PARTIAL, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
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

else:

    def lock_file(handle: int) -> None:
        """Take hold of an open file, or raise OSError if another process has it; a dead one holds nothing."""
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
