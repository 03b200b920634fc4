"""One pass over dense rows for a step of k-means: nearest centers, sums of rows, total cost.

A pass costs a fraction of n k distances: most rows are decided in single precision, with a bound on its rounding, and
the others in double precision, so that labels equal those of full distances, ties included. Sums are updated from those
of the pass before by the rows that moved, and the cost follows from the sums.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from linkwise._threads import Workers
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.distances import squared_to_own
from linkwise.engines.partitional._kernels_sweep import TILE, sweep_blocks, write_tiles

_LARGE = 8_000_000  # features times centers times rows from which threads are quicker
_TILES = 32  # minimum of a block, which one thread sums; results do not depend on the number of threads
_BLOCKS = 64  # at most
_SINGLE = 2.0**-24  # relative rounding of single precision
_CANCELLED = 1e-4  # a cost below this share of its positive terms is computed in full
_WRITING = 8  # cost of writing a tile, in centers
_SAMPLE = 1_000  # rows from which center and scale of the data are estimated


class Sweep(NamedTuple):
    """Result of one pass over all rows; bound rows are left out of all but ``labels``."""

    labels: IntArray  # the nearest center of each row, the lowest-numbered of several
    cost: float  # the sum of the squared distances to these
    total: FloatArray  # the sum of the rows of each label
    size: FloatArray  # their number


class Sweeper:
    """Rows prepared for many passes; ``some`` of them are bound by statements.

    Needs half the memory of the rows in addition, for a copy in single precision.

    Notes
    -----
    With x and c a row and a center about the mean of some rows, what is compared is ``|c|^2 - 2 c x``. In single
    precision, with unit u, that is wrong by at most ``(d + 4) u (2 |c|^2 + |x|^2)``; two centers whose values differ by
    more than twice that, with some margin, are ordered correctly.
    """

    def __init__(self, X: FloatArray, some: IntArray, workers: Workers | None = None) -> None:
        n, d = X.shape
        self.X, self.some, self.picked = X, some, X[some]
        sample = X[:: -(-n // _SAMPLE)]
        self.middle = sample.mean(axis=0)
        spread = float(np.sqrt(np.mean((sample - self.middle) ** 2)))
        self.scale = 2.0 ** -np.round(np.log2(spread)) if 0.0 < spread < np.inf else 1.0
        self.bound = np.zeros(n, dtype=np.bool_)
        self.bound[some] = True
        n_tiles = -(-n // TILE)
        self.per_block = max(_TILES, -(-n_tiles // _BLOCKS))
        self.tiles = np.zeros((n_tiles, d, TILE), dtype=np.float32)
        self.reach, square = np.empty(n_tiles), np.empty(n_tiles)
        ready = (X, self.middle, self.scale, self.bound, self.tiles, self.reach, square)
        _begin(write_tiles, n_tiles, TILE * d * _WRITING, ready, workers)()
        self.square = float(square.sum())
        self.kept = np.full(n, -1, dtype=np.intp)
        self._sums: tuple[FloatArray, FloatArray] | None = None
        self._moves = 0

    def sweep(self, centers: FloatArray, workers: Workers | None = None) -> Callable[[], Sweep]:
        """Begin a pass, in threads if these help, and return a function that finishes it: call it once.

        ``workers`` are threads that exist already; without them there are none.
        """
        n, d = self.X.shape
        k = len(centers)
        centers = np.ascontiguousarray(centers)
        n_blocks = -(-len(self.tiles) // self.per_block)
        # after as many moves as rows, the sums have as much rounding as a new summation
        if self._sums is None or len(self._sums[1][0]) != k or self._moves > n:
            self.kept[:] = -1
            self._sums, self._moves = (np.zeros((n_blocks, k, d)), np.zeros((n_blocks, k))), -n
        total, size = self._sums
        about = centers - self.middle
        length = (about**2).sum(axis=1)
        scaled = self.scale * about
        short = (scaled**2).sum(axis=1)
        with np.errstate(over="ignore"):  # a center too far away for single precision: full distances
            lean, norm = (-2.0 * scaled).astype(np.float32), short.astype(np.float32)
        slack, far = 2.2 * (d + 4) * _SINGLE, 2.0 * float(short.max())
        labels, moved = np.empty(n, dtype=np.intp), np.zeros(n_blocks, np.intp)
        where = (self.X, self.middle, self.bound, self.tiles, self.reach, self.per_block)
        what = (centers, lean, norm, slack, far)
        to = (labels, self.kept, total, size, moved)
        wait = _begin(sweep_blocks, n_blocks, self.per_block * TILE * centers.size, (*where, *what, *to), workers)

        def finish() -> Sweep:
            wait()
            self._moves += int(moved.sum())
            sums, count = total.sum(axis=0), size.sum(axis=0)
            cost = self._cost(about, length, sums, count, centers, labels)
            return Sweep(labels, cost, sums + count[:, None] * self.middle, count)

        return finish

    def _cost(
        self,
        about: FloatArray,
        length: FloatArray,
        sums: FloatArray,
        count: FloatArray,
        centers: FloatArray,
        labels: IntArray,
    ) -> float:
        """Return the cost of unbound rows: a difference of sums, or the sum of all distances if that cancels."""
        gross = self.square + float(count @ length)
        cost = gross - 2.0 * float((about * sums).sum())
        if cost > _CANCELLED * gross:
            return cost
        return float(squared_to_own(self.X, centers, labels)[~self.bound].sum())


def _begin(
    kernel: Callable[..., None], n_items: int, cost: int, arguments: tuple[Any, ...], workers: Workers | None
) -> Callable[[], None]:
    """Begin running a kernel over all items in threads, if that is quicker; return a function that finishes it."""
    if workers is None or n_items * cost < _LARGE:
        return lambda: kernel(*arguments, 0, n_items)
    return workers.begin(kernel, n_items, cost, *arguments)
