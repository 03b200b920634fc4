"""Checks that a project file meets before it is believed, and errors about it in words."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

from linkwise._files import visible
from linkwise._messages import many
from linkwise.app._log import OPS, read_body
from linkwise.app._project_disk import beside
from linkwise.app._project_format import APPLICATION, MAGIC, ROWS, SCHEMA, VERSION, seal_of
from linkwise.app._salvage import salvage
from linkwise.exceptions import LinkwiseError

FULL, READONLY, LOCKED, NEWER = "full", "readonly", "locked", "newer"
FOREIGN, DAMAGED, CONFLICT = "foreign", "damaged", "conflict"


class ProjectError(LinkwiseError):
    """A project file cannot be made, opened or written; ``code`` says in one word why.

    The codes are full, readonly, locked, newer, foreign, damaged and conflict.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type[ProjectError], tuple[str, str]]:
        return type(self), (self.code, str(self))


def refusal(code: str, message: str, hint: str = "") -> ProjectError:
    """Return an error with what to do about it."""
    return ProjectError(code, f"{message}\nHint: {hint}" if hint else message)


# -- before anything is believed ---------------------------------------------------------------------------------------


def require_sqlite() -> None:
    """Refuse a SQLite that knows no strict tables."""
    if sqlite3.sqlite_version_info < (3, 37):
        msg = f"projects need SQLite 3.37 or newer; this Python comes with {sqlite3.sqlite_version}."
        raise refusal(FOREIGN, msg, "install a newer Python.")


def require_project(path: Path) -> None:
    """Judge a file by its first bytes, before SQLite may touch it."""
    if path.is_dir():
        raise refusal(FOREIGN, f"{visible(path)} is a folder, expected a project (.lw).")
    with path.open("rb") as file:
        head = file.read(100)
    if head[:16] != MAGIC or len(head) < 100:
        if head[18:20] and head[16:18] == b"\x10\x00" and head[68:72] == APPLICATION.to_bytes(4, "big"):
            raise damaged(path, "its first bytes are wrong")
        what = "is empty" if not head else "is not a project of linkwise"
        raise refusal(FOREIGN, f"{visible(path)} {what}.", "open a table with `linkwise open FILE` to make a project.")
    application, version = int.from_bytes(head[68:72], "big"), int.from_bytes(head[60:64], "big")
    if application != APPLICATION:
        msg = f"{visible(path)} is a database of another program, not a project of linkwise. It was not touched."
        raise refusal(FOREIGN, msg)
    if version > VERSION:
        msg = f"{visible(path)} was made by a newer linkwise (project format {version}; this one reads {VERSION})."
        raise refusal(NEWER, f"{msg} It was not touched.", "pip install --upgrade linkwise")
    if version < 1:
        raise damaged(path, f"its format is {version}")


_TRAILER = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"  # ends a journal that names a second one


def require_own_journal(path: Path, shown: Path | None = None) -> None:
    """Refuse a project whose journal names another file: SQLite would remove that file, whichever it is."""
    try:
        with beside(path, "-journal").open("rb") as journal:
            journal.seek(max(0, journal.seek(0, os.SEEK_END) - len(_TRAILER)))
            end = journal.read()
    except FileNotFoundError:
        return
    if end == _TRAILER:
        msg = f"{visible(beside(shown or path, '-journal'))} was not written by linkwise. Nothing was opened."
        raise refusal(FOREIGN, msg, "remove it if you do not know it; the project is opened without it.")


def prepare(database: sqlite3.Connection) -> None:
    """Believe nothing that the file says about how to read it."""
    database.execute("pragma trusted_schema=off")
    database.execute("pragma cell_size_check=on")
    database.execute("pragma mmap_size=0")
    database.execute("pragma temp_store=memory")


def _schema_of(database: sqlite3.Connection) -> set[tuple[Any, ...]]:
    return set(database.execute("select type, name, tbl_name, sql from sqlite_schema"))


def verify(database: sqlite3.Connection, path: Path) -> None:
    """Refuse tables, views and triggers that are not ours, and a log with rows that are missing or altered."""
    model = sqlite3.connect(":memory:")
    for line in SCHEMA:
        model.execute(line)
    ours, theirs = _schema_of(model), _schema_of(database)
    model.close()
    if ours != theirs:
        names = sorted({str(one[1]) for one in theirs - ours} | {str(one[1]) for one in ours - theirs})
        msg = f"{visible(path)} holds tables, views or triggers that linkwise did not make: {', '.join(names)[:200]}."
        raise refusal(FOREIGN, f"{msg} It was not opened.", "open a copy that only linkwise has written.")
    for key in ("application_id", "user_version"):
        expected = APPLICATION if key == "application_id" else VERSION
        if database.execute(f"pragma {key}").fetchone()[0] != expected:
            raise damaged(path, f"its {key} changed")
    fault = database.execute("pragma integrity_check(1)").fetchone()[0]
    if fault != "ok":
        raise damaged(path, fault)
    number = 0
    for row in database.execute(ROWS + " order by seq"):
        number += 1
        if row[0] != number:
            raise damaged(path, f"row {number} of the log is missing")
        if row[-1] != seal_of(row[:-1]) or row[4] not in OPS:
            raise damaged(path, f"row {number} of the log was altered")
        try:  # a seal can be made by anyone
            read_body(row[4], json.loads(row[5]))
        except (ValueError, RecursionError, LinkwiseError) as error:
            raise damaged(path, f"row {number} of the log is not a statement") from error
        if number == 1 and row[4] != "open":
            raise damaged(path, "its first row does not open a project")
    counted = database.execute("select seq from sqlite_sequence where name = 'log'").fetchone()
    if number == 0 or counted is None or counted[0] != number:
        raise damaged(path, f"the log has {many(number, 'row')}, but counted {counted[0] if counted else 0}")


# -- errors in words ---------------------------------------------------------------------------------------------------


def damaged(path: Path, fault: str) -> ProjectError:
    """Return the error about a file that is not as it was written."""
    msg = f"{visible(path)} is damaged, or was copied while it was being saved: {fault}. It was not changed."
    with contextlib.suppress(OSError):
        whole = salvage(path)
        msg += f" {many(len(whole), 'statement')} in it can still be read."
    return refusal(DAMAGED, msg, copies_hint(path))


def copies_hint(path: Path) -> str:
    """Say where an older state of a project is."""
    copies = sorted(beside(path, "-copies").glob("*.lw"), key=lambda one: one.stem.rpartition("-")[2])
    if copies:
        return f"the newest automatic copy is {visible(copies[-1])}; open that."
    return "copy the file again while no linkwise has it open, or go back to a backup."


def locked(path: Path, where: str = "") -> ProjectError:
    """Return the error about a file that is open already."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        where = where or f"at {beside(path, '-open').read_text(encoding='utf-8')[:200]}"
    msg = f"{visible(path)} is open already{f' {where}' if where.strip() else ' in another process'}."
    return refusal(LOCKED, msg, "use the page that has it open, or end that linkwise first.")


def translated(error: sqlite3.Error | OSError, path: Path) -> ProjectError:
    """Word what SQLite or the system reported."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    shown = visible(path)
    if isinstance(error, OSError):
        if isinstance(error, FileNotFoundError):
            return refusal(FOREIGN, f"{shown} does not exist.", "check the name, or open a table to make a project.")
        if isinstance(error, FileExistsError):
            return refusal(CONFLICT, f"{shown} exists already.", "open it, or choose another name.")
        kind = FULL if error.errno in (28, 122) else READONLY
        return refusal(kind, f"{shown} could not be written or read: {error.strerror or error}.")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return locked(path)
    if primary == sqlite3.SQLITE_FULL:
        return refusal(
            "full", f"{shown} could not be saved: the disk is full.", "make room; what is waiting is sent again."
        )
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR):
        return refusal(READONLY, f"{shown} could not be read or written ({error}).", "check the disk and the folder.")
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path, str(error))
    return refusal(DAMAGED, f"{shown} could not be used: {error}.", copies_hint(path))
