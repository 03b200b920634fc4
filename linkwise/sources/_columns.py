"""Columns of names as people keep them: values of any type, some of them missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.exceptions import LinkwiseError

__all__ = ["as_text", "is_missing", "number_values", "read_column"]

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
_NUMBERS = (int, float, np.integer, np.floating)


def read_column(who: str, values: Any) -> npt.NDArray[Any]:
    """Read one value per sample as a one-dimensional array, without turning numbers into text."""
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__"):
        msg = f"{who} is {type(values).__name__}, expected one value per sample."
        raise LinkwiseError(msg)
    if len(getattr(values, "shape", (0,))) != 1:  # before anything is copied: tables, and SciPy's sparse matrices
        msg = f"{who} has shape {values.shape}, expected one value per sample."
        raise LinkwiseError(msg)
    if hasattr(values, "__array__"):
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
        raise LinkwiseError(msg)
    return column


def is_missing(column: npt.NDArray[Any], *, empty: bool = True) -> BoolArray:
    """Mark what is no value: None, NaN, NaT and, with ``empty``, the empty text."""
    if column.dtype.kind == "f":
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
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def as_text(value: Any) -> str:
    """Write a name as text; whole numbers that a column with gaps turned to 7.0 are 7 again."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def number_values(who: str, column: npt.NDArray[Any], known: BoolArray) -> tuple[IntArray, npt.NDArray[Any]]:
    """Number equal values alike, in order of first appearance; return -1 for what is not known, and the values."""
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
        msg = f"{who} holds values that are no names ({bad}), expected text or numbers."
        raise LinkwiseError(msg) from bad
    distinct = np.empty(len(seen), dtype=object)
    distinct[:] = list(seen)
    return code, distinct
