"""``linkwise repair``: the verb that drops statements until the rest holds together, and writes the rest."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from linkwise._files import visible
from linkwise._messages import many
from linkwise.cli._check_verb import about, as_dict
from linkwise.cli._options import explained, knowledge_options, read_said, refuse_existing
from linkwise.cli._verb import CONFLICT, answer, on_screen, speaks_json, verb

if TYPE_CHECKING:
    from linkwise.constraints import Entry
    from linkwise.io import Knowledge

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson")


@verb(short_help="Drop statements until the rest holds together.")
@click.argument("constraints", metavar="STATEMENTS...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@knowledge_options
@click.option("--auto", is_flag=True, help="Drop the cheapest set that is found: few statements, or light ones.")
@click.option(
    "--drop",
    multiple=True,
    metavar="LINE",
    help="Drop the statement in this line (FILE:LINE for several files, FILE:LINE:SAMPLE for one member of a group).",
)
@click.option("--ask", "asking", is_flag=True, help="Show one conflict after another and ask which statement to drop.")
@click.option("--keep-hard", is_flag=True, help="With --auto: never drop a statement without a weight.")
@click.option("-o", "--output", metavar="FILE", required=True, type=click.Path(), help="Where the rest goes.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@click.option("--quiet", is_flag=True, help="Print nothing unless something is wrong.")
def repair(
    constraints: tuple[str, ...],
    data_path: str | None,
    id_column: str | None,
    form: str | None,
    auto: bool,
    drop: tuple[str, ...],
    asking: bool,
    keep_hard: bool,
    output: str,
    force: bool,
    quiet: bool,
) -> int:
    """Drop statements so that all others hold together, list those dropped, and write the rest to FILE.

    It drops whole entries of the files: a statement, a row of a file of groups or labels, or a member of a group. The
    rest of a group stays. Choose one way: --auto finds the fewest, --drop names lines as `linkwise explain` shows them,
    --ask lets you choose. FILE ends in .csv, .tsv or .jsonl. The files that are read stay as they are.

    Exits with 0 when FILE was written, 3 when the rest would still be contradictory; then nothing is written.
    """
    import dataclasses
    from pathlib import Path

    from linkwise.io import write_knowledge
    from linkwise.problem import check

    if auto + bool(drop) + asking != 1:
        msg = "choose how to repair: one of --auto, --drop LINE and --ask.\nHint: `linkwise explain` shows the lines."
        raise click.UsageError(msg)
    if keep_hard and not auto:
        msg = "--keep-hard belongs to --auto."
        raise click.UsageError(msg)
    if Path(output).suffix.lower() not in ENDINGS:
        msg = f"-o {output} ends in {Path(output).suffix!r}, expected .csv, .tsv or .jsonl."
        raise click.UsageError(msg)
    refuse_existing(output, force=force, inputs=constraints)
    statements, _ = read_said(constraints, data_path, id_column, form)
    said = statements.constraints
    if auto:
        with explained(statements):
            gone, lines, sentence = _automatic(statements, keep_hard)
    else:
        gone = _asked(statements) if asking else _named(statements, drop)
        lines = [statements.word(entry) for entry in gone]
        n = len(said.entries())
        sentence = f"{len(gone):,} of {n:,} {'entries' if n != said.n_statements else 'statements'} dropped."
    left = said.without(gone)
    kept = dataclasses.replace(statements, constraints=left)
    told: dict[str, Any] = {"status": "feasible", "dropped": [as_dict(statements, entry) for entry in gone]}
    if not auto or said.rules:  # a repair leaves statements that hold together; it does not judge rules
        verdict = check(left)
        told["status"] = verdict.status
        if verdict.status == "infeasible" and verdict.explanation is not None:
            told |= {"written": None}
            why = kept.explain(verdict.explanation)
            answer(told, f"{about(kept)} still cannot all hold; nothing was written.\n{why}")
            return CONFLICT
    write_knowledge(output, kept)
    told |= {"kept": left.n_statements, "written": output}
    lines = [sentence, *(f"  {line}" for line in lines), f"{visible(output)}: {many(left.n_statements, 'statement')}."]
    answer(told, "\n".join(lines), quiet=quiet)
    return 0


def _automatic(statements: Knowledge, keep_hard: bool) -> tuple[list[Entry], list[str], str]:
    """The entries to drop, in words too: all members of a group that goes as a whole are one line."""
    from linkwise.problem import repair as find_repair

    found = find_repair(statements.constraints, keep="hard" if keep_hard else "most")
    lines = []
    for group in found.by_statement():
        whole = f"{statements.word(group[0].statement)}, {len(group):,} members"
        lines.append(statements.word(group[0]) if len(group) == 1 else whole)
    return list(found.entries), lines, str(found).split("\n", 1)[0]


def _named(statements: Knowledge, drop: tuple[str, ...]) -> list[Entry]:
    """The entries in the lines named."""
    gone: list[Entry] = []
    for given in drop:
        file, line, sample = _place(statements, given)
        found = statements.entries_at(file, line, sample)
        if not found:
            what = (
                f"nothing in that line names {sample!r}" if sample is not None else "there is no statement in that line"
            )
            msg = f"--drop {given}: {what}.\nHint: lines are counted from 1; `linkwise explain` shows them."
            raise click.UsageError(msg)
        gone += [entry for entry in found if entry not in gone]
    return gone


def _place(statements: Knowledge, given: str) -> tuple[str, int, str | None]:
    """Read LINE, FILE:LINE, LINE:SAMPLE or FILE:LINE:SAMPLE; a file that was given is taken for one."""
    files = statements.files
    file = next((name for name in sorted(files, key=len, reverse=True) if given.startswith(f"{name}:")), None)
    number, colon, sample = (given if file is None else given[len(file) + 1 :]).partition(":")
    if not number.isascii() or not number.isdecimal():
        msg = f"--drop {given}: expected the number of a line, such as 4" + (
            f", or {files[0]}:4." if len(files) > 1 else "."
        )
        raise click.UsageError(msg)
    if file is None and len(files) > 1:
        msg = f"--drop {given}: there are several files.\nHint: --drop {files[0]}:{given}"
        raise click.UsageError(msg)
    return file or files[0], int(number), sample if colon else None


def _asked(statements: Knowledge) -> list[Entry]:
    """Go through the conflicts; a number drops the entries it names, q ends."""
    import dataclasses

    from linkwise.constraints import entry_key
    from linkwise.problem import check

    said, gone = statements.constraints, list[Any]()
    known = {entry_key(said, entry): entry for entry in said.entries()}
    while True:
        left = dataclasses.replace(statements, constraints=said.without(gone))
        verdict = check(left.constraints)
        if verdict.explanation is None:
            return gone
        choices = list(verdict.explanation.repairs) or [(entry,) for entry in verdict.explanation.entries]
        _show(left.explain(verdict.explanation))
        for number, group in enumerate(choices, start=1):
            _show(f"  [{number}] drop {' and '.join(left.word(entry) for entry in group)}")
        chosen = choices[_choose(len(choices)) - 1]
        gone += [known[entry_key(left.constraints, entry)] for entry in chosen]


def _choose(count: int) -> int:
    while True:
        _show(f"Which one? [1-{count}, q to give up]")
        line = "" if sys.stdin is None or sys.stdin.closed else sys.stdin.readline()
        if not line or line.strip().lower() in ("q", "quit"):
            raise click.Abort
        text = line.strip()
        if text.isascii() and text.isdecimal() and 1 <= int(text) <= count:
            return int(text)


def _show(text: str) -> None:
    click.echo(on_screen(text), err=speaks_json())
