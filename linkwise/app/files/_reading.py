"""A file and the roles of its columns as samples: the preview of the import, the reading for engines, and samples.

The roles and options of a project become arguments of `linkwise.io.read_data` here and nowhere else; exports write the
same arguments as Python and as options of the command line.
"""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._messages import in_words, many, some_of
from linkwise.app import MOST_ROWS, ROLES
from linkwise.app.files._answers_file import holds_answers
from linkwise.app.files._images import Pictures, holds_pictures, titles, type_of
from linkwise.exceptions import LinkwiseError
from linkwise.io import Columns, DelimitedColumns, Script, csv_line, look, open_columns, read_data

if TYPE_CHECKING:
    from linkwise.io import Table

MOST_SHOWN, MOST_ASKED = 50, 5_000  # rows of a preview; items that questions are about
MOST_PARTS = 8  # of a name, on average: "Château d'Or 2006, magnum" has four
OPTIONS = ("decimal", "encoding", "missing", "impute", "scale", "names", "know")
_ROLE_OF = {"names": "name", "numbers": "number", "categories": "category", "text": "text"}
_TREES = (".nwk", ".newick", ".tree", ".tre", ".nh")
_IGNORED = {"empty", "constant", "row numbers"}
_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_IMPUTE = {"median": "the median", "mean": "the mean", "most_frequent": "the most frequent value of the column"}
_SCALE = {"standard": "each column to equal spread", "minmax": "each column to the range 0 to 1", "none": "as they are"}
_KNOW = {"soft": "only as a hint", "certain": "certain", "no": "not at all"}
HINT = 1.0  # the weight of knowledge from a column that is only a hint


@dataclass(frozen=True, eq=False)
class Reading:
    """A file as it is compared.

    Attributes
    ----------
    table : Table
        The samples; every column that people see is kept as text in ``table.beside``.
    roles, options : dict
        The role of every column, and every option that was chosen or follows from the file.
    arguments : dict or None
        Keywords with which `read_data` reads the same samples from the file; None if it cannot.
    gaps : tuple of str
        Sentences on what neither `read_data` nor the command line can repeat from the file.
    knowledge : tuple of dict
        Bodies of `import` statements: what columns of the role "know" say.
    """

    table: Table
    roles: dict[str, str]
    options: dict[str, Any]
    arguments: dict[str, Any] | None
    gaps: tuple[str, ...] = ()
    knowledge: tuple[dict[str, Any], ...] = ()


@dataclass
class _Opened:
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


# -- opening -----------------------------------------------------------------------------------------------------------


def _open(name: str, raw: bytes, roles: Mapping[str, str] | None, options: Mapping[str, Any] | None) -> _Opened:
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
        found, _ = open_columns(_file(name, raw), None, script, chosen["encoding"] or None)
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
    return _Opened(archive if pictures is not None else name, raw, found, roles, chosen, given, pictures)


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


def _file(name: str, raw: bytes) -> io.BytesIO:
    file = io.BytesIO(raw)
    file.name = name
    return file


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
            found = look(_file(name, raw), encoding=given.get("encoding") or None)
    except LinkwiseError:
        return {}
    roles = {}
    for column in found.columns:
        role = _ROLE_OF.get(column.role, "ignore" if column.role in _IGNORED else "show")
        roles[column.name] = role if column.compared or role in ("name", "ignore") else "show"
    told = found.arguments
    return {"roles": roles, "decimal": told.get("decimal", "."), "encoding": told.get("encoding", ""),
            "missing": list(told.get("missing", []))}  # fmt: skip


# -- reading -----------------------------------------------------------------------------------------------------------


def read_items(
    name: str, raw: bytes, roles: Mapping[str, str] | None = None, options: Mapping[str, Any] | None = None
) -> Reading:
    r"""Read a file as the roles of its columns and the options say; what was not chosen is proposed by the file.

    Examples
    --------
    >>> from linkwise.app.files._reading import read_items
    >>> found = read_items("b.csv", b"name,abv,note\nOrval,6.2,dry\nJever,4.9,bitter\n", {"note": "show"})
    >>> found.table.X.tolist(), found.roles, found.arguments
    ([[6.2], [4.9]], {'name': 'name', 'abv': 'number', 'note': 'show'}, {'id': 'name', 'columns': ['abv']})
    """
    return _read(_open(name, raw, roles, options))


def _read(opened: _Opened, *, whole: bool = True) -> Reading:
    """Read a file; without `whole`, pictures are not looked at."""
    found, options = opened.found, dict(opened.options)
    if not isinstance(found, Columns):
        table = _quietly(lambda: read_data(_file(opened.name, opened.raw)))
        return Reading(table, {}, options, {})
    _require_roles(opened)
    options["impute"] = opened.given.get("impute", "median") if _n_missing(opened) else None
    options["scale"] = opened.given.get("scale", "auto") if opened.of("number") else "none"
    options["names"] = opened.given.get("names", "as they are")
    options["know"] = opened.given.get("know", "soft") if opened.of("know") else "no"
    for key, allowed in (("impute", (*_IMPUTE, None)), ("scale", (*_SCALE, "auto")),
                         ("names", ("as they are", "number")), ("know", tuple(_KNOW))):  # fmt: skip
        if options[key] not in allowed:
            expected = in_words([repr(one) for one in allowed if one], "or")
            msg = f"the option {key} is {options[key]!r}, expected {expected}."
            raise LinkwiseError(msg)
    if opened.of("picture") and not opened.of("number", "category", "text"):
        return _read_pictures(opened, options, whole=whole)
    arguments = _arguments(opened, options)
    kept = opened.of("number", "category", "show", "know", "picture")
    name = arguments.get("id")
    gaps: tuple[str, ...] = ()
    if name is not None and options["names"] == "number":
        kept.append(name)
        plain = {key: value for key, value in arguments.items() if key != "id"}
        plain["drop"] = [column for column in plain.get("drop", []) if column != name]
        table = _quietly(lambda: read_data(_file(opened.found.name, opened.raw), keep=kept, **plain))
        table = replace(table, ids=np.array(_unique(table.beside[name])))
        gaps = (f"Names in {name} that occur twice got the number of their row.",)
    else:
        table = _quietly(lambda: read_data(_file(opened.found.name, opened.raw), keep=kept, **arguments))
    if options["scale"] == "auto":
        options["scale"] = table.preparation.scale or "none"
        if options["scale"] == "none" and opened.of("category") and _decides_alone(table):
            return _read(replace(opened, given=opened.given | {"scale": "standard"}), whole=whole)
        arguments = _arguments(opened, options)
    if opened.pictures is not None:
        table = replace(table, beside=table.beside | _members(opened))
    knowledge = _knowledge(opened, table, options["know"])
    again = None if gaps or opened.pictures is not None else arguments
    return Reading(table, opened.roles, options, again, gaps, knowledge)


def _members(opened: _Opened) -> dict[str, tuple[str, ...]]:
    """Where in the archive the picture of every item is."""
    found, pictures = opened.found, opened.pictures
    if pictures is None or not opened.of("picture"):
        return {}
    column = opened.of("picture")[0]
    cells = found.words(found.names.index(column))
    return {column: tuple(pictures.member(cell) if cell else "" for cell in cells)}


def _read_pictures(opened: _Opened, options: dict[str, Any], *, whole: bool) -> Reading:
    """Read pictures as coarse features of color and shape."""
    from linkwise.io import Table

    found, pictures = opened.found, opened.pictures
    if pictures is None:
        raise AssertionError
    files = found.words(found.names.index(opened.of("picture")[0]))
    if "" in files:
        column = opened.of("picture")[0]
        msg = (
            f"{found.where(files.index(''))}: there is no picture.\nHint: compare by another column, or leave rows out."
        )
        raise _ColumnError(msg, column)
    names = opened.of("name")
    ids = found.words(found.names.index(names[0])) if names else titles(files)
    if options["names"] == "number":
        ids = _unique(ids)
    if len(set(ids)) < len(ids) or "" in ids:
        msg = f"names must differ, and {names[0] if names else 'a picture'} has one that is empty or occurs twice."
        raise _ColumnError(msg, names[0] if names else opened.of("picture")[0])
    X = pictures.features(files) if whole else np.zeros((len(files), 1))
    told = np.flatnonzero(np.ptp(X, axis=0) > 0)  # shades that occur in none tell nothing
    told = told if len(told) else np.arange(1)
    beside = {column: tuple(found.words(found.names.index(column))) for column in opened.of("show", "know")}
    columns = tuple(f"look {at + 1}" for at in told.tolist())
    table = Table(np.ascontiguousarray(X[:, told]), np.array(ids), columns, beside=beside | _members(opened))
    gaps = ("Pictures are compared by coarse color and shape, which neither Python nor the shell reads from files.",)
    return Reading(table, opened.roles, options, None, gaps, _knowledge(opened, table, options["know"]))


def _quietly(read: Callable[[], Table]) -> Table:
    """Read without warnings; the preview has shown what they say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read()


def _arguments(opened: _Opened, options: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of `read_data` that roles and options stand for, those that say what is the default left out."""
    names, numbers, texts = opened.of("name"), opened.of("number"), opened.of("text")
    used = [*names, *numbers, *texts, *opened.of("category")]
    told: dict[str, Any] = {
        "id": names[0] if names else None,
        "columns": numbers,
        "drop": [] if numbers or texts else [column for column in opened.roles if column not in used],
        "text": texts,
        "categories": opened.of("category"),
        "scale": None if options["scale"] == "none" else options["scale"],
        "impute": options["impute"],
        "decimal": options["decimal"] if isinstance(opened.found, DelimitedColumns) else ".",
        "missing": options["missing"],
        "encoding": options["encoding"],
    }
    return {key: value for key, value in told.items() if value and (key, value) != ("decimal", ".")}


def _n_missing(opened: _Opened) -> dict[str, int]:
    """How many values are missing in each column that items are compared by."""
    found = opened.found
    count: dict[str, int] = {}
    for column in opened.of("number"):
        values, _ = found.numbers(found.names.index(column))
        count[column] = int(np.isnan(values).sum())
    for column in opened.of("category"):
        count[column] = sum(cell == "" for cell in found.words(found.names.index(column)))
    return {column: n for column, n in count.items() if n}


class _ColumnError(LinkwiseError):
    """A column does not go with its role."""

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message)
        self.column = column


def _require_roles(opened: _Opened) -> None:
    """Refuse roles that a column cannot have, in the words of the import page."""
    found = opened.found
    if len(names := opened.of("name")) > 1:
        msg = f"{in_words(names)} both name the items.\nHint: give one of them the role 'show'."
        raise _ColumnError(msg, names[1])
    shown = opened.of("picture")
    if shown and opened.pictures is None:
        fault = f"{shown[0]} names pictures, but the file is a table alone"
        msg = f"{fault}.\nHint: put the table and the pictures into one zip archive."
        raise _ColumnError(msg, shown[0])
    if len(shown) > 1:
        msg = f"{in_words(shown)} both name pictures.\nHint: give one of them the role 'show'."
        raise _ColumnError(msg, shown[1])
    if not opened.of("number", "category", "text", "picture"):
        msg = "Items need a column to be compared by.\nHint: give a column the role 'number', 'category' or 'text'."
        raise LinkwiseError(msg)
    for column in opened.of("number"):
        at = found.names.index(column)
        _, odd = found.numbers(at)
        if odd >= 0:
            cell = found.words(at)[odd]
            msg = (
                f"{column} holds {cell[:40]!r} in {found.unit} {found.place(odd)}, which is not a number.\n"
                "Hint: give it the role 'category', 'text' or 'show', or correct the file."
            )
            raise _ColumnError(msg, column)


def _unique(names: Sequence[str]) -> list[str]:
    """Names made different: one that occurs twice, or is empty, gets the number of its row."""
    often: dict[str, int] = {}
    for name in names:
        often[name] = often.get(name, 0) + 1
    taken = {name for name, count in often.items() if count == 1 and name}
    made = []
    for row, name in enumerate(names, start=1):
        new = name
        if not name or often[name] > 1:
            new = f"{name} ({row})".strip()
            while new in taken:
                new += "'"
            taken.add(new)
        made.append(new)
    return made


def _knowledge(opened: _Opened, table: Table, how: str) -> tuple[dict[str, Any], ...]:
    """One batch of statements for each column of known groups: items with the same value belong together."""
    if how == "no":
        return ()
    found = []
    for column in opened.of("know"):
        groups: dict[str, list[str]] = {}
        for name, value in zip(table.ids.tolist(), table.beside[column], strict=True):
            if value.strip():
                groups.setdefault(value, []).append(str(name))
        rows = [
            {"line": line, "kind": "together", "items": items, "weight": HINT if how == "soft" else None}
            for line, items in enumerate((items for items in groups.values() if len(items) > 1), start=1)
        ]
        if len(rows) > MOST_ROWS:
            msg = f"{column} has {len(rows):,} groups, at most {MOST_ROWS:,} are taken.\nHint: give it the role 'show'."
            raise _ColumnError(msg, column)
        if rows:
            found.append({"name": f"{opened.name}, column {column}", "statements": rows, "by_line": False})
    return tuple(found)


def _decides_alone(table: Table) -> bool:
    """Whether a column of numbers spreads so far that categories beside it would count for nothing."""
    from linkwise.selection import uneven_features

    return isinstance(table.X, np.ndarray) and uneven_features(table.X) is not None


# -- the preview of the import page ------------------------------------------------------------------------------------


def preview(
    name: str, raw: bytes, roles: Mapping[str, str] | None = None, options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Describe what a file would become, as the import page shows it; a wrong role is an ``error`` of the reply."""
    shown: dict[str, Any] = {"name": name, "rows": 0, "columns": [], "sample": [], "notes": [], "encoding": "",
                             "will": "", "error": None, "options": {}}  # fmt: skip
    opened = _open(name, raw, roles, options)
    found = opened.found
    if not isinstance(found, Columns):
        whole = _read(opened).table
        return shown | {"rows": len(whole), "will": _will(opened, whole, {}), "encoding": "matrix"}
    shown["rows"] = found.n_rows
    shown["columns"] = [{"name": column, "role": role} for column, role in opened.roles.items()]
    cells = [found.words(at)[:MOST_SHOWN] for at in range(len(found.names))]
    shown["sample"] = [[cell or None for cell in row] for row in zip(*cells, strict=True)]
    shown["encoding"] = _form(opened)
    chosen = dict(opened.options)
    table: Table | None = None
    try:
        reading = _read(opened, whole=False)
        table, chosen = reading.table, reading.options
        shown["will"] = _will(opened, table, chosen)
    except LinkwiseError as refused:
        shown["error"] = _error(refused, opened)
        chosen |= {key: opened.given[key] for key in OPTIONS if key in opened.given and key not in chosen}
    shown["notes"] = _notes(opened, chosen, table)
    plain = {key: json.dumps(value) if isinstance(value, list) else value for key, value in chosen.items()}
    shown["options"] = {key: value for key, value in plain.items() if value is not None}
    return shown


def _form(opened: _Opened) -> str:
    parts = [{"": "UTF-8", "cp1252": "Windows-1252", "utf-16": "UTF-16"}.get(encoding, encoding)
             for encoding in [opened.options["encoding"]]]  # fmt: skip
    if isinstance(opened.found, DelimitedColumns):
        return ", ".join([*parts, _DELIMITERS.get(opened.found.delimiter, opened.found.delimiter)])
    return "table"


def _error(refused: LinkwiseError, opened: _Opened) -> dict[str, Any]:
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


def _notes(opened: _Opened, chosen: Mapping[str, Any], table: Table | None) -> list[dict[str, Any]]:
    """What was noticed, with choices where there are any."""
    notes: list[dict[str, Any]] = []
    gone = _n_missing(opened)
    if gone:
        listed = in_words([f"{n:,} in {column}" for column, n in list(gone.items())[:5]])
        more = f" and {len(gone) - 5:,} more columns" if len(gone) > 5 else ""
        words = f"{many(sum(gone.values()), 'value')} missing: {listed}{more}. Fill a gap in numbers with"
        notes.append({"key": "impute", "words": words, "choices": _choices(_IMPUTE, chosen.get("impute", "median"))})
    if opened.of("number"):
        notes.append({"key": "scale", "words": "Compare numbers", "choices": _choices(_SCALE, chosen.get("scale"))})
    names = opened.of("name")
    cells = opened.found.words(opened.found.names.index(names[0])) if names else []
    twice = len(cells) - len(set(cells)) + sum(not cell for cell in set(cells))
    if twice:
        choices = {"as they are": "I will correct the file", "number": "add the row number to names that occur twice"}
        words = f"{many(twice, 'row')} of {names[0]} {'has' if twice == 1 else 'have'} a name that is taken or empty"
        notes.append({"key": "names", "words": words, "choices": _choices(choices, chosen.get("names", "as they are"))})
    if know := opened.of("know"):
        words = f"Items with the same {in_words(know, 'or')} belong together"
        notes.append({"key": "know", "words": words, "choices": _choices(_KNOW, chosen.get("know", "soft"))})
    if isinstance(opened.found, DelimitedColumns):
        marks = {".": "a point, as in 1.5", ",": "a comma, as in 1,5"}
        notes.append({"key": "decimal", "words": "Decimal mark", "choices": _choices(marks, chosen["decimal"])})
        encodings = {"": "UTF-8", "cp1252": "Windows-1252", "latin2": "Latin 2", "utf-16": "UTF-16"}
        encodings.setdefault(chosen["encoding"], chosen["encoding"])
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


def _will(opened: _Opened, table: Table, options: Mapping[str, Any]) -> str:
    if opened.pictures is not None and not opened.of("number", "category", "text"):
        return f"{many(len(table), 'picture')} in one tree, compared by coarse color and shape, not by what they show."
    numbers, categories, texts = (opened.of(role) for role in ("number", "category", "text"))
    by = [many(len(numbers), "column") + " of numbers"] if numbers else []
    by += [many(len(categories), "category", "categories")] if categories else []
    by += [f"{many(len(table.preparation.words), 'word')} of {in_words(texts)}"] if texts else []
    by = by or [many(len(table.columns), "feature")]
    how = "by the angle between them (cosine)" if not isinstance(table.X, np.ndarray) else "by distance"
    said = sum(len(body["statements"]) for body in _knowledge(opened, table, options.get("know", "no")))
    known = f" {many(said, 'known group')} {'is' if said == 1 else 'are'} read in." if said else ""
    return f"{many(len(table), 'item')} in one tree, compared {how}: {in_words(by)}.{known}"


# -- samples -----------------------------------------------------------------------------------------------------------

NOTES = """
lost card|I lost my card yesterday and need it blocked at once
stolen card|My wallet was stolen, please block the card in it
block card|How do I block my card from abroad
card not arrived|The new card has not arrived by mail yet
new card when|When will my new card arrive by mail
card delivery|I still wait for the card that you mailed two weeks ago
card address|Please mail my new card to my other address
card broken|The chip of my card is broken, I need a new card
card declined shop|My card was declined in a shop although there is money
card declined online|Paying online was declined, my card does not work there
pin forgotten|I forgot the PIN of my card
pin change|Where can I change the PIN of my card
pin blocked|I typed a wrong PIN three times and now it is blocked
transfer missing|A transfer that I sent on Monday has not arrived
transfer late|Why does my transfer to another bank take so long
transfer wrong|I sent a transfer to the wrong account, can I get it back
transfer twice|The same transfer was sent twice from my account
transfer abroad|How much does a transfer abroad cost
transfer limit|Please raise the limit for a transfer
transfer cancel|Cancel the transfer that I sent this morning
standing order|I want to end a standing order for my rent
standing order date|Move the standing order for the rent to another day
fee account|Why was a fee taken from my account this month
fee abroad|A fee was taken when I paid abroad with the card
fee cash|Is there a fee for cash from another bank
cash machine|The cash machine kept my card
cash missing|The cash machine gave less cash than it booked
cash limit|How much cash can I get in one day
password forgotten|I forgot the password of the app
password change|How do I change my password in the app
app login|The app does not let me log in since the update
app update|After the update the app closes at once
app phone|I have a new phone, how do I move the app
app code|The code to log in to the app does not come
loan rate|What is the interest rate of a loan for a car
loan early|Can I pay back my loan early without a fee
loan amount|How large a loan can I get for a house
loan papers|Which papers do you need for a loan
interest savings|What interest do you pay on savings
savings open|I want to open an account for savings
"""


def _notes_csv() -> bytes:
    lines = [line.split("|") for line in NOTES.strip().splitlines()]
    return ("name,note\n" + "".join(f'{name},"{note}"\n' for name, note in lines)).encode()


def _wines_csv() -> bytes:
    from sklearn.datasets import load_wine

    found = load_wine()
    rows = (f"wine {at + 1},{','.join(f'{value:g}' for value in row)}\n" for at, row in enumerate(found.data))
    names = ",".join(name.replace("/", " of ").replace("_", " ") for name in found.feature_names)
    return f"name,{names}\n{''.join(rows)}".encode()


def _digits_zip() -> bytes:
    """Scanned digits of 8 x 8 dots: the numbers that they are compared by, and pictures to look at."""
    from sklearn.datasets import load_digits

    found = load_digits()
    made, day = io.BytesIO(), (1980, 1, 1, 0, 0, 0)
    lines = [csv_line("name", "picture", *(f"row {at // 8 + 1} dot {at % 8 + 1}" for at in range(64)))]
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for at, row in enumerate(found.data, start=1):
            lines.append(csv_line(f"digit {at}", f"{at:04}.png", *(f"{value:g}" for value in row)))
            archive.writestr(zipfile.ZipInfo(f"{at:04}.png", day), _png(255 - np.kron(row.reshape(8, 8), _DOT) * 15.9))
        archive.writestr(zipfile.ZipInfo("digits.csv", day), "".join(lines))
    return made.getvalue()


_DOT = np.ones((8, 8))


def _png(gray: Any) -> bytes:
    """A picture in shades of gray as PNG."""
    rows = b"".join(b"\0" + bytes(row) for row in np.asarray(gray, dtype=np.uint8))
    height, width = gray.shape
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    sealed = (struct.pack(">I", len(c)) + name + c + struct.pack(">I", zlib.crc32(name + c)) for name, c in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(sealed)


SAMPLES: dict[str, tuple[int, str, Callable[[], bytes], dict[str, Any]]] = {
    "wines": (178, "wines.csv", _wines_csv, {"scale": "standard"}),
    "letters to a bank": (40, "letters.csv", _notes_csv, {}),
    "digits": (1797, "digits.zip", _digits_zip, {"scale": "none"}),
}


def list_samples() -> list[dict[str, Any]]:
    """Names and sizes of the samples of the start page."""
    return [{"name": name, "items": items} for name, (items, *_) in SAMPLES.items()]


def sample(name: str) -> tuple[str, dict[str, str], dict[str, Any], bytes]:
    """Return file name, roles, options and content of a sample."""
    if name not in SAMPLES:
        msg = f"there is no sample {name!r}.\nHint: {', '.join(SAMPLES)}."
        raise LinkwiseError(msg)
    _, file, make, options = SAMPLES[name]
    raw = make()
    told = preview(file, raw, None, options)
    return file, {one["name"]: one["role"] for one in told["columns"]}, told["options"], raw
