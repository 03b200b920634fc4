"""A tree over blocks: each cluster is divided into cells, rows of a cell merge on a worker, clusters of cells here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwise._messages import many
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.distances import nearest
from linkwise.engines.hierarchical import MOST_CLUSTERS
from linkwise.engines.hierarchical.sparse import merge_clusters
from linkwise.exceptions import ScaleError
from linkwise.scale._block_tasks import Shared
from linkwise.scale._cell_tasks import Cell, Cells, Grown, count_cells, grow, scatter, write_merges, write_part
from linkwise.scale._kmeans import Start
from linkwise.scale._row_blocks import Source
from linkwise.scale._runner import MIB

_SAMPLED, _SLACK = 20, 1.25  # rows of the sample for each cell at least; how much larger it may be than asked for
_ROUNDS = 10  # of dividing cells that are larger
_NEIGHBOR_BYTES = 850  # of neighbors and edges of a row


@dataclass(frozen=True)
class CellPlan:
    """Cells of a tree before rows are merged.

    Attributes
    ----------
    n_cells, largest, cluster : int
        Cells, rows of the largest, and the cluster that it belongs to.
    worker_bytes : int
        Memory that the largest cell needs.

    Examples
    --------
    >>> from linkwise.scale import CellPlan
    >>> print(CellPlan(40, 60_000, 3, 2**26))
    the tree has 40 cells; the largest, of 60,000 rows of cluster 3, needs 64 MiB.
    """

    n_cells: int
    largest: int
    cluster: int
    worker_bytes: int

    def __str__(self) -> str:
        return (
            f"the tree has {many(self.n_cells, 'cell')}; the largest, of {many(self.largest, 'row')} of cluster "
            f"{self.cluster}, needs {self.worker_bytes / MIB:,.0f} MiB."
        )


def divide(start: Start, centers: FloatArray, sizes: Any, shared: Shared, rows: int) -> Cells:
    """Choose centers of cells in each cluster, so that a cell has about ``rows`` rows at most; share groups of rows."""
    home = nearest(start.sample, centers)[0]
    found: list[FloatArray] = []
    for c, size in enumerate(sizes):
        mine = start.sample[home == c]
        most = max(float(_SAMPLED), len(mine) * rows / max(1, int(size)))
        found.append(_cells_of(mine, most) if len(mine) else centers[[c]])
    begin = (0, *np.cumsum([len(cells) for cells in found]).tolist())
    cells = Cells("cells", begin)
    shared.put("cells", np.concatenate(found))
    shared.put("groups", start.known.group)
    return cells


def _cells_of(rows: FloatArray, most: float) -> FloatArray:
    """Centers to which at most about this many rows each are nearest: halves of halves, and again where it failed."""
    cells = _halved(rows, most)
    for _ in range(_ROUNDS):
        label = nearest(rows, cells)[0]
        count = np.bincount(label, minlength=len(cells))
        large = count > _SLACK * most
        if not large.any() or len(cells) * _SAMPLED > len(rows):
            break
        again = [_halved(rows[label == cell], most) for cell in np.flatnonzero(large)]
        if sum(map(len, again)) == len(again):  # equal rows
            break
        cells = np.concatenate([cells[~large & (count > 0)], *again])
    return cells


def _halved(rows: FloatArray, most: float) -> FloatArray:
    """The means of parts of at most this many rows, made by halving along the column that varies most."""
    todo, found = [rows], []
    while todo:
        part = todo.pop()
        column = part[:, int(part.var(axis=0).argmax())]
        upper = column > np.median(column)
        if not upper.any():
            upper = column > column.min()
        if len(part) <= most or not upper.any():
            found.append(part.mean(axis=0))
        else:
            todo += [part[upper], part[~upper]]
    return np.array(found)


def place_groups(start: Start, labels: IntArray, cells: Cells, shared: Shared) -> None:
    """Share the cell of each row that statements name: its group goes where the mean of the group is nearest."""
    centers = np.array(shared.get(cells.name))
    cell = np.empty(len(labels), dtype=np.intp)
    for c in np.unique(labels).tolist():
        mine = np.flatnonzero(labels == c)
        low, high = cells.start[c : c + 2]
        cell[mine] = low + nearest(start.known.means[mine], centers[low:high])[0]
    shared.put(f"named-{cells.name}", cell[start.known.group].astype(np.intp))


def grow_tree(
    source: Source,
    cells: Cells,
    labels: Path,
    folder: Path,
    over: Any,
    shared: Shared,
    *,
    top: int,
    seed: int,
    k: int,
    apart: IntArray,
    accept: Callable[[CellPlan], None],
) -> CellPlan:
    """Merge all rows: cells by tasks, then the clusters that are left in each cluster, then the clusters.

    ``accept`` sees the plan after rows were counted and before any is moved. Merges are written to ``folder``.
    """
    blocks = source.blocks
    counts: list[IntArray] = [np.empty(0, dtype=np.intp)] * len(blocks)
    over("counting cells", count_cells, blocks, (shared, cells, str(labels)), counts.__setitem__)
    held = np.sum(counts, axis=0)
    owner = np.repeat(np.arange(k), np.diff(cells.start))
    largest = int(held.argmax())
    need = int(held[largest]) * (40 * source.n_features + _NEIGHBOR_BYTES)
    plan = CellPlan(int((held > 0).sum()), int(held[largest]), int(owner[largest]), need)
    accept(plan)
    begins: list[IntArray] = [np.empty(0, dtype=np.intp)] * len(blocks)
    over("sorting rows by cell", scatter, blocks, (shared, cells, str(labels)), begins.__setitem__)
    shared.put("begins", np.array(begins))
    share = top / source.n_rows
    tasks = [
        Cell(number, int(owner[number]), int(count), max(1, round(share * int(count))), 0)
        for number, count in enumerate(held.tolist())
        if count
    ]
    grown: list[Any] = [None] * len(tasks)
    starts = tuple(block.start for block in blocks)
    over("merging cells", grow, tasks, (shared, starts, seed), grown.__setitem__)
    if sum(len(one.size) for one in grown) > MOST_CLUSTERS:
        count = sum(len(one.size) for one in grown)
        msg = (
            f"cells leave {count:,} clusters, and at most {MOST_CLUSTERS:,} can be compared with each other.\n"
            "Hint: more rows in a block, or a smaller top=."
        )
        raise ScaleError(msg)
    offsets = np.concatenate([[0], np.cumsum([one.n_merges for one in grown])]).tolist()
    tasks = [cell._replace(offset=offset) for cell, offset in zip(tasks, offsets[:-1], strict=True)]
    folder.mkdir(exist_ok=True)
    over("writing the tree", write_part, tasks, (shared, str(folder), source.n_rows), lambda *_: None)
    pairs, height = _join_cells(tasks, grown, source.n_rows, offsets[-1], k, apart)
    write_merges(folder, cells.n_cells, pairs, height)
    return plan


def _join_cells(
    tasks: list[Cell], grown: list[Grown], n: int, done: int, k: int, apart: IntArray
) -> tuple[IntArray, FloatArray]:
    """The merges above cells: inside each cluster, then between clusters as far as cannot-links allow."""
    pairs, heights = [np.empty((0, 2), dtype=np.int64)], [np.empty(0)]
    tops: list[tuple[int, float, FloatArray, float]] = []
    place = np.full(k, -1, dtype=np.intp)  # an empty cluster has no node
    for c in range(k):
        mine = [(cell, one) for cell, one in zip(tasks, grown, strict=True) if cell.cluster == c]
        if not mine:
            continue
        place[c] = len(tops)
        node = np.concatenate([np.where(one.node < 0, -1 - one.node, n + cell.offset + one.node) for cell, one in mine])
        size, mean, floor = (np.concatenate([getattr(one, f) for _, one in mine]) for f in ("size", "mean", "height"))
        made, height = merge_clusters(mean, size, floor)
        names = np.concatenate([node, n + done + np.arange(len(made))])
        pairs.append(names[made].reshape(-1, 2))
        heights.append(height)
        done += len(made)
        whole = (size[:, None] * mean).sum(axis=0) / size.sum()
        tops.append((int(names[-1]), float(height[-1]) if len(height) else float(floor[0]), whole, float(size.sum())))
    node, floor, mean, size = (np.array([one[i] for one in tops]) for i in range(4))
    made, height = merge_clusters(mean, size, floor, place[apart])
    pairs.append(np.concatenate([node, n + done + np.arange(len(made))])[made].reshape(-1, 2))
    heights.append(height)
    return np.concatenate(pairs), np.concatenate(heights)
