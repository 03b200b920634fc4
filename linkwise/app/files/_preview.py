"""The import page: the columns of a file, their roles, what was noticed in them, and the choices there are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._files import ENCODINGS
from linkwise._messages import in_words, many, some_of
from linkwise.app.files._opened_table import OPTIONS, Opened, open_table
from linkwise.app.files._reading import IMPUTE, KNOW, MOST_ASKED, SCALE, count_missing, known_groups, read_opened
from linkwise.exceptions import LinkwiseError
from linkwise.io import Columns, DelimitedColumns

if TYPE_CHECKING:
    from linkwise.io import Table

MOST_SHOWN = 50  # rows
_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def preview(
    name: str, raw: bytes, roles: Mapping[str, str] | None = None, options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Describe what a file would become, as the import page shows it; a wrong role is an ``error`` of the reply."""
    shown: dict[str, Any] = {"name": name, "rows": 0, "columns": [], "sample": [], "notes": [], "encoding": "",
                             "will": "", "error": None, "options": {}}  # fmt: skip
    opened = open_table(name, raw, roles, options)
    found = opened.found
    if not isinstance(found, Columns):
        whole = read_opened(opened).table
        return shown | {"rows": len(whole), "will": _will(opened, whole, {}), "encoding": "matrix"}
    shown["rows"] = found.n_rows
    shown["columns"] = [{"name": column, "role": role} for column, role in opened.roles.items()]
    cells = [found.words(at)[:MOST_SHOWN] for at in range(len(found.names))]
    shown["sample"] = [[cell or None for cell in row] for row in zip(*cells, strict=True)]
    shown["encoding"] = _form(opened)
    chosen = dict(opened.options)
    table: Table | None = None
    try:
        reading = read_opened(opened, whole=False)
        table, chosen = reading.table, reading.options
        shown["will"] = _will(opened, table, chosen)
    except LinkwiseError as refused:
        shown["error"] = _error(refused, opened)
        chosen |= {key: opened.given[key] for key in OPTIONS if key in opened.given and key not in chosen}
    shown["notes"] = _notes(opened, chosen, table)
    plain = {key: json.dumps(value) if isinstance(value, list) else value for key, value in chosen.items()}
    shown["options"] = {key: value for key, value in plain.items() if value is not None}
    return shown


def _form(opened: Opened) -> str:
    encoding = opened.options["encoding"]
    parts = [ENCODINGS.get(encoding, encoding)]
    if isinstance(opened.found, DelimitedColumns):
        return ", ".join([*parts, _DELIMITERS.get(opened.found.delimiter, opened.found.delimiter)])
    return "table"


def _error(refused: LinkwiseError, opened: Opened) -> dict[str, Any]:
    """What went wrong, without the hints for Python, and the column that it is about."""
    words, _, hint = str(refused).partition("\nHint: ")
    column = getattr(refused, "column", None)
    if column is None:
        fits = [
            c for c in sorted(opened.roles, key=len, reverse=True) if re.search(rf"(?<!\w){re.escape(c)}(?!\w)", words)
        ]
        column = fits[0] if fits else None
        role = opened.roles.get(column or "")
        hint = {
            "category": "Give it the role 'name', 'text' or 'show'.",
            "name": "Choose below how names become different, or give another column the role 'name'.",
            "text": "Give it the role 'show'.",
        }.get(role or "", "" if "=" in hint else hint)
        if opened.of("name") and "names must differ" in words:
            column, hint = opened.of("name")[0], "Choose below how names become different, or another column."
    return {"message": words.removeprefix("read_data: "), "hint": hint[:1].upper() + hint[1:], "column": column}


def _choices(choices: Mapping[str, str], chosen: Any) -> list[dict[str, Any]]:
    return [{"key": key, "words": words, "chosen": key == chosen} for key, words in choices.items()]


def _notes(opened: Opened, chosen: Mapping[str, Any], table: Table | None) -> list[dict[str, Any]]:
    """What was noticed, with choices where there are any."""
    notes: list[dict[str, Any]] = []
    gone = count_missing(opened)
    if gone:
        listed = in_words([f"{n:,} in {column}" for column, n in list(gone.items())[:5]])
        more = f" and {len(gone) - 5:,} more columns" if len(gone) > 5 else ""
        words = f"{many(sum(gone.values()), 'value')} missing: {listed}{more}. Fill a gap in numbers with"
        notes.append({"key": "impute", "words": words, "choices": _choices(IMPUTE, chosen.get("impute", "median"))})
    if opened.of("number"):
        notes.append({"key": "scale", "words": "Compare numbers", "choices": _choices(SCALE, chosen.get("scale"))})
    names = opened.of("name")
    cells = opened.found.words(opened.found.names.index(names[0])) if names else []
    twice = len(cells) - len(set(cells)) + sum(not cell for cell in set(cells))
    if twice:
        choices = {"as they are": "I will correct the file", "number": "add the row number to names that occur twice"}
        words = f"{many(twice, 'row')} of {names[0]} {'has' if twice == 1 else 'have'} a name that is taken or empty"
        notes.append({"key": "names", "words": words, "choices": _choices(choices, chosen.get("names", "as they are"))})
    if know := opened.of("know"):
        words = f"Items with the same {in_words(know, 'or')} belong together"
        notes.append({"key": "know", "words": words, "choices": _choices(KNOW, chosen.get("know", "soft"))})
    if isinstance(opened.found, DelimitedColumns):
        marks = {".": "a point, as in 1.5", ",": "a comma, as in 1,5"}
        notes.append({"key": "decimal", "words": "Decimal mark", "choices": _choices(marks, chosen["decimal"])})
        own = chosen["encoding"]
        encodings = ENCODINGS | {own: ENCODINGS.get(own, own)}
        notes.append({"key": "encoding", "words": "Encoding", "choices": _choices(encodings, chosen["encoding"])})
    now = json.dumps(chosen["missing"])
    if chosen["missing"]:
        marks = {now: f"missing: {some_of(chosen['missing'])}", "[]": "values like any other"}
    else:
        marks = {"[]": "empty cells, ?, NA and the like"}
    notes.append({"key": "missing", "words": "What counts as missing", "choices": _choices(marks, now)})
    if table is not None and len(table) > MOST_ASKED:
        notes.append({"key": "many", "words": f"Questions are about {MOST_ASKED:,} of the items, chosen by the seed."})
    return notes


def _will(opened: Opened, table: Table, options: Mapping[str, Any]) -> str:
    if opened.pictures is not None and not opened.of("number", "category", "text"):
        return f"{many(len(table), 'picture')} in one tree, compared by coarse color and shape, not by what they show."
    numbers, categories, texts = (opened.of(role) for role in ("number", "category", "text"))
    by = [many(len(numbers), "column") + " of numbers"] if numbers else []
    by += [many(len(categories), "category", "categories")] if categories else []
    by += [f"{many(len(table.preparation.words), 'word')} of {in_words(texts)}"] if texts else []
    by = by or [many(len(table.columns), "feature")]
    how = "by the angle between them (cosine)" if not isinstance(table.X, np.ndarray) else "by distance"
    said = sum(len(body["statements"]) for body in known_groups(opened, table, options.get("know", "no")))
    known = f" {many(said, 'known group')} {'is' if said == 1 else 'are'} read in." if said else ""
    return f"{many(len(table), 'item')} in one tree, compared {how}: {in_words(by)}.{known}"
