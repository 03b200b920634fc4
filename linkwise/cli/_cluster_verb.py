"""``linkwise cluster``: samples and statements in; labels, tree, model, picture and report out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise._files import visible
from linkwise._messages import many
from linkwise.cli._fitting import (
    LINKAGES,
    METHODS,
    Cut,
    Distances,
    choose_linkage,
    choose_method,
    decide,
    fit,
    is_sparse,
    require_agreement,
    require_fitting_size,
    require_room,
    require_words,
)
from linkwise.cli._options import (
    Amount,
    Whole,
    constraints_option,
    one_standard_input,
    read_statements,
    read_table,
    table_options,
)
from linkwise.cli._verb import answer, speaks_json, verb

if TYPE_CHECKING:
    from linkwise.io import Knowledge, Table


class NumberOrAuto(click.ParamType):  # type: ignore[type-arg]
    """A number from 1, or the word auto."""

    name = "INTEGER|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Read what was typed."""
        return "auto" if value == "auto" else Whole(1, "a number of clusters", "auto").convert(value, param, ctx)


FILES = ("labels.csv", "tree.nwk", "model.lwm", "report.html", "dendrogram.png", "links.png")
MOST_IN_ONE = 0.8  # share of the samples in one cluster from which another cut is named
MOST_ASKED, N_QUESTIONS = 5_000, 5  # samples up to which the next questions are looked for, and how many


@verb(short_help="Cluster a table, obeying files of statements.")
@click.argument("data", metavar="DATA", type=click.Path(allow_dash=True))
@table_options
@constraints_option("Knowledge.", dash=True)
@click.option(
    "-k",
    "--clusters",
    type=NumberOrAuto(),
    help="Number of clusters, or auto: the number that predicts held-out statements best.  [default: 2]",
)
@click.option(
    "--height",
    type=Amount(min=0),
    metavar="H",
    help="Instead of -k: cut the tree at height H, so that nothing merged above it shares a cluster.",
)
@click.option(
    "--linkage",
    type=click.Choice(LINKAGES),
    help="Default: average, from 20,000 samples on ward; for recon centroid. With -k auto: what predicts held-out "
    "statements best.",
)
@click.option(
    "--method",
    type=click.Choice(("auto", *METHODS)),
    default="auto",
    show_default=True,
    help="agglomerative: must- and cannot-links; recon: triplets too; copkmeans: sizes of clusters too, but no tree. "
    "auto: the first that understands all that was said.",
)
@click.option(
    "--min-cluster-size",
    "min_size",
    type=NumberOrAuto(),
    help="For recon and triplets: branches of fewer samples are outliers, given to the nearest cluster in which no "
    "statement breaks; clusters then need not be branches of the tree. auto: two fifths of an average cluster.  "
    "[default: 1, every cluster is a branch]",
)
@click.option("-o", "--output", metavar="FOLDER", required=True, type=click.Path(), help="Where the results go.")
@click.option("--title", help="Heading of the picture and the report.")
@click.option("--force", is_flag=True, help="Replace results that are there already.")
@click.option("--quiet", is_flag=True, help="Say nothing unless something is wrong.")
def cluster(
    data: str,
    constraints: tuple[str, ...],
    clusters: int | str | None,
    height: float | None,
    linkage: str | None,
    method: str,
    min_size: int | str | None,
    output: str,
    title: str | None,
    force: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Cluster the rows of DATA and obey what the FILEs say about them.

    DATA is CSV or TSV with a header, Parquet, Arrow, .npy or .npz; - is standard input. Knowledge is rows
    kind,a,b,c,weight: must_link and cannot_link name two samples, triplet three (a and b are closer to each other than
    to c); together and apart name any number in a column samples, as in x;y;z. Without a weight a statement is hard: it
    holds in the result, or you are told why not, whether the tree is cut by -k or by --height. Groups, taxonomies and
    the answers of `linkwise ask` are read as well.

    Writes labels.csv, tree.nwk (always one tree), model.lwm (for `linkwise assign`), report.html and, with matplotlib,
    dendrogram.png; either all of them or none. copkmeans makes no tree, so it writes links.png, the samples in the
    plane, instead.
    """
    from linkwise.cli._drawing import can_draw, draw_links, draw_tree, get_ready_to_draw, working
    from linkwise.io import Folder, labels_csv, save, write_tree
    from linkwise.report import write_report
    from linkwise.selection import nearly_all_in_one

    if clusters is not None and height is not None:
        msg = "-k and --height both say where to cut the tree.\nHint: give one of them."
        raise click.UsageError(msg)
    clusters = 2 if clusters is None and height is None else clusters
    one_standard_input([data, *constraints])
    silent = quiet or speaks_json()
    Folder(output, FILES, force=force, inputs=[data, *constraints])  # before anything takes long
    table = read_table(data, options)
    if isinstance(clusters, int) and clusters > len(table):
        msg = f"-k {clusters}: {visible(data)} has only {many(len(table), 'row')}."
        raise click.UsageError(msg)
    statements = read_statements(constraints, table) if constraints else None
    said = None if statements is None else statements.constraints
    method = choose_method(method, statements)
    require_agreement(method, clusters, height, linkage)
    require_fitting_size(min_size, method, clusters, statements)
    if is_sparse(table):
        require_words(data, table, linkage)
    usual, reasons = choose_linkage(table, method, linkage)
    sizes = Distances(len(table), usual, method, sparse=is_sparse(table), said=bool(said))
    require_room(sizes, quiet=silent)
    if height is not None:
        reasons += (f"the tree is cut at height {height:g}.",)
    has_tree = method != "copkmeans"
    left_out = {"links.png"} if has_tree else {"tree.nwk", "dendrogram.png"}
    left_out |= set() if can_draw() else {"dendrogram.png", "links.png"}
    names = [name for name in FILES if name not in left_out]
    folder = Folder(output, names, force=force, inputs=[data, *constraints])
    found_out = isinstance(clusters, str)
    if isinstance(clusters, str):
        with working("comparing numbers of clusters", quiet=silent):
            clusters, linkage, reasons = decide(table, statements, method, linkage)
    cut = Cut(clusters, height, linkage or usual, min_size)
    get_ready_to_draw()
    with working("clustering", quiet=silent):
        model = fit(table, statements, method, cut)
        plain = fit(table, None, method, cut) if statements is not None else None
    _warn_of_nothing_new(plain, said)
    if has_tree:
        reasons += _about_forest(model.dendrogram_)
    reasons += nearly_all_in_one(
        model, model.labels_, dense=method == "agglomerative" and not is_sparse(table), automatic=found_out
    )
    from linkwise.engines.hierarchical import detours

    heading = title or f"{'samples' if data == '-' else Path(data).stem} in {many(model.n_clusters_, 'cluster')}"
    with folder, working("writing", quiet=silent):
        folder.write("labels.csv", labels_csv(table.ids, model.labels_))
        if has_tree:
            write_tree(
                folder.path("tree.nwk"), model.dendrogram_, ids=table.ids if table.has_names else None, join=True
            )
        save(model, folder.path("model.lwm"), data=table)
        write_report(
            folder.path("report.html"),
            model,
            X=table.X,
            features=table.columns,
            values=table.values,
            constraints=said,
            ids=table.ids,
            before=plain,
            questions=_questions(table, statements),
            title=heading,
            reasons=(*reasons, *detours(model)),
            recipe=_recipe(data, constraints, options, method, cut, table),
        )
        if can_draw() and has_tree:
            draw_tree(folder.path("dendrogram.png"), model, constraints=said, ids=table.ids, title=heading)
        elif can_draw():
            draw_links(folder.path("links.png"), table, model.labels_, constraints=said, title=heading)
    for name in left_out:  # with --force, nothing stays that belongs to the result replaced
        (folder.folder / name).unlink(missing_ok=True)
    _tell(model, said, folder.folder, names, (*reasons, *_about_sizes(model, cut, method)), quiet=quiet)


def _about_forest(tree: Any) -> tuple[str, ...]:
    """Say that tree.nwk joins trees that the statements keep apart."""
    if tree.is_tree:
        return ()
    at = tree.joined().height[-1]
    words = (
        f"merging left {tree.n_trees:,} trees; tree.nwk holds them as one, joined at height {at:.4g}, above every "
        "merge, in a node marked linkwise_join."
    )
    return (words,)


def _about_sizes(model: Any, cut: Cut, method: str) -> tuple[str, ...]:
    """Name the other form of the clusters where a reader will want it."""
    import numpy as np

    n, k = len(model.labels_), model.n_clusters_
    if method != "recon" or cut.clusters is None:
        return ()
    if len(model.moved_):
        return ("--min-cluster-size 1 makes every cluster a branch of the tree.",)
    largest = int(np.bincount(model.labels_).max())
    if cut.min_size is None and 2 * n // (5 * k) > 1 and k > 1 and largest > MOST_IN_ONE * n and _only_triplets(model):
        words = (
            f"one cluster holds {largest:,} of {n:,} samples; --min-cluster-size auto takes small branches for "
            "outliers and gives them to the nearest cluster."
        )
        return (words,)
    return ()


def _only_triplets(model: Any) -> bool:
    from linkwise import Kind

    return bool((model.constraints_.kind == Kind.TRIPLET).all())


def _warn_of_nothing_new(plain: Any, said: Any) -> None:
    """Say so when the result without the statements obeys all of them."""
    import warnings

    from linkwise import verify
    from linkwise.exceptions import LinkwiseWarning

    if not said or said.rules or not verify(getattr(plain, "dendrogram_", plain.labels_), said).held.all():
        return
    n = said.n_statements
    warnings.warn(
        f"{'the statement holds' if n == 1 else f'all {n:,} statements hold'} without being told, so nothing new was "
        "said.\nHint: `linkwise ask` finds questions whose answers are not known yet.",
        LinkwiseWarning,
        stacklevel=2,
    )


def _questions(table: Table, statements: Knowledge | None) -> list[Any]:
    """The next few questions, where they are cheap to find and pairs are what is spoken of."""
    from linkwise import Kind

    said = None if statements is None else statements.constraints
    if not 2 <= len(table) <= MOST_ASKED or (said is not None and (said.kind > Kind.CANNOT_LINK).any()):
        return []
    from linkwise.active import Dialogue

    talk, found = Dialogue(table.X, constraints=said), list[Any]()
    while len(found) < N_QUESTIONS and (query := talk.ask()) is not None:
        found.append(query)
        talk.tell(query, None)
    return found


def _tell(model: Any, said: Any, folder: Path, names: list[str], reasons: tuple[str, ...], *, quiet: bool) -> None:
    import numpy as np

    held = None if said is None else model.certificate_
    lines = [f"{many(len(model.labels_), 'sample')} in {many(model.n_clusters_, 'cluster')}."]
    lines += [*model.certificate_.remarks] if held is None else [str(held)]
    lines += [f"  - {reason}" for reason in reasons] + [f"  {visible(folder / name)}" for name in names]
    if not {"dendrogram.png", "links.png"} & set(names):
        lines.append("  (no picture: pip install 'linkwise[plot]')")
    told = {
        "samples": len(model.labels_),
        "clusters": model.n_clusters_,
        "largest_cluster": int(np.bincount(model.labels_[model.labels_ >= 0]).max(initial=0)),
        "statements": 0 if said is None else said.n_statements,
        "certificate": None if held is None else str(held),
        "hard_statements_hold": None if held is None else held.ok,
        "moved": len(getattr(model, "moved_", ())),
        "remarks": model.certificate_.remarks,
        "reasons": reasons,
        "files": {name: str(folder / name) for name in names},
    }
    answer(told, "\n".join(lines), quiet=quiet)


def _recipe(
    data: str,
    constraints: tuple[str, ...],
    options: dict[str, Any],
    method: str,
    cut: Cut,
    table: Table,
) -> str:
    """Python, and a command, that do the same, for the report."""
    name = {"recon": "ReCon", "copkmeans": "COPKMeans"}.get(method, "ConstrainedAgglomerative")
    given = {
        "id": options["id_column"],
        "columns": list(options["columns"]),
        "drop": list(options["drop"]),
        "text": list(options["text"]),
        "categories": list(options["categories"]),
        "scale": "standard" if options["standardize"] else options["scale"],
        "impute": options["impute"],
        "decimal": options["decimal"],
        "missing": list(options["missing"]),
    }
    used = "".join(f", {key}={value!r}" for key, value in given.items() if value)
    lines = ["import linkwise as lw", "", f"table = lw.read_data({data!r}{used})"]
    said = ""
    if constraints:
        lines.append(f"said = lw.read_knowledge({list(constraints)!r}, table)")
        said = ", constraints=said.constraints"
    metric = ", metric='cosine'" if is_sparse(table) else ""
    where = f"n_clusters={cut.clusters}" + ("" if cut.height is None else f", distance_threshold={cut.height!r}")
    how = "random_state=0" if method == "copkmeans" else f"linkage={cut.linkage!r}{metric}"
    how += "" if cut.min_size is None else f", min_cluster_size={cut.min_size!r}"
    lines.append(f"model = lw.{name}({where}, {how}).fit(table.X{said})")
    words = [shlex.quote(data)]
    for key, value in given.items():
        words += [
            f"--{key} {shlex.quote(one)}" for one in (value if isinstance(value, list) else [value] if value else [])
        ]
    words += [f"-c {shlex.quote(file)}" for file in constraints]
    words.append(f"-k {cut.clusters}" if cut.height is None else f"--height {cut.height!r}")
    words += [f"--method {method}", *([] if method == "copkmeans" else [f"--linkage {cut.linkage}"])]
    words += [*([] if cut.min_size is None else [f"--min-cluster-size {cut.min_size}"]), "-o OUT"]
    return "\n".join([*lines, "model.labels_", "", f"# in a shell: linkwise cluster {' '.join(words)}"])
