"""Exact inference over the tables of a `Plan`: sums (how likely each label is) and maxima (the best joint labels).

Everything is in logarithms on the way up, where sums may be tiny, and in probabilities on the way down, where
impossible states are plain zeros and nothing is ever divided by them.
"""

from __future__ import annotations

import math

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.mixture._kernels_elimination import Plan


@njit
def _spell_out(plan: Plan, t: int, unary: FloatArray, table: FloatArray) -> None:
    """Write the log-factors of table t over all its states; the node's own label runs fastest."""
    k = unary.shape[1]
    begin, end = plan.start[t], plan.start[t + 1]
    at = plan.offset[t]
    for state in range(plan.n_states[t]):
        x = state % k
        rest = state // k
        value = unary[t, x]
        for e in range(begin, end):
            value += plan.same[e] if rest % k == x else plan.other[e]
            rest //= k
        table[at + state] = value


@njit
def _strides(plan: Plan, t: int, k: int, stride: IntArray) -> int:
    """How far a step of each variable of the parent's table moves in the message of table t."""
    p = plan.parent[t]
    width = int(plan.start[p + 1] - plan.start[p]) + 1
    stride[:width] = 0
    step = 1
    for e in range(plan.start[t], plan.start[t + 1]):
        stride[plan.place[e]] = step
        step *= k
    return width


@njit
def _advance(digit: IntArray, stride: IntArray, width: int, k: int, index: int) -> int:
    """Count one state on; return the new place in the message."""
    for i in range(width):
        digit[i] += 1
        index += stride[i]
        if digit[i] < k:
            return index
        index -= k * stride[i]
        digit[i] = 0
    return index


@njit
def _collect(
    plan: Plan,
    c: int,
    unary: FloatArray,
    table: FloatArray,
    message: FloatArray,
    digit: IntArray,
    stride: IntArray,
    largest: bool,
) -> float:
    """Send messages from the leaves of component c to its root; return the log of the sum (or the largest term)."""
    k = unary.shape[1]
    for t in range(plan.first[c], plan.first[c + 1]):
        _spell_out(plan, t, unary, table)
    total = 0.0
    for t in range(plan.first[c], plan.first[c + 1]):
        at = plan.offset[t]
        to = at // k
        for s in range(plan.n_states[t] // k):
            top = -np.inf
            for x in range(k):
                top = max(top, table[at + s * k + x])
            value = top
            if not largest and top > -np.inf:
                add = 0.0
                for x in range(k):
                    add += math.exp(table[at + s * k + x] - top)
                value = top + math.log(add)
            message[to + s] = value
        p = plan.parent[t]
        if p < 0:
            total = message[to]
            continue
        width = _strides(plan, t, k, stride)
        digit[:width] = 0
        index, above = 0, plan.offset[p]
        for state in range(plan.n_states[p]):
            table[above + state] += message[to + index]
            index = _advance(digit, stride, width, k, index)
    return total


@njit
def one_marginal(
    plan: Plan,
    c: int,
    unary: FloatArray,
    marginal: FloatArray,
    table: FloatArray,
    message: FloatArray,
    digit: IntArray,
    stride: IntArray,
) -> float:
    """Fill in the label probabilities of the tables of component c; return the log of its sum over all labelings."""
    total: float = _collect(plan, c, unary, table, message, digit, stride, False)
    k = unary.shape[1]
    if total == -np.inf:
        return total
    for t in range(plan.first[c + 1] - 1, plan.first[c] - 1, -1):
        at = plan.offset[t]
        to = at // k
        n_rest = plan.n_states[t] // k
        p = plan.parent[t]
        # probability of each state of the separator, summed from the parent's table; first, its logs are used up
        for s in range(n_rest):
            for x in range(k):
                value = table[at + s * k + x]
                table[at + s * k + x] = math.exp(value - message[to + s]) if value > -np.inf else 0.0
            message[to + s] = 0.0
        if p < 0:
            message[to] = 1.0
        else:
            width = _strides(plan, t, k, stride)
            digit[:width] = 0
            index, above = 0, plan.offset[p]
            for state in range(plan.n_states[p]):
                message[to + index] += table[above + state]
                index = _advance(digit, stride, width, k, index)
        marginal[t] = 0.0
        for s in range(n_rest):
            for x in range(k):
                table[at + s * k + x] *= message[to + s]
                marginal[t, x] += table[at + s * k + x]
    return total


@njit
def one_best(
    plan: Plan,
    c: int,
    unary: FloatArray,
    label: IntArray,
    table: FloatArray,
    message: FloatArray,
    digit: IntArray,
    stride: IntArray,
) -> float:
    """Put the most probable joint labels of component c into ``label``; ties go to the lowest label."""
    total: float = _collect(plan, c, unary, table, message, digit, stride, True)
    k = unary.shape[1]
    for t in range(plan.first[c + 1] - 1, plan.first[c] - 1, -1):
        at, step = plan.offset[t], k
        for e in range(plan.start[t], plan.start[t + 1]):
            at += step * label[plan.member[e]]
            step *= k
        label[t] = 0
        for x in range(1, k):
            if table[at + x] > table[at + label[t]]:
                label[t] = x
    return total


@njit
def marginals(plan: Plan, unary: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the log-sum of every component and the label probabilities of every table's node."""
    n = len(plan.first) - 1
    k = unary.shape[1]
    table, message = np.empty(plan.scratch), np.empty(plan.scratch // k + 1)
    digit, stride = np.empty(plan.widest, np.int64), np.empty(plan.widest, np.int64)
    total, marginal = np.empty(n), np.zeros(unary.shape)
    for c in range(n):
        total[c] = one_marginal(plan, c, unary, marginal, table, message, digit, stride)
    return total, marginal


@njit
def best_labels(plan: Plan, unary: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the log of the best joint labeling of every component, and its labels by table."""
    n = len(plan.first) - 1
    k = unary.shape[1]
    table, message = np.empty(plan.scratch), np.empty(plan.scratch // k + 1)
    digit, stride = np.empty(plan.widest, np.int64), np.empty(plan.widest, np.int64)
    total, label = np.empty(n), np.zeros(len(unary), np.int64)
    for c in range(n):
        total[c] = one_best(plan, c, unary, label, table, message, digit, stride)
    return total, label
