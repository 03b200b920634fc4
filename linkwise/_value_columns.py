"""Columns of names: values of any type, some of them missing, read and numbered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._typing import BoolArray, IntArray
from linkwise.exceptions import ConstraintError

_NUMBERS = (int, float, np.integer, np.floating)


def read_column(who: str, values: Any) -> npt.NDArray[Any]:
    """Read one value per sample as a one-dimensional array, without turning numbers into text."""
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__"):
        msg = f"{who} is {type(values).__name__}, expected one value per sample."
        raise ConstraintError(msg)
    if len(getattr(values, "shape", (0,))) != 1:  # before anything is copied: tables, and SciPy's sparse matrices
        msg = f"{who} has shape {values.shape}, expected one value per sample."
        raise ConstraintError(msg)
    if isinstance(values, np.ma.MaskedArray):
        column = np.array(values.data, dtype=object)
        column[np.ma.getmaskarray(values)] = None
    elif hasattr(values, "__array__"):
        column = np.asarray(values)
    else:
        given = list(values)
        kinds = set(map(type, given))
        if len(kinds) > 1 and not all(issubclass(kind, _NUMBERS) and kind is not bool for kind in kinds):
            # NumPy would write 1 and "1" alike
            column = np.empty(len(given), dtype=object)
            column[:] = given
        else:
            column = np.array(given)
    if column.ndim != 1:
        msg = f"{who} has shape {column.shape}, expected one value per sample."
        raise ConstraintError(msg)
    return column


def read_known(who: str, values: Any, unlabeled: Any = None) -> tuple[npt.NDArray[Any], BoolArray]:
    """Read one label per sample; also return which are known.

    None, NaN, NaT, pandas.NA and masked values are never known, whatever ``unlabeled`` is; neither is that value.
    """
    column = read_column(who, values)
    known = ~is_missing(column, empty=False)
    if not _is_nothing(unlabeled, empty=False):
        some = column[known]
        known[known] = np.broadcast_to(np.asarray(some != unlabeled, dtype=np.bool_), some.shape)
    return column, known


def is_missing(column: npt.NDArray[Any], *, empty: bool = True) -> BoolArray:
    """Mark missing values: None, NaN, NaT, pandas.NA and, with ``empty``, the empty text."""
    if column.dtype.kind in "fc":
        return np.asarray(np.isnan(column))
    if column.dtype.kind in "mM":
        return np.asarray(np.isnat(column))
    if column.dtype.kind in "US":
        return np.asarray(column == column.dtype.type()) & empty
    if column.dtype.kind == "O":
        return np.fromiter((_is_nothing(value, empty) for value in column), dtype=np.bool_, count=len(column))
    return np.zeros(len(column), dtype=np.bool_)


def _is_nothing(value: Any, empty: bool) -> bool:
    if isinstance(value, str):
        return empty and not value
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")


def first_repeat(values: Iterable[Any]) -> Any:
    """Return the first value that equals an earlier one; None if all differ."""
    seen: set[Any] = set()
    return next((value for value in values if value in seen or seen.add(value)), None)  # type: ignore[func-returns-value]


def as_text(value: Any) -> str:
    """Write a name as text; whole numbers that a column with gaps turned to 7.0 are 7 again."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def number_values(who: str, column: npt.NDArray[Any], known: BoolArray) -> tuple[IntArray, npt.NDArray[Any]]:
    """Number equal values alike, in order of first appearance, missing ones -1; also return the values."""
    code = np.full(len(column), -1, dtype=np.intp)
    values = column[known]
    if values.dtype.kind != "O":
        distinct, first, group = np.unique(values, return_index=True, return_inverse=True)
        order = np.argsort(first)
        number = np.empty(len(order), dtype=np.intp)
        number[order] = np.arange(len(order))
        code[known] = number[group]
        return code, distinct[order]
    seen: dict[Any, int] = {}
    try:
        code[known] = [seen.setdefault(value, len(seen)) for value in values.tolist()]
    except TypeError as bad:
        msg = f"{who} holds values that are not names ({bad}), expected text or numbers."
        raise ConstraintError(msg) from bad
    distinct = np.empty(len(seen), dtype=object)
    distinct[:] = list(seen)
    return code, distinct


def rank_values(who: str, column: npt.NDArray[Any], known: BoolArray) -> tuple[IntArray, npt.NDArray[Any]]:
    """Number equal values alike, smallest first; in order of first appearance where they cannot be compared."""
    code, distinct = number_values(who, column, known)
    try:
        order = np.argsort(distinct, kind="stable")
    except TypeError:
        return code, distinct
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    code[known] = rank[code[known]]
    return code, distinct[order]
