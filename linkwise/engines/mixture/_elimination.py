"""Elimination orders and the tables they need: a tree of small tables instead of k^n joint states."""

from __future__ import annotations

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.mixture._kernels_elimination import Plan


def make_plan(
    n: int,
    component: IntArray,
    pairs: IntArray,
    same: FloatArray,
    other: FloatArray,
    found: tuple[IntArray, IntArray, IntArray],
    k: int,
) -> Plan:
    """Lay out the tables of nodes 0 to n - 1 for an order that `eliminate` found.

    ``component`` numbers the connected components 0, 1, ... without gaps; ``pairs`` are different, smaller end first.
    """
    order, start, neighbor = found
    by_component = np.argsort(component[order], kind="stable")
    node = order[by_component]
    position = np.empty(n, dtype=np.intp)
    position[node] = np.arange(n)
    sizes = np.diff(start)
    owner = np.repeat(position[order], sizes)
    member = position[neighbor]
    at = np.lexsort((member, owner))
    owner, member = owner[at], member[at]
    count = sizes[by_component]
    begin = np.concatenate([[0], np.cumsum(count)]).astype(np.intp)
    parent = np.full(n, -1, dtype=np.intp)
    parent[count > 0] = member[begin[:-1][count > 0]]
    # where a member of a separator stands in the table of the parent: found by its place among all (table, member)
    above = parent[owner]
    slot = np.searchsorted(owner * n + member, above * n + member)
    place = np.where(member == above, 0, slot - begin[above] + 1)
    same_at, other_at = _factors(position, pairs, same, other, owner * n + member, n)
    states = np.asarray(k, dtype=np.intp) ** (count + 1)
    first = np.concatenate([[0], np.cumsum(np.bincount(component))]).astype(np.intp)
    before = np.cumsum(states) - states
    offset = before - np.repeat(before[first[:-1]], np.diff(first))
    total = np.add.reduceat(states, first[:-1]) if n else np.zeros(1, dtype=np.intp)
    widest = int(count.max(initial=0)) + 1
    return Plan(
        node, begin, member, place.astype(np.intp), same_at, other_at, parent, first, offset, states,
        int(total.max(initial=0)), widest,
    )  # fmt: skip


def _factors(
    position: IntArray, pairs: IntArray, same: FloatArray, other: FloatArray, key: IntArray, n: int
) -> tuple[FloatArray, FloatArray]:
    """Hand each pair's factors to the separator entry that joins its two tables; entries that only fill in get 0."""
    a, b = position[pairs[:, 0]], position[pairs[:, 1]]
    at = np.searchsorted(key, np.minimum(a, b) * n + np.maximum(a, b))
    same_at, other_at = np.zeros(len(key)), np.zeros(len(key))
    same_at[at], other_at[at] = same, other
    return same_at, other_at
