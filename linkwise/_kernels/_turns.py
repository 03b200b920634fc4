"""Processes that compile kernels take turns: one compiles, the others wait and load what it has written.

Two processes that start together need the same kernels. Without turns both compile all of them; with turns each kernel
is compiled once. A turn is a lock on one byte of a file in the cache folder, so the system ends it with its process:
a process that is killed blocks no other. Where files cannot be locked, and after waiting for ``TRIES`` pauses, a
process compiles by itself, as it would without turns.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAUSE = 0.02
TRIES = 6000  # two minutes; one kernel with all that it calls takes seconds

_BYTES = 2**31 - 1  # Windows counts positions in a signed number of 32 bits


class _Turns:
    """The turns that this process has."""

    def __init__(self) -> None:
        self._file: int | None = None
        self._held: Counter[int] = Counter()  # a kernel may call itself, so a turn may be taken twice
        self._guard = threading.Lock()

    def forget(self) -> None:
        """Start again without turns: a forked process does not inherit them."""
        self._held.clear()
        self._guard = threading.Lock()

    def take(self, place: Path, byte: int) -> bool:
        """Wait until no other process has this turn. Return whether we have it."""
        for _ in range(TRIES):
            with self._guard:
                try:
                    if self._file is None:
                        self._file = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
                    if self._held[byte] == 0:
                        _lock(self._file, byte)
                except BlockingIOError:
                    pass
                except OSError:
                    return False
                else:
                    self._held[byte] += 1
                    return True
            pause()
        return False

    def end(self, byte: int) -> None:
        """Give a turn back."""
        with self._guard:
            self._held[byte] -= 1
            if self._held[byte] <= 0 and self._file is not None:
                del self._held[byte]
                _unlock(self._file, byte)


def pause() -> None:
    """Let the others work."""
    time.sleep(PAUSE)


if os.name == "nt":  # pragma: no cover
    import msvcrt

    def _lock(file: int, byte: int) -> None:
        os.lseek(file, byte, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except PermissionError:
            raise BlockingIOError from None

    def _unlock(file: int, byte: int) -> None:
        os.lseek(file, byte, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]

else:
    import fcntl

    def _lock(file: int, byte: int) -> None:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except PermissionError:  # some systems' word for "another process has it"
            raise BlockingIOError from None

    def _unlock(file: int, byte: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)


_TURNS = _Turns()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_TURNS.forget)


class _Compiling(threading.local):
    """The kernels that this thread is compiling, outermost first; for each, whether it has its turn."""

    def __init__(self) -> None:
        self.stack: list[bool] = []


_COMPILING = _Compiling()


@contextlib.contextmanager
def _interrupts_after() -> Iterator[None]:
    """Hold Ctrl-C back until a kernel is compiled: LLVM's clean-up runs in places where Python drops exceptions."""
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt


def take_turns(dispatcher: Any) -> None:
    """Let a kernel that is not in the cache be compiled by one process at a time.

    Kernels compile those they call, so a process may hold several turns. It takes them from callers to callees, and
    calls do not go round in circles, so processes cannot wait for each other.
    """
    compiles = dispatcher.compile
    byte = _byte(dispatcher._cache.name)

    def compile_in_turn(signature: Any) -> Any:
        stack = _COMPILING.stack
        with contextlib.nullcontext() if stack else _interrupts_after():
            stack.append(False)
            try:
                return compiles(signature)
            finally:
                if stack.pop():
                    _TURNS.end(byte)

    dispatcher.compile = compile_in_turn


def take_turn(name: str, folder: Path) -> bool:
    """Wait until no other process compiles the kernel of this name that this thread is about to compile.

    Return whether the turn is new: another process may have compiled the kernel meanwhile.
    """
    stack = _COMPILING.stack
    if not stack or stack[-1] or not _TURNS.take(folder / "linkwise.turns", _byte(name)):
        return False
    stack[-1] = True
    return True


def _byte(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % _BYTES
