"""``linkwise open``: the verb that shows the workbench in a browser."""

from __future__ import annotations

import click

from linkwise.cli._options import Whole
from linkwise.cli._verb import answer, speaks_json, verb
from linkwise.exceptions import LinkwiseError


@verb(name="open", short_help="Answer questions and correct the tree in the browser.")
@click.argument("file", metavar="[FILE]", required=False, type=click.Path())
@click.option("--no-browser", is_flag=True, help="Print the link, and open no browser.")
@click.option("--project", metavar="PATH", type=click.Path(), help="Where the project of a table lies.")
@click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(),
    default=".",
    help="Where projects of the start page lie; default: here.",
)
@click.option("--port", type=Whole(0, "a port"), default=0, help="The port to listen on; default: a free one.")
@click.option("--people", metavar="NAMES", default="me", help="Who answers, as ann,bob: each gets a link.")
def open_verb(file: str | None, no_browser: bool, project: str | None, folder: str, port: int, people: str) -> None:
    """Open the workbench in a browser: questions, a tree to correct by hand, conflicts, history, exports.

    FILE is a project (.lw) or a table; of a table a project is made beside it, or opened if it is there already.
    Without FILE the start page appears. The server listens on this computer only, and everything said is saved before
    the page hears so. Ctrl-C ends it, and so does Quit on the page.
    """
    from linkwise.app import open_project

    if port > 65_535:
        msg = f"--port is {port}, expected a number up to 65535.\nHint: leave it out, then a free one is taken."
        raise LinkwiseError(msg)

    def say(line: str) -> None:
        if speaks_json():
            answer({"line": line})
        else:
            click.echo(line)

    names = people.split(",")
    open_project(file, project=project, folder=folder, port=port, browser=not no_browser, people=names, say=say)
