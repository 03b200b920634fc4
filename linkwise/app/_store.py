"""The file of a project: one SQLite database with the log, the originals, the items and what can be made again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import sqlite3
import struct
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from linkwise._files import PARTIAL, lock_file, visible
from linkwise._messages import many
from linkwise.app._log import OPS, New, Statement, read_body
from linkwise.exceptions import LinkwiseError

FULL, READONLY, LOCKED, NEWER = "full", "readonly", "locked", "newer"
FOREIGN, DAMAGED, CONFLICT = "foreign", "damaged", "conflict"
APPLICATION = 0x4C575031  # "LWP1"
VERSION = 1
EVERY, KEPT = 500, 10  # statements between automatic copies, and how many copies are kept
MOST_BYTES = 900_000_000  # of one original; SQLite keeps at most 1,000,000,000 in one value
_MAGIC = b"SQLite format 3\x00"
_SCHEMA = """
create table meta (key text primary key, value text not null) strict;
create table log (seq integer primary key autoincrement, id text not null unique, who text not null, via text not null,
                  op text not null, body text not null, basis integer not null,
                  at text not null, digest text not null) strict;
create trigger log_keeps before update on log begin select raise(abort, 'the log is append-only'); end;
create trigger log_holds before delete on log begin select raise(abort, 'the log is append-only'); end;
create table file (n integer primary key, name text not null, kind text not null, sha256 text not null unique,
                   bytes blob not null) strict;
create table item (n integer primary key, id text not null unique, body text not null) strict;
create table cache (name text not null, version integer not null, bytes blob not null,
                    primary key (name, version)) strict;
""".strip().split(";\n")
_ROWS = "select seq, id, who, via, op, body, basis, at, digest from log"
_open_here: dict[tuple[int, int], Store] = {}  # by device and number of the file
_opening = threading.Lock()


class ProjectError(LinkwiseError):
    """A project file cannot be made, opened or written; ``code`` says in one word why.

    The codes are full, readonly, locked, newer, foreign, damaged and conflict.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type[ProjectError], tuple[str, str]]:
        return type(self), (self.code, str(self))


def _fail(code: str, message: str, hint: str = "") -> ProjectError:
    return ProjectError(code, f"{message}\nHint: {hint}" if hint else message)


def _digest(row: Sequence[Any]) -> str:
    """The seal of a row of the log, over all of its columns."""
    return hashlib.sha256(json.dumps(list(row), ensure_ascii=True).encode()).hexdigest()[:16]


def _text(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


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
        _require_sqlite()
        path = Path(path)
        if path.exists():
            raise _fail(CONFLICT, f"{visible(path)} exists already.", "open it, or choose another name.")
        if not path.parent.is_dir():
            raise _fail(READONLY, f"{visible(path.parent)} is not a folder.", "make the folder first.")
        beside = path.parent / f".{path.name[:40]}.{secrets.token_hex(8)}{PARTIAL}"
        try:
            _make_private(beside)
            database = sqlite3.connect(beside, isolation_level=None)
            try:
                database.execute("pragma journal_mode=off")
                database.execute("pragma synchronous=off")  # nothing counts before the finished file gets its name
                database.execute("begin exclusive")
                for line in _SCHEMA:
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
            _sync(beside)
            _give_name(beside, path)
        except (sqlite3.Error, OSError) as error:
            raise _translated(error, path) from error
        finally:
            beside.unlink(missing_ok=True)
        return cls.open(path)

    @classmethod
    def open(cls, path: str | Path, *, readonly: bool = False) -> Self:
        """Open a project; with `readonly`, or where it cannot be written, look at a copy of it."""
        _require_sqlite()
        path = Path(path)
        with _opening:
            try:
                found = path.stat()
                key = (found.st_dev, found.st_ino)
                here = _open_here.get(key)
                if here is None:
                    _require_project(path)
                    readonly = readonly or not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
                    store = cls._look(path, _copy_quietly) if readonly else cls._take(path)
                    if not readonly:
                        store._key = key
                        _open_here[key] = store
                    return store
            except (sqlite3.Error, OSError) as error:
                raise _translated(error, path) from error
        if not readonly:  # not even read: closing another handle would let go of the lock of SQLite
            raise _locked(path, "in this process")
        return cls._look(path, lambda _, copy: here.copy(copy))

    @classmethod
    def _take(cls, path: Path) -> Self:
        held = _hold(path)
        try:
            store = cls._take_database(path)
        except BaseException:
            _let_go(held)
            raise
        store._held = held
        return store

    @classmethod
    def _take_database(cls, path: Path) -> Self:
        database = sqlite3.connect(path, isolation_level=None, timeout=0, check_same_thread=False)
        try:
            _prepare(database)
            database.execute("pragma locking_mode=exclusive")
            database.execute("begin exclusive")  # rolls back what a crash left half done; the lock stays until the end
            database.execute("commit")
            database.execute("pragma journal_mode=truncate")
            database.execute("pragma synchronous=extra")
            _verify(database, path)
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
            database = sqlite3.connect(copy, isolation_level=None, check_same_thread=False)
            try:
                _prepare(database)
                _verify(database, path)
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
                _beside(self.path, "-open").write_text(where, encoding="utf-8")

    def close(self) -> None:
        """Keep a copy if anything was added, and let go of the file."""
        with self._lock:
            if self._scratch is None and self._key is None:
                return
            if not self.readonly:
                if self.seq > self._copied and not self._failed:
                    self._keep_copy()
                with contextlib.suppress(OSError):
                    _beside(self.path, "-open").unlink(missing_ok=True)
            with _opening:
                self._database.close()
                if not self.readonly:
                    _tidy(_beside(self.path, "-journal"))
                _let_go(self._held)
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
                    raise _fail(CONFLICT, msg, "give every statement an id of its own.")
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
            return _rows(self._database.execute(_ROWS + " where seq > ? order by seq", (since,)))

    def _known(self, keys: Sequence[str]) -> list[Statement]:
        found = []
        for key in dict.fromkeys(keys):
            found += _rows(self._database.execute(_ROWS + " where id = ?", (key,)))
        return found

    # -- originals, items, and what can be made again -------------------------------------------------------------

    def file(self, n: int = 1) -> tuple[str, str, bytes]:
        """Return name, kind and content of an original; the first one is the data."""
        with self._lock:
            row = self._database.execute("select name, kind, sha256, bytes from file where n = ?", (n,)).fetchone()
        if row is None:
            raise _fail(DAMAGED, f"{visible(self.path)} has no file {n}.")
        if hashlib.sha256(row[3]).hexdigest() != row[2]:
            msg = f"{visible(self.path)} is damaged: the original {row[0]!r} is not what was put in."
            raise _fail(DAMAGED, msg, _copies_hint(self.path))
        return row[0], row[1], row[3]

    def files(self) -> list[tuple[int, str, str]]:
        """Return number, name and kind of every original."""
        with self._lock:
            return self._database.execute("select n, name, kind from file order by n").fetchall()

    def add_file(self, name: str, kind: str, content: bytes) -> int:
        """Keep one more original and return its number; one with the same content is kept once."""
        with self._lock, self._writing():
            return _insert_file(self._database, name, kind, content)

    def items(self, start: int = 0, count: int | None = None) -> list[tuple[str, dict[str, Any]]]:
        """Return names of items and what people see of them, all or a window."""
        few = -1 if count is None else count
        with self._lock:
            rows = self._database.execute("select id, body from item order by n limit ? offset ?", (few, start))
            return [(name, json.loads(body)) for name, body in rows]

    def put_items(self, items: Iterable[tuple[str, dict[str, Any]]]) -> None:
        """Replace all items, as after another reading of the original."""
        with self._lock, self._writing():
            self._database.execute("delete from item")
            _insert_items(self._database, items)

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
        beside = path.parent / f".{path.name[:40]}.{secrets.token_hex(8)}{PARTIAL}"
        try:
            _make_private(beside)
            with self._lock:
                if self._scratch is not None:
                    self._database.execute("pragma query_only=off")
                try:
                    self._database.execute("vacuum into ?", (str(beside),))
                finally:
                    if self._scratch is not None:
                        self._database.execute("pragma query_only=on")
            _sync(beside)
            beside.replace(path)
            _sync_folder(path.parent)
        except (sqlite3.Error, OSError) as error:
            raise _translated(error, path) from error
        finally:
            beside.unlink(missing_ok=True)

    # -- the steps ------------------------------------------------------------------------------------------------

    def _one(self, question: str) -> Any:
        return self._database.execute(question).fetchone()[0]

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction, on disk when the block ends; after a failed sync none is begun again."""
        if self.readonly:
            msg = f"{visible(self.path)} is open for looking only."
            raise _fail(READONLY, msg, "make the file writable, or save a copy elsewhere and open that.")
        if self._failed:
            raise _fail(READONLY, self._failed, "check the disk, then start linkwise again; nothing saved is lost.")
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
            told = _translated(error, self.path)
            if told.code not in (FULL, CONFLICT):
                self._failed = str(told).split("\n", maxsplit=1)[0]
            raise told from error

    def _keep_copy(self) -> None:
        """Keep a copy beside the project, and the last few of them; what is saved is saved without it."""
        folder = _beside(self.path, "-copies")
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
        row = (seq, new.id, new.who, new.via, new.op, _text(new.body), new.basis, _now())
        database.execute("insert into log values (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, _digest(row)))
        made.append(Statement(seq, new.id, new.who, new.via, new.op, new.body, new.basis, row[-1]))
    return made


def _rows(found: Iterable[Sequence[Any]]) -> list[Statement]:
    return [
        Statement(a, key, who, via, op, json.loads(body), basis, at)
        for a, key, who, via, op, body, basis, at, _ in found
    ]


def _insert_file(database: sqlite3.Connection, name: str, kind: str, content: bytes) -> int:
    if len(content) > MOST_BYTES:
        msg = f"{name} has {len(content) / 2**20:,.0f} MiB; a project keeps up to {MOST_BYTES / 2**20:,.0f} MiB."
        raise _fail(FULL, msg, "keep a part of the rows or columns.")
    mark = hashlib.sha256(content).hexdigest()
    found = database.execute("select n from file where sha256 = ?", (mark,)).fetchone()
    if found is None:
        found = database.execute(
            "insert into file (name, kind, sha256, bytes) values (?, ?, ?, ?) returning n", (name, kind, mark, content)
        ).fetchone()
    return int(found[0])


def _insert_items(database: sqlite3.Connection, items: Iterable[tuple[str, dict[str, Any]]]) -> None:
    database.executemany("insert into item (id, body) values (?, ?)", ((name, _text(body)) for name, body in items))


# -- checks before anything is believed --------------------------------------------------------------------------------


def _require_sqlite() -> None:
    if sqlite3.sqlite_version_info < (3, 37):
        msg = f"projects need SQLite 3.37 or newer; this Python comes with {sqlite3.sqlite_version}."
        raise _fail(FOREIGN, msg, "install a newer Python.")


def _require_project(path: Path) -> None:
    """Judge a file by its first bytes, before SQLite may touch it."""
    if path.is_dir():
        raise _fail(FOREIGN, f"{visible(path)} is a folder, expected a project (.lw).")
    with path.open("rb") as file:
        head = file.read(100)
    if head[:16] != _MAGIC or len(head) < 100:
        if head[18:20] and head[16:18] == b"\x10\x00" and head[68:72] == APPLICATION.to_bytes(4, "big"):
            raise _damaged(path, "its first bytes are wrong")
        what = "is empty" if not head else "is not a project of linkwise"
        raise _fail(FOREIGN, f"{visible(path)} {what}.", "open a table with `linkwise open FILE` to make a project.")
    application, version = int.from_bytes(head[68:72], "big"), int.from_bytes(head[60:64], "big")
    if application != APPLICATION:
        msg = f"{visible(path)} is a database of another program, not a project of linkwise. It was not touched."
        raise _fail(FOREIGN, msg)
    if version > VERSION:
        msg = f"{visible(path)} was made by a newer linkwise (project format {version}; this one reads {VERSION})."
        raise _fail(NEWER, f"{msg} It was not touched.", "pip install --upgrade linkwise")
    if version < 1:
        raise _damaged(path, f"its format is {version}")


def _prepare(database: sqlite3.Connection) -> None:
    """Believe nothing that the file says about how to read it."""
    database.execute("pragma trusted_schema=off")
    database.execute("pragma cell_size_check=on")
    database.execute("pragma mmap_size=0")
    database.execute("pragma temp_store=memory")


def _schema_of(database: sqlite3.Connection) -> set[tuple[Any, ...]]:
    return set(database.execute("select type, name, tbl_name, sql from sqlite_schema"))


def _verify(database: sqlite3.Connection, path: Path) -> None:
    """Refuse tables, views and triggers that are not ours, and a log with rows that are missing or altered."""
    model = sqlite3.connect(":memory:")
    for line in _SCHEMA:
        model.execute(line)
    ours, theirs = _schema_of(model), _schema_of(database)
    model.close()
    if ours != theirs:
        names = sorted({str(one[1]) for one in theirs - ours} | {str(one[1]) for one in ours - theirs})
        msg = f"{visible(path)} holds tables, views or triggers that linkwise did not make: {', '.join(names)[:200]}."
        raise _fail(FOREIGN, f"{msg} It was not opened.", "open a copy that only linkwise has written.")
    for key in ("application_id", "user_version"):
        expected = APPLICATION if key == "application_id" else VERSION
        if database.execute(f"pragma {key}").fetchone()[0] != expected:
            raise _damaged(path, f"its {key} changed")
    fault = database.execute("pragma integrity_check(1)").fetchone()[0]
    if fault != "ok":
        raise _damaged(path, fault)
    number = 0
    for row in database.execute(_ROWS + " order by seq"):
        number += 1
        if row[0] != number:
            raise _damaged(path, f"row {number} of the log is missing")
        if row[-1] != _digest(row[:-1]) or row[4] not in OPS:
            raise _damaged(path, f"row {number} of the log was altered")
    counted = database.execute("select seq from sqlite_sequence where name = 'log'").fetchone()
    if number == 0 or counted is None or counted[0] != number:
        raise _damaged(path, f"the log has {many(number, 'row')}, but counted {counted[0] if counted else 0}")


def _damaged(path: Path, fault: str) -> ProjectError:
    msg = f"{visible(path)} is damaged, or was copied while it was being saved: {fault}. It was not changed."
    with contextlib.suppress(OSError):
        whole = salvage(path)
        msg += f" {many(len(whole), 'statement')} in it can still be read."
    return _fail(DAMAGED, msg, _copies_hint(path))


def _copies_hint(path: Path) -> str:
    copies = sorted(_beside(path, "-copies").glob("*.lw"), key=lambda one: one.stem.rpartition("-")[2])
    if copies:
        return f"the newest automatic copy is {visible(copies[-1])}; open that."
    return "copy the file again while no linkwise has it open, or go back to a backup."


def _locked(path: Path, where: str = "") -> ProjectError:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        where = where or f"at {_beside(path, '-open').read_text(encoding='utf-8')[:200]}"
    msg = f"{visible(path)} is open already{f' {where}' if where.strip() else ' in another process'}."
    return _fail(LOCKED, msg, "use the page that has it open, or end that linkwise first.")


def _translated(error: sqlite3.Error | OSError, path: Path) -> ProjectError:
    """Word what SQLite or the system reported."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    shown = visible(path)
    if isinstance(error, OSError):
        if isinstance(error, FileNotFoundError):
            return _fail(FOREIGN, f"{shown} does not exist.", "check the name, or open a table to make a project.")
        if isinstance(error, FileExistsError):
            return _fail(CONFLICT, f"{shown} exists already.", "open it, or choose another name.")
        kind = FULL if error.errno in (28, 122) else READONLY
        return _fail(kind, f"{shown} could not be written or read: {error.strerror or error}.")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return _locked(path)
    if primary == sqlite3.SQLITE_FULL:
        return _fail(
            "full", f"{shown} could not be saved: the disk is full.", "make room; what is waiting is sent again."
        )
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR):
        return _fail(READONLY, f"{shown} could not be read or written ({error}).", "check the disk and the folder.")
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return _damaged(path, str(error))
    return _fail(DAMAGED, f"{shown} could not be used: {error}.", _copies_hint(path))


# -- files -------------------------------------------------------------------------------------------------------------


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _hold(path: Path) -> int | None:
    """Lock a file in a way that another handle of this process cannot end, as it would end the lock of SQLite."""
    if os.name != "posix":
        return None
    held = os.open(path, os.O_RDWR)
    try:
        lock_file(held)
    except OSError as error:
        os.close(held)
        raise _locked(path) from error
    return held


def _let_go(held: int | None) -> None:
    if held is not None:
        os.close(held)


def _tidy(journal: Path) -> None:
    """Remove an empty journal, while the lock is still held."""
    with contextlib.suppress(OSError):
        if journal.stat().st_size == 0:
            journal.unlink()


def _make_private(path: Path) -> None:
    """Make an empty file that only its owner may read or write."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _give_name(beside: Path, path: Path) -> None:
    """Give a finished file its name, unless another file got that name meanwhile."""
    try:
        os.link(beside, path)
    except (OSError, NotImplementedError) as error:
        if isinstance(error, FileExistsError) or path.exists():
            raise FileExistsError(17, "File exists", str(path)) from error
        beside.replace(path)  # a file system without links
    _sync_folder(path.parent)


def _copy_quietly(path: Path, copy: Path) -> None:
    """Copy a file, and the journal that a crash may have left, while no other process writes them, if it can be."""
    for attempt in range(20):
        before = _moment(path)
        shutil.copyfile(path, copy)
        journal = _beside(path, "-journal")
        _beside(copy, "-journal").unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(journal, _beside(copy, "-journal"))
        if before == _moment(path):
            return
        time.sleep(0.01 * (attempt + 1))


def _moment(path: Path) -> tuple[Any, ...]:
    seen: list[Any] = []
    for one in (path, _beside(path, "-journal")):
        try:
            found = one.stat()
            seen.append((found.st_size, found.st_mtime_ns, found.st_ino))
        except FileNotFoundError:
            seen.append(None)
    with path.open("rb") as file:
        seen.append(file.read(100))
    return tuple(seen)


# -- salvage -----------------------------------------------------------------------------------------------------------


def salvage(path: str | Path) -> list[Statement]:
    """Read every row of the log that is whole, from the pages of a damaged project; the file is not touched.

    Notes
    -----
    The pages are read without SQLite, so that a damaged index, schema or tree does not hide rows in pages that are
    whole. A row counts if the seal over its columns holds.
    """
    path = Path(path)
    raw = path.read_bytes()
    size = int.from_bytes(raw[16:18], "big") if raw[:16] == _MAGIC else 4096
    size = 65536 if size == 1 else size
    if size < 512 or size & (size - 1):
        size = 4096
    found: dict[int, Statement] = {}
    for start in range(0, len(raw) - size + 1, size):
        page = start + (100 if start == 0 else 0)
        if raw[page] != 0x0D:  # a leaf of a table
            continue
        count = int.from_bytes(raw[page + 3 : page + 5], "big")
        for at in range(min(count, size // 2)):
            where = int.from_bytes(raw[page + 8 + 2 * at : page + 10 + 2 * at], "big")
            if 8 <= where < size:
                row = _cell(raw, start + where, size)
                if row is not None:
                    found[row.seq] = row
    return [found[seq] for seq in sorted(found)]


def _cell(raw: bytes, at: int, size: int) -> Statement | None:
    """Read the cell of a table as a row of the log; None if it is not one, or not whole."""
    try:
        length, at = _varint(raw, at)
        seq, at = _varint(raw, at)
        payload = _payload(raw, at, length, size)
        head, place = _varint(payload, 0)
        kinds = []
        while place < head:
            kind, place = _varint(payload, place)
            kinds.append(kind)
        if len(kinds) != 9:
            return None
        values: list[Any] = []
        for kind in kinds:
            wide = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind] if kind < 10 else (kind - 12) // 2
            part = payload[place : place + wide]
            place += wide
            if kind in (0, 7):
                values.append(None)
            elif kind < 10:
                values.append(kind - 8 if kind >= 8 else int.from_bytes(part, "big", signed=True))
            else:
                values.append(part.decode("utf-8"))
        row = [seq, *values[1:]]
        if row[-1] != _digest(row[:-1]) or row[4] not in OPS:
            return None
        return _rows([row])[0]
    except (IndexError, ValueError, TypeError):
        return None


def _payload(raw: bytes, at: int, length: int, size: int) -> bytes:
    """The bytes of a cell, with those on overflow pages."""
    if length > len(raw):
        msg = "longer than the file"
        raise ValueError(msg)
    most = size - 35
    if length <= most:
        return raw[at : at + length]
    least = (size - 12) * 32 // 255 - 23
    local = least + (length - least) % (size - 4)
    local = local if local <= most else least
    parts, got = [raw[at : at + local]], local
    page = int.from_bytes(raw[at + local : at + local + 4], "big")
    while got < length:
        start = (page - 1) * size
        if page < 1 or start + size > len(raw):
            msg = "an overflow page is missing"
            raise ValueError(msg)
        parts.append(raw[start + 4 : start + min(size, 4 + length - got)])
        got += len(parts[-1])
        page = int.from_bytes(raw[start : start + 4], "big")
    return b"".join(parts)


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(8):
        byte = raw[at + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    return value << 8 | raw[at + 8], at + 9
