"""Nearest neighbors by cells: rows are sorted into cells, and each cell is compared with the cells around it."""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from linkwise._memory import require_memory
from linkwise._random import make_generator
from linkwise._threads import Workers
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.hierarchical.sparse._kernels_cell_search import RowArray, SingleArray, decide, propose
from linkwise.exceptions import InvalidArgumentError

EXACT = 20_000  # rows up to which every row is compared with every other
_WIDE, _EXACT_WIDE = 200, 100_000  # features from which cells are of little use, and rows up to which they are not used
_ROWS, _BLOCK = 512, 2**24  # most rows, and most products, in a block of an exact search
_PRODUCTS = 2**20  # that are computed before they are looked at: few enough to stay near the processor
_SAMPLE, _ROUNDS = 40, 4  # rows per cell from which centers are computed, and rounds of that
_PROBES, _MOST_PROBES = 16, 64  # cells with which a cell is compared, at first and at most
_AUDITED, _ENOUGH = 1_000, 0.9  # rows whose neighbors are also searched exactly, and the share of them to be found


class CellSearch:
    """Rows sorted into cells, for queries about their nearest neighbors.

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
        The rows.
    seed : int
        Decides the first centers and the rows that are audited.
    """

    def __init__(self, X: FloatArray, seed: int) -> None:
        self.X, self.n = X, len(X)
        self.seed = seed
        self.mean = X.mean(axis=0)
        self.scale = float(np.abs(X - self.mean).max(initial=0.0)) or 1.0
        self.small = self.single(X)  # from here on in the order of `rows`
        self.rows = np.arange(self.n, dtype=np.int32)
        self.is_exact = self.n <= EXACT or (X.shape[1] > _WIDE and self.n <= _EXACT_WIDE)
        if not self.is_exact:
            self._sort_into_cells()
        self.half: SingleArray = 0.5 * np.einsum("ij,ij->i", self.small, self.small)

    def single(self, rows: FloatArray) -> SingleArray:
        """Rows around 0 and within -1 and 1, in single precision."""
        return np.asarray((rows - self.mean) / self.scale, dtype=np.float32)

    def _sort_into_cells(self) -> None:
        """Put rows of the same cell beside each other; find where each cell begins, and the cells around it."""
        self.centers = self._find_centers()
        self.cell = _nearest(self.small, self.centers)
        self.rows = np.argsort(self.cell, kind="stable").astype(np.int32)
        self.small = self.small[self.rows]
        self.start = np.concatenate([[0], np.cumsum(np.bincount(self.cell, minlength=len(self.centers)))])
        half = 0.5 * np.einsum("ij,ij->i", self.centers, self.centers)
        far = half[None] - self.centers @ self.centers.T
        np.fill_diagonal(far, -np.inf)
        self.around: IntArray = np.argsort(far, axis=1, kind="stable")[:, :_MOST_PROBES]
        self.probes = min(_PROBES, len(self.centers))

    def _find_centers(self) -> SingleArray:
        """Centers of the cells, by some rounds of k-means on some rows; an empty cell keeps its center."""
        m = int(max(1, min(2 * np.sqrt(self.n), self.n // _SAMPLE)))
        rng = np.random.default_rng(self.seed)
        center = self.small[rng.choice(self.n, m, replace=False)]
        some = self.small[np.sort(rng.choice(self.n, min(self.n, _SAMPLE * m), replace=False))]
        for _ in range(_ROUNDS):
            cell = _nearest(some, center)
            count = np.bincount(cell, minlength=m)
            total = np.column_stack([np.bincount(cell, weights=column, minlength=m) for column in some.T])
            center = np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], center).astype(np.float32)
        return np.asarray(center)

    def _near(self, cell: int) -> tuple[RowArray, SingleArray, SingleArray]:
        """The rows of the cells around a cell: their numbers, themselves, and half their squared norms."""
        cells = self.around[cell, : self.probes]
        spans = [slice(begin, end) for begin, end in zip(self.start[cells], self.start[cells + 1], strict=True)]
        rows, small, half = ([one[span] for span in spans] for one in (self.rows, self.small, self.half))
        return np.concatenate(rows), np.concatenate(small), np.concatenate(half)

    def find(self, rows: FloatArray, own: RowArray, k: int, *, exact: bool = False) -> tuple[RowArray, FloatArray]:
        """Neighbors of some rows; ``own`` are their numbers, which are left out, or -1."""
        exact = exact or self.is_exact
        index = np.full((len(rows), k), -1, dtype=np.int32)
        squared = np.full((len(rows), k), np.inf)
        single = self.single(rows)
        if exact:
            part = np.arange(len(rows)) // max(1, min(_ROWS, _BLOCK // self.n))
        else:
            part = self.cell[own] if len(own) and own[0] >= 0 else _nearest(single, self.centers)
        order = np.argsort(part, kind="stable")
        begin = np.flatnonzero(np.r_[True, np.diff(part[order]) != 0, True]) if len(rows) else np.zeros(1, np.intp)

        def search(start: int, stop: int) -> None:
            for b in range(start, stop):
                everything = self.rows, self.small, self.half
                near, around, half = everything if exact else self._near(int(part[order[begin[b]]]))
                step = max(1, _PRODUCTS // len(near))
                for at in range(int(begin[b]), int(begin[b + 1]), step):
                    mine = order[at : min(at + step, int(begin[b + 1]))]
                    found = np.empty((len(mine), min(2 * k, len(near))), dtype=np.int32)
                    propose(single[mine] @ around.T, half, near, own[mine], found)
                    ids, gaps = index[mine], squared[mine]
                    decide(rows[mine], self.X, found, ids, gaps)
                    index[mine], squared[mine] = ids, gaps

        blocks = len(begin) - 1
        cost = int(len(rows) / max(blocks, 1) * (self.n if exact else self.n / len(self.centers) * self.probes))
        with threadpool_limits(limits=1, user_api="blas"), Workers() as workers:
            workers.over(search, blocks, max(cost, 1))
        return index, squared

    def find_all(self, k: int) -> tuple[RowArray, FloatArray]:
        """Neighbors of every row."""
        return self.find(self.X, np.arange(self.n, dtype=np.int32), k)

    def audit(self, k: int) -> float:
        """Compare with more cells until enough neighbors of some rows are found; return the share that is."""
        if self.is_exact:
            return 1.0
        rng = np.random.default_rng(self.seed + 1)
        rows = np.sort(rng.choice(self.n, min(self.n, _AUDITED), replace=False)).astype(np.int32)
        truth = self.find(self.X[rows], rows, k, exact=True)[1]
        while True:
            squared = self.find(self.X[rows], rows, k)[1]
            recall = float((squared <= truth[:, -1:]).mean())
            if recall >= _ENOUGH or self.probes >= min(_MOST_PROBES, len(self.centers)):
                return recall
            self.probes = min(2 * self.probes, _MOST_PROBES, len(self.centers))


def _nearest(rows: SingleArray, centers: SingleArray) -> IntArray:
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)
    found = np.empty(len(rows), dtype=np.intp)
    step = max(1, 2**24 // len(centers))
    for start in range(0, len(rows), step):
        found[start : start + step] = (half - rows[start : start + step] @ centers.T).argmin(axis=1)
    return found


def find_distinct(X: FloatArray, k: int, seed: int) -> tuple[RowArray, float]:
    """Neighbors of all rows among distinct ones, a copy having the copy before it; and the share that was found."""
    first = first_copies(X)
    distinct = np.flatnonzero(first == np.arange(len(X)))
    search = CellSearch(X[distinct] if len(distinct) < len(X) else X, seed)
    index = np.full((len(X), k), -1, dtype=np.int32)
    count = min(k, max(len(distinct) - 1, 0))
    recall = 1.0
    if count:
        recall = search.audit(count)
        found, _ = search.find_all(count)
        index[distinct, :count] = np.where(found >= 0, distinct[found], -1)
    copies = np.flatnonzero(first != np.arange(len(X)))
    order = copies[np.argsort(first[copies], kind="stable")]
    after_copy = np.zeros(len(order), dtype=np.bool_)
    after_copy[1:] = first[order[1:]] == first[order[:-1]]
    index[order, 0] = np.where(after_copy, np.roll(order, 1), first[order])
    return index, recall


def first_copies(X: FloatArray) -> IntArray:
    """The first row equal to each row; copies of a row may be missed where other rows have the same product."""
    n, d = X.shape
    code = X @ np.random.default_rng(0).normal(size=d)
    order = np.lexsort((np.arange(n), code))
    begins = np.ones(n, dtype=np.bool_)
    alike = np.flatnonzero(code[order[1:]] == code[order[:-1]])
    begins[alike + 1] = (X[order[alike + 1]] != X[order[alike]]).any(axis=1)
    first = np.empty(n, dtype=np.intp)
    first[order] = order[np.flatnonzero(begins)[np.cumsum(begins) - 1]]
    return first


def nearest_neighbors(X: Any, k: int = 10, *, random_state: Any = 0) -> tuple[IntArray, FloatArray]:
    """Find the nearest rows of each row in Euclidean distance: exactly up to 20,000 rows, nearly so beyond.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Finite numbers.
    k : int, default=10
        Number of neighbors.
    random_state : int, RandomState or None, default=0
        Decides the cells.

    Returns
    -------
    index : ndarray of intp, shape (n, k)
        Numbers of the neighbors, the nearest first, ties by row number; -1 where fewer were found.
    squared : ndarray of float64, shape (n, k)
        Their squared distances; inf where fewer were found.

    See Also
    --------
    linkwise.SparseAgglomerative : clusters along these neighbors.

    Notes
    -----
    Rows are sorted into 2 sqrt(n) cells, and each cell is compared with the 16 to 64 cells around it, as many as it
    takes to find nine tenths of the neighbors of 1,000 rows. **Cost** O(n^1.5 d) time, O(n (d + k)) memory.
    **Guarantee** distances are exact; the same input gives the same neighbors for any number of threads.

    Examples
    --------
    >>> from linkwise.engines import nearest_neighbors
    >>> index, squared = nearest_neighbors([[0.0], [1.0], [3.0]], 1)
    >>> index.ravel().tolist(), squared.ravel().tolist()
    ([1, 0, 1], [1.0, 1.0, 4.0])
    """
    rows = np.ascontiguousarray(X, dtype=np.float64)
    if rows.ndim != 2 or not len(rows) or not np.isfinite(rows).all():
        msg = f"nearest_neighbors: X has shape {rows.shape}, expected (n, d) with finite numbers and at least one row."
        raise InvalidArgumentError(msg)
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        msg = f"nearest_neighbors: k is {k!r}, expected a whole number from 1."
        raise InvalidArgumentError(msg)
    n, d = rows.shape
    require_memory(n * (8 * d + 12 * int(k)), f"finding {k} neighbors of {n:,} samples", "a smaller k.")
    search = CellSearch(rows, int(make_generator(random_state).integers(2**31 - 1)))
    search.audit(int(k))
    index, squared = search.find_all(int(k))
    return index.astype(np.intp), squared
