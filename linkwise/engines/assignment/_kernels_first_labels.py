"""Labels to start a search from, in which all is apart: found by greed, or else by tabu search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.assignment._kernels_trees import forget
from linkwise.problem.statements import Apart


@njit
def note(apart: Apart, p: int, c: int, change: int, local: IntArray, taken: npt.NDArray[np.int32]) -> None:
    """Count for every neighbor of a place that its cluster became taken, or free again."""
    for e in range(apart.first[p], apart.first[p + 1]):
        q = apart.clique[e]
        for t in range(apart.start[q], apart.start[q + 1]):
            if apart.member[t] != p:
                taken[local[apart.member[t]], c] += change


@njit
def choices(costs: FloatArray, p: int, taken: npt.NDArray[np.int32]) -> tuple[float, float]:
    """Least and second least cost of the clusters that are free for a place; inf where there are none."""
    least, second = np.inf, np.inf
    for c in range(costs.shape[1]):
        if taken[c] == 0:
            cost = costs[p, c]
            if cost < least:
                least, second = cost, least
            elif cost < second:
                second = cost
    return least, second


@njit
def _ahead(key: FloatArray, item: IntArray, i: int, j: int) -> bool:
    return key[i] > key[j] or (key[i] == key[j] and item[i] < item[j])  # type: ignore[no-any-return]


@njit
def _push(key: FloatArray, item: IntArray, size: int, value: float, what: int) -> int:
    """Put an entry on a heap whose largest key is first; return the new size."""
    key[size], item[size] = value, what
    i = size
    while i > 0 and _ahead(key, item, i, (i - 1) // 2):
        j = (i - 1) // 2
        key[i], key[j] = key[j], key[i]
        item[i], item[j] = item[j], item[i]
        i = j
    return size + 1


@njit
def _pop(key: FloatArray, item: IntArray, size: int) -> int:
    """Take the first entry off a heap; return the new size."""
    size -= 1
    key[0], item[0] = key[size], item[size]
    i = 0
    while True:
        j = 2 * i + 1
        if j >= size:
            return size
        if j + 1 < size and _ahead(key, item, j + 1, j):
            j += 1
        if not _ahead(key, item, j, i):
            return size
        key[i], key[j] = key[j], key[i]
        item[i], item[j] = item[j], item[i]
        i = j


@njit
def start_by_greed(
    costs: FloatArray, apart: Apart, places: IntArray, labels: IntArray, local: IntArray, taken: npt.NDArray[np.int32]
) -> bool:
    """Fill in labels, the place with most to lose first; False when some place is left without a cluster."""
    s, k = len(places), costs.shape[1]
    room = s  # a place is put on the heap again whenever a neighbor takes one of its clusters
    for p in places:
        for e in range(apart.first[p], apart.first[p + 1]):
            room += apart.start[apart.clique[e] + 1] - apart.start[apart.clique[e]]
    key, item = np.empty(room), np.empty(room, np.intp)
    regret = np.empty(s)
    size = 0
    for t in range(s):
        least, second = choices(costs, places[t], taken[t])
        regret[t] = second - least if second < np.inf else np.inf
        labels[places[t]] = -1
        size = _push(key, item, size, regret[t], t)
    while size > 0:
        pick, stale = item[0], key[0] != regret[item[0]]
        size = _pop(key, item, size)
        p = places[pick]
        if stale or labels[p] >= 0:
            continue
        best = -1
        for c in range(k):
            if taken[pick, c] == 0 and costs[p, c] < np.inf and (best < 0 or costs[p, c] < costs[p, best]):
                best = c
        if best < 0:
            forget(places, labels)
            return False
        labels[p] = best
        note(apart, p, best, 1, local, taken)
        for e in range(apart.first[p], apart.first[p + 1]):
            q = apart.clique[e]
            for t in range(apart.start[q], apart.start[q + 1]):
                other = local[apart.member[t]]
                if labels[apart.member[t]] < 0:
                    least, second = choices(costs, apart.member[t], taken[other])
                    regret[other] = second - least if second < np.inf else np.inf
                    size = _push(key, item, size, regret[other], other)
    return True


@njit
def start_by_tabu(
    costs: FloatArray,
    apart: Apart,
    places: IntArray,
    labels: IntArray,
    local: IntArray,
    taken: npt.NDArray[np.int32],
    moves: int,
) -> bool:
    """Search labels in which all is apart, whatever they cost: move places in conflict, and not back too soon (tabu).

    ``labels`` is written only when such labels are found. ``taken`` is all zero.
    """
    s, k = len(places), costs.shape[1]
    given = np.empty(s, np.intp)
    for t in range(s):  # few conflicts first, then cheap
        p, best = places[t], -1
        for c in range(k):
            if costs[p, c] < np.inf and (
                best < 0
                or taken[t, c] < taken[t, best]
                or (taken[t, c] == taken[t, best] and costs[p, c] < costs[p, best])
            ):
                best = c
        if best < 0:
            return False
        given[t] = best
        note(apart, p, best, 1, local, taken)
    until = np.zeros((s, k), np.intp)
    least = s * s
    state = np.uint64(88172645463325252)
    for move in range(moves):
        conflicts, pick, to, change, ties = 0, -1, -1, 0, 0
        for t in range(s):
            if taken[t, given[t]] == 0:
                continue
            conflicts += taken[t, given[t]]
        for t in range(s):
            own = taken[t, given[t]]
            if own == 0:
                continue
            for c in range(k):
                gain = taken[t, c] - own
                # a move that is barred is made all the same when it leads to a new minimum
                barred = until[t, c] > move and conflicts + 2 * gain >= least
                if c == given[t] or barred or costs[places[t], c] == np.inf:
                    continue
                if pick < 0 or gain < change:
                    pick, to, change, ties = t, c, gain, 1
                elif gain == change:
                    ties += 1
                    state ^= state << np.uint64(13)
                    state ^= state >> np.uint64(7)
                    state ^= state << np.uint64(17)
                    if state % np.uint64(ties) == 0:
                        pick, to = t, c
        if conflicts == 0:
            for t in range(s):
                labels[places[t]] = given[t]
            return True
        least = min(least, int(conflicts))
        if pick < 0:
            continue
        until[pick, given[pick]] = move + 1 + np.intp(state % np.uint64(10)) + (3 * conflicts) // 10
        note(apart, places[pick], given[pick], -1, local, taken)
        given[pick] = to
        note(apart, places[pick], to, 1, local, taken)
    return False


@njit
def _assign_in_order(costs: FloatArray, apart: Apart, order: IntArray, labels: IntArray) -> int:
    """Give each place in turn its cheapest cluster without a rival; return the place that has none, or -1."""
    k = costs.shape[1]
    taken = np.full(k, -1, np.intp)
    for p in order:
        for e in range(apart.first[p], apart.first[p + 1]):
            q = apart.clique[e]
            for t in range(apart.start[q], apart.start[q + 1]):
                c = labels[apart.member[t]]
                if c >= 0:
                    taken[c] = p
        best = -1
        for c in range(k):
            if taken[c] != p and (best < 0 or costs[p, c] < costs[p, best]):
                best = c
        if best < 0:
            return p  # type: ignore[no-any-return]
        labels[p] = best
    return -1
