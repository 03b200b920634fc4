"""Files of a project on the disk: locks, private files, names that are given at once, copies."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path
from typing import Any

from linkwise._files import lock_file


def beside(path: Path, ending: str) -> Path:
    """Return a file beside a project that is called after it."""
    return path.with_name(path.name + ending)


def hold(path: Path) -> int | None:
    """Lock a file in a way that another handle of this process cannot end, as it would end the lock of SQLite."""
    if os.name != "posix":
        return None
    held = os.open(path, os.O_RDWR)
    try:
        lock_file(held)
    except OSError as error:
        os.close(held)
        raise BlockingIOError(error.errno, error.strerror, str(path)) from error
    return held


def let_go(held: int | None) -> None:
    """End a lock."""
    if held is not None:
        os.close(held)


def tidy(journal: Path) -> None:
    """Remove an empty journal, while the lock is still held."""
    with contextlib.suppress(OSError):
        if journal.stat().st_size == 0:
            journal.unlink()


def leave_word(path: Path, words: str) -> None:
    """Write a line that only its owner may read into a new file; a link that waits under its name is not followed."""
    path.unlink(missing_ok=True)
    make_private(path)
    path.write_text(words, encoding="utf-8")


def make_private(path: Path) -> None:
    """Make an empty file that only its owner may read or write."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def sync(path: Path) -> None:
    """Return when a file is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder are on the disk."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def give_name(finished: Path, path: Path) -> None:
    """Give a finished file its name, unless another file got that name meanwhile."""
    try:
        os.link(finished, path)
    except (OSError, NotImplementedError) as error:
        if isinstance(error, FileExistsError) or path.exists():
            raise FileExistsError(17, "File exists", str(path)) from error
        finished.replace(path)  # a file system without links
    sync_folder(path.parent)


def copy_quietly(path: Path, copy: Path) -> None:
    """Copy a file, and the journal that a crash may have left, while no other process writes them, if it can be."""
    for attempt in range(20):
        before = _moment(path)
        shutil.copyfile(path, copy)
        journal = beside(path, "-journal")
        beside(copy, "-journal").unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(journal, beside(copy, "-journal"))
        if before == _moment(path):
            return
        time.sleep(0.01 * (attempt + 1))


def _moment(path: Path) -> tuple[Any, ...]:
    seen: list[Any] = []
    for one in (path, beside(path, "-journal")):
        try:
            found = one.stat()
            seen.append((found.st_size, found.st_mtime_ns, found.st_ino))
        except FileNotFoundError:
            seen.append(None)
    with path.open("rb") as file:
        seen.append(file.read(100))
    return tuple(seen)
