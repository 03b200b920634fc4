"""Kinds of statements, and readers that turn array-likes of sample numbers and weights into arrays."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._messages import many
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.exceptions import ConstraintError, LinkwiseWarning

HINT_IDS = "Hint: constraints hold row positions in X; translate identifiers with `Constraints.from_ids`."


class Kind(IntEnum):
    """The kinds of statement about samples.

    Five name any number of samples: ``TOGETHER`` puts all into one cluster, ``APART`` no two into the same one,
    ``MUST_LINK_ANY`` lets the first share a cluster with at least one of the others, ``CANNOT_LINK_ANY`` keeps it
    apart from at least one of them, and of the must-links and cannot-links of ``EITHER`` at least one holds.

    Examples
    --------
    >>> from linkwise import Kind
    >>> Kind.TRIPLET.word, Kind.TRIPLET.arity
    ('triplets', 3)
    >>> [kind.word for kind in Kind if kind.is_group]
    ['together', 'apart', 'must_link_any', 'cannot_link_any', 'either']
    """

    MUST_LINK = 0
    CANNOT_LINK = 1
    TRIPLET = 2
    TOGETHER = 3
    APART = 4
    MUST_LINK_ANY = 5
    CANNOT_LINK_ANY = 6
    EITHER = 7

    @cached_property
    def word(self) -> str:
        """The keyword of `Constraints.build` for this kind."""
        return "triplets" if self is Kind.TRIPLET else self.name.lower()

    @cached_property
    def title(self) -> str:
        """Name of one statement of this kind in messages."""
        return _TITLES[self]

    def count(self, number: int) -> str:
        """Word a number of statements of this kind, as in ``2 groups apart``."""
        noun, _, rest = self.title.partition(" ")
        if number == 1:
            return f"1 {self.title}"
        if rest == "choice":
            return f"{number:,} {self.title}s"
        return f"{number:,} {noun}s {rest}".rstrip()

    @cached_property
    def arity(self) -> int:
        """Number of samples that a statement of this kind names; 0 if it may name any number."""
        return (2, 2, 3, 0, 0, 0, 0, 0)[self]

    @cached_property
    def is_group(self) -> bool:
        """Whether a statement of this kind names any number of samples."""
        return self >= Kind.TOGETHER

    @cached_property
    def is_choice(self) -> bool:
        """Whether a statement of this kind leaves a choice between pairs."""
        return self >= Kind.MUST_LINK_ANY


LINKS = frozenset({Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TOGETHER, Kind.APART})
CHOICES = frozenset({Kind.MUST_LINK_ANY, Kind.CANNOT_LINK_ANY, Kind.EITHER})
_TITLES = (
    "must-link",
    "cannot-link",
    "triplet",
    "group together",
    "group apart",
    "must-link choice",
    "cannot-link choice",
    "disjunction",
)


def _rows(kind: Kind, statements: Any) -> npt.NDArray[Any]:
    """Turn any array-like, iterable or None into a two-dimensional array; values are not checked."""
    if statements is None:
        return np.empty((0, kind.arity), dtype=np.intp)
    if isinstance(statements, (str, bytes, Mapping)):
        msg = f"{kind.word} is {type(statements).__name__}, expected rows of {kind.arity} sample numbers."
        raise ConstraintError(msg)
    if not hasattr(statements, "__array__") and not isinstance(statements, (list, tuple)):
        if not isinstance(statements, Iterable):
            msg = f"{kind.word} is {statements!r}, expected rows of {kind.arity} sample numbers."
            raise ConstraintError(msg)
        statements = list(statements)
    try:
        table = np.asarray(statements)
    except ValueError as ragged:
        msg = f"{kind.word} has rows of different lengths, expected {kind.arity} sample numbers in each."
        raise ConstraintError(msg) from ragged
    if table.size == 0:
        return np.empty((0, kind.arity), dtype=np.intp)
    if table.ndim == 1 and len(table) == kind.arity and table.dtype.kind in "iu":
        row = table.tolist()
        msg = f"{kind.word} is one row, {row}, expected a list of rows.\nHint: write {kind.word}=[{tuple(row)}]."
        raise ConstraintError(msg)
    if table.ndim != 2 or table.shape[1] != kind.arity:
        msg = f"{kind.word} has shape {table.shape}, expected (m, {kind.arity})."
        if kind is Kind.TRIPLET:
            msg += "\nHint: a row a, b, c reads ab|c: a and b are closer to each other than either is to c."
        raise ConstraintError(msg)
    if table.dtype.kind in "iu" and isinstance(statements, (list, tuple)):  # there NumPy reads True as 1
        found = set(map(type, chain.from_iterable(statements)))
        if bool in found or np.bool_ in found:
            raise ConstraintError(_no_bools(kind.word))
    return table


def _no_bools(word: str) -> str:
    return f"{word} holds True or False, expected sample numbers.\nHint: write 0 or 1 if a row number is meant."


def read_items(kind: Kind, statements: Any, n_samples: int) -> IntArray:
    """Read the statements of one kind as ``intp[m, arity]`` of valid sample numbers, as given."""
    table = _rows(kind, statements)
    return read_numbers(kind.word, table, n_samples, np.repeat(np.arange(len(table)), kind.arity))


def read_numbers(word: str, table: npt.NDArray[Any], n_samples: int, row_of: IntArray) -> IntArray:
    """Read an array of any type as valid sample numbers; ``row_of`` is the row of each value."""
    if table.dtype.kind in "USO":
        if any(isinstance(value, (str, bytes)) for value in table.ravel()[:300]):
            msg = f"{word} names {str(table.flat[0])!r}, expected sample numbers.\n{HINT_IDS}"
            raise ConstraintError(msg)
        if any(isinstance(value, (bool, np.bool_)) for value in table.ravel()):
            raise ConstraintError(_no_bools(word))
        try:
            exact = table.astype(np.intp)
        except (TypeError, ValueError, OverflowError) as bad:
            msg = f"{word} holds {table.flat[0]!r}, expected sample numbers.\n{HINT_IDS}"
            raise ConstraintError(msg) from bad
        if not (exact == table).all():
            msg = f"{word} holds fractions, expected whole sample numbers.\n{HINT_IDS}"
            raise ConstraintError(msg)
        table = exact
    if table.dtype.kind == "b":
        raise ConstraintError(_no_bools(word))
    if table.dtype.kind not in "iu":
        msg = (
            f"{word} holds {table.dtype} values such as {table.flat[0].item()!r}, expected whole sample numbers.\n"
            "Hint: convert with `.astype(int)` once you are sure they are row positions."
        )
        raise ConstraintError(msg)
    if table.size:
        low, high = int(table.min()), int(table.max())
        if low < 0 or high >= n_samples:
            worst = low if low < 0 else high
            where = int(row_of[np.flatnonzero(table.ravel() == worst)[0]])
            span = f"samples are numbered 0 to {n_samples - 1}" if n_samples else "there are no samples"
            msg = f"{word} names sample {worst} (row {where}), but {span}.\n{HINT_IDS}"
            if worst == n_samples:
                msg += " If your file counts from 1, subtract 1."
            raise ConstraintError(msg)
    return table.astype(np.intp, copy=False)


def trivial(count: int, form: str) -> str:
    """Word the warning about statements that were dropped since every clustering satisfies them."""
    hold, were = ("holds", "was") if count == 1 else ("hold", "were")
    return f"{many(count, 'statement')} of the form {form} {hold} for every clustering and {were} dropped."


def check_items(kind: Kind, table: IntArray, name: Any = str) -> BoolArray:
    """Refuse statements that contradict themselves; return a mask without the trivial ones.

    ``name(i)`` is the name of sample ``i`` in messages.
    """
    same = table[:, 0] == table[:, 1]
    if kind is Kind.CANNOT_LINK and same.any():
        row = int(np.flatnonzero(same)[0])
        same_one = name(int(table[row, 0]))
        msg = f"cannot_link({same_one}, {same_one}) (row {row}), expected two samples.\nHint: remove that row."
        raise ConstraintError(msg)
    if kind is Kind.TRIPLET:
        third = (table[:, 2] == table[:, 0]) | (table[:, 2] == table[:, 1])
        if third.any():
            row = int(np.flatnonzero(third)[0])
            a, b, c = (name(int(v)) for v in table[row])
            msg = (
                f"triplet ({a}, {b}, {c}) (row {row}) names {c} on both sides, expected three samples.\n"
                "Hint: a row a, b, c reads ab|c and needs c different from a and b."
            )
            raise ConstraintError(msg)
    if same.any():
        form = "must_link(i, i)" if kind is Kind.MUST_LINK else "triplet (a, a, c)"
        warnings.warn(trivial(int(same.sum()), form), LinkwiseWarning, stacklevel=4)
    return np.asarray(~same)


def read_weights(weight: Any, counts: Mapping[str, int]) -> FloatArray:
    """Read weights as one value per statement, from a number, a sequence over all statements, or a mapping by kind."""
    total = sum(counts.values())
    if isinstance(weight, Mapping):
        unknown = sorted(set(weight) - set(counts))
        if unknown:
            msg = f"weight has the key {unknown[0]!r}, expected keys among {sorted(counts)}."
            raise ConstraintError(msg)
        parts = [read_weights(weight.get(word, np.inf), {word: m}) for word, m in counts.items()]
        return np.concatenate(parts) if parts else np.empty(0)
    if isinstance(weight, (str, bytes)):
        msg = f"weight is {weight!r}, expected numbers >= 0 (inf = hard)."
        raise ConstraintError(msg)
    try:
        values = np.array(weight, dtype=np.float64)
    except (TypeError, ValueError) as bad:
        msg = f"weight is {weight!r}, expected numbers >= 0 (inf = hard)."
        raise ConstraintError(msg) from bad
    if values.ndim == 0:
        values = np.full(total, float(values))
    if values.shape != (total,):
        msg = f"weight has shape {values.shape}, expected one value for each of the {total} statements, or one for all."
        raise ConstraintError(msg)
    bad_value = np.isnan(values) | (values < 0)
    if bad_value.any():
        row = int(np.flatnonzero(bad_value)[0])
        msg = f"weight of statement {row} is {values[row]}, expected a number >= 0 (inf = hard)."
        raise ConstraintError(msg)
    return values
