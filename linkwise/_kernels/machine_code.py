"""The cache of compiled kernels: first the pack of the companion wheel, then a folder of the user.

Compiled code is never kept beside the sources. The package folder may be read-only, and files that an installer does
not know would outlive ``pip uninstall`` and leave an importable folder ``linkwise`` behind. Every entry is one file.
Its name tells the kernel, its signature, the compiler and the processor; the folder's name tells the stamp of the
sources. So there is no index to keep, processes write without waiting for each other, and installations of one version
share their code. An entry that is cut off, damaged or of another version is as if there were none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
import shutil
import sys
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import caching, config
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from linkwise._kernels._sources import source_stamp
from linkwise._kernels._target import settings, versions
from linkwise._kernels._turns import take_turn
from linkwise._kernels.pack import installed_pack
from linkwise._messages import notice

# Versions of a kernel file whose code is kept; when a new one comes, the one that was used least recently goes.
VERSIONS = 8
# What loading code of another version, with types that have moved since, may end in.
_UNREADABLE = (ImportError, AttributeError, EOFError, IndexError, TypeError, ValueError, pickle.UnpicklingError)
_DIGEST = 32  # bytes at the start of an entry
_STAMP = 16  # digits of the stamp of the sources in the name of a folder


def code_home() -> Path:
    """The folder for compiled code: that of ``NUMBA_CACHE_DIR``, or the user's, by the custom of the system."""
    if config.CACHE_DIR:  # type: ignore[attr-defined]
        return Path(config.CACHE_DIR)  # type: ignore[attr-defined]
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path("~/AppData/Local").expanduser()) / "linkwise" / "Cache"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/linkwise").expanduser()
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if Path(named).is_absolute() else Path("~/.cache").expanduser()) / "linkwise"


def can_keep() -> bool:
    """Whether there is a folder for compiled code."""
    with contextlib.suppress(OSError, RuntimeError):  # no home
        # Entries are programs. Others must not write those of a user; a folder with a name from outside may be shared.
        code_home().mkdir(mode=0o777 if config.CACHE_DIR else 0o700, parents=True, exist_ok=True)  # type: ignore[attr-defined]
        return os.access(code_home(), os.W_OK)
    return False


@cache
def _machine(target: tuple[Any, ...]) -> str:
    """A short name of the compiler, its settings, and the processor it compiles for."""
    return _short(repr((versions(), settings(), target)))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]


class KernelCache(caching._Cache):  # type: ignore[misc]
    """The compiled forms of one kernel, as Numba asks for them."""

    failed: OSError | None = None  # of all kernels; said once

    def __init__(self, function: Any) -> None:
        self.function, self.code = function, function.__code__
        self.stamp = source_stamp(Path(self.code.co_filename))
        self.name = f"{function.__module__}:{function.__qualname__}:{self.code.co_firstlineno}"
        self._stem = re.sub(r"[^\w.]", "", function.__qualname__)
        self._version = f"{function.__module__}-{self.stamp[:_STAMP]}"
        self._enabled = True

    @property
    def _packed(self) -> str:
        """The name of the kernel in a pack, without its key."""
        return f"{self._version}/{self._stem}"

    @property
    def folder(self) -> Path:
        """The folder of entries of the kernel's file in its present version."""
        return code_home() / self._version

    @property
    def cache_path(self) -> str:
        """The same folder, for Numba's statistics."""
        return str(self.folder)

    def key(self, signature: Any) -> str:
        """A short name of the kernel with this signature, the same on all machines."""
        types = getattr(signature, "args", signature)
        cells = self.function.__closure__ or ()
        inside = dumps(tuple(cell.cell_contents for cell in cells)) if cells else b""
        return _short(f"{self.name} {hashlib.sha256(inside + self.code.co_code).hexdigest()} {types}")

    def known(self, context: Any) -> set[str]:
        """The keys of all signatures whose code is kept."""
        found = {*installed_pack().keys(self._packed)}
        with contextlib.suppress(OSError, RuntimeError):
            files = [file.name for file in self.folder.iterdir() if file.name.startswith(f"{self._stem}-")]
            ending = f".{_machine(context.codegen().magic_tuple())}" if files else ""
            found |= {name[len(self._stem) + 1 : -len(ending)] for name in files if name.endswith(ending)}
        return found

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled form for a signature, waiting for a process that compiles it; None where there is none."""
        target_context.refresh()
        if not self._enabled:
            return None
        packed = installed_pack().load(self._packed, self.key(sig))
        found = self._rebuilt(packed, sig, target_context) or self._kept(sig, target_context)
        if found is None and can_keep() and take_turn(self.name, code_home()):
            found = self._kept(sig, target_context)  # another process may have compiled it while this one waited
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled form; where that fails, on a full disk for example, go on without."""
        if not self._enabled or data.library.has_dynamic_globals or any(not one.can_cache for one in data.lifted):
            return
        payload, entry = packed_form(data), self._entry(sig, data.codegen)
        try:
            self._prepare()
            part = entry.with_name(f"{entry.name}.{uuid.uuid4().hex[:8]}")
            try:
                part.write_bytes(hashlib.sha256(payload).digest() + payload)
                part.replace(entry)
            finally:
                part.unlink(missing_ok=True)
        except OSError as failed:
            if KernelCache.failed is None and can_keep() and os.environ.get("LINKWISE_QUIET") != "1":
                notice(f"compiled kernels cannot be kept in {code_home()}: {failed.strerror or failed}.")
            KernelCache.failed = failed
        except RuntimeError:  # the user has no home
            pass

    def _prepare(self) -> None:
        """Make the folder of this version; of the versions before it keep those used last."""
        if self.folder.is_dir():
            return
        can_keep()
        self.folder.mkdir(exist_ok=True)
        same = [folder for folder in code_home().iterdir() if folder.name[:-_STAMP] == self._version[:-_STAMP]]
        same.sort(key=lambda folder: (folder == self.folder, folder.stat().st_mtime_ns))
        for old in same[:-VERSIONS]:
            shutil.rmtree(old, ignore_errors=True)

    def _entry(self, sig: Any, codegen: Any) -> Path:
        return self.folder / f"{self._stem}-{self.key(sig)}.{_machine(codegen.magic_tuple())}"

    def _kept(self, sig: Any, context: Any) -> Any:
        try:
            content = self._entry(sig, context.codegen()).read_bytes()
        except (OSError, RuntimeError):
            return None
        with contextlib.suppress(OSError):  # of another user
            os.utime(self.folder)  # used now
        payload = content[_DIGEST:]
        intact = hashlib.sha256(payload).digest() == content[:_DIGEST]
        return self._rebuilt(payload if intact else None, sig, context)

    def _rebuilt(self, payload: bytes | None, sig: Any, context: Any) -> Any:
        """The compiled form from its bytes; None where they are missing, unreadable or of another signature."""
        if payload is None:
            return None
        try:
            form = CompileResult._rebuild(context, *pickle.loads(payload))  # noqa: S301  # from our folder or the installed pack
        except _UNREADABLE:
            return None
        return form if tuple(form.signature.args) == tuple(getattr(sig, "args", sig)) else None

    def enable(self) -> None:
        """Use the cache."""
        self._enabled = True

    def disable(self) -> None:
        """Do not use the cache."""
        self._enabled = False

    def flush(self) -> None:
        """Forget all entries of this kernel."""
        with contextlib.suppress(OSError, RuntimeError):
            for entry in self.folder.glob(f"{self._stem}-*"):
                entry.unlink()


def packed_form(form: Any) -> bytes:
    """The bytes of a compiled form, without the text of its types, which names the folder of the sources."""
    parts = form._reduce()
    return bytes(dumps((*parts[:6], "", *parts[7:])))


def entries(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every entry in a folder of compiled code, by the name it has in a pack, which tells nothing about the machine."""
    for file in sorted(folder.glob("*/*-*.*")):
        yield f"{file.parent.name}/{file.stem}", file.read_bytes()[_DIGEST:]
