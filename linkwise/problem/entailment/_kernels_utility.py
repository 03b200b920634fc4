"""Coherence of must-links and cannot-links: segments whose projections do not overlap, counted in full or drawn."""

from __future__ import annotations

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray

_TOUCH = 1e-9  # overlaps below this share of the longer segment are rounding


@njit
def _clear(data: FloatArray, a: int, b: int, c: int, d: int) -> bool:
    """Whether neither of the segments ab and cd has a projection onto the line of the other that overlaps it."""
    uu = vv = av = bv = cu = du = 0.0
    for f in range(data.shape[1]):
        u = data[b, f] - data[a, f]
        v = data[d, f] - data[c, f]
        uu += u * u
        vv += v * v
        av += (data[a, f] - data[c, f]) * v
        bv += (data[b, f] - data[c, f]) * v
        cu += (data[c, f] - data[a, f]) * u
        du += (data[d, f] - data[a, f]) * u
    least = _TOUCH * np.sqrt(max(uu, vv))
    onto_cd = min(max(av, bv), vv) - max(min(av, bv), 0.0)  # shared length times the length of cd
    onto_ab = min(max(cu, du), uu) - max(min(cu, du), 0.0)
    return onto_cd <= least * np.sqrt(vv) and onto_ab <= least * np.sqrt(uu)  # type: ignore[no-any-return]


@njit
def _count_all(
    data: FloatArray, pull: IntArray, push: IntArray, pull_of: IntArray, push_of: IntArray
) -> tuple[int, int]:
    agree = 0
    seen = 0
    for i in range(len(pull)):
        for j in range(len(push)):
            if pull_of[i] != push_of[j]:
                seen += 1
                agree += _clear(data, pull[i, 0], pull[i, 1], push[j, 0], push[j, 1])
    return agree, seen


@njit
def _count_drawn(
    data: FloatArray,
    pull: IntArray,
    push: IntArray,
    pull_of: IntArray,
    push_of: IntArray,
    first: IntArray,
    second: IntArray,
) -> tuple[int, int]:
    agree = 0
    seen = 0
    for t in range(len(first)):
        i, j = first[t], second[t]
        if pull_of[i] != push_of[j]:
            seen += 1
            agree += _clear(data, pull[i, 0], pull[i, 1], push[j, 0], push[j, 1])
    return agree, seen
