"""``linkwise plot``: the verb that draws a result into a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from linkwise._files import visible
from linkwise.cli._options import Whole, refuse_existing
from linkwise.cli._verb import answer, verb

ENDINGS = (".png", ".svg", ".pdf")


@verb(short_help="Draw a result: its tree, its statements, its data.")
@click.argument("result", metavar="RESULT", type=click.Path())
@click.option("-o", "--output", metavar="FILE", required=True, type=click.Path(), help="Ends in .png, .svg or .pdf.")
@click.option("--kind", type=click.Choice(("tree", "links", "heatmap")), default="tree", show_default=True)
@click.option("--max-leaves", type=Whole(1), metavar="N", help="Fold branches until N leaves are drawn.")
@click.option("--title", help="Heading of the picture.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@click.option("--quiet", is_flag=True, help="Print nothing unless something is wrong.")
def plot(
    result: str, output: str, kind: str, max_leaves: int | None, title: str | None, force: bool, quiet: bool
) -> None:
    """Draw RESULT, a model (.lwm) or a folder that `linkwise cluster` wrote, into FILE.

    tree: the dendrogram with its clusters and statements as arcs; links: the samples in the plane and statements as
    lines between them; heatmap: the data in the order of the tree. A tree file (.nwk, .json, .npy) will do for tree.
    """
    from linkwise.cli._drawing import can_draw
    from linkwise.cli._saved_result import open_result
    from linkwise.exceptions import LinkwiseError
    from linkwise.io import Folder

    ending = Path(output).suffix.lower()
    if ending not in ENDINGS:
        msg = f"-o {output} ends in {ending!r}, expected {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}."
        raise click.UsageError(msg)
    if max_leaves is not None and kind != "tree":
        msg = "--max-leaves belongs to --kind tree."
        raise click.UsageError(msg)
    if not can_draw():
        msg = "matplotlib is missing.\nHint: pip install 'linkwise[plot]'"
        raise LinkwiseError(msg)
    refuse_existing(output, force=force, inputs=[result])
    figure = _draw(open_result(result), kind, max_leaves, title)
    place = Path(output)
    with Folder(place.parent, [place.name], force=force) as folder:
        figure.savefig(folder.path(place.name), dpi=130)
    answer({"written": output, "kind": kind}, visible(output), quiet=quiet)


def _draw(found: Any, kind: str, max_leaves: int | None, title: str | None) -> Any:
    from matplotlib.figure import Figure

    from linkwise.plots import plot_dendrogram, plot_heatmap, plot_links

    figure = Figure(figsize=(9.0, 5.6), layout="constrained")
    ax, said = figure.subplots(), found.constraints
    if kind == "tree":
        plot_dendrogram(
            found.tree,
            labels=found.labels,
            constraints=said,
            ids=found.ids,
            max_leaves=max_leaves,
            title=title,
            ax=ax,
        )
        return figure
    table = found.need_table()
    if kind == "heatmap":
        plot_heatmap(
            table.X, found.tree, labels=found.labels, ids=found.ids, features=table.columns, title=title, ax=ax
        )
    else:
        plot_links(table.X, said, labels=found.labels, ids=found.ids, title=title, ax=ax)
    return figure
