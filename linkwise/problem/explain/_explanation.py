"""`Explanation` of a conflict: statements to drop, a minimal proof, and the text of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._messages import hint, many, more_lines
from linkwise._notebook import card
from linkwise._typing import IntArray
from linkwise.constraints import Constraints, Entry
from linkwise.problem.explain._fixes import Suspects
from linkwise.problem.statements import Budget, Hard

_SHOWN = 20
_WORK = 5.0
_TEST = 30_000  # steps of a small test


@dataclass(frozen=True)
class Written:
    """A conflict of entries, where statements have parts: members of groups, labeled samples.

    ``entries`` conflict although no proper subset does, each of ``repairs`` is a smallest set to take back, of which
    any repair has ``at_least`` that many. ``told`` is the argument with marks for names and places (see `fill_in`).
    """

    entries: tuple[Entry, ...]
    repairs: tuple[tuple[Entry, ...], ...] = ()
    n_entries: int = 0
    at_least: int = 1
    complete: bool = True
    told: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The reason why statements cannot hold together: fixes first, then the proof.

    Attributes
    ----------
    suspects : tuple of tuple of int
        Smallest repairs, the most suspicious first: each holds statements without which *all* other hard statements
        hold together, single ones where any suffices, else the smallest sets, up to eight. They are sorted by
        disagreement with the data where these are known, then by weight, then newest first. Empty when more than five
        statements must go, or when none were searched for.
    core : tuple of int
        Positions of statements that conflict although every proper subset of them does not.
    because : str
        The argument in words.
    n_statements : int
        How many statements were given in all.
    goal : str
        What they were to hold in, such as "3 clusters"; empty when they contradict each other as such.
    lines, fixes, rules : tuple of str
        Wording of the first 20 ``entries``, of the first 20 ``repairs``, and of what rules contribute to the proof.
    complete : bool
        False when the conflict was too large to be made minimal or to be searched for all smallest repairs.
    steps : tuple of str
        The argument step by step.
    at_least : int
        How many statements any repair drops, as far as known.
    more : bool or None
        From `conflicts`: whether there are further conflicts besides this one and those listed before it; None when
        not known.
    written : Written or None
        Where groups together or apart, or labels, are among the statements: the same conflict by what was written.
    cut : bool
        From `conflicts`: whether the time limit ended the search before its budget was used up.

    Notes
    -----
    ``core`` and ``suspects`` are statements as a whole. A group of a thousand samples is one of them, and so is each
    must-link that follows from a label. What a person wrote are the memberships and the labels: ``entries`` and
    ``repairs`` name these, and so do all words. Where every statement was written as such, they are the same.

    Examples
    --------
    >>> from linkwise import Constraints, check
    >>> c = Constraints.build(4, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (0, 3)])
    >>> why = check(c).explanation
    >>> why.core, why.suspects
    ((0, 1, 2), ((2,), (1,), (0,)))
    >>> print(why)
    Any one of these changes repairs it:
      drop #2 cannot_link(0, 2)
      drop #1 must_link(1, 2)
      drop #0 must_link(0, 1)
    Why: 3 of 4 constraints contradict each other:
      #0 must_link(0, 1)
      #1 must_link(1, 2)
      #2 cannot_link(0, 2)
    must-link is transitive, so samples [0, 1, 2] share one cluster, which #2 forbids.
    Step by step:
      0 = 1 (#0) = 2 (#1), but #2 keeps 0 and 2 apart.
    """

    suspects: tuple[tuple[int, ...], ...]
    core: tuple[int, ...]
    because: str
    n_statements: int = 0
    goal: str = ""
    lines: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    complete: bool = True
    steps: tuple[str, ...] = ()
    at_least: int = 1
    more: bool | None = None
    written: Written | None = None
    cut: bool = False

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Entries that conflict although no proper subset of them does."""
        return tuple(Entry(s) for s in self.core) if self.written is None else self.written.entries

    @property
    def repairs(self) -> tuple[tuple[Entry, ...], ...]:
        """Smallest sets of entries without which all others hold together, the most suspicious first."""
        if self.written is not None:
            return self.written.repairs
        return tuple(tuple(Entry(s) for s in group) for group in self.suspects)

    @property
    def proof(self) -> str:
        """The conflicting statements and the argument, without hints."""
        size = len(self.core if self.written is None else self.written.entries)
        shown = [f"  {line}" for line in self.lines] + more_lines(len(self.lines), size)
        return "\n".join([self._head, *shown, *(f"  {line}" for line in self.rules), self.because])

    @property
    def _head(self) -> str:
        if not self.core:
            return f"the data and the rules admit no clustering{' in ' + self.goal if self.goal else ''}:"
        size, total, noun = len(self.core), self.n_statements, "constraints"
        if self.written is not None:
            size, total, noun = len(self.written.entries), self.written.n_entries, "entries"
        alone = "cannot hold" if size == 1 else "contradict each other"
        verb = f"cannot hold in {self.goal}" if self.goal else alone
        return f"{size:,} of {total:,} {noun} {verb}:"

    def __str__(self) -> str:
        if self.fixes:
            several = len(self.repairs) > 1
            head = "Any one of these changes repairs it:" if several else "This change repairs it:"
            lines = [head, *(f"  drop {line}" for line in self.fixes)]
            if len(self.repairs) > len(self.fixes):
                lines.append(f"  ... or one of {len(self.repairs) - len(self.fixes):,} more")
        elif self.core and (self.written or self).complete and not self.goal:
            at_least = (self.written or self).at_least
            few = f", at least {at_least:,} are needed" if at_least > 1 else ""
            lines = [f"No single change repairs it{few}; `repair(constraints)` finds a set that does."]
        else:
            lines = []
        steps = ["Step by step:", *(f"  {step}" for step in self.steps)] if self.steps else []
        if self.cut:
            steps.append("The time limit ended the search; another machine may find more fixes or a longer proof.")
        return "\n".join([*lines, "Why: " + self.proof, *steps])

    def __repr__(self) -> str:
        ways = f"{many(len(self.repairs), 'smallest repair')} found" if self.repairs else "no smallest repair listed"
        return f"Explanation({self._head.rstrip(':')}; {ways})"

    def _repr_html_(self) -> str:
        return card(str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists, strings, numbers and booleans, ready for JSON.

        Examples
        --------
        >>> from linkwise import Constraints, check
        >>> told = check(Constraints.build(3, triplets=[(0, 1, 2), (1, 2, 0)])).explanation.to_dict()
        >>> told["suspects"], told["fixes"][0]
        ([[1], [0]], '#1 triplet(1, 2 | 0)')
        """
        told = asdict(replace(self, written=None))
        told["suspects"] = [list(group) for group in self.suspects]
        told["entries"] = [entry._asdict() for entry in self.entries]
        told["repairs"] = [[entry._asdict() for entry in group] for group in self.repairs]
        del told["written"]
        return {key: list(value) if isinstance(value, tuple) else value for key, value in told.items()}

    def message(self) -> str:
        """The text of the error that reports this conflict: the proof and a hint."""
        way = hint(command="`linkwise repair --auto` drops the fewest", python="call `repair(constraints)`")
        advice = f"drop or soften one of them, or {way}."
        if self.goal and self.core:
            advice = "ask for another number of clusters, or drop or soften one of them."
        elif not self.core:
            advice = "relax the rule, or ask for another number of clusters."
        return f"{self.proof}\nHint: {advice}"


def explain(
    constraints: Constraints,
    core: Sequence[int],
    because: str,
    *,
    suspects: Suspects | None = None,
    steps: Sequence[str] = (),
    goal: str = "",
    rules: Sequence[str] = (),
    complete: bool = True,
) -> Explanation:
    """Describe a conflict as text."""
    core = sorted(core)
    why = Explanation(
        suspects=(),
        core=tuple(int(s) for s in core),
        because=because,
        n_statements=constraints.n_statements,
        goal=goal,
        lines=constraints.describe_each(core[:_SHOWN]),
        rules=(*rules[:_SHOWN], *more_lines(_SHOWN, len(rules), "... ")),
        complete=complete,
        steps=tuple(steps),
    )
    return why if suspects is None else with_suspects(why, constraints, suspects)


def with_suspects(why: Explanation, constraints: Constraints, suspects: Suspects) -> Explanation:
    """Add the statements to drop."""
    return replace(
        why,
        suspects=suspects.sets,
        fixes=tuple(" and ".join(constraints.describe_each(group)) for group in suspects.sets[:_SHOWN]),
        complete=why.complete and suspects.complete,
        at_least=suspects.at_least,
    )


def name_list(constraints: Constraints, samples: npt.ArrayLike) -> str:
    """Word a list of samples as in ``[12, 40, 77]``."""
    return bracketed([constraints.name(int(s)) for s in np.asarray(samples)])


def bracketed(names: Sequence[str], shown: int = 10) -> str:
    """List names in brackets, cut after ``shown``."""
    more = len(names) - shown
    return f"[{', '.join(names[:shown])}{f', ... {more:,} more' if more > 0 else ''}]"


class _SpentError(Exception):
    """The search for a minimal core has used up its budget."""


def minimal_core(
    candidates: IntArray, conflicts: Callable[[IntArray], bool], budget: Budget | None = None, *, each: float = 0.0
) -> tuple[IntArray, bool]:
    """Shrink conflicting candidates to a subset that conflicts although no proper subset of it does.

    Divide and conquer after QuickXplain [1]_: a core of size k among m candidates takes O(k log(m / k)) tests
    ``conflicts``, each of which must stay true when the subset grows and takes ``each`` steps besides some for every
    candidate; by default five units of work are spent. The second value is False when that was not enough; then the
    smallest conflicting set met so far comes back.

    .. [1] U. Junker, "QuickXplain: Preferred Explanations and Relaxations for Over-Constrained Problems", AAAI 2004.
    """
    work = Budget(_WORK) if budget is None else budget
    best = candidates

    def test(subset: IntArray) -> bool:
        nonlocal best
        if work.over:
            raise _SpentError
        work.spend(_TEST + each + 10 * len(subset))
        found = conflicts(subset)
        if found and len(subset) < len(best):
            best = subset
        if not found and work.over:  # the test may have given up
            raise _SpentError
        return found

    def search(background: IntArray, grown: bool, rest: IntArray) -> IntArray:  # depth log2(m)
        if grown and test(background):
            return rest[:0]
        if len(rest) == 1:
            return rest
        first, second = np.array_split(rest, 2)
        from_second = search(np.concatenate([background, first]), True, second)
        from_first = search(np.concatenate([background, from_second]), len(from_second) > 0, first)
        return np.concatenate([from_first, from_second])

    if not len(candidates):
        return candidates, True
    try:
        return np.sort(search(candidates[:0], True, candidates)), True
    except _SpentError:
        return np.sort(best), False


def explain_hard(
    hard: Hard,
    core: IntArray,
    because: str,
    *,
    suspects: Suspects | None = None,
    steps: Sequence[str] = (),
    goal: str = "",
    complete: bool = True,
) -> Explanation:
    """Word a conflict among numbered statements; must-links that a rule adds are named as such."""
    m = hard.constraints.n_statements
    name = hard.constraints.name
    core = np.unique(core)
    derived = hard.must[np.isin(hard.must_at, core[core >= m])]
    rules = [f"{hard.rule} joins samples {name(int(a))} and {name(int(b))}" for a, b in derived]
    said = [int(s) for s in core if s < m]
    return explain(
        hard.constraints, said, because, suspects=suspects, steps=steps, goal=goal, rules=rules, complete=complete
    )
