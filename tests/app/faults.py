"""Faults of processes, disks and power under the file of a project, through a SQLite file system that counts.

``python -m tests.app.faults`` runs the full counts and prints what it found; `tests/app/test_faults.py` runs a part.
The file system wraps the one of SQLite in the process, through ctypes. At the n-th write, sync, cut or removal it
kills the process, or reports an error; or it records every step, so that `power_cuts` can play back any state of the
disk that a power cut may leave: what was synced is there, of everything later any part, by sectors.
"""

from __future__ import annotations

import _sqlite3
import argparse
import ctypes
import json
import os
import pickle  # through a pipe between two halves of one program
import random
import signal
import subprocess
import sys
import tempfile
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_int64, c_void_p, cast, memmove, sizeof, string_at
from dataclasses import dataclass, field
from pathlib import Path

from linkwise.app._log import New, read_body
from linkwise.app._project_checks import ProjectError
from linkwise.app._standing import fold
from linkwise.app._store import Store

SECTOR = 512
IOERR_FSYNC, FULL = 1034, 13
_ITEMS = [f"item {n}" for n in range(9)]

CLOSE = CFUNCTYPE(c_int, c_void_p)
WRITE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
CUT = CFUNCTYPE(c_int, c_void_p, c_int64)
SYNC = CFUNCTYPE(c_int, c_void_p, c_int)
OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, POINTER(c_int))
DELETE = CFUNCTYPE(c_int, c_void_p, c_char_p, c_int)


class Methods(ctypes.Structure):
    """The start of sqlite3_io_methods; the rest is copied as it is."""

    _fields_ = [
        ("iVersion", c_int), ("xClose", CLOSE), ("xRead", c_void_p), ("xWrite", WRITE), ("xTruncate", CUT),
        ("xSync", SYNC), ("rest", c_void_p * 14),
    ]  # fmt: skip


class Vfs(ctypes.Structure):
    """The start of sqlite3_vfs; the rest is copied as it is."""

    _fields_ = [
        ("iVersion", c_int), ("szOsFile", c_int), ("mxPathname", c_int), ("pNext", c_void_p), ("zName", c_char_p),
        ("pAppData", c_void_p), ("xOpen", OPEN), ("xDelete", DELETE), ("rest", c_void_p * 14),
    ]  # fmt: skip


def library():
    """The SQLite library that Python uses; None where it is built into Python without names."""
    try:
        found = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
        found.sqlite3_vfs_find.restype = POINTER(Vfs)
    except (OSError, AttributeError):
        return None
    return found


class Disk:
    """The default file system of SQLite in this process, with a count of steps that change files."""

    def __init__(self, record=False, at=None, fault="kill"):
        self.steps, self.at, self.fault = 0, at, fault
        self.trace = [] if record else None
        self._names, self._methods, self._kept = {}, {}, []
        lib = library()
        old = lib.sqlite3_vfs_find(None)
        self._old = old.contents
        self._vfs = Vfs()
        memmove(byref(self._vfs), old, sizeof(Vfs))
        self._name = b"counting"
        self._vfs.zName, self._vfs.pNext = self._name, None
        self._vfs.xOpen, self._vfs.xDelete = OPEN(self._open), DELETE(self._delete)
        if lib.sqlite3_vfs_register(byref(self._vfs), 1) != 0:
            raise OSError("the file system was not registered")

    def step(self, *what):
        """Count a step; kill, or return the code of an error, when its time has come."""
        self.steps += 1
        if self.trace is not None:
            self.trace.append(what)
        if self.at is not None and self.steps == self.at and self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.at is not None and self.steps >= self.at:
            if self.fault == "full" and what[0] == "write":
                return FULL
            if self.fault == "fsync" and what[0] == "sync":
                return IOERR_FSYNC
        return 0

    def _open(self, vfs, name, file, flags, out):
        code = self._old.xOpen(ctypes.addressof(self._old), name, file, flags, out)
        if code == 0 and name:
            table = cast(file, POINTER(c_void_p))
            if table[0] not in self._methods:
                self._methods[table[0]] = self._wrapped(table[0])
            self._names[file] = Path(string_at(name).decode()).name
            table[0] = ctypes.addressof(self._methods[table[0]])
        return code

    def _wrapped(self, address):
        """The methods of a file, with four of them counted."""
        whole = Methods()
        memmove(byref(whole), address, sizeof(Methods))
        old = Methods.from_address(address)  # a field of `whole` would turn into what is put there
        write, truncate, sync = old.xWrite, old.xTruncate, old.xSync
        self._kept.append((old, write, truncate, sync))

        def on_write(file, content, length, at):
            if self.at is not None and self.steps + 1 == self.at and self.fault == "torn":
                write(file, content, length // 2, at)
                os.kill(os.getpid(), signal.SIGKILL)
            return self.step("write", self._names[file], at, string_at(content, length)) or write(
                file, content, length, at
            )

        def on_truncate(file, size):
            return self.step("cut", self._names[file], size) or truncate(file, size)

        def on_sync(file, flags):
            code = self.step("sync", self._names[file])
            return code or sync(file, flags)

        whole.xWrite, whole.xTruncate, whole.xSync = WRITE(on_write), CUT(on_truncate), SYNC(on_sync)
        return whole

    def _delete(self, vfs, name, sync):
        code = self.step("gone", Path(name.decode()).name)
        return code or self._old.xDelete(ctypes.addressof(self._old), name, sync)


# -- a session ---------------------------------------------------------------------------------------------------------


def row(number, key=None):
    a, b = random.Random(number).sample(_ITEMS, 2)
    letters = "x" * (number * 37 % 3000)  # rows of all sizes, some on pages of their own
    body = read_body("note", {"items": [a, b], "text": f"note {number} {letters}"[:2000]})
    return New(key or f"key {number}", "ann", "menu", "note", body)


def session(path, n_rows, say, *, planted=False):
    """Save rows, some in groups and some twice, and `say` the keys of those that are saved."""
    store, rng = Store.open(path), random.Random(7)
    number = store.seq
    try:
        while number <= n_rows:
            group = [row(n) for n in range(number, min(n_rows + 1, number + rng.choice([1, 1, 1, 2, 3])))]
            if rng.random() < 0.2:
                group.append(group[0])  # sent twice
            number += len({new.id for new in group})
            if planted:  # the fault that every check here must find: the reply goes out first
                say([new.id for new in group])
                store.append(group)
            else:
                say([one.id for one in store.append(group)])
            if rng.random() < 0.1:
                store.cache("tree", store.seq, rng.randbytes(5000))
    except ProjectError as error:
        if error.code != "full":
            try:
                store.append([row(n_rows + 1)])
            except ProjectError:
                return
            say(["taken after a failed sync"])


def lost(path, said):
    """What is wrong with a project after a fault, given the keys that were acknowledged; empty if all is well."""
    try:
        store = Store.open(path)
    except ProjectError as error:
        return f"does not open: {error}"
    with store:
        rows = store.statements()
        store._copied = store.seq  # no automatic copy
    keys = [one.id for one in rows[1:]]
    if missing := [key for key in said if key not in keys]:
        return f"missing: {missing[:3]}"
    if len(set(keys)) < len(keys):
        return "a row is there twice"
    for one in rows[1:]:
        if one.body != row(int(one.id.split()[1])).body:
            return f"{one.id} was altered"
    return "" if fold(rows).project else "the project has no first row"


def fresh(folder, name="beers.lw"):
    path = Path(folder) / name
    for old in Path(folder).glob(f"{name}*"):
        old.unlink() if old.is_file() else None
    Store.create(path, {"name": "beers"}, [("beers.csv", "table", b"a,b\n" * 2000)]).close()
    return path


# -- the process is killed ---------------------------------------------------------------------------------------------


def in_child(path, n_rows, at, fault, planted=False):
    """Run a session in a fork whose disk fails at a step; return the acknowledged keys and the steps it took."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            disk = Disk(at=at, fault=fault)
            session(path, n_rows, lambda keys: os.write(writing, (json.dumps(keys) + "\n").encode()), planted=planted)
            os.write(writing, (json.dumps(disk.steps) + "\n").encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = [json.loads(line) for line in pipe.read().splitlines()]
    os.waitpid(child, 0)
    steps = told.pop() if told and isinstance(told[-1], int) else None
    return [key for keys in told for key in keys], steps


def kills(folder, n_rows=50, every=1, planted=False, faults=("kill", "torn")):
    """Kill a session at every step of its disk; return the number of runs and what went wrong."""
    _, steps = in_child(fresh(folder), n_rows, None, "kill")
    runs, wrong = 0, []
    for fault in faults:
        for at in range(1, steps + 1, every):
            path = fresh(folder)
            said, _ = in_child(path, n_rows, at, fault, planted)
            runs += 1
            if found := lost(path, said):
                wrong.append((fault, at, found))
    return runs, wrong


# -- the power fails ---------------------------------------------------------------------------------------------------


@dataclass
class Played:
    """The files of a disk: what is certainly there, and the steps since the last sync of each."""

    synced: dict[str, bytes] = field(default_factory=dict)
    waiting: dict[str, list[tuple]] = field(default_factory=dict)

    def play(self, step):
        what, name = step[:2]
        if what == "sync":
            content = bytearray(self.synced.get(name, b""))
            for one in self.waiting.pop(name, []):
                apply(content, one)
            self.synced[name] = bytes(content)
        elif what == "gone":
            self.synced.pop(name, None)
            self.waiting.pop(name, None)
        else:
            self.waiting.setdefault(name, []).append(step)

    def cut(self, rng):
        """One state that a power cut may leave: any of the steps since the last sync, whole, in part, or not at all."""
        files = {}
        for name in {*self.synced, *self.waiting}:
            if name not in self.synced and rng.random() < 0.5:
                continue  # the name of a new file may be lost
            content, style = bytearray(self.synced.get(name, b"")), rng.choice(["all", "none", "some", "torn", "torn"])
            for one in self.waiting.get(name, []):
                if style == "all" or (style == "some" and rng.random() < 0.5):
                    apply(content, one)
                elif style == "torn" and one[0] == "write":
                    for start in range(0, len(one[3]), SECTOR):
                        if rng.random() < 0.5:
                            apply(content, ("write", name, one[2] + start, one[3][start : start + SECTOR]))
                elif style == "torn" and rng.random() < 0.5:
                    apply(content, one)
            files[name] = bytes(content)
        return files


def apply(content, step):
    if step[0] == "cut":
        del content[step[2] :]
        content.extend(bytes(step[2] - len(content)))
        return
    _, _, at, new = step
    content.extend(bytes(max(0, at + len(new) - len(content))))
    content[at : at + len(new)] = new


def record(folder, n_rows, planted=False):
    """Run a session in a fork and return the project before it, and its trace with the acknowledgments in place."""
    path = fresh(folder)
    before = path.read_bytes()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            disk = Disk(record=True)
            session(path, n_rows, lambda keys: disk.trace.append(("said", keys)), planted=planted)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(disk.trace, pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        trace = pickle.load(pipe)
    os.waitpid(child, 0)
    return before, trace


def power_cuts(folder, count, n_rows=50, seed=0, planted=False):
    """Cut the power at random moments of a session; return the number of cuts and what went wrong."""
    before, trace = record(folder, n_rows, planted)
    rng, wrong = random.Random(seed), []
    moments = sorted(rng.choices(range(len(trace) + 1), k=count))
    disk, said, at = Played({"beers.lw": before}), [], 0
    scene = Path(folder) / "scene"
    scene.mkdir(exist_ok=True)
    for moment in moments:
        for step in trace[at:moment]:
            if step[0] == "said":
                said += step[1]
            else:
                disk.play(step)
        at = moment
        for old in scene.iterdir():
            old.unlink()
        for name, content in disk.cut(rng).items():
            (scene / name).write_bytes(content)
        if found := lost(scene / "beers.lw", said):
            wrong.append((moment, found))
    return count, wrong


# -- the disk reports errors -------------------------------------------------------------------------------------------


def errors(folder, fault, n_rows=20, every=1):
    """Let a disk report errors from a step on: what was saved is there, and after a failed sync no row is taken."""
    _, steps = in_child(fresh(folder), n_rows, None, "kill")
    runs, wrong = 0, []
    for at in range(8, steps + 1, every):
        path = fresh(folder)
        said, _ = in_child(path, n_rows, at, fault)
        runs += 1
        if found := lost(path, said):
            wrong.append((fault, at, found))
    return runs, wrong


# -- plain copies ------------------------------------------------------------------------------------------------------


def copies(folder, between=300, during=300, n_rows=50, seed=0):
    """Copy the open file: between requests, and as a copy that reads while a commit writes.

    Of copies during commits, each page is as it was before or after any of the steps of that commit, in the order in
    which a program that reads from front to back may see them.
    """
    before, trace = record(folder, n_rows)
    rng, wrong, opened = random.Random(seed), [], 0
    content, said, states = bytearray(before), [], [(bytes(before), [], True)]
    for step in trace:
        if step[0] == "said":
            said = said + step[1]
            states.append((bytes(content), said, True))
        elif step[1] == "beers.lw" and step[0] in ("write", "cut"):
            apply(content, step)
            states.append((bytes(content), said, False))
    path = Path(folder) / "scene" / "copy.lw"
    path.parent.mkdir(exist_ok=True)
    quiet = [state for state in states if state[2]]
    for n in range(between + during):
        for old in path.parent.iterdir():
            old.unlink()
        if n < between:
            copy, known, _ = rng.choice(quiet)
        else:
            first = rng.randrange(len(states))
            known, parts, at, now = states[first][1], [], 0, first
            while at < len(states[now][0]):  # front to back, while time goes on
                chunk = rng.choice([SECTOR, 4096, 4096, 65536])
                parts.append(states[now][0][at : at + chunk])
                at += chunk
                now = min(len(states) - 1, now + rng.choice([0, 0, 0, 1, 1, 2, 5]))
            copy = b"".join(parts)
        path.write_bytes(copy)
        found = lost(path, known)
        if found.startswith("does not open") and "copied while it was being saved" in found and n >= between:
            continue
        opened += not found
        if found:
            wrong.append((n, found))
    return between + during, opened, wrong


def main():
    """Run the full counts and print them; exit with 1 if anything was lost or a planted fault was not found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--every", type=int, default=1, help="kill at every n-th step")
    parser.add_argument("--cuts", type=int, default=2000)
    parser.add_argument("--copies", type=int, default=300)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    given = parser.parse_args()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # what is counted does not depend on a real disk
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        runs, wrong = kills(folder, given.rows, given.every)
        planted = kills(folder, given.rows, max(given.every, 5), planted=True, faults=("kill",))
        cuts, cut_wrong = power_cuts(folder, given.cuts, given.rows)
        cut_planted = power_cuts(folder, max(50, given.cuts // 10), given.rows, planted=True)
        full, full_wrong = errors(folder, "full", every=max(1, given.every // 2))
        fsync, fsync_wrong = errors(folder, "fsync", every=max(1, given.every // 2))
        n_copies, opened, copy_wrong = copies(folder, given.copies, given.copies, given.rows)
    told = {
        "kills": runs, "kills_wrong": wrong[:5], "planted_runs": planted[0], "planted_found": len(planted[1]),
        "power_cuts": cuts, "power_cuts_wrong": cut_wrong[:5], "cuts_planted_found": len(cut_planted[1]),
        "disk_full": full, "disk_full_wrong": full_wrong[:5], "failed_syncs": fsync,
        "failed_syncs_wrong": fsync_wrong[:5],
        "copies": n_copies, "copies_opened": opened, "copies_wrong": copy_wrong[:5],
    }  # fmt: skip
    if given.json:
        print(json.dumps(told))
    else:
        for name, value in told.items():
            print(f"{name:20s} {value}")
    bad = [name for name, value in told.items() if name.endswith("_wrong") and value]
    return 1 if bad or not planted[1] or not cut_planted[1] else 0


def run(*arguments):
    """Run this file in a process of its own, and return what it found."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.faults", "--json", *arguments], capture_output=True, text=True, check=False
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else {"stderr": done.stderr}


if __name__ == "__main__":
    sys.exit(main())
