"""How many threads or processes can run at once; who decides about threads asks here."""

from __future__ import annotations

import os

__all__ = ["cores"]


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
