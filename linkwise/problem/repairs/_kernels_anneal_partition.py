"""Annealing of a partition: the branch of a sample, the draw of a cluster, and the loop of moves."""

from __future__ import annotations

import math

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import BoolArray, FloatArray, IntArray

_STEP, _EDGE, _CHOICE = 6.0, 0.8, 3.0  # work of a step, and of each statement and cluster it looks at


@njit
def _branch(
    label: IntArray,
    start: IntArray,
    links: IntArray,
    other: IntArray,
    root: int,
    cut: int,
    part: IntArray,
    inside: BoolArray,
) -> int:
    """Collect into ``part`` what must-links inside the cluster join to ``root`` when the one to ``cut`` is not used."""
    part[0] = root
    inside[root] = True
    size = 1
    at = 0
    while at < size:
        x = part[at]
        at += 1
        for s in range(start[x], start[x] + links[x]):
            y = other[s]
            if label[y] == label[root] and not inside[y] and not (x == root and y == cut):
                inside[y] = True
                part[size] = y
                size += 1
    return size


@njit
def _draw(choice: IntArray, score: FloatArray, temperature: float, rng: np.random.Generator) -> int:
    """One of the choices, heavier ones exponentially likelier."""
    top = -np.inf
    for c in choice:
        top = max(top, score[c])
    total = 0.0
    chosen = choice[0]
    for c in choice:
        share = math.exp((score[c] - top) / temperature)
        total += share
        if rng.random() * total < share:
            chosen = c
    return chosen  # type: ignore[no-any-return]


@njit
def _anneal(
    label: IntArray,
    best: IntArray,
    start: IntArray,
    links: IntArray,
    other: IntArray,
    value: FloatArray,
    hot: float,
    cold: float,
    steps: int,
    begin: int,
    stop: int,
    state: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Steps ``begin`` to ``stop`` of a cooling over ``steps``; ``state``: balance now, at best, and work.

    The statements of a sample are ``other[start[x] : start[x + 1]]``, its ``links[x]`` must-links first; their
    ``value`` is the weight, negative for cannot-links. The balance is the value of all pairs inside clusters.
    """
    n = len(label)
    size = np.zeros(n, np.intp)
    for x in range(n):
        size[label[x]] += 1
    free = np.empty(n, np.intp)  # labels without samples
    n_free = 0
    for c in range(n - 1, -1, -1):
        if size[c] == 0:
            free[n_free] = c
            n_free += 1
    score = np.zeros(n)
    seen = np.zeros(n, np.bool_)
    choice = np.empty(n + 1, np.intp)
    inside = np.zeros(n, np.bool_)
    part = np.empty(n, np.intp)
    for step in range(begin, stop):
        temperature = hot * (cold / hot) ** (step / steps)
        x = int(rng.random() * n)
        state[2] += _STEP
        k = 1
        part[0] = x
        inside[x] = True
        if links[x] > 0 and rng.random() < 0.5:
            cut = other[start[x] + int(rng.random() * links[x])]
            k = _branch(label, start, links, other, x, cut, part, inside)
            for i in range(k):
                state[2] += _EDGE * links[part[i]]
        home = label[x]
        choice[0] = home
        seen[home] = True
        choices = 1
        for i in range(k):
            state[2] += _EDGE * (start[part[i] + 1] - start[part[i]])
            for s in range(start[part[i]], start[part[i] + 1]):
                if inside[other[s]]:
                    continue
                c = label[other[s]]
                if not seen[c]:
                    seen[c] = True
                    choice[choices] = c
                    choices += 1
                score[c] += value[s]
        if size[home] > k:
            choice[choices] = free[n_free - 1]
            choices += 1
        state[2] += _CHOICE * choices
        chosen = _draw(choice[:choices], score, temperature, rng)
        state[0] += score[chosen] - score[home]
        for i in range(choices):
            score[choice[i]] = 0.0
            seen[choice[i]] = False
        for i in range(k):
            inside[part[i]] = False
        if chosen == home:
            continue
        if size[chosen] == 0:
            n_free -= 1
        size[chosen] += k
        size[home] -= k
        if size[home] == 0:
            free[n_free] = home
            n_free += 1
        for i in range(k):
            label[part[i]] = chosen
        if state[0] > state[1] + 1e-12 * abs(state[1]):
            state[1] = state[0]
            state[2] += 0.1 * n
            for y in range(n):
                best[y] = label[y]
