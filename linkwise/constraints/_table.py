"""The table of constraints: one immutable row per statement, sliced along samples like ``X``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from linkwise._typing import BoolArray, IntArray
from linkwise.constraints._entries import Entry, list_entries, remove
from linkwise.constraints._groups import join_groups
from linkwise.constraints._kinds import read_weights
from linkwise.constraints._label_statements import join_labels
from linkwise.constraints._rules import Rule, rule_tuple
from linkwise.constraints._statement_arrays import FIELDS
from linkwise.constraints._table_building import Building
from linkwise.exceptions import ConstraintError

DOUBTFUL = 0.95  # trust in a doubtful statement


class Constraints(Building):
    """Statements about ``n_samples`` samples, as an immutable table with one row per statement.

    Use `build`, `from_labels` or `from_ids` rather than the constructor. The table behaves like an array along
    samples: ``constraints[rows]`` keeps the statements whose samples are all in ``rows`` and renumbers them, so
    scikit-learn splits it like ``X``.

    Attributes
    ----------
    n_samples : int
        Number of samples that statements may name; ``shape == (n_samples,)``.
    n_statements : int
        Number of statements about samples, m; rules are not counted.
    kind : ndarray of int8, shape (m,)
        The `Kind` of each statement.
    items : ndarray of intp, shape (m, 3)
        Sample numbers, smaller of an interchangeable pair first; pairs are padded with -1. A statement about any
        number of samples has -1 in all three places.
    weight : ndarray of float64, shape (m,)
        Cost of breaking the statement; ``inf`` means hard.
    is_hard : ndarray of bool, shape (m,)
        Whether the statement may not be broken.
    row : ndarray of intp, shape (m,)
        Position of the statement in the user's input (its ``#`` number in messages).
    rules : tuple of Rule
        Statements about clusters rather than samples.
    ids : ndarray or None
        The user's name for each sample.
    groups : Groups
        The samples of the statements that name any number of them.
    labels : Labels
        The labeled samples from which statements follow, as given to `from_labels` or in label files. `check` and
        `repair` name these rather than the statements made from them. Equality of tables does not depend on them.

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

    # -- other weights, names and numbers ----------------------------------------------------------------------

    def with_weight(self, weight: Any) -> Self:
        """Return the same statements with other weights: one for all, or one per statement; ``inf`` makes them hard."""
        prices = read_weights(weight, {"all": self.n_statements})
        made = self._with(slice(None), prices, self.groups)
        return made if (prices > 0).all() else made.select(prices > 0)

    def with_trust(self, trust: Any, *, keep_weights: bool = False) -> Self:
        """Return the same statements with weights from the probability that they are right.

        Parameters
        ----------
        trust : float, "doubtful", "hard", or array-like of shape (n_statements,)
            Above 0.5 and at most 1. The weight is the log odds, 2.9 for 0.95; 1 or "hard" makes statements hard,
            "doubtful" stands for 0.95.
        keep_weights : bool, default=False
            Soft statements keep the weights they have.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> from linkwise import Constraints
        >>> sure = Constraints.build(4, must_link=[(0, 1)])
        >>> guess = Constraints.build(4, cannot_link=[(1, 2)]).with_trust(0.9)
        >>> (sure | guess).weight.round(1).tolist()
        [inf, 2.2]
        """
        words = {"hard": 1.0, "doubtful": DOUBTFUL}
        given = words.get(trust, trust) if isinstance(trust, str) else trust
        try:
            share = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            share = np.full(1, np.nan)
        if share.ndim > 1 or not ((share > 0.5) & (share <= 1.0)).all():
            msg = (
                f'with_trust: trust is {trust!r}, expected probabilities above 0.5 and up to 1, "doubtful" or "hard".\n'
                "Hint: trust=0.95 for statements of which one in twenty may be wrong."
            )
            raise ConstraintError(msg)
        if keep_weights and (share == 1.0).all():
            return self
        with np.errstate(divide="ignore"):
            weight = read_weights(np.log(share) - np.log1p(-share), {"all": self.n_statements})
        return self.with_weight(np.where(self.is_hard, weight, self.weight) if keep_weights else weight)

    def reorder(self, samples: Any) -> Self:
        """Renumber so that new sample ``i`` is old sample ``samples[i]``; ``samples`` must be a permutation."""
        if len(samples) != self.n_samples:
            msg = f"reorder got {len(samples)} samples, expected a permutation of all {self.n_samples}."
            raise ConstraintError(msg)
        return self[samples]

    def with_rules(self, *rules: Rule) -> Self:
        """Return the same statements with ``rules`` in place of the current ones."""
        return self._replace(rules=rule_tuple(rules))

    def with_ids(self, ids: Any) -> Self:
        """Return the same statements with other names for the samples; None for none."""
        from linkwise.constraints._from_labels_and_ids import read_ids

        names = None if ids is None else read_ids(ids)
        if names is not None and len(names) != self.n_samples:
            msg = f"with_ids got {len(names)} names, expected one for each of the {self.n_samples} samples."
            raise ConstraintError(msg)
        return self._replace(ids=names)

    def with_rows(self, rows: Any) -> Self:
        """Return the same statements with other numbers, by which messages and explanations name them.

        Parameters
        ----------
        rows : array-like of int, shape (n_statements,)
            Such as line numbers of a file or rows of a log; they may repeat. ``row[i]`` leads from a position that
            `check` or `repair` names back to it.

        Examples
        --------
        >>> from linkwise import Constraints, check
        >>> c = Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)]).with_rows([12, 40, 207])
        >>> [c.row[group[0]].item() for group in check(c).explanation.suspects]
        [207, 40, 12]
        >>> c.describe(2)
        '#207 cannot_link(0, 2)'
        """
        numbers = np.asarray(rows)
        if numbers.shape != (self.n_statements,) or (len(numbers) and numbers.dtype.kind not in "iu"):
            msg = f"with_rows got {numbers.dtype} of shape {numbers.shape}, expected {self.n_statements} whole numbers."
            raise ConstraintError(msg)
        return self._replace(row=numbers.astype(np.intp))

    def unique(self) -> Self:
        """Merge repeated statements: soft weights add up, a hard copy makes the statement hard; first row is kept."""
        alike, first = number_alike(self)
        weight = np.bincount(alike, weights=self.weight, minlength=len(first)).astype(np.float64)
        order = np.argsort(first, kind="stable")
        made = self.select(first[order])
        return made._with(slice(None), weight[order], made.groups).with_rules(*dict.fromkeys(self.rules))

    # -- entries, algebra and equality -----------------------------------------------------------------------

    def entries(self) -> tuple[Entry, ...]:
        """List the entries of the table: statements, members of groups together or apart, labeled samples.

        Examples
        --------
        >>> from linkwise import Constraints
        >>> constraints = Constraints.from_labels(["cat", "dog", "cat"])
        >>> [constraints.describe(entry) for entry in constraints.entries()]
        ['0 in label "cat"', '1 in label "dog"', '2 in label "cat"']
        """
        found = list_entries(self)
        return tuple(found.get(i) for i in range(len(found)))

    def without(self, entries: Iterable[Entry]) -> Self:
        """Return the table without some entries; groups and classes lose samples, other statements stay.

        Examples
        --------
        >>> from linkwise import Constraints
        >>> from linkwise.constraints import Entry
        >>> Constraints.build(4, together=[[0, 1, 2, 3]]).without([Entry(0, sample=2)]).describe(0)
        '#0 together(0, 1, 3)'
        """
        made, _ = remove(self, entries)
        return made  # type: ignore[return-value]

    def __or__(self, other: Constraints) -> Self:
        self._same_samples(other)
        offset = int(self.row.max()) + 1 if self.n_statements else 0
        return type(self)(
            self.n_samples,
            np.concatenate([self.kind, other.kind]),
            np.concatenate([self.items, other.items]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.row, other.row + offset]),
            rules=tuple(dict.fromkeys(self.rules + other.rules)),
            ids=self.ids if self.ids is not None else other.ids,
            groups=join_groups(self.groups, other.groups, self.n_statements),
            labels=join_labels(self.labels, other.labels, self.n_statements, other.n_statements),
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
            msg = f"Constraints combine with Constraints, got {type(other).__name__}.\nHint: `Constraints.build(...)`."
            raise TypeError(msg)
        if self.n_samples != other.n_samples:
            msg = (
                f"the tables are about {self.n_samples:,} and {other.n_samples:,} samples, expected the same number.\n"
                "Hint: `constraints[rows]` keeps the statements about some samples."
            )
            raise ConstraintError(msg)
        if self.ids is not None and other.ids is not None and not np.array_equal(self.ids, other.ids):
            msg = "the two tables have different ids, expected the same.\nHint: `reorder` one table to the other's ids."
            raise ConstraintError(msg)

    def _found_in(self, other: Constraints) -> BoolArray:
        alike, first = number_alike(self, other)
        present = np.zeros(len(first), dtype=bool)
        present[alike[self.n_statements :]] = True
        return present[alike[: self.n_statements]]

    def _canonical(self) -> tuple[Any, ...]:
        a, b, c = self.items.T
        order = np.lexsort((self.weight, c, b, a, self.kind))
        content = (self.kind[order].tobytes(), self.items[order].tobytes(), self.weight[order].tobytes())
        ids = None if self.ids is None else tuple(self.ids.tolist())
        groups = self.groups
        heads = zip(self.kind[groups.statement].tolist(), self.weight[groups.statement].tolist(), strict=True)
        named = sorted((*head, groups.of(g).tobytes()) for g, head in enumerate(heads))
        return self.n_samples, content, frozenset(self.rules), ids, tuple(named)

    def __eq__(self, other: object) -> bool:
        """Whether samples, statements with their weights (in any order) and rules are equal."""
        if not isinstance(other, Constraints):
            return NotImplemented
        return self._canonical() == other._canonical()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self._canonical())

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: getattr(self, name) for name in FIELDS}
        return partial(type(self), **fields | {name: tuple(fields[name]) for name in ("groups", "labels")}), ()


def number_alike(*tables: Constraints) -> tuple[IntArray, IntArray]:
    """Number equal statements alike; return the number of every statement and the first statement of every number."""
    kind = np.concatenate([table.kind for table in tables]).astype(np.intp)
    items = np.concatenate([table.items for table in tables])
    n = tables[0].n_samples
    if any(len(table.groups.statement) for table in tables):
        items[:, 2] = np.where(items[:, 0] < 0, _content(tables), items[:, 2])
    elif 3 * n * n * (n + 1) < 2**62:  # one 64-bit key per statement sorts fastest
        key = ((kind * n + items[:, 0]) * n + items[:, 1]) * (n + 1) + items[:, 2] + 1
        _, first, alike = np.unique(key, return_index=True, return_inverse=True)
        return alike, first
    order = np.lexsort((items[:, 2], items[:, 1], items[:, 0], kind))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(items[order], axis=0) != 0).any(axis=1) | (np.diff(kind[order]) != 0)
    alike = np.empty(len(order), dtype=np.intp)
    alike[order] = np.cumsum(new) - 1
    return alike, order[new]


def _content(tables: tuple[Constraints, ...]) -> IntArray:
    """Return a number for the members of each group statement, 0 for other statements."""
    seen: dict[bytes, int] = {}
    parts = []
    for table in tables:
        code = np.zeros(table.n_statements, dtype=np.intp)
        groups = table.groups
        for g, statement in enumerate(groups.statement):
            code[statement] = seen.setdefault(groups.of(g).tobytes(), len(seen))
        parts.append(code)
    return np.concatenate(parts)
