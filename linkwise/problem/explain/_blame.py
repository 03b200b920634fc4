"""Conflicts reported by entries: members of groups and labeled samples, rather than the statements made of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from linkwise.constraints import Constraints, Entry, has_parts
from linkwise.problem.explain._contradiction import Also, contradiction
from linkwise.problem.explain._core import CHAIN, KNOT, Core, find_core
from linkwise.problem.explain._entry_units import EntryDoubt, Expansion, expand
from linkwise.problem.explain._explanation import Explanation, bracketed
from linkwise.problem.explain._fixes import Doubt
from linkwise.problem.explain._wording import in_words, spelled
from linkwise.problem.statements import Budget, Hard
from linkwise.problem.triplets import grow_forest, path

_SHOWN = 20
# Marks in an argument, from the private area of Unicode: a sample, entries of the conflict, and what is behind them.
_SAMPLE, _ENTRY, _END, _BEHIND = "\ue000", "\ue001", "\ue002", "\ue003"


def blame_contradiction(
    given: Hard,
    why: Explanation,
    rank: Doubt | None,
    also_of: Callable[[Constraints], Also | None],
    budget: Budget | None = None,
) -> Explanation:
    """Add the entries at fault to a contradiction ``why`` of the statements ``given``, and describe it by them.

    Without ``rank``, which says what to doubt first, no fixes are looked for. ``also_of`` returns, for the entries as a
    table, how to find a conflict with its choices.
    """
    if not has_parts(given.constraints):
        return why
    expansion = expand(given.constraints)
    hard = expansion.hard(given)
    core = find_core(hard)
    if core is None:  # cannot happen: entries contradict each other if and only if the statements do
        return why
    return word_core(expansion, hard, core, why, rank, also_of(expansion.table), budget)


def word_core(
    expansion: Expansion,
    hard: Hard,
    core: Core,
    why: Explanation,
    rank: Doubt | None,
    also: Also | None,
    budget: Budget | None = None,
) -> Explanation:
    """Describe a conflict of entries, with the entries to drop unless ``rank`` is None."""
    doubt = EntryDoubt.of(expansion, rank)
    found = contradiction(hard, fixes=rank is not None, rank=doubt, core=core, also=also, budget=budget)
    told = _tell(expansion, hard, core, found.core)
    written = expansion.written(found.core, found.suspects, found.at_least, found.complete, told)
    because, *steps = fill_in(written.told, written.entries, lambda entry: name_entry(expansion.said, entry))
    steps = [re.sub(r'(is in ("[^"]*")) \(label \2\)', r"\1", step) for step in steps]
    return blame_words(replace(why, because=because, steps=tuple(steps), written=written), expansion.said)


def blame_words(why: Explanation, said: Constraints) -> Explanation:
    """Describe the entries of a conflict and its repairs."""
    return replace(
        why,
        lines=said.describe_each(why.entries[:_SHOWN]),
        fixes=tuple(" and ".join(said.describe_each(group)) for group in why.repairs[:_SHOWN]),
    )


def name_entry(said: Constraints, entry: Entry) -> str:
    """How an argument refers to an entry: by its statement's number, or by its label."""
    if entry.label >= 0:
        return f'label "{said.labels.name[said.labels.label[entry.label]]}"'
    return f"#{int(said.row[entry.statement])}"


def fill_in(told: tuple[str, ...], entries: tuple[Entry, ...], refer: Callable[[Entry], str]) -> tuple[str, ...]:
    """Replace the marks of an argument by how entries are referred to."""

    def words(match: re.Match[str]) -> str:
        return " and ".join(dict.fromkeys(refer(entries[int(number)]) for number in match[1].split(",")))

    return tuple(re.sub(f"{_ENTRY}([\\d,]+){_END}", words, text) for text in told)


# -- the argument ------------------------------------------------------------------------------------------------------


class _Marks:
    """Words for the samples of an expansion, and marks for its entries."""

    def __init__(self, expansion: Expansion, entries: tuple[int, ...]) -> None:
        self.expansion = expansion
        self.place = {number: at for at, number in enumerate(entries)}

    def entry(self, *numbers: int) -> str:
        """A mark that stands for entries of the conflict."""
        return f"{_ENTRY}{','.join(str(self.place[n]) for n in numbers)}{_END}"

    def sample(self, sample: int) -> str:
        """Return the name of a sample; of a virtual one, the name of its group or label."""
        said, n = self.expansion.said, self.expansion.said.n_samples
        if sample < n:
            return said.name(sample)
        hub, original = int(self.expansion.hub[sample - n]), int(self.expansion.copy_of[sample - n])
        if original >= 0:
            return said.name(original)
        return f'"{said.labels.name[-1 - hub]}"' if hub < 0 else f"the group of {self.of_statement(hub)}"

    def of_statement(self, statement: int) -> str:
        """A mark for a statement, by one of its entries."""
        at = next(number for number in self.place if self.expansion.entries.statement[number] == statement)
        return self.entry(at)


def _tell(expansion: Expansion, hard: Hard, core: Core, entries: tuple[int, ...]) -> tuple[str, ...]:
    """The reason, then the steps that lead to it."""
    marks = _Marks(expansion, entries)
    e = expansion.table.n_statements
    first = hard.n_numbers - len(expansion.background.statement)
    behind = int(expansion.behind[core.by - first]) if core.by >= e else 0
    by_label = core.by >= e and behind < 0
    if core.sort == CHAIN:
        return _tell_chain(marks, hard, core, by_label)
    table = expansion.table
    spoken = table.with_ids([f"{_SAMPLE}{i}{_END}" for i in range(table.n_samples)])
    because, steps = in_words(replace(hard, constraints=spoken, rule=_BEHIND), core)
    told = [because, *(step for step in steps if not _to_copy(expansion, step))]
    if core.sort != KNOT and core.by >= e:
        a, b = (f"{_SAMPLE}{s}{_END}" for s in core.pair or (0, 0))
        if by_label:
            told[0] = told[0].replace(f"which {_BEHIND} forbids", "which are different labels")
            told[-1] = f"But {a} and {b} are different labels."
        else:
            told[0], told[-1] = (told[i].replace(_BEHIND, marks.of_statement(behind)) for i in (0, -1))
    told = [re.sub(r"#(\d+)", lambda match: marks.entry(int(match[1])), text) for text in told]
    told = [re.sub(f"{_SAMPLE}(\\d+){_END}", lambda match: marks.sample(int(match[1])), text) for text in told]
    return tuple(text.replace(_BEHIND, hard.rule) for text in told)


def _to_copy(expansion: Expansion, step: str) -> bool:
    """Whether a step does no more than join a sample to its own copy."""
    found = re.fullmatch(rf"#\d+ puts {_SAMPLE}\d+{_END} and {_SAMPLE}(\d+){_END} into one cluster\.", step)
    virtual = int(found[1]) - expansion.said.n_samples if found else -1
    return virtual >= 0 and bool(expansion.copy_of[virtual] >= 0)


def _tell_chain(marks: _Marks, hard: Hard, core: Core, by_label: bool) -> tuple[str, ...]:
    """Describe a chain of must-links: its samples, and the entries that join each to the one before."""
    n, e = marks.expansion.said.n_samples, marks.expansion.table.n_statements
    part = hard.only(core.numbers)
    a, b = core.pair or (0, 0)
    forest = grow_forest(part.n, np.ascontiguousarray(part.must), np.array([a]))
    nodes = path(forest, a, b)
    by = part.must_at[forest.link[nodes[1:]]]
    real = np.flatnonzero(nodes < n)
    names = [marks.sample(int(s)) for s in nodes[real]]
    steps = []
    for before, here in pairwise(real.tolist()):
        numbers = [int(s) for s in by[before:here]]
        joined = marks.entry(*(s for s in numbers if s < e)) if min(numbers) < e else hard.rule
        steps.append(f"{marks.sample(int(nodes[here]))} ({joined})")
    share = f"must-link is transitive, so samples {bracketed(names)} share one cluster"
    chain = f"{' = '.join([names[0], *spelled(steps)])}, but "
    if by_label:
        ends = [f"{names[at]} is in {marks.sample(int(node))}{{}}" for at, node in ((0, nodes[0]), (-1, nodes[-1]))]
        where = [f" ({marks.entry(int(entry))})" for entry in (by[0], by[-1])]
        because = f"{share}, but {' and '.join(end.format('') for end in ends)}."
        return because, f"{chain}{' and '.join(end.format(w) for end, w in zip(ends, where, strict=True))}."
    forbids = marks.entry(core.by) if core.by < e else marks.entry(int(by[0]), int(by[-1]))
    return f"{share}, which {forbids} forbids.", f"{chain}{forbids} keeps {names[0]} and {names[-1]} apart."
