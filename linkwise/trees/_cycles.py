"""Refusal of parents that form a cycle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise._typing import IntArray
from linkwise.exceptions import LinkwiseError
from linkwise.trees._kernels import top_down


def refuse_cycle(parent: IntArray, word: Callable[[int], str]) -> IntArray:
    """Return the nodes with parents before children, or name the nodes of a cycle."""
    order: IntArray = top_down(parent)
    if len(order) == len(parent):
        return order
    lost = np.ones(len(parent), dtype=np.bool_)
    lost[order] = False
    node = int(np.flatnonzero(lost)[0])
    for _ in range(len(parent)):  # from below a cycle into it
        node = int(parent[node])
    ring = [node]
    while int(parent[ring[-1]]) != node:
        ring.append(int(parent[ring[-1]]))
    first = ring.index(min(ring))
    ring = ring[first:] + ring[:first]
    shown = [word(v) for v in ring[:5]] + ([f"… ({len(ring)} nodes)"] if len(ring) > 5 else [])
    msg = f"the taxonomy has a cycle, expected a forest: {' < '.join([*shown, word(ring[0])])}."
    raise LinkwiseError(msg)
