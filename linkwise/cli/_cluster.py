"""``linkwise cluster``: samples and statements in, labels, tree, picture and report out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from linkwise.io import Knowledge, Table

__all__ = ["cluster", "scaled"]


class Clusters(click.ParamType):  # type: ignore[type-arg]
    """A number from 1, or the word auto."""

    name = "INTEGER|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Read what was typed."""
        return "auto" if value == "auto" else int(click.IntRange(min=1).convert(value, param, ctx))


LINKAGES = ("average", "complete", "single", "ward", "weighted", "centroid", "median")


@click.command(short_help="Cluster a CSV file, obeying a file of statements.")
@click.argument("data", metavar="DATA.csv", type=click.Path(allow_dash=True))
@click.option("--id", "id_column", metavar="COLUMN", help="Column that names the samples; else they are 0, 1, 2, ...")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; may be repeated.")
@click.option("-c", "--constraints", metavar="FILE", type=click.Path(allow_dash=True), help="Knowledge, CSV or JSONL.")
@click.option(
    "-k",
    "--clusters",
    type=Clusters(),
    default=2,
    show_default=True,
    help="Number of clusters, or auto: the number that predicts held-out statements best.",
)
@click.option(
    "--linkage",
    type=click.Choice(LINKAGES),
    help="Default: average; for recon centroid. With -k auto: what predicts held-out statements best.",
)
@click.option(
    "--method",
    type=click.Choice(("agglomerative", "recon")),
    default="agglomerative",
    show_default=True,
    help="agglomerative: must- and cannot-links; recon: triplets.",
)
@click.option("--standardise", is_flag=True, help="Give every column mean 0 and standard deviation 1 first.")
@click.option("-o", "--output", metavar="FOLDER", required=True, type=click.Path(), help="Where the results go.")
@click.option("--title", help="Heading of the picture and the report.")
@click.option("--force", is_flag=True, help="Replace results that are there already.")
@click.option("--quiet", is_flag=True, help="Say nothing unless something is wrong.")
def cluster(
    data: str,
    id_column: str | None,
    drop: tuple[str, ...],
    constraints: str | None,
    clusters: int | str,
    linkage: str | None,
    method: str,
    standardise: bool,
    output: str,
    title: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Cluster the rows of DATA.csv (a header, then numbers) and obey what FILE says about them.

    Statements are rows kind,a,b,c,weight: must_link and cannot_link name two samples, triplet three (a and b are closer
    to each other than to c); together and apart name any number in a column samples, as in x;y;z. Without a weight a
    statement is hard: it holds in the result, or you are told why not.

    Writes labels.csv, tree.nwk, report.html and, with matplotlib, dendrogram.png; either all of them or none.
    """
    from linkwise.cli._show import can_draw, draw_tree, working
    from linkwise.io import Folder, labels_csv, read_data, read_knowledge
    from linkwise.report import write_report

    if data == constraints == "-":
        msg = "DATA.csv and --constraints cannot both come from standard input."
        raise click.UsageError(msg)
    names = ["labels.csv", "tree.nwk", "report.html"] + (["dendrogram.png"] if can_draw() else [])
    inputs = [data] + ([constraints] if constraints else [])
    folder = Folder(output, names, force=force, inputs=inputs)
    table = read_data(data, id=id_column, drop=drop)
    if isinstance(clusters, int) and clusters > len(table.X):
        msg = f"-k {clusters}: {data} has only {len(table.X)} rows."
        raise click.UsageError(msg)
    statements = None if constraints is None else read_knowledge(constraints, table)
    X = scaled(table, standardise)
    reasons: tuple[str, ...] = ()
    if isinstance(clusters, str):
        with working("comparing numbers of clusters", quiet=quiet):
            clusters, linkage, reasons = _decide(X, statements, method, linkage)
    linkage = linkage or ("centroid" if method == "recon" else "average")
    with working("clustering", quiet=quiet):
        model = _fit(X, statements, method, clusters, linkage)
    said = None if statements is None else statements.constraints
    heading = title or f"{'samples' if data == '-' else Path(data).stem} in {model.n_clusters_} clusters"
    with folder:
        folder.write("labels.csv", labels_csv(table.ids, model.labels_))
        folder.write("tree.nwk", model.dendrogram_.to_newick() + "\n")
        recipe = _recipe(data, id_column, drop, statements, method, clusters, linkage, standardise)
        write_report(
            folder.path("report.html"),
            model,
            X=X,
            features=table.columns,
            constraints=said,
            ids=table.ids,
            title=heading,
            recipe=recipe,
        )
        if can_draw():
            draw_tree(folder.path("dendrogram.png"), model, constraints=said, ids=table.ids, title=heading)
    if not quiet:
        _tell(model, said, folder.folder, names, reasons)


def scaled(table: Table, standardise: bool) -> Any:
    """The columns as asked for, with a word of warning where one would decide alone."""
    import warnings

    from linkwise.choosing._choose import UNEQUAL
    from linkwise.exceptions import LinkwiseWarning

    spread = table.X.std(axis=0)
    if standardise:
        spread[spread == 0] = 1.0
        return (table.X - table.X.mean(axis=0)) / spread
    wide, narrow = spread.argmax(), spread.argmin()
    if spread[narrow] > 0 and spread[wide] > UNEQUAL * spread[narrow]:
        warnings.warn(
            f"column {table.columns[wide]} spreads {spread[wide] / spread[narrow]:.0f} times as far as "
            f"{table.columns[narrow]} and will decide alone; --standardise makes them count alike.",
            LinkwiseWarning,
            stacklevel=2,
        )
    return table.X


def _decide(X: Any, statements: Knowledge | None, method: str, linkage: str | None) -> tuple[int, str, tuple[str, ...]]:
    """Number of clusters and linkage when neither is given, and why."""
    from linkwise import ConstrainedAgglomerative, Constraints, ReCon
    from linkwise.choosing._steps import decide_cut

    estimator = ReCon() if method == "recon" else ConstrainedAgglomerative()
    usual = ("centroid", "average") if method == "recon" else ("average", "ward", "complete")
    known = Constraints.build(len(X)) if statements is None else statements.constraints
    with _explained(statements):
        return decide_cut(estimator, (linkage,) if linkage else usual, X, known)


def _fit(X: Any, statements: Knowledge | None, method: str, clusters: int, linkage: str) -> Any:
    from linkwise import ConstrainedAgglomerative, ReCon

    kind = ReCon if method == "recon" else ConstrainedAgglomerative
    model = kind(n_clusters=clusters, linkage=linkage)
    with _explained(statements):
        return model.fit(X, constraints=None if statements is None else statements.constraints)


@contextmanager
def _explained(statements: Knowledge | None) -> Iterator[None]:
    """Tell a contradiction in the words of the file."""
    from linkwise.exceptions import InfeasibleConstraintsError

    try:
        yield
    except InfeasibleConstraintsError as conflict:
        if conflict.explanation is None or statements is None:
            raise
        text = statements.explain(conflict.explanation)
        msg = f"the statements cannot all hold.\n{text}"
        raise InfeasibleConstraintsError(msg, conflict.explanation) from conflict


def _tell(model: Any, said: Any, folder: Path, names: list[str], reasons: tuple[str, ...]) -> None:
    from linkwise import verify

    click.echo(f"{len(model.labels_):,} samples in {model.n_clusters_:,} clusters.")
    if said is not None:
        click.echo(str(verify(model.dendrogram_, said)))
    for reason in reasons:
        click.echo(f"  - {reason}")
    for name in names:
        click.echo(f"  {folder / name}")
    if "dendrogram.png" not in names:
        click.echo("  (no picture: pip install 'linkwise[plot]')")


def _recipe(
    data: str,
    id_column: str | None,
    drop: tuple[str, ...],
    statements: Knowledge | None,
    method: str,
    clusters: int,
    linkage: str,
    standardise: bool,
) -> str:
    """Python that does the same, for the report."""
    name = "ReCon" if method == "recon" else "ConstrainedAgglomerative"
    index = "" if id_column is None else f", index_col={id_column!r}"
    lines = [
        "import pandas as pd",
        f"from linkwise import {', '.join(sorted({'Constraints', name}))}",
        "",
        f"frame = pd.read_csv({data!r}{index})" + (f".drop(columns={list(drop)!r})" if drop else ""),
    ]
    if standardise:
        lines.append("frame = (frame - frame.mean()) / frame.std(ddof=0)")
    said = ""
    if statements is not None:
        shown = ",\n    ".join(statements.as_python())
        lines.append(f"said = Constraints.from_ids(frame.index, [\n    {shown},\n])")
        said = ", constraints=said"
    lines.append(f"model = {name}(n_clusters={clusters}, linkage={linkage!r}).fit(frame.to_numpy(){said})")
    options = [shlex.quote(data)] + ([f"--id {shlex.quote(id_column)}"] if id_column else [])
    options += [f"--drop {shlex.quote(column)}" for column in drop]
    shell = (
        f"# in a shell: linkwise cluster {' '.join(options)} -k {clusters} --method {method} --linkage {linkage} -o OUT"
    )
    return "\n".join([*lines, "model.labels_", "", shell])
