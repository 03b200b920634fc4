"""The pack: one file of compiled kernels for a baseline processor, which the wheel ``linkwise-kernels`` installs.

A line of magic comes first, then the length and digest of a header, the header as JSON, and compressed entries. The
header names versions, platform, settings, the features of the processor that the code needs, and the place, length and
digest of each entry; the name of an entry holds the stamp of its sources. A pack that does not fit this machine is not
used, and an entry that is damaged is as if it were not there. Entries are programs, so a pack is read only from a
folder of installed packages, and not if anyone may write to it.
"""

from __future__ import annotations

import hashlib
import json
import os
import site
import stat
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import config

from linkwise._kernels._target import here

MAGIC = b"linkwise kernels 1\n"
NAME = "kernels.pack"
PACKAGE = "linkwise_kernels"
_NOTES = f"{PACKAGE}-*.dist-info/RECORD"  # written by an installer
_HEAD = len(MAGIC) + 8 + 32  # bytes before the header: the magic, its length, its digest


class UnusablePackError(Exception):
    """A pack that is not used. ``hint`` is something to type where that would help."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


_AGAIN = "install its wheel again: pip install --force-reinstall --no-deps dist/linkwise_kernels-*.whl"
_FITTING = "build it again with `bash scripts/build-kernels`"


class Pack:
    """The entries of a pack; none where it is not used, and then ``refusal`` says why."""

    def __init__(self, path: Path | None = None, refusal: str = "not installed") -> None:
        self.path, self.refusal, self.header = path, UnusablePackError(refusal), dict[str, Any]()
        self._entries: dict[str, tuple[int, int, str]] = {}
        self._keys: dict[str, set[str]] = {}
        if path is None:
            return
        try:
            self.header, start = read_header(path)
            require_fit(self.header, here())
        except UnusablePackError as refusal:
            self.refusal = refusal
            return
        for name, (offset, length, digest) in self.header["entries"].items():
            self._entries[name] = (start + offset, length, digest)
            stem, _, key = name.rpartition("-")
            self._keys.setdefault(stem, set()).add(key)

    def __len__(self) -> int:
        return len(self._entries)

    def keys(self, stem: str) -> set[str]:
        """The keys of all entries whose names start with a stem."""
        return self._keys.get(stem, set())

    def load(self, stem: str, key: str) -> bytes | None:
        """The bytes of an entry; None where there is none, or where it is damaged."""
        place = self._entries.get(f"{stem}-{key}")
        if place is None or self.path is None:
            return None
        offset, length, digest = place
        try:
            with self.path.open("rb") as file:
                file.seek(offset)
                packed = file.read(length)
            if hashlib.sha256(packed).hexdigest() == digest:
                return zlib.decompress(packed)
        except (OSError, zlib.error):
            pass
        self.refusal = UnusablePackError(f"{self.path} is damaged", _AGAIN)
        return None


@cache
def installed_pack() -> Pack:
    """The pack of the installed companion wheel; one without entries where it is missing or not used.

    It lies among the installed packages, or beside linkwise, with the notes of its installer. ``sys.path`` is not
    searched: it may hold the working folder, where a pack may lie by accident.
    """
    if os.environ.get("LINKWISE_PACK") == "0":
        return Pack(refusal="LINKWISE_PACK is 0")
    if config.CPU_NAME is not None or config.CPU_FEATURES is not None:  # type: ignore[attr-defined]
        return Pack(refusal="NUMBA_CPU_NAME or NUMBA_CPU_FEATURES is set")
    users = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    places = [Path(__file__).parents[2], *map(Path, [*site.getsitepackages(), *users])]
    installed = (place for place in places if (place / PACKAGE / NAME).is_file() and [*place.glob(_NOTES)])
    place = next(installed, None)
    return Pack(None if place is None else place / PACKAGE / NAME)


def read_header(path: Path) -> tuple[dict[str, Any], int]:
    """Read and check the header of a pack; return it and the position of the first entry."""
    damaged = UnusablePackError(f"{path} is damaged", _AGAIN)
    try:
        with path.open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & stat.S_IWOTH:
                msg = f"{path} may be written by anyone"
                raise UnusablePackError(msg, f"chmod o-w {path}")
            head = file.read(_HEAD)
            length = int.from_bytes(head[len(MAGIC) : len(MAGIC) + 8], "big")
            size = os.fstat(file.fileno()).st_size
            text = file.read(length) if head.startswith(MAGIC) and length <= size else b""
    except OSError as unreadable:
        raise damaged from unreadable
    if not text or hashlib.sha256(text).digest() != head[-32:]:
        raise damaged
    header = json.loads(text)  # as it was written, by its digest
    if size != _HEAD + length + sum(entry[1] for entry in header["entries"].values()):
        raise damaged
    return header, _HEAD + length


def require_fit(header: dict[str, Any], here: dict[str, Any]) -> None:
    """Refuse a pack for other versions, another platform, other settings, or a processor that can do more."""
    for name, version in here["versions"].items():
        if header["versions"].get(name) != version:
            msg = f"built for {name} {header['versions'].get(name)}, and this is {version}"
            raise UnusablePackError(msg, _FITTING)
    if header["platform"] != here["platform"]:
        msg = f"built for {header['platform']}, and this is {here['platform']}"
        raise UnusablePackError(msg)
    lacking = [feature for feature in header["features"] if feature not in here["features"]]
    if lacking:
        msg = f"this processor lacks {', '.join(lacking)}"
        raise UnusablePackError(msg)
    changed = [name for name, value in here["settings"].items() if header["settings"].get(name) != value]
    if changed:
        msg = f"not for these settings of Numba: {', '.join(changed)}"
        raise UnusablePackError(msg)


def write_pack(path: Path, header: dict[str, Any], entries: Iterable[tuple[str, bytes]]) -> None:
    """Write a pack of entries."""
    places, blobs, offset = {}, [], 0
    for name, payload in entries:
        packed = zlib.compress(payload, 9)
        places[name] = (offset, len(packed), hashlib.sha256(packed).hexdigest())
        offset += len(packed)
        blobs.append(packed)
    text = json.dumps({**header, "entries": places}, sort_keys=True).encode()
    head = MAGIC + len(text).to_bytes(8, "big") + hashlib.sha256(text).digest()
    path.write_bytes(b"".join([head, text, *blobs]))
