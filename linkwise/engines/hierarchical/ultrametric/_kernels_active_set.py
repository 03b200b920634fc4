"""The steps of an active-set solver for least squares under order constraints: blocks, ties and their multipliers."""

from __future__ import annotations

from typing import NamedTuple

from linkwise._kernels import njit
from linkwise._typing import BoolArray, FloatArray, IntArray

ROUNDING = 1e-14  # of a sum of some products, generously


class Ties(NamedTuple):
    """The problem, and which constraints are ties now."""

    wish: FloatArray
    weight: FloatArray
    left: IntArray
    right: IntArray
    gap: FloatArray
    start: IntArray  # constraints at variable v: around[start[v]:start[v + 1]]
    around: IntArray
    tied: BoolArray
    x: FloatArray
    pull: FloatArray  # half the multiplier of each tie, where last computed
    noise: FloatArray  # how far that can be off by rounding
    order: IntArray  # work space: the variables of one block, parents first
    via: IntArray  # the tie by which a variable was reached; -1 at the root
    offset: FloatArray
    force: FloatArray
    error: FloatArray
    seen: IntArray
    stamp: IntArray  # one number


@njit
def _walk(p: Ties, root: int) -> int:
    """List the variables of the block of ``root`` with their offsets from it; return how many there are."""
    p.stamp[0] += 1
    p.order[0] = root
    p.via[root] = -1
    p.offset[root] = 0.0
    p.seen[root] = p.stamp[0]
    size = 1
    k = 0
    while k < size:
        v = p.order[k]
        k += 1
        for t in range(p.start[v], p.start[v + 1]):
            c = p.around[t]
            if not p.tied[c]:
                continue
            forward = p.left[c] == v
            u = p.right[c] if forward else p.left[c]
            if p.seen[u] != p.stamp[0]:
                p.seen[u] = p.stamp[0]
                p.via[u] = c
                p.offset[u] = p.offset[v] + (p.gap[c] if forward else -p.gap[c])
                p.order[size] = u
                size += 1
    return size


@njit
def _settle(p: Ties, root: int) -> None:
    """Put the block of ``root`` where it is cheapest and compute what its ties pull."""
    size = _walk(p, root)
    # Forces are added up from the leaves; the force of the root is in no sum, so let it be the one that rounds worst.
    for k in range(1, size):
        if p.weight[p.order[k]] > p.weight[root]:
            root = p.order[k]
    size = _walk(p, root)
    total = 0.0
    mass = 0.0
    for k in range(size):
        v = p.order[k]
        total += p.weight[v] * (p.wish[v] - p.offset[v])
        mass += p.weight[v]
    for k in range(size):
        v = p.order[k]
        p.x[v] = total / mass + p.offset[v]
        p.force[v] = p.weight[v] * (p.x[v] - p.wish[v])
        p.error[v] = p.weight[v] * (abs(p.x[v]) + abs(p.offset[v]) + abs(p.wish[v])) * ROUNDING
    for k in range(size - 1, 0, -1):
        v = p.order[k]
        c = p.via[v]
        up = p.left[c] if p.right[c] == v else p.right[c]
        p.force[up] += p.force[v]
        p.error[up] += p.error[v]
        p.noise[c] = p.error[v]
        p.pull[c] = p.force[v] if p.right[c] == v else -p.force[v]


@njit
def _weakest_between(p: Ties, c: int) -> int:
    """The tie that pulls least among those which, opened, let ``right[c]`` move away from ``left[c]``; -1 if none."""
    _walk(p, p.left[c])
    weakest = -1
    v = p.right[c]
    while p.via[v] >= 0:
        t = p.via[v]
        if p.right[t] == v:  # the way from left[c] runs along the tie
            if weakest < 0 or p.pull[t] < p.pull[weakest]:
                weakest = t
            v = p.left[t]
        else:
            v = p.right[t]
    return weakest


@njit
def _solve(p: Ties, variables: IntArray, constraints: IntArray, tolerance: float, most: int) -> int:
    """Solve one connected part; return the steps taken, or -1 when ``most`` were not enough or it is infeasible."""
    for k in range(len(variables)):
        p.x[variables[k]] = p.wish[variables[k]]
    for step in range(most):
        worst = -1
        excess = tolerance
        for k in range(len(constraints)):
            c = constraints[k]
            if not p.tied[c]:
                over = p.x[p.left[c]] + p.gap[c] - p.x[p.right[c]]
                if over > excess:
                    excess = over
                    worst = c
        if worst >= 0:
            _walk(p, p.left[worst])
            if p.seen[p.right[worst]] == p.stamp[0]:
                weakest = _weakest_between(p, worst)
                if weakest < 0:
                    return -1
                p.tied[weakest] = False
                p.tied[worst] = True
                # the two halves are one block again, over the new tie
            else:
                p.tied[worst] = True
            _settle(p, p.left[worst])
            continue
        opened = -1
        for k in range(len(constraints)):
            c = constraints[k]
            if p.tied[c] and p.pull[c] < -p.noise[c] and (opened < 0 or p.pull[c] < p.pull[opened]):
                opened = c
        if opened < 0:
            return step
        p.tied[opened] = False
        _settle(p, p.left[opened])
        _settle(p, p.right[opened])
    return -1


@njit
def _solve_all(
    p: Ties, v_start: IntArray, v_list: IntArray, c_start: IntArray, c_list: IntArray, tolerance: float
) -> int:
    """Solve every part; return -1, or the first part that could not be solved."""
    for k in range(len(v_start) - 1):
        variables = v_list[v_start[k] : v_start[k + 1]]
        constraints = c_list[c_start[k] : c_start[k + 1]]
        most = 1000 + 100 * len(constraints)
        if _solve(p, variables, constraints, tolerance, most) < 0:
            return k
    return -1
