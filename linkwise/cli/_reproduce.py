"""``linkwise reproduce``: the papers' figures and tables, computed again."""

from __future__ import annotations

from pathlib import Path

import click

from linkwise._files import is_partial, visible
from linkwise._wording import many
from linkwise.cli._options import Whole
from linkwise.cli._verb import Interrupted, answer, speaks_json, verb

__all__ = ["reproduce"]


@verb(short_help="Compute the figures and tables of a paper again.")
@click.argument("paper")
@click.option("--figure", "figures", multiple=True, metavar="N", help="Only this figure or table; may be repeated.")
@click.option("--quick", is_flag=True, help="Few repetitions on the small sets: a minute or two.")
@click.option("--draws", type=Whole(1), help="Repetitions of what is drawn, in place of the usual number.")
@click.option("-o", "--output", metavar="FOLDER", default="linkwise-papers", show_default=True, type=click.Path())
@click.option("--data", metavar="FOLDER", type=click.Path(), help="Data sets; default: what LINKWISE_DATA names.")
@click.option("-j", "--jobs", type=Whole(1), default=1, show_default=True, help="Processes.")
@click.option("--quiet", is_flag=True, help="Say nothing unless something is wrong.")
def reproduce(
    paper: str,
    figures: tuple[str, ...],
    quick: bool,
    draws: int | None,
    output: str,
    data: str | None,
    jobs: int,
    quiet: bool,
) -> None:
    """Compute the figures and tables of PAPER again and write one page that compares each with the paper.

    Each exhibit is same, better, different or not comparable, by a rule that the page states with its tolerance.

    PAPER is a name such as zheng2011, or a number, 000 to 004. Writes the page, the pictures and a CSV file of every
    number; what was computed is kept, so that a run that was stopped goes on.
    """
    from linkwise.papers import reproduce as compute_again

    def say(line: str) -> None:
        if not (quiet or speaks_json()):
            click.echo(line, err=True)

    made: list[str] = []
    before = _count_files(output)
    try:
        for path in compute_again(
            paper, figures=figures, quick=quick, draws=draws, output=output, data=data, n_jobs=jobs, say=say
        ):
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
