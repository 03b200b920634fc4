"""The verb ``refine``: a known hierarchy of classes, with all samples of a result on it and new branches named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise._messages import many, more_lines
from linkwise.cli._options import Whole, force_option, one_standard_input, refuse_existing, require_ending
from linkwise.cli._saved_result import open_result
from linkwise.cli._verb import answer, show, speaks_json, verb
from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from linkwise.sources import Refinement

_TOP = "all"  # not written
_SHOWN = 30  # classes and branches that a terminal lists


@verb(short_help="Put all samples of a tree onto a known hierarchy, and name new branches.")
@click.argument("result", metavar="RESULT", type=click.Path())
@click.argument("known", metavar="PATHS", type=click.Path(allow_dash=True))
@click.option("--column", metavar="COLUMN", default="path", show_default=True, help="Column of PATHS with the paths.")
@click.option(
    "--id", "id_column", metavar="COLUMN", help="Column of PATHS that names the samples; default: sample or id."
)
@click.option("--min-size", type=Whole(1), default=2, show_default=True, help="Fewest samples of a new branch.")
@click.option("--terms", type=Whole(1), default=3, show_default=True, help="Most words in the name of a new branch.")
@click.option(
    "--chance",
    type=click.FloatRange(min=0),
    default=0.05,
    show_default=True,
    help="A part of a class is a new branch beside it if it would lack known samples at most this often by chance.",
)
@click.option("-o", "--output", metavar="FILE", default="-", type=click.Path(allow_dash=True), help="Where paths go.")
@force_option
def refine(
    result: str,
    known: str,
    column: str,
    id_column: str | None,
    min_size: int,
    terms: int,
    chance: float,
    output: str,
    force: bool,
) -> None:
    """Put the samples of RESULT onto the classes of PATHS, and propose named branches for what belongs to none.

    RESULT is a folder that `linkwise cluster` wrote, best with --method biihac and PATHS as constraints, a model or a
    tree. PATHS has rows sample,path, as in Animal/Mammal/Cat; samples without a path, or not in it, are not known.
    Known samples keep their paths. Writes sample,path,how as CSV: how is known, placed, new, or nowhere for a sample
    that belongs to no class and no branch.
    """
    from linkwise._files import visible, write_whole
    from linkwise.io import csv_line
    from linkwise.sources import refine as refined

    one_standard_input([result, known])
    if output != "-":
        require_ending(output, (".csv",))
        refuse_existing(output, force=force, inputs=[result, known])
    found = open_result(result)
    taxonomy = _read_paths(found, known, column, id_column)
    table = found.table
    made = refined(
        found.tree,
        taxonomy,
        None if table is None else table.values,
        names=None if table is None else table.columns,
        min_size=min_size,
        n_terms=terms,
        chance=chance,
    )
    rows = _rows(made, taxonomy, found.ids)
    text = "".join(csv_line(*row) for row in (("sample", "path", "how"), *rows))
    if output != "-":
        write_whole(Path(output), text.encode())
    elif not speaks_json():
        show(text, nl=False)
    counts = {how: sum(row[2] == how for row in rows) for how in ("known", "placed", "new", "nowhere")}
    told: dict[str, Any] = {
        "samples": counts,
        "classes": [
            {"path": path, "f": None if made.found_at[v] < 0 else float(made.f[v]), "node": int(made.found_at[v])}
            for v, path in _class_paths(taxonomy).items()
        ],
        "new": [list(words) for words in made.terms],
        "written": None if output == "-" else output,
    }
    if output == "-":
        answer(told)
        return
    head = (
        f"{counts['known']:,} of {many(len(rows), 'sample')} known, {counts['placed']:,} placed on known classes, "
        f"{counts['new']:,} on {many(made.n_new, 'new branch')}, {counts['nowhere']:,} nowhere."
    )
    new = Counter(path for _, path, how in rows if how == "new")
    branches = [f"  {path}: {count:,}" for path, count in new.items()]
    lines = [head, "F of each known class and its place in the tree, on known samples:"]
    classes = [
        f"  {one['path']}: " + ("no place" if one["f"] is None else f"{one['f']:.3f}") for one in told["classes"]
    ]
    lines += classes[:_SHOWN] + more_lines(_SHOWN, len(classes))
    if made.n_new:
        lines += ["New branches, with their samples:", *branches[:_SHOWN], *more_lines(_SHOWN, len(branches))]
    answer(told, "\n".join(visible(line) for line in lines))


def _read_paths(found: Any, known: str, column: str, id_column: str | None) -> Any:
    """Read the hierarchy, with the samples of a result on it in their order."""
    from linkwise.io import read_labels
    from linkwise.sources import Taxonomy

    ids, words = read_labels(known, column, id=id_column)
    at = {str(name): row for row, name in enumerate(found.ids.tolist())}
    strange = [str(name) for name in ids.tolist() if str(name) not in at]
    if strange:
        be = "is" if len(strange) == 1 else "are"
        msg = (
            f"{known}: {many(len(strange), 'sample')} of it {be} not in {found.name}, such as {strange[0][:60]!r}.\n"
            "Hint: name the column that holds the names with --id."
        )
        raise LinkwiseError(msg)
    paths: list[str | None] = [None] * len(at)
    for name, word in zip(ids.tolist(), words.tolist(), strict=True):
        if word.strip():
            paths[at[str(name)]] = word
    if all(path is None for path in paths):
        msg = f"{known}: the column {column!r} is empty, expected a path such as Animal/Mammal/Cat for some samples."
        raise LinkwiseError(msg)
    told = [path for path in paths if path is not None]
    sep = "/" if any("/" in path for path in told) else ">" if any(">" in path for path in told) else "/"
    # one root above all classes, so that branches may be new at the top as well
    return Taxonomy.from_paths(
        [None if path is None else "/".join([_TOP, *(part.strip() for part in path.split(sep))]) for path in paths]
    )


def _rows(made: Refinement, taxonomy: Any, ids: Any) -> list[tuple[str, str, str]]:
    """Return the name, the path and the state of each sample."""
    n_known = len(taxonomy.parent)
    rows = []
    for name, path, before, after in zip(
        ids.tolist(), made.paths(), taxonomy.node.tolist(), made.taxonomy.node.tolist(), strict=True
    ):
        below = "/".join((path or "").split("/")[1:])
        how = "known" if before >= 0 else "new" if after >= n_known else "placed" if below else "nowhere"
        rows.append((str(name), below, how))
    return rows


def _class_paths(taxonomy: Any) -> dict[int, str]:
    """Write the path of each known class, without the root above all."""
    written: dict[int, str] = {}
    for v in sorted(range(len(taxonomy.parent)), key=lambda v: int(taxonomy.depth[v])):
        above = int(taxonomy.parent[v])
        if above >= 0:
            written[v] = f"{written[above]}/{taxonomy.node_name(v)}" if above in written else taxonomy.node_name(v)
    return {v: written[v] for v in sorted(written)}
