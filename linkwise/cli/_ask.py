"""``linkwise ask``: questions in the terminal; every answer is on disk before the next question appears."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli._options import constraints_option, read_statements, read_table, table_options
from linkwise.cli._verb import answer, speaks_json, verb

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from linkwise.active import Dialogue, Query
    from linkwise.constraints import Constraints
    from linkwise.io import Table

__all__ = ["Interview", "ask"]

STRATEGIES = ("pairs", "triplets", "mixed", "random", "explore", "minmax", "uncertainty", "merges", "random-triplets")
NEEDS_CLUSTERS = ("explore", "minmax", "uncertainty")
KEYS = {"y": "yes", "n": "no", "u": "unsure", " ": "unsure", "s": "unsure"}
ODD = {"1": "first", "2": "second", "3": "third", "u": "unsure", " ": "unsure", "s": "unsure"}
HELP_PAIR = "y yes   n no   u unsure   b back (undo)   q quit   ? help"
HELP_TRIO = "1 2 3 the one that does not belong   u unsure   b back (undo)   q quit   ? help"
MOST_COLUMNS = 12
MOST_LETTERS = 500
MOST_ROWS = 5_000  # of more, questions are looked for among so many: finding them takes longer than answering


@verb(short_help="Answer questions in the terminal; each answer is kept.")
@click.argument("data", metavar="DATA", type=click.Path())
@table_options
@constraints_option("Statements that are known already.")
@click.option("-l", "--log", metavar="FILE", required=True, type=click.Path(), help="Where answers are kept.")
@click.option("--budget", type=click.IntRange(min=1), help="How many questions; default: until nothing is left.")
@click.option("--strategy", type=click.Choice(STRATEGIES), default="pairs", show_default=True, help="What to ask.")
@click.option("-k", "--clusters", type=click.IntRange(min=1), help="Number of clusters, for strategies that need it.")
@click.option("--who", default="", help="Your name, kept with the answers.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of everything left to chance.")
def ask(
    data: str,
    constraints: tuple[str, ...],
    log: str,
    budget: int | None,
    strategy: str,
    clusters: int | None,
    who: str,
    seed: int,
    **options: Any,
) -> None:
    """Ask whether rows of DATA belong together, and keep every answer in FILE.

    An answer counts once it is written, and the next question comes after that: whatever happens, nothing that was
    acknowledged is lost. Run the same command again to go on. Keys: y, n, u (unsure), b (back), q (quit); for three
    samples 1, 2 or 3 name the one that does not belong with the other two. Where standard input is not a terminal,
    one answer is read per line.

    The log is a file of statements too: linkwise cluster DATA -c FILE. Where there are more than 5,000 rows, questions
    are about 5,000 that --seed draws and those that statements name.
    """
    from linkwise.active import Dialogue
    from linkwise.exceptions import LinkwiseError

    chosen = _strategy(strategy, clusters, budget)
    if sys.stdin is None or sys.stdin.closed:
        msg = "standard input is closed, so nobody can answer.\nHint: run it in a terminal, or give answers: < FILE"
        raise LinkwiseError(msg)
    if os.path.realpath(log) == os.path.realpath(data):
        msg = f"-l {log} is the data, expected another file for the answers.\nHint: -l answers.jsonl"
        raise click.UsageError(msg)
    table = read_table(data, options)
    if clusters is not None and clusters > len(table):
        msg = f"-k {clusters}: {data} has only {len(table)} rows."
        raise click.UsageError(msg)
    known = read_statements(constraints, table).constraints if constraints else None
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    texts = _texts(data, options["text"], options["id_column"])
    scaled = options["scale"] is not None or options["standardise"]  # a person reads the values of the file
    shown = read_table(data, {**options, "scale": None, "standardise": False}, warn=False) if scaled else table
    if len(table) > MOST_ROWS:
        rows = _some(len(table), known, seed)
        few = f"{len(table):,} rows: questions are about {len(rows):,} of them. To go on later, give the same -c."
        click.echo(few, err=speaks_json())
        table, shown = (replace(one, X=one.X[rows], ids=one.ids[rows]) for one in (table, shown))
        known = None if known is None else known[rows]
        texts = None if texts is None else [texts[row] for row in rows.tolist()]
    talk = Dialogue(
        table.X,
        constraints=known,
        strategy=chosen,
        budget=budget,
        log=log,
        names=[str(name) for name in table.ids.tolist()],
        random_state=seed,
    )
    with talk:
        Interview(talk, shown, who=who, write=partial(click.echo, err=speaks_json()), texts=texts).run()
    told = {"answers": len(talk.answers), "progress": str(talk.progress()), "log": log}
    answer(told, f"{talk.progress()}\n{log} keeps the answers; `linkwise cluster {data} -c {log} ...` obeys them.")


def _some(n: int, known: Constraints | None, seed: int) -> npt.NDArray[np.intp]:
    """Rows that questions are about: some drawn at random, and those that statements name, but no more than as many."""
    import numpy as np

    draw = np.random.default_rng(seed).permutation
    drawn = draw(n)[:MOST_ROWS]
    if known is not None:
        named = np.unique(np.concatenate([known.items[known.items >= 0], known.groups.member]))
        drawn = np.concatenate([drawn, draw(named)[:MOST_ROWS]])
    return np.unique(drawn).astype(np.intp)


def _texts(data: str, columns: tuple[str, ...], id_column: str | None) -> list[str] | None:
    """What a person reads of each sample, where samples are texts."""
    from linkwise.io import read_labels

    if not columns:
        return None
    parts = [read_labels(data, column, id=id_column)[1].tolist() for column in columns]
    return [" / ".join(row) for row in zip(*parts, strict=True)]


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
    """A dialogue with somebody at a keyboard, or with a file of answers."""

    def __init__(
        self,
        talk: Dialogue,
        table: Table,
        *,
        who: str = "",
        read: Callable[[], str | None] | None = None,
        write: Callable[[str], None] = click.echo,
        texts: list[str] | None = None,
    ) -> None:
        self.texts = texts
        self.talk, self.table, self.who = talk, table, who
        self.read = read or (_key if sys.stdin.isatty() else _line)
        self.write = write

    def run(self) -> None:
        """Ask until nothing is left, the budget is used up, or somebody quits."""
        if self.talk.answers:
            self.write(f"going on after {len(self.talk.answers):,} answers.")
        while (query := self.talk.ask()) is not None:
            self.write(self.word(query))
            if not self._answer(query):
                return
        spent = self.talk.budget is not None and self.talk.n_asked >= self.talk.budget
        self.write("that was the last question of --budget." if spent else "nothing is left to ask.")

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
                self.write("nothing to take back." if undone is None else f"took back answer {undone.number + 1}.")
                return True
            found = meaning.get(str(key), str(key))
            if found in set(meaning.values()):
                self.talk.tell(query, found, who=self.who)
                self.write(f"saved {len(self.talk.answers)}: {found}.  {self.talk.progress()}")
                return True
            self.write(HELP_PAIR if len(query.items) == 2 else HELP_TRIO)

    def _rows(self, items: list[int]) -> tuple[Any, Any]:
        """The samples as they are, and how far each feature spreads; of a sparse table, 1 for all."""
        import numpy as np

        if isinstance(self.table.X, np.ndarray):
            return self.table.X[items], self.table.X.std(axis=0)
        return np.asarray(self.table.X[items].todense()), np.ones(self.table.X.shape[1])

    def word(self, query: Query) -> str:
        """Word a question: the samples beside each other, with the columns that tell them apart first."""
        import numpy as np

        names = [str(self.talk.names[i]) if self.talk.names is not None else str(i) for i in query.items]
        number = f"{self.talk.n_asked + 1}" + ("" if self.talk.budget is None else f" of {self.talk.budget}")
        again = "  (asked again, since answers contradict each other)" if query.checks else ""
        asked = "Do they belong together? [y/n/u/b/q/?]" if len(names) == 2 else "Which one is odd? [1/2/3/u/b/q/?]"
        last = f"{number}. {asked}{again}"
        if self.texts is not None:
            shown = [f"{at}: {name}" if len(names) == 3 else name for at, name in enumerate(names, 1)]
            told = (_short(self.texts[i], MOST_LETTERS) for i in query.items)
            return "\n".join(["", *(f"{_short(name)}: {text}" for name, text in zip(shown, told, strict=True)), last])
        rows, spread = self._rows(list(query.items))
        differs = np.ptp(rows, axis=0) / np.where(spread > 0, spread, 1.0)
        chosen = np.sort(np.argsort(-differs, kind="stable")[:MOST_COLUMNS])
        cells = [["", *(_short(f"{at}: {name}" if len(names) == 3 else name) for at, name in enumerate(names, 1))]]
        cells += [[_short(self.table.columns[c]), *(f"{value:g}" for value in rows[:, c])] for c in chosen]
        width = [max(len(row[at]) for row in cells) for at in range(len(names) + 1)]
        table = ["  ".join(cell.rjust(w) for cell, w in zip(row, width, strict=True)).rstrip() for row in cells]
        left = len(self.table.columns) - len(chosen)
        more = [f"  (and {left} more columns)"] if left else []
        return "\n".join(["", *table, *more, last])


def _short(text: str, longest: int = 24) -> str:
    plain = "".join(c if c.isprintable() else "?" for c in text)
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def _key() -> str | None:
    try:
        key = click.getchar()
    except (EOFError, OSError):
        return None
    return None if key in ("\x04", "\x1b") else {"\x7f": "b", "\x08": "b", "\r": "?", "\n": "?"}.get(key, key)


def _line() -> str | None:
    line = sys.stdin.readline()
    return line.rstrip("\n") or "?" if line else None
