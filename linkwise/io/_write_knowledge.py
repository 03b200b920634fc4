"""`write_knowledge`: constraints as CSV or JSON lines, which `read_knowledge` reads back unchanged."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._files import write_whole
from linkwise.constraints import Constraints, Kind, links_of, write_links
from linkwise.exceptions import LinkwiseError
from linkwise.io._collect_statements import singular
from linkwise.io._statements import FORMAT, RULES, escaped

if TYPE_CHECKING:
    from linkwise.io._knowledge import Knowledge


def write_knowledge(path: Any, said: Constraints | Knowledge) -> None:
    """Write statements so that `read_knowledge` with the same ids gives them back: weights, names, notes and rules.

    Parameters
    ----------
    path : str or Path
        Where to; ``.jsonl`` (one JSON object per line), ``.csv`` or ``.tsv``. The file appears whole or not at all.
    said : Constraints or Knowledge
        What to write; samples without names are written by row number.

    Notes
    -----
    **Guarantee** ``read_knowledge(path, ids).constraints == said``, statements in the order they were given. In CSV,
    text that a spreadsheet would take for a formula gets an apostrophe in front, which reading takes away again.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from linkwise import Constraints, read_knowledge
    >>> from linkwise.io import write_knowledge
    >>> said = Constraints.build(4, must_link=[(0, 1)], apart=[[0, 2, 3]], weight=0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "said.csv")
    ...     write_knowledge(path, said)
    ...     read_knowledge(path, 4).constraints == said
    True
    """
    place = Path(path)
    constraints, notes = (said, {}) if isinstance(said, Constraints) else (said.constraints, said.notes)
    ending = place.suffix.lower()
    if ending in (".jsonl", ".ndjson"):
        text = _as_json_lines(constraints, notes)
    elif ending in (".csv", ".tsv"):
        text = _as_csv(constraints, notes, "\t" if ending == ".tsv" else ",")
    else:
        msg = f"write_knowledge: {place.name} ends in {ending!r}, expected .jsonl, .csv or .tsv."
        raise LinkwiseError(msg)
    try:
        write_whole(place, text.encode())
    except UnicodeEncodeError as bad:
        msg = (
            f"write_knowledge: a name or note holds half of a surrogate pair, which is not a character ({bad.reason})."
        )
        raise LinkwiseError(msg) from bad


def statements_of(said: Constraints, shown: int | None = None) -> list[tuple[Kind, list[Any], float, int]]:
    """Kind, names, weight and row of each statement, in the order they were given; of a disjunction its links."""
    order = np.argsort(said.row, kind="stable")[:shown].tolist()
    kinds, items, weights, rows = said.kind.tolist(), said.items.tolist(), said.weight.tolist(), said.row.tolist()
    group = {s: g for g, s in enumerate(said.groups.statement.tolist())}
    names = None if said.ids is None else said.ids.tolist()
    made = []
    for s in order:
        kind = Kind(kinds[s])
        members = said.groups.of(group[s]).tolist() if kind.is_group else items[s][: kind.arity]
        if kind is Kind.EITHER:
            links = links_of(members)
            named = links if names is None else [(word, names[a], names[b]) for word, a, b in links]
        else:
            named = members if names is None else [names[i] for i in members]
        made.append((kind, named, weights[s], rows[s]))
    return made


def _rule_values(rule: Any) -> tuple[str, list[Any]]:
    word = next(word for word, kind in RULES.items() if kind is type(rule))
    return word, [value for value in (getattr(rule, key) for key in rule.__dataclass_fields__) if value is not None]


def _as_json_lines(said: Constraints, notes: Mapping[int, str]) -> str:
    rows: list[dict[str, Any]] = [{"format": FORMAT}]
    for rule in said.rules:
        word, values = _rule_values(rule)
        rows.append({"kind": word, **dict(zip("ab", values, strict=False))})
    for kind, names, weight, row in statements_of(said):
        word, named = _in_file(kind, names)
        plain = [name if isinstance(name, str) else str(name) if not isinstance(name, int) else name for name in named]
        given = {"samples": plain} if kind.is_group else dict(zip("abc", plain, strict=False))
        extra: dict[str, Any] = {} if np.isinf(weight) else {"weight": float(weight)}
        rows.append({"kind": word, **given, **extra, **({"note": notes[row]} if row in notes else {})})
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _as_csv(said: Constraints, notes: Mapping[int, str], delimiter: str) -> str:
    sink = io.StringIO()
    write = csv.writer(sink, delimiter=delimiter, lineterminator="\n")
    sink.write(f"# {FORMAT}\n")
    write.writerow(["kind", "a", "b", "c", "samples", "weight", "note"])
    for rule in said.rules:
        word, values = _rule_values(rule)
        write.writerow([word, *map(repr, values), *[""] * (6 - len(values))])
    for kind, given, weight, row in statements_of(said):
        word, named = _in_file(kind, given)
        names = [_cell(name, in_group=kind.is_group) for name in named]
        cells = ["", "", "", ";".join(names)] if kind.is_group else [*map(escaped, names), *[""] * (4 - len(names))]
        if kind.is_group:
            cells[3] = escaped(cells[3])
        price = "" if np.isinf(weight) else repr(float(weight))
        write.writerow([word, *cells, price, escaped(notes.get(row, ""))])
    return sink.getvalue()


def _in_file(kind: Kind, named: list[Any]) -> tuple[str, list[Any]]:
    return write_links(named) if kind is Kind.EITHER else (singular(kind), named)


def _cell(name: Any, *, in_group: bool) -> str:
    text = str(name)
    if text != text.strip() or not text or (in_group and ";" in text):
        what = "a semicolon" if text.strip() == text and text else "spaces at its ends, or nothing"
        msg = (
            f"write_knowledge: the sample {text!r} has {what} in its name, which CSV cannot hold.\nHint: write .jsonl."
        )
        raise LinkwiseError(msg)
    return text
