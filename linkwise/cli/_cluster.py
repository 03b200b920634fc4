"""``linkwise cluster``: samples and statements in; labels, tree, model, picture and report out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from linkwise.cli._options import Amount, one_standard_input, read_statements, read_table, table_options
from linkwise.cli._size import LEAN, Distances, require_room
from linkwise.cli._verb import answer, speaks_json, verb

if TYPE_CHECKING:
    from linkwise.io import Knowledge, Table

__all__ = ["cluster"]


class Clusters(click.ParamType):  # type: ignore[type-arg]
    """A number from 1, or the word auto."""

    name = "INTEGER|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Read what was typed."""
        return "auto" if value == "auto" else int(click.IntRange(min=1).convert(value, param, ctx))


class Cut(NamedTuple):
    """Where the tree of a linkage is cut: into so many clusters, or at a height."""

    clusters: int | None
    height: float | None
    linkage: str


LINKAGES = ("average", "complete", "single", "ward", "weighted", "centroid", "median")
MOST_ASKED, N_QUESTIONS = 5_000, 5  # samples up to which the next questions are looked for, and how many


@verb(short_help="Cluster a table, obeying files of statements.")
@click.argument("data", metavar="DATA", type=click.Path(allow_dash=True))
@table_options
@click.option(
    "-c",
    "--constraints",
    multiple=True,
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="Knowledge; may be repeated.",
)
@click.option(
    "-k",
    "--clusters",
    type=Clusters(),
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
    help="Default: average; for recon centroid. With -k auto: what predicts held-out statements best.",
)
@click.option(
    "--method",
    type=click.Choice(("auto", "agglomerative", "recon")),
    default="auto",
    show_default=True,
    help="agglomerative: must- and cannot-links; recon: triplets too. auto: recon if there are triplets.",
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

    Writes labels.csv, tree.nwk, model.lwm (for `linkwise assign`), report.html and, with matplotlib, dendrogram.png;
    either all of them or none.
    """
    from linkwise.cli._show import can_draw, draw_tree, working
    from linkwise.io import Folder, labels_csv, save, write_tree
    from linkwise.report import write_report

    if clusters is not None and height is not None:
        msg = "-k and --height both say where to cut the tree.\nHint: give one of them."
        raise click.UsageError(msg)
    clusters = 2 if clusters is None and height is None else clusters
    one_standard_input([data, *constraints])
    silent = quiet or speaks_json()
    names = ["labels.csv", "tree.nwk", "model.lwm", "report.html"] + (["dendrogram.png"] if can_draw() else [])
    folder = Folder(output, names, force=force, inputs=[data, *constraints])
    table = read_table(data, options)
    if isinstance(clusters, int) and clusters > len(table):
        msg = f"-k {clusters}: {data} has only {len(table)} rows."
        raise click.UsageError(msg)
    statements = read_statements(constraints, table) if constraints else None
    said = None if statements is None else statements.constraints
    method = _method(method, statements)
    if _sparse(table):
        _require_texts(data, table, linkage)
    usual = "centroid" if method == "recon" and not _sparse(table) else "average"
    sizes = Distances(len(table), linkage or usual, method, sparse=_sparse(table), said=bool(said))
    require_room(sizes, quiet=silent)
    reasons: tuple[str, ...] = () if height is None else (f"the tree is cut at height {height:g}.",)
    if isinstance(clusters, str):
        with working("comparing numbers of clusters", quiet=silent):
            clusters, linkage, reasons = _decide(table, statements, method, linkage)
    cut = Cut(clusters, height, linkage or usual)
    with working("clustering", quiet=silent):
        model = _fit(table, statements, method, cut)
        plain = _fit(table, None, method, cut) if statements is not None else None
    _warn_of_nothing_new(plain, said)
    heading = title or f"{'samples' if data == '-' else Path(data).stem} in {model.n_clusters_} clusters"
    with folder, working("writing", quiet=silent):
        folder.write("labels.csv", labels_csv(table.ids, model.labels_))
        write_tree(folder.path("tree.nwk"), model.dendrogram_, ids=table.ids if table.has_names else None)
        save(model, folder.path("model.lwm"), data=table)
        write_report(
            folder.path("report.html"),
            model,
            X=table.X,
            features=table.columns,
            constraints=said,
            ids=table.ids,
            before=plain,
            questions=_questions(table, statements),
            title=heading,
            reasons=reasons,
            recipe=_recipe(data, constraints, options, method, cut, table),
        )
        if can_draw():
            draw_tree(folder.path("dendrogram.png"), model, constraints=said, ids=table.ids, title=heading)
    _tell(model, said, folder.folder, names, reasons, quiet=quiet)


def _sparse(table: Table) -> bool:
    return hasattr(table.X, "tocsr")


def _require_texts(data: str, table: Table, linkage: str | None) -> None:
    """Refuse what texts, which are compared by the angle between them, cannot be asked for."""
    import numpy as np

    from linkwise.exceptions import LinkwiseError

    if linkage in LEAN:
        msg = f"--linkage {linkage} needs columns of numbers, but texts are compared.\nHint: --linkage average"
        raise click.UsageError(msg)
    silent = np.flatnonzero(np.diff(table.X.tocsr().indptr) == 0)
    if len(silent):
        shown = ", ".join(repr(str(one)[:40]) for one in table.ids[silent[:5]].tolist())
        more = f" and {len(silent) - 5:,} more" if len(silent) > 5 else ""
        msg = (
            f"{data}: {len(silent):,} of {len(table):,} samples have no word to be compared by: {shown}{more}.\n"
            "Hint: leave these rows out, or compare by further columns."
        )
        raise LinkwiseError(msg)


def _method(method: str, statements: Knowledge | None) -> str:
    """Which method: what was asked for, else what understands all that was said."""
    from linkwise import Kind

    if method != "auto":
        return method
    triplets = statements is not None and (statements.constraints.kind == Kind.TRIPLET).any()
    return "recon" if triplets else "agglomerative"


def _decide(
    table: Table, statements: Knowledge | None, method: str, linkage: str | None
) -> tuple[int, str, tuple[str, ...]]:
    """Number of clusters and linkage when neither is given, and why."""
    from linkwise import ConstrainedAgglomerative, Constraints, ReCon
    from linkwise.choosing._steps import decide_cut

    compare = "cosine" if _sparse(table) else "euclidean"
    estimator = (ReCon if method == "recon" else ConstrainedAgglomerative)(metric=compare)
    usual = ("centroid", "average") if method == "recon" else ("average", "ward", "complete")
    if compare == "cosine":
        usual = ("average", "complete")
    known = Constraints.build(len(table)) if statements is None else statements.constraints
    with explained(statements):
        return decide_cut(estimator, (linkage,) if linkage else usual, table.X, known)


def _fit(table: Table, statements: Knowledge | None, method: str, cut: Cut) -> Any:
    from linkwise import ConstrainedAgglomerative, ReCon

    kind = ReCon if method == "recon" else ConstrainedAgglomerative
    model = kind(
        n_clusters=cut.clusters,
        distance_threshold=cut.height,
        linkage=cut.linkage,
        metric="cosine" if _sparse(table) else "euclidean",
    )
    with explained(statements):
        return model.fit(table.X, constraints=None if statements is None else statements.constraints)


def _warn_of_nothing_new(plain: Any, said: Any) -> None:
    """Say so when the result without the statements obeys all of them."""
    import warnings

    from linkwise import verify
    from linkwise.exceptions import LinkwiseWarning

    if not said or said.rules or not verify(plain.dendrogram_, said).held.all():
        return
    n = said.n_statements
    warnings.warn(
        f"{'the statement holds' if n == 1 else f'all {n:,} statements hold'} without being told, so nothing new was "
        "said.\nHint: `linkwise ask` finds questions whose answers are not known yet.",
        LinkwiseWarning,
        stacklevel=2,
    )


@contextmanager
def explained(statements: Knowledge | None) -> Iterator[None]:
    """Tell a contradiction in the words of the file, and what to do about statements a method does not know."""
    from linkwise.exceptions import InfeasibleConstraintsError, UnsupportedConstraintError

    try:
        yield
    except UnsupportedConstraintError as stranger:
        triplets = any("triplet" in kind for kind in stranger.kinds)
        hint = "--method recon" if triplets else "leave them out; `linkwise.cluster` in Python has more methods."
        msg = f"{str(stranger).split(chr(10), 1)[0]}\nHint: {hint}"
        raise UnsupportedConstraintError(msg, stranger.kinds) from stranger
    except InfeasibleConstraintsError as conflict:
        if conflict.explanation is None or statements is None:
            raise
        text = statements.explain(conflict.explanation)
        msg = f"the statements cannot all hold.\n{text}"
        raise InfeasibleConstraintsError(msg, conflict.explanation) from conflict


def _questions(table: Table, statements: Knowledge | None) -> list[Any]:
    """The next few questions, where they are cheap to find and pairs are what is spoken of."""
    from linkwise import Kind
    from linkwise.active import Dialogue

    said = None if statements is None else statements.constraints
    if not 2 <= len(table) <= MOST_ASKED or (said is not None and (said.kind > Kind.CANNOT_LINK).any()):
        return []
    talk, found = Dialogue(table.X, constraints=said), list[Any]()
    while len(found) < N_QUESTIONS and (query := talk.ask()) is not None:
        found.append(query)
        talk.tell(query, None)
    return found


def _tell(model: Any, said: Any, folder: Path, names: list[str], reasons: tuple[str, ...], *, quiet: bool) -> None:
    held = None if said is None else model.certificate_
    lines = [f"{len(model.labels_):,} samples in {model.n_clusters_:,} clusters."]
    lines += [] if held is None else [str(held)]
    lines += [f"  - {reason}" for reason in reasons] + [f"  {folder / name}" for name in names]
    if "dendrogram.png" not in names:
        lines.append("  (no picture: pip install 'linkwise[plot]')")
    told = {
        "samples": len(model.labels_),
        "clusters": model.n_clusters_,
        "statements": 0 if said is None else said.n_statements,
        "certificate": None if held is None else str(held),
        "hard_statements_hold": None if held is None else held.ok,
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
    name = "ReCon" if method == "recon" else "ConstrainedAgglomerative"
    given = {
        "id": options["id_column"],
        "columns": list(options["columns"]),
        "drop": list(options["drop"]),
        "text": list(options["text"]),
        "categories": list(options["categories"]),
        "scale": "standard" if options["standardise"] else options["scale"],
        "impute": options["impute"],
    }
    used = "".join(f", {key}={value!r}" for key, value in given.items() if value)
    lines = ["import linkwise as lw", "", f"table = lw.read_data({data!r}{used})"]
    said = ""
    if constraints:
        lines.append(f"said = lw.read_knowledge({list(constraints)!r}, table)")
        said = ", constraints=said.constraints"
    metric = ", metric='cosine'" if _sparse(table) else ""
    where = f"n_clusters={cut.clusters}" + ("" if cut.height is None else f", distance_threshold={cut.height!r}")
    lines.append(f"model = lw.{name}({where}, linkage={cut.linkage!r}{metric}).fit(table.X{said})")
    words = [shlex.quote(data)]
    for key, value in given.items():
        words += [
            f"--{key} {shlex.quote(one)}" for one in (value if isinstance(value, list) else [value] if value else [])
        ]
    words += [f"-c {shlex.quote(file)}" for file in constraints]
    words.append(f"-k {cut.clusters}" if cut.height is None else f"--height {cut.height!r}")
    words += [f"--method {method}", f"--linkage {cut.linkage}", "-o OUT"]
    return "\n".join([*lines, "model.labels_", "", f"# in a shell: linkwise cluster {' '.join(words)}"])
