"""``linkwise info`` and ``linkwise warmup``: what is installed, and compiling everything before it is needed."""

from __future__ import annotations

import os
import platform
import sys

import click

from linkwise import __version__
from linkwise.cli._options import cores
from linkwise.cli._verb import answer, speaks_json, verb

__all__ = ["info", "warmup"]

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
        ("compiled code", _cache()),
    ]
    answer(dict(rows), "\n".join(f"{name:<14} {value}" for name, value in rows))


@verb(short_help="Compile all kernels now, so that the first real use is quick.")
def warmup() -> None:
    """Compile all kernels now (about a minute, once per installation), so that the first real use is quick."""
    import time

    os.environ["LINKWISE_QUIET"] = "1"
    start = time.perf_counter()
    if not speaks_json():
        click.echo("Compiling ...", err=True)
    import numpy as np

    from linkwise import ConstrainedAgglomerative, Constraints, ReCon, check
    from linkwise.cli._cluster import LINKAGES
    from linkwise.problem import onetree

    rng = np.random.default_rng(0)
    pairs = Constraints.build(12, must_link=[(0, 1)], cannot_link=[(0, 2)])
    triplets = Constraints.build(12, triplets=[(0, 1, 2), (3, 4, 5)])
    X = rng.normal(size=(12, 3))
    for linkage in LINKAGES:
        for dtype in ("float64", "float32"):
            ConstrainedAgglomerative(n_clusters=3, linkage=linkage, dtype=dtype).fit(X)
            ConstrainedAgglomerative(n_clusters=3, linkage=linkage, dtype=dtype).fit(X, constraints=pairs)
        ReCon(linkage=linkage).fit(X, constraints=triplets)
    check(pairs | triplets)
    onetree(50, [(i, i + 1, i + 2) for i in range(48)])  # a chain: deep trees are built in another way
    seconds = time.perf_counter() - start
    if not speaks_json():
        click.echo(f"Ready in {seconds:.1f} s; kept in {_cache()}.", err=True)
    answer({"seconds": round(seconds, 3), "kept_in": _cache()})


def _memory() -> str:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return "unknown"
    return f"{total / 2**30:.1f} GiB"


def _cache() -> str:
    return os.environ.get("NUMBA_CACHE_DIR") or "__pycache__ folders beside the installed source files"
