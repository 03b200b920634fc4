"""`conflicts`: all conflicts of a table at once, so that a file can be corrected in one pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from linkwise._typing import IntArray
from linkwise.constraints import Constraints, entry_key, has_parts, require_constraints
from linkwise.problem.explain import (
    Core,
    Doubt,
    Expansion,
    Explanation,
    blame_words,
    contradiction,
    expand,
    find_core,
    word_core,
)
from linkwise.problem.feasibility import Choices, conflicts_of, judge, read_hard, read_k
from linkwise.problem.statements import Budget, Hard, read_limits

_EACH = 0.1  # units of work for making one conflict small


def conflicts(
    constraints: Constraints,
    *,
    n_clusters: int | None = None,
    X: Any = None,
    metric: str = "euclidean",
    budget: float = 30.0,
    time_limit: float | None = None,
) -> tuple[Explanation, ...]:
    """List disjoint conflicts, one after the other, until the other statements hold together.

    Parameters
    ----------
    constraints : Constraints
        Statements of any kind. Soft ones are negotiable and left out.
    n_clusters : int, optional
        A wanted number of clusters; what stands in its way is listed after the contradictions.
    X, metric
        The data, as in `check`.
    budget : float, default=30.0
        Counted work after which no further conflict is looked for; a unit takes about a second, and the same conflicts
        are found on a slow machine.
    time_limit : float, optional
        Seconds after which no further conflict is looked for even if work is left. Default: none.

    Returns
    -------
    tuple of Explanation
        Empty when no conflict was found. ``more`` of the last one is False when the rest holds together, True when the
        budget was used up before or rules are in the way that no statement could undo, None when it could not be
        decided (`check` of the rest then says "unknown"). ``cut`` tells that the time limit ended the search. The
        suspects of each repair it while the other conflicts are set aside.

    See Also
    --------
    check : explains the first conflict.
    repair : finds one set to drop that repairs all of them.

    Notes
    -----
    Conflicts may overlap in many ways; these are as many disjoint ones as were met, so no repair takes back fewer
    entries. Dropping a suspect of each mostly repairs everything, and `check` tells. Two conflicts may share a group,
    but no member of it, and a label, but no sample that has it.

    **Cost** a test of feasibility and some forests for each conflict. **Guarantee** every core is minimal, no entry is
    in two of them, and unless ``more`` says otherwise the entries outside all of them hold together.

    Examples
    --------
    >>> from linkwise import Constraints, conflicts
    >>> said = Constraints.build(
    ...     6, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], triplets=[(3, 4, 5), (4, 5, 3)]
    ... )
    >>> [why.core for why in conflicts(said)]
    [(0, 1, 2), (3, 4)]
    """
    work = read_limits(budget, time_limit, "conflicts")
    require_constraints(constraints, "conflicts")
    hard = read_hard(constraints, X, metric, "conflicts")
    k = read_k(n_clusters, constraints, "conflicts")
    choices, rank = Choices.of(constraints), Doubt(constraints, X, metric)
    if has_parts(constraints):
        return _by_entries(hard, k, rank, work)
    found: list[Explanation | Core] = []
    gone: list[IntArray] = []
    more: bool | None = True
    while not work.over:
        why, decided = _first(*_without(hard, choices, gone), k, X, metric, work)
        if why is None:
            more = False if decided else None
            break
        numbers = why.numbers if isinstance(why, Core) else np.array(why.core, dtype=np.intp)
        numbers = numbers[numbers < constraints.n_statements]  # without what a rule adds
        found.append(why)
        if not len(numbers):  # the rules alone leave no clustering
            break
        gone.append(numbers)
    listed = []
    for i, why in enumerate(found):
        others = gone[:i] + gone[i + 1 :]
        here = _without(hard, choices, others)
        searched = more is not True and not work.over
        if isinstance(why, Core):
            core = why._replace(shared=None)  # other cores met on the way may be gone by now
            told = contradiction(here[0], fixes=searched, rank=rank, core=core, also=conflicts_of(here[1]), budget=work)
        else:
            again = judge(*here, k, X, metric, rank, work).explanation if searched else None
            told = again if again is not None and again.core == why.core else replace(why, complete=False)
        listed.append(replace(told, more=True if i + 1 < len(found) else more))
    return tuple(replace(why, cut=work.cut) for why in listed)


def _first(
    hard: Hard, choices: Choices, k: int | None, X: Any, metric: str, budget: Budget
) -> tuple[Explanation | Core | None, bool]:
    """A conflict if there is one, and whether that is certain."""
    core = find_core(hard, budget=budget.share(_EACH))
    if core is not None:
        return core, True
    verdict = judge(hard, choices, k, X, metric, None, budget)
    return verdict.explanation, verdict.status != "unknown"


def _without(hard: Hard, choices: Choices, gone: list[IntArray]) -> tuple[Hard, Choices]:
    if not gone:
        return hard, choices
    numbers = np.concatenate(gone)
    return hard.without(numbers), choices.without(numbers)


# -- by what was written -----------------------------------------------------------------------------------------------


def _by_entries(given: Hard, k: int | None, rank: Doubt, work: Budget) -> tuple[Explanation, ...]:
    """The same for a table with groups or labels: conflicts that share no member and no labeled sample."""
    expansion = expand(given.constraints)
    hard, choices = expansion.hard(given), Choices.of(expansion.table)
    number = {entry_key(expansion.said, expansion.entries.get(i)): i for i in range(len(expansion.entries))}
    found: list[Core | None] = []
    gone: list[IntArray] = []
    more: bool | None = True
    while not work.over:
        core = find_core(_without(hard, choices, gone)[0], budget=work.share(_EACH))
        if core is not None:
            numbers = core.numbers[core.numbers < len(expansion.entries)]
        elif k is None and not len(choices) and not given.constraints.rules:
            more = False
            break
        else:
            table, why, decided = _ask(expansion, gone, k, rank, work, fixes=False)
            if why is None:
                more = False if decided else None
                break
            numbers = _numbers(expansion, table, why, number)
        found.append(core)
        gone.append(numbers)
        if not len(numbers):  # the rules alone leave no clustering
            break
    listed = []
    for i, core in enumerate(found):
        others = gone[:i] + gone[i + 1 :]
        searched = more is not True and not work.over
        if core is not None:
            here, left = _without(hard, choices, others)
            told = word_core(
                expansion,
                here,
                core._replace(shared=None),
                _of_statements(given, expansion, gone[i]),
                rank if searched else None,
                conflicts_of(left),
                work,
            )
        else:
            table, why, _ = _ask(expansion, others, k, rank, work, fixes=searched)
            if why is None:
                continue
            told = _in_given(why, table, expansion)
        listed.append(replace(_with_statements(told), more=True if i + 1 < len(found) else more))
    return tuple(replace(why, cut=work.cut) for why in listed)


def _numbers(
    expansion: Expansion, table: Constraints, why: Explanation, number: dict[tuple[int, int, int], int]
) -> IntArray:
    """The entries of a conflict in part of a table; where it names a group as a whole, all that belongs to it."""
    found = [number.get(entry_key(table, entry), -1) for entry in why.entries]
    whole = [int(table.row[e.statement]) for e, at in zip(why.entries, found, strict=True) if at < 0]
    behind = expansion.of_statements(np.flatnonzero(np.isin(expansion.said.row, whole)))
    return np.union1d(np.array([at for at in found if at >= 0], dtype=np.intp), behind)


def _ask(
    expansion: Expansion, gone: list[IntArray], k: int | None, rank: Doubt, work: Budget, *, fixes: bool
) -> tuple[Constraints, Explanation | None, bool]:
    """Check a table without some entries: return the table, its conflict, and whether that is certain."""
    numbers = np.concatenate(gone) if gone else np.empty(0, dtype=np.intp)
    table, _ = expansion.without(numbers)
    hard = read_hard(table, rank.X, rank.metric, "conflicts")
    doubt = Doubt(table, rank.X, rank.metric) if fixes else None
    verdict = judge(hard, Choices.of(table), k, rank.X, rank.metric, doubt, work)
    return table, verdict.explanation, verdict.status != "unknown"


def _in_given(why: Explanation, table: Constraints, expansion: Expansion) -> Explanation:
    """Number statements and entries of a part of a table as the whole one does."""
    said = expansion.said
    place = {int(row): s for s, row in enumerate(said.row)}
    entry = {entry_key(said, e): e for e in expansion.get(np.arange(len(expansion.entries)))}
    written = None
    if why.written is not None:
        written = replace(
            why.written,
            entries=tuple(entry[entry_key(table, e)] for e in why.written.entries),
            repairs=tuple(tuple(entry[entry_key(table, e)] for e in group) for group in why.written.repairs),
            n_entries=len(expansion.entries),
        )
    core = tuple(place[int(table.row[s])] for s in why.core)
    suspects = tuple(tuple(place[int(table.row[s])] for s in group) for group in why.suspects)
    why = replace(why, core=core, suspects=suspects, n_statements=said.n_statements, written=written)
    return blame_words(why, said)


def _of_statements(given: Hard, expansion: Expansion, numbers: IntArray) -> Explanation:
    """A conflict of the statements behind some entries that conflict."""
    said = expansion.said
    behind = np.unique(expansion.entries.statement[numbers])
    label = expansion.entries.label[numbers]
    if (label >= 0).any():
        sources = said.labels.source[said.labels.label[label[label >= 0]]]
        behind = np.union1d(behind, np.flatnonzero(np.isin(said.labels.owner, sources)))
    behind = np.append(behind[behind >= 0], np.arange(said.n_statements, given.n_numbers))  # and what a rule adds
    return contradiction(given.only(behind), fixes=False)


def _with_statements(why: Explanation) -> Explanation:
    """Name the statements of each repair, where all of it belongs to statements and not to labels."""
    groups = [tuple(dict.fromkeys(entry.statement for entry in group)) for group in why.repairs]
    plain = [all(entry.label < 0 for entry in group) for group in why.repairs]
    return replace(why, suspects=tuple(dict.fromkeys(g for g, fits in zip(groups, plain, strict=True) if fits)))
