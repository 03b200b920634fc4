"""`read_data`: samples from CSV, Parquet, Arrow, .npy, .npz, data frames and arrays, prepared for clustering."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from linkwise._data_frames import read_frame
from linkwise._files import decode
from linkwise._messages import hint, many, some_of
from linkwise._validation import warn_user
from linkwise.exceptions import LinkwiseError
from linkwise.io._archive import MAGIC, array_of_npy, arrays_of_npz
from linkwise.io._arrow_files import is_arrow, read_arrow
from linkwise.io._columns import MISSING, PLAIN, ArrayColumns, Columns, DelimitedColumns, FrameColumns, Script, kind_of
from linkwise.io._prepare import Preparation, Table, learn
from linkwise.io._spreadsheet import is_spreadsheet, sheet_text
from linkwise.io._text import is_path, read_raw, shown, source_name

_SPARSE_MEMBERS = {"data", "format", "shape"}
_ADVICE = "Hint: save it as CSV, Parquet, .npy or .npz."


def read_data(
    source: Any,
    *,
    id: str | None = None,  # noqa: A002 - what the command line calls it
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    text: str | Sequence[str] | None = None,
    categories: Sequence[str] = (),
    scale: str | None = None,
    impute: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    missing: Sequence[str] = (),
    encoding: str | None = None,
    keep: Sequence[str] = (),
    like: Table | Preparation | None = None,
) -> Table:
    r"""Read samples from a file, a data frame or an array, and prepare them for clustering.

    Parameters
    ----------
    source : str, Path, file, data frame, array or sparse matrix
        CSV or TSV with a header (comma, semicolon or tab; packed with gzip or not), .xlsx (its first sheet), Parquet,
        Arrow or Feather, .npy, .npz (of NumPy or SciPy); ``"-"`` for standard input; or a frame of pandas, polars or
        pyarrow, an array, a sparse matrix.
    id : str, optional
        The column that names the samples; without it they are 0, 1, 2, ..., or what the index of a pandas frame says.
    columns, drop : sequence of str, optional
        The columns of numbers to compare samples by (by default all that are not named by another option, and none
        beside ``text``), and columns to leave out. These and the next two take patterns, such as ``"id_*"``, and lists,
        such as ``"a,b"``, as well.
    text : str or sequence of str, optional
        Columns of text: every word is a feature, weighed by how rare it is (TF-IDF), and X is sparse.
    categories : sequence of str or "auto"
        Columns of words with few values: every value is a feature of 0 and 1. "auto": all columns of such words that no
        other option names.
    scale : {"standard", "minmax", "auto"}, optional
        Give every column of numbers mean 0 and standard deviation 1, or the range from 0 to 1. "auto": the first, where
        one column spreads so far beyond another, or beyond a category, that it would decide alone, else none.
    impute : {"mean", "median", "most_frequent"}, optional
        What stands in for a missing number; by default missing values are refused. A missing category is then a
        category of its own.
    delimiter, decimal : str, optional
        Delimiter of the cells of a text, by default found in the first line; decimal mark of its numbers, ``"."`` or
        ``","``, by default that of ``like``, else a comma where the numbers leave no doubt, with a warning, else a
        point.
    missing : sequence of str
        Words that count as a missing number, beside empty cells, NA, n/a, NaN, null, none and ?.
    encoding : str, optional
        Encoding of a text, such as "latin2"; by default UTF-8, and UTF-16 or Windows-1252 where it must be one of
        these, with a warning.
    keep : sequence of str
        Columns to keep as text in ``Table.beside``, as those of ``text`` are, to be shown or to make statements of;
        samples are not compared by them.
    like : Table or Preparation, optional
        Prepare the rows as those were: same columns, same scale, same words. Instead of the options above except
        ``id``, ``delimiter``, ``decimal`` and ``encoding``.

    Returns
    -------
    Table

    Notes
    -----
    A pickle is never read. **Cost** about a second for a CSV of 50,000 rows and 16 columns. **Guarantee** identifiers
    stay text as written, but for spaces around them: 007 is not 7, and NA is a name.

    Examples
    --------
    >>> import io
    >>> from linkwise import read_data
    >>> text = "name,weight,length\notter,8,1.0\nmink,1,\nseal,100,1.6\n"
    >>> table = read_data(io.StringIO(text), id="name", scale="minmax", impute="median")
    >>> table.X[1].round(3).tolist()
    [0.0, 0.5]
    >>> print(*table.notes, sep="\n")
    3 samples, named by name.
    2 columns of numbers: weight, length.
    1 missing value filled with the median of the column.
    Scaled to the range from 0 to 1.
    """
    columns, drop, categories, missing, keep = _listed(
        columns=columns, drop=drop, categories=categories, missing=missing, keep=keep
    )
    text = (text,) if isinstance(text, str) else _listed(text=text)[0]
    options = (columns, drop, text, categories, scale, impute, missing)
    if like is not None and any(option is not None and len(option) for option in options):
        msg = "read_data: `like` fixes how the rows are prepared; leave out columns, drop, text, scale and so on."
        raise LinkwiseError(msg)
    if like is not None and not isinstance(like, (Table, Preparation)):
        msg = f"read_data: like is {type(like).__name__}, expected a Table from `read_data`, or its `preparation`."
        raise LinkwiseError(msg)
    made = like.preparation if isinstance(like, Table) else like
    script = _script(decimal, missing, made)
    found, names = open_columns(source, delimiter, script, encoding)
    if isinstance(found, Columns):
        if made is not None:
            return _alike(found, made, id, names, keep)
        chosen = _choose(found, id, columns=columns, drop=drop, text=text, categories=categories, keep=keep)
        if decimal is None and isinstance(found, DelimitedColumns):
            found, script = _with_commas(found, script, chosen)
        return _fresh(found, names, script, id, chosen, scale, impute)
    return _sparse(found, names, source_name(source), like, options)


def _with_commas(found: DelimitedColumns, script: Script, chosen: dict[str, list[str]]) -> tuple[Columns, Script]:
    """Read numbers with decimal commas where they cannot be anything else, and warn."""
    example = found.comma_example(found.find("the table", chosen["columns"]))
    if example is None:
        return found, script
    other = hint(command="--decimal .", python="decimal='.'")
    warn_user(f"{found.name}: numbers have decimal commas, as in {example}, and were read so; {other} refuses them.")
    script = script._replace(decimal=",")
    return found.with_script(script), script


def read_names(
    source: Any,
    id: str | None = None,  # noqa: A002 - as in read_data
    *,
    encoding: str | None = None,
) -> npt.NDArray[Any]:
    r"""Read only the names of the samples of a table; its other columns may hold anything.

    Parameters
    ----------
    source, id, encoding
        As for `read_data`.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> import io
    >>> from linkwise.io import read_names
    >>> read_names(io.StringIO("name,color\notter,brown\nseal,grey\n"), id="name").tolist()
    ['otter', 'seal']
    """
    found, names = open_columns(source, None, encoding=encoding)
    if not isinstance(found, Columns):
        return np.arange(found.shape[0]) if names is None else names
    return sample_names(found, id, names)


def read_records(
    source: Any,
    *,
    id: str | None = None,  # noqa: A002 - as in read_data
    encoding: str | None = None,
    missing: Sequence[str] | str = (),
) -> Table:
    r"""Read all columns of a table as text, to be compared as `linkwise.selection.group_records` does.

    Parameters
    ----------
    source, id, encoding
        As for `read_data`.
    missing : str or sequence of str
        Words for a missing value, as for `read_data`; such cells are empty in ``beside``.

    Returns
    -------
    Table
        Without features; ``beside`` has every column but that of the names.

    Examples
    --------
    >>> import io
    >>> from linkwise.io import read_records
    >>> read_records(io.StringIO("id,name\n7,Ann Lee\n8,Bob Ray"), id="id").beside
    {'name': ('Ann Lee', 'Bob Ray')}
    """
    found, names = open_columns(source, None, encoding=encoding)
    if not isinstance(found, Columns):
        msg = f"{source_name(source)} is a sparse matrix, expected a table with columns of text."
        raise LinkwiseError(msg)
    ids = sample_names(found, id, names)
    gone = frozenset(_listed(missing=missing)[0])
    beside = {
        column: tuple("" if cell in gone or cell.lower() in MISSING else cell for cell in found.words(at))
        for at, column in enumerate(found.names)
        if column != id
    }
    lines = np.array([found.place(row) for row in range(found.n_rows)], dtype=np.intp)
    made = Preparation(id=id)
    return Table(np.empty((found.n_rows, 0)), ids, (), preparation=made, beside=beside, lines=lines)


def _listed(**given: Any) -> list[tuple[str, ...]]:
    """Return options that take several names as tuples; a single string counts as one name."""
    found = []
    for option, value in given.items():
        listed = () if value is None else (value,) if isinstance(value, str) else value
        try:
            names = tuple(listed)
        except TypeError:
            names = (None,)
        if not all(isinstance(name, str) for name in names):
            msg = f"read_data: {option} is {shown(repr(value))}, expected names of columns, such as ['a', 'b']."
            if option == "missing":
                msg = f"read_data: missing is {shown(repr(value))}, expected words, such as ['unknown', '-999']."
            raise LinkwiseError(msg)
        found.append(names)
    return found


def _script(decimal: str | None, missing: tuple[str, ...], like: Preparation | None) -> Script:
    """Return the number format: as given, else that of the table in ``like``."""
    if decimal is not None and (not isinstance(decimal, str) or decimal not in (".", ",")):
        msg = f"read_data: decimal is {decimal!r}, expected '.' or ','."
        raise LinkwiseError(msg)
    usual = Script() if like is None else like.script
    return Script(usual.decimal if decimal is None else decimal, missing or usual.missing)


# -- opening -----------------------------------------------------------------------------------------------------------


def open_columns(
    source: Any, delimiter: str | None, script: Script = PLAIN, encoding: str | None = None
) -> tuple[Any, npt.NDArray[Any] | None]:
    """Return columns or a sparse matrix, and the names of the rows if the source has them."""
    name = source_name(source)
    if scipy.sparse.issparse(source):
        return source, None
    if isinstance(source, np.ndarray):
        return ArrayColumns(source, name, script=script), None
    if is_path(source) or hasattr(source, "read"):
        return _open_bytes(read_raw(source), name, delimiter, script, encoding)
    if isinstance(source, (list, tuple)):
        msg = f"read_data got a {type(source).__name__}, expected a file, a data frame or an array.\n{_ADVICE}"
        raise LinkwiseError(msg)
    frame = read_frame("read_data", source, "a file, a data frame or an array")
    return FrameColumns(frame, name, script), _index(source)


def _open_bytes(
    raw: bytes, name: str, delimiter: str | None, script: Script, encoding: str | None
) -> tuple[Any, npt.NDArray[Any] | None]:
    ending = Path(name).suffix.lower()
    if ending in (".pkl", ".pickle", ".joblib"):
        msg = f"{name} is a pickle or joblib file, which can run code and is never read.\n{_ADVICE}"
        raise LinkwiseError(msg)
    if raw.startswith(MAGIC):
        return ArrayColumns(array_of_npy(raw, name), name, script=script), None
    if ending == ".npz":
        return _of_npz(arrays_of_npz(raw, name), raw, name, script)
    if is_arrow(raw) or ending in (".parquet", ".pq", ".arrow", ".feather", ".ipc"):
        return FrameColumns(read_frame("read_data", read_arrow(raw, name)), name, script), None
    if is_spreadsheet(raw):
        return DelimitedColumns(sheet_text(raw, name, script.decimal), name, ",", script), None
    return DelimitedColumns(decode(raw, name, encoding, guess=True), name, delimiter, script), None


def _of_npz(
    arrays: dict[str, npt.NDArray[Any]], raw: bytes, name: str, script: Script
) -> tuple[Any, npt.NDArray[Any] | None]:
    if set(arrays) >= _SPARSE_MEMBERS:
        import io

        try:
            matrix = scipy.sparse.load_npz(io.BytesIO(raw)).tocsr()
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, KeyError, NotImplementedError, OverflowError, AttributeError) as bad:
            msg = f"{name} is not a readable sparse matrix ({str(bad)[:80]})."
            raise LinkwiseError(msg) from bad
        return matrix, None
    tables = [key for key, array in arrays.items() if array.ndim == 2]
    chosen = "X" if "X" in tables else tables[0] if len(tables) == 1 else None
    if chosen is None:
        listed = ", ".join(f"{key} {array.shape}" for key, array in list(arrays.items())[:8])
        msg = f"{name} holds {listed or 'nothing'}, expected one table of numbers, or one called X."
        raise LinkwiseError(msg)
    named = next((arrays[key] for key in ("columns", "feature_names") if key in arrays), None)
    found = ArrayColumns(arrays[chosen], name, None if named is None else named.tolist(), script)
    ids = arrays.get("ids")
    return found, None if ids is None else np.array([str(value) for value in ids.ravel().tolist()])


def _index(source: Any) -> npt.NDArray[Any] | None:
    """Return the names of the rows of a pandas frame, unless its index only counts them."""
    index = getattr(source, "index", None)
    if index is None or not hasattr(source, "iloc") or type(index).__name__ == "RangeIndex":
        return None
    return np.array([str(value) for value in index.tolist()])


# -- preparing ---------------------------------------------------------------------------------------------------------


def _choose(found: Columns, id_column: str | None, **wanted: tuple[str, ...]) -> dict[str, list[str]]:
    """The columns of each option by name; samples are compared by those that no option names, unless by a text."""
    if id_column is not None:
        found.find(hint(command="--id", python="id"), [id_column])
    automatic = wanted["categories"] == ("auto",) and "auto" not in found.names
    named = {
        option: found.expand(hint(command=f"--{option}", python=option), names)
        for option, names in wanted.items()
        if option != "categories" or not automatic
    }
    taken = {id_column, *(column for columns in named.values() for column in columns)}
    if automatic:
        named["categories"] = _wordy(found, [column for column in found.names if column not in taken])
        taken |= {*named["categories"]}
    if not named["columns"] and not named["text"]:
        named["columns"] = [column for column in found.names if column not in taken]
    if not named["columns"] and not named["text"] and not named["categories"]:
        msg = f"{found.name} has no columns left, expected at least one feature."
        raise LinkwiseError(msg)
    return named


def _wordy(found: Columns, columns: list[str]) -> list[str]:
    """Columns of words with few values."""
    at = found.find("the table", columns)
    odd = [(column, found.words(i)) for column, i in zip(columns, at, strict=True) if found.numbers(i)[1] >= 0]
    return [column for column, cells in odd if kind_of(cells, found.script)[0] == "categories"]


def _fresh(
    found: Columns,
    names: npt.NDArray[Any] | None,
    script: Script,
    id_column: str | None,
    chosen: dict[str, list[str]],
    scale: str | None,
    impute: str | None,
) -> Table:
    made = learn(
        found,
        id_column=id_column,
        columns=tuple(chosen["columns"]),
        categories=tuple(chosen["categories"]),
        text=tuple(chosen["text"]),
        impute=impute,
        scale=scale,
        script=script,
    )
    return _table(found, made, id_column, names, chosen["keep"])


def _table(
    found: Columns, made: Preparation, id_column: str | None, names: npt.NDArray[Any] | None, keep: Sequence[str]
) -> Table:
    X = made.apply(found)
    _warn_of_constants(found, made, X)
    gaps = made.gaps(found)
    told = _notes(found, made, X, len(gaps))
    beside = {column: tuple(found.words(i)) for column, i in _positions(found, (*made.text, *keep))}
    lines = np.array([found.place(row) for row in range(found.n_rows)] if keep else [], dtype=np.intp)
    return Table(
        X,
        sample_names(found, id_column, names),
        made.features,
        notes=told,
        preparation=made,
        missing=gaps,
        beside=beside,
        lines=lines,
    )


def _positions(found: Columns, columns: Sequence[str]) -> list[tuple[str, int]]:
    return list(zip(columns, found.find("the table", columns), strict=True))


def _alike(
    found: Columns, made: Preparation, id_column: str | None, names: npt.NDArray[Any] | None, keep: Sequence[str]
) -> Table:
    chosen = id_column if id_column is not None else made.id if made.id in found.names else None
    needed = [*made.columns, *(column for column, _ in made.categories), *made.text]
    missing = [column for column in needed if column not in found.names]
    if missing:
        msg = (
            f"{found.name} lacks {len(missing)} of the {len(needed)} columns the model was made from: "
            f"{', '.join(missing[:5])}.\nHint: it has {', '.join(found.names[:20])}."
        )
        raise LinkwiseError(msg)
    return _table(found, made, chosen, names, found.expand(hint(command="--keep", python="keep"), keep))


def _sparse(
    matrix: Any, names: npt.NDArray[Any] | None, name: str, like: Table | Preparation | None, options: tuple[Any, ...]
) -> Table:
    if any(option is not None and len(option) for option in options):
        how = hint(command="leave these options out.", python="pass it as it is.")
        msg = f"{name} is a sparse matrix, of which nothing can be scaled, filled or left out.\nHint: {how}"
        raise LinkwiseError(msg)
    X = scipy.sparse.csr_matrix(matrix).astype(np.float64)
    if not np.isfinite(X.data).all():
        wrong = int((~np.isfinite(X.data)).sum())
        msg = f"{name} holds {many(wrong, 'value')} that {'is' if wrong == 1 else 'are'} NaN or infinite."
        raise LinkwiseError(msg)
    made = (
        like.preparation if isinstance(like, Table) else like or Preparation(columns=tuple(map(str, range(X.shape[1]))))
    )
    if X.shape[1] != len(made.features):
        msg = f"{name} has {X.shape[1]:,} features, but the model was made from {len(made.features):,}."
        raise LinkwiseError(msg)
    ids = np.arange(X.shape[0]) if names is None else names
    return Table(X, ids, made.features, notes=_notes(None, made, X, 0), preparation=made)


def sample_names(found: Columns, id_column: str | None, names: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    if id_column is None and names is None:
        return np.arange(found.n_rows)
    if id_column is None:
        ids = [str(value) for value in names.tolist()] if names is not None else []
        if len(ids) != found.n_rows:
            msg = f"{found.name} has {many(found.n_rows, 'row')}, but {many(len(ids), 'name')} for them."
            raise LinkwiseError(msg)
    else:
        ids = found.words(found.find(hint(command="--id", python="id"), [id_column])[0])
    if len(set(ids)) < len(ids) or "" in ids:
        seen: dict[str, int] = {}
        for row, value in enumerate(ids):
            if not value:
                msg = f"{found.where(row)}: the sample has no name."
                raise LinkwiseError(msg)
            if value in seen:
                msg = (
                    f"{found.where(row)}: the name {shown(value)} is in {found.unit} {found.place(seen[value])} "
                    "already; names must differ."
                )
                raise LinkwiseError(msg)
            seen[value] = row
    return np.array(ids)


# -- saying what was done ----------------------------------------------------------------------------------------------


def _warn_of_constants(found: Columns, made: Preparation, X: Any) -> None:
    if not isinstance(X, np.ndarray) or len(X) < 2:
        return
    flat = [column for column, constant in zip(made.columns, np.ptp(X, axis=0) == 0, strict=False) if constant]
    if flat:
        warn_user(f"{found.name}: the same value in every row, which cannot separate samples: {some_of(flat)}.")


def _notes(found: Columns | None, made: Preparation, X: Any, n_missing: int) -> tuple[str, ...]:
    n = X.shape[0]
    notes = [many(n, "sample") + (f", named by {made.id}." if made.id else ".")]
    if made.columns and found is not None:
        listed = ", ".join(made.columns[:8]) + (", ..." if len(made.columns) > 8 else "")
        notes.append(f"{many(len(made.columns), 'column')} of numbers: {listed}.")
    elif found is None:
        width = many(X.shape[1], "feature")
        notes.append(f"a sparse table of {width}, {X.nnz / max(1, n):.0f} of them used per sample.")
    notes += [f"{column} as {many(len(values), 'category', 'categories')}." for column, values in made.categories]
    if made.text:
        words = many(len(made.words), "word")
        notes.append(f"{words} of {', '.join(made.text)}, weighed by how rare they are (TF-IDF).")
        empty = int((np.diff(X.indptr) == 0).sum())
        if empty:
            notes.append(f"{many(empty, 'sample')} {'has' if empty == 1 else 'have'} none of these words.")
    if n_missing:
        word = "most frequent value" if made.impute == "most_frequent" else made.impute
        notes.append(f"{many(n_missing, 'missing value')} filled with the {word} of the column.")
    if made.scale is not None and made.columns:
        how = "mean 0 and standard deviation 1" if made.scale == "standard" else "the range from 0 to 1"
        notes.append(f"Scaled to {how}.")
    return tuple(notes)
