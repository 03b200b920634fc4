"""The verbs that write statements or trees to a file: ``repair``, ``select`` and ``convert``."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise._files import visible
from linkwise._messages import many, more_lines
from linkwise.cli._check_verb import about, as_dict
from linkwise.cli._options import (
    CLUSTERS,
    Whole,
    explained,
    force_option,
    knowledge_options,
    quiet_option,
    read_said,
    refuse_existing,
    require_ending,
    statements_argument,
)
from linkwise.cli._saved_result import open_result
from linkwise.cli._verb import CONFLICT, answer, on_screen, speaks_json, verb
from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from linkwise.constraints import Entry
    from linkwise.io import Knowledge

STATEMENTS = (".csv", ".tsv", ".jsonl")
JSON_LINES = (".ndjson",)  # another ending of .jsonl
TREES = (".nwk", ".newick", ".tree", ".tre", ".json", ".npy", ".parquet", ".pq")


@verb(short_help="Drop statements until the rest holds together.")
@statements_argument
@knowledge_options
@click.option("--auto", is_flag=True, help="Drop the cheapest set that is found: few statements, or light ones.")
@click.option(
    "--drop",
    multiple=True,
    metavar="LINE",
    help="Drop the statement in this line (FILE:LINE for several files, FILE:LINE:SAMPLE for one member of a group).",
)
@click.option("--ask", "asking", is_flag=True, help="Show one conflict after another and ask which statement to drop.")
@click.option("-k", "--clusters", type=CLUSTERS, metavar="N", help="The rest has to hold in exactly N clusters.")
@click.option("--keep-hard", is_flag=True, help="With --auto: never drop a statement without a weight.")
@click.option("-o", "--output", metavar="FILE", required=True, type=click.Path(), help="Where the rest goes.")
@force_option
@quiet_option
def repair(
    constraints: tuple[str, ...],
    data_path: str | None,
    id_column: str | None,
    form: str | None,
    auto: bool,
    drop: tuple[str, ...],
    asking: bool,
    clusters: int | None,
    keep_hard: bool,
    output: str,
    force: bool,
    quiet: bool,
) -> int:
    """Drop statements so that all others hold together, list those dropped, and write the rest to FILE.

    It drops whole entries of the files: a statement, a row of a file of groups or labels, or a member of a group. The
    rest of a group stays. Choose one way: --auto finds the fewest, --drop names lines as `linkwise explain` shows them,
    --ask lets you choose. FILE ends in .csv, .tsv or .jsonl. The files that are read stay as they are.

    Exits with 0 when FILE was written, 3 when the rest would still be contradictory; then nothing is written.
    """
    from linkwise.problem import check

    if auto + bool(drop) + asking != 1:
        msg = "choose how to repair: one of --auto, --drop LINE and --ask.\nHint: `linkwise explain` shows the lines."
        raise click.UsageError(msg)
    if keep_hard and not auto:
        msg = "--keep-hard belongs to --auto."
        raise click.UsageError(msg)
    require_statement_file(output, force=force, inputs=constraints)
    statements, _ = read_said(constraints, data_path, id_column, form)
    said = statements.constraints
    if auto:
        with explained(statements):
            gone, lines, sentence = _automatic(statements, keep_hard, clusters)
    else:
        gone = _asked(statements, clusters) if asking else _named(statements, drop)
        lines = [statements.word(entry) for entry in gone]
        n = len(said.entries())
        sentence = dropped_words(len(gone), n, "entries" if n != said.n_statements else "statements")
    left = said.without(gone)
    kept = dataclasses.replace(statements, constraints=left)
    told: dict[str, Any] = {"status": "feasible", "dropped": [as_dict(statements, entry) for entry in gone]}
    if not auto or said.rules:  # a repair leaves statements that hold together; it does not judge rules
        verdict = check(left, n_clusters=clusters)
        told["status"] = verdict.status
        if verdict.status == "infeasible" and verdict.explanation is not None:
            told |= {"written": None}
            why = kept.explain(verdict.explanation)
            answer(told, f"{about(kept)} still cannot all hold; nothing was written.\n{why}")
            return CONFLICT
    written = write_rest(output, kept)
    answer(told | written, "\n".join([sentence, *(f"  {line}" for line in lines), rest_words(written)]), quiet=quiet)
    return 0


def require_statement_file(output: str, *, force: bool, inputs: Sequence[str]) -> None:
    """Refuse a file for statements that has another ending, that is an input, or that exists, without --force."""
    require_ending(output, STATEMENTS, also=JSON_LINES)
    refuse_existing(output, force=force, inputs=inputs)


def dropped_words(n_dropped: int, n: int, what: str = "statements") -> str:
    """Word how many of all were dropped."""
    return f"{n_dropped:,} of {n:,} {what} dropped."


def write_rest(output: str, kept: Knowledge) -> dict[str, Any]:
    """Write the statements that are left, and return their number and the file for JSON."""
    from linkwise.io import write_knowledge

    write_knowledge(output, kept)
    return {"kept": kept.constraints.n_statements, "written": output}


def rest_words(written: dict[str, Any]) -> str:
    """Word the outcome of `write_rest`."""
    return f"{visible(written['written'])}: {many(written['kept'], 'statement')}."


def _automatic(statements: Knowledge, keep_hard: bool, clusters: int | None) -> tuple[list[Entry], list[str], str]:
    """The entries to drop, in words too: all members of a group that goes as a whole are one line."""
    from linkwise.problem import repair as find_repair

    found = find_repair(statements.constraints, n_clusters=clusters, keep="hard" if keep_hard else "most")
    lines = []
    for group in found.by_statement():
        whole = f"{statements.word(group[0].statement)}, {len(group):,} members"
        lines.append(statements.word(group[0]) if len(group) == 1 else whole)
    return list(found.entries), lines, str(found).split("\n", 1)[0]


def _named(statements: Knowledge, drop: tuple[str, ...]) -> list[Entry]:
    """The entries in the lines named."""
    gone: list[Entry] = []
    for given in drop:
        file, line, sample = _place(statements, given)
        found = statements.entries_at(file, line, sample)
        if not found:
            what = (
                f"nothing in that line names {sample!r}" if sample is not None else "there is no statement in that line"
            )
            msg = f"--drop {given}: {what}.\nHint: lines are counted from 1; `linkwise explain` shows them."
            raise click.UsageError(msg)
        gone += [entry for entry in found if entry not in gone]
    return gone


def _place(statements: Knowledge, given: str) -> tuple[str, int, str | None]:
    """Read LINE, FILE:LINE, LINE:SAMPLE or FILE:LINE:SAMPLE; a file that was given is taken for one."""
    files = statements.files
    file = next((name for name in sorted(files, key=len, reverse=True) if given.startswith(f"{name}:")), None)
    number, colon, sample = (given if file is None else given[len(file) + 1 :]).partition(":")
    if not number.isascii() or not number.isdecimal():
        msg = f"--drop {given}: expected the number of a line, such as 4" + (
            f", or {files[0]}:4." if len(files) > 1 else "."
        )
        raise click.UsageError(msg)
    if file is None and len(files) > 1:
        msg = f"--drop {given}: there are several files.\nHint: --drop {files[0]}:{given}"
        raise click.UsageError(msg)
    return file or files[0], int(number), sample if colon else None


def _asked(statements: Knowledge, clusters: int | None) -> list[Entry]:
    """Go through the conflicts; a number drops the entries it names, q ends."""
    from linkwise.constraints import entry_key
    from linkwise.problem import check

    said, gone = statements.constraints, list[Any]()
    known = {entry_key(said, entry): entry for entry in said.entries()}
    while True:
        left = dataclasses.replace(statements, constraints=said.without(gone))
        verdict = check(left.constraints, n_clusters=clusters)
        if verdict.explanation is None:
            return gone
        choices = list(verdict.explanation.repairs) or [(entry,) for entry in verdict.explanation.entries]
        _show(left.explain(verdict.explanation))
        for number, group in enumerate(choices, start=1):
            _show(f"  [{number}] drop {' and '.join(left.word(entry) for entry in group)}")
        chosen = choices[_choose(len(choices)) - 1]
        gone += [known[entry_key(left.constraints, entry)] for entry in chosen]


def _choose(count: int) -> int:
    while True:
        _show(f"Which one? [1-{count}, q to give up]")
        line = "" if sys.stdin is None or sys.stdin.closed else sys.stdin.readline()
        if not line or line.strip().lower() in ("q", "quit"):
            raise click.Abort
        text = line.strip()
        if text.isascii() and text.isdecimal() and 1 <= int(text) <= count:
            return int(text)


def _show(text: str) -> None:
    click.echo(on_screen(text), err=speaks_json())


@verb(short_help="Choose the few statements that imply most others.")
@statements_argument
@knowledge_options
@click.option("-m", "--most", type=Whole(1), required=True, metavar="M", help="How many to choose.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Where they go: .csv, .tsv or .jsonl.")
@click.option("--seed", type=Whole(0), default=0, show_default=True, help="Seed of random choices.")
@force_option
@quiet_option
def select(
    constraints: tuple[str, ...],
    data_path: str | None,
    id_column: str | None,
    form: str | None,
    most: int,
    output: str | None,
    seed: int,
    force: bool,
    quiet: bool,
) -> None:
    """Choose the M statements of a file, or of a taxonomy, that together imply most.

    Pairs are judged by how many pairs they decide, triplets by how many triplets they imply.
    """
    from linkwise.io import write_knowledge
    from linkwise.problem import informative

    if output is not None:
        require_ending(output, STATEMENTS)
        refuse_existing(output, force=force, inputs=constraints)
    statements, _ = read_said(constraints, data_path, id_column, form)
    with explained(statements):
        best = informative(statements.constraints, most, random_state=seed)
    if output is not None:
        write_knowledge(output, dataclasses.replace(statements, constraints=best.kept))
    chosen = best.statements.tolist()
    lines = [str(best).split("\n", 1)[0]]
    lines += [f"  {statements.word(s)}: {gain:,.0f}" for s, gain in zip(chosen[:20], best.gain[:20], strict=True)]
    lines += more_lines(20, len(chosen))
    told = {
        "chosen": [as_dict(statements, s) for s in chosen],
        "gain": best.gain,
        "implied": best.implied,
        "total": best.total,
        "bound": best.bound,
        "exact": best.exact,
        "written": output,
    }
    answer(told, "\n".join(lines + ([visible(output)] if output else [])), quiet=quiet)


@verb(short_help="Turn files of constraints or trees into another form.")
@click.argument("source", metavar="FROM", type=click.Path(allow_dash=True))
@click.argument("target", metavar="TO", type=click.Path())
@knowledge_options
@force_option
@quiet_option
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
    .csv, .tsv or .jsonl. A tree (Newick, .json, a linkage matrix .npy, a model) becomes .nwk, .json,
    .parquet or .npy; .nwk and .npy hold one tree, so that several are joined above every merge, the others keep them
    apart.
    """
    from linkwise.io import read_tree, write_knowledge, write_tree

    ending = Path(target).suffix.lower()
    if ending not in (*STATEMENTS, *JSON_LINES, *TREES):
        forms = ".csv, .tsv or .jsonl for statements, .nwk, .json, .parquet or .npy for a tree"
        msg = f"{target} ends in {ending!r}, expected {forms}."
        raise click.UsageError(msg)
    refuse_existing(target, force=force, inputs=[source])
    if ending not in TREES:
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
    joined = not tree.is_tree and ending not in (".json", ".parquet", ".pq")
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
    from linkwise.io import read_text

    text = read_text("-")
    try:
        is_json = text.lstrip().startswith("{")
        return Dendrogram.from_json(text) if is_json else Dendrogram.from_newick(text, forest=True)
    except (ValueError, KeyError, TypeError) as bad:
        msg = f"standard input is not a tree that can be read: {str(bad) or type(bad).__name__}"
        raise LinkwiseError(msg) from bad
