"""Options that several verbs share, and the reading of samples and statements that they name."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from linkwise._files import visible
from linkwise._messages import and_more, in_words, many, more_lines
from linkwise._threads import cores
from linkwise.exceptions import (
    InfeasibleConstraintsError,
    InvalidArgumentError,
    LinkwiseError,
    UnsupportedConstraintError,
)

if TYPE_CHECKING:
    from linkwise.app.files import State
    from linkwise.io import Knowledge, Table


class Amount(click.FloatRange):
    """A finite number within bounds."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the typed value."""
        found = float(super().convert(value, param, ctx))
        if not math.isfinite(found):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return found


class Whole(click.ParamType):  # type: ignore[type-arg]
    """A whole number from ``least`` on; messages say ``what`` it counts and which ``other`` word is allowed."""

    name = "INTEGER"

    def __init__(self, least: int = 1, what: str = "a whole number", other: str = "") -> None:
        self.least = least
        self.expected = f"{what} ({least} or more)" + (f" or {other}" if other else "")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the typed value."""
        digits = str(value).strip()
        if not digits.isascii() or not digits.isdecimal() or len(digits) > 18 or int(digits) < self.least:
            self.fail(f"{value!r}, expected {self.expected}.", param, ctx)
        return int(digits)


CLUSTERS = Whole(1, "a number of clusters")


class Range(click.ParamType):  # type: ignore[type-arg]
    """A number of clusters, a range of them as in ``3-6`` or ``3..6``, or another ``word``."""

    def __init__(self, word: str = "") -> None:
        self.word = word
        self.name = f"INTEGER|LOW-HIGH{f'|{word}' if word else ''}"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | tuple[int, int] | str:
        """Read the typed value; a range of one number is that number."""
        if isinstance(value, tuple):
            return value
        if self.word and value == self.word:
            return self.word
        other = f"{f'{self.word}, or ' if self.word else ''}a range such as 3-6"
        whole = Whole(1, "a number of clusters", other)
        low, sign, high = re.sub(r"\.\.|\u2013", "-", str(value).strip()).partition("-")
        if not sign or not low.strip().isdecimal() or not high.strip().isdecimal():
            return whole.convert(value, param, ctx)
        first, last = (whole.convert(end, param, ctx) for end in (low, high))
        if first > last:
            self.fail(f"{value!r}, expected the fewest clusters first, as in {last}-{first}.", param, ctx)
        return first if first == last else (first, last)


class Trust(click.ParamType):  # type: ignore[type-arg]
    """A probability that statements are right, of all files or of one: ``0.95``, ``hard``, ``FILE=doubtful``."""

    name = "[FILE=]P"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float | str]:
        """Read the typed value as the file, "" for all, and the trust."""
        if isinstance(value, tuple):
            return value
        file, _, text = str(value).rpartition("=")
        word = text.strip().lower()
        if word in ("hard", "doubtful"):
            return file, word
        try:
            share = float(word)
        except ValueError:
            share = math.nan
        if not 0.5 < share <= 1:
            self.fail(f"{value!r}, expected hard, doubtful or a probability above 0.5 and up to 1.", param, ctx)
        return file, share


F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("statements", "lines", "groups", "paths", "parents", "newick", "json")
# Endings that leave no doubt what a file holds; any other may hold anything.
SURE = {
    ".nwk": ("newick",),
    ".newick": ("newick",),
    ".tre": ("newick",),
    ".jsonl": ("statements",),
    ".ndjson": ("statements",),
    ".json": ("json", "statements"),
    ".csv": ("statements", "lines", "groups", "paths", "parents"),
    ".tsv": ("statements", "lines", "groups", "paths", "parents"),
}


def _limit_threads(ctx: click.Context, param: click.Parameter, value: int | None) -> None:
    """Limit the command to that many threads; the limit ends with it."""
    if value is None:
        return
    if not 1 <= value <= cores():
        msg = f"{value} is not in the range 1 to {cores()}, the cores of this machine.\nHint: without it, all are used."
        raise click.BadParameter(msg, ctx, param)
    from linkwise._threads import threads_at_most

    ctx.with_resource(threads_at_most(value))


def _skip(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001
    ctx.meta["linkwise.skip_bad"] = value


_SKIP_BAD = click.option(
    "--skip-bad",
    is_flag=True,
    expose_value=False,
    callback=_skip,
    help="Skip rows of statements that cannot be read and names that are not in the data, and list them.",
)
_TABLE = (
    click.option(
        "--id", "id_column", metavar="COLUMN", help="Column that names the samples; without it they are 0, 1, ..."
    ),
    click.option(
        "--drop",
        multiple=True,
        metavar="COLUMN",
        help="Leave a column out. This and other options of columns may be repeated, and take lists (a,b) and patterns "
        "('id_*').",
    ),
    click.option("--columns", multiple=True, metavar="COLUMN", help="Compare by this column; may be repeated."),
    click.option("--text", multiple=True, metavar="COLUMN", help="A column of text, compared by its words."),
    click.option(
        "--categories",
        multiple=True,
        metavar="COLUMN",
        help="A column of words with few values; auto: all columns of such words that no other option names.",
    ),
    click.option(
        "--scale",
        type=click.Choice(("standard", "minmax", "auto")),
        help="Make columns of numbers count alike; auto: where one would otherwise decide alone.",
    ),
    click.option("--standardize", is_flag=True, help="The same as --scale standard."),
    click.option(
        "--impute",
        type=click.Choice(("mean", "median", "most_frequent")),
        help="Fill missing numbers with this value of the column.",
    ),
    click.option(
        "--decimal",
        type=click.Choice((".", ",")),
        help="Decimal mark of numbers in DATA.  [default: a comma where the numbers leave no doubt, else a point]",
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        help="Encoding of the files, such as latin2.  [default: UTF-8; UTF-16 or Windows-1252 where it must be]",
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="WORD",
        help="A word for a missing number, beside empty cells, NA, n/a, NaN, null, none and ?; may be repeated.",
    ),
    click.option(
        "--together",
        multiple=True,
        metavar="COLUMN",
        help="Rows with the same value of this column belong together, as of an e-mail address.",
    ),
    click.option(
        "--apart",
        multiple=True,
        metavar="COLUMN",
        help="Rows with the same value of this column are apart, as at most one record per source.",
    ),
    click.option(
        "--labels",
        multiple=True,
        metavar="COLUMN",
        help="Rows with the same value of this column belong together, those with different values are apart; empty "
        "cells are not known.",
    ),
    click.option(
        "--threads",
        type=int,
        metavar="N",
        expose_value=False,
        callback=_limit_threads,
        help="Use N threads at most; default: one for each core.",
    ),
    _SKIP_BAD,
)


statements_argument = click.argument(
    "constraints", metavar="STATEMENTS...", nargs=-1, required=True, type=click.Path(allow_dash=True)
)
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="The form of the files; without it, recognized by their content.",
)
force_option = click.option("--force", is_flag=True, help="Replace the file if it exists.")
quiet_option = click.option("--quiet", is_flag=True, help="Print nothing unless something is wrong.")


def data_option(*, dash: bool = False) -> Callable[[F], F]:
    """Add ``--data``; ``dash`` allows standard input."""
    path = click.Path(allow_dash=dash)
    return click.option("--data", "data_path", metavar="DATA", type=path, help="The samples that the statements name.")


def table_options(command: F) -> F:
    """Add the options that `read_table` takes as a dictionary."""
    for option in reversed(_TABLE):
        command = option(command)
    return command


def constraints_option(words: str, *, dash: bool = False) -> Callable[[F], F]:
    """Add ``-c``: files of constraints, for which ``words`` describe their use; ``dash`` allows standard input."""
    return click.option(
        "-c",
        "--constraints",
        multiple=True,
        metavar="FILE",
        type=click.Path(allow_dash=dash),
        help=f"{words} May be repeated.",
    )


def trust_option(default: str) -> Callable[[F], F]:
    """Add ``--trust``, for `weighed`; ``default`` is in force for files that it does not name."""
    return click.option(
        "--trust",
        type=Trust(),
        multiple=True,
        help="Probability that statements are right: hard (they hold), doubtful (0.95) or a number above 0.5. Below 1 "
        "they are weighed against the data. FILE=P is for one file of -c and may be repeated; rows with a weight keep "
        f"it.  [default: {default}]",
    )


def weighed(
    statements: Knowledge, files: Sequence[str], given: Sequence[tuple[str, float | str]], default: str
) -> tuple[Knowledge, Any]:
    """Weigh statements by ``--trust``; also return the trust as `Knowledge.with_trust` takes it."""
    trust = dict(given)
    if len(trust) < len(given):
        twice = next(file for at, (file, _) in enumerate(given) if file in dict(given[:at]))
        msg = f"--trust {f'{twice}=' if twice else ''}... is given more than once.\nHint: give it once for each file."
        raise click.UsageError(msg)
    usual = trust.pop("", default)
    if not trust:
        return (statements if usual == "hard" else statements.with_trust(usual)), usual
    named = dict(zip(files, statements.files, strict=True))
    strange = next((file for file in trust if file not in named), None)
    if strange is not None:
        msg = (
            f"--trust {strange}={trust[strange]}: {visible(strange)} is not a file of -c.\nHint: --trust {files[0]}=0.9"
        )
        raise click.UsageError(msg)
    of_file = {name: trust.get(file, usual) for file, name in named.items()}
    return statements.with_trust(of_file), of_file


def knowledge_options(command: F) -> F:
    """Add ``--data``, ``--id`` and ``--format``: the samples that statements name, and the form of the files."""
    for option in (
        _SKIP_BAD,
        format_option,
        click.option("--id", "id_column", metavar="COLUMN", help="Column of the data that names the samples."),
        data_option(),
    ):
        command = option(command)
    return command


def read_table(data: str, options: dict[str, Any], *, warn: bool = True) -> Table:
    """Read samples with the options of `table_options`; warn where one column would decide alone."""
    from linkwise.io import read_data

    if options["standardize"] and options["scale"] == "minmax":
        msg = "--standardize and --scale minmax ask for different scales."
        raise click.UsageError(msg)
    reading = reading_of(options)
    table = read_data(data, **reading)
    if warn and reading["scale"] is None:
        _warn_of_spread(table)
    return table


def project_of(data: str, options: dict[str, Any]) -> State | None:
    """Read a project of `linkwise open` at its newest state; None for other data. It says itself how it is read."""
    if Path(data).suffix.lower() != ".lw":
        return None
    from linkwise.app import state_of_project

    given = [name for name, value in options.items() if value]
    if given:
        option = {"id_column": "id"}.get(given[0], given[0])
        msg = f"{visible(data)} is a project and says how its table is read, so --{option} has no place here."
        raise click.UsageError(msg)
    return state_of_project(data)


_AS_STATEMENTS = ("together", "apart", "labels")


def says(options: dict[str, Any]) -> bool:
    """Whether columns of the data make statements."""
    return any(options[how] for how in _AS_STATEMENTS)


def column_statements(options: dict[str, Any]) -> dict[str, list[str]]:
    """The columns of the data that make statements, by the argument of `read_knowledge`."""
    return {how: list(options[how]) for how in _AS_STATEMENTS if options[how]}


def reading_of(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `read_data` that the options of `table_options` stand for."""
    return {
        "id": options["id_column"],
        "columns": list(options["columns"]) or None,
        "drop": list(options["drop"]),
        "text": list(options["text"]) or None,
        "categories": list(options["categories"]),
        "scale": "standard" if options["standardize"] else options["scale"],
        "impute": options["impute"],
        "decimal": options["decimal"],
        "missing": list(options["missing"]),
        "encoding": options["encoding"],
        "keep": list(dict.fromkeys([*options.get("show", ()), *(c for how in _AS_STATEMENTS for c in options[how])])),
    }


def require_words(data: str, table: Table) -> None:
    """Refuse texts without a word, which cannot be compared by the angle between them."""
    import numpy as np

    if not hasattr(table.X, "tocsr"):
        return
    empty = np.flatnonzero(np.diff(table.X.tocsr().indptr) == 0)
    if len(empty):
        shown = ", ".join(repr(str(one)[:40]) for one in table.ids[empty[:5]].tolist())
        more = and_more(5, len(empty))
        msg = (
            f"{data}: {len(empty):,} of {many(len(table), 'sample')} have no word to be compared by: {shown}{more}.\n"
            "Hint: leave these rows out, or compare by further columns."
        )
        raise LinkwiseError(msg)


def typed(clusters: int | tuple[int, int] | str | None) -> str:
    """A number or a range of numbers of clusters as one types it."""
    return "-".join(str(end) for end in clusters) if isinstance(clusters, tuple) else str(clusters)


def require_rows(clusters: int | tuple[int, int] | str | None, data: str, table: Table) -> None:
    """Refuse more clusters than rows."""
    fewest = clusters[0] if isinstance(clusters, tuple) else clusters
    if isinstance(fewest, int) and fewest > len(table):
        msg = f"-k {typed(clusters)}: {visible(data)} has only {many(len(table), 'row')}."
        raise click.UsageError(msg)


def _warn_of_spread(table: Table) -> None:
    from linkwise._validation import warn_user
    from linkwise.selection import uneven_features

    uneven = None if hasattr(table.X, "tocsr") else uneven_features(table.X)
    if uneven is not None:
        wide, narrow, times = uneven
        warn_user(
            f"column {table.columns[wide]} spreads {times:.0f} times as far as {table.columns[narrow]} and will decide "
            "alone; --scale auto makes them count alike."
        )


def read_said(
    files: Sequence[str], data_path: str | None, id_column: str | None, form: str | None = None
) -> tuple[Knowledge, Any]:
    """Read statements with the options of `knowledge_options`, and the names of the samples if there are data."""
    from linkwise.io import read_names

    if id_column is not None and data_path is None:
        msg = "--id names a column of the data, so it needs --data DATA.csv."
        raise click.UsageError(msg)
    one_standard_input([*files, *([data_path] if data_path else [])])
    agree(files, form)
    names = None if data_path is None else read_names(data_path, id=id_column)
    return read_statements(files, names, form), names


def read_statements(
    files: Sequence[Any], ids: Any = None, form: str | None = None, options: dict[str, Any] | None = None
) -> Knowledge:
    """Read files of statements, and with ``options`` columns of the data that make statements.

    With --skip-bad, warn of the rows and names that were skipped.
    """
    from linkwise._validation import warn_user
    from linkwise.io import read_knowledge

    passing = bool(click.get_current_context().meta.get("linkwise.skip_bad"))
    columns = {} if options is None else {"encoding": options["encoding"], **column_statements(options)}
    statements = read_knowledge(list(files), ids, format=form, skip_bad=passing, **columns)  # type: ignore[arg-type]
    if statements.skipped:
        n = len(statements.skipped)
        lines = [f"skipped {many(n, 'row')} or {'name' if n == 1 else 'names'}:"]
        lines += [f"  {why}" for why in statements.skipped[:20]]
        warn_user("\n".join([*lines, *more_lines(20, n)]))
    return statements


@contextmanager
def explained(statements: Knowledge | None) -> Iterator[None]:
    """Word errors inside the block for a shell: contradictions by file and line, wrong arguments as wrong usage."""
    try:
        yield
    except InvalidArgumentError as wrong:
        raise click.UsageError(str(wrong)) from wrong
    except UnsupportedConstraintError as strange:
        words, _, advice = str(strange).partition("\nHint: ")
        if "`" in advice:  # Python
            advice = "leave them out."
        msg = f"{words}\nHint: {advice}"
        raise UnsupportedConstraintError(msg, strange.kinds) from strange
    except InfeasibleConstraintsError as conflict:
        if conflict.explanation is None or statements is None:
            raise
        msg = f"the statements cannot all hold.\n{statements.explain(conflict.explanation)}"
        raise InfeasibleConstraintsError(msg, conflict.explanation) from conflict


def one_standard_input(names: Sequence[str]) -> None:
    """Refuse to read two things from standard input."""
    if sum(name == "-" for name in names) > 1:
        msg = "only one input can come from standard input; here the data and the statements, or two files, would."
        raise click.UsageError(msg)


def agree(files: Sequence[str], form: str | None) -> None:
    """Refuse a form that the ending of a file contradicts."""
    for file in files:
        ending = Path(file.removesuffix(".gz")).suffix.lower()
        if form is not None and form not in SURE.get(ending, FORMATS):
            msg = (
                f"--format {form}, but {file} ends in {ending}, which means {' or '.join(SURE[ending])}.\n"
                "Hint: leave --format out, or rename the file."
            )
            raise click.UsageError(msg)


def require_ending(path: str, endings: Sequence[str], *, also: Sequence[str] = ()) -> None:
    """Refuse the name of an output that does not end in one of some ways; ``also`` are other spellings of them."""
    ending = Path(path).suffix
    if ending.lower() not in (*endings, *also):
        msg = f"-o {path} ends in {ending!r}, expected {in_words(endings, 'or')}."
        raise click.UsageError(msg)


def refuse_existing(path: str, *, force: bool, inputs: Sequence[str] = ()) -> None:
    """Refuse to write over an input at all, and over another file without --force."""
    target = Path(path)
    if target.is_dir():
        msg = f"{visible(path)} is a folder, expected the name of a file to write."
        raise LinkwiseError(msg)
    if os.path.realpath(path) in {os.path.realpath(name) for name in inputs if name != "-"}:
        msg = f"{visible(path)} is an input and would be overwritten.\nHint: choose another name."
        raise LinkwiseError(msg)
    if target.exists() and not force:
        msg = f"{visible(path)} exists already.\nHint: give --force to replace it, or another name."
        raise LinkwiseError(msg)
