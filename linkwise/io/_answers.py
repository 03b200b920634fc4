"""Constraints from the log of a dialogue: the answers that were not withdrawn and do not contradict others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from linkwise.exceptions import ConstraintError
from linkwise.io._collect_statements import KINDS, Collector


def is_dialogue(first: Any) -> bool:
    """Whether the first object of a file begins the log of a dialogue."""
    return isinstance(first, dict) and str(first.get("format", "")).startswith("linkwise.dialogue/")


def read_answers(into: Collector, objects: Iterator[tuple[int, dict[str, Any]]]) -> None:
    """Add the trusted answers; samples are found by the names in the log where row numbers are not enough."""
    from linkwise.active import FORMAT, Known, is_entry, standing

    _, header = next(objects)
    n = header.get("n_samples")
    if header["format"] != FORMAT or type(n) is not int or n < 0:
        msg = f"{into.name} is the log of a dialogue of the format {header['format']!r}, expected {FORMAT!r}."
        raise ConstraintError(msg)
    entries, lines = [], []
    for line, entry in objects:
        if not is_entry(entry) or max(entry.get("items", [0])) >= n:
            into.skip(ConstraintError(f"{into.name}, line {line}: expected an answer, or the withdrawal of one."))
            continue
        entries.append(entry)
        if "undo" not in entry:
            lines.append(line)
    known = Known(n)
    for told in standing(entries):
        known.take(told)
    named = {row: str(name) for entry in entries for row, name in _named(entry)}
    same = into.ids is None or len(into.ids) == n
    numbers = all(name == str(row) for row, name in named.items())  # rows of other data would be taken for them
    nameless = numbers or not {row for told in known.trusted for row in told.items} <= {*named}
    if into.ids is not None and not same and nameless:
        msg = (
            f"{into.name} is the log of a dialogue about {n:,} samples, but the data has {len(into.ids):,}.\n"
            "Hint: a log without names refers to samples by row number, so it fits only the data it was asked about."
        )
        raise ConstraintError(msg)
    names: Any = named
    if into.ids is not None and same:
        names = [str(v) for v in into.ids.tolist()]
    elif nameless:
        names = [str(i) for i in range(n)]
        for name in names:
            into.code(name, 0)
    for told in known.trusted:
        if told.statement is not None:
            word, *items = told.statement
            into.add(KINDS[word], [names[i] for i in items], math.inf, lines[told.number], told.who)


def _named(entry: dict[str, Any]) -> Iterator[tuple[int, Any]]:
    """Return the rows of an answer, and the names of the samples where it gives them."""
    items, names = entry.get("items", ()), entry.get("names", ())
    return zip(items, names, strict=True) if len(items) == len(names) else iter(())
