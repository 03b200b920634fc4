"""The table of what was said: one immutable row per statement, sliced along samples like ``X``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from linkwise.constraints._read import Kind, check_items, read_items, read_weights
from linkwise.constraints._rules import Rule
from linkwise.exceptions import ConstraintError

__all__ = ["Constraints"]

IntArray = npt.NDArray[np.intp]


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array nobody can write to: itself if it is one, else a copy, so that no caller's array is frozen."""
    if array.flags.writeable or array.base is not None or not array.flags.c_contiguous:
        array = np.array(array, order="C")
        array.setflags(write=False)
    return array


class Constraints:
    """What was said about ``n_samples`` samples, as an immutable table with one row per statement.

    Use `build`, `from_labels` or `from_ids` rather than the constructor. The table behaves like an array along
    samples: ``constraints[rows]`` keeps the statements whose samples are all in ``rows`` and renumbers them, so
    scikit-learn splits it like ``X``.

    Attributes
    ----------
    n_samples : int
        How many samples the statements speak about; ``shape == (n_samples,)``.
    kind : ndarray of int8, shape (m,)
        The `Kind` of each statement.
    items : ndarray of intp, shape (m, 3)
        Sample numbers, smaller of an interchangeable pair first; pairs are padded with -1.
    weight : ndarray of float64, shape (m,)
        Price of breaking the statement; ``inf`` means hard.
    row : ndarray of intp, shape (m,)
        Where the statement stood in what the user gave (its ``#`` number in messages).
    rules : tuple of Rule
        Statements about clusters rather than samples.
    ids : ndarray or None
        The user's name for each sample.

    Notes
    -----
    **Cost** building, de-duplicating, slicing and set algebra are array code, O(m log m) at most.
    **Guarantee** every stored statement names valid, different samples and has a weight > 0.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> c = Constraints.build(5, must_link=[(0, 1)], cannot_link=[(1, 4)], triplets=[(2, 3, 0)])
    >>> c
    Constraints(5 samples: 1 must-link, 1 cannot-link, 1 triplet; all hard)
    >>> c.describe(1)
    '#1 cannot_link(1, 4)'
    >>> c[[0, 1, 4]].describe(1)
    '#1 cannot_link(1, 2)'
    """

    __slots__ = ("_hash", "ids", "items", "kind", "n_samples", "row", "rules", "weight")

    n_samples: int
    kind: npt.NDArray[np.int8]
    items: IntArray
    weight: npt.NDArray[np.float64]
    row: IntArray
    rules: tuple[Rule, ...]
    ids: npt.NDArray[Any] | None
    _hash: int | None

    def __init__(
        self,
        n_samples: int,
        kind: npt.NDArray[np.int8],
        items: IntArray,
        weight: npt.NDArray[np.float64],
        row: IntArray,
        rules: tuple[Rule, ...] = (),
        ids: npt.NDArray[Any] | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "n_samples", n_samples)
        put(self, "kind", _frozen(kind))
        put(self, "items", _frozen(items))
        put(self, "weight", _frozen(weight))
        put(self, "row", _frozen(row))
        put(self, "rules", rules)
        put(self, "ids", None if ids is None else _frozen(ids))
        put(self, "_hash", None)

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"Constraints are immutable; {name} cannot be set.\nHint: build a new table, or combine tables with `|`."
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    # -- making ------------------------------------------------------------------------------------------------

    @classmethod
    def build(
        cls,
        n_samples: int,
        *,
        must_link: Any = (),
        cannot_link: Any = (),
        triplets: Any = (),
        weight: Any = np.inf,
        rules: Iterable[Rule] | Rule = (),
    ) -> Self:
        """Build the table from arrays of sample numbers.

        Parameters
        ----------
        n_samples : int
            Number of samples; statements name them 0 to ``n_samples - 1``.
        must_link, cannot_link : array-like of shape (m, 2)
            Pairs that belong together, pairs that do not.
        triplets : array-like of shape (m, 3)
            A row ``a, b, c`` reads ab|c: a and b meet strictly below where either meets c.
        weight : float, sequence or mapping, default=inf
            One price for all, one per statement (must-links, then cannot-links, then triplets), or a mapping from
            ``"must_link"``, ``"cannot_link"``, ``"triplets"`` to either. Weight 0 drops the statement.
        rules : Rule or iterable of Rule
            Statements about clusters, such as ``MinSeparation(0.1)``.

        Returns
        -------
        Constraints

        Raises
        ------
        ConstraintError
            A row names a sample that does not exist or contradicts itself.

        Examples
        --------
        >>> from linkwise import Constraints
        >>> Constraints.build(4, must_link=[(0, 1), (1, 2)], weight=0.5).weight.tolist()
        [0.5, 0.5]
        """
        n_samples = _sample_count(n_samples)
        return cls._from_tables(n_samples, [must_link, cannot_link, triplets], weight, rules, None)

    @classmethod
    def _from_tables(
        cls,
        n_samples: int,
        given: Sequence[Any],
        weight: Any,
        rules: Iterable[Rule] | Rule,
        ids: npt.NDArray[Any] | None,
    ) -> Self:
        name: Callable[[int], str] = str if ids is None else lambda i: str(ids[i])
        tables = [read_items(kind, rows, n_samples) for kind, rows in zip(Kind, given, strict=True)]
        weights = read_weights(weight, {kind.word: len(table) for kind, table in zip(Kind, tables, strict=True)})
        items = np.full((len(weights), 3), -1, dtype=np.intp)
        kinds = np.repeat(np.arange(3, dtype=np.int8), [len(table) for table in tables])
        keep = weights > 0
        start = 0
        for kind, table in zip(Kind, tables, strict=True):
            rows = slice(start, start + len(table))
            keep[rows] &= check_items(kind, table, name)
            np.minimum(table[:, 0], table[:, 1], out=items[rows, 0])
            np.maximum(table[:, 0], table[:, 1], out=items[rows, 1])
            if kind is Kind.TRIPLET:
                items[rows, 2] = table[:, 2]
            start = rows.stop
        row = np.arange(len(weights), dtype=np.intp)
        if not keep.all():
            kinds, items, weights, row = kinds[keep], items[keep], weights[keep], row[keep]
        return cls(n_samples, kinds, items, weights, row, _rule_tuple(rules), ids)

    @classmethod
    def from_labels(cls, y: Any, *, unlabeled: Any = -1, weight: Any = np.inf) -> Self:
        """Build must- and cannot-links that say exactly what (partial) labels say.

        Each class becomes a chain of must-links, each pair of classes one cannot-link: O(n + k²) statements that
        entail all pairs.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Class of each sample.
        unlabeled : scalar, default=-1
            The value that means "not known".
        weight : float, default=inf
            Price of breaking one statement.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> from linkwise import Constraints
        >>> Constraints.from_labels([0, 0, 1, -1])
        Constraints(4 samples: 1 must-link, 1 cannot-link; all hard)
        """
        from linkwise.constraints._sources import pairs_of_labels

        n_samples, must_link, cannot_link = pairs_of_labels(y, unlabeled)
        return cls._from_tables(n_samples, [must_link, cannot_link, ()], weight, (), None)

    @classmethod
    def from_ids(
        cls,
        ids: Any,
        statements: Iterable[Sequence[Any]] | None = None,
        *,
        must_link: Any = (),
        cannot_link: Any = (),
        triplets: Any = (),
        weight: Any = np.inf,
        rules: Iterable[Rule] | Rule = (),
    ) -> Self:
        """Build the table from the user's own identifiers instead of row numbers.

        Parameters
        ----------
        ids : array-like of shape (n_samples,)
            One unique identifier per sample, in the order of the rows of X.
        statements : iterable of tuples, optional
            ``("must_link", a, b)``, ``("cannot_link", a, b)`` or ``("triplet", a, b, c)``, each with an optional
            weight at its end. Alternative to the keywords below.
        must_link, cannot_link, triplets, weight, rules
            As in `build`, with identifiers for numbers.

        Returns
        -------
        Constraints
            ``ids`` is kept: messages use the names, and `fit` binds by name when X is a frame with an index.

        Examples
        --------
        >>> from linkwise import Constraints
        >>> c = Constraints.from_ids(["otter", "mink", "seal"], [("triplet", "otter", "mink", "seal")])
        >>> c.describe(0)
        '#0 triplet(otter, mink | seal)'
        """
        from linkwise.constraints._sources import read_ids, sort_statements, to_positions

        names = read_ids(ids)
        if statements is not None:
            return sort_statements(cls, names, statements, rules)
        given = [
            to_positions(names, kind, rows) for kind, rows in zip(Kind, (must_link, cannot_link, triplets), strict=True)
        ]
        return cls._from_tables(len(names), given, weight, rules, names)

    # -- reading -----------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int]:
        """``(n_samples,)``: what makes scikit-learn split the table along samples."""
        return (self.n_samples,)

    @property
    def n_statements(self) -> int:
        """How many statements about samples the table holds (rules not counted)."""
        return len(self.kind)

    @property
    def is_hard(self) -> npt.NDArray[np.bool_]:
        """Mask of the statements that may not be broken."""
        return np.isinf(self.weight)

    def of(self, kind: Kind) -> IntArray:
        """Return the samples of all statements of one kind, ``intp[k, arity]``."""
        return self.items[self.kind == kind, : Kind(kind).arity]

    def name(self, sample: int) -> str:
        """How messages call a sample: its identifier, or its number."""
        return str(sample) if self.ids is None else str(self.ids[sample])

    def describe(self, statement: int) -> str:
        """Word one statement for a person, with the number it had when given."""
        kind = Kind(int(self.kind[statement]))
        a, b, c = (int(v) for v in self.items[statement])
        body = f"{self.name(a)}, {self.name(b)}"
        if kind is Kind.TRIPLET:
            body = f"triplet({body} | {self.name(c)})"
        else:
            body = f"{kind.word}({body})"
        weight = float(self.weight[statement])
        return f"#{int(self.row[statement])} {body}" + ("" if np.isinf(weight) else f" weight {weight:g}")

    def __len__(self) -> int:
        """The number of samples, as ``shape`` says; see `n_statements` for the number of statements."""
        return self.n_samples

    def __bool__(self) -> bool:
        """Whether anything at all was said."""
        return bool(self.n_statements or self.rules)

    __iter__ = None  # rows of X are not iterated one by one; `items`, `of` and `describe` read statements

    def __repr__(self) -> str:
        parts = []
        for kind, one in zip(Kind, ("must-link", "cannot-link", "triplet"), strict=True):
            count = int((self.kind == kind).sum())
            if count:
                parts.append(f"{count:,} {one}{'s' if count > 1 else ''}")
        parts += [repr(rule) for rule in self.rules]
        text = f"Constraints({self.n_samples:,} samples: {', '.join(parts) or 'nothing said'}"
        if self.n_statements:
            soft = int((~self.is_hard).sum())
            text += "; all hard" if soft == 0 else f"; {soft:,} of {self.n_statements:,} soft"
        return text + ")"

    def _repr_html_(self) -> str:
        from html import escape

        shown = "".join(f"<li><code>{escape(self.describe(i))}</code></li>" for i in range(min(5, self.n_statements)))
        more = self.n_statements - 5
        shown += f"<li>… and {more:,} more</li>" if more > 0 else ""
        return f"<div><strong>{escape(repr(self))}</strong><ul>{shown}</ul></div>"

    # -- slicing and algebra -----------------------------------------------------------------------------------

    def __getitem__(self, samples: Any) -> Self:
        """Keep the statements about ``samples`` and renumber them to positions in ``samples``."""
        if isinstance(samples, tuple):  # scikit-learn indexes with (rows, ...)
            samples = samples[0]
        chosen = np.arange(self.n_samples)[samples]
        if chosen.ndim != 1:
            msg = f"constraints[{samples!r}] picks one sample, expected a list, mask or slice of samples."
            raise ConstraintError(msg)
        position = np.full(self.n_samples + 1, -1, dtype=np.intp)  # the last entry serves the padding -1
        position[chosen] = np.arange(len(chosen))
        if (position[chosen] != np.arange(len(chosen))).any():
            msg = (
                "constraints[samples] names a sample twice, expected each at most once.\n"
                "Hint: split without replacement."
            )
            raise ConstraintError(msg)
        items = position[self.items]
        keep = (items[:, :2] >= 0).all(axis=1) & ((items[:, 2] >= 0) | (self.kind != Kind.TRIPLET))
        items, kind = items[keep], self.kind[keep]
        flip = items[:, 0] > items[:, 1]
        items[flip, :2] = items[flip, 1::-1]
        ids = None if self.ids is None else self.ids[chosen]
        return type(self)(len(chosen), kind, items, self.weight[keep], self.row[keep], self.rules, ids)

    def select(self, statements: Any) -> Self:
        """Keep the statements a mask or index array over statements picks; samples stay as they are."""
        picked = np.arange(self.n_statements)[statements]
        return type(self)(
            self.n_samples,
            self.kind[picked],
            self.items[picked],
            self.weight[picked],
            self.row[picked],
            self.rules,
            self.ids,
        )

    def reorder(self, samples: Any) -> Self:
        """Renumber so that new sample ``i`` is old sample ``samples[i]``; ``samples`` must be a permutation."""
        if len(samples) != self.n_samples:
            msg = f"reorder got {len(samples)} samples, expected a permutation of all {self.n_samples}."
            raise ConstraintError(msg)
        return self[samples]

    def with_rules(self, *rules: Rule) -> Self:
        """Return the same statements with ``rules`` in place of the current ones."""
        return type(self)(self.n_samples, self.kind, self.items, self.weight, self.row, _rule_tuple(rules), self.ids)

    def unique(self) -> Self:
        """Merge repeated statements: soft weights add up, a hard copy makes the statement hard; first row is kept."""
        group, first = _group(self)
        weight = np.bincount(group, weights=self.weight, minlength=len(first)).astype(np.float64)
        order = np.argsort(first, kind="stable")
        first = first[order]
        return type(self)(
            self.n_samples,
            self.kind[first],
            self.items[first],
            weight[order],
            self.row[first],
            tuple(dict.fromkeys(self.rules)),
            self.ids,
        )

    def __or__(self, other: Constraints) -> Self:
        self._same_samples(other)
        offset = int(self.row.max()) + 1 if self.n_statements else 0
        return type(self)(
            self.n_samples,
            np.concatenate([self.kind, other.kind]),
            np.concatenate([self.items, other.items]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.row, other.row + offset]),
            tuple(dict.fromkeys(self.rules + other.rules)),
            self.ids if self.ids is not None else other.ids,
        )

    def __and__(self, other: Constraints) -> Self:
        self._same_samples(other)
        rules = tuple(rule for rule in self.rules if rule in other.rules)
        return self.select(self._found_in(other)).with_rules(*rules)

    def __sub__(self, other: Constraints) -> Self:
        self._same_samples(other)
        rules = tuple(rule for rule in self.rules if rule not in other.rules)
        return self.select(~self._found_in(other)).with_rules(*rules)

    def _same_samples(self, other: Constraints) -> None:
        if not isinstance(other, Constraints):
            msg = f"Constraints combine with Constraints, not with {type(other).__name__}."
            raise TypeError(msg)
        if self.n_samples != other.n_samples:
            msg = f"one table speaks of {self.n_samples} samples, the other of {other.n_samples}; expected the same."
            raise ConstraintError(msg)
        if self.ids is not None and other.ids is not None and not np.array_equal(self.ids, other.ids):
            msg = "the two tables name their samples differently.\nHint: `reorder` one of them to the other's ids."
            raise ConstraintError(msg)

    def _found_in(self, other: Constraints) -> npt.NDArray[np.bool_]:
        group, first = _group(self, other)
        present = np.zeros(len(first), dtype=bool)
        present[group[self.n_statements :]] = True
        return present[group[: self.n_statements]]

    def _canonical(self) -> tuple[Any, ...]:
        a, b, c = self.items.T
        order = np.lexsort((self.weight, c, b, a, self.kind))
        content = (self.kind[order].tobytes(), self.items[order].tobytes(), self.weight[order].tobytes())
        ids = None if self.ids is None else tuple(self.ids.tolist())
        return self.n_samples, content, frozenset(self.rules), ids

    def __eq__(self, other: object) -> bool:
        """Same samples, same statements with the same weights (in any order), same rules."""
        if not isinstance(other, Constraints):
            return NotImplemented
        return self._canonical() == other._canonical()

    def __hash__(self) -> int:
        known = self._hash
        if known is None:
            known = hash(self._canonical())
            object.__setattr__(self, "_hash", known)
        return known

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.n_samples, self.kind, self.items, self.weight, self.row, self.rules, self.ids)


def _group(*tables: Constraints) -> tuple[IntArray, IntArray]:
    """Number equal statements alike; return the group of every statement and the first member of every group."""
    kind = np.concatenate([table.kind for table in tables]).astype(np.intp)
    items = np.concatenate([table.items for table in tables])
    n = tables[0].n_samples
    if 3 * n * n * (n + 1) < 2**62:  # one 64-bit key per statement sorts fastest
        key = ((kind * n + items[:, 0]) * n + items[:, 1]) * (n + 1) + items[:, 2] + 1
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        return group, first
    order = np.lexsort((items[:, 2], items[:, 1], items[:, 0], kind))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(items[order], axis=0) != 0).any(axis=1) | (np.diff(kind[order]) != 0)
    group = np.empty(len(order), dtype=np.intp)
    group[order] = np.cumsum(new) - 1
    return group, order[new]


def _sample_count(n_samples: object) -> int:
    if isinstance(n_samples, (bool, np.bool_)) or not isinstance(n_samples, (int, np.integer)) or n_samples < 0:
        msg = f"n_samples is {n_samples!r}, expected a whole number >= 0 (the number of rows of X)."
        raise ConstraintError(msg)
    return int(n_samples)


def _rule_tuple(rules: Iterable[Rule] | Rule) -> tuple[Rule, ...]:
    given = (rules,) if isinstance(rules, Rule) else tuple(rules)
    for rule in given:
        if not isinstance(rule, Rule):
            msg = f"rules holds {rule!r}, expected rules such as MinSeparation(0.5)."
            raise ConstraintError(msg)
    return given
