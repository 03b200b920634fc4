"""What the merge loop of ReCon works on, and its search for the nearest compatible cluster (compiled).

Clusters stand in slots ordered by age; a slot owns its pairs with all older slots, so the nearest older neighbor of
every slot is found by one pass over a prefix and never has to be repaired when younger clusters appear. A stored
nearest distance is a lower bound: merges remove pairs from a slot, they never add any.

A run can be *recorded*: for every search, which cluster asked, after how many merges, and who was nearest, whatever
the statements say about that one. A later run on the same vectors *recalls* such a search. It is the same cluster when
it was put together by the same merges; the answer covers every older cluster that was there then, so only those that
were not are compared again. Recalling gives the very numbers that searching would have given, or gives up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import inner
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.agglomeration import WARD

# slots of `count`
N_SLOTS, N_ALIVE, N_MERGED, N_FREE, N_TESTS, N_REFUTED, N_SCANS, PHASE, WANTED, TOKEN = range(10)
N_NOTED, THEN, N_RECALLED = range(10, 13)
FREE, INSIDE, BELOW = range(3)
BLOCK = 256
# rows of `Past.entry` and `Past.note`: cluster that asked, merges before, nearest (-1 unknown), earlier entry about it
WHO, WHEN, NEAREST, EARLIER = range(4)
# rows of `Past.node`: newest entry about it, merges after which it was gone, node it became part of, its slot now
LATEST, DIED, ABOVE, WHERE = range(4)
NEVER = 2**31 - 1
LARGEST = 2**63 - 1
INFINITY_AS_INTEGER = 0x7FF0000000000000


LongArray = npt.NDArray[np.int64]


class ReConState(NamedTuple):
    """Everything the loop needs between two calls; all arrays, so that a call can stop and go on."""

    center: FloatArray  # [d, slots] centroids by column, when distances come from vectors; 4 divides d
    matrix: FloatArray  # [n, n] distances, when they do not
    place: IntArray  # [slots] row of the matrix
    size: FloatArray  # [slots] samples in the cluster
    gone: FloatArray  # [slots] inf once merged, else 0: added to distances, it hides dead slots
    node: IntArray  # [slots] node of the dendrogram
    item: npt.NDArray[np.int32]  # [slots] item that stands for the cluster among the triplets, or -1
    bound: FloatArray  # [slots] at most the distance to the nearest older compatible cluster; -inf new
    low: FloatArray  # [slots / BLOCK + 2] minimum of each block of `bound`; -inf when it may have changed
    neighbor: IntArray  # [slots] the older slot that gave it
    row: FloatArray  # [slots] scratch
    least: FloatArray  # [slots / BLOCK + 1] scratch: minimum of each block of `row`
    mask: npt.NDArray[np.uint64]  # [2, items, words]
    live: npt.NDArray[np.uint64]  # [words] certificates in force; bits of others mean nothing until purged
    left: npt.NDArray[np.int64]  # [64 words] clusters each certificate has left
    free: npt.NDArray[np.int64]  # [64 words] stack of unused certificates
    scratch: npt.NDArray[np.int32]  # [2, items + 1]
    block: IntArray  # [slots] the block a cluster belongs to, used inside only
    tag: IntArray  # [slots] the list of groups apart that a cluster holds, or -1
    ends: IntArray  # [2, tags] first and last entry of each list
    entry: IntArray  # [2, entries] the group apart, and the next entry
    stamp: npt.NDArray[np.int64]  # [2, groups apart] search in which it was seen last; merges before it first refused
    limit: FloatArray  # [1] distance beyond which nothing is merged below the cut
    pairs: IntArray  # [n - 1, 2] merges so far
    height: FloatArray  # [n - 1]
    count: npt.NDArray[np.int64]  # type: ignore[assignment]  # [13]


class Past(NamedTuple):
    """The recording of an earlier run and of this one; every array is empty when there is none."""

    entry: npt.NDArray[np.int64]  # [4, e] searches of the earlier run, in their order
    far: FloatArray  # [e] the distance each of them found
    node: npt.NDArray[np.int64]  # [4, nodes] the clusters of the earlier run
    old: npt.NDArray[np.int32]  # [slots] the cluster of the earlier run a slot equals; NEVER if none, -1 for dead slots
    died: npt.NDArray[np.int32]  # [slots] merges after which that cluster was gone
    edge: npt.NDArray[
        np.int32
    ]  # [2, slots / BLOCK + 2] in each block at least the largest `old`, at most the least `died`
    note: npt.NDArray[np.int64]  # [3, room] searches of this run
    note_far: FloatArray  # [room]
    used: npt.NDArray[np.int64]  # [triplets] merges before the first refutation that a triplet took part in


@inner
def apart_by(center: FloatArray, size: FloatArray, ward: bool, u: int, v: int) -> float:
    """The distance of the vectors in two slots, bit by bit as `fill_row` computes it."""
    far = 0.0
    for f in range(0, len(center), 4):
        t0 = center[f, v] - center[f, u]
        t1 = center[f + 1, v] - center[f + 1, u]
        t2 = center[f + 2, v] - center[f + 2, u]
        t3 = center[f + 3, v] - center[f + 3, u]
        far += (t0 * t0 + t1 * t1) + (t2 * t2 + t3 * t3)
    if ward:
        far *= 2.0 * size[u] * size[v] / (size[u] + size[v])
    return far


@inner
def keep_inside(row: FloatArray, block: IntArray, slot: int) -> None:
    """Hide all slots that are not of the block of ``slot``."""
    for s in range(slot):
        if block[s] != block[slot]:
            row[s] = np.inf


@inner
def fill_row(state: ReConState, method: int, vectors: bool, slot: int) -> None:
    """Write the distances of ``slot`` to all older slots into ``row``, infinite for dead ones."""
    row = state.row
    if not vectors:
        line = state.matrix[state.place[slot]]
        for s in range(slot):
            row[s] = line[state.place[s]] + state.gone[s]
        return
    center = state.center
    n_features = len(center)
    for start in range(0, slot, BLOCK):
        stop = min(slot, start + BLOCK)
        part = row[start:stop]
        hidden = state.gone[start:stop]
        for s in range(stop - start):
            part[s] = hidden[s]
        for f in range(0, n_features, 4):  # four at a time: one load and store of the sums for four differences
            x0, x1, x2, x3 = center[f, slot], center[f + 1, slot], center[f + 2, slot], center[f + 3, slot]
            line0, line1 = center[f, start:stop], center[f + 1, start:stop]
            line2, line3 = center[f + 2, start:stop], center[f + 3, start:stop]
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


@inner
def block_least(row: FloatArray, start: int, stop: int) -> float:
    """The least number of a stretch, found among integers in the same order, which are compared many at a time."""
    part = row[start:stop].view(np.int64)
    best = INFINITY_AS_INTEGER
    for s in range(stop - start):
        x = part[s]
        x ^= (x >> 63) & LARGEST  # negative floats fall as their integers rise
        best = min(best, x)
    best ^= (best >> 63) & LARGEST
    return np.int64(best).view(np.float64)


@inner
def conflicting(mask: npt.NDArray[np.uint64], live: npt.NDArray[np.uint64], p: int, q: int) -> bool:
    """Whether some certificate forbids merging the clusters of items p and q."""
    hit = np.uint64(0)
    for w in range(len(live)):
        hit |= ((mask[0, p, w] & mask[1, q, w]) | (mask[1, p, w] & mask[0, q, w])) & live[w]
    return bool(hit != np.uint64(0))


@inner
def stamp_groups(ends: IntArray, entry: IntArray, stamp: LongArray, count: LongArray, tag: int) -> bool:
    """Note which groups apart a list names; whether there are any and they matter now."""
    if count[PHASE] != BELOW or tag < 0:
        return False
    count[TOKEN] += 1
    e = ends[0, tag]
    while e >= 0:
        stamp[0, entry[0, e]] = count[TOKEN]
        e = entry[1, e]
    return True


@inner
def kept_apart(ends: IntArray, entry: IntArray, stamp: LongArray, count: LongArray, tag: int) -> bool:
    """Whether a list names a group that was stamped last."""
    if tag < 0:
        return False
    e = ends[0, tag]
    while e >= 0:
        group = entry[0, e]
        if stamp[0, group] == count[TOKEN]:
            stamp[1, group] = min(stamp[1, group], count[N_MERGED])
            return True
        e = entry[1, e]
    return False


@inner
def write_down(note: LongArray, note_far: FloatArray, count: LongArray, who: int, far: float, nearest: int) -> None:
    """Record the nearest cluster; -1 if none, or if a later run may find another."""
    place = count[N_NOTED]
    if place < len(note_far):
        note[WHO, place] = who
        note[WHEN, place] = count[N_MERGED]
        note[NEAREST, place] = nearest
        note_far[place] = far
        count[N_NOTED] = place + 1


@inner
def settle(state: ReConState, past: Any, slot: int) -> None:
    """Find the nearest older slot that no certificate and no group apart forbids, from the distances in ``row``."""
    row, least, node, item, tag, count = state.row, state.least, state.node, state.item, state.tag, state.count
    watched = stamp_groups(state.ends, state.entry, state.stamp, count, tag[slot])
    recording = False
    if past is not None:
        recording = len(past.note_far) > 0 and count[PHASE] != INSIDE
    n_samples = len(state.pairs) + 1
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
        stop = min(slot, (where + 1) * BLOCK)
        other = where * BLOCK
        while where >= 0 and row[other] != best:
            other += 1
        if past is not None and recording:
            recording = False
            nearest = node[other] if where >= 0 else np.int64(-1)
            if nearest >= n_samples:  # samples keep their order, so the first of them stays first
                for s in range(other + 1, slot):
                    if row[s] == best:
                        nearest = np.int64(-1)
            write_down(past.note, past.note_far, count, node[slot], best, nearest)
        if where < 0:
            state.bound[slot] = np.inf
            state.neighbor[slot] = -1
            return
        theirs = np.int64(item[other])
        if (mine < 0 or theirs < 0 or not conflicting(state.mask, state.live, mine, theirs)) and not (
            watched and kept_apart(state.ends, state.entry, state.stamp, count, tag[other])
        ):
            state.bound[slot] = best
            state.neighbor[slot] = other
            return
        row[other] = np.inf
        least[where] = block_least(row, where * BLOCK, stop)


@inner
def measure_block(
    old: npt.NDArray[np.int32], died: npt.NDArray[np.int32], edge: npt.NDArray[np.int32], block: int, stop: int
) -> None:
    """Bring ``edge`` of one block up to date."""
    largest = np.int32(-1)
    least = np.int32(NEVER)
    for s in range(block * BLOCK, min(stop, (block + 1) * BLOCK)):
        largest = old[s] if old[s] > largest else largest  # noqa: FURB136
        least = died[s] if died[s] < least else least  # noqa: FURB136
    edge[0, block] = largest
    edge[1, block] = least


@inner
def recall(state: ReConState, past: Past, method: int, slot: int) -> bool:
    """Do what a search does from what an earlier run has found; False when that does not get further."""
    old, died, edge, node, count = past.old, past.died, past.edge, past.node, state.count
    mine = np.int64(old[slot])
    if mine == NEVER:
        return False
    entry = node[LATEST, mine]
    while entry >= 0 and past.entry[WHEN, entry] > count[THEN]:
        entry = past.entry[EARLIER, entry]
    if entry < 0:
        return False
    asker, then = np.int32(mine), np.int32(past.entry[WHEN, entry])  # as narrow as what they are compared with
    best = past.far[entry]
    other = past.entry[NEAREST, entry]
    if other >= 0:
        other = node[WHERE, other]
        if other >= slot:
            other = np.int64(-1)
    tied = False
    strangers = 0
    for b in range((slot + BLOCK - 1) // BLOCK):
        if edge[0, b] < asker and edge[1, b] > then:
            continue
        measure_block(old, died, edge, np.int64(b), count[N_SLOTS])
        for s in range(b * BLOCK, min(slot, (b + 1) * BLOCK)):
            if old[s] < asker and died[s] > then:
                continue
            strangers += 1
            if 32 * strangers > slot + 128:  # searching is faster then
                return False
            far = apart_by(state.center, state.size, method == WARD, slot, s)
            if far < best or (far == best and other >= 0 and s < other):
                tied = far == best
                best = far
                other = s
            elif far == best:
                tied = True
    fine = other >= 0
    if fine:
        p, q = np.int64(state.item[slot]), np.int64(state.item[other])
        fine = p < 0 or q < 0 or not conflicting(state.mask, state.live, p, q)
        if fine and stamp_groups(state.ends, state.entry, state.stamp, count, state.tag[slot]):
            fine = not kept_apart(state.ends, state.entry, state.stamp, count, state.tag[other])
    if not fine and best <= state.bound[slot]:
        return False  # not even a better bound
    state.bound[slot] = best
    state.neighbor[slot] = other if fine else -1
    count[N_RECALLED] += 1
    nearest = state.node[other] if other >= 0 else np.int64(-1)
    if tied and nearest > len(state.pairs):
        nearest = np.int64(-1)
    write_down(past.note, past.note_far, count, state.node[slot], best, nearest)
    return True
