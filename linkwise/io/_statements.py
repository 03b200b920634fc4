"""Readers of statements in rows: plain lines, CSV with columns kind, a, b, c, samples, weight, note, or JSON lines."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from linkwise._files import parse_json
from linkwise._messages import hint
from linkwise._validation import warn_user
from linkwise.constraints import (
    Kind,
    MaxCentroidDistance,
    MinSeparation,
    NeighborWithin,
    Rule,
    SizeBetween,
    links_said,
)
from linkwise.exceptions import ConstraintError
from linkwise.io._collect_statements import KINDS, Collector
from linkwise.io._text import NUMBER, read_rows, shown

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
        mark = _mark(plain)
        near, far = _names(left, mark), _names(right, mark)
        if len(near) == 1 and len(near[0]) == 2 and len(right.strip()) == 1:
            near = list(near[0])  # ab|c, as the literature writes it
        if len(near) != 2 or len(far) != 1 or "|" in right:
            msg = f"{where}: {shown(plain)} is not a triplet.\nHint: write `a b | c`: a and b are closer than c."
            raise ConstraintError(msg)
        if far[0] in near:
            msg = f"{where}: {shown(plain)} can never hold, since a sample is never apart from itself."
            raise ConstraintError(msg)
        return Kind.TRIPLET, [*near, *far]
    for sign, two, more in ((_APART, Kind.CANNOT_LINK, Kind.APART), (_TOGETHER, Kind.MUST_LINK, Kind.TOGETHER)):
        if sign.search(plain):
            parts = [part.strip() for part in sign.split(plain)]
            parts = _different(into, line, plain, parts)
            return (two if len(parts) == 2 else more), parts
    names = _different(into, line, plain, _names(plain, _mark(plain)))
    return (Kind.MUST_LINK if len(names) == 2 else Kind.TOGETHER), names


def _mark(plain: str) -> str | None:
    return next((mark for mark in ",;\t" if mark in plain), None)


def _names(text: str, mark: str | None) -> list[str]:
    return [part.strip() for part in text.split(mark) if part.strip()]


def _different(into: Collector, line: int, plain: str, names: list[str]) -> list[str]:
    if len(names) > 1 and "" not in names:
        names = into.different(names, line, "{} is named twice.")
    if len(names) < 2 or "" in names:
        msg = f"{into.name}, line {line}: {shown(plain)} names one sample, expected at least two, or `a b | c`."
        raise ConstraintError(msg)
    return names


FORMAT = "linkwise.knowledge/1"
RULES: dict[str, type[Rule]] = {
    "min_separation": MinSeparation,
    "neighbor_within": NeighborWithin,
    "max_centroid_distance": MaxCentroidDistance,
    "size_between": SizeBetween,
}
_KEYS = ("kind", "a", "b", "c", "samples", "weight", "note")
_OTHER_WORDS = {"type": "kind", "comment": "note"}
_FORMULA = re.compile(r"'*[=+\-@\t]")
_EXPECTED = "expected kind,a,b,c,weight,note (c, weight and note optional)"


# -- CSV ---------------------------------------------------------------------------------------------------------------


def header_keys(cells: Sequence[str]) -> list[str]:
    """Return the columns of a header under their canonical names; case and surrounding spaces do not matter."""
    plain = [cell.strip().strip('"').lower() for cell in cells]
    return [_OTHER_WORDS.get(key, key) for key in plain]


def escaped(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would take for a formula."""
    return "'" + text if _FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def unescaped(text: str) -> str:
    """Read text that `escaped` wrote."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def read_csv_statements(into: Collector, text: str) -> None:
    """Read rows under a header."""
    name = into.name
    ours = text.startswith("# linkwise.knowledge/")
    if ours:
        check_format(name, text[2:].split("\n", 1)[0].strip())
    rows = ((line, cells) for line, cells in read_rows(text, name) if not cells[0].lstrip().startswith("#"))
    line, header = next(rows, (1, []))
    keys = header_keys(header)
    if "kind" not in keys or not ({"a", "b"} <= set(keys) or "samples" in keys):
        msg = f"{name}, line {line}: the header is {', '.join(keys)}, {_EXPECTED}.\nHint: {_header_hint(keys)}"
        raise ConstraintError(msg)
    _check_keys(name, line, keys)
    quick = _quick_reader(into, keys, ours)
    for at, cells in rows:
        if quick(at, cells):
            continue
        try:
            take(into, at, _by_key(into, at, keys, cells, ours))
        except ConstraintError as bad:
            into.skip(bad)


def _header_hint(keys: list[str]) -> str:
    """Return a hint for a header without the expected columns."""
    if len(keys) == 2:
        groups = hint(command="--format groups", python="format='groups'")
        return (
            f"did you mean sample,group? Rename the header, or give {groups}; with sample,label, samples of "
            "different labels are apart, too."
        )
    if len(keys) == 1:
        return "divide columns by commas, semicolons or tabs."
    if keys[0].replace("-", "_").replace(" ", "_") in {*KINDS, *RULES}:
        return f"that is a statement already; write {'kind,a,b,c' if len(keys) > 3 else 'kind,a,b'} above it."
    return (
        "write one statement per row, such as must_link,otter,mink under kind,a,b; groups such as apart name their "
        "samples in a column `samples`, divided by semicolons."
    )


def _quick_reader(into: Collector, keys: list[str], ours: bool) -> Callable[[int, list[str]], bool]:
    """Return a function that adds a plain hard statement about known samples, and returns False for any other row.

    Most rows of a large file are such, and all they need is to be looked up.
    """
    if not {"a", "b"} <= set(keys):
        return lambda _line, _cells: False
    word, a, b = keys.index("kind"), keys.index("a"), keys.index("b")
    c = keys.index("c") if "c" in keys else None
    rest = [i for i, key in enumerate(keys) if key not in ("kind", "a", "b", "c")]
    kinds = {name: kind for name, kind in KINDS.items() if not kind.is_group and (c is not None or kind.arity == 2)}
    known, width, add = into.known, len(keys), into.append

    def take_plain(line: int, cells: list[str]) -> bool:
        kind = kinds.get(cells[word]) if len(cells) == width else None
        if kind is None or any(cells[i] for i in rest) or (ours and "'" in (cells[a][:1], cells[b][:1])):
            return False
        first, second = known.get(cells[a]), known.get(cells[b])
        if first is None or second is None or first == second:
            return False
        if kind is Kind.TRIPLET:
            third = known.get(cells[c])  # type: ignore[index]
            if third is None or third in (first, second) or (ours and cells[c][:1] == "'"):  # type: ignore[index]
                return False
            add(kind, (first, second, third), math.inf, line)
        elif c is not None and cells[c]:
            return False
        else:
            add(kind, (first, second), math.inf, line)
        return True

    return take_plain


def _by_key(into: Collector, line: int, keys: list[str], cells: list[str], ours: bool) -> dict[str, Any]:
    if len(cells) > len(keys):
        msg = f"{into.name}, line {line} has {len(cells)} values, but the header names {len(keys)} columns."
        raise ConstraintError(msg)
    given: dict[str, Any] = {}
    for key, cell in zip(keys, cells, strict=False):
        plain = cell.strip()
        if plain:
            into.trimmed += len(plain) < len(cell) and key in "abc"
            given[key] = unescaped(plain) if ours else plain
    if "samples" in given:
        given["samples"] = [part.strip() for part in given["samples"].split(";") if part.strip()]
    return given


def check_format(name: str, found: Any) -> None:
    """Refuse a file made for another version."""
    if found != FORMAT:
        msg = (
            f"{name} has the format {shown(str(found))}, expected {FORMAT!r}.\n"
            "Hint: a newer version of linkwise may have written it: pip install --upgrade linkwise"
        )
        raise ConstraintError(msg)


def _check_keys(name: str, line: int, keys: Sequence[str]) -> None:
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        msg = f"{name}, line {line}: {shown(twice)} occurs twice."
        raise ConstraintError(msg)
    odd = [key for key in keys if key not in _KEYS]
    if odd:
        warn_user(
            f"{name}, line {line}: {', '.join(map(shown, odd[:5]))} is not a known key and was ignored; known keys are "
            f"{', '.join(_KEYS)}."
        )


# -- JSON --------------------------------------------------------------------------------------------------------------


def read_json(text: str, where: str) -> Any:
    """Read JSON strictly; errors name the place."""
    try:
        return parse_json(text)
    except ValueError as bad:
        msg = f"{where} is not one JSON object: {bad}."
        raise ConstraintError(msg) from bad


def json_lines(into: Collector, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read one object per line."""
    for line, raw in enumerate(text.split("\n"), start=1):
        if not raw.strip():
            continue
        where = f"{into.name}, line {line}"
        try:
            given = read_json(raw, where)
        except ConstraintError as bad:
            into.skip(bad)
            continue
        if isinstance(given, dict):
            yield line, given
        else:
            such = 'expected an object such as {"kind": "must_link", "a": "x", "b": "y"}.'
            into.skip(ConstraintError(f"{where}: {such}"))


def read_json_statements(into: Collector, objects: Iterator[tuple[int, dict[str, Any]]]) -> None:
    """Add the statements of JSON objects; the first object may give the format."""
    warned: set[str] = set()
    for number, (line, given) in enumerate(objects):
        if number == 0 and "format" in given:
            check_format(into.name, given["format"])
            continue
        try:
            keys = _renamed(into.name, line, given)
            if not warned.issuperset(keys):
                _check_keys(into.name, line, [key for key in keys if key not in warned])
                warned |= set(keys)
            take(into, line, {key: _plain(into.name, line, key, keys[key]) for key in keys if keys[key] is not None})
        except ConstraintError as bad:
            into.skip(bad)


def _renamed(name: str, line: int, given: dict[str, Any]) -> dict[str, Any]:
    keys = {_OTHER_WORDS.get(key, key): value for key, value in given.items()}
    if len(keys) < len(given):
        msg = f"{name}, line {line}: kind or note occurs twice, under two names."
        raise ConstraintError(msg)
    return keys


def _plain(name: str, line: int, key: str, value: Any) -> Any:
    """Return a value of an object as text, or a list of texts for ``samples``."""
    listed = value if key == "samples" and isinstance(value, list) else [value]
    if key == "samples" and not isinstance(value, list):
        msg = f"{name}, line {line}: samples is {shown(json.dumps(value))}, expected a list of samples."
        raise ConstraintError(msg)
    for one in listed:
        number = isinstance(one, float) and key in ("weight", "a", "b")
        if not (isinstance(one, str) or (isinstance(one, int) and not isinstance(one, bool)) or number):
            msg = f"{name}, line {line}: {key} is {shown(json.dumps(value))}, expected text or a whole number."
            raise ConstraintError(msg)
    return [str(one) for one in value] if isinstance(value, list) else value if isinstance(value, float) else str(value)


# -- one statement -----------------------------------------------------------------------------------------------------


def take(into: Collector, line: int, given: Mapping[str, Any]) -> None:
    """Check one statement given by its keys, and add it."""
    where = f"{into.name}, line {line}"
    word = str(given.get("kind", "")).lower().replace("-", "_").replace(" ", "_")
    if word in RULES:
        into.rules.append(_rule(where, word, given))
        return
    links = _links(where, word, given)
    kind = Kind.EITHER if links else KINDS.get("triplet" if word == "triplets" else word)
    if kind is None or (kind is Kind.EITHER and not links):
        known = [*(word for word in KINDS if word != Kind.EITHER.word), *RULES, "must_link or cannot_link"]
        near = difflib.get_close_matches(word, known, n=1)
        words = f"did you mean {near[0]}?" if near else "write must_link, cannot_link, triplet, together or apart."
        msg = f"{where}: the kind is {shown(str(given.get('kind', '')))}.\nHint: {words}"
        raise ConstraintError(msg)
    for key in "ab":
        if isinstance(given.get(key), float):
            msg = f"{where}: {key} is {given[key]}, expected text or a whole number."
            raise ConstraintError(msg)
    if links:
        samples: Sequence[str] = [sample for _, *ends in links for sample in ends]
    else:
        samples = _members(into, line, kind, given) if kind.is_group else _few(where, word, kind, given)
    weight = _weight(where, given.get("weight", ""))
    if weight == 0:  # as in Constraints.build
        warn_user(f"{where}: a statement of weight 0 has no effect and was dropped.")
        return
    into.add(kind, samples, weight, line, given.get("note", ""), [said == Kind.MUST_LINK.word for said, _, _ in links])


def _rule(where: str, word: str, given: Mapping[str, Any]) -> Rule:
    values = []
    for key in "ab":
        text = str(given.get(key, ""))
        if text and not NUMBER.fullmatch(text):
            msg = f"{where}: {word} has {shown(text)} in {key}, expected a number."
            raise ConstraintError(msg)
        if text:
            values.append(int(text) if word == "size_between" and text.isdigit() and len(text) < 19 else float(text))
    try:
        return RULES[word](*values)
    except TypeError as wrong:
        count = "one or two numbers" if word == "size_between" else "one number"
        msg = f"{where}: {word} has {len(values)} numbers, expected {count}, in a{' and b' * (count != 'one number')}."
        raise ConstraintError(msg) from wrong
    except ConstraintError as wrong:
        msg = f"{where}: {wrong}"
        raise ConstraintError(msg) from wrong


def _few(where: str, word: str, kind: Kind, given: Mapping[str, Any]) -> tuple[str, ...]:
    needed = ", ".join("abc"[: kind.arity])
    if "samples" in given:
        msg = f"{where}: a {word} names its samples in {needed}, not in samples."
        raise ConstraintError(msg)
    samples = (given.get("a", ""), given.get("b", ""), given.get("c", ""))
    used = samples[: kind.arity]
    if "" in used or any(samples[kind.arity :]):
        msg = f"{where}: a {word} names {kind.arity} samples ({needed})."
        raise ConstraintError(msg)
    if (kind is Kind.CANNOT_LINK and used[0] == used[1]) or (kind is Kind.TRIPLET and used[2] in used[:2]):
        said = f"{word}({', '.join(map(str, used))})"
        msg = f"{where}: {said} can never hold, since a sample is never apart from itself."
        raise ConstraintError(msg)
    return used


def _members(into: Collector, line: int, kind: Kind, given: Mapping[str, Any]) -> Sequence[str]:
    where, word = f"{into.name}, line {line}", kind.word
    members: Sequence[str] = tuple(given.get("samples", ()))
    if not kind.is_choice or len(members) < 2:  # a repeated choice is refused as a whole
        members = into.different(members, line, f"{word} names {{}} twice.")
    elif len(set(members)) < len(members):
        seen: set[str] = set()
        twice = next(name for name in members if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        msg = f"{where}: {word} names {shown(twice)} twice."
        raise ConstraintError(msg)
    if any(key in given for key in "abc") or len(members) < 2:
        msg = (
            f"{where}: {word} names two samples or more, in `samples`.\n"
            'Hint: write {"kind": "apart", "samples": ["x", "y", "z"]}, or in CSV a column samples with x;y;z.'
        )
        raise ConstraintError(msg)
    return members


def _links(where: str, word: str, given: Mapping[str, Any]) -> Sequence[tuple[str, str, str]]:
    """Return the links of a disjunction, or nothing for another kind of statement."""
    try:
        links = links_said(word, tuple(given.get("samples", ())))
    except ConstraintError as wrong:
        msg = (
            f"{where}: {wrong}\n"
            "Hint: samples a;b;c;d of must_link or cannot_link: a and b are together, or c and d are apart."
        )
        raise ConstraintError(msg) from wrong
    if links is None:
        return ()
    if any(key in given for key in "abc"):
        msg = f"{where}: {word.replace('_or_', ' or ')} names its samples in `samples`, not in a, b and c."
        raise ConstraintError(msg)
    twice = next((a for _, a, b in links if a == b), None)
    if twice is not None:
        msg = f"{where}: a link of {word.replace('_or_', ' or ')} names {shown(twice)} twice, expected two samples."
        raise ConstraintError(msg)
    return links


def _weight(where: str, given: Any) -> float:
    if given == "":
        return math.inf
    value = given if isinstance(given, float) else float(given) if NUMBER.fullmatch(given) else math.nan
    if not (value >= 0 and math.isfinite(value)):
        msg = f"{where}: the weight is {shown(str(given))}, expected a number of 0 or more, or nothing (hard)."
        raise ConstraintError(msg)
    return value
