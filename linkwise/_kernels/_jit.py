"""Decorators of kernels: compiled when first needed, cached on disk, and announced when it takes a while."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import event

from linkwise._kernels._tier import interpret_small, supported
from linkwise._kernels._turns import take_turns
from linkwise._messages import notice


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile with Numba when first needed and cache the machine code beside the source file.

    Use as ``@njit`` or ``@njit(nogil=True)``. Signatures are never written out: that would compile at import. Where
    nothing can be kept on disk, kernels are compiled again in every process, and that is said. Small work is
    interpreted as long as that is cheaper (`_tier`).
    """
    if function is None:
        return lambda f: njit(f, **options)
    kernel = _compiled(function, **options)
    if not numba.config.DISABLE_JIT and "no_cpython_wrapper" not in options and supported():  # type: ignore[attr-defined]
        interpret_small(kernel)
    return kernel


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    """The kernel as Numba compiles it, with a cache whose entries end when a source does, and processes in turns."""
    try:
        dispatcher = numba.njit(cache=True, **options)(function)
    except RuntimeError as nowhere:
        if "cannot cache" not in str(nowhere):
            raise
        _ANNOUNCE.kept = False
        return numba.njit(**options)(function)
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return dispatcher
    # Numba keys its cache by the file of the function alone and would keep callers compiled against an older
    # version of a kernel in another file; this stamp changes with every file that the function's file calls into.
    file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if not hasattr(file, "_source_stamp"):
        # These names are private to Numba. In a version without them, code that is never kept is never out of date.
        _ANNOUNCE.kept = False
        return numba.njit(**options)(function)
    file._source_stamp = source_stamp(Path(function.__code__.co_filename))
    take_turns(dispatcher)
    return dispatcher


def inner(function: Callable[..., Any]) -> Any:
    """Compile a kernel that only other kernels call.

    It gets no entry from Python, which for a state of thirty arrays takes as long to compile as the kernel itself; so
    Python must not call it: Numba has no check for that and would crash. Tests reach it through its callers.
    """
    return njit(function, no_cpython_wrapper=True)


_HOME = Path(__file__).parents[2]  # of the package, so that a copy elsewhere reads its own files
_IMPORT = re.compile(rb"^from (linkwise[\w.]*) import (?:\(([^)]*)\)|([^\n#]*))", re.MULTILINE)


@cache
def kernel_sources(file: Path) -> frozenset[Path]:
    """The files that compiled code of this file depends on: itself, and files it takes kernels or constants from."""
    found, left = {file, Path(__file__)}, [file]
    while left:
        for module, bracketed, plain in _IMPORT.findall(_text(left.pop())):
            place = _HOME.joinpath(*module.decode().split("."))
            names = [name.split(b" as ")[0].strip().decode() for name in (bracketed or plain).split(b",")]
            for other in [place.with_suffix(".py"), *(_home(place, name) for name in names if name)]:
                if other in found or not other.is_file():
                    continue
                if re.search(rb"\bnjit\b|\bnumba\b", _text(other)):
                    left.append(other)
                elif not any(name.isupper() for name in names):
                    continue
                found.add(other)
    return frozenset(found)


@cache
def _home(package: Path, name: str) -> Path:
    """The file behind a name of a package: a module of it, or where the stub of the package takes the name from."""
    stub = package / "__init__.pyi"
    for module, bracketed, plain in _IMPORT.findall(_text(stub) if stub.is_file() else b""):
        if name in (one.split(b" as ")[0].strip().decode() for one in (bracketed or plain).split(b",")):
            home = _HOME.joinpath(*module.decode().split("."))
            return _home(home, name) if home.is_dir() else home.with_suffix(".py")
    return package / f"{name}.py"


@cache
def _text(file: Path) -> bytes:
    return file.read_bytes()


@cache
def source_stamp(file: Path) -> str:
    """A digest of all sources that compiled code of this file depends on: the same wherever the package lies."""
    digest = hashlib.sha256()
    for other in sorted(kernel_sources(file)):
        digest.update(_text(other))
    return digest.hexdigest()


class _Announce(event.Listener):  # type: ignore[misc]
    """Say once per process that kernels are being compiled; Numba fires the event only when its cache has no copy.

    The first ``FEW`` kernels pass in silence: they take a second or two, and often no others follow.
    """

    FEW = 2

    def __init__(self) -> None:
        self.begun = 0
        self.kept = True  # whether there is a folder for compiled code

    def on_start(self, event: Any) -> None:
        if not str(event.data["dispatcher"].py_func.__module__).startswith("linkwise"):
            return
        self.begun += 1
        if self.begun == self.FEW + 1 and os.environ.get("LINKWISE_QUIET") != "1":
            often = (
                "once for this kind of work; `linkwise warmup` compiles what the commands use"
                if self.kept
                else "each time, since no folder for compiled code can be written; NUMBA_CACHE_DIR can name one"
            )
            notice(f"compiling kernels, which can take a minute ({often}; set LINKWISE_QUIET=1 to hide this)")

    def on_end(self, event: Any) -> None:
        pass


_ANNOUNCE = _Announce()
event.register("numba:compile", _ANNOUNCE)
