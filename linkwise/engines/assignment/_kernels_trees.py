"""Parts that are assigned exactly: cliques by shortest augmenting paths, parts without cycles from their leaves up.

A cost of inf forbids a cluster.
"""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.problem.statements import CLIQUE, TREE, Apart

# How good the labels of a part are.
BEST, GOOD, UNSOLVED = 1, 0, -1


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
def forget(places: IntArray, labels: IntArray) -> None:
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
def solve_trees(
    costs: FloatArray, apart: Apart, places: IntArray, inside: BoolArray, local: IntArray, labels: IntArray
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
        for c in range(costs.shape[1]):
            own[t, c] = costs[places[t], c]
    return solve_trees(own, apart, places, np.ones(len(places), np.bool_), scratch, labels)  # type: ignore[no-any-return]


@njit
def assign_easy(costs: FloatArray, apart: Apart, labels: IntArray, outcome: IntArray) -> None:
    """Assign the parts that are cliques or have no cycles; ``labels`` and ``outcome`` get the answers."""
    scratch = np.empty(len(labels), np.intp)
    for part in range(len(outcome)):
        places = apart.place[apart.begin[part] : apart.begin[part + 1]]
        if len(places) == 2:
            found = _pair(costs, places[0], places[1], labels)
        elif apart.shape[part] == CLIQUE:
            found = len(places) <= costs.shape[1] and match(costs, places, labels)
        elif apart.shape[part] == TREE:
            found = _tree(costs, apart, places, labels, scratch)
        else:
            continue
        outcome[part] = BEST if found else UNSOLVED
        if not found:
            forget(places, labels)
