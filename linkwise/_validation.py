"""Readers of arguments, with one wording of errors: finite samples, dtypes, whole numbers, numbers, shares, choices."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np

from linkwise._messages import in_words, some_of
from linkwise._sparse import is_sparse
from linkwise.exceptions import LinkwiseError, LinkwiseWarning

_EXACT = 2**53


def warn_user(message: str) -> None:
    """Warn at the line of the caller outside the library, however deep the library's own calls are."""
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("linkwise", "sklearn"):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, LinkwiseWarning, stacklevel=depth)


def require_numbers(X: Any) -> None:
    """Refuse data that cannot be read as numbers, before scikit-learn converts all it can."""
    if X is None or (isinstance(X, (str, bytes, dict)) and not is_sparse(X)):  # a dok_matrix is a dict
        kind = "None" if X is None else f"a {type(X).__name__}"
        msg = f"X is {kind}, expected an array-like of shape (n_samples, n_features)."
        raise (TypeError if isinstance(X, dict) else ValueError)(msg)
    if isinstance(X, np.ma.MaskedArray):
        msg = "X is a masked array, expected plain numbers.\nHint: fill or drop the masked values, as in X.filled(0)."
        raise LinkwiseError(msg)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        _require_number_columns(X)
        return
    try:
        given = X.tocoo().data if is_sparse(X) else np.asarray(X)
    except TypeError as nothing:  # has a length but no items, as Constraints do
        msg = f"X is {type(X).__name__}, expected an array-like of shape (n_samples, n_features)."
        raise LinkwiseError(msg) from nothing
    if given.ndim == 0 and given.dtype.kind == "O":
        msg = f"X is {type(X).__name__}, expected an array-like of shape (n_samples, n_features)."
        raise LinkwiseError(msg)
    if given.dtype.kind in "mM":
        msg = (
            "X holds dates, expected numbers.\nHint: convert them first, as in (X - X.min()) / np.timedelta64(1, 'D')."
        )
        raise LinkwiseError(msg)
    if given.dtype.kind in "iu" and given.size and max(int(given.max()), -int(given.min())) > _EXACT:
        _warn_of_precision()


def read_dtype(dtype: Any) -> np.dtype[Any]:
    """Read the type of numbers to compute with."""
    try:
        kind: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError) as unknown:
        msg = f"dtype is {dtype!r}, expected np.float32 or np.float64."
        raise LinkwiseError(msg) from unknown
    return kind


def _warn_of_precision() -> None:
    warn_user("X holds integers above 2**53, which floating point cannot tell apart exactly.")


def _require_number_columns(X: Any) -> None:
    """Refuse columns of a pandas or polars frame that do not hold numbers, by name."""
    bad, large = [], False
    for place, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        column = X.iloc[:, place] if hasattr(X, "iloc") else X[name]
        if not _is_number(dtype, column):
            bad.append(f"{name!r} ({dtype})")
        elif str(dtype).lower().startswith(("int", "uint")) and len(column):
            large |= max(int(column.max() or 0), -int(column.min() or 0)) > _EXACT
    if bad:
        msg = (
            f"X has columns that do not hold numbers: {some_of(bad)}.\n"
            "Hint: `linkwise.io.look(X)` proposes how to read them with `linkwise.read_data`; or leave them out."
        )
        raise LinkwiseError(msg)
    if large:
        _warn_of_precision()


def _is_number(dtype: Any, column: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    if str(dtype) == "object":  # may hold numbers; scikit-learn converts those
        return not any(isinstance(value, (str, bytes)) for value in column.head(1000))
    return getattr(dtype, "kind", "O") in "biufc"


def require_finite(samples: Any, X: Any, *, who: str) -> None:
    """Refuse NaN and infinities, naming the first and how many there are.

    ``samples`` is X as numbers; ``X``, as the user gave it, has the column names.
    """
    values = samples.data if is_sparse(samples) else samples
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # a sum is finite only if all its terms are
            return
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    if is_sparse(samples):
        at = int(np.argmax(bad))
        row, column = int(np.searchsorted(samples.indptr, at, side="right")) - 1, int(samples.indices[at])
    else:
        row, column = (int(v) for v in np.unravel_index(int(np.argmax(bad)), bad.shape))
    word = "NaN" if np.isnan(values[bad]).any() else "infinity"
    name = f" ({list(X.columns)[column]!r})" if hasattr(X, "columns") else ""
    msg = (
        f"{who}: X contains {word}: {int(bad.sum()):,} of its values, the first in row {row}, column {column}{name}.\n"
        "Hint: drop these rows, or fill them in, as with sklearn.impute.SimpleImputer."
    )
    raise LinkwiseError(msg)


def _refuse(value: Any, name: str, who: str, expected: str, error: type[LinkwiseError]) -> NoReturn:
    msg = f"{who}{': ' if who else ''}{name} is {value!r}, expected {expected}."
    raise error(msg)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of Python or NumPy; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def read_count(
    value: Any,
    name: str,
    who: str = "",
    *,
    low: int = 0,
    high: int | None = None,
    note: str = "",
    error: type[LinkwiseError] = LinkwiseError,
) -> int:
    """Read a whole number from ``low`` to ``high``; the ``note`` ends the sentence of the error."""
    if not is_whole(value) or value < low or (high is not None and value > high):
        span = f">= {low}" if high is None else f"from {low} to {high}"
        _refuse(value, name, who, f"a whole number {span}{note}", error)
    return int(value)


def read_number(
    value: Any,
    name: str,
    who: str = "",
    *,
    finite: bool = True,
    note: str = "",
    error: type[LinkwiseError] = LinkwiseError,
) -> float:
    """Read a number >= 0, by default a finite one."""
    number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    if math.isnan(number) or number < 0 or (finite and math.isinf(number)):
        _refuse(value, name, who, f"a number >= 0{note}", error)
    return number


def read_share(value: Any, name: str, who: str, total: int) -> int:
    """Read a part of a whole, from 0 to 1, and return how many of ``total`` that is."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        _refuse(value, name, who, "a number from 0 to 1", LinkwiseError)
    return math.floor(total * float(value) + 0.5)


def read_choice(
    value: Any, name: str, who: str, choices: Sequence[str], error: type[LinkwiseError] = LinkwiseError
) -> str:
    """Read one of a few words."""
    if not isinstance(value, str) or value not in choices:
        _refuse(value, name, who, in_words([repr(choice) for choice in choices], "or"), error)
    return value
