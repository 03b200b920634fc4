"""The certificate of a run over blocks: label files and statements are read back by code that shares nothing."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class BlockCertificate:
    """Counts of statements that hold in the label files, and digests of both.

    Attributes
    ----------
    must_links, must_links_held, cannot_links, cannot_links_held : int
        Pairs as given, a group of s samples counting as s - 1 or s (s - 1) / 2 pairs, and those that hold.
    n_rows : int
        Labels in the files.
    sizes : tuple of int
        Rows of each cluster.
    statements, labels : str
        SHA-256 of the pairs in the order given, and of the labels in the order of rows.

    Examples
    --------
    >>> from linkwise.scale import BlockCertificate
    >>> BlockCertificate(2, 2, 1, 0, 9, (4, 5), "", "").ok
    False
    """

    must_links: int
    must_links_held: int
    cannot_links: int
    cannot_links_held: int
    n_rows: int
    sizes: tuple[int, ...]
    statements: str
    labels: str

    @property
    def ok(self) -> bool:
        """Whether all statements hold."""
        return self.must_links == self.must_links_held and self.cannot_links == self.cannot_links_held

    def __str__(self) -> str:
        return (
            f"{self.must_links_held:,} of {self.must_links:,} must-links and {self.cannot_links_held:,} of "
            f"{self.cannot_links:,} cannot-links hold in {self.n_rows:,} labels."
        )

    def to_json(self) -> str:
        """Write all fields as JSON."""
        return json.dumps({"ok": self.ok, **asdict(self)}, indent=2)


def certify_blocks(folder: Path, statements: Any, n_clusters: int) -> BlockCertificate:
    """Read label files, and count the pairs of ``statements`` that hold; ``statements`` are as the user gave them."""
    import pyarrow.parquet as pq

    pairs = list(given_pairs(statements))
    ends = np.concatenate([ends.ravel() for _, ends in pairs]) if pairs else np.empty(0, dtype=np.int64)
    wanted = np.unique(ends)
    label = np.full(len(wanted), -1, dtype=np.int64)
    digest, sizes, n_rows = hashlib.sha256(), np.zeros(n_clusters, dtype=np.int64), 0
    for path in sorted(folder.glob("part-*.parquet")):
        table = pq.read_table(path)
        names, clusters = table.column(0).to_numpy(), table.column(1).to_numpy()
        if wanted.dtype.kind == "U":
            names = names.astype(str)
        digest.update(np.ascontiguousarray(clusters, dtype=np.int32).tobytes())
        sizes += np.bincount(clusters, minlength=n_clusters)
        n_rows += len(clusters)
        if len(wanted):
            at = np.minimum(np.searchsorted(wanted, names), len(wanted) - 1)
            mine = wanted[at] == names
            label[at[mine]] = clusters[mine]
    given = hashlib.sha256()
    count = {True: [0, 0], False: [0, 0]}
    for together, both in pairs:
        given.update(str(together).encode() + np.ascontiguousarray(both).tobytes())
        one, two = (label[np.searchsorted(wanted, both[:, side])] for side in range(2))
        held = ((one == two) == together) & (one >= 0) & (two >= 0)
        count[together][0] += len(both)
        count[together][1] += int(held.sum())
    (must, must_held), (cannot, cannot_held) = count[True], count[False]
    listed = tuple(int(size) for size in sizes)
    return BlockCertificate(must, must_held, cannot, cannot_held, n_rows, listed, given.hexdigest(), digest.hexdigest())


def given_pairs(statements: Any) -> Any:
    """Batches of pairs, and whether they are must-links."""
    if statements is None:
        return
    if hasattr(statements, "kind"):
        for code, together in ((0, True), (1, False)):
            yield together, np.asarray(statements.items[statements.kind == code, :2], dtype=np.int64)
        _, start, member = statements.groups
        for at, low, high in zip(statements.groups.statement, start[:-1], start[1:], strict=True):
            group = np.asarray(member[low:high], dtype=np.int64)
            if statements.kind[at] == 3:
                yield True, np.column_stack([group[:-1], group[1:]])
            else:
                one, two = np.triu_indices(len(group), 1)
                yield False, np.column_stack([group[one], group[two]])
        return
    paths = [statements] if isinstance(statements, (str, Path)) else statements
    for path in map(str, paths):
        if path.endswith((".parquet", ".pq")):
            import pyarrow.parquet as pq

            table = pq.read_table(path, columns=["kind", "a", "b"])
        else:
            from pyarrow import csv

            table = csv.read_csv(path).select(["kind", "a", "b"])
        words = np.array(table.column("kind").to_pylist())
        columns = [table.column(name).to_numpy() for name in ("a", "b")]
        kind = np.int64 if all(column.dtype.kind in "iu" for column in columns) else str
        both = np.column_stack([column.astype(kind) for column in columns])
        for word, together in (("must_link", True), ("cannot_link", False)):
            yield together, both[words == word]
