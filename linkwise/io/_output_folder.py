"""An output folder whose files appear all together: each is written beside its place and moved there at the end."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Sequence
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

from linkwise._files import PARTIAL, holding, lock_file, note_written, visible
from linkwise.exceptions import LinkwiseError

_OURS = re.compile(rf"\.+([0-9a-f]{{16}})\.(?:lock|[0-9]+)\{PARTIAL}")  # the mark in the name of an unfinished file


class Folder:
    """An output folder as a context: on success all files take their places, on any failure none does.

    Of two processes that write into the same folder one has its way with all files. What a process that was killed left
    unfinished there is removed by the next one that succeeds.

    Parameters
    ----------
    folder, names : str or Path, and sequence of str
        Where the files go, made if it is not there, and the files that will be written.
    force, inputs : bool, and iterable of str
        Whether existing files may be replaced; files that are read, and must not be among those written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from linkwise.io import Folder
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with Folder(place, ["a.txt"], force=False) as folder:
    ...         folder.write("a.txt", "hello")
    ...     pathlib.Path(place, "a.txt").read_text()
    'hello'
    """

    def __init__(self, folder: str | Path, names: Sequence[str], *, force: bool, inputs: Iterable[str] = ()) -> None:
        self.folder = Path(folder)
        self.names = tuple(names)
        if self.folder.exists() and not self.folder.is_dir():
            msg = f"{visible(self.folder)} is a file, expected a folder to write into."
            raise LinkwiseError(msg)
        read = {os.path.realpath(path) for path in inputs if path != "-"}
        for name in self.names:
            if os.path.realpath(self.folder / name) in read:
                place = visible(self.folder / name)
                msg = f"{place} is an input and would be overwritten.\nHint: choose another folder with -o."
                raise LinkwiseError(msg)
        self.force = force
        self._refuse_replacing(self.names)
        self._made: list[str] = []
        self._mark = secrets.token_hex(8)
        self._lock: FileIO | None = None

    def _refuse_replacing(self, names: Iterable[str]) -> None:
        for name in names:
            if (self.folder / name).is_dir():
                msg = f"{visible(self.folder / name)} is a folder, expected a file or nothing there."
                raise LinkwiseError(msg)
        there = [name for name in names if (self.folder / name).exists()]
        if there and not self.force:
            listed, place = ", ".join(map(visible, there)), visible(self.folder)
            msg = f"{place} holds {listed} already.\nHint: give --force to replace, or another folder with -o."
            raise LinkwiseError(msg)

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            with holding(self.folder):  # so that no process sees the lock before it is locked
                self._lock = FileIO(self._locked(self._mark), "x+")
                lock_file(self._lock.fileno())
        except OSError as failed:
            failed.filename = str(self.folder / self.names[0] if self.names else self.folder)
            raise
        return self

    def _locked(self, mark: str) -> Path:
        """A file that is locked for as long as the process lives that writes under a mark."""
        return self.folder / f".{mark}.lock{PARTIAL}"

    def path(self, name: str) -> Path:
        """Where to write ``name`` for now; its ending is kept, since writers choose the format by it."""
        if name not in self._made:
            self._made.append(name)
        return self.folder / f".{self._mark}.{self._made.index(name)}.partial{Path(name).suffix}"

    def paths(self, names: Iterable[str]) -> dict[str, Path]:
        """Where to write some files for now, by name."""
        return {name: self.path(name) for name in names}

    def write(self, name: str, text: str) -> None:
        """Write one text file."""
        with self.path(name).open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, OSError):
            self._name(error)
        try:
            if kind is None:
                self._move()
        except OSError as failed:
            self._name(failed)
            raise
        finally:
            for name in self._made:
                self.path(name).unlink(missing_ok=True)
            if self._lock is not None:
                self._lock.close()
                self._locked(self._mark).unlink(missing_ok=True)

    def _move(self) -> None:
        """Put everything in its place."""
        for name in self._made:
            with self.path(name).open("rb+") as file:
                os.fsync(file.fileno())
        with holding(self.folder):  # or files of two processes would end up side by side
            self._refuse_replacing(self._made)  # another one may have been quicker
            for name in self._made:
                self.path(name).replace(self.folder / name)
                note_written(self.folder / name)
            self._clear()

    def _clear(self) -> None:
        """Remove unfinished files of processes that have ended."""
        left: dict[str, list[Path]] = {}
        for path in self.folder.iterdir():
            if (found := _OURS.match(path.name)) and found[1] != self._mark and path.is_file():
                left.setdefault(found[1], []).append(path)
        for mark, paths in left.items():
            if not self._is_alive(mark):
                for path in paths:
                    path.unlink(missing_ok=True)

    def _is_alive(self, mark: str) -> bool:
        """Whether the process that writes under a mark still holds its lock."""
        try:
            with FileIO(self._locked(mark), "r+") as file:
                lock_file(file.fileno())
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False

    def _name(self, failed: OSError) -> None:
        """Name the file that failed as it was to be called."""
        if failed.errno is None:
            return  # a name would hide its words
        final = {str(self.path(name)): str(self.folder / name) for name in self._made}
        failed.filename = final.get(str(failed.filename), failed.filename or str(self.folder))
