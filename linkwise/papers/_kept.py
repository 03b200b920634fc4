"""Computations that no study describes: tasks as plain values, each computed once and kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from linkwise import __version__
from linkwise.experiments._cell import canonical
from linkwise.experiments._store import Store
from linkwise.papers._exhibit import Settings

__all__ = ["compute_all"]

Task = Mapping[str, Any]


def compute_all(
    settings: Settings, folder: str, compute: Callable[..., dict[str, float]], tasks: Sequence[Task]
) -> list[dict[str, float]]:
    """Return ``compute(**task)`` of every task in order; what was computed before is read, the rest is kept."""
    from joblib import Parallel, delayed

    store = Store(settings.store / folder)
    name = f"{compute.__module__}:{compute.__qualname__}"
    keys = [hashlib.sha256(canonical([__version__, name, dict(task)]).encode()).hexdigest() for task in tasks]
    with store.working():
        open_ones = [at for at, key in enumerate(keys) if store.get(key) is None]
        settings.say(f"{folder}: {len(tasks)} results: {len(tasks) - len(open_ones)} finished before")
        made = Parallel(n_jobs=settings.jobs, return_as="generator")(
            delayed(compute)(data_folder=settings.data, **tasks[at]) for at in open_ones
        )
        for at, values in zip(open_ones, made, strict=True):
            store.put(keys[at], {"values": values})
    return [(store.get(key) or {})["values"] for key in keys]
