"""``linkwise look``: the verb that profiles a table and proposes the command that clusters it."""

from __future__ import annotations

import click

from linkwise.cli._verb import answer, verb


@verb(short_help="Look at a table, and propose the command that clusters it.")
@click.argument("data", metavar="DATA", type=click.Path(allow_dash=True))
@click.option(
    "--encoding",
    metavar="NAME",
    help="Encoding of the file, such as latin2.  [default: UTF-8; UTF-16 or Windows-1252 where it must be]",
)
def look(data: str, encoding: str | None) -> None:
    """Show what the columns of DATA are, and the command that clusters its rows.

    Every column gets a role: names, numbers, categories, text, repeated words, dates, constant, empty. Decimal commas,
    encodings, words in columns of numbers and words for missing values are found. The table is read with
    the proposed options before they are shown. Nothing is written.
    """
    from linkwise.io import look as look_at

    found = look_at(data, encoding=encoding)
    answer(found.to_dict(), str(found))
