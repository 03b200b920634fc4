"""Numbers that options hold, read or refused in one wording."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from linkwise.exceptions import LinkwiseError

__all__ = ["read_count", "read_number", "read_share"]


def read_count(who: str, m: Any) -> int:
    """Read how many statements are wanted."""
    if isinstance(m, (bool, np.bool_)) or not isinstance(m, (int, np.integer)) or m < 0:
        msg = f"{who}: m is {m!r}, expected a whole number >= 0."
        raise LinkwiseError(msg)
    return int(m)


def read_number(who: str, name: str, value: Any, *, finite: bool = True) -> float:
    """Read a number >= 0, by default a finite one."""
    number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    if math.isnan(number) or number < 0 or (finite and math.isinf(number)):
        msg = f"{who}: {name} is {value!r}, expected a number >= 0{'' if finite else ' (inf for no limit)'}."
        raise LinkwiseError(msg)
    return number


def read_share(who: str, name: str, value: Any, total: int) -> int:
    """Read a part of a whole, from 0 to 1, and return how many of ``total`` that is."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        msg = f"{who}: {name} is {value!r}, expected a number from 0 to 1."
        raise LinkwiseError(msg)
    return math.floor(total * float(value) + 0.5)
