"""Dense matrices of distances: filled from vectors with nearest neighbors, copied if valid, expanded from pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import Bits, Floats, IntArray


class Neighbors(NamedTuple):
    """The nearest other row of every row, found while distances are computed; ties go to the lowest row."""

    nearest: IntArray
    gap: Floats
    bits: Bits  # the same memory read as integers

    @classmethod
    def of(cls, n: int, dtype: npt.DTypeLike) -> Neighbors:
        """Neighbors before any rows were compared."""
        gap = np.full(n, np.inf, dtype)
        return cls(np.full(n, -1, np.intp), gap, gap.view(np.int64 if gap.dtype == np.float64 else np.int32))

    @property
    def found(self) -> bool:
        """Whether they have been filled in."""
        return len(self.nearest) > 1 and bool(self.nearest[0] >= 0)


TALL = 32
WIDE = 256


@njit(nogil=True)
def meet(near: Neighbors, i: int, left: int, right: int, out: Floats, bits: Bits) -> None:
    """Let row i and the rows from ``left`` to ``right`` know of each other, at the distances ``out``."""
    if left <= i < right:
        out[i - left] = np.inf
    gap, nearest = near.gap[left:right], near.nearest[left:right]
    low = bits[0]
    for j in range(bits.shape[0]):
        low = min(low, bits[j])
    for j in range(out.shape[0]):
        new, old, at = out[j], gap[j], nearest[j]
        closer = new < old
        nearest[j] = i if closer else at
        gap[j] = new if closer else old
    if low < near.bits[i]:
        at = 0
        while bits[at] != low:
            at += 1
        near.gap[i] = out[at]
        near.nearest[i] = left + at


# No 'contract' here: whether LLVM fuses a multiplication and an addition depends on the processor and on what else was
# compiled, and last bits decide ties.
@njit(nogil=True, fastmath={"nsz"})
def write_distances(columns: Floats, i: int, left: int, right: int, root: bool, out: Floats) -> None:
    """Write (squared) Euclidean distances of row ``i`` to rows ``left`` to ``right``; ``columns`` is X transposed."""
    d = columns.shape[0]
    out[:] = 0
    k = 0
    while k + 8 <= d:
        # eight features at a time, so that the running sums are loaded and stored only once in eight
        c0, c1 = columns[k, left:right], columns[k + 1, left:right]
        c2, c3 = columns[k + 2, left:right], columns[k + 3, left:right]
        c4, c5 = columns[k + 4, left:right], columns[k + 5, left:right]
        c6, c7 = columns[k + 6, left:right], columns[k + 7, left:right]
        x0, x1, x2, x3 = columns[k, i], columns[k + 1, i], columns[k + 2, i], columns[k + 3, i]
        x4, x5, x6, x7 = columns[k + 4, i], columns[k + 5, i], columns[k + 6, i], columns[k + 7, i]
        for j in range(right - left):
            g0, g1, g2, g3 = c0[j] - x0, c1[j] - x1, c2[j] - x2, c3[j] - x3
            g4, g5, g6, g7 = c4[j] - x4, c5[j] - x5, c6[j] - x6, c7[j] - x7
            out[j] += (g0 * g0 + g1 * g1 + g2 * g2 + g3 * g3) + (g4 * g4 + g5 * g5 + g6 * g6 + g7 * g7)
        k += 8
    while k < d:
        c = columns[k, left:right]
        x = columns[k, i]
        for j in range(right - left):
            gap = c[j] - x
            out[j] += gap * gap
        k += 1
    if root:
        for j in range(right - left):
            out[j] = np.sqrt(out[j])


@njit(nogil=True)
def _fill_rows(columns: Floats, D: Floats, root: bool, near: Neighbors, start: int, stop: int) -> None:
    """Write the (squared) Euclidean distances of some bands of TALL rows; ``columns`` is X transposed.

    Tiles on and right of the diagonal are computed and written twice, once mirrored: exactly symmetric, and cheaper
    than computing both. If ``near`` holds anything, all bands must come in one call.
    """
    near = borrowed(near)
    n = columns.shape[1]
    tile = np.empty((TALL, WIDE), columns.dtype)
    bits = tile.view(near.bits.dtype)
    for band in range(start, stop):
        top = band * TALL
        bottom = min(n, top + TALL)
        for left in range(top, n, WIDE):
            right = min(n, left + WIDE)
            for i in range(top, bottom):
                out = tile[i - top, : right - left]
                write_distances(columns, i, left, right, root, out)
                if near.nearest.shape[0] > 0:
                    meet(near, i, left, right, out, bits[i - top, : right - left])
                for j in range(right - left):  # assigning to a slice would compile Numba's texts for its errors
                    D[i, left + j] = out[j]
            for j in range(left, right):
                row = D[j]
                for i in range(top, bottom):
                    row[i] = tile[i - top, j - left]


@njit(nogil=True)
def _copy_if_fair(D: Floats, out: Floats, tolerance: float) -> bool:
    """Copy a square and say whether it is one of dissimilarities; what it says no to needs a closer look.

    One pass, in tiles, so that the mirrored entries are read while they are in cache.
    """
    n = D.shape[0]
    tile = 64
    for top in range(0, n, tile):
        bottom = min(n, top + tile)
        for left in range(top, n, tile):
            right = min(n, left + tile)
            fair = True
            for i in range(top, bottom):
                for j in range(left, right):
                    v, w = D[i, j], D[j, i]
                    # false also for nan
                    fair &= (v >= 0) & (abs(v - w) <= tolerance * max(v, w))
                    out[i, j] = abs(v)
                    out[j, i] = abs(w)
                    fair &= out[i, j] < np.inf
            if not fair:
                return False
    fair = True
    for i in range(n):
        fair &= D[i, i] == 0
    return fair


@njit(nogil=True)
def _expand(condensed: Floats, out: Floats) -> None:
    """Write a condensed vector as a square, tile by tile so that the mirrored writes stay in cache."""
    n = out.shape[0]
    tile = 64
    for top in range(0, n, tile):
        for left in range(top, n, tile):
            for i in range(top, min(n, top + tile)):
                base = np.int64(i) * n - np.int64(i) * (i + 1) // 2 - i - 1
                for j in range(max(left, i + 1), min(n, left + tile)):
                    v = condensed[base + j]
                    out[i, j] = v
                    out[j, i] = v
    for i in range(n):
        out[i, i] = 0
