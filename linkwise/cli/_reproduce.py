"""``linkwise reproduce``: the papers' figures and tables, found anew."""

from __future__ import annotations

from pathlib import Path

import click

from linkwise._files import is_partial, visible
from linkwise._wording import many
from linkwise.cli._options import Whole
from linkwise.cli._verb import Interrupted, answer, speaks_json, verb

__all__ = ["reproduce"]


@verb(short_help="Find the figures and tables of a paper anew.")
@click.argument("paper")
@click.option("--figure", "figures", multiple=True, metavar="N", help="Only this figure or table; may be repeated.")
@click.option("--quick", is_flag=True, help="Few repetitions on the small sets: a minute or two.")
@click.option("-o", "--output", metavar="FOLDER", default="linkwise-papers", show_default=True, type=click.Path())
@click.option("--data", metavar="FOLDER", type=click.Path(), help="Data sets; default: what LINKWISE_DATA names.")
@click.option("-j", "--jobs", type=Whole(1), default=1, show_default=True, help="Processes.")
@click.option("--quiet", is_flag=True, help="Say nothing unless something is wrong.")
def reproduce(
    paper: str, figures: tuple[str, ...], quick: bool, output: str, data: str | None, jobs: int, quiet: bool
) -> None:
    """Compute the figures and tables of PAPER anew and write one page that says same, better or different, and why.

    PAPER is a name such as zheng2011, or a number, 000 to 004. Writes the page, the pictures and a CSV file of every
    number; what was computed is kept, so that a run that was stopped goes on.
    """
    from linkwise.papers import reproduce as find_anew

    def say(line: str) -> None:
        if not (quiet or speaks_json()):
            click.echo(line, err=True)

    made: list[str] = []
    before = _count_files(output)
    try:
        for path in find_anew(paper, figures=figures, quick=quick, output=output, data=data, n_jobs=jobs, say=say):
            made.append(str(path))
            if not (quiet or speaks_json()):
                click.echo(path)
    except (KeyboardInterrupt, click.Abort) as stopped:
        new = _count_files(output) - before  # other processes write as well
        if new <= 0:
            raise
        msg = f"interrupted; {many(new, 'new file')} in {visible(output)}.\nHint: run the same command again to go on."
        raise Interrupted(msg) from stopped
    answer({"files": made})


def _count_files(folder: str) -> int:
    return sum(path.is_file() and not is_partial(path) for path in Path(folder).rglob("*"))
