"""``linkwise doubt``: the verb that lists statements which the data contradict, and asks which of them to drop."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any

import click

from linkwise._messages import many
from linkwise.cli._check_verb import as_dict
from linkwise.cli._options import (
    CLUSTERS,
    Amount,
    constraints_option,
    explained,
    force_option,
    one_standard_input,
    quiet_option,
    read_statements,
    read_table,
    require_rows,
    require_words,
    table_options,
    trust_option,
    weighed,
)
from linkwise.cli._shown_samples import ShownSamples, read_key, shortened, wrapped
from linkwise.cli._statement_verbs import dropped_words, require_statement_file, rest_words, write_rest
from linkwise.cli._verb import answer, on_screen, speaks_json, verb

if TYPE_CHECKING:
    from linkwise.io import Knowledge
    from linkwise.selection import Suspect

KEYS = {"d": True, "k": False, "s": None}  # to the decision whether to drop; None leaves it open
HELP = "d drop it   k keep it   s skip   u undo   q quit: write the decisions so far   ? help"
LAST = "That was the last one. u takes it back, any other key writes the file."
WORTH_A_LOOK, CONTRADICTED = 0.25, 0.5  # probabilities from which statements are listed, or dropped without asking
MOST_SHOWN = 3  # samples of a statement whose values are shown


@verb(short_help="List statements that the data contradict, and ask which to drop.")
@click.argument("data", metavar="DATA", type=click.Path(allow_dash=True))
@table_options
@constraints_option("Statements to judge.", dash=True)
@click.option("-k", "--clusters", type=CLUSTERS, required=True, help="Number of clusters.")
@trust_option("doubtful")
@click.option(
    "--threshold",
    type=Amount(min=0, max=1, min_open=True),
    metavar="P",
    help="List statements that are wrong with at least this probability.  [default: 0.25, and 0.5 where they are "
    "dropped without asking]",
)
@click.option("--auto", is_flag=True, help="With -o: drop all that are listed, without asking.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Where the rest goes: .csv, .tsv or .jsonl.")
@force_option
@quiet_option
def doubt(
    data: str,
    constraints: tuple[str, ...],
    clusters: int,
    trust: tuple[tuple[str, float | str], ...],
    threshold: float | None,
    auto: bool,
    output: str | None,
    force: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """List the statements in the FILEs of -c that the rows of DATA contradict, the most probably wrong first.

    Many views of the data are clustered with parts of the statements and vote on the others. With -o
    the command asks about each in a terminal: d drop, k keep, s skip, u undo, q quit. Elsewhere, and with --auto,
    --quiet or --json, it drops all that are listed and does not ask. It writes the other statements as they were.

    The files that are read stay as they are. `linkwise repair` drops statements that contradict each other instead.
    """
    from linkwise.cli._drawing import working
    from linkwise.selection import suspects

    if not constraints:
        msg = "there are no statements to judge.\nHint: -c said.csv"
        raise click.UsageError(msg)
    if auto and output is None:
        msg = "--auto drops statements, so it needs -o FILE for the others.\nHint: -o kept.csv"
        raise click.UsageError(msg)
    one_standard_input([data, *constraints])
    if output is not None:
        require_statement_file(output, force=force, inputs=[data, *constraints])
    table = read_table(data, options)
    require_rows(clusters, data, table)
    statements = read_statements(constraints, table, options=options)
    require_words(data, table)
    said = statements.constraints
    doubtful, trusted = weighed(statements, constraints, trust, "doubtful")
    if said.n_statements and doubtful.constraints.is_hard.all():
        msg = "--trust: hard statements hold in every result and are not judged.\nHint: --trust doubtful"
        raise click.UsageError(msg)
    asks = output is not None and not (auto or quiet or speaks_json() or "-" in (data, *constraints)) and _is_terminal()
    if threshold is None:
        threshold = CONTRADICTED if output is not None and not asks else WORTH_A_LOOK
    with explained(statements), working("judging", quiet=quiet or speaks_json()):
        found = suspects(table.X, doubtful.constraints, clusters, trust="hard", threshold=threshold)
    listed = [_Listed(one, _place(statements, one.statement), statements.body(one.statement)) for one in found]
    told: dict[str, Any] = {
        "statements": said.n_statements,
        "samples": said.n_samples,
        "trust": trusted,
        "threshold": threshold,
        "judged": found.judged,
        "suspects": [_as_dict(statements, one) for one in found],
        "dropped": [],
        "kept": said.n_statements,
        "written": None,
    }
    lines = [found.summary, *(f"  {one}" for one in listed)]
    if output is None:
        lines += ["-o FILE writes the other statements, and asks about each of these in a terminal."] if listed else []
        answer(told, "\n".join(lines), quiet=quiet)
        return
    gone = list(range(len(listed)))
    if listed and asks:
        click.echo(on_screen(f"{lines[0].removesuffix(':')}."))
        texts = {column: list(table.beside[column]) for column in table.preparation.text}
        gone = _Review(listed, statements, ShownSamples(table, texts)).run()
        lines = []
    dropped = [listed[at].suspect.statement for at in gone]
    keep = [at for at in range(said.n_statements) if at not in set(dropped)]
    written = write_rest(output, dataclasses.replace(statements, constraints=said.select(keep)))
    told |= {"dropped": [as_dict(statements, at) for at in dropped], **written}
    lines += [dropped_words(len(dropped), said.n_statements), rest_words(written)]
    answer(told, "\n".join(lines), quiet=quiet)


@dataclasses.dataclass(frozen=True)
class _Listed:
    """A suspect with its place in the files and its words."""

    suspect: Suspect
    place: str
    body: str

    def __str__(self) -> str:
        return f"{self.place}: {self.body}: wrong with probability {self.suspect.probability:.2f}"


def _place(statements: Knowledge, statement: int) -> str:
    file, line = statements.file_of(statement), statements.line_of(statement)
    return f"{file}:{line}" if line else file


def _as_dict(statements: Knowledge, one: Suspect) -> dict[str, Any]:
    said = statements.constraints
    names = [said.name(int(sample)) for sample in said.samples_of(one.statement)]
    return {**as_dict(statements, one.statement), "samples": names, "probability": one.probability}


def _is_terminal() -> bool:
    """Whether keys can be read."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


class _Review:
    """Questions about one suspect after another, each answered by a key."""

    def __init__(self, listed: list[_Listed], statements: Knowledge, shown: ShownSamples) -> None:
        self.listed, self.said, self.shown = listed, statements.constraints, shown

    def run(self) -> list[int]:
        """Ask until all are decided or the answer is quit, and return the numbers of those to drop."""
        decided: list[bool | None] = []
        click.echo(HELP)
        while True:
            asked = len(decided) < len(self.listed)
            click.echo(on_screen(self._word(len(decided))) if asked else LAST)
            key = self._key() if asked else read_key()
            if key == "q" or not (asked or key in ("u", "b")):
                break
            if asked and key in KEYS:
                decided.append(KEYS[key])
                click.echo({True: "drop", False: "keep", None: "skipped"}[KEYS[key]])
            elif decided:
                decided.pop()
                click.echo("took back the last decision.")
            else:
                click.echo("there is no decision to take back.")
        click.echo(f"{many(len(decided), 'statement')} of {len(self.listed):,} looked at.")
        return [at for at, drop in enumerate(decided) if drop]

    def _key(self) -> str:
        """Wait for a key that means something."""
        while True:
            key = read_key()
            word = "q" if key is None else {"b": "u"}.get(key.lower(), key.lower())
            if word in (*KEYS, "u", "q"):
                return word
            click.echo(HELP)

    def _word(self, at: int) -> str:
        """Word a question: the samples beside each other, the statement, and how many there are."""
        one = self.listed[at]
        samples = [int(sample) for sample in self.said.samples_of(one.suspect.statement)]
        few = samples if len(samples) <= MOST_SHOWN else []
        rows = self.shown.lines(few, [shortened(self.said.name(sample)) for sample in few]) if few else []
        return "\n".join(["", *rows, wrapped(f"{at + 1} of {len(self.listed)}. {one} [d/k/s/u/q/?]")])
