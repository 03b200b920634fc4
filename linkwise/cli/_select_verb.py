"""``linkwise select``: the verb that chooses the few statements that imply most others."""

from __future__ import annotations

from pathlib import Path

import click

from linkwise._files import visible
from linkwise.cli._check_verb import as_dict
from linkwise.cli._options import Whole, explained, knowledge_options, read_said, refuse_existing
from linkwise.cli._verb import answer, verb


@verb(short_help="Choose the few statements that imply most others.")
@click.argument("constraints", metavar="STATEMENTS...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@knowledge_options
@click.option("-m", "--most", type=Whole(1), required=True, metavar="M", help="How many to choose.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Where they go: .csv, .tsv or .jsonl.")
@click.option("--seed", type=Whole(0), default=0, show_default=True, help="Seed of random choices.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@click.option("--quiet", is_flag=True, help="Print nothing unless something is wrong.")
def select(
    constraints: tuple[str, ...],
    data_path: str | None,
    id_column: str | None,
    form: str | None,
    most: int,
    output: str | None,
    seed: int,
    force: bool,
    quiet: bool,
) -> None:
    """Choose the M statements of a file, or of a taxonomy, that together imply most.

    Pairs are judged by how many pairs they decide, triplets by how many triplets they imply.
    """
    import dataclasses

    from linkwise.io import write_knowledge
    from linkwise.problem import informative

    if output is not None:
        if Path(output).suffix.lower() not in (".csv", ".tsv", ".jsonl"):
            msg = f"-o {output} ends in {Path(output).suffix!r}, expected .csv, .tsv or .jsonl."
            raise click.UsageError(msg)
        refuse_existing(output, force=force, inputs=constraints)
    statements, _ = read_said(constraints, data_path, id_column, form)
    with explained(statements):
        best = informative(statements.constraints, most, random_state=seed)
    if output is not None:
        write_knowledge(output, dataclasses.replace(statements, constraints=best.kept))
    chosen = best.statements.tolist()
    lines = [str(best).split("\n", 1)[0]]
    lines += [f"  {statements.word(s)}: {gain:,.0f}" for s, gain in zip(chosen[:20], best.gain[:20], strict=True)]
    lines += [f"  ... and {len(chosen) - 20:,} more"] if len(chosen) > 20 else []
    told = {
        "chosen": [as_dict(statements, s) for s in chosen],
        "gain": best.gain,
        "implied": best.implied,
        "total": best.total,
        "bound": best.bound,
        "exact": best.exact,
        "written": output,
    }
    answer(told, "\n".join(lines + ([visible(output)] if output else [])), quiet=quiet)
