"""Data frames in and out, through narwhals: pandas, polars and pyarrow alike."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal

import numpy as np

from linkwise._validation import read_choice
from linkwise.exceptions import LinkwiseError

__all__ = ["Backend", "make_frame", "read_frame"]

Backend = Literal["pandas", "polars", "pyarrow"]


def make_frame(who: str, columns: Mapping[str, list[Any]], backend: Backend) -> Any:
    """Make a data frame of columns of equal length; None marks a missing value."""
    import narwhals.stable.v1 as nw

    read_choice(backend, "backend", who, ("pandas", "polars", "pyarrow"))
    try:
        import_module(backend)
    except ModuleNotFoundError as missing:
        msg = f"{who}: {backend} is not installed.\nHint: pip install {backend}, or name another backend."
        raise LinkwiseError(msg) from missing
    plain = {name: _of_one_type(values) for name, values in columns.items()}
    return nw.from_dict(plain, backend=backend).to_native()


def _of_one_type(values: list[Any]) -> list[Any]:
    """Values that fit in one column: as they are if they are numbers, texts or lists, else all in words."""
    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1 <= len(kinds & {bool, int, float, str, list}) or kinds <= {int, float}:
        return values
    return [None if value is None else str(value) for value in values]


def read_frame(who: str, frame: Any, expected: str = "a data frame") -> Any:
    """Read a frame of any library that narwhals knows."""
    import narwhals.stable.v1 as nw

    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError as unknown:
        msg = f"{who} got {type(frame).__name__}, expected {expected}."
        raise LinkwiseError(msg) from unknown
