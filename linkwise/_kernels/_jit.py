"""The one way kernels are compiled: lazily, cached on disk, and announced when it takes a while."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import event

__all__ = ["inner", "njit"]


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile with Numba on first call and cache the machine code beside the source file.

    Use as ``@njit`` or ``@njit(parallel=True)``. Signatures are never written out: that would compile at import. Where
    nothing can be kept on disk, kernels are compiled again in every process, and that is said.
    """
    if function is None:
        return lambda f: njit(f, **options)
    try:
        dispatcher = numba.njit(cache=True, **options)(function)
    except RuntimeError as nowhere:
        if "cannot cache" not in str(nowhere):
            raise
        _ANNOUNCE.kept = False
        return numba.njit(**options)(function)
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        # Numba keys its cache by the file of the function alone and would keep callers compiled against an older
        # version of a kernel in another file; one stamp for the whole package makes every edit renew all of them.
        dispatcher._cache._cache_file._source_stamp = _STAMP
    return dispatcher


def inner(function: Callable[..., Any]) -> Any:
    """Compile a kernel that only other kernels call.

    It gets no entry from Python, which for a state of thirty arrays takes as long to compile as the kernel itself; so
    Python must not call it: Numba has no check for that and would crash. Tests reach it through its callers.
    """
    return njit(function, no_cpython_wrapper=True)


def _package_stamp() -> tuple[float, int]:
    """Newest change and total size of the sources that hold kernels: differs whenever one of them does."""
    files = [path for path in Path(__file__).parents[1].rglob("*.py") if b"njit" in path.read_bytes()]
    states = [path.stat() for path in files]
    return max(state.st_mtime for state in states), sum(state.st_size for state in states)


_STAMP = _package_stamp()


class _Announce(event.Listener):  # type: ignore[misc]
    """Say once per process that kernels are being compiled; Numba fires the event only when its cache has no copy."""

    def __init__(self) -> None:
        self.said = False
        self.kept = True  # whether there is a folder for compiled code

    def on_start(self, event: Any) -> None:
        if self.said or not str(event.data["dispatcher"].py_func.__module__).startswith("linkwise"):
            return
        self.said = True
        if os.environ.get("LINKWISE_QUIET") != "1":
            often = (
                "once per installation"
                if self.kept
                else "each time, since no folder for compiled code can be written; NUMBA_CACHE_DIR can name one"
            )
            print(
                f"linkwise: compiling kernels for first use (seconds, {often}; set LINKWISE_QUIET=1 to hide this)",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event: Any) -> None:
        pass


_ANNOUNCE = _Announce()
event.register("numba:compile", _ANNOUNCE)
