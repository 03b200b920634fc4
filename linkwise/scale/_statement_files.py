"""Statements from Parquet and CSV files, in batches, with columns kind, a and b."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._messages import hint, some_of
from linkwise._typing import IntArray
from linkwise.constraints import LINKS, Constraints, Kind, require_understood
from linkwise.exceptions import ConstraintError, ScaleError, UnsupportedConstraintError
from linkwise.scale._row_blocks import Source, open_parquet, open_stream

_WORDS = {"must_link": Kind.MUST_LINK, "cannot_link": Kind.CANNOT_LINK}
_NUMBER = "^(0|-?[1-9][0-9]{0,17})$"  # a whole number of 64 bits as people write it: 007 is a name
_BATCH = 2**20
_FORM = "statements are Parquet or CSV with columns kind, a, b, in UTF-8."


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
            try:
                found = _pairs_of(path, first, batch)
            except UnicodeDecodeError as bad:  # the name of a column
                msg = f"{path} cannot be read: {bad}\nHint: {_FORM}"
                raise ScaleError(msg) from bad
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

            text = dict.fromkeys(("kind", "a", "b", "weight"), pa.string())  # "007" is not 7
            form = csv.ConvertOptions(column_types=text, strings_can_be_null=True, null_values=[""])
            with open_stream(path) as stream, csv.open_csv(stream, convert_options=form) as reader:
                yield from reader
    except (OSError, pa.ArrowException) as bad:
        if isinstance(bad, OSError) and bad.errno is not None:  # it says which file and why
            raise
        msg = f"{path} cannot be read: {bad}\nHint: {_FORM}"
        raise ScaleError(msg) from bad


def _pairs_of(path: str, first: int, batch: Any) -> Pairs:
    import pyarrow as pa
    import pyarrow.compute as pc

    names = batch.schema.names
    if not {"kind", "a", "b"} <= set(names) or any(names.count(name) > 1 for name in ("kind", "a", "b")):
        msg = f"{path} has the columns {some_of(names)}, expected kind, a, b.\nHint: a row reads must_link,12,40."
        raise ScaleError(msg)
    if "weight" in names and batch.column(names.index("weight")).null_count < len(batch):
        msg = f"{path} has weights; scale.cluster understands hard statements only.\nHint: leave the column out."
        raise UnsupportedConstraintError(msg)
    columns = [batch.column(names.index(name)) for name in ("kind", "a", "b")]
    for name, column in zip(("kind", "a", "b"), columns, strict=True):
        if column.null_count:
            empty = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
            msg = f"{path}, row {first + int(empty[0]):,}: {name} is missing."
            raise ConstraintError(msg)
        if not (_is_whole(column.type) or _is_text(column.type)):
            expected = (
                "must_link or cannot_link" if name == "kind" else "row numbers or names, as whole numbers or text"
            )
            msg = f"{path}: column {name!r} holds {column.type}, expected {expected}."
            raise ConstraintError(msg)
    words = pc.utf8_trim_whitespace(columns[0].cast(pa.string()))
    kind = np.full(len(words), -1, dtype=np.int8)
    for word, code in _WORDS.items():
        kind[pc.equal(words, word).to_numpy(zero_copy_only=False).astype(np.bool_)] = code
    other = np.flatnonzero(kind < 0)
    if len(other):
        word, row = str(words[int(other[0])].as_py()), first + int(other[0])
        msg = f"{path}, row {row:,}: the kind is {word!r}, expected must_link or cannot_link."
        raise ConstraintError(msg)
    ends = [_ends_of(column, trim=not path.endswith((".parquet", ".pq"))) for column in columns[1:]]
    whole = all(end.dtype.kind == "i" for end in ends)
    pairs = np.column_stack([end if whole else end.astype(str) for end in ends])
    same = np.flatnonzero((pairs[:, 0] == pairs[:, 1]) & (kind == Kind.CANNOT_LINK))
    if len(same):
        msg = f"{path}, row {first + int(same[0]):,}: cannot_link names {pairs[same[0], 0]} twice, so it cannot hold."
        raise ConstraintError(msg)
    return Pairs(path, first, kind, pairs)


def _is_whole(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind))


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(inner) or pa.types.is_large_string(inner))


def _ends_of(column: Any, *, trim: bool) -> npt.NDArray[Any]:
    """One side of some pairs: whole numbers of 64 bits if all are, else words."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _is_whole(column.type):
        words = column.cast(pa.string())
        if trim:
            words = pc.utf8_trim_whitespace(words)
        if pc.all(pc.match_substring_regex(words, _NUMBER)).as_py():
            return np.asarray(words.cast(pa.int64()).to_numpy(zero_copy_only=False))
        return np.asarray(words.to_numpy(zero_copy_only=False), dtype=str)
    numbers = np.asarray(column.to_numpy(zero_copy_only=False))
    if numbers.dtype == np.uint64 and len(numbers) and int(numbers.max()) >= 2**63:
        return numbers.astype(str)
    return numbers.astype(np.int64)


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
    by_id : bool
        Whether ``names`` are those of a column, not row numbers.
    """

    names: npt.NDArray[Any]
    table: Constraints
    digest: str
    by_id: bool


def gather_statements(given: Any, source: Source, who: str) -> Statements:
    """Read statements, and number them by the samples that they name."""
    if given is None:
        return Statements(np.empty(0, dtype=np.int64), Constraints.build(0), "none", by_id=False)
    if isinstance(given, Constraints):
        return _of_table(given, source.n_rows, who)
    by_id = source.id_column is not None
    batches = list(read_pairs(statement_paths(given, who)))
    empty = np.empty((0, 2), dtype=np.int64)
    if not by_id:
        _require_rows(batches, source.n_rows)
    elif source.words or len({batch.ends.dtype.kind for batch in batches}) > 1:
        batches = [batch._replace(ends=batch.ends.astype(str)) for batch in batches]
    ends = np.concatenate([batch.ends for batch in batches]) if batches else empty
    kind = np.concatenate([batch.kind for batch in batches]) if batches else np.empty(0, dtype=np.int8)
    names, place = np.unique(ends, return_inverse=True)
    place = place.reshape(-1, 2)
    table = Constraints.build(
        len(names),
        must_link=place[(kind == Kind.MUST_LINK) & (place[:, 0] != place[:, 1])],
        cannot_link=place[kind == Kind.CANNOT_LINK],
    )
    digest = hashlib.sha256(kind.tobytes())
    digest.update(ends.tobytes())
    return Statements(names, table.with_ids(names) if len(names) else table, digest.hexdigest(), by_id)


def statement_paths(given: Any, who: str) -> list[str]:
    """The names of files of statements, one or several."""
    paths = [given] if isinstance(given, (str, os.PathLike)) or not isinstance(given, Sequence) else list(given)
    for path in paths:
        if isinstance(path, Constraints):
            msg = f"{who}: one of several statements is Constraints.\nHint: give one table, as in one | two."
            raise ScaleError(msg)
        if not isinstance(path, (str, os.PathLike)):
            msg = (
                f"{who}: statements are {type(path).__name__}, expected Constraints, or names of Parquet or CSV files."
                "\nHint: Constraints.build(n, must_link=[(0, 1)])"
            )
            raise ScaleError(msg)
    return [os.fspath(path) for path in paths]


def _require_rows(batches: Sequence[Pairs], n_rows: int) -> None:
    for batch in batches:
        if batch.ends.dtype.kind == "U":
            at, word = next((i, end) for i, end in enumerate(batch.ends.ravel()) if not re.match(_NUMBER, str(end)))
            naming = hint(command="--id NAME", python='id="..."')
            msg = (
                f"{batch.file}, row {batch.first + at // 2:,} names {str(word)!r}, but no column of the data holds "
                f"names.\nHint: {naming} is the column that does; without it statements hold row numbers."
            )
            raise ScaleError(msg)
        bad = np.flatnonzero(((batch.ends < 0) | (batch.ends >= n_rows)).any(axis=1))
        if len(bad):
            row = int(bad[0])
            pair = ", ".join(str(end) for end in batch.ends[row])
            msg = (
                f"{batch.file}, row {batch.first + row:,} is about rows {pair}, but the data have rows 0 to "
                f"{n_rows - 1:,}.\nHint: statements hold row numbers, or names of a column given by "
                f"{hint(command='--id', python='id=')}."
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
    return Statements(named.astype(np.int64), table, digest.hexdigest(), by_id=False)


def locate(statements: Statements, rows: IntArray, files: Any) -> Statements:
    """Renumber statements whose names were found in some rows, so that they are in the order of rows."""
    order = np.argsort(rows, kind="stable")
    missing = np.flatnonzero(rows < 0)
    if len(missing):
        lost = statements.names[missing[0]]
        msg = f"{_place_of(lost, files)} names {lost!s}, but no row has this name in its column of names."
        raise ConstraintError(msg)
    table = statements.table[order]
    return Statements(rows[order], table, statements.digest, statements.by_id)


def _place_of(name: Any, files: Any) -> str:
    for batch in read_pairs(statement_paths(files, "scale.cluster")):
        at = np.flatnonzero((batch.ends.astype(str) == str(name)).any(axis=1))
        if len(at):
            return f"{batch.file}, row {batch.first + int(at[0]):,}"
    return "a statement"
