"""``linkwise convert``: the verb that turns files of constraints and trees into another form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from linkwise._files import visible
from linkwise._messages import many
from linkwise.cli._options import knowledge_options, read_said, refuse_existing
from linkwise.cli._verb import answer, verb

STATEMENTS = (".csv", ".tsv", ".jsonl", ".ndjson")
TREES = (".nwk", ".newick", ".tree", ".tre", ".json", ".npy")


@verb(short_help="Turn files of constraints or trees into another form.")
@click.argument("source", metavar="FROM", type=click.Path(allow_dash=True))
@click.argument("target", metavar="TO", type=click.Path())
@knowledge_options
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@click.option("--quiet", is_flag=True, help="Print nothing unless something is wrong.")
def convert(
    source: str,
    target: str,
    data_path: str | None,
    id_column: str | None,
    form: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Read FROM and write TO; the ending of TO sets the form.

    Constraints of any form (statements, plain lines, groups, taxonomies, answers of `linkwise ask`) become statements:
    .csv, .tsv or .jsonl. A tree (Newick, .json, a linkage matrix .npy, a model) becomes .nwk, .json or .npy;
    .nwk and .npy hold one tree, so that several are joined above every merge, .json keeps them apart.
    """
    from linkwise.cli._saved_result import open_result
    from linkwise.io import read_tree, write_knowledge, write_tree

    ending = Path(target).suffix.lower()
    if ending not in (*STATEMENTS, *TREES):
        forms = ".csv, .tsv or .jsonl for statements, .nwk, .json or .npy for a tree"
        msg = f"{target} ends in {ending!r}, expected {forms}."
        raise click.UsageError(msg)
    refuse_existing(target, force=force, inputs=[source])
    if ending in STATEMENTS:
        statements, _ = read_said([source], data_path, id_column, form)
        write_knowledge(target, statements)
        n = statements.constraints.n_statements
        answer({"written": target, "statements": n}, f"{visible(target)}: {many(n, 'statement')}.", quiet=quiet)
        return
    if data_path is not None or form is not None:
        msg = f"--data and --format are about statements, but {target} is a tree."
        raise click.UsageError(msg)
    model = Path(source).is_dir() or Path(source).suffix.lower() == ".lwm"
    found = open_result(source) if model else None
    tree = _piped_tree() if source == "-" else read_tree(source) if found is None else found.tree
    tree = tree.parted()
    joined = not tree.is_tree and ending != ".json"
    write_tree(target, tree, ids=None if found is None else found.ids, join=joined)
    told = {"written": target, "samples": tree.n_samples, "trees": tree.n_trees, "joined": joined}
    text = f"{visible(target)}: a tree of {many(tree.n_samples, 'sample')}."
    if not tree.is_tree:
        what = "joined above every merge" if joined else "kept apart"
        text = f"{visible(target)}: {tree.n_trees:,} trees of {many(tree.n_samples, 'sample')}, {what}."
    answer(told, text, quiet=quiet)


def _piped_tree() -> Any:
    """Read a tree from standard input, which has no ending: JSON begins with a brace, anything else is Newick."""
    from linkwise import Dendrogram
    from linkwise.exceptions import LinkwiseError
    from linkwise.io import read_text

    text = read_text("-")
    try:
        is_json = text.lstrip().startswith("{")
        return Dendrogram.from_json(text) if is_json else Dendrogram.from_newick(text, forest=True)
    except (ValueError, KeyError, TypeError) as bad:
        msg = f"standard input is not a tree that can be read: {str(bad) or type(bad).__name__}"
        raise LinkwiseError(msg) from bad
