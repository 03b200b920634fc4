"""Counted work instead of measured time, for tests that a method scales: a busy machine counts the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from numba.core import event

from linkwise._kernels import compiled_only


class _Compiling(event.Listener):  # type: ignore[misc]
    """No calls are counted while Numba compiles."""

    def __init__(self, note: Any) -> None:
        self.note, self.depth = note, 0

    def on_start(self, _event: Any) -> None:
        self.depth += 1
        sys.setprofile(None)

    def on_end(self, _event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            sys.setprofile(self.note)


def calls(work: Callable[[], Any]) -> int:
    """Count the calls of functions, also built-in ones, while ``work`` runs in this thread with compiled kernels."""
    count = 0

    def note(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    with compiled_only(), event.install_listener("numba:compile", _Compiling(note)):
        sys.setprofile(note)
        try:
            work()
        finally:
            sys.setprofile(before)
    return count
