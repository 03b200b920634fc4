"""Kernels of the neighbor search: candidates from a block of products, and the nearest of them by exact distances."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._typing import FloatArray

SingleArray = npt.NDArray[np.float32]
RowArray = npt.NDArray[np.int32]

STRIP = 32  # candidates that are looked at together


@njit(nogil=True)
def propose(product: SingleArray, half: SingleArray, row: RowArray, own: RowArray, found: RowArray) -> None:
    """Write the rows of least ``half - product`` for each query, ties by row number; -1 where there are too few.

    ``product`` has a row for each query and a column for each candidate, ``half`` is half the squared norm of each
    candidate, ``row`` its number. ``own`` is the query's own row, which is left out, or -1.
    """
    keep, candidates = found.shape[1], product.shape[1]
    far = np.empty(keep, np.float32)
    for q in range(product.shape[0]):
        count = 0
        line, begin = product[q], 0
        while begin < candidates:
            end = min(begin + STRIP, candidates)
            if count == keep and end - begin == STRIP:  # a strip in which all are too far is left with few instructions
                limit, heads, tails = far[keep - 1], half[begin:end], line[begin:end]
                close = 0
                for t in range(STRIP):
                    if heads[t] - tails[t] <= limit:
                        close += 1
                if close == 0:
                    begin = end
                    continue
            for j in range(begin, end):
                gap = half[j] - line[j]
                if count == keep and gap > far[keep - 1]:
                    continue
                r = row[j]
                if r == own[q] or (count == keep and gap == far[keep - 1] and r > found[q, keep - 1]):
                    continue
                at = count if count < keep else keep - 1
                while at > 0 and (far[at - 1] > gap or (far[at - 1] == gap and found[q, at - 1] > r)):
                    far[at] = far[at - 1]
                    found[q, at] = found[q, at - 1]
                    at -= 1
                far[at] = gap
                found[q, at] = r
                if count < keep:
                    count += 1
            begin = end
        for at in range(count, keep):
            found[q, at] = -1


@njit(nogil=True)
def decide(query: FloatArray, X: FloatArray, proposed: RowArray, index: RowArray, squared: FloatArray) -> None:
    """Write the nearest of the proposed rows by squared distances in double precision, ties by row number."""
    k = index.shape[1]
    for q in range(query.shape[0]):
        count = 0
        for t in range(proposed.shape[1]):
            r = proposed[q, t]
            if r < 0:
                break
            gap = 0.0
            for f in range(X.shape[1]):
                step = query[q, f] - X[r, f]
                gap += step * step
            if count == k and (gap > squared[q, k - 1] or (gap == squared[q, k - 1] and r > index[q, k - 1])):
                continue
            at = count if count < k else k - 1
            while at > 0 and (squared[q, at - 1] > gap or (squared[q, at - 1] == gap and index[q, at - 1] > r)):
                squared[q, at] = squared[q, at - 1]
                index[q, at] = index[q, at - 1]
                at -= 1
            squared[q, at] = gap
            index[q, at] = r
            if count < k:
                count += 1
        for at in range(count, k):
            index[q, at] = -1
            squared[q, at] = np.inf
