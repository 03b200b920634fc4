"""`implies`: whether hard statements entail other statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Constraints, Kind, require_constraints
from linkwise.exceptions import LinkwiseError, UnsupportedConstraintError
from linkwise.problem.feasibility import check
from linkwise.problem.triplets import Spans, finest_blocks

_KNOWN = (Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TRIPLET)


def implies(constraints: Constraints, statements: Any) -> BoolArray:
    """Return for each statement whether it holds wherever all hard constraints hold.

    Parameters
    ----------
    constraints : Constraints
        What is known. Soft statements and rules are not reasoned from.
    statements : Constraints, or one or many tuples
        What to ask about: a table over the same samples (its weights play no role), a tuple such as
        ``("triplet", a, b, c)`` or ``("must_link", a, b)``, or a list of such tuples. Tuples name samples by
        identifier if ``constraints`` has identifiers, else by number.

    Returns
    -------
    ndarray of bool, shape (n,)
        One answer per statement, in order; shape (1,) for a single tuple.

    Raises
    ------
    InfeasibleConstraintsError
        The hard statements contradict each other; ``explanation`` names the few at fault.
    UnsupportedConstraintError
        Kinds other than must-link, cannot-link and triplet.

    See Also
    --------
    close : write out everything that is implied.
    minimal : drop what the rest implies.

    Notes
    -----
    Implied means: every hierarchy with a cut in which the hard statements hold, binary or not, also has this one. ab|c
    is implied if and only if neither ac|b nor bc|a can be added [1]_, beside must- and cannot-links too;
    must_link(a, b) if a and b are in one block of the finest clustering possible, cannot_link(a, b) if uniting their
    blocks forces a cannot-linked pair together. must_link(a, b) and cannot_link(b, c) imply ab|c; ab|c and
    cannot_link(a, b) imply cannot_link(a, c).

    **Cost** near-linear for pairs without triplets. With triplets, one tree building for the samples and one for the
    blocks; a question then takes O(1) where the tree divides in two, and elsewhere a few divisions of what lies below
    two children of a node, shared by all questions about the same two. **Guarantee** exact.

    References
    ----------
    .. [1] D. Bryant, M. Steel, "Extension Operations on Sets of Leaf-Labeled Trees", Adv. Appl. Math. 16 (1995).

    Examples
    --------
    >>> from linkwise import Constraints, implies
    >>> said = Constraints.build(5, triplets=[(0, 1, 2), (1, 2, 3)], must_link=[(3, 4)], cannot_link=[(2, 3)])
    >>> implies(said, [("triplet", 0, 1, 3), ("triplet", 3, 4, 2), ("cannot_link", 2, 4), ("must_link", 0, 1)])
    array([ True,  True,  True, False])
    >>> implies(said, ("triplet", 0, 2, 1))
    array([False])
    """
    asked = _read_statements(constraints, statements)
    known = Entailment(constraints, "implies")
    answer = np.zeros(asked.n_statements, dtype=np.bool_)
    a, b, c = asked.items.T
    for kind in _KNOWN:
        rows = np.flatnonzero(asked.kind == kind)
        if kind is Kind.TRIPLET:
            answer[rows] = known.triplet(a[rows], b[rows], c[rows])
        else:
            decide = known.must_link if kind is Kind.MUST_LINK else known.cannot_link
            answer[rows] = decide(a[rows], b[rows])
    return answer


class Entailment:
    """Entailment by the hard statements of a table; raises if they contradict each other. Messages begin with ``who``.

    ``must``, ``cannot`` and ``triplets`` are the hard statements, ``block`` numbers the finest clusters possible.
    """

    def __init__(self, constraints: Constraints, who: str) -> None:
        _refuse_unknown(who, constraints)
        check(constraints).raise_if_infeasible()
        self._read(constraints)

    @classmethod
    def of_feasible(cls, constraints: Constraints) -> Entailment:
        """Entailment by statements that are consistent; kinds other than the three are skipped."""
        known = cls.__new__(cls)
        known._read(constraints)
        return known

    def _read(self, constraints: Constraints) -> None:
        hard = constraints.is_hard
        self.n = constraints.n_samples
        self.must = constraints.items[hard & (constraints.kind == Kind.MUST_LINK), :2]
        self.cannot = constraints.items[hard & (constraints.kind == Kind.CANNOT_LINK), :2]
        self.triplets = constraints.items[hard & (constraints.kind == Kind.TRIPLET)]
        self.block = finest_blocks(self.n, self.must, self.triplets)

    @cached_property
    def spans(self) -> Spans:
        """Spans of samples under the triplets alone."""
        return Spans(self.n, self.triplets)

    @cached_property
    def block_spans(self) -> Spans:
        """Spans of blocks under the triplets between different blocks: those that the union of two forces into one."""
        if not len(self.must):
            return self.spans
        over = self.block[self.triplets]
        a, b, c = over.T
        return Spans(int(self.block.max(initial=-1)) + 1, over[(a != b) & (a != c) & (b != c)])

    @cached_property
    def block_cannot(self) -> IntArray:
        """Pairs of blocks with a cannot-link between them, each once."""
        if not len(self.cannot):
            return self.cannot
        n = int(self.block.max()) + 1
        pair = self.block[self.cannot]
        return np.column_stack(np.divmod(np.unique(pair.min(axis=1) * n + pair.max(axis=1)), n))

    def must_link(self, a: IntArray, b: IntArray) -> BoolArray:
        """Whether a and b share a cluster in every cut."""
        return np.asarray(self.block[a] == self.block[b])

    def cannot_link(self, a: IntArray, b: IntArray) -> BoolArray:
        """Whether a and b are in different clusters in every cut."""
        return self.apart(self.block[a], self.block[b])

    def apart(self, x: IntArray, y: IntArray) -> BoolArray:
        """Whether blocks x and y cannot be united, because a cannot-link would lie inside the union."""
        if not len(self.cannot):
            return np.zeros(len(x), dtype=np.bool_)
        n = int(self.block.max()) + 1
        said = self.block_cannot[:, 0] * n + self.block_cannot[:, 1]
        key = np.minimum(x, y) * n + np.maximum(x, y)
        place = np.minimum(np.searchsorted(said, key), len(said) - 1)
        answer = said[place] == key
        rest = np.flatnonzero(~answer & (x != y))
        if len(self.triplets) and len(rest):
            answer[rest] = self.block_spans.encloses(x[rest], y[rest], self.block_cannot)
        return np.asarray(answer)

    def triplet(self, a: IntArray, b: IntArray, c: IntArray) -> BoolArray:
        """Whether ab|c is displayed by every hierarchy."""
        answer = np.zeros(len(a), dtype=np.bool_)
        rows = np.arange(len(a))
        if not (len(self.must) and len(self.cannot)):  # then pairs say nothing about the tree
            rows = rows[self.spans.displayed(a, b, c)]
        rows = rows[self._excluded(a[rows], c[rows], b[rows])]
        answer[rows] = self._excluded(b[rows], c[rows], a[rows])
        return answer

    def _excluded(self, x: IntArray, y: IntArray, z: IntArray) -> BoolArray:
        """Whether xy|z cannot be added.

        It cannot if the triplets alone contradict it. If only those between blocks do, it can hold only with all three
        in one cluster; so not where the blocks of x and y are apart.
        """
        answer = self.spans.holds(x, y, z)
        if len(self.must) and len(self.cannot):
            rest = np.flatnonzero(~answer)
            p, q, r = self.block[x[rest]], self.block[y[rest]], self.block[z[rest]]
            forced = self.block_spans.holds(p, q, r) & (p != q)
            rest, p, q = rest[forced], p[forced], q[forced]
            answer[rest] = self.apart(p, q)
        return answer


def _refuse_unknown(who: str, constraints: Constraints) -> None:
    unknown = sorted(set(constraints.kind.tolist()) - set(_KNOWN))
    if unknown:
        words = tuple(Kind(kind).word for kind in unknown)
        msg = (
            f"{who}: there are statements of kind {', '.join(words)}, expected must-links, cannot-links, triplets.\n"
            "Hint: leave them out with `constraints.select(constraints.kind <= Kind.TRIPLET)`."
        )
        raise UnsupportedConstraintError(msg, words)


def _read_statements(constraints: Constraints, statements: Any) -> Constraints:
    """The statements as a table, one row each, in the order given."""
    require_constraints(constraints, "implies")
    if isinstance(statements, Constraints):
        if statements.n_samples != constraints.n_samples:
            msg = (
                f"implies: the statements are about {statements.n_samples:,} samples, "
                f"but the constraints about {constraints.n_samples:,}."
            )
            raise LinkwiseError(msg)
        _refuse_unknown("implies", statements)
        return statements
    if isinstance(statements, str) or not isinstance(statements, Iterable):
        msg = (
            f"implies: statements are {statements!r}, expected Constraints or tuples.\n"
            'Hint: write `implies(constraints, ("must_link", 0, 1))`.'
        )
        raise LinkwiseError(msg)
    rows: list[Sequence[Any]] = list(statements)
    if rows and isinstance(rows[0], str):
        rows = [tuple(rows)]
    names = np.arange(constraints.n_samples) if constraints.ids is None else constraints.ids
    table = Constraints.from_ids(names, rows)
    back = np.argsort(table.row, kind="stable")
    if len(back) < len(rows):
        msg = (
            "implies: a statement names one sample twice, so it holds for every clustering.\n"
            "Hint: ask about different samples."
        )
        raise LinkwiseError(msg)
    return table.select(back)
