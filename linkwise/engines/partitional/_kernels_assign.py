"""Assign places to clusters at least cost so that no clique has two places in one cluster: part by part.

Cliques are assignment problems (shortest augmenting paths), parts without cycles are solved by dynamic programming;
both exactly. Other parts start from labels in which the cliques hold and get better in two ways that keep them: two
clusters are swapped along the whole chain of places that the swap drags along (Kempe), and places that form trees are
assigned anew while the others stay. Then they are searched by branch and bound within a fixed number of steps. A cost of inf forbids a cluster.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import find, make, union
from linkwise.engines.partitional._apart import CLIQUE, TREE, Apart

__all__ = ["UNSOLVED", "assign_parts", "match"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]

BEST, GOOD, UNSOLVED = 1, 0, -1
SMALL = 12  # parts of up to so many places are searched to the end
STEPS_SMALL = 2_000_000
WORK = 4_000_000  # steps of the search times what one step looks at, for one larger part
WORK_IN_ALL = 100_000_000  # the same for all larger parts of one call
ROUNDS, IDLE = 60, 6  # of choosing trees: at most, and how many without a gain end it
REPLANTED = 300_000  # places that one sequence of rounds looks at
VISITS = 200_000_000  # places that chains may visit in one call


@njit
def match(costs: FloatArray, rows: IntArray, answer: IntArray) -> bool:
    """Give each row a column of its own at least total cost; False when inf leaves no way. len(rows) <= columns."""
    s, k = len(rows), costs.shape[1]
    u = np.zeros(s + 1)
    v = np.zeros(k + 1)
    owner = np.zeros(k + 1, np.intp)  # 1 + row that has the column; column 0 stands for "not yet"
    way = np.zeros(k + 1, np.intp)
    least = np.empty(k + 1)
    used = np.empty(k + 1, np.bool_)
    for i in range(1, s + 1):
        owner[0] = i
        at = 0
        least[:] = np.inf
        used[:] = False
        while True:
            used[at] = True
            row = owner[at]
            step, ahead = np.inf, -1
            for c in range(1, k + 1):
                if not used[c]:
                    reduced = costs[rows[row - 1], c - 1] - u[row] - v[c]
                    if reduced < least[c]:
                        least[c] = reduced
                        way[c] = at
                    if least[c] < step:
                        step, ahead = least[c], c
            if ahead < 0:
                return False
            for c in range(k + 1):
                if used[c]:
                    u[owner[c]] += step
                    v[c] -= step
                else:
                    least[c] -= step
            at = ahead
            if owner[at] == 0:
                break
        while at:
            before = way[at]
            owner[at] = owner[before]
            at = before
    for c in range(1, k + 1):
        if owner[c]:
            answer[rows[owner[c] - 1]] = c - 1
    return True


@njit
def _forget(places: IntArray, labels: IntArray) -> None:
    for p in places:
        labels[p] = -1


@njit
def _pair(costs: FloatArray, p: int, q: int, labels: IntArray) -> bool:
    """Two places apart from each other: one takes its cheapest cluster, the other its cheapest of the rest."""
    k = costs.shape[1]
    least, a, b = np.inf, -1, -1
    best_p, next_p, best_q, next_q = -1, -1, -1, -1
    for c in range(k):
        if best_p < 0 or costs[p, c] < costs[p, best_p]:
            best_p, next_p = c, best_p
        elif next_p < 0 or costs[p, c] < costs[p, next_p]:
            next_p = c
        if best_q < 0 or costs[q, c] < costs[q, best_q]:
            best_q, next_q = c, best_q
        elif next_q < 0 or costs[q, c] < costs[q, next_q]:
            next_q = c
    for x, y in ((best_p, best_q), (best_p, next_q), (next_p, best_q)):
        if x >= 0 and y >= 0 and x != y and costs[p, x] + costs[q, y] < least:
            least, a, b = costs[p, x] + costs[q, y], x, y
    labels[p] = a
    labels[q] = b
    return a >= 0


@njit
def _trees(
    costs: FloatArray, apart: Apart, places: IntArray, inside: npt.NDArray[np.bool_], local: IntArray, labels: IntArray
) -> bool:
    """Solve the places inside, which form trees: cheapest ways from the leaves up, then choices downwards.

    ``costs`` has a row for each of ``places``, where place p is at ``local[p]``; so has ``inside``. False when inf
    leaves no way, and then nothing is written.
    """
    s, k = costs.shape
    order = np.empty(s, np.intp)
    above = np.full(s, -2, np.intp)  # position of the parent; -1 for a root, -2 when not met yet
    met = 0
    for root in range(s):
        if not inside[root] or above[root] != -2:
            continue
        done = met
        order[met] = root
        above[root] = -1
        met += 1
        while done < met:
            t = order[done]
            done += 1
            p = places[t]
            for e in range(apart.first[p], apart.first[p + 1]):
                q = apart.clique[e]
                for i in range(apart.start[q], apart.start[q + 1]):
                    u = local[apart.member[i]]
                    if inside[u] and above[u] == -2:
                        above[u] = t
                        order[met] = u
                        met += 1
    below = costs.copy()
    for i in range(met - 1, -1, -1):
        t = order[i]
        if above[t] < 0:
            continue
        least, second, best = np.inf, np.inf, -1
        for c in range(k):
            if below[t, c] < least:
                least, second, best = below[t, c], least, c
            elif below[t, c] < second:
                second = below[t, c]
        for c in range(k):
            below[above[t], c] += second if c == best else least
    given = np.empty(s, np.intp)
    for i in range(met):
        t = order[i]
        taken = given[above[t]] if above[t] >= 0 else -1
        best = -1
        for c in range(k):
            if c != taken and below[t, c] < np.inf and (best < 0 or below[t, c] < below[t, best]):
                best = c
        if best < 0:
            return False
        given[t] = best
    for i in range(met):
        labels[places[order[i]]] = given[order[i]]
    return True


@njit
def _tree(costs: FloatArray, apart: Apart, places: IntArray, labels: IntArray, scratch: IntArray) -> bool:
    """Solve a part without cycles."""
    own = np.empty((len(places), costs.shape[1]))
    for t in range(len(places)):
        scratch[places[t]] = t
        own[t] = costs[places[t]]
    return _trees(own, apart, places, np.ones(len(places), np.bool_), scratch, labels)


@njit
def _note(apart: Apart, p: int, c: int, change: int, local: IntArray, taken: npt.NDArray[np.int32]) -> None:
    """Count for every neighbour of a place that its cluster became taken, or free again."""
    for e in range(apart.first[p], apart.first[p + 1]):
        q = apart.clique[e]
        for t in range(apart.start[q], apart.start[q + 1]):
            if apart.member[t] != p:
                taken[local[apart.member[t]], c] += change


@njit
def _choices(costs: FloatArray, p: int, taken: npt.NDArray[np.int32]) -> tuple[float, float]:
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
    return key[i] > key[j] or (key[i] == key[j] and item[i] < item[j])


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
def _start(
    costs: FloatArray, apart: Apart, places: IntArray, labels: IntArray, local: IntArray, taken: npt.NDArray[np.int32]
) -> bool:
    """Fill in labels, the place with most to lose first; False when some place is left without a cluster."""
    s, k = len(places), costs.shape[1]
    room = s  # a place is put on the heap again whenever a neighbour takes one of its clusters
    for p in places:
        for e in range(apart.first[p], apart.first[p + 1]):
            room += apart.start[apart.clique[e] + 1] - apart.start[apart.clique[e]]
    key, item = np.empty(room), np.empty(room, np.intp)
    regret = np.empty(s)
    size = 0
    for t in range(s):
        least, second = _choices(costs, places[t], taken[t])
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
            _forget(places, labels)
            return False
        labels[p] = best
        _note(apart, p, best, 1, local, taken)
        for e in range(apart.first[p], apart.first[p + 1]):
            q = apart.clique[e]
            for t in range(apart.start[q], apart.start[q + 1]):
                other = local[apart.member[t]]
                if labels[apart.member[t]] < 0:
                    least, second = _choices(costs, apart.member[t], taken[other])
                    regret[other] = second - least if second < np.inf else np.inf
                    size = _push(key, item, size, regret[other], other)
    return True


@njit
def _rename(costs: FloatArray, places: IntArray, labels: IntArray) -> None:
    """Rename the clusters of a part as a whole at least cost: what was apart stays apart."""
    k = costs.shape[1]
    total = np.zeros((k, k))
    for p in places:
        for c in range(k):
            total[labels[p], c] += costs[p, c]
    name = np.empty(k, np.intp)
    if match(total, np.arange(k), name):
        for p in places:
            labels[p] = name[labels[p]]


@njit
def _swap_chains(
    costs: FloatArray, apart: Apart, places: IntArray, labels: IntArray, stamp: IntArray, visits: int
) -> int:
    """Swap two clusters along chains while that lowers the cost; return how many visits are left.

    Some place of a chain that lowers the cost gains by it, so it is enough to start at places that gain.
    """
    k = costs.shape[1]
    chain = np.empty(len(places), np.intp)
    scale = 0.0
    for p in places:
        scale += abs(costs[p, labels[p]])
    tiny = 1e-12 * scale
    number = 0
    for p in places:
        stamp[p] = 0
    improved = True
    while improved and visits > 0:
        improved = False
        for start in places:
            for b in range(k):
                a = labels[start]
                if not costs[start, b] < costs[start, a] - tiny:
                    continue
                number += 1
                chain[0] = start
                stamp[start] = number
                size, done, change = 1, 0, 0.0
                while done < size:
                    p = chain[done]
                    done += 1
                    to = b if labels[p] == a else a
                    change += costs[p, to] - costs[p, labels[p]]
                    for e in range(apart.first[p], apart.first[p + 1]):
                        q = apart.clique[e]
                        for t in range(apart.start[q], apart.start[q + 1]):
                            other = apart.member[t]
                            if labels[other] == to and stamp[other] != number:
                                stamp[other] = number
                                chain[size] = other
                                size += 1
                visits -= size
                if change < -tiny:
                    for t in range(size):
                        labels[chain[t]] = b if labels[chain[t]] == a else a
                    improved = True
    return visits


@njit
def _total(costs: FloatArray, places: IntArray, labels: IntArray) -> float:
    total = 0.0
    for p in places:
        total += costs[p, labels[p]]
    return total


@njit
def _choose_forest(
    apart: Apart, places: IntArray, local: IntArray, order: IntArray, inside: npt.NDArray[np.bool_]
) -> None:
    """Take places in this order as long as those taken form trees."""
    s = len(places)
    sets = make(s)
    mark = np.full(s, -1, np.intp)
    inside[:] = False
    for t in order:
        p = places[t]
        fits = True
        for e in range(apart.first[p], apart.first[p + 1]):
            q = apart.clique[e]
            for i in range(apart.start[q], apart.start[q + 1]):
                u = local[apart.member[i]]
                if inside[u]:
                    tree = find(sets, u)
                    fits &= mark[tree] != t
                    mark[tree] = t
        if fits:
            inside[t] = True
            for e in range(apart.first[p], apart.first[p + 1]):
                q = apart.clique[e]
                for i in range(apart.start[q], apart.start[q + 1]):
                    u = local[apart.member[i]]
                    if inside[u] and u != t:
                        union(sets, t, u)


@njit
def _replant(costs: FloatArray, apart: Apart, places: IntArray, labels: IntArray, local: IntArray, rounds: int) -> bool:
    """Choose some places that form trees and assign them anew at least cost, the others staying; round after round.

    Returns whether the cost fell. It never rises: what is has always been one of the ways.
    """
    s, k = len(places), costs.shape[1]
    order = np.arange(s)
    inside = np.empty(s, np.bool_)
    own = np.empty((s, k))
    before = first = _total(costs, places, labels)
    idle = 0
    state = np.uint64(88172645463325252)  # any number: the rounds differ, and are the same in every run
    for _ in range(rounds):
        for i in range(s - 1, 0, -1):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            j = np.intp(state % np.uint64(i + 1))
            order[i], order[j] = order[j], order[i]
        _choose_forest(apart, places, local, order, inside)
        for t in range(s):
            if not inside[t]:
                continue
            p = places[t]
            own[t] = costs[p]
            for e in range(apart.first[p], apart.first[p + 1]):
                q = apart.clique[e]
                for i in range(apart.start[q], apart.start[q + 1]):
                    other = apart.member[i]
                    if not inside[local[other]]:
                        own[t, labels[other]] = np.inf
        _trees(own, apart, places, inside, local, labels)
        now = _total(costs, places, labels)
        idle = 0 if now < before - 1e-12 * abs(before) else idle + 1
        before = now
        if idle == IDLE:
            break
    return before < first - 1e-12 * abs(first)  # type: ignore[no-any-return]


@njit
def _search(
    costs: FloatArray,
    apart: Apart,
    places: IntArray,
    labels: IntArray,
    local: IntArray,
    taken: npt.NDArray[np.int32],
    steps: int,
) -> bool:
    """Branch and bound over one part; better labels are written, True when none can be better."""
    s, k = len(places), costs.shape[1]
    best = np.inf
    if labels[places[0]] >= 0:
        best = 0.0
        for p in places:
            best += costs[p, labels[p]]
    given = np.full(s, -1, np.intp)
    chosen = np.empty(s, np.intp)
    so_far = np.zeros(s + 1)
    depth, fresh = 0, True
    while depth >= 0:
        if fresh:
            if depth == s:
                if so_far[s] < best:
                    best = so_far[s]
                    for t in range(s):
                        labels[places[t]] = given[t]
                depth, fresh = depth - 1, False
                continue
            steps -= 1
            if steps < 0:
                return False
            bound, pick, most = so_far[depth], -1, -1.0
            for t in range(s):
                if given[t] < 0:
                    least, second = _choices(costs, places[t], taken[t])
                    bound += least
                    regret = second - least if second < np.inf else np.inf
                    if regret > most:
                        pick, most = t, regret
            # a bound of inf: some place is left without a cluster
            if bound == np.inf or bound >= best - 1e-13 * abs(bound):
                depth, fresh = depth - 1, False
                continue
            chosen[depth] = pick
        t = chosen[depth]
        p = places[t]
        last = given[t]
        if last >= 0:
            _note(apart, p, last, -1, local, taken)
            given[t] = -1
        c = -1  # the cheapest free cluster after the last one tried; of equals the lowest-numbered first
        for b in range(k):
            cost = costs[p, b]
            if taken[t, b] > 0 or cost == np.inf:
                continue
            if last >= 0 and (cost < costs[p, last] or (cost == costs[p, last] and b <= last)):
                continue
            if c < 0 or cost < costs[p, c]:
                c = b
        if c < 0:
            depth, fresh = depth - 1, False
            continue
        given[t] = c
        _note(apart, p, c, 1, local, taken)
        so_far[depth + 1] = so_far[depth] + costs[p, c]
        depth, fresh = depth + 1, True
    return True


@njit
def _other(
    costs: FloatArray, apart: Apart, places: IntArray, labels: IntArray, scratch: IntArray, visits: int, work: int
) -> tuple[int, int, int]:
    """Solve a part with cycles; return how well, and what is left of visits and work."""
    s, k = len(places), costs.shape[1]
    taken = np.zeros((s, k), np.int32)
    for t in range(s):
        scratch[places[t]] = t
    if labels[places[0]] < 0:
        _start(costs, apart, places, labels, scratch, taken)
        taken[:] = 0
    if labels[places[0]] >= 0:
        _rename(costs, places, labels)
        better = True
        while better:
            visits = _swap_chains(costs, apart, places, labels, scratch, visits)
            for t in range(s):
                scratch[places[t]] = t
            rounds = min(ROUNDS, REPLANTED // s, visits // s)
            better = s > SMALL and rounds > 0 and _replant(costs, apart, places, labels, scratch, rounds)
            visits -= rounds * s
    if s <= SMALL:
        steps = STEPS_SMALL
    else:
        steps = min(WORK, max(work, 0)) // (s * k)
        if steps < 4 * s:  # hardly enough to reach a second leaf
            steps = 0
        work -= steps * s * k
    proved = _search(costs, apart, places, labels, scratch, taken, steps)
    if labels[places[0]] < 0:
        return UNSOLVED, visits, work
    return (BEST if proved else GOOD), visits, work


@njit
def assign_parts(costs: FloatArray, apart: Apart, labels: IntArray) -> IntArray:
    """Assign every part; ``labels`` holds labels in which all is apart, or -1 for whole parts, and gets the answer.

    Returns for each part whether the answer is the best one, a good one or missing. The cost of a part never rises.
    """
    outcome = np.empty(len(apart.shape), np.intp)
    scratch = np.empty(len(labels), np.intp)
    visits, work = VISITS, WORK_IN_ALL
    for part in range(len(outcome)):
        places = apart.place[apart.begin[part] : apart.begin[part + 1]]
        if len(places) == 2:
            outcome[part] = BEST if _pair(costs, places[0], places[1], labels) else UNSOLVED
        elif apart.shape[part] == CLIQUE:
            found = len(places) <= costs.shape[1] and match(costs, places, labels)
            outcome[part] = BEST if found else UNSOLVED
        elif apart.shape[part] == TREE:
            outcome[part] = BEST if _tree(costs, apart, places, labels, scratch) else UNSOLVED
        else:
            outcome[part], visits, work = _other(costs, apart, places, labels, scratch, visits, work)
        if outcome[part] == UNSOLVED:
            _forget(places, labels)
    return outcome
