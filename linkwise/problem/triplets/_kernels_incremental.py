"""The layered union-find: BUILD kept alive under new triplets and merges, with roll-back (compiled).

Level 0 is one component of all items. A triplet ab|c that lies inside one component of level k - 1 joins a and b at
level k; it then *waits* there until c joins them too, and climbs to level k + 1. The components of all levels are the
nodes of the BUILD tree. The triplets are consistent exactly when every component of two or more clusters has two or
more components right below it; a component of one cluster has one.

Merging two clusters unites their components at every level. Both operations only coarsen the levels, so each is a
short cascade processed level by level; unions are by size without path compression and every change is logged, so a
failed attempt is undone exactly. An item stores only the levels at which it has company or is waited for. Deep
trees are trunks that lose a cluster at every level: two clusters share most of their components, and levels above the
first that parts them are never visited.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import inner, njit
from linkwise._kernels.borrow import borrowed

# Arrays hold int32 to stay in cache, but numbers travel between functions as int64: each mixture of types would be
# compiled once more.

# columns of `item`
OFF, CAP, DEPTH, UP = 0, 1, 2, 3
# columns of `pool`: items, components below, waiting list head / tail / length, (alignment)
WEIGHT, BELOW, HEAD, TAIL, LENGTH = range(5)
# kinds of log entries
UNION, STAGE, APPEND, DEEPER, BELOW_LESS, LINK = range(6)
# slots of `count`
N_POOL, N_ENTRY, N_LOG, N_TRIPLET, N_NOW, N_NEXT = range(6)
SPLIT_LEVEL, LINKED, WANTED = range(6, 9)

# what an operation that answers ROOM ran out of
POOL, ENTRY, LOG, TRIPLET = range(4)

CONFLICT, OK, ROOM = 0, 1, -1

IntArray = npt.NDArray[np.int32]


class Layers(NamedTuple):
    """State of the structure; the arrays are replaced by larger ones when an operation answers ``ROOM``."""

    item: npt.NDArray[np.int32]  # [n, 4] offset of its levels in the pool, room there, levels stored, cluster above
    pool: npt.NDArray[np.int32]  # [p, 8] one row per stored (item, level); row 0 is level 0
    parent: npt.NDArray[np.int32]  # [p] union-find parent of the same; apart, because most steps read nothing else
    circle: npt.NDArray[np.int32]  # [p] next member of the same component; apart, because walks read nothing else
    triplet: npt.NDArray[np.int32]  # [m, 3]
    stage: npt.NDArray[np.int32]  # [m] level at which a and b are joined
    entry: npt.NDArray[np.int32]  # [e, 2] waiting-list entries: 2 * triplet + (1 in the list of c's component), next
    log: npt.NDArray[np.int32]  # [l, 5] changes of the operation under way
    queue: npt.NDArray[np.int32]  # [4, m] triplets to join at this level and the next; items of their components above
    count: npt.NDArray[np.int64]  # type: ignore[assignment]  # [9]


def make_layers(n_items: int, capacity: int) -> Layers:
    """Make the structure for ``n_items`` clusters and no triplets, with room for ``capacity`` of them."""
    capacity = max(capacity, 4)
    item = np.zeros((n_items, 4), np.int32)
    item[:, UP] = np.arange(n_items)
    pool = np.zeros((6 * n_items + 64, 8), np.int32)
    pool[0] = (n_items, n_items, -1, -1, 0, 0, 0, 0)
    count = np.zeros(9, np.int64)
    count[N_POOL] = 1
    return Layers(
        item,
        pool,
        np.zeros(len(pool), np.int32),
        np.zeros(len(pool), np.int32),
        np.zeros((capacity, 3), np.int32),
        np.zeros(capacity, np.int32),
        np.zeros((4 * capacity + 64, 2), np.int32),
        np.zeros((2 * capacity + 8 * n_items + 256, 5), np.int32),
        np.zeros((4, capacity), np.int32),
        count,
    )


def grow(layers: Layers) -> Layers:
    """Return the same state with twice the room of what the last operation ran out of."""

    def twice(array: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        larger = np.zeros((2 * len(array), *array.shape[1:]), np.int32)  # pages that are not written cost nothing
        larger[: len(array)] = array
        return larger

    wanted = int(layers.count[WANTED])
    if wanted == POOL:
        return layers._replace(pool=twice(layers.pool), parent=twice(layers.parent), circle=twice(layers.circle))
    if wanted == ENTRY:
        return layers._replace(entry=twice(layers.entry))
    if wanted == LOG:
        return layers._replace(log=twice(layers.log))
    queue = np.concatenate([layers.queue, np.zeros_like(layers.queue)], axis=1)
    return layers._replace(triplet=twice(layers.triplet), stage=twice(layers.stage), queue=queue)


@njit(inline="always")
def lacking(layers: Layers, what: int) -> int:
    """Answer ROOM and remember of what."""
    layers.count[WANTED] = what
    return ROOM


@njit
def top(item: IntArray, count: npt.NDArray[np.int64], x: int) -> int:
    """The item that stands for the cluster of ``x``."""
    if count[LINKED]:  # the newest link may be taken back: leave the path as it is
        while item[x, UP] != x:
            x = item[x, UP]
        return x
    while item[x, UP] != x:
        item[x, UP] = item[item[x, UP], UP]
        x = item[x, UP]
    return x


@inner
def find(item: IntArray, parent: IntArray, level: int, x: int) -> int:
    """The item that stands for the component of ``x`` at ``level`` >= 1; it stores no such level if it is alone."""
    while True:
        above = item[x, UP] if item[x, DEPTH] < level else parent[item[x, OFF] + level - 1]
        if above == x:
            return x
        x = above


@inner
def seat(item: IntArray, parent: IntArray, level: int, x: int) -> int:
    """Pool row of the component of ``x`` at ``level``; the component must be stored."""
    if level == 0:
        return np.int64(0)
    return item[find(item, parent, level, x), OFF] + level - 1


@njit(inline="always")
def note(log: IntArray, count: npt.NDArray[np.int64], kind: int, a: int, b: int, c: int, d: int) -> None:
    """Write one log entry."""
    place = count[N_LOG]
    log[place, 0] = kind
    log[place, 1] = a
    log[place, 2] = b
    log[place, 3] = c
    log[place, 4] = d
    count[N_LOG] = place + 1


@inner
def deepen(layers: Layers, x: int, level: int) -> bool:
    """Let item ``x``, a cluster of its own below, store levels up to ``level``; False when there is no room."""
    item, pool, parent, circle, count = layers.item, layers.pool, layers.parent, layers.circle, layers.count
    depth = item[x, DEPTH]
    if level > item[x, CAP]:
        room = max(4, 2 * item[x, CAP], level)
        start = count[N_POOL]
        if start + room > len(pool):
            return False
        for k in range(depth):
            parent[start + k] = parent[item[x, OFF] + k]
            circle[start + k] = circle[item[x, OFF] + k]
            for column in range(5):
                pool[start + k, column] = pool[item[x, OFF] + k, column]
        count[N_POOL] = start + room
        item[x, OFF] = start
        item[x, CAP] = room
    note(layers.log, count, DEEPER, x, depth, 0, 0)
    for k in range(item[x, OFF] + depth, item[x, OFF] + level):
        parent[k] = x
        pool[k, WEIGHT] = 1
        pool[k, BELOW] = 1
        pool[k, HEAD] = -1
        pool[k, TAIL] = -1
        pool[k, LENGTH] = 0
        circle[k] = x
    item[x, DEPTH] = level
    return True


@inner
def promote(
    queue: IntArray, stage: IntArray, log: IntArray, count: npt.NDArray[np.int64], t: int, level: int, x: int
) -> None:
    """Queue triplet ``t`` for ``level``: its three items now share the component ``x`` of the level above."""
    stage[t] = level
    place = count[N_NEXT]
    queue[level & 1, place] = t
    queue[2 + (level & 1), place] = x
    count[N_NEXT] = place + 1
    note(log, count, STAGE, t, 0, 0, 0)


@inner
def union(layers: Layers, level: int, x: int, y: int, above: int) -> int:
    """Unite two stored components of ``level`` in the component at pool row ``above``; the item left, or ROOM.

    Triplets whose c has thereby joined a and b are queued for the next level.
    """
    item, pool, parent, entry, count = layers.item, layers.pool, layers.parent, layers.entry, layers.count
    triplet, stage, log, queue, circle = layers.triplet, layers.stage, layers.log, layers.queue, layers.circle
    row = item[x, OFF] + level - 1
    other = item[y, OFF] + level - 1
    if pool[row, WEIGHT] < pool[other, WEIGHT]:
        x, y = y, x
        row, other = other, row
    shorter = min(pool[row, LENGTH], pool[other, LENGTH])
    if count[N_LOG] + shorter + 8 > len(log):
        return lacking(layers, LOG)
    waiting = pool[row, HEAD] if pool[row, LENGTH] <= pool[other, LENGTH] else pool[other, HEAD]
    note(log, count, UNION, level, x, y, pool[row, TAIL])
    parent[other] = x
    pool[row, WEIGHT] += pool[other, WEIGHT]
    pool[row, BELOW] += pool[other, BELOW]
    circle[row], circle[other] = circle[other], circle[row]
    pool[above, BELOW] -= 1
    for _ in range(shorter):
        t = np.int64(entry[waiting, 0] >> 1)
        if stage[t] == level:
            awaited = triplet[t, 0] if entry[waiting, 0] & 1 else triplet[t, 2]
            if find(item, parent, level, np.int64(awaited)) == x:
                promote(queue, stage, log, count, t, level + 1, x)
        waiting = entry[waiting, 1]
    if pool[other, LENGTH] > 0:
        if pool[row, LENGTH] == 0:
            pool[row, HEAD] = pool[other, HEAD]
        else:
            entry[pool[row, TAIL], 1] = pool[other, HEAD]
        pool[row, TAIL] = pool[other, TAIL]
        pool[row, LENGTH] += pool[other, LENGTH]
    return x


@inner
def append(layers: Layers, row: int, level: int, x: int, waiting: int) -> None:
    """Add an entry (2 * triplet + side) to the waiting list of component ``x`` of ``level``, stored at ``row``."""
    pool, entry, count = layers.pool, layers.entry, layers.count
    place = count[N_ENTRY]
    note(layers.log, count, APPEND, level, x, pool[row, TAIL], 0)
    entry[place, 0] = waiting
    entry[place, 1] = -1
    count[N_ENTRY] = place + 1
    if pool[row, LENGTH] == 0:
        pool[row, HEAD] = place
    else:
        entry[pool[row, TAIL], 1] = place
    pool[row, TAIL] = place
    pool[row, LENGTH] += 1


@njit
def undo(layers: Layers, upto: int) -> None:
    """Take back logged changes until the log has ``upto`` entries."""
    item, pool, parent, log, count = layers.item, layers.pool, layers.parent, layers.log, layers.count
    circle = layers.circle
    while count[N_LOG] > upto:
        count[N_LOG] -= 1
        last = count[N_LOG]
        kind = log[last, 0]
        p = np.int64(log[last, 1])
        q = np.int64(log[last, 2])
        r = np.int64(log[last, 3])
        if kind == UNION:
            row = item[q, OFF] + p - 1
            other = item[r, OFF] + p - 1
            if pool[other, LENGTH] > 0:
                pool[row, TAIL] = log[last, 4]
                pool[row, LENGTH] -= pool[other, LENGTH]
            circle[row], circle[other] = circle[other], circle[row]
            parent[other] = r
            pool[row, WEIGHT] -= pool[other, WEIGHT]
            pool[row, BELOW] -= pool[other, BELOW]
            pool[seat(item, parent, p - 1, q), BELOW] += 1  # rows may have moved since, items have not
        elif kind == STAGE:
            layers.stage[p] -= 1
        elif kind == APPEND:
            row = item[q, OFF] + p - 1
            pool[row, TAIL] = r
            pool[row, LENGTH] -= 1
            count[N_ENTRY] -= 1
        elif kind == DEEPER:
            item[p, DEPTH] = q
        elif kind == BELOW_LESS:
            pool[seat(item, parent, p, q), BELOW] += 1
        else:
            item[p, UP] = p
            count[LINKED] = 0


@inner
def join_queued(layers: Layers, level: int, i: int, j: int) -> int:
    """Join a and b of every triplet queued for ``level``; ``i`` and ``j`` are clusters being merged, or -1.

    Triplets that need no place here, since a and b are or become one cluster, leave the queue.
    """
    item, pool, parent, count = layers.item, layers.pool, layers.parent, layers.count
    triplet, queue = layers.triplet, layers.queue[level & 1]
    within = layers.queue[2 + (level & 1)]
    kept = np.int64(0)
    for place in range(count[N_NOW]):
        t = np.int64(queue[place])
        a = np.int64(triplet[t, 0])
        b = np.int64(triplet[t, 1])
        x = find(item, parent, level, a)
        y = find(item, parent, level, b)
        if x == y or i >= 0:
            p = top(item, count, a)
            if x == y or p == i or p == j:
                q = top(item, count, b)
                if p == q or (p == i and q == j) or (p == j and q == i):
                    continue
        queue[kept] = t
        kept += 1
        if x == y:
            continue
        if count[N_LOG] + 16 > len(layers.log):
            return lacking(layers, LOG)
        if (item[x, DEPTH] < level and not deepen(layers, x, level)) or (
            item[y, DEPTH] < level and not deepen(layers, y, level)
        ):
            return lacking(layers, POOL)
        above = seat(item, parent, level - 1, np.int64(within[place]))
        if union(layers, level, x, y, above) == ROOM:
            return ROOM
        if pool[above, BELOW] == 1:
            return CONFLICT  # a and b are two clusters
    count[N_NOW] = kept
    return OK


@inner
def place_queued(layers: Layers, level: int) -> int:
    """Let every triplet queued for ``level`` wait there, or queue it for the next level if c is there already."""
    item, parent, count = layers.item, layers.parent, layers.count
    triplet, queue = layers.triplet, layers.queue[level & 1]
    for place in range(count[N_NOW]):
        t = np.int64(queue[place])
        if count[N_LOG] + 16 > len(layers.log):
            return lacking(layers, LOG)
        if count[N_ENTRY] + 2 > len(layers.entry):
            return lacking(layers, ENTRY)
        x = find(item, parent, level, np.int64(triplet[t, 0]))
        z = find(item, parent, level, np.int64(triplet[t, 2]))
        if x == z:
            promote(layers.queue, layers.stage, layers.log, count, t, level + 1, x)
        else:
            if item[z, DEPTH] < level and not deepen(layers, z, level):
                return lacking(layers, POOL)
            append(layers, item[x, OFF] + level - 1, level, x, 2 * t)
            append(layers, item[z, OFF] + level - 1, level, z, 2 * t + 1)
    return OK


@njit(inline="always")
def next_level(layers: Layers) -> None:
    layers.count[N_NOW] = layers.count[N_NEXT]
    layers.count[N_NEXT] = 0


@njit
def try_add(layers: Layers, a: int, b: int, c: int) -> int:
    """Add ab|c; CONFLICT or ROOM leave the state as it was."""
    count = layers.count
    t = count[N_TRIPLET]
    if t >= len(layers.triplet):
        return lacking(layers, TRIPLET)
    count[N_LOG] = 0
    layers.triplet[t, 0] = a
    layers.triplet[t, 1] = b
    layers.triplet[t, 2] = c
    layers.stage[t] = 1
    layers.queue[1, 0] = t
    layers.queue[3, 0] = a
    count[N_NOW] = 1
    count[N_NEXT] = 0
    level = np.int64(1)
    nobody = np.int64(-1)
    while count[N_NOW] > 0:
        answer = join_queued(layers, level, nobody, nobody)
        if answer == OK:
            answer = place_queued(layers, level)
        if answer != OK:
            undo(layers, np.int64(0))
            return answer
        next_level(layers)
        level += 1
    count[N_TRIPLET] += 1
    return OK


@njit
def try_merge(layers: Layers, i: int, j: int) -> int:
    """Merge two clusters, given by their `top` items; ROOM leaves the state as it was.

    CONFLICT leaves the failed state in place, so that the caller can read the components of i and j at the level
    `SPLIT_LEVEL`: they are the last two parts of a component that merging would make undividable. The caller must then
    `undo` to 0. As long as the triplets are consistent, no other failure is possible: a triplet across the two parts
    would have joined them a level earlier, and any other part divides as it did before.
    """
    count = layers.count
    count[N_LOG] = 0
    count[N_NOW] = 0
    count[N_NEXT] = 0
    level = parting(layers.item, layers.parent, i, j)
    # item of the component that holds both at the level before; -1 once nothing deeper is to be united
    both = i if level == 1 else find(layers.item, layers.parent, level - 1, i)
    while both >= 0 or count[N_NOW] > 0:
        answer = join_queued(layers, level, i if both >= 0 else np.int64(-1), j)
        if answer == OK and both >= 0 and is_undividable(layers, level, i, j, both):
            return CONFLICT
        if answer == OK:
            answer = place_queued(layers, level)
        if answer == OK and both >= 0:
            answer, both = merge_level(layers, level, i, j, both)
        if answer == ROOM:
            undo(layers, np.int64(0))
            return ROOM
        if answer == CONFLICT:
            return CONFLICT
        next_level(layers)
        level += 1
    count[LINKED] = 0
    return OK


@inner
def parting(item: IntArray, parent: IntArray, i: int, j: int) -> int:
    """The first level at which clusters ``i`` and ``j`` have different components.

    Most pairs that are tested part near the end of the shorter of the two, so the search starts there.
    """
    apart = np.int64(min(item[i, DEPTH], item[j, DEPTH])) + 1
    together = np.int64(0)
    step = np.int64(1)
    while apart - together > 1:
        level = max(apart - step, (apart + together) // 2)
        if find(item, parent, level, i) == find(item, parent, level, j):
            together = level
        else:
            apart = level
            step *= 2
    return apart


@inner
def is_single(item: IntArray, pool: IntArray, level: int, x: int) -> bool:
    """Whether the component that item ``x`` stands for is one cluster: only such components do not divide."""
    return item[x, DEPTH] < level or pool[item[x, OFF] + level - 1, BELOW] == 1


@inner
def row_above(item: IntArray, level: int, both: int) -> int:
    """Pool row of the component right above ``level`` that item ``both`` stands for."""
    return np.int64(0) if level == 1 else np.int64(item[both, OFF] + level - 2)


@inner
def is_undividable(layers: Layers, level: int, i: int, j: int, both: int) -> bool:
    """Whether the component above ``level`` has no parts but those of i and j, and is more than these two clusters.

    Asked before triplets are given places at the level: a merge that fails need not pay for them.
    """
    item, pool, parent = layers.item, layers.pool, layers.parent
    if pool[row_above(item, level, both), BELOW] > 2:
        return False
    x = find(item, parent, level, i)
    y = find(item, parent, level, j)
    if x == y or (is_single(item, pool, level, x) and is_single(item, pool, level, y)):
        return False
    layers.count[SPLIT_LEVEL] = level
    return True


@inner
def merge_level(layers: Layers, level: int, i: int, j: int, both: int) -> tuple[int, int]:
    """Unite the components of i and j at one level; the answer, and the item of what they become (-1: it is done)."""
    item, pool, parent, count = layers.item, layers.pool, layers.parent, layers.count
    done = np.int64(-1)
    if count[N_LOG] + 8 > len(layers.log):
        return lacking(layers, LOG), done
    last = item[i, DEPTH] < level or item[j, DEPTH] < level
    x = find(item, parent, level, i)
    y = find(item, parent, level, j)
    if x != y:
        above = row_above(item, level, both)
        if last:
            note(layers.log, count, BELOW_LESS, level - 1, i, 0, 0)
            pool[above, BELOW] -= 1
        else:
            x = union(layers, level, x, y, above)
            if x == ROOM:
                return ROOM, done
    if last:
        if item[i, DEPTH] > item[j, DEPTH]:
            i, j = j, i
        note(layers.log, count, LINK, i, 0, 0, 0)
        item[i, UP] = j
        count[LINKED] = 1
        return OK, done
    return OK, x


@inner
def weigh(layers: Layers, level: int, x: int) -> int:
    """Return how many items the component has that item ``x`` stands for at ``level``."""
    if layers.item[x, DEPTH] < level:
        return np.int64(1)
    return np.int64(layers.pool[layers.item[x, OFF] + level - 1, WEIGHT])


@njit
def rings(
    layers: Layers, level: int, x: int, y: int, xs: npt.NDArray[np.int32], ys: npt.NDArray[np.int32]
) -> tuple[int, int]:
    """Write the items of the components of ``x`` and ``y`` to ``xs`` and ``ys``; return how many each has."""
    item, circle = layers.item, layers.circle
    x = find(item, layers.parent, level, x)
    y = find(item, layers.parent, level, y)
    xs[0] = x
    ys[0] = y
    n_x = 1
    n_y = 1
    p = np.int64(circle[item[x, OFF] + level - 1]) if item[x, DEPTH] >= level else x
    q = np.int64(circle[item[y, OFF] + level - 1]) if item[y, DEPTH] >= level else y
    # each step waits for memory: two walks at once take hardly longer than one
    while p != x or q != y:
        if p != x:
            xs[n_x] = p
            n_x += 1
            p = np.int64(circle[item[p, OFF] + level - 1])
        if q != y:
            ys[n_y] = q
            n_y += 1
            q = np.int64(circle[item[q, OFF] + level - 1])
    return n_x, n_y


@njit
def _add_many(layers: Layers, triplets: npt.NDArray[np.int32], begin: int) -> tuple[int, int]:
    layers = borrowed(layers)
    for t in range(begin, len(triplets)):
        answer = try_add(layers, np.int64(triplets[t, 0]), np.int64(triplets[t, 1]), np.int64(triplets[t, 2]))
        if answer != OK:
            return t, answer
    return len(triplets), OK
