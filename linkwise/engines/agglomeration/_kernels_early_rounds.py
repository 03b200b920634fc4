"""Rounds of reciprocal nearest neighbors on clusters of vectors, each with a list of its nearest ones and no matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise._kernels import inner, njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import BoolArray, FloatArray, Floats, IntArray
from linkwise.engines.agglomeration._kernels_rounds import PAIRS, PENDING, UNSURE, list_pending, note_merge, pair_up
from linkwise.engines.distances import LARGEST, WEIGHTED_MEAN

# Samples of a cluster from which its distances are left to the matrix.
LARGE = 32

LOOKS = 7  # position in tally


class Listed(NamedTuple):
    """State between two rounds. A slot is a cluster that has a list; a merged cluster keeps the lower slot."""

    vectors: Floats  # those of a slot next to each other
    first: IntArray  # (slots + 1,): where they begin
    share: Floats  # of each vector in the mean of its slot
    scale: Floats  # of each slot in the mean of its cluster
    whole: Floats  # of each cluster: sum of the products of these
    listed: IntArray  # (slots, length): the nearest slots, or -1
    listed_gap: Floats  # distances to them
    reach: Floats  # of each cluster: all that is nearer is in a list of one of its slots
    cluster: IntArray  # of each slot
    after: IntArray  # of each slot: another one of its cluster, or -1
    last: IntArray  # of each cluster: where this ends
    seen: IntArray  # of each cluster: when it was last looked at
    ban_start: IntArray  # (vectors + 1,): slots of its forbidden partners in `ban`; one entry if there are none
    ban: IntArray
    size: Floats
    node: IntArray
    alive: BoolArray
    nearest: IntArray  # a slot, or one of NEW, PAIRED, DROPPED, LOST, UNSURE
    gap: Floats
    floor: FloatArray
    pending: IntArray
    pair: IntArray
    merges: IntArray
    height: FloatArray
    tally: IntArray


@inner
def _distance(vectors: Floats, i: int, j: int, root: bool) -> Any:
    """Return the (squared) Euclidean distance, summed in the order in which `write_distances` sums."""
    x = vectors[i]
    y = vectors[j]
    d = x.shape[0]
    total = x[0] * 0
    k = 0
    while k + 8 <= d:
        g0, g1, g2, g3 = y[k] - x[k], y[k + 1] - x[k + 1], y[k + 2] - x[k + 2], y[k + 3] - x[k + 3]
        g4, g5, g6, g7 = y[k + 4] - x[k + 4], y[k + 5] - x[k + 5], y[k + 6] - x[k + 6], y[k + 7] - x[k + 7]
        total += (g0 * g0 + g1 * g1 + g2 * g2 + g3 * g3) + (g4 * g4 + g5 * g5 + g6 * g6 + g7 * g7)
        k += 8
    while k < d:
        gap = y[k] - x[k]
        total += gap * gap
        k += 1
    return np.sqrt(total) if root else total


@inner
def _between(state: Listed, kind: int, root: bool, a: int, b: int) -> Any:
    """Return the distance of two clusters; the order of the two does not matter."""
    first = state.first
    total = state.vectors[0, 0] * 0
    u = min(a, b)
    while u >= 0:
        for i in range(first[u], first[u + 1]):
            v = max(a, b)
            while v >= 0:
                for j in range(first[v], first[v + 1]):
                    gap = _distance(state.vectors, i, j, root)
                    if kind == LARGEST:
                        total = max(total, gap)
                    elif kind == WEIGHTED_MEAN:
                        total += state.share[i] * state.scale[u] * state.share[j] * state.scale[v] * gap
                    else:
                        total += gap
                v = state.after[v]
        u = state.after[u]
    return total if kind == LARGEST else total / (state.whole[a] * state.whole[b])


@inner
def _look_around(state: Listed, kind: int, root: bool, slot: int) -> None:
    """Find the nearest neighbor of a cluster among those listed, if it must be one of them."""
    count = state.tally
    count[LOOKS] += 1
    look = count[LOOKS]
    seen = state.seen
    seen[slot] = look
    state.nearest[slot] = UNSURE
    if state.size[slot] > LARGE:
        return
    if state.ban_start.shape[0] > 1:
        u = slot
        while u >= 0:
            for e in range(state.ban_start[state.first[u]], state.ban_start[state.first[u + 1]]):
                seen[state.cluster[state.ban[e]]] = look
            u = state.after[u]
    best = -1
    low = state.reach[slot]
    u = slot
    while u >= 0:
        for t in range(state.listed.shape[1]):
            if state.listed[u, t] < 0:
                break
            other = state.cluster[state.listed[u, t]]
            if seen[other] == look:
                continue
            seen[other] = look
            if state.after[slot] < 0 and state.after[other] < 0:
                gap = state.listed_gap[u, t]
            else:
                gap = _between(state, kind, root, slot, other)
            if gap < low or (gap == low and best >= 0 and other < best):
                low = gap
                best = other
        u = state.after[u]
    if best >= 0:
        state.nearest[slot] = best
        state.gap[slot] = low


@inner
def _unite(state: Listed, kind: int, kept: int, dropped: int) -> None:
    """Put the slots of one cluster into another."""
    if kind == WEIGHTED_MEAN:
        for a in (kept, dropped):
            u = a
            while u >= 0:
                state.scale[u] /= 2
                u = state.after[u]
    else:
        state.whole[kept] += state.whole[dropped]
    u = dropped
    while u >= 0:
        state.cluster[u] = kept
        u = state.after[u]
    state.after[state.last[kept]] = dropped
    state.last[kept] = state.last[dropped]
    state.reach[kept] = min(state.reach[kept], state.reach[dropped])


@njit(nogil=True)
def round_on_lists(state: Listed, kind: int, root: bool) -> None:
    """Look up the nearest neighbor of the pending clusters, and merge all reciprocal ones."""
    state = borrowed(state)
    count = state.tally
    for t in range(count[PENDING]):
        _look_around(state, kind, root, state.pending[t])
    pair_up(state)
    for t in range(count[PAIRS]):
        kept = state.pair[t, 0]
        dropped = state.pair[t, 1]
        _unite(state, kind, kept, dropped)
        note_merge(state, kept, dropped, np.float64(state.gap[kept]))
    list_pending(state)
