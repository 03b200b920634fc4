"""`look`: what the columns of a table are, what is wrong in them, and the options that read it."""

from __future__ import annotations

import re
import shlex
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise._files import ENCODINGS, guess_encoding
from linkwise._messages import and_more, in_words, many, number, some_of
from linkwise._typing import FloatArray
from linkwise.exceptions import LinkwiseError
from linkwise.io._columns import (
    COMMA,
    DATE,
    MISSING,
    WITH_UNIT,
    Columns,
    DelimitedColumns,
    Script,
    has_decimal_comma,
    kind_of,
    typed_columns,
)
from linkwise.io._data import open_columns, read_data
from linkwise.io._prepare import Table
from linkwise.io._text import NUMBER, is_path, named_file, read_raw, shown, source_name

_CALLED_ID = re.compile(
    r"(?i:(.*[_ .-])?(ids?|key|nr|no|num|number|index|row|code|names?)([_ .-].*)?)|.*[a-z](ID|Id)s?"
)
_CALLED_KEY = re.compile(r"(?i:(.*[_ .-])?(ids?|key|nr|no|code)([_ .-].*)?)|.*[a-z](ID|Id)s?")
_CALLED_CLASS = re.compile(r"label|class|target|cluster|klasse", re.IGNORECASE)
_MARKS = frozenset(sign * (10**digits - 1) for digits in range(2, 7) for sign in (-1, 1))  # -99, 999, -9999, ...
_CODE = re.compile(r"0\d+")  # a number would lose the zero before it
_MOST_MARKS = 8  # different cells of a column that may be called missing; more are not slips of a few hands
_WORDS_IN_NAME = 8  # in a column where most cells have three words or fewer
_STANDS_OUT = 20  # this many times as often as any other: a word for a missing value, such as "unknown"
_MANY_VALUES = 20  # categories of a short table; of a long one a tenth of its rows
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}


@dataclass(frozen=True)
class LookedColumn:
    """One column: its ``role``, remarks on its cells, and whether samples are compared by it."""

    name: str
    role: str
    remarks: tuple[str, ...] = ()
    compared: bool = False
    n_missing: int = 0


@dataclass(frozen=True, eq=False)
class Look:
    r"""What `look` found in a table; printing it shows the columns and the command.

    Attributes
    ----------
    source : str
        What the table is called.
    n_rows : int
        Its rows.
    form : str
        How it is written, in words: delimiter, encoding and decimal mark where they are not the usual ones.
    columns : tuple of LookedColumn
        ``name``, ``role``, ``remarks``, ``compared`` and ``n_missing`` of each column.
    arguments : dict
        Arguments with which `read_data` reads the table.
    table : Table
        The table, as read with them.
    advice : tuple of str
        Sentences about what else can be done.
    is_file : bool
        Whether the table is a file, which a command can read; otherwise the proposal is in Python.

    Examples
    --------
    >>> import io
    >>> from linkwise.io import look
    >>> found = look(io.StringIO("name;weight;kind\notter;8,5;wild\nmink;?;wild\ncow;700;tame\ngoat;60;tame\n"))
    >>> found.arguments["id"], found.arguments["decimal"], found.arguments["categories"], found.arguments["impute"]
    ('name', ',', ['kind'], 'median')
    >>> [column.role for column in found.columns]
    ['names', 'numbers', 'categories']
    """

    source: str
    n_rows: int
    form: str
    columns: tuple[LookedColumn, ...]
    arguments: dict[str, Any]
    table: Table
    advice: tuple[str, ...] = ()
    others: tuple[tuple[str, dict[str, Any]], ...] = field(default=())
    is_file: bool = True

    @property
    def command(self) -> str:
        """The command that clusters the table, as one types it; in Python where the table is not a file."""
        return self._typed(self.arguments)

    def _typed(self, arguments: dict[str, Any]) -> str:
        if not self.is_file:
            given = "".join(f", {option}={value!r}" for option, value in arguments.items())
            return f'linkwise.cluster(linkwise.read_data(data{given}).X, n_clusters="auto")'
        words = ["linkwise cluster", shlex.quote(self.source)]
        for option, value in arguments.items():
            if option in ("drop", "categories", "text"):
                words.append(typed_columns(option, value))
            else:
                words += [f"--{option} {shlex.quote(one)}" for one in ([value] if isinstance(value, str) else value)]
        return " ".join([*words, "-k auto"])

    def __str__(self) -> str:
        columns = many(len(self.columns), "column") if self.columns else many(len(self.table.columns), "feature")
        lines = [f"{self.source}: {many(self.n_rows, 'row')}, {columns}{self.form}."]
        wide = max((len(_short(column.name)) for column in self.columns), default=0)
        role = max((len(column.role) for column in self.columns), default=0)
        if self.columns:
            lines.append("")
        for column in self.columns:
            mark = "*" if column.compared else " "
            remarks = "; ".join(column.remarks)
            lines.append(f"{mark} {_short(column.name):<{wide}}  {column.role:<{role}}  {remarks}".rstrip())
        used = sum(column.compared for column in self.columns)
        marked = f" from the {many(used, 'column')} marked *" if self.columns else ""
        lines += ["", f"To compare {many(len(self.table), 'sample')} by {many(self.n_features, 'feature')}{marked}:"]
        lines += [f"  {self.command}"]
        for words, arguments in self.others:
            lines += [f"{words}:", f"  {self._typed(arguments)}"]
        return "\n".join([*lines, *self.advice])

    @property
    def n_features(self) -> int:
        """The number of features that samples are compared by."""
        return len(self.table.columns)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain types."""
        return {
            "source": self.source,
            "rows": self.n_rows,
            "columns": [
                {"name": c.name, "role": c.role, "remarks": c.remarks, "compared": c.compared, "missing": c.n_missing}
                for c in self.columns
            ],
            "arguments": self.arguments,
            "features": self.n_features,
            "command": self.command,
            "other_commands": [self._typed(arguments) for _, arguments in self.others],
            "advice": self.advice,
        }


def look(source: Any, *, encoding: str | None = None) -> Look:
    r"""Find out what the columns of a table are, and with which options it can be read.

    Every column gets a role: *names* (of the samples), *numbers*, *categories* (words with few values), *classes*
    (categories in a column called class, label or the like), *text*, *repeated words* (many values, some of them more
    than once, such as e-mail addresses), *codes* (digits after a zero, such as ``00412``), *row numbers* and
    *identifiers* (whole numbers, each once, in a column called id, key or the like), *dates*, *numbers with words*
    (such as ``12 kg``), *constant* or *empty*. Samples are compared by numbers and categories, or by a text
    where there is nothing else. The proposal is tried: the table has been read with it before it is returned.

    Parameters
    ----------
    source : str, Path, file, data frame, array or sparse matrix
        As for `read_data`.
    encoding : str, optional
        Encoding of a text; by default UTF-8, and UTF-16 or Windows-1252 where it must be one of these.

    Returns
    -------
    Look

    Notes
    -----
    **Cost** that of reading the table about three times. **Guarantee** ``read_data(source, **look(source).arguments)``
    reads the table without an error or a guess. Roles are guesses from names and cells: read them before you type.

    Examples
    --------
    >>> import io
    >>> from linkwise.io import look
    >>> print(look(io.StringIO("name,weight\notter,8\nmink,1\nseal,100\n")))
    the StringIO: 3 rows, 2 columns.
    <BLANKLINE>
      name    names
    * weight  numbers  1 to 100
    <BLANKLINE>
    To compare 3 samples by 1 feature from the 1 column marked *:
      linkwise.cluster(linkwise.read_data(data, id='name').X, n_clusters="auto")
    """
    name, given, is_file = source_name(source), source, is_path(source)
    arguments: dict[str, Any] = {}
    form: list[str] = []
    if is_path(source) or hasattr(source, "read"):
        raw = read_raw(source)
        arguments, form = _encoding(raw, encoding)
        given = lambda: named_file(name, raw)  # noqa: E731 - a fresh reader for each reading
    opened = given() if callable(given) else given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, names = open_columns(opened, None, encoding=encoding or arguments.get("encoding"))
    if not isinstance(found, Columns):
        table = read_data(given() if callable(given) else given)
        return Look(name, len(table), "", (), arguments, table, is_file=is_file)
    script = Script(_decimal(found))
    if isinstance(found, DelimitedColumns):
        found = found.with_script(script)
        form.insert(0, f"cells divided by {_NAMES[found.delimiter]}" if found.delimiter != "," else "")
        if script.decimal == ",":
            form.append("decimal commas")
            arguments["decimal"] = ","
    judge = _Judge(found, script, has_index=names is not None, is_file=is_file)
    chosen = judge.arguments(arguments)
    readings = {"main": chosen, **judge.other_arguments(arguments)}
    tables: dict[str, Table] = {}
    for key, options in readings.items():
        tables[key], readings[key] = _try(given, options)
    others = tuple((words, options) for words, options in readings.items() if words != "main")
    told = "".join(f", {part}" for part in form if part)
    return Look(
        name, found.n_rows, told, judge.columns(), readings["main"], tables["main"], judge.advice(), others, is_file
    )


def _encoding(raw: bytes, encoding: str | None) -> tuple[dict[str, Any], list[str]]:
    """The argument that reads a text without a guess, and the words for it."""
    found = encoding or guess_encoding(raw)
    if found is None:
        return {}, []
    return {"encoding": found}, [f"encoded as {ENCODINGS.get(found, found)}"]


def _try(given: Any, options: dict[str, Any]) -> tuple[Table, dict[str, Any]]:
    """Read a table with some options; scale it where one column would decide alone."""
    from linkwise.selection import uneven_features  # loads all methods

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = read_data(given() if callable(given) else given, **options)
        if isinstance(table.X, np.ndarray) and uneven_features(table.X) is not None:
            options = {**options, "scale": "standard"}
            table = read_data(given() if callable(given) else given, **options)
    return table, options


def _decimal(found: Columns) -> str:
    """The decimal mark: a comma where more columns have decimal commas than points."""
    if not isinstance(found, DelimitedColumns):
        return "."
    commas = points = 0
    for column in range(len(found.names)):
        cells = found.words(column)
        commas += any(map(has_decimal_comma, cells))
        points += any("." in cell and NUMBER.fullmatch(cell) for cell in cells)
    return "," if commas > points else "."


def _short(text: str, longest: int = 32) -> str:
    plain = "".join(c if c.isprintable() else "?" for c in text)
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


class _Judge:
    """The roles of the columns of one table, and what follows from them."""

    def __init__(self, found: Columns, script: Script, *, has_index: bool, is_file: bool) -> None:
        self.found, self.script, self.is_file = found, script, is_file
        self.marks: list[str] = []  # cells that are to be read as missing
        self.unknown: dict[str, str] = {}  # of columns of words, what stands for a missing one
        self._odd: dict[str, tuple[str, ...]] = {}
        self._values: dict[str, FloatArray] = {}
        judged = [self._judge(column) for column in range(len(found.names))]
        self._sentinels(judged)
        self.name = None if has_index else _naming(judged, found)
        self._judged = [self._named(column) for column in judged]

    def columns(self) -> tuple[LookedColumn, ...]:
        """The columns, with whether samples are compared by them."""
        return tuple(
            LookedColumn(c.name, c.role, c.remarks, c.name in self._compared, c.n_missing) for c in self._judged
        )

    def arguments(self, form: dict[str, Any]) -> dict[str, Any]:
        """The arguments of `read_data`."""
        plain = self._of("numbers", "categories")
        if not self._of("numbers") and self._whole_texts():
            plain = []  # the texts say more than a few words
        self._compared = plain or self._whole_texts()[:1]
        if not self._compared:
            roles = "; ".join(f"{column.name}: {column.role}" for column in self._judged[:8])
            more = and_more(8, len(self._judged))
            msg = (
                f"{self.found.name} has no column to compare samples by: {roles}{more}.\n"
                "Hint: add a column of numbers, of words with few values, or of text in every row."
            )
            raise LinkwiseError(msg)
        return self._options(form, self._compared, () if plain else self._compared)

    def other_arguments(self, form: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Other ways to compare, in words: by texts, where samples are compared by other columns."""
        texts = [name for name in self._whole_texts() if name not in self._compared]
        return {f"By the words of {name} instead": self._options(form, [name], [name]) for name in texts[:2]}

    def advice(self) -> tuple[str, ...]:
        """What else can be done, in sentences."""
        repeated, classes = self._of("repeated words"), self._of("classes")
        lines = []
        if classes:
            one = shlex.quote(classes[0])
            ways = (
                f"--labels {one} makes statements of it, and `linkwise score RESULT DATA --column {one}` judges by it"
                if self.is_file
                else f"`linkwise.Constraints.from_labels(data[{classes[0]!r}])` makes statements of it"
            )
            lines.append(f"{classes[0]} may hold known classes, so it is left out: {ways}.")
        if self.marks:
            words = in_words([shown(mark) for mark in self.marks[:5]]) + and_more(5, len(self.marks))
            lines.append(f"Cells {words} count as missing there; correct them in the file if they are slips.")
        if repeated:
            one, groups = shlex.quote(repeated[0]), f"linkwise.Constraints.from_groups(data[{repeated[0]!r}]"
            together, apart = (
                (f"add --together {one}", f"--apart {one}")
                if self.is_file
                else (f"`{groups})` says so", f'`{groups}, say="apart")`')
            )
            lines.append(
                f"Where rows with the same {repeated[0]} belong together, {together}; where they are of different "
                f"clusters, {apart}."
            )
            block = [f"~{name}" if self._has_several_words(name) else name for name in (*repeated, *self._of("codes"))]
            options = "" if self.name is None else f" --id {shlex.quote(self.name)}"
            gone = "".join(f" --missing {shlex.quote(word)}" for word in dict.fromkeys(self.unknown.values()))
            command = (
                f"linkwise duplicates {shlex.quote(self.found.name)}{options} {typed_columns('block', block)}{gone}"
                if self.is_file
                else f"linkwise.selection.group_records(data, block={block!r})"
            )
            lines.append(f"Where rows are records of the same things: `{command}` groups them.")
        return tuple(lines)

    def _has_several_words(self, name: str) -> bool:
        """Whether most values of a column have two words or more, so that near ones are worth comparing."""
        cells = [cell for cell in self.found.words(self.found.names.index(name)) if cell]
        return 2 * sum(" " in cell for cell in cells) > len(cells)

    def _of(self, *roles: str) -> list[str]:
        return [column.name for column in self._judged if column.role in roles]

    def _whole_texts(self) -> list[str]:
        """Columns of text with a word in every row."""
        return [
            name
            for name in self._of("text")
            if all(re.search(r"\w\w", cell) for cell in self.found.words(self.found.names.index(name)))
        ]

    def _options(self, form: dict[str, Any], compared: Sequence[str], texts: Sequence[str]) -> dict[str, Any]:
        options: dict[str, Any] = {} if self.name is None else {"id": self.name}
        by_role = {column.name: column for column in self._judged}
        if texts:
            return options | {"text": list(texts)} | form
        left = [name for name in self.found.names if name not in compared and name != self.name]
        words = [name for name in compared if by_role[name].role == "categories"]
        options |= {"drop": left} if left else {}
        options |= {"categories": words} if words else {}
        options |= {"missing": self.marks} if self.marks else {}
        options |= {"impute": "median"} if any(by_role[name].n_missing for name in compared) else {}
        return options | form

    def _judge(self, at: int) -> LookedColumn:
        name, cells = self.found.names[at], self.found.words(at)
        there = [cell for cell in cells if cell.lower() not in MISSING]
        gone = len(cells) - len(there)
        told = [f"{gone:,} missing"] if gone else []
        if not there:
            return LookedColumn(name, "empty", ("no value in any row",), n_missing=gone)
        distinct = Counter(there)
        if len(distinct) == 1 and len(cells) > 1 and not gone:
            return LookedColumn(name, "constant", (f"always {shown(there[0])}",))
        if 20 * sum(bool(_CODE.fullmatch(cell)) for cell in there) >= len(there):
            such = next(cell for cell in there if _CODE.fullmatch(cell))
            told += self._stand_in(name, distinct)
            return LookedColumn(name, "codes", (f"such as {shown(such, 30)}", *told), n_missing=gone)
        odd = [cell for cell in distinct if self.script.number(cell) is None]
        n_odd = sum(distinct[cell] for cell in odd)
        if len(distinct) == 1 and not n_odd:
            return LookedColumn(name, "constant", (f"always {shown(there[0])}, or missing",), n_missing=gone)
        if 2 * n_odd < len(there):
            return self._numbers(name, cells, odd, n_odd, gone, told)
        share = 0.9 * len(there)
        if sum(bool(DATE.fullmatch(cell)) for cell in there) >= share:
            return LookedColumn(name, "dates", (f"such as {shown(there[0])}", *told), n_missing=gone)
        wrong = next((cell for cell in odd if not (COMMA.fullmatch(cell) or NUMBER.fullmatch(cell))), None)
        if wrong is None:
            if kind_of(cells, self.script)[0] == "thousands":
                mark = "comma" if self.script.decimal == "." else "point"
                plain = re.sub("[.,]", "", odd[0])
                words = f"such as {shown(odd[0])}: if the {mark} divides thousands, write {plain} to compare by it"
            else:
                words = f"such as {shown(odd[0])}: points and commas are mixed up in this file"
            return LookedColumn(name, "unclear numbers", (words, *told), n_missing=gone)
        if sum(bool(WITH_UNIT.fullmatch(cell)) for cell in there) >= share:
            words = f"such as {shown(odd[0])}; write the number alone to compare by it"
            return LookedColumn(name, "numbers with words", (words, *told), n_missing=gone)
        return self._words(name, there, distinct, gone, told)

    def _numbers(
        self, name: str, cells: list[str], odd: list[str], n_odd: int, gone: int, told: list[str]
    ) -> LookedColumn:
        """A column most of whose cells are numbers."""
        if odd:
            row = next(row for row, cell in enumerate(cells) if cell in set(odd))
            place = f"{self.found.unit} {self.found.place(row)}"
            more = "" if n_odd == 1 else f" and {n_odd - 1:,} more"
            told.append(f"{shown(cells[row])} in {place}{more} {'is' if n_odd == 1 else 'are'} not a number")
        values = np.array([np.nan if cell in odd else self.script.number(cell) for cell in cells], dtype=np.float64)
        if np.isinf(values).any() or len(odd) > _MOST_MARKS:
            return LookedColumn(name, "unclear numbers", tuple(told), n_missing=gone)
        self._odd[name] = tuple(odd)
        self._values[name] = values
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        if low == high:
            return LookedColumn(name, "constant", (f"always {number(low)}, or missing", *told), n_missing=gone)
        return LookedColumn(name, "numbers", (f"{number(low)} to {number(high)}", *told), n_missing=gone + n_odd)

    def _words(self, name: str, there: list[str], distinct: Counter[str], gone: int, told: list[str]) -> LookedColumn:
        """A column of words."""
        n, lengths = self.found.n_rows, [len(cell.split()) for cell in there]
        several = 2 * sum(length > 3 for length in lengths) > len(lengths)
        if several and len(distinct) > _MANY_VALUES // 2:
            words = f"about {many(round(sum(lengths) / len(lengths)), 'word')} each, such as {shown(there[0], 30)}"
            return LookedColumn(name, "text", (words, *told), n_missing=gone)
        if len(distinct) <= max(_MANY_VALUES, n // 10) and 3 * len(distinct) <= 2 * len(there):
            often = [shown(word, 20) for word, _ in distinct.most_common(4)]
            words = f"{many(len(distinct), 'value')}: {some_of(often, 4)}{and_more(4, len(distinct))}"
            return LookedColumn(name, "categories", (words, *told), n_missing=gone)
        if len(distinct) == len(there):
            role = "text" if max(lengths) > _WORDS_IN_NAME else "names"
            return LookedColumn(name, role, (f"such as {shown(there[0], 30)}", *told) if told else (), n_missing=gone)
        common, times = distinct.most_common(1)[0]
        words = f"{many(len(distinct), 'value')}; {shown(common, 30)} is in {times:,} rows"
        told += self._stand_in(name, distinct)
        return LookedColumn(name, "repeated words", (words, *told), n_missing=gone)

    def _stand_in(self, name: str, distinct: Counter[str]) -> list[str]:
        """Find a word that stands for a missing value in a column of many others, and note it."""
        (word, times), *others = distinct.most_common(2)
        if not others or times < _STANDS_OUT * others[0][1] or _CODE.fullmatch(word):
            return []
        self.unknown.setdefault(name, word)
        return [f"{shown(word, 30)} in {times:,} rows looks like a missing value"]

    def _sentinels(self, judged: list[LookedColumn]) -> None:
        """Find numbers that stand for missing ones, such as -999; they must be that wherever they occur."""
        for mark in sorted(_MARKS):
            where = [name for name, values in self._values.items() if (values == mark).any()]
            if where and all(_is_far(self._values[name], mark) for name in where):
                self.marks.append(str(mark))
                for at, column in enumerate(judged):
                    if column.name in where:
                        values = self._values[column.name]
                        times = int((values == mark).sum())
                        rest = values[(values != mark) & ~np.isnan(values)]
                        words = f"{number(float(rest.min()))} to {number(float(rest.max()))}"
                        told = (
                            words,
                            *column.remarks[1:],
                            f"{mark} in {many(times, 'row')} looks like a missing value",
                        )
                        judged[at] = LookedColumn(column.name, column.role, told, n_missing=column.n_missing + times)

    def _named(self, column: LookedColumn) -> LookedColumn:
        """The role of a column when it is known which one names the samples."""
        if column.name == self.name:
            return LookedColumn(column.name, "names", column.remarks if column.role == "names" else ())
        if column.role == "numbers" and self._counts(column.name):
            return LookedColumn(column.name, "row numbers", ("every row has its own, without gaps",))
        if column.role == "numbers" and _CALLED_KEY.fullmatch(column.name) and _are_keys(self._values[column.name]):
            return LookedColumn(column.name, "identifiers", ("every row has its own",))
        if column.role == "numbers":
            self.marks += [mark for mark in self._odd[column.name] if mark not in self.marks]
        if column.role == "categories" and _CALLED_CLASS.fullmatch(column.name):
            return LookedColumn(column.name, "classes", column.remarks, n_missing=column.n_missing)
        if column.role == "names":
            return LookedColumn(column.name, "further names", column.remarks, n_missing=column.n_missing)
        return column

    def _counts(self, name: str) -> bool:
        return bool(_CALLED_ID.fullmatch(name)) and _is_count(self._values[name])


def _is_count(values: FloatArray) -> bool:
    """Whether whole numbers run on without gaps, in whatever order."""
    return len(values) > 2 and bool((np.diff(np.sort(values)) == 1).all()) and float(values[0]).is_integer()


def _are_keys(values: FloatArray) -> bool:
    """Whether there are more than a few whole numbers, each of them once and none missing."""
    return len(values) > 9 and len(np.unique(values)) == len(values) and bool((values % 1 == 0).all())


def _is_far(values: FloatArray, mark: int) -> bool:
    """Whether a number occurs more than once, far from all others."""
    rest = values[(values != mark) & ~np.isnan(values)]
    if len(rest) < 2 or (values == mark).sum() < 2:
        return False
    spread = float(rest.max() - rest.min())
    away = max(float(rest.min()) - mark, mark - float(rest.max()))
    return spread > 0 and away > 2 * spread


def _naming(judged: list[LookedColumn], found: Columns) -> str | None:
    """The column that names the samples: different words in every row, called like one if there are several."""
    unique = []
    for at, column in enumerate(judged):
        cells = found.words(at)
        called = bool(_CALLED_ID.fullmatch(column.name))
        fits = column.role == "names" or (called and column.role in ("numbers", "text"))
        if fits and not column.n_missing and all(cells) and len(set(cells)) == len(cells):
            whole = column.role != "numbers" or all(cell.isdecimal() for cell in cells)
            unique += [(column.role != "names", not called, at, column.name)] if whole else []
    return min(unique)[3] if unique else None
