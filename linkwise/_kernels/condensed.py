"""The pair (i, j) at a place of a condensed distance vector, in 64-bit arithmetic.

A condensed vector holds the upper triangle row by row: (0, 1), (0, 2), ..., (0, n-1), (1, 2), ... as in SciPy.
32-bit products overflow from n = 46,341 on; every intermediate here is 64 bits wide.
"""

from __future__ import annotations

import numpy as np

from linkwise._kernels._jit import njit


@njit
def condensed_pair(n: int, position: int) -> tuple[int, int]:
    """Return the pair (i, j) with i < j at a position.

    Examples
    --------
    >>> condensed_pair(5, 5)
    (1, 3)
    """
    m = np.int64(n)
    p = np.int64(position)
    # The square root may be off by one in either direction once its argument passes 2**53; the loops repair that.
    b = np.float64(2 * m - 1)
    i = np.int64((b - np.sqrt(b * b - 8.0 * np.float64(p))) / 2.0)
    i = max(np.int64(0), min(i, m - 2))
    while i > 0 and i * m - i * (i + 1) // 2 > p:
        i -= 1
    while i < m - 2 and (i + 1) * m - (i + 1) * (i + 2) // 2 <= p:
        i += 1
    return int(i), int(p - (i * m - i * (i + 1) // 2) + i + 1)


def samples_from_length(length: int) -> int | None:
    """Return n such that n (n - 1) / 2 equals ``length``, or None when there is no such n.

    Examples
    --------
    >>> samples_from_length(10), samples_from_length(11)
    (5, None)
    """
    from math import isqrt

    n = (1 + isqrt(1 + 8 * length)) // 2
    return n if n * (n - 1) // 2 == length else None
