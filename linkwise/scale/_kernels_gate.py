"""Kernels of the gate: names as bits, must-links joined with proofs, cannot-link graphs peeled and colored.

Names are numbered by their rank among the bits that are set. `above` holds the parent of a name in its set, or minus
the size of the set at its root; `proof` and `proof_row` hold, for each name but one of a set, another end and the row
of a must-link, so that two names of a set are joined by the must-links on the way between them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit

SPAN = 256  # names between two counts of the bits before them
Bits = npt.NDArray[np.uint8]
Slots = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@njit(nogil=True)
def mark(bits: Bits, names: Longs) -> None:
    """Set the bits of some names."""
    for i in range(len(names)):
        bits[names[i] >> 3] |= np.uint8(1 << (names[i] & 7))


@njit(nogil=True)
def rank(bits: Bits, ones: Bits, before: Longs, names: Longs, found: Slots) -> None:
    """The number of bits set before each name, or -1 if its own is not; `ones` has the number of bits of a byte."""
    per = SPAN // 8
    for i in range(len(names)):
        byte = names[i] >> 3
        within = np.int64(1) << (names[i] & 7)
        if byte >= len(bits) or not bits[byte] & within:
            found[i] = -1
            continue
        block = byte // per
        total = before[block]
        for b in range(block * per, byte):
            total += ones[bits[b]]
        found[i] = total + ones[bits[byte] & (within - 1)]


@njit(nogil=True)
def root(above: Slots, x: int) -> int:
    """The root of the set of a name; the way to it is halved."""
    while above[x] >= 0:
        up = above[x]
        if above[up] >= 0:
            above[x] = above[up]
        x = up
    return x


@njit(nogil=True)
def join(above: Slots, proof: Slots, proof_row: Any, first: Slots, second: Slots, rows: Longs) -> None:
    """Join sets by must-links, the smaller below the larger, and keep the must-link of each join."""
    for i in range(len(first)):
        a, b = first[i], second[i]
        x, y = root(above, a), root(above, b)
        if x == y:
            continue
        if above[x] < above[y]:
            a, b, x, y = b, a, y, x
        above[y] += above[x]
        above[x] = y
        into, row = b, rows[i]
        while a >= 0:  # turn the way from `a` around, so that `a` can point to `b`
            further, further_row = proof[a], proof_row[a]
            proof[a], proof_row[a] = into, row
            into, row, a = a, further_row, further


@njit(nogil=True)
def find_roots(above: Slots, names: Slots, found: Slots) -> None:
    """The root of each name; of -1, which no must-link names, -1."""
    for i in range(len(names)):
        found[i] = root(above, names[i]) if names[i] >= 0 else -1


@njit(nogil=True)
def steps_up(proof: Slots, x: int) -> int:
    """How many must-links lie between a name and the one without a proof in its set."""
    count = 0
    while proof[x] >= 0:
        x = proof[x]
        count += 1
    return count


@njit(nogil=True)
def neighbor_lists(codes: Longs, count: int, start: Longs, adjacent: Slots) -> None:
    """Fill `adjacent` with the neighbors of each vertex; edge (u, v) has the code u * count + v."""
    for i in range(len(codes)):
        start[codes[i] // count + 2] += 1
        start[codes[i] % count + 2] += 1
    for v in range(2, count + 2):
        start[v] += start[v - 1]
    for i in range(len(codes)):
        u, v = codes[i] // count, codes[i] % count
        adjacent[start[u + 1]] = v
        adjacent[start[v + 1]] = u
        start[u + 1] += 1
        start[v + 1] += 1


@njit(nogil=True)
def peel(start: Longs, adjacent: Slots, k: int, degree: Slots, order: Slots) -> int:
    """Take away vertices with fewer than k neighbors left, until none is; return how many. `degree` becomes -1 then."""
    count, done = 0, 0
    for v in range(len(degree)):
        degree[v] = start[v + 1] - start[v]
        if degree[v] < k:
            order[count] = v
            count += 1
    while done < count:
        v = order[done]
        done += 1
        degree[v] = -1
        for i in range(start[v], start[v + 1]):
            w = adjacent[i]
            if degree[w] >= 0:
                degree[w] -= 1
                if degree[w] == k - 1:
                    order[count] = w
                    count += 1
    return count


@njit(nogil=True)
def color_back(start: Longs, adjacent: Slots, order: Slots, color: Slots, k: int) -> None:
    """Give each vertex, the last of the order first, the lowest color that none of its neighbors has yet."""
    taken = np.full(k + 1, -1, np.int64)
    for turn in range(len(order) - 1, -1, -1):
        v = order[turn]
        for i in range(start[v], start[v + 1]):
            if color[adjacent[i]] >= 0:
                taken[color[adjacent[i]]] = turn
        c = 0
        while taken[c] == turn:
            c += 1
        color[v] = c
