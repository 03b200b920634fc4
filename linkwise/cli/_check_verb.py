"""The verbs that test statements: ``check`` whether they can hold together, ``explain`` every conflict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from linkwise._messages import many
from linkwise.cli._options import (
    CLUSTERS,
    Amount,
    Range,
    agree,
    data_option,
    format_option,
    one_standard_input,
    read_statements,
    read_table,
    statements_argument,
    table_options,
    typed,
)
from linkwise.cli._verb import CONFLICT, FAILED, INFEASIBLE, answer, speaks_json, verb
from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from linkwise.constraints import Entry
    from linkwise.io import Knowledge, Table
    from linkwise.problem import Explanation, Structure, Utility, Verdict

MOST_TRIED = 5_000  # samples up to which the clusters without statements are computed, to count those they break


@verb(short_help="Test whether statements can hold together, and in how many clusters.")
@statements_argument
@data_option(dash=True)
@table_options
@format_option
@click.option("-k", "--clusters", type=Range(), metavar="N", help="Ask for N clusters, or for some of 3-6 clusters.")
@click.option(
    "--stream",
    is_flag=True,
    help="Read must_link and cannot_link pairs from Parquet or CSV files of any size, batch by batch.",
)
def check(
    constraints: tuple[str, ...],
    data_path: str | None,
    form: str | None,
    clusters: int | tuple[int, int] | None,
    stream: bool,
    **options: Any,
) -> int:
    """Test whether the statements in some files can all hold together.

    STATEMENTS is a CSV file with the columns kind,a,b,c,weight, or one JSON object with these keys per line; kind is
    must_link, cannot_link or triplet (a and b are closer to each other than to c), and no weight means that the
    statement may not be broken. The kinds together and apart name any number of samples in a column samples, divided
    by semicolons (in JSON a list): all in one cluster, or no two in the same one; must_link_any and cannot_link_any let
    the first choose among the others; of a kind such as "must_link or cannot_link" one link holds, with two samples for
    each. Without --data the samples are those that the files name; with it, the
    command also counts the samples named and estimates whether the statements will help.

    Exits with 0 when they can hold, 3 when they contradict each other, 4 when they cannot hold in N clusters, 1 when it
    could not be decided. `linkwise explain` lists all conflicts, `linkwise repair` removes them.
    """
    from linkwise.problem import check as decide

    if stream:
        return _check_stream(constraints, data_path, clusters, {"--format": form, **options})
    statements, table = _read_inputs(constraints, data_path, form, clusters, options)
    said = statements.constraints
    verdict = decide(said, n_clusters=clusters)
    worth = _worth(said, table, clusters) if table is not None and verdict.status == "feasible" else None
    shape = _shape(said) if verdict.explanation is None or verdict.explanation.goal else None
    answer(_as_dict(verdict, statements, worth, shape), _as_text(verdict, statements, worth, shape))
    if verdict.status == "infeasible" and verdict.explanation is not None:
        return _code_of(verdict.explanation)
    return 0 if verdict.status == "feasible" else FAILED


def _read_samples(data: str, options: dict[str, Any]) -> Table:
    """Read the samples; where no option is about columns and these cannot be compared, only the names."""
    from linkwise._validation import warn_user
    from linkwise.io import read_records

    about = ("drop", "columns", "text", "categories", "scale", "standardize", "impute", "missing")
    try:
        return read_table(data, options, warn=False)
    except LinkwiseError as bad:
        if any(options[key] for key in about):
            raise
        table = read_records(data, id=options["id_column"], encoding=options["encoding"])
        warn_user(f"only the names of the samples were read, since {str(bad).partition(chr(10))[0]}")
        return table


def _check_stream(
    files: tuple[str, ...], data_path: str | None, clusters: int | tuple[int, int] | None, others: dict[str, Any]
) -> int:
    """Answer for files of pairs that need not fit into memory."""
    from linkwise.cli._drawing import working
    from linkwise.scale import check_files

    refused = [f"--{name.lstrip('-').replace('_', '-')}" for name, value in others.items() if value]
    if data_path is not None or refused or "-" in files or isinstance(clusters, tuple):
        what = refused[0] if refused else "--data" if data_path else "standard input" if "-" in files else "a range"
        msg = f"--stream reads pairs from files alone, so it does not go together with {what}.\nHint: leave it out."
        raise click.UsageError(msg)
    with working("checking", quiet=speaks_json()):
        verdict = check_files(files, clusters)
    told = {
        "status": verdict.status,
        "because": verdict.because,
        "must_links": verdict.n_must_links,
        "cannot_links": verdict.n_cannot_links,
        "contradictions": verdict.n_contradictions,
        "conflicts": [
            {"cannot_link": one.cannot_link._asdict(), "must_links": [link._asdict() for link in one.must_links]}
            for one in verdict.contradictions
        ],
        "conflict": [row._asdict() for row in verdict.conflict],
    }
    answer(told, str(verdict))
    if verdict.status == "infeasible":
        return CONFLICT if verdict.n_contradictions else INFEASIBLE
    return 0 if verdict.ok else FAILED


def _read_inputs(
    files: tuple[str, ...],
    data_path: str | None,
    form: str | None,
    clusters: int | tuple[int, int] | None,
    options: dict[str, Any],
) -> tuple[Knowledge, Table | None]:
    """Read statements, and the samples where they are named; refuse more clusters than samples."""
    if data_path is None:
        about = ("id_column", "drop", "columns", "text", "categories", "scale", "standardize", "impute")
        for key in (*about, "together", "apart", "labels"):
            if options[key]:
                msg = f"--{key.removesuffix('_column')} is about the data, so it needs --data DATA.csv."
                raise click.UsageError(msg)
    one_standard_input([*files, *([data_path] if data_path else [])])
    agree(files, form)
    table = None if data_path is None else _read_samples(data_path, options)
    statements = read_statements(files, table, form, options)
    if table is not None and not table.columns:
        if statements.constraints.rules:
            read_table(data_path or "", options, warn=False)  # rules need the features, so say why there are none
        table = None
    n = statements.constraints.n_samples
    fewest = clusters[0] if isinstance(clusters, tuple) else clusters
    if fewest is not None and fewest > n:
        msg = f"-k {typed(clusters)}: there {'is' if n == 1 else 'are'} only {many(n, 'sample')}."
        raise click.UsageError(msg)
    return statements, table


def _code_of(why: Explanation) -> int:
    """The exit code of a conflict: 4 when it is only about the number of clusters."""
    return INFEASIBLE if why.goal else CONFLICT


def _worth(said: Any, table: Table, clusters: int | tuple[int, int] | None) -> Utility | None:
    """An estimate of the use of the statements; None without dense data."""
    import numpy as np

    from linkwise.problem import utility
    from linkwise.selection import cluster

    if not said.n_statements or not isinstance(table.X, np.ndarray):
        return None
    plain = None
    if clusters is not None and len(table) <= MOST_TRIED:
        plain = cluster(table.X, n_clusters=clusters).dendrogram
    return utility(said, table.X, result=plain)


def _promise(worth: Utility) -> str:
    """The estimated use of the statements in words; measures without a value are left out."""
    import math

    if not math.isnan(worth.informativeness):
        known = f"  informativeness {worth.informativeness:.2f}"
        verdict = [worth.verdict]
    else:
        known, verdict = "", []
    if not math.isnan(worth.coherence):
        sampled = "" if worth.coherence_exact else " (from a sample)"
        known += f"{', ' if known else '  '}coherence {worth.coherence:.2f}{sampled}"
        if not verdict:
            how = worth.verdict.split("; ", 1)[1]
            verdict = [f"{how[0].upper()}{how[1:]}"]
            unknown = f"Whether the result needs them is only computed with -k and up to {MOST_TRIED:,} samples."
            verdict.append(unknown)
    return "".join(f"\n{line}" for line in [" ".join(verdict), known, f"  {worth.counts}"] if line)


def about(statements: Knowledge) -> str:
    """How many statements about how many samples."""
    said = statements.constraints
    return f"{many(said.n_statements, 'statement')} about {many(said.n_samples, 'sample')}"


def _can_hold(statements: Knowledge) -> str:
    """The words for statements without a contradiction."""
    return "can hold." if statements.constraints.n_statements == 1 else "can all hold together."


def _shape(said: Any) -> Structure | None:
    """Degree and inductiveness of the cannot-links; None where there are none, or where they prove nothing."""
    import numpy as np

    from linkwise.constraints import LINKS
    from linkwise.problem import structure

    if said.rules or not np.isin(said.kind[said.is_hard], list(LINKS)).all():
        return None
    shape = structure(said)
    return shape if shape.n_apart else None


def _as_text(verdict: Verdict, statements: Knowledge, worth: Utility | None, shape: Structure | None) -> str:
    if verdict.status == "feasible":
        promise = "" if worth is None else _promise(worth)
        if shape is not None:
            text = str(shape)
            promise = f"\n{text[0].upper()}{text[1:]}.{promise}"
        return f"{about(statements)} {_can_hold(statements)}{_possible(verdict)}{promise}"
    if verdict.explanation is not None:
        return f"{about(statements)} cannot all hold.\n{statements.explain(verdict.explanation)}"
    return f"{about(statements)}: not decided. {verdict.because}"


def _possible(verdict: Verdict) -> str:
    """The numbers of clusters that are possible, as a sentence."""
    few, most = verdict.k_min, verdict.k_max
    if few is None or most is None:
        return ""
    if few == most:
        return f" Only {many(few, 'cluster')} {'is' if few == 1 else 'are'} possible."
    return f" Between {few:,} and {most:,} clusters are possible."


def _as_dict(verdict: Verdict, statements: Knowledge, worth: Utility | None, shape: Structure | None) -> dict[str, Any]:
    why = verdict.explanation
    told: dict[str, Any] = {
        "status": verdict.status,
        "statements": statements.constraints.n_statements,
        "samples": statements.constraints.n_samples,
        "k_min": verdict.k_min,
        "k_max": verdict.k_max,
        "because": verdict.because,
        "conflict": [],
        "fixes": [],
        "repairs": [],
    }
    if shape is not None:
        told |= {"max_degree": shape.max_degree, "inductiveness": shape.inductiveness}
    if worth is not None:
        keys = ("verdict", "informativeness", "coherence", "coverage", "decided", "n_parts")
        told["utility"] = {key: getattr(worth, key) for key in keys}
        if worth.verdict.startswith("Unknown"):
            told["utility"]["verdict"] = None
    return told if why is None else told | _conflict_dict(statements, why)


def _conflict_dict(statements: Knowledge, why: Explanation) -> dict[str, Any]:
    """One conflict for JSON: the entries at fault, what repairs it, and the argument."""
    return {
        "because": why.because,
        "steps": why.steps,
        "conflict": [as_dict(statements, entry) for entry in why.entries],
        "fixes": [as_dict(statements, group[0]) for group in why.repairs if len(group) == 1],
        "repairs": [[as_dict(statements, entry) for entry in group] for group in why.repairs],
    }


def as_dict(statements: Knowledge, entry: Entry | int) -> dict[str, Any]:
    """One entry or statement with its place; ``sample`` is null unless it is a member of a group or a labeled one."""
    sample = None if isinstance(entry, int) or entry.sample < 0 else statements.constraints.name(entry.sample)
    place = {"file": statements.file_of(entry), "line": statements.line_of(entry)}
    return {**place, "statement": statements.body(entry), "sample": sample}


@verb(short_help="List every conflict: its fixes, then the proof.")
@statements_argument
@data_option(dash=True)
@table_options
@format_option
@click.option("-k", "--clusters", type=CLUSTERS, metavar="N", help="Ask for exactly N clusters.")
@click.option(
    "--budget",
    type=Amount(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="Counted work, about a second each.",
)
@click.option("--time-limit", type=Amount(min=0, min_open=True), help="Seconds after which to stop with work left.")
def explain(
    constraints: tuple[str, ...],
    data_path: str | None,
    form: str | None,
    clusters: int | None,
    budget: float,
    time_limit: float | None,
    **options: Any,
) -> int:
    """List conflicts that share no row, each with its fixes first and then the proof, by file and line.

    Named are the rows of files of groups and labels, members of groups, and statements. With --data, the fixes
    that agree best with the data come first. `linkwise repair` drops the fewest statements so that the rest holds.

    Exits with 0 when there is no conflict, 3 when there is one, 4 when it is only about the number of clusters,
    1 when it could not be decided.
    """
    from linkwise.problem import check, conflicts

    statements, table = _read_inputs(constraints, data_path, form, clusters, options)
    said, X = statements.constraints, None if table is None else table.X
    found = conflicts(said, n_clusters=clusters, X=X, budget=budget, time_limit=time_limit)
    more = found[-1].more if found else False
    told = {
        "statements": said.n_statements,
        "samples": said.n_samples,
        "conflicts": [_conflict_dict(statements, why) for why in found],
        "more": more,
        "cut": bool(found and found[-1].cut),
    }
    if not found:
        verdict = check(said, n_clusters=clusters, X=X)
        sure = verdict.status == "feasible"
        answer(told, f"{about(statements)} {_can_hold(statements) if sure else f': not decided. {verdict.because}'}")
        return 0 if sure else FAILED
    parts = [f"{about(statements)} cannot all hold: {many(len(found), 'conflict')}."]
    for number, why in enumerate(found, start=1):
        parts.append((f"\nConflict {number}\n" if len(found) > 1 else "") + statements.explain(why))
    if more:
        parts.append(
            "\nThere are more conflicts than these; repair some and look again, or give "
            f"{'more time with --time-limit' if found[-1].cut else 'more work with --budget'}."
        )
    answer(told, "\n".join(parts))
    return min(_code_of(why) for why in found)
