"""Shortest paths through pivots, and matrices contracted to groups and expanded again."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import Floats, IntArray

TALL = 32
WIDE = 256


@njit(nogil=True)
def mirror(D: Floats, n: int) -> None:
    """Copy what is above the diagonal below it, tile by tile, for the n samples in the corner."""
    tile = 64
    for top in range(0, n, tile):
        for left in range(top, n, tile):
            for i in range(top, min(n, top + tile)):
                for j in range(max(left, i + 1), min(n, left + tile)):
                    D[j, i] = D[i, j]


@njit(nogil=True)
def _floyd_warshall(W: Floats) -> None:
    """Shortest paths through all samples of a small symmetric matrix."""
    n = len(W)
    for k in range(n):
        via = W[k].copy()
        for i in range(n):
            d = via[i]
            row = W[i]
            for j in range(n):
                row[j] = min(row[j], d + via[j])


@njit(nogil=True)
def _enter(r: Floats, W: Floats, entrance: IntArray, count: IntArray, near: Floats, start: int, stop: int) -> None:
    """Turn direct distances r to the pivots into shortest ones, for some samples; keep the entrances that are needed.

    ``entrance`` holds the pivots of each sample, nearest first, and is overwritten by those that are entrances.
    """
    p = len(W)
    direct = np.empty(p, r.dtype)
    best = np.empty(p, r.dtype)
    for x in range(start, stop):
        for k in range(p):
            direct[k] = r[k, x]
            best[k] = np.inf
        near[x] = direct[entrance[x, 0]]
        found = 0
        for t in range(p):
            h = entrance[x, t]
            d = direct[h]
            if best[h] <= d:
                continue
            entrance[x, found] = h
            found += 1
            row = W[h]
            for k in range(p):
                best[k] = min(best[k], d + row[k])
        count[x] = found
        for k in range(p):
            r[k, x] = best[k]


@njit(nogil=True)
def _by_eight(out: Floats, R: Floats, pivot: IntArray, length: Floats, low: int, high: int) -> None:
    """Let a stretch of a row go by way of eight pivots at once, so that it is loaded and stored only once in eight."""
    r0, r1, r2, r3 = R[pivot[0], low:high], R[pivot[1], low:high], R[pivot[2], low:high], R[pivot[3], low:high]
    r4, r5, r6, r7 = R[pivot[4], low:high], R[pivot[5], low:high], R[pivot[6], low:high], R[pivot[7], low:high]
    d0, d1, d2, d3 = length[0], length[1], length[2], length[3]
    d4, d5, d6, d7 = length[4], length[5], length[6], length[7]
    for j in range(high - low):
        a = min(d0 + r0[j], d1 + r1[j], d2 + r2[j], d3 + r3[j])
        b = min(d4 + r4[j], d5 + r5[j], d6 + r6[j], d7 + r7[j])
        out[j] = min(out[j], a, b)


@njit(nogil=True)
def _relax(D: Floats, R: Floats, entrance: IntArray, count: IntArray, near: Floats, start: int, stop: int) -> None:
    """Let every pair of some bands of TALL rows go by way of the pivots; only above the diagonal."""
    n = len(near)
    top, bottom = start * TALL, min(n, stop * TALL)
    way = np.empty((TALL, max(1, count[top:bottom].max())), D.dtype)
    for top in range(start * TALL, bottom, TALL):
        for i in range(top, min(n, top + TALL)):
            for t in range(count[i]):
                way[i - top, t] = R[entrance[i, t], i]
        for left in range(top, n, WIDE):
            high = min(n, left + WIDE)
            for i in range(top, min(n, top + TALL)):
                low = max(left, i + 1)
                if low >= high:
                    continue
                out = D[i, low:high]
                nearest = near[low:high]
                t = 0
                while t < count[i]:
                    shortest = way[i - top, t]
                    useful = 0  # counting vectorizes, a maximum does not
                    for j in range(high - low):
                        useful += 1 if out[j] - nearest[j] > shortest else 0
                    if not useful:
                        break
                    if t + 8 <= count[i]:
                        _by_eight(out, R, entrance[i, t : t + 8], way[i - top, t : t + 8], low, high)
                        t += 8
                        continue
                    while t < count[i]:
                        via = R[entrance[i, t], low:high]
                        d = way[i - top, t]
                        for j in range(high - low):
                            out[j] = min(out[j], d + via[j])
                        t += 1


@njit(nogil=True)
def _contract(D: Floats, group: IntArray) -> None:
    """Write the smallest entry between any two groups into the corner of the matrix.

    Groups are numbered by first appearance, so whatever is written lies at or before what is being read.
    """
    n = len(D)
    rows = 0
    for i in range(n):
        row = D[i]
        columns = 0
        for j in range(n):
            h = group[j]
            if h == columns:
                row[h] = row[j]
                columns += 1
            else:
                row[h] = min(row[h], row[j])
        g = group[i]
        out = D[g]
        if g == rows:
            for h in range(columns):
                out[h] = row[h]
            rows += 1
        else:
            for h in range(columns):
                out[h] = min(out[h], row[h])
    for g in range(rows):
        D[g, g] = 0


@njit(nogil=True)
def _expand(D: Floats, group: IntArray) -> None:
    """Write the entries of the groups, which stand in the corner, to all their samples; backwards, as it grows."""
    n = len(D)
    for i in range(n - 1, -1, -1):
        source = D[group[i]]
        out = D[i]
        for j in range(n - 1, -1, -1):
            out[j] = source[group[j]]
