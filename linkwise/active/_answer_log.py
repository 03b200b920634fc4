"""The log of a dialogue: one line of JSON per answer, only ever appended, and on disk before the answer counts."""

from __future__ import annotations

import json
import os
from io import FileIO
from pathlib import Path
from typing import Any

from linkwise._files import lock_file
from linkwise.active._query import Answer, Query, Told
from linkwise.exceptions import LinkwiseError

FORMAT = "linkwise.dialogue/1"


class Log:
    """The entries of one dialogue, in a file or in memory only.

    Notes
    -----
    The first line says what the dialogue is about. Every further line is an answer or takes the last one back. A line
    is flushed to the disk before `add` returns. A last line that was cut short by a crash was never acknowledged and is
    removed when the log is opened again.
    """

    def __init__(self, path: str | Path | None, header: dict[str, Any]) -> None:
        self.path = None if path is None else Path(path)
        self.header = {"format": FORMAT, **header}
        self.entries: list[dict[str, Any]] = []
        self._file = None if self.path is None else self._open(self.path)
        self._n_answers = sum("undo" not in entry for entry in self.entries)

    def add(self, entry: dict[str, Any]) -> None:
        """Write one entry; once this returns, it is there for good."""
        if self._file is not None:
            if self._file.closed:
                msg = f"the log {self.path} is closed.\nHint: make a new Dialogue with the same log to go on."
                raise LinkwiseError(msg)
            self._write(self._file, entry)
        self.entries.append(entry)

    def add_answer(self, entry: dict[str, Any]) -> Told:
        """Write one answer and return it, numbered among all answers ever given."""
        self.add(entry)
        self._n_answers += 1
        return read_entry(entry, self._n_answers - 1)

    def close(self) -> None:
        """Let go of the file; a closed log takes no more entries."""
        if self._file is not None:
            self._file.close()

    def _open(self, path: Path) -> FileIO:
        try:
            path.touch(exist_ok=True)
            file = FileIO(path, "r+")
        except OSError as error:
            msg = f"{path} cannot be opened as the log of a dialogue: {error.strerror or error}."
            raise LinkwiseError(msg) from error
        try:
            lock_file(file.fileno())
        except OSError:
            file.close()
            msg = (
                f"{path} is the log of a dialogue that is going on in another process.\n"
                "Hint: end the other process, or choose another log for this one."
            )
            raise LinkwiseError(msg) from None
        try:
            self._read(file, path)
        except BaseException:
            file.close()
            raise
        return file

    def _read(self, file: FileIO, path: Path) -> None:
        """Read the entries of the file, if there are any."""
        content = file.readall()
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].decode("utf-8", errors="replace").split("\n")[:-1]
        if content[:1] not in (b"", b"{"):
            msg = f"{path} is not the log of a dialogue.\nHint: choose another file; nothing was written to this one."
            raise LinkwiseError(msg)
        rows = [_parse(line, number, path) for number, line in enumerate(lines, start=1)]
        if rows:
            self._compare(rows[0], path)
        for number, row in enumerate(rows[1:], start=2):
            _require_entry(row, number, path)
        file.truncate(whole)  # a last line cut short by a crash was never acknowledged
        file.seek(whole)
        self.entries = rows[1:]
        if not rows:
            self._write(file, self.header)

    def _compare(self, found: dict[str, Any], path: Path) -> None:
        """Refuse the log of another dialogue; the message names the difference."""
        if found.get("format") != FORMAT:
            msg = (
                f"{path} is not the log of a dialogue: its format is {str(found.get('format'))[:40]!r}, expected "
                f"{FORMAT!r}.\nHint: choose another file; nothing was written to this one."
            )
            raise LinkwiseError(msg)
        for name, mine in self.header.items():
            if found.get(name) != mine:
                msg = (
                    f"{path} is the log of another dialogue: {name} is {found.get(name)!r} there and {mine!r} here.\n"
                    "Hint: continue with the same data and settings, or choose another log for this dialogue."
                )
                raise LinkwiseError(msg)

    def _write(self, file: FileIO, row: dict[str, Any]) -> None:
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        start = file.tell()
        try:
            while line:
                line = line[file.write(line) :]
            os.fsync(file.fileno())
        except OSError as error:
            file.truncate(start)  # leave no half line behind that a later one would be glued to
            file.seek(start)
            msg = (
                f"{self.path}: the answer could not be written ({error.strerror or error}) and was not taken.\n"
                "Hint: make room or fix the disk, then answer again."
            )
            raise LinkwiseError(msg) from error


def read_entry(entry: dict[str, Any], number: int) -> Told:
    """Read one answer, the ``number``-th ever given."""
    return Told(
        number,
        tuple(entry["items"]),
        Answer(entry["answer"]),
        confidence=float(entry.get("confidence", 1.0)),
        who=str(entry.get("who", "")),
        asked=bool(entry.get("asked", True)),
        checks=tuple(entry.get("checks", ())),
    )


def standing(entries: list[dict[str, Any]]) -> list[Told]:
    """Fold the entries: the answers given and not withdrawn, in order."""
    told: dict[int, Told] = {}
    number = 0
    for entry in entries:
        if "undo" in entry:
            told.pop(entry["undo"], None)
        else:
            told[number] = read_entry(entry, number)
            number += 1
    return list(told.values())


def _parse(line: str, number: int, path: Path) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise _bad_line(path, number, "expected a JSON object")
    return row


def _bad_line(path: Path, number: int, fault: str) -> LinkwiseError:
    end = "Hint: restore the file from a copy, or delete the line and those after it."
    return LinkwiseError(f"{path}, line {number}: {fault}.\n{end}")


def is_entry(row: dict[str, Any]) -> bool:
    """Whether a line of a log is an answer, or withdraws one."""
    try:
        if "undo" in row:
            return type(row["undo"]) is int
        query = Query(tuple(row["items"]))
        read_entry(row, 0)
        return bool(list(query.items) == row["items"] and query.read(row["answer"]) == row["answer"])
    except (KeyError, TypeError, ValueError):
        return False


def _require_entry(row: dict[str, Any], number: int, path: Path) -> None:
    if not is_entry(row):
        raise _bad_line(path, number, "expected an answer, or the withdrawal of one")
