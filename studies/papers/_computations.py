"""Computations that no study describes: tasks as plain values, each computed once and kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import linkwise
from studies.experiments._cell import canonical
from studies.experiments._store import Store
from studies.papers._exhibit import Settings

Task = Mapping[str, Any]
HOMES = (Path(linkwise.__file__).parent, Path(__file__).parents[1])  # of all code that makes a result


@cache
def code_stamp(home: Path) -> str:
    """A digest of all Python files below a folder, names included; it is the same wherever the folder lies."""
    digest = hashlib.sha256()
    for file in sorted(home.rglob("*.py")):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(home).as_posix()}\n{len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def compute_all(
    settings: Settings, folder: str, compute: Callable[..., dict[str, float]], tasks: Sequence[Task]
) -> list[dict[str, float]]:
    """Return ``compute(**task)`` of every task in order; what the same code computed before is read, the rest is kept.

    A change to any Python file of the package makes it other code: each of them may decide a result.
    """
    from joblib import Parallel, delayed

    store = Store(settings.store / folder)
    code, name = [code_stamp(home) for home in HOMES], f"{compute.__module__}:{compute.__qualname__}"
    keys = [hashlib.sha256(canonical([code, name, dict(task)]).encode()).hexdigest() for task in tasks]
    with store.working():
        open_ones = [at for at, key in enumerate(keys) if store.get(key) is None]
        settings.say(f"{folder}: {len(tasks)} results: {len(tasks) - len(open_ones)} finished before")
        made = Parallel(n_jobs=settings.jobs, return_as="generator")(
            delayed(compute)(data_folder=settings.data, **tasks[at]) for at in open_ones
        )
        for at, values in zip(open_ones, made, strict=True):
            store.put(keys[at], {"values": values})
    return [(store.get(key) or {})["values"] for key in keys]
