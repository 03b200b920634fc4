"""`Preparation` of columns as features: missing values, scales, categories and texts; new rows are treated alike."""

from __future__ import annotations

import shlex
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._messages import hint, many
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise._validation import warn_user
from linkwise.exceptions import LinkwiseError
from linkwise.io._columns import Columns, Script, refuse_words
from linkwise.io._text import shown

IMPUTE = ("mean", "median", "most_frequent")
SCALE = ("standard", "minmax")
_NONE = np.empty(0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Preparation:
    r"""How columns became features, so that new rows can be treated alike; made by `read_data`.

    Attributes
    ----------
    id, impute, scale, decimal, missing
        As `read_data` was given them.
    columns, categories, text : tuple
        In the order of the features: columns of numbers; columns of words with few values, and these, each a feature of
        0 and 1; columns of text, whose words are features.
    fill, shift, factor : ndarray of shape (len(columns),)
        What stands in for a missing number, is taken away from every number, and divides what is left.
    words, idf : tuple of str, and ndarray of shape (len(words),)
        The words that are features, and how rare each is.

    Examples
    --------
    >>> import io
    >>> from linkwise import read_data
    >>> table = read_data(io.StringIO("a,b\n1,10\n3,30\n"), scale="standard")
    >>> table.preparation.shift.tolist(), read_data(io.StringIO("a,b\n2,20\n"), like=table).X.tolist()
    ([2.0, 20.0], [[0.0, 0.0]])
    """

    id: str | None = None
    columns: tuple[str, ...] = ()
    categories: tuple[tuple[str, tuple[str, ...]], ...] = ()
    text: tuple[str, ...] = ()
    impute: str | None = None
    scale: str | None = None
    fill: FloatArray = field(default_factory=_NONE.copy)
    shift: FloatArray = field(default_factory=_NONE.copy)
    factor: FloatArray = field(default_factory=_NONE.copy)
    words: tuple[str, ...] = ()
    idf: FloatArray = field(default_factory=_NONE.copy)
    decimal: str = "."
    missing: tuple[str, ...] = ()

    @property
    def script(self) -> Script:
        """How numbers are written."""
        return Script(self.decimal, self.missing)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        chosen = tuple(f"{column}={value or 'missing'}" for column, values in self.categories for value in values)
        return self.columns + chosen + self.words

    def apply(self, source: Columns) -> Any:
        """Turn rows into features: an array, or with text a sparse matrix; other columns are ignored."""
        parts = [(self._numbers(source) - self.shift) / self.factor] if self.columns else []
        parts += [_indicators(source, column, values) for column, values in self.categories]
        if not self.text:
            return np.ascontiguousarray(np.hstack(parts))
        import scipy.sparse

        weighed = self._vectorizer().transform(join_texts(source, self.text))
        return scipy.sparse.csr_matrix(scipy.sparse.hstack([*parts, weighed]) if parts else weighed)

    def gaps(self, source: Columns) -> IntArray:
        """Row and feature of every number that is missing."""
        if not self.columns:
            return np.empty((0, 2), dtype=np.intp)
        found = [np.isnan(source.numbers(i)[0]) for i in source.find("the table", self.columns)]
        return np.argwhere(np.stack(found, axis=1)).astype(np.intp)

    def _numbers(self, source: Columns) -> FloatArray:
        X = read_numbers(source, self.columns)
        gaps = np.isnan(X)
        if gaps.any():
            if self.impute is None:
                refuse_gaps(source, self.columns, gaps)
            X[gaps] = np.broadcast_to(self.fill, X.shape)[gaps]
        return X

    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        made = TfidfVectorizer(vocabulary={word: i for i, word in enumerate(self.words)})
        made.idf_ = self.idf
        return made


def learn(
    source: Columns,
    *,
    id_column: str | None,
    columns: tuple[str, ...],
    categories: tuple[str, ...],
    text: tuple[str, ...],
    impute: str | None,
    scale: str | None,
    script: Script,
) -> Preparation:
    """Choose the values of a `Preparation` from the given rows."""
    for option, value, allowed in (("impute", impute, IMPUTE), ("scale", scale, (*SCALE, "auto"))):
        if value is not None and value not in allowed:
            msg = f"read_data: {option} is {value!r}, expected {', '.join(map(repr, allowed))} or None."
            raise LinkwiseError(msg)
    X = read_numbers(source, columns, named=id_column is not None)
    gaps = np.isnan(X)
    if gaps.any() and impute is None:
        refuse_gaps(source, columns, gaps)
    fill = _fill(source, X, gaps, columns, impute)
    X[gaps] = np.broadcast_to(fill, X.shape)[gaps]
    values = tuple((column, _values(source, column, gaps=impute is not None)) for column in categories)
    if scale == "auto":
        from linkwise.selection import uneven_features  # loads all methods

        features = np.hstack([X, *(_indicators(source, column, found) for column, found in values)])
        scale = "standard" if len(columns) and uneven_features(features) is not None else None
    shift, factor = np.zeros(len(columns)), np.ones(len(columns))
    if scale == "standard":
        shift, factor = X.mean(axis=0), X.std(axis=0)
    elif scale == "minmax":
        shift, factor = X.min(axis=0), np.ptp(X, axis=0)
    factor = np.where(factor > 0, factor, 1.0)
    words, idf = _weigh(source, text) if text else ((), _NONE.copy())
    return Preparation(
        id=id_column,
        columns=columns,
        categories=values,
        text=text,
        impute=impute,
        scale=scale,
        fill=fill,
        shift=shift,
        factor=factor,
        words=words,
        idf=idf,
        **script._asdict(),
    )


def read_numbers(source: Columns, columns: tuple[str, ...], *, named: bool = True) -> FloatArray:
    """Read columns as numbers, NaN where missing; refuse words and numbers that are too large.

    ``named`` says whether a column names the samples already.
    """
    X = np.empty((source.n_rows, len(columns)))
    wordy: list[tuple[str, int, list[str]]] = []
    for at, i in enumerate(source.find("the table", columns)):
        X[:, at], odd = source.numbers(i)
        if odd >= 0:
            wordy.append((columns[at], odd, source.words(i)))
    if wordy:
        refuse_words(source, wordy, named=named)
    if np.isinf(X).any():
        row, at = np.argwhere(np.isinf(X))[0].tolist()
        msg = f"{source.where(row)}, column {columns[at]}: the number is too large."
        raise LinkwiseError(msg)
    return X


def refuse_gaps(source: Columns, columns: tuple[str, ...], gaps: BoolArray) -> None:
    """Count missing values and name the first."""
    row, at = np.argwhere(gaps)[0].tolist()
    count = int(gaps.sum())
    how = hint(command="--impute median (also mean, most_frequent)", python="impute='median' (or mean, most_frequent)")
    msg = (
        f"{source.name}: {many(count, 'value')} {'is' if count == 1 else 'are'} missing, the first in {source.unit} "
        f"{source.place(row)}, column {columns[at]}.\n"
        f"Hint: fill them in or remove these rows; or let linkwise fill them in: {how}."
    )
    raise LinkwiseError(msg)


def _fill(source: Columns, X: FloatArray, gaps: BoolArray, columns: tuple[str, ...], impute: str | None) -> FloatArray:
    if impute is None:
        return np.zeros(len(columns))
    empty = gaps.all(axis=0)
    if empty.any():
        column = columns[int(np.argmax(empty))]
        msg = (
            f"{source.name}: the column {shown(column)} is empty, so there is nothing to fill it with.\n"
            f"Hint: leave it out: {hint(command=f'--drop {shlex.quote(column)}', python=f'drop=[{column!r}]')}"
        )
        raise LinkwiseError(msg)
    if impute != "most_frequent":
        return np.asarray((np.nanmean if impute == "mean" else np.nanmedian)(X, axis=0), dtype=np.float64)
    found = []
    for column, gap in zip(X.T, gaps.T, strict=True):
        value, count = np.unique(column[~gap], return_counts=True)
        found.append(value[np.argmax(count)])  # of equals the smallest
    return np.array(found)


def _values(source: Columns, column: str, *, gaps: bool) -> tuple[str, ...]:
    """The values of a column; with ``gaps`` a missing one is a value of its own."""
    words = source.words(source.find("categories", [column])[0])
    if "" in words and not gaps:
        how = hint(command="--impute median", python="impute='median'")
        msg = (
            f"{source.where(words.index(''))}: {column} is missing, as in {many(words.count(''), 'row')}.\n"
            f'Hint: {how} makes "missing" a value of its own; or write one there, such as "unknown".'
        )
        raise LinkwiseError(msg)
    found = sorted(set(words))
    if len(found) > max(20, len(words) // 2):
        name, text = (
            hint(command=f"--{option} {shlex.quote(column)}", python=f"{option}={column!r}")
            for option in ("id", "text")
        )
        msg = (
            f"{source.name}: {column} has {len(found):,} different values in {len(words):,} rows, "
            f"too many for categories.\nHint: {name} if it names the samples, {text} if it is text."
        )
        raise LinkwiseError(msg)
    return tuple(found)


def _indicators(source: Columns, column: str, values: tuple[str, ...]) -> FloatArray:
    found = source.words(source.find("the table", [column])[0])
    place = {value: i for i, value in enumerate(values)}
    code = np.array([place.get(word, -1) for word in found], dtype=np.intp)
    odd = np.flatnonzero(code < 0)
    if len(odd):
        warn_user(
            f"{source.where(int(odd[0]))}: {column} is {shown(found[odd[0]])}, a value not seen before, and so in "
            f"{many(len(odd), 'row')}; they match none of {', '.join(values[:5])}."
        )
    return np.asarray(code[:, None] == np.arange(len(values)), dtype=np.float64)


def join_texts(source: Columns, columns: tuple[str, ...]) -> list[str]:
    """The text of each row: that of all columns one after the other."""
    found = [source.words(i) for i in source.find("text", columns)]
    return [" ".join(parts) for parts in zip(*found, strict=True)]


def _weigh(source: Columns, columns: tuple[str, ...]) -> tuple[tuple[str, ...], FloatArray]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    made = TfidfVectorizer()
    try:
        made.fit(join_texts(source, columns))
    except ValueError as nothing:
        msg = f"{source.name}: {', '.join(columns)} holds no words of two letters or more."
        raise LinkwiseError(msg) from nothing
    return tuple(made.get_feature_names_out().tolist()), np.asarray(made.idf_, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Table:
    r"""Samples read by `read_data`.

    Attributes
    ----------
    X : ndarray of float64 or CSR matrix, shape (n_samples, n_features)
        The features.
    ids : ndarray of shape (n_samples,)
        Names, as text, where a column or index gives them; else row numbers from 0.
    columns : tuple of str
        What each feature is called.
    notes : tuple of str
        What was done and what was noticed, one sentence each.
    preparation : Preparation
        How the features were made, to treat new rows alike: ``read_data(new, like=table)``.
    missing : ndarray of shape (n_missing, 2)
        Row and feature of every number that was missing and filled in; in `values` they are NaN.
    beside : mapping of str to tuple of str
        Columns of text, and those that were kept, as they stand.
    lines : ndarray of shape (n_samples,) or (0,)
        The line or row of every sample in the source, where columns were kept.

    Examples
    --------
    >>> import io
    >>> from linkwise import read_data
    >>> table = read_data(io.StringIO("name,x,y\notter,1,2\nmink,3,4\n"), id="name")
    >>> table.ids.tolist(), table.columns, table.X.shape
    (['otter', 'mink'], ('x', 'y'), (2, 2))
    """

    X: Any
    ids: npt.NDArray[Any]
    columns: tuple[str, ...]
    _: KW_ONLY
    notes: tuple[str, ...] = ()
    preparation: Preparation = field(default_factory=Preparation)
    missing: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    beside: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lines: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each sample: that of all columns of text one after the other; empty without such columns."""
        columns = [self.beside[column] for column in self.preparation.text if column in self.beside]
        return tuple(" ".join(parts) for parts in zip(*columns, strict=True))

    @property
    def values(self) -> Any:
        """Samples as in the source, up to rounding: scales undone, NaN where missing; X for texts."""
        if not isinstance(self.X, np.ndarray):
            return self.X
        made, values = self.preparation, np.array(self.X, dtype=np.float64)
        if len(made.shift):
            values[:, : len(made.shift)] = values[:, : len(made.shift)] * made.factor + made.shift
        values[self.missing[:, 0], self.missing[:, 1]] = np.nan
        return values

    def fill_words(self, feature: int) -> str:
        """Describe the value that replaces a missing number of a feature, as in ``median 116.25``."""
        made = self.preparation
        how = {"most_frequent": "most frequent value"}.get(str(made.impute), made.impute or "")
        return f"{how} {made.fill[feature]:g}" if feature < len(made.fill) else how

    @property
    def has_names(self) -> bool:
        """Whether the samples have names rather than row numbers."""
        return self.ids.dtype.kind not in "iu"

    def __len__(self) -> int:
        """The number of samples."""
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        kind = "dense" if isinstance(self.X, np.ndarray) else "sparse"
        return f"Table({len(self):,} samples, {len(self.columns):,} features, {kind})"
