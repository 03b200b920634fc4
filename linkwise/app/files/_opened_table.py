"""A table that was opened, with the roles of its columns and the options for reading it, as chosen or as proposed."""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwise._messages import some_of
from linkwise.app import ROLES
from linkwise.app.files._answers_file import holds_answers
from linkwise.app.files._images import Pictures, holds_pictures, type_of
from linkwise.exceptions import LinkwiseError
from linkwise.io import Columns, Script, look, named_file, open_columns

MOST_PARTS = 8  # of a name, on average: "Château d'Or 2006, magnum" has four
OPTIONS = ("decimal", "encoding", "missing", "impute", "scale", "names", "know")
_ROLE_OF = {"names": "name", "numbers": "number", "categories": "category", "text": "text"}
_TREES = (".nwk", ".newick", ".tree", ".tre", ".nh")
_IGNORED = {"empty", "constant", "row numbers"}


@dataclass
class Opened:
    """A file that was opened, with the roles and options that hold for it."""

    name: str  # of what was opened
    raw: bytes  # of the table
    found: Any
    roles: dict[str, str]
    options: dict[str, Any]
    given: dict[str, Any] = field(default_factory=dict)  # options as they came in
    pictures: Pictures | None = None

    def of(self, *roles: str) -> list[str]:
        return [column for column, role in self.roles.items() if role in roles]


def open_table(name: str, raw: bytes, roles: Mapping[str, str] | None, options: Mapping[str, Any] | None) -> Opened:
    """Open a file; what was not chosen is proposed by `linkwise.io.look`."""
    pictures, archive = None, name
    if other := _no_table(name, raw):
        msg = f"{name} is {other[0]}, not a table.\nHint: {other[1]}."
        raise LinkwiseError(msg)
    if holds_pictures(raw):
        pictures = Pictures(name, raw)
        name, raw = _table_of(pictures)
    given = {key: value for key, value in (options or {}).items() if value is not None}
    if strange := [key for key in given if key not in OPTIONS]:
        msg = f"there is no option {strange[0]!r} for reading a table.\nHint: {', '.join(OPTIONS)}."
        raise LinkwiseError(msg)
    proposed = _proposal(name, raw, given) if not roles or not {"decimal", "encoding", "missing"} <= set(given) else {}
    chosen: dict[str, Any] = {
        "decimal": given.get("decimal", proposed.get("decimal", ".")),
        "encoding": given.get("encoding", proposed.get("encoding", "")),
        "missing": _words(given.get("missing", proposed.get("missing", []))),
    }
    script = Script(chosen["decimal"], tuple(chosen["missing"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, _ = open_columns(named_file(name, raw), None, script, chosen["encoding"] or None)
    columns = list(found.names) if isinstance(found, Columns) else []
    plain = {column: proposed.get("roles", {}).get(column, "show") for column in columns}
    if proposed and "name" not in plain.values():
        plain |= dict.fromkeys(_naming(found, plain), "name")
    if pictures is not None:
        plain |= dict.fromkeys(_of_files(found, pictures), "picture")
    told = dict(roles or {})
    if strange := [column for column in told if column not in plain]:
        msg = f"{name} has no column {strange[0]!r}.\nHint: it has {some_of(columns, 20)}."
        raise LinkwiseError(msg)
    if strange := [role for role in told.values() if role not in ROLES]:
        msg = f"there is no role {strange[0]!r}.\nHint: {', '.join(ROLES)}."
        raise LinkwiseError(msg)
    roles = {column: told.get(column, plain[column]) for column in columns}
    return Opened(archive if pictures is not None else name, raw, found, roles, chosen, given, pictures)


def _no_table(name: str, raw: bytes) -> tuple[str, str] | None:
    """What a file is that is sometimes taken for a table, and what to do with it."""
    if holds_answers(raw):
        return "a log of answers", "open the table they are about, then read them in there, under Knowledge"
    if name.lower().endswith(_TREES):
        return "a tree", "open a table of its items, then read the tree in there, under Knowledge"
    if type_of(raw) is not None:
        return "a single picture", "put the pictures into one zip archive"
    if raw.lstrip()[:1] == b"<":
        return "a web page", "save the table that it shows as CSV"
    return None


def _table_of(pictures: Pictures) -> tuple[str, bytes]:
    """The table in an archive of pictures, or one of their file names."""
    if pictures.table is not None:
        return pictures.table, pictures.read_table()
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows([one] for one in ("picture", *pictures.names))
    return "pictures.csv", made.getvalue().encode()


def _of_files(found: Any, pictures: Pictures) -> list[str]:
    """Columns of a table that name pictures, and nothing but pictures."""
    there, fits = set(pictures.names), []
    for at, column in enumerate(found.names):
        cells = {cell for cell in found.words(at) if cell}
        if cells and cells <= there:
            fits.append(column)
    return fits[:1]


def _naming(found: Any, plain: Mapping[str, str]) -> list[str]:
    """Name the first column of short words, different in every row, that items are not compared by.

    `look` takes words of more than three parts for a text; people who are asked about items know them by these.
    """
    for at, column in enumerate(found.names):
        cells = found.words(at) if plain[column] == "show" else []
        short = sum(len(cell.split()) for cell in cells) <= MOST_PARTS * len(cells)
        if cells and short and len(set(cells)) == len(cells) and all(re.search(r"[^\W\d_]", one) for one in cells):
            return [column]
    return []


def _words(value: Any) -> list[str]:
    """Words that count as missing: a list, or a list as JSON, since an option of a project is one value."""
    try:
        words = json.loads(value) if isinstance(value, str) and value else value or []
    except ValueError:
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        msg = f"the option missing is {value!r}, expected a list of words, as in '[\"-999\"]'."
        raise LinkwiseError(msg)
    return words


def _proposal(name: str, raw: bytes, given: Mapping[str, Any]) -> dict[str, Any]:
    """Roles, decimal mark, encoding and words for missing values, as `look` finds them; less where it finds no way."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = look(named_file(name, raw), encoding=given.get("encoding") or None)
    except LinkwiseError:
        return {}
    roles = {}
    for column in found.columns:
        role = _ROLE_OF.get(column.role, "ignore" if column.role in _IGNORED else "show")
        roles[column.name] = role if column.compared or role in ("name", "ignore") else "show"
    told = found.arguments
    return {"roles": roles, "decimal": told.get("decimal", "."), "encoding": told.get("encoding", ""),
            "missing": list(told.get("missing", []))}  # fmt: skip
