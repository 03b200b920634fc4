"""Exact inference for groups all of whose members are apart: sums over which clusters are taken, 2^k instead of k^s."""

from __future__ import annotations

import math

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray


@njit
def _bits(mask: int) -> int:
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@njit
def _fill_upwards(unary: FloatArray, begin: int, size: int, forward: FloatArray, largest: bool) -> None:
    """``forward[mask]``: log-sum over the ways in which the first members take exactly the clusters of ``mask``."""
    k = unary.shape[1]
    forward[0] = 0.0
    for mask in range(1, 1 << k):
        forward[mask] = -np.inf
        i = _bits(mask)
        if i > size:
            continue
        row = begin + i - 1
        top = -np.inf
        for x in range(k):
            if mask >> x & 1:
                top = max(top, forward[mask ^ (1 << x)] + unary[row, x])
        if largest or top == -np.inf:
            forward[mask] = top
            continue
        add = 0.0
        for x in range(k):
            if mask >> x & 1:
                add += math.exp(forward[mask ^ (1 << x)] + unary[row, x] - top)
        forward[mask] = top + math.log(add)


@njit
def _fill_downwards(unary: FloatArray, begin: int, size: int, backward: FloatArray) -> None:
    """``backward[mask]``: log-sum over the ways in which the other members take clusters outside ``mask``."""
    k = unary.shape[1]
    for mask in range((1 << k) - 1, -1, -1):
        i = _bits(mask)
        backward[mask] = 0.0 if i == size else -np.inf
        if i >= size:
            continue
        top = -np.inf
        for x in range(k):
            if not mask >> x & 1:
                top = max(top, backward[mask | (1 << x)] + unary[begin + i, x])
        if top == -np.inf:
            continue
        add = 0.0
        for x in range(k):
            if not mask >> x & 1:
                add += math.exp(backward[mask | (1 << x)] + unary[begin + i, x] - top)
        backward[mask] = top + math.log(add)


@njit
def clique_marginals(start: IntArray, unary: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the log-sum of every clique and the label probabilities of its members.

    Rows ``start[c]`` to ``start[c + 1]`` of ``unary`` are the members of clique c.
    """
    k = unary.shape[1]
    total, marginal = np.empty(len(start) - 1), np.zeros(unary.shape)
    forward, backward = np.empty(1 << k), np.empty(1 << k)
    for c in range(len(start) - 1):
        begin, size = start[c], start[c + 1] - start[c]
        _fill_upwards(unary, begin, size, forward, False)
        _fill_downwards(unary, begin, size, backward)
        total[c] = backward[0]
        if total[c] == -np.inf:
            continue
        for mask in range(1 << k):
            i = _bits(mask)
            if i >= size or forward[mask] == -np.inf:
                continue
            for x in range(k):
                if not mask >> x & 1:
                    way = forward[mask] + unary[begin + i, x] + backward[mask | (1 << x)]
                    marginal[begin + i, x] += math.exp(way - total[c])
    return total, marginal


@njit
def clique_best(start: IntArray, unary: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the log of the best way to keep the members of every clique apart, and their labels."""
    k = unary.shape[1]
    total, label = np.empty(len(start) - 1), np.zeros(len(unary), np.int64)
    forward = np.empty(1 << k)
    for c in range(len(start) - 1):
        begin, size = start[c], start[c + 1] - start[c]
        _fill_upwards(unary, begin, size, forward, True)
        taken = 0
        for mask in range(1 << k):
            if _bits(mask) == size and (_bits(taken) != size or forward[mask] > forward[taken]):
                taken = mask
        total[c] = forward[taken] if _bits(taken) == size else -np.inf
        for i in range(size - 1, -1, -1):
            if not taken:
                break
            best = -1
            for x in range(k):
                if taken >> x & 1 and (
                    best < 0
                    or forward[taken ^ (1 << x)] + unary[begin + i, x]
                    > forward[taken ^ (1 << best)] + unary[begin + i, best]
                ):
                    best = x
            label[begin + i] = best
            taken ^= 1 << best
    return total, label
