"""A file and the roles of its columns as samples.

The roles and options of a project become arguments of `linkwise.io.read_data` here and nowhere else; exports write the
same arguments as Python and as options of the command line.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._messages import in_words
from linkwise.app import MOST_ROWS
from linkwise.app.files._images import titles
from linkwise.app.files._opened_table import Opened, open_table
from linkwise.exceptions import LinkwiseError
from linkwise.io import Columns, DelimitedColumns, named_file, read_data

if TYPE_CHECKING:
    from linkwise.io import Table

MOST_ASKED = 5_000  # items that questions are about
HINT = 1.0  # the weight of knowledge from a column that is only a hint
# The choices of three options, and their words on the import page.
IMPUTE = {"median": "the median", "mean": "the mean", "most_frequent": "the most frequent value of the column"}
SCALE = {"standard": "each column to equal spread", "minmax": "each column to the range 0 to 1", "none": "as they are"}
KNOW = {"soft": "only as a hint", "certain": "certain", "no": "not at all"}


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
    return read_opened(open_table(name, raw, roles, options))


def read_opened(opened: Opened, *, whole: bool = True) -> Reading:
    """Read a file; without `whole`, pictures are not looked at."""
    found, options = opened.found, dict(opened.options)
    if not isinstance(found, Columns):
        table = _quietly(lambda: read_data(named_file(opened.name, opened.raw)))
        return Reading(table, {}, options, {})
    _require_roles(opened)
    options["impute"] = opened.given.get("impute", "median") if count_missing(opened) else None
    options["scale"] = opened.given.get("scale", "auto") if opened.of("number") else "none"
    options["names"] = opened.given.get("names", "as they are")
    options["know"] = opened.given.get("know", "soft") if opened.of("know") else "no"
    for key, allowed in (("impute", (*IMPUTE, None)), ("scale", (*SCALE, "auto")),
                         ("names", ("as they are", "number")), ("know", tuple(KNOW))):  # fmt: skip
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
        table = _quietly(lambda: read_data(named_file(opened.found.name, opened.raw), keep=kept, **plain))
        table = replace(table, ids=np.array(_unique(table.beside[name])))
        gaps = (f"Names in {name} that occur twice got the number of their row.",)
    else:
        table = _quietly(lambda: read_data(named_file(opened.found.name, opened.raw), keep=kept, **arguments))
    if options["scale"] == "auto":
        options["scale"] = table.preparation.scale or "none"
        arguments = _arguments(opened, options)
    if opened.pictures is not None:
        table = replace(table, beside=table.beside | _members(opened))
    knowledge = known_groups(opened, table, options["know"])
    again = None if gaps or opened.pictures is not None else arguments
    return Reading(table, opened.roles, options, again, gaps, knowledge)


def _members(opened: Opened) -> dict[str, tuple[str, ...]]:
    """Where in the archive the picture of every item is."""
    found, pictures = opened.found, opened.pictures
    if pictures is None or not opened.of("picture"):
        return {}
    column = opened.of("picture")[0]
    cells = found.words(found.names.index(column))
    return {column: tuple(pictures.member(cell) if cell else "" for cell in cells)}


def _read_pictures(opened: Opened, options: dict[str, Any], *, whole: bool) -> Reading:
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
    return Reading(table, opened.roles, options, None, gaps, known_groups(opened, table, options["know"]))


def _quietly(read: Callable[[], Table]) -> Table:
    """Read without warnings; the preview has shown what they say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read()


def _arguments(opened: Opened, options: Mapping[str, Any]) -> dict[str, Any]:
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


def count_missing(opened: Opened) -> dict[str, int]:
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


def _require_roles(opened: Opened) -> None:
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


def known_groups(opened: Opened, table: Table, how: str) -> tuple[dict[str, Any], ...]:
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
