"""Shortest paths in a dense matrix of dissimilarities, through some of its samples or through all of them.

Everything here is one step, repeated: *take some pivots, and let every pair go by way of them*. Between pivots the
shortest distances W are found first; then a sample x reaches pivot g by entering at some pivot h, at

    R[g, x] = min over h of r[h, x] + W[h, g],

and a pair i, j is at most R[g, i] + R[g, j] apart. Three observations keep most of that work from being done:

* x needs to enter only where nothing is on the way: if entering at h and going on to g is no longer than going to g
  directly, g is of no use as an entrance, neither to reach another pivot nor another sample.
* Entrances are tried nearest first. No sample j is closer to any pivot than ``near[j]``; once the next entrance of i is
  farther than D[i, j] - near[j] for all j at hand, neither it nor those behind it can shorten anything.
* The matrix is symmetric: one triangle is worked on, and sums of two terms do not depend on their order.
"""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._threads import Workers
from linkwise._typing import Floats, IntArray

PIVOTS = 128  # taken at once: their rows fit into the cache beside a stretch of the matrix
TALL = 32
WIDE = 256
WIDE_ENOUGH = 2_000_000  # elements of work from which threads pay


def shorten(D: Floats, n: int, pivots: IntArray, workers: Workers) -> None:
    """Lower every entry above the diagonal to the length of the shortest path whose inner stops are all pivots.

    Parameters
    ----------
    D : ndarray of shape (m, m)
        Dissimilarities of n samples in its corner, with a zero diagonal. Only the entries above the diagonal are read
        and written; `mirror` sees to the others.
    n : int
        Number of samples, at most m.
    pivots : ndarray of intp
        Samples a path may pass through, rising.
    workers : Workers
        Threads.

    Notes
    -----
    **Cost** O(n^2 p) time at worst for p pivots, mostly far less; 3 n p numbers beside the matrix, or 3 n PIVOTS when
    all samples are pivots.

    Examples
    --------
    >>> from linkwise._threads import Workers
    >>> D = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 2.0], [9.0, 2.0, 0.0]])
    >>> shorten(D, 3, np.array([1]), Workers())
    >>> D[0].tolist()
    [0.0, 1.0, 3.0]
    """
    p = len(pivots)
    if p == 0:
        return
    if p == n > PIVOTS:
        for start in range(0, n, PIVOTS):
            shorten(D, n, np.arange(start, min(n, start + PIVOTS)), workers)
        return
    r = _rows_of(D, n, pivots)
    W = np.ascontiguousarray(r[:, pivots])
    if p <= PIVOTS:
        _floyd_warshall(W)
    else:
        shorten(W, p, np.arange(p), workers)
        mirror(W, p)
    entrance = np.ascontiguousarray(np.argsort(r, axis=0).T, dtype=np.intp)
    count = np.empty(n, np.intp)
    near = np.empty(n, D.dtype)
    bands = -(-n // TALL)
    if n * n * p < WIDE_ENOUGH:
        _enter(r, W, entrance, count, near, 0, n)
        _relax(D, r, entrance, count, near, 0, bands)
    else:
        workers.over(_enter, n, p * p // 2, r, W, entrance, count, near)
        workers.over(_relax, bands, TALL * n * p // 8, D, r, entrance, count, near)


def _rows_of(D: Floats, n: int, pivots: IntArray) -> Floats:
    """The dissimilarities of some samples to all, read above the diagonal only."""
    r = np.empty((len(pivots), n), D.dtype)
    for k, p in enumerate(pivots.tolist()):
        r[k, :p] = D[:p, p]
        r[k, p:] = D[p, p:n]
    return r


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
