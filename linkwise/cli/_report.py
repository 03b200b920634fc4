"""``linkwise report``: a page about a result that was saved."""

from __future__ import annotations

from pathlib import Path

import click

from linkwise._files import visible
from linkwise.cli._options import refuse_existing
from linkwise.cli._verb import answer, verb

__all__ = ["report"]

ENDINGS = (".html", ".md", ".json")


@verb(short_help="Write a report of a result: a page, Markdown or JSON.")
@click.argument("result", metavar="RESULT", type=click.Path())
@click.option("-o", "--output", metavar="FILE", required=True, type=click.Path(), help="Ends in .html, .md or .json.")
@click.option(
    "--before", metavar="RESULT", type=click.Path(), help="The result without the knowledge, to tell what changed."
)
@click.option("--title", help="Heading of the report.")
@click.option("--force", is_flag=True, help="Replace the file if it is there already.")
@click.option("--quiet", is_flag=True, help="Say nothing unless something is wrong.")
def report(result: str, output: str, before: str | None, title: str | None, force: bool, quiet: bool) -> None:
    """Write what there is to say about RESULT, a model (.lwm) or a folder that `linkwise cluster` wrote, to FILE."""
    from linkwise.cli._result import open_result
    from linkwise.io import Folder
    from linkwise.report import write_report

    place = Path(output)
    if place.suffix.lower() not in ENDINGS:
        msg = f"-o {output} ends in {place.suffix!r}, expected .html, .md or .json."
        raise click.UsageError(msg)
    refuse_existing(output, force=force, inputs=[result])
    found = open_result(result)
    earlier = None if before is None else open_result(before).result
    with Folder(place.parent, [place.name], force=force) as folder:
        write_report(
            folder.path(place.name),
            found.result,
            X=None if found.table is None else found.table.X,
            features=None if found.table is None else found.table.columns,
            values=None if found.table is None else found.table.values,
            ids=found.ids,
            before=earlier,
            title=title or f"{Path(result).stem}: clusters and what was known",
        )
    answer({"written": output}, visible(output), quiet=quiet)
