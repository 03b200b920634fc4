"""The short verbs ``report``, ``assign``, ``compare``, ``info`` and ``reproduce``."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import click

from linkwise import __version__
from linkwise._files import is_partial, visible
from linkwise._messages import many
from linkwise._threads import cores
from linkwise.cli._options import Whole, refuse_existing
from linkwise.cli._score_verb import match_samples
from linkwise.cli._verb import Interrupted, answer, show, speaks_json, verb
from linkwise.cli._warmup_verb import kept_in


@verb(short_help="Compute the figures and tables of a paper again.")
@click.argument("paper")
@click.option("--figure", "figures", multiple=True, metavar="N", help="Only this figure or table; may be repeated.")
@click.option("--quick", is_flag=True, help="Few repetitions on the small sets: a minute or two.")
@click.option("--draws", type=Whole(1), help="Repetitions of what is drawn, in place of the usual number.")
@click.option("-o", "--output", metavar="FOLDER", default="linkwise-papers", show_default=True, type=click.Path())
@click.option("--data", metavar="FOLDER", type=click.Path(), help="Data sets; default: what LINKWISE_DATA names.")
@click.option("-j", "--jobs", type=Whole(1), default=1, show_default=True, help="Processes.")
@click.option("--quiet", is_flag=True, help="Print nothing unless something is wrong.")
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
    number; finished parts are kept, so that a run that was stopped goes on.
    """
    from studies.papers._reproduce import reproduce as compute_again

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


_NEEDED = ("numpy", "scipy", "scikit-learn", "numba", "click", "rich")
_OPTIONAL = ("matplotlib", "pandas", "polars", "pyarrow", "networkx", "dask", "starlette")


@verb(short_help="Show versions, cores, memory and where compiled code is kept.")
def info() -> None:
    """Show what a bug report needs: versions, cores, memory, and where compiled code is kept."""
    from importlib import metadata

    rows = [("linkwise", __version__), ("python", f"{platform.python_version()} ({sys.executable})")]
    for name in (*_NEEDED, *_OPTIONAL):
        try:
            rows.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            rows.append((name, "missing" if name in _NEEDED else "not installed (optional)"))
    rows += [
        ("system", platform.platform()),
        ("cores", str(cores())),
        ("memory", _memory()),
        ("compiled code", kept_in()),
    ]
    answer(dict(rows), "\n".join(f"{name:<14} {value}" for name, value in rows))


def _memory() -> str:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return "unknown"
    return f"{total / 2**30:.1f} GiB"


@verb(short_help="Measure how far two results agree, and list samples that moved.")
@click.argument("first", metavar="FIRST", type=click.Path(allow_dash=True))
@click.argument("second", metavar="SECOND", type=click.Path(allow_dash=True))
@click.option("--shown", type=Whole(0), default=20, show_default=True, help="How many samples to name.")
def compare(first: str, second: str, shown: int) -> None:
    """Compare two results, each labels.csv, a model or a folder that `linkwise cluster` wrote.

    Clusters of SECOND are named after those of FIRST so that as few samples as possible have moved.
    """
    import numpy as np

    from linkwise import metrics
    from linkwise.cli._options import one_standard_input
    from linkwise.cli._saved_result import open_result
    from linkwise.exceptions import LinkwiseError
    from linkwise.plots import match_labels

    one_standard_input([first, second])
    old, new = open_result(first), open_result(second)
    for one in (old, new):
        if one.labels is None:
            msg = f"{one.name} holds no clusters.\nHint: give labels.csv or a model."
            raise LinkwiseError(msg)
    labels = new.labels[match_samples(old.ids, new.ids, old.name, new.name)]
    renamed = match_labels(labels, old.labels)
    moved = np.flatnonzero(renamed != old.labels)
    sizes = [len(np.unique(old.labels)), len(np.unique(labels))]
    agreement = metrics.adjusted_rand(old.labels, labels)
    told = {
        "samples": len(labels),
        "clusters": sizes,
        "adjusted_rand": agreement,
        "nmi": metrics.nmi(old.labels, labels),
        "moved": [
            {"sample": old.ids[i].item(), "from": int(old.labels[i]), "to": int(renamed[i])} for i in moved.tolist()
        ],
    }
    head = f"{many(len(labels), 'sample')} in {sizes[0]:,} and {many(sizes[1], 'cluster')}"
    lines = [
        f"{head}; adjusted Rand index {agreement:.4f}.",
        f"{many(len(moved), 'sample')} moved" + (":" if len(moved) and shown else "."),
    ]
    lines += [f"  {old.ids[i]}: {old.labels[i]} -> {renamed[i]}" for i in moved[:shown].tolist()]
    lines += [f"  ... and {len(moved) - shown:,} more"] if shown and len(moved) > shown else []
    answer(told, "\n".join(lines))


@verb(short_help="Put new rows into the clusters of a model.")
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("data", metavar="[DATA]", default="-", type=click.Path(allow_dash=True))
@click.option("--id", "id_column", metavar="COLUMN", help="Column that names the rows; by default that of the model.")
@click.option("-o", "--output", metavar="FILE", default="-", type=click.Path(allow_dash=True), help="Where labels go.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def assign(model: str, data: str, id_column: str | None, output: str, force: bool) -> None:
    """Read new rows from DATA (default: standard input) and find the cluster of MODEL each belongs to.

    MODEL is a file .lwm, or a folder that `linkwise cluster` wrote. Rows are prepared as those of the model were: same
    columns, same scale, same words. Writes sample,cluster as CSV (to standard output by default), .tsv or .parquet.
    """
    from pathlib import Path

    from linkwise.exceptions import LinkwiseError
    from linkwise.io import labels_csv, load, read_data, write_labels

    place, ending = Path(model), Path(output).suffix.lower()
    if output != "-":
        if ending not in (".csv", ".tsv", ".parquet", ".pq") and not Path(output).is_dir():
            msg = f"-o {output} ends in {ending!r}, expected .csv, .tsv or .parquet."
            raise click.UsageError(msg)
        refuse_existing(output, force=force, inputs=[model, data])
    fitted, prepared = load(place / "model.lwm" if place.is_dir() else place, with_data=True)
    engine = getattr(fitted, "estimator", fitted)
    if not hasattr(engine, "predict"):
        msg = f"{model} is a {type(engine).__name__}, which places no new samples.\nHint: cluster all of them together."
        raise LinkwiseError(msg)
    table = read_data(data, id=id_column) if prepared is None else read_data(data, id=id_column, like=prepared)
    labels = engine.predict(table.X)
    if output != "-":
        write_labels(output, labels, table.ids)
    elif not speaks_json():
        show(labels_csv(table.ids, labels), nl=False)
    told = [{"sample": name, "cluster": label} for name, label in zip(table.ids.tolist(), labels.tolist(), strict=True)]
    answer({"assigned": told, "written": None if output == "-" else output})


ENDINGS = (".html", ".md", ".json")


@verb(short_help="Write a report of a result: a page, Markdown or JSON.")
@click.argument("result", metavar="RESULT", type=click.Path())
@click.option("-o", "--output", metavar="FILE", required=True, type=click.Path(), help="Ends in .html, .md or .json.")
@click.option(
    "--before", metavar="RESULT", type=click.Path(), help="The result without constraints, to report the changes."
)
@click.option("--title", help="Heading of the report.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@click.option("--quiet", is_flag=True, help="Print nothing unless something is wrong.")
def report(result: str, output: str, before: str | None, title: str | None, force: bool, quiet: bool) -> None:
    """Write a report of RESULT, a model (.lwm) or a folder that `linkwise cluster` wrote, to FILE."""
    from linkwise.cli._saved_result import open_result
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
            title=title or f"{Path(result).stem}: clusters and constraints",
        )
    answer({"written": output}, visible(output), quiet=quiet)
