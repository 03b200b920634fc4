"""Units for data whose squares would overflow or underflow: powers of two, so that scaling loses no digit."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

# exponents of values whose squares, sums of squares and products of a few variances stay far inside double precision
EASY = 64


def unit_of(X: Any) -> float:
    """Return 1.0 for finite values of ordinary size, else the power of two next below the largest value."""
    values = X.data if scipy.sparse.issparse(X) else np.asarray(X)
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    exponent = int(np.frexp(largest)[1]) - 1
    return 1.0 if largest == 0.0 or abs(exponent) <= EASY else float(np.ldexp(1.0, exponent))


def in_unit(X: Any, unit: float) -> Any:
    """Return the values measured in a unit from `unit_of`; the same object if the unit is 1."""
    return X if unit == 1.0 else X / unit
