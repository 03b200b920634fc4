"""The announcement that kernels are being compiled: once per process, and only where it takes a while."""

from __future__ import annotations

import os
from typing import Any

from numba.core import event

from linkwise._kernels._tier import kernels_under
from linkwise._kernels.machine_code import can_keep
from linkwise._kernels.pack import installed_pack
from linkwise._messages import notice

# Bytes of the Python code of kernels that take about two seconds to compile: a count, so that the same work is
# announced always or never.
LONG = 5_000


class _Announce(event.Listener):  # type: ignore[misc]
    """Add up the code that is compiled, and say so when that takes long.

    Numba fires the event only where the cache has no copy.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self.counted: set[int] = set()  # kernels by identity
        self.said = False

    def on_start(self, event: Any) -> None:
        kernel = event.data["dispatcher"]
        if self.said or not str(kernel.py_func.__module__).startswith("linkwise"):
            return
        for one in kernels_under(kernel):  # those that it calls are compiled next
            if id(one) not in self.counted and not one.overloads:
                self.counted.add(id(one))
                self.bytes += len(one.py_func.__code__.co_code)
        if self.bytes > LONG:
            self.said = True
            if os.environ.get("LINKWISE_QUIET") != "1":
                notice(_words())

    def on_end(self, event: Any) -> None:
        pass


def _words() -> str:
    often = (
        "once for this kind of work; `linkwise warmup` compiles everything ahead"
        if can_keep()
        else "each time, since no folder for compiled code can be written; NUMBA_CACHE_DIR can name one"
    )
    refusal = installed_pack().refusal
    pack = f"\nlinkwise-kernels is not used: {refusal}. Hint: {refusal.hint}" if refusal.hint else ""
    return f"compiling kernels, which can take a minute ({often}; set LINKWISE_QUIET=1 to hide this){pack}"


def announce() -> None:
    """Listen to Numba."""
    event.register("numba:compile", _Announce())
