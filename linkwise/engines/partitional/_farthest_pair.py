"""Search for the two samples farthest from each other that skips most pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from linkwise._typing import FloatArray
from linkwise.engines.distances import one_row, squared
from linkwise.engines.partitional._kernels_sweep import _scan

_BLOCK = 256  # sparse rows whose distances to others are in memory at a time


def farthest_pair(X: Any, guess: tuple[int, int] | None = None) -> tuple[int, int, float]:
    """Return the two samples that are farthest apart and their squared distance; ``guess`` is a pair to start from.

    Notes
    -----
    **Cost** O(n d) and a pass over the pairs whose distances from the mean add up to more than the largest distance
    known so far: few when the data are elongated or in clusters, all n^2 / 2 when they lie on a sphere.
    **Guarantee** the distance is exact up to rounding; of equally distant pairs any may be returned.
    """
    n = X.shape[0]
    if n < 2:
        return 0, 0, 0.0
    middle = np.asarray(X.mean(axis=0)).reshape(1, -1)
    radius = np.sqrt(squared(X, middle)[:, 0])
    a = int(np.argmax(radius)) if guess is None else guess[0]
    pair, best = (a, a), -1.0
    for _ in range(4):  # repeatedly go to the farthest sample: a lower bound that is often the maximum
        away = squared(X, one_row(X, a)[None])[:, 0]
        b = int(np.argmax(away))
        if away[b] <= best:
            break
        pair, best, a = (a, b), float(away[b]), b
    if guess is not None:
        known = float(squared(X[[guess[0]]], one_row(X, guess[1])[None])[0, 0])
        if known > best:
            pair, best = guess, known
    order = np.argsort(-radius, kind="stable")
    order = order[radius[order] + radius[order[0]] >= np.sqrt(best) * (1 - 1e-12)]
    if scipy.sparse.issparse(X):
        p, q, best = _scan_sparse(X[order], radius[order], best)
    else:
        rows = X[order]
        p, q, best = _scan(rows, np.ascontiguousarray(rows.T), radius[order], best)
    return (*pair, best) if p < 0 else (int(order[p]), int(order[q]), best)


def _scan_sparse(X: Any, radius: FloatArray, best: float) -> tuple[int, int, float]:
    norm = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    at, to = -1, -1
    for low in range(0, len(norm), _BLOCK):
        length = np.sqrt(best) * (1 - 1e-12)
        if 2.0 * radius[low] < length:
            break
        stop = int(np.searchsorted(-radius, radius[low] - length, side="right"))
        block, rest = X[low : low + _BLOCK], X[low:stop]
        away = norm[low : low + _BLOCK, None] + norm[low:stop] - 2.0 * (block @ rest.T).toarray()
        top = int(np.argmax(away)) if away.size else 0
        if away.size and away.flat[top] > best:
            i, j = divmod(top, away.shape[1])
            best, at, to = float(away.flat[top]), low + i, low + j
    return at, to, best
