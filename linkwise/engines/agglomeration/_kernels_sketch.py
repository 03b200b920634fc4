"""Sketches of weighted points in single precision, which refute most distances before they are computed.

A sketch holds the coordinates of a point, centered and scaled. ``|y|^2 - 2 x y`` of two sketches, a multiplication and
an addition per feature, tells that a point lies beyond a limit. Limits are widened by more than all rounding errors of
a sketch, and the distances of the points that remain are computed as if there were none: results never change.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._typing import FloatArray, Floats

Singles = npt.NDArray[np.float32]

BLOCK = 64  # points
# rows of a block's sketch: squared norms, one number per point that limits are drawn from, coordinates from AXES on
NORM, OWN, AXES = range(3)
# numbers of a sketch's scale: of coordinates, of squared distances, and how far the latter can be off
SCALE, UNIT, DOUBT = range(3)
# larger than every squared distance of sketches, whose norms are at most about 1, and far from overflow
BEYOND = 1e30


@njit(nogil=True, fastmath={"contract"})
def screen(part: Singles, x: Singles, out: Singles, limit: float) -> None:
    """Write, for each point of a block, by how much it exceeds ``limit``: a negative number if it does not.

    ``part`` is the sketch of the block in one row; ``x`` holds a factor for `OWN`, then minus two times the coordinates
    of a sketch, 8 or a multiple of 8 of them.
    """
    # The width of a block is written out, so that all places are one address and a constant. The sums are stored only
    # once in sixteen features.
    c, x0, x1, x2, x3, x4, x5, x6, x7 = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]
    if x.shape[0] % 16 == 1:
        done = 16
        y0, y1, y2, y3, y4, y5, y6, y7 = x[9], x[10], x[11], x[12], x[13], x[14], x[15], x[16]
        for j in range(BLOCK):
            one = (x0 * part[2 * BLOCK + j] + x1 * part[3 * BLOCK + j]) + (
                x2 * part[4 * BLOCK + j] + x3 * part[5 * BLOCK + j]
            )
            two = (x4 * part[6 * BLOCK + j] + x5 * part[7 * BLOCK + j]) + (
                x6 * part[8 * BLOCK + j] + x7 * part[9 * BLOCK + j]
            )
            three = (y0 * part[10 * BLOCK + j] + y1 * part[11 * BLOCK + j]) + (
                y2 * part[12 * BLOCK + j] + y3 * part[13 * BLOCK + j]
            )
            four = (y4 * part[14 * BLOCK + j] + y5 * part[15 * BLOCK + j]) + (
                y6 * part[16 * BLOCK + j] + y7 * part[17 * BLOCK + j]
            )
            out[j] = (part[j] - limit + c * part[BLOCK + j]) + ((one + two) + (three + four))
    else:
        done = 8
        for j in range(BLOCK):
            one = (x0 * part[2 * BLOCK + j] + x1 * part[3 * BLOCK + j]) + (
                x2 * part[4 * BLOCK + j] + x3 * part[5 * BLOCK + j]
            )
            two = (x4 * part[6 * BLOCK + j] + x5 * part[7 * BLOCK + j]) + (
                x6 * part[8 * BLOCK + j] + x7 * part[9 * BLOCK + j]
            )
            out[j] = (part[j] - limit + c * part[BLOCK + j]) + (one + two)
    while 1 + done < x.shape[0]:
        _add_features(part[(AXES + done) * BLOCK :], x[1 + done :], out)
        done += 16


@njit(nogil=True, fastmath={"contract"})
def _add_features(part: Singles, x: Singles, out: Singles) -> None:
    """Add the products of sixteen features."""
    x0, x1, x2, x3, x4, x5, x6, x7 = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
    y0, y1, y2, y3, y4, y5, y6, y7 = x[8], x[9], x[10], x[11], x[12], x[13], x[14], x[15]
    for j in range(BLOCK):
        one = (x0 * part[j] + x1 * part[BLOCK + j]) + (x2 * part[2 * BLOCK + j] + x3 * part[3 * BLOCK + j])
        two = (x4 * part[4 * BLOCK + j] + x5 * part[5 * BLOCK + j]) + (
            x6 * part[6 * BLOCK + j] + x7 * part[7 * BLOCK + j]
        )
        three = (y0 * part[8 * BLOCK + j] + y1 * part[9 * BLOCK + j]) + (
            y2 * part[10 * BLOCK + j] + y3 * part[11 * BLOCK + j]
        )
        four = (y4 * part[12 * BLOCK + j] + y5 * part[13 * BLOCK + j]) + (
            y6 * part[14 * BLOCK + j] + y7 * part[15 * BLOCK + j]
        )
        out[j] += (one + two) + (three + four)


@njit(nogil=True)
def draw(points: Floats, b: int, j: int, middle: FloatArray, scale: float, rough: Singles) -> None:
    """Sketch the point in lane ``j`` of block ``b``."""
    norm = 0.0
    for k in range(middle.shape[0]):
        rough[b, AXES + k, j] = (points[b, k, j] - middle[k]) * scale
        y = np.float64(rough[b, AXES + k, j])
        norm += y * y
    rough[b, NORM, j] = norm


@njit(nogil=True)
def erase(rough: Singles, b: int, j: int) -> None:
    """Put a point that is gone beyond all limits."""
    for r in range(rough.shape[1]):
        rough[b, r, j] = 0
    rough[b, NORM, j] = np.inf


@njit(nogil=True)
def at_most(value: float) -> Any:
    """Round up to single precision, and down to what cannot overflow there."""
    return np.float32(min(value * (1 + 2e-7), BEYOND))
