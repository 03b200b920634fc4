"""Files that appear whole or not at all: everything is written beside its place and moved there at the end."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from linkwise._files import holding
from linkwise.exceptions import LinkwiseError

__all__ = ["Folder"]


class Folder:
    """An output folder as a context: on success all files take their places, on any failure none does.

    Of two processes that write into the same folder one has its way with all files.

    Parameters
    ----------
    folder : str or Path
        Where the files go; made if it is not there.
    names : sequence of str
        The files that will be written.
    force : bool
        Whether files that are there already may be replaced.
    inputs : iterable of str
        Files that are read, and must not be among those written.

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
            msg = f"{self.folder} is a file, expected a folder to write into."
            raise LinkwiseError(msg)
        read = {os.path.realpath(path) for path in inputs if path != "-"}
        for name in self.names:
            if os.path.realpath(self.folder / name) in read:
                msg = (
                    f"{self.folder / name} is an input and would be overwritten.\nHint: choose another folder with -o."
                )
                raise LinkwiseError(msg)
        self.force = force
        self._refuse_replacing(self.names)
        self._made: list[str] = []
        self._mark = secrets.token_hex(8)

    def _refuse_replacing(self, names: Iterable[str]) -> None:
        for name in names:
            if (self.folder / name).is_dir():
                msg = f"{self.folder / name} is a folder, expected a file or nothing there."
                raise LinkwiseError(msg)
        there = [name for name in names if (self.folder / name).exists()]
        if there and not self.force:
            listed = ", ".join(there)
            msg = f"{self.folder} holds {listed} already.\nHint: give --force to replace, or another folder with -o."
            raise LinkwiseError(msg)

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def path(self, name: str) -> Path:
        """Where to write ``name`` for now; its ending is kept, since writers choose the format by it."""
        if name not in self._made:
            self._made.append(name)
        return self.folder / f".{self._mark}.{self._made.index(name)}.partial{Path(name).suffix}"

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

    def _move(self) -> None:
        """Put everything in its place."""
        for name in self._made:
            with self.path(name).open("rb+") as file:
                os.fsync(file.fileno())
        with holding(self.folder):  # or files of two processes would end up side by side
            self._refuse_replacing(self._made)  # another one may have been quicker
            for name in self._made:
                self.path(name).replace(self.folder / name)

    def _name(self, failed: OSError) -> None:
        """Name the file that failed as it was to be called."""
        if failed.errno is None:
            return  # a name would hide its words
        final = {str(self.path(name)): str(self.folder / name) for name in self._made}
        failed.filename = final.get(str(failed.filename), failed.filename or str(self.folder))
