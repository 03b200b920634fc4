"""Equality of statements: one number for all equal statements of one or several tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwise._typing import IntArray

if TYPE_CHECKING:
    from linkwise.constraints._table import Constraints


def number_alike(*tables: Constraints) -> tuple[IntArray, IntArray]:
    """Number equal statements alike; return the number of every statement and the first statement of every number."""
    kind = np.concatenate([table.kind for table in tables]).astype(np.intp)
    items = np.concatenate([table.items for table in tables])
    n = tables[0].n_samples
    if any(len(table.groups.statement) for table in tables):
        items[:, 2] = np.where(items[:, 0] < 0, _content(tables), items[:, 2])
    elif 3 * n * n * (n + 1) < 2**62:  # one 64-bit key per statement sorts fastest
        key = ((kind * n + items[:, 0]) * n + items[:, 1]) * (n + 1) + items[:, 2] + 1
        _, first, alike = np.unique(key, return_index=True, return_inverse=True)
        return alike, first
    order = np.lexsort((items[:, 2], items[:, 1], items[:, 0], kind))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(items[order], axis=0) != 0).any(axis=1) | (np.diff(kind[order]) != 0)
    alike = np.empty(len(order), dtype=np.intp)
    alike[order] = np.cumsum(new) - 1
    return alike, order[new]


def _content(tables: tuple[Constraints, ...]) -> IntArray:
    """Return a number for the members of each group statement, 0 for other statements."""
    seen: dict[bytes, int] = {}
    parts = []
    for table in tables:
        code = np.zeros(table.n_statements, dtype=np.intp)
        groups = table.groups
        for g, statement in enumerate(groups.statement):
            code[statement] = seen.setdefault(groups.of(g).tobytes(), len(seen))
        parts.append(code)
    return np.concatenate(parts)
