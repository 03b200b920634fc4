"""Tables of statements from arrays, labels, groups, identifiers and data frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from linkwise._validation import read_choice, read_count
from linkwise.constraints._disjunctions import read_disjunctions
from linkwise.constraints._groups import NO_GROUPS, gather, join_groups, read_groups
from linkwise.constraints._kinds import Kind, check_items, read_items, read_weights
from linkwise.constraints._label_statements import chained_labels, select_labels
from linkwise.constraints._rules import Rule, rule_tuple
from linkwise.constraints._statement_arrays import StatementArrays
from linkwise.exceptions import ConstraintError


class Building(StatementArrays):
    """The part of `Constraints` that makes tables from other forms, and data frames from tables."""

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
        made = cls(n_samples, kinds, items, weights, row, rules=rule_tuple(rules), ids=ids, groups=groups)
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
