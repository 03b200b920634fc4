"""Tasks over one block of rows: fetch rows, add up a step of k-means, write labels.

A task gets the block and the folder with the small arrays that all tasks share; it keeps nothing.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise._files import write_whole
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.distances import nearest, sum_rows
from linkwise.exceptions import ScaleError
from linkwise.scale._row_blocks import Block, read_block

MOST = 1e100  # of a number: squares, and sums of many of them, stay inside double precision


class Shared(NamedTuple):
    """Where tasks find shared arrays, and which columns they read."""

    folder: str
    columns: tuple[str, ...]
    id_column: str | None

    def put(self, name: str, array: Any) -> None:
        """Share an array."""
        import io

        held = io.BytesIO()
        np.save(held, array, allow_pickle=False)
        write_whole(Path(self.folder) / f"{name}.npy", held.getvalue())

    def get(self, name: str) -> Any:
        """Map a shared array."""
        return np.load(Path(self.folder) / f"{name}.npy", mmap_mode="r", allow_pickle=False)


class Fetched(NamedTuple):
    """Rows of a block: a sample of all, and those that statements name, with the places of their names."""

    sample: FloatArray
    place: IntArray
    row: IntArray
    rows: FloatArray
    total: FloatArray
    squares: FloatArray
    largest: float


def fetch(block: Block, shared: Shared, by_id: bool, share: float, seed: int) -> Fetched:
    """Read a whole block for the first time: refuse rows that cannot be used, return those that are needed."""
    X, ids = read_block(block, shared.columns, shared.id_column)
    largest = max(float(X.max()), -float(X.min()))
    if not largest <= MOST:
        at, column = divmod(int(np.abs(X).argmax()), X.shape[1])
        msg = (
            f"{block.where(at)}: column {shared.columns[column]!r} holds {X[at, column]:.3g}, expected values "
            f"up to {MOST:.0e}: squared distances of larger ones may overflow.\nHint: rescale the columns."
        )
        raise ScaleError(msg, block.number)
    names = shared.get("names")
    if ids is None or not by_id:
        place = np.arange(*np.searchsorted(names, [block.start, block.stop]))
        row = np.asarray(names[place], dtype=np.int64)
    else:
        if names.dtype.kind == "U":
            ids = ids.astype(str)
        at = np.searchsorted(names, ids)
        at[at == len(names)] = 0
        found = np.flatnonzero(names[at] == ids) if len(names) else np.empty(0, dtype=np.intp)
        place, row = at[found], found + block.start
    drawn = np.random.default_rng([seed, block.number]).random(len(X)) < share
    return Fetched(X[drawn], place, row, X[row - block.start], X.sum(axis=0), (X * X).sum(axis=0), largest)


def named_rows(block: Block, shared: Shared) -> tuple[IntArray, slice]:
    """The rows of a block that statements name, counted in the block, and their places among all that are named."""
    rows = shared.get("rows")
    low, high = np.searchsorted(rows, [block.start, block.stop])
    return np.asarray(rows[low:high]) - block.start, slice(int(low), int(high))


def step(block: Block, shared: Shared, centers: str) -> tuple[Any, ...]:
    """Add up the rows of each center among those that no statement names; return the farthest of these besides."""
    X, _ = read_block(block, shared.columns, None)
    named, _ = named_rows(block, shared)
    free = np.delete(X, named, axis=0) if len(named) else X
    at = np.array(shared.get(centers))
    labels, cost = nearest(free, at)
    total, count = sum_rows(free, np.ones(len(free)), labels, len(at))
    far = int(cost.argmax()) if len(cost) else -1
    farthest = (float(cost[far]), free[far].copy()) if far >= 0 else (-1.0, at[0])
    return (count, total, float(cost.sum())), farthest


def write(block: Block, shared: Shared, centers: str, folder: str) -> int:
    """Write the labels of a block to its own file, under another name first; a file that is there is kept."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(folder) / label_file(block.number)
    if path.exists():
        return 0
    X, ids = read_block(block, shared.columns, shared.id_column)
    labels = nearest(X, np.array(shared.get(centers)))[0].astype(np.int32)
    named, places = named_rows(block, shared)
    labels[named] = shared.get(f"labels-{centers}")[places]
    first = np.arange(block.start, block.stop) if ids is None else ids
    table = pa.table({shared.id_column or "row": pa.array(first), "cluster": pa.array(labels)})
    held = pa.BufferOutputStream()
    pq.write_table(table, held, compression="snappy")
    write_whole(path, bytes(held.getvalue()))
    return 1


def label_file(number: int) -> str:
    """The name of the file with the labels of a block."""
    return f"part-{number:06d}.parquet"


def digest_of(*arrays: Any) -> str:
    """Tell arrays from others."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]
