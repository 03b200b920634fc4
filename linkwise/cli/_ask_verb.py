"""``linkwise ask``: the verb that asks questions in the terminal and keeps every answer before the next one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote as quoted
from typing import TYPE_CHECKING, Any

import click

from linkwise._files import visible
from linkwise._messages import many, without_notices
from linkwise.cli._options import (
    CLUSTERS,
    Whole,
    constraints_option,
    read_statements,
    read_table,
    require_rows,
    says,
    table_options,
)
from linkwise.cli._shown_samples import ShownSamples, read_key, shortened, wrapped
from linkwise.cli._verb import Interrupted, answer, speaks_json, verb
from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from linkwise._typing import IntArray
    from linkwise.active import Dialogue, Query
    from linkwise.app import TerminalTalk
    from linkwise.constraints import Constraints
    from linkwise.io import Table

STRATEGIES = ("pairs", "triplets", "mixed", "random", "explore", "minmax", "uncertainty", "merges", "random-triplets")
NEEDS_CLUSTERS = ("explore", "minmax", "uncertainty")
KEYS = {"y": "yes", "n": "no", "u": "unsure", " ": "unsure", "s": "unsure"}
ODD = {"1": "first", "2": "second", "3": "third", "u": "unsure", " ": "unsure", "s": "unsure"}
_MARKED = "\n* marks columns in which they differ most for their spread."
HELP_PAIR = f"y yes   n no   u unsure   b back (undo)   q quit   ? help{_MARKED}"
HELP_TRIO = f"1 2 3 the one that does not belong   u unsure   b back (undo)   q quit   ? help{_MARKED}"
MOST_ROWS = 5_000  # of more rows, questions are about that many: finding them would take longer than answering


@verb(short_help="Answer questions in the terminal; each answer is kept.")
@click.argument("data", metavar="DATA", type=click.Path())
@table_options
@constraints_option("Statements that hold already.")
@click.option("-l", "--log", metavar="FILE", type=click.Path(), help="Where answers are kept; not for a project.")
@click.option("--show", multiple=True, metavar="COLUMN", help="Show a column beside those compared; may be repeated.")
@click.option("--budget", type=Whole(1), help="How many questions; default: until no question is left.")
@click.option(
    "--strategy", type=click.Choice(STRATEGIES), default="pairs", show_default=True, help="How to choose questions."
)
@click.option("-k", "--clusters", type=CLUSTERS, help="Number of clusters, if it is known; some strategies need it.")
@click.option("--who", default="", help="Your name, kept with the answers.")
@click.option("--seed", type=Whole(0), default=0, show_default=True, help="Seed of random choices.")
def ask(
    data: str,
    constraints: tuple[str, ...],
    log: str | None,
    show: tuple[str, ...],
    budget: int | None,
    strategy: str,
    clusters: int | None,
    who: str,
    seed: int,
    **options: Any,
) -> None:
    """Ask whether rows of DATA belong together, and keep every answer in FILE.

    An answer counts once it is written, and the next question comes after that, so that no acknowledged answer is
    lost. Run the same command again to go on. Keys: y, n, u (unsure), b (back), q (quit); for three
    samples 1, 2 or 3 name the one that does not belong with the other two. Where standard input is not a terminal,
    one answer is read per line. --show COLUMN shows a column that is not compared by, such as one left out with --drop.

    A project of `linkwise open` (.lw) keeps the answers itself, as long as no page has it open, and asks about pairs
    and trios.

    The log is a file of statements too: linkwise cluster DATA -c FILE. Where there are more than 5,000 rows, questions
    are about 5,000 that --seed draws and those that statements name.
    """
    from linkwise.active import Dialogue

    project = Path(data).suffix.lower() == ".lw"
    if log is None and not project:
        msg = "Missing option '-l' / '--log'.\nHint: -l answers.jsonl"
        raise click.UsageError(msg)
    chosen = _strategy(strategy, clusters, budget)
    if sys.stdin is None or sys.stdin.closed:
        msg = (
            "standard input is closed, so no answer can be given.\nHint: run it in a terminal, or give answers: < FILE"
        )
        raise LinkwiseError(msg)
    if project:
        other = None if strategy in ("pairs", "mixed") else strategy
        fixed = {"-c": constraints, "-l": log, "--show": show, "-k": clusters, "--seed": seed, "--strategy": other}
        fixed |= options
        _ask_about_project(data, fixed, who=who, budget=budget)
        return
    if log is None:
        raise AssertionError
    if os.path.realpath(log) == os.path.realpath(data):
        msg = f"-l {log} is the data, expected another file for the answers.\nHint: -l answers.jsonl"
        raise click.UsageError(msg)
    table = read_table(data, options | {"show": show})
    require_rows(clusters, data, table)
    known = None
    if constraints or says(options):
        known = read_statements(constraints, table, options=options).constraints
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    texts = {column: list(table.beside[column]) for column in table.preparation.text}
    beside = {column: list(cells) for column, cells in table.beside.items() if column not in texts}
    if len(table) > MOST_ROWS:
        rows = _some(len(table), known, seed)
        few = f"{len(table):,} rows: questions are about {len(rows):,} of them. To go on later, give the same -c."
        click.echo(few, err=speaks_json())
        table = _part(table, rows)
        known = None if known is None else known[rows]
        texts, beside = (
            {name: [told[row] for row in rows.tolist()] for name, told in some.items()} for some in (texts, beside)
        )
    command = f"linkwise cluster {quoted(data)} -c {quoted(log)} ..."
    talk: Dialogue | None = None
    try:
        talk = Dialogue(
            table.X,
            constraints=known,
            strategy=chosen,
            n_clusters=clusters if strategy == "pairs" else None,
            budget=budget,
            log=log,
            names=[str(name) for name in table.ids.tolist()],
            random_state=seed,
        )
        with talk:
            write = partial(click.echo, err=speaks_json())
            Interview(talk, table, who=who, write=write, texts=texts, beside=beside).run()
    except (KeyboardInterrupt, click.Abort) as stopped:
        saved = 0 if talk is None else talk.n_saved
        if not saved:
            msg = f"interrupted; no answer was given yet, so {visible(log)} holds none."
            raise Interrupted(msg) from stopped
        are = "is" if saved == 1 else "are"
        msg = (
            f"interrupted; {many(saved, 'answer')} {are} saved in {visible(log)}.\n"
            f"Hint: run the same command again to go on, or use them: {command}"
        )
        raise Interrupted(msg) from stopped
    told = {"answers": len(talk.answers), "progress": str(talk.progress()), "log": log}
    answer(told, wrapped(f"{talk.progress()}\n{visible(log)} keeps the answers; `{command}` obeys them."))


def _ask_about_project(data: str, fixed: dict[str, Any], *, who: str, budget: int | None) -> None:
    """Ask about a project of `linkwise open`, which says itself how it is read and keeps the answers."""
    from linkwise.app import TerminalTalk

    if given := [name for name, value in fixed.items() if value]:
        option = given[0] if given[0].startswith("-") else f"--{'id' if given[0] == 'id_column' else given[0]}"
        msg = f"{visible(data)} is a project and says how it is read, so {option} has no place here."
        raise click.UsageError(msg)
    try:
        with TerminalTalk(data, who=who, budget=budget) as talk:
            table = talk.reading.table
            shown = talk.reading.roles
            cells = {
                column: [told[row] for row in talk.kept.tolist()]
                for column, told in table.beside.items()
                if shown.get(column) in ("text", "show", "category")
            }
            texts = {column: told for column, told in cells.items() if shown[column] == "text"}
            beside = {column: told for column, told in cells.items() if shown[column] == "show"}
            few = table if len(talk.kept) == len(table) else _part(table, talk.kept)
            write = partial(click.echo, err=speaks_json())
            Interview(talk, few, who=who, write=write, texts=texts, beside=beside).run()
            told = {"answers": len(talk.answers), "progress": str(talk.progress()), "log": data}
            answer(told, f"{talk.progress()}\n{visible(data)} keeps the answers.")
    except (KeyboardInterrupt, click.Abort) as stopped:
        msg = f"interrupted; every answer that was given is saved in {visible(data)}."
        raise Interrupted(msg) from stopped


def _part(table: Table, rows: IntArray) -> Table:
    """Some rows of a table, with the positions of missing values among them."""
    import numpy as np

    place = np.full(len(table), -1, dtype=np.intp)
    place[rows] = np.arange(len(rows))
    here = place[table.missing[:, 0]] >= 0
    missing = np.column_stack([place[table.missing[here, 0]], table.missing[here, 1]])
    return replace(table, X=table.X[rows], ids=table.ids[rows], missing=missing)


def _some(n: int, known: Constraints | None, seed: int) -> IntArray:
    """Rows that questions are about: some drawn at random, and those that statements name, but no more than as many."""
    import numpy as np

    draw = np.random.default_rng(seed).permutation
    drawn = draw(n)[:MOST_ROWS]
    if known is not None:
        named = np.unique(np.concatenate([known.items[known.items >= 0], known.groups.member]))
        drawn = np.concatenate([drawn, draw(named)[:MOST_ROWS]])
    return np.unique(drawn).astype(np.intp)


def _strategy(name: str, clusters: int | None, budget: int | None) -> Any:
    from linkwise import active

    if name in NEEDS_CLUSTERS:
        if clusters is None:
            msg = f"--strategy {name} needs to know the number of clusters.\nHint: add -k 3, for example."
            raise click.UsageError(msg)
        made = {"explore": active.ExploreConsolidate, "minmax": active.MinMax, "uncertainty": active.Uncertainty}
        return made[name](clusters)
    if name == "merges":
        return active.DoubtfulMerges(50 if budget is None else budget)
    plain = {"pairs": active.ExpectedGain, "triplets": active.PlacingTrios, "mixed": active.PairsAndTrios}
    return (plain | {"random": active.RandomPairs, "random-triplets": active.RandomTrios})[name]()


class Interview:
    """A dialogue with a person at a keyboard, or with a file of answers."""

    def __init__(
        self,
        talk: Dialogue | TerminalTalk,
        table: Table,
        *,
        who: str = "",
        read: Callable[[], str | None] | None = None,
        write: Callable[[str], None] = click.echo,
        texts: dict[str, list[str]] | None = None,
        beside: dict[str, list[str]] | None = None,
    ) -> None:
        self.samples = ShownSamples(table, texts, beside)
        self.talk, self.who = talk, who
        self.read = read or (read_key if sys.stdin.isatty() else _line)
        self.write = write

    def run(self) -> None:
        """Ask until no question is left, the budget is used up, or the answer is quit."""
        if self.talk.answers:
            self.write(f"going on after {many(len(self.talk.answers), 'answer')}.")
        query = self.talk.ask()
        with without_notices():  # from the first question to the last
            while query is not None:
                self.write(self.word(query))
                if not self._answer(query):
                    return
                query = self.talk.ask()
        spent = self.talk.budget is not None and self.talk.n_asked >= self.talk.budget
        self.write("that was the last question of --budget." if spent else "no question is left.")

    def _answer(self, query: Query) -> bool:
        """Take keys until one of them is an answer; False to quit."""
        meaning = KEYS if len(query.items) == 2 else ODD
        while True:
            given = self.read()
            key = None if given is None else (given.strip().lower() or given[:1])
            if key in (None, "q", "quit"):
                return False
            if key in ("b", "back", "undo"):
                undone = self.talk.undo()
                self.write(
                    "there is no answer to take back." if undone is None else f"took back answer {undone.number + 1}."
                )
                return True
            found = meaning.get(str(key), str(key))
            if found in set(meaning.values()):
                self.talk.tell(query, found, who=self.who)
                self.write(wrapped(f"saved {len(self.talk.answers)}: {found}.  {self.talk.progress()}"))
                return True
            self.write(wrapped(HELP_PAIR if len(query.items) == 2 else HELP_TRIO))

    def word(self, query: Query) -> str:
        """Word a question: the samples beside each other, in the columns that tell them apart best."""
        names = [str(self.talk.names[i]) if self.talk.names is not None else str(i) for i in query.items]
        called = [shortened(f"{at}: {name}" if len(names) == 3 else name) for at, name in enumerate(names, 1)]
        number = f"{self.talk.n_asked + 1}" + ("" if self.talk.budget is None else f" of {self.talk.budget}")
        again = "  (to check an earlier answer)" if query.checks else ""
        if query.checks and self.talk.suspects:
            again = "  (asked again, since answers contradict each other)"
        asked = "Do they belong together? [y/n/u/b/q/?]" if len(names) == 2 else "Which one is odd? [1/2/3/u/b/q/?]"
        lines = ["", *self.samples.lines(list(query.items), called)]
        return "\n".join([*lines, wrapped(f"{number}. {asked}{again}")])


def _line() -> str | None:
    line = sys.stdin.readline()
    return line.rstrip("\n") or "?" if line else None
