"""Statements from Parquet and CSV files, in batches, with columns kind, a and b."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._messages import some_of
from linkwise._typing import IntArray
from linkwise.constraints import LINKS, Constraints, Kind, require_understood
from linkwise.exceptions import ConstraintError, ScaleError, UnsupportedConstraintError
from linkwise.scale._row_blocks import open_parquet, open_stream

_WORDS = {"must_link": Kind.MUST_LINK, "cannot_link": Kind.CANNOT_LINK}
_BATCH = 2**20


class Pairs(NamedTuple):
    """A batch of pairs: the file, the row of the first of them, their kinds, and the two samples of each."""

    file: str
    first: int
    kind: npt.NDArray[np.int8]
    ends: npt.NDArray[Any]


def read_pairs(paths: Sequence[str]) -> Iterator[Pairs]:
    """Read files batch by batch; rows that cannot be read are refused with the file and the row, counted from 0."""
    for path in paths:
        first = 0
        for batch in _batches(path):
            found = _pairs_of(path, first, batch)
            yield found
            first += len(found.kind)


def _batches(path: str) -> Iterator[Any]:
    import pyarrow as pa

    try:
        if path.endswith((".parquet", ".pq")):
            with open_parquet(path) as file:
                yield from file.iter_batches(_BATCH)
        else:
            from pyarrow import csv

            with open_stream(path) as stream, csv.open_csv(stream) as reader:
                yield from reader
    except pa.ArrowInvalid as bad:
        msg = f"{path} cannot be read: {bad}\nHint: statements are Parquet or CSV with columns kind, a, b."
        raise ScaleError(msg) from bad


def _pairs_of(path: str, first: int, batch: Any) -> Pairs:
    import pyarrow as pa
    import pyarrow.compute as pc

    names = batch.schema.names
    if not {"kind", "a", "b"} <= set(names):
        msg = f"{path} has the columns {some_of(names)}, expected kind, a, b.\nHint: a row reads must_link,12,40."
        raise ScaleError(msg)
    if "weight" in names and batch.column(names.index("weight")).null_count < len(batch):
        msg = f"{path} has weights; scale.cluster understands hard statements only.\nHint: leave the column out."
        raise UnsupportedConstraintError(msg)
    for name in ("kind", "a", "b"):
        column = batch.column(names.index(name))
        if column.null_count:
            empty = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
            msg = f"{path}, row {first + int(empty[0]):,}: {name} is missing."
            raise ConstraintError(msg)
    words = batch.column(names.index("kind")).cast(pa.string())
    kind = np.full(len(words), -1, dtype=np.int8)
    for word, code in _WORDS.items():
        kind[pc.equal(words, word).to_numpy(zero_copy_only=False).astype(np.bool_)] = code
    other = np.flatnonzero(kind < 0)
    if len(other):
        word, row = str(words[int(other[0])].as_py()), first + int(other[0])
        msg = f"{path}, row {row:,}: the kind is {word!r}, expected must_link or cannot_link."
        raise ConstraintError(msg)
    ends = [batch.column(names.index(name)).to_numpy(zero_copy_only=False) for name in ("a", "b")]
    whole = all(end.dtype.kind in "iu" for end in ends)
    pairs = np.column_stack([end.astype(np.int64 if whole else str) for end in ends])
    same = np.flatnonzero((pairs[:, 0] == pairs[:, 1]) & (kind == Kind.CANNOT_LINK))
    if len(same):
        msg = f"{path}, row {first + int(same[0]):,}: cannot_link names {pairs[same[0], 0]} twice, so it cannot hold."
        raise ConstraintError(msg)
    return Pairs(path, first, kind, pairs)


class Statements(NamedTuple):
    """Statements about few of many rows.

    Attributes
    ----------
    names : ndarray
        The samples that are named, sorted: row numbers, or identifiers.
    table : Constraints
        The statements, about positions in ``names``.
    digest : str
        Tells the statements from others.
    """

    names: npt.NDArray[Any]
    table: Constraints
    digest: str


def gather_statements(given: Any, n_rows: int, *, by_id: bool, who: str) -> Statements:
    """Read statements, and number them by the samples that they name."""
    if given is None:
        return Statements(np.empty(0, dtype=np.int64), Constraints.build(0), "none")
    if isinstance(given, Constraints):
        return _of_table(given, n_rows, who)
    paths = [os.fspath(given)] if isinstance(given, (str, os.PathLike)) else [os.fspath(path) for path in given]
    batches = list(read_pairs(paths))
    empty = np.empty((0, 2), dtype=np.int64)
    if len({batch.ends.dtype.kind for batch in batches}) > 1:
        batches = [batch._replace(ends=batch.ends.astype(str)) for batch in batches]
    ends = np.concatenate([batch.ends for batch in batches]) if batches else empty
    kind = np.concatenate([batch.kind for batch in batches]) if batches else np.empty(0, dtype=np.int8)
    if not by_id:
        _require_rows(batches, n_rows)
    names, place = np.unique(ends, return_inverse=True)
    place = place.reshape(-1, 2)
    table = Constraints.build(
        len(names),
        must_link=place[(kind == Kind.MUST_LINK) & (place[:, 0] != place[:, 1])],
        cannot_link=place[kind == Kind.CANNOT_LINK],
    )
    digest = hashlib.sha256(kind.tobytes())
    digest.update(ends.tobytes())
    return Statements(names, table.with_ids(names) if len(names) else table, digest.hexdigest())


def _require_rows(batches: Sequence[Pairs], n_rows: int) -> None:
    for batch in batches:
        if batch.ends.dtype.kind not in "iu":
            msg = (
                f"{batch.file} names samples by words, such as {str(batch.ends[0, 0])!r}, but no column of the data "
                'holds names.\nHint: id="..." is the column that does.'
            )
            raise ScaleError(msg)
        bad = np.flatnonzero(((batch.ends < 0) | (batch.ends >= n_rows)).any(axis=1))
        if len(bad):
            row = int(bad[0])
            pair = ", ".join(str(end) for end in batch.ends[row])
            msg = (
                f"{batch.file}, row {batch.first + row:,} is about rows {pair}, but the data have rows 0 to "
                f"{n_rows - 1:,}.\nHint: statements hold row numbers, or names of a column given by id=."
            )
            raise ConstraintError(msg)


def _of_table(given: Constraints, n_rows: int, who: str) -> Statements:
    require_understood(given, who, LINKS)
    if not given.is_hard.all() or given.rules:
        msg = f"{who} understands hard statements without rules.\nHint: constraints.select(constraints.is_hard)"
        raise UnsupportedConstraintError(msg)
    if given.n_samples != n_rows:
        msg = f"{who}: the constraints are about {given.n_samples:,} samples, but the data have {n_rows:,} rows."
        raise ConstraintError(msg)
    named: IntArray = np.unique(np.concatenate([given.items[given.items >= 0], given.groups.member]))
    digest = hashlib.sha256()
    for array in (given.kind, given.items, given.groups.start, given.groups.member):
        digest.update(array.tobytes())
    table = given[named]
    if len(named) and given.ids is None:
        table = table.with_ids(named)
    return Statements(named.astype(np.int64), table, digest.hexdigest())


def locate(statements: Statements, rows: IntArray, files: Any) -> Statements:
    """Renumber statements whose names were found in some rows, so that they are in the order of rows."""
    order = np.argsort(rows, kind="stable")
    missing = np.flatnonzero(rows < 0)
    if len(missing):
        lost = statements.names[missing[0]]
        msg = f"{_place_of(lost, files)} names {lost!s}, but no row has this name in its column of names."
        raise ConstraintError(msg)
    table = statements.table[order]
    return Statements(rows[order], table, statements.digest)


def _place_of(name: Any, files: Any) -> str:
    if isinstance(files, (str, os.PathLike)):
        files = [files]
    for batch in read_pairs([os.fspath(path) for path in files]):
        at = np.flatnonzero((batch.ends.astype(str) == str(name)).any(axis=1))
        if len(at):
            return f"{batch.file}, row {batch.first + int(at[0]):,}"
    return "a statement"
