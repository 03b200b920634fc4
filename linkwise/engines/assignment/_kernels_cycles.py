"""Parts with cycles: labels in which all is apart get cheaper and stay apart.

Two clusters are swapped along the whole chain of places that the swap drags along (Kempe), and places that form trees
are assigned again while the others stay. Then branch and bound has a fixed number of steps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import find, make, union
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.engines.assignment._kernels_first_labels import choices, note, start_by_greed, start_by_tabu
from linkwise.engines.assignment._kernels_trees import BEST, GOOD, UNSOLVED, forget, match, solve_trees
from linkwise.problem.statements import OTHER, Apart

SMALL = 12  # parts of up to this many places are searched to the end
STEPS_SMALL = 2_000_000
WORK = 4_000_000  # steps of the search times what one step looks at, for one larger part
WORK_IN_ALL = 100_000_000  # the same for all larger parts of one call
ROUNDS, IDLE = 60, 6  # of choosing trees: at most, and how many without a gain end it
MOVES = 40_000_000  # places that the search for any labels at all looks at
REPLANTED = 300_000  # places that one sequence of rounds looks at
LARGE = REPLANTED // ROUNDS  # places beyond which rounds, of which few fit, begin only where chains gain nothing
VISITS = 200_000_000  # places that chains may visit in one call


@njit
def _rename(costs: FloatArray, places: IntArray, labels: IntArray) -> None:
    """Rename the clusters of a part as a whole at minimum cost: what was apart stays apart."""
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
    least = np.full(len(places), np.inf)
    for t in range(len(places)):
        stamp[places[t]] = 0
        for c in range(k):
            least[t] = min(least[t], costs[places[t], c])
    improved = True
    while improved and visits > 0:
        improved = False
        for t in range(len(places)):
            start = places[t]
            if not least[t] < costs[start, labels[start]] - tiny:
                continue
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
                        for i in range(apart.start[q], apart.start[q + 1]):
                            other = apart.member[i]
                            if labels[other] == to and stamp[other] != number:
                                stamp[other] = number
                                chain[size] = other
                                size += 1
                visits -= size
                if change < -tiny:
                    for at in range(size):
                        labels[chain[at]] = b if labels[chain[at]] == a else a
                    improved = True
    return visits


@njit
def _total(costs: FloatArray, places: IntArray, labels: IntArray) -> float:
    total = 0.0
    for p in places:
        total += costs[p, labels[p]]
    return total


@njit
def _choose_forest(apart: Apart, places: IntArray, local: IntArray, order: IntArray, inside: BoolArray) -> None:
    """Take places in this order as long as those taken form trees."""
    s = len(places)
    sets = make(s)
    mark = np.full(s, -1, np.intp)
    for t in range(s):
        inside[t] = False
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
    """Choose some places that form trees and assign them again at minimum cost, the others staying; round after round.

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
            for c in range(k):
                own[t, c] = costs[p, c]
            for e in range(apart.first[p], apart.first[p + 1]):
                q = apart.clique[e]
                for i in range(apart.start[q], apart.start[q + 1]):
                    other = apart.member[i]
                    if not inside[local[other]]:
                        own[t, labels[other]] = np.inf
        solve_trees(own, apart, places, inside, local, labels)
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
                    least, second = choices(costs, places[t], taken[t])
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
            note(apart, p, last, -1, local, taken)
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
        note(apart, p, c, 1, local, taken)
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
        start_by_greed(costs, apart, places, labels, scratch, taken)
        taken[:] = 0
    if s > SMALL and labels[places[0]] < 0:
        start_by_tabu(costs, apart, places, labels, scratch, taken, MOVES // s)
        taken[:] = 0
    if labels[places[0]] >= 0:
        _rename(costs, places, labels)
        better = True
        while better:
            before = _total(costs, places, labels)
            visits = _swap_chains(costs, apart, places, labels, scratch, visits)
            for t in range(s):
                scratch[places[t]] = t
            if s > LARGE and _total(costs, places, labels) < before:
                break
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
        forget(places, labels)
        return UNSOLVED, visits, work
    return (BEST if proved else GOOD), visits, work


@njit
def assign_others(costs: FloatArray, apart: Apart, labels: IntArray, outcome: IntArray) -> None:
    """Assign the other parts, starting from ``labels`` where a part has them (-1 where not); their cost never rises."""
    scratch = np.empty(len(labels), np.intp)
    visits, work = VISITS, WORK_IN_ALL
    for part in range(len(outcome)):
        if apart.shape[part] == OTHER:
            places = apart.place[apart.begin[part] : apart.begin[part + 1]]
            outcome[part], visits, work = _other(costs, apart, places, labels, scratch, visits, work)
