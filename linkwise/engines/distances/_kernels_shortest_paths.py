"""Shortest paths through pivots, and matrices contracted to groups and expanded again."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import Floats, IntArray

TALL = 128
WIDE = 16


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
    """Turn direct distances to the pivots into shortest ones, for some samples; keep the entrances that are needed.

    ``r`` has a row for each sample. ``entrance`` holds the pivots of each, nearest first, and is overwritten by those
    that are entrances.
    """
    p = len(W)
    direct = np.empty(p, r.dtype)
    best = np.empty(p, r.dtype)
    for x in range(start, stop):
        ways = r[x]
        for k in range(p):
            direct[k] = ways[k]
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
            ways[k] = best[k]


@njit(nogil=True)
def _relax(D: Floats, R: Floats, entrance: IntArray, count: IntArray, near: Floats, start: int, stop: int) -> None:
    """Let every pair of some bands of TALL rows go by way of the pivots; only above the diagonal.

    Most pairs try a few entrances only, and neighboring pairs different numbers of them, so each pair stops for itself.
    """
    n = len(near)
    top, bottom = start * TALL, min(n, stop * TALL)
    most = max(1, count[top:bottom].max())
    way = np.empty((TALL, most), D.dtype)
    door = np.empty((TALL, most), np.int32)
    for top in range(start * TALL, bottom, TALL):
        below = min(n, top + TALL)
        for i in range(top, below):
            for t in range(count[i]):
                way[i - top, t] = R[i, entrance[i, t]]
                door[i - top, t] = entrance[i, t]
        for left in range(top, n, WIDE):
            right = min(n, left + WIDE)
            for i in range(top, below):
                ways, doors, entrances = way[i - top], door[i - top], count[i]
                for j in range(max(left, i + 1), right):
                    best = D[i, j]
                    reach = best - near[j]
                    if ways[0] >= reach:
                        continue
                    onward = R[j]
                    t = 0
                    while t + 4 <= entrances and ways[t] < reach:
                        x = min(ways[t] + onward[doors[t]], ways[t + 1] + onward[doors[t + 1]])
                        y = min(ways[t + 2] + onward[doors[t + 2]], ways[t + 3] + onward[doors[t + 3]])
                        best = min(best, x, y)
                        reach = best - near[j]
                        t += 4
                    while t < entrances and ways[t] < reach:
                        best = min(best, ways[t] + onward[doors[t]])
                        t += 1
                    D[i, j] = best


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
