"""Statements made from labels, from columns of groups, and from the user's identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from linkwise._messages import did_you_mean, many, some_of
from linkwise._typing import IntArray
from linkwise._value_columns import first_repeat, number_values, rank_values, read_known
from linkwise.constraints._disjunctions import parse_links
from linkwise.constraints._kinds import Kind
from linkwise.exceptions import ConstraintError

if TYPE_CHECKING:
    from linkwise.constraints._rules import Rule
    from linkwise.constraints._table_building import Building

_MAX_CLASS_PAIRS = 50_000_000
_SPELLINGS = {kind.word: kind for kind in Kind} | {"triplet": Kind.TRIPLET}
C = TypeVar("C", bound="Building")


def members_of_groups(y: Any, unlabeled: Any) -> tuple[int, IntArray, IntArray]:
    """Return the sizes and samples of the groups of two or more, in order of first appearance."""
    column, is_known = read_known("y", y, unlabeled)
    known = np.flatnonzero(is_known)
    group = number_values("y", column, is_known)[0][known]
    sizes = np.bincount(group)
    several = sizes >= 2
    order = np.argsort(group, kind="stable")
    order = order[several[group[order]]]
    return len(column), sizes[several], known[order]


def pairs_of_labels(y: Any, unlabeled: Any) -> tuple[int, IntArray, IntArray]:
    """Return a chain of must-links per class and a cannot-link per pair of classes; they entail the labels."""
    column, is_known = read_known("y", y, unlabeled)
    known = np.flatnonzero(is_known)
    classes = rank_values("y", column, is_known)[0][known]
    order = np.argsort(classes, kind="stable")
    members, of_class = known[order], classes[order]
    same = of_class[1:] == of_class[:-1]
    must_link = np.column_stack([members[:-1][same], members[1:][same]])
    heads = members[np.r_[True, ~same]] if len(members) else members
    k = len(heads)
    if k * (k - 1) // 2 > _MAX_CLASS_PAIRS:
        msg = (
            f"y has {k:,} classes, which would need {k * (k - 1) // 2:,} cannot-links; "
            f"at most {_MAX_CLASS_PAIRS:,} are built."
        )
        raise ConstraintError(msg)
    first, second = np.triu_indices(k, 1)
    return len(column), must_link, np.column_stack([heads[first], heads[second]])


def read_ids(ids: Any) -> npt.NDArray[Any]:
    """Read identifiers as a one-dimensional array without repeats."""
    if not (hasattr(ids, "__array__") or isinstance(ids, Iterable)) or isinstance(ids, (str, bytes)):
        msg = f"ids is {type(ids).__name__}, expected one identifier per sample, such as ['otter', 'mink']."
        raise ConstraintError(msg)
    given = ids if hasattr(ids, "__array__") else list(ids)
    kinds = {type(value) for value in given} if isinstance(given, list) else set()
    names = np.array(given, dtype=object) if len(kinds) > 1 else np.array(given)
    if names.ndim != 1:
        msg = f"ids has shape {names.shape}, expected one identifier per sample."
        raise ConstraintError(msg)
    if names.dtype == object and all(type(value) is str for value in names):
        names = names.astype(str)
    if len(set(names.tolist())) < len(names):
        msg = f"ids contains {first_repeat(names.tolist())!r} more than once, expected unique identifiers."
        raise ConstraintError(msg)
    return names


def to_places(names: npt.NDArray[Any], kind: Kind, statements: Any) -> Any:
    """Translate rows of identifiers to rows of positions in ``names``; groups to lists of positions."""
    if kind is Kind.EITHER:
        links = parse_links(statements)
        return links.placed(_look_up_flat(names, links.ends, kind))
    if not kind.is_group:
        return _to_positions(names, kind, statements)
    rows = [] if statements is None else [list(row) if not isinstance(row, str) else row for row in statements]
    for row in rows:
        if isinstance(row, str):
            msg = f"{kind.word} holds {row!r}, expected groups, each a list of identifiers."
            raise ConstraintError(msg)
    found = _look_up_flat(names, [value for row in rows for value in row], kind)
    return np.split(found, np.cumsum([len(row) for row in rows])[:-1]) if rows else []


def _look_up_flat(names: npt.NDArray[Any], flat: list[Any], kind: Kind) -> IntArray:
    kinds = {type(value) for value in flat}
    wanted = np.array(flat, dtype=object if names.dtype == object or len(kinds) > 1 else None)
    return _look_up(names, wanted, kind.word) if flat else np.empty(0, dtype=np.intp)


def _to_positions(names: npt.NDArray[Any], kind: Kind, statements: Any) -> IntArray:
    if statements is None:
        return np.empty((0, kind.arity), dtype=np.intp)
    given = statements if hasattr(statements, "__array__") else [list(row) for row in statements]
    try:
        table = np.asarray(given, dtype=object if names.dtype == object else None)
    except ValueError as ragged:
        msg = f"{kind.word} has rows of different lengths, expected {kind.arity} identifiers in each."
        raise ConstraintError(msg) from ragged
    if table.size == 0:
        return np.empty((0, kind.arity), dtype=np.intp)
    if table.ndim != 2 or table.shape[1] != kind.arity:
        msg = f"{kind.word} has shape {table.shape}, expected (m, {kind.arity}) identifiers."
        raise ConstraintError(msg)
    return _look_up(names, table.ravel(), kind.word).reshape(table.shape)


def _look_up(names: npt.NDArray[Any], wanted: npt.NDArray[Any], where: str) -> IntArray:
    if not len(names) or "O" in (names.dtype.kind, wanted.dtype.kind) or names.dtype.kind != wanted.dtype.kind:
        place = {value: i for i, value in enumerate(names.tolist())}
        found = np.array([place.get(value, -1) for value in wanted.tolist()], dtype=np.intp)
    else:
        order = np.argsort(names, kind="stable")
        found = order[np.minimum(np.searchsorted(names, wanted, sorter=order), len(names) - 1)]
        found = np.where(names[found] == wanted, found, -1)
    if (found < 0).any():
        missing = list(dict.fromkeys(wanted[found < 0].tolist()))
        hint = did_you_mean(missing[0], names, "ids are compared exactly, including their type.")
        unknown = f"{many(len(missing), 'identifier')} not in ids: {some_of([repr(v) for v in missing])}"
        msg = f"{where} names {unknown}.\nHint: {hint}"
        raise ConstraintError(msg)
    return found


def sort_statements(
    cls: type[C], names: npt.NDArray[Any], statements: Iterable[Sequence[Any]], rules: Iterable[Rule] | Rule
) -> C:
    """Build a table from mixed statement tuples, keeping each statement's position as its ``row``."""
    rows: list[list[Any]] = [[] for _ in Kind]
    weights: list[list[float]] = [[] for _ in Kind]
    place: list[list[int]] = [[] for _ in Kind]
    for position, statement in enumerate(statements):
        is_row = isinstance(statement, Iterable) and not isinstance(statement, (str, bytes))
        parts = tuple(statement) if is_row else ()
        if not parts:
            msg = f"statement {position} is {statement!r}, expected a tuple such as ('must_link', 'otter', 'mink')."
            raise ConstraintError(msg)
        word, *rest = parts
        kind = _SPELLINGS.get(word) if isinstance(word, str) else None
        if kind is None:
            hint = did_you_mean(word, _SPELLINGS, f"write one of {', '.join(_SPELLINGS)}.")
            msg = f"statement {position} has the kind {word!r}, expected a kind of statement.\nHint: {hint}"
            raise ConstraintError(msg)
        named = 1 if kind.is_group else kind.arity
        if len(rest) not in (named, named + 1):
            listed = "links" if kind is Kind.EITHER else "identifiers"
            expected = f"one list of {listed}" if kind.is_group else f"{named} identifiers"
            msg = f"statement {position} ({word}) has {len(rest)} values, expected {expected} and optionally a weight."
            raise ConstraintError(msg)
        if kind.is_group and isinstance(rest[0], (str, bytes)):
            listed = "links" if kind is Kind.EITHER else "identifiers"
            msg = f"statement {position} ({word}) names {rest[0]!r}, expected a list of {listed}."
            raise ConstraintError(msg)
        rows[kind].append(rest[0] if kind.is_group else rest[:named])
        weights[kind].append(rest[named] if len(rest) > named else np.inf)
        place[kind].append(position)
    placed = [to_places(names, kind, rows[kind]) for kind in Kind]
    made = cls._from_tables(len(names), placed, [w for part in weights for w in part], rules, names)
    row = np.array([p for part in place for p in part], dtype=np.intp)[made.row]
    return made._replace(row=row)
