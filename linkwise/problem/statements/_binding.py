"""Statements bound to the rows of X, by item name or by row number, and refused where a method does not take them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._messages import did_you_mean
from linkwise._typing import IntArray
from linkwise.constraints import Constraints
from linkwise.exceptions import ConstraintError


def constraints_of(y: Any, constraints: Any) -> Any:
    """Return the constraints of a call ``fit(X, y, constraints=...)``, where people also pass them as ``y``.

    ``linkwise.cluster(X, constraints)`` takes them second, and a scikit-learn Pipeline hands on ``y`` by position. Any
    other ``y`` is ignored, as scikit-learn's clusterers do.
    """
    if not isinstance(y, Constraints):
        return constraints
    if constraints is not None:
        msg = (
            "fit got Constraints twice, as y and as constraints, expected them once.\n"
            "Hint: fit(X, constraints=a | b) takes the statements of both."
        )
        raise ConstraintError(msg)
    return y


def bind(constraints: Any, X: Any, n_samples: int) -> Constraints:
    """Return constraints numbered like the rows of X; None becomes an empty table.

    A pandas index names the rows. It is used when the constraints carry ``ids``; without them they mean row positions.
    An index of numbers is taken for a row count, as slicing leaves behind, unless the ids are numbers too.
    """
    if constraints is None:
        return Constraints.build(n_samples)
    if not isinstance(constraints, Constraints):
        msg = (
            f"constraints is {type(constraints).__name__}, expected linkwise.Constraints.\n"
            "Hint: Constraints.build(len(X), must_link=[(0, 1)], cannot_link=[(0, 2)], triplets=[(0, 1, 2)])."
        )
        raise TypeError(msg)
    names, ids = _row_names(X), constraints.ids
    if names is not None and ids is not None and (names.dtype.kind not in "iu" or ids.dtype.kind in "iu"):
        return constraints[_positions(ids, names)]
    if constraints.n_samples != n_samples:
        msg = (
            f"constraints are about {constraints.n_samples} samples, but X has {n_samples} rows.\n"
            "Hint: constraints hold row positions in X; take the same rows of both, as in X[rows], constraints[rows]."
        )
        raise ConstraintError(msg)
    return constraints


def _row_names(X: Any) -> npt.NDArray[Any] | None:
    index = getattr(X, "index", None)
    if index is None or callable(index) or not hasattr(X, "iloc"):
        return None
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return None
    names = np.asarray(index)
    return None if names.ndim != 1 else names


def _positions(ids: npt.NDArray[Any], names: npt.NDArray[Any]) -> IntArray:
    """Where each row name of X stands among the ids of the constraints."""
    place = {value: i for i, value in enumerate(ids.tolist())}
    rows = names.tolist()
    count = Counter(rows)
    if len(count) < len(rows):
        twice = next(value for value in rows if count[value] > 1)
        msg = f"the index of X names {twice!r} more than once, so constraints cannot be bound by name."
        raise ConstraintError(msg)
    missing = [value for value in rows if value not in place]
    if missing:
        hint = did_you_mean(missing[0], place, "constraints were made with other ids; are they about this table?")
        shown = ", ".join(repr(value) for value in missing[:5])
        msg = f"the index of X names {len(missing)} item(s) the constraints do not know: {shown}.\nHint: {hint}"
        raise ConstraintError(msg)
    return np.array([place[value] for value in rows], dtype=np.intp)
