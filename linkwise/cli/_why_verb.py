"""``linkwise why``: the verb that tells whether statements or distances put two samples together or apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from linkwise.cli._options import constraints_option, explained
from linkwise.cli._verb import answer, verb

if TYPE_CHECKING:
    from linkwise.io import Knowledge
    from linkwise.problem import Why


@verb(short_help="Explain why two samples are together or apart.")
@click.argument("result", metavar="RESULT", type=click.Path())
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@constraints_option("Statements to cite by file and line; by default those of the model.")
def why(result: str, first: str, second: str, constraints: tuple[str, ...]) -> None:
    """Explain why samples A and B are together or apart in RESULT: the cause, and the statements that would change it.

    RESULT is a folder that `linkwise cluster` wrote, a model (.lwm), a tree (.nwk) or a file of labels.
    """
    from linkwise.cli._saved_result import open_result
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
    """Put lines of the files where the text has numbers of statements; each line once, however many it stands for."""
    used = {*told.statements}
    used.update(*(bound.statements for bound in told.bounds), *((*c.against, *c.keys) for c in told.changes))
    by_number = {int(statements.constraints.row[statement]): statement for statement in used}

    def places(found: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"#(\d+)", found[1])]
        if not all(number in by_number for number in numbers):
            return found[0]
        lines: dict[str, set[int]] = {}
        for statement in (by_number[number] for number in numbers):
            lines.setdefault(statements.file_of(statement), set()).add(statements.line_of(statement))
        word = " or " if " or #" in found[1] else " and "
        several = len(statements.files) > 1
        told = word.join(_lines(file if several else "", sorted(at - {0}), word) or file for file, at in lines.items())
        one = sum(len(at) for at in lines.values()) == 1
        return told + ("" if found[2] is None else " forces that" if one else " force that")

    return re.sub(r"(#\d+(?:, #\d+)*(?: (?:and|or) #\d+)?)( force that)?", places, text)


def _lines(file: str, lines: list[int], word: str) -> str:
    """As in ``said.csv, lines 3, 5 and 8``; nothing where no line is known."""
    if not lines:
        return ""
    listed = word.join(part for part in (", ".join(map(str, lines[:-1])), str(lines[-1])) if part)
    return f"{file}, " * bool(file) + ("line " if len(lines) == 1 else "lines ") + listed
