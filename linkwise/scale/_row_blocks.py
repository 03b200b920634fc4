"""Fixed blocks of rows over Parquet files, mapped arrays and Dask collections.

A block is rows ``number * block_rows`` up to the next multiple, whichever files they lie in, so results depend on the
rows and on ``block_rows``, not on how rows are divided into files.
"""

from __future__ import annotations

import glob
import hashlib
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._messages import did_you_mean, hint, some_of
from linkwise._typing import FloatArray
from linkwise.exceptions import ScaleError

_TAIL = 2**16  # bytes at the end of a Parquet file, where its description is


class Piece(NamedTuple):
    """Rows ``low`` to ``high`` of one part of a source: a row group, a mapped array, a part of a Dask collection."""

    form: str
    where: Any
    name: str
    part: int
    low: int
    high: int
    first: int  # the row of the file that `low` is

    def describe(self) -> str:
        """Name the file and its rows, counted from 0."""
        return f"{self.name} rows {self.first:,} to {self.first + self.high - self.low - 1:,}"


class Block(NamedTuple):
    """Consecutive rows of a source that one task handles."""

    number: int
    start: int
    stop: int
    pieces: tuple[Piece, ...]

    @property
    def patience(self) -> float:
        """Seconds that the block may take beyond the usual time; reading and adding up is quick."""
        return 0.0

    def describe(self) -> str:
        """Name the block and where its rows lie."""
        return f"block {self.number} ({some_of([piece.describe() for piece in self.pieces], 2)})"

    def where(self, row: int) -> str:
        """Name the file and the row of a row of the block, both counted from 0."""
        for piece in self.pieces:
            size = piece.high - piece.low
            if row < size:
                return f"{piece.name}, row {piece.first + row:,}"
            row -= size
        return f"row {self.start + row:,}"


@dataclass(frozen=True, eq=False)
class Source:
    """The blocks of a source, its columns, and a digest that tells it from other ones.

    ``words`` says that names of ``id_column`` are compared as text, not as whole numbers.
    """

    blocks: tuple[Block, ...]
    n_rows: int
    columns: tuple[str, ...]
    id_column: str | None
    words: bool
    digest: str

    @property
    def n_features(self) -> int:
        """Number of columns of numbers."""
        return len(self.columns)

    def where(self, row: int) -> str:
        """Name the file and row of a row of the whole source."""
        block = self.blocks[row // (self.blocks[0].stop - self.blocks[0].start)]
        return block.where(row - block.start)


# -- opening -----------------------------------------------------------------------------------------------------------


def open_source(source: Any, block_rows: int, columns: Sequence[str] | None, id_column: str | None) -> Source:
    """Read descriptions of files, not their rows, and divide the rows into blocks."""
    if isinstance(source, np.memmap) and source.filename is not None and source.base is None:
        source = source.filename
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        opened = _of_npy(path) if path.endswith(".npy") else _of_parquet(path, columns, id_column)
    elif isinstance(source, np.ndarray):
        _require_matrix("the array", source.shape, source.dtype)
        content = hashlib.sha256(np.ascontiguousarray(source).tobytes()).hexdigest()
        opened = [Piece("array", source, "the array", 0, 0, len(source), 0)], _numbered(source.shape[1]), False, content
    elif hasattr(source, "dask") and hasattr(source, "chunks"):
        opened = _of_dask_array(source)
    elif hasattr(source, "npartitions") and hasattr(source, "columns"):
        opened = _of_dask_frame(source, columns, id_column)
    else:
        msg = (
            f"scale.cluster: the source is {type(source).__name__}, expected Parquet files, a .npy file, or a Dask "
            'array or data frame.\nHint: a path such as "data/*.parquet".'
        )
        raise ScaleError(msg)
    pieces, names, words, digest = opened
    named_features = pieces[0].form in ("parquet", "frame") if pieces else True
    if not named_features and (columns is not None or id_column is not None):
        msg = "scale.cluster: columns and id name columns of Parquet files and data frames; an array has none."
        raise ScaleError(msg)
    if not names:
        msg = "scale.cluster: the source has no columns of numbers."
        raise ScaleError(msg)
    n_rows = sum(piece.high - piece.low for piece in pieces)
    if not n_rows:
        msg = "scale.cluster: the source has no rows."
        raise ScaleError(msg)
    whole = hashlib.sha256(repr((digest, n_rows, block_rows, names, id_column)).encode()).hexdigest()
    return Source(tuple(_divide(pieces, block_rows)), n_rows, names, id_column, words, whole)


def _divide(pieces: Sequence[Piece], block_rows: int) -> Iterator[Block]:
    number, start, filled, held = 0, 0, 0, []
    for piece in pieces:
        low = piece.low
        while low < piece.high:
            high = min(piece.high, low + block_rows - filled)
            part = piece._replace(low=low, high=high, first=piece.first + low - piece.low)
            if piece.form == "array":  # a task gets its own rows, not all of them
                part = part._replace(where=piece.where[low:high], low=0, high=high - low)
            held.append(part)
            filled += high - low
            low = high
            if filled == block_rows:
                yield Block(number, start, start + filled, tuple(held))
                number, start, filled, held = number + 1, start + filled, 0, []
    if filled:
        yield Block(number, start, start + filled, tuple(held))


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(str(i) for i in range(count))


def _require_matrix(name: str, shape: tuple[int, ...], dtype: Any) -> None:
    if len(shape) != 2 or np.dtype(dtype).kind not in "fiub":
        msg = f"{name} has shape {shape} and type {dtype}, expected numbers of shape (rows, columns)."
        raise ScaleError(msg)


Opened = tuple[list[Piece], tuple[str, ...], bool, str]  # pieces, columns, whether names are text, a digest


def _of_npy(path: str) -> Opened:
    _require_there(path)
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as bad:
        msg = f"{path} cannot be read as a .npy file ({bad}).\nHint: np.save(path, X) writes one."
        raise ScaleError(msg) from bad
    _require_matrix(path, mapped.shape, mapped.dtype)
    found = Path(path).stat()
    digest = f"{mapped.shape} {mapped.dtype} {found.st_size} {found.st_mtime_ns}"
    return (
        [Piece("npy", str(Path(path).absolute()), path, 0, 0, len(mapped), 0)],
        _numbered(mapped.shape[1]),
        False,
        digest,
    )


def _of_dask_array(array: Any) -> Opened:
    if any(np.isnan(size) for size in array.chunks[0]):
        msg = "scale.cluster: the Dask array has chunks of unknown size.\nHint: array.compute_chunk_sizes()"
        raise ScaleError(msg)
    _require_matrix("the Dask array", array.shape, array.dtype)
    pieces, low = [], 0
    for part, size in enumerate(array.chunks[0]):
        if size:
            pieces.append(Piece("dask", array[low : low + size], f"chunk {part} of the array", part, 0, size, 0))
        low += size
    return pieces, _numbered(array.shape[1]), False, str(array.name)


def _of_dask_frame(frame: Any, columns: Any, id_column: str | None) -> Opened:
    kinds = [(str(name), str(kind)) for name, kind in frame.dtypes.items()]
    names, form = _features("the data frame", kinds, columns, id_column)
    sizes = frame.map_partitions(len).compute()
    pieces = [
        Piece("frame", frame.partitions[part], f"partition {part} of the data frame", part, 0, int(size), 0)
        for part, size in enumerate(sizes)
        if size
    ]
    token = getattr(frame, "_name", None) or str(frame.dask)
    return pieces, names, form != "whole", str(token)


def _of_parquet(path: str, columns: Any, id_column: str | None) -> Opened:
    pieces: list[Piece] = []
    digest = hashlib.sha256()
    names: tuple[str, ...] | None = None
    form = ""
    files = _files_of(path)
    for name in files:
        with open_parquet(name) as file:
            kinds = [(field.name, str(field.type)) for field in file.schema_arrow]
            found, own = _features(name, kinds, columns, id_column)
            if names is not None and found != names:
                naming = hint(command="--columns NAMES", python="columns=[...]")
                msg = (
                    f"{name} has the columns {some_of(found)}, but {files[0]} has {some_of(names)}; expected the same "
                    f"in the same order.\nHint: {naming} names the columns to compare by."
                )
                raise ScaleError(msg)
            if names is not None and own != form:
                first_kind, kind = (_FORMS[one] for one in (form, own))
                msg = f"{name}: column {id_column!r} holds {kind}, but in {files[0]} it holds {first_kind}."
                raise ScaleError(msg)
            names, form = found, own
            where = name if "://" in name else str(Path(name).absolute())  # workers may run in other folders
            first = 0
            for part in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(part).num_rows
                if rows:
                    pieces.append(Piece("parquet", where, name, part, 0, rows, first))
                first += rows
        digest.update(_tail(name))
    return pieces, names or (), form != "whole", digest.hexdigest()


def _files_of(path: str) -> list[str]:
    if "://" in path:
        from pyarrow import fs

        system, inner = _store_of(path)
        info = system.get_file_info(inner)
        if info.type == fs.FileType.File:
            return [path]
        scheme = path.partition("://")[0]
        listed = system.get_file_info(fs.FileSelector(inner, recursive=False, allow_not_found=True))
        found = sorted(f"{scheme}://{one.path}" for one in listed if one.path.endswith(".parquet"))
    elif Path(path).is_dir():
        found = sorted(str(one) for one in Path(path).glob("*.parquet"))
    elif glob.has_magic(path) and not Path(path).exists():
        found = sorted(glob.glob(path))  # noqa: PTH207 - a pattern may begin at the root
    elif Path(path).is_file():
        found = [path]
    else:
        _require_there(path)
        found = []
    if not found:
        msg = f"{path} holds no Parquet files.\nHint: their names end in .parquet."
        raise ScaleError(msg)
    return found


def _require_there(path: str) -> None:
    if not Path(path).exists():
        msg = f"{path} does not exist."
        raise ScaleError(msg)


def _store_of(path: str) -> tuple[Any, str]:
    """The file system of an address, and the name in it."""
    import pyarrow as pa
    from pyarrow import fs

    try:
        system, inner = fs.FileSystem.from_uri(path)
    except pa.ArrowInvalid as bad:
        msg = f"{path} cannot be opened: {bad}\nHint: addresses of pyarrow begin with file://, s3://, gs:// or hdfs://."
        raise ScaleError(msg) from bad
    return system, inner


def open_stream(path: str) -> Any:
    """Open a file of this machine or, by its address, of an object store."""
    if "://" not in path:
        _require_there(path)
        return Path(path).open("rb")
    system, inner = _store_of(path)
    return system.open_input_file(inner)


@contextmanager
def open_parquet(path: str) -> Iterator[Any]:
    """Open a Parquet file, and close it after the block."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_stream(path) as stream:
        try:
            file = pq.ParquetFile(stream)
            [str(field) for field in file.schema_arrow]  # the names of columns can be read
        except (OSError, pa.ArrowException, UnicodeDecodeError) as bad:
            msg = (
                f"{path} cannot be read as Parquet: {bad}\n"
                "Hint: blocks are read from Parquet and .npy files. If it is one, copy it again: it may be truncated."
            )
            raise ScaleError(msg) from bad
        yield file


def _tail(path: str) -> bytes:
    with open_stream(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        return f"{os.path.basename(path)} {size} ".encode() + bytes(file.read())  # noqa: PTH119 - or an address


_NUMBERS = ("int", "uint", "float", "double", "half", "bool")
_WORDS = ("str", "string", "large_string", "object", "category", "dictionary", "date")
_FORMS = {"whole": "whole numbers", "large": "whole numbers beyond 2^63", "words": "words", "": "nothing"}


def _features(
    name: str, fields: Sequence[tuple[str, str]], columns: Any, id_column: str | None
) -> tuple[tuple[str, ...], str]:
    """The columns to compare by, and the form of names; refuse columns that are not there or hold something else."""
    kinds = dict(fields)
    wanted = [*map(str, [columns] if isinstance(columns, str) else columns)] if columns is not None else list(kinds)
    wanted = [column for column in wanted if columns is not None or column != id_column]
    for column in [*wanted, *([] if id_column is None else [id_column])]:
        if column not in kinds:
            msg = (
                f"{name} has no column {column!r}.\nHint: {did_you_mean(column, kinds, f'it has {some_of([*kinds])}.')}"
            )
            raise ScaleError(msg)
        if [one for one, _ in fields].count(column) > 1:
            msg = f"{name} has {[one for one, _ in fields].count(column)} columns {column!r}, expected one."
            raise ScaleError(msg)
    twice = [column for column in wanted if wanted.count(column) > 1 or column == id_column]
    if twice:
        other = "and id as well" if twice[0] == id_column else "twice"
        msg = f"scale.cluster: columns names {twice[0]!r} {other}.\nHint: name each column once."
        raise ScaleError(msg)
    for column in wanted:
        if not kinds[column].lower().startswith(_NUMBERS):
            numbers = [c for c in kinds if kinds[c].lower().startswith(_NUMBERS) and c != id_column]
            msg = (
                f"{name}: column {column!r} holds {kinds[column]}, expected numbers.\n"
                f"Hint: {_naming(numbers[:5], column)} a column of names."
            )
            raise ScaleError(msg)
    if not wanted:
        msg = f"{name} has no columns of numbers."
        raise ScaleError(msg)
    return tuple(wanted), "" if id_column is None else _form_of(name, id_column, kinds[id_column])


def _naming(numbers: list[str], column: str) -> str:
    listed, named = shlex.quote(",".join(numbers)), shlex.quote(column)
    return hint(
        command=f"--columns {listed} names the columns to compare by, --id {named}",
        python=f"columns={numbers!r} names the columns to compare by, id={column!r}",
    )


def _form_of(name: str, id_column: str, kind: str) -> str:
    """Whether a column of names holds whole numbers or words; refuse one that holds neither."""
    if kind.lower().startswith(("int", "uint")):
        return "large" if kind.lower().startswith("uint64") else "whole"
    if kind.lower().startswith(_WORDS):
        return "words"
    msg = (
        f"{name}: column {id_column!r} holds {kind}, expected names: words or whole numbers.\n"
        "Hint: write the column as text, or as whole numbers."
    )
    raise ScaleError(msg)


# -- reading -----------------------------------------------------------------------------------------------------------


def read_block(block: Block, columns: Sequence[str], id_column: str | None) -> tuple[FloatArray, Any]:
    """Read the rows of a block as float64, and their identifiers if there is a column of them."""
    X = np.empty((block.stop - block.start, len(columns)))
    ids: list[npt.NDArray[Any]] = []
    at = 0
    for piece in block.pieces:
        size = piece.high - piece.low
        rows = X[at : at + size]
        if piece.form == "npy":
            rows[:] = np.load(piece.where, mmap_mode="r", allow_pickle=False)[piece.low : piece.high]
        elif piece.form == "array":
            rows[:] = piece.where[piece.low : piece.high]
        elif piece.form == "dask":
            rows[:] = piece.where.compute(scheduler="synchronous")[piece.low : piece.high]
        else:
            found = (
                _frame_piece(piece, columns, rows)
                if piece.form == "frame"
                else _parquet_piece(piece, columns, rows, id_column)
            )
            if id_column is not None:
                ids.append(_identifiers(piece, found, id_column))
        at += size
    bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if len(bad):
        row = int(bad[0])
        column = columns[int(np.flatnonzero(~np.isfinite(X[row]))[0])]
        msg = (
            f"{block.where(row)}: column {column!r} is missing or not finite, expected a number.\n"
            "Hint: fill missing numbers, or leave these rows out, before clustering."
        )
        raise ScaleError(msg)
    return X, np.concatenate(ids) if ids else None


def _frame_piece(piece: Piece, columns: Sequence[str], rows: FloatArray) -> Any:
    frame = piece.where.compute(scheduler="synchronous")
    rows[:] = frame[list(columns)].to_numpy(dtype=np.float64, na_value=np.nan)[piece.low : piece.high]
    return frame


def _parquet_piece(piece: Piece, columns: Sequence[str], rows: FloatArray, id_column: str | None) -> Any:
    import pyarrow as pa

    wanted = [*columns, *([] if id_column is None else [id_column])]
    try:
        with open_parquet(piece.where) as file:
            table = file.read_row_group(piece.part, columns=wanted).slice(piece.low, piece.high - piece.low)
    except (OSError, pa.ArrowException) as bad:
        msg = f"{piece.describe()} cannot be read: {bad}\nHint: the file may be damaged or truncated; copy it again."
        raise ScaleError(msg) from bad
    for i, column in enumerate(columns):
        values = table.column(column)
        if pa.types.is_boolean(values.type):
            values = values.cast(pa.int8())
        rows[:, i] = values.to_numpy()  # missing numbers become NaN
    return table


def _identifiers(piece: Piece, table: Any, id_column: str) -> npt.NDArray[Any]:
    if piece.form == "frame":
        column = table[id_column].iloc[piece.low : piece.high]
        missing = np.flatnonzero(column.isna().to_numpy())
        form = str(column.dtype).lower()
        whole = form.startswith(("int", "uint")) and not len(missing)  # numbers that pandas may hold as objects
        numbers = np.uint64 if form.startswith("uint64") else np.int64
        values = column.to_numpy(dtype=numbers) if whole else column.to_numpy()
    else:
        column = table.column(id_column)
        missing = np.flatnonzero(column.is_null().to_numpy())
        values = column.to_numpy() if column.null_count == 0 else np.empty(0)
    if len(missing):
        msg = f"{piece.name}, row {piece.first + int(missing[0]):,}: column {id_column!r} is missing, expected a name."
        raise ScaleError(msg)
    if values.dtype.kind not in "iu":
        return np.asarray(values, dtype=str)
    return np.asarray(values, dtype=np.uint64 if values.dtype == np.uint64 else np.int64)
