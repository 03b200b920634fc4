"""``linkwise why``: who decided about two samples, the statements or the distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from linkwise.cli._verb import answer, verb

if TYPE_CHECKING:
    from linkwise.io import Knowledge
    from linkwise.problem import Why

__all__ = ["why"]


@verb(short_help="Say why two samples are together or apart.")
@click.argument("result", metavar="RESULT", type=click.Path())
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option(
    "-c",
    "--constraints",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="What was said, to be told by file and line; by default what the model obeyed. May be repeated.",
)
def why(result: str, first: str, second: str, constraints: tuple[str, ...]) -> None:
    """Say why samples A and B are together or apart in RESULT: what forced it, and what would change it.

    RESULT is a folder that `linkwise cluster` wrote, a model (.lwm), a tree (.nwk) or a file of labels.
    """
    from linkwise.cli._cluster import explained
    from linkwise.cli._result import open_result
    from linkwise.io import read_knowledge
    from linkwise.problem import why as reason

    found = open_result(result)
    statements = read_knowledge(list(constraints), found.ids) if constraints else None
    said = None if statements is None else statements.constraints
    with explained(statements):
        told = reason(found.result, first, second, said, ids=found.ids)
    text = str(told)
    if statements is not None:
        text = _with_places(text, statements, told)
    answer(told.to_dict(), text)


def _with_places(text: str, statements: Knowledge, told: Why) -> str:
    """Put the line of the file where the text has the number of a statement."""
    used = {*told.statements}
    used.update(*(bound.statements for bound in told.bounds), *((*c.against, *c.keys) for c in told.changes))
    for statement in sorted(used, key=lambda s: -int(statements.constraints.row[s])):  # long numbers first
        text = text.replace(f"#{int(statements.constraints.row[statement])}", statements.where(statement))
    return text
