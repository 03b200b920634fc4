"""The file of a project: one SQLite database with the log, the originals, the items and what can be made again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import sqlite3
import struct
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from linkwise._files import PARTIAL, visible
from linkwise.app._log import New, Statement, read_body
from linkwise.app._project_checks import (
    CONFLICT,
    DAMAGED,
    FULL,
    READONLY,
    copies_hint,
    damaged,
    locked,
    prepare,
    refusal,
    require_own_journal,
    require_project,
    require_sqlite,
    translated,
    verify,
)
from linkwise.app._project_disk import (
    beside,
    copy_quietly,
    give_name,
    hold,
    leave_word,
    let_go,
    make_private,
    sync,
    sync_folder,
    tidy,
)
from linkwise.app._project_format import APPLICATION, ROWS, SCHEMA, VERSION, read_item, read_rows, seal_of, written
from linkwise.exceptions import LinkwiseError

EVERY, KEPT = 500, 10  # statements between automatic copies, and how many copies are kept
MOST_BYTES = 900_000_000  # of one original; SQLite keeps at most 1,000,000,000 in one value
_open_here: dict[tuple[int, int], Store] = {}  # by device and number of the file
_opening = threading.Lock()


class Store:
    """A project file, open for one process; make one with `create` or `open`.

    Attributes
    ----------
    path : Path
        The file.
    readonly : bool
        Whether it can be looked at only.
    seq : int
        The number of the newest row of the log.
    trouble : str
        Why the last automatic copy could not be made; empty if it could.

    Notes
    -----
    **Guarantee** what `append` returned is on disk, and survives the death of the process and a power cut: the
    rollback journal is synced before a page is changed, pages are synced before the journal is cut, and the cut is
    synced before `append` returns. A row is written once, however often it is sent. After a failed sync the store takes
    no more rows until it is opened again. Between two calls the file alone is the whole project, so a plain copy of
    it is one, too; a copy taken in the middle of a call is recognized by its seals and counts.
    """

    def __init__(self, path: Path, database: sqlite3.Connection, *, readonly: bool) -> None:
        self.path, self.readonly, self.trouble = path, readonly, ""
        self._database, self._lock, self._failed = database, threading.RLock(), ""
        self._scratch: Path | None = None
        self._held: int | None = None
        self._key: tuple[int, int] | None = None
        self.seq = self._one("select coalesce(max(seq), 0) from log")
        self._copied = self.seq

    # -- making and opening ---------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        path: str | Path,
        opened: dict[str, Any],
        files: Iterable[tuple[str, str, bytes]] = (),
        items: Iterable[tuple[str, dict[str, Any]]] = (),
        *,
        who: str = "me",
    ) -> Self:
        """Make a project whose first statement is `opened`, and open it; no file is replaced."""
        require_sqlite()
        path = Path(path)
        if path.exists():
            raise refusal(CONFLICT, f"{visible(path)} exists already.", "open it, or choose another name.")
        if not path.parent.is_dir():
            raise refusal(READONLY, f"{visible(path.parent)} is not a folder.", "make the folder first.")
        partial = path.parent / f".{path.name[:40]}.{secrets.token_hex(8)}{PARTIAL}"
        try:
            make_private(partial)
            database = sqlite3.connect(partial, isolation_level=None)
            try:
                database.execute("pragma journal_mode=off")
                database.execute("pragma synchronous=off")  # nothing counts before the finished file gets its name
                database.execute("begin exclusive")
                for line in SCHEMA:
                    database.execute(line)
                facts = {"made": _now(), "format": "linkwise project", "salt": secrets.token_hex(16)}
                database.executemany("insert into meta values (?, ?)", facts.items())
                first = New(secrets.token_hex(16), who, "menu", "open", read_body("open", opened))
                _insert(database, [(1, first)])
                for name, kind, content in files:
                    _insert_file(database, name, kind, content)
                _insert_items(database, items)
                database.execute(f"pragma application_id={APPLICATION}")
                database.execute(f"pragma user_version={VERSION}")
                database.execute("commit")
            finally:
                database.close()
            sync(partial)
            give_name(partial, path)
        except (sqlite3.Error, OSError) as error:
            raise translated(error, path) from error
        finally:
            partial.unlink(missing_ok=True)
        return cls.open(path)

    @classmethod
    def open(cls, path: str | Path, *, readonly: bool = False) -> Self:
        """Open a project; with `readonly`, or where it cannot be written, look at a copy of it."""
        require_sqlite()
        path = Path(path)
        if path.is_symlink():
            path = path.resolve()  # journal, lock and copies are beside the file itself
        with _opening:
            try:
                found = path.stat()
                key = (found.st_dev, found.st_ino)
                here = _open_here.get(key)
                if here is None:
                    require_project(path)
                    readonly = readonly or not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
                    store = cls._look(path, copy_quietly) if readonly else cls._take(path)
                    if not readonly:
                        store._key = key
                        _open_here[key] = store
                    return store
            except (sqlite3.Error, OSError) as error:
                raise translated(error, path) from error
        if not readonly:  # not even read: closing another handle would let go of the lock of SQLite
            raise locked(path, "in this process")
        return cls._look(path, lambda _, copy: here.copy(copy))

    @classmethod
    def _take(cls, path: Path) -> Self:
        try:
            held = hold(path)
        except BlockingIOError as error:
            raise locked(path) from error
        try:
            store = cls._take_database(path)
        except BaseException:
            let_go(held)
            raise
        store._held = held
        return store

    @classmethod
    def _take_database(cls, path: Path) -> Self:
        require_own_journal(path)
        database = sqlite3.connect(path, isolation_level=None, timeout=0, check_same_thread=False)
        try:
            prepare(database)
            database.execute("pragma locking_mode=exclusive")
            database.execute("begin exclusive")  # rolls back what a crash left half done; the lock stays until the end
            database.execute("commit")
            database.execute("pragma journal_mode=truncate")
            database.execute("pragma synchronous=extra")
            verify(database, path)
            return cls(path, database, readonly=False)
        except BaseException:
            database.close()
            raise

    @classmethod
    def _look(cls, path: Path, copying: Callable[[Path, Path], None]) -> Self:
        """Open a private copy, so that the original is not touched."""
        scratch = Path(tempfile.mkdtemp(prefix="linkwise-"))
        try:
            copy = scratch / "project.lw"
            copying(path, copy)
            require_own_journal(copy, path)
            database = sqlite3.connect(copy, isolation_level=None, check_same_thread=False)
            try:
                prepare(database)
                verify(database, path)
                database.execute("pragma query_only=on")
                store = cls(path, database, readonly=True)
            except BaseException:
                database.close()
                raise
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        store._scratch = scratch
        return store

    def announce(self, where: str) -> None:
        """Note where the project is open, for the message that a second process gets."""
        if not self.readonly:
            with contextlib.suppress(OSError):
                leave_word(beside(self.path, "-open"), where)

    def close(self) -> None:
        """Keep a copy if anything was added, and let go of the file."""
        with self._lock:
            if self._scratch is None and self._key is None:
                return
            if not self.readonly:
                if self.seq > self._copied and not self._failed:
                    self._keep_copy()
                with contextlib.suppress(OSError):
                    beside(self.path, "-open").unlink(missing_ok=True)
            with _opening:
                self._database.close()
                if not self.readonly:
                    tidy(beside(self.path, "-journal"))
                let_go(self._held)
                if self._key is not None:
                    _open_here.pop(self._key, None)
            if self._scratch is not None:
                shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = self._key = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- the log --------------------------------------------------------------------------------------------------

    def append(self, rows: Sequence[New]) -> list[Statement]:
        """Save rows in one transaction and return them as they stand in the log.

        A row whose id is in the log already is not saved again: it comes back as it was. If it says something else
        now, nothing is saved, and a `ProjectError` of code ``"conflict"`` names it.
        """
        with self._lock, self._writing():
            known = {one.id: one for one in self._known([row.id for row in rows])}
            new: dict[str, New] = {}
            for row in rows:
                before = known.get(row.id) or new.get(row.id)
                if before is None:
                    new[row.id] = row
                elif (before.who, before.op, before.body) != (row.who, row.op, row.body):
                    msg = f"the id {row.id!r} belongs to another statement already. Nothing was saved."
                    raise refusal(CONFLICT, msg, "give every statement an id of its own.")
            if new:
                made = _insert(self._database, list(enumerate(new.values(), start=self.seq + 1)))
                known |= {one.id: one for one in made}
        if new:
            self.seq += len(new)
            if self.seq - self._copied >= EVERY:
                self._keep_copy()
        return [known[row.id] for row in rows]

    def statements(self, since: int = 0) -> list[Statement]:
        """Return the rows of the log after a row."""
        with self._lock:
            return read_rows(self._database.execute(ROWS + " where seq > ? order by seq", (since,)))

    def _known(self, keys: Sequence[str]) -> list[Statement]:
        found = []
        for key in dict.fromkeys(keys):
            found += read_rows(self._database.execute(ROWS + " where id = ?", (key,)))
        return found

    # -- originals, items, and what can be made again -------------------------------------------------------------

    def file(self, n: int = 1) -> tuple[str, str, bytes]:
        """Return name, kind and content of an original; the first one is the data."""
        with self._lock:
            row = self._database.execute("select name, kind, sha256, bytes from file where n = ?", (n,)).fetchone()
        if row is None:
            raise refusal(DAMAGED, f"{visible(self.path)} has no file {n}.")
        if hashlib.sha256(row[3]).hexdigest() != row[2]:
            msg = f"{visible(self.path)} is damaged: the original {row[0]!r} is not what was put in."
            raise refusal(DAMAGED, msg, copies_hint(self.path))
        return row[0], row[1], row[3]

    def files(self) -> list[tuple[int, str, str]]:
        """Return number, name and kind of every original."""
        with self._lock:
            return self._database.execute("select n, name, kind from file order by n").fetchall()

    def items(self, start: int = 0, count: int | None = None) -> list[tuple[str, dict[str, Any]]]:
        """Return names of items and what people see of them, all or a window."""
        few = -1 if count is None else count
        with self._lock:
            rows = self._database.execute("select id, body from item order by n limit ? offset ?", (few, start))
            try:
                return [(name, read_item(body)) for name, body in rows]
            except (ValueError, RecursionError) as error:
                raise damaged(self.path, "an item is not what linkwise writes") from error

    def cached(self, name: str) -> tuple[int, bytes] | None:
        """Return the version and the bytes cached last under a name; None if there are none, or damaged."""
        with self._lock:
            row = self._database.execute(
                "select version, bytes from cache where name = ? order by version desc limit 1", (name,)
            ).fetchone()
        if row is None or len(row[1]) < 4 or zlib.crc32(row[1][:-4]) != struct.unpack("<I", row[1][-4:])[0]:
            return None
        return row[0], row[1][:-4]

    def cache(self, name: str, version: int, content: bytes) -> None:
        """Keep what can be made again, in place of older versions."""
        sealed = bytes(content) + struct.pack("<I", zlib.crc32(content))
        with self._lock, self._writing():
            self._database.execute("delete from cache where name = ?", (name,))
            self._database.execute("insert into cache values (?, ?, ?)", (name, version, sealed))

    def copy(self, path: str | Path) -> None:
        """Write a copy of the project; a file that is there already is replaced when the copy is whole."""
        path = Path(path)
        partial = path.parent / f".{path.name[:40]}.{secrets.token_hex(8)}{PARTIAL}"
        try:
            make_private(partial)
            database = sqlite3.connect(partial, isolation_level=None)
            try:
                database.execute("pragma synchronous=off")  # it is synced before it gets its name
                with self._lock:
                    self._database.backup(database)
            finally:
                database.close()
            sync(partial)
            partial.replace(path)
            sync_folder(path.parent)
        except (sqlite3.Error, OSError) as error:
            raise translated(error, path) from error
        finally:
            partial.unlink(missing_ok=True)

    # -- the steps ------------------------------------------------------------------------------------------------

    def _one(self, question: str) -> Any:
        return self._database.execute(question).fetchone()[0]

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction, on disk when the block ends; after a failed sync none is begun again."""
        if self.readonly:
            msg = f"{visible(self.path)} is open for looking only."
            raise refusal(READONLY, msg, "make the file writable, or save a copy elsewhere and open that.")
        if self._failed:
            raise refusal(READONLY, self._failed, "check the disk, then start linkwise again; nothing saved is lost.")
        try:
            self._database.execute("begin immediate")
            yield
            self._database.execute("commit")
        except BaseException as error:
            try:
                if self._database.in_transaction:
                    self._database.execute("rollback")
            except sqlite3.Error as worse:
                self._failed = f"{visible(self.path)} could not be written ({worse})."
            if not isinstance(error, (sqlite3.Error, OSError)):
                raise
            told = translated(error, self.path)
            if told.code not in (FULL, CONFLICT):
                self._failed = str(told).split("\n", maxsplit=1)[0]
            raise told from error

    def _keep_copy(self) -> None:
        """Keep a copy beside the project, and the last few of them; what is saved is saved without it."""
        folder = beside(self.path, "-copies")
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            self.copy(folder / f"{self.path.stem}-{self.seq:07d}.lw")
            for old in sorted(folder.glob("*-[0-9]*.lw"), key=lambda one: one.stem.rpartition("-")[2])[:-KEPT]:
                old.unlink(missing_ok=True)
            self.trouble = ""
        except (LinkwiseError, OSError) as error:
            self.trouble = f"The automatic copy could not be made: {error}"
        self._copied = self.seq


# -- rows --------------------------------------------------------------------------------------------------------------


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _insert(database: sqlite3.Connection, rows: Sequence[tuple[int, New]]) -> list[Statement]:
    made = []
    for seq, new in rows:
        row = (seq, new.id, new.who, new.via, new.op, written(new.body), new.basis, _now())
        database.execute("insert into log values (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, seal_of(row)))
        made.append(Statement(seq, new.id, new.who, new.via, new.op, new.body, new.basis, row[-1]))
    return made


def _insert_file(database: sqlite3.Connection, name: str, kind: str, content: bytes) -> None:
    """Keep an original; one with the same content is kept once."""
    if len(content) > MOST_BYTES:
        msg = f"{name} has {len(content) / 2**20:,.0f} MiB; a project keeps up to {MOST_BYTES / 2**20:,.0f} MiB."
        raise refusal(FULL, msg, "keep a part of the rows or columns.")
    mark = hashlib.sha256(content).hexdigest()
    if database.execute("select n from file where sha256 = ?", (mark,)).fetchone() is None:
        row = (name, kind, mark, content)
        database.execute("insert into file (name, kind, sha256, bytes) values (?, ?, ?, ?)", row)


def _insert_items(database: sqlite3.Connection, items: Iterable[tuple[str, dict[str, Any]]]) -> None:
    database.executemany("insert into item (id, body) values (?, ?)", ((name, written(body)) for name, body in items))
