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
            f"{self.cannot_links:,} cannot-links hold in {self.n_rows:,} {'label' if self.n_rows == 1 else 'labels'}."
        )

    def to_json(self) -> str:
        """Write all fields as JSON."""
        return json.dumps({"ok": self.ok, **asdict(self)}, indent=2)


def certify_blocks(folder: Path, statements: Any, n_clusters: int) -> BlockCertificate:
    """Read label files, and count the pairs of ``statements`` that hold; ``statements`` are as the user gave them."""
    import pyarrow.parquet as pq

    paths = sorted(folder.glob("part-*.parquet"))
    pairs, wanted = pairs_and_names(statements, paths)
    label = np.full(len(wanted), -1, dtype=np.int64)
    digest, sizes, n_rows = hashlib.sha256(), np.zeros(n_clusters, dtype=np.int64), 0
    for path in paths:
        table = pq.read_table(path)
        clusters = table.column(1).to_numpy()
        names = names_like(wanted, statements, table.column(0).to_numpy(), n_rows)
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


def pairs_and_names(statements: Any, files: list[Path]) -> tuple[list[tuple[bool, Any]], Any]:
    """Batches of pairs, whether they are must-links, and the sorted names in them; as text unless all are numbers."""
    import pyarrow.parquet as pq

    pairs = list(_given_pairs(statements))
    numbers = all(ends.dtype.kind == "i" for _, ends in pairs)
    if not hasattr(statements, "kind") and not (numbers and files and pq.read_schema(files[0]).types[0] == "int64"):
        pairs = [(together, ends.astype(str)) for together, ends in pairs]
    return pairs, np.unique(np.concatenate([ends.ravel() for _, ends in pairs] or [np.empty(0, dtype=np.int64)]))


def names_like(wanted: Any, statements: Any, names: Any, first: int) -> Any:
    """The names of some rows in label files, the first of which is row ``first``, to be compared with ``wanted``."""
    if hasattr(statements, "kind"):  # a table is about row numbers, whatever rows are called in the files
        return np.arange(first, first + len(names))
    return names.astype(str) if wanted.dtype.kind == "U" else names


def _given_pairs(statements: Any) -> Any:
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
    import pyarrow as pa
    import pyarrow.compute as pc

    paths = [statements] if isinstance(statements, (str, Path)) else statements
    for table in map(_read_columns, map(str, paths)):
        ends = []
        for column in map(table.column, ("a", "b")):
            if column.type == "uint64" and len(column) and pc.max(column).as_py() >= 2**63:
                ends.append(column.to_numpy().astype(str))
            elif pa.types.is_integer(column.type):
                ends.append(column.to_numpy().astype(np.int64))
            else:
                ends.append(column.cast(pa.string()).to_numpy().astype(str))
        both = np.column_stack(
            ends if len({one.dtype.kind for one in ends}) == 1 else [one.astype(str) for one in ends]
        )
        words = pc.utf8_trim_whitespace(table.column("kind").cast(pa.string()))
        for word, together in (("must_link", True), ("cannot_link", False)):
            yield together, both[np.asarray(pc.equal(words, word))]


def _read_columns(path: str) -> Any:
    """Read the columns of a file; those of a CSV file are text without blanks around it, or numbers if all are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = ["kind", "a", "b"]
    if path.endswith((".parquet", ".pq")):
        import pyarrow.parquet as pq

        return pq.read_table(path, columns=names)
    from pyarrow import csv

    text = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=names)
    table = csv.read_csv(path, convert_options=text)
    for at, name in enumerate(names[1:], 1):
        column = pc.utf8_trim_whitespace(table.column(name))
        try:
            numbers = column.cast(pa.int64())
        except pa.ArrowInvalid:
            numbers = None
        if numbers is not None and numbers.cast(pa.string()).equals(column):  # 007 stays text
            column = numbers
        table = table.set_column(at, name, column)
    return table
