"""``linkwise repair``: drop statements until the rest holds together, and write what is left."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli._check import about, as_dict, counted
from linkwise.cli._options import knowledge_options, read_said, refuse_existing
from linkwise.cli._verb import CONFLICT, answer, on_screen, speaks_json, verb

if TYPE_CHECKING:
    from linkwise.io import Knowledge

__all__ = ["repair"]

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson")


@verb(short_help="Drop statements until the rest holds together.")
@click.argument("constraints", metavar="STATEMENTS...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@knowledge_options
@click.option("--auto", is_flag=True, help="Drop the fewest (or lightest) that must go.")
@click.option(
    "--drop", multiple=True, metavar="LINE", help="Drop what stands in this line (FILE:LINE for several files)."
)
@click.option("--ask", "asking", is_flag=True, help="Show conflict after conflict and ask what to drop.")
@click.option("--keep-hard", is_flag=True, help="With --auto: never drop a statement without a weight.")
@click.option("-o", "--output", metavar="FILE", required=True, type=click.Path(), help="Where what is left goes.")
@click.option("--force", is_flag=True, help="Replace the file if it is there already.")
@click.option("--quiet", is_flag=True, help="Say nothing unless something is wrong.")
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
    """Drop statements so that all others hold together, list what was dropped, and write the rest to FILE.

    Say how: --auto finds the fewest, --drop names lines as `linkwise explain` shows them, --ask lets you choose. FILE
    ends in .csv, .tsv or .jsonl. The files that are read stay as they are.

    Exits with 0 when FILE was written, 3 when what is left would still be contradictory; then nothing is written.
    """
    import dataclasses
    from pathlib import Path

    from linkwise.cli._fitting import explained
    from linkwise.io import write_knowledge
    from linkwise.problem import check

    if auto + bool(drop) + asking != 1:
        msg = "say how to repair: one of --auto, --drop LINE and --ask.\nHint: `linkwise explain` shows the lines."
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
            gone, sentence = _automatic(statements, keep_hard)
    else:
        gone = _asked(statements) if asking else _named(statements, drop)
        sentence = f"{len(gone):,} of {said.n_statements:,} statements dropped."
    left = said.select([s for s in range(said.n_statements) if s not in set(gone)])
    kept = dataclasses.replace(statements, constraints=left)
    verdict = check(left)
    told: dict[str, Any] = {"status": verdict.status, "dropped": [as_dict(statements, s) for s in gone]}
    if verdict.status == "infeasible" and verdict.explanation is not None:
        told |= {"written": None}
        answer(told, f"{about(kept)} still cannot all hold; nothing was written.\n{kept.explain(verdict.explanation)}")
        return CONFLICT
    write_knowledge(output, kept)
    told |= {"kept": left.n_statements, "written": output}
    lines = [sentence, *(f"  {statements.word(s)}" for s in gone), f"{output}: {counted(left.n_statements)}."]
    answer(told, "\n".join(lines), quiet=quiet)
    return 0


def _automatic(statements: Knowledge, keep_hard: bool) -> tuple[list[int], str]:
    from linkwise.problem import repair as find_repair

    found = find_repair(statements.constraints, keep="hard" if keep_hard else "most")
    return found.dropped.tolist(), str(found).split("\n", 1)[0]


def _named(statements: Knowledge, drop: tuple[str, ...]) -> list[int]:
    """Positions of the statements that stand in the lines named."""
    gone: list[int] = []
    for given in drop:
        file, _, number = given.rpartition(":")
        if not number.isascii() or not number.isdecimal():
            msg = f"--drop {given}: expected the number of a line, such as 4" + (
                f", or {statements.files[0]}:4." if len(statements.files) > 1 else "."
            )
            raise click.UsageError(msg)
        if not file and len(statements.files) > 1:
            msg = f"--drop {given}: there are several files.\nHint: --drop {statements.files[0]}:{given}"
            raise click.UsageError(msg)
        found = [
            s
            for s in range(statements.constraints.n_statements)
            if statements.line_of(s) == int(number) and file in ("", statements.file_of(s))
        ]
        if not found:
            msg = f"--drop {given}: no statement stands in that line.\nHint: lines are counted from 1."
            raise click.UsageError(msg)
        gone += [s for s in found if s not in gone]
    return gone


def _asked(statements: Knowledge) -> list[int]:
    """Go through the conflicts; a number drops what it names, q ends."""
    import dataclasses

    from linkwise.problem import check

    said, gone = statements.constraints, list[int]()
    places = list(range(said.n_statements))
    while True:
        left = dataclasses.replace(statements, constraints=said.select(places))
        verdict = check(left.constraints)
        if verdict.explanation is None:
            return gone
        choices: list[tuple[int, ...]] = list(verdict.explanation.suspects) or [(s,) for s in verdict.explanation.core]
        _show(left.explain(verdict.explanation))
        for number, group in enumerate(choices, start=1):
            _show(f"  [{number}] drop {' and '.join(left.word(s) for s in group)}")
        chosen = choices[_choose(len(choices)) - 1]
        gone += [places[s] for s in chosen]
        places = [p for at, p in enumerate(places) if at not in chosen]


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
