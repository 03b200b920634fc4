"""BUILD level by level: join, part the items and the triplets, go on with every part.

Each level looks at all that is left, which is hard to beat while parts shrink quickly and hopeless on a long chain,
where every level sheds one item. So a set keeps account of what looking at it has cost without halving it, and once
that is as much as the method for deep trees would have cost, that method takes the set over. Whichever of the two suits
the triplets, the cost is at most about twice that of the better one.
"""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import DisjointSet, find, make, union
from linkwise._typing import IntArray
from linkwise.problem.triplets._kernels_build_deep import build_deep

# Looks at a set before it is handed over. One costs 10 to 20 ns per item and triplet, the other method 100 to 300 ns.
PATIENCE = 8
SETTING_UP = 32  # and as much as for this many more items, whatever the size

# columns of `todo`: a set's range in `items` and in `triplets`, the node above it, what looking at it has cost
LOW, HIGH, FIRST, LAST, ABOVE, LOOKS = range(6)


def build(n: int, triplets: IntArray, patience: int = PATIENCE) -> tuple[IntArray, IntArray, int]:
    """Build the tree of ``triplets``, which is overwritten.

    Returns
    -------
    parent : ndarray
        Leaves first, then children before parents. Empty when there is no tree.
    stuck : ndarray
        A set that cannot be divided, in no order. Empty when there is a tree.
    wrong : int
        The first row that is not a triplet of the items, -1 when there is none.
    """
    parent, nodes, stuck, wrong, items, left = _divide(n, triplets, patience)
    if len(left):
        nodes, stuck = build_deep(items, triplets, left, parent, nodes)
    if wrong >= 0 or len(stuck):
        parent, nodes, n = stuck[:0], 0, 0
    return _children_first(n, parent, nodes), stuck, wrong


@njit
def _children_first(n: int, parent: IntArray, nodes: int) -> IntArray:
    """Number the inner nodes backwards: parents were made before their children."""
    result = np.empty(nodes, np.intp)
    last = n + nodes - 1
    for v in range(nodes):
        result[v if v < n else last - v] = last - parent[v] if parent[v] >= 0 else -1
    return result


@njit
def _divide(n: int, triplets: IntArray, patience: int) -> tuple[IntArray, int, IntArray, int, IntArray, IntArray]:
    """Go as far as patience lasts: tree and number of nodes, stuck set, wrong row, items as sorted, sets left over."""
    parent = np.empty(2 * n, np.intp)
    items = np.empty(n, np.intp)
    for x in range(n):
        parent[x] = -1
        items[x] = x
    left = np.empty((0, 6), np.intp)
    for t in range(len(triplets)):
        a, b, c = triplets[t, 0], triplets[t, 1], triplets[t, 2]
        if min(a, b, c) < 0 or max(a, b, c) >= n or b in (a, c) or a == c:
            return parent, n, items[:0], t, items, left
    sets = make(n)
    block = np.empty(n, np.intp)
    room = np.empty((n, 2), np.intp)
    spare = np.empty(n, np.intp)
    spare_triplets = np.empty_like(triplets)
    todo = np.empty((n // 2 + 1, 6), np.intp)  # those to be divided from the start, those left over from the end
    end = len(todo)
    nodes = n
    # a plain 0 has a type of its own, for which `_note` would be compiled once more
    zero = pending = np.int64(0)
    if n > 1:
        _note(todo, zero, zero, n, zero, len(triplets), zero - 1, zero)
        pending += 1
    while pending > 0:
        pending -= 1
        low, high, first, last = todo[pending, LOW], todo[pending, HIGH], todo[pending, FIRST], todo[pending, LAST]
        weight = high - low + last - first
        looks = todo[pending, LOOKS]
        if looks > patience * (weight + SETTING_UP):
            end -= 1
            _note(todo, end, low, high, first, last, todo[pending, ABOVE], looks)
            continue
        node = nodes
        nodes += 1
        parent[node] = todo[pending, ABOVE]
        if first == last:
            for p in range(low, high):
                parent[items[p]] = node
            continue
        blocks = _part_items(items[low:high], triplets[first:last], sets, block, room, spare)
        if blocks == 1:
            return parent, nodes, items[low:high], -1, items, left
        _part_triplets(triplets[first:last], blocks, block, room, spare_triplets)
        p, t = low, first
        for b in range(blocks):
            p_end, t_end = low + room[b, 0], first + room[b, 1]
            if p_end - p == 1:
                parent[items[p]] = node
            else:
                halved = 2 * (p_end - p + t_end - t) <= weight
                _note(todo, pending, p, p_end, t, t_end, node, zero if halved else looks + weight)
                pending += 1
            p, t = p_end, t_end
    return parent, nodes, items[:0], -1, items, todo[end:]


@njit
def _note(todo: IntArray, at: int, low: int, high: int, first: int, last: int, above: int, looks: int) -> None:
    todo[at, LOW] = low
    todo[at, HIGH] = high
    todo[at, FIRST] = first
    todo[at, LAST] = last
    todo[at, ABOVE] = above
    todo[at, LOOKS] = looks


@njit
def _part_items(
    items: IntArray, triplets: IntArray, sets: DisjointSet, block: IntArray, room: IntArray, spare: IntArray
) -> int:
    """Sort items by the block that the close pairs join them to, in order of first members; return how many there are.

    Afterwards ``room[b, 0]`` is where block ``b`` ends.
    """
    for x in items:
        sets.parent[x] = x
        sets.size[x] = 1
    for t in range(len(triplets)):
        union(sets, triplets[t, 0], triplets[t, 1])
    blocks = 0
    for x in items:
        block[x] = -1
    for x in items:
        root = find(sets, x)
        if block[root] < 0:
            block[root] = blocks
            room[blocks, 0] = 0
            blocks += 1
        block[x] = block[root]
        room[block[x], 0] += 1
    total = 0
    for b in range(blocks):
        room[b, 0], total = total, total + room[b, 0]
    for x in items:
        spare[room[block[x], 0]] = x
        room[block[x], 0] += 1
    for p in range(len(items)):
        items[p] = spare[p]
    return blocks


@njit
def _part_triplets(triplets: IntArray, blocks: int, block: IntArray, room: IntArray, spare: IntArray) -> None:
    """Sort the triplets that lie inside one block by that block and drop the others from the count.

    Afterwards ``room[b, 1]`` is where block ``b`` ends.
    """
    for b in range(blocks):
        room[b, 1] = 0
    for t in range(len(triplets)):
        b = block[triplets[t, 0]]
        if b == block[triplets[t, 2]]:
            room[b, 1] += 1
    total = 0
    for b in range(blocks):
        room[b, 1], total = total, total + room[b, 1]
    for t in range(len(triplets)):
        b = block[triplets[t, 0]]
        if b == block[triplets[t, 2]]:
            for column in range(3):
                spare[room[b, 1], column] = triplets[t, column]
            room[b, 1] += 1
    for t in range(total):
        for column in range(3):
            triplets[t, column] = spare[t, column]
