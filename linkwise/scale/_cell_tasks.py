"""Tasks of trees: count rows of cells, write rows of a block by cell, merge a cell, write its part of the tree."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise._files import write_whole
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.distances import nearest
from linkwise.engines.hierarchical.sparse import Part, merge_part
from linkwise.scale._block_tasks import Shared, label_file, named_rows
from linkwise.scale._row_blocks import Block, read_block

_NEIGHBORS = 10


class Cell(NamedTuple):
    """Rows of one cluster that one task merges."""

    number: int
    cluster: int
    n_rows: int
    target: int  # clusters to leave
    offset: int  # the number of its first merge among all

    @property
    def patience(self) -> float:
        """Seconds that the cell may take: merging takes up to a tenth of a millisecond for each row on an idle core."""
        return 120.0 + 2e-3 * self.n_rows

    def describe(self) -> str:
        """Name the cell."""
        return f"cell {self.number} ({self.n_rows:,} rows of cluster {self.cluster})"


class Cells(NamedTuple):
    """Centers of cells by cluster, shared under this name: those of cluster c are rows start[c] to start[c + 1]."""

    name: str
    start: tuple[int, ...]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.start[-1]


def _cells_of(block: Block, shared: Shared, cells: Cells, labels: str) -> tuple[FloatArray, IntArray]:
    """The rows of a block, and the cell of each: the nearest center of its cluster, or where its group is."""
    import pyarrow.parquet as pq

    X, _ = read_block(block, shared.columns, None)
    label = pq.read_table(Path(labels) / label_file(block.number), columns=["cluster"]).column(0).to_numpy()
    centers = np.array(shared.get(cells.name))
    cell = np.empty(len(X), dtype=np.intp)
    for cluster in np.unique(label).tolist():
        mine = np.flatnonzero(label == cluster)
        low, high = cells.start[cluster : cluster + 2]
        cell[mine] = low + nearest(X[mine], centers[low:high])[0]
    named, places = named_rows(block, shared)
    cell[named] = shared.get(f"named-{cells.name}")[places]
    return X, cell


def count_cells(block: Block, shared: Shared, cells: Cells, labels: str) -> IntArray:
    """Count the rows of a block in each cell."""
    return np.bincount(_cells_of(block, shared, cells, labels)[1], minlength=cells.n_cells)


def scatter(block: Block, shared: Shared, cells: Cells, labels: str) -> IntArray:
    """Write the rows of a block sorted by cell; return where each cell begins."""
    X, cell = _cells_of(block, shared, cells, labels)
    order = np.argsort(cell, kind="stable")
    for name, array in (("rows", X[order]), ("numbers", order.astype(np.int32))):
        held = io.BytesIO()
        np.save(held, array, allow_pickle=False)
        write_whole(_scattered(shared, name, block.number), held.getvalue())
    return np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=cells.n_cells))])


def _scattered(shared: Shared, name: str, number: int) -> Path:
    return Path(shared.folder) / f"{name}-{number:06d}.npy"


class Grown(NamedTuple):
    """What a cell leaves: the number of merges, and its clusters with their nodes, counted from its first merge.

    A node that is a row has the code -1 - row.
    """

    n_merges: int
    size: FloatArray
    mean: FloatArray
    node: IntArray
    height: FloatArray


def grow(cell: Cell, shared: Shared, starts: tuple[int, ...], seed: int) -> Grown:
    """Merge the rows of a cell; keep the merges in a file. ``starts`` are the first rows of the blocks."""
    begins = shared.get("begins")
    rows, numbers = [], []
    for block, start in enumerate(starts):
        at = slice(int(begins[block, cell.number]), int(begins[block, cell.number + 1]))
        if at.stop > at.start:
            rows.append(np.load(_scattered(shared, "rows", block), mmap_mode="r")[at])
            numbers.append(np.load(_scattered(shared, "numbers", block), mmap_mode="r")[at].astype(np.int64) + start)
    X, number = np.concatenate(rows), np.concatenate(numbers)
    named = shared.get("rows")
    group = np.full(len(X), -1, dtype=np.intp)
    place = np.minimum(np.searchsorted(named, number), max(len(named) - 1, 0))
    if len(named):
        known = named[place] == number
        group[known] = shared.get("groups")[place[known]]
    free = np.flatnonzero(group < 0)
    group[free] = group.max(initial=-1) + 1 + np.arange(len(free))
    part = merge_part(X, group, cell.target, _NEIGHBORS, seed)
    n = len(X)
    names = np.concatenate([-1 - number, np.arange(len(part.pairs))])
    held = io.BytesIO()
    np.savez(held, pairs=names[part.pairs].reshape(-1, 2), height=part.height)
    write_whole(_merges(shared, cell), held.getvalue())
    return Grown(len(part.pairs), part.size, part.mean, names[part.node], _heights(part, n))


def _heights(part: Part, n: int) -> FloatArray:
    return np.where(part.node < n, 0.0, np.concatenate([np.zeros(n), part.height])[part.node])


def _merges(shared: Shared, cell: Cell) -> Path:
    return Path(shared.folder) / f"merges-{cell.number:06d}.npz"


def write_part(cell: Cell, shared: Shared, folder: str, n_rows: int) -> None:
    """Write the merges of a cell with the numbers that nodes have in the whole tree."""
    with np.load(_merges(shared, cell), allow_pickle=False) as held:
        pairs, height = held["pairs"], held["height"]
    write_merges(Path(folder), cell.number, np.where(pairs < 0, -1 - pairs, n_rows + cell.offset + pairs), height)


def write_merges(folder: Path, number: int, pairs: Any, height: FloatArray) -> None:
    """Write merges to their own file: the two nodes, and the height."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    held = pa.BufferOutputStream()
    columns = {"left": pairs[:, 0].astype(np.int64), "right": pairs[:, 1].astype(np.int64), "height": height}
    pq.write_table(pa.table(columns), held, compression="snappy")
    write_whole(folder / f"part-{number:06d}.parquet", bytes(held.getvalue()))
