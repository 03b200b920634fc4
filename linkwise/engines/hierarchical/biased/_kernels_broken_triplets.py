"""Triplets listed by pairs of items, and their counts against pairs of clusters while clusters merge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit

IntArray = npt.NDArray[np.int64]
ShortArray = npt.NDArray[np.int32]
# A list entry is 2 * item + role; the role says what the meeting of the pair means for the triplet with that item.
BREAKS, HOLDS = 0, 1


class Triples(NamedTuple):
    """Triplets about the samples that statements name, each once; items are their places in ``sample``."""

    sample: IntArray
    start: ShortArray  # (k, k): where the list of the pair begins in `entry`
    stop: ShortArray  # (k, k): where it ends
    group: ShortArray  # (k, k): the node of the known hierarchy at which the pair meets
    entry: ShortArray
    total: IntArray  # how many triplets each node has
    conflict: ShortArray  # how many triplets speak against joining two items


class Live(NamedTuple):
    """What one run of merging has made of the triplets so far; clusters go by the number of one of their items."""

    conflict: ShortArray  # how many open triplets speak against joining two clusters
    label: IntArray  # cluster of each item
    last: IntArray  # the items of a cluster form a list that begins with the item it goes by
    after: IntArray
    size: IntArray
    settled: IntArray  # scratch: counts against each cluster that a merge takes back
    found: IntArray  # triplets of each node that hold


@njit
def _list_pairs(
    row: IntArray, group: IntArray, k: int
) -> tuple[ShortArray, ShortArray, ShortArray, ShortArray, ShortArray]:
    """Make the lists of the pairs, and count what speaks against each."""
    start = np.zeros((k, k), np.int32)
    of_pair = np.zeros((k, k), np.int32)
    conflict = np.zeros((k, k), np.int32)
    for t in range(len(row)):
        x, y, z = row[t]
        of_pair[x, y] = of_pair[y, x] = group[t]
        for p, q in ((x, y), (x, z), (y, z)):
            start[min(p, q), max(p, q)] += 1
        for p in (x, y):
            conflict[p, z] += 1
            conflict[z, p] += 1
    begin = 0
    for p in range(k):
        for q in range(p, k):
            length = start[p, q]
            start[p, q] = start[q, p] = begin
            begin += length
    stop = start.copy()
    entry = np.empty(begin, np.int32)
    for t in range(len(row)):
        x, y, z = row[t]
        for p, q, other, role in ((x, y, z, HOLDS), (x, z, y, BREAKS), (y, z, x, BREAKS)):
            low, high = min(p, q), max(p, q)
            entry[stop[low, high]] = 2 * other + role
            stop[low, high] += 1
            stop[high, low] = stop[low, high]
    return start, stop, of_pair, entry, conflict


@njit
def join(triples: Triples, live: Live, a: int, b: int) -> int:
    """Join two clusters of items, settle the triplets this decides, and return the number the union goes by."""
    label, after, settled, found, conflict = live.label, live.after, live.settled, live.found, live.conflict
    start, stop, entry, group = triples.start, triples.stop, triples.entry, triples.group
    small, big = (a, b) if live.size[a] <= live.size[b] else (b, a)
    settled[:] = 0
    p = small
    while p >= 0:
        q = big
        while q >= 0:
            held = 0
            for at in range(start[p, q], stop[p, q]):
                other = label[entry[at] >> 1]
                if other != a and other != b:  # else an earlier merge has settled it
                    role = entry[at] & 1
                    # One that breaks is taken back from the pair (z, third), one that holds from (z, x) and (z, y).
                    settled[other] += 1 + role
                    held += role
            found[group[p, q]] += held
            q = after[q]
        p = after[p]
    p = small
    while p >= 0:
        label[p] = big
        p = after[p]
    after[live.last[big]] = small
    live.last[big] = live.last[small]
    live.size[big] += live.size[small]
    for c in range(len(label)):
        conflict[big, c] += conflict[small, c] - settled[c]
        conflict[c, big] = conflict[big, c]
    return big
