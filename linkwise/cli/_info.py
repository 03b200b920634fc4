"""``linkwise info``: what is installed, and where."""

from __future__ import annotations

import os
import platform
import sys

from linkwise import __version__
from linkwise._cores import cores
from linkwise.cli._verb import answer, verb
from linkwise.cli._warmup import kept_in

__all__ = ["info"]

_NEEDED = ("numpy", "scipy", "scikit-learn", "numba", "click", "rich")
_OPTIONAL = ("matplotlib", "pandas", "polars", "pyarrow", "networkx", "dask", "starlette")


@verb(short_help="Show versions, cores, memory and where compiled code is kept.")
def info() -> None:
    """Show what a bug report needs: versions, cores, memory, and where compiled code is kept."""
    from importlib import metadata

    rows = [("linkwise", __version__), ("python", f"{platform.python_version()} ({sys.executable})")]
    for name in (*_NEEDED, *_OPTIONAL):
        try:
            rows.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            rows.append((name, "missing" if name in _NEEDED else "not installed (optional)"))
    rows += [
        ("system", platform.platform()),
        ("cores", str(cores())),
        ("memory", _memory()),
        ("compiled code", kept_in()),
    ]
    answer(dict(rows), "\n".join(f"{name:<14} {value}" for name, value in rows))


def _memory() -> str:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return "unknown"
    return f"{total / 2**30:.1f} GiB"
