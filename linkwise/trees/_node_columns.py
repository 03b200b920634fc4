"""Readers of taxonomies in columns: paths, child and parent, or one label column per level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._messages import hint
from linkwise._typing import IntArray
from linkwise._value_columns import as_text, is_missing, number_values, read_column
from linkwise.exceptions import LinkwiseError
from linkwise.trees._cycles import refuse_cycle
from linkwise.trees._obo import NamedNodes


def nodes_of_paths(paths: Any, sep: str) -> tuple[NamedNodes, IntArray]:
    """Read one path per sample, from the root down; return the nodes and the node of each sample."""
    if not isinstance(sep, str) or not sep:
        msg = f"from_paths: sep is {sep!r}, expected the text between two names."
        raise LinkwiseError(msg)
    column = read_column("paths", paths)
    known = ~is_missing(column)
    code, distinct = number_values("paths", column, known)
    place: dict[tuple[int, str], int] = {}
    ends = np.empty(len(distinct), dtype=np.intp)
    for p, path in enumerate(distinct.tolist()):
        if not isinstance(path, str):
            msg = f"from_paths: sample {int(np.argmax(code == p))} has the path {path!r}, expected text."
            raise LinkwiseError(msg)
        parts = path.split(sep)
        if "" in parts:
            msg = (
                f"from_paths: sample {int(np.argmax(code == p))} has the path {path!r}, in which a name is empty.\n"
                f"Hint: take {sep!r} away from the ends{hint(command='', python=', or pass the right `sep=`')}."
            )
            raise LinkwiseError(msg)
        up = -1
        for part in parts:
            up = place.setdefault((up, part), len(place))
        ends[p] = up
    parent = np.array([up for up, _ in place], dtype=np.intp)
    names = np.array([part for _, part in place], dtype=np.str_)
    return NamedNodes(parent, names), np.where(known, ends[code] if len(ends) else -1, -1)


def nodes_of_parents(child: Any, parent: Any) -> NamedNodes:
    """Read two columns: each child is below the parent in the same row; nodes without a parent are roots."""
    columns = [read_column(name, values) for name, values in (("child", child), ("parent", parent))]
    if len(columns[0]) != len(columns[1]):
        msg = f"from_parents: child has {len(columns[0])} entries and parent {len(columns[1])}, expected equal lengths."
        raise LinkwiseError(msg)
    missing = [is_missing(column) for column in columns]
    if missing[0].any():
        msg = f"from_parents: row {int(np.argmax(missing[0]))} has no child, expected one in every row."
        raise LinkwiseError(msg)
    both = np.empty(2 * len(columns[0]), dtype=object)
    both[:] = [as_text(value) for column in columns for value in column.tolist()]
    code, names = number_values("from_parents", both, ~np.concatenate(missing))
    lower, upper = code[: len(columns[0])], code[len(columns[0]) :]
    above = np.full(len(names), -1, dtype=np.intp)
    above[lower] = upper
    odd = above[lower] != upper
    if odd.any():
        row = int(np.argmax(odd))
        last = int(np.flatnonzero((lower == lower[row]) & ~odd)[-1])
        msg = (
            f"from_parents: {names[lower[row]]!r} has two parents, {_called(names, upper[row])} in row {row} and "
            f"{_called(names, upper[last])} in row {last}, expected one."
        )
        raise LinkwiseError(msg)
    rows = np.zeros(len(names), dtype=np.intp)
    rows[lower] = np.arange(len(lower))
    refuse_cycle(above, lambda v: f"{names[v]!r} (row {rows[v]})")
    return NamedNodes(above, names.astype(np.str_) if len(names) else np.empty(0, dtype=np.str_))


def _called(names: npt.NDArray[Any], node: int) -> str:
    return repr(str(names[node])) if node >= 0 else "none"


def nodes_of_levels(columns: Any, unlabeled: Any) -> tuple[NamedNodes, IntArray]:
    """Read one label column per level, coarse to fine; the node of a sample is that of its last known label."""
    levels = _level_columns(columns)
    n = len(levels[0])
    if any(len(level) != n for level in levels):
        msg = (
            f"from_levels: the columns have {sorted({len(level) for level in levels})} entries, expected equal lengths."
        )
        raise LinkwiseError(msg)
    node = np.full(n, -1, dtype=np.intp)
    open_end = np.ones(n, dtype=np.bool_)
    parents: list[IntArray] = []
    names: list[str] = []
    for number, level in enumerate(levels):
        known = ~(is_missing(level) | np.asarray(level == unlabeled))
        gap = known & ~open_end
        if gap.any():
            sample = int(np.argmax(gap))
            msg = (
                f"from_levels: sample {sample} has {level[sample : sample + 1].tolist()[0]!r} in column {number}, "
                f"but nothing in column {number - 1} above it.\nHint: columns go from coarse to fine."
            )
            raise LinkwiseError(msg)
        code, distinct = number_values("from_levels", level, known)
        pair, first, inverse = np.unique(
            node[known] * (len(distinct) + 1) + code[known], return_index=True, return_inverse=True
        )
        parents.append(node[known][first])
        names += [str(distinct[c]) for c in code[known][first].tolist()]
        node[known] = len(names) - len(pair) + inverse
        open_end = known
    return NamedNodes(np.concatenate(parents), np.array(names, dtype=np.str_)), node


def _level_columns(columns: Any) -> list[npt.NDArray[Any]]:
    if isinstance(columns, Mapping):
        given = list(columns.values())
    elif hasattr(columns, "columns"):  # a data frame of pandas or polars
        given = [columns[name] for name in columns.columns]
    elif hasattr(columns, "ndim") and columns.ndim == 2:
        given = list(np.asarray(columns).T)
    else:
        given = list(columns)
    if not given:
        msg = "from_levels got no columns, expected at least one."
        raise LinkwiseError(msg)
    return [read_column(f"column {i}", values) for i, values in enumerate(given)]
