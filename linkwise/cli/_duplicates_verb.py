"""``linkwise duplicates``: the verb that groups records of the same thing, with the evidence for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from linkwise._files import visible
from linkwise._messages import many, more_lines
from linkwise.cli._options import (
    Amount,
    constraints_option,
    explained,
    force_option,
    one_standard_input,
    quiet_option,
    read_statements,
    refuse_existing,
    require_ending,
    says,
)
from linkwise.cli._verb import answer, verb

if TYPE_CHECKING:
    from linkwise.io import Table
    from linkwise.selection import RecordGroups

_SHOWN = 5  # groups that are shown on the screen


@verb(short_help="Group records of the same thing, with the evidence for each.")
@click.argument("data", metavar="DATA", type=click.Path(allow_dash=True))
@click.option(
    "--id", "id_column", metavar="COLUMN", help="Column that names the records; without it they are 0, 1, ..."
)
@click.option(
    "--block",
    multiple=True,
    required=True,
    metavar="COLUMN",
    help="Compare records that are equal in this column, or with ~COLUMN near in it; takes lists (email,~name) and may "
    "be repeated.",
)
@click.option(
    "--compare",
    multiple=True,
    metavar="COLUMN",
    help="Columns that decide how similar records are.  [default: all but those of --apart]",
)
@click.option(
    "--threshold",
    type=Amount(min=0, max=1, min_open=True),
    default=0.7,
    show_default=True,
    help="Join groups whose records have at least this mean similarity.",
)
@click.option("--together", multiple=True, metavar="COLUMN", help="Records with the same value belong together.")
@click.option("--apart", multiple=True, metavar="COLUMN", help="At most one record of each value, such as of a source.")
@constraints_option("Pairs and groups of records.", dash=True)
@click.option(
    "--missing",
    multiple=True,
    metavar="WORD",
    help="A word for a missing value, beside empty cells, NA, n/a, NaN, null, none and ?; may be repeated.",
)
@click.option("--encoding", metavar="NAME", help="Encoding of the files, such as latin2.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Where the groups go: .csv or .tsv.")
@force_option
@quiet_option
def duplicates(
    data: str,
    id_column: str | None,
    block: tuple[str, ...],
    compare: tuple[str, ...],
    threshold: float,
    constraints: tuple[str, ...],
    missing: tuple[str, ...],
    encoding: str | None,
    output: str | None,
    force: bool,
    quiet: bool,
    **columns: tuple[str, ...],
) -> None:
    """Group the rows of DATA that are about the same thing, such as one customer in several lists.

    Only pairs that --block proposes are compared, so that 50,000 rows take no table of all pairs. No number of groups
    is needed: --threshold says how similar records must be. Agreement in a column counts as much as it is rare.

    -o writes every record with its group, the most similar record of the group, and the columns that agree, are
    similar or differ.
    """
    from linkwise.io import read_records
    from linkwise.selection import group_records

    one_standard_input([data, *constraints])
    if output is not None:
        require_ending(output, (".csv", ".tsv"))
        refuse_existing(output, force=force, inputs=[data, *constraints])
    table = read_records(data, id=id_column, encoding=encoding, missing=missing)
    options = {"labels": (), **columns, "encoding": encoding}
    known = None
    if constraints or says(options):
        known = read_statements(constraints, table, options=options)
    with explained(known):
        found = group_records(
            table,
            None if known is None else known.constraints,
            block=_names(block),
            compare=_names(compare) or _others(table, columns["apart"]),
            threshold=threshold,
        )
    groups = found.groups()
    if output is not None:
        _write(output, found, groups)
    lines = [str(found)]
    for group in groups[:_SHOWN]:
        lines += ["", *_shown(found, table, group)]
    lines += ["", *more_lines(_SHOWN, len(groups), "")] if len(groups) > _SHOWN else []
    lines += (
        [f"  {visible(output)}"] if output is not None else ["-o FILE writes all groups, with the evidence for each."]
    )
    told: dict[str, Any] = {
        "records": len(found.labels),
        "groups": found.n_groups,
        "duplicates": found.n_duplicates,
        "compared": found.n_compared,
        "weights": found.weights,
        "hard_statements_hold": found.certificate.ok,
        "largest": [[found.names[i] for i in group] for group in groups[:_SHOWN]],
        "written": output,
    }
    answer(told, "\n".join(lines), quiet=quiet)


def _others(table: Table, apart: tuple[str, ...]) -> list[str] | None:
    """All columns but those in which records of a group must differ; None if there are no others."""
    return [column for column in table.beside if column not in _names(apart)] or None


def _names(given: tuple[str, ...]) -> list[str]:
    """Names of columns, typed one by one or as lists."""
    return [part.strip() for one in given for part in one.split(",") if part.strip()]


def _shown(found: RecordGroups, table: Table, group: list[int], most: int = 8) -> list[str]:
    """A group on the screen: each record, and why it is there."""
    lines = [f"{many(len(group), 'record')}:"]
    for one in found.evidence(group)[:most]:
        cells = ", ".join(table.beside[column][one.record] or "-" for column in found.weights)
        lines += [f"  {found.names[one.record]}: {cells}", f"    with {found.names[one.other]} {one}"]
    return lines + more_lines(most, len(group))


def _write(output: str, found: RecordGroups, groups: list[list[int]]) -> None:
    from pathlib import Path

    from linkwise._files import write_whole
    from linkwise.io import csv_line

    delimiter = "\t" if output.lower().endswith(".tsv") else ","
    sizes = {int(found.labels[group[0]]): len(group) for group in groups}
    evidence = {one.record: one for group in groups for one in found.evidence(group)}
    head = ("record", "group", "size", "closest", "similarity", "agree", "similar", "differ")
    rows = [csv_line(*head, delimiter=delimiter)]
    for record, label in enumerate(found.labels.tolist()):
        one = evidence.get(record)
        why: tuple[object, ...] = ("", "", "", "", "")
        if one is not None:
            why = (
                found.names[one.other],
                f"{one.similarity:.3f}",
                *map("; ".join, (one.agree, one.similar, one.differ)),
            )
        rows.append(csv_line(found.names[record], label, sizes.get(label, 1), *why, delimiter=delimiter))
    write_whole(Path(output), "".join(rows).encode())
