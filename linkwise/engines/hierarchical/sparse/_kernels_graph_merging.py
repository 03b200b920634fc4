"""Greedy Ward merging along the edges of a graph, refusing merges that would break a statement (compiled).

Each slot holds one cluster, each cluster belongs to a class of clusters that end up together. Keys of edges are lower
bounds of Ward's distance: an edge's distance changes only when one of its ends merges, and then it is evaluated, and
pushed again if it has become shorter. A popped edge that has become longer goes back with its distance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import inner, njit
from linkwise._typing import BoolArray, FloatArray

SlotArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]

# places of `tally`
N_HEAP, N_MERGED, TICK, N_REFUSED, N_POPS, N_KEYS = range(6)
# what `advance` returns: the work is done, the budget is spent, the heap or the table is full
DONE, PAUSED, HEAP_FULL, TABLE_FULL = range(4)


class Merging(NamedTuple):
    """Everything the loop needs between two calls."""

    ends: SlotArray  # [edges, 2] slots
    key: FloatArray  # [edges] at most the distance
    alive: BoolArray  # [edges]
    head: SlotArray  # [slots] first half-edge of each slot; half-edge 2 e + side belongs to ends[e, side]
    tail: SlotArray  # [slots] last one
    after: SlotArray  # [2 edges] the next one of the same slot
    heap_key: FloatArray  # [capacity]
    heap_edge: SlotArray  # [capacity]
    size: FloatArray  # [slots] samples
    mean: FloatArray  # [slots, d]
    anchor: BoolArray  # [slots] whether it holds a sample that a triplet names
    class_of: SlotArray  # [slots] class; look up its representative
    above: SlotArray  # [classes] a class that it was united with, itself for a representative
    anchored: BoolArray  # [classes] whether it holds a sample that a triplet names
    rival: SlotArray  # [2 pairs] classes apart from the class whose list the entry is in
    group: SlotArray  # [members] groups apart with a member in the class whose list the entry is in
    first: SlotArray  # [2, classes] first entry of the lists of rivals and of groups, -1 for none
    last: SlotArray  # [2, classes]
    length: SlotArray  # [2, classes]
    next_rival: SlotArray  # [2 pairs]
    next_group: SlotArray  # [members]
    table: LongArray  # [a prime] open hash of pairs of classes apart, and of groups and classes; -1 is free
    stamp: SlotArray  # [slots]
    merged: SlotArray  # [slots, 2] the merges so far: the slot that stays, and the one that joins it
    height: FloatArray  # [slots] their squared heights
    tally: LongArray  # [6]


@inner
def _distance(state: Merging, a: int, b: int) -> Any:
    gap = 0.0
    for f in range(state.mean.shape[1]):
        step = state.mean[a, f] - state.mean[b, f]
        gap += step * step
    return 2.0 * gap * state.size[a] * state.size[b] / (state.size[a] + state.size[b])


@inner
def _push(state: Merging, key: float, edge: int) -> None:
    at = state.tally[N_HEAP]
    while at > 0:
        up = (at - 1) // 2
        if state.heap_key[up] < key or (state.heap_key[up] == key and state.heap_edge[up] <= edge):
            break
        state.heap_key[at] = state.heap_key[up]
        state.heap_edge[at] = state.heap_edge[up]
        at = up
    state.heap_key[at] = key
    state.heap_edge[at] = edge
    state.tally[N_HEAP] += 1


@inner
def _pop(state: Merging) -> None:
    """Remove the first of the heap."""
    size = state.tally[N_HEAP] - 1
    state.tally[N_HEAP] = size
    key, edge = state.heap_key[size], state.heap_edge[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        right = below + 1
        if right < size and (
            state.heap_key[right] < state.heap_key[below]
            or (state.heap_key[right] == state.heap_key[below] and state.heap_edge[right] < state.heap_edge[below])
        ):
            below = right
        if key < state.heap_key[below] or (key == state.heap_key[below] and edge <= state.heap_edge[below]):
            break
        state.heap_key[at] = state.heap_key[below]
        state.heap_edge[at] = state.heap_edge[below]
        at = below
    state.heap_key[at] = key
    state.heap_edge[at] = edge


@inner
def _place(table: LongArray, key: int) -> Any:
    """Where a key is, or would be."""
    at = key % table.shape[0]
    while table[at] >= 0 and table[at] != key:
        at = at + 1 if at + 1 < table.shape[0] else 0
    return at


@inner
def _add(table: LongArray, tally: LongArray, key: int) -> None:
    at = _place(table, key)
    if table[at] < 0:
        table[at] = key
        tally[N_KEYS] += 1


@inner
def _rivals(state: Merging, a: int, b: int) -> Any:
    """Key of two classes."""
    classes = state.above.shape[0]
    return min(a, b) * classes + max(a, b)


@inner
def _membership(state: Merging, group: int, a: int) -> Any:
    """Key of a group apart and a class."""
    classes = state.above.shape[0]
    return (classes + group) * classes + a


@inner
def _representative(above: SlotArray, a: int) -> Any:
    while above[a] != a:
        above[a] = above[above[a]]
        a = above[a]
    return a


@njit(nogil=True)
def prepare(state: Merging) -> None:
    """Fill lists, heap and table."""
    for e in range(state.ends.shape[0]):
        for side in range(2):
            slot = state.ends[e, side]
            if state.tail[slot] < 0:
                state.head[slot] = 2 * e + side
            else:
                state.after[state.tail[slot]] = 2 * e + side
            state.tail[slot] = 2 * e + side
        state.key[e] = _distance(state, state.ends[e, 0], state.ends[e, 1])
        _push(state, state.key[e], e)
    for a in range(state.above.shape[0]):
        q = state.first[0, a]
        while q >= 0:
            _add(state.table, state.tally, _rivals(state, a, state.rival[q]))
            q = state.next_rival[q]
        q = state.first[1, a]
        while q >= 0:
            _add(state.table, state.tally, _membership(state, state.group[q], a))
            q = state.next_group[q]


@njit(nogil=True)
def refill(old: LongArray, table: LongArray, tally: LongArray) -> None:
    """Move the keys of one table to another."""
    tally[N_KEYS] = 0
    for at in range(old.shape[0]):
        if old[at] >= 0:
            _add(table, tally, old[at])


@njit(nogil=True)
def tidy(state: Merging) -> None:
    """Drop what is out of date from the heap."""
    size = state.tally[N_HEAP]
    state.tally[N_HEAP] = 0
    for at in range(size):  # entries only move up, to places that were read
        key, edge = state.heap_key[at], state.heap_edge[at]
        if state.alive[edge] and state.key[edge] == key:
            _push(state, key, edge)


@inner
def _refused(state: Merging, a: int, b: int) -> bool:
    """Whether the statements forbid that two clusters join, now and later."""
    if state.anchor[a] and state.anchor[b]:
        return True
    one = _representative(state.above, state.class_of[a])
    two = _representative(state.above, state.class_of[b])
    if one == two:
        return False
    if state.anchored[one] and state.anchored[two]:
        return True
    if state.length[0, one] > 0 and state.length[0, two] > 0:
        key = _rivals(state, one, two)
        if state.table[_place(state.table, key)] == key:
            return True
    if state.length[1, one] > state.length[1, two]:
        one, two = two, one
    q = state.first[1, one]
    while q >= 0:
        key = _membership(state, state.group[q], two)
        if state.table[_place(state.table, key)] == key:
            return True
        q = state.next_group[q]
    return False


@inner
def _append(state: Merging, kind: int, after: SlotArray, a: int, b: int) -> None:
    """Append a list of class b to that of class a."""
    if state.length[kind, b] == 0:
        return
    if state.length[kind, a] == 0:
        state.first[kind, a] = state.first[kind, b]
    else:
        after[state.last[kind, a]] = state.first[kind, b]
    state.last[kind, a] = state.last[kind, b]
    state.length[kind, a] += state.length[kind, b]


@inner
def _unite(state: Merging, a: int, b: int) -> None:
    """Unite two classes; the one with fewer entries takes the number of the other."""
    if state.length[0, a] + state.length[1, a] < state.length[0, b] + state.length[1, b]:
        a, b = b, a
    state.above[b] = a
    q = state.first[0, b]
    while q >= 0:
        _add(state.table, state.tally, _rivals(state, a, _representative(state.above, state.rival[q])))
        q = state.next_rival[q]
    q = state.first[1, b]
    while q >= 0:
        _add(state.table, state.tally, _membership(state, state.group[q], a))
        q = state.next_group[q]
    _append(state, 0, state.next_rival, a, b)
    _append(state, 1, state.next_group, a, b)
    state.anchored[a] = state.anchored[a] or state.anchored[b]


@inner
def _join(state: Merging, a: int, b: int) -> None:
    """Give the edges of slot b to slot a; of two edges to the same slot one stays."""
    state.tally[TICK] += 1
    tick = state.tally[TICK]
    h = state.head[a]
    state.head[a] = -1
    state.tail[a] = -1
    for turn in range(2):
        while h >= 0:
            following = state.after[h]
            e, side = h // 2, h % 2
            if state.alive[e]:
                other = state.ends[e, 1 - side]
                if state.stamp[other] == tick:
                    state.alive[e] = False
                else:
                    state.stamp[other] = tick
                    state.ends[e, side] = a
                    state.after[h] = -1
                    if state.tail[a] < 0:
                        state.head[a] = h
                    else:
                        state.after[state.tail[a]] = h
                    state.tail[a] = h
            h = following
        if turn == 0:
            h = state.head[b]


@inner
def _merge(state: Merging, a: int, b: int, height: float) -> None:
    done = state.tally[N_MERGED]
    state.merged[done, 0] = a
    state.merged[done, 1] = b
    state.height[done] = height
    state.tally[N_MERGED] = done + 1
    one, two = state.size[a], state.size[b]
    for f in range(state.mean.shape[1]):
        state.mean[a, f] = (one * state.mean[a, f] + two * state.mean[b, f]) / (one + two)
    state.size[a] = one + two
    state.size[b] = 0.0
    state.anchor[a] = state.anchor[a] or state.anchor[b]
    first = _representative(state.above, state.class_of[a])
    second = _representative(state.above, state.class_of[b])
    if first != second:
        _unite(state, first, second)
    _join(state, a, b)
    h = state.head[a]
    while h >= 0:
        e = h // 2
        far = _distance(state, a, state.ends[e, 1 - h % 2])
        if far < state.key[e]:
            state.key[e] = far
            _push(state, far, e)
        h = state.after[h]


@njit(nogil=True)
def advance(state: Merging, wanted: int, budget: int) -> int:
    """Merge the closest joinable clusters until ``wanted`` merges are made, no edge is left or the budget is spent.

    ``wanted`` counts all merges; ``budget`` is a number of edges looked at.
    """
    capacity, keys = state.heap_key.shape[0], state.table.shape[0]
    spent = 0
    while state.tally[N_HEAP] > 0 and state.tally[N_MERGED] < wanted:
        if spent >= budget:
            return PAUSED
        if 2 * state.tally[N_KEYS] > keys:
            return TABLE_FULL
        edge, key = state.heap_edge[0], state.heap_key[0]
        spent += 1
        state.tally[N_POPS] += 1
        if not state.alive[edge] or key != state.key[edge]:
            _pop(state)
            continue
        a, b = state.ends[edge, 0], state.ends[edge, 1]
        far = _distance(state, a, b)
        if far > key:
            _pop(state)
            state.key[edge] = far
            _push(state, far, edge)
            continue
        if _refused(state, a, b):
            _pop(state)
            state.alive[edge] = False
            state.tally[N_REFUSED] += 1
            continue
        degree = 0
        for slot in (a, b):
            h = state.head[slot]
            while h >= 0:
                degree += 1
                h = state.after[h]
        if state.tally[N_HEAP] + degree >= capacity:
            return HEAP_FULL
        spent += degree
        _pop(state)
        state.alive[edge] = False
        _merge(state, a, b, far)
    return DONE
