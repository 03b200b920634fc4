"""The verbs that read a result: ``why``, ``score``, ``compare``, ``assign``, ``plot`` and ``report``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise._files import visible
from linkwise._messages import many, more_lines
from linkwise.cli._options import (
    Whole,
    constraints_option,
    explained,
    force_option,
    one_standard_input,
    quiet_option,
    refuse_existing,
    require_ending,
)
from linkwise.cli._saved_result import open_result
from linkwise.cli._verb import answer, show, speaks_json, verb
from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from linkwise.io import Knowledge
    from linkwise.problem import Why


_MAX_CONFUSION = 20  # classes or clusters up to which a table fits a terminal


@verb(short_help="Explain why two samples are together or apart.")
@click.argument("result", metavar="RESULT", type=click.Path())
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@constraints_option("Statements to cite by file and line; by default those of the model.")
def why(result: str, first: str, second: str, constraints: tuple[str, ...]) -> None:
    """Explain why samples A and B are together or apart in RESULT: the cause, and the statements that would change it.

    RESULT is a folder that `linkwise cluster` wrote, a model (.lwm), a tree (.nwk) or a file of labels.
    """
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


@verb(short_help="Judge clusters by known classes.")
@click.argument("result", metavar="RESULT", type=click.Path(allow_dash=True))
@click.argument("truth", metavar="TRUTH", type=click.Path(allow_dash=True))
@click.option("--column", metavar="COLUMN", help="Column of TRUTH with the classes; default: cluster, label or class.")
@click.option("--id", "id_column", metavar="COLUMN", help="Column of TRUTH that names the samples; default: by row.")
@constraints_option("Statements: pairs that they decide do not count in the constrained Rand index.")
def score(result: str, truth: str, column: str | None, id_column: str | None, constraints: tuple[str, ...]) -> None:
    """Compare the clusters of RESULT (labels.csv, a model or a folder) with the classes in a column of TRUTH.

    Samples are found by name where both have names, else by row. Where the class is empty a sample does not count.
    """
    import numpy as np

    from linkwise import metrics
    from linkwise.io import read_knowledge

    one_standard_input([result, truth])
    found = _with_labels(result)
    classes = _read_truth(found, truth, column, id_column)
    known = np.array([word is not None for word in classes.tolist()])
    codes = np.full(len(classes), -1, dtype=np.intp)
    codes[known] = np.unique(classes[known].astype(str), return_inverse=True)[1]
    pairs = metrics.pairwise_scores(codes, found.labels)
    told: dict[str, Any] = {
        "samples": int(known.sum()),
        "adjusted_rand": metrics.adjusted_rand(codes, found.labels),
        "nmi": metrics.nmi(codes, found.labels),
        "pairwise_precision": pairs.precision,
        "pairwise_recall": pairs.recall,
        "pairwise_f": pairs.f,
        "purity": metrics.purity(codes, found.labels),
    }
    said = read_knowledge(list(constraints), found.ids).constraints if constraints else found.constraints
    if said is not None and said.n_statements:
        told["constrained_rand"] = metrics.constrained_rand(codes, found.labels, said)
    lines = [f"{many(told['samples'], 'sample')} judged."]
    lines += [f"  {key.replace('_', ' '):<20} {value:.4f}" for key, value in told.items() if key != "samples"]
    table = metrics.confusion_matrix(classes, found.labels, unlabeled=None)
    told["confusion"] = {
        "classes": table.classes.tolist(),
        "clusters": table.clusters.tolist(),
        "counts": table.matrix.tolist(),
        "accuracy": table.accuracy,
    }
    if max(table.matrix.shape) <= _MAX_CONFUSION:
        lines += [f"Classes by clusters, matched: {table.accuracy:.4f} of the samples are on the diagonal."]
        lines += [f"  {visible(line)}" for line in str(table).splitlines()]
    answer(told, "\n".join(lines))


def _read_truth(found: Any, truth: str, column: str | None, id_column: str | None) -> Any:
    """Read the class of each sample of a result from a column of a table; None where it is empty."""
    import numpy as np

    from linkwise.io import read_labels

    ids, classes = read_labels(truth, column, id=id_column)
    rows = _match_samples(found.ids, ids, found.name, truth)
    words = [str(word) if word != "" else None for word in classes[rows].tolist()]
    if all(word is None for word in words):
        msg = f"{truth}: the column of classes is empty."
        raise LinkwiseError(msg)
    return np.array(words, dtype=object)


def _with_labels(path: str) -> Any:
    """Read a result that has clusters."""
    found = open_result(path)
    if found.labels is None:
        msg = f"{found.name} holds no clusters.\nHint: give labels.csv or a model."
        raise LinkwiseError(msg)
    return found


def _match_samples(ids: Any, others: Any, name: str, other: str) -> Any:
    """Where each sample stands in the other table: by name where both have names, else by row."""
    import numpy as np

    mine, theirs = [str(one) for one in ids.tolist()], [str(one) for one in others.tolist()]
    at = {one: row for row, one in enumerate(theirs)}
    missing = [one for one in mine if one not in at]
    if not missing:
        return np.array([at[one] for one in mine], dtype=np.intp)
    by_row = others.dtype.kind in "iu" or ids.dtype.kind in "iu"
    if by_row and len(mine) == len(theirs):
        return np.arange(len(mine))
    hint = "\nHint: name the column that holds the names with --id." if by_row else ""
    msg = f"{len(missing):,} of {len(mine):,} samples of {name} are not in {other}, such as {missing[0][:60]!r}.{hint}"
    raise LinkwiseError(msg)


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
    from linkwise.plots import match_labels

    one_standard_input([first, second])
    old, new = _with_labels(first), _with_labels(second)
    labels = new.labels[_match_samples(old.ids, new.ids, old.name, new.name)]
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
    lines += more_lines(shown, len(moved)) if shown else []
    answer(told, "\n".join(lines))


@verb(short_help="Put new rows into the clusters of a model.")
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("data", metavar="[DATA]", default="-", type=click.Path(allow_dash=True))
@click.option("--id", "id_column", metavar="COLUMN", help="Column that names the rows; by default that of the model.")
@click.option("-o", "--output", metavar="FILE", default="-", type=click.Path(allow_dash=True), help="Where labels go.")
@force_option
def assign(model: str, data: str, id_column: str | None, output: str, force: bool) -> None:
    """Read new rows from DATA (default: standard input) and find the cluster of MODEL each belongs to.

    MODEL is a file .lwm, or a folder that `linkwise cluster` wrote. Rows are prepared as those of the model were: same
    columns, same scale, same words. Writes sample,cluster as CSV (to standard output by default), .tsv or .parquet.
    """
    from linkwise.io import label_lines, load, read_data, write_labels

    place = Path(model)
    if output != "-":
        if not Path(output).is_dir():
            require_ending(output, (".csv", ".tsv", ".parquet"), also=(".pq",))
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
        for lines in label_lines(table.ids, labels):
            show(lines, nl=False)
    told = []
    if speaks_json():
        pairs = zip(table.ids.tolist(), labels.tolist(), strict=True)
        told = [{"sample": name, "cluster": label} for name, label in pairs]
    answer({"assigned": told, "written": None if output == "-" else output})


@verb(short_help="Draw a result: its tree, its statements, its data.")
@click.argument("result", metavar="RESULT", type=click.Path())
@click.option("-o", "--output", metavar="FILE", required=True, type=click.Path(), help="Ends in .png, .svg or .pdf.")
@click.option("--kind", type=click.Choice(("tree", "links", "heatmap")), default="tree", show_default=True)
@click.option("--max-leaves", type=Whole(1), metavar="N", help="Fold branches until N leaves are drawn.")
@click.option("--title", help="Heading of the picture.")
@force_option
@quiet_option
def plot(
    result: str, output: str, kind: str, max_leaves: int | None, title: str | None, force: bool, quiet: bool
) -> None:
    """Draw RESULT, a model (.lwm) or a folder that `linkwise cluster` wrote, into FILE.

    tree: the dendrogram with its clusters and statements as arcs; links: the samples in the plane and statements as
    lines between them; heatmap: the data in the order of the tree. A tree file (.nwk, .json, .npy) will do for tree.
    """
    from linkwise.cli._drawing import can_draw, draw
    from linkwise.io import Folder
    from linkwise.plots import plot_dendrogram, plot_heatmap, plot_links

    require_ending(output, (".png", ".svg", ".pdf"))
    if max_leaves is not None and kind != "tree":
        msg = "--max-leaves belongs to --kind tree."
        raise click.UsageError(msg)
    if not can_draw():
        msg = "matplotlib is missing.\nHint: pip install 'linkwise[plot]'"
        raise LinkwiseError(msg)
    refuse_existing(output, force=force, inputs=[result])
    found, place = open_result(result), Path(output)
    style = {"labels": found.labels, "ids": found.ids, "title": title}
    if kind == "tree":
        style |= {"constraints": found.constraints, "max_leaves": max_leaves, "names": found.names}
        way: tuple[Any, ...] = (plot_dendrogram, found.tree)
    elif kind == "heatmap":
        style |= {"features": found.need_table().columns}
        way = plot_heatmap, found.need_table().X, found.tree
    else:
        way = plot_links, found.need_table().X, found.constraints
    with Folder(place.parent, [place.name], force=force) as folder:
        draw(folder.path(place.name), *way, **style)
    answer({"written": output, "kind": kind}, visible(output), quiet=quiet)


@verb(short_help="Write a report of a result: a page, Markdown or JSON.")
@click.argument("result", metavar="RESULT", type=click.Path())
@click.option("-o", "--output", metavar="FILE", required=True, type=click.Path(), help="Ends in .html, .md or .json.")
@click.option(
    "--before", metavar="RESULT", type=click.Path(), help="The result without constraints, to report the changes."
)
@click.option("--truth", metavar="TRUTH", type=click.Path(), help="Table with known classes, to compare clusters with.")
@click.option("--column", metavar="COLUMN", help="Column of TRUTH with the classes; default: cluster, label or class.")
@click.option("--id", "id_column", metavar="COLUMN", help="Column of TRUTH that names the samples; default: by row.")
@click.option("--title", help="Heading of the report.")
@force_option
@quiet_option
def report(
    result: str,
    output: str,
    before: str | None,
    truth: str | None,
    column: str | None,
    id_column: str | None,
    title: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Write a report of RESULT, a model (.lwm) or a folder that `linkwise cluster` wrote, to FILE."""
    from linkwise.io import Folder
    from linkwise.report import write_report

    require_ending(output, (".html", ".md", ".json"))
    if truth is None and (column is not None or id_column is not None):
        msg = "--column and --id belong to --truth."
        raise click.UsageError(msg)
    refuse_existing(output, force=force, inputs=[result] if truth is None else [result, truth])
    found = open_result(result)
    classes = None if truth is None else _read_truth(_with_labels(result), truth, column, id_column)
    earlier, place = None if before is None else open_result(before).result, Path(output)
    with Folder(place.parent, [place.name], force=force) as folder:
        write_report(
            folder.path(place.name),
            found.result,
            X=None if found.table is None else found.table.X,
            features=None if found.table is None else found.table.columns,
            values=None if found.table is None else found.table.values,
            texts=() if found.table is None else found.table.texts,
            names=found.names,
            ids=found.ids,
            before=earlier,
            truth=classes,
            title=title or f"{Path(result).stem}: clusters and constraints",
        )
    answer({"written": output}, visible(output), quiet=quiet)
