"""Stamps of kernel files: digests of all sources that the machine code of a file depends on.

Numba ties compiled code to the file of the function alone and would keep callers compiled against an older version of a
kernel in another file. A stamp changes with every file that a kernel takes names from. It depends on contents, never
on dates or places, so that compiled code may move to another folder or machine.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

_HOME = Path(__file__).parents[2]  # of the package, so that a copy elsewhere reads its own files
_IMPORT = re.compile(rb"^from (linkwise[\w.]*) import (?:\(([^)]*)\)|([^\n#]*))", re.MULTILINE)


@cache
def kernel_sources(file: Path) -> frozenset[Path]:
    """The files that compiled code of this file depends on: itself, and files it takes kernels or constants from."""
    here = Path(__file__).parent
    found, left = {file, here / "_jit.py", here / "_dispatchers.py"}, [file]
    while left:
        for module, bracketed, plain in _IMPORT.findall(_text(left.pop())):
            place = _HOME.joinpath(*module.decode().split("."))
            names = [name.split(b" as ")[0].strip().decode() for name in (bracketed or plain).split(b",")]
            for other in [place.with_suffix(".py"), *(_home(place, name) for name in names if name)]:
                if other in found or not other.is_file() or (other.parent == here and other.name.startswith("_")):
                    continue  # private files of this folder do not change machine code, but for the two above
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
