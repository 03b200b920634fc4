"""The table of constraints: one immutable row per statement, sliced along samples like ``X``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from linkwise._messages import more_lines
from linkwise._notebook import card
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise._validation import read_choice, read_count
from linkwise.constraints._disjunctions import links_of, read_disjunctions
from linkwise.constraints._entries import Entry, list_entries, remove
from linkwise.constraints._equal_statements import number_alike
from linkwise.constraints._groups import (
    NO_GROUPS,
    Groups,
    gather,
    join_groups,
    read_groups,
    renumber_groups,
    take_groups,
)
from linkwise.constraints._kinds import Kind, check_items, read_items, read_weights
from linkwise.constraints._label_statements import (
    NO_LABELS,
    Labels,
    chained_labels,
    join_labels,
    select_labels,
    slice_labels,
)
from linkwise.constraints._rules import Rule
from linkwise.exceptions import ConstraintError

_SHOWN = 6
_FIELDS = ("n_samples", "kind", "items", "weight", "row", "rules", "ids", "groups", "labels")  # of the constructor


DOUBTFUL = 0.95  # trust in a doubtful statement


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array if it is read-only, else a read-only copy, so that no caller's array is frozen."""
    if array.flags.writeable or array.base is not None or not array.flags.c_contiguous:
        array = np.array(array, order="C")
        array.setflags(write=False)
    return array


class Constraints:
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

    n_samples: int
    n_statements: int
    is_hard: BoolArray
    kind: npt.NDArray[np.int8]
    items: IntArray
    weight: FloatArray
    row: IntArray
    rules: tuple[Rule, ...]
    ids: npt.NDArray[Any] | None
    groups: Groups
    labels: Labels

    def __init__(
        self,
        n_samples: int,
        kind: npt.NDArray[np.int8],
        items: IntArray,
        weight: FloatArray,
        row: IntArray,
        *,
        rules: tuple[Rule, ...] = (),
        ids: npt.NDArray[Any] | None = None,
        groups: Groups = NO_GROUPS,
        labels: Labels = NO_LABELS,
    ) -> None:
        put = object.__setattr__
        put(self, "n_samples", n_samples)
        put(self, "kind", _frozen(kind))
        put(self, "items", _frozen(items))
        put(self, "weight", _frozen(weight))
        put(self, "n_statements", len(kind))
        put(self, "is_hard", _frozen(np.isinf(weight)))
        put(self, "row", _frozen(row))
        put(self, "rules", rules)
        put(self, "ids", None if ids is None else _frozen(ids))
        put(self, "groups", Groups(*(_frozen(array) for array in groups)))
        put(self, "labels", Labels(*(_frozen(array) for array in labels)) if len(labels[0]) else NO_LABELS)

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
        together: Any = (),
        apart: Any = (),
        must_link_any: Any = (),
        cannot_link_any: Any = (),
        either: Any = (),
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
        together, apart : iterable of iterables of int
            Groups whose samples share one cluster; groups of which no two samples do ("at most one per source"). Each
            group is one statement and is never written out as pairs.
        must_link_any, cannot_link_any : iterable of iterables of int
            Choices ``x, y1, y2, ...``: x shares a cluster with at least one of the others; x is apart from at least
            one of them.
        either : iterable of lists of links
            Disjunctions: of the links of each, such as ``[("must_link", 0, 1), ("cannot_link", 2, 3)]``, at least one
            holds. "If a and b are together, so are c and d" is ``[("cannot_link", a, b), ("must_link", c, d)]``.
        weight : float, sequence or mapping, default=inf
            One cost for all, one per statement (in the order of the keywords here), or a mapping from keywords such
            as ``"must_link"`` to either. Weight 0 drops the statement.
        rules : Rule or iterable of Rule
            Statements about clusters, such as ``MinSeparation(0.1)``.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> from linkwise import Constraints
        >>> Constraints.build(4, must_link=[(0, 1), (1, 2)], weight=0.5).weight.tolist()
        [0.5, 0.5]
        >>> Constraints.build(100_000, apart=[range(0, 100), range(50, 150)])
        Constraints(100,000 samples: 2 groups apart; all hard)
        >>> Constraints.build(4, either=[[("must_link", 0, 1), ("cannot_link", 3, 2)]]).describe(0)
        '#0 either(must_link(0, 1), cannot_link(2, 3))'
        """
        n_samples = read_count(n_samples, "n_samples", note=" (the number of rows of X)", error=ConstraintError)
        given = [must_link, cannot_link, triplets, together, apart, must_link_any, cannot_link_any, either]
        return cls._from_tables(n_samples, given, weight, rules, None)

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
        plain = [kind for kind in Kind if not kind.is_group]
        tables = [read_items(kind, rows, n_samples) for kind, rows in zip(plain, given, strict=False)]
        read = []
        for kind in Kind:  # a loop, so that warnings point at the caller's line
            if kind is Kind.EITHER and kind < len(given):
                read += [read_disjunctions(given[kind], n_samples, name)]
            elif kind.is_group and kind < len(given):
                read += [read_groups(kind, given[kind], n_samples, name)]
        counts = [len(table) for table in tables] + [len(says) for says, _ in read]
        weights = read_weights(weight, {Kind(k).word: count for k, count in enumerate(counts)})
        items = np.full((len(weights), 3), -1, dtype=np.intp)
        kinds = np.repeat(np.arange(len(counts), dtype=np.int8), counts)
        keep = weights > 0
        groups = NO_GROUPS
        start = 0
        for kind, table in zip(plain, tables, strict=True):
            rows = slice(start, start + len(table))
            keep[rows] &= check_items(kind, table, name)
            np.minimum(table[:, 0], table[:, 1], out=items[rows, 0])
            np.maximum(table[:, 0], table[:, 1], out=items[rows, 1])
            if kind is Kind.TRIPLET:
                items[rows, 2] = table[:, 2]
            start = rows.stop
        for says, found in read:
            keep[start : start + len(says)] &= says
            groups = join_groups(groups, found, start)  # `found` counts its rows from 0
            start += len(says)
        row = np.arange(len(weights), dtype=np.intp)
        made = cls(n_samples, kinds, items, weights, row, rules=_rule_tuple(rules), ids=ids, groups=groups)
        return made if keep.all() else made.select(keep)

    @classmethod
    def from_labels(cls, y: Any, *, unlabeled: Any = -1, weight: Any = np.inf) -> Self:
        """Build must-links and cannot-links that are equivalent to (partial) labels.

        Each class becomes a chain of must-links, each pair of classes one cannot-link: O(n + k²) statements that
        entail all pairs. The labels themselves are kept in ``labels``, so that `check` and `repair` name the sample
        with the wrong label and not a statement made from it.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Class of each sample. None, NaN, pandas.NA and masked values mean "not known".
        unlabeled : scalar, default=-1
            Another value that means "not known".
        weight : float, default=inf
            Cost of breaking one statement.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> from linkwise import Constraints
        >>> Constraints.from_labels([0, 0, 1, -1])
        Constraints(4 samples: 1 must-link, 1 cannot-link; all hard)
        >>> Constraints.from_labels(["cat", "cat", "dog", None])
        Constraints(4 samples: 1 must-link, 1 cannot-link; all hard)
        """
        from linkwise.constraints._from_labels_and_ids import pairs_of_labels

        n_samples, must_link, cannot_link = pairs_of_labels(y, unlabeled)
        made = cls._from_tables(n_samples, [must_link, cannot_link, ()], weight, (), None)
        if made.n_statements < len(must_link) + len(cannot_link) or not made.n_statements:
            return made  # weight 0 drops statements
        labels = chained_labels(y, must_link, cannot_link)
        every = np.arange(made.n_statements)
        return made._with(every, made.weight, made.groups, select_labels(labels, every, made.weight))

    @classmethod
    def from_groups(
        cls, y: Any, *, say: Literal["together", "apart"] = "together", unlabeled: Any = -1, weight: Any = np.inf
    ) -> Self:
        """Build one statement per group of a column: its samples belong together, or no two of them do.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The group of each sample, such as the photograph a face was cut from. None, NaN, pandas.NA and masked values
            mean "in no group".
        say : {"together", "apart"}, default="together"
            The statement about each group. There are none between groups.
        unlabeled : scalar, default=-1
            Another value that means "in no group"; groups of one sample are dropped.
        weight : float, default=inf
            Cost of breaking one statement.

        Returns
        -------
        Constraints

        Notes
        -----
        **Cost** O(n log n), whatever the sizes of the groups.

        Examples
        --------
        >>> from linkwise import Constraints
        >>> Constraints.from_groups(["a", "a", "b", "a", "b"], say="apart").describe(0)
        '#0 apart(0, 1, 3)'
        """
        from linkwise.constraints._from_labels_and_ids import members_of_groups

        read_choice(say, "say", "from_groups", ("together", "apart"), error=ConstraintError)
        n_samples, sizes, member = members_of_groups(y, unlabeled)
        count = len(sizes)
        kind = np.full(count, Kind.TOGETHER if say == "together" else Kind.APART, dtype=np.int8)
        groups = gather(np.arange(count), sizes, member)
        weights = read_weights(weight, {say: count})
        made = cls(n_samples, kind, np.full((count, 3), -1), weights, np.arange(count), groups=groups)
        return made.select(weights > 0)

    @classmethod
    def from_ids(
        cls,
        ids: Any,
        statements: Iterable[Sequence[Any]] | None = None,
        *,
        must_link: Any = (),
        cannot_link: Any = (),
        triplets: Any = (),
        together: Any = (),
        apart: Any = (),
        must_link_any: Any = (),
        cannot_link_any: Any = (),
        either: Any = (),
        weight: Any = np.inf,
        rules: Iterable[Rule] | Rule = (),
    ) -> Self:
        """Build the table from the user's identifiers instead of row numbers.

        Parameters
        ----------
        ids : array-like of shape (n_samples,)
            One unique identifier per sample, in the order of the rows of X.
        statements : iterable of tuples, optional
            ``("must_link", a, b)``, ``("cannot_link", a, b)``, ``("triplet", a, b, c)``, or with a list
            ``("together", [a, b, c])``, ``("apart", [...])``, ``("must_link_any", [...])``,
            ``("cannot_link_any", [...])``, ``("either", [("must_link", a, b), ("cannot_link", c, d)])``, each with an
            optional weight at its end. Alternative to the keywords below.
        must_link, cannot_link, triplets, together, apart, must_link_any, cannot_link_any, either, weight, rules
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
        from linkwise.constraints._from_labels_and_ids import read_ids, sort_statements, to_places

        names = read_ids(ids)
        if statements is not None:
            return sort_statements(cls, names, statements, rules)
        named = [must_link, cannot_link, triplets, together, apart, must_link_any, cannot_link_any, either]
        given = [to_places(names, kind, rows) for kind, rows in zip(Kind, named, strict=True)]
        return cls._from_tables(len(names), given, weight, rules, names)

    @classmethod
    def from_frame(cls, frame: Any, ids: Any) -> Self:
        """Build the table from a data frame with one row per statement, as `to_frame` writes it.

        Parameters
        ----------
        frame : data frame of pandas, polars or pyarrow
            Columns ``kind`` ("must_link", "cannot_link", "triplet", "together", ..., for a disjunction its links, as in
            "must_link or cannot_link"), ``a``, ``b`` and ``c`` (pairs leave c empty), ``samples`` (the list of a group,
            two for each link of a disjunction), ``weight`` (nothing: hard). A column ``note`` is ignored.
        ids : array-like of shape (n_samples,), or int
            The identifiers that the frame uses, in the order of the rows of X; or the number of samples, if it uses
            row numbers.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> import pandas as pd
        >>> from linkwise import Constraints
        >>> said = pd.DataFrame({"kind": ["must_link", "cannot_link"], "a": ["otter", "otter"], "b": ["mink", "carp"]})
        >>> Constraints.from_frame(said, ["otter", "mink", "carp"])
        Constraints(3 samples: 1 must-link, 1 cannot-link; all hard)
        """
        from linkwise.constraints._statement_frames import table_of

        return table_of(cls, frame, ids)

    # -- reading -----------------------------------------------------------------------------------------------

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return the statements as a data frame, one row each, in the order they were given.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            The library of the frame.

        Returns
        -------
        data frame
            Columns as `from_frame` reads them, which gives an equal table again; a hard statement has weight ``inf``.
            What labels the statements were made from is not written.

        Raises
        ------
        ConstraintError
            The table has rules, which are about no samples.

        Examples
        --------
        >>> from linkwise import Constraints
        >>> Constraints.from_ids(["otter", "mink", "carp"], cannot_link=[("otter", "carp")]).to_frame()
                  kind      a     b  weight
        0  cannot_link  otter  carp     inf
        """
        from linkwise.constraints._statement_frames import frame_of

        return frame_of(self, backend)

    @property
    def shape(self) -> tuple[int]:
        """``(n_samples,)``, so that scikit-learn splits the table along samples."""
        return (self.n_samples,)

    def of(self, kind: Kind) -> IntArray:
        """Return the samples of all statements of one kind, ``intp[k, arity]``; see `groups_of` for group kinds."""
        return self.items[self.kind == kind, : Kind(kind).arity]

    def groups_of(self, kind: Kind) -> Groups:
        """Return the groups of one kind, such as ``Kind.APART``, with the positions of their statements."""
        return self.groups.pick(self.kind[self.groups.statement] == kind)

    def must_links(self) -> tuple[IntArray, IntArray]:
        """Return must-links that entail all must-links and groups together, and the statement of each.

        The must-links come first, then each group together as a chain: as many pairs as samples, less one.
        """
        at = np.flatnonzero(self.kind == Kind.MUST_LINK)
        pairs = self.items[at, :2]
        chunklets = self.groups_of(Kind.TOGETHER)
        if not len(chunklets.statement):
            return pairs, at
        owner = chunklets.owner
        same = owner[1:] == owner[:-1]
        chain = np.column_stack([chunklets.member[:-1][same], chunklets.member[1:][same]])
        return np.concatenate([pairs, chain]), np.concatenate([at, chunklets.statement[owner[1:][same]]])

    def samples_of(self, statement: int) -> IntArray:
        """Return the samples that one statement names, two for each link of a disjunction."""
        kind = Kind(int(self.kind[statement]))
        if kind.is_group:
            return self.groups.of(int(np.searchsorted(self.groups.statement, statement)))
        return self.items[statement, : kind.arity]

    def name(self, sample: int) -> str:
        """Return the name of a sample in messages: its identifier, or its number."""
        return str(sample) if self.ids is None else str(self.ids[sample])

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

    def describe(self, statement: int | Entry) -> str:
        """Write one statement or one entry in words, with the number of the statement in the user's input."""
        if isinstance(statement, Entry):
            return self._describe_entry(statement)
        kind = Kind(int(self.kind[statement]))
        weight = float(self.weight[statement])
        tail = "" if np.isinf(weight) else f" weight {weight:g}"
        return f"#{int(self.row[statement])} {self._body(kind, statement)}{tail}"

    def describe_each(self, statements: Iterable[int | Entry]) -> tuple[str, ...]:
        """Write statements or entries in words, as `describe` writes one."""
        return tuple(self.describe(statement) for statement in statements)

    def _describe_entry(self, entry: Entry) -> str:
        if entry.label >= 0:
            word = f'label "{self.labels.name[self.labels.label[entry.label]]}"'
            price = float(self.weight[entry.statement]) if entry.statement >= 0 else np.inf
            word += "" if np.isinf(price) else f" weight {price:g}"
        else:
            word = self.describe(entry.statement)
        return word if entry.sample < 0 else f"{self.name(entry.sample)} in {word}"

    def _body(self, kind: Kind, statement: int) -> str:
        if kind.is_group:
            members = self.samples_of(statement)
            if kind is Kind.EITHER:
                links = [f"{word}({self.name(a)}, {self.name(b)})" for word, a, b in links_of(members[: 2 * _SHOWN])]
                left = len(members) // 2 - len(links)
                return f"{kind.word}({', '.join(links)}{f', ... {left:,} more' if left else ''})"
            names = [self.name(int(m)) for m in members[:_SHOWN]]
            more = f", ... {len(members) - _SHOWN:,} more" if len(members) > _SHOWN else ""  # inside parentheses
            listed = f"{names[0]}: {', '.join(names[1:])}" if kind.is_choice else ", ".join(names)
            return f"{kind.word}({listed}{more})"
        a, b, c = (int(v) for v in self.items[statement])
        body = f"{self.name(a)}, {self.name(b)}"
        return f"triplet({body} | {self.name(c)})" if kind is Kind.TRIPLET else f"{kind.word}({body})"

    def __len__(self) -> int:
        """Return the number of samples, as in ``shape``; see `n_statements` for the number of statements."""
        return self.n_samples

    def __bool__(self) -> bool:
        """Whether there are statements or rules."""
        return bool(self.n_statements or self.rules)

    __iter__ = None  # rows of X are not iterated one by one; `items`, `of` and `describe` read statements

    def __repr__(self) -> str:
        counts = {kind: int((self.kind == kind).sum()) for kind in Kind}
        parts = [kind.count(count) for kind, count in counts.items() if count] + [repr(rule) for rule in self.rules]
        text = f"Constraints({self.n_samples:,} samples: {', '.join(parts) or 'no statements'}"
        if self.n_statements:
            soft = int((~self.is_hard).sum())
            text += "; all hard" if soft == 0 else f"; {soft:,} of {self.n_statements:,} soft"
        return text + ")"

    def _repr_html_(self) -> str:
        shown = [f"  {line}" for line in self.describe_each(range(min(5, self.n_statements)))]
        return card("\n".join([repr(self), *shown, *more_lines(5, self.n_statements)]))

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
        groups, left = renumber_groups(self.groups, self.kind[self.groups.statement], position)
        keep[self.groups.statement] = left
        place = np.cumsum(keep) - 1
        groups = groups._replace(statement=place[groups.statement])
        items, kind = items[keep], self.kind[keep]
        flip = items[:, 0] > items[:, 1]
        items[flip, :2] = items[flip, 1::-1]
        ids = None if self.ids is None else self.ids[chosen]
        labels = slice_labels(self.labels, position, keep, kind, items, groups)
        weight, row, rules = self.weight[keep], self.row[keep], self.rules
        return type(self)(len(chosen), kind, items, weight, row, rules=rules, ids=ids, groups=groups, labels=labels)

    def select(self, statements: Any) -> Self:
        """Keep the statements a mask or index array over statements picks; samples stay as they are."""
        picked = np.arange(self.n_statements)[statements]
        groups = self.groups
        if len(groups.statement):
            at = np.flatnonzero(np.isin(picked, groups.statement))
            groups = take_groups(groups, np.searchsorted(groups.statement, picked[at]), at)
        return self._with(picked, self.weight[picked], groups)

    def _with(
        self,
        picked: IntArray | slice,
        weight: FloatArray,
        groups: Groups,
        labels: Labels | None = None,
    ) -> Self:
        if labels is None:
            labels = select_labels(self.labels, np.arange(self.n_statements)[picked], weight)
        kind, items, row = self.kind[picked], self.items[picked], self.row[picked]
        return self._replace(kind=kind, items=items, weight=weight, row=row, groups=groups, labels=labels)

    def _replace(self, **fields: Any) -> Self:
        """Return the same table with other arrays in some of its fields; they are not checked."""
        return type(self)(**{name: fields.get(name, getattr(self, name)) for name in _FIELDS})

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
        return self._replace(rules=_rule_tuple(rules))

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
        fields = {name: getattr(self, name) for name in _FIELDS}
        return partial(type(self), **fields | {name: tuple(fields[name]) for name in ("groups", "labels")}), ()


def _rule_tuple(rules: Iterable[Rule] | Rule) -> tuple[Rule, ...]:
    given = (rules,) if isinstance(rules, Rule) else tuple(rules)
    for rule in given:
        if not isinstance(rule, Rule):
            msg = f"rules holds {rule!r}, expected rules such as MinSeparation(0.5)."
            raise ConstraintError(msg)
    return given
