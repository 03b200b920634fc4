"""The memory plan: log a large allocation before it is made, and refuse one that cannot fit."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from linkwise.exceptions import MemoryLimitError

logger = logging.getLogger("linkwise")

GIB = 1024**3

# Samples up to which commands compute a matrix of all distances without being asked to: 3.2 GB.
MATRIX = 20_000


def row_pitch(n: int, dtype: npt.DTypeLike = np.float64) -> int:
    """Return the number of entries between the starts of two rows of a dense matrix: ``n`` plus a little.

    Rows a power of two apart would compete for the same few cache lines; an odd number of lines avoids it.
    """
    line = 64 // np.dtype(dtype).itemsize
    lines = -(-n // line)
    return (lines | 1) * line if n >= 256 else n


def _first_number(path: str) -> int | None:
    try:
        return int(Path(path).read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def available_memory() -> int | None:
    """Return the bytes this process can still allocate, as reported by the system; None if it does not report them."""
    known: list[int] = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        known += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    except OSError:
        pass
    if not known and hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
        known.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        most, now = _first_number(limit), _first_number(used)
        if most is not None and now is not None:
            known.append(max(0, most - now))
    return min(known) if known else None


def require_memory(needed: int, what: str, alternative: str, log: logging.Logger = logger) -> None:
    """Log an allocation of more than 1 GiB, or raise `MemoryLimitError` when ``needed`` bytes cannot fit.

    ``what`` names the purpose of the allocation, as the start of a sentence; ``alternative`` is the hint.
    """
    if needed <= GIB // 16:
        return
    free = available_memory()
    if free is not None and needed > free:
        msg = f"{what} needs {needed / GIB:.1f} GiB, but only {free / GIB:.1f} GiB is available.\nHint: {alternative}"
        raise MemoryLimitError(msg, needed=needed, available=free)
    if needed > GIB:
        log.info("%s allocates %.1f GiB", what, needed / GIB)
