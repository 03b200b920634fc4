"""Statements in plain lines: ``a b | c`` for a triplet, ``a = b``, ``a != b``, or the names of a group."""

from __future__ import annotations

import math
import re

from linkwise.constraints import Kind
from linkwise.exceptions import ConstraintError
from linkwise.io._collect import Collector
from linkwise.io._text import shown

__all__ = ["read_lines"]

_APART, _TOGETHER = re.compile(r"\s+!=\s+"), re.compile(r"\s+=\s+")


def read_lines(into: Collector, text: str) -> None:
    """Read one statement per line; names are divided by commas, semicolons or tabs if there are any, else by spaces."""
    for line, raw in enumerate(text.split("\n"), start=1):
        plain = raw.strip()
        if plain and not plain.startswith("#"):
            try:
                kind, samples = _statement(into, line, plain)
                into.add(kind, samples, math.inf, line)
            except ConstraintError as bad:
                into.skip(bad)


def _statement(into: Collector, line: int, plain: str) -> tuple[Kind, list[str]]:
    where = f"{into.name}, line {line}"
    if "|" in plain:
        left, _, right = plain.partition("|")
        near, far = _names(left), _names(right)
        if len(near) == 1 and len(near[0]) == 2 and len(right.strip()) == 1:
            near = list(near[0])  # ab|c, as the literature writes it
        if len(near) != 2 or len(far) != 1 or "|" in right:
            msg = f"{where}: {shown(plain)} is no triplet.\nHint: write `a b | c`: a and b are closer than either to c."
            raise ConstraintError(msg)
        if far[0] in near:
            msg = f"{where}: {shown(plain)} can never hold, since a sample is never apart from itself."
            raise ConstraintError(msg)
        return Kind.TRIPLET, [*near, *far]
    for mark, two, more in ((_APART, Kind.CANNOT_LINK, Kind.APART), (_TOGETHER, Kind.MUST_LINK, Kind.TOGETHER)):
        if mark.search(plain):
            parts = [part.strip() for part in mark.split(plain)]
            parts = _different(into, line, plain, parts)
            return (two if len(parts) == 2 else more), parts
    names = _different(into, line, plain, _names(plain))
    return (Kind.MUST_LINK if len(names) == 2 else Kind.TOGETHER), names


def _names(text: str) -> list[str]:
    mark = next((mark for mark in ",;\t" if mark in text.strip()), None)
    return [part.strip() for part in text.split(mark) if part.strip()]


def _different(into: Collector, line: int, plain: str, names: list[str]) -> list[str]:
    if len(names) > 1 and "" not in names:
        names = into.different(names, line, "{} is named twice.")
    if len(names) < 2 or "" in names:
        msg = f"{into.name}, line {line}: {shown(plain)} names one sample, expected at least two, or `a b | c`."
        raise ConstraintError(msg)
    return names
