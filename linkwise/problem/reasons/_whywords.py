"""The text of `why`: one sentence per fact, with statements by their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwise._messages import in_words, many, more_lines

if TYPE_CHECKING:
    from linkwise.problem.reasons._meeting import Change
    from linkwise.problem.reasons._why_pair import Why

_SHOWN = 20
_AIMS = {"together": "together", "apart": "apart", "closer": "meet earlier", "farther": "meet later"}


def tell(why: Why) -> str:
    """Write the result of `why` as text."""
    lines = [_where(why), *_meeting(why), *_moved(why), *_reason(why)]
    lines += [_bound(bound.text, bound.lines, bound.held) for bound in why.bounds]
    lines += [_wish(change, bool(why.notes)) for change in why.changes]
    return "\n".join([*lines, *(f"Note: {note}" for note in why.notes)])


def _where(why: Why) -> str:
    one, other = why.names
    if why.together is None or why.clusters is None:
        return f"{one} and {other}: the tree is not cut, so they are in no clusters."
    if why.together:
        return f"{one} and {other} are in the same cluster, {why.clusters[0]}."
    return f"{one} and {other} are in different clusters, {why.clusters[0]} and {why.clusters[1]}."


def _meeting(why: Why) -> list[str]:
    if why.height is None:
        return []
    if why.size is None:
        return ["They never meet: they are in different trees."]
    side = "" if why.together is None or why.moved else ", below the cut" if why.together else ", above the cut"
    return [f"They meet at height {why.height:.4g}, in a group of {why.size:,} samples{side}."]


def _moved(why: Why) -> list[str]:
    """Describe a branch that is not part of the branch of its cluster."""
    names = dict(zip(why.samples, why.names, strict=True))
    lines = []
    for sample, size, cluster, least in why.moved:
        branch = f"a branch of {many(size, 'sample')}"
        lines.append(
            f"{names[sample]} came with {branch}; it was too small to be a cluster (fewer than {least:,}) and was "
            f"given to cluster {cluster}."
            if least
            else f"{names[sample]} is in {branch} outside the branch of its cluster, {cluster}."
        )
    return lines


def _reason(why: Why) -> list[str]:
    if why.forced:
        count = len(why.statements)
        if count == 1:
            head = f"One statement forces them {why.forced}:"
        elif why.minimal:
            head = f"{count:,} statements force them {why.forced}, and none of them can be left out:"
        else:
            head = f"{count:,} statements force them {why.forced} (perhaps fewer would; the budget was used up):"
        lines = [head, *(f"  {line}" for line in why.lines[:_SHOWN]), *more_lines(_SHOWN, len(why.lines))]
        if why.broken:
            lines.insert(0, f"The result breaks hard statements: they should be {why.forced}.")
        if count > 1 and why.steps:
            contrary = "apart" if why.forced == "together" else "together"
            lines.append(f"Suppose they were {contrary}: {' '.join(why.steps)}")
        return lines
    if why.together is None:
        return ["No statement forces them into one cluster or into two."]
    state, contrary = ("together", "apart") if why.together else ("apart", "together")
    decided = "the distances and the sizes of branches decided" if why.moved else "the distances decided"
    lines = [f"No statement forces them {state} or {contrary}: {decided}."]
    if why.notes:
        lines = [f"No hard statement forces them {state} or {contrary}: {decided}, or the statements in the notes."]
    if why.before is not None and why.before != why.together:
        lines.append(f"Without the statements they would be {contrary}: statements about other samples moved them.")
    elif why.before is not None:
        lines.append(f"Without the statements they would be {state} as well.")
    return lines


def _numbers(lines: Sequence[str]) -> str:
    """The numbers of statements, as in ``#0, #4 and #7``."""
    rows = [line.partition(" ")[0] for line in lines]
    return in_words(rows if len(rows) <= 8 else [*rows[:7], f"{len(rows) - 7:,} more"])


def _bound(text: str, lines: Sequence[str], held: bool) -> str:
    verb = "forces" if len(lines) == 1 else "force"
    if not held:
        return f"The tree breaks statements: {_numbers(lines)} {verb} that {text}."
    return f"In the tree, {text}; {_numbers(lines)} {verb} that."


def _wish(change: Change, noted: bool) -> str:
    head = f"To have them {_AIMS[change.aim]}:"
    if change.possible:
        what = "the hard statements, except those in the notes" if noted else "all statements"
        return f"{head} add {change.text}; it is consistent with {what}."
    single = len(change.against) == 1
    told = f"{head} {change.text} contradicts {_numbers(change.lines)}"
    if not change.keys:
        return f"{told}; {'dropping it' if single else 'dropping one of them'} is not enough to make room for it."
    rows = [line.partition(" ")[0] for s, line in zip(change.against, change.lines, strict=True) if s in change.keys]
    shown = rows if len(rows) <= 8 else [*rows[:7], f"one of {len(rows) - 7:,} more"]
    return f"{told}; dropping {in_words(shown, 'or')} makes room for it."
