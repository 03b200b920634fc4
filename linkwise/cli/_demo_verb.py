"""``linkwise demo``: the verb that clusters bundled data with and without constraints, with a picture and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from linkwise._files import visible
from linkwise.cli._verb import answer, speaks_json, verb

if TYPE_CHECKING:
    from linkwise.cli._example import Example

NARROW = 70  # columns below which a table would cut its figures off


@verb(short_help="See it work on bundled data: a story, a picture, a page.")
@click.option("-o", "--output", metavar="FOLDER", default="linkwise-demo", show_default=True, type=click.Path())
@click.option("--data", type=click.Choice(("wine", "iris", "digits")), default="wine", show_default=True)
@click.option("--force", is_flag=True, help="Replace results that exist.")
@click.option("--quiet", is_flag=True, help="Only write the files.")
def demo(output: str, data: str, force: bool, quiet: bool) -> None:
    """Cluster bundled data with and without a few statements, and show the difference they make.

    Writes dendrogram.png (with matplotlib), report.html, tree.nwk and labels.csv.
    """
    import os
    import sys

    quiet = quiet or speaks_json()
    if quiet or sys.stderr.isatty():  # on a terminal, the progress bar says that something is being compiled
        os.environ.setdefault("LINKWISE_QUIET", "1")
    from rich.console import Console

    from linkwise.cli._drawing import can_draw, working
    from linkwise.cli._example import load_example
    from linkwise.io import Folder

    names = ["report.html", "labels.csv", "tree.nwk"]
    if can_draw():
        names.insert(0, "dendrogram.png")
    folder = Folder(output, names, force=force)
    console = Console(quiet=quiet, highlight=False)
    console.print("[bold]linkwise[/bold]: clustering under constraints\n")
    with working("clustering (the first time, kernels are compiled)", quiet=quiet):
        example = load_example(data)
        plain, model, recon = example.fit_all()
    _tell_story(console, example, plain, model)
    _tell_triplets(console, example, plain, recon)
    _tell_conflict(console, example)
    with folder:
        _write(folder, example, plain, model)
    _head(console, "Look at it")
    for name in names:
        console.print(f"  {visible(folder.folder / name)}", soft_wrap=True, markup=False)
    if not can_draw():
        console.print("  (no picture: pip install 'linkwise\\[plot]')")
    answer({"files": {name: str(folder.folder / name) for name in names}})


def _tell_story(console: Any, example: Example, plain: Any, model: Any) -> None:
    from linkwise import check

    said = example.pairs
    _head(console, "1. Data, and statements about some of them")
    console.print(f"{example.about} The true groups are kept aside, to judge by at the end.\n")
    console.print(f"There are {said.n_statements} statements about pairs, for example:")
    for line in said.describe_each(example.shown_pairs()):
        console.print(f"  {line}", markup=False)
    verdict = check(said, n_clusters=example.n_classes)
    answer = {"feasible": "[green]yes[/green]", "infeasible": "[red]no[/red]"}.get(verdict.status, "not decided")
    console.print(f"Can they all hold in {example.n_classes} clusters? {answer}.\n")

    _head(console, "2. Average linkage, without and with them")
    before, after = (example.score(fitted.labels_) for fitted in (plain, model))
    held = [example.n_held(fitted.labels_) for fitted in (plain, model)]
    rows = [
        ("statements that hold", *(f"{count} of {said.n_statements}" for count in held)),
        ("cluster sizes", *(example.sizes(fitted.labels_) for fitted in (plain, model))),
        ("agreement with the true groups", f"{before:.2f}", f"[bold green]{after:.2f}[/bold green]"),
    ]
    _side_by_side(console, rows)
    console.print("(agreement: adjusted Rand index; 1 is perfect, 0 is chance)", style="dim")
    console.print(f"Checked by independent code: {model.certificate_}", markup=False)
    console.print("One data set and one linkage: an illustration, not a benchmark.\n", style="dim")


def _head(console: Any, text: str) -> None:
    """Draw a line beside a heading where there is room for it."""
    if len(text) + 4 <= console.width:
        console.rule(f"[bold]{text}[/bold]", align="left", style="dim")
    else:
        console.print(f"[bold]{text}[/bold]")


def _side_by_side(console: Any, rows: list[tuple[str, ...]]) -> None:
    """Show figures without and with statements: as a table where one fits, else line by line."""
    from rich.table import Table

    if console.width < NARROW:
        for name, before, after in rows:
            console.print(f"{name}: {before} without, {after} with")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("")
    table.add_column("without", justify="right")
    table.add_column("with", justify="right")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _tell_triplets(console: Any, example: Example, plain: Any, recon: Any) -> None:
    said = example.triplets
    _head(console, "3. Statements about levels: triplets")
    console.print(
        f"Now {said.n_statements} statements like [bold]ab|c[/bold]: a and b meet in the tree before either meets c."
    )
    for line in said.describe_each(range(2)):
        console.print(f"  {line}", markup=False)
    before, after = (int(fitted.dendrogram_.satisfies(said).sum()) for fitted in (plain, recon))
    console.print(
        f"In the plain tree {before} of them hold, in the tree built by ReCon [bold green]{after}[/bold green].\n"
    )


def _tell_conflict(console: Any, example: Example) -> None:
    import textwrap

    from linkwise import check

    _head(console, "4. When statements contradict each other")
    verdict = check(example.with_contradiction())
    console.print("One more statement, a wrong one on purpose, and linkwise names the few at fault:")
    for line in str(verdict.explanation).splitlines():
        indent = "  " + line[: len(line) - len(line.lstrip())]
        wrapped = textwrap.fill(line, console.width, initial_indent="  ", subsequent_indent=indent)
        console.print(wrapped, markup=False, soft_wrap=True)
    console.print()


def _write(folder: Any, example: Example, plain: Any, model: Any) -> None:
    from linkwise.cli._drawing import can_draw, draw_before_and_after
    from linkwise.io import labels_csv
    from linkwise.report import Score, write_report

    scores = [
        Score(
            "agreement with the true groups (adjusted Rand index)", *map(example.score, (plain.labels_, model.labels_))
        )
    ]
    folder.write("labels.csv", labels_csv(example.ids, model.labels_))
    folder.write("tree.nwk", model.dendrogram_.to_newick(join=True) + "\n")
    write_report(
        folder.path("report.html"),
        model,
        X=example.X,
        constraints=example.pairs,
        before=plain,
        ids=example.ids,
        title=f"{example.things}, {example.pairs.n_statements} statements, {example.n_classes} clusters",
        recipe=example.recipe(),
        scores=scores,
    )
    if can_draw():
        n = example.pairs.n_statements
        held = [example.n_held(fitted.labels_) for fitted in (plain, model)]
        titles = (
            f"{example.things} in {example.n_classes} clusters without statements: {held[0]} of {n} statements hold",
            f"{example.things} in {example.n_classes} clusters with {n} statements: {held[1]} of {n} hold",
        )
        path = folder.path("dendrogram.png")
        draw_before_and_after(path, plain, model, constraints=example.pairs, ids=example.ids, titles=titles)
