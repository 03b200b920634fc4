"""Compiled: one pass over the rows for a step of k-means, in single precision where that decides.

Rows lie in tiles, turned on their side, about their mean. There a product with a center in single precision says almost
always which center is nearest; where its rounding could say otherwise, distances are computed in full. Sums of rows are
kept from one pass to the next, and only rows whose center is another one change them. Starts have their loops here as
well: the farthest pair of rows, centers drawn far apart, and a few steps on few rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.engines.distances import sum_rows, write_nearest, write_squared

SingleArray = npt.NDArray[np.float32]
TILE = 128  # rows that meet a center at once


_RUN = 128  # rows whose distances to one are computed side by side


@njit(nogil=True)
def write_tiles(
    X: FloatArray,
    middle: FloatArray,
    scale: float,
    bound: BoolArray,
    tiles: SingleArray,
    reach: FloatArray,
    square: FloatArray,
    start: int,
    stop: int,
) -> None:
    """Write some tiles of the rows about ``middle``, scaled.

    ``reach`` gets the longest squared length in each tile, ``square`` the sum of those, not scaled, of unbound rows.
    """
    for t in range(start, stop):
        low = t * TILE
        reach[t] = square[t] = 0.0
        for i in range(min(TILE, len(X) - low)):
            length = 0.0
            for j in range(X.shape[1]):
                gap = X[low + i, j] - middle[j]
                tiles[t, j, i] = gap * scale
                length += gap * gap
            reach[t] = max(reach[t], length * scale * scale)
            if not bound[low + i]:
                square[t] += length


# Products only sort out rows that are decided beyond doubt, so fusing multiplications and additions changes no label.
@njit(nogil=True, fastmath={"contract"})
def _products(tile: SingleArray, center: SingleArray, norm: float, out: SingleArray) -> None:
    """Write ``norm`` plus the product with ``center`` for every column of a tile."""
    for i in range(TILE):
        out[i] = norm
    whole = len(center) - len(center) % 8
    for j in range(0, whole, 8):  # eight at a time: fewer trips to memory
        a, b, c, d = center[j], center[j + 1], center[j + 2], center[j + 3]
        e, f, g, h = center[j + 4], center[j + 5], center[j + 6], center[j + 7]
        for i in range(TILE):
            low = a * tile[j, i] + b * tile[j + 1, i] + c * tile[j + 2, i] + d * tile[j + 3, i]
            high = e * tile[j + 4, i] + f * tile[j + 5, i] + g * tile[j + 6, i] + h * tile[j + 7, i]
            out[i] = out[i] + low + high
    for j in range(whole, len(center)):
        value = center[j]
        for i in range(TILE):
            out[i] += value * tile[j, i]


@njit(nogil=True)
def _keep_two(value: SingleArray, c: int, first: SingleArray, second: SingleArray, best: npt.NDArray[np.int32]) -> None:
    """Keep the least value of each column so far, whose it is, and the least but one."""
    mine = np.int32(c)
    for i in range(TILE):
        less = value[i] < first[i]
        other = first[i] if less else value[i]
        second[i] = other if other < second[i] else second[i]  # noqa: FURB136 (min looks for NaN, at twice the time)
        first[i] = value[i] if less else first[i]
        best[i] = mine if less else best[i]


@njit(nogil=True)
def _move(
    X: FloatArray,
    middle: FloatArray,
    bound: BoolArray,
    labels: IntArray,
    kept: IntArray,
    total: FloatArray,
    size: FloatArray,
    gap: FloatArray,
    start: int,
    stop: int,
) -> int:
    """Take unbound rows whose label is new from the sums they were in, if any, and add them to others; count them."""
    moved = 0
    for i in range(start, stop):
        old, new = kept[i], labels[i]
        if old == new or bound[i]:
            continue
        moved += 1
        kept[i] = new
        size[new] += 1.0
        for j in range(len(gap)):
            gap[j] = X[i, j] - middle[j]
        for j in range(len(gap)):
            total[new, j] += gap[j]
        if old >= 0:
            size[old] -= 1.0
            for j in range(len(gap)):
                total[old, j] -= gap[j]
    return moved


@njit(nogil=True)
def sweep_blocks(
    X: FloatArray,
    middle: FloatArray,
    bound: BoolArray,
    tiles: SingleArray,
    reach: FloatArray,
    per_block: int,
    centers: FloatArray,
    lean: SingleArray,
    norm: SingleArray,
    slack: float,
    far: float,
    labels: IntArray,
    kept: IntArray,
    total: FloatArray,
    size: FloatArray,
    moved: IntArray,
    start: int,
    stop: int,
) -> None:
    """Do what `Sweeper` says for some blocks of tiles, each with sums of its own.

    ``lean`` holds minus two times the centers, about the middle and scaled, ``norm`` their squared lengths.
    """
    out, first, second = np.empty(TILE, np.float32), np.empty(TILE, np.float32), np.empty(TILE, np.float32)
    best, exact, gap = np.empty(TILE, np.int32), np.empty(TILE), np.empty(len(middle))
    for b in range(start, stop):
        for t in range(b * per_block, min(len(tiles), (b + 1) * per_block)):
            low = t * TILE
            high = min(len(X), low + TILE)
            first[:] = np.inf
            second[:] = np.inf
            best[:] = 0
            for c in range(len(lean)):
                _products(tiles[t], lean[c], norm[c], out)
                _keep_two(out, c, first, second, best)
            limit = slack * (far + reach[t])
            doubts = 0
            for i in range(high - low):
                labels[low + i] = best[i]
                doubts += not (second[i] - first[i] > limit)  # also where a number was too large to tell
            if doubts:
                begin, end = TILE, 0
                for i in range(high - low):
                    if not (second[i] - first[i] > limit):
                        begin, end = min(begin, i), i + 1
                some = X[low + begin : low + end]
                write_nearest(some, centers, labels[low + begin : low + end], exact, 0, end - begin)
            moved[b] += _move(X, middle, bound, labels, kept, total[b], size[b], gap, low, high)


@njit
def _scan(X: FloatArray, across: FloatArray, radius: FloatArray, best: float) -> tuple[int, int, float]:
    """Look at all pairs that could beat ``best``; rows come with falling distance from the mean.

    ``across`` is X with features as rows, so that distances to many rows are computed side by side.
    """
    n, d = X.shape
    at, to = -1, -1
    away = np.empty(_RUN)
    length = np.sqrt(best) * (1 - 1e-12)
    for p in range(n):
        if 2.0 * radius[p] < length:
            break
        for low in range(p + 1, n, _RUN):
            if radius[p] + radius[low] < length:
                break
            size = min(_RUN, n - low)
            for i in range(size):
                away[i] = 0.0
            for j in range(d):
                x = X[p, j]
                for i in range(size):
                    gap = x - across[j, low + i]
                    away[i] += gap * gap
            for i in range(size):
                if away[i] > best:
                    best, at, to = away[i], p, low + i
                    length = np.sqrt(best) * (1 - 1e-12)
    return at, to, best


@njit
def _spread(X: FloatArray, weight: FloatArray, near: FloatArray, centers: FloatArray, luck: FloatArray) -> None:
    """Write the last centers, one for each row of ``luck``; ``near`` is the squared distance to those before.

    The first of all centers is drawn once, by weight: there is nothing yet to be far from.
    """
    n, (missing, trials) = len(X), luck.shape
    total, away, rows = np.empty(n), np.empty((n, trials)), np.empty(trials, np.intp)
    picked = np.empty((trials, X.shape[1]))
    for at in range(len(centers) - missing, len(centers)):
        drawn = luck[at - len(centers) + missing]
        tried = trials if at else 1
        mass = 0.0
        for r in range(n):
            mass += weight[r] * near[r]
            total[r] = mass
        for t in range(tried):
            if mass > 0:
                rows[t] = min(np.searchsorted(total, drawn[t] * mass, side="right"), n - 1)
            else:
                rows[t] = int(drawn[t] * n)
        rows[:tried].sort()
        for t in range(tried):
            for f in range(X.shape[1]):
                picked[t, f] = X[rows[t], f]
        write_squared(X, picked[:tried], away)
        best, least = 0, np.inf
        for t in range(tried):
            left = 0.0
            for r in range(n):
                left += weight[r] * (min(away[r, t], near[r]) if at else away[r, t])
            if left < least:
                best, least = t, left
        for f in range(X.shape[1]):
            centers[at, f] = picked[best, f]
        for r in range(n):
            near[r] = min(near[r], away[r, best]) if at else away[r, best]


@njit
def _advance(X: FloatArray, weight: FloatArray, centers: FloatArray, steps: int) -> float:
    """Do the same on few dense rows, where calls from Python would take longer than the work."""
    n, k = len(X), len(centers)
    labels, cost = np.empty(n, np.intp), np.zeros(n)
    for _ in range(steps):
        write_nearest(X, centers, labels, cost, 0, n)
        total, mass = sum_rows(X, weight, labels, k)
        for c in range(k):
            if mass[c] > 0:
                for f in range(X.shape[1]):
                    centers[c, f] = total[c, f] / mass[c]
    out = 0.0
    for i in range(n):
        out += weight[i] * cost[i]
    return out
