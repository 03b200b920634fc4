"""Shortest paths in a dense matrix of dissimilarities, through some of its samples or through all of them.

One step is repeated: *take some pivots, and shorten every pair by paths through them*. The shortest distances W
between pivots are found first; then a sample x reaches pivot g by entering at some pivot h, at

    R[x, g] = min over h of r[x, h] + W[h, g],

and a pair i, j is at most R[i, g] + R[j, g] apart. Three observations save most of that work:

* Some pivots are useless as entrances of x: if entering at h and going on to g is no longer than going to g
  directly, entering at g shortens no path, neither to another pivot nor to another sample.
* Entrances are tried nearest first. No sample j is closer to any pivot than ``near[j]``; once the next entrance of i is
  no closer than D[i, j] - near[j], neither it nor any later one can shorten the path to j.
* The matrix is symmetric: one triangle is worked on, and sums of two terms do not depend on their order.
"""

from __future__ import annotations

import numpy as np

from linkwise._threads import Workers
from linkwise._typing import Floats, IntArray
from linkwise.engines.distances._kernels_shortest_paths import TALL, _enter, _floyd_warshall, _relax, mirror

PIVOTS = 128  # taken at once: their rows fit into the cache beside a stretch of the matrix
WIDE_ENOUGH = 2_000_000  # elements of work from which threads pay


def shorten(D: Floats, n: int, pivots: IntArray, workers: Workers) -> None:
    """Lower every entry above the diagonal to the length of the shortest path whose inner stops are all pivots.

    ``D`` holds dissimilarities of n samples in its corner, with a zero diagonal. Only the entries above the diagonal
    are read and written; `mirror` fills the others. ``pivots`` are in rising order.

    **Cost** O(n^2 p) time at worst for p pivots, mostly far less; 3 n p numbers beside the matrix, or 3 n PIVOTS when
    all samples are pivots.
    """
    p = len(pivots)
    if p == 0:
        return
    if p == n > PIVOTS:
        for start in range(0, n, PIVOTS):
            shorten(D, n, np.arange(start, min(n, start + PIVOTS)), workers)
        return
    r = _rows_of(D, n, pivots)
    W = r[pivots]
    if p <= PIVOTS:
        _floyd_warshall(W)
    else:
        shorten(W, p, np.arange(p), workers)
        mirror(W, p)
    entrance = np.argsort(r, axis=1)
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
    """Return the dissimilarities of all samples to some, read above the diagonal only."""
    r = np.empty((len(pivots), n), D.dtype)
    for k, p in enumerate(pivots.tolist()):
        r[k, :p] = D[:p, p]
        r[k, p:] = D[p, p:n]
    return np.ascontiguousarray(r.T)
