"""Kernels of the neighbor search: candidates from a block of products, and the nearest of them by exact distances."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._typing import FloatArray

SingleArray = npt.NDArray[np.float32]
RowArray = npt.NDArray[np.int32]


@njit(nogil=True)
def propose(product: SingleArray, half: SingleArray, row: RowArray, own: RowArray, found: RowArray) -> None:
    """Write the rows of least ``half - product`` for each query, ties by row number; -1 where there are too few.

    ``product`` has a row for each query and a column for each candidate, ``half`` is half the squared norm of each
    candidate, ``row`` its number. ``own`` is the query's own row, which is left out, or -1.
    """
    keep = found.shape[1]
    far = np.empty(keep, np.float32)
    for q in range(product.shape[0]):
        count = 0
        for j in range(product.shape[1]):
            gap = half[j] - product[q, j]
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
