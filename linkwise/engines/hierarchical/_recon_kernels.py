"""The merge loop of ReCon (compiled): nearest compatible pair first, with refutations that are remembered.

Clusters stand in slots ordered by age; a slot owns its pairs with all older slots, so the nearest older neighbour of
every slot is found by one pass over a prefix and never has to be repaired when younger clusters appear. A stored
nearest distance is a lower bound: merges remove pairs from a slot, they never add any.

A failed test yields a *certificate*: two sets X and Y such that no cluster that touches X can be merged with one that
touches Y as long as the two have three or more clusters together. They are the last two parts of a set that has to be
divided, each held together by triplets inside the set; that stays so when members merge with anything else.
Certificates are bits: bit c of ``mask[0, r]`` says that the cluster of item r touches the X of certificate c, bit c of
``mask[1, r]`` its Y.

A run has up to three phases. *Inside*: only clusters of one block are merged, so that must-links come first. *Below*
the cut: clusters that hold two samples of one group apart (a cannot-link is a group of two) are not merged; every
cluster keeps the list of the groups it holds. *Free*: triplets alone, the whole run when nobody spoke of pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.borrow import borrowed
from linkwise.engines.hierarchical._codes import CENTROID, WARD, lance_williams
from linkwise.problem import _layers
from linkwise.problem._layers import CONFLICT, ROOM, Layers

__all__ = [
    "BELOW",
    "BUDGET",
    "DONE",
    "ENOUGH",
    "FREE",
    "INSIDE",
    "MORE_CERTIFICATES",
    "MORE_ROOM",
    "STUCK",
    "ReConState",
    "advance",
]

DONE, BUDGET, MORE_ROOM, MORE_CERTIFICATES, STUCK, ENOUGH = range(6)
# slots of `count`
N_SLOTS, N_ALIVE, N_MERGED, N_FREE, N_TESTS, N_REFUTED, N_SCANS, PHASE, WANTED, TOKEN = range(10)
FREE, INSIDE, BELOW = range(3)
BLOCK = 256
ONE = np.uint64(1)


class ReConState(NamedTuple):
    """Everything the loop needs between two calls; all arrays, so that a call can stop and go on."""

    centre: npt.NDArray[np.float64]  # [d, slots] centroids by column, when distances come from vectors; 4 divides d
    matrix: npt.NDArray[np.float64]  # [n, n] distances, when they do not
    place: npt.NDArray[np.intp]  # [slots] row of the matrix
    size: npt.NDArray[np.float64]  # [slots] samples in the cluster
    gone: npt.NDArray[np.float64]  # [slots] inf once merged, else 0: added to distances, it hides dead slots
    node: npt.NDArray[np.intp]  # [slots] node of the dendrogram
    item: npt.NDArray[np.int32]  # [slots] item that stands for the cluster among the triplets, or -1
    bound: npt.NDArray[
        np.float64
    ]  # [slots] lower bound of the distance to the nearest older compatible cluster; -1 new
    neighbour: npt.NDArray[np.intp]  # [slots] the older slot that gave it
    row: npt.NDArray[np.float64]  # [slots] scratch
    least: npt.NDArray[np.float64]  # [slots / BLOCK + 1] scratch: minimum of each block of `row`
    mask: npt.NDArray[np.uint64]  # [2, items, words]
    live: npt.NDArray[np.uint64]  # [words] certificates in force; bits of others mean nothing until purged
    left: npt.NDArray[np.int64]  # [64 words] clusters each certificate has left
    free: npt.NDArray[np.int64]  # [64 words] stack of unused certificates
    scratch: npt.NDArray[np.int32]  # [2, items + 1]
    block: npt.NDArray[np.intp]  # [slots] the block a cluster belongs to, used inside only
    tag: npt.NDArray[np.intp]  # [slots] the list of groups apart that a cluster holds, or -1
    ends: npt.NDArray[np.intp]  # [2, tags] first and last entry of each list
    entry: npt.NDArray[np.intp]  # [2, entries] the group apart, and the next entry
    stamp: npt.NDArray[np.int64]  # [groups apart] the search in which a group was last seen
    limit: npt.NDArray[np.float64]  # [1] distance beyond which nothing is merged below the cut
    pairs: npt.NDArray[np.intp]  # [n - 1, 2] merges so far
    height: npt.NDArray[np.float64]  # [n - 1]
    count: npt.NDArray[np.int64]  # type: ignore[assignment]  # [10]


@njit
def fill_row(state: ReConState, method: int, vectors: bool, slot: int) -> None:
    """Write the distances of ``slot`` to all older slots into ``row``, infinite for dead ones."""
    row = state.row
    if not vectors:
        line = state.matrix[state.place[slot]]
        for s in range(slot):
            row[s] = line[state.place[s]] + state.gone[s]
        return
    centre = state.centre
    n_features = len(centre)
    for start in range(0, slot, BLOCK):
        stop = min(slot, start + BLOCK)
        part = row[start:stop]
        hidden = state.gone[start:stop]
        for s in range(stop - start):
            part[s] = hidden[s]
        for f in range(0, n_features, 4):  # four at a time: one load and store of the sums for four differences
            x0, x1, x2, x3 = centre[f, slot], centre[f + 1, slot], centre[f + 2, slot], centre[f + 3, slot]
            line0, line1 = centre[f, start:stop], centre[f + 1, start:stop]
            line2, line3 = centre[f + 2, start:stop], centre[f + 3, start:stop]
            for s in range(stop - start):
                t0 = line0[s] - x0
                t1 = line1[s] - x1
                t2 = line2[s] - x2
                t3 = line3[s] - x3
                part[s] += (t0 * t0 + t1 * t1) + (t2 * t2 + t3 * t3)
        if method == WARD:
            mine = state.size[slot]
            sizes = state.size[start:stop]
            for s in range(stop - start):
                part[s] *= 2.0 * mine * sizes[s] / (mine + sizes[s])


@njit
def block_least(row: npt.NDArray[np.float64], start: int, stop: int) -> float:
    best = np.inf
    for s in range(start, stop):
        best = row[s] if row[s] < best else best  # noqa: FURB136  (this form is turned into SIMD minima)
    return best


@njit
def conflicting(mask: npt.NDArray[np.uint64], live: npt.NDArray[np.uint64], p: int, q: int) -> bool:
    """Whether some certificate forbids merging the clusters of items p and q."""
    hit = np.uint64(0)
    for w in range(len(live)):
        hit |= ((mask[0, p, w] & mask[1, q, w]) | (mask[1, p, w] & mask[0, q, w])) & live[w]
    return hit != np.uint64(0)


@njit
def stamp_groups(state: ReConState, slot: int) -> bool:
    """Note which groups apart the cluster of ``slot`` holds; whether there are any and they matter now."""
    if state.count[PHASE] != BELOW or state.tag[slot] < 0:
        return False
    state.count[TOKEN] += 1
    e = state.ends[0, state.tag[slot]]
    while e >= 0:
        state.stamp[state.entry[0, e]] = state.count[TOKEN]
        e = state.entry[1, e]
    return True


@njit
def kept_apart(state: ReConState, slot: int) -> bool:
    """Whether the cluster of ``slot`` holds a group that was stamped last."""
    if state.tag[slot] < 0:
        return False
    e = state.ends[0, state.tag[slot]]
    while e >= 0:
        if state.stamp[state.entry[0, e]] == state.count[TOKEN]:
            return True
        e = state.entry[1, e]
    return False


@njit
def settle(state: ReConState, slot: int) -> None:
    """Find the nearest older slot that no certificate and no group apart forbids, from the distances in ``row``."""
    row, least, item, mask, live = state.row, state.least, state.item, state.mask, state.live
    if state.count[PHASE] == INSIDE:
        for s in range(slot):
            if state.block[s] != state.block[slot]:
                row[s] = np.inf
    watched = stamp_groups(state, slot)
    blocks = (slot + BLOCK - 1) // BLOCK
    for b in range(blocks):
        least[b] = block_least(row, b * BLOCK, min(slot, (b + 1) * BLOCK))
    mine = np.int64(item[slot])
    while True:
        best = np.inf
        where = -1
        for b in range(blocks):
            if least[b] < best:
                best = least[b]
                where = b
        if where < 0:
            state.bound[slot] = np.inf
            state.neighbour[slot] = -1
            return
        stop = min(slot, (where + 1) * BLOCK)
        other = where * BLOCK
        while row[other] != best:
            other += 1
        if (mine < 0 or item[other] < 0 or not conflicting(mask, live, mine, np.int64(item[other]))) and not (
            watched and kept_apart(state, np.int64(other))
        ):
            state.bound[slot] = best
            state.neighbour[slot] = other
            return
        row[other] = np.inf
        least[where] = block_least(row, where * BLOCK, stop)


@njit
def search(state: ReConState, method: int, vectors: bool, slot: int) -> None:
    """Renew the nearest older neighbour of ``slot``."""
    state.count[N_SCANS] += 1
    fill_row(state, method, vectors, slot)
    settle(state, slot)


@njit
def purge(state: ReConState) -> None:
    """Clear the bits of certificates no longer in force, so that their numbers can be used again."""
    mask, live = state.mask, state.live
    for kind in range(2):
        for r in range(mask.shape[1]):
            for w in range(len(live)):
                mask[kind, r, w] &= live[w]
    free = 0
    for certificate in range(len(state.left)):
        if live[certificate >> 6] >> np.uint64(certificate & 63) & ONE == np.uint64(0):
            state.free[free] = certificate
            free += 1
    state.count[N_FREE] = free


@njit
def mark(state: ReConState, layers: Layers, kind: int, size: int, certificate: int) -> int:
    """Set a certificate's bit for the clusters of the items in ``scratch[kind]``; return how many clusters."""
    word = certificate >> 6
    bit = ONE << np.uint64(certificate & 63)
    clusters = 0
    mask, scratch, item, count = state.mask, state.scratch, layers.item, layers.count
    for p in range(size):
        r = _layers.top(item, count, np.int64(scratch[kind, p]))
        if mask[kind, r, word] & bit == np.uint64(0):
            mask[kind, r, word] |= bit
            clusters += 1
    return clusters


@njit
def learn(state: ReConState, layers: Layers, i: int, j: int) -> None:
    """Turn the failed merge of items i and j, still in place, into a certificate, and undo it."""
    level = layers.count[_layers.SPLIT_LEVEL]
    n_x = _layers.ring(layers, level, i, state.scratch[0])
    n_y = _layers.ring(layers, level, j, state.scratch[1])
    _layers.undo(layers, np.int64(0))
    state.count[N_FREE] -= 1
    certificate = state.free[state.count[N_FREE]]
    clusters = mark(state, layers, np.int64(0), n_x, certificate)
    clusters += mark(state, layers, np.int64(1), n_y, certificate)
    state.left[certificate] = clusters
    state.live[certificate >> 6] |= ONE << np.uint64(certificate & 63)


@njit
def inherit(state: ReConState, loser: int, winner: int) -> None:
    """Give the certificates of one item to the item that now stands for both; drop those that are used up."""
    mask, live, left = state.mask, state.live, state.left
    for w in range(mask.shape[2]):
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


@njit
def join_lists(state: ReConState, x: int, y: int) -> int:
    """Put the groups apart of two clusters into one list; return it."""
    if x < 0 or y < 0:
        return max(x, y)
    state.entry[1, state.ends[1, x]] = state.ends[0, y]
    state.ends[1, x] = state.ends[1, y]
    return x


@njit
def merge(state: ReConState, method: int, vectors: bool, i: int, j: int, item: int) -> None:
    """Merge slots i and j into a new youngest slot that ``item`` stands for."""
    count = state.count
    new = count[N_SLOTS]
    step = count[N_MERGED]
    n_i = state.size[i]
    n_j = state.size[j]
    state.pairs[step, 0] = min(state.node[i], state.node[j])
    state.pairs[step, 1] = max(state.node[i], state.node[j])
    state.height[step] = state.bound[max(i, j)]
    state.node[new] = len(state.pairs) + 1 + step
    state.gone[i] = np.inf
    state.gone[j] = np.inf
    state.gone[new] = 0.0
    state.bound[i] = np.inf
    state.bound[j] = np.inf
    state.size[new] = n_i + n_j
    state.item[new] = item
    state.block[new] = state.block[i]
    state.tag[new] = join_lists(state, state.tag[i], state.tag[j])
    count[N_SLOTS] = new + 1
    count[N_MERGED] = step + 1
    count[N_ALIVE] -= 1
    if vectors:
        share = n_j / (n_i + n_j)
        if method != WARD and method != CENTROID:  # median: the midpoint, whatever the sizes
            share = 0.5
        for f in range(len(state.centre)):
            x = state.centre[f, i]
            state.centre[f, new] = x + share * (state.centre[f, j] - x)  # this way copies merge into an exact copy
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
    search(state, method, vectors, new)


@njit
def compact(state: ReConState) -> None:
    """Move the living slots to the front, keeping their order."""
    count = state.count
    moved = np.full(count[N_SLOTS], -1, np.intp)
    to = 0
    for s in range(count[N_SLOTS]):
        if state.gone[s] == 0.0:
            moved[s] = to
            if to != s:
                for f in range(len(state.centre)):
                    state.centre[f, to] = state.centre[f, s]
                state.place[to] = state.place[s]
                state.size[to] = state.size[s]
                state.node[to] = state.node[s]
                state.item[to] = state.item[s]
                state.block[to] = state.block[s]
                state.tag[to] = state.tag[s]
                state.bound[to] = state.bound[s]
                state.neighbour[to] = state.neighbour[s]
                state.gone[to] = 0.0
            old = state.neighbour[to]
            state.neighbour[to] = moved[old] if old >= 0 else -1
            to += 1
    count[N_SLOTS] = to


@njit
def least_bound(bound: npt.NDArray[np.float64], slots: int) -> int:
    """The slot with the least bound; the lowest such slot."""
    best = block_least(bound, np.int64(0), slots)
    if best == np.inf:
        return -1
    slot = 0
    while bound[slot] != best:
        slot += 1
    return slot


@njit
def advance(state: ReConState, layers: Layers, method: int, vectors: bool, budget: int) -> int:
    """Merge and search until done, the phase is over, ``budget`` searches are spent, or more room is needed."""
    state = borrowed(state)
    layers = borrowed(layers)
    count = state.count
    spent = count[N_SCANS]
    while count[N_ALIVE] > 1:
        if count[N_SCANS] - spent > budget:
            return BUDGET
        if count[PHASE] == BELOW and count[N_ALIVE] <= count[WANTED]:
            return ENOUGH
        slots = count[N_SLOTS]
        if slots == len(state.size) or slots > count[N_ALIVE] + count[N_ALIVE] // 3 + 32:
            compact(state)
            slots = count[N_SLOTS]
        u = least_bound(state.bound, slots)
        if u < 0:
            return STUCK
        v = state.neighbour[u]
        if v < 0 or state.gone[v] > 0.0:
            search(state, method, vectors, u)
            continue
        if count[PHASE] == BELOW and state.bound[u] > state.limit[0]:
            return ENOUGH
        i = np.int64(state.item[u])
        j = np.int64(state.item[v])
        item = max(i, j)
        if i >= 0 and j >= 0:
            if conflicting(state.mask, state.live, i, j):
                search(state, method, vectors, u)
                continue
            if count[N_FREE] == 0:
                purge(state)
                if 4 * count[N_FREE] < len(state.left):
                    return MORE_CERTIFICATES
            count[N_TESTS] += 1
            answer = _layers.try_merge(layers, i, j)
            if answer == ROOM:
                return MORE_ROOM
            if answer == CONFLICT:
                count[N_REFUTED] += 1
                learn(state, layers, i, j)
                search(state, method, vectors, u)
                continue
            item = _layers.top(layers.item, layers.count, i)
            inherit(state, i if item == j else j, item)
        merge(state, method, vectors, u, v, item)
    return DONE
