"""The merge loop of ReCon (compiled): nearest compatible pair first, with refutations that are remembered.

A failed test yields a *certificate*: two sets X and Y such that no cluster that touches X can be merged with one that
touches Y as long as the two have three or more clusters together. They are the last two parts of a set that has to be
divided, each held together by triplets inside the set; that stays so when members merge with anything else.
Certificates are bits: bit c of ``mask[0, r]`` says that the cluster of item r touches the X of certificate c, bit c of
``mask[1, r]`` its Y.

A run has up to three phases. *Inside*: only clusters of one block are merged, so that must-links come first. *Below*
the cut: clusters that hold two samples of one group apart (a cannot-link is a group of two) are not merged; every
cluster keeps the list of the groups it holds. *Free*: triplets alone, the whole run when there are no pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._kernels import inner, njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.agglomeration import CENTROID, WARD, lance_williams
from linkwise.engines.hierarchical.relative._kernels_search import (
    ABOVE,
    BELOW,
    BLOCK,
    DIED,
    EARLIER,
    INSIDE,
    LATEST,
    N_ALIVE,
    N_FREE,
    N_MERGED,
    N_REFUTED,
    N_SCANS,
    N_SLOTS,
    N_TESTS,
    NEVER,
    PHASE,
    THEN,
    WANTED,
    WHERE,
    WHO,
    Past,
    ReConState,
    block_least,
    conflicting,
    fill_row,
    keep_inside,
    measure_block,
    recall,
    settle,
)
from linkwise.problem.triplets import (
    CONFLICT,
    ROOM,
    SPLIT_LEVEL,
    Layers,
    find,
    rings,
    top,
    try_merge,
    undo,
    weigh,
)

DONE, BUDGET, MORE_ROOM, MORE_CERTIFICATES, STUCK, ENOUGH, LEARNED = range(7)
ONE = np.uint64(1)
# A step of a walk through a part takes as long as asking this many clusters (measured).
WALKED = 8

LongArray = npt.NDArray[np.int64]
ShortArray = npt.NDArray[np.int32]
BitArray = npt.NDArray[np.uint64]


@inner
def purge(mask: BitArray, live: BitArray, left: LongArray, free: LongArray) -> int:
    """Clear the bits of certificates no longer in force; return how many numbers can now be used again."""
    for kind in range(2):
        for r in range(mask.shape[1]):
            for w in range(len(live)):
                mask[kind, r, w] &= live[w]
    unused = 0
    for certificate in range(len(left)):
        if live[certificate >> 6] >> np.uint64(certificate & 63) & ONE == np.uint64(0):
            free[unused] = certificate
            unused += 1
    return unused


@inner
def mark(mask: BitArray, item: ShortArray, count: LongArray, members: ShortArray, size: int, certificate: int) -> int:
    """Set a certificate's bit for the clusters of ``size`` items; return how many clusters."""
    word = certificate >> 6
    bit = ONE << np.uint64(certificate & 63)
    clusters = 0
    for p in range(size):
        r = top(item, count, np.int64(members[p]))
        if mask[r, word] & bit == np.uint64(0):
            mask[r, word] |= bit
            clusters += 1
    return clusters


@inner
def sides(
    items: ShortArray, gone: FloatArray, count: LongArray, layers: Layers, i: int, j: int, out: ShortArray
) -> tuple[int, int]:
    """Write the items of the two parts that a failed merge of i and j would leave undividable; return how many.

    Small parts are walked member by member, where each step waits for the memory that the one before has named. For
    large ones it is faster to ask all clusters, which do not wait for each other, where they belong.
    """
    level = layers.count[SPLIT_LEVEL]
    x = find(layers.item, layers.parent, level, i)
    y = find(layers.item, layers.parent, level, j)
    members = weigh(layers, level, x) + weigh(layers, level, y)
    if WALKED * members < count[N_ALIVE]:
        return rings(layers, level, x, y, out[0], out[1])
    n_x = 0
    n_y = 0
    for s in range(count[N_SLOTS]):
        if items[s] < 0 or gone[s] > 0.0:
            continue
        r = np.int64(items[s])
        z = find(layers.item, layers.parent, level, r)
        if z == x:
            out[0, n_x] = r
            n_x += 1
        elif z == y:
            out[1, n_y] = r
            n_y += 1
    return n_x, n_y


@inner
def learn(state: ReConState, layers: Layers, i: int, j: int) -> None:
    """Turn the failed merge of items i and j, still in place, into a certificate, and undo it."""
    mask, scratch, item, count = state.mask, state.scratch, layers.item, layers.count
    n_x, n_y = sides(state.item, state.gone, state.count, layers, i, j, scratch)
    undo(layers, np.int64(0))
    state.count[N_FREE] -= 1
    certificate = state.free[state.count[N_FREE]]
    clusters = mark(mask[0], item, count, scratch[0], n_x, certificate)
    clusters += mark(mask[1], item, count, scratch[1], n_y, certificate)
    state.left[certificate] = clusters
    state.live[certificate >> 6] |= ONE << np.uint64(certificate & 63)


@inner
def inherit(mask: BitArray, live: BitArray, left: LongArray, loser: int, winner: int) -> None:
    """Give the certificates of one item to the item that now stands for both; drop those that are used up."""
    for w in range(len(live)):
        mine = mask[0, loser, w] | mask[1, loser, w]
        both = mine & (mask[0, winner, w] | mask[1, winner, w]) & live[w]
        mask[0, winner, w] |= mask[0, loser, w]
        mask[1, winner, w] |= mask[1, loser, w]
        certificate = w << 6
        while both != np.uint64(0):
            if both & ONE:
                left[certificate] -= 1
                if left[certificate] <= 2:
                    live[w] &= ~(ONE << np.uint64(certificate & 63))
            both >>= ONE
            certificate += 1


@inner
def join_lists(ends: IntArray, entry: IntArray, x: int, y: int) -> int:
    """Put the groups apart of two clusters into one list; return it."""
    if x < 0 or y < 0:
        return max(x, y)
    entry[1, ends[1, x]] = ends[0, y]
    ends[1, x] = ends[1, y]
    return x


@inner
def recognize(
    node: LongArray, old: ShortArray, died: ShortArray, edge: ShortArray, count: LongArray, i: int, j: int, new: int
) -> None:
    """Say which cluster of the earlier run the one in slot ``new`` equals: the one made by the very same merge."""
    a = np.int64(old[i])
    b = np.int64(old[j])
    above = np.int64(-1)
    if a != NEVER and b < a and node[ABOVE, a] == node[ABOVE, b]:
        above = node[ABOVE, a]
    old[new] = NEVER
    died[new] = 0
    if above >= 0:
        old[new] = above
        died[new] = node[DIED, above]
        node[WHERE, above] = new
        count[THEN] = max(count[THEN], node[DIED, a])
    if a != NEVER:
        node[WHERE, a] = -1
    if b != NEVER:
        node[WHERE, b] = -1
    block = new // BLOCK
    edge[0, block] = max(edge[0, block], old[new])
    edge[1, block] = min(edge[1, block], died[new])
    old[i] = -1
    old[j] = -1
    died[i] = NEVER
    died[j] = NEVER


@inner
def merge(state: ReConState, past: Any, method: int, vectors: bool, i: int, j: int, item: int) -> int:
    """Merge slot i and the older j into a new youngest slot that ``item`` stands for; return it."""
    count = state.count
    new = count[N_SLOTS]
    step = count[N_MERGED]
    n_i = state.size[i]
    n_j = state.size[j]
    state.pairs[step, 0] = min(state.node[i], state.node[j])
    state.pairs[step, 1] = max(state.node[i], state.node[j])
    state.height[step] = state.bound[i]
    state.node[new] = len(state.pairs) + 1 + step
    state.gone[i] = np.inf
    state.gone[j] = np.inf
    state.gone[new] = 0.0
    state.bound[i] = np.inf
    state.bound[j] = np.inf
    state.bound[new] = -np.inf
    state.low[i // BLOCK] = -np.inf
    state.low[j // BLOCK] = -np.inf
    state.low[new // BLOCK] = -np.inf
    state.neighbor[new] = -1
    state.size[new] = n_i + n_j
    state.item[new] = item
    state.block[new] = state.block[i]
    state.tag[new] = join_lists(state.ends, state.entry, state.tag[i], state.tag[j])
    count[N_SLOTS] = new + 1
    count[N_MERGED] = step + 1
    count[N_ALIVE] -= 1
    if vectors:
        share = n_j / (n_i + n_j)
        if method != WARD and method != CENTROID:  # median: the midpoint, whatever the sizes
            share = 0.5
        for f in range(len(state.center)):
            x = state.center[f, i]
            state.center[f, new] = x + share * (state.center[f, j] - x)  # this way copies merge into an exact copy
    else:
        a = state.place[i]
        b = state.place[j]
        d_ij = state.matrix[a, b]
        state.place[new] = b
        for s in range(new):
            if state.gone[s] == 0.0:
                k = state.place[s]
                d = lance_williams(method, state.matrix[a, k], state.matrix[b, k], d_ij, n_i, n_j, state.size[s])
                state.matrix[b, k] = d
                state.matrix[k, b] = d
    if past is not None:
        if len(past.old):
            recognize(past.node, past.old, past.died, past.edge, count, i, j, new)
    return new


@inner
def compact(state: ReConState, past: Any) -> None:
    """Move the living slots to the front, keeping their order."""
    count = state.count
    moved = np.full(count[N_SLOTS], -1, np.intp)
    to = 0
    for s in range(count[N_SLOTS]):
        if state.gone[s] == 0.0:
            moved[s] = to
            if to != s:
                for f in range(len(state.center)):
                    state.center[f, to] = state.center[f, s]
                state.place[to] = state.place[s]
                state.size[to] = state.size[s]
                state.node[to] = state.node[s]
                state.item[to] = state.item[s]
                state.block[to] = state.block[s]
                state.tag[to] = state.tag[s]
                state.bound[to] = state.bound[s]
                state.neighbor[to] = state.neighbor[s]
                state.gone[to] = 0.0
                if past is not None:
                    if len(past.old):
                        past.old[to] = past.old[s]
                        past.died[to] = past.died[s]
                        if past.old[to] != NEVER:
                            past.node[WHERE, past.old[to]] = to
            old = state.neighbor[to]
            state.neighbor[to] = moved[old] if old >= 0 else -1
            to += 1
    count[N_SLOTS] = to
    for b in range(len(state.low)):
        state.low[b] = -np.inf
    if past is not None:
        for b in range(past.edge.shape[1]):  # the slots past the last one are empty, and so is a block without edges
            measure_block(past.old, past.died, past.edge, np.int64(b), np.int64(to))


@inner
def least_bound(bound: FloatArray, low: FloatArray, slots: int) -> int:
    """The slot with the least bound; the lowest such slot, -1 when all are infinite."""
    best = np.inf
    where = -1
    for b in range((slots + BLOCK - 1) // BLOCK):
        if low[b] == -np.inf:
            low[b] = block_least(bound, b * BLOCK, min(slots, (b + 1) * BLOCK))
        if low[b] < best:
            best = low[b]
            where = b
    if where < 0:
        return np.int64(-1)
    slot = where * BLOCK
    while bound[slot] != best:
        slot += 1
    return np.int64(slot)


@njit
def advance(state: ReConState, past: Any, layers: Layers, method: int, vectors: bool, budget: int) -> int:
    """Merge and search until done, the phase is over, ``budget`` searches are spent, or more room is needed.

    A run that is recorded also stops after each refutation, so that `vouch` can note what it rests on. Without a past
    there is nothing to recall or record, and none of it is compiled: Numba drops branches on arguments that are None.
    """
    state = borrowed(state)
    layers = borrowed(layers)
    lent: Any = None if past is None else borrowed(past)
    count = state.count
    spent = count[N_SCANS]
    asks = np.int64(-1)  # the slot whose neighbor is to be renewed first
    while count[N_ALIVE] > 1:
        if asks >= 0:
            count[N_SCANS] += 1
            state.low[asks // BLOCK] = -np.inf
            recalled = False
            if past is not None:
                if len(lent.old) > 0 and count[PHASE] != INSIDE:
                    recalled = recall(state, lent, method, asks)
            if not recalled:
                fill_row(state, method, vectors, asks)
                if count[PHASE] == INSIDE:
                    keep_inside(state.row, state.block, asks)
                settle(state, lent, asks)
            asks = np.int64(-1)
        if count[N_SCANS] - spent > budget:
            return BUDGET
        if count[PHASE] == BELOW and count[N_ALIVE] <= count[WANTED]:
            return ENOUGH
        slots = count[N_SLOTS]
        if slots == len(state.size) or slots > count[N_ALIVE] + count[N_ALIVE] // 3 + 32:
            compact(state, lent)
            slots = count[N_SLOTS]
        u = least_bound(state.bound, state.low, slots)
        if u < 0:
            return STUCK
        v = state.neighbor[u]
        if v < 0 or state.gone[v] > 0.0:
            asks = u
            continue
        if count[PHASE] == BELOW and state.bound[u] > state.limit[0]:
            return ENOUGH
        i = np.int64(state.item[u])
        j = np.int64(state.item[v])
        item = max(i, j)
        if i >= 0 and j >= 0:
            if conflicting(state.mask, state.live, i, j):
                asks = u
                continue
            if count[N_FREE] == 0:
                count[N_FREE] = purge(state.mask, state.live, state.left, state.free)
                if 4 * count[N_FREE] < len(state.left):
                    return MORE_CERTIFICATES
            count[N_TESTS] += 1
            answer = try_merge(layers, i, j)
            if answer == ROOM:
                return MORE_ROOM
            if answer == CONFLICT:
                count[N_REFUTED] += 1
                learn(state, layers, i, j)
                if past is not None:
                    if len(lent.used):
                        return LEARNED
                asks = u
                continue
            item = top(layers.item, layers.count, i)
            inherit(state.mask, state.live, state.left, i if item == j else j, item)
        asks = merge(state, lent, method, vectors, u, v, item)
    return DONE


@njit
def redo(state: ReConState, past: Past, method: int, vectors: bool, pairs: IntArray, height: FloatArray) -> None:
    """Repeat the first merges of the earlier run, without a search."""
    state = borrowed(state)
    past = borrowed(past)
    where = past.node[WHERE]
    for step in range(len(height)):
        if state.count[N_SLOTS] == len(state.size):
            compact(state, past)
        i = where[pairs[step, 1]]
        state.bound[i] = height[step]
        merge(state, past, method, vectors, i, where[pairs[step, 0]], np.int64(-1))


@njit
def vouch(
    mask: BitArray,
    item: ShortArray,
    count: LongArray,
    triplet: ShortArray,
    used: LongArray,
    certificate: int,
    apart: int,
    now: int,
) -> None:
    """Note which triplets prove a new certificate: enough to hold each of its two sets together, used ones first.

    That takes as many triplets as there are clusters, less two: ``apart``. It is not part of `advance`, so that a run
    that is not recorded need not compile it.
    """
    word = certificate >> 6
    bit = ONE << np.uint64(certificate & 63)
    up = np.arange(len(item))
    inside = np.empty(len(used), np.int64)
    n_inside = 0
    for t in range(len(used)):
        a = top(item, count, np.int64(triplet[t, 0]))
        if (mask[0, a, word] | mask[1, a, word]) & bit == np.uint64(0):
            continue
        b = top(item, count, np.int64(triplet[t, 1]))
        c = top(item, count, np.int64(triplet[t, 2]))
        held = (mask[0, a, word] & mask[0, b, word]) | (mask[1, a, word] & mask[1, b, word])
        if a != b and held & (mask[0, c, word] | mask[1, c, word]) & bit != np.uint64(0):
            inside[n_inside] = t
            n_inside += 1
    for fresh in range(2):
        for p in range(n_inside):
            t = inside[p]
            if apart == 0 or (used[t] > now) != (fresh == 1):
                continue
            a = top(item, count, np.int64(triplet[t, 0]))
            b = top(item, count, np.int64(triplet[t, 1]))
            while up[a] != a:
                up[a] = up[up[a]]
                a = up[a]
            while up[b] != b:
                up[b] = up[up[b]]
                b = up[b]
            if a != b:
                up[a] = b
                apart -= 1
                used[t] = min(used[t], now)
    if apart > 0:  # no proof was found, so any triplet may belong to one
        for t in range(len(used)):
            used[t] = min(used[t], now)


@njit
def link_entries(entry: npt.NDArray[np.int64], node: npt.NDArray[np.int64]) -> None:
    """Chain the entries about each cluster, the latest first."""
    for e in range(entry.shape[1]):
        who = entry[WHO, e]
        entry[EARLIER, e] = node[LATEST, who]
        node[LATEST, who] = e


@njit
def clusters_after(parent: IntArray, n_samples: int, merges: int) -> IntArray:
    """The node every sample is in after a number of merges."""
    at = np.arange(n_samples + merges)
    for node in range(n_samples + merges - 1, -1, -1):  # parents before children
        if 0 <= parent[node] < n_samples + merges:
            at[node] = at[parent[node]]
    return at[:n_samples].copy()
