"""`Repair`: what `repair` found, as fields, in words and as an estimate of the share of wrong entries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwise._messages import many, more_lines
from linkwise._notebook import card
from linkwise._typing import IntArray
from linkwise.constraints import CHOICES, Constraints, Entry, has_parts, list_entries
from linkwise.problem.explain import expand
from linkwise.problem.repairs._error_rate import share_of_wrong


@dataclass(frozen=True, eq=False, kw_only=True)
class Repair:
    """Statements to drop so that all others hold together; made by `repair`.

    Attributes
    ----------
    given : Constraints
        What was to be repaired.
    kept : Constraints
        What stays, with the numbers of its statements; rules are kept as they are. Groups that lost a member and
        classes that lost a sample are smaller, but there.
    dropped : ndarray of intp
        Positions of the statements that are not kept as they were: those to drop, groups that lose a member, and what
        follows from a label to take back. The others hold together without them.
    entries : tuple of Entry
        What exactly to take back: statements, members of groups together or apart, labels of samples.
    cost : float
        Sum of the weights of the entries, a hard one counted as 1 more than all soft ones together. With hard
        statements only it is the number of entries. A group costs its weight for each member it loses. Data lower it.
    optimal, lower_bound : bool, float
        Whether no cheaper repair exists; no repair is cheaper than the bound.
    cut : bool
        Whether the time limit ended the search before its budget was used up: on another machine the result may differ.
    because : tuple of str
        For the first 20 entries, which kept ones each contradicts.
    n_clusters : int or None
        The number of clusters that the others can hold in; None if any number will do.
    noise : float
        Estimated share of wrong entries, computed when first asked for.

    Notes
    -----
    A wrong statement without a contradiction is not seen, so `noise` divides by the statements that can be *checked*:
    those dropped, those that follow from other kept ones, and those that could have been dropped instead of a dropped
    one, which share its blame. The rate of each kind is taken to hold for its unchecked statements too (for kinds with
    fewer than ten checked ones, the common rate). This assumes that being wrong has nothing to do with being checked.
    Two wrong statements can confirm each other and a repair never drops more than it must, so with much noise the
    estimate is low; with few contradictions it is rough. It is 0 when nothing was dropped. With choices it is the share
    of statements dropped.

    Examples
    --------
    >>> from linkwise import Constraints, repair
    >>> fixed = repair(Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], weight=[3, 1, 2]))
    >>> print(fixed)
    1 of 3 statements must go, at a cost of 1; no cheaper repair exists.
      drop #1 must_link(1, 2) weight 1: it contradicts #0 must_link(0, 1) weight 3, #2 cannot_link(0, 2) weight 2.
    """

    kept: Constraints
    dropped: IntArray
    cost: float
    optimal: bool
    lower_bound: float
    given: Constraints
    because: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    cut: bool = False
    n_clusters: int | None = None

    def by_statement(self) -> tuple[tuple[Entry, ...], ...]:
        """The entries to drop: all of a group as one, else each by itself."""
        left = set(self.kept.row.tolist())
        found: dict[tuple[int, ...], list[Entry]] = {}
        for at, entry in enumerate(self.entries):
            whole = entry.label < 0 and int(self.given.row[entry.statement]) not in left
            found.setdefault((entry.statement,) if whole else (-1, at), []).append(entry)
        return tuple(tuple(group) for group in found.values())

    def describe(self, group: tuple[Entry, ...]) -> str:
        """Word entries that `by_statement` lists together: a statement, one member of it, or one label."""
        if len(group) == 1:
            return self.given.describe(group[0])
        return f"{self.given.describe(group[0].statement)}, {len(group):,} members"

    @cached_property
    def noise(self) -> float:
        """Estimated share of wrong entries; the class's Notes describe the model."""
        if np.isin(self.given.kind, list(CHOICES)).any():
            return len(self.dropped) / self.given.n_statements
        if has_parts(self.given):
            expansion = expand(self.given)
            everything, count = expansion.everything, len(expansion.entries)
            place = {entry: i for i, entry in enumerate(expansion.get(np.arange(count)))}
            gone = np.zeros(everything.n_statements, dtype=np.bool_)
            gone[[place[entry] for entry in self.entries]] = True
            return share_of_wrong(everything, gone, count)
        off = np.zeros(self.given.n_statements, dtype=np.bool_)
        off[self.dropped] = True
        return share_of_wrong(as_hard(self.given), off)

    def __bool__(self) -> bool:
        msg = (
            "a Repair is neither true nor false; it may drop nothing, or more than necessary.\n"
            "Hint: ask `len(repair.dropped) > 0` or `repair.optimal`."
        )
        raise TypeError(msg)

    def __repr__(self) -> str:
        proven = "no cheaper one exists" if self.optimal else f"none costs less than {self.lower_bound:g}"
        drops = f"drops {many(len(self.entries), 'entry', 'entries')}" if len(self.entries) else "drops nothing"
        return f"Repair({drops}, cost {self.cost:g}; {proven})"

    def _repr_html_(self) -> str:
        return card(str(self), tone="none" if len(self.dropped) else "good")

    def __str__(self) -> str:
        total, noun = self.given.n_statements, "statements"
        if not len(self.dropped):
            head = "The one statement holds" if total == 1 else f"All {total:,} statements hold together"
            where = "" if self.n_clusters is None else f" in {many(self.n_clusters, 'cluster')}"
            return f"{head}{where}; nothing to drop."
        if has_parts(self.given) and not np.isin(self.given.kind, list(CHOICES)).any():
            total, noun = len(list_entries(self.given)), "entries"
        count = f"{len(self.entries):,} of {total:,} {noun}"
        if self.optimal:
            head = f"{count} must go, at a cost of {self.cost:g}; no cheaper repair exists."
        else:
            head = f"Dropped: {count}, at a cost of {self.cost:g}; no repair costs less than {self.lower_bound:g}."
        if self.cut:
            head += " The time limit ended the search."
        tail = more_lines(len(self.because), len(self.by_statement()))
        return "\n".join([head, *(f"  drop {line}" for line in self.because), *tail])


def as_hard(constraints: Constraints) -> Constraints:
    """Return the statements of a table as facts, without its rules."""
    return constraints.with_weight(np.inf).with_rules()
